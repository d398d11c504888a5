/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pairing logic alone: tables of small cases, then random streams, which check what must hold of any stream. */
#include "gst/pairing/decide.h"
#include "tests/support/gst/suite.h"

#define NONE GST_STEREO_TIME_NONE
#define MS G_GINT64_CONSTANT (1000000)

#define WAIT GST_STEREO_PAIRING_WAIT
#define DROP GST_STEREO_PAIRING_DROP_LEFT
#define DROP_RIGHT GST_STEREO_PAIRING_DROP_RIGHT
#define PAIR GST_STEREO_PAIRING_PAIR
#define END GST_STEREO_PAIRING_END
#define UNTIMED -1000 /* no timestamp, in ms; and of max_skew: no limit */

/* Streams in ms: whether there is a head, its time, the time to the next frame, and the shortest one of the last frames. */
typedef struct
{
  gboolean has;
  gint64 time, spacing, interval;
  gboolean ended;
  gint64 gap_end; /* 0 = none */
} Row;

static const struct
{
  Row left, right;
  gint64 max_skew;
  GstStereoPairing expected;
} decisions[] = {
  /* equal times pair, and where no other can be nearer */
  { { 1, 0, 40 }, { 1, 0, 40 }, 20, PAIR },
  { { 1, 0, 40 }, { 1, 20, 40 }, 20, PAIR },
  { { 1, 20, 40 }, { 1, 0, 40 }, 20, PAIR },
  { { 1, 0 }, { 1, 1, 40 }, 20, PAIR }, /* nothing is known of the earlier one */
  /* else the next frame of the earlier stream is nearer */
  { { 1, 33, 33 }, { 1, 0, 33 }, 100, DROP_RIGHT },
  { { 1, 0, 33 }, { 1, 33, 33 }, 100, DROP },
  { { 1, 0, 33 }, { 1, 17, 100 }, 100, DROP },
  /* unless it comes more slowly than it was announced */
  { { 1, 0, 33, 100 }, { 1, 45, 33 }, 100, PAIR },
  { { 1, 0, 33, 10 }, { 1, 16, 33 }, 100, PAIR }, /* one that came early does not count */
  /* too far apart drops the earlier one */
  { { 1, 0, 60 }, { 1, 21, 40 }, 20, DROP },
  { { 1, 21, 40 }, { 1, 0, 60 }, 20, DROP_RIGHT },
  { { 1, 1, 40 }, { 1, 0, 40 }, 0, DROP_RIGHT },
  { { 1, 0 }, { 1, 900 }, UNTIMED, PAIR },
  /* frames without a time pair in order */
  { { 1, UNTIMED }, { 1, UNTIMED }, 0, PAIR },
  { { 1, UNTIMED }, { 1, 500 }, 0, PAIR },
  { { 1, 500 }, { 1, UNTIMED }, 0, PAIR },
  /* an empty side is waited for; one that has ended leaves the other without a partner */
  { { 0 }, { 1 }, 0, WAIT },
  { { 1 }, { 0 }, 0, WAIT },
  { { 0, .ended = TRUE }, { 1 }, 0, DROP_RIGHT },
  { { 1 }, { 0, .ended = TRUE }, 0, DROP },
  { { 0, .ended = TRUE }, { 0 }, 0, WAIT },
  { { 0 }, { 0, .ended = TRUE }, 0, WAIT },
  { { 0, .ended = TRUE }, { 0, .ended = TRUE }, 0, END },
  /* a gap lets go of what lies in it */
  { { 1, 79, 40 }, { 0, .gap_end = 100 }, 20, DROP },
  { { 1, 80, 40 }, { 0, .gap_end = 100 }, 20, WAIT },
  { { 0, .gap_end = 100 }, { 1, 79, 40 }, 20, DROP_RIGHT },
};

static gint64
ms (gint64 time)
{
  return time == UNTIMED ? NONE : time * MS;
}

static GstStereoStream
stream_of (const Row *row)
{
  return (GstStereoStream){ row->has, ms (row->time), ms (row->spacing), ms (row->interval),
    row->gap_end ? ms (row->gap_end) : NONE, row->ended };
}

TEST_LOOP (test_decisions, 0, G_N_ELEMENTS (decisions))
{
  GstStereoStream left = stream_of (&decisions[__i__].left), right = stream_of (&decisions[__i__].right);

  fail_unless_equals_int (
      gst_stereo_pairing_decide (&left, &right, ms (decisions[__i__].max_skew)), decisions[__i__].expected);
}

/* ---- streams ----------------------------------------------------------------------------- */

/* Of 300 instants of a scene, 30 ms apart: which of them a camera sees, and when it says so. */
typedef struct
{
  guint count, id[300];
  gint64 time[300];
} Stream;

static const struct
{
  const gchar *what;
  gint64 jitter;        /* ns either way */
  gdouble lost;         /* share of the frames */
  guint late, every[2]; /* the right view begins so many later; each has one of so many */
  gboolean random;      /* times mean nothing */
  gint64 max_skew;      /* ms */
} streams[] = {
  { "jitter below a quarter of a frame", 3700000, 0, 0, { 1, 1 }, FALSE, 15 },
  { "lost frames cost only their partners", 2 * MS, 0.2, 0, { 1, 1 }, FALSE, 15 },
  { "so they do with a wide limit", 2 * MS, 0.2, 0, { 1, 1 }, FALSE, 200 },
  { "a late start does not shift the pairs", 0, 0, 1, { 1, 1 }, FALSE, 100 },
  { "half the rate pairs every other frame", 4 * MS, 0, 0, { 1, 2 }, FALSE, 15 },
  { "so does the left view", 4 * MS, 0, 0, { 2, 1 }, FALSE, 15 },
  { "any times end, and account for every frame", 0, 0, 0, { 1, 1 }, TRUE, 15 },
  { "so they do without a limit", 0, 0, 0, { 1, 1 }, TRUE, UNTIMED },
};

TEST_LOOP (test_streams, 0, G_N_ELEMENTS (streams))
{
  for (guint seed = 0; seed < 100; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    Stream views[2] = { { 0 }, { 0 } };
    guint at[2] = { 0 }, seen[300] = { 0 }, common = 0, pairs = 0, wrong = 0, dropped = 0;
    GstStereoPairing pairing;

    for (guint v = 0; v < 2; v++)
      for (guint i = v * streams[__i__].late; i < 300; i += streams[__i__].every[v]) {
        Stream *view = &views[v];
        if (g_rand_double (rand) < streams[__i__].lost)
          continue;
        common += seen[i]++;
        view->id[view->count] = i;
        view->time[view->count] = (gint64) (30 * i) * MS +
            (gint64) (g_rand_double_range (rand, -1, 1) * (gdouble) streams[__i__].jitter);
        if (streams[__i__].random)
          view->time[view->count] = g_rand_double (rand) < 0.1 ? NONE : g_rand_int_range (rand, -1000, 1000) * MS;
        view->count++;
      }
    do {
      GstStereoStream heads[2];
      for (guint v = 0; v < 2; v++)
        heads[v] = (GstStereoStream){ at[v] < views[v].count, views[v].time[MIN (at[v], 299)],
          (gint64) streams[__i__].every[v] * 30 * MS, 0, NONE, at[v] >= views[v].count };
      pairing = gst_stereo_pairing_decide (&heads[0], &heads[1], ms (streams[__i__].max_skew));
      fail_unless (pairing != WAIT, "%s, seed %u: waits for nothing", streams[__i__].what, seed);
      pairs += pairing == PAIR;
      wrong += pairing == PAIR && views[0].id[at[0]] != views[1].id[at[1]];
      dropped += pairing == DROP || pairing == DROP_RIGHT;
      at[0] += pairing == PAIR || pairing == DROP;
      at[1] += pairing == PAIR || pairing == DROP_RIGHT;
    } while (pairing != END);
    fail_unless (dropped + 2 * pairs == views[0].count + views[1].count &&
            (streams[__i__].random || (pairs == common && !wrong)),
        "%s, seed %u: %u + %u frames, %u of %u pairs, %u wrong, %u dropped", streams[__i__].what, seed, views[0].count,
        views[1].count, pairs, common, wrong, dropped);
  }
}

SUITE (pairing)
{
}
