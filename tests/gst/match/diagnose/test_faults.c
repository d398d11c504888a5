/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When a fault begins and ends, by verdicts on single pairs; and what the clock says. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/clock.h"
#include "tests/gst/match/diagnose/made.h"

#define MS G_GINT64_CONSTANT (1000000)
#define FRAME (40 * MS)

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_match_debug);

static GstElement *element;
static GstStereoFaults *faults;

static void
set_up (void)
{
  element = gst_element_factory_make ("identity", NULL);
  faults = gst_stereo_faults_new (element);
}

static void
tear_down (void)
{
  gst_stereo_faults_free (faults);
  gst_object_unref (element);
}

static gboolean
stands (GstStereoHealthFlags flag)
{
  return (gst_stereo_faults_get (faults) & flag) != 0;
}

/* ---- faults ------------------------------------------------------------------------------ */

/* "g": good, "b": bad, "u": unknown, @step ns from one to the next; upper case: the fault begins or ends with it. */
static void
add_verdicts (const gchar *verdicts, guint cause, gint64 *time, gint64 step, gint64 hold)
{
  for (; *verdicts; verdicts++, *time += step) {
    gchar lower = g_ascii_tolower (*verdicts);
    GstStereoVerdict verdict = lower == 'g' ? GOOD : lower == 'b' ? BAD : UNKNOWN;
    gboolean changes = gst_stereo_faults_judge (faults, GST_STEREO_HEALTH_SWAPPED, cause, verdict, *time, hold);
    fail_unless (changes == (lower != *verdicts), "before \"%s\"", verdicts);
  }
}

/* A fault that one verdict shows begins once, and ends after three that do not show it. */
TEST (test_said_once)
{
  gint64 time = 0;

  set_up ();
  add_verdicts ("ugBbubugbugbuuuuuuuuuuuuggbgugbgguuuuuuuuuuuuuG", 0, &time, 0, 0);
  fail_unless (!stands (GST_STEREO_HEALTH_SWAPPED));
  add_verdicts ("ggB", 0, &time, 0, 0);
  fail_unless (stands (GST_STEREO_HEALTH_SWAPPED));
  /* of two causes, the fault stands until the last one has ended */
  add_verdicts ("bb", 1, &time, 0, 0);
  add_verdicts ("ggg", 0, &time, 0, 0);
  add_verdicts ("ggG", 1, &time, 0, 0);
  /* where one pair says little */
  add_verdicts ("bgbgbuBgbggG", 0, &time, MS, GST_STEREO_TWICE);
  tear_down ();
}

/* Any other has to last a second, and four verdicts; so has its end. */
TEST (test_lasting)
{
  gint64 time = 0;

  set_up ();
  /* a hand passes the lens, again and again; after eight unknown verdicts nothing counts any more */
  add_verdicts ("bbbbbgbbbbbgbbbbbuuuuuuuubbbbbuuuuuuuB", 0, &time, 200 * MS, 1000 * MS);
  add_verdicts ("bbbbbbbbgggggbbgggggbbgggggG", 0, &time, 200 * MS, 1000 * MS);
  /* while a fault is suspected, looks come twice as fast */
  add_verdicts ("bbbbb", 0, &time, 200 * MS, 1000 * MS);
  fail_unless (gst_stereo_faults_get_suspected (faults) == GST_STEREO_HEALTH_SWAPPED);
  add_verdicts ("uuuuuuuuuuuu", 0, &time, 100 * MS, 1000 * MS);
  fail_unless (!gst_stereo_faults_get_suspected (faults));
  add_verdicts ("BgggggG", 0, &time, 200 * MS, 1000 * MS);
  /* rare frames: four of them, however long that takes */
  add_verdicts ("bbbB", 0, &time, 5000 * MS, 1000 * MS);
  tear_down ();
}

/* ---- timestamps -------------------------------------------------------------------------- */

/* A span of pairs, @count of them; the skew starts at @from and grows by @growth each. */
static void
add_span (GstStereoClock *clock, gint64 *time, guint count, gint64 from, gint64 growth, gint64 jitter)
{
  for (guint i = 0; i < count; i++, *time += FRAME)
    gst_stereo_clock_add (
        clock, *time, from + i * growth + (jitter ? random_range (&generator, (gint) -jitter, (gint) jitter) : 0));
  gst_stereo_clock_check (clock, faults, FRAME);
}

TEST (test_skew)
{
  GstStereoClock clock = { 0 };
  gint64 time = 0;

  set_up ();
  add_span (&clock, &time, 3, 15 * MS, 0, 0); /* too few */
  fail_unless (!stands (GST_STEREO_HEALTH_OUT_OF_STEP));
  add_span (&clock, &time, 97, 15 * MS, 0, 0);
  fail_unless_equals_float (clock.mean, 15 * MS);
  fail_unless (stands (GST_STEREO_HEALTH_OUT_OF_STEP));
  /* a steady one, with jitter, is no drift */
  for (guint span = 0; span < 20; span++) {
    add_span (&clock, &time, 100, 2 * MS, 0, MS);
    fail_unless (stands (GST_STEREO_HEALTH_OUT_OF_STEP) == (span < 2) && !stands (GST_STEREO_HEALTH_DRIFT));
  }
  /* to either side: as bad, though the mean is nothing */
  for (guint i = 0; i < 50; i++)
    gst_stereo_clock_add (&clock, time += FRAME, i % 2 ? 14 * MS : -14 * MS);
  gst_stereo_clock_check (&clock, faults, 80 * MS);
  fail_unless (!stands (GST_STEREO_HEALTH_OUT_OF_STEP));
  for (guint i = 0; i < 50; i++)
    gst_stereo_clock_add (&clock, time += FRAME, i % 2 ? 14 * MS : -14 * MS);
  gst_stereo_clock_check (&clock, faults, FRAME);
  fail_unless (stands (GST_STEREO_HEALTH_OUT_OF_STEP));
  tear_down ();
}

TEST (test_drift)
{
  for (gint direction = -1; direction <= 1; direction += 2) {
    const gint64 growth = direction * 20000; /* ns a pair: 0.5 ms in a second */
    GstStereoClock clock = { 0 };
    gint64 time = 0, from = -direction * 8 * MS;

    set_up ();
    for (guint span = 0; span < 6; span++, from += 100 * growth) {
      add_span (&clock, &time, 100, from, growth, 3 * MS);
      fail_unless_equals_int (stands (GST_STEREO_HEALTH_DRIFT), span >= 3);
    }
    fail_unless (fabs (clock.drift - growth * 25) < 0.15 * fabs (growth * 25.0), "%g ns/s", clock.drift);
    /* past half a frame the next frame is the partner: that is not one way any more */
    for (guint span = 0; span < 3; span++, from += 100 * growth)
      add_span (&clock, &time, 100, from - direction * 40 * MS, growth, 0);
    fail_unless (!stands (GST_STEREO_HEALTH_DRIFT));
    tear_down ();
  }
}

/* ---- the pace ---------------------------------------------------------------------------- */

/* @late of @of pairs that come for so many seconds. */
static void
add_pairs (GstStereoClock *clock, GstStereoPaceCounts *counts, gint64 *time, gint seconds, gint late, gint of)
{
  for (gint64 end = *time + seconds * 1000 * MS; *time < end; *time += FRAME) {
    gboolean slow = *time / FRAME % of < late;
    counts->late += slow;
    counts->pairs += !slow;
    gst_stereo_clock_pace (clock, faults, *time, counts, FRAME, 640, 480);
  }
}

TEST (test_pace)
{
  GstStereoPaceCounts counts = { .compute = 100 * MS };
  GstStereoClock clock = { 0 };
  gint64 time = 0;

  set_up ();
  add_pairs (&clock, &counts, &time, 10, 0, 10);
  fail_unless (!stands (GST_STEREO_HEALTH_SLOW));
  add_pairs (&clock, &counts, &time, 10, 9, 10);
  fail_unless (stands (GST_STEREO_HEALTH_SLOW));
  /* nothing comes out at all: no end */
  add_pairs (&clock, &counts, &time, 30, 10, 10);
  fail_unless (stands (GST_STEREO_HEALTH_SLOW));
  add_pairs (&clock, &counts, &time, 21, 0, 10);
  fail_unless (!stands (GST_STEREO_HEALTH_SLOW));
  /* the source falls behind: that is why pairs come late, and not how long they take */
  counts.behind = TRUE;
  add_pairs (&clock, &counts, &time, 30, 9, 10);
  fail_unless (!stands (GST_STEREO_HEALTH_SLOW));
  tear_down ();
}

/* A device takes two seconds to start, and sixty pairs are dropped at once; and one pair takes six seconds, so that all
 * others are dropped at once. */
TEST (test_pace_at_the_start)
{
  GstStereoPaceCounts counts = { 0 };
  GstStereoClock clock = { 0 };

  set_up ();
  for (gint64 time = 1000 * MS; time < 30000 * MS; time += 33 * MS) {
    gst_stereo_clock_pace (&clock, faults, time, &counts, 33 * MS, 640, 480);
    fail_unless (!stands (GST_STEREO_HEALTH_SLOW));
    counts.pairs++;
    counts.late += time == 1066 * MS ? 60 : 0;
  }
  for (gint64 time = 30000 * MS; time < 60000 * MS; time += 6000 * MS) {
    gst_stereo_clock_pace (&clock, faults, time, &counts, 33 * MS, 640, 480);
    counts.pairs++;
    counts.late += 180;
  }
  fail_unless (stands (GST_STEREO_HEALTH_SLOW));
  tear_down ();
}

SUITE (faults)
{
  GST_DEBUG_CATEGORY_INIT (gst_stereo_match_debug, "stereomatch", 0, NULL); /* no plugin is there to do it */
  generator.state = random_seed ();
}
