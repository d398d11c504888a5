/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters by text, lines of name=value: taken or refused with a sentence; what is taken is what the text says, and
 * comes back from text as it was. All of it together makes a plan or is refused with a sentence.
 */
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "stereo/stereo.h"

enum
{
  REFUSED,
  TAKEN,
  RESOLVED,
  UNRESOLVED
};
static const char *const pieces[] = { "=", "\n", "auto", "nan", "inf", "-inf", "0x1p10", "1e999", "-0", ".5", "5.",
  " 3", "3 ", "+7", "1_000", "method", "window", "threads=", "memory-limit=", "\377", NULL };

static void
try_line (StereoParams *params, const char *name, const char *value)
{
  const StereoParamInfo *info = stereo_param_find (name);
  StereoParams before = *params, again = *params;
  StereoError error = { 0 };
  char text[32];

  if (stereo_param_parse (params, name, value, &error)) {
    CHECK (error.status == STEREO_ERROR_PARAMETER && strlen (error.message) > 10, "%s=%s: refused without a word", name,
        value);
    CHECK (!memcmp (params, &before, sizeof before), "%s=%s: refused, and changed", name, value);
    fuzz_count (REFUSED);
    return;
  }
  fuzz_count (TAKEN);
  if (!CHECK (info != NULL, "%s=%s: taken, and not in the table", name, value))
    return;
  double number = stereo_param_get (params, info);
  CHECK (isfinite (number), "%s=%s: %g", name, value, number);
  /* what cannot be told from another value is out of range, and refused later */
  stereo_param_format (params, info, text, sizeof text);
  CHECK (!stereo_param_parse (&again, name, text, &error), "%s=%s: its text '%s' is refused: %s", name, value, text,
      error.message);
  double back = stereo_param_get (&again, info);
  CHECK (fabs (back - number) <= 1e-14 * fabs (number), "%s=%s: %.17g, and from its text '%s' %.17g", name, value,
      number, text, back);
}

static void
try (const uint8_t *data, size_t size)
{
  char *text = malloc (size + 1), *rest = NULL;
  StereoParams params, resolved;
  StereoError error = { 0 };

  if (!text)
    return;
  memcpy (text, data, size);
  text[size] = 0;
  /* bytes that no parameter has, so that padding compares */
  memset (&params, 0, sizeof params);
  stereo_params_init (&params);
  for (char *line = strtok_r (text, "\n", &rest); line; line = strtok_r (NULL, "\n", &rest)) {
    char *value = strchr (line, '=');
    if (value)
      *value++ = 0;
    try_line (&params, line, value ? value : "");
  }
  if (stereo_params_resolve (&params, &resolved, &error)) {
    CHECK (strlen (error.message) > 10, "a set is refused without a word");
    fuzz_count (UNRESOLVED);
  } else {
    fuzz_count (RESOLVED);
  }
  free (text);
}

const FuzzTarget fuzz_target = { 20000,
  { { "lines refused", 1 }, { "lines taken", 1 }, { "sets made a plan's parameters", 1 }, { "sets refused", 1 } }, NULL,
  try, pieces };
