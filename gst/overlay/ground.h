/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes of obstacles and marks of the free ground, from the ground metadata of the depth. */
#ifndef GST_DEPTH_OVERLAY_GROUND_H
#define GST_DEPTH_OVERLAY_GROUND_H

#include "gst/nearest/ground.h"
#include "gst/overlay/text.h"
#include "gst/video/join.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayGround GstDepthOverlayGround;

GstDepthOverlayGround *gst_depth_overlay_ground_new (void);
void gst_depth_overlay_ground_free (GstDepthOverlayGround *ground);

/* Reads the ground metadata of @depth, which is drawn over a view of @width x @height pixels; NULL: there is no depth.
 * Obstacles nearer than @warn_distance (mm) warn. */
void gst_depth_overlay_ground_read (
    GstDepthOverlayGround *ground, const GstStereoJoined *depth, gint width, gint height, gdouble warn_distance);
const GstStereoFoundGround *gst_depth_overlay_ground_found (const GstDepthOverlayGround *ground);

/* Valid until the next read: a box for each obstacle, and a mark at the end of the free ground of each column where it is
 * known. */
const GstDepthOverlayBox *gst_depth_overlay_ground_boxes (const GstDepthOverlayGround *ground, guint *count);
const GstDepthOverlayMark *gst_depth_overlay_ground_marks (const GstDepthOverlayGround *ground, guint *count);

G_END_DECLS

#endif
