/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the views show: faults of a view, and of both views together, from what evidence.h measures several times a second. The table in
 * views.c has all that is known of such a fault.
 */
#ifndef GST_STEREO_VIEWS_H
#define GST_STEREO_VIEWS_H

#include "gst/match/diagnose/evidence.h"
#include "gst/match/diagnose/report.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

#define GST_STEREO_VIEWS_INTERVAL (100 * GST_MSECOND) /* of stream time from one look to the next */

typedef struct _GstStereoViews GstStereoViews;

/* Neither @element nor @report is owned. */
GstStereoViews *gst_stereo_views_new (GstElement *element, GstStereoReport *report);
void gst_stereo_views_free (GstStereoViews *views);
/* At the start, and at the stop: forgets all looks. */
void gst_stereo_views_start (GstStereoViews *views);
/* After a flush: keeps the faults. Timestamps may begin anew, and the next pictures may be different. */
void gst_stereo_views_flush (GstStereoViews *views);

gboolean gst_stereo_views_are_due (const GstStereoViews *views, gint64 time);
/* A look at both views, in host memory. @infos: of the frames that they lie in. @live: a sensor gives them. @least, @most: the smallest
 * and the largest disparity that are searched. */
void gst_stereo_views_look (GstStereoViews *views, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint least, gint most);

/* What matches of points are worth. */
typedef struct
{
  gboolean sound;    /* no fault of a view stands or begins: matches count */
  gboolean detailed; /* both views show more than noise: missing matches count, too */
  gboolean jumped;   /* another picture than at the look before: match the points now */
  gdouble noise;     /* of the noisier view, grey levels */
} GstStereoViewsWorth;

GstStereoViewsWorth gst_stereo_views_get_worth (const GstStereoViews *views);
/* What is without evidence; NULL: nothing. Owned by @views. */
GstStereoUnmeasured *gst_stereo_views_get_unmeasured (const GstStereoViews *views);

/* From any thread: adds fields to `stats`. */
void gst_stereo_views_add_stats (GstStereoViews *views, GstStructure *stats);

G_END_DECLS

#endif
