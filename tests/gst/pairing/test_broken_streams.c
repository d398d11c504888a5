/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One fault at a time, as cameras and cables make them, and each change of state or pad a hundred times; test_episodes.c
 * mixes the faults. tests/support/streams/judge.c has what must hold in every case. STEREO_STREAM_ELEMENT names the
 * element under test (tests/support/streams/kinds.c).
 */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/numbered.h"
#include "tests/support/streams/rig.h"
#include "tests/support/gst/suite.h"

static const RigKind *kind;

/* ---- single faults ----------------------------------------------------------------------- */

/* Frames of one view, one after the other. */
typedef struct
{
  guint from, to;          /* the moments that they show, from @from to before @to */
  guint without;           /* each so manieth is missing, the first one too */
  guint times, third;      /* each comes so often; each so manieth comes three times */
  gboolean swapped;        /* 0 2 1 3 */
  gint jitter;             /* a prime: timestamps are off by up to 9 ms, by its sign */
  gint64 later;            /* ns by which their timestamps are off */
  guint back;              /* frames by which the clock has jumped back */
  gboolean untimed, wider; /* wider: caps of another size come first */
  gboolean event;          /* an event comes first */
  guint gap;               /* GAP events of so many frames, in place of the frames */
  /* a segment that comes first, such as a seek leaves behind: of this rate, where it is not 0 */
  gdouble rate;
  GstClockTime start, base, stop;
  gint64 offset; /* of the camera's pad, from here on */
} Part;

typedef struct
{
  const gchar *name;
  guint pairs;       /* that come out */
  guint left, right; /* that are dropped */
  guint behind; /* so many of them lie behind the end of the other view: where nothing is live, one at least is dropped */
  gboolean lies;    /* timestamps do not tell the moment */
  Part parts[2][6]; /* of the left and the right camera */
} Case;

#define ALL \
  { \
    0, 40 \
  }
#define MS ((gint64) GST_MSECOND)
#define HUNDRED (100 * GST_SECOND)

static const Case cases[] = {
  { "nothing wrong", 40, 0, 0, .parts = { { ALL }, { ALL } } },
  { "frames dropped on the left", 30, 0, 10, .parts = { { { 0, 40, .without = 4 } }, { ALL } } },
  { "frames dropped on both", 24, 6, 8, .parts = { { { 0, 40, .without = 4 } }, { { 0, 40, .without = 5 } } } },
  { "frames repeated on the right", 40, 0, 28, 2, .parts = { { ALL }, { { 0, 40, .third = 3 } } } },
  /* the second one of each goes with the other camera's second one */
  { "frames repeated on both", 80, 0, 0, .parts = { { { 0, 40, .times = 2 } }, { { 0, 40, .times = 2 } } } },
  /* of the two in the middle one still finds its partner */
  { "frames reordered on the right", 30, 10, 10, .parts = { { ALL }, { { 0, 40, .swapped = TRUE } } } },
  { "frames reordered on both", 40, 0, 0, .parts = { { { 0, 40, .swapped = TRUE } }, { { 0, 40, .swapped = TRUE } } } },
  { "jitter", 40, 0, 0, .parts = { { { 0, 40, .jitter = 7919 } }, { { 0, 40, .jitter = -104729 } } } },
  { "a constant offset", 40, 0, 0, .parts = { { ALL }, { { 0, 40, .later = SCRIPT_FRAME / 4 } } } },
  /* without a word: the timestamps leap by five seconds */
  { "the left camera stops for 5 s", 40, 0, 125, .parts = { { { 0, 20 }, { 145, 165 } }, { { 0, 165 } } } },
  { "the right camera stops for 5 s", 40, 125, 0, .parts = { { { 0, 165 } }, { { 0, 20 }, { 145, 165 } } } },
  { "both cameras stop for 5 s", 40, 0, 0, .parts = { { { 0, 20 }, { 145, 165 } }, { { 0, 20 }, { 145, 165 } } } },
  { "GAP events on the left", 35, 0, 5, .parts = { { { 0, 10 }, { 10, 15, .gap = 5 }, { 15, 40 } }, { ALL } } },
  { "GAP events on the right", 35, 5, 0, .parts = { { ALL }, { { 0, 10 }, { 10, 15, .gap = 1 }, { 15, 40 } } } },
  /* by eight frames at once: frames that are not of one moment have the same time, but never meet */
  { "both clocks jump back", 40, 0, 0,
      .parts = { { { 0, 20 }, { 20, 40, .back = 8 } }, { { 0, 20 }, { 20, 40, .back = 8 } } } },
  /* from there on the timestamps lie, and are believed */
  { "the right clock jumps back", 38, 2, 2, 2, TRUE, .parts = { { ALL }, { { 0, 20 }, { 20, 40, .back = 2 } } } },
  { "no timestamps", 40, 0, 0, .parts = { { { 0, 40, .untimed = TRUE } }, { { 0, 40, .untimed = TRUE } } } },
  { "no timestamps on the right", 40, 0, 0, .parts = { { ALL }, { { 0, 40, .untimed = TRUE } } } },
  /* one pad is told early, while its frames of the old size still wait on the other */
  { "the left caps change first", 40, 0, 0,
      .parts = { { { 0, 20 }, { 20, 40, .wider = TRUE } }, { { 0, 20 }, { 20, 40, .wider = TRUE, .event = TRUE } } } },
  { "the right caps change first", 40, 0, 0,
      .parts = { { { 0, 20 }, { 20, 40, .wider = TRUE, .event = TRUE } }, { { 0, 20 }, { 20, 40, .wider = TRUE } } } },
  { "frames are lost where the caps change", 37, 0, 3,
      .parts = { { { 0, 17 }, { 20, 40, .wider = TRUE } }, { { 0, 20 }, { 20, 40, .wider = TRUE } } } },
  { "another segment every 8 frames", 40, 0, 0,
      .parts = { { ALL },
          { { 0, 8 }, { 8, 16, .rate = 1, .start = HUNDRED }, { 16, 24, .rate = 1, .start = 2 * HUNDRED },
              { 24, 32, .rate = 1, .start = 3 * HUNDRED }, { 32, 40, .rate = 1, .start = 4 * HUNDRED } } } },
  { "the right segment runs at twice the rate", 40, 0, 0,
      .parts = { { ALL }, { { 0, 40, .rate = 2, .start = 30 * GST_SECOND } } } },
  /* half a frame is half of what it lasts in the file's time then */
  { "both segments run at twice the rate, and frames are lost", 30, 10, 0,
      .parts = { { { 0, 40, .rate = 2 } }, { { 0, 40, .rate = 2, .without = 4 } } } },
  /* a frame lasts as long as four of the other's segment, and still goes with one that is a third of a frame off */
  { "both segments run at a quarter of the rate", 40, 0, 0,
      .parts = { { { 0, 40, .rate = 0.25, .start = 7 * GST_SECOND } },
          { { 0, 40, .rate = 0.25, .start = 7 * GST_SECOND, .offset = SCRIPT_FRAME / 3 } } } },
  { "segments of other starts and bases", 40, 0, 0,
      .parts = { { { 0, 40, .rate = 1, .start = 5 * GST_SECOND, .base = 60 * MS } },
          { { 0, 40, .rate = 1, .start = 80 * GST_SECOND, .base = 300 * MS } } } },
  /* what lies behind its end is no frame of the stream */
  { "the left segment stops early", 30, 0, 10, 10,
      .parts = { { { 0, 40, .rate = 1, .stop = SCRIPT_AT (30) } }, { ALL } } },
  /* the first eight of the right view lie before its segment */
  { "the right segment starts late", 32, 8, 0,
      .parts = { { ALL }, { { 0, 40, .rate = 1, .start = SCRIPT_AT (8), .base = SCRIPT_AT (8) } } } },
  /* what one camera's clock is behind, its pad makes good */
  { "an offset of the left pad", 40, 0, 0, .parts = { { { 0, 40, .offset = 130 * MS, .later = -130 * MS } }, { ALL } } },
  { "an offset of the right pad", 40, 0, 0, .parts = { { ALL }, { { 0, 40, .offset = -130 * MS, .later = 130 * MS } } } },
  { "the offset of the right pad changes", 40, 0, 0,
      .parts = { { ALL },
          { { 0, 10, .offset = -70 * MS, .later = 70 * MS }, { 10, 20, .offset = -20 * MS, .later = 20 * MS },
              { 20, 30, .offset = 30 * MS, .later = -30 * MS }, { 30, 40, .offset = 80 * MS, .later = -80 * MS } } } },
  { "the left view ends early", 25, 0, 15, 15, .parts = { { { 0, 25 } }, { ALL } } },
  { "the right view ends early", 25, 15, 0, 15, .parts = { { ALL }, { { 0, 25 } } } },
  { "the right camera sends nothing", 0, 20, 0, 20, .parts = { { { 0, 20 } }, { { 0 } } } },
};

static void
write_part (Script *script, guint view, const Part *part)
{
  const gdouble rate = part->rate > 0 ? part->rate : 1;

  if (part->rate > 0) {
    GstSegment segment;
    gst_segment_init (&segment, GST_FORMAT_TIME);
    segment.rate = part->rate;
    segment.start = segment.time = segment.position = part->start;
    segment.base = part->base;
    segment.stop = part->stop ? part->stop : GST_CLOCK_TIME_NONE;
    script_segment_of (script, view, &segment);
  }
  if (part->offset)
    script_offset (script, view, part->offset);
  if (part->event)
    script_event (script, view);
  if (part->wider)
    script_caps (script, view, NUMBERED_WIDTH + 8);
  script->faults[FAULT_REORDER] += part->swapped;
  for (guint i = part->from; i < part->to; i += MAX (part->gap, 1)) {
    guint n = part->swapped && i % 4 == 1 ? i + 1 : part->swapped && i % 4 == 2 ? i - 1 : i;
    guint times = part->third && i % part->third == 0 ? 3 : MAX (part->times, 1);
    gint64 off = part->later +
        (part->jitter < 0 ? -1 : 1) * (gint64) (i * (guint) ABS (part->jitter) % 9000) * GST_USECOND;
    gint64 time = (gint64) (SCRIPT_AT (n - part->back) - part->base);
    GstClockTime pts = (GstClockTime) ((gint64) part->start + (gint64) ((gdouble) time * rate) + off);
    if (part->gap)
      script_gap (script, view, SCRIPT_AT (i), part->gap * SCRIPT_FRAME);
    else if (!part->without || i % part->without)
      for (guint k = 0; k < times; k++)
        script_frame (script, view, n, part->untimed ? GST_CLOCK_TIME_NONE : pts);
  }
}

static void
run (const Case *one, gboolean live)
{
  g_autofree gchar *how = g_strdup_printf ("%s, %s", one->name, live ? "live" : "not live");
  guint all = one->left + one->right, least = live || !one->behind ? all : all - one->behind + 1;
  Script *script = script_new (NULL);

  guard_begin (how, 30);
  guard_count_objects ();
  script->truthful = !one->lies;
  script_begin (script);
  for (guint view = 0; view < 2; view++)
    for (const Part *part = one->parts[view]; part->to; part++)
      write_part (script, view, part);
  script_end (script);
  Rig *rig = rig_new (kind, script, live);
  rig_play (rig);
  g_autofree gchar *failure = rig_end (rig);
  guint left = (guint) rig_count (rig, "dropped-left"), right = (guint) rig_count (rig, "dropped-right");
  fail_unless (failure == NULL, "%s: %s", how, failure);
  fail_unless (rig->outputs == one->pairs && left <= one->left && right <= one->right && left + right >= least,
      "%s: %u pairs, %u left and %u right frames dropped; to be %u, %u and %u", how, rig->outputs, left, right,
      one->pairs, one->left, one->right);
  rig_free (rig);
  gchar *leaked = guard_leaked ();
  fail_unless (leaked == NULL, "%s, leaks: %s", how, leaked);
  guard_end ();
}

TEST_LOOP (test_case, 0, G_N_ELEMENTS (cases))
{
  rig_warm_up (kind);
  for (guint live = 0; live < 2; live++)
    run (&cases[__i__], live);
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
