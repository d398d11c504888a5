/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bad input, and the error that the bus gets for it. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#include "stereo/stereo.h"

/* Pushes until upstream is told to stop; gives what it was told. */
static GstFlowReturn
push_until_refused (GstHarness *harness, GstVideoFormat format, gint width, gint height)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; flow == GST_FLOW_OK && i < 4; i++)
    flow = gst_harness_push (harness, stamp (make_view (format, width, height, 1, 0, 0), i * FRAME, FRAME));
  return flow;
}

TEST (test_views_that_do_not_fit)
{
  static const struct
  {
    GstVideoFormat left, right;
    gint width; /* of the right view */
    const gchar *says[4];
  } cases[] = {
    { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_NV12, 44,
        { "40x20 GRAY8", "44x20 NV12", "have one size",
            "videoscale ! video/x-raw,width=40,height=20,format=GRAY8' before sink_right" } },
    { GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_I420, 40, { "RGB", "I420", "luma", "format=I420' before sink_left" } },
    { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_BGRx, 40, { "GRAY8", "BGRx", "luma", "format=GRAY8' before sink_right" } },
    { GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_GRAY16_LE, 40,
        { "RGBA", "GRAY16_LE", "luma", "format=GRAY8' before sink_left" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Pair) pair = pair_new (EXACT);
    const gchar *const *says = cases[i].says;

    harness_set_caps (pair->left, cases[i].left, 40, VIEW_HEIGHT, NULL);
    harness_set_caps (pair->right, cases[i].right, cases[i].width, VIEW_HEIGHT, NULL);
    gst_harness_push (pair->left, stamp (make_view (cases[i].left, 40, VIEW_HEIGHT, 1, 0, 0), 0, FRAME));
    gst_harness_push (pair->right, stamp (make_view (cases[i].right, cases[i].width, VIEW_HEIGHT, 1, 0, 0), 0, FRAME));
    expect_error (pair->bus, says[0], says[1], says[2], says[3], NULL);
    fail_unless_equals_int (push_until_refused (pair->left, cases[i].left, 40, VIEW_HEIGHT), GST_FLOW_NOT_NEGOTIATED);
  }
}

/* A pair of which the left view has another size. */
static void
push_narrow (Pair *pair, gint width, GstClockTime time)
{
  gst_harness_push (pair->left, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, width, VIEW_HEIGHT, 1, 0, 0), time, FRAME));
  pair_push_right (pair, time);
}

TEST (test_one_pad_changes_its_caps_for_good)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_pass (pair, 0, 0);
  harness_set_caps (pair->left, GST_VIDEO_FORMAT_GRAY8, 60, VIEW_HEIGHT, NULL);
  push_narrow (pair, 60, FRAME);
  expect_warning (pair->bus, "1 left and 1 right", "60x20 GRAY8", "44x20 GRAY8", NULL);
  push_narrow (pair, 60, 2 * GST_SECOND);
  pair_expect_nothing (pair);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
  push_narrow (pair, 60, 2 * GST_SECOND + FRAME);
  expect_error (pair->bus, "60x20 GRAY8", "44x20 GRAY8", NULL);
}

/* What cameras give, and what is to be put before the pad. */
static const struct
{
  const gchar *caps, *said, *remedy;
} refused[] = {
  { "video/x-raw(memory:NVMM),format=NV12", "video/x-raw(memory:NVMM),format=NV12", "put nvvidconv" },
  { "video/x-raw(memory:GLMemory),format=RGBA", "video/x-raw(memory:GLMemory),format=RGBA", "put gldownload" },
  { "video/x-raw(memory:DMABuf),format=NV12", "video/x-raw(memory:DMABuf),format=NV12", "put glupload ! gldownload" },
  { "video/x-raw(memory:Other),format=NV12", "video/x-raw(memory:Other),format=NV12", "to system memory before it" },
  { "image/jpeg", "image/jpeg", "put jpegdec" },
  { "video/x-bayer,format=rggb", "video/x-bayer,format=rggb", "put bayer2rgb" },
  { "video/x-h264,stream-format=byte-stream", "video/x-h264", "put decodebin" },
  { "video/x-raw,format=NV16", "video/x-raw,format=NV16", "put videoconvert" },
};

TEST_LOOP (test_formats_that_are_not_taken, 0, G_N_ELEMENTS (refused))
{
  g_autoptr (Pair) pair = pair_new (EXACT);
  g_autofree gchar *text = g_strdup_printf (
      "%s,width=%d,height=%d,framerate=30/1", refused[__i__].caps, VIEW_WIDTH, VIEW_HEIGHT);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (pair->element, "sink_left");
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);

  fail_if (gst_pad_send_event (pad, gst_event_new_caps (caps)));
  expect_error (pair->bus, "sink_left", refused[__i__].said, refused[__i__].remedy, "NV12", "BGRA, GRAY16_LE, ", NULL);
}

/* test_frame.c has every one. */
TEST (test_layouts_that_cannot_be_split)
{
  static const struct
  {
    const gchar *properties, *extra, *word;
    gint width, height;
  } cases[] = { { EXACT, NULL, "Set packing", 40, 40 }, { EXACT, "multiview-mode=checkerboard", "checkerboard", 40, 20 },
    { EXACT "packing=top-bottom", NULL, "height must be even", 40, 21 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBus *bus;
    GstHarness *harness = packed_new (cases[i].properties, &bus);

    harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, cases[i].width, cases[i].height, cases[i].extra);
    push_until_refused (harness, GST_VIDEO_FORMAT_GRAY8, cases[i].width, cases[i].height);
    expect_error (bus, cases[i].word, NULL);
    fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
    filter_free (harness, bus);
  }
}

TEST (test_packing_set_and_tagged_otherwise)
{
  GstBus *bus;
  GstHarness *harness = packed_new (EXACT "packing=top-bottom", &bus);

  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, 2 * VIEW_WIDTH, VIEW_HEIGHT, "multiview-mode=side-by-side");
  gst_harness_push (harness, make_packed (GST_VIDEO_FORMAT_GRAY8, "side-by-side", VIEW_WIDTH, VIEW_HEIGHT, 1, FALSE));
  gst_buffer_unref (gst_harness_pull (harness));
  expect_warning (bus, "the caps win", NULL);
  filter_free (harness, bus);
}

TEST (test_views_swapped_or_packed_on_a_view_pad)
{
  g_autoptr (Pair) pair = pair_new (EXACT);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, "multiview-mode=right");
  pair_push (pair, 0, 0);
  expect_error (pair->bus, "sink_left", "swapped", NULL);
}

TEST (test_parameters_that_cannot_be)
{
  static const gchar *const cases[][3] = { { EXACT "window=4", "window=4 is even", "5" },
    { EXACT "min-disparity=44", "outside", "min-disparity" },
    { EXACT "output=depth focal-length=700", "focal-length", "baseline" },
    { EXACT "memory-limit=1000", "memory-limit is 1000" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Pair) pair = pair_new_gray (cases[i][0]);

    pair_push (pair, 0, 0);
    expect_error (pair->bus, cases[i][1], cases[i][2], NULL);
    fail_unless_equals_int (gst_harness_buffers_in_queue (pair->left), 0);
  }
}

TEST (test_depth_does_not_fit_gray8)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "output=depth focal-length=100 baseline=100");

  gst_harness_set_sink_caps_str (pair->left, "video/x-raw,format=GRAY8");
  pair_push (pair, 0, 0);
  expect_error (pair->bus, "downstream", "GRAY16_LE", NULL);
}

/* A link that GStreamer itself refuses would leave the user without a word of what to do. */
TEST (test_downstream_takes_no_grey)
{
  static const gchar *const cases[][4] = { { "", "videoconvert" },
    { "output=depth focal-length=100 baseline=100", "output=disparity", "pngenc", "rtpgstpay" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElement) pipeline = launch (
        "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=16 ! stereomatch " EXACT
        "%s ! capsfilter caps=video/x-raw,format=BGRx ! fakesink",
        cases[i][0]);
    g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    expect_error (bus, "GRAY16_LE", "depthoverlay", cases[i][1], cases[i][2], cases[i][3], NULL);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

TEST (test_buffer_smaller_than_its_caps)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  gst_harness_push (pair->left, stamp (gst_buffer_new_allocate (NULL, 100, NULL), 0, FRAME));
  pair_push_right (pair, 0);
  expect_error (pair->bus, "100 bytes", "44x20 GRAY8", "Rows of 44 pixels have 44 bytes", NULL);
}

/* ---- pads -------------------------------------------------------------------------------- */

typedef struct
{
  GstElement *pipeline, *element;
  GstBus *bus;
} Line;

static Line
line_new (const gchar *description)
{
  Line line = { launch ("%s", description) };

  line.element = gst_bin_get_by_name (GST_BIN (line.pipeline), "m");
  line.bus = gst_element_get_bus (line.pipeline);
  return line;
}

static void
line_free (Line *line)
{
  gst_element_set_state (line->pipeline, GST_STATE_NULL);
  gst_object_unref (line->bus);
  gst_object_unref (line->element);
  gst_object_unref (line->pipeline);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Line, line_free)

#define SOURCE "videotestsrc ! video/x-raw,format=GRAY8,width=32,height=16,framerate=25/1 "
#define MATCH "stereomatch name=m num-disparities=8 window=5 refine-iterations=0 backend=cpu threads=1 "

TEST (test_pads_that_are_not_linked)
{
  static const gchar *const cases[][3] = { { SOURCE "! m.sink_left ", "Only sink_left is linked", "sink_right" },
    { SOURCE "! m.sink_right ", "Only sink_right is linked", "sink_left" },
    { SOURCE "! m.sink_left " SOURCE "! m.sink_right " SOURCE "! m.sink ", "link sink alone" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *description = g_strconcat (cases[i][0], MATCH "! fakesink", NULL);
    g_auto (Line) line = line_new (description);

    gst_element_set_state (line.pipeline, GST_STATE_PLAYING);
    expect_error (line.bus, cases[i][1], cases[i][2], NULL);
  }
}

/* In a pipeline that is not live, nothing wakes the element. */
TEST (test_second_view_not_linked)
{
  g_auto (Line) line = line_new (
      "videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=32,height=16,framerate=25/1 ! m.sink_left " MATCH
      "! fakesink");
  g_autoptr (GstPad) pad = gst_element_request_pad_simple (line.element, "sink_right");

  gst_element_set_state (line.pipeline, GST_STATE_PLAYING);
  expect_error (line.bus, "Only sink_left is linked", NULL);
  gst_element_set_state (line.pipeline, GST_STATE_NULL);
  gst_element_release_request_pad (line.element, pad);
}

TEST (test_cuda_without_a_device)
{
  g_auto (Line) line = line_new (SOURCE "! m.sink_left " SOURCE "! m.sink_right " MATCH "backend=cuda ! fakesink");

  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, NULL, 0)) {
    g_print ("skipped: there is a CUDA device\n");
  } else {
    fail_unless_equals_int (gst_element_set_state (line.pipeline, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    expect_error (line.bus, "backend=cuda", NULL);
  }
}

TEST (test_after_an_error_the_element_works_again)
{
  g_auto (Line) line = line_new (
      "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=32,height=32 ! " MATCH "! fakesink");

  gst_element_set_state (line.pipeline, GST_STATE_PLAYING);
  expect_error (line.bus, "Set packing", NULL);
  gst_element_set_state (line.pipeline, GST_STATE_NULL);
  gst_bus_set_flushing (line.bus, TRUE);
  gst_bus_set_flushing (line.bus, FALSE);
  gst_util_set_object_arg (G_OBJECT (line.element), "packing", "row-interleaved");
  gst_element_set_state (line.pipeline, GST_STATE_PLAYING);
  wait_for_message (line.bus, GST_MESSAGE_EOS);
  fail_unless_equals_uint64 (stat_of (line.element, "pairs"), 3);
}

SUITE (errors)
{
}
