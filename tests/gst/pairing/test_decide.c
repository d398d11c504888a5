/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pairing logic alone: tables of small cases, then random streams, which check what must hold of any stream. */

#include "gst/pairing/decide.h"
#include "tests/support/gst/suite.h"

#define NONE GST_STEREO_TIME_NONE
#define MS G_GINT64_CONSTANT (1000000)

#define LEFT GST_STEREO_PAIRING_WAIT_LEFT
#define RIGHT GST_STEREO_PAIRING_WAIT_RIGHT
#define DROP GST_STEREO_PAIRING_DROP_LEFT
#define DROP_RIGHT GST_STEREO_PAIRING_DROP_RIGHT
#define PAIR GST_STEREO_PAIRING_PAIR
#define END GST_STEREO_PAIRING_END
#define UNTIMED -1000 /* no timestamp, in ms; and of max_skew: no limit */

/* Streams in ms: frames at hand, times of the head and of the frame behind it, least time between two. */
typedef struct
{
  guint count;
  gint64 first, second, soonest;
  gboolean ended;
  gint64 gap_end; /* 0 = none */
} Row;

static const struct
{
  Row left, right;
  gint64 max_skew;
  GstStereoPairing expected;
} decisions[] = {
  /* equal times pair at once, and where no other can be nearer */
  { { 1, 0, 0, 40 }, { 1, 0, 0, 40 }, 20, PAIR },
  { { 1, 0, 0, 40 }, { 1, 20, 0, 40 }, 20, PAIR },
  { { 1, 20, 0, 40 }, { 1, 0, 0, 40 }, 20, PAIR },
  /* else the next frame of the earlier stream is waited for */
  { { 1, 15, 0, 40 }, { 1, 0, 0, 29 }, 20, RIGHT },
  { { 1, 0, 0, 29 }, { 1, 15, 0, 40 }, 20, LEFT },
  { { 1, 0, 0, 0 }, { 1, 1, 0, 40 }, 20, LEFT }, /* nothing is known of it */
  /* which is preferred where it is nearer */
  { { 1, 33, 0, 33 }, { 2, 0, 33, 33 }, 100, DROP_RIGHT },
  { { 2, 0, 33, 33 }, { 1, 33, 0, 33 }, 100, DROP },
  { { 1, 15, 0, 20 }, { 2, 0, 40, 20 }, 20, PAIR },
  { { 1, 20, 0, 20 }, { 2, 0, 40, 20 }, 20, PAIR }, /* as near: the earlier one, it is here already */
  /* too far apart drops the earlier one */
  { { 1, 0, 0, 40 }, { 1, 21, 0, 40 }, 20, DROP },
  { { 1, 21, 0, 40 }, { 1, 0, 0, 40 }, 20, DROP_RIGHT },
  { { 1, 1, 0, 40 }, { 1, 0, 0, 40 }, 0, DROP_RIGHT },
  { { 2, 0, 2000, 0 }, { 1, 900, 0, 0 }, UNTIMED, PAIR },
  /* frames without a time pair in order */
  { { 1, UNTIMED }, { 1, UNTIMED }, 0, PAIR },
  { { 1, UNTIMED }, { 1, 500 }, 0, PAIR },
  { { 1, 500 }, { 1, UNTIMED }, 0, PAIR },
  /* an empty side is waited for */
  { { 0 }, { 1 }, 0, LEFT },
  { { 1 }, { 0 }, 0, RIGHT },
  /* one that has ended leaves the other without a partner, and its last frame is not waited beyond */
  { { 0, .ended = TRUE }, { 1 }, 0, DROP_RIGHT },
  { { 1 }, { 0, .ended = TRUE }, 0, DROP },
  { { 0, .ended = TRUE }, { 0 }, 0, RIGHT },
  { { 0 }, { 0, .ended = TRUE }, 0, LEFT },
  { { 0, .ended = TRUE }, { 0, .ended = TRUE }, 0, END },
  { { 1, 15, 0, 20 }, { 1, 0, 0, 20, TRUE }, 20, PAIR },
  /* a gap lets go of what lies in it */
  { { 1, 79, 0, 40 }, { 0, .gap_end = 100 }, 20, DROP },
  { { 1, 80, 0, 40 }, { 0, .gap_end = 100 }, 20, RIGHT },
  { { 0, .gap_end = 100 }, { 1, 79, 0, 40 }, 20, DROP_RIGHT },
};

static gint64
ms (gint64 time)
{
  return time == UNTIMED ? NONE : time * MS;
}

static GstStereoStream
stream_of (const Row *row)
{
  return (GstStereoStream){ row->count, { ms (row->first), ms (row->second) }, ms (row->soonest),
    row->gap_end ? ms (row->gap_end) : NONE, row->ended };
}

TEST_LOOP (test_decisions, 0, G_N_ELEMENTS (decisions))
{
  GstStereoStream left = stream_of (&decisions[__i__].left), right = stream_of (&decisions[__i__].right);

  fail_unless_equals_int (
      gst_stereo_pairing_decide (&left, &right, ms (decisions[__i__].max_skew)), decisions[__i__].expected);
}

static const struct
{
  guint count;
  gboolean first[2], marked, lost, ended;
  GstStereoPairing expected;
} bundles[] = {
  { 0, { FALSE, FALSE }, FALSE, FALSE, FALSE, LEFT },
  { 0, { FALSE, FALSE }, FALSE, FALSE, TRUE, GST_STEREO_PAIRING_END }, { 1, { TRUE, FALSE }, TRUE, FALSE, FALSE, LEFT },
  { 1, { TRUE, FALSE }, TRUE, FALSE, TRUE, DROP }, { 2, { TRUE, FALSE }, TRUE, FALSE, FALSE, PAIR },
  { 2, { TRUE, TRUE }, TRUE, FALSE, FALSE, DROP }, { 2, { FALSE, TRUE }, TRUE, FALSE, FALSE, DROP },
  { 2, { FALSE, FALSE }, FALSE, FALSE, FALSE, PAIR }, { 2, { FALSE, FALSE }, FALSE, TRUE, FALSE, DROP },
  { 2, { TRUE, FALSE }, TRUE, TRUE, FALSE, PAIR }, /* marks tell more than timestamps */
};

TEST_LOOP (test_bundles, 0, G_N_ELEMENTS (bundles))
{
  fail_unless_equals_int (gst_stereo_pairing_bundle (bundles[__i__].count, bundles[__i__].first, bundles[__i__].marked,
                              bundles[__i__].lost, bundles[__i__].ended),
      bundles[__i__].expected);
}

/* A stream of one frame every 10 ms. */
static const struct
{
  gint64 before, within, usual; /* ms */
  gboolean discont, lost;
} losses[] = {
  { 10, 10, 10, FALSE, FALSE }, { 10, 20, 10, FALSE, TRUE }, /* the second frame is missing */
  { 20, 10, 10, FALSE, TRUE },                               /* the first one was: the head is the second one */
  { 30, 10, 10, FALSE, FALSE },                              /* a whole bundle was */
  { 40, 10, 10, FALSE, TRUE }, { 10, 30, 10, FALSE, TRUE },  /* one of each */
  { 12, 8, 10, FALSE, FALSE }, { 8, 22, 10, FALSE, TRUE },   /* jitter */
  { 15, 15, 10, FALSE, FALSE },                              /* no multiple: nothing is known */
  { 0, 0, 0, FALSE, FALSE }, { 0, 0, 0, TRUE, TRUE },        /* no timestamps */
  { 10, 10, 10, TRUE, FALSE }, { 10, 15, 10, TRUE, TRUE },   /* timestamps tell more than DISCONT */
};

TEST_LOOP (test_lost_frames, 0, G_N_ELEMENTS (losses))
{
  fail_unless_equals_int (gst_stereo_pairing_lost (losses[__i__].before * MS, losses[__i__].within * MS,
                              losses[__i__].usual * MS, losses[__i__].discont),
      losses[__i__].lost);
}

/* ---- streams ----------------------------------------------------------------------------- */

typedef struct
{
  gint64 time[400];
  guint id[400]; /* which instant of the scene it shows */
  guint count;
} Stream;

typedef struct
{
  guint pairs, wrong, dropped; /* wrong: of two instants */
  gint64 worst;
} Outcome;

static GstStereoStream
view (const Stream *stream, guint at, gint64 spacing, guint known)
{
  guint count = MIN (stream->count - at, known);

  return (GstStereoStream){ count, { stream->time[at], stream->time[MIN (at + 1, stream->count - 1)] }, spacing, NONE,
    at + count == stream->count };
}

/* Feeds both streams one frame at a time, as a pad would. */
static Outcome
run (const Stream *left, const Stream *right, gint64 spacing, gint64 max_skew)
{
  const Stream *streams[2] = { left, right };
  guint at[2] = { 0 }, known[2] = { 0 };
  Outcome outcome = { 0 };

  for (guint steps = 0; steps <= 10000; steps++) {
    GstStereoStream a = view (left, at[0], spacing, known[0]), b = view (right, at[1], spacing, known[1]);
    GstStereoPairing pairing = gst_stereo_pairing_decide (&a, &b, max_skew);
    guint second = pairing == RIGHT || pairing == DROP_RIGHT;
    if (pairing == END)
      return outcome;
    if (pairing == LEFT || pairing == RIGHT) {
      fail_if ((second ? b : a).ended || known[second] == 2, "waits for a frame of view %u that cannot help", second);
      known[second]++;
      continue;
    }
    if (pairing == PAIR) {
      outcome.pairs++;
      outcome.wrong += left->id[at[0]] != right->id[at[1]];
      if (left->time[at[0]] != NONE && right->time[at[1]] != NONE)
        outcome.worst = MAX (outcome.worst, ABS (left->time[at[0]] - right->time[at[1]]));
    } else {
      outcome.dropped++;
    }
    for (guint v = 0; v < 2; v++)
      if (pairing == PAIR || v == second) {
        at[v] += at[v] < streams[v]->count;
        known[v] -= known[v] > 0;
      }
  }
  fail ("no end");
  return outcome;
}

/* Frames of a scene at 30 ms, each off by up to @jitter either way, some lost. */
static void
make_stream (Stream *stream, GRand *rand, gint64 jitter, gdouble lost)
{
  stream->count = 0;
  for (guint i = 0; i < 300; i++) {
    gint64 off = jitter ? g_rand_int_range (rand, (gint32) -jitter, (gint32) jitter + 1) : 0;
    if (g_rand_double (rand) < lost)
      continue;
    stream->time[stream->count] = i * 30 * MS + off;
    stream->id[stream->count++] = i;
  }
}

static guint
count_common (const Stream *a, const Stream *b)
{
  guint common = 0;

  for (guint i = 0, j = 0; i < a->count && j < b->count;) {
    common += a->id[i] == b->id[j];
    if (a->id[i] < b->id[j])
      i++;
    else if (a->id[i] > b->id[j])
      j++;
    else
      i++, j++;
  }
  return common;
}

TEST (test_jitter_below_a_quarter_loses_nothing)
{
  static Stream left, right;

  for (guint seed = 0; seed < 100; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

    make_stream (&left, rand, 3700000, 0);
    make_stream (&right, rand, 3700000, 0);
    Outcome outcome = run (&left, &right, 30 * MS, 15 * MS);
    fail_unless (outcome.pairs == 300 && outcome.wrong == 0 && outcome.dropped == 0,
        "seed %u: %u pairs, %u wrong, %u dropped", seed, outcome.pairs, outcome.wrong, outcome.dropped);
  }
}

TEST (test_lost_frames_cost_only_their_partners)
{
  static Stream left, right;

  for (guint seed = 0; seed < 100; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    gint64 max_skew = seed % 2 ? 15 * MS : 200 * MS;

    make_stream (&left, rand, 2 * MS, 0.2);
    make_stream (&right, rand, 2 * MS, 0.2);
    guint common = count_common (&left, &right);
    Outcome outcome = run (&left, &right, 30 * MS, max_skew);
    /* with a wide tolerance a lone frame may take a lone frame next to it; never one that has a partner */
    fail_unless (outcome.pairs - outcome.wrong == common, "seed %u: %u of %u pairs, %u wrong", seed,
        outcome.pairs - outcome.wrong, common, outcome.wrong);
    fail_unless (max_skew > 15 * MS || outcome.wrong == 0, "seed %u: %u wrong", seed, outcome.wrong);
    fail_unless (outcome.worst <= max_skew, "seed %u: a pair is %" G_GINT64_FORMAT " ns apart", seed, outcome.worst);
    fail_unless_equals_int (outcome.dropped + 2 * outcome.pairs, left.count + right.count);
  }
}

TEST (test_a_late_start_does_not_shift_the_pairs)
{
  static Stream left, right;
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  make_stream (&left, rand, 0, 0);
  make_stream (&right, rand, 0, 0);
  memmove (right.time, right.time + 1, 299 * sizeof *right.time);
  memmove (right.id, right.id + 1, 299 * sizeof *right.id);
  right.count--;
  Outcome outcome = run (&left, &right, 30 * MS, 100 * MS);
  fail_unless_equals_int (outcome.pairs, 299);
  fail_unless_equals_int (outcome.wrong, 0);
}

TEST (test_half_the_rate_pairs_every_other_frame)
{
  static Stream left, right;

  left.count = right.count = 0;
  for (guint i = 0; i < 300; i++) {
    left.time[left.count] = i * 30 * MS;
    left.id[left.count++] = i;
    if (i % 2 == 0) {
      right.time[right.count] = i * 30 * MS + 4 * MS;
      right.id[right.count++] = i;
    }
  }
  Outcome outcome = run (&left, &right, 30 * MS, 15 * MS);
  fail_unless_equals_int (outcome.pairs, 150);
  fail_unless_equals_int (outcome.wrong, 0);
  fail_unless_equals_int (outcome.dropped, 150);
}

TEST (test_any_times_end_and_account_for_every_frame)
{
  static Stream left, right;

  for (guint seed = 0; seed < 200; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

    left.count = g_rand_int_range (rand, 1, 300);
    right.count = g_rand_int_range (rand, 1, 300);
    for (guint i = 0; i < 300; i++) {
      left.time[i] = g_rand_double (rand) < 0.1 ? NONE : g_rand_int_range (rand, -1000, 1000) * MS;
      right.time[i] = g_rand_double (rand) < 0.1 ? NONE : g_rand_int_range (rand, -1000, 1000) * MS;
      left.id[i] = right.id[i] = i;
    }
    Outcome outcome = run (
        &left, &right, g_rand_int_range (rand, 0, 2) * 30 * MS, g_rand_boolean (rand) ? 15 * MS : NONE);
    fail_unless (outcome.dropped + 2 * outcome.pairs == left.count + right.count,
        "seed %u: %u + %u frames, %u pairs, %u dropped", seed, left.count, right.count, outcome.pairs, outcome.dropped);
  }
}

SUITE (pairing)
{
}
