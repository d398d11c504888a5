/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stereoground found, for the picture and for the nearest distance: obstacles, and how far the ground is seen free. It
 * comes with the depth, as metadata.
 */
#ifndef GST_DEPTH_OVERLAY_GROUND_H
#define GST_DEPTH_OVERLAY_GROUND_H

#include "gst/overlay/report.h"
#include "gst/overlay/text.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayGround GstDepthOverlayGround;

GstDepthOverlayGround *gst_depth_overlay_ground_new (void);
void gst_depth_overlay_ground_free (GstDepthOverlayGround *ground);

/* Reads what came with @depth, which lies over a view of @width x @height pixels; NULL: there is no depth. Obstacles nearer
 * than @warn_distance (mm) warn. */
void gst_depth_overlay_ground_read (
    GstDepthOverlayGround *ground, const GstStereoJoined *depth, gint width, gint height, gdouble warn_distance);
/* Whether stereoground was before the depth that was read. */
gboolean gst_depth_overlay_ground_is_there (const GstDepthOverlayGround *ground);

/* What is to be drawn, valid until the next read: a box for each obstacle, a mark at the end of the free ground of each
 * column where that is known. */
const GstDepthOverlayBox *gst_depth_overlay_ground_boxes (const GstDepthOverlayGround *ground, guint *count);
const GstDepthOverlayMark *gst_depth_overlay_ground_marks (const GstDepthOverlayGround *ground, guint *count);

/* The nearest obstacle that touches a region of the view, and how much of the region is seen: its coverage is the share of
 * the region's columns whose ground is seen free up to @warn_distance or, where that is 0, at all. It is doubtful where the
 * ground of neighbouring columns ends before that: what stands there is reported once it was seen twice. */
void gst_depth_overlay_ground_find (const GstDepthOverlayGround *ground, const GstDepthOverlayRegion *region,
    gdouble warn_distance, GstDepthOverlayNearest *nearest);

G_END_DECLS

#endif
