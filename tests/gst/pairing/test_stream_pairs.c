/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which frames of two streams come out as pairs: timestamps, skew, segments, ends, gaps. */
#include "gst/pairing/decide.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

static void
set_time (Pair *pair, GstClockTime time)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (pair->element);

  if (time > gst_clock_get_time (clock))
    gst_test_clock_set_time (GST_TEST_CLOCK (clock), time);
}

TEST (test_four_in_four_out)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 4; i++)
    pair_push (pair, i * FRAME, i * FRAME);
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, i * FRAME);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT), i == 0);
  }
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 4);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 0);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
}

TEST (test_skew_within_the_limit)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  const gint64 skews[] = { 0, 3 * GST_MSECOND, -9 * GST_MSECOND, 19 * GST_MSECOND, -19 * GST_MSECOND };

  /* the timestamps of the left frame, the skew in the metadata */
  for (guint i = 0; i < G_N_ELEMENTS (skews); i++)
    pair_push (pair, (i + 1) * FRAME, (GstClockTime) ((gint64) ((i + 1) * FRAME) + skews[i]));
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (skews); i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, (i + 1) * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, skews[i]);
  }
}

TEST (test_skew_beyond_the_limit)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

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
}

/* Both cameras give a third of the frames that they have announced, more than half an announced frame apart. */
TEST (test_cameras_that_slow_down)
{
  const guint frames = 9, slow = GST_STEREO_INTERVALS;
  const GstClockTime skew = 45 * GST_MSECOND;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_push (pair, 0, 0);
  for (guint i = 1; i < frames; i++)
    pair_push (pair, 3 * i * FRAME, 3 * i * FRAME + skew);
  pair_eos (pair, TRUE, TRUE);
  gst_buffer_unref (pair_pull (pair, 0));
  /* what is announced holds until a few frames came more slowly */
  for (guint i = slow; i < frames; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, 3 * i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, (gint64) skew);
  }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), slow - 1);
  expect_warning (pair->bus, "nearest two were 45.000 ms apart", NULL);
}

/* A camera that starts anew, and counts from 0 again. */
TEST (test_timestamps_that_begin_again)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "check-interval=0");

  for (guint i = 0; i < 20; i++)
    pair_push (pair, i * FRAME, i * FRAME);
  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (pair_pull (pair, i * FRAME));
  pair_push (pair, 20 * FRAME, 0);
  pair_push (pair, 21 * FRAME, FRAME);
  expect_warning (pair->bus, "ms apart", "its timestamps count from another start", "do-timestamp=true", NULL);
}

/* A frame within the limit is dropped because the next one is nearer: no word of the limit. */
TEST (test_a_frame_too_many)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "max-skew=30000000");

  pair_pass (pair, 0, 0);
  pair_push_left (pair, 3 * FRAME - 28 * GST_MSECOND);
  pair_pass (pair, 3 * FRAME, 3 * FRAME);
  g_autoptr (GstMessage) message = expect_message (
      pair->bus, GST_MESSAGE_WARNING, (const gchar *const[]){ "1 left and 0 right", NULL });
  g_autofree gchar *text = message_text (message);
  fail_if (strstr (text, "max-skew"), "%s", text);
}

/* A frame that is missing does not widen the limit. */
TEST (test_one_missing_frame)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 3; i++)
    pair_push (pair, i * FRAME, i * FRAME);
  pair_push_right (pair, 4 * FRAME + FRAME / 2 + 1);
  pair_push (pair, 4 * FRAME, 5 * FRAME + FRAME / 2 + 1);
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (pair_pull (pair, i * FRAME));
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 1);
}

/* One camera gives a third of its frames, and the other one lacks the partner of one of these: its neighbours are of other moments. */
TEST (test_one_camera_that_slows_down)
{
  const guint frames = 8, slow = 3, alone = GST_STEREO_INTERVALS + 1;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint n = 0; n < slow * frames; n++) {
    if (n % slow == 0)
      pair_push_left (pair, n * FRAME);
    if (n != slow * alone)
      pair_push_right (pair, n * FRAME);
  }
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < frames; i++)
    if (i != alone) {
      g_autoptr (GstBuffer) out = pair_pull (pair, slow * i * FRAME);
      fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, 0);
    }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 1);
}

/* How long after their timestamps the frames of both views come. */
static const struct
{
  GstClockTime left, right, reported; /* @reported: as its latency, by the source of the right view */
  const gchar *late, *by;
} arrivals[] = {
  { 0, 3 * GST_SECOND, 0, "frames of sink_right come 3.0 s", "3.0 s apart" },
  { 2 * GST_SECOND, GST_SECOND, 0, "frames of sink_left come 2.0 s", "1.0 s apart" },
  { 0, 400 * GST_MSECOND, 0, NULL, NULL },
  { 3 * GST_SECOND, 3 * GST_SECOND, 0, NULL, NULL },
  { 0, 3 * GST_SECOND, 3 * GST_SECOND, NULL, NULL },
  { 0, 3 * GST_SECOND, GST_SECOND, "frames of sink_right come 2.0 s", "2.0 s apart" },
};

/* Frames are pushed in the order in which they come; a view has two of them waiting, at most. */
TEST_LOOP (test_a_camera_with_a_time_of_its_own, 0, G_N_ELEMENTS (arrivals))
{
  const GstClockTime by[2] = { arrivals[__i__].left, arrivals[__i__].right };
  const guint frames = 14, ahead = 1;
  g_autoptr (Pair) pair = pair_new_gray (EXACT "qos=false silence-timeout=0");
  guint early = by[1] < by[0];

  gst_harness_set_upstream_latency (pair->right, arrivals[__i__].reported);
  for (guint n = 0; n < frames; n++)
    for (guint turn = 0; turn < 2; turn++) {
      guint view = turn ? !early : early, frame = turn ? n - ahead : n;
      if (turn && n < ahead)
        continue;
      set_time (pair, frame * FRAME + by[view]);
      if (view)
        pair_push_right (pair, frame * FRAME);
      else
        pair_push_left (pair, frame * FRAME);
    }
  for (guint n = 0; n < frames - ahead; n++)
    gst_buffer_unref (pair_pull (pair, n * FRAME));
  if (arrivals[__i__].late)
    expect_warning (pair->bus, arrivals[__i__].late, arrivals[__i__].by, "do-timestamp", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

TEST (test_max_skew_by_hand)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "max-skew=5000000");

  for (guint i = 0; i < 3; i++)
    pair_push (pair, i * FRAME, i * FRAME + (i == 1 ? 6 : 5) * GST_MSECOND);
  pair_eos (pair, TRUE, TRUE);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_buffer_unref (pair_pull (pair, 2 * FRAME));
  pair_wait_eos (pair);
  expect_warning (pair->bus, "1 left", "max-skew is 5.000 ms", "6.000 ms", NULL);
}

TEST (test_nearer_frame_is_preferred)
{
  /* not live: a pad takes one frame, and this one thread feeds both */
  g_autoptr (Pair) pair = pair_new_not_live (EXACT "max-skew=100000000");

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  /* the left camera starts a frame late: the first right frame is within max-skew, the next fits better */
  pair_push (pair, FRAME, 0);
  pair_push (pair, 2 * FRAME, FRAME);
  pair_push_right (pair, 2 * FRAME);
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 1; i < 3; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, 0);
  }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 1);
}

TEST (test_irregular_stream_waits_for_the_next_frame)
{
  const GstClockTime right[] = { 0, 24, 64, 79 };
  const gint64 skews[] = { 0, -16, -1 };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  /* once a frame came early, another may: 64 is near enough to 80, 79 is nearer */
  for (guint i = 0; i < 4; i++)
    pair_push (pair, i * FRAME, right[i] * GST_MSECOND);
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, skews[i] * (gint64) GST_MSECOND);
  }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), 1);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 1);
}

TEST (test_no_timestamps_pair_in_order)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 3; i++)
    pair_push (pair, GST_CLOCK_TIME_NONE, i == 1 ? 5 * FRAME : GST_CLOCK_TIME_NONE);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, GST_CLOCK_TIME_NONE);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, 0);
  }
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
}

TEST (test_swapped_timestamps)
{
  const guint order[] = { 0, 2, 1, 3 };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  /* swapped on both sides: pairs all the same */
  for (guint i = 0; i < 4; i++)
    pair_pass (pair, order[i] * FRAME, order[i] * FRAME);
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
}

TEST (test_running_time_pairs_not_timestamps)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  GstSegment segment;

  /* the right stream's timestamps run an hour ahead, its segment says so */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 3600 * GST_SECOND;
  gst_harness_push_event (pair->right, gst_event_new_segment (&segment));
  for (guint i = 0; i < 2; i++)
    pair_pass (pair, i * FRAME, 3600 * GST_SECOND + i * FRAME);
}

TEST (test_output_has_the_segment_of_the_left_view)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  const GstSegment *out;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 100 * GST_SECOND;
  gst_harness_push_event (pair->left, gst_event_new_segment (&segment));
  pair_pass (pair, 100 * GST_SECOND, 0);
  GstEvent *sticky = gst_pad_get_sticky_event (pair->left->sinkpad, GST_EVENT_SEGMENT, 0);
  fail_unless (sticky != NULL);
  gst_event_parse_segment (sticky, &out);
  fail_unless_equals_uint64 (out->start, 100 * GST_SECOND);
  gst_event_unref (sticky);
  /* before its segment: not part of it */
  pair_push_left (pair, 50 * GST_SECOND);
  pair_pass (pair, 100 * GST_SECOND + FRAME, FRAME);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 0);
}

/* Files: no further pair can come, and who feeds the other view is told so. What of it was taken in is dropped and counted. */
TEST_LOOP (test_one_view_ends_early, 0, 2)
{
  gboolean left_ends = __i__;
  g_autoptr (Pair) pair = pair_new_not_live (EXACT);
  GstHarness *other = left_ends ? pair->right : pair->left;
  guint pushed = 0;

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  for (guint i = 0; i < 2; i++)
    pair_push (pair, i * FRAME, i * FRAME);
  pair_eos (pair, left_ends, !left_ends);
  for (GstFlowReturn flow = GST_FLOW_OK; flow == GST_FLOW_OK; pushed++) {
    flow = gst_harness_push (other,
        stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), (2 + pushed) * FRAME, FRAME));
    fail_unless (flow == GST_FLOW_OK || flow == GST_FLOW_EOS, "%s", gst_flow_get_name (flow));
    fail_unless (pushed < 1000, "no end");
  }
  gst_buffer_unref (pair_pull (pair, 0));
  gst_buffer_unref (pair_pull (pair, FRAME));
  pair_wait_eos (pair);
  guint64 dropped = stat_of (pair->element, left_ends ? "dropped-right" : "dropped-left");
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 2);
  fail_unless (dropped > 0 && dropped < pushed, "%" G_GUINT64_FORMAT " of %u", dropped, pushed);
  fail_unless_equals_uint64 (stat_of (pair->element, left_ends ? "dropped-left" : "dropped-right"), 0);
  expect_warning (pair->bus, left_ends ? "0 left and" : "and 0 right", NULL);
}

/* Cameras: the other one goes on, and pairs come again when another stream begins. */
TEST_LOOP (test_a_camera_ends_and_comes_back, 0, 2)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "silence-timeout=0");
  GstHarness *gone = __i__ ? pair->left : pair->right, *stays = __i__ ? pair->right : pair->left;
  g_autoptr (GstMessage) back = NULL;
  g_autoptr (GstBuffer) out = NULL;
  guint n = 60;
  GstSegment segment;

  pair_pass (pair, 0, 0);
  gst_harness_push_event (gone, gst_event_new_eos ());
  for (guint i = 1; i < 60; i++)
    fail_unless_equals_int (
        gst_harness_push (
            stays, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), i * FRAME, FRAME)),
        GST_FLOW_OK);
  expect_warning (pair->bus, __i__ ? "sink_left has ended" : "sink_right has ended", NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (gone, gst_event_new_stream_start ("again"));
  harness_set_caps (gone, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  gst_harness_push_event (gone, gst_event_new_segment (&segment));
  /* until the element has seen that it is back, frames of the other one are dropped */
  for (; !out && n < 500; n++, out = gst_harness_try_pull (pair->left)) {
    gst_harness_push (
        gone, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), n * FRAME, FRAME));
    gst_harness_push (
        stays, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), n * FRAME, FRAME));
    g_usleep (5000);
  }
  fail_unless (out != NULL, "no pairs come again");
  back = gst_bus_pop_filtered (pair->bus, GST_MESSAGE_INFO);
  fail_unless (back != NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
}

/* An empty file. */
TEST (test_a_view_without_a_frame)
{
  g_autoptr (Pair) pair = pair_new_not_live (EXACT);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  pair_eos (pair, FALSE, TRUE);
  pair_push_left (pair, 0);
  pair_wait_eos (pair);
  expect_warning (pair->bus, "1 left and 0 right", "No frame ever came on sink_right", NULL);
}

static const struct
{
  guint left, right; /* a frame of each view every so many FRAMEs */
  const gchar *text;
} rates[] = {
  { 1, 2, "The left camera gives 25 frames a second, the right one 12.5: set both to one rate" },
  { 2, 1, "The left camera gives 12.5 frames a second, the right one 25: set both to one rate" },
  { 2, 3, "The left camera gives 12.5 frames a second, the right one 8.33: set both to one rate" },
};

/* It is said once. */
TEST_LOOP (test_other_rates, 0, G_N_ELEMENTS (rates))
{
  const guint every[2] = { rates[__i__].left, rates[__i__].right };
  g_autoptr (Pair) pair = pair_new_gray (EXACT "max-skew=0");

  for (guint n = 0; n < 120; n++)
    for (guint v = 0; v < 2; v++)
      if (n % every[v] == 0) {
        GstBuffer *buffer = make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, v ? SHIFT : 0, 0);
        /* no two frames of a sensor are the same */
        gst_buffer_memset (buffer, 0, (guint8) n, VIEW_WIDTH);
        gst_harness_push (v ? pair->right : pair->left, stamp (buffer, n * FRAME, every[v] * FRAME));
      }
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_warning (pair->bus, "had no partner", rates[__i__].text, NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

TEST (test_no_frame_at_all)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_no_message (pair->bus, GST_MESSAGE_ERROR);
}

TEST (test_gap_on_both)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  GstClockTime start, duration;

  pair_push (pair, 0, 0);
  pair_push_event (pair, gst_event_new_gap (FRAME, 5 * FRAME));
  pair_push (pair, 6 * FRAME, 6 * FRAME);
  gst_buffer_unref (pair_pull (pair, 0));
  gst_buffer_unref (pair_pull (pair, 6 * FRAME));
  GstEvent *event = wait_for_event (pair->left, GST_EVENT_GAP);
  gst_event_parse_gap (event, &start, &duration);
  fail_unless_equals_uint64 (start, FRAME);
  fail_unless_equals_uint64 (duration, 5 * FRAME);
  gst_event_unref (event);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), 0);
}

TEST_LOOP (test_gap_on_one_lets_the_other_flow, 0, 2)
{
  gboolean left_gap = __i__;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  pair_pass (pair, 0, 0);
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
  pair_pass (pair, 20 * FRAME, 20 * FRAME);
}

/* A view within a larger picture: what GstVideoCropMeta names is the frame. Its texture is that of a whole one. */
static GstBuffer *
make_cropped (GstVideoFormat format, guint x, guint y, gint shift)
{
  const gint width = VIEW_WIDTH + 20, height = VIEW_HEIGHT + 12;
  GstBuffer *buffer = make_view (format, width, height, 1, shift - (gint) x, 0);
  GstVideoInfo info;

  gst_video_info_set_format (&info, format, (guint) width, (guint) height);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, (guint) width, (guint) height,
      GST_VIDEO_INFO_N_PLANES (&info), info.offset, info.stride);
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);
  crop->x = x;
  crop->y = y;
  crop->width = VIEW_WIDTH;
  crop->height = VIEW_HEIGHT;
  return stamp (buffer, 0, FRAME);
}

static const struct
{
  GstVideoFormat format;
  guint left, right, y;
  gboolean refused;
} crops[] = {
  { GST_VIDEO_FORMAT_GRAY8, 8, 8, 4, FALSE },
  { GST_VIDEO_FORMAT_GRAY8, 3, 16, 5, FALSE },
  { GST_VIDEO_FORMAT_NV12, 4, 10, 6, FALSE },
  { GST_VIDEO_FORMAT_RGB, 7, 2, 12, FALSE },
  { GST_VIDEO_FORMAT_NV12, 4, 5, 6, TRUE },   /* within a pair of pixels that share their colour */
  { GST_VIDEO_FORMAT_GRAY8, 8, 21, 4, TRUE }, /* outside */
  { GST_VIDEO_FORMAT_GRAY8, 8, 8, 13, TRUE },
};

TEST_LOOP (test_crops, 0, G_N_ELEMENTS (crops))
{
  g_autoptr (Pair) pair = pair_new (EXACT);

  pair_set_caps (pair, crops[__i__].format, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  gst_harness_push (pair->left, make_cropped (crops[__i__].format, crops[__i__].left, crops[__i__].y, 0));
  gst_harness_push (pair->right, make_cropped (crops[__i__].format, crops[__i__].right, crops[__i__].y, SHIFT));
  if (crops[__i__].refused) {
    expect_error (pair->bus, "GstVideoCropMeta", "videocrop", NULL);
    return;
  }
  g_autoptr (GstBuffer) out = pair_pull (pair, 0);
  GstVideoInfo info = output_info (pair->left);
  check_interior (out, &info, SHIFT * 64);
}

/* Pictures that are to be turned are named before anything else, and once. */
TEST (test_an_orientation)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  const gchar *const tags[] = { "rotate-0", "rotate-180", "rotate-180" };

  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    gst_harness_push_event (
        pair->right, gst_event_new_tag (gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, tags[i], NULL)));
  pair_pass (pair, 0, 0);
  expect_warning (pair->bus, "sink_right gets pictures that are to be turned", "rotate-180", "videoflip", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* Frames of the left and the right view in turn; those of @lost are missing. Each shows its number, in one row. */
static const struct
{
  guint lost[3];
  guint pairs, left, right; /* of 40 frames */
} losses[] = {
  { { 0 }, 20, 0, 0 },
  { { 21 }, 19, 1, 0 },
  { { 20 }, 19, 1, 0 }, /* it is the right one that is left over: without marks it is counted as a first one */
  { { 20, 21 }, 19, 0, 0 },
  { { 21, 22 }, 18, 2, 0 },
  { { 20, 21, 22 }, 18, 1, 0 },
  { { 9, 21, 30 }, 17, 3, 0 },
};

TEST_LOOP (test_lost_frames_of_one_stream, 0, G_N_ELEMENTS (losses))
{
  GstBus *bus;
  GstHarness *harness = packed_new (EXACT "packing=frame-by-frame check-interval=0 ", &bus);
  guint pairs = 0;

  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  for (guint n = 0; n < 40; n++) {
    const guint *lost = losses[__i__].lost;
    if (n && (n == lost[0] || n == lost[1] || n == lost[2]))
      continue;
    gst_harness_push (harness,
        stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, n / 2 + 1, n % 2 ? SHIFT : 0, 0), n * FRAME,
            FRAME));
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_event_unref (wait_for_event (harness, GST_EVENT_EOS));
  for (GstBuffer *out; (out = gst_harness_try_pull (harness)); pairs++) {
    GstVideoInfo info = output_info (harness);
    check_interior (out, &info, SHIFT * 64);
    gst_buffer_unref (out);
  }
  fail_unless_equals_int (pairs, losses[__i__].pairs);
  fail_unless_equals_uint64 (stat_of (harness->element, "dropped-left"), losses[__i__].left);
  fail_unless_equals_uint64 (stat_of (harness->element, "dropped-right"), losses[__i__].right);
  filter_free (harness, bus);
}

TEST (test_other_events_go_on_once)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  guint seen = 0;

  pair_pass (pair, 0, 0);
  gst_harness_push_event (
      pair->left, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("a-word")));
  gst_harness_push_event (
      pair->right, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("a-word")));
  pair_pass (pair, FRAME, FRAME);
  for (GstEvent *event; (event = gst_harness_try_pull_event (pair->left));) {
    seen += GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM;
    gst_event_unref (event);
  }
  fail_unless_equals_int (seen, 1);
}

SUITE (stream_pairs)
{
}
