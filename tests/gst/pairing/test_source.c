/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What frames tell of their source: for how long it is silent, and whether its frames come later and later. */
#include "gst/pairing/source.h"
#include "tests/support/gst/suite.h"

#define FRAME (100 * GST_MSECOND)
#define START (1000 * GST_SECOND) /* of the clock */

/* Frames for so many seconds, whose delay grows by @growth ms in each; each stays in the pad for @held. Returns whether
 * the source falls behind at the end. */
static gboolean
run (GstStereoSource *source, GstClockTime *now, gdouble seconds, gdouble growth, GstClockTime held)
{
  static gdouble delay; /* ms */

  if (!source->first)
    delay = 40;
  for (GstClockTime end = *now + (GstClockTime) (seconds * GST_SECOND); *now < end; *now += FRAME) {
    gst_stereo_source_enter (source, *now, (gint64) (delay * 1e6));
    gst_stereo_source_leave (source, *now + held);
    delay += growth / 10;
  }
  return source->behind;
}

/* One stretch after the other, of one source. */
static const struct
{
  gdouble seconds, growth; /* growth: ms in a second */
  GstClockTime held;
  gboolean behind;
} stretches[] = {
  { 10, 0, 0, FALSE },
  { 10, 1, 0, FALSE },                  /* a clock that drifts */
  { 4, 250, 0, FALSE },                 /* three windows are to show it */
  { 2, 250, 0, TRUE },                  /* and do */
  { 20, 250, 0, TRUE },                 /* for as long as it lasts */
  { 3, 0, 0, TRUE },                    /* late as ever, it no longer grows */
  { 3, 0, 0, FALSE },                   /* which three windows show */
  { 10, 250, 20 * GST_MSECOND, FALSE }, /* we keep the source from sending */
  { 8, -100, 0, FALSE },                /* it makes up for that */
  { 6, 60, 0, TRUE },
};

TEST (test_delays_that_grow)
{
  GstStereoSource source = { 0 };
  GstClockTime now = START;

  for (guint i = 0; i < G_N_ELEMENTS (stretches); i++)
    fail_unless (
        run (&source, &now, stretches[i].seconds, stretches[i].growth, stretches[i].held) == stretches[i].behind,
        "stretch %u", i);
  gst_stereo_source_flush (&source);
  fail_if (source.behind);
  fail_if (run (&source, &now, 3, 250, 0));
}

TEST (test_silence)
{
  GstStereoSource left = { 0 }, right = { 0 };

  /* nothing came yet: cameras may take their time */
  fail_unless_equals_uint64 (gst_stereo_source_idle (&left, &right, 0, START), 0);
  gst_stereo_source_enter (&left, START, GST_CLOCK_STIME_NONE);
  gst_stereo_source_leave (&left, START);
  fail_unless_equals_uint64 (gst_stereo_source_idle (&left, &right, 0, START + FRAME), FRAME);
  /* the other one should have begun, too; time before @since does not count, as that in PAUSED */
  fail_unless_equals_uint64 (gst_stereo_source_idle (&right, &left, 0, START + 3 * FRAME), 3 * FRAME);
  fail_unless_equals_uint64 (gst_stereo_source_idle (&right, &left, START + FRAME, START + 3 * FRAME), 2 * FRAME);
  fail_unless_equals_uint64 (gst_stereo_source_idle (&right, &left, START + 4 * FRAME, START + 3 * FRAME), 0);
  /* a frame is on its way into the element: the source waits, and not we */
  gst_stereo_source_enter (&right, START + 5 * FRAME, GST_CLOCK_STIME_NONE);
  fail_unless_equals_uint64 (gst_stereo_source_idle (&right, &left, 0, START + 20 * FRAME), 0);
  gst_stereo_source_leave (&right, START + 20 * FRAME);
  fail_unless_equals_uint64 (gst_stereo_source_idle (&right, &left, 0, START + 21 * FRAME), FRAME);
}

SUITE (source)
{
}
