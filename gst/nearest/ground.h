/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the result of stereoground, obstacles and free distances, from the metadata of the depth. */
#ifndef GST_STEREO_FOUND_GROUND_H
#define GST_STEREO_FOUND_GROUND_H

#include "gst/nearest/result.h"

G_BEGIN_DECLS

typedef struct _GstStereoFoundGround GstStereoFoundGround;

typedef struct
{
  GstStereoNearestRegion box; /* in the output */
  gdouble distance;           /* mm */
  gdouble probability;        /* 0..1 */
} GstStereoFoundObstacle;

/* The ground's disparity at pixel (x, y) of the depth picture: offset + across x + down y, px. */
typedef struct
{
  gdouble offset, across, down;
} GstStereoFoundPlane;

GstStereoFoundGround *gst_stereo_found_ground_new (void);
void gst_stereo_found_ground_free (GstStereoFoundGround *ground);

/* Reads the metadata of @depth. @info: its caps. @width, @height: of the output that it is drawn over, pixels. NULL:
 * there is no depth. */
void gst_stereo_found_ground_read (
    GstStereoFoundGround *ground, GstBuffer *depth, const GstVideoInfo *info, gint width, gint height);
/* Whether stereoground was before the depth that was read. */
gboolean gst_stereo_found_ground_is_there (const GstStereoFoundGround *ground);
/* Nearest first, valid until the next read. */
const GstStereoFoundObstacle *gst_stereo_found_ground_obstacles (const GstStereoFoundGround *ground, guint *count);
/* Millimetres that the ground is free in each column; @count is 0 without a ground. Valid until the next read. */
const gdouble *gst_stereo_found_ground_free_distances (const GstStereoFoundGround *ground, guint *count);

/* Valid where free distances are. */
const GstStereoFoundPlane *gst_stereo_found_ground_plane (const GstStereoFoundGround *ground);

/* Finds the nearest obstacle that touches a region of the output. Its coverage is the share of the region's columns whose
 * free distance is at least @warn_distance or, where that is 0, known. The result is doubtful where the ground of
 * neighbouring columns ends nearer: an obstacle may stand there that was not yet seen twice. */
void gst_stereo_found_ground_find (const GstStereoFoundGround *ground, const GstStereoNearestRegion *region,
    gdouble warn_distance, GstStereoNearestResult *result);

G_END_DECLS

#endif
