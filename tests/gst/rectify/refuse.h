/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A calibration that cannot be read: the message says what it is, what is wrong, and what to do. */
#ifndef REFUSE_H
#define REFUSE_H

#include <string.h>

#include "tests/support/check.h"
#include "gst/rectify/calibration/calibration.h"

static const GstStereoCalibrationOptions by_format;

/* Takes the texts. @words: NULL ends them. */
static void
refuse_of (gchar *left, gchar *right, const GstStereoCalibrationOptions *options, const gchar *const *words)
{
  GstStereoCalibration c;
  g_autofree gchar *message = NULL;

  CHECK (!gst_stereo_calibration_parse (&c, left, right, options, &message),
      "taken, and should be refused for '%s':\n%s", words[0], left);
  CHECK (message && strstr (message, "calibration: ") && strlen (message) < 800 && g_utf8_validate (message, -1, NULL),
      "'%s'", message);
  for (; message && *words; words++)
    CHECK (strstr (message, *words), "'%s' does not say '%s'", message, *words);
  CHECK (!gst_stereo_calibration_parse (&c, left, right, options, NULL), "taken without a place for the message");
  g_free (left);
  g_free (right);
}

#define REFUSE(left, right, ...) refuse_of (left, right, &by_format, (const gchar *const[]){ __VA_ARGS__, NULL })

#endif
