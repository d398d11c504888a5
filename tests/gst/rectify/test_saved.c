/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calibrations that are saved. */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/random.h"
#include "gst/rectify/calibration/calibration.h"

#define ROUNDS 30

static Random source;

static StereoCalibration
rectified_pair (void)
{
  StereoCalibration c = { .width = 741, .height = 497, .has_rectification = 1 };

  for (gint v = 0; v < 2; v++) {
    const gdouble cx = v ? 326.96 : 294.182;
    const gdouble p[12] = { 999.421, 0, cx, v ? -999.421 * 193.001 : 0, 0, 999.421, 252.932, 0, 0, 0, 1, 0 };
    c.camera[v] = (StereoCamera){ 999.421, 999.421, cx, 252.932, { 0 } };
    memcpy (c.projection[v], p, sizeof p);
    for (gint i = 0; i < 9; i++)
      c.rectifying[v][i] = i % 4 == 0;
  }
  return c;
}

static void
same (const gchar *what, const gdouble *a, const gdouble *b, gint count)
{
  /* a length is written as it is, and P2 of the views is made of it again */
  for (gint i = 0; i < count; i++)
    CHECK (fabs (a[i] - b[i]) <= 4e-16 * fabs (b[i]), "%s[%d] is %.17g, and was written as %.17g", what, i, a[i], b[i]);
}

/* Files that are saved make the same views of the same raw pictures, in millimetres whatever they were read from. */
static void
test_saved (void)
{
  gint compared = 0;

  for (gint k = 0; k < 8 * ROUNDS; k++) {
    gboolean fisheye = random_range (&source, 0, 2) == 0;
    gint lens = fisheye ? 4 : k % 2 ? 5 : 8;
    const GstStereoCalibrationOptions options = { 0 };
    StereoCalibration c = rectified_pair (), read;
    GstStereoCalibration loaded;
    StereoRectification r, again;
    StereoError error;
    gdouble alpha = k % 3 - 1;
    g_autofree gchar *text = NULL, *message = NULL;
    if (k % 4 && k % 3) {
      c.has_pose = 1;
      c.has_rectification = k % 2;
      for (gint i = 0; i < 9; i++)
        c.rotation[i] = i % 4 == 0;
      c.translation[0] = -random_range (&source, 10, 900);
    }
    for (gint v = 0; v < 2; v++)
      c.camera[v].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
    for (gint v = 0; v < 2; v++)
      for (gint i = 0; i < lens; i++)
        c.camera[v].distortion[i] = 1e-3 * random_range (&source, -9, 9);
    if (stereo_rectify (&c, alpha, k % 5 ? 0 : 600, k % 5 ? 0 : 400, &r, &error))
      continue;
    compared++;
    text = gst_stereo_calibration_write (&c, &r);
    if (CHECK (gst_stereo_calibration_parse (&loaded, text, NULL, &options, &message), "%s\n%s", message, text)) {
      read = loaded.modes[0];
      CHECK (!stereo_rectify (&read, -1, 0, 0, &again, &error), "%s", error.message);
      CHECK (again.width == r.width && again.height == r.height, "%d x %d became %d x %d", r.width, r.height,
          again.width, again.height);
      CHECK (memcmp (&read.camera, &c.camera, sizeof c.camera) == 0, "the cameras changed:\n%s", text);
      CHECK (read.has_pose == c.has_pose && memcmp (read.translation, c.translation, sizeof c.translation) == 0,
          "the pose changed");
      for (gint v = 0; v < 2; v++) {
        same ("R", again.rectifying[v], r.rectifying[v], 9);
        same ("P", again.projection[v], r.projection[v], 12);
      }
    }
  }
  CHECK (compared > 4 * ROUNDS, "only %d of %d could be rectified", compared, 8 * ROUNDS);
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_case ("saved files", test_saved);
  return check_finish ();
}
