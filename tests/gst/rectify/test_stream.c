/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereorectify: metadata, what changes while it plays, what is warned of for each size of frames, and every error. */
#include "tests/support/gst/cameras.h"
#include "tests/support/gst/suite.h"

#include "stereo/stereo.h"

#define WIDTH 44
#define HEIGHT 20
#define CPU "backend=cpu threads=1 "

/* A pair of such views. What goes wrong is told on the bus. */
static void
push (Pair *pair, GstVideoFormat left, GstVideoFormat right, gint width, gint height, GstClockTime pts)
{
  harness_set_caps (pair->left, left, width, height, NULL);
  harness_set_caps (pair->right, right, width, height, NULL);
  for (guint v = 0; v < 2; v++) {
    GstVideoInfo info;

    gst_video_info_set_format (&info, v ? right : left, (guint) width, (guint) height);
    gst_harness_push (v ? pair->right : pair->left, stamp (noise_frame (&info, 3 + v, 0), pts, FRAME));
  }
}

/* What becomes of it; to be unreferenced. */
static GstBuffer *
run (Pair *pair, GstVideoFormat format, gint width, gint height, GstClockTime pts)
{
  push (pair, format, format, width, height, pts);
  return pair_pull (pair, pts);
}

static GstBuffer *
run_pair (Pair *pair, GstClockTime pts)
{
  return run (pair, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, pts);
}

/* ---- metadata ----------------------------------------------------------------------------- */

/* Cameras with square pixels, and with others. */
TEST_LOOP (test_meta_and_properties, 0, 2)
{
  const gdouble vertical = __i__ ? 37.5 : 0;
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autofree gchar *backend = NULL;
  g_autoptr (GstStructure) stats = NULL;

  cameras.new_focal = 36;
  cameras.new_focal_y = vertical;
  cameras.new_cx[0] += 0.25;
  cameras.new_cx[1] += 1.75;
  cameras.new_cy -= 0.5;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU "unit=2.5");
  fail_unless (number_of (pair->element, "focal-length") == 0);
  g_autoptr (GstPad) right = gst_element_get_static_pad (pair->element, "sink_right");
  gst_pad_set_offset (right, 7 * GST_MSECOND);
  g_autoptr (GstBuffer) out = run_pair (pair, FRAME);
  fail_unless (GST_BUFFER_DURATION (out) == FRAME);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);
  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_VIEWS);
  fail_unless_equals_int (meta->width, WIDTH);
  fail_unless_equals_int (meta->height, HEIGHT);
  fail_unless_equals_float (meta->focal_length, 36);
  fail_unless_equals_float (meta->focal_length_y, vertical);
  fail_unless_equals_float (meta->baseline, 120 * 2.5);
  fail_unless_equals_float (meta->principal_offset, 1.5);
  fail_unless_equals_float (meta->principal_x, cameras.new_cx[0]);
  fail_unless_equals_float (meta->principal_y, cameras.new_cy);
  fail_unless_equals_int64 (meta->pair_skew, 7 * GST_MSECOND);
  fail_unless (meta->confidence == NULL && meta->truth == NULL);
  fail_unless_equals_float (number_of (pair->element, "focal-length"), 36);
  fail_unless_equals_float (number_of (pair->element, "baseline"), 300);
  fail_unless_equals_float (number_of (pair->element, "principal-offset"), 1.5);
  g_object_get (pair->element, "active-backend", &backend, "stats", &stats, NULL);
  fail_unless_equals_string (backend, "cpu");
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 1);
  fail_unless (stat_of (pair->element, "compute-time") > 0);
  fail_unless_equals_string (gst_structure_get_string (stats, "pairing-clock"), "buffer");
}

/* What stereomatch needs for depth comes with the frames; twice, for all must be as new after NULL. */
TEST (test_depth_needs_no_further_property_and_plays_twice)
{
  Cameras cameras = cameras_straight (64, 32);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (GstElement) pipeline = launch (
      "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=128,height=32 ! stereorectify name=r calibration=%s "
      "unit=10 backend=cpu ! stereomatch name=m output=depth num-disparities=16 backend=cpu ! fakesink",
      calibration);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstElement) match = gst_bin_get_by_name (GST_BIN (pipeline), "m"),
                         rectify = gst_bin_get_by_name (GST_BIN (pipeline), "r");

  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstStructure) settings = NULL;

    /* the file is read again by the next start */
    cameras.new_focal = i ? 20 : 40;
    calibration_write (calibration, &cameras);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait_for_message (bus, GST_MESSAGE_EOS);
    g_object_get (match, "settings", &settings, NULL);
    fail_unless_equals_float (found_number (settings, "focal-length"), cameras.new_focal);
    fail_unless_equals_float (found_number (settings, "baseline"), 1200);
    fail_unless_equals_uint64 (stat_of (rectify, "pairs"), 3);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

/* ---- changes ------------------------------------------------------------------------------ */

TEST (test_caps_change)
{
  static const struct
  {
    GstVideoFormat format, out;
    gint scale;
  } steps[] = {
    { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, 1 },
    { GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_BGRx, 1 },
    { GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_I420, 2 },
    { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, 2 },
    { GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGB, 1 },
    { GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY8, 1 },
    { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, 3 },
  };
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    gint width = WIDTH * steps[i].scale, height = HEIGHT * steps[i].scale;
    g_autoptr (GstBuffer) out = run (pair, steps[i].format, width, height, i * FRAME);
    GstVideoInfo info = output_info (pair->left);
    fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), steps[i].out);
    fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 2 * width);
    fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), height);
    fail_unless_equals_float (gst_buffer_get_stereo_meta (out)->focal_length, 40 * steps[i].scale);
  }
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
}

/* A file that cannot be used, set while frames pass: a warning, and the calibration before stays in force. */
static void
keeps_working (Pair *pair, const gchar *property, const gchar *file, guint number)
{
  gdouble focal_length, baseline;

  g_object_get (pair->element, "focal-length", &focal_length, "baseline", &baseline, NULL);
  fail_unless (focal_length > 0 && baseline == 360);
  g_object_set (pair->element, property, file, NULL);
  g_autoptr (GstBuffer) out = run_pair (pair, number * FRAME);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (out)->focal_length, focal_length);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (out)->baseline, baseline);
  expect_warning (pair->bus, file ? file : "calibration=", NULL);
}

TEST (test_properties_take_effect_with_the_next_pair)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT), moved = cameras;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras), other = NULL;
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);

  moved.new_cx[0] = moved.new_cx[1] += 3;
  moved.new_focal = 50;
  other = calibration_new (&moved);
  GstBuffer *before = run_pair (pair, 0);
  g_object_set (pair->element, "calibration", other, "unit", 3.0, NULL);
  GstBuffer *after = run_pair (pair, FRAME);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (after)->focal_length, 50);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (after)->baseline, 360);
  fail_unless (gst_buffer_get_size (before) == gst_buffer_get_size (after));
  fail_if (buffers_equal (before, after), "the maps are those of the first calibration");
  gst_buffer_unref (before);
  gst_buffer_unref (after);
  /* another size of the views is another size of the output */
  g_object_set (pair->element, "width", 30, "height", 16, NULL);
  gst_buffer_unref (run_pair (pair, 2 * FRAME));
  GstVideoInfo info = output_info (pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 60);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), 16);
  keeps_working (pair, "calibration", "/no/such/file.yml", 3);
  keeps_working (pair, "calibration", NULL, 4);
  g_object_set (pair->element, "calibration", other, NULL);
  keeps_working (pair, "save", "/", 5);
}

/* ---- doubts, saving ------------------------------------------------------------------------- */

/* Numbers without sense are warned of once, and the views are rectified nevertheless. */
TEST (test_numbers_without_sense)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);

  cameras.baseline = 3.5; /* squares of a chessboard */
  cameras.focal = 5;      /* millimetres */
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);
  gst_buffer_unref (run_pair (pair, 0));
  expect_warning (pair->bus, "3.5 mm apart", "unit=25", "unit=1000", NULL);
  expect_warning (pair->bus, "focal length", "5 px", "44 px", NULL);
  gst_buffer_unref (run (pair, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT, FRAME));
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* The first pair with these properties. */
static GstBuffer *
first_pair (const gchar *calibration, const gchar *properties)
{
  g_autoptr (Pair) pair = rectify_new (calibration, properties);

  GstBuffer *out = run_pair (pair, 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  return out;
}

/* That unit=25 is what the squares of a board are said to be. */
TEST (test_numbers_with_sense)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);

  cameras.baseline = 3.5;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  gst_buffer_unref (first_pair (calibration, CPU "unit=25"));
}

/* What was saved makes the same views, in all bytes, without the properties that made them. */
TEST (test_saved_calibration_makes_the_same_views)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autoptr (CalibrationFile) calibration = NULL, saved = calibration_new_text ("");

  cameras.turn[0] = 0.02;
  cameras.turn[1] = -0.01;
  cameras.new_cx[1] += 1.5;
  calibration = calibration_new (&cameras);
  g_autofree gchar *properties = g_strdup_printf (CPU "unit=2.5 width=40 height=22 save=%s", saved);
  g_autoptr (GstBuffer) before = first_pair (calibration, properties);
  g_autoptr (GstBuffer) after = first_pair (saved, CPU);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (after)->baseline, 300);
  fail_unless_equals_float (
      gst_buffer_get_stereo_meta (after)->focal_length, gst_buffer_get_stereo_meta (before)->focal_length);
  fail_unless_equals_float (
      gst_buffer_get_stereo_meta (after)->principal_offset, gst_buffer_get_stereo_meta (before)->principal_offset);
  fail_unless (buffers_equal (before, after), "the views are others");
}

/* ---- sizes --------------------------------------------------------------------------------- */

#define LARGE_WIDTH 64
#define LARGE_HEIGHT 48

/* The focal length that a pair of this size is rectified to. */
static gdouble
focal_of (Pair *pair, gint width, gint height, GstClockTime pts)
{
  gst_buffer_unref (run (pair, GST_VIDEO_FORMAT_GRAY8, width, height, pts));
  return number_of (pair->element, "focal-length");
}

/* A file that does not say its size: frames of that size are fine, frames of twice the size are warned of each time. */
TEST (test_size_that_is_not_in_the_file)
{
  Cameras cameras = cameras_straight (LARGE_WIDTH, LARGE_HEIGHT);

  cameras.width = cameras.height = 0;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);
  fail_unless_equals_float (focal_of (pair, LARGE_WIDTH, LARGE_HEIGHT, 0), 40);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  for (guint k = 1; k < 3; k++) {
    focal_of (pair, 2 * LARGE_WIDTH, 2 * LARGE_HEIGHT, 2 * k * FRAME);
    expect_warning (pair->bus, "principal points", "128x96", "calibration-width=64 calibration-height=48", NULL);
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
    focal_of (pair, LARGE_WIDTH, LARGE_HEIGHT, (2 * k + 1) * FRAME);
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  }
}

/* The properties that the warning names: everything is scaled. Also where the file says another size. */
TEST_LOOP (test_size_that_is_set, 0, 2)
{
  Cameras cameras = cameras_straight (LARGE_WIDTH, LARGE_HEIGHT);

  cameras.width = __i__ ? LARGE_WIDTH / 2 : 0;
  cameras.height = __i__ ? LARGE_HEIGHT / 2 : 0;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU "calibration-width=64 calibration-height=48");
  fail_unless_equals_float (focal_of (pair, 2 * LARGE_WIDTH, 2 * LARGE_HEIGHT, 0), 80);
  fail_unless_equals_float (number_of (pair->element, "baseline"), 120);
  fail_unless_equals_float (focal_of (pair, LARGE_WIDTH / 2, LARGE_HEIGHT / 2, FRAME), 20);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  /* without them again, while frames pass */
  g_object_set (pair->element, "calibration-width", 0, "calibration-height", 0, NULL);
  focal_of (pair, LARGE_WIDTH / 2, LARGE_HEIGHT / 2, 2 * FRAME);
  expect_warning (
      pair->bus, "principal points", "32x24", __i__ ? "2 times the 32x24 that it is said to be of" : "64x48", NULL);
}

/* No views can be made, and the error says why: numbers of larger pictures; a focal length in millimetres. */
TEST_LOOP (test_numbers_that_give_no_views, 0, 2)
{
  static const struct
  {
    const gchar *text, *says[2];
  } cases[] = { { "M1: [ 60, 0, 70, 0, 60, 50, 0, 0, 1 ]\nD1: [ -0.2, 0.04 ]\n"
                  "M2: [ 60, 0, 66, 0, 60, 47, 0, 0, 1 ]\nD2: [ -0.2, 0.04 ]\n"
                  "R: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nT: [ -120, 0, 0 ]\n",
                    { "principal points", "calibration-width=128 calibration-height=96" } },
    { "M1: [ 0.4, 0, 34, 0, 0.4, 23, 0, 0, 1 ]\nD1: [ -0.2, 0.04 ]\n"
      "M2: [ 0.4, 0, 33, 0, 0.4, 25, 0, 0, 1 ]\nD2: [ -0.2, 0.04 ]\n"
      "R: [ 0.995, -0.0998334, 0, 0.0998334, 0.995, 0, 0, 0, 1 ]\nT: [ -120, 0, 5 ]\n",
        { "focal length", "millimetres" } } };
  g_autoptr (CalibrationFile) calibration = calibration_new_text (cases[__i__].text);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);

  push (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, LARGE_WIDTH, LARGE_HEIGHT, 0);
  expect_error (pair->bus, calibration, "No rectangle", cases[__i__].says[0], cases[__i__].says[1], NULL);
}

/* A file that says a size of another aspect: numbers of the frames at hand, and numbers of the size that it says. */
TEST_LOOP (test_size_of_another_aspect, 0, 2)
{
  Cameras cameras = __i__ ? cameras_straight (LARGE_WIDTH, LARGE_HEIGHT) :
                            cameras_straight (4 * LARGE_WIDTH, 2 * LARGE_HEIGHT);

  cameras.width = LARGE_WIDTH;
  cameras.height = LARGE_HEIGHT;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU);
  push (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, 4 * LARGE_WIDTH, 2 * LARGE_HEIGHT, 0);
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

  focal_of (pair, LARGE_WIDTH, LARGE_HEIGHT, 0);
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

  fail_unless_equals_float (focal_of (pair, LARGE_WIDTH, LARGE_HEIGHT, 0), 40);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  fail_unless_equals_float (focal_of (pair, 2 * LARGE_WIDTH, 2 * LARGE_HEIGHT, FRAME), 40);
  expect_warning (pair->bus, "roi", "64x48", "128x96", "not cut out", NULL);
  fail_unless_equals_float (focal_of (pair, 3 * LARGE_WIDTH, 3 * LARGE_HEIGHT, 2 * FRAME), 120);
  fail_unless_equals_float (number_of (pair->element, "baseline"), 100);
  /* a size that is set is that of the frames: there is no region */
  g_object_set (pair->element, "calibration-width", 2 * LARGE_WIDTH, "calibration-height", 2 * LARGE_HEIGHT, NULL);
  fail_unless_equals_float (focal_of (pair, LARGE_WIDTH, LARGE_HEIGHT, 3 * FRAME), 20);
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
  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc num-buffers=4 ! video/x-raw,format=GRAY8,width=640,height=240,framerate=1/1 ! "
      "stereorectify backend=cpu calibration=%s ! stereomatch backend=cpu num-disparities=32 ! fakesink",
      calibration);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = expect_message (
      bus, GST_MESSAGE_WARNING, (const gchar *const[]){ "Rows of the views", "transposed", NULL });
  g_autofree gchar *text = message_text (message);
  fail_unless (strstr (text, "put stereorectify") == NULL, "%s", text);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* ---- errors ------------------------------------------------------------------------------- */

TEST (test_calibrations_that_do_not_load)
{
  g_autoptr (CalibrationFile) broken = calibration_new_text ("%YAML:1.0\n---\nM1: [ 1, 2\n");
  g_autofree gchar *properties = with_calibration (broken, "");
  const gchar *const cases[][2] = { { "", "calibration=" }, { "calibration=/no/such/file.yml", "/no/such/file.yml" },
    { properties, broken }, { "calibration=/no/such/file.yml backend=cuda", "backend=cuda" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBus *bus;
    GstElement *element = element_new ("stereorectify", cases[i][0], &bus);

    if (i < 3 || !stereo_backend_available (STEREO_BACKEND_CUDA, -1, NULL, 0)) {
      fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
      expect_error (bus, cases[i][1], NULL);
    }
    gst_element_set_state (element, GST_STATE_NULL);
    element_free (element, bus);
  }
}

TEST (test_pairs_that_cannot_be_rectified)
{
  static const struct
  {
    gdouble baseline;
    const gchar *more;
    GstVideoFormat left, right;
    gint height;
    const gchar *says[2];
  } cases[] = {
    /* of another aspect, with both sizes */
    { 120, CPU, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, 2 * HEIGHT, { "44 x 20", "44 x 40" } },
    { 0, CPU, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, HEIGHT, { "baseline", NULL } },
    { -120, CPU, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, HEIGHT, { "swap", NULL } },
    /* odd views in formats that share columns */
    { 120, CPU "width=43 height=20", GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV12, HEIGHT, { "43x20", "width=42" } },
    { 120, CPU, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, HEIGHT, { "RGB", "BGR" } },
    { 120, CPU, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_GRAY8, HEIGHT, { "RGB", "GRAY8" } },
    { 120, CPU "save=/no/such/folder/x.yml", GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, HEIGHT,
        { "/no/such/folder/x.yml", "save=" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Cameras cameras = cameras_straight (WIDTH, HEIGHT);

    cameras.baseline = cases[i].baseline;
    g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
    g_autoptr (Pair) pair = rectify_new (calibration, cases[i].more);
    push (pair, cases[i].left, cases[i].right, WIDTH, cases[i].height, 0);
    expect_error (pair->bus, cases[i].says[0], cases[i].says[1], NULL);
  }
}

/* The calibration itself is not written over. */
TEST (test_saved_over_itself)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autofree gchar *itself = g_strconcat (CPU "save=", calibration, NULL), *text = NULL;
  g_autoptr (Pair) pair = rectify_new (calibration, itself);

  push (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 0);
  expect_error (pair->bus, "save=", "another file", NULL);
  fail_unless (g_file_get_contents (calibration, &text, NULL, NULL));
  fail_unless (strstr (text, "Q:") == NULL, "the calibration was written over");
}

TEST (test_packed_frames_that_cannot_be_rectified)
{
  static const struct
  {
    gint width;
    gsize cut; /* of the chroma: it is said to begin where so little is left for it */
    const gchar *taken, *says;
  } cases[] = { { 86, 0, NULL, "43x20" }, { 88, 100, NULL, "does not hold the" },
    { 88, 0, "video/x-raw,format=RGB", "downstream" } };
  Cameras cameras = cameras_straight (40, 20);

  cameras.width = cameras.height = 0;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
    g_autofree gchar *properties = with_calibration (calibration, CPU);
    GstVideoInfo info;
    GstBus *bus;
    GstHarness *harness = filter_new ("stereorectify", properties, &bus);

    gst_video_info_set_format (&info, GST_VIDEO_FORMAT_NV12, (guint) cases[i].width, HEIGHT);
    if (cases[i].taken)
      gst_harness_set_sink_caps_str (harness, cases[i].taken);
    harness_set_caps (harness, GST_VIDEO_FORMAT_NV12, cases[i].width, HEIGHT, NULL);
    GstBuffer *buffer = stamp (noise_frame (&info, 1, 0), 0, FRAME);
    if (cases[i].cut)
      gst_buffer_add_video_meta (
          buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, (guint) cases[i].width, HEIGHT)
          ->offset[1] = info.size - cases[i].cut;
    gst_harness_push (harness, buffer);
    expect_error (bus, cases[i].says, NULL);
    filter_free (harness, bus);
  }
}

SUITE (rectify_stream)
{
}
