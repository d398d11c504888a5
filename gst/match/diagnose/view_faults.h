/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wrong with a view: verdicts from figures of both views.
 *
 * The figures behind each threshold are those of healthy pairs of cameras: 50 pairs of Middlebury, KITTI, RADIATE and
 * OpenCV, sunny and foggy, colour and grey. Their views differ by at most 8 % in brightness and 18 % in sharpness, and
 * at most 28 % of a view is white.
 */
#ifndef GST_STEREO_VIEW_FAULTS_H
#define GST_STEREO_VIEW_FAULTS_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/blocks.h"
#include "gst/match/diagnose/view_figures.h"
#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_VIEW_BLACK,     /* nearly no pixel is above black */
  GST_STEREO_VIEW_BLOWN_OUT, /* more than half of the pixels are white */
  GST_STEREO_VIEW_COVERED,   /* blurred, and nearly even all over */
  GST_STEREO_VIEW_BLURRED, /* half as sharp as the other view, or as it used to be against the other; or both are without
                              * detail, or a quarter as sharp as they used to be */
  GST_STEREO_VIEW_DARK,    /* less than two thirds of the other view's brightness */
  GST_STEREO_VIEW_FROZEN,  /* no pixel, or in a part nothing but noise, changes while the other view moves */
  GST_STEREO_VIEW_FAULTS
} GstStereoViewFault;

/* What is wrong with both views together. */
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

/* Of one fault in both views: [0] is left. */
typedef GstStereoVerdict GstStereoViewVerdicts[GST_STEREO_VIEW_FAULTS][2];

/* What a pair used to be like; 0 = not known. */
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
  gdouble sharp[2]; /* and of each view's sharpness */
  guint count;      /* of measurements that the means are of */
  gboolean moved;   /* pixels have changed */
} GstStereoViewFaults;

/* Figures of both views. @changes: for each fault and view. */
void gst_stereo_view_faults_add (GstStereoViewFaults *views, const GstStereoViewFigures figures[2], gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2]);
/* After it, figures of both views together. @live: a sensor gives the frames, and no two of them are the same to the bit. */
void gst_stereo_view_faults_add_pair (GstStereoViewFaults *views, const GstStereoViewFigures figures[2],
    const GstStereoBlockFigures *pair, gboolean live, gint64 time,
    GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS]);
/* A fault begins: the views are to be measured again soon. */
gboolean gst_stereo_view_faults_are_suspicious (const GstStereoViewFaults *views);
/* What stands stays; other times follow. */
void gst_stereo_view_faults_flush (GstStereoViewFaults *views);
/* Whether a view shows more than noise. */
gboolean gst_stereo_view_has_detail (const GstStereoViewFigures *figures);
/* No fault stands, and none begins. */
gboolean gst_stereo_view_faults_are_sound (const GstStereoViewFaults *views);
/* What @history of gst_stereo_view_faults_judge() is now. */
GstStereoViewHistory gst_stereo_view_faults_history (const GstStereoViewFaults *views);

G_END_DECLS

#endif
