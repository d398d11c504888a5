/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a stream breaks, the frames before have no part in those after; where it goes on, they have. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define SETTINGS "num-disparities=12 window=5 refine-iterations=0 fill=keep backend=cpu threads=1 "
#define BEFORE 6 /* frames ahead of the break */

/* Frame @number of a view that stands still, with noise of its own. */
static void
push_view (GstHarness *harness, gint view, guint number, GstClockTime pts, gboolean discont)
{
  GstBuffer *buffer = make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, view ? SHIFT : 0, 0);
  guint32 state = 77 + 2 * number + view;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  for (gsize i = 0; i < map.size; i++) {
    gint value = map.data[i] * 3 / 4 + 32;
    state = state * 1664525u + 1013904223u;
    map.data[i] = (guint8) (value + (gint) (state >> 24) % 9 - 4);
  }
  gst_buffer_unmap (buffer, &map);
  if (discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (harness, stamp (buffer, pts, FRAME)), GST_FLOW_OK);
}

static void
push_pair (Pair *pair, guint number, GstClockTime pts, gboolean discont, gboolean discont_right)
{
  push_view (pair->left, 0, number, pts, discont);
  push_view (pair->right, 1, number, pts, discont_right);
}

/* What comes out for a frame. */
static GstBuffer *
compute (Pair *pair, guint number, GstClockTime pts)
{
  push_pair (pair, number, pts, FALSE, FALSE);
  return pair_pull (pair, pts);
}

/* The same, where the right frame has to wait: the left frame before has no partner. */
static GstBuffer *
compute_waiting (Pair *pair, guint number, GstClockTime pts)
{
  guint64 dropped = stat_of (pair->element, "dropped-left");

  push_view (pair->right, 1, number, pts, FALSE);
  push_view (pair->left, 0, 99, pts - 2 * FRAME, FALSE);
  while (stat_of (pair->element, "dropped-left") == dropped)
    g_thread_yield ();
  push_view (pair->left, 0, number, pts, FALSE);
  return pair_pull (pair, pts);
}

typedef enum
{
  NOTHING,
  SHORT_PAUSE,
  WAITING,
  SAME_TIME, /* as of sources whose timestamps are coarse */
  OFF,
  /* from here on, the stream breaks */
  PAUSE,
  BACKWARDS,
  DISCONT,
  DISCONT_RIGHT,
  DISCONT_DROPPED, /* before a pair that is late */
  GAP,
  GAP_AND_WAITING,
  FLUSH,
  CAPS,
  PARAMETERS,
  BREAKS
} Break;

static void
set_caps (Pair *pair, const gchar *extra)
{
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, extra);
}

/* Breaks the stream at *@pts. */
static void
make_break (Pair *pair, Break kind, GstClockTime *pts)
{
  switch (kind) {
    case SAME_TIME:
      *pts -= FRAME;
      break;
    case BACKWARDS:
      *pts -= 3 * FRAME;
      break;
    case DISCONT_DROPPED:
      /* nothing before half a frame later is wanted */
      gst_harness_push_upstream_event (
          pair->left, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.5, FRAME + FRAME / 4, *pts - 2 * FRAME));
      push_pair (pair, 98, *pts, TRUE, FALSE);
      *pts += FRAME;
      break;
    case SHORT_PAUSE:
      *pts += 300 * GST_MSECOND;
      break;
    case PAUSE:
      *pts += 700 * GST_MSECOND;
      break;
    case GAP:
      pair_push_event (pair, gst_event_new_gap (*pts, FRAME));
      *pts += FRAME;
      break;
    case GAP_AND_WAITING:
      gst_harness_push_event (pair->right, gst_event_new_gap (*pts, 4 * FRAME));
      *pts += 4 * FRAME;
      break;
    case WAITING:
      *pts += 4 * FRAME;
      break;
    case FLUSH:
      pair_flush (pair, NULL);
      break;
    case CAPS:
      set_caps (pair, "pixel-aspect-ratio=2/1");
      break;
    case PARAMETERS:
      g_object_set (pair->element, "speckle-range", 2.0, NULL);
      break;
    default:
      break;
  }
}

TEST_LOOP (test_breaks, 0, BREAKS)
{
  const Break kind = (Break) __i__;
  g_autoptr (Pair) pair = pair_new_gray (kind == OFF ? SETTINGS "temporal=0" : SETTINGS "temporal=1");
  g_autoptr (Pair) alone = pair_new_gray (kind == OFF ? SETTINGS "temporal=0" : SETTINGS "temporal=1");
  GstClockTime pts = 0;

  for (guint number = 0; number < BEFORE; number++, pts += FRAME)
    gst_buffer_unref (compute (pair, number, pts));
  make_break (pair, kind, &pts);
  for (guint number = BEFORE; number < BEFORE + 2; number++, pts += FRAME) {
    g_autoptr (GstBuffer) got = NULL, want = compute (alone, number, pts);

    if (number == BEFORE && (kind == WAITING || kind == GAP_AND_WAITING)) {
      got = compute_waiting (pair, number, pts);
    } else {
      push_pair (pair, number, pts, number == BEFORE && kind == DISCONT, number == BEFORE && kind == DISCONT_RIGHT);
      got = pair_pull (pair, pts);
    }
    /* the frame behind has a history again */
    if (number == BEFORE || kind >= OFF)
      fail_unless_equals_int (buffers_equal (got, want), kind >= OFF);
  }
}

/* The same frames give the same bits, also with pairs in flight. */
TEST (test_repeats)
{
  g_autoptr (Pair) one = pair_new_gray (SETTINGS "temporal=0.75"),
                   other = pair_new_gray (SETTINGS "temporal=0.75 threads=3");

  for (guint number = 0; number < 12; number++) {
    g_autoptr (GstBuffer) a = compute (one, number, number * FRAME);
    g_autoptr (GstBuffer) b = compute (other, number, number * FRAME);
    fail_unless (buffers_equal (a, b), "frame %u differs", number);
  }
}

SUITE (temporal)
{
}
