/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By which clock frames are paired. The frames of a pair have a number in common; the capture timestamps follow it, and
 * the buffer timestamps, which run late in one view, do not. What has to come out follows from the numbers alone.
 */
#include "tests/support/gst/util.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define UNIX "timestamp/x-unix"
#define NTP "timestamp/x-ntp"
#define EPOCH (1900000000 * (gint64) GST_SECOND) /* a stamp of these days */
#define NONE G_MININT64                          /* no stamp */

/* @stamp: ns by the clock @reference, or NONE. */
static GstBuffer *
make_frame (gboolean right, GstClockTime pts, const gchar *reference, gint64 time)
{
  GstBuffer *buffer = stamp (
      make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, right ? SHIFT : 0, 0), pts, FRAME);

  /* no two frames of a live source are the same */
  for (gsize y = 0; y < VIEW_HEIGHT; y++)
    gst_buffer_memset (buffer, y * VIEW_WIDTH, (guint8) (pts / FRAME), 1);
  if (time != NONE) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (reference);
    gst_buffer_add_reference_timestamp_meta (buffer, caps, (GstClockTime) time, GST_CLOCK_TIME_NONE);
  }
  return buffer;
}

static void
push (Pair *pair, gboolean right, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (right ? pair->right : pair->left, buffer), GST_FLOW_OK);
}

/* Both frames of a number; the right view's buffer timestamp is @late too large. */
static void
push_numbered (Pair *pair, guint number, GstClockTime late, gint64 left, gint64 right)
{
  push (pair, FALSE, make_frame (FALSE, number * FRAME, UNIX, left));
  push (pair, TRUE, make_frame (TRUE, number * FRAME + late, UNIX, right));
}

static gint64
numbered_stamp (guint number)
{
  return EPOCH + (gint64) (number * FRAME);
}

static void
expect_pair (Pair *pair, guint number, gint64 skew)
{
  g_autoptr (GstBuffer) out = pair_pull (pair, number * FRAME);

  fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, skew);
}

static void
expect_clock (Pair *pair, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;

  g_object_get (pair->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "pairing-clock"), name);
}

static void
expect_drops (Pair *pair, guint left, guint right)
{
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-left"), left);
  fail_unless_equals_uint64 (stat_of (pair->element, "dropped-right"), right);
}

TEST_LOOP (test_capture_stamps_pair, 0, 5)
{
  const GstClockTime late[] = { 0, 13 * GST_MSECOND, 130 * GST_MSECOND, 3 * GST_SECOND, 3600 * GST_SECOND };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  expect_clock (pair, "none");
  for (guint i = 0; i < 6; i++) {
    push_numbered (pair, i, late[__i__], numbered_stamp (i), numbered_stamp (i) + GST_MSECOND);
    g_autoptr (GstBuffer) out = pair_pull (pair, i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, GST_MSECOND);
    /* the output was taken when the left frame was */
    GstReferenceTimestampMeta *kept = gst_buffer_get_reference_timestamp_meta (out, NULL);
    fail_unless (kept != NULL && (gint64) kept->timestamp == numbered_stamp (i));
  }
  expect_clock (pair, UNIX);
  expect_drops (pair, 0, 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

TEST (test_buffer_stamps_by_choice)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "pairing-clock=buffer");

  for (guint i = 0; i < 4; i++)
    push_numbered (pair, i, FRAME, numbered_stamp (i), numbered_stamp (i));
  pair_eos (pair, TRUE, TRUE);
  /* the right frame of the number before has this buffer timestamp */
  for (guint i = 1; i < 4; i++)
    expect_pair (pair, i, 0);
  pair_wait_eos (pair);
  expect_clock (pair, "buffer");
  expect_drops (pair, 1, 1);
}

TEST_LOOP (test_random_streams, 0, 6)
{
  Random random = { random_seed () + (guint) __i__ };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  GstClockTime late = (GstClockTime) random_range (&random, 0, 500) * GST_MSECOND, pts[60];
  gint64 skew[G_N_ELEMENTS (pts)];
  guint dropped[2] = { 0 }, pairs = 0;

  for (guint i = 0; i < G_N_ELEMENTS (pts); i++) {
    /* one thread feeds both pads, which hold two frames */
    gint lacks = i % 2 ? random_range (&random, 0, 2) : 0;
    gboolean left = lacks != 1, right = lacks != 2;
    gint64 exposed = random_range (&random, -2000000, 2000000);
    GstClockTime jitter = (GstClockTime) random_range (&random, 0, 15) * GST_MSECOND;
    if (left)
      push (pair, FALSE, make_frame (FALSE, i * FRAME + jitter, UNIX, numbered_stamp (i)));
    if (right)
      push (pair, TRUE,
          make_frame (TRUE, i * FRAME + late + (GstClockTime) random_range (&random, 0, 15) * GST_MSECOND, UNIX,
              numbered_stamp (i) + exposed));
    if (left && right) {
      pts[pairs] = i * FRAME + jitter;
      skew[pairs++] = exposed;
    }
    dropped[0] += left && !right;
    dropped[1] += right && !left;
  }
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < pairs; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, pts[i]);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, skew[i]);
  }
  pair_wait_eos (pair);
  expect_drops (pair, dropped[0], dropped[1]);
}

TEST (test_max_skew_is_of_the_capture_clock)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "max-skew=5000000");

  for (guint i = 0; i < 3; i++)
    push_numbered (pair, i, 0, numbered_stamp (i), numbered_stamp (i) + (i == 1 ? 6 : 5) * GST_MSECOND);
  pair_eos (pair, TRUE, TRUE);
  expect_pair (pair, 0, 5 * GST_MSECOND);
  expect_pair (pair, 2, 5 * GST_MSECOND);
  pair_wait_eos (pair);
  expect_drops (pair, 1, 1);
  expect_warning (pair->bus, "6.000 ms apart by their capture timestamps", "max-skew is 5.000 ms", NULL);
}

/* Both clocks are set back by an hour, or wrap: at the same number, which one view has no frame of. */
TEST_LOOP (test_stamps_go_back, 0, 2)
{
  const gint64 back = 3600 * (gint64) GST_SECOND;
  gboolean right_lacks = __i__;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 10; i++) {
    gint64 stamp = numbered_stamp (i) - (i >= 5 ? back : 0);
    if (i == 4 || i == 5)
      push (pair, right_lacks == (i == 5),
          make_frame (right_lacks == (i == 5), i * FRAME + (right_lacks == (i == 5) ? FRAME : 0), UNIX, stamp));
    else
      push_numbered (pair, i, FRAME, stamp, stamp);
  }
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < 10; i++)
    if (i != 4 && i != 5)
      expect_pair (pair, i, 0);
  pair_wait_eos (pair);
  expect_drops (pair, 1, 1);
  expect_clock (pair, UNIX);
}

/* One view's clock jumps, and stays there. */
TEST_LOOP (test_one_clock_jumps, 0, 2)
{
  const gint64 by = (__i__ ? 5 : -3600) * (gint64) GST_SECOND;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  guint i;

  for (i = 0; i < 5; i++)
    push_numbered (pair, i, 3 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i) + GST_MSECOND);
  for (; i < 5 + 250; i++)
    push_numbered (pair, i, 3 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i) + by);
  for (i = 0; i < 5 + 250; i++)
    expect_pair (pair, i, GST_MSECOND);
  expect_clock (pair, UNIX);
  /* for ten seconds after its last stamp; the buffer timestamps tell then, and no frame is lost on the way */
  for (; i < 260; i++) {
    push_numbered (pair, i, 3 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i) + by);
    expect_pair (pair, i, 3 * GST_MSECOND);
  }
  expect_warning (pair->bus, UNIX, "s apart", "not of one clock", "pairing-clock=buffer", NULL);
  expect_clock (pair, "buffer");
  expect_drops (pair, 0, 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* Three hours apart from the start: the cameras' clocks were never set. */
TEST (test_clocks_that_were_never_set)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 5; i++) {
    push_numbered (pair, i, 2 * GST_MSECOND, numbered_stamp (i), (gint64) (i * FRAME));
    expect_pair (pair, i, 2 * GST_MSECOND);
  }
  expect_warning (pair->bus, UNIX, "not of one clock", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  /* until they are set */
  push_numbered (pair, 5, 2 * GST_MSECOND, numbered_stamp (5), numbered_stamp (5));
  expect_pair (pair, 5, 0);
  expect_clock (pair, UNIX);
}

/* A view loses its stamps. What they said before dates its frames for ten seconds. */
TEST_LOOP (test_stamps_are_lost, 0, 2)
{
  gboolean of_left = __i__;
  const guint lost = 5, end = lost + 250;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  guint i;

  for (i = 0; i < end; i++) {
    gboolean bare = i >= lost;
    push_numbered (pair, i, 100 * GST_MSECOND, bare && of_left ? NONE : numbered_stamp (i),
        bare && !of_left ? NONE : numbered_stamp (i) + GST_MSECOND);
    expect_pair (pair, i, GST_MSECOND);
  }
  expect_clock (pair, UNIX);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  /* now buffer timestamps: the right frame of this number is 100 ms late, and that of two numbers before 20 ms */
  for (; i < end + 6; i++)
    push_numbered (pair, i, 100 * GST_MSECOND, of_left ? NONE : numbered_stamp (i), of_left ? numbered_stamp (i) : NONE);
  expect_warning (
      pair->bus, of_left ? "sink_left" : "sink_right", "no capture timestamps", UNIX, "buffer timestamps pair", NULL);
  /* and the capture clock again once they are back */
  for (; i < end + 12; i++)
    push_numbered (pair, i, 100 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i));
  pair_eos (pair, TRUE, TRUE);
  for (;;) {
    GstBuffer *out = gst_harness_pull (pair->left);
    GstClockTime pts = GST_BUFFER_PTS (out);
    gint64 skew = gst_buffer_get_stereo_meta (out)->pair_skew;
    fail_unless (ABS (skew) <= 20 * (gint64) GST_MSECOND);
    gst_buffer_unref (out);
    if (pts == (end + 11) * FRAME)
      break;
  }
  pair_wait_eos (pair);
  expect_clock (pair, UNIX);
}

TEST_LOOP (test_references, 0, 6)
{
  static const struct
  {
    const gchar *left[2], *right[2], *clock;
  } cases[] = {
    { { UNIX, NULL }, { NTP, NULL }, "buffer" },
    { { UNIX, NULL }, { NULL, NULL }, "buffer" },
    { { NTP, UNIX }, { UNIX, NULL }, UNIX },
    { { NTP, UNIX }, { UNIX, NTP }, NTP },
    { { "timestamp/x-ptp, domain=(int)1", NULL }, { "timestamp/x-ptp, domain=(int)2", NULL }, "buffer" },
    { { "timestamp/x-ptp, domain=(int)1", NULL }, { "timestamp/x-ptp, domain=(int)1", NULL }, "timestamp/x-ptp" },
  };
  gboolean dated = !g_str_equal (cases[__i__].clock, "buffer");
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  for (guint i = 0; i < 4; i++) {
    for (guint v = 0; v < 2; v++) {
      const gchar *const *names = v ? cases[__i__].right : cases[__i__].left;
      GstBuffer *buffer = make_frame (v, i * FRAME + (v ? 3 * GST_MSECOND : 0), NULL, NONE);
      for (guint n = 0; n < 2 && names[n]; n++) {
        g_autoptr (GstCaps) caps = gst_caps_from_string (names[n]);
        gst_buffer_add_reference_timestamp_meta (
            buffer, caps, (GstClockTime) numbered_stamp (i) + (v ? GST_MSECOND : 0), GST_CLOCK_TIME_NONE);
      }
      push (pair, v, buffer);
    }
    expect_pair (pair, i, (dated ? 1 : 3) * (gint64) GST_MSECOND);
  }
  expect_clock (pair, cases[__i__].clock);
}

TEST_LOOP (test_mixed_frames, 0, 3)
{
  Random random = { random_seed () + (guint) __i__ };
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  /* any frame may lack its stamp; after a first pair by stamps no pair is torn, and none is 90 ms apart */
  for (guint i = 0; i < 60; i++) {
    gint64 left = !i || random_range (&random, 0, 2) ? numbered_stamp (i) : NONE;
    gint64 right = !i || random_range (&random, 0, 2) ? numbered_stamp (i) : NONE;
    push_numbered (pair, i, 90 * GST_MSECOND, left, right);
    expect_pair (pair, i, 0);
  }
  expect_drops (pair, 0, 0);
  expect_clock (pair, UNIX);
}

TEST (test_stamps_without_buffer_timestamps)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  /* the right view lacks frame 1 */
  for (guint i = 0; i < 4; i++) {
    push (pair, FALSE, make_frame (FALSE, GST_CLOCK_TIME_NONE, UNIX, numbered_stamp (i)));
    if (i != 1)
      push (pair, TRUE, make_frame (TRUE, GST_CLOCK_TIME_NONE, UNIX, numbered_stamp (i) + GST_MSECOND));
  }
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) out = pair_pull (pair, GST_CLOCK_TIME_NONE);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, GST_MSECOND);
  }
  pair_wait_eos (pair);
  expect_drops (pair, 1, 0);
}

TEST (test_gap_of_the_right_view)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  push_numbered (pair, 0, GST_SECOND, numbered_stamp (0), numbered_stamp (0));
  expect_pair (pair, 0, 0);
  /* no right frames 1 to 4 will come: in the timestamps of that view, which run late */
  for (guint i = 1; i < 5; i++) {
    gst_harness_push_event (pair->right, gst_event_new_gap (i * FRAME + GST_SECOND, FRAME));
    push (pair, FALSE, make_frame (FALSE, i * FRAME, UNIX, numbered_stamp (i)));
  }
  push_numbered (pair, 5, GST_SECOND, numbered_stamp (5), numbered_stamp (5));
  expect_pair (pair, 5, 0);
  expect_drops (pair, 4, 0);
}

TEST (test_backwards_and_flush)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT);
  GstSegment segment;

  push_numbered (pair, 0, 2 * GST_MSECOND, numbered_stamp (0), numbered_stamp (0));
  expect_pair (pair, 0, 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1;
  segment.stop = 10 * FRAME;
  pair_flush (pair, &segment);
  expect_clock (pair, "none");
  for (guint i = 9; i > 5; i--) {
    push_numbered (pair, i, 2 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i));
    /* later in the stream is earlier in running time */
    expect_pair (pair, i, -2 * (gint64) GST_MSECOND);
  }
  expect_clock (pair, "buffer");
}

/* Upstream takes every seek. */
static gboolean
accept_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event);
  return TRUE;
}

/* A source answers a seek with frame 0. Its stream had come to the running time @base. */
static void
push_answer (GstHarness *source, guint32 seqnum, GstClockTime base)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = base;
  GstEvent *event = gst_event_new_segment (&segment);
  gst_event_set_seqnum (event, seqnum);
  gst_harness_push_event (source, event);
}

/* The sources need not be at one place after a seek: what the stamps said before it dates no frame after it. */
TEST (test_seek_without_flush)
{
  GstEvent *seek = gst_event_new_seek (1, GST_FORMAT_TIME, 0, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1);
  guint32 seqnum = gst_event_get_seqnum (seek);
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  gst_pad_set_event_function (pair->left->srcpad, accept_event);
  gst_pad_set_event_function (pair->right->srcpad, accept_event);
  for (guint i = 0; i < 5; i++) {
    push_numbered (pair, i, 10 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i));
    expect_pair (pair, i, 0);
  }
  fail_unless (gst_harness_push_upstream_event (pair->left, seek));
  push_answer (pair->left, seqnum, 5 * FRAME);
  push_answer (pair->right, seqnum, 7 * FRAME);
  /* without stamps the buffer timestamps count, and those of the right view are late by something else now */
  for (guint i = 0; i < 3; i++) {
    push_numbered (pair, i, 3 * GST_MSECOND, NONE, NONE);
    expect_pair (pair, i, 3 * GST_MSECOND);
  }
  expect_clock (pair, "buffer");
  for (guint i = 3; i < 6; i++) {
    push_numbered (pair, i, 3 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i));
    expect_pair (pair, i, 0);
  }
  expect_clock (pair, UNIX);
  expect_drops (pair, 0, 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

SUITE (clock)
{
}
