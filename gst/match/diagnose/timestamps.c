/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/timestamps.h"

#include <math.h>
#include <string.h>

#define MIN_PAIRS 10  /* in a span */
#define LARGE_SHARE 4 /* a skew of 1 / this of the frame is worth a word */
#define MS(ns) ((gdouble) (ns) / 1e6)
#define DRIFT_SHARE 20 /* and that much of a change, one way all the time */

void
gst_stereo_skew_add (GstStereoSkew *skew, gint64 time, gint64 difference)
{
  if (!skew->count++)
    skew->first = time;
  skew->last = time;
  skew->sum += difference;
  skew->absolute += ABS (difference);
}

/* Per second; 0 unless every span lies beyond the one before, in one direction. */
static gdouble
drift_of (const GstStereoSkew *skew)
{
  const GstStereoSkewSpan *first = skew->spans, *last = skew->spans + skew->filled - 1;
  gdouble whole = last->skew - first->skew;

  if (skew->filled < GST_STEREO_SKEW_SPANS || last->time <= first->time)
    return 0;
  for (guint i = 1; i < skew->filled; i++)
    if ((skew->spans[i].skew - skew->spans[i - 1].skew) * whole <= 0)
      return 0;
  return whole / ((last->time - first->time) / 1e9);
}

gboolean
gst_stereo_skew_close (GstStereoSkew *skew)
{
  if (skew->count < MIN_PAIRS)
    return FALSE;
  if (skew->filled == GST_STEREO_SKEW_SPANS)
    memmove (skew->spans, skew->spans + 1, sizeof skew->spans - sizeof skew->spans[0]);
  else
    skew->filled++;
  skew->mean = (gdouble) skew->absolute / skew->count;
  skew->spans[skew->filled - 1] = (GstStereoSkewSpan){ skew->first + (skew->last - skew->first) / 2,
    (gdouble) skew->sum / skew->count };
  skew->drift = drift_of (skew);
  skew->count = 0;
  skew->sum = skew->absolute = 0;
  return TRUE;
}

GstStereoVerdict
gst_stereo_skew_is_large (const GstStereoSkew *skew, gint64 frame)
{
  if (!skew->filled || frame <= 0)
    return GST_STEREO_VERDICT_UNKNOWN;
  return skew->mean * LARGE_SHARE > frame ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
}

GstStereoVerdict
gst_stereo_skew_drifts (const GstStereoSkew *skew, gint64 frame)
{
  const GstStereoSkewSpan *last = skew->spans + GST_STEREO_SKEW_SPANS - 1;

  if (skew->filled < GST_STEREO_SKEW_SPANS || frame <= 0)
    return GST_STEREO_VERDICT_UNKNOWN;
  return skew->drift != 0 && fabs (last->skew - skew->spans[0].skew) * DRIFT_SHARE > frame ? GST_STEREO_VERDICT_BAD :
                                                                                             GST_STEREO_VERDICT_GOOD;
}

gchar *
gst_stereo_skew_describe (const GstStereoSkew *skew, gint64 frame)
{
  return g_strdup_printf ("The views are out of step: the two frames of a pair are %.1f ms apart on average, of %.1f "
                          "ms from frame to frame. What moves gets a wrong disparity. Trigger the cameras together, or "
                          "start them together.",
      MS (skew->mean), MS (frame));
}

gchar *
gst_stereo_skew_describe_drift (const GstStereoSkew *skew)
{
  return g_strdup_printf ("The timestamps of the two views drift apart, by %.3f ms in a second: the cameras run at "
                          "different rates. Trigger them together, or let one clock stamp both.",
      MS (skew->drift));
}
