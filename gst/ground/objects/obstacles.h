/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds obstacles on the ground in one frame: pure logic.
 *
 * Samples that are nearer than the ground and have neighbours of similar disparity are counted in a u-disparity picture
 * (cells.h). Its connected parts are objects. An object is an obstacle when it reaches the smallest height, and is nearer
 * than the ground by more than the error of a matcher.
 */
#ifndef GST_STEREO_GROUND_OBSTACLES_H
#define GST_STEREO_GROUND_OBSTACLES_H

#include "gst/ground/objects/measure.h"

G_BEGIN_DECLS

typedef struct _GstStereoObstacleFinder GstStereoObstacleFinder;

GstStereoObstacleFinder *gst_stereo_obstacle_finder_new (void);
void gst_stereo_obstacle_finder_free (GstStereoObstacleFinder *finder);

/* Classifies the samples of @scene and finds the obstacles, nearest first. The array belongs to @finder, until the
 * next call. */
const GstStereoObstacle *gst_stereo_obstacle_find (
    GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene, guint *count);
/* Of the last frame, for each sample of the grid. */
const guint8 *gst_stereo_obstacle_classes (const GstStereoObstacleFinder *finder);
/* Of the last frame: the largest disparity at which an obstacle stands in a column of samples; 0 = none does. */
gdouble gst_stereo_obstacle_nearest (const GstStereoObstacleFinder *finder, gint column);

G_END_DECLS

#endif
