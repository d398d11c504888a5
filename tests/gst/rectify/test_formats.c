/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibrations of ROS messages, INI files, Kalibr, EuRoC, ORB-SLAM and ZED, and a choice among cameras: what is written
 * comes back. What cannot be read is named.
 */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/gst/calibration_robots.h"
#include "tests/support/gst/calibration_text.h"
#include "gst/rectify/calibration/calibration.h"

#define ROUNDS 30

static Random source;
static const GstStereoCalibrationOptions by_format;

static gdouble
between (gdouble low, gdouble high)
{
  return low + (high - low) * random_unit (&source);
}

/* ---- frames: plainly, as 4 x 4 ---- */

static Frame
multiply (const Frame *a, const Frame *b)
{
  Frame out = { { 0 } };

  for (gint i = 0; i < 4; i++)
    for (gint j = 0; j < 4; j++)
      for (gint k = 0; k < 4; k++)
        out.m[4 * i + j] += a->m[4 * i + k] * b->m[4 * k + j];
  return out;
}

static Frame
turn_about (gint axis, gdouble angle)
{
  Frame f = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 } };
  gint i = (axis + 1) % 3, j = (axis + 2) % 3;

  f.m[5 * i] = f.m[5 * j] = cos (angle);
  f.m[4 * i + j] = -sin (angle);
  f.m[4 * j + i] = sin (angle);
  return f;
}

/* Translations are @near to @far long along x. */
static Frame
draw_frame (gdouble angle, gdouble near, gdouble far)
{
  Frame x = turn_about (0, between (-angle, angle)), y = turn_about (1, between (-angle, angle)),
        z = turn_about (2, between (-angle, angle)), f = multiply (&x, &y);

  f = multiply (&f, &z);
  f.m[3] = between (near, far);
  f.m[7] = between (-0.1, 0.1) * near;
  f.m[11] = between (-0.1, 0.1) * near;
  return f;
}

/* By solving: rows that turn back, and the place that comes to 0. */
static Frame
invert (const Frame *a)
{
  Frame out = { { 0 } };

  for (gint i = 0; i < 3; i++) {
    for (gint j = 0; j < 3; j++) {
      out.m[4 * i + j] = a->m[4 * j + i];
      out.m[4 * i + 3] -= a->m[4 * j + i] * a->m[4 * j + 3];
    }
  }
  out.m[15] = 1;
  return out;
}

/* ---- what comes back ---- */

static void
same (const gchar *what, const gdouble *a, const gdouble *b, gint count, gdouble scale)
{
  for (gint i = 0; i < count; i++)
    CHECK (fabs (a[i] - b[i]) <= 1e-13 * (scale + fabs (b[i])), "%s[%d] is %.17g, and was %.17g", what, i, a[i], b[i]);
}

static void
check_cameras (const StereoCalibration *a, const StereoCalibration *b)
{
  CHECK (a->width == b->width && a->height == b->height, "%d x %d became %d x %d", b->width, b->height, a->width,
      a->height);
  for (gint v = 0; v < 2; v++) {
    CHECK (a->camera[v].model == b->camera[v].model, "lens model %d became %d", b->camera[v].model, a->camera[v].model);
    same ("camera", &a->camera[v].fx, &b->camera[v].fx, 4, 0);
    same ("distortion", a->camera[v].distortion, b->camera[v].distortion, STEREO_DISTORTION, 0);
  }
}

/* Takes the texts. */
static gboolean
parse (gchar *left, gchar *right, const GstStereoCalibrationOptions *options, GstStereoCalibration *out)
{
  gchar *message = NULL;
  gboolean ok = CHECK (gst_stereo_calibration_parse (out, left, right, options, &message), "%s\n%s", message, left);

  CHECK (!ok || !message, "taken, and '%s'", message);
  g_free (message);
  g_free (left);
  g_free (right);
  return ok;
}

static void
expect_rectified (gchar *left, gchar *right, const StereoCalibration *c)
{
  GstStereoCalibration read;

  if (!parse (left, right, &by_format, &read))
    return;
  check_cameras (&read.modes[0], c);
  CHECK (read.count == 1 && read.modes[0].has_rectification && !read.modes[0].has_pose, "%d modes", read.count);
  for (gint v = 0; v < 2; v++) {
    same ("rectifying", read.modes[0].rectifying[v], c->rectifying[v], 9, 0);
    same ("projection", read.modes[0].projection[v], c->projection[v], 12, 0);
  }
}

/* @pose: from the left to the right camera. */
static void
expect_pose_of (gchar *left, gchar *right, const GstStereoCalibrationOptions *options, const StereoCalibration *c,
    const Frame *pose)
{
  GstStereoCalibration read;

  if (!parse (left, right, options, &read))
    return;
  check_cameras (&read.modes[0], c);
  CHECK (read.count == 1 && read.modes[0].has_pose && !read.modes[0].has_rectification, "%d modes", read.count);
  for (gint i = 0; i < 3; i++) {
    same ("rotation", read.modes[0].rotation + 3 * i, pose->m + 4 * i, 3, 1);
    same ("translation", read.modes[0].translation + i, pose->m + 4 * i + 3, 1, 1e4);
  }
}

static void
expect_pose (gchar *left, gchar *right, const StereoCalibration *c, const Frame *pose)
{
  expect_pose_of (left, right, &by_format, c, pose);
}

/* Cameras with a distortion of @lens values, of a fisheye lens if that is asked for; numbers may be any. */
static StereoCalibration
draw_cameras (gint lens, gboolean rectification, gboolean fisheye)
{
  OpencvStyle style = { .lens = lens, .size = 1, .pose = !rectification, .rectification = rectification };
  StereoCalibration c = calibration_draw (&source, &style);

  for (gint v = 0; v < 2; v++)
    c.camera[v].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
  return c;
}

/* ---- formats ---- */

static void
test_messages (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    gboolean fisheye = k % 5 == 4, ros1 = k % 2;
    gint lens = fisheye ? 4 : (gint[]){ 0, 4, 5, 8 }[k % 4];
    StereoCalibration c = draw_cameras (lens, TRUE, fisheye);
    expect_rectified (calibration_message (&c, 0, lens, ros1), calibration_message (&c, 1, lens, ros1), &c);
    /* one printed, and the other from a file of camera_calibration */
    if (!fisheye)
      expect_rectified (calibration_message (&c, 0, lens, ros1), calibration_ros (&c, 1, lens, 1000, &source), &c);
  }
}

static gchar *
replaced (gchar *text, const gchar *from, const gchar *to)
{
  gchar **parts = g_strsplit (text, from, 2), *out = g_strjoinv (to, parts);

  CHECK (g_strv_length (parts) == 2, "the text has no '%s':\n%s", from, text);
  g_strfreev (parts);
  g_free (text);
  return out;
}

/* A part of the sensor, at a place of its own. */
static void
test_region (void)
{
  StereoCalibration c = draw_cameras (5, TRUE, FALSE), cut = c;
  gchar *text[2];

  for (gint v = 0; v < 2; v++) {
    text[v] = replaced (calibration_message (&c, v, 5, v), "x_offset: 0\n  y_offset: 0\n  height: 0\n  width: 0",
        "x_offset: 30\n  y_offset: 20\n  height: 240\n  width: 320");
    cut.camera[v].cx -= 30;
    cut.camera[v].cy -= 20;
    cut.projection[v][2] -= 30;
    cut.projection[v][6] -= 20;
  }
  cut.width = 320;
  cut.height = 240;
  expect_rectified (text[0], text[1], &cut);
}

static void
test_ini (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_cameras (5, TRUE, FALSE);
    gchar *left = calibration_ost (&c, 0, "narrow_stereo/left"), *right = calibration_ost (&c, 1, "narrow_stereo/right");
    expect_rectified (g_strconcat (left, right, NULL), NULL, &c);
    /* names tell left from right, and else the order does */
    expect_rectified (g_strconcat (right, left, NULL), NULL, &c);
    expect_rectified (g_strdup (left), g_strdup (right), &c);
    g_free (left);
    g_free (right);
    left = calibration_ost (&c, 0, "12345");
    right = calibration_ost (&c, 1, "front_right");
    expect_rectified (g_strdup (left), calibration_ost (&c, 1, "left"), &c);
    g_free (left);
    g_free (right);
    left = calibration_ost (&c, 0, "cam_a");
    right = calibration_ost (&c, 1, "cam_b");
    expect_rectified (g_strconcat ("; a comment\r\n", left, right, NULL), NULL, &c);
    g_free (left);
    g_free (right);
  }
}

static void
test_kalibr (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    gint lens = k % 4 ? 4 : 0;
    StereoCalibration c = draw_cameras (lens, FALSE, lens && k % 2);
    Frame steps[4], all, imu = draw_frame (3, 10, 100), frames[2], back;
    gchar cameras[8];
    for (gint n = 0; n < 4; n++)
      steps[n] = draw_frame (0.3, -500, -50);
    expect_pose (calibration_kalibr (&c, lens, steps, 2 + k % 3), NULL, &c, &steps[1]);
    /* along the chain, and backwards */
    all = multiply (&steps[3], &steps[2]);
    all = multiply (&all, &steps[1]);
    g_snprintf (cameras, sizeof cameras, "%s", "0,3");
    expect_pose_of (
        calibration_kalibr (&c, lens, steps, 4), NULL, &(GstStereoCalibrationOptions){ .cameras = cameras }, &c, &all);
    back = invert (&steps[2]);
    g_snprintf (cameras, sizeof cameras, "%s", "2,1");
    expect_pose_of (
        calibration_kalibr (&c, lens, steps, 4), NULL, &(GstStereoCalibrationOptions){ .cameras = cameras }, &c, &back);
    /* each to the inertial sensor, in one direction and in the other */
    if (!lens)
      continue;
    frames[0] = imu;
    frames[1] = multiply (&steps[1], &imu);
    expect_pose (calibration_kalibr_frames (&c, frames, "T_cam_imu"), NULL, &c, &steps[1]);
    frames[0] = invert (&frames[0]);
    frames[1] = invert (&frames[1]);
    expect_pose (calibration_kalibr_frames (&c, frames, "T_imu_cam"), NULL, &c, &steps[1]);
  }
}

static void
test_euroc (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw_cameras (4, FALSE, k % 2);
    Frame pose = draw_frame (0.3, -500, -50), body[2] = { draw_frame (3, 10, 100) }, back = invert (&pose);
    body[1] = multiply (&body[0], &back);
    expect_pose (calibration_euroc (&c, 0, &body[0]), calibration_euroc (&c, 1, &body[1]), &c, &pose);
  }
}

static void
test_orbslam (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    gint lens = k % 2 ? 4 : 5;
    StereoCalibration c = draw_cameras (lens, TRUE, FALSE), pair;
    Frame pose = draw_frame (0.3, -500, -50), back = invert (&pose);
    gdouble baseline = between (50, 500);
    expect_rectified (calibration_orbslam2 (&c, lens), NULL, &c);
    pair = draw_cameras (lens, FALSE, k % 2);
    expect_pose (calibration_orbslam3 (&pair, &back, k % 3 == 0), NULL, &pair, &pose);
    /* of rectified views: one camera, and a length in metres */
    c = draw_cameras (0, TRUE, FALSE);
    c.camera[1] = c.camera[0];
    memset (c.projection, 0, sizeof c.projection);
    for (gint v = 0; v < 2; v++)
      for (gint i = 0; i < 3; i++) {
        gdouble *p = c.projection[v];
        p[0] = c.camera[0].fx;
        p[2] = c.camera[0].cx;
        p[5] = c.camera[0].fy;
        p[6] = c.camera[0].cy;
        p[10] = 1;
        p[3] = v ? -c.camera[0].fx * baseline : 0;
        for (gint j = 0; j < 3; j++)
          c.rectifying[v][3 * i + j] = i == j;
      }
    expect_rectified (calibration_orbslam_rectified (&c, "Camera.bf", c.camera[0].fx * baseline / 1000), NULL, &c);
    expect_rectified (calibration_orbslam_rectified (&c, "Stereo.b", baseline / 1000), NULL, &c);
  }
}

/* The rotation about a vector, from its definition: its own direction stays, and a direction across turns by the angle. */
static void
check_turn (const gdouble *r, const gdouble *turn)
{
  gdouble angle = sqrt (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]), trace = r[0] + r[4] + r[8];

  for (gint i = 0; i < 3; i++)
    CHECK (fabs (r[3 * i] * turn[0] + r[3 * i + 1] * turn[1] + r[3 * i + 2] * turn[2] - turn[i]) < 1e-14, "row %d", i);
  CHECK (fabs (trace - 1 - 2 * cos (angle)) < 1e-13, "trace %g of angle %g", trace, angle);
  CHECK ((r[7] - r[5]) * turn[0] + (r[2] - r[6]) * turn[1] + (r[3] - r[1]) * turn[2] > 0, "it turns the other way");
}

static void
test_zed (void)
{
  static const gchar *const names[4] = { "2K", "FHD", "HD", "VGA" };
  static const gint sizes[4][2] = { { 2208, 1242 }, { 1920, 1080 }, { 1280, 720 }, { 672, 376 } };

  for (gint k = 0; k < ROUNDS; k++) {
    gboolean fisheye = k % 3 == 2, disto = fisheye || k % 2;
    StereoCalibration modes[4];
    GstStereoCalibration read;
    const gdouble turn[3] = { between (-0.02, 0.02), between (-0.02, 0.02), between (-0.02, 0.02) };
    for (gint n = 0; n < 4; n++) {
      modes[n] = draw_cameras (fisheye ? 4 : 8, FALSE, fisheye);
      modes[n].width = sizes[n][0];
      modes[n].height = sizes[n][1];
      memcpy (modes[n].translation, modes[0].translation, sizeof modes[0].translation);
      for (gint v = 0; v < 2 && disto; v++)
        memcpy (modes[n].camera[v].distortion, modes[0].camera[v].distortion, sizeof modes[0].camera[v].distortion);
    }
    if (!parse (calibration_zed (modes, names, 4, turn, disto), NULL, &by_format, &read))
      return;
    CHECK (read.count == 4, "%d modes", read.count);
    for (gint n = 0; n < 4; n++) {
      const StereoCalibration *mode = gst_stereo_calibration_for (&read, sizes[n][0], sizes[n][1]);
      check_cameras (mode, &modes[n]);
      same ("translation", mode->translation, modes[n].translation, 3, 0);
      check_turn (mode->rotation, turn);
    }
    /* half of a size that it has; a size that the file has, asked for; one that it has not */
    CHECK (gst_stereo_calibration_for (&read, 640, 360)->width % 640 == 0, "not of that aspect");
    if (parse (calibration_zed (modes, names, 4, turn, disto), NULL,
            &(GstStereoCalibrationOptions){ .width = 672, .height = 376 }, &read)) {
      CHECK (read.count == 1 && gst_stereo_calibration_for (&read, 1280, 720)->width == 672, "%d modes", read.count);
      check_cameras (&read.modes[0], &modes[3]);
    }
  }
}

/* ---- choices ---- */

static void
test_kitti_colour (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration grey = calibration_draw_projections (&source), colour = calibration_draw_projections (&source);
    gchar *a = calibration_kitti (&grey, FALSE, 1000), *b = calibration_kitti (&colour, FALSE, 1000), **rows[2];
    gchar *four, *two, *colour_first;
    rows[0] = g_strsplit (a, "\n", 3);
    rows[1] = g_strsplit (b, "\n", 3);
    four = g_strdup_printf ("P0: %s\nP1: %s\nP2: %s\nP3: %s\nTr: 1 0 0 0 0 1 0 0 0 0 1 0\n", rows[0][0], rows[0][1],
        rows[1][0], rows[1][1]);
    two = g_strdup_printf ("P2: %s\nP3: %s\n", rows[1][0], rows[1][1]);
    colour_first = g_strdup (four);
    expect_rectified (four, NULL, &grey);
    expect_rectified (two, NULL, &colour);
    GstStereoCalibration read;
    if (parse (colour_first, NULL, &(GstStereoCalibrationOptions){ .cameras = " 2, 3" }, &read))
      for (gint v = 0; v < 2; v++)
        same ("projection", read.modes[0].projection[v], colour.projection[v], 12, 0);
    g_strfreev (rows[0]);
    g_strfreev (rows[1]);
    g_free (a);
    g_free (b);
  }
}

/* calib_cam_to_cam.txt: each pose is from camera 0. */
static void
test_kitti_raw_colour (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    OpencvStyle style = { 0, 5, 1, TRUE, TRUE };
    StereoCalibration c = calibration_draw (&source, &style);
    GstStereoCalibration read;
    Frame left = draw_frame (0.1, 40, 80), pose = draw_frame (0.1, -600, -400), right = multiply (&pose, &left);
    c.rectified_width = 1242;
    c.rectified_height = 375;
    gchar *text = calibration_kitti_cameras (&c, 1000);
    for (gint v = 0; v < 2; v++) {
      const gdouble *m = (v ? &right : &left)->m;
      gchar *name = g_strdup_printf ("\nR_0%d: ", 2 + v), *start = strstr (text, name),
            *end = strstr (start, "\nS_rect");
      GString *put = g_string_new (name);
      for (gint i = 0; i < 9; i++)
        g_string_append_printf (put, "%.17g ", m[4 * (i / 3) + i % 3]);
      g_string_append_printf (put, "\nT_0%d: %.17g %.17g %.17g", 2 + v, m[3] / 1000, m[7] / 1000, m[11] / 1000);
      gchar *whole = g_strdup_printf ("%.*s%s%s", (gint) (start - text), text, put->str, end);
      g_string_free (put, TRUE);
      g_free (name);
      g_free (text);
      text = whole;
    }
    if (!parse (text, NULL, &(GstStereoCalibrationOptions){ .cameras = "2,3" }, &read))
      return;
    check_cameras (&read.modes[0], &c);
    CHECK (read.modes[0].has_pose && read.modes[0].has_rectification, "no pose, or no rectification");
    CHECK (read.modes[0].rectified_width == 1242 && read.modes[0].rectified_height == 375, "another size");
    for (gint i = 0; i < 3; i++) {
      same ("rotation", read.modes[0].rotation + 3 * i, pose.m + 4 * i, 3, 1);
      same ("translation", read.modes[0].translation + i, pose.m + 4 * i + 3, 1, 1e4);
    }
  }
}

/* Numbers that belong to another size than the file says, or of a file that says none. */
static void
test_size (void)
{
  for (gint k = 0; k < 3; k++) {
    OpencvStyle style = { .lens = 5, .size = k, .pose = TRUE };
    StereoCalibration c = calibration_draw (&source, &style);
    GstStereoCalibration read;
    if (!parse (calibration_opencv_yaml (&c, &style, 1, &source), NULL,
            &(GstStereoCalibrationOptions){ .width = 1280, .height = 960 }, &read))
      return;
    c.width = 1280;
    c.height = 960;
    check_cameras (&read.modes[0], &c);
  }
}

/* OpenCV's pair as ZED's tool writes it: names of its own, a rotation vector, fisheye by name. */
static void
test_rotation_vector (void)
{
  static const gchar text[] = "%YAML:1.0\n---\nSize: [ 1920, 1200 ]\n"
                              "K_LEFT: [ 900, 0, 960, 0, 901, 600, 0, 0, 1 ]\nK_RIGHT: [ 902, 0, 961, 0, 903, 601, 0, 0, 1 ]\n"
                              "D_LEFT_FE: [ 0.1, 0.2, 0.3, 0.4 ]\nD_RIGHT_FE: [ 0.5, 0.6, 0.7, 0.8 ]\n"
                              "R: [ 0.01, -0.02, 0.03 ]\nT: [ -120, 1, 2 ]\n";
  const StereoCalibration c = { .width = 1920,
    .height = 1200,
    .camera = { { 900, 901, 960, 600, { 0.1, 0.2, 0.3, 0.4 }, STEREO_LENS_EQUIDISTANT },
        { 902, 903, 961, 601, { 0.5, 0.6, 0.7, 0.8 }, STEREO_LENS_EQUIDISTANT } } };
  GstStereoCalibration read;

  if (!parse (g_strdup (text), NULL, &by_format, &read))
    return;
  check_cameras (&read.modes[0], &c);
  check_turn (read.modes[0].rotation, (const gdouble[]){ 0.01, -0.02, 0.03 });
}

/* ---- refusals ---- */

static void
refuse_of (gchar *left, gchar *right, const GstStereoCalibrationOptions *options, const gchar *const *words)
{
  GstStereoCalibration c;
  gchar *message = NULL;

  CHECK (!gst_stereo_calibration_parse (&c, left, right, options, &message),
      "taken, and should be refused for '%s':\n%s", words[0], left);
  CHECK (message && strstr (message, "calibration: ") && strlen (message) < 900 && g_utf8_validate (message, -1, NULL),
      "'%s'", message);
  for (; message && *words; words++)
    CHECK (strstr (message, *words), "'%s' does not say '%s'", message, *words);
  g_free (message);
  g_free (left);
  g_free (right);
}

#define REFUSE(left, right, ...) refuse_of (left, right, &by_format, (const gchar *const[]){ __VA_ARGS__, NULL })

static void
test_refusals_of_models (void)
{
  StereoCalibration c = draw_cameras (4, FALSE, FALSE);
  Frame steps[2] = { draw_frame (0.1, -90, -80), draw_frame (0.1, -90, -80) };
  gchar *kalibr = calibration_kalibr (&c, 4, steps, 2);

  REFUSE (
      replaced (g_strdup (kalibr), "pinhole", "omni"), NULL, "Kalibr's camchain", "camera_model", "'omni'", "radtan");
  REFUSE (replaced (g_strdup (kalibr), "radtan", "fov"), NULL, "Kalibr's camchain", "'fov'", "equidistant");
  REFUSE (replaced (g_strdup (kalibr), "pinhole", "ds"), NULL, "Kalibr's camchain", "'ds'");
  REFUSE (replaced (g_strdup (kalibr), "radtan", "nan"), NULL, "Kalibr's camchain", "'nan'");
  REFUSE (calibration_kalibr (&c, 4, steps, 1), NULL, "cam1.intrinsics is missing", "Kalibr's camchain");
  REFUSE (replaced (g_strdup (kalibr), "T_cn_cnm1", "T_c1_c0"), NULL, "T_cn_cnm1", "is missing", "Kalibr");
  REFUSE (
      replaced (g_strdup (kalibr), "T_cn_cnm1:\n  - [", "T_cn_cnm1:\n  - [9, "), NULL, "T_cn_cnm1", "17 values", "16");
  REFUSE (replaced (g_strdup (kalibr), "T_cn_cnm1:\n  - [", "T_cn_cnm1:\n  - [.nan, "), NULL, "T_cn_cnm1", "finite");
  REFUSE (replaced (g_strdup (kalibr), "intrinsics: [", "intrinsics: [1, "), NULL, "cam0.intrinsics", "5 values", "4");
  REFUSE (replaced (g_strdup (kalibr), "intrinsics: [", "intrinsics: [x"), NULL, "cam0.intrinsics", "not a number");
  REFUSE (replaced (g_strdup (kalibr), "resolution: [", "resolution: [7, 9]\n  other: ["), NULL, "7 x 9", "one size");
  REFUSE (g_strdup (kalibr), g_strdup (kalibr), "Kalibr's camchain", "both cameras", "only one");
  refuse_of (g_strdup (kalibr), NULL, &(GstStereoCalibrationOptions){ .cameras = "0,2" },
      (const gchar *const[]){ "cam2.intrinsics is missing", NULL });
  g_free (kalibr);
}

static void
test_refusals_of_pairs (void)
{
  StereoCalibration c = draw_cameras (4, TRUE, FALSE), pair = draw_cameras (4, FALSE, FALSE);
  Frame body = draw_frame (1, 50, 90), bent = body;

  bent.m[0] += 0.1;
  REFUSE (calibration_euroc (&pair, 0, &body), NULL, "one camera", "EuRoC's sensor.yaml", "left.yaml,right.yaml");
  REFUSE (calibration_message (&c, 0, 4, TRUE), NULL, "one camera", "camera_info message", "left.yaml,right.yaml");
  REFUSE (calibration_ost (&c, 0, "left"), NULL, "one camera", "INI", "left.yaml,right.yaml");
  REFUSE (calibration_euroc (&pair, 0, &body), calibration_message (&c, 1, 4, TRUE), "EuRoC", "message", "one kind");
  REFUSE (calibration_euroc (&pair, 0, &bent), calibration_euroc (&pair, 1, &body), "T_BS", "not a rotation");
  REFUSE (calibration_message (&c, 0, 4, FALSE), replaced (calibration_message (&c, 1, 4, FALSE), "\np:", "\nq:"),
      "right calibration: p is missing", "message of ROS");
  REFUSE (replaced (calibration_message (&c, 0, 4, FALSE), "\nwidth: ", "\nwidth: -"),
      calibration_message (&c, 1, 4, FALSE), "width is -", "65535");
  REFUSE (replaced (calibration_message (&c, 0, 4, FALSE), "plumb_bob", "Mei"), calibration_message (&c, 1, 4, FALSE),
      "left calibration", "'Mei'", "not supported");
  REFUSE (replaced (calibration_ost (&c, 0, "a"), "\nprojection", "\nprotection"), calibration_ost (&c, 1, "b"),
      "projection is missing", "INI");
  REFUSE (replaced (calibration_ost (&c, 0, "a"), "camera matrix\n", "camera matrix\nnan 1 2\n"),
      calibration_ost (&c, 1, "b"), "camera matrix", "finite");
  REFUSE (g_strdup ("[image]\n5 6 7\n"), NULL, "[image]", "without a name", "5 6 7");
  REFUSE (g_strdup ("[a]\na.b\n1 2\nb = 3\n4 5\n"), NULL, "[a]", "without a name", "4 5");
}

static void
test_refusals_of_others (void)
{
  StereoCalibration zed[1] = { draw_cameras (4, FALSE, FALSE) }, c = draw_cameras (5, FALSE, FALSE);
  const gdouble turn[3] = { 0 };
  Frame pose = draw_frame (0.1, 80, 90);

  REFUSE (replaced (calibration_zed (zed, (const gchar *const[]){ "HD" }, 1, turn, FALSE), "fy = ", "fz = "), NULL,
      "left_cam_hd.fy is missing");
  REFUSE (calibration_zed (zed, (const gchar *const[]){ "XXL" }, 1, turn, FALSE), NULL, "left_cam_hd.fx is missing",
      "ZED's factory calibration", "LEFT_CAM_HD");
  refuse_of (calibration_zed (zed, (const gchar *const[]){ "HD" }, 1, turn, FALSE), NULL,
      &(GstStereoCalibrationOptions){ .cameras = "0,1" }, (const gchar *const[]){ "cameras=0,1", "unset", NULL });
  REFUSE (replaced (calibration_orbslam3 (&c, &pose, FALSE), "Stereo.T_c1_c2", "Stereo.T"), NULL,
      "Stereo.T_c1_c2 is missing", "ORB-SLAM3");
  REFUSE (replaced (calibration_orbslam3 (&c, &pose, FALSE), "Camera2.fy", "Camera2.fz"), NULL, "Camera2.fy");
  REFUSE (replaced (calibration_orbslam2 (&c, 5), "RIGHT.P", "RIGHT.Q"), NULL, "RIGHT.P is missing", "ORB-SLAM");
  c.camera[0].distortion[0] = 0.1;
  REFUSE (calibration_orbslam_rectified (&c, "Camera.bf", 40), NULL, "ORB-SLAM", "distortion", "LEFT.K");
  REFUSE (g_strdup ("Camera.fx: 500\nCamera.fy: 500\n"), NULL, "ORB-SLAM's settings of one camera", "Camera.bf");
  REFUSE (
      g_strdup ("{ \"value0\": { \"intrinsics\": [ { \"camera_type\": \"ds\" } ] } }"), NULL, "Basalt", "M1 D1 M2 D2");
  REFUSE (g_strdup ("model_type: MEI\ncamera_name: camera\n"), NULL, "VINS", "OpenCV");
  REFUSE (g_strdup ("{ \"cameraData\": [ [ 0, { \"height\": 800 } ] ] }"), NULL, "DepthAI", "OpenCV");
  REFUSE (g_strdup ("cameras:\n- camera:\n    label: a\n"), NULL, "OKVIS", "OpenCV");
}

static void
test_refusals_of_options (void)
{
  static const gchar *const bad[] = { "", "2", "2,2", "2,3,4", "a,b", "-1,0", "1;2", "2,", "999999999999,1" };
  StereoCalibration c = calibration_draw_projections (&source);

  for (guint k = 0; k < G_N_ELEMENTS (bad); k++)
    refuse_of (calibration_kitti (&c, TRUE, 1), NULL, &(GstStereoCalibrationOptions){ .cameras = bad[k] },
        (const gchar *const[]){ "cameras=", "2,3", NULL });
  refuse_of (calibration_kitti (&c, TRUE, 1), NULL, &(GstStereoCalibrationOptions){ .cameras = "4,5" },
      (const gchar *const[]){ "P4 is missing", "KITTI", NULL });
  refuse_of (calibration_kitti (&c, TRUE, 1), NULL, &(GstStereoCalibrationOptions){ .width = 640 },
      (const gchar *const[]){ "calibration-width=640", "calibration-height=0", "both", NULL });
}

/* Every text cut after every byte: taken or refused with a sentence. */
static void
check_cuts (gchar *text, const gchar *right)
{
  gsize length = strlen (text);

  for (gsize cut = 0; cut <= length; cut++) {
    gchar *part = g_strndup (text, cut), *message = NULL;
    GstStereoCalibration c;
    gboolean taken = gst_stereo_calibration_parse (&c, part, right, &by_format, &message);
    CHECK (taken || (message && strlen (message) > 20), "refused without a word after %u bytes", (guint) cut);
    CHECK (taken || cut < length, "the whole text was not taken: %s", message);
    g_free (message);
    g_free (part);
  }
  g_free (text);
}

static void
test_truncation (void)
{
  StereoCalibration c = draw_cameras (4, TRUE, FALSE), pair = draw_cameras (4, FALSE, FALSE);
  Frame steps[3] = { draw_frame (0.1, 50, 90), draw_frame (0.1, 50, 90), draw_frame (0.1, 50, 90) };
  const gdouble turn[3] = { 0.1, 0.2, 0.3 };
  gchar *right = calibration_message (&c, 1, 4, FALSE), *left;

  check_cuts (calibration_message (&c, 0, 4, TRUE), right);
  g_free (right);
  left = calibration_ost (&c, 0, "left");
  right = calibration_ost (&c, 1, "right");
  check_cuts (g_strconcat (left, right, NULL), NULL);
  check_cuts (left, right);
  g_free (right);
  right = calibration_euroc (&pair, 1, &steps[0]);
  check_cuts (calibration_euroc (&pair, 0, &steps[1]), right);
  g_free (right);
  check_cuts (calibration_kalibr (&pair, 4, steps, 3), NULL);
  check_cuts (calibration_orbslam2 (&c, 4), NULL);
  check_cuts (calibration_orbslam3 (&pair, &steps[0], FALSE), NULL);
  check_cuts (calibration_zed (&pair, (const gchar *const[]){ "HD" }, 1, turn, TRUE), NULL);
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_case ("messages of ROS", test_messages);
  check_case ("a part of the sensor", test_region);
  check_case ("INI of ROS", test_ini);
  check_case ("Kalibr", test_kalibr);
  check_case ("EuRoC", test_euroc);
  check_case ("ORB-SLAM", test_orbslam);
  check_case ("ZED", test_zed);
  check_case ("KITTI's colour pair", test_kitti_colour);
  check_case ("KITTI's raw colour pair", test_kitti_raw_colour);
  check_case ("size of the calibration", test_size);
  check_case ("rotation vector", test_rotation_vector);
  check_case ("refusals of models", test_refusals_of_models);
  check_case ("refusals of pairs", test_refusals_of_pairs);
  check_case ("refusals of others", test_refusals_of_others);
  check_case ("refusals of options", test_refusals_of_options);
  check_case ("truncation", test_truncation);
  return check_finish ();
}
