/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The faults of a stream that the figures of both views show: the rules of view_rules.h, over time. */
#ifndef GST_STEREO_VIEW_FAULTS_H
#define GST_STEREO_VIEW_FAULTS_H

#include "gst/match/diagnose/views/view_rules.h"

G_BEGIN_DECLS

/* Zeroed at first. */
typedef struct
{
  GstStereoEpisode episodes[GST_STEREO_MOST_RULES][2]; /* of each rule */
  gdouble ratio;    /* mean logarithm of left to right sharpness in measurements without a fault */
  gdouble sharp[2]; /* mean logarithm of each view's sharpness */
  guint count;      /* of the measurements in these means */
  gboolean moved;   /* pixels have changed */
  guint coded[2];   /* of each view: see frozen.h */
} GstStereoViewFaults;

/* Adds figures of both views, and judges them. @live: the frames come from a sensor. */
void gst_stereo_view_faults_add (GstStereoViewFaults *views, const GstStereoViewFigures figures[2],
    const GstStereoBlockFigures *blocks, gboolean live, gint64 time, GstStereoViewVerdicts verdicts);
/* A fault begins: the next measurement should come soon. */
gboolean gst_stereo_view_faults_are_suspicious (const GstStereoViewFaults *views);
/* After a flush: keeps the faults. Timestamps may begin anew. */
void gst_stereo_view_faults_flush (GstStereoViewFaults *views);
/* No fault stands, and none begins. */
gboolean gst_stereo_view_faults_are_sound (const GstStereoViewFaults *views);

G_END_DECLS

#endif
