/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibrations of ROS messages, INI files, Kalibr, EuRoC, ORB-SLAM and ZED, and a choice among cameras: what is written
 * comes back. What cannot be read is named.
 */
#include <math.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/gst/calibration/robots.h"
#include "tests/support/gst/calibration/text.h"
#include "gst/rectify/calibration/calibration.h"

#define ROUNDS 30

static Random source;
static const GstStereoCalibrationOptions by_format;

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
  g_autofree gchar *message = NULL;
  gboolean ok = CHECK (gst_stereo_calibration_parse (out, left, right, options, &message), "%s\n%s", message, left);

  CHECK (!ok || !message, "taken, and '%s'", message);
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

/* ---- formats ---- */

static void
test_messages (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    gboolean fisheye = k % 5 == 4, ros1 = k % 2;
    gint lens = fisheye ? 4 : (gint[]){ 0, 4, 5, 8 }[k % 4];
    StereoCalibration c = calibration_draw_cameras (&source, lens, TRUE, fisheye);
    expect_rectified (calibration_message (&c, 0, lens, ros1), calibration_message (&c, 1, lens, ros1), &c);
    /* one printed, and the other from a file of camera_calibration */
    if (!fisheye)
      expect_rectified (calibration_message (&c, 0, lens, ros1), calibration_ros (&c, 1, lens, 1000, &source), &c);
  }
}

/* A part of the sensor, at a place of its own. */
static void
test_region (void)
{
  StereoCalibration c = calibration_draw_cameras (&source, 5, TRUE, FALSE), cut = c;
  gchar *text[2];

  for (gint v = 0; v < 2; v++) {
    text[v] = calibration_replaced (calibration_message (&c, v, 5, v),
        "x_offset: 0\n  y_offset: 0\n  height: 0\n  width: 0",
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
    StereoCalibration c = calibration_draw_cameras (&source, 5, TRUE, FALSE);
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
    StereoCalibration c = calibration_draw_cameras (&source, lens, FALSE, lens && k % 2);
    Frame steps[4], all, imu = frame_draw (&source, 3, 10, 100), frames[2], back;
    gchar cameras[8];
    for (gint n = 0; n < 4; n++)
      steps[n] = frame_draw (&source, 0.3, -500, -50);
    expect_pose (calibration_kalibr (&c, lens, steps, 2 + k % 3), NULL, &c, &steps[1]);
    /* along the chain, and backwards */
    all = frame_multiply (&steps[3], &steps[2]);
    all = frame_multiply (&all, &steps[1]);
    g_snprintf (cameras, sizeof cameras, "%s", "0,3");
    expect_pose_of (
        calibration_kalibr (&c, lens, steps, 4), NULL, &(GstStereoCalibrationOptions){ .cameras = cameras }, &c, &all);
    back = frame_invert (&steps[2]);
    g_snprintf (cameras, sizeof cameras, "%s", "2,1");
    expect_pose_of (
        calibration_kalibr (&c, lens, steps, 4), NULL, &(GstStereoCalibrationOptions){ .cameras = cameras }, &c, &back);
    /* each to the inertial sensor, in one direction and in the other */
    if (!lens)
      continue;
    frames[0] = imu;
    frames[1] = frame_multiply (&steps[1], &imu);
    expect_pose (calibration_kalibr_frames (&c, frames, "T_cam_imu"), NULL, &c, &steps[1]);
    frames[0] = frame_invert (&frames[0]);
    frames[1] = frame_invert (&frames[1]);
    expect_pose (calibration_kalibr_frames (&c, frames, "T_imu_cam"), NULL, &c, &steps[1]);
  }
}

static void
test_euroc (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = calibration_draw_cameras (&source, 4, FALSE, k % 2);
    Frame pose = frame_draw (&source, 0.3, -500, -50), body[2] = { frame_draw (&source, 3, 10, 100) },
          back = frame_invert (&pose);
    body[1] = frame_multiply (&body[0], &back);
    expect_pose (calibration_euroc (&c, 0, &body[0]), calibration_euroc (&c, 1, &body[1]), &c, &pose);
  }
}

static void
test_orbslam (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    gint lens = k % 2 ? 4 : 5;
    StereoCalibration c = calibration_draw_cameras (&source, lens, TRUE, FALSE), pair;
    Frame pose = frame_draw (&source, 0.3, -500, -50), back = frame_invert (&pose);
    gdouble baseline = random_between (&source, 50, 500);
    expect_rectified (calibration_orbslam2 (&c, lens), NULL, &c);
    pair = calibration_draw_cameras (&source, lens, FALSE, k % 2);
    expect_pose (calibration_orbslam3 (&pair, &back, k % 3 == 0), NULL, &pair, &pose);
    /* of rectified views: one camera, and a length in metres */
    c = calibration_draw_cameras (&source, 0, TRUE, FALSE);
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
    const gdouble turn[3] = { random_between (&source, -0.02, 0.02), random_between (&source, -0.02, 0.02),
      random_between (&source, -0.02, 0.02) };
    for (gint n = 0; n < 4; n++) {
      modes[n] = calibration_draw_cameras (&source, fisheye ? 4 : 8, FALSE, fisheye);
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
    g_autofree gchar *a = calibration_kitti (&grey, FALSE, 1000), *b = calibration_kitti (&colour, FALSE, 1000);
    gchar **rows[2];
    rows[0] = g_strsplit (a, "\n", 3);
    rows[1] = g_strsplit (b, "\n", 3);
    gchar *four = g_strdup_printf ("P0: %s\nP1: %s\nP2: %s\nP3: %s\nTr: 1 0 0 0 0 1 0 0 0 0 1 0\n", rows[0][0],
        rows[0][1], rows[1][0], rows[1][1]);
    gchar *two = g_strdup_printf ("P2: %s\nP3: %s\n", rows[1][0], rows[1][1]);
    gchar *colour_first = g_strdup (four);
    expect_rectified (four, NULL, &grey);
    expect_rectified (two, NULL, &colour);
    GstStereoCalibration read;
    if (parse (colour_first, NULL, &(GstStereoCalibrationOptions){ .cameras = " 2, 3" }, &read))
      for (gint v = 0; v < 2; v++)
        same ("projection", read.modes[0].projection[v], colour.projection[v], 12, 0);
    g_strfreev (rows[0]);
    g_strfreev (rows[1]);
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
    Frame left = frame_draw (&source, 0.1, 40, 80), pose = frame_draw (&source, 0.1, -600, -400),
          right = frame_multiply (&pose, &left);
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
  return check_finish ();
}
