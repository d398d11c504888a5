/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said of calibrations whose numbers make no sense, and that nothing is said of healthy ones. */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/random.h"
#include "gst/rectify/calibration/calibration.h"

#define ROUNDS 30

static Random source;

#define between(low, high) random_between (&source, low, high)

/* @words: what the sentence has to say; NULL: there is no doubt. Takes the text. */
static void
doubt (gchar *text, const gchar *const *words)
{
  CHECK ((text != NULL) == (words != NULL), "%s", text ? text : "no doubt");
  for (; text && words && *words; words++)
    CHECK (strstr (text, *words), "'%s' does not say '%s'", text, *words);
  g_free (text);
}

CASE (test_units, "units")
{
  StereoCamera camera = { 500, 500, 320, 240, { 0 } };

  for (gint k = 0; k < ROUNDS; k++)
    doubt (gst_stereo_calibration_doubt_baseline (random_range (&source, 5, 5000), 1), NULL);
  /* squares of a board taken for millimetres; metres taken for millimetres; millimetres taken for metres */
  doubt (gst_stereo_calibration_doubt_baseline (3.344, 1),
      (const gchar *const[]){ "3.344 mm", "unit=25:", "83.6 mm", "squares", "unit=1000:", NULL });
  doubt (
      gst_stereo_calibration_doubt_baseline (0.12, 1), (const gchar *const[]){ "0.12 mm", "unit=1000: 120 mm", NULL });
  doubt (gst_stereo_calibration_doubt_baseline (120000, 1000),
      (const gchar *const[]){ "120000 mm", "unit=1: 120 mm", "than 1000 mm", NULL });
  doubt (gst_stereo_calibration_doubt_baseline (4.99, 1), (const gchar *const[]){ "4.99 mm", NULL });
  doubt (gst_stereo_calibration_doubt_baseline (5001, 1), (const gchar *const[]){ "5001 mm", NULL });
  doubt (gst_stereo_calibration_doubt_focal_length (&camera, 640), NULL);
  /* a focal length in millimetres */
  camera = (StereoCamera){ 4, 4, 320, 240, { 0 } };
  doubt (gst_stereo_calibration_doubt_focal_length (&camera, 640),
      (const gchar *const[]){ "4 px", "0.00625 times", "millimetres", NULL });
}

/* ---- pairs ---- */

typedef enum
{
  PLUMB_BOB,
  FISHEYE,
  IDEAL
} Lens;

/* Principal points are up to @jitter of a side from the middle. */
static StereoCalibration
draw_pair (gint width, gint height, Lens lens, gdouble jitter)
{
  static const gdouble fisheye[4] = { 0.01, 0.004, 0.001, 0.0002 };
  StereoCalibration c = { .width = width, .height = height, .has_pose = 1, .translation = { -between (50, 500), 0, 0 } };
  gdouble turn = between (-0.03, 0.03),
          focal = between (lens == FISHEYE ? 0.35 : 0.6, lens == FISHEYE ? 0.7 : 2) * width;
  const gdouble rotation[9] = { cos (turn), 0, sin (turn), 0, 1, 0, -sin (turn), 0, cos (turn) };

  memcpy (c.rotation, rotation, sizeof rotation);
  for (gint v = 0; v < 2; v++) {
    StereoCamera *camera = &c.camera[v];
    *camera = (StereoCamera){ focal, focal, width * (0.5 + between (-jitter, jitter)) - 0.5,
      height * (0.5 + between (-jitter, jitter)) - 0.5, { 0 },
      lens == FISHEYE ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE };
    if (lens == FISHEYE)
      for (gint i = 0; i < 4; i++)
        camera->distortion[i] = between (-1, 1) * fisheye[i];
    if (lens != PLUMB_BOB)
      continue;
    /* as a real lens: k2 takes back what k1 does farther out */
    camera->distortion[0] = -between (0, 0.3);
    camera->distortion[1] = between (0.55, 0.9) * camera->distortion[0] * camera->distortion[0] + 0.02;
    camera->distortion[2] = between (-1e-3, 1e-3);
    camera->distortion[3] = between (-1e-3, 1e-3);
  }
  return c;
}

static gboolean
rectify (const StereoCalibration *c, gdouble alpha, StereoRectification *r)
{
  StereoError error;

  return CHECK (!stereo_rectify (c, alpha, 0, 0, r, &error), "%s", error.message);
}

/* As a file of its own rectification would be. */
static StereoCalibration
with_projections (const StereoCalibration *pair)
{
  StereoCalibration c = *pair;
  StereoRectification r;

  if (rectify (pair, 0, &r)) {
    memcpy (c.rectifying, r.rectifying, sizeof c.rectifying);
    memcpy (c.projection, r.projection, sizeof c.projection);
  }
  c.has_rectification = 1;
  return c;
}

static void
expect_silence (const StereoCalibration *c, gdouble alpha)
{
  StereoRectification r;

  if (!rectify (c, alpha, &r))
    return;
  doubt (gst_stereo_calibration_doubt_size (c, c, &r, alpha), NULL);
  doubt (gst_stereo_calibration_doubt_lens (c), NULL);
}

static const gint sizes[][2] = { { 320, 240 }, { 640, 480 }, { 752, 480 }, { 1242, 375 }, { 1280, 720 }, { 1280, 960 },
  { 1920, 1080 }, { 600, 600 } };

CASE (test_healthy, "healthy")
{
  for (guint k = 0; k < 2 * ROUNDS; k++) {
    const gint *size = sizes[k % G_N_ELEMENTS (sizes)];
    StereoCalibration c = draw_pair (size[0], size[1], (Lens) (k % 3), 0.11), full;
    expect_silence (&c, 0);
    expect_silence (&c, 1);
    full = with_projections (&c);
    expect_silence (&full, -1);
    /* a part of a sensor, or a shifted lens: off in one direction */
    c = draw_pair (size[0], size[1], IDEAL, 0.05);
    c.camera[0].cx += 0.15 * size[0];
    c.camera[1].cx += 0.15 * size[0];
    expect_silence (&c, 0);
  }
}

/* ---- pictures of another size ---- */

/* Numbers for @c's size, and pictures of @by / @of times the size. */
static void
check_other_size (const StereoCalibration *c, gint by, gint of, gboolean says)
{
  StereoCalibration loaded = *c, scaled;
  StereoRectification r;
  StereoError error;
  g_autofree gchar *wanted = g_strdup_printf ("set calibration-width=%d calibration-height=%d", c->width, c->height);
  gint width = c->width * by / of, height = c->height * by / of;
  g_autofree gchar *file = says && of > by && of % by == 0 ?
      g_strdup_printf ("%d times the %dx%d", of / by, width, height) :
      g_strdup ("");

  loaded.width = says ? width : 0;
  loaded.height = says ? height : 0;
  scaled = loaded;
  CHECK (!stereo_calibration_scale (&scaled, width, height, &error), "%s", error.message);
  gboolean made = !stereo_rectify (&scaled, 0, 0, 0, &r, &error);
  doubt (gst_stereo_calibration_doubt_size (&loaded, &scaled, made ? &r : NULL, 0),
      (const gchar *const[]){ "principal points", "distances", wanted, file, NULL });
}

CASE (test_other_sizes, "other sizes")
{
  static const gint factors[][2] = { { 2, 1 }, { 3, 1 }, { 4, 1 }, { 1, 2 }, { 1, 3 }, { 1, 4 }, { 3, 2 }, { 2, 3 },
    { 10, 1 }, { 1, 10 } };

  for (guint k = 0; k < 2 * ROUNDS; k++) {
    const gint *f = factors[k % G_N_ELEMENTS (factors)];
    StereoCalibration c = draw_pair (1920, k % 3 ? 1080 : 1440, (Lens) (k % 2 * 2), 0.015);
    check_other_size (&c, f[0], f[1], FALSE);
    check_other_size (&c, f[0], f[1], TRUE);
  }
}

/* The file says another size than the one that its numbers are of, and neither is that of the pictures. */
CASE (test_a_wrong_size_in_the_file, "a wrong size in the file")
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_pair (640, 480, IDEAL, 0.015), scaled;
    gint wrong = k % 2 ? 1280 : 320, width = k % 3 ? 640 : 960;
    g_autofree gchar *size = g_strdup_printf ("%dx%d that it is said to be of", wrong, wrong * 3 / 4);
    c.width = wrong;
    c.height = wrong * 3 / 4;
    scaled = c;
    scaled.width = width;
    scaled.height = width * 3 / 4;
    for (gint v = 0; v < 2; v++) {
      StereoCamera *camera = &scaled.camera[v];
      gdouble factor = (gdouble) width / wrong;
      camera->fx *= factor;
      camera->fy *= factor;
      camera->cx = (camera->cx + 0.5) * factor - 0.5;
      camera->cy = (camera->cy + 0.5) * factor - 0.5;
    }
    doubt (gst_stereo_calibration_doubt_size (&c, &scaled, NULL, 0),
        (const gchar *const[]){ "fit pictures of 640x480", size, "calibration-width=640 calibration-height=480", NULL });
  }
}

/* One camera, off in one direction, and by more than a quarter of that side. */
CASE (test_one_camera_off, "one camera off")
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_pair (640, 480, IDEAL, 0.01);
    gdouble off = (k % 4 < 2 ? 1 : -1) * between (0.27, 0.45);
    *(k % 3 ? &c.camera[k % 2].cx : &c.camera[k % 2].cy) += off * (k % 3 ? 640 : 480);
    doubt (gst_stereo_calibration_doubt_size (&c, &c, NULL, 0), (const gchar *const[]){ "principal points", NULL });
  }
}

CASE (test_another_aspect, "another aspect")
{
  StereoCalibration c = draw_pair (640, 480, IDEAL, 0.01), scaled = c;
  StereoRectification r;

  c.width = c.height = 0;
  scaled.width = 1920;
  scaled.height = 1080;
  if (rectify (&scaled, 0, &r))
    doubt (gst_stereo_calibration_doubt_size (&c, &scaled, &r, 0),
        (const gchar *const[]){ "1920x1080", "pictures of 640x480", "another aspect", NULL });
  /* a camera matrix that was never filled in */
  scaled = draw_pair (640, 480, IDEAL, 0.01);
  for (gint v = 0; v < 2; v++)
    scaled.camera[v].cx = scaled.camera[v].cy = 0;
  doubt (gst_stereo_calibration_doubt_size (&scaled, &scaled, NULL, 0),
      (const gchar *const[]){
          "principal points are (0, 0)", "no pictures whose middle they are: calibrate again", NULL });
}

/* P1 and P2 for views of another size than the raw pictures. */
CASE (test_projections_of_another_size, "projections of another size")
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration pair = draw_pair (640, 480, IDEAL, 0.02), c = with_projections (&pair);
    gdouble factor = k % 2 ? 2 : 0.5;
    StereoRectification r;
    for (gint v = 0; v < 2; v++)
      for (gint i = 0; i < 8; i++)
        c.projection[v][i] *= factor;
    if (!rectify (&c, -1, &r))
      return;
    doubt (gst_stereo_calibration_doubt_size (&c, &c, &r, -1),
        (const gchar *const[]){ "rectified views", "P1 and P2", "alpha=0", NULL });
    if (rectify (&c, 0, &r))
      doubt (gst_stereo_calibration_doubt_size (&c, &c, &r, 0), NULL);
  }
}

/* The same principal points, and too long or too short. */
CASE (test_views, "views")
{
  StereoCalibration pair = draw_pair (640, 480, IDEAL, 0.01), c;
  StereoRectification r;

  for (gint k = 0; k < 4; k++) {
    static const gdouble factors[4] = { 2.2, 0.4, 8, 0.1 };
    c = with_projections (&pair);
    for (gint v = 0; v < 2; v++)
      for (gint i = 0; i < 2; i++)
        c.projection[v][5 * i] *= factors[k];
    c.projection[1][3] *= factors[k];
    if (rectify (&c, -1, &r))
      doubt (gst_stereo_calibration_doubt_size (&c, &c, &r, -1),
          (const gchar *const[]){ "focal length of the rectified views", "raw pictures", "alpha=0", NULL });
  }
}

/* ---- lenses ---- */

CASE (test_models_that_turn_back, "models that turn back")
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_pair (640, 480, IDEAL, 0.02);
    gdouble k1 = -between (0.7, 1.2), peak = sqrt (-1 / (3 * k1)), reach, said = 0;
    StereoCamera *camera = &c.camera[k % 2];
    camera->fx = camera->fy = 400;
    camera->distortion[0] = k1;
    reach = 400 * peak * (1 + k1 * peak * peak);
    gchar *text = gst_stereo_calibration_doubt_lens (&c);
    if (CHECK (text && strstr (text, "holds up to "), "%s", text ? text : "no doubt"))
      said = g_ascii_strtod (strstr (text, "holds up to ") + strlen ("holds up to "), NULL);
    CHECK (fabs (said - reach) < 0.6, "%g px, and the model turns at %g px", said, reach);
    doubt (text, (const gchar *const[]){ k % 2 ? "right camera" : "left camera", "640x480", "corners", NULL });
  }
}

/* It counts up to the corner that is farthest from the principal point. */
CASE (test_models_that_turn_back_at_a_corner, "models that turn back at a corner")
{
  static const gdouble corners[4][2] = { { -0.5, -0.5 }, { 639.5, -0.5 }, { -0.5, 479.5 }, { 639.5, 479.5 } };

  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_pair (640, 480, IDEAL, 0.02);
    gdouble k1 = -between (0.3, 1.2), peak = sqrt (-1 / (3 * k1)), turn = peak * (1 + k1 * peak * peak), farthest = 0;
    StereoCamera *camera = &c.camera[k % 2];
    camera->cx = 320 + (k & 2 ? 1 : -1) * between (30, 60);
    camera->cy = 240 + (k & 4 ? 1 : -1) * between (30, 60);
    camera->distortion[0] = k1;
    for (gint i = 0; i < 4; i++)
      farthest = fmax (farthest, hypot (corners[i][0] - camera->cx, corners[i][1] - camera->cy));
    camera->fx = camera->fy = 0.99 * farthest / turn;
    doubt (gst_stereo_calibration_doubt_lens (&c), (const gchar *const[]){ "holds up to ", "turns back", NULL });
    camera->fx = camera->fy = 1.01 * farthest / turn;
    doubt (gst_stereo_calibration_doubt_lens (&c), NULL);
  }
}

CASE (test_tangential, "tangential")
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_pair (640, 480, IDEAL, 0.02);
    StereoCamera *camera = &c.camera[k % 2];
    gdouble *d = camera->distortion, p = (k % 3 ? 1 : -1) * between (0.021, 0.2);
    g_autofree gchar *number = g_strdup_printf ("%g", p);
    d[4] = 1e-4;
    d[2 + k / 2 % 2] = p;
    doubt (gst_stereo_calibration_doubt_lens (&c),
        (const gchar *const[]){ k % 2 ? "p1 and p2 of the right camera" : "p1 and p2 of the left camera", number, NULL });
    d[2 + k / 2 % 2] = p > 0 ? 0.019 : -0.019;
    camera->fx = camera->fy = 900;
    doubt (gst_stereo_calibration_doubt_lens (&c), NULL);
  }
}

/* Four values of a fisheye lens that stand where those of a pinhole lens do. */
CASE (test_fisheye_that_is_not_named, "fisheye that is not named")
{
  static const gdouble lenses[][4] = { { 0.0035, 0.0007, -0.0021, 0.0002 }, { -0.0084, 0.0446, -0.0425, 0.0083 },
    { 0.0069, -0.0067, 0.011, -0.0044 }, { -0.012, 0.031, -0.085, 0.042 } };

  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_pair (640, 480, IDEAL, 0.02), named;
    for (gint v = 0; v < 2; v++) {
      c.camera[v].fx = c.camera[v].fy = between (240, 290);
      for (gint i = 0; i < 4; i++)
        c.camera[v].distortion[i] = lenses[k % G_N_ELEMENTS (lenses)][i] * between (0.95, 1.05);
    }
    named = c;
    doubt (gst_stereo_calibration_doubt_lens (&c),
        (const gchar *const[]){ "left camera", "right camera", "k1 k2 k3 k4", "distortion_model: equidistant", NULL });
    named.camera[0].model = named.camera[1].model = STEREO_LENS_EQUIDISTANT;
    doubt (gst_stereo_calibration_doubt_lens (&named), NULL);
    expect_silence (&named, 0);
  }
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_registered ();
  return check_finish ();
}
