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

/* A stretch of a stream: which stamps it has. */
typedef struct
{
  guint until;        /* the number of the first frame that is not part of it; 0 = there is no such stretch */
  gint64 left, right; /* by which the stamps are off, ns; or NONE */
  gint64 skew;        /* of its pairs */
  const gchar *clock; /* which pairs them */
} Stretch;

#define MS ((gint64) GST_MSECOND)
#define HOURS (3600 * (gint64) GST_SECOND)

static const struct
{
  gint64 late;          /* by which the right view's buffer timestamps are too large */
  Stretch stretches[4]; /* the last one is empty */
  const gchar *said;
} streams[] = {
  /* capture stamps pair, whatever the buffer timestamps are */
  { 0, { { 6, 0, MS, MS, UNIX } } },
  { 13 * MS, { { 6, 0, MS, MS, UNIX } } },
  { 130 * MS, { { 6, 0, MS, MS, UNIX } } },
  { 3000 * MS, { { 6, 0, MS, MS, UNIX } } },
  { HOURS, { { 6, 0, MS, MS, UNIX } } },
  /* both clocks are set back by an hour, or wrap, at the same number */
  { FRAME, { { 5, 0, 0, 0, UNIX }, { 10, -HOURS, -HOURS, 0, UNIX } } },
  /* buffer timestamps pair where one view has no stamps, or its clock has jumped */
  { 3 * MS, { { 5, 0, MS, MS, UNIX }, { 10, NONE, MS, 3 * MS, "buffer" }, { 15, 0, MS, MS, UNIX } } },
  { 3 * MS, { { 5, 0, MS, MS, UNIX }, { 10, 0, NONE, 3 * MS, "buffer" }, { 15, 0, MS, MS, UNIX } } },
  { 3 * MS, { { 5, 0, MS, MS, UNIX }, { 10, 0, MS + 11000 * MS, 3 * MS, "buffer" }, { 15, 0, MS, MS, UNIX } },
      "pairing-clock=buffer" },
  { 3 * MS, { { 5, 0, MS, MS, UNIX }, { 10, 0, MS - HOURS, 3 * MS, "buffer" }, { 15, 0, MS, MS, UNIX } },
      "pairing-clock=buffer" },
  /* the cameras' clocks were never set, until they are */
  { 2 * MS, { { 5, 0, -EPOCH, 2 * MS, "buffer" }, { 6, 0, 0, 0, UNIX } }, "not of one clock" },
};

TEST_LOOP (test_streams, 0, G_N_ELEMENTS (streams))
{
  const Stretch *stretch = streams[__i__].stretches;
  g_autoptr (Pair) pair = pair_new_gray (EXACT);

  expect_clock (pair, "none");
  for (guint i = 0; stretch->until; i++) {
    gint64 time = numbered_stamp (i);
    push_numbered (pair, i, (GstClockTime) streams[__i__].late, stretch->left == NONE ? NONE : time + stretch->left,
        stretch->right == NONE ? NONE : time + stretch->right);
    g_autoptr (GstBuffer) out = pair_pull (pair, i * FRAME);
    fail_unless_equals_int64 (gst_buffer_get_stereo_meta (out)->pair_skew, stretch->skew);
    expect_clock (pair, stretch->clock);
    /* the output was taken when the left frame was */
    GstReferenceTimestampMeta *kept = gst_buffer_get_reference_timestamp_meta (out, NULL);
    fail_unless (stretch->left == NONE || (kept && (gint64) kept->timestamp == time + stretch->left));
    stretch += i + 1 == stretch->until;
  }
  expect_drops (pair, 0, 0);
  if (streams[__i__].said)
    expect_warning (pair->bus, UNIX, "s apart", "not of one clock", streams[__i__].said, NULL);
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

/* The left camera starts a frame late: the first right frame is within max-skew, the next one is nearer. */
TEST (test_the_next_stamp_may_be_nearer)
{
  g_autoptr (Pair) pair = pair_new_gray (EXACT "max-skew=100000000");

  push (pair, TRUE, make_frame (TRUE, 130 * GST_MSECOND, UNIX, numbered_stamp (0)));
  for (guint i = 1; i < 3; i++)
    push_numbered (pair, i, 130 * GST_MSECOND, numbered_stamp (i), numbered_stamp (i));
  pair_eos (pair, TRUE, TRUE);
  for (guint i = 1; i < 3; i++)
    expect_pair (pair, i, 0);
  pair_wait_eos (pair);
  expect_drops (pair, 0, 1);
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

SUITE (clock)
{
}
