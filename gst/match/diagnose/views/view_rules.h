/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the faults that the figures of both views show, without matches: those of a view, and those of both together. A row has
 * all that is known of a fault: its verdict, what explains it, and its texts. view_faults.c and view_check.c go through the rows.
 *
 * The thresholds were chosen by healthy pairs: 50 pairs of Middlebury, KITTI, RADIATE and OpenCV, sunny and foggy, colour and
 * grey. Their views differ by at most 8 % in brightness and 18 % in sharpness, and at most 28 % of a view is white.
 */
#ifndef GST_STEREO_VIEW_RULES_H
#define GST_STEREO_VIEW_RULES_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/views/blocks.h"
#include "gst/match/diagnose/views/view_figures.h"

G_BEGIN_DECLS

/* Means of earlier measurements; 0 = not known. */
typedef struct
{
  gdouble ratio;        /* the left view's sharpness divided by the right one's */
  gdouble sharpness[2]; /* of each view */
} GstStereoViewHistory;

/* A measurement of both views, and what is known from earlier ones. */
typedef struct
{
  const GstStereoViewFigures *figures; /* of the left and the right view */
  const GstStereoBlockFigures *blocks;
  GstStereoViewHistory history;
  gboolean lively; /* pixels have changed before, or the frames come from a sensor, so that no two are equal to the bit */
  gboolean coded[2]; /* each view comes from an encoder that repeats what hardly changes */
} GstStereoViewMeasurement;

typedef struct
{
  GstStereoHealthFlags flags[2]; /* of the left and the right view; a fault of both together has the first one alone */
  /* Faults of either view, and of the view itself, that explain it: its verdict is unknown. They stand before it in the table. */
  GstStereoHealthFlags unless, unless_own;
  gint64 hold;          /* least duration, ns; 0 = that of its kind (gst/meta/health.c) */
  gboolean silent;      /* it is noted in the metadata alone, and matches count nevertheless */
  gboolean has_history; /* where neither view has it, their figures are what later ones are judged by */
  /* @v: 0 for the left view, 1 for the right one. @value: the figure that decides. */
  GstStereoVerdict (*verdict) (const GstStereoViewMeasurement *measured, guint v, gdouble *value);
  gchar *(*text) (const GstStereoViewFigures figures[2], guint v); /* of its begin; NULL: `begin` */
  const gchar *begin, *end;                                        /* `end` is NULL for a fault of a view */
} GstStereoViewRule;

/* Row @index of the table; NULL behind the last one. The order is that of messages: where two faults have one cause, the first one is
 * BAD, and the other is UNKNOWN. */
const GstStereoViewRule *gst_stereo_view_rule (guint index);

/* For each row and view. */
typedef struct
{
  GstStereoVerdict verdict;
  gdouble value;
  GstStereoEpisodeChange change; /* where the verdict is one of a stream: gst_stereo_view_faults_add() */
} GstStereoViewVerdicts[GST_STEREO_MOST_RULES][2];

void gst_stereo_view_rules_judge (const GstStereoViewMeasurement *measured, GstStereoViewVerdicts verdicts);

G_END_DECLS

#endif
