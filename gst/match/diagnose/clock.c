/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/clock.h"

#include <math.h>
#include <string.h>

#define MS(ns) ((gdouble) (ns) / 1e6)

/* ---- timestamps ------------------------------------------------------------------------------ */

#define MIN_PAIRS 10   /* in a span */
#define LARGE_SHARE 4  /* a difference of 1 / this of the frame is worth a word, */
#define DRIFT_SHARE 20 /* and that much of a change, one way in so many checks: */
#define STEPS 3

void
gst_stereo_clock_flush (GstStereoClock *clock)
{
  memset (clock, 0, sizeof *clock);
}

void
gst_stereo_clock_add (GstStereoClock *clock, gint64 time, gint64 difference)
{
  if (!clock->count++)
    clock->first = time;
  clock->last = time;
  clock->sum += difference;
  clock->absolute += ABS (difference);
}

void
gst_stereo_clock_check (GstStereoClock *clock, GstStereoFaults *faults, gint64 frame)
{
  if (clock->count < MIN_PAIRS)
    return;
  gdouble time = ((gdouble) clock->first + (gdouble) clock->last) / 2;
  gdouble skew = (gdouble) clock->sum / clock->count, step = skew - clock->skew;
  if (!clock->time || step * clock->change <= 0) {
    clock->from = clock->time;
    clock->change = clock->steps = 0;
  }
  if (clock->time) {
    clock->change += step;
    clock->steps++;
  }
  clock->time = time;
  clock->skew = skew;
  clock->mean = (gdouble) clock->absolute / clock->count;
  clock->count = 0;
  clock->sum = clock->absolute = 0;
  clock->drift = clock->steps >= STEPS ? clock->change / (time - clock->from) * 1e9 : 0;
  if (frame <= 0)
    return;
  if (gst_stereo_faults_judge (faults, GST_STEREO_HEALTH_OUT_OF_STEP, 1,
          clock->mean * LARGE_SHARE > (gdouble) frame ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD, 0, 0))
    gst_stereo_faults_say (faults, GST_STEREO_HEALTH_OUT_OF_STEP,
        g_strdup_printf ("The two frames of a pair are %.1f ms apart on average, of %.1f ms from frame to frame.",
            MS (clock->mean), MS (frame)),
        MS (clock->mean), NULL);
  if (gst_stereo_faults_judge (faults, GST_STEREO_HEALTH_DRIFT, 0,
          clock->drift != 0 && fabs (clock->change) * DRIFT_SHARE > (gdouble) frame ? GST_STEREO_VERDICT_BAD :
                                                                                      GST_STEREO_VERDICT_GOOD,
          0, 0))
    gst_stereo_faults_say (faults, GST_STEREO_HEALTH_DRIFT,
        g_strdup_printf ("The timestamps drift by %.3f ms in a second.", MS (clock->drift)), MS (clock->drift), NULL);
}

/* ---- the pace -------------------------------------------------------------------------------- */

#define SPAN \
  G_GINT64_CONSTANT (1250000000) /* ns: a verdict covers so long; four of them are no burst, as while a device starts */
#define MIN_DROPPED 2            /* pairs in a span */
#define SLOW_BAD 0.05            /* share of the pairs that were dropped */
#define SLOW_GOOD 0.01
#define FULL_LOAD 0.85 /* a pair that takes this share of a frame is what the stream waits for */
#define AIM 0.8        /* of a frame: times vary */

static void
say_slow (GstStereoFaults *faults, guint64 dropped, guint64 pairs, const GstStereoPaceCounts *counts, gint64 frame,
    gint width, gint height)
{
  gdouble compute = (gdouble) counts->compute, share = compute > 0 ? AIM * (gdouble) frame / compute : 0;
  gboolean known = compute > 0 && frame > 0, elsewhere = compute < FULL_LOAD * (gdouble) frame;
  /* as if time were in proportion to the pixels: it falls faster where fewer disparities are searched, too */
  gint wide = known && !elsewhere ? (gint) (width * sqrt (share)) / 4 * 4 : 0, high = width ? wide * height / width : 0;
  GString *text = g_string_new (NULL);

  GstStructure *fields = gst_structure_new ("stereo-health", "dropped", G_TYPE_UINT64, dropped, "computed",
      G_TYPE_UINT64, pairs - dropped, "compute-time", G_TYPE_UINT64, counts->compute, "frame-time", G_TYPE_UINT64,
      (guint64) MAX (0, frame), "scaled-width", G_TYPE_INT, wide, "scaled-height", G_TYPE_INT, high, NULL);
  g_string_printf (
      text, "Of %" G_GUINT64_FORMAT " pairs of the last seconds, %" G_GUINT64_FORMAT " were dropped.", pairs, dropped);
  if (known)
    g_string_append_printf (text, " A pair takes %.1f ms, and one comes every %.1f ms.", MS (compute), MS (frame));
  if (known && elsewhere)
    g_string_append (text,
        " Matching is fast enough: what follows stereomatch is not, or other work takes the processor. Put a queue behind "
        "stereomatch, or make less of what follows. A program of one's own has to call gst_bin_recalculate_latency() when "
        "the bus has a LATENCY message: gst-launch-1.0 does that by itself.");
  else if (known)
    g_string_append_printf (text,
        " Lower the frame rate, or try method=bm, which takes about half the time of the default, or views of %dx%d pixels "
        "with num-disparities in proportion: as an estimate from that time.",
        wide, high);
  gst_stereo_faults_say (faults, GST_STEREO_HEALTH_SLOW, g_string_free (text, FALSE),
      (gdouble) dropped / (gdouble) MAX (1, pairs), fields);
}

void
gst_stereo_clock_pace (GstStereoClock *clock, GstStereoFaults *faults, gint64 time, const GstStereoPaceCounts *counts,
    gint64 frame, gint width, gint height)
{
  if (clock->begin && time - clock->begin < SPAN)
    return;
  if (clock->begin) {
    guint64 dropped = counts->late - clock->at.late, pairs = counts->pairs - clock->at.pairs + dropped;
    gdouble share = (gdouble) dropped / (gdouble) MAX (1, pairs);
    gboolean bad = dropped >= MIN_DROPPED && share >= SLOW_BAD;
    GstStereoVerdict verdict = bad && !counts->behind ? GST_STEREO_VERDICT_BAD :
        pairs > dropped && share <= SLOW_GOOD         ? GST_STEREO_VERDICT_GOOD :
                                                        GST_STEREO_VERDICT_UNKNOWN;
    if (gst_stereo_faults_judge (faults, GST_STEREO_HEALTH_SLOW, 0, verdict, time, SPAN))
      say_slow (faults, dropped, pairs, counts, frame, width, height);
  }
  clock->begin = time;
  clock->at = *counts;
}
