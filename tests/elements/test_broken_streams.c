/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One fault at a time, as cameras and cables make them; test_episodes mixes them. What must hold in every case is in
 * stream_judge.c; here is what is to come out besides.
 */
#include <gst/check/gsttestclock.h>

#include "guard.h"
#include "numbered.h"
#include "stream_rig.h"

#define COUNT 40
#define AT(n) ((GstClockTime) (10 + (n)) * SCRIPT_FRAME)
#define NONE GST_CLOCK_TIME_NONE

typedef struct {
  const gchar *name;
  void (*write) (Script *script);
  guint pairs;       /* that come out */
  guint left, right; /* that are dropped */
} Case;

static void
begin (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    script_caps (script, view, NUMBERED_WIDTH);
    script_segment (script, view, 0);
  }
}

static void
frames (Script *script, guint view, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    script_frame (script, view, i, AT (i));
}

static void
nothing_wrong (Script *script)
{
  frames (script, 0, 0, COUNT);
  frames (script, 1, 0, COUNT);
}

static void
dropped_left (Script *script)
{
  for (guint i = 0; i < COUNT; i++)
    if (i % 4)
      script_frame (script, 0, i, AT (i));
  frames (script, 1, 0, COUNT);
}

static void
dropped_on_both (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    if (i % 4)
      script_frame (script, 0, i, AT (i));
    if (i % 5)
      script_frame (script, 1, i, AT (i));
  }
}

static void
repeated_right (Script *script)
{
  frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++)
    for (guint k = 0; k < (i % 3 ? 1u : 3u); k++)
      script_frame (script, 1, i, AT (i));
}

/* The second one of each goes with the other camera's second one. */
static void
repeated_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++)
    for (guint i = 0; i < COUNT; i++) {
      script_frame (script, view, i, AT (i));
      script_frame (script, view, i, AT (i));
    }
}

/* 0 2 1 3: of the two in the middle one still finds its partner. */
static void
reordered_right (Script *script)
{
  script->faults[FAULT_REORDER]++;
  frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++) {
    guint n = i % 4 == 1 ? i + 1 : i % 4 == 2 ? i - 1 : i;
    script_frame (script, 1, n, AT (n));
  }
}

static void
reordered_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++)
    for (guint i = 0; i < COUNT; i++) {
      guint n = i % 4 == 1 ? i + 1 : i % 4 == 2 ? i - 1 : i;
      script_frame (script, view, n, AT (n));
    }
}

static void
jitter (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    script_frame (script, 0, i, AT (i) + i * 7919 % 9000 * GST_USECOND);
    script_frame (script, 1, i, AT (i) - i * 104729 % 9000 * GST_USECOND);
  }
}

/* The right camera is a quarter of a frame behind throughout. */
static void
offset (Script *script)
{
  frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++)
    script_frame (script, 1, i, AT (i) + SCRIPT_FRAME / 4);
}

/* Without a word: the timestamps leap by five seconds. */
static void
stall (Script *script, guint view)
{
  frames (script, !view, 0, 165);
  frames (script, view, 0, 20);
  frames (script, view, 145, 165);
}

static void
stall_left (Script *script)
{
  stall (script, 0);
}

static void
stall_right (Script *script)
{
  stall (script, 1);
}

static void
stall_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    frames (script, view, 0, 20);
    frames (script, view, 145, 165);
  }
}

static void
gap_left (Script *script)
{
  frames (script, 0, 0, 10);
  script_gap (script, 0, AT (10), 5 * SCRIPT_FRAME);
  frames (script, 0, 15, COUNT);
  frames (script, 1, 0, COUNT);
}

static void
gap_right (Script *script)
{
  frames (script, 0, 0, COUNT);
  frames (script, 1, 0, 10);
  for (guint i = 10; i < 15; i++)
    script_gap (script, 1, AT (i), SCRIPT_FRAME);
  frames (script, 1, 15, COUNT);
}

/* Both clocks go back by eight frames at once: frames that are not of one moment have the same time, but never meet. */
static void
jump_on_both (Script *script)
{
  for (guint view = 0; view < 2; view++) {
    frames (script, view, 0, 20);
    for (guint i = 20; i < COUNT; i++)
      script_frame (script, view, i, AT (i - 8));
  }
}

/* One clock goes back by two frames: from there on the timestamps lie, and are believed. */
static void
jump_right (Script *script)
{
  script->truthful = FALSE;
  frames (script, 0, 0, COUNT);
  frames (script, 1, 0, 20);
  for (guint i = 20; i < COUNT; i++)
    script_frame (script, 1, i, AT (i - 2));
}

static void
no_timestamps (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    script_frame (script, 0, i, NONE);
    script_frame (script, 1, i, NONE);
  }
}

static void
no_timestamps_right (Script *script)
{
  frames (script, 0, 0, COUNT);
  for (guint i = 0; i < COUNT; i++)
    script_frame (script, 1, i, NONE);
}

static void
caps (Script *script, guint first)
{
  /* one pad is told early, while its frames of the old size still wait on the other */
  for (guint k = 0; k < 2; k++) {
    guint view = k ? !first : first;
    frames (script, view, 0, 20);
    if (k)
      script_event (script, view);
    script_caps (script, view, NUMBERED_WIDTH + 8);
    frames (script, view, 20, COUNT);
  }
}

static void
caps_left_first (Script *script)
{
  caps (script, 0);
}

static void
caps_right_first (Script *script)
{
  caps (script, 1);
}

/* The new size begins three frames earlier on one pad, and those are lost on the other. */
static void
caps_and_loss (Script *script)
{
  frames (script, 0, 0, 17);
  script_caps (script, 0, NUMBERED_WIDTH + 8);
  frames (script, 0, 20, COUNT);
  frames (script, 1, 0, 20);
  script_caps (script, 1, NUMBERED_WIDTH + 8);
  frames (script, 1, 20, COUNT);
}

static void
segments (Script *script)
{
  for (guint i = 0; i < COUNT; i++) {
    guint part = i / 8;
    if (i % 8 == 0)
      script_segment (script, 1, part * 100 * GST_SECOND);
    script_frame (script, 0, i, AT (i));
    script_frame (script, 1, i, part * 100 * GST_SECOND + AT (i));
  }
}

static void
left_ends_early (Script *script)
{
  frames (script, 0, 0, 25);
  frames (script, 1, 0, COUNT);
}

static void
right_ends_early (Script *script)
{
  frames (script, 0, 0, COUNT);
  frames (script, 1, 0, 25);
}

static void
right_sends_nothing (Script *script)
{
  frames (script, 0, 0, 20);
}

static const Case cases[] = {
  { "nothing wrong", nothing_wrong, 40, 0, 0 },
  { "frames dropped on the left", dropped_left, 30, 0, 10 },
  { "frames dropped on both", dropped_on_both, 24, 6, 8 },
  { "frames repeated on the right", repeated_right, 40, 0, 28 },
  { "frames repeated on both", repeated_on_both, 80, 0, 0 },
  { "frames reordered on the right", reordered_right, 30, 10, 10 },
  { "frames reordered on both", reordered_on_both, 40, 0, 0 },
  { "jitter", jitter, 40, 0, 0 },
  { "a constant offset", offset, 40, 0, 0 },
  { "the left camera stops for 5 s", stall_left, 40, 0, 125 },
  { "the right camera stops for 5 s", stall_right, 40, 125, 0 },
  { "both cameras stop for 5 s", stall_on_both, 40, 0, 0 },
  { "GAP events on the left", gap_left, 35, 0, 5 },
  { "GAP events on the right", gap_right, 35, 5, 0 },
  { "both clocks jump back", jump_on_both, 40, 0, 0 },
  { "the right clock jumps back", jump_right, 38, 2, 2 },
  { "no timestamps", no_timestamps, 40, 0, 0 },
  { "no timestamps on the right", no_timestamps_right, 40, 0, 0 },
  { "the left caps change first", caps_left_first, 40, 0, 0 },
  { "the right caps change first", caps_right_first, 40, 0, 0 },
  { "frames are lost where the caps change", caps_and_loss, 37, 0, 3 },
  { "another segment every 8 frames", segments, 40, 0, 0 },
  { "the left view ends early", left_ends_early, 25, 0, 15 },
  { "the right view ends early", right_ends_early, 25, 15, 0 },
  { "the right camera sends nothing", right_sends_nothing, 0, 20, 0 },
};

static void
judge (Rig *rig, const Case *one, const gchar *how, gchar *failure)
{
  guint left = (guint) rig_count (rig, "dropped-left"), right = (guint) rig_count (rig, "dropped-right");

  fail_unless (failure == NULL, "%s, %s: %s", one->name, how, failure);
  fail_unless (rig->outputs == one->pairs && left == one->left && right == one->right,
      "%s, %s: %u pairs, %u left and %u right frames dropped; to be %u, %u and %u", one->name, how, rig->outputs, left,
      right, one->pairs, one->left, one->right);
}

static void
run (const Case *one, gboolean live)
{
  const gchar *how = live ? "live" : "not live";
  Script *script = script_new (NULL);
  gchar *leaked, *failure;
  Rig *rig;

  guard_begin (one->name, 30);
  guard_count_objects ();
  begin (script);
  one->write (script);
  script_end (script);
  rig = rig_new (script, NULL, live);
  rig_play (rig);
  failure = rig_end (rig);
  judge (rig, one, how, failure);
  rig_free (rig);
  leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s, %s, leaks: %s", one->name, how, leaked);
  guard_end ();
}

static void
warm_up (void)
{
  Script *script = script_new (NULL);
  Rig *rig;

  gst_object_unref (gst_system_clock_obtain ());
  begin (script);
  frames (script, 0, 0, 2);
  frames (script, 1, 1, 2);
  script_end (script);
  rig = rig_new (script, NULL, FALSE);
  rig_play (rig);
  fail_unless (rig_end (rig) == NULL);
  rig_free (rig);
}

GST_START_TEST (test_case)
{
  warm_up ();
  for (guint live = 0; live < 2; live++)
    run (&cases[__i__], live);
}
GST_END_TEST;

/* ---- rates ------------------------------------------------------------------------------- */

/* Of every frame of the slower camera its nearest neighbour: none farther than half a frame of the left one. */
static void
run_rates (const gint *rates, guint least)
{
  Script *script = script_new (rates);
  gchar *failure;
  Rig *rig;

  guard_begin ("different rates", 30);
  begin (script);
  for (guint view = 0; view < 2; view++)
    for (guint i = 0; i < 3 * (guint) rates[view]; i++)
      script_frame (script, view, i, GST_SECOND + i * GST_SECOND / (guint) rates[view]);
  script_end (script);
  rig = rig_new (script, NULL, FALSE);
  rig_play (rig);
  failure = rig_end (rig);
  fail_unless (failure == NULL, "%d/%d: %s", rates[0], rates[1], failure);
  fail_unless (rig->outputs >= least, "%d/%d: %u pairs", rates[0], rates[1], rig->outputs);
  rig_free (rig);
  guard_end ();
}

GST_START_TEST (test_rates)
{
  const gint rates[][2] = { { 30, 25 }, { 25, 30 }, { 30, 15 }, { 15, 30 }, { 60, 1 } };
  /* all of the slower camera's, but where a slow left one takes a neighbour: one a frame of it either way */
  const guint least[] = { 74, 74, 45, 45, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    run_rates (rates[i], least[i]);
}
GST_END_TEST;

/* ---- states and pads --------------------------------------------------------------------- */

static Rig *
long_rig (guint count, gboolean live)
{
  Script *script = script_new (NULL);
  Rig *rig;

  begin (script);
  frames (script, 0, 0, count);
  frames (script, 1, 0, count);
  script_end (script);
  rig = rig_new (script, NULL, live);
  rig_play (rig);
  return rig;
}

static void
again_and_again (const gchar *name, void (*deed) (Rig *rig), gboolean live, gboolean lossy)
{
  gchar *leaked, *failure;
  Rig *rig;

  warm_up ();
  guard_begin (name, 60);
  guard_count_objects ();
  rig = long_rig (600, live);
  for (guint i = 1; i <= 100; i++) {
    rig_wait (rig, 3 * i);
    deed (rig);
  }
  failure = rig_end (rig);
  fail_unless (failure == NULL, "%s: %s", name, failure);
  fail_unless (lossy || rig->outputs == 600, "%s: %u outputs", name, rig->outputs);
  fail_unless (rig->outputs > 250, "%s: %u outputs", name, rig->outputs);
  rig_free (rig);
  leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
  guard_end ();
}

GST_START_TEST (test_a_hundred_pauses)
{
  again_and_again ("PLAYING, PAUSED, PLAYING", rig_pause, __i__, FALSE);
}
GST_END_TEST;

GST_START_TEST (test_a_hundred_restarts)
{
  again_and_again ("PLAYING, NULL, PLAYING", rig_restart, __i__, TRUE);
}
GST_END_TEST;

GST_START_TEST (test_a_hundred_flushes)
{
  again_and_again ("flush", rig_flush, __i__, TRUE);
}
GST_END_TEST;

static void
repad_in_turn (Rig *rig)
{
  rig_repad (rig, rig->script->faults[FAULT_REPAD] % 2);
}

GST_START_TEST (test_a_hundred_pads)
{
  again_and_again ("a pad is released and requested", repad_in_turn, __i__, TRUE);
}
GST_END_TEST;

/* An error after two seconds without the second pad; not because it was away for a moment, two seconds ago. */
GST_START_TEST (test_a_pad_that_comes_back_is_not_missed)
{
  GstClock *clock = gst_test_clock_new ();
  gchar *failure;
  Rig *rig;

  guard_begin ("a pad that comes back", 30);
  gst_system_clock_set_default (clock);
  rig = long_rig (600, FALSE);
  rig_wait (rig, 10);
  rig_take_pad (rig, 1);
  gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (clock), NULL);
  rig_give_pad (rig, 1);
  rig_wait (rig, rig->outputs + 10);
  fail_unless_equals_int (gst_test_clock_peek_id_count (GST_TEST_CLOCK (clock)), 0);
  gst_test_clock_advance_time (GST_TEST_CLOCK (clock), 3 * GST_SECOND);
  rig_wait (rig, rig->outputs + 10);
  fail_unless (rig->failure == NULL, "%s", rig->failure);
  rig_take_pad (rig, 1);
  gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (clock), NULL);
  fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (clock)));
  rig_wait (rig, 600);
  rig_give_pad (rig, 1);
  failure = rig_end (rig);
  fail_unless (failure && strstr (failure, "Only sink_left is linked"), "%s", failure);
  g_free (failure);
  rig_free (rig);
  gst_system_clock_set_default (NULL);
  gst_object_unref (clock);
  guard_end ();
}
GST_END_TEST;

static Suite *
broken_streams_suite (void)
{
  Suite *suite = suite_create ("broken_streams");
  TCase *general = tcase_create ("general");

  suite_add_tcase (suite, general);
  tcase_set_timeout (general, 0); /* the guard watches */
  tcase_add_loop_test (general, test_case, 0, G_N_ELEMENTS (cases));
  tcase_add_test (general, test_rates);
  tcase_add_loop_test (general, test_a_hundred_pauses, 0, 2);
  tcase_add_loop_test (general, test_a_hundred_restarts, 0, 2);
  tcase_add_loop_test (general, test_a_hundred_flushes, 0, 2);
  tcase_add_loop_test (general, test_a_hundred_pads, 0, 2);
  tcase_add_test (general, test_a_pad_that_comes_back_is_not_missed);
  return suite;
}

GST_CHECK_MAIN (broken_streams);
