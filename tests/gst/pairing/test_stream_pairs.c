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

/* ---- frames in, pairs out ----------------------------------------------------------------- */

#define UNTIMED -1.0

/* Times in ms, of frames at 25/1: 40 ms each. */
static const struct
{
  const gchar *name, *properties;
  guint frames[2]; /* of the left and the right view, in turn */
  gdouble left[9], right[9];
  guint pairs;
  gdouble time[6], skew[6]; /* of the pairs: timestamps of the left frame, the skew in the metadata */
  guint dropped[2];
  const gchar *said[4], *not_said; /* the warning */
  gboolean held;                   /* one thread that feeds both views can wait for itself, where nothing is live */
} streams[] = {
  { "four in, four out", "", { 4, 4 }, { 0, 40, 80, 120 }, { 0, 40, 80, 120 }, 4, { 0, 40, 80, 120 } },
  { "skew within the limit", "", { 5, 5 }, { 40, 80, 120, 160, 200 }, { 40, 83, 111, 179, 181 }, 5,
      { 40, 80, 120, 160, 200 }, { 0, 3, -9, 19, -19 } },
  /* 21 ms are more than half a frame; right i and left i + 1 are 19 ms apart */
  { "skew beyond the limit", "", { 4, 4 }, { 0, 40, 80, 120 }, { 21, 61, 101, 141 }, 3, { 40, 80, 120 },
      { -19, -19, -19 }, { 1, 1 }, { "no partner", "max-skew is 20.000 ms", "21.000 ms" } },
  { "max-skew by hand", "max-skew=5000000", { 3, 3 }, { 0, 40, 80 }, { 5, 46, 85 }, 2, { 0, 80 }, { 5, 5 }, { 1, 1 },
      { "1 left", "max-skew is 5.000 ms", "6.000 ms" } },
  /* Both cameras give a third of the frames that they have announced, more than half an announced frame apart. What is announced holds
   * until GST_STEREO_INTERVALS frames came more slowly. */
  { "cameras that slow down", "", { 9, 9 }, { 0, 120, 240, 360, 480, 600, 720, 840, 960 },
      { 0, 165, 285, 405, 525, 645, 765, 885, 1005 }, 6, { 0, 480, 600, 720, 840, 960 }, { 0, 45, 45, 45, 45, 45 },
      { 3, 3 }, { "nearest two were 45.000 ms apart" } },
  /* it does not widen the limit */
  { "one missing frame", "", { 4, 5 }, { 0, 40, 80, 160 }, { 0, 40, 80, 180.000001, 220.000001 }, 3, { 0, 40, 80 },
      { 0 }, { 1, 2 }, .held = TRUE },
  /* a frame within the limit is dropped because the next one is nearer: no word of the limit */
  { "a frame too many", "max-skew=30000000", { 3, 2 }, { 0, 92, 120 }, { 0, 120 }, 2, { 0, 120 }, { 0 }, { 1, 0 },
      { "1 left and 0 right" }, "max-skew" },
  /* the left camera starts a frame late: the first right frame is within max-skew, and the next fits better */
  { "the nearer frame is preferred", "max-skew=100000000", { 2, 3 }, { 40, 80 }, { 0, 40, 80 }, 2, { 40, 80 }, { 0 },
      { 0, 1 }, .held = TRUE },
  /* 64 is near enough to 80: nobody expects 79 */
  { "an irregular stream", "", { 4, 4 }, { 0, 40, 80, 120 }, { 0, 24, 64, 79 }, 3, { 0, 40, 80 }, { 0, -16, -16 },
      { 1, 1 }, .held = TRUE },
  { "no timestamps", "", { 3, 3 }, { UNTIMED, UNTIMED, UNTIMED }, { UNTIMED, 200, UNTIMED }, 3,
      { UNTIMED, UNTIMED, UNTIMED } },
  { "swapped in both views", "", { 4, 4 }, { 0, 80, 40, 120 }, { 0, 80, 40, 120 }, 4, { 0, 80, 40, 120 } },
  { "swapped in the right view", "", { 4, 4 }, { 0, 40, 80, 120 }, { 0, 80, 40, 120 }, 3, { 0, 80, 120 }, { 0 },
      { 1, 1 } },
};

static GstClockTime
ms (gdouble time)
{
  return time == UNTIMED ? GST_CLOCK_TIME_NONE : (GstClockTime) (time * 1e6 + 0.5);
}

/* Live, and not: a pad then takes one frame, and this one thread feeds both. */
static void
run_streams (guint row, gboolean live)
{
  g_autofree gchar *properties = g_strconcat (EXACT, streams[row].properties, NULL);
  g_autoptr (Pair) pair = live ? pair_new (properties) : pair_new_not_live (properties);
  guint all = streams[row].dropped[0] + streams[row].dropped[1];

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  for (guint i = 0; i < MAX (streams[row].frames[0], streams[row].frames[1]); i++) {
    if (i < streams[row].frames[0])
      pair_push_left (pair, ms (streams[row].left[i]));
    if (i < streams[row].frames[1])
      pair_push_right (pair, ms (streams[row].right[i]));
  }
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < streams[row].pairs; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, ms (streams[row].time[i]));
    fail_unless_equals_int64 (
        gst_buffer_get_stereo_meta (out)->pair_skew, (gint64) (streams[row].skew[i] * GST_MSECOND));
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME);
    fail_unless (all || GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT) == (i == 0));
  }
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), streams[row].pairs);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), streams[row].dropped[0]);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), streams[row].dropped[1]);
  if (!all)
    expect_no_message (pair->bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  if (!streams[row].said[0])
    return;
  g_autoptr (GstMessage) message = expect_message (pair->bus, GST_MESSAGE_WARNING, streams[row].said);
  g_autofree gchar *text = message_text (message);
  fail_if (streams[row].not_said && strstr (text, streams[row].not_said), "%s: %s", streams[row].name, text);
}

TEST_LOOP (test_streams, 0, G_N_ELEMENTS (streams))
{
  g_print ("%s\n", streams[__i__].name);
  for (guint live = streams[__i__].held; live < 2; live++)
    run_streams ((guint) __i__, live);
}

/* ---- what takes more than that ------------------------------------------------------------ */

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
  const gchar *late;
} arrivals[] = {
  { 0, 3 * GST_SECOND, 0, "frames of sink_right come 3.0 s later than those of sink_left" },
  { 2 * GST_SECOND, GST_SECOND, 0, "frames of sink_left come 1.0 s later" },
  { 0, 400 * GST_MSECOND, 0 },
  { 3 * GST_SECOND, 3 * GST_SECOND, 0 },
  { 0, 3 * GST_SECOND, 3 * GST_SECOND },
  { 0, 3 * GST_SECOND, GST_SECOND, "frames of sink_right come 2.0 s later" },
};

/* Frames are pushed in the order in which they come; a view has two of them waiting, at most. */
TEST_LOOP (test_a_camera_with_a_time_of_its_own, 0, G_N_ELEMENTS (arrivals))
{
  const GstClockTime by[2] = { arrivals[__i__].left, arrivals[__i__].right };
  const guint frames = 27, ahead = 1; /* the delay of the later view is known then */
  g_autoptr (Pair) pair = pair_new_gray (EXACT "qos=false silence-timeout=0 check-interval=0");
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
    expect_warning (pair->bus, arrivals[__i__].late, "do-timestamp", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* Frames that come later and later, by a quarter of a second in each second; and then they do not. */
TEST (test_a_source_that_falls_behind)
{
  const guint grows = 150, frames = 275;
  g_autoptr (Pair) pair = pair_new_gray (EXACT "qos=false silence-timeout=0 check-interval=0");

  for (guint n = 0; n < frames; n++) {
    set_time (pair, n * FRAME + MIN (n, grows) * FRAME / 4);
    pair_pass (pair, n * FRAME, n * FRAME);
    /* four seconds are to show it */
    if (n < 70)
      expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  }
  expect_warning (pair->bus, "sink_left come later and later", "0.20 s more each second", NULL);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (pair->bus, GST_MESSAGE_INFO);
  fail_unless (message != NULL, "it never ends");
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
  pair_eos (pair, !left_ends, left_ends);
  pair_wait_eos (pair);
  guint64 dropped = stat_of (pair->element, left_ends ? "dropped-right" : "dropped-left");
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 2);
  /* all but the one that was refused */
  fail_unless_equals_uint64 (dropped, pushed - 1);
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
  pair_eos (pair, TRUE, FALSE);
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

enum
{
  TIMED,
  MARKED,  /* the first of each bundle, and no timestamps */
  DISCONT, /* what follows a lost one, and no timestamps */
  NOTHING, /* no timestamps */
  ARRIVAL  /* both of a bundle at once */
};

/* Frames of the left and the right view in turn; those of @lost are missing. Each shows its number, in one row. */
static const struct
{
  guint how, lost[3];
  guint pairs, left, right; /* of 40 frames */
} losses[] = {
  { TIMED, { 0 }, 20, 0, 0 },
  { TIMED, { 21 }, 19, 1, 0 },
  { TIMED, { 20 }, 19, 1, 0 }, /* it is the right one that is left over: without marks it is counted as a first one */
  { TIMED, { 20, 21 }, 19, 0, 0 },
  { TIMED, { 21, 22 }, 18, 2, 0 },
  { TIMED, { 20, 21, 22 }, 18, 1, 0 },
  { TIMED, { 9, 21, 30 }, 17, 3, 0 },
  { MARKED, { 21 }, 19, 1, 0 },
  { MARKED, { 20 }, 19, 0, 1 },
  { MARKED, { 39 }, 19, 1, 0 },
  { DISCONT, { 21 }, 19, 1, 0 },
  { NOTHING, { 0 }, 20, 0, 0 },
  { ARRIVAL, { 0 }, 20, 0, 0 },
};

TEST_LOOP (test_lost_frames_of_one_stream, 0, G_N_ELEMENTS (losses))
{
  GstBus *bus;
  GstHarness *harness = packed_new (EXACT "packing=frame-by-frame check-interval=0 ", &bus);
  guint pairs = 0, how = losses[__i__].how;

  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  for (guint n = 0; n < 40; n++) {
    const guint *lost = losses[__i__].lost;
    GstClockTime time = GST_CLOCK_TIME_NONE;
    if (how == TIMED)
      time = n * FRAME;
    if (how == ARRIVAL)
      time = n / 2 * 2 * FRAME + n % 2 * FRAME / 10;
    if (n && (n == lost[0] || n == lost[1] || n == lost[2]))
      continue;
    GstBuffer *buffer = stamp (
        make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, n / 2 + 1, n % 2 ? SHIFT : 0, 0), time, FRAME);
    if (how == MARKED && n % 2 == 0)
      GST_BUFFER_FLAG_SET (buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
    if (how == DISCONT && n && n == lost[0] + 1)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (harness, buffer);
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
