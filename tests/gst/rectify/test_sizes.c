/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereorectify: calibrations of pictures of another size, which are warned of for each size of frames, and choices. */
#include "tests/support/gst/cameras.h"
#include "tests/support/gst/suite.h"

#define WIDTH 64
#define HEIGHT 48
#define CPU "backend=cpu threads=1 "

static void
push (Pair *pair, gint width, gint height, GstClockTime pts)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, (guint) width, (guint) height);
  for (guint v = 0; v < 2; v++)
    gst_harness_push (v ? pair->right : pair->left, stamp (noise_frame (&info, 3 + v, 0), pts, FRAME));
}

/* The first pair of this size; the focal length that it is rectified to. */
static gdouble
run (Pair *pair, gint width, gint height, GstClockTime pts)
{
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, width, height, NULL);
  push (pair, width, height, pts);
  gst_buffer_unref (pair_pull (pair, pts));
  return number_of (pair->element, "focal-length");
}

/* A file that does not say its size: frames of that size are fine, frames of twice the size are warned of each time. */
TEST (test_size_that_is_not_in_the_file)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);

  cameras.width = cameras.height = 0;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);
  fail_unless_equals_float (run (pair, WIDTH, HEIGHT, 0), 40);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  for (guint k = 1; k < 3; k++) {
    run (pair, 2 * WIDTH, 2 * HEIGHT, 2 * k * FRAME);
    expect_warning (pair->bus, "principal points", "128x96", "calibration-width=64 calibration-height=48", NULL);
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
    run (pair, WIDTH, HEIGHT, (2 * k + 1) * FRAME);
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  }
}

/* The properties that the warning names: everything is scaled. Also where the file says another size. */
TEST_LOOP (test_size_that_is_set, 0, 2)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);

  cameras.width = __i__ ? WIDTH / 2 : 0;
  cameras.height = __i__ ? HEIGHT / 2 : 0;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU "calibration-width=64 calibration-height=48");
  fail_unless_equals_float (run (pair, 2 * WIDTH, 2 * HEIGHT, 0), 80);
  fail_unless_equals_float (number_of (pair->element, "baseline"), 120);
  fail_unless_equals_float (run (pair, WIDTH / 2, HEIGHT / 2, FRAME), 20);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  /* without them again, while frames pass */
  g_object_set (pair->element, "calibration-width", 0, "calibration-height", 0, NULL);
  push (pair, WIDTH / 2, HEIGHT / 2, 2 * FRAME);
  gst_buffer_unref (pair_pull (pair, 2 * FRAME));
  expect_warning (
      pair->bus, "principal points", "32x24", __i__ ? "2 times the 32x24 that it is said to be of" : "64x48", NULL);
}

/* Numbers of larger pictures of which no view can be made: the error says which size they fit. */
TEST (test_size_that_gives_no_views)
{
  g_autoptr (CalibrationFile) calibration = calibration_new_text (
      "M1: [ 60, 0, 70, 0, 60, 50, 0, 0, 1 ]\nD1: [ -0.2, 0.04 ]\n"
      "M2: [ 60, 0, 66, 0, 60, 47, 0, 0, 1 ]\nD2: [ -0.2, 0.04 ]\n"
      "R: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nT: [ -120, 0, 0 ]\n");
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, NULL);
  push (pair, WIDTH, HEIGHT, 0);
  expect_error (
      pair->bus, calibration, "No rectangle", "principal points", "calibration-width=128 calibration-height=96", NULL);
}

/* A focal length in millimetres: no view can be made, and the error says why. */
TEST (test_focal_length_that_gives_no_views)
{
  g_autoptr (CalibrationFile) calibration = calibration_new_text (
      "M1: [ 0.4, 0, 34, 0, 0.4, 23, 0, 0, 1 ]\nD1: [ -0.2, 0.04 ]\n"
      "M2: [ 0.4, 0, 33, 0, 0.4, 25, 0, 0, 1 ]\nD2: [ -0.2, 0.04 ]\n"
      "R: [ 0.995, -0.0998334, 0, 0.0998334, 0.995, 0, 0, 0, 1 ]\n"
      "T: [ -120, 0, 5 ]\n");
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, NULL);
  push (pair, WIDTH, HEIGHT, 0);
  expect_error (pair->bus, "No rectangle", "focal length", "millimetres", NULL);
}

/* A file that says a size of another aspect: numbers of the frames at hand, and numbers of the size that it says. */
TEST_LOOP (test_size_of_another_aspect, 0, 2)
{
  Cameras cameras = __i__ ? cameras_straight (WIDTH, HEIGHT) : cameras_straight (4 * WIDTH, 2 * HEIGHT);

  cameras.width = WIDTH;
  cameras.height = HEIGHT;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, 4 * WIDTH, 2 * HEIGHT, NULL);
  push (pair, 4 * WIDTH, 2 * HEIGHT, 0);
  expect_error (pair->bus, "64 x 48", "256 x 96", "aspect",
      __i__ ? "without cropping." : "calibration-width=256 calibration-height=96", NULL);
}

/* A lens that turns back within the picture, and four values that are not named. */
TEST (test_lens)
{
  g_autoptr (CalibrationFile) calibration = calibration_new_text (
      "M1: [ 25, 0, 32, 0, 25, 24, 0, 0, 1 ]\nD1: [ -0.9, 0, 0.001, 0 ]\n"
      "M2: [ 25, 0, 32, 0, 25, 24, 0, 0, 1 ]\nD2: [ 0.01, 0.02, -0.06, 0.03 ]\n"
      "R: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nT: [ -120, 0, 0 ]\n");
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);

  run (pair, WIDTH, HEIGHT, 0);
  expect_warning (pair->bus, "left camera holds up to 10 px", "right camera are -0.06 and 0.03",
      "distortion_model: equidistant", NULL);
}

/* ROS' files name a region of the sensor, whose frames come first; then those of the whole sensor, of twice its size. */
TEST (test_region_of_the_sensor)
{
  static const gchar text[] = "width: 128\nheight: 96\ndistortion_model: plumb_bob\nd: []\n"
                              "k: [40, 0, 63.5, 0, 40, 47.5, 0, 0, 1]\nr: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
                              "p: [40, 0, 63.5, %d, 0, 40, 47.5, 0, 0, 0, 1, 0]\n"
                              "roi: { x_offset: 32, y_offset: 24, height: 48, width: 64, do_rectify: false }\n";
  g_autofree gchar *left_text = g_strdup_printf (text, 0), *right_text = g_strdup_printf (text, -4);
  g_autoptr (CalibrationFile) left = calibration_new_text (left_text), right = calibration_new_text (right_text);
  g_autofree gchar *both = g_strdup_printf ("%s,%s", left, right);
  g_autoptr (Pair) pair = rectify_new (both, CPU);

  fail_unless_equals_float (run (pair, WIDTH, HEIGHT, 0), 40);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  fail_unless_equals_float (run (pair, 2 * WIDTH, 2 * HEIGHT, FRAME), 40);
  expect_warning (pair->bus, "roi", "64x48", "128x96", "not cut out", NULL);
  fail_unless_equals_float (run (pair, 3 * WIDTH, 3 * HEIGHT, 2 * FRAME), 120);
  fail_unless_equals_float (number_of (pair->element, "baseline"), 100);
  /* a size that is set is that of the frames: there is no region */
  g_object_set (pair->element, "calibration-width", 2 * WIDTH, "calibration-height", 2 * HEIGHT, NULL);
  fail_unless_equals_float (run (pair, WIDTH, HEIGHT, 3 * FRAME), 20);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* A pose the other way round, before stereomatch: it does not ask for stereorectify, which is there. */
TEST (test_transposed_pose)
{
  g_autoptr (CalibrationFile) calibration = calibration_new_text (
      "M1: [ 300, 0, 159.5, 0, 300, 119.5, 0, 0, 1 ]\nD1: []\n"
      "M2: [ 300, 0, 159.5, 0, 300, 119.5, 0, 0, 1 ]\nD2: []\n"
      "R: [ 1, 0, 0, 0, 0.9999, -0.014141782, 0, 0.014141782, 0.9999 ]\n"
      "T: [ -120, 0, 0 ]\n");
  g_autofree gchar *description = g_strdup_printf (
      "stereotestsrc num-buffers=4 ! video/x-raw,format=GRAY8,width=640,height=240,framerate=1/1 ! "
      "stereorectify backend=cpu calibration=%s ! stereomatch backend=cpu num-disparities=32 ! fakesink",
      calibration);
  g_autoptr (GstElement) pipeline = launch ("%s", description);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = expect_message (
      bus, GST_MESSAGE_WARNING, (const gchar *const[]){ "Rows of the views", "transposed", NULL });
  g_autofree gchar *text = message_text (message);
  fail_unless (strstr (text, "put stereorectify") == NULL, "%s", text);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

SUITE (rectify_sizes)
{
}
