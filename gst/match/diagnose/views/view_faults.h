/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verdicts on the faults of a view, from figures of both views.
 *
 * The thresholds were chosen by healthy pairs: 50 pairs of Middlebury, KITTI, RADIATE and OpenCV, sunny and foggy, colour and
 * grey. Their views differ by at most 8 % in brightness and 18 % in sharpness, and at most 28 % of a view is white.
 */
#ifndef GST_STEREO_VIEW_FAULTS_H
#define GST_STEREO_VIEW_FAULTS_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/views/blocks.h"
#include "gst/match/diagnose/views/view_figures.h"
#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_VIEW_BLACK,     /* nearly no pixel is above black */
  GST_STEREO_VIEW_BLOWN_OUT, /* more than half of the pixels are white */
  GST_STEREO_VIEW_COVERED,   /* blurred, and nearly even all over; or a part of it is even, and not of the other view */
  GST_STEREO_VIEW_BLURRED, /* half as sharp as the other view, or as it used to be against the other; or both are without
                              * detail, or a quarter as sharp as they used to be */
  GST_STEREO_VIEW_DARK,    /* less than two thirds of the other view's brightness */
  GST_STEREO_VIEW_FROZEN,  /* no pixel, or in a part nothing but noise, changes while the other view moves */
  GST_STEREO_VIEW_FAULTS
} GstStereoViewFault;

/* Faults of both views together. */
typedef enum
{
  GST_STEREO_PAIR_FROZEN,        /* no pixel of either view changes, and some did before */
  GST_STEREO_PAIR_STILL,         /* no pixel has ever changed */
  GST_STEREO_PAIR_SAME_VIEW,     /* they are of one camera */
  GST_STEREO_PAIR_STILL_PATTERN, /* something lies before both lenses */
  GST_STEREO_PAIR_FAULTS
} GstStereoPairFault;

/* The flags of a fault. */
GstStereoHealthFlags gst_stereo_view_faults_flag (GstStereoViewFault fault, guint v);
GstStereoHealthFlags gst_stereo_pair_flag (GstStereoPairFault fault);

/* For each fault: the left view, the right view. */
typedef GstStereoVerdict GstStereoViewVerdicts[GST_STEREO_VIEW_FAULTS][2];

/* Means of earlier measurements; 0 = not known. */
typedef struct
{
  gdouble ratio;        /* the left view's sharpness divided by the right one's */
  gdouble sharpness[2]; /* of each view */
} GstStereoViewHistory;

/* Where two faults have one cause, the first one in the order above is BAD, and the other is UNKNOWN. */
void gst_stereo_view_faults_judge (
    const GstStereoViewFigures figures[2], const GstStereoViewHistory *history, GstStereoViewVerdicts verdicts);

/* Zeroed at first. */
typedef struct
{
  GstStereoEpisode episodes[GST_STEREO_VIEW_FAULTS][2];
  GstStereoEpisode pair[GST_STEREO_PAIR_FAULTS];
  gdouble ratio;    /* mean logarithm of left to right sharpness in measurements without a fault */
  gdouble sharp[2]; /* mean logarithm of each view's sharpness */
  guint count;      /* of the measurements in these means */
  gboolean moved;   /* pixels have changed */
} GstStereoViewFaults;

/* Adds figures of both views. @changes: for each fault and view. */
void gst_stereo_view_faults_add (GstStereoViewFaults *views, const GstStereoViewFigures figures[2], gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2]);
/* Call after that: adds figures of the pair. @live: the frames come from a sensor, so that no two are equal to the bit. */
void gst_stereo_view_faults_add_pair (GstStereoViewFaults *views, const GstStereoViewFigures figures[2],
    const GstStereoBlockFigures *pair, gboolean live, gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS]);
/* A fault begins: the next measurement should come soon. */
gboolean gst_stereo_view_faults_are_suspicious (const GstStereoViewFaults *views);
/* After a flush: keeps the faults. Timestamps may begin anew. */
void gst_stereo_view_faults_flush (GstStereoViewFaults *views);
/* Whether a view shows more than noise. */
gboolean gst_stereo_view_has_detail (const GstStereoViewFigures *figures);
/* Its noise, and texture whose rows have nothing in common: grey levels. */
gdouble gst_stereo_view_noise (const GstStereoViewFigures *figures);
/* No fault stands, and none begins. */
gboolean gst_stereo_view_faults_are_sound (const GstStereoViewFaults *views);
/* The current @history for gst_stereo_view_faults_judge(). */
GstStereoViewHistory gst_stereo_view_faults_history (const GstStereoViewFaults *views);

G_END_DECLS

#endif
