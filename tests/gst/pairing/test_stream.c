/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens over time: pairing, end of stream, gaps, flushes, changes of caps and properties, lateness. */
#include "tests/support/gst/util.h"

GST_START_TEST (test_four_in_four_out)
{
  Pair *pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 4; i++)
    pair_push (pair, i * FRAME, i * FRAME);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *out = pair_pull (pair, i * FRAME);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT), i == 0);
    gst_buffer_unref (out);
  }
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 4);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 0);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_skew_within_the_limit)
{
  Pair *pair = pair_new_gray (EXACT);
  const gint64 skews[] = { 0, 3 * GST_MSECOND, -9 * GST_MSECOND, 19 * GST_MSECOND, -19 * GST_MSECOND };

  /* the timestamps of the left frame, the skew in the metadata */
  for (guint i = 0; i < G_N_ELEMENTS (skews); i++)
    pair_push (pair, (i + 1) * FRAME, (GstClockTime) ((gint64) ((i + 1) * FRAME) + skews[i]));
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (skews); i++) {
    GstBuffer *out = pair_pull (pair, (i + 1) * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, skews[i]);
    gst_buffer_unref (out);
  }
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_skew_beyond_the_limit)
{
  Pair *pair = pair_new_gray (EXACT);

  /* 21 ms off at 25/1: none is within half a frame, all are dropped, and it is said with the numbers */
  for (guint i = 0; i < 4; i++)
    pair_push (pair, i * FRAME, i * FRAME + 21 * GST_MSECOND);
  pair_eos (pair, TRUE, TRUE);
  expect_warning (pair->bus, "no partner", "max-skew is 20.000 ms", "21.000 ms", NULL);
  /* right i and left i + 1 are 19 ms apart: those pair */
  for (guint i = 1; i < 4; i++)
    gst_buffer_unref (pair_pull (pair, i * FRAME));
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 1);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 1);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_max_skew_by_hand)
{
  Pair *pair = pair_new_gray (EXACT "max-skew=5000000");

  for (guint i = 0; i < 3; i++)
    pair_push (pair, i * FRAME, i * FRAME + (i == 1 ? 6 : 5) * GST_MSECOND);
  pair_eos (pair, TRUE, TRUE);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_buffer_unref (pair_pull (pair, 2 * FRAME));
  pair_wait_eos (pair);
  expect_warning (pair->bus, "1 left", "max-skew is 5.000 ms", "6.000 ms", NULL);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_nearer_frame_is_preferred)
{
  /* not live: a pad takes one frame, and this one thread feeds both */
  Pair *pair = pair_new_not_live (EXACT "max-skew=100000000");
  gchar *caps = make_caps (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);

  pair_caps (pair, caps, caps);
  g_free (caps);
  /* the left camera starts a frame late: the first right frame is within max-skew, the next fits better */
  pair_push (pair, FRAME, 0);
  pair_push (pair, 2 * FRAME, FRAME);
  pair_push_right (pair, 2 * FRAME);
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 1; i < 3; i++) {
    GstBuffer *out = pair_pull (pair, i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, 0);
    gst_buffer_unref (out);
  }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 1);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_irregular_stream_is_looked_ahead_in)
{
  const GstClockTime right[] = { 0, 24, 64, 79 };
  const gint64 skews[] = { 0, -16, -1 };
  Pair *pair = pair_new_gray (EXACT);

  /* once a frame came early, another may: 64 is near enough to 80, 79 is nearer */
  for (guint i = 0; i < 4; i++)
    pair_push (pair, i * FRAME, right[i] * GST_MSECOND);
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out = pair_pull (pair, i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, skews[i] * (gint64) GST_MSECOND);
    gst_buffer_unref (out);
  }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 1);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 1);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_no_timestamps_pair_in_order)
{
  Pair *pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 3; i++)
    pair_push (pair, GST_CLOCK_TIME_NONE, i == 1 ? 5 * FRAME : GST_CLOCK_TIME_NONE);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *out = pair_pull (pair, GST_CLOCK_TIME_NONE);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, 0);
    gst_buffer_unref (out);
  }
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_swapped_timestamps)
{
  const guint order[] = { 0, 2, 1, 3 };
  Pair *pair = pair_new_gray (EXACT);

  /* swapped on both sides: pairs all the same */
  for (guint i = 0; i < 4; i++) {
    pair_push (pair, order[i] * FRAME, order[i] * FRAME);
    gst_buffer_unref (pair_pull (pair, order[i] * FRAME));
  }
  /* swapped on the right alone: those two find no partner, the rest does */
  for (guint i = 0; i < 4; i++)
    pair_push (pair, (4 + i) * FRAME, (4 + order[i]) * FRAME);
  pair_eos (pair, TRUE, TRUE);
  gst_buffer_unref (pair_pull (pair, 4 * FRAME));
  gst_buffer_unref (pair_pull (pair, 6 * FRAME));
  gst_buffer_unref (pair_pull (pair, 7 * FRAME));
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 1);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 1);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_running_time_pairs_not_timestamps)
{
  Pair *pair = pair_new_gray (EXACT);
  GstSegment segment;

  /* the right stream's timestamps run an hour ahead, its segment says so */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 3600 * GST_SECOND;
  gst_harness_push_event (pair->right, gst_event_new_segment (&segment));
  for (guint i = 0; i < 2; i++) {
    pair_push (pair, i * FRAME, 3600 * GST_SECOND + i * FRAME);
    gst_buffer_unref (pair_pull (pair, i * FRAME));
  }
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_output_has_the_segment_of_the_left_view)
{
  Pair *pair = pair_new_gray (EXACT);
  const GstSegment *out;
  GstSegment segment;
  GstEvent *sticky;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 100 * GST_SECOND;
  gst_harness_push_event (pair->left, gst_event_new_segment (&segment));
  pair_push (pair, 100 * GST_SECOND, 0);
  gst_buffer_unref (pair_pull (pair, 100 * GST_SECOND));
  sticky = gst_pad_get_sticky_event (pair->left->sinkpad, GST_EVENT_SEGMENT, 0);
  fail_unless (sticky != NULL);
  gst_event_parse_segment (sticky, &out);
  fail_unless_equals_uint64 (out->start, 100 * GST_SECOND);
  gst_event_unref (sticky);
  /* before its segment: not part of it */
  pair_push_left (pair, 50 * GST_SECOND);
  pair_push (pair, 100 * GST_SECOND + FRAME, FRAME);
  gst_buffer_unref (pair_pull (pair, 100 * GST_SECOND + FRAME));
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 0);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_one_view_ends_early)
{
  gboolean left_ends = __i__;
  Pair *pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 2; i++)
    pair_push (pair, i * FRAME, i * FRAME);
  pair_eos (pair, left_ends, !left_ends);
  for (guint i = 2; i < 5; i++) {
    if (left_ends)
      pair_push_right (pair, i * FRAME);
    else
      pair_push_left (pair, i * FRAME);
  }
  pair_eos (pair, !left_ends, left_ends);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_buffer_unref (pair_pull (pair, FRAME));
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 2);
  fail_unless_equals_uint64 (stat_of (pair->element, left_ends ? "dropped-right" : "dropped-left"), 3);
  fail_unless_equals_uint64 (stat_of (pair->element, left_ends ? "dropped-left" : "dropped-right"), 0);
  expect_warning (pair->bus, left_ends ? "0 left and" : "and 0 right", NULL);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_no_frame_at_all)
{
  Pair *pair = pair_new_gray (EXACT);

  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_the_other_view_never_ends)
{
  Pair *pair = pair_new_gray (EXACT);
  guint pushed = 0;

  pair_push (pair, 0, 0);
  pair_eos (pair, TRUE, FALSE);
  /* until upstream is told that it is over */
  for (GstFlowReturn flow = GST_FLOW_OK; flow == GST_FLOW_OK; pushed++) {
    flow = gst_harness_push (pair->right,
        stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), (pushed + 1) * FRAME, FRAME));
    fail_unless (flow == GST_FLOW_OK || flow == GST_FLOW_EOS, "%s", gst_flow_get_name (flow));
    fail_unless (pushed < 1000, "no end");
  }
  gst_buffer_unref (pair_pull (pair, 0));
  pair_wait_eos (pair);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_gap_on_both)
{
  Pair *pair = pair_new_gray (EXACT);
  gboolean seen = FALSE;

  pair_push (pair, 0, 0);
  gst_harness_push_event (pair->left, gst_event_new_gap (FRAME, 5 * FRAME));
  gst_harness_push_event (pair->right, gst_event_new_gap (FRAME, 5 * FRAME));
  pair_push (pair, 6 * FRAME, 6 * FRAME);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_buffer_unref (pair_pull (pair, 6 * FRAME));
  while (!seen) {
    GstEvent *event = gst_harness_pull_event (pair->left);
    fail_unless (event != NULL, "no gap downstream");
    seen = GST_EVENT_TYPE (event) == GST_EVENT_GAP;
    if (seen) {
      GstClockTime start, duration;
      gst_event_parse_gap (event, &start, &duration);
      fail_unless_equals_uint64 (start, FRAME);
      fail_unless_equals_uint64 (duration, 5 * FRAME);
    }
    gst_event_unref (event);
  }
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 0);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_gap_on_one_lets_the_other_flow)
{
  gboolean left_gap = __i__;
  Pair *pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  /* a gap says that nothing comes: the frames against it are let go at once, not when the next one arrives */
  gst_harness_push_event (left_gap ? pair->left : pair->right, gst_event_new_gap (FRAME, 10 * FRAME));
  for (guint i = 1; i < 8; i++) {
    if (left_gap)
      pair_push_right (pair, i * FRAME);
    else
      pair_push_left (pair, i * FRAME);
    gst_harness_push_event (left_gap ? pair->left : pair->right, gst_event_new_gap ((i + 1) * FRAME, 10 * FRAME));
  }
  for (guint i = 0; i < 100 && stat_of (pair->element, left_gap ? "dropped-right" : "dropped-left") < 7; i++)
    g_usleep (20000);
  fail_unless_equals_uint64 (stat_of (pair->element, left_gap ? "dropped-right" : "dropped-left"), 7);
  pair_push (pair, 20 * FRAME, 20 * FRAME);
  gst_buffer_unref (pair_pull (pair, 20 * FRAME));
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_other_events_go_on_once)
{
  Pair *pair = pair_new_gray (EXACT);
  guint seen = 0;

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_harness_push_event (
      pair->left, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("a-word")));
  gst_harness_push_event (
      pair->right, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("a-word")));
  pair_push (pair, FRAME, FRAME);
  gst_buffer_unref (pair_pull (pair, FRAME));
  for (GstEvent *event; (event = gst_harness_try_pull_event (pair->left));) {
    seen += GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM;
    gst_event_unref (event);
  }
  fail_unless_equals_int (seen, 1);
  pair_free (pair);
}
GST_END_TEST;

static void
flush (Pair *pair)
{
  GstEvent *start = gst_event_new_flush_start (), *stop = gst_event_new_flush_stop (TRUE);
  GstSegment segment;

  gst_event_set_seqnum (stop, gst_event_get_seqnum (start));
  gst_harness_push_event (pair->left, gst_event_ref (start));
  gst_harness_push_event (pair->right, start);
  gst_harness_push_event (pair->left, gst_event_ref (stop));
  gst_harness_push_event (pair->right, stop);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (pair->left, gst_event_new_segment (&segment));
  gst_harness_push_event (pair->right, gst_event_new_segment (&segment));
}

GST_START_TEST (test_flush_forgets_what_was_waiting)
{
  Pair *pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  pair_push_left (pair, FRAME);
  flush (pair);
  pair_push (pair, 10 * FRAME, 10 * FRAME);
  gst_buffer_unref (pair_pull (pair, 10 * FRAME));
  pair_expect_nothing (pair);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_flush_forgets_what_was_held)
{
  Pair *pair = pair_new_gray (EXACT "max-skew=1000000000");

  /* both heads are taken out while the next right frame is waited for */
  pair_push (pair, FRAME, 0);
  pair_expect_nothing (pair);
  flush (pair);
  pair_push (pair, 10 * FRAME, 10 * FRAME);
  gst_buffer_unref (pair_pull (pair, 10 * FRAME));
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 1);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_flush_after_the_end)
{
  Pair *pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  pair_eos (pair, TRUE, TRUE);
  gst_buffer_unref (pair_pull (pair, 0));
  pair_wait_eos (pair);
  flush (pair);
  pair_push (pair, 3 * FRAME, 3 * FRAME);
  gst_buffer_unref (pair_pull (pair, 3 * FRAME));
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_property_takes_effect_with_the_next_pair)
{
  Pair *pair = pair_new_gray (EXACT);
  GstVideoInfo info;
  GstBuffer *out;

  pair_push (pair, 0, 0);
  out = pair_pull (pair, 0);
  info = output_info (pair->left);
  check_interior (out, &info, SHIFT * 64);
  gst_buffer_unref (out);
  g_object_set (pair->element, "disparity-scale", 16.0, NULL);
  pair_push (pair, FRAME, FRAME);
  out = pair_pull (pair, FRAME);
  check_interior (out, &info, SHIFT * 16);
  fail_unless_equals_float (gst_buffer_get_stereo_meta (out)->disparity_scale, 16);
  gst_buffer_unref (out);
  pair_free (pair);
}
GST_END_TEST;

/* Several properties in one g_object_set() are one change: no frame sees half of it. */
GST_START_TEST (test_properties_set_together_take_effect_together)
{
  Pair *pair = pair_new_gray (EXACT);

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
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_output_becomes_depth)
{
  Pair *pair = pair_new_gray (EXACT);
  GstVideoInfo info;
  GstBuffer *out;

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  g_object_set (pair->element, "output", 1, "focal-length", 1000.0, "baseline", 50.0, NULL);
  pair_push (pair, FRAME, FRAME);
  out = pair_pull (pair, FRAME);
  info = output_info (pair->left);
  check_interior (out, &info, 10000);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->kind, GST_STEREO_OUTPUT_KIND_DEPTH);
  gst_buffer_unref (out);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_caps_change_one_pad_after_the_other)
{
  const gint width = __i__ ? 52 : VIEW_WIDTH, height = __i__ ? VIEW_HEIGHT : 24;
  Pair *pair = pair_new_gray (EXACT);
  gchar *caps = make_caps (GST_VIDEO_FORMAT_RGB, width, height, NULL);
  GstVideoInfo info;
  GstBuffer *out;

  pair_push (pair, 0, 0);
  pair_push_left (pair, FRAME);
  pair_caps (pair, caps, NULL);
  gst_harness_push (pair->left, stamp (make_view (GST_VIDEO_FORMAT_RGB, width, height, 1, 0, 0), 2 * FRAME, FRAME));
  gst_buffer_unref (pair_pull (pair, 0));
  pair_expect_nothing (pair);
  pair_push_right (pair, FRAME);
  gst_buffer_unref (pair_pull (pair, FRAME));
  pair_caps (pair, NULL, caps);
  gst_harness_push (pair->right, stamp (make_view (GST_VIDEO_FORMAT_RGB, width, height, 1, SHIFT, 0), 2 * FRAME, FRAME));
  out = pair_pull (pair, 2 * FRAME);
  info = output_info (pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&info), width);
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&info), height);
  check_interior (out, &info, SHIFT * 64);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->width, width);
  gst_buffer_unref (out);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  pair_free (pair);
  g_free (caps);
}
GST_END_TEST;

GST_START_TEST (test_downstream_reconfigures)
{
  Pair *pair = pair_new_gray (EXACT);
  GstVideoInfo info;
  GstBuffer *out;

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_harness_set_sink_caps_str (pair->left, "video/x-raw,format=GRAY8");
  gst_harness_push_upstream_event (pair->left, gst_event_new_reconfigure ());
  pair_push (pair, FRAME, FRAME);
  out = pair_pull (pair, FRAME);
  info = output_info (pair->left);
  fail_unless_equals_int (GST_VIDEO_INFO_FORMAT (&info), GST_VIDEO_FORMAT_GRAY8);
  fail_unless_equals_int (gst_buffer_get_stereo_meta (out)->kind, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE);
  gst_buffer_unref (out);
  pair_free (pair);
}
GST_END_TEST;

static void
say_late (Pair *pair, GstClockTime timestamp, GstClockTimeDiff diff)
{
  gst_harness_push_upstream_event (pair->left, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.5, diff, timestamp));
}

GST_START_TEST (test_late_pairs_are_not_computed)
{
  const gchar *none[] = { NULL };
  Pair *pair = pair_new_gray (EXACT);
  guint64 processed, dropped;
  GstMessage *message;
  GstFormat format;
  GstBuffer *out;

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  say_late (pair, 0, FRAME + FRAME / 4); /* nothing before 2.5 frames is wanted */
  pair_push (pair, FRAME, FRAME);
  pair_push (pair, 2 * FRAME, 2 * FRAME);
  pair_push (pair, 3 * FRAME, 3 * FRAME);
  out = pair_pull (pair, 3 * FRAME);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (out);
  fail_unless_equals_uint64 (stat_of (pair->element, "late"), 2);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 2);
  gst_message_unref (expect_message (pair->bus, GST_MESSAGE_QOS, none));
  message = expect_message (pair->bus, GST_MESSAGE_QOS, none);
  gst_message_parse_qos_stats (message, &format, &processed, &dropped);
  fail_unless_equals_int (format, GST_FORMAT_BUFFERS);
  fail_unless_equals_uint64 (processed, 1);
  fail_unless_equals_uint64 (dropped, 2);
  gst_message_unref (message);
  pair_free (pair);
}
GST_END_TEST;

/* Once downstream has said so, the clock tells which pairs of a live stream are late. */
GST_START_TEST (test_live_pairs_that_would_be_late)
{
  Pair *pair = pair_new_gray (EXACT);
  GstClock *clock = gst_element_get_clock (pair->element);

  gst_harness_set_upstream_latency (pair->left, 7 * GST_MSECOND);
  gst_harness_set_upstream_latency (pair->right, 7 * GST_MSECOND);
  gst_test_clock_set_time (GST_TEST_CLOCK (clock), 10 * FRAME);
  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0)); /* nobody has complained yet */
  say_late (pair, 0, 1);
  pair_push (pair, FRAME, FRAME);
  pair_push (pair, 10 * FRAME, 10 * FRAME);
  gst_buffer_unref (pair_pull (pair, 10 * FRAME));
  fail_unless_equals_uint64 (stat_of (pair->element, "late"), 1);
  gst_object_unref (clock);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_qos_off)
{
  Pair *pair = pair_new_gray (EXACT "qos=false");

  say_late (pair, 0, 100 * FRAME);
  for (guint i = 0; i < 3; i++) {
    pair_push (pair, i * FRAME, i * FRAME);
    gst_buffer_unref (pair_pull (pair, i * FRAME));
  }
  fail_unless_equals_uint64 (stat_of (pair->element, "late"), 0);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_flush_forgets_lateness)
{
  Pair *pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  say_late (pair, 0, 100 * FRAME);
  flush (pair);
  pair_push (pair, FRAME, FRAME);
  gst_buffer_unref (pair_pull (pair, FRAME));
  pair_free (pair);
}
GST_END_TEST;

/* What the element allows a pair from its turn on: a frame, or the time that it takes and an eighth, and half a frame for
 * its wait. */
static GstClockTime
allowed_for (GstClockTime service)
{
  return service <= FRAME / 2 ? FRAME : service + service / 8 + FRAME / 2;
}

GST_START_TEST (test_latency)
{
  Pair *pair = pair_new_gray (EXACT);
  GstQuery *query = gst_query_new_latency ();
  GstClockTime upstream = 7 * GST_MSECOND, min, max, least, most;
  gint64 start;
  gboolean live;

  gst_harness_set_upstream_latency (pair->left, upstream);
  gst_harness_set_upstream_latency (pair->right, upstream);
  start = g_get_monotonic_time ();
  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
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
  gst_query_unref (query);
  pair_free (pair);
}
GST_END_TEST;

/* A frame lasts a microsecond, and computing takes longer: that is part of the latency. */
GST_START_TEST (test_latency_grows_with_the_work)
{
  Pair *pair = pair_new (EXACT);
  GstQuery *query = gst_query_new_latency ();
  gchar *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=1000000/1", VIEW_WIDTH, VIEW_HEIGHT);
  GstClockTime min, max;
  gboolean live;

  pair_caps (pair, caps, caps);
  gst_harness_set_upstream_latency (pair->left, GST_USECOND);
  gst_harness_set_upstream_latency (pair->right, GST_USECOND);
  pair_push (pair, 0, 0);
  gst_buffer_unref (pair_pull (pair, 0));
  fail_unless (stat_of (pair->element, "compute-time") > 3 * GST_USECOND);
  fail_unless (gst_pad_peer_query (pair->left->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless (min > stat_of (pair->element, "compute-time"), "%" GST_TIME_FORMAT, GST_TIME_ARGS (min));
  gst_query_unref (query);
  g_free (caps);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_frames_change_hands_before_the_second_pad_is_there)
{
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("stereomatch", "m"));
  gchar *caps = make_caps (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  GstHarness *left, *right;

  set_properties (element, EXACT);
  left = gst_harness_new_with_element (element, "sink_left", "src");
  gst_harness_set_src_caps_str (left, caps);
  gst_harness_push (left, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), 0, FRAME));
  g_usleep (300000);
  right = gst_harness_new_with_element (element, "sink_right", NULL);
  gst_harness_set_src_caps_str (right, caps);
  gst_harness_push (right, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, SHIFT, 0), 0, FRAME));
  gst_buffer_unref (gst_harness_pull (left));
  fail_unless_equals_uint64 (stat_of (element, "dropped-left"), 0);
  gst_harness_teardown (right);
  gst_harness_teardown (left);
  gst_object_unref (element);
  g_free (caps);
}
GST_END_TEST;

static Suite *
stream_suite (void)
{
  Suite *suite = suite_create ("stream");
  TCase *cases = tcase_create ("general");

  suite_add_tcase (suite, cases);
  tcase_add_test (cases, test_four_in_four_out);
  tcase_add_test (cases, test_skew_within_the_limit);
  tcase_add_test (cases, test_skew_beyond_the_limit);
  tcase_add_test (cases, test_max_skew_by_hand);
  tcase_add_test (cases, test_nearer_frame_is_preferred);
  tcase_add_test (cases, test_irregular_stream_is_looked_ahead_in);
  tcase_add_test (cases, test_no_timestamps_pair_in_order);
  tcase_add_test (cases, test_swapped_timestamps);
  tcase_add_test (cases, test_running_time_pairs_not_timestamps);
  tcase_add_test (cases, test_output_has_the_segment_of_the_left_view);
  tcase_add_loop_test (cases, test_one_view_ends_early, 0, 2);
  tcase_add_test (cases, test_no_frame_at_all);
  tcase_add_test (cases, test_the_other_view_never_ends);
  tcase_add_test (cases, test_gap_on_both);
  tcase_add_loop_test (cases, test_gap_on_one_lets_the_other_flow, 0, 2);
  tcase_add_test (cases, test_other_events_go_on_once);
  tcase_add_test (cases, test_flush_forgets_what_was_waiting);
  tcase_add_test (cases, test_flush_forgets_what_was_held);
  tcase_add_test (cases, test_flush_after_the_end);
  tcase_add_test (cases, test_property_takes_effect_with_the_next_pair);
  tcase_add_test (cases, test_properties_set_together_take_effect_together);
  tcase_add_test (cases, test_output_becomes_depth);
  tcase_add_loop_test (cases, test_caps_change_one_pad_after_the_other, 0, 2);
  tcase_add_test (cases, test_downstream_reconfigures);
  tcase_add_test (cases, test_late_pairs_are_not_computed);
  tcase_add_test (cases, test_live_pairs_that_would_be_late);
  tcase_add_test (cases, test_qos_off);
  tcase_add_test (cases, test_flush_forgets_lateness);
  tcase_add_test (cases, test_latency);
  tcase_add_test (cases, test_latency_grows_with_the_work);
  tcase_add_test (cases, test_frames_change_hands_before_the_second_pad_is_there);
  return suite;
}

GST_CHECK_MAIN (stream);
