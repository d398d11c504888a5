/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the timestamps of both views say: a skew, and a drift. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/timestamps.h"
#include "tests/gst/match/diagnose/made.h"

#define MS ((gint64) GST_MSECOND)

/* A span of pairs, @count of them; the skew starts at @from and grows by @growth each. */
static void
add_span (GstStereoSkew *skew, gint64 *time, guint count, gint64 from, gint64 growth, gint64 jitter)
{
  for (guint i = 0; i < count; i++, *time += 40 * MS)
    gst_stereo_skew_add (
        skew, *time, from + i * growth + (jitter ? random_range (&generator, (gint) -jitter, (gint) jitter) : 0));
}

TEST (test_skew)
{
  GstStereoSkew skew = { 0 };
  gint64 time = 0;

  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), UNKNOWN);
  add_span (&skew, &time, 3, 15 * MS, 0, 0);
  fail_if (gst_stereo_skew_close (&skew)); /* too few */
  add_span (&skew, &time, 97, 15 * MS, 0, 0);
  fail_unless (gst_stereo_skew_close (&skew));
  fail_unless_equals_float (skew.mean, 15 * MS);
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), BAD);
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 80 * MS), GOOD);
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 0), UNKNOWN);
  fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), UNKNOWN);
  /* to either side: as bad, though the mean is nothing */
  for (guint i = 0; i < 50; i++)
    gst_stereo_skew_add (&skew, time += 40 * MS, i % 2 ? 14 * MS : -14 * MS);
  fail_unless (gst_stereo_skew_close (&skew));
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), BAD);
  /* a steady one, with jitter, is no drift */
  for (guint span = 0; span < 20; span++) {
    add_span (&skew, &time, 100, 2 * MS, 0, MS);
    fail_unless (gst_stereo_skew_close (&skew));
    if (span < 4)
      continue;
    fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), GOOD);
    fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), GOOD);
  }
}

TEST (test_drift)
{
  for (gint direction = -1; direction <= 1; direction += 2) {
    const gint64 growth = direction * 20000; /* ns a pair: 0.5 ms in a second */
    GstStereoSkew skew = { 0 };
    gint64 time = 0, from = -direction * 8 * MS;

    for (guint span = 0; span < 6; span++) {
      add_span (&skew, &time, 100, from, growth, 3 * MS);
      from += 100 * growth;
      fail_unless (gst_stereo_skew_close (&skew));
      fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), span < 3 ? UNKNOWN : BAD);
    }
    fail_unless (fabs (skew.drift - growth * 25) < 0.15 * fabs (growth * 25.0), "%g ns/s", skew.drift);
    /* past half a frame the next frame is the partner: that is not one way any more */
    add_span (&skew, &time, 100, from - direction * 40 * MS, growth, 0);
    gst_stereo_skew_close (&skew);
    fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), GOOD);
  }
}

SUITE (timestamps)
{
  generator.state = random_seed ();
}
