/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One fault at a time (tests/support/streams/cases.c), and each change of state or pad a hundred times; test_episodes.c
 * mixes the faults. tests/support/streams/judge.c has what must hold in every case. STEREO_STREAM_ELEMENT names the
 * element under test (tests/support/streams/kinds.c).
 */
#include "tests/support/gst/guard.h"
#include "tests/support/streams/cases.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/suite.h"

static const RigKind *kind;

static void
judge (Rig *rig, const StreamCase *one, const gchar *how, gchar *failure)
{
  guint left = (guint) rig_count (rig, "dropped-left"), right = (guint) rig_count (rig, "dropped-right");
  guint all = one->left + one->right, least = rig->live || !one->behind ? all : all - one->behind + 1;

  fail_unless (failure == NULL, "%s, %s: %s", one->name, how, failure);
  fail_unless (rig->outputs == one->pairs && left <= one->left && right <= one->right && left + right >= least,
      "%s, %s: %u pairs, %u left and %u right frames dropped; to be %u, %u and %u", one->name, how, rig->outputs, left,
      right, one->pairs, one->left, one->right);
}

static void
run (const StreamCase *one, gboolean live)
{
  const gchar *how = live ? "live" : "not live";
  Script *script = script_new (NULL);

  guard_begin (one->name, 30);
  guard_count_objects ();
  script_begin (script);
  one->write (script);
  script_end (script);
  Rig *rig = rig_new (kind, script, live);
  rig_play (rig);
  gchar *failure = rig_end (rig);
  judge (rig, one, how, failure);
  rig_free (rig);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s, %s, leaks: %s", one->name, how, leaked);
  guard_end ();
}

TEST_LOOP (test_case, 0, (gint) stream_case_count)
{
  rig_warm_up (kind);
  for (guint live = 0; live < 2; live++)
    run (&stream_cases[__i__], live);
}

/* ---- rates ------------------------------------------------------------------------------- */

/* Every frame of the slower camera gets its nearest neighbour: none farther than half a frame of the left one. */
static void
run_rates (const gint *rates, guint least)
{
  Script *script = script_new (rates);

  guard_begin ("different rates", 30);
  script_begin (script);
  for (guint view = 0; view < 2; view++)
    for (guint i = 0; i < 3 * (guint) rates[view]; i++)
      script_frame (script, view, i, GST_SECOND + i * GST_SECOND / (guint) rates[view]);
  script_end (script);
  Rig *rig = rig_new (kind, script, FALSE);
  rig_play (rig);
  gchar *failure = rig_end (rig);
  fail_unless (failure == NULL, "%d/%d: %s", rates[0], rates[1], failure);
  fail_unless (rig->outputs >= least, "%d/%d: %u pairs", rates[0], rates[1], rig->outputs);
  rig_free (rig);
  guard_end ();
}

TEST (test_rates)
{
  const gint rates[][2] = { { 30, 25 }, { 25, 30 }, { 30, 15 }, { 15, 30 }, { 60, 1 } };
  /* all of the slower camera's, but where a slow left one takes a neighbour: one a frame of it either way */
  const guint least[] = { 74, 74, 45, 45, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    run_rates (rates[i], least[i]);
}

/* ---- states and pads --------------------------------------------------------------------- */

static Rig *
long_rig (guint count, gboolean live)
{
  Script *script = script_new (NULL);

  script_begin (script);
  script_frames (script, 0, 0, count);
  script_frames (script, 1, 0, count);
  script_end (script);
  Rig *rig = rig_new (kind, script, live);
  rig_play (rig);
  return rig;
}

static void
again_and_again (const gchar *name, void (*deed) (Rig *rig), gboolean live, gboolean lossy)
{
  rig_warm_up (kind);
  guard_begin (name, 60);
  guard_count_objects ();
  Rig *rig = long_rig (600, live);
  for (guint i = 1; i <= 100; i++) {
    rig_wait (rig, 3 * i);
    deed (rig);
  }
  gchar *failure = rig_end (rig);
  fail_unless (failure == NULL, "%s: %s", name, failure);
  fail_unless (lossy || rig->outputs == 600, "%s: %u outputs", name, rig->outputs);
  fail_unless (rig->outputs > 250, "%s: %u outputs", name, rig->outputs);
  rig_free (rig);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
  guard_end ();
}

TEST_LOOP (test_a_hundred_pauses, 0, 2)
{
  again_and_again ("PLAYING, PAUSED, PLAYING", rig_pause, __i__, FALSE);
}

TEST_LOOP (test_a_hundred_restarts, 0, 2)
{
  again_and_again ("PLAYING, NULL, PLAYING", rig_restart, __i__, TRUE);
}

TEST_LOOP (test_a_hundred_flushes, 0, 2)
{
  again_and_again ("flush", rig_flush, __i__, TRUE);
}

static void
repad_in_turn (Rig *rig)
{
  rig_repad (rig, rig->script->faults[FAULT_REPAD] % 2);
}

TEST_LOOP (test_a_hundred_pads, 0, 2)
{
  again_and_again ("a pad is released and requested", repad_in_turn, __i__, TRUE);
}

/* An error after two seconds without the second pad; not because it was away twice for less. The cameras stop while a
 * pad is away, and the element waits for the pad only if a left frame is inside: otherwise the pad comes back for another try. */
TEST (test_a_pad_that_comes_back_is_not_missed)
{
  gboolean failed = FALSE;

  guard_begin ("a pad that comes back", 60);
  Rig *rig = long_rig (600, FALSE);
  rig_wait (rig, 10);
  for (guint i = 0; i < 2; i++) {
    rig_take_pad (rig, 1);
    g_usleep (12 * G_USEC_PER_SEC / 10);
    rig_give_pad (rig, 1);
    rig_wait (rig, rig->outputs + 10);
  }
  fail_unless (rig->failure == NULL, "%s", rig->failure);
  while (!failed) {
    rig_take_pad (rig, 1);
    for (guint i = 0; i < 25 && !failed; i++) {
      g_usleep (G_USEC_PER_SEC / 10);
      g_mutex_lock (&rig->lock);
      failed = rig->failure != NULL;
      g_mutex_unlock (&rig->lock);
    }
    rig_give_pad (rig, 1);
    if (!failed)
      rig_wait (rig, rig->outputs + 1);
  }
  g_autofree gchar *failure = rig_end (rig);
  fail_unless (failure && strstr (failure, "Only sink_left is linked"), "%s", failure);
  rig_free (rig);
  guard_end ();
}

SUITE (broken_streams)
{
  kind = rig_kind_chosen ();
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
