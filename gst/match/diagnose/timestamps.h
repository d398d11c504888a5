/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether two views are in step, from the timestamps alone; and when a finding is to be reported.
 *
 * Two cameras whose timestamps are wrong by the same amount look in step, and so do frames that were stamped on arrival
 * and not on exposure. Nothing in a pair of still pictures would tell.
 */
#ifndef GST_STEREO_CHECK_TIMES_H
#define GST_STEREO_CHECK_TIMES_H

#include <glib.h>

G_BEGIN_DECLS

/* What a check says; UNKNOWN: it cannot tell. */
typedef enum
{
  GST_STEREO_VERDICT_UNKNOWN,
  GST_STEREO_VERDICT_GOOD,
  GST_STEREO_VERDICT_BAD
} GstStereoVerdict;

/* ---- the timestamps ---------------------------------------------------------------------- */

#define GST_STEREO_SKEW_SPANS 4

typedef struct
{
  gint64 time;  /* its middle, ns */
  gdouble skew; /* mean, ns */
} GstStereoSkewSpan;

/* Zeroed at first. */
typedef struct
{
  guint count;          /* pairs since the last span was closed */
  gint64 sum, absolute; /* of their skew, ns */
  gint64 first, last;   /* their times, ns */
  gdouble mean;         /* of the absolute skew in the last span, ns */
  gdouble drift;        /* ns per second over the last spans; 0 unless it goes one way all the time */
  GstStereoSkewSpan spans[GST_STEREO_SKEW_SPANS]; /* oldest first */
  guint filled;
} GstStereoSkew;

/* A pair at @time: right minus left. */
void gst_stereo_skew_add (GstStereoSkew *skew, gint64 time, gint64 difference);
/* Closes a span; FALSE while it has too few pairs. */
gboolean gst_stereo_skew_close (GstStereoSkew *skew);
/* @frame: nominal time from frame to frame in ns; 0 = unknown. */
GstStereoVerdict gst_stereo_skew_is_large (const GstStereoSkew *skew, gint64 frame);
GstStereoVerdict gst_stereo_skew_drifts (const GstStereoSkew *skew, gint64 frame);

/* ---- reporting --------------------------------------------------------------------------- */

/* Zeroed at first. */
typedef struct
{
  gboolean stands;
  guint absent; /* checks in a row that did not find it */
} GstStereoFinding;

/* TRUE when the finding is to be reported: it is there now, and was not there before, or was gone for a while. */
gboolean gst_stereo_finding_update (GstStereoFinding *finding, GstStereoVerdict verdict);

G_END_DECLS

#endif
