/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/check.h"

#include <stdarg.h>

#define SHOWN 5 /* failures of one case that are printed */

static struct
{
  const char *filter;
  char name[256];
  int failures, skipped; /* of the case at hand */
  int total_passed, total_failed, total_skipped;
} state;

int
check_fail (const char *file, int line, const char *condition, const char *format, ...)
{
  va_list args;

  if (state.failures++ >= SHOWN)
    return 0;
  fprintf (stderr, "%s:%d: %s: %s: ", file, line, state.name, condition);
  va_start (args, format);
  vfprintf (stderr, format, args);
  va_end (args);
  fputc ('\n', stderr);
  return 0;
}

int
check_failures (void)
{
  return state.failures;
}

void
check_skip (const char *format, ...)
{
  va_list args;

  state.skipped = 1;
  printf ("SKIP %s: ", state.name);
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  putchar ('\n');
}

int
check_begin (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vsnprintf (state.name, sizeof state.name, format, args);
  va_end (args);
  state.failures = state.skipped = 0;
  return !state.filter || strstr (state.name, state.filter);
}

void
check_end (void)
{
  if (state.failures) {
    state.total_failed++;
    printf ("FAIL %s (%d checks)\n", state.name, state.failures);
  } else if (state.skipped) {
    state.total_skipped++;
  } else {
    state.total_passed++;
    printf ("ok %s\n", state.name);
  }
  fflush (stdout);
  if (state.failures && getenv ("STEREO_TEST_STOP"))
    exit (1);
}

void
check_case (const char *name, void (*function) (void))
{
  if (check_begin ("%s", name)) {
    function ();
    check_end ();
  }
}

/* Constructors run in any order. */
static CheckCase *cases;

void
check_register (CheckCase *test)
{
  CheckCase **at = &cases;

  while (*at && (*at)->line < test->line)
    at = &(*at)->next;
  test->next = *at;
  *at = test;
}

void
check_registered (void)
{
  for (const CheckCase *test = cases; test; test = test->next)
    check_case (test->name, test->run);
}

void
check_start (int argc, char **argv)
{
  state.filter = argc > 1 ? argv[1] : NULL;
}

int
check_finish (void)
{
  printf ("%d passed, %d failed, %d skipped\n", state.total_passed, state.total_failed, state.total_skipped);
  return state.total_failed ? 1 : state.total_skipped && !state.total_passed ? 77 : 0;
}
