/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* depthoverlay over time: which depth goes with which frame, its age, ends, gaps, flushes, how long a frame waits. */
#include <gst/check/gsttestclock.h>

#include "tests/gst/overlay/numbered_depth.h"
#include "tests/support/gst/suite.h"

/* What happens in an order, and what comes out. Times are ticks, numbers those of depths.
 *   L3     a live frame of time 3        D5@3   depth 5 of time 3; D5@3+7 lasts for 7
 *   =3:5   the frame of time 3 comes, with depth 5; =3:0 without
 *   G3+2   a gap of the depth, from 3 on for 2        g3   a gap of the live view, which comes out as one
 *   .      nothing comes out        F   a flush of the depth        E, e   the end of the depth, of the live view */
static const struct
{
  const gchar *properties, *events;
  gboolean ends; /* the output ends with that */
} orders[] = {
  /* either may come first */
  { "", "L0 D1@0 =0:1 D2@1 L1 =1:2 L2 D3@2 =2:3 D4@3 L3 =3:4 E e", TRUE },
  /* depth of every other frame: a depth of its own may still come, then it is kept for the next */
  { "", "D1@0 L0 =0:1 L1 . D2@2 =1:1 L2 =2:2 L3 . D3@4 =3:2 L4 =4:3 L5 . E =5:3 e", TRUE },
  /* at twice the rate: what is newer than the frame is left for the next one */
  { "", "L0 D1@0 =0:1 L1 D2@0.5 . D3@1 =1:3 L2 D4@1.5 . D5@2 =2:5", FALSE },
  /* always a little late in its timestamps: the one before is shown, never a newer one */
  { "", "L0 D1@0.15 =0:0 L1 D2@1.15 =1:1 L2 D3@2.15 =2:2", FALSE },
  /* the last depth is shown until it ends, and then what comes behind it counts */
  { "", "D1@0+6 L0 =0:1 L6 . D2@6 =6:2 D3@7+6 E L7 =7:3 L8 =8:3 L12 =12:3 L13 =13:3 L17 =17:3 e", TRUE },
  /* no depth for two frames: they need not wait for one. A gap of the live view waits for none */
  { "", "L0 D1@0 =0:1 G1+2 L1 =1:1 L2 D4@2.5 =2:1 g3 L4 D5@4 =4:5", FALSE },
  { "max-age=18446744073709551615", "L0 D3@0 =0:3 F L1 D9@2 =1:0 L2 =2:9", FALSE },
  /* the live view's end is the end */
  { "", "L0 D3@0 =0:3 e D4@1", TRUE },
};

static void
happen (Overlay *overlay, const gchar *event)
{
  gchar *rest;
  gdouble number = g_ascii_strtod (event + 1, &rest), then = 0, lasts = 1;
  GstClockTime time = (GstClockTime) (number * TICK);

  if (*rest)
    then = g_ascii_strtod (rest + 1, &rest);
  if (*rest)
    lasts = g_ascii_strtod (rest + 1, NULL);
  switch (*event) {
    case 'L':
      push_live (overlay, time);
      break;
    case 'D': {
      GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 100 * (guint) number);
      GST_BUFFER_DURATION (depth) = (GstClockTime) (lasts * TICK);
      overlay_push_depth (overlay, depth, (GstClockTime) (then * TICK));
      break;
    }
    case '=':
      expect_frame (overlay, time, then > 0 ? (gint) then : NO_DEPTH);
      break;
    case '.':
      fail_unless_equals_int (gst_harness_buffers_in_queue (overlay->live), 0);
      break;
    case 'G':
      fail_unless (gst_harness_push_event (overlay->depth, gst_event_new_gap (time, (GstClockTime) (then * TICK))));
      break;
    case 'g':
      fail_unless (gst_harness_push_event (overlay->live, gst_event_new_gap (time, TICK)));
      gst_event_unref (wait_for_event (overlay->live, GST_EVENT_GAP));
      break;
    case 'F':
      flush_stream (overlay->depth);
      break;
    default:
      overlay_eos (overlay, *event == 'e', *event == 'E');
  }
}

TEST_LOOP (test_orders, 0, G_N_ELEMENTS (orders))
{
  g_autoptr (Overlay) overlay = new_overlay (orders[__i__].properties);
  g_auto (GStrv) events = g_strsplit (orders[__i__].events, " ", -1);

  for (guint i = 0; events[i]; i++) {
    GST_DEBUG ("%s", events[i]);
    happen (overlay, events[i]);
  }
  if (orders[__i__].ends)
    overlay_wait_eos (overlay);
  overlay_expect_none (overlay, GST_MESSAGE_ERROR);
}

#define SHARE 6 /* live frames for a depth */

/* Depth that lasts for @duration. */
static void
push_long_depth (Overlay *overlay, gint number, GstClockTime pts, GstClockTime duration)
{
  GstBuffer *buffer = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 100 * (guint) number);

  GST_BUFFER_DURATION (buffer) = duration;
  overlay_push_depth (overlay, buffer, pts);
}

/* Depth of every sixth frame, and every one lasts for six, as behind a videorate: no live frame waits for the depth that comes
 * after its own. A source that feeds both pads would wait for this element meanwhile. Depth may be early by less than half a
 * frame, or late. */
TEST (test_depth_that_lasts)
{
  static const gint fifths[] = { 0, -2, 2, 0 }; /* of a live frame that depth is late */
  g_autoptr (Overlay) overlay = new_overlay ("");

  for (guint i = 0; i < SHARE * G_N_ELEMENTS (fifths); i++) {
    GstClockTime time = (i + 1) * TICK;
    gint number = (gint) (i / SHARE) + 1, late = fifths[i / SHARE];
    gboolean first = i % SHARE == 0;

    push_live (overlay, time);
    if (first) /* its live frame still waits for it */
      push_long_depth (overlay, number, (GstClockTime) ((gint64) time + late * (gint64) TICK / 5), SHARE * TICK);
    expect_frame (overlay, time, first && late > 0 ? number - 1 : number);
  }
  overlay_eos (overlay, TRUE, TRUE);
  overlay_wait_eos (overlay);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
}

TEST (test_without_timestamps)
{
  g_autoptr (Overlay) overlay = new_overlay ("");

  for (guint i = 0; i < 4; i++) {
    push_depth (overlay, (gint) i + 1, GST_CLOCK_TIME_NONE);
    push_live (overlay, GST_CLOCK_TIME_NONE);
    expect_frame (overlay, GST_CLOCK_TIME_NONE, (gint) i + 1);
  }
}

/* Depth is spoken of once; a frame without depth is, each time. */
static void
expect_posted (const GstStructure *posted, const gchar *state)
{
  fail_unless_equals_int (posted != NULL, state != NULL);
  if (posted)
    fail_unless_equals_string (gst_structure_get_string (posted, "state"), state);
}

TEST (test_stale_depth_is_not_shown)
{
  g_autoptr (Overlay) overlay = new_overlay ("max-age=100000000 message-interval=100000000");
  const GstClockTime times[] = { 0, 60, 100, 101, 150, 900 };

  push_depth (overlay, 5, 0);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    push_live (overlay, times[i] * GST_MSECOND);
    if (i == 1)
      push_depth (overlay, 9, GST_SECOND);
    expect_frame (overlay, times[i] * GST_MSECOND, times[i] <= 100 ? 5 : NO_DEPTH);
    g_autoptr (GstStructure) posted = overlay_nearest (overlay);
    /* of the same reason, after message-interval */
    expect_posted (posted, i == 0 ? "near" : times[i] <= 100 || times[i] == 150 ? NULL : "unknown");
  }
  push_live (overlay, GST_SECOND);
  expect_frame (overlay, GST_SECOND, 9);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING);
}

/* The notice is text, so the picture changes although there is no depth. */
TEST (test_stale_depth_is_unknown)
{
  g_autoptr (Overlay) overlay = overlay_new ("max-age=0", GST_VIDEO_FORMAT_GRAY8, 160, 120, "GRAY16_LE", 160, 120);
  GstBuffer *out, *plain;

  overlay_push_depth (overlay, new_depth (160, 120, GST_STEREO_OUTPUT_KIND_DEPTH, 100), 2 * TICK);
  for (guint i = 0; i < 2; i++) {
    overlay_push_live (overlay, plain_frame (&overlay->info, LIVE), i * TICK);
    out = overlay_pull (overlay, i * TICK);
    plain = plain_frame (&overlay->info, LIVE);
    fail_unless_equals_int (buffers_equal (plain, out), i != 0);
    gst_buffer_unref (plain);
    gst_buffer_unref (out);
    set_properties (overlay->element, "text=false");
  }
}

/* A live view without timestamps, depth without them, or both: what was shown before ages by the clock, or by the timestamps
 * that there are, and is not shown for ever. */
TEST_LOOP (test_untimed_depth_ages, 0, 3)
{
  GstClockTime depth = __i__ == 0 ? 0 : GST_CLOCK_TIME_NONE;
  g_autoptr (Overlay) overlay = new_overlay ("max-age=100000000 message-interval=0");
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  static const GstClockTime times[] = { 0, 60, 100, 101, 5000 };

  gst_element_set_clock (overlay->element, GST_CLOCK (clock));
  gst_element_set_base_time (overlay->element, 0);
  /* however late it comes, it is new */
  gst_test_clock_set_time (clock, GST_SECOND);
  push_depth (overlay, 5, depth);
  overlay_eos (overlay, FALSE, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    GstClockTime live = __i__ == 1 ? times[i] * GST_MSECOND : GST_CLOCK_TIME_NONE;

    gst_test_clock_set_time (clock, GST_SECOND + times[i] * GST_MSECOND);
    push_live (overlay, live);
    expect_frame (overlay, live, times[i] <= 100 ? 5 : NO_DEPTH);
    g_autoptr (GstStructure) posted = overlay_nearest (overlay);
    expect_posted (posted, i == 0 ? "near" : times[i] <= 100 ? NULL : "unknown");
  }
  gst_element_set_clock (overlay->element, NULL);
  gst_object_unref (clock);
}

TEST (test_depth_ends_early)
{
  g_autoptr (Overlay) overlay = new_overlay ("max-age=50000000");

  push_live (overlay, 0);
  push_depth (overlay, 3, 0);
  expect_frame (overlay, 0, 3);
  overlay_eos (overlay, FALSE, TRUE);
  for (guint i = 1; i < 6; i++) {
    push_live (overlay, i * TICK);
    expect_frame (overlay, i * TICK, i == 1 ? 3 : NO_DEPTH);
  }
  overlay_expect (overlay, GST_MESSAGE_WARNING, "sink_depth ended", NULL);
  overlay_expect_none (overlay, GST_MESSAGE_WARNING);
  overlay_eos (overlay, TRUE, FALSE);
  overlay_wait_eos (overlay);
}

/* ---- live -------------------------------------------------------------------------------- */

typedef struct
{
  GstPad *pad;
  gint answered; /* atomic */
} Question;

static gpointer
ask_for_memory (gpointer data)
{
  Question *question = data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (question->pad);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, TRUE);

  if (gst_pad_peer_query (question->pad, query) && gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    g_atomic_int_set (&question->answered, TRUE);
  return NULL;
}

/* One thread may feed both pads, and ask on one of them while the other's frame is waited for. */
TEST (test_memory_is_spoken_of_while_a_frame_waits)
{
  g_autoptr (Overlay) overlay = new_overlay ("");
  Question question = { overlay->live->srcpad, FALSE };

  push_live (overlay, 0);
  GThread *thread = g_thread_new ("asks", ask_for_memory, &question);
  for (guint i = 0; i < 1000 && !g_atomic_int_get (&question.answered); i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (&question.answered));
  g_thread_join (thread);
  push_depth (overlay, 3, 0);
  expect_frame (overlay, 0, 3);
}

/* The age counts from the capture to now, or to when the picture is shown, which is later here by the latency. */
TEST (test_age_counts_to_now)
{
  static const guint late[] = { 0, 3 }; /* s */

  for (guint i = 0; i < G_N_ELEMENTS (late); i++) {
    g_autoptr (Overlay) overlay = new_overlay ("");
    guint64 age = 0;

    gst_harness_set_live (overlay->live, TRUE);
    gst_harness_set_live (overlay->depth, TRUE);
    gst_harness_set_upstream_latency (overlay->live, 0);
    gst_harness_set_upstream_latency (overlay->depth, 40 * GST_MSECOND);
    gst_harness_set_time (overlay->depth, late[i] * GST_SECOND);
    push_depth (overlay, 3, 0);
    push_live (overlay, 0);
    expect_frame (overlay, 0, late[i] ? NO_DEPTH : 3);
    g_autoptr (GstStructure) posted = overlay_nearest (overlay);
    fail_unless (posted && gst_structure_get_uint64 (posted, "age", &age));
    fail_unless_equals_uint64 (age, late[i] ? late[i] * GST_SECOND : 40 * GST_MSECOND + GST_SECOND / 30);
    expect_posted (posted, late[i] ? "unknown" : "near");
  }
}

/* A frame waits for its depth until the latency is over, and no longer. */
TEST (test_live_frames_do_not_wait_for_ever)
{
  g_autoptr (Overlay) overlay = new_overlay ("");

  gst_harness_set_live (overlay->live, TRUE);
  gst_harness_set_live (overlay->depth, TRUE);
  gst_harness_set_upstream_latency (overlay->live, 0);
  gst_harness_set_upstream_latency (overlay->depth, 40 * GST_MSECOND);
  push_live (overlay, 0);
  push_depth (overlay, 3, 0);
  expect_frame (overlay, 0, 3);
  /* the slower of the two, and a frame */
  GstClockTime latency = gst_harness_query_latency (overlay->live);
  fail_unless_equals_uint64 (latency, 40 * GST_MSECOND + GST_SECOND / 30);
  push_live (overlay, GST_SECOND);
  fail_unless_equals_int (gst_harness_buffers_in_queue (overlay->live), 0);
  /* its deadline: time passes on the test clock alone */
  fail_unless (gst_harness_crank_single_clock_wait (overlay->depth));
  expect_frame (overlay, GST_SECOND, NO_DEPTH);
  push_live (overlay, GST_SECOND + TICK);
  push_depth (overlay, 4, GST_SECOND + TICK);
  expect_frame (overlay, GST_SECOND + TICK, 4);
}

SUITE (overlay_times)
{
}
