/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereotestsrc: its frames have the requested caps and times, and show the scene. */
#include "tests/support/gst/util.h"

#include <math.h>

#include "tests/support/gst/scene_picture.h"
#include "tests/support/gst/suite.h"

static GstHarness *
source_new (const gchar *properties, const gchar *caps)
{
  g_autofree gchar *line = g_strdup_printf ("stereotestsrc %s ! capsfilter caps=\"%s\"", properties, caps);
  GstHarness *harness = gst_harness_new_parse (line);

  fail_unless (harness != NULL);
  return harness;
}

static gint
sample_of (const GstVideoFrame *frame, guint c, gint x, gint y)
{
  const GstVideoFormatInfo *format = frame->info.finfo;

  return ((const guint8 *) GST_VIDEO_FRAME_COMP_DATA (
      frame, c))[(y >> GST_VIDEO_FORMAT_INFO_H_SUB (format, c)) * GST_VIDEO_FRAME_COMP_STRIDE (frame, c) +
      (x >> GST_VIDEO_FORMAT_INFO_W_SUB (format, c)) * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];
}

/* Where view pixel (x, y) lies in a frame of that layout. */
static void
place (GstVideoMultiviewMode mode, guint second, gint width, gint height, gint *x, gint *y)
{
  if (mode == GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE)
    *x += (gint) second * width;
  else if (mode == GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM)
    *y += (gint) second * height;
  else if (mode == GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED)
    *y = 2 * *y + (gint) second;
  else
    *x = 2 * *x + (gint) second;
}

/* The brightness that a frame shows, 0..255. */
static gdouble
luma_at (const GstVideoFrame *frame, gint x, gint y)
{
  gint value[3];

  if (GST_VIDEO_INFO_IS_YUV (&frame->info))
    return (sample_of (frame, 0, x, y) - 16) * 255 / 219.0;
  if (GST_VIDEO_INFO_IS_GRAY (&frame->info))
    return sample_of (frame, 0, x, y);
  for (guint c = 0; c < 3; c++)
    value[c] = sample_of (frame, c, x, y);
  return 0.299 * value[0] + 0.587 * value[1] + 0.114 * value[2];
}

/* That @buffer shows the scene of @params at @frame as those cameras see it, sound ones where it is NULL, in any format and
 * layout. */
static void
check_frame (GstBuffer *buffer, const GstVideoInfo *info, GstStereoSceneParams *params,
    const GstStereoRigParams *cameras, guint64 frame)
{
  GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE (info);
  gboolean swapped = (GST_VIDEO_INFO_MULTIVIEW_FLAGS (info) & GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST) != 0;
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  const GstStereoRigParams sound = { .right_gain = 1 };
  GstVideoFrame mapped;
  g_auto (ScenePicture) picture;

  fail_unless (meta != NULL);
  params->width = (gint) meta->width;
  params->height = (gint) meta->height;
  picture = scene_picture_through (params, cameras ? cameras : &sound, frame);
  GBytes *truth = gst_stereo_meta_get_truth_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (truth), 2 * meta->width * meta->height);
  fail_unless (!memcmp (g_bytes_get_data (truth, NULL), picture.truth, g_bytes_get_size (truth)));
  g_bytes_unref (truth);
  fail_unless (gst_video_frame_map (&mapped, info, buffer, GST_MAP_READ));
  for (guint v = 0; v < 2; v++)
    for (gint y = 0; y < picture.height; y++)
      for (gint x = 0; x < picture.width; x++) {
        gint level = picture.level[v][y * picture.width + x], at_x = x, at_y = y;
        place (mode, swapped ? !v : v, picture.width, picture.height, &at_x, &at_y);
        gdouble luma = luma_at (&mapped, at_x, at_y);
        fail_unless (fabs (luma - level) < 1, "%s: %d,%d of view %u is %f, not %d",
            gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), x, y, v, luma, level);
        if (GST_VIDEO_INFO_HAS_ALPHA (info))
          fail_unless_equals_int (sample_of (&mapped, 3, at_x, at_y), 255);
      }
  gst_video_frame_unmap (&mapped);
}

static const gchar *const formats[] = { "BGRx", "RGBx", "xRGB", "xBGR", "BGRA", "RGBA", "ARGB", "ABGR", "RGB", "BGR",
  "GRAY8", "I420", "YV12", "NV12", "NV21", "NV16", "NV24", "YUY2", "UYVY", "YVYU", "VYUY", "Y42B", "Y444", "AYUV" };

/* Every format in every layout and of any size, with what may be wrong with the cameras. */
TEST (test_formats)
{
  static const gchar *const layouts[] = { "side-by-side", "top-bottom", "row-interleaved", "column-interleaved",
    "side-by-side," RIGHT_FIRST, "column-interleaved," RIGHT_FIRST };
  static const gint sizes[][2] = { { 82, 22 }, { 16, 2 }, { 130, 34 }, { 84, 36 }, { 86, 34 } };

  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  for (guint f = 0; f < 4 * G_N_ELEMENTS (formats); f++) {
    const guint round = f / G_N_ELEMENTS (formats);
    gboolean faulty = round % 2, dots = round / 2;
    const gint *size = sizes[f % 5];
    const gchar *format = formats[f % G_N_ELEMENTS (formats)], *layout = layouts[(f + round) % 6];
    GstStereoSceneParams params = { dots ? GST_STEREO_PATTERN_RANDOM_DOTS : GST_STEREO_PATTERN_PLANES, 21, 0, 0, 0, 2,
      faulty ? 3 : 1 };
    gboolean stacked = strstr (layout, "top") || strstr (layout, "row");
    gint height = size[1] - !stacked; /* odd where it may be */
    GstStereoRigParams cameras = { .right_gain = 1 };
    GString *properties = g_string_new ("num-buffers=2 seed=21");
    if (faulty)
      cameras = (GstStereoRigParams){ -1.75, 0.75, (GstStereoTestFault) (f % 13), (GstStereoTestFaultView) (f % 3) };
    g_string_append_printf (properties, " pattern=%s noise=%g vertical-offset=%g right-gain=%g fault=%d fault-view=%d",
        dots ? "random-dots" : "planes", params.noise, cameras.vertical_offset, cameras.right_gain, cameras.fault,
        cameras.fault_view);
    g_autofree gchar *caps = g_strdup_printf (
        "video/x-raw,format=%s,width=%d,height=%d,multiview-mode=%s", format, size[0], height, layout);
    g_autoptr (GstHarness) harness = source_new (properties->str, caps);
    gst_harness_play (harness);
    for (guint64 n = 0; n < 2; n++) {
      g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
      fail_unless (buffer != NULL, "%s", caps);
      GstVideoInfo info = output_info (harness);
      fail_unless_equals_string (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&info)), format);
      fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), size[0]);
      fail_unless_equals_int (gst_buffer_get_stereo_meta (buffer)->width, size[0] / (stacked ? 1 : 2));
      fail_unless_equals_int (gst_buffer_get_stereo_meta (buffer)->height, height / (stacked ? 2 : 1));
      check_frame (buffer, &info, &params, &cameras, n);
    }
    g_string_free (properties, TRUE);
  }
}

/* Chroma says what the colour is: a warm disc has more red than a neutral grey of its luma, in every matrix. */
TEST (test_colours)
{
  static const gchar *const caps[] = { "video/x-raw,format=Y444,width=640,height=100,colorimetry=bt601",
    "video/x-raw,format=Y444,width=640,height=100,colorimetry=bt709" };
  gint v[2];

  for (guint k = 0; k < 2; k++) {
    g_autoptr (GstHarness) harness = source_new ("num-buffers=1 motion=0", caps[k]);
    GstVideoFrame frame;
    gst_harness_play (harness);
    g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
    GstVideoInfo info = output_info (harness);
    fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
    /* the middle of the disc, 35 % and 56 % into the view */
    gint level = 0, u = 0;
    v[k] = 0;
    for (gint i = 0; i < 400; i++) {
      level += sample_of (&frame, 0, 102 + i % 20, 46 + i / 20);
      u += sample_of (&frame, 1, 102 + i % 20, 46 + i / 20) - 128;
      v[k] += sample_of (&frame, 2, 102 + i % 20, 46 + i / 20) - 128;
    }
    fail_unless (v[k] > level / 20 && u < -level / 20, "Y %d U %d V %d", level, u, v[k]);
    gst_video_frame_unmap (&frame);
  }
  fail_unless (v[0] != v[1]);
}

/* Each property of the road reaches the scene, as itself. */
TEST (test_road)
{
  static const gchar *const names[] = { "camera-height", "camera-pitch", "camera-roll", "obstacle-height",
    "obstacle-width", "obstacle-distance", "obstacle-lateral", "obstacle-approach", "ramp-slope", "ramp-distance",
    "kerb-height", "kerb-distance" };
  GstStereoSceneParams params = { GST_STEREO_PATTERN_ROAD, 21, 0, 0, 0, 2, 1,
    { 1400, 4, 2, 900, 800, 6000, -400, 250, 5, 11000, 300, 1900, 9, 5, 0.25 } };
  const gdouble *values = &params.road.camera_height;
  GString *properties = g_string_new ("num-buffers=3 seed=21 pattern=road");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_append_printf (properties, " %s=%g", names[i], values[i]);
  g_string_append_printf (properties, " thin-count=%d thin-width=%d thin-contrast=%g", params.road.thin_count,
      params.road.thin_width, params.road.thin_contrast);
  g_autoptr (GstHarness) harness = source_new (properties->str, "video/x-raw,format=RGB,width=642,height=181");
  gst_harness_play (harness);
  for (guint64 n = 0; n < 3; n++) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
    fail_unless (buffer != NULL);
    GstVideoInfo info = output_info (harness);
    check_frame (buffer, &info, &params, NULL, n);
    fail_unless_equals_float (gst_buffer_get_stereo_meta (buffer)->focal_length, 0.9 * 321);
    fail_unless_equals_float (gst_buffer_get_stereo_meta (buffer)->baseline, 120);
    fail_unless_equals_float (gst_buffer_get_stereo_meta (buffer)->principal_x, 160);
    fail_unless_equals_float (gst_buffer_get_stereo_meta (buffer)->principal_y, 90);
  }
  g_string_free (properties, TRUE);
}

TEST (test_default_caps_and_meta)
{
  g_autoptr (GstHarness) harness = source_new ("num-buffers=1", "video/x-raw");

  gst_harness_play (harness);
  g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
  GstVideoInfo info = output_info (harness);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 1280);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), 480);
  fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 30);
  fail_unless_equals_int (GST_VIDEO_INFO_FPS_D (&info), 1);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_MODE (&info), GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE);
  fail_unless_equals_int (GST_VIDEO_INFO_MULTIVIEW_FLAGS (&info), 0);
  GstCaps *caps = gst_pad_get_current_caps (harness->sinkpad);
  fail_unless (gst_structure_has_field (gst_caps_get_structure (caps, 0), "multiview-flags"));
  gst_caps_unref (caps);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  fail_unless_equals_int (meta->kind, GST_STEREO_OUTPUT_KIND_VIEWS);
  fail_unless_equals_int (meta->width, 640);
  fail_unless_equals_int (meta->height, 480);
  fail_unless (meta->confidence == NULL);
  fail_unless_equals_float (meta->min_disparity, 0);
  fail_unless_equals_float (meta->num_disparities, 65);
  fail_unless (meta->focal_length > 0 && meta->baseline > 0);
  fail_unless_equals_float (meta->principal_offset, 0);
  /* the middle of 640x480 pixels whose centres have whole numbers */
  fail_unless_equals_float (meta->principal_x, 319.5);
  fail_unless_equals_float (meta->principal_y, 239.5);
  fail_unless (isnan (gst_stereo_meta_get_disparity (meta, 200)) && isnan (gst_stereo_meta_get_depth (meta, 200)));
}

/* An odd limit leaves an even width; the disparity asked for is in the meta. */
TEST (test_halves_come_out_whole)
{
  g_autoptr (GstHarness) harness = source_new (
      "num-buffers=1 max-disparity=31", "video/x-raw,width=[1,201],height=[2,31]");

  gst_harness_play (harness);
  g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
  GstVideoInfo info = output_info (harness);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), 200);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), 31);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (buffer)->num_disparities, 32);
}

TEST (test_times_and_number)
{
  g_autoptr (GstHarness) harness = source_new (
      "num-buffers=5 timestamp-offset=7000000000", "video/x-raw,format=GRAY8,width=32,height=4,framerate=30000/1001");
  gint64 duration;

  gst_harness_play (harness);
  for (guint64 n = 0; n < 5; n++) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
    GstClockTime begin = gst_util_uint64_scale (n, 1001 * GST_SECOND, 30000);
    fail_unless (buffer != NULL);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 7 * GST_SECOND + begin);
    fail_unless_equals_uint64 (
        GST_BUFFER_DURATION (buffer), gst_util_uint64_scale (n + 1, 1001 * GST_SECOND, 30000) - begin);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n);
  }
  fail_unless (gst_element_query_duration (harness->element, GST_FORMAT_TIME, &duration));
  fail_unless_equals_uint64 (duration, gst_util_uint64_scale (5, 1001 * GST_SECOND, 30000));
  wait_for_eos (harness);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 5);
}

static void
check_preroll (GstElement *sink, guint64 n, GstClockTime pts)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 4, 0, 0, 0, 2.5, 2 };
  g_autoptr (GstSample) sample = NULL;
  GstVideoInfo info;

  g_signal_emit_by_name (sink, "try-pull-preroll", PATIENCE, &sample);
  fail_unless (sample != NULL);
  fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (sample)), pts);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (gst_sample_get_buffer (sample)), n);
  check_frame (gst_sample_get_buffer (sample), &info, &params, NULL, n);
}

/* Frame n is what it is, however one gets there. */
TEST (test_seek)
{
  static const guint64 frames[] = { 7, 1, 100, 0, 29, 123457 };
  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc name=s seed=4 motion=2.5 noise=2 ! "
      "video/x-raw,format=GRAY8,width=128,height=20,framerate=30000/1001 ! appsink name=o sync=false");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "s");

  /* before there are caps, and so a frame rate */
  gst_element_set_state (pipeline, GST_STATE_READY);
  fail_unless (gst_element_send_event (source,
      gst_event_new_seek (
          1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 1001 * GST_MSECOND, GST_SEEK_TYPE_NONE, -1)));
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  check_preroll (sink, 30, 1001 * GST_MSECOND);
  for (guint k = 0; k < 2 * G_N_ELEMENTS (frames); k++) {
    guint64 n = frames[k / 2];
    GstClockTime begin = gst_util_uint64_scale (n, 1001 * GST_SECOND, 30000);
    /* at its first nanosecond, and in its middle */
    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
        (gint64) (begin + (k % 2) * 16 * GST_MSECOND)));
    check_preroll (sink, n, begin);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

TEST (test_backwards)
{
  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc seed=4 ! video/x-raw,format=GRAY8,width=64,height=4,framerate=25/1 ! appsink name=o sync=false");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  GstSample *sample = NULL;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, PATIENCE);
  fail_unless (gst_element_seek (pipeline, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
      GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 5 * FRAME));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint n = 4; n >= 0; n--) {
    g_signal_emit_by_name (sink, "try-pull-sample", PATIENCE, &sample);
    fail_unless (sample != NULL, "frame %d is missing", n);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (gst_sample_get_buffer (sample)), (guint64) n);
    gst_sample_unref (sample);
  }
  g_signal_emit_by_name (sink, "try-pull-sample", PATIENCE, &sample);
  fail_unless (sample == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* A live frame comes at its time, not before. */
TEST (test_live)
{
  g_autoptr (GstHarness) harness = source_new (
      "num-buffers=4 is-live=true", "video/x-raw,format=GRAY8,width=32,height=4,framerate=25/1");
  g_autoptr (GstQuery) query = gst_query_new_seeking (GST_FORMAT_TIME);
  gboolean seekable = TRUE;

  gst_harness_use_testclock (harness);
  gst_harness_play (harness);
  for (guint n = 0; n < 4; n++) {
    GstTestClock *clock = gst_harness_get_testclock (harness);
    fail_unless_equals_int (gst_harness_buffers_received (harness), n);
    fail_unless (gst_harness_crank_single_clock_wait (harness));
    g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * FRAME);
    fail_unless_equals_uint64 (gst_clock_get_time (GST_CLOCK (clock)), n * FRAME);
    gst_object_unref (clock);
  }
  fail_unless_equals_uint64 (gst_harness_query_latency (harness), FRAME);
  if (gst_pad_peer_query (harness->sinkpad, query))
    gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_if (seekable);
}

/* Properties count from the next frame on. */
TEST (test_properties_while_playing)
{
  g_autoptr (GstHarness) harness = source_new ("seed=4", "video/x-raw,format=GRAY8,width=64,height=8");
  g_autoptr (GstElement) source = gst_harness_find_element (harness, "stereotestsrc");
  GstStereoSceneParams params = { GST_STEREO_PATTERN_STRIPES, 4, 0, 0, 9, 2, 1 };
  GstStereoRigParams cameras = { 0, 1, GST_STEREO_TEST_FAULT_BLACK, GST_STEREO_TEST_FAULT_VIEW_LEFT };
  gboolean changed = FALSE;

  gst_harness_play (harness);
  gst_buffer_unref (gst_harness_pull (harness));
  GstVideoInfo info = output_info (harness);
  g_object_set (source, "fault", GST_STEREO_TEST_FAULT_BLACK, "fault-view", GST_STEREO_TEST_FAULT_VIEW_LEFT, "pattern",
      GST_STEREO_PATTERN_STRIPES, "max-disparity", 9, NULL);
  /* what was made before comes first; the harness' queue has no limit, so wait for the change itself */
  for (guint n = 1; n < 100000 && !changed; n++) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
    changed = gst_buffer_get_stereo_meta (buffer)->num_disparities == 10;
    if (changed)
      check_frame (buffer, &info, &params, &cameras, GST_BUFFER_OFFSET (buffer));
  }
  fail_unless (changed);
}

TEST (test_refusals)
{
  static const gchar *const cases[][5] = { { "", "width=1", "1x480", "even" }, { "", "width=101", "101x480", "even" },
    { "", "width=14,height=6", "7x6", "8 pixels" }, { "", "width=64,height=40000", "32x40000", "16384" },
    { "max-disparity=33", "width=128,height=20", "max-disparity=33", "64", "32" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) pipeline = launch ("stereotestsrc %s ! video/x-raw,%s ! fakesink", cases[i][0], cases[i][1]);
    g_autofree gchar *error = play_to_end (pipeline);

    for (guint k = 2; k < 5 && cases[i][k]; k++)
      fail_unless (error && strstr (error, cases[i][k]), "%s: \"%s\" is not in \"%s\"", cases[i][1], cases[i][k], error);
  }
}

SUITE (testsrc)
{
}
