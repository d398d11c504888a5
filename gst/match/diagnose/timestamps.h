/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks by the timestamps alone whether two views are in step.
 *
 * Some faults cannot be seen this way: timestamps of both cameras that are wrong by the same amount, and timestamps of the
 * arrival instead of the exposure.
 */
#ifndef GST_STEREO_TIMESTAMPS_H
#define GST_STEREO_TIMESTAMPS_H

#include "gst/match/diagnose/episodes.h"

G_BEGIN_DECLS

#define GST_STEREO_SKEW_SPANS 4

typedef struct
{
  gint64 time;  /* of the middle of the span, ns */
  gdouble skew; /* mean, ns */
} GstStereoSkewSpan;

/* Zeroed at first. */
typedef struct
{
  guint count;          /* pairs since the last span was closed */
  gint64 sum, absolute; /* of their skew, ns */
  gint64 first, last;   /* their times, ns */
  gdouble mean;         /* of the absolute skew in the last span, ns */
  gdouble drift;        /* ns per second over the last spans; 0 unless all of them change in the same direction */
  GstStereoSkewSpan spans[GST_STEREO_SKEW_SPANS]; /* oldest first */
  guint filled;
} GstStereoSkew;

/* Adds a pair at @time. @difference: right minus left, ns. */
void gst_stereo_skew_add (GstStereoSkew *skew, gint64 time, gint64 difference);
/* Closes a span; FALSE while it has too few pairs. */
gboolean gst_stereo_skew_close (GstStereoSkew *skew);
/* @frame: nominal time from frame to frame in ns; 0 = unknown. */
GstStereoVerdict gst_stereo_skew_is_large (const GstStereoSkew *skew, gint64 frame);
GstStereoVerdict gst_stereo_skew_drifts (const GstStereoSkew *skew, gint64 frame);
/* The texts of the warnings. */
gchar *gst_stereo_skew_describe (const GstStereoSkew *skew, gint64 frame);
gchar *gst_stereo_skew_describe_drift (const GstStereoSkew *skew);

G_END_DECLS

#endif
