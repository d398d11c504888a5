/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pairing logic alone: tables of small cases, then random streams, which check what must hold of any stream. */

#include "gst/pairing/decide.h"
#include "tests/support/gst/suite.h"

#define NONE GST_STEREO_TIME_NONE
#define MS G_GINT64_CONSTANT (1000000)

static GstStereoStream
queue (guint count, gint64 first, gint64 second, gint64 soonest, gboolean ended)
{
  return (GstStereoStream){ count, { first, second }, soonest, NONE, ended };
}

static void
check (GstStereoStream left, GstStereoStream right, gint64 max_skew, GstStereoPairing expected)
{
  fail_unless_equals_int (gst_stereo_pairing_decide (&left, &right, max_skew), expected);
}

TEST (test_equal_times_pair_at_once)
{
  check (queue (1, 0, 0, 40 * MS, FALSE), queue (1, 0, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_PAIR);
}

TEST (test_where_no_other_can_be_nearer_pairs_at_once)
{
  check (queue (1, 0, 0, 40 * MS, FALSE), queue (1, 20 * MS, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_PAIR);
  check (queue (1, 20 * MS, 0, 40 * MS, FALSE), queue (1, 0, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_PAIR);
}

TEST (test_else_waits_for_the_next_of_the_earlier_stream)
{
  check (queue (1, 15 * MS, 0, 40 * MS, FALSE), queue (1, 0, 0, 29 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_WAIT_RIGHT);
  check (queue (1, 0, 0, 29 * MS, FALSE), queue (1, 15 * MS, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_WAIT_LEFT);
  /* nothing known about the earlier stream's next frame */
  check (queue (1, 0, 0, 0, FALSE), queue (1, 1, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_WAIT_LEFT);
}

TEST (test_next_frame_nearer_is_preferred)
{
  check (queue (1, 33 * MS, 0, 33 * MS, FALSE), queue (2, 0, 33 * MS, 33 * MS, FALSE), 100 * MS,
      GST_STEREO_PAIRING_DROP_RIGHT);
  check (queue (2, 0, 33 * MS, 33 * MS, FALSE), queue (1, 33 * MS, 0, 33 * MS, FALSE), 100 * MS,
      GST_STEREO_PAIRING_DROP_LEFT);
}

TEST (test_next_frame_farther_is_not)
{
  check (queue (1, 15 * MS, 0, 20 * MS, FALSE), queue (2, 0, 40 * MS, 20 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_PAIR);
  /* as near: the earlier one, it is here already */
  check (queue (1, 20 * MS, 0, 20 * MS, FALSE), queue (2, 0, 40 * MS, 20 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_PAIR);
}

TEST (test_too_far_apart_drops_the_earlier)
{
  check (queue (1, 0, 0, 40 * MS, FALSE), queue (1, 21 * MS, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_DROP_LEFT);
  check (queue (1, 21 * MS, 0, 40 * MS, FALSE), queue (1, 0, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_DROP_RIGHT);
  check (queue (1, 1, 0, 40 * MS, FALSE), queue (1, 0, 0, 40 * MS, FALSE), 0, GST_STEREO_PAIRING_DROP_RIGHT);
}

TEST (test_no_limit_pairs_at_any_distance)
{
  check (queue (2, 0, 2000 * MS, 0, FALSE), queue (1, 900 * MS, 0, 0, FALSE), NONE, GST_STEREO_PAIRING_PAIR);
}

TEST (test_frames_without_time_pair_in_order)
{
  check (queue (1, NONE, 0, 0, FALSE), queue (1, NONE, 0, 0, FALSE), 0, GST_STEREO_PAIRING_PAIR);
  check (queue (1, NONE, 0, 0, FALSE), queue (1, 500 * MS, 0, 0, FALSE), 0, GST_STEREO_PAIRING_PAIR);
  check (queue (1, 500 * MS, 0, 0, FALSE), queue (1, NONE, 0, 0, FALSE), 0, GST_STEREO_PAIRING_PAIR);
}

TEST (test_an_empty_side_is_waited_for)
{
  check (queue (0, 0, 0, 0, FALSE), queue (1, 0, 0, 0, FALSE), 0, GST_STEREO_PAIRING_WAIT_LEFT);
  check (queue (1, 0, 0, 0, FALSE), queue (0, 0, 0, 0, FALSE), 0, GST_STEREO_PAIRING_WAIT_RIGHT);
}

TEST (test_an_ended_side_leaves_the_other_without_partner)
{
  check (queue (0, 0, 0, 0, TRUE), queue (1, 0, 0, 0, FALSE), 0, GST_STEREO_PAIRING_DROP_RIGHT);
  check (queue (1, 0, 0, 0, FALSE), queue (0, 0, 0, 0, TRUE), 0, GST_STEREO_PAIRING_DROP_LEFT);
  check (queue (0, 0, 0, 0, TRUE), queue (0, 0, 0, 0, FALSE), 0, GST_STEREO_PAIRING_WAIT_RIGHT);
  check (queue (0, 0, 0, 0, FALSE), queue (0, 0, 0, 0, TRUE), 0, GST_STEREO_PAIRING_WAIT_LEFT);
  check (queue (0, 0, 0, 0, TRUE), queue (0, 0, 0, 0, TRUE), 0, GST_STEREO_PAIRING_END);
}

TEST (test_the_last_frame_is_not_waited_beyond)
{
  check (queue (1, 15 * MS, 0, 20 * MS, FALSE), queue (1, 0, 0, 20 * MS, TRUE), 20 * MS, GST_STEREO_PAIRING_PAIR);
}

TEST (test_a_gap_lets_go_of_what_lies_in_it)
{
  GstStereoStream gap = queue (0, 0, 0, 0, FALSE);

  gap.gap_end = 100 * MS;
  check (queue (1, 79 * MS, 0, 40 * MS, FALSE), gap, 20 * MS, GST_STEREO_PAIRING_DROP_LEFT);
  check (queue (1, 80 * MS, 0, 40 * MS, FALSE), gap, 20 * MS, GST_STEREO_PAIRING_WAIT_RIGHT);
  check (gap, queue (1, 79 * MS, 0, 40 * MS, FALSE), 20 * MS, GST_STEREO_PAIRING_DROP_RIGHT);
}

#define LEFT GST_STEREO_PAIRING_WAIT_LEFT
#define DROP GST_STEREO_PAIRING_DROP_LEFT
#define PAIR GST_STEREO_PAIRING_PAIR

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

  return queue (
      count, stream->time[at], stream->time[MIN (at + 1, stream->count - 1)], spacing, at + count == stream->count);
}

/* Feeds both streams one frame at a time, as a pad would. */
static Outcome
run (const Stream *left, const Stream *right, gint64 spacing, gint64 max_skew)
{
  guint l = 0, r = 0, known_left = 0, known_right = 0, steps = 0;
  Outcome outcome = { 0 };

  for (;;) {
    GstStereoStream a = view (left, l, spacing, known_left), b = view (right, r, spacing, known_right);
    if (steps++ > 10000)
      fail ("no end");
    switch (gst_stereo_pairing_decide (&a, &b, max_skew)) {
      case GST_STEREO_PAIRING_PAIR:
        outcome.pairs++;
        outcome.wrong += left->id[l] != right->id[r];
        if (left->time[l] != NONE && right->time[r] != NONE)
          outcome.worst = MAX (outcome.worst, ABS (left->time[l] - right->time[r]));
        l++, r++;
        known_left -= known_left > 0;
        known_right -= known_right > 0;
        break;
      case GST_STEREO_PAIRING_DROP_LEFT:
        outcome.dropped++, l++;
        known_left -= known_left > 0;
        break;
      case GST_STEREO_PAIRING_DROP_RIGHT:
        outcome.dropped++, r++;
        known_right -= known_right > 0;
        break;
      case GST_STEREO_PAIRING_WAIT_LEFT:
        if (a.ended || known_left == 2)
          fail ("waits for a left frame that cannot help");
        known_left++;
        break;
      case GST_STEREO_PAIRING_WAIT_RIGHT:
        if (b.ended || known_right == 2)
          fail ("waits for a right frame that cannot help");
        known_right++;
        break;
      default:
        return outcome;
    }
  }
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
