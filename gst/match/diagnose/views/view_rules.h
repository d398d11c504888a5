/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the faults that the figures of both views show, without matches: those of a view, and those of both together. A row has
 * all that is known of a fault: its verdict, what explains it, and its texts. view_faults.c and view_check.c go through the rows.
 *
 * Another fault of that kind is a flag in gst/meta/gststereohealth.h, a row in gst/meta/health.c and a row here.
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
} GstStereoViewLook;

typedef struct
{
  GstStereoHealthFlags flags[2]; /* of the left and the right view; of a fault of both together twice the same */
  /* Faults of either view, and of the view itself, that explain it: its verdict is unknown. They stand before it in the table. */
  GstStereoHealthFlags unless, unless_own;
  gint64 hold;     /* least duration, ns; 0 = that of its kind (gst/meta/health.c) */
  gboolean silent; /* it is noted in the metadata alone, and matches count nevertheless */
  /* @v: 0 for the left view, 1 for the right one. */
  GstStereoVerdict (*verdict) (const GstStereoViewLook *look, guint v);
  gdouble (*value) (const GstStereoViewLook *look, guint v); /* the figure that decided */
  gchar *(*text) (const GstStereoViewLook *look, guint v);   /* of its begin; NULL: `begin` */
  const gchar *begin, *end;                                  /* `end` is NULL for a fault of a view */
} GstStereoViewRule;

/* Row @index of the table; NULL behind the last one. The order is that of messages: where two faults have one cause, the first one is
 * BAD, and the other is UNKNOWN. */
const GstStereoViewRule *gst_stereo_view_rule (guint index);
/* Of how many views the row tells: 2, or 1 where it is about both together. */
guint gst_stereo_view_rule_count (const GstStereoViewRule *rule);

/* For each row: the left view, the right view; of both together the first one. */
typedef GstStereoVerdict GstStereoViewVerdicts[GST_STEREO_MOST_RULES][2];

void gst_stereo_view_rules_judge (const GstStereoViewLook *look, GstStereoViewVerdicts verdicts);

G_END_DECLS

#endif
