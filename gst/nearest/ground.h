/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stereoground found: obstacles, and how far the ground is seen free. It comes with the depth, as metadata. */
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

GstStereoFoundGround *gst_stereo_found_ground_new (void);
void gst_stereo_found_ground_free (GstStereoFoundGround *ground);

/* Reads what came with @depth, which has the caps @info and lies over an output of @width x @height pixels; NULL: there is no
 * depth. */
void gst_stereo_found_ground_read (
    GstStereoFoundGround *ground, GstBuffer *depth, const GstVideoInfo *info, gint width, gint height);
/* Whether stereoground was before the depth that was read. */
gboolean gst_stereo_found_ground_is_there (const GstStereoFoundGround *ground);
/* Nearest first, valid until the next read. */
const GstStereoFoundObstacle *gst_stereo_found_ground_obstacles (const GstStereoFoundGround *ground, guint *count);
/* Millimetres that the ground is free in each column; @count is 0 without a ground. Valid until the next read. */
const gdouble *gst_stereo_found_ground_free_distances (const GstStereoFoundGround *ground, guint *count);

/* The nearest obstacle that touches a region of the output, and how much of the region is seen: its coverage is the share of
 * the region's columns whose ground is seen free up to @warn_distance or, where that is 0, at all. It is doubtful where the
 * ground of neighbouring columns ends before that: what stands there is reported once it was seen twice. */
void gst_stereo_found_ground_find (const GstStereoFoundGround *ground, const GstStereoNearestRegion *region,
    gdouble warn_distance, GstStereoNearestResult *result);

G_END_DECLS

#endif
