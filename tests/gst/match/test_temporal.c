/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a stream breaks, the frames before have no part in those after; where it goes on, they have. */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define SETTINGS "num-disparities=12 window=5 refine-iterations=0 fill=keep backend=cpu threads=1 "
#define BEFORE 6 /* frames ahead of the break */

/* Frame @number of a view that stands still, with noise of its own. */
static void
push_view (GstHarness *harness, GstVideoFormat format, gint view, guint number, GstClockTime pts, gboolean discont)
{
  GstBuffer *buffer = make_view (format, VIEW_WIDTH, VIEW_HEIGHT, 1, view ? SHIFT : 0, 0);
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

/* What comes out for a frame. */
static GstBuffer *
compute (Pair *pair, GstVideoFormat format, guint number, GstClockTime pts, gboolean discont)
{
  push_view (pair->left, format, 0, number, pts, discont);
  push_view (pair->right, format, 1, number, pts, FALSE);
  return pair_pull (pair, pts);
}

/* The same, where the right frame has to wait: the left frame before has no partner. */
static GstBuffer *
compute_waiting (Pair *pair, GstVideoFormat format, guint number, GstClockTime pts)
{
  guint64 dropped = stat_of (pair->element, "dropped-left");

  push_view (pair->right, format, 1, number, pts, FALSE);
  push_view (pair->left, format, 0, 99, pts - 2 * FRAME, FALSE);
  while (stat_of (pair->element, "dropped-left") == dropped)
    g_thread_yield ();
  push_view (pair->left, format, 0, number, pts, FALSE);
  return pair_pull (pair, pts);
}

typedef enum
{
  NOTHING,
  SHORT_PAUSE,
  WAITING,
  OFF,
  /* from here on, the stream breaks */
  PAUSE,
  DISCONT,
  GAP,
  GAP_AND_WAITING,
  FLUSH,
  CAPS,
  PARAMETERS
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

static void
run (Break kind)
{
  g_autoptr (Pair) pair = pair_new_gray (kind == OFF ? SETTINGS "temporal=0" : SETTINGS "temporal=1");
  g_autoptr (Pair) alone = pair_new_gray (kind == OFF ? SETTINGS "temporal=0" : SETTINGS "temporal=1");
  GstClockTime pts = 0;
  g_autoptr (GstBuffer) got = NULL, want = NULL;

  for (guint number = 0; number < BEFORE; number++, pts += FRAME)
    gst_buffer_unref (compute (pair, GST_VIDEO_FORMAT_GRAY8, number, pts, FALSE));
  make_break (pair, kind, &pts);
  if (kind == WAITING || kind == GAP_AND_WAITING)
    got = compute_waiting (pair, GST_VIDEO_FORMAT_GRAY8, BEFORE, pts);
  else
    got = compute (pair, GST_VIDEO_FORMAT_GRAY8, BEFORE, pts, kind == DISCONT);
  want = compute (alone, GST_VIDEO_FORMAT_GRAY8, BEFORE, pts, FALSE);
  fail_unless_equals_int (buffers_equal (got, want), kind >= OFF);
}

static const Break breaks[] = { NOTHING, SHORT_PAUSE, WAITING, OFF, PAUSE, DISCONT, GAP, GAP_AND_WAITING, FLUSH, CAPS,
  PARAMETERS };

TEST_LOOP (test_breaks, 0, G_N_ELEMENTS (breaks))
{
  run (breaks[__i__]);
}

/* The same frames give the same bits, also with pairs in flight. */
TEST (test_repeats)
{
  g_autoptr (Pair) one = pair_new_gray (SETTINGS "temporal=0.75"),
                   other = pair_new_gray (SETTINGS "temporal=0.75 threads=3");

  for (guint number = 0; number < 12; number++) {
    g_autoptr (GstBuffer) a = compute (one, GST_VIDEO_FORMAT_GRAY8, number, number * FRAME, FALSE);
    g_autoptr (GstBuffer) b = compute (other, GST_VIDEO_FORMAT_GRAY8, number, number * FRAME, FALSE);
    fail_unless (buffers_equal (a, b), "frame %u differs", number);
  }
}

SUITE (temporal)
{
}
