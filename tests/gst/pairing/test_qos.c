/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules for late pairs alone, in a simulated element with a clock of its own: what must hold under any load.
 * STEREO_TEST_SEED=N repeats a run.
 */
#include "gst/pairing/private.h"
#undef GST_CAT_DEFAULT /* gstcheck.h has one */
#include "tests/support/gst/guard.h"
#include "tests/support/gst/suite.h"

GST_DEBUG_CATEGORY (gst_stereo_aggregator_debug); /* which qos.c wants */

#define MS G_GINT64_CONSTANT (1000000)
#define SECOND (1000 * MS)
#define STALL 4 /* what qos.c promises */

/* Times in ms, where nothing else is said. */
typedef struct
{
  gdouble seconds;                       /* 0: there is no such load */
  gdouble frame, compute, noise, jitter; /* a pair takes compute and up to noise; a frame comes up to jitter later */
  gdouble stalls, stall;                 /* share of pairs that take longer, by up to so many times */
  gboolean held;             /* the sink holds a pair, and the element, until the pipeline's latency is over */
  gdouble spare;             /* of the pipeline's latency, that is not the element's */
  gdouble delay, growth;     /* frames come so much later than their times; it grows by so many seconds in one */
  gboolean still;            /* the camera stands still, and sends all at the end */
  gdouble least, most;       /* of a hundred frames, pairs that come out; most: 0 = any */
  gdouble shortest, longest; /* latency at the end; longest: 0 = any */
} Load;

typedef struct
{
  GRand *rand;
  GstStereoQos qos;
  gint64 time, free; /* of the next frame; when the element is done with the last one */
  gint64 delay, since, window, least,
      known; /* now; this second and the least delay in it; that of the second before, and known */
  gint64 latency;
  guint outputs, over;
  gint64 pause; /* the longest from one output to the next */
} Element;

static gint64
ns (gdouble ms)
{
  return (gint64) (ms * 1e6);
}

static gint64
up_to (Element *element, gdouble most)
{
  return (gint64) (g_rand_double (element->rand) * most * 1e6);
}

/* As sources.c does. */
static gint64
measure (Element *element, gint64 arrival)
{
  gint64 delay = arrival - element->time;

  if (arrival - element->since >= SECOND) {
    gint64 growth = element->known == NONE ? 0 : MAX (element->window - element->least, 0);
    growth = growth < SECOND / 2 ? growth : 0;
    element->known = element->since ? element->window + 2 * growth : NONE;
    element->least = element->window;
    element->since = arrival;
    element->window = delay;
  }
  element->window = MIN (element->window, delay);
  return element->known;
}

static void
compute (Element *element, const Load *load, gint64 start)
{
  const GstStereoQos before = element->qos;
  gint64 service = ns (load->compute) + up_to (element, load->noise);

  if (g_rand_double (element->rand) < load->stalls)
    service += up_to (element, load->stall * (gdouble) service / 1e6);
  if (element->outputs)
    element->pause = MAX (element->pause, start + service - element->free);
  element->free = start + service;
  gst_stereo_qos_took (&element->qos, service);
  element->qos.late_since = G_MAXINT64;
  element->latency = element->qos.allowed + (element->qos.excess <= 5 * SECOND ? element->qos.excess : 0);
  /* Within what is reported, but for a stall, and for one that took longer than those before: by no more than it was slow. A source
   * that is later than was known is not this element's fault. */
  gint64 over = element->free - element->time - element->latency - ns (load->spare),
         slow = before.expected <= before.frame ? MAX (0, service - before.expected) : 0;
  element->over += element->outputs && over > slow && load->growth <= 0 &&
      element->delay <= element->known + ns (load->jitter) && element->known < 5 * SECOND &&
      (before.stalled || service <= STALL * before.allowed);
  element->outputs++;
  if (load->held)
    element->free = MAX (element->free, element->time + element->latency + ns (load->spare));
}

static void
run (Element *element, const Load *load)
{
  gint64 frame = ns (load->frame), end = element->time + (gint64) (load->seconds * 1e9);

  element->qos.frame = frame;
  element->qos.allowed = MAX (element->qos.allowed, frame);
  element->qos.spare = ns (load->spare);
  element->delay = ns (load->delay);
  for (; element->time < end; element->time += frame) {
    gint64 arrival = (load->still ? end : element->time + element->delay) + up_to (element, load->jitter),
           start = MAX (arrival, element->free), known = measure (element, arrival);
    element->qos.waited = start - element->time;
    if (gst_stereo_qos_decide (&element->qos, start, known, 0) <= 0)
      compute (element, load, start);
    element->delay += (gint64) ((gdouble) frame * load->growth);
  }
}

static Element
element_new (guint seed)
{
  return (Element){ g_rand_new_with_seed (seed), { .enabled = TRUE, .live = TRUE, .late_since = G_MAXINT64 },
    .known = NONE };
}

static const struct
{
  const gchar *what;
  Load loads[5];
} cases[] = {
  { "there is time enough", { { 60, 33, 3, 10, 15, .least = 100, .shortest = 33, .longest = 33 } } },
  { "there is time enough, and the sink holds the thread",
      { { 60, 33, 5, 24, 0, .held = TRUE, .spare = 20, .least = 100, .shortest = 33, .longest = 50 } } },
  { "what takes longer raises the latency first: an eighth more, and half a frame to wait",
      { { 5, 40, 80, .shortest = 110, .longest = 110, .least = 30 } } },
  { "one pair in 10 s is slow: the next ones pay for it, not half of them",
      { { 10, 33, 5, 24, .held = TRUE }, { 0.03, 33, 50, .held = TRUE }, { 10, 33, 5, 24, .held = TRUE, .least = 88 } } },
  { "a slow pair is forgotten",
      { { 10, 40, 60, .longest = 88 }, { 0.08, 40, 250, .shortest = 250 }, { 30, 40, 60, .longest = 88 } } },
  { "ten times the work: the first pair looks like a stall, the latency follows the second",
      { { 10, 10, 12 }, { 1, 10, 120, .shortest = 120, .longest = 150 }, { 13, 10, 120, .least = 7, .longest = 150 } } },
  { "a machine that stands still once", { { 10, 40, 8 }, { 0.04, 40, 900 }, { 1, 40, 8, .longest = 40 } } },
  /* it is believed after half a second */
  { "a delay that is not known yet", { { 0.95, 20, 15, .delay = 400, .least = 40, .shortest = 400, .longest = 500 } } },
  { "a source that is later than it reports, and no longer",
      { { 5, 20, 15, 4 }, { 3, 20, 15, 4, 5, .delay = 400 },
          { 10, 20, 15, 4, 5, .delay = 400, .least = 100, .shortest = 410, .longest = 460 },
          { 20, 20, 15, 4, .least = 90, .longest = 60 } } },
  { "later by far", { { 10, 20, 15, .delay = 1500, .least = 85, .shortest = 1515, .longest = 1560 } } },
  /* the first second alone is lost; no such latency is reported */
  { "timestamps of another clock", { { 10, 20, 15, .delay = 3600e3, .least = 85, .longest = 50 } } },
  { "a delay that grows slowly", { { 12, 20, 15, .growth = 0.02, .least = 80 } } },
  { "a delay that grows fast", { { 12, 20, 15, .growth = 0.25, .least = 4 } } },
  { "a source that comes to a halt", { { 12, 20, 15, .growth = 9, .least = 8 } } },
  { "a camera stands still for a moment, and sends all at once",
      { { 8, 40, 5 }, { 0.5, 40, 5, .still = TRUE }, { 10, 40, 5, .least = 100, .shortest = 40, .longest = 40 } } },
  { "a camera stands still for long",
      { { 8, 40, 5 }, { 20, 40, 5, .still = TRUE }, { 10, 40, 5, .least = 98, .shortest = 40, .longest = 40 } } },
};

TEST_LOOP (test_cases, 0, G_N_ELEMENTS (cases))
{
  for (guint seed = 0; seed < 20; seed++) {
    Element element = element_new (seed);
    for (const Load *load = cases[__i__].loads; load->seconds > 0; load++) {
      guint frames = (guint) (load->seconds * 1e3 / load->frame);
      element.outputs = 0;
      element.pause = 0;
      run (&element, load);
      gdouble latency = (gdouble) element.latency / 1e6, share = 100.0 * element.outputs / frames;
      fail_unless (share >= load->least && (load->longest <= 0 || latency <= load->longest) && latency >= load->shortest,
          "%s, load %d: %.1f %% of %u come out, latency %.1f ms", cases[__i__].what, (gint) (load - cases[__i__].loads),
          share, frames, latency);
      fail_unless (element.pause <= (gint64) (1.2 * (gdouble) SECOND) + ns (load->compute) || load->growth > 1,
          "%s: nothing for %.1f ms", cases[__i__].what, (gdouble) element.pause / 1e6);
      fail_unless (element.over == 0, "%s: %u beyond the latency", cases[__i__].what, element.over);
    }
    g_rand_free (element.rand);
  }
}

/* Any load, also more than can be done: everything that comes out is within what is reported then. */
TEST (test_all_within_what_is_reported)
{
  guint seed = (guint) guard_number ("STEREO_TEST_SEED", g_random_int ()), outputs = 0;

  g_print ("STEREO_TEST_SEED=%u\n", seed);
  for (guint i = 0; i < 400; i++) {
    Element element = element_new (seed + i);
    Load load = { 60, 4 + (gdouble) up_to (&element, 60) / 1e6, .stall = 20, .held = g_rand_boolean (element.rand),
      .spare = (gdouble) up_to (&element, 30) / 1e6, .stalls = g_rand_boolean (element.rand) ? 0 : 0.02 };
    load.compute = 0.1 + (gdouble) up_to (&element, 5 * load.frame) / 1e6;
    load.noise = (gdouble) up_to (&element, 3 * load.compute) / 1e6;
    load.jitter = (gdouble) up_to (&element, load.frame / 2) / 1e6;
    run (&element, &load);
    fail_unless (element.over == 0, "%u: %u beyond the latency", seed + i, element.over);
    /* one pair at a time, each within the time that the slowest may take, and a frame until the next one is there */
    gdouble busiest = (load.compute + load.noise) * (load.stalls > 0 ? 21 : 1) * 9 / 8 + 3 * load.frame + 34;
    fail_unless (element.outputs >= 60e3 / busiest - 1, "%u: %u of at least %d", seed + i, element.outputs,
        (gint) (60e3 / busiest));
    outputs += element.outputs;
    g_rand_free (element.rand);
  }
  fail_unless (outputs > 400 * 10);
}

TEST (test_the_clock_is_set_back)
{
  Element element = element_new (1);

  element.time = 1000 * SECOND;
  run (&element, &(Load){ 1, 40, 200 });
  fail_unless (element.latency > 200 * MS);
  element.time = element.free = element.since = 0;
  run (&element, &(Load){ 20, 40, 5 });
  fail_unless_equals_int64 (element.latency, 40 * MS);
  g_rand_free (element.rand);
}

SUITE (qos)
{
}
