/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes while a stream runs: flushes, properties, caps, how late downstream is, latency, pads. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

TEST (test_flush_forgets_what_was_waiting)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_pass (pair, 0, 0);
  pair_push_left (pair, FRAME);
  pair_flush (pair, NULL);
  pair_pass (pair, 10 * FRAME, 10 * FRAME);
  pair_expect_nothing (pair);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
}

TEST (test_flush_after_the_end)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  pair_eos (pair, TRUE, TRUE);
  gst_buffer_unref (pair_pull (pair, 0));
  pair_wait_eos (pair);
  pair_flush (pair, NULL);
  pair_pass (pair, 3 * FRAME, 3 * FRAME);
}

/* What changes between two pairs takes effect with the next one. */
static const struct
{
  const gchar *properties, *caps; /* caps: what downstream takes from then on */
  gint sample;                    /* 0 = any */
  GstStereoOutputKind kind;
} changes[] = {
  { "disparity-scale=16", NULL, SHIFT * 16, GST_STEREO_OUTPUT_KIND_DISPARITY },
  { "output=depth focal-length=1000 baseline=50", NULL, 10000, GST_STEREO_OUTPUT_KIND_DEPTH },
  { NULL, "video/x-raw,format=GRAY8", 0, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE },
};

TEST_LOOP (test_changes, 0, G_N_ELEMENTS (changes))
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  g_autoptr (GstBuffer) before = pair_pull (pair, 0);
  GstVideoInfo info = output_info (pair->left);
  check_interior (before, &info, SHIFT * 64);
  if (changes[__i__].properties)
    set_properties (pair->element, changes[__i__].properties);
  if (changes[__i__].caps) {
    gst_harness_set_sink_caps_str (pair->left, changes[__i__].caps);
    gst_harness_push_upstream_event (pair->left, gst_event_new_reconfigure ());
  }
  pair_push (pair, FRAME, FRAME);
  g_autoptr (GstBuffer) out = pair_pull (pair, FRAME);
  info = output_info (pair->left);
  fail_unless_equals_int (
      GST_VIDEO_INFO_FORMAT (&info), changes[__i__].caps ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE);
  if (changes[__i__].sample)
    check_interior (out, &info, changes[__i__].sample);
  if (changes[__i__].sample == SHIFT * 16)
    fail_unless_equals_float (gst_buffer_get_stereo_meta (out)->disparity_scale, 16);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->kind, changes[__i__].kind);
}

/* Several properties in one g_object_set() are one change: no frame sees half of it. */
TEST (test_properties_set_together_take_effect_together)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 60; i++) {
    if (i % 2)
      g_object_set (pair->element, "output", 1, "focal-length", 1000.0, "baseline", 60.0, NULL);
    else
      g_object_set (pair->element, "baseline", 0.0, "focal-length", 0.0, "output", 0, NULL);
    pair_push (pair, i * FRAME, i * FRAME);
  }
  for (guint i = 0; i < 60; i++)
    gst_buffer_unref (pair_pull (pair, i * FRAME));
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
}

/* Pushes a frame of another width. */
static void
push_wide (GstHarness *view, gint width, GstClockTime time)
{
  harness_set_caps (view, GST_VIDEO_FORMAT_GRAY8, width, VIEW_HEIGHT, NULL);
  gst_harness_push (view, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, width, VIEW_HEIGHT, 1, 0, 0), time, FRAME));
}

/* Both views change their size, the right one two frames later: what has no partner is dropped, and pairs go on. A frame of another
 * size costs that frame and its partner. */
static const struct
{
  guint from[2], to[2]; /* frames of another width, of the left and the right view */
  guint dropped;        /* the frame 2 and those behind it */
} widths[] = {
  { { 2, 4 }, { 6, 6 }, 2 },
  { { 2, 0 }, { 3, 0 }, 1 },
  { { 0, 2 }, { 0, 3 }, 1 },
};

TEST_LOOP (test_sizes_change_frames_apart, 0, G_N_ELEMENTS (widths))
{
  const guint *from = widths[__i__].from, *to = widths[__i__].to, dropped = widths[__i__].dropped;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint n = 0; n < 6; n++) {
    push_wide (pair->left, n >= from[0] && n < to[0] ? 60 : VIEW_WIDTH, n * FRAME);
    push_wide (pair->right, n >= from[1] && n < to[1] ? 60 : VIEW_WIDTH, n * FRAME);
    if (n < 2 || n >= 2 + dropped)
      gst_buffer_unref (pair_pull (pair, n * FRAME));
    else
      pair_expect_nothing (pair);
  }
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), dropped);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), dropped);
  expect_warning (pair->bus, "60x20 GRAY8", "44x20 GRAY8", "one size", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
}

TEST_LOOP (test_caps_change_one_pad_after_the_other, 0, 2)
{
  const gint width = __i__ ? 52 : VIEW_WIDTH, height = __i__ ? VIEW_HEIGHT : 24;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  pair_push_left (pair, FRAME);
  harness_set_caps (pair->left, GST_VIDEO_FORMAT_RGB, width, height, NULL);
  gst_harness_push (pair->left, stamp (make_view (GST_VIDEO_FORMAT_RGB, width, height, 1, 0, 0), 2 * FRAME, FRAME));
  gst_buffer_unref (pair_pull (pair, 0));
  pair_expect_nothing (pair);
  pair_push_right (pair, FRAME);
  gst_buffer_unref (pair_pull (pair, FRAME));
  harness_set_caps (pair->right, GST_VIDEO_FORMAT_RGB, width, height, NULL);
  gst_harness_push (pair->right, stamp (make_view (GST_VIDEO_FORMAT_RGB, width, height, 1, SHIFT, 0), 2 * FRAME, FRAME));
  GstBuffer *out = pair_pull (pair, 2 * FRAME);
  GstVideoInfo info = output_info (pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), width);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), height);
  check_interior (out, &info, SHIFT * 64);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->width, width);
  gst_buffer_unref (out);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

static void
say_late (Pair *pair, GstClockTime timestamp, GstClockTimeDiff diff)
{
  gst_harness_push_upstream_event (pair->left, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.5, diff, timestamp));
}

TEST (test_late_pairs_are_not_computed)
{
  const gchar *none[] = { NULL };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  guint64 processed, dropped;
  GstFormat format;

  pair_pass (pair, 0, 0);
  say_late (pair, 0, FRAME + FRAME / 4); /* nothing before 2.5 frames is wanted */
  pair_push (pair, FRAME, FRAME);
  pair_push (pair, 2 * FRAME, 2 * FRAME);
  pair_push (pair, 3 * FRAME, 3 * FRAME);
  GstBuffer *out = pair_pull (pair, 3 * FRAME);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (out);
  fail_unless_equals_uint64 (stat_of (pair->element, "late"), 2);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 2);
  gst_message_unref (expect_message (pair->bus, GST_MESSAGE_QOS, none));
  g_autoptr (GstMessage) message = expect_message (pair->bus, GST_MESSAGE_QOS, none);
  gst_message_parse_qos_stats (message, &format, &processed, &dropped);
  fail_unless_equals_int (format, GST_FORMAT_BUFFERS);
  fail_unless_equals_uint64 (processed, 1);
  fail_unless_equals_uint64 (dropped, 2);
}

/* Once downstream has said so, the clock tells which pairs of a live stream are late. */
TEST (test_live_pairs_that_would_be_late)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  g_autoptr (GstClock) clock = gst_element_get_clock (pair->element);

  gst_harness_set_upstream_latency (pair->left, 7 * GST_MSECOND);
  gst_harness_set_upstream_latency (pair->right, 7 * GST_MSECOND);
  gst_test_clock_set_time (GST_TEST_CLOCK (clock), 10 * FRAME);
  pair_pass (pair, 0, 0); /* nobody has complained yet */
  say_late (pair, 0, 1);
  pair_push (pair, FRAME, FRAME);
  pair_pass (pair, 10 * FRAME, 10 * FRAME);
  fail_unless_equals_uint64 (stat_of (pair->element, "late"), 1);
}

TEST (test_qos_off)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "qos=false");

  say_late (pair, 0, 100 * FRAME);
  for (guint i = 0; i < 3; i++)
    pair_pass (pair, i * FRAME, i * FRAME);
  fail_unless_equals_uint64 (stat_of (pair->element, "late"), 0);
}

TEST (test_flush_forgets_lateness)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_pass (pair, 0, 0);
  say_late (pair, 0, 100 * FRAME);
  pair_flush (pair, NULL);
  pair_pass (pair, FRAME, FRAME);
}

/* What the element allows a pair from its turn on: a frame, or the time that it takes and an eighth, and half a frame for
 * its wait. */
static GstClockTime
allowed_for (GstClockTime service)
{
  return service <= FRAME / 2 ? FRAME : service + service / 8 + FRAME / 2;
}

TEST (test_latency)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime upstream = 7 * GST_MSECOND, min, max, least, most;
  gboolean live;

  gst_harness_set_upstream_latency (pair->left, upstream);
  gst_harness_set_upstream_latency (pair->right, upstream);
  gint64 start = g_get_monotonic_time ();
  pair_pass (pair, 0, 0);
  most = (GstClockTime) (g_get_monotonic_time () + 1 - start) * GST_USECOND;
  fail_unless (gst_pad_peer_query (pair->left->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  /* upstream, half a frame for the partner, and what a pair may take that takes as long as the first one. It took at
   * least what computing took, and no more than it was away from here. */
  least = allowed_for (stat_of (pair->element, "compute-time"));
  most = allowed_for (most);
  fail_unless (min >= upstream + FRAME / 2 + least, "%" GST_TIME_FORMAT, GST_TIME_ARGS (min));
  fail_unless (min <= upstream + FRAME / 2 + most, "%" GST_TIME_FORMAT, GST_TIME_ARGS (min));
  fail_unless (max >= min);
}

/* A frame lasts a microsecond, and computing takes longer: that is part of the latency. */
TEST (test_latency_grows_with_the_work)
{
  g_autoptr (Pair) pair = pair_new (EXACT);
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=1000000/1", VIEW_WIDTH, VIEW_HEIGHT);
  GstClockTime min, max;
  gboolean live;

  pair_caps (pair, caps);
  gst_harness_set_upstream_latency (pair->left, GST_USECOND);
  gst_harness_set_upstream_latency (pair->right, GST_USECOND);
  pair_pass (pair, 0, 0);
  fail_unless (stat_of (pair->element, "compute-time") > 3 * GST_USECOND);
  fail_unless (gst_pad_peer_query (pair->left->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless (min > stat_of (pair->element, "compute-time"), "%" GST_TIME_FORMAT, GST_TIME_ARGS (min));
}

TEST (test_frames_change_hands_before_the_second_pad_is_there)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("stereomatch", "m"));

  set_properties (element, EXACT);
  g_autoptr (GstHarness) left = gst_harness_new_with_element (element, "sink_left", "src");
  harness_set_caps (left, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  gst_harness_push (left, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), 0, FRAME));
  g_usleep (300000);
  g_autoptr (GstHarness) right = gst_harness_new_with_element (element, "sink_right", NULL);
  harness_set_caps (right, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  gst_harness_push (right, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, SHIFT, 0), 0, FRAME));
  gst_buffer_unref (gst_harness_pull (left));
  fail_unless_equals_uint64 (stat_of (element, "dropped-left"), 0);
}

SUITE (stream_changes)
{
}
