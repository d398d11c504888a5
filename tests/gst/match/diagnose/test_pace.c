/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether pairs are computed as fast as they come, and what is advised where they are not. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/pace.h"
#include "tests/gst/match/diagnose/made.h"

#define MS G_GINT64_CONSTANT (1000000)

TEST (test_pace)
{
  GstStereoPaceCounts counts = { 0 };
  GstStereoPace pace = { 0 };
  guint begins = 0, ends = 0;

  /* thirty seconds at 25 pairs a second: from the tenth to the twentieth nine of ten are late */
  for (gint64 time = 0; time < 30000 * MS; time += 40 * MS) {
    gboolean slow = time >= 10000 * MS && time < 20000 * MS && time / (40 * MS) % 10;
    counts.late += slow;
    counts.pairs += !slow;
    GstStereoEpisodeChange change = gst_stereo_pace_add (&pace, time, &counts);
    begins += change == GST_STEREO_EPISODE_BEGINS;
    ends += change == GST_STEREO_EPISODE_ENDS;
    if (change == GST_STEREO_EPISODE_BEGINS) {
      fail_unless (time >= 13000 * MS && time <= 16000 * MS);
      fail_unless (pace.dropped > 50);
    }
  }
  fail_unless (begins == 1 && ends == 1);
  /* nothing comes out at all: no end */
  pace.stands = TRUE;
  gst_stereo_pace_flush (&pace);
  for (gint64 time = 40000 * MS; time < 60000 * MS; time += 40 * MS)
    fail_unless_equals_int (gst_stereo_pace_add (&pace, time, &counts), GST_STEREO_EPISODE_GOES_ON);
}

/* The source falls behind: that is why pairs come late, and not how long they take. */
TEST (test_pace_of_a_source_that_falls_behind)
{
  GstStereoPaceCounts counts = { .behind = TRUE };
  GstStereoPace pace = { 0 };

  for (gint64 time = 0; time < 30000 * MS; time += 40 * MS) {
    counts.late += time / (40 * MS) % 10 > 0;
    counts.pairs += time / (40 * MS) % 10 == 0;
    fail_unless_equals_int (gst_stereo_pace_add (&pace, time, &counts), GST_STEREO_EPISODE_GOES_ON);
  }
}

/* A device takes two seconds to start, and sixty pairs are dropped at once; and one pair takes six seconds, so that all
 * others are dropped at once. */
TEST (test_pace_at_the_start)
{
  GstStereoPaceCounts counts = { 0 };
  GstStereoPace pace = { 0 };
  guint begins = 0;

  for (gint64 time = 1000 * MS; time < 30000 * MS; time += 33 * MS) {
    fail_unless_equals_int (gst_stereo_pace_add (&pace, time, &counts), GST_STEREO_EPISODE_GOES_ON);
    counts.pairs++;
    counts.late += time == 1066 * MS ? 60 : 0;
  }
  for (gint64 time = 30000 * MS; time < 60000 * MS; time += 6000 * MS) {
    begins += gst_stereo_pace_add (&pace, time, &counts) == GST_STEREO_EPISODE_BEGINS;
    counts.pairs++;
    counts.late += 180;
  }
  fail_unless_equals_int (begins, 1);
}

/* @each: ns of a pixel, and of a disparity where that counts. */
static void
check_smaller (const GstStereoLoad *load, const GstStereoSmaller *smaller, gboolean counts, gdouble each)
{
  gdouble scale = smaller->width / (gdouble) load->width;
  gint disparities = counts ? smaller->disparities : 1;

  fail_unless (disparities * each * smaller->width * smaller->height <= 0.8001 * load->frame);
  if (!smaller->width)
    return;
  /* the shape is kept, and what was in range is in range */
  fail_unless (scale <= 1 && fabs (smaller->height - scale * load->height) <= 2);
  fail_unless (smaller->disparities >= scale * load->disparities);
}

/* Whatever is advised takes at most 0.8 of a frame's time. From coarse to fine, fewer disparities save none. */
TEST (test_advice)
{
  for (guint k = 0; k < 2000; k++) {
    GstStereoLoad load = { random_range (&generator, 64, 2000), random_range (&generator, 64, 1500),
      random_range (&generator, 16, 512), k % 3 == 0, random_range (&generator, 1, 1000) * (gdouble) MS,
      random_range (&generator, 8, 100) * (gdouble) MS };
    gint needed = random_range (&generator, 0, 400);
    GstStereoAdvice advice = gst_stereo_pace_advise (&load, needed);
    gdouble pixel = load.compute / load.width / load.height, each = pixel / load.disparities;
    fail_unless_equals_int (advice.elsewhere, load.compute < 0.85 * load.frame);
    if (advice.elsewhere)
      continue;
    fail_unless (advice.disparities * each * load.width * load.height <= 0.8001 * load.frame);
    fail_unless (!advice.disparities || (!load.listed && advice.disparities >= needed && advice.disparities % 16 == 0));
    check_smaller (&load, &advice.smaller, !load.listed, load.listed ? pixel : each);
  }
}

SUITE (pace)
{
  generator.state = random_seed ();
}
