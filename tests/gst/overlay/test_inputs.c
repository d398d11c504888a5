/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is linked to depthoverlay, and with which caps: a live view with depth, without, and depth alone. Pipelines of them:
 * played twice, with a seek, live.
 */
#include "tests/gst/overlay/numbered_depth.h"
#include "tests/support/gst/suite.h"

TEST (test_caps_change)
{
  g_autoptr (Overlay) overlay = new_overlay ("");
  GstVideoInfo info;

  push_live (overlay, 0);
  push_depth (overlay, 3, 0);
  expect_frame (overlay, 0, 3);
  overlay_live_caps (overlay, GST_VIDEO_FORMAT_GRAY8, 2 * WIDTH, 2 * HEIGHT, NULL);
  push_live (overlay, TICK);
  push_depth (overlay, 4, TICK);
  expect_frame (overlay, TICK, 4);
  overlay_live_caps (overlay, GST_VIDEO_FORMAT_RGBx, WIDTH, HEIGHT, NULL);
  push_live (overlay, 2 * TICK);
  overlay_depth_caps (overlay, "GRAY16_LE", 2 * WIDTH, 2 * HEIGHT);
  overlay_push_depth (overlay, new_depth (2 * WIDTH, 2 * HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 500), 2 * TICK);
  GstBuffer *out = overlay_pull (overlay, 2 * TICK);
  fail_unless_equals_int (number_in (out), 5);
  fail_unless_equals_uint64 (gst_buffer_get_size (out), 4 * WIDTH * HEIGHT);
  gst_buffer_unref (out);
  GstCaps *caps = gst_pad_get_current_caps (overlay->live->sinkpad);
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_RGBx);
  gst_caps_unref (caps);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
}

TEST (test_no_depth_pad)
{
  g_autoptr (Overlay) overlay = overlay_new (NUMBERED, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, NULL, 0, 0);

  for (guint i = 0; i < 3; i++) {
    push_live (overlay, i * TICK);
    expect_frame (overlay, i * TICK, NO_DEPTH);
  }
  overlay_expect (overlay, GST_MESSAGE_WARNING, "sink_depth is not linked", NULL);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING);
}

/* A wide frame is taken for two views before there is a depth to compare it with, and no longer. */
TEST (test_packed_before_any_depth)
{
  g_autoptr (Overlay) overlay = new_overlay ("");
  GstVideoInfo info;
  GstCaps *caps;

  overlay_live_caps (overlay, GST_VIDEO_FORMAT_GRAY8, 64, 16, NULL);
  overlay_depth_caps (overlay, "GRAY16_LE", 64, 16);
  push_live (overlay, 0);
  overlay_push_depth (overlay, new_depth (64, 16, GST_STEREO_OUTPUT_KIND_DEPTH, 500), TICK);
  for (guint i = 0; i < 2; i++) {
    if (i)
      push_live (overlay, TICK);
    expect_frame (overlay, i * TICK, i ? 5 : NO_DEPTH);
    caps = gst_pad_get_current_caps (overlay->live->sinkpad);
    fail_unless (gst_video_info_from_caps (&info, caps));
    fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), i ? 64 : 32);
    gst_caps_unref (caps);
  }
}

/* What the rows of a live frame say of themselves: too far from each other, upwards out of the memory, one byte too far, over each
 * other. tests/fuzz/buffers.c tries such buffers, whose memory ends at a page that faults, in every format. */
TEST (test_live_frames_that_lie)
{
  static const struct
  {
    gsize offset;
    gint stride;
  } rows[] = { { 0, 40 * 64 }, { 0, -64 }, { 1, 64 }, { 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Overlay) overlay = overlay_new ("", GST_VIDEO_FORMAT_GRAY8, 64, 48, "GRAY16_LE", 64, 48);
    GstBuffer *live = plain_frame (&overlay->info, LIVE);
    gsize offset[GST_VIDEO_MAX_PLANES] = { rows[i].offset };
    gint stride[GST_VIDEO_MAX_PLANES] = { rows[i].stride };

    gst_buffer_add_video_meta_full (live, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64, 48, 1, offset, stride);
    overlay_push_depth (overlay, new_depth (64, 48, GST_STEREO_OUTPUT_KIND_DEPTH, 3000), 0);
    overlay_push_live (overlay, live, 0);
    overlay_expect (overlay, GST_MESSAGE_ERROR, "does not hold the 64x48", NULL);
  }
}

/* ---- depth alone ------------------------------------------------------------------------- */

#define ALONE "text=false legend=false colormap=gray scale=linear near=1000 far=3000 alpha=0.3"

/* depthoverlay with sink_depth alone; @format NULL: downstream takes any. */
static GstHarness *
new_alone (GstBus **bus, const gchar *format)
{
  GstElement *element = element_new ("depthoverlay", ALONE, bus);

  GstHarness *harness = harness_new (element, "sink_depth", "src", FALSE);
  gst_object_unref (element);
  if (format) {
    g_autofree gchar *caps = g_strdup_printf ("video/x-raw,format=%s", format);
    gst_harness_set_sink_caps_str (harness, caps);
  }
  gst_harness_set_src_caps_str (harness, "video/x-raw,format=GRAY16_LE,width=16,height=8,framerate=30/1");
  return harness;
}

static void
push_alone (GstHarness *harness, guint sample, GstClockTime pts)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, sample);

  GST_BUFFER_PTS (depth) = pts;
  GST_BUFFER_DURATION (depth) = TICK;
  fail_unless_equals_int (gst_harness_push (harness, depth), GST_FLOW_OK);
}

static void
check_alone (GstHarness *harness, GstVideoFormat format, guint value, GstClockTime pts)
{
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (harness->sinkpad);
  GstVideoFrame frame;
  GstVideoInfo info;

  check_time (out, pts);
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), format);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), WIDTH);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), HEIGHT);
  fail_unless_equals_int (info.fps_n, 30);
  fail_unless (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++) {
    guint expected = value, is = *(guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c);

    /* grey in every component of RGB; of the others the luma, 16 to 235, and chroma without colour */
    if (GST_VIDEO_INFO_IS_YUV (&info))
      expected = c ? 128 : 16 + value * 219 / 255;
    if (c == 3)
      expected = 255;
    fail_unless (ABS ((gint) is - (gint) expected) <= 1, "%s component %u is %u, not %u",
        gst_video_format_to_string (format), c, is, expected);
  }
  gst_video_frame_unmap (&frame);
}

/* Without a live view every depth is a frame of its own: opaque, what is beyond far in far's colour. */
TEST (test_depth_alone)
{
  const gchar *const formats[] = { NULL, "RGBA", "ARGB", "BGR", "I420", "NV12", "YUY2", "Y444", "GRAY8" };
  const guint samples[] = { 1000, 2000, 3000, 65535, 500 }, values[] = { 255, 128, 0, 0, 255 };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstBus *bus;
    GstHarness *harness = new_alone (&bus, formats[f]);
    GstVideoFormat format = formats[f] ? gst_video_format_from_string (formats[f]) : GST_VIDEO_FORMAT_RGBx;

    for (guint i = 0; i < G_N_ELEMENTS (samples); i++) {
      push_alone (harness, samples[i], i * TICK);
      check_alone (harness, format, values[i], i * TICK);
    }
    fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
    wait_for_eos (harness);
    expect_no_message (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
    filter_free (harness, bus);
  }
}

/* Black, with a colour map whose far end is not: invalid is not the same as far. */
TEST (test_depth_alone_invalid_is_black)
{
  GstBus *bus;
  GstHarness *harness = new_alone (&bus, "RGB");
  const guint samples[] = { 0, 65535, 1000 };

  set_properties (harness->element, "colormap=viridis");
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++) {
    guint8 rgb[3];

    push_alone (harness, samples[i], i * TICK);
    g_autoptr (GstBuffer) out = gst_harness_pull (harness);
    gst_buffer_extract (out, 0, rgb, 3);
    fail_unless_equals_int (rgb[0] + rgb[1] + rgb[2] == 0, samples[i] == 0);
  }
  filter_free (harness, bus);
}

TEST (test_live_view_after_depth_alone)
{
  GstBus *bus;
  GstHarness *harness = new_alone (&bus, NULL), *live;

  push_alone (harness, 2000, 0);
  gst_buffer_unref (gst_harness_pull (harness));
  live = gst_harness_new_with_element (harness->element, "sink", NULL);
  gst_harness_set_src_caps_str (live, "video/x-raw,format=RGB,width=16,height=8,framerate=30/1");
  expect_error (bus, "Link sink before the depth starts", NULL);
  gst_harness_teardown (live);
  filter_free (harness, bus);
}

/* ---- pipelines --------------------------------------------------------------------------- */

#define ALONE_LINE(source) \
  "stereotestsrc " source " ! video/x-raw,width=96,height=32,framerate=25/1 ! " MATCH " qos=false ! o.sink_depth " \
  "depthoverlay name=o ! fakesink name=s signal-handoffs=true sync="
/* A camera that gives both views in one frame, stereomatch, the overlay. */
#define CAMERA_LINE(source) \
  "videotestsrc " source " ! video/x-raw,format=NV12,width=96,height=32,framerate=50/1 ! tee name=t ! queue ! " \
  "depthoverlay name=o ! video/x-raw,width=48 ! fakesink name=s signal-handoffs=true sync=false t. ! queue ! " MATCH \
  " ! queue ! o.sink_depth"
#define MATCH "stereomatch num-disparities=8 window=5 refine-iterations=0 backend=cpu threads=1"

/* Each is played twice, or from a second on after a seek with a flush, which reaches sink_depth only where depth is alone. */
static const struct
{
  const gchar *line;
  gint frames;
  gboolean live;
  guint64 seek; /* ns that are played; 0: no seek */
} pipelines[] = {
  { ALONE_LINE ("num-buffers=7") "false", 7, FALSE, 0 },
  { ALONE_LINE ("num-buffers=7 is-live=true") "true", 7, TRUE, 0 },
  { ALONE_LINE ("num-buffers=100") "false", 5, FALSE, 200 * GST_MSECOND },
  { CAMERA_LINE ("num-buffers=9"), 9, FALSE, 0 },
  { CAMERA_LINE ("num-buffers=25 is-live=true"), 25, TRUE, 0 },
  { CAMERA_LINE ("num-buffers=200"), 5, FALSE, 100 * GST_MSECOND },
};

static void
count_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad, gint *count)
{
  g_atomic_int_inc (count);
}

TEST_LOOP (test_pipelines, 0, G_N_ELEMENTS (pipelines))
{
  g_autoptr (GstElement) pipeline = launch ("%s", pipelines[__i__].line);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  guint64 seek = pipelines[__i__].seek;
  gint64 position;
  gint count = 0;

  g_signal_connect (sink, "handoff", G_CALLBACK (count_buffer), &count);
  for (gint i = 1; i <= (seek ? 1 : 2); i++) {
    GstStateChangeReturn paused = gst_element_set_state (pipeline, GST_STATE_PAUSED);

    fail_unless ((paused == GST_STATE_CHANGE_NO_PREROLL) == pipelines[__i__].live);
    if (seek) {
      g_autoptr (GstQuery) query = gst_query_new_seeking (GST_FORMAT_TIME);
      gboolean seekable = FALSE;

      wait_for_message (bus, GST_MESSAGE_ASYNC_DONE);
      fail_unless (gst_element_query (pipeline, query));
      gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
      fail_unless (seekable);
      fail_unless (gst_element_seek (pipeline, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, GST_SECOND,
          GST_SEEK_TYPE_SET, (gint64) (GST_SECOND + seek)));
      wait_for_message (bus, GST_MESSAGE_ASYNC_DONE);
      g_atomic_int_set (&count, 0);
    }
    fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
    wait_for_message (bus, GST_MESSAGE_EOS);
    fail_unless_equals_int (g_atomic_int_get (&count), pipelines[__i__].frames * i);
    fail_unless (gst_element_query_position (pipeline, GST_FORMAT_TIME, &position));
    gst_element_set_state (pipeline, i == 1 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

SUITE (overlay_inputs)
{
}
