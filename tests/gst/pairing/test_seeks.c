/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two sources that support seeking, each with a thread of its own, and random seeks with a flush: to any position,
 * at any rate, backwards too. After each seek every frame that it asks for comes out, in order, from the first one on,
 * paired with the other view of the same moment, at the right stream time.
 *
 *   STEREO_TEST_SEED=N, STEREO_STREAM_ELEMENT=X   as in test_episodes.c
 *   STEREO_STREAM_SEEKS=N                         seeks in a row (default 60)
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/numbered_source.h"
#include "tests/support/streams/seek_play.h"
#include "tests/support/gst/suite.h"

/* ---- by chance --------------------------------------------------------------------------- */

static void
warm_up (const RigKind *kind)
{
  Play *play = play_new (kind, (guint[2]){ 1, 0 }, 1);

  play_free (play);
}

static Seek
draw (GRand *rand, gboolean flush)
{
  static const gdouble rates[] = { 1, 1, 2, 0.5, 4, -1, -2 };
  /* not at the frames' borders alone */
  gint32 start = g_rand_int_range (rand, 0, 4 * (PLAY_FRAMES - 20));
  Seek seek = { rates[g_rand_int_range (rand, 0, G_N_ELEMENTS (rates))], (GstClockTime) start * NUMBERED_FRAME / 4, 0,
    flush ? GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_ACCURATE, 0 };

  seek.stop = (GstClockTime) g_rand_int_range (rand, start + 20, 4 * PLAY_FRAMES) * NUMBERED_FRAME / 4;
  return seek;
}

/* Where segments have no number to know them by, the second of two seeks alike would pass for the first. */
static gboolean
alike (const Seek *a, const Seek *b)
{
  return a->rate == b->rate && a->start == b->start && a->stop == b->stop;
}

/* Another one than @last. */
static Seek
draw_another (GRand *rand, gboolean flush, const Seek *last)
{
  Seek seek = draw (rand, flush);

  while (alike (&seek, last))
    seek = draw (rand, flush);
  return seek;
}

/* @name, to be freed, tells how to have the same again. */
static GRand *
begin_seeded (const gchar *what, guint seconds, gchar **name)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());

  *name = g_strdup_printf ("%s, %s, STEREO_TEST_SEED=%u", rig_kind_chosen ()->name, what, seed);
  guard_begin (*name, seconds);
  return g_rand_new_with_seed (seed);
}

/* One millisecond: the pair is the same, and the right view's segments are not its source's any more. Not less than
 * none: gst_segment_offset_running_time() of 1.22 takes a segment that is played backwards for one that is not. */
static void
offset_right (Play *play)
{
  GstPad *pad = gst_element_get_static_pad (play->before[1], "src");

  play->nameless = TRUE;
  gst_pad_set_offset (pad, GST_MSECOND);
  gst_object_unref (pad);
  /* its segment comes again for that, and is to be in before the first seek: it could pass for the answer */
  play_wait (play, play->outputs + 20);
}

static void
seek_at_random (const RigKind *kind, gboolean offset)
{
  guint count = (guint) guard_number ("STEREO_STREAM_SEEKS", 60);
  g_autofree gchar *name = NULL;
  g_autoptr (GRand) rand = begin_seeded ("flushing seeks", 60 + count / 4, &name);
  guint room[2] = { 0 };
  Seek last = { 0 };

  warm_up (kind);
  guard_count_objects ();
  for (guint view = 0; view < 2; view++)
    room[view] = g_rand_boolean (rand) ? 0 : (guint) g_rand_int_range (rand, 1, 20);
  Play *play = play_new (kind, room, g_rand_boolean (rand) ? 0 : 2000);
  if (offset)
    offset_right (play);
  for (guint i = 0; i < count && !play->failure; i++) {
    Seek seek = draw_another (rand, TRUE, &last);
    play_wait (play, (guint) g_rand_int_range (rand, 0, 20));
    play_seek (play, seek);
    last = seek;
  }
  play_judge_end (play);
  fail_unless (play->failure == NULL, "%s: %s", name, play->failure);
  play_free (play);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s leaks: %s", name, leaked);
  guard_end ();
}

TEST_LOOP (test_flushing_seeks, 0, 2)
{
  seek_at_random (rig_kind_chosen (), __i__);
}

/* One piece after the other without a gap, as for a loop. */
TEST (test_segments_one_after_the_other)
{
  const RigKind *kind = rig_kind_chosen ();
  g_autofree gchar *name = NULL;
  g_autoptr (GRand) rand = begin_seeded ("segments one after the other", 60, &name);
  guint expected = 0;

  Play *play = play_new (kind, (guint[2]){ 5, 0 }, 0);
  for (guint i = 0; i < 10 && !play->failure; i++) {
    Seek seek = draw (rand, i == 0);
    seek.flags |= GST_SEEK_FLAG_SEGMENT;
    play_seek (play, seek);
    play_judge_end (play);
    expected = play->outputs;
  }
  fail_unless (play->failure == NULL, "%s: %s", name, play->failure);
  fail_unless (expected > 0);
  play_free (play);
  guard_end ();
}

SUITE (seeks)
{
  tcase_set_timeout (tcase, 0); /* the guard watches */
}
