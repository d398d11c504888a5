/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lateness logic alone: small cases, then a simulated element with a clock of its own, which checks what must hold
 * under any load. STEREO_TEST_SEED=N repeats a run.
 */

#include "gst/pairing/lateness.h"
#include "tests/support/gst/guard.h"
#include "tests/support/gst/suite.h"

#define MS G_GINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)

/* What the header promises, in its numbers. */
#define STALL 4

static GstStereoLateness
lateness (gint64 frame)
{
  GstStereoLateness self;

  gst_stereo_lateness_init (&self);
  gst_stereo_lateness_set_frame (&self, frame);
  return self;
}

/* Steps of one element, whose frames last 40 ms: what a pair has waited, in ms; then the pair takes @service, or it is decided upon. */
typedef struct
{
  gdouble now, waited, service; /* service: 0 = a decision at @now */
  gdouble late;                 /* by this decision, ms; -1 = by any time */
  gdouble latency;              /* after this step, ms */
} Step;

static const struct
{
  const gchar *what;
  Step steps[6];
} walks[] = {
  { "nothing is late before anything was measured", { { 100e3, 90e3, 0, 0, 40 } } },
  /* 9 ms are expected of the next, and a quarter of what is allowed is kept: it may wait 30 ms */
  { "what takes little time needs a frame",
      { { 0, 0, 8, 0, 40 }, { 0, 30, 0, 0, 40 }, { 0, 31, 0, 1, 40 }, { 0, -1000, 0, 0, 40 } } },
  /* an eighth more, and half a frame to wait */
  { "what takes longer raises the latency first",
      { { 0, 0, 80, 0, 110 }, { 0, 20, 0, 0, 110 }, { 0, 27, 0, 7, 110 }, { 0, 20, 90, 0, 110 },
          { 0, 20, 160, 0, 200 } } },
  /* one that was computed though it was late, without QoS, does not count for it */
  { "backlog is no latency",
      { { 0, 10e3, 8, 0, 40 }, { 0, 10e3, 80, 0, 110 }, { 0, 10e3, 80, 0, 110 }, { 0, 10e3, 80, 0, 110 } } },
  /* the second one within the period is no accident */
  { "one stall does not count", { { 0, 0, 8, 0, 40 }, { 0, 0, STALL * 40 + 1, 0, 40 }, { 0, 0, 800, 0, 920 } } },
  /* when all have been late for half a second, the next one is let through, and what it waited becomes part of the latency */
  { "not all are late for ever",
      { { 0, 0, 8, 0, 40 }, { 0, 300, 0, -1, 40 }, { 499, 100, 0, -1, 40 }, { 500, 110, 0, 0, 150 } } },
};

TEST_LOOP (test_walks, 0, G_N_ELEMENTS (walks))
{
  GstStereoLateness self = lateness (40 * MS);

  for (guint i = 0; i < G_N_ELEMENTS (walks[__i__].steps) && walks[__i__].steps[i].latency > 0; i++) {
    const Step *step = &walks[__i__].steps[i];
    gint64 waited = (gint64) (step->waited * 1e6), late = 0;
    if (step->service > 0)
      gst_stereo_lateness_took (&self, waited, 0, (gint64) (step->service * 1e6));
    else
      late = gst_stereo_lateness_decide (&self, (gint64) (step->now * 1e6), waited, 0);
    fail_unless (step->late < 0 ? late > 0 : late == (gint64) (step->late * 1e6),
        "%s, step %u: late by %" G_GINT64_FORMAT, walks[__i__].what, i, late);
    fail_unless (gst_stereo_lateness_latency (&self) == (gint64) (step->latency * 1e6),
        "%s, step %u: %" G_GINT64_FORMAT, walks[__i__].what, i, gst_stereo_lateness_latency (&self));
  }
  gint64 own = self.allowed;
  gst_stereo_lateness_flush (&self);
  fail_unless_equals_int64 (gst_stereo_lateness_latency (&self), own);
}

TEST (test_without_a_frame_rate)
{
  GstStereoLateness self = lateness (0);

  fail_unless_equals_int64 (gst_stereo_lateness_latency (&self), 0);
  gst_stereo_lateness_took (&self, 0, 0, 8 * MS);
  fail_unless (gst_stereo_lateness_latency (&self) > 8 * MS);
  fail_unless_equals_int64 (gst_stereo_lateness_decide (&self, 0, 0, 0), 0);
  /* the rate comes with other caps */
  gst_stereo_lateness_set_frame (&self, 400 * MS);
  fail_unless_equals_int64 (gst_stereo_lateness_latency (&self), 400 * MS);
}

/* ---- a simulated element ----------------------------------------------------------------- */

typedef struct
{
  GRand *rand;
  gint64 frame, delay, jitter; /* frames come that much later than their times: delay and up to jitter */
  gint64 compute, noise;       /* a pair takes compute and up to noise */
  gdouble stalls;              /* share of pairs that take longer */
  gint64 stall;                /* by up to so many times */
  gboolean synchronized;       /* the sink holds a pair, and the element, until the pipeline's latency is over */
  gint64 spare;                /* of the pipeline's latency, that is not the element's */
  gint64 from, to;             /* frames with times in between are sent at the end of that: the camera stood still */
  GstStereoLateness lateness;
  gint64 time, free;       /* of the next frame; when the element is done with the last one */
  gint64 latency, highest; /* as last seen, and ever */
  gint64 slowest;          /* pair ever */
  /* what came of it */
  guint outputs, late, over, unexpected, stalled, changes;
  gint64 idle; /* the longest that the element did nothing, after the first output */
} Element;

static gint64
up_to (Element *element, gint64 most)
{
  return most ? (gint64) (g_rand_double (element->rand) * (gdouble) most) : 0;
}

static gint64
draw_service (Element *element)
{
  gint64 service = element->compute + up_to (element, element->noise);

  if (g_rand_double (element->rand) < element->stalls)
    service += up_to (element, element->stall * service);
  return service;
}

/* Within what is reported, but for the exceptions that the header names; and those by no more than they were slow. */
static void
judge (Element *element, const GstStereoLateness *before, gint64 service)
{
  gint64 over = element->free - element->time - element->latency - element->spare;
  gboolean unexpected = before->expected <= before->frame && service > before->expected;

  if (!element->outputs)
    return;
  if (!before->stalled && service > STALL * before->allowed)
    element->stalled++;
  else if (over > (unexpected ? service - before->expected : 0))
    element->over++;
  else
    element->unexpected += over > 0;
}

static void
compute (Element *element, gint64 start)
{
  GstStereoLateness *lateness = &element->lateness, before = *lateness;
  gint64 service = draw_service (element);

  if (element->outputs)
    element->idle = MAX (element->idle, start - element->free);
  element->free = start + service;
  gst_stereo_lateness_took (lateness, start - element->time, element->spare, service);
  element->changes += element->latency != gst_stereo_lateness_latency (lateness);
  element->latency = gst_stereo_lateness_latency (lateness);
  element->highest = MAX (element->highest, element->latency);
  element->slowest = MAX (element->slowest, service);
  judge (element, &before, service);
  element->outputs++;
  if (element->synchronized)
    element->free = MAX (element->free, element->time + element->latency + element->spare);
}

/* So many frames more. */
static void
run (Element *element, guint frames)
{
  for (guint i = 0; i < frames; i++, element->time += element->frame) {
    gint64 arrival = element->time + element->delay + up_to (element, element->jitter), start;
    if (element->time >= element->from && element->time < element->to)
      arrival = element->to;
    start = MAX (arrival, element->free);
    if (gst_stereo_lateness_decide (&element->lateness, start, start - element->time, element->spare))
      element->late++;
    else
      compute (element, start);
  }
}

static Element
element_new (guint seed, gint64 frame, gint64 compute, gint64 noise)
{
  Element element = { g_rand_new_with_seed (seed), frame };

  element.compute = compute;
  element.noise = noise;
  element.lateness = lateness (frame);
  element.stall = 20;
  element.latency = frame;
  return element;
}

static void
element_free (Element *element)
{
  g_rand_free (element->rand);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Element, element_free)

static guint
new_seed (void)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ());

  g_print ("STEREO_TEST_SEED=%u\n", seed);
  return seed;
}

static guint
frames_in (const Element *element, gint64 time)
{
  return (guint) (time / element->frame);
}

/* Any load, also more than can be done: everything that comes out is within what is reported then. */
TEST (test_all_within_what_is_reported)
{
  guint seed = new_seed (), outputs = 0;

  for (guint i = 0; i < 400; i++) {
    g_auto (Element) element = element_new (seed + i, 4 * MS, 0, 0);
    element.frame += up_to (&element, 60 * MS);
    gst_stereo_lateness_set_frame (&element.lateness, element.frame);
    element.latency = element.frame;
    element.compute = MS / 10 + up_to (&element, 5 * element.frame);
    element.noise = up_to (&element, 3 * element.compute);
    element.jitter = up_to (&element, element.frame / 2);
    element.synchronized = g_rand_boolean (element.rand);
    element.spare = up_to (&element, 30 * MS);
    element.stalls = g_rand_boolean (element.rand) ? 0 : 0.02;
    run (&element, frames_in (&element, 60 * SECOND));
    fail_unless_equals_int (element.over, 0);
    fail_unless_equals_int (element.outputs + element.late, frames_in (&element, 60 * SECOND));
    /* one pair at a time, each within the time that the slowest may take, and a frame until the next one is there */
    gint64 busiest = (element.compute + element.noise) * (element.stalls > 0 ? 21 : 1) * 9 / 8 + 3 * element.frame +
        34 * MS;
    fail_unless (element.outputs >= 60 * SECOND / busiest - 1, "%u: %u of at least %d", seed + i, element.outputs,
        (gint) (60 * SECOND / busiest));
    fail_unless (element.idle <= 2 * element.frame || element.stalls > 0 || element.synchronized,
        "%u: idle for %" G_GINT64_FORMAT " ns", seed + i, element.idle);
    outputs += element.outputs;
  }
  fail_unless (outputs > 400 * 10);
}

/* Nothing is dropped, and the latency is a frame, where there is time enough. */
TEST (test_nothing_is_late_where_there_is_time)
{
  guint seed = new_seed ();

  for (guint i = 0; i < 100; i++) {
    g_auto (Element) element = element_new (seed + i, 33 * MS, 3 * MS, 10 * MS);
    element.jitter = 15 * MS;
    element.synchronized = i % 2;
    element.spare = i % 3 * 20 * MS;
    run (&element, 3000);
    fail_unless_equals_int (element.late, 0);
    fail_unless_equals_int (element.changes, 0);
  }
}

/* A sink that holds the element's thread leaves each pair a frame's time, whatever the latency. As long as that is
 * enough all come, and a slow one now and then costs some, not half of them. */
TEST (test_a_sink_that_holds_the_thread)
{
  guint seed = new_seed (), least = 100;

  for (guint i = 0; i < 100; i++) {
    g_auto (Element) element = element_new (seed + i, 33 * MS, 5 * MS, 24 * MS);
    guint frames = frames_in (&element, 60 * SECOND);
    element.synchronized = TRUE;
    element.spare = up_to (&element, 40 * MS);
    run (&element, 100);
    element.late = 0;
    run (&element, frames);
    fail_unless_equals_int (element.late, 0);
    for (guint slow = 0; slow < 6; slow++) {
      element.compute = 50 * MS;
      run (&element, 1);
      element.compute = 5 * MS;
      run (&element, frames / 6);
    }
    least = MIN (least, 100 - 100 * element.late / frames);
    /* an eighth more than the slow ones took is within three frames: two are dropped for each of the next pairs */
    fail_unless (
        element.late <= 6 * (2 * GST_STEREO_LATENESS_RECENT + 3), "%u: %u of %u late", seed + i, element.late, frames);
    fail_unless_equals_int (element.over, 0);
  }
  g_print ("at least %u %% come out where one pair in 10 s is slow\n", least);
}

/* Where a sink holds the thread, a slow pair adds to what it has waited, and the next one has waited longer. */
TEST (test_latency_is_bounded)
{
  guint seed = new_seed ();

  for (guint i = 0; i < 20; i++) {
    g_auto (Element) element = element_new (seed + i, 10 * MS, 60 * MS, 40 * MS);
    element.stalls = 0.1;
    element.stall = 3;
    element.synchronized = TRUE;
    run (&element, frames_in (&element, 1800 * SECOND));
    /* an eighth more than the slowest takes, beside at most three quarters of it all that are waited */
    fail_unless (element.highest <= 4 * (element.slowest * 9 / 8 + element.frame),
        "%u: %" G_GINT64_FORMAT " for %" G_GINT64_FORMAT, seed + i, element.highest, element.slowest);
    fail_unless_equals_int (element.over, 0);
  }
}

/* A slow pair raises it, if it is not too slow to be true, and is forgotten. */
TEST (test_a_slow_pair_is_forgotten)
{
  guint seed = new_seed ();

  for (guint i = 0; i < 50; i++) {
    g_auto (Element) element = element_new (seed + i, 40 * MS, 60 * MS, 0);
    gint64 before, slow = 100 * MS + up_to (&element, 200 * MS);
    run (&element, frames_in (&element, 10 * SECOND));
    before = element.latency;
    element.compute = slow;
    run (&element, 2);
    element.compute = 60 * MS;
    run (&element, 10);
    fail_unless (element.latency > before && element.latency >= slow, "%u: still %" G_GINT64_FORMAT, seed + i, before);
    run (&element, frames_in (&element, 20 * SECOND));
    fail_unless_equals_int64 (element.latency, before);
    fail_unless_equals_int (element.over, 0);
  }
}

/* Ten times the work from one pair to the next: the first looks like a stall, the latency follows the second. */
TEST (test_more_work_raises_the_latency)
{
  g_auto (Element) element = element_new (1, 10 * MS, 12 * MS, 0);

  run (&element, 1000);
  element.compute = 120 * MS;
  run (&element, frames_in (&element, SECOND));
  fail_unless_equals_int (element.stalled, 1);
  fail_unless (element.latency >= 120 * MS && element.latency < 150 * MS);
  fail_unless_equals_int (element.over, 0);
  element.outputs = 0;
  run (&element, frames_in (&element, 13 * SECOND));
  fail_unless (element.outputs >= 99, "%u", element.outputs);
}

/* Upstream reports less than it takes: pairs flow after half a second, and the latency is what it takes. */
TEST (test_upstream_is_later_than_it_reports)
{
  guint seed = new_seed ();

  for (guint i = 0; i < 50; i++) {
    g_auto (Element) element = element_new (seed + i, 20 * MS, 15 * MS, 4 * MS);
    gint64 own, delay = 30 * MS + up_to (&element, 900 * MS);
    run (&element, frames_in (&element, 10 * SECOND));
    own = element.latency;
    element.delay = delay;
    element.jitter = 5 * MS;
    run (&element, frames_in (&element, SECOND));
    element.late = element.outputs = 0;
    run (&element, frames_in (&element, 10 * SECOND));
    fail_unless_equals_int (element.outputs, frames_in (&element, 10 * SECOND));
    fail_unless (element.latency >= delay + 15 * MS && element.latency <= delay + own + 20 * MS,
        "%u: %" G_GINT64_FORMAT " for %" G_GINT64_FORMAT, seed + i, element.latency, delay);
    /* and not for ever */
    element.delay = 0;
    run (&element, frames_in (&element, 20 * SECOND));
    fail_unless (element.latency <= own + 10 * MS, "%u: still %" G_GINT64_FORMAT, seed + i, element.latency);
    fail_unless_equals_int (element.over, 0);
  }
}

/* However late, and however fast that grows, a pair a second comes out; timestamps of another clock are no latency. */
TEST (test_delays)
{
  static const struct
  {
    gint64 delay; /* ns */
    gdouble growth;
    guint least; /* of 600 frames in 12 s */
  } delays[] = {
    { 300 * MS, 0, 570 },
    { 1500 * MS, 0, 570 },
    { 3600 * SECOND, 0, 570 },
    { 0, 0.02, 100 },
    { 0, 0.25, 20 },
    { 0, 0.9, 12 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (delays); i++) {
    g_auto (Element) element = element_new (2, 20 * MS, 15 * MS, 0);
    element.delay = delays[i].delay;
    for (guint n = 0; n < 600; n++) {
      guint before = element.outputs;
      gint64 now = element.time + element.delay;
      run (&element, 1);
      if (element.outputs > before)
        element.from = now;
      fail_unless (now - element.from <= SECOND + 100 * MS || !element.from, "%u: nothing for %" G_GINT64_FORMAT " ms",
          i, (now - element.from) / MS);
      element.delay += (gint64) ((gdouble) element.frame * delays[i].growth / (1 - delays[i].growth));
    }
    fail_unless (element.outputs >= delays[i].least, "%u: %u", i, element.outputs);
    fail_unless (element.latency < 6 * SECOND);
  }
}

/* What a camera sends at once after it stood still is old; what comes after that is not. */
TEST (test_a_camera_stands_still)
{
  for (gint64 still = 100 * MS; still <= 20 * SECOND; still += 100 * MS) {
    g_auto (Element) element = element_new (3, 40 * MS, 5 * MS, 0);
    run (&element, 200);
    element.from = element.time;
    element.to = element.from + still;
    run (&element, 1000);
    fail_unless_equals_int64 (element.latency, 40 * MS);
    fail_unless_equals_int (element.over, 0);
    fail_unless (element.late <= still / (40 * MS) + 1);
  }
}

/* The clock is set back: periods still end. */
TEST (test_the_clock_is_set_back)
{
  GstStereoLateness self = lateness (40 * MS);

  gst_stereo_lateness_decide (&self, 1000 * SECOND, 0, 0);
  gst_stereo_lateness_took (&self, 0, 0, 200 * MS);
  for (guint i = 0; i < 200; i++) {
    gst_stereo_lateness_decide (&self, i * 100 * MS, 0, 0);
    gst_stereo_lateness_took (&self, 0, 0, 5 * MS);
  }
  fail_unless_equals_int64 (gst_stereo_lateness_latency (&self), 40 * MS);
}

SUITE (lateness)
{
}
