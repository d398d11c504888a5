/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cameras have stopped without a word: the rules, and the messages of the element on a pad with both views, by a
 * clock that the test moves.
 */
#include "gst/pairing/silence.h"

#include <gst/check/gsttestclock.h>

#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define INTERVAL (100 * GST_MSECOND)

typedef struct
{
  GstStereoSilence silence;
  GstStereoActivity activity[2];
  guint count;
  GString *reported; /* "R2.0": the right view is silent for 2 s; "r2.3": it is back */
} Watch;

/* So many observations, in which a frame comes on the views of the bits @sends. Returns what is reported. */
static const gchar *
watch (Watch *watch, guint count, guint sends)
{
  g_string_truncate (watch->reported, 0);
  for (guint n = 0; n < count; n++) {
    GstStereoSilenceFinding findings[2] = { 0 };

    for (guint i = 0; i < watch->count; i++)
      watch->activity[i].received += sends >> i & 1;
    gst_stereo_silence_add (&watch->silence, watch->count, watch->activity, INTERVAL, findings);
    for (guint i = 0; i < 2; i++)
      if (findings[i].silent || findings[i].back)
        g_string_append_printf (watch->reported, "%c%s%.1f ", "LRlr"[i + 2 * findings[i].back],
            findings[i].never ? "-" : "", (gdouble) findings[i].time / GST_SECOND);
  }
  return watch->reported->str;
}

static Watch
watch_new (guint count)
{
  return (Watch){ .count = count, .reported = g_string_new (NULL) };
}

TEST (test_one_of_two)
{
  Watch w = watch_new (2);

  fail_unless_equals_string (watch (&w, 100, 3), "");
  fail_unless_equals_string (watch (&w, 19, 1), "");
  fail_unless_equals_string (watch (&w, 1, 1), "R2.0 ");
  fail_unless_equals_string (watch (&w, 100, 1), "");
  fail_unless_equals_string (watch (&w, 1, 3), "r12.1 ");
  /* the other one, and then this one too */
  fail_unless_equals_string (watch (&w, 20, 2), "L2.0 ");
  fail_unless_equals_string (watch (&w, 20, 0), "R2.0 ");
  fail_unless_equals_string (watch (&w, 1, 3), "l4.1 r2.1 ");
  g_string_free (w.reported, TRUE);
}

/* Cameras that start late are not silent, unless one of them has started. */
TEST (test_never_heard)
{
  Watch w = watch_new (2);

  fail_unless_equals_string (watch (&w, 100, 0), "");
  fail_unless_equals_string (watch (&w, 19, 2), "");
  fail_unless_equals_string (watch (&w, 1, 2), "L-12.0 ");
  g_string_free (w.reported, TRUE);
  w = watch_new (1);
  fail_unless_equals_string (watch (&w, 100, 0), "");
  g_string_free (w.reported, TRUE);
}

/* Both stop, one 0.3 s after the other: one report for both, as soon as one of them is reported. */
TEST (test_both)
{
  Watch w = watch_new (2);

  watch (&w, 10, 3);
  fail_unless_equals_string (watch (&w, 3, 2), "");
  fail_unless_equals_string (watch (&w, 17, 0), "L2.0 R1.7 ");
  fail_unless_equals_string (watch (&w, 50, 0), "");
  fail_unless_equals_string (watch (&w, 1, 1), "l7.1 ");
  fail_unless_equals_string (watch (&w, 1, 3), "r6.9 ");
  g_string_free (w.reported, TRUE);
}

/* An end is no silence, nor is upstream that waits in the pad; a pause does not count. */
TEST (test_what_is_no_silence)
{
  Watch w = watch_new (2);

  watch (&w, 10, 3);
  w.activity[0].over = TRUE;
  fail_unless_equals_string (watch (&w, 50, 2), "");
  w.activity[0].over = FALSE;
  w.activity[1].receiving = TRUE;
  fail_unless_equals_string (watch (&w, 50, 1), "");
  w.activity[1].receiving = FALSE;
  fail_unless_equals_string (watch (&w, 15, 0), "");
  gst_stereo_silence_resume (&w.silence);
  fail_unless_equals_string (watch (&w, 19, 0), "");
  gst_stereo_silence_reset (&w.silence, w.activity, FALSE);
  fail_unless_equals_string (watch (&w, 19, 0), "");
  fail_unless_equals_string (watch (&w, 1, 0), "L2.0 R2.0 ");
  gst_stereo_silence_reset (&w.silence, w.activity, TRUE);
  fail_unless_equals_string (watch (&w, 50, 0), "");
  g_string_free (w.reported, TRUE);
}

/* ---- the element ------------------------------------------------------------------------- */

/* Lets the time of an observation pass. Others wait for the clock too. */
static void
let_observe (GstTestClock *clock)
{
  GstClockTime end = gst_clock_get_time (GST_CLOCK (clock)) + INTERVAL;
  gboolean before = TRUE;

  while (before) {
    GstClockID id;

    gst_test_clock_wait_for_next_pending_id (clock, &id);
    before = gst_clock_id_get_time (id) <= end;
    gst_clock_id_unref (id);
    if (before)
      gst_test_clock_crank (clock);
  }
  gst_test_clock_set_time (clock, end);
}

/* Observes until there is such a message; returns how often. While the element's thread is not back from pushing,
 * observations do not count. */
static guint
observe_until (GstTestClock *clock, GstBus *bus, GstMessageType type)
{
  GstMessage *message = NULL;
  guint count = 0;

  while (!message) {
    let_observe (clock);
    count++;
    g_thread_yield ();
    message = gst_bus_pop_filtered (bus, type);
  }
  gst_bus_post (bus, message);
  return count;
}

static void
expect_back (GstTestClock *clock, GstBus *bus)
{
  GError *info = NULL;

  observe_until (clock, bus, GST_MESSAGE_INFO);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_INFO);
  gst_message_parse_info (message, &info, NULL);
  fail_unless (g_str_has_prefix (info->message, "sink is back after "), "%s", info->message);
  g_clear_error (&info);
}

TEST (test_a_pad_with_both_views)
{
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstBus *bus;

  gst_system_clock_set_default (GST_CLOCK (clock));
  GstHarness *harness = packed_new (EXACT, &bus);
  harness_set_caps (
      harness, GST_VIDEO_FORMAT_GRAY8, 2 * VIEW_WIDTH, VIEW_HEIGHT, "multiview-mode=side-by-side," NO_FLAGS);
  for (guint turn = 0; turn < 2; turn++) {
    GstBuffer *out;

    for (guint n = 0; n < 3; n++) {
      gst_harness_push (harness,
          stamp (make_packed (GST_VIDEO_FORMAT_GRAY8, "side-by-side", VIEW_WIDTH, VIEW_HEIGHT, n + 1, FALSE),
              (3 * turn + n) * FRAME, FRAME));
      out = gst_harness_pull (harness);
      fail_unless (out != NULL);
      gst_buffer_unref (out);
    }
    if (turn)
      expect_back (clock, bus);
    fail_unless (observe_until (clock, bus, GST_MESSAGE_WARNING) >= 20);
    expect_warning (bus, "sink has been silent for 2.0 s", NULL);
    for (guint n = 0; n < 50; n++)
      let_observe (clock);
    expect_no_message (bus, GST_MESSAGE_WARNING);
  }
  filter_free (harness, bus);
  gst_system_clock_set_default (NULL);
  gst_object_unref (clock);
}

SUITE (silence_rules)
{
}
