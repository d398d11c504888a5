/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Episodes: short streams of two cameras with random faults of every kind at once. tests/support/streams/judge.c has
 * what must hold in every episode.
 *
 *   STEREO_TEST_SEED=N         the seed of the first episode (default: random, printed)
 *   STEREO_STREAM_EPISODES=N   how many episodes (default 300), each with the next seed
 *   STEREO_STREAM_SECONDS=N    no further episode begins after this time (default 0: no limit)
 *   STEREO_STREAM_ELEMENT=X    the element under test, of tests/support/streams/kinds.c (default: stereomatch)
 *   STEREO_BACKEND=cuda        computes on a device
 */
#include "tests/support/gst/guard.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/suite.h"

static guint sums[FAULTS], frames, outputs;

typedef struct
{
  Rig *rig;
  GThread *thread;
  gint stop; /* atomic */
} Fiddler;

static gpointer
fiddle (gpointer data)
{
  Fiddler *fiddler = data;
  Rig *rig = fiddler->rig;

  for (guint i = 0; !g_atomic_int_get (&fiddler->stop); i++) {
    rig->kind->fiddle (rig->element, i);
    g_atomic_int_inc ((gint *) &rig->script->faults[FAULT_PROPERTY]);
    /* 1000 times a second */
    g_usleep (1000);
  }
  return NULL;
}

static void
do_something (Rig *rig, GRand *rand)
{
  switch (g_rand_int_range (rand, 0, 7)) {
    case 0:
    case 1:
      rig_flush (rig);
      break;
    case 2:
      rig_pause (rig);
      break;
    case 3:
      rig_restart (rig);
      break;
    case 4:
    case 5:
      rig_repad (rig, (guint) g_rand_int_range (rand, 0, 2));
      break;
    default:
      break;
  }
}

static void
add_up (const Rig *rig)
{
  for (guint fault = 0; fault < FAULTS; fault++)
    sums[fault] += rig->script->faults[fault];
  frames += rig->script->frames[0]->len + rig->script->frames[1]->len;
  outputs += rig->outputs;
}

static gchar *
live_through (guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint length = (guint) g_rand_int_range (rand, 5, 60), at = 0, deeds;
  Fiddler fiddler = { NULL };
  g_autoptr (Rig) rig = NULL;

  rig = fiddler.rig = rig_new (
      rig_kind_chosen (), script_random (rand, length, SCRIPT_STREAM_FAULTS), g_rand_boolean (rand));
  if (g_rand_double (rand) < 0.2)
    rig->late_every = (guint) g_rand_int_range (rand, 2, 10);
  deeds = g_rand_boolean (rand) ? 0 : (guint) g_rand_int_range (rand, 1, 5);
  if (g_rand_double (rand) < 0.2)
    fiddler.thread = g_thread_new ("fiddler", fiddle, &fiddler);
  rig_play (rig);
  for (guint i = 0; i < deeds; i++) {
    at += (guint) g_rand_int_range (rand, 0, (gint32) length / 2);
    rig_wait (rig, at);
    do_something (rig, rand);
  }
  gchar *failure = rig_end (rig);
  g_atomic_int_set (&fiddler.stop, TRUE);
  if (fiddler.thread)
    g_thread_join (fiddler.thread);
  add_up (rig);
  return failure;
}

TEST (test_episodes)
{
  guint first = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());
  guint count = (guint) guard_number ("STEREO_STREAM_EPISODES", 300), done = 0;
  gint64 seconds = (gint64) guard_number ("STEREO_STREAM_SECONDS", 0), begin = g_get_monotonic_time ();

  g_print ("%u episodes of %s from STEREO_TEST_SEED=%u\n", count, rig_kind_chosen ()->name, first);
  rig_warm_up (rig_kind_chosen ());
  for (guint i = 0; i < count && !(seconds && g_get_monotonic_time () - begin > seconds * G_USEC_PER_SEC); i++, done++) {
    gchar *name = g_strdup_printf ("episode STEREO_TEST_SEED=%u", first + i), *failure, *leaked;

    guard_begin (name, 30);
    guard_count_objects ();
    failure = live_through (first + i);
    leaked = guard_leaked ();
    guard_end ();
    fail_unless (failure == NULL, "%s: %s", name, failure);
    fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
    g_free (name);
  }
  g_print ("%u episodes, %u frames in, %u pairs out;", done, frames, outputs);
  for (guint fault = 0; fault < FAULTS; fault++)
    g_print (" %s %u", fault_name (fault), sums[fault]);
  g_print ("\n");
}

SUITE (episodes)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
