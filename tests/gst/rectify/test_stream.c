/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereorectify: metadata, what changes while it plays, pairing, and every error. */
#include "tests/support/gst/cameras.h"
#include "tests/support/gst/suite.h"

#include "stereo/stereo.h"

#define WIDTH 44
#define HEIGHT 20
#define CPU "backend=cpu threads=1 "
#define SOURCE "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=%d,height=%d "

static GstFlowReturn
push_view (Pair *pair, gboolean right, GstVideoFormat format, gint width, gint height, GstClockTime pts)
{
  GstVideoInfo info;

  gst_video_info_set_format (&info, format, (guint) width, (guint) height);
  return gst_harness_push (
      right ? pair->right : pair->left, stamp (noise_frame (&info, 3 + (guint) right, 0), pts, FRAME));
}

static void
set_caps (Pair *pair, GstVideoFormat left, GstVideoFormat right, gint width, gint height)
{
  harness_set_caps (pair->left, left, width, height, NULL);
  harness_set_caps (pair->right, right, width, height, NULL);
}

/* One pair of grey views; its output, to be unreferenced. */
static GstBuffer *
run_pair (Pair *pair, GstClockTime pts)
{
  fail_unless_equals_int (push_view (pair, FALSE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, pts), GST_FLOW_OK);
  fail_unless_equals_int (push_view (pair, TRUE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, pts), GST_FLOW_OK);
  return pair_pull (pair, pts);
}

/* ---- metadata ----------------------------------------------------------------------------- */

static void
expect_pairing_clock (GstElement *element, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "pairing-clock"), name);
}

/* Cameras with square pixels, and with others. */
TEST_LOOP (test_meta_and_properties, 0, 2)
{
  const gdouble vertical = __i__ ? 37.5 : 0;
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autofree gchar *backend = NULL;

  cameras.new_focal = 36;
  cameras.new_focal_y = vertical;
  cameras.new_cx[0] += 0.25;
  cameras.new_cx[1] += 1.75;
  cameras.new_cy -= 0.5;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU "unit=2.5");
  fail_unless (number_of (pair->element, "focal-length") == 0);
  set_caps (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  push_view (pair, FALSE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, FRAME);
  push_view (pair, TRUE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, FRAME + 7 * GST_MSECOND);
  g_autoptr (GstBuffer) out = pair_pull (pair, FRAME);
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
  fail_unless_equals_int (meta->pair_skew, 7 * GST_MSECOND);
  fail_unless (meta->confidence == NULL && meta->truth == NULL);
  fail_unless_equals_float (number_of (pair->element, "focal-length"), 36);
  fail_unless_equals_float (number_of (pair->element, "baseline"), 300);
  fail_unless_equals_float (number_of (pair->element, "principal-offset"), 1.5);
  g_object_get (pair->element, "active-backend", &backend, NULL);
  fail_unless_equals_string (backend, "cpu");
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 1);
  fail_unless (stat_of (pair->element, "compute-time") > 0);
  expect_pairing_clock (pair->element, "buffer");
}

/* Runs @description to its end; an error fails the test. Unref what comes back, in NULL. */
static GstElement *
run_pipeline (const gchar *description)
{
  GstElement *pipeline = launch ("%s", description);

  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait_for_message (bus, GST_MESSAGE_EOS);
  return pipeline;
}

/* What stereomatch needs for depth comes with the frames; twice, for all must be as new after NULL. */
TEST (test_depth_needs_no_further_property_and_plays_twice)
{
  Cameras cameras = cameras_straight (64, 32);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autofree gchar *description = g_strdup_printf (SOURCE
      "! stereorectify name=r calibration=%s unit=10 backend=cpu ! stereomatch name=m output=depth num-disparities=16 "
      "backend=cpu ! fakesink",
      128, 32, calibration);
  GstElement *pipeline = run_pipeline (description), *match, *rectify;
  GstStructure *settings = NULL;
  gdouble focal, baseline;

  for (guint i = 0; i < 2; i++) {
    match = gst_bin_get_by_name (GST_BIN (pipeline), "m");
    rectify = gst_bin_get_by_name (GST_BIN (pipeline), "r");
    g_object_get (match, "settings", &settings, NULL);
    fail_unless (
        gst_structure_get (settings, "focal-length", G_TYPE_DOUBLE, &focal, "baseline", G_TYPE_DOUBLE, &baseline, NULL));
    fail_unless_equals_float (focal, i ? 20 : 40);
    fail_unless_equals_float (baseline, 1200);
    fail_unless_equals_uint64 (stat_of (rectify, "pairs"), 3);
    gst_structure_free (settings);
    gst_object_unref (match);
    gst_object_unref (rectify);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    if (i == 0) {
      /* the file is read again by the next start */
      g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
      cameras.new_focal = 20;
      calibration_write (calibration, &cameras);
      gst_element_set_state (pipeline, GST_STATE_PLAYING);
      wait_for_message (bus, GST_MESSAGE_EOS);
    }
  }
  gst_object_unref (pipeline);
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
    set_caps (pair, steps[i].format, steps[i].format, width, height);
    fail_unless_equals_int (push_view (pair, FALSE, steps[i].format, width, height, i * FRAME), GST_FLOW_OK);
    fail_unless_equals_int (push_view (pair, TRUE, steps[i].format, width, height, i * FRAME), GST_FLOW_OK);
    g_autoptr (GstBuffer) out = pair_pull (pair, i * FRAME);
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
  GstMapInfo a, b;

  moved.new_cx[0] = moved.new_cx[1] += 3;
  moved.new_focal = 50;
  other = calibration_new (&moved);
  set_caps (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  GstBuffer *before = run_pair (pair, 0);
  g_object_set (pair->element, "calibration", other, "unit", 3.0, NULL);
  GstBuffer *after = run_pair (pair, FRAME);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (after)->focal_length, 50);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (after)->baseline, 360);
  gst_buffer_map (before, &a, GST_MAP_READ);
  gst_buffer_map (after, &b, GST_MAP_READ);
  fail_unless_equals_uint64 (a.size, b.size);
  fail_unless (memcmp (a.data, b.data, a.size) != 0, "the maps are those of the first calibration");
  gst_buffer_unmap (before, &a);
  gst_buffer_unmap (after, &b);
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
  set_caps (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  gst_buffer_unref (run_pair (pair, 0));
  expect_warning (pair->bus, "3.5 mm apart", "unit=25", "unit=1000", NULL);
  expect_warning (pair->bus, "focal length", "5 px", "44 px", NULL);
  set_caps (pair, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT);
  push_view (pair, FALSE, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT, FRAME);
  push_view (pair, TRUE, GST_VIDEO_FORMAT_BGRx, WIDTH, HEIGHT, FRAME);
  gst_buffer_unref (pair_pull (pair, FRAME));
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

TEST (test_numbers_with_sense)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);

  cameras.baseline = 3.5;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, CPU "unit=25");
  set_caps (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  gst_buffer_unref (run_pair (pair, 0));
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* The first pair with these properties. */
static GstBuffer *
first_pair (const gchar *calibration, const gchar *properties)
{
  g_autoptr (Pair) pair = rectify_new (calibration, properties);

  set_caps (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  GstBuffer *out = run_pair (pair, 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  return out;
}

/* What was saved makes the same views, in all bytes, without the properties that made them. */
TEST (test_saved_calibration_makes_the_same_views)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autoptr (CalibrationFile) calibration = NULL, saved = calibration_new_text ("");
  GstMapInfo a, b;

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
  gst_buffer_map (before, &a, GST_MAP_READ);
  gst_buffer_map (after, &b, GST_MAP_READ);
  fail_unless_equals_uint64 (a.size, b.size);
  fail_unless (memcmp (a.data, b.data, a.size) == 0, "the views are others");
  gst_buffer_unmap (before, &a);
  gst_buffer_unmap (after, &b);
}

/* ---- errors ------------------------------------------------------------------------------- */

/* That the element does not start, with these words on the bus. */
static void
expect_no_start (const gchar *properties, const gchar *word, const gchar *other)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("stereorectify", NULL));
  g_autoptr (GstBus) bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  set_properties (element, properties);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_error (bus, word, other, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
}

TEST (test_calibrations_that_do_not_load)
{
  g_autoptr (CalibrationFile) broken = calibration_new_text ("%YAML:1.0\n---\nM1: [ 1, 2\n");
  g_autofree gchar *properties = with_calibration (broken, "");

  expect_no_start ("", "calibration=", NULL);
  expect_no_start ("calibration=/no/such/file.yml", "/no/such/file.yml", NULL);
  expect_no_start (properties, broken, NULL);
  if (!stereo_backend_available (STEREO_BACKEND_CUDA, -1, NULL, 0))
    expect_no_start ("calibration=/no/such/file.yml backend=cuda", "backend=cuda", NULL);
}

/* A pair of these caps with these cameras is refused with these words. */
static void
expect_refusal (const Cameras *cameras, const gchar *more, GstVideoFormat left, GstVideoFormat right, gint width,
    gint height, const gchar *word, const gchar *other)
{
  g_autoptr (CalibrationFile) calibration = calibration_new (cameras);
  g_autoptr (Pair) pair = rectify_new (calibration, more);

  set_caps (pair, left, right, width, height);
  push_view (pair, FALSE, left, width, height, 0);
  push_view (pair, TRUE, right, width, height, 0);
  expect_error (pair->bus, word, other, NULL);
}

TEST (test_pairs_that_cannot_be_rectified)
{
  const GstVideoFormat grey = GST_VIDEO_FORMAT_GRAY8, nv12 = GST_VIDEO_FORMAT_NV12;
  Cameras good = cameras_straight (WIDTH, HEIGHT), cameras = good;

  /* of another aspect, with both sizes */
  expect_refusal (&good, CPU, grey, grey, WIDTH, 2 * HEIGHT, "44 x 20", "44 x 40");
  cameras.baseline = 0;
  expect_refusal (&cameras, CPU, grey, grey, WIDTH, HEIGHT, "baseline", NULL);
  cameras.baseline = -120;
  expect_refusal (&cameras, CPU, grey, grey, WIDTH, HEIGHT, "swap", NULL);
  /* odd views in formats that share columns */
  expect_refusal (&good, CPU "width=43 height=20", nv12, nv12, WIDTH, HEIGHT, "43x20", "width=42");
  expect_refusal (&good, CPU, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR, WIDTH, HEIGHT, "RGB", "BGR");
  expect_refusal (&good, CPU, GST_VIDEO_FORMAT_RGB, grey, WIDTH, HEIGHT, "RGB", "GRAY8");
}

static void
expect_packed_refusal (
    const gchar *caps, GstVideoFormat format, gint width, gint height, gsize cut, const gchar *word, const gchar *sink)
{
  Cameras cameras = cameras_straight (0, 0);
  GstVideoInfo info;
  GstBus *bus;

  cameras.cx = cameras.new_cx[0] = cameras.new_cx[1] = 20;
  cameras.cy = cameras.new_cy = 10;
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autofree gchar *properties = with_calibration (calibration, CPU);
  GstHarness *harness = filter_new ("stereorectify", properties, &bus);
  if (sink)
    gst_harness_set_sink_caps_str (harness, sink);
  gst_harness_set_src_caps_str (harness, caps);
  gst_video_info_set_format (&info, format, (guint) width, (guint) height);
  GstBuffer *buffer = stamp (noise_frame (&info, 1, 0), 0, FRAME);
  if (cut) {
    const GstVideoMeta *meta = gst_buffer_add_video_meta (
        buffer, GST_VIDEO_FRAME_FLAG_NONE, format, (guint) width, (guint) height);
    /* its chroma is said to begin where nothing is left for it */
    ((GstVideoMeta *) meta)->offset[1] = info.size - cut;
  }
  gst_harness_push (harness, buffer);
  expect_error (bus, word, NULL);
  filter_free (harness, bus);
}

/* The calibration itself is not written over. */
TEST (test_saved_over_itself)
{
  Cameras cameras = cameras_straight (WIDTH, HEIGHT);
  g_autoptr (CalibrationFile) calibration = calibration_new (&cameras);
  g_autofree gchar *itself = g_strconcat (CPU "save=", calibration, NULL), *text = NULL;
  g_autoptr (Pair) pair = rectify_new (calibration, itself);

  set_caps (pair, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  push_view (pair, FALSE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 0);
  push_view (pair, TRUE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 0);
  expect_error (pair->bus, "save=", "another file", NULL);
  fail_unless (g_file_get_contents (calibration, &text, NULL, NULL));
  fail_unless (strstr (text, "Q:") == NULL, "the calibration was written over");
}

TEST (test_packed_frames_that_cannot_be_rectified)
{
  g_autofree gchar *odd = make_caps (GST_VIDEO_FORMAT_NV12, 86, 20, NULL),
                   *even = make_caps (GST_VIDEO_FORMAT_NV12, 88, 20, NULL);

  expect_packed_refusal (odd, GST_VIDEO_FORMAT_NV12, 86, 20, 0, "43x20", NULL);
  expect_packed_refusal (even, GST_VIDEO_FORMAT_NV12, 88, 20, 100, "does not hold the", NULL);
  expect_packed_refusal (even, GST_VIDEO_FORMAT_NV12, 88, 20, 0, "downstream", "video/x-raw,format=RGB");
}

SUITE (rectify_stream)
{
}
