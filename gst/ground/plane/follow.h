/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows the ground from frame to frame: pure logic. Small differences are smoothed, so that noise does not move the ground.
 * A different ground is accepted at once where the last one explains the frame badly, else when it is seen twice.
 */
#ifndef GST_STEREO_GROUND_FOLLOW_H
#define GST_STEREO_GROUND_FOLLOW_H

#include "gst/ground/plane/fit.h"

G_BEGIN_DECLS

/* Zeroed at the start and where a stream breaks. */
typedef struct
{
  gboolean known; /* there is a ground of the frames before */
  guint missed;   /* frames without one since then */
  GstStereoGroundPlane plane;
  gboolean has_rival; /* the frame before had another ground, which was not taken */
  GstStereoGroundPlane rival;
} GstStereoGroundFollower;

/* The ground of the next frame. FALSE where it has none. */
gboolean gst_stereo_ground_follow (GstStereoGroundFollower *follower, GstStereoGroundFinder *finder,
    const GstStereoGroundGrid *grid, const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits,
    GstStereoGroundFit *fit);

G_END_DECLS

#endif
