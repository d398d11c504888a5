/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the free distance: pure logic. From the bottom of the picture up, each row has to show the ground. Rows that
 * do not show it are skipped only where they are too few to hide the smallest obstacle.
 */
#ifndef GST_STEREO_GROUND_FREE_H
#define GST_STEREO_GROUND_FREE_H

#include "gst/ground/objects/obstacles.h"

G_BEGIN_DECLS

/* Fills @distances (mm, or GST_STEREO_GROUND_UNKNOWN) for @count columns of equal width, from the result of @finder in
 * @scene. */
void gst_stereo_ground_free_distances (
    const GstStereoGroundScene *scene, const GstStereoObstacleFinder *finder, gdouble *distances, guint count);

G_END_DECLS

#endif
