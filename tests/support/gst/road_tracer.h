/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ray tracer for pattern `road` of stereotestsrc: each pixel's ray is turned into the coordinates of the road (x right, y
 * down, z forward along the ground, mm from the left camera) by the camera's axes, and cut with the road there.
 */
#ifndef ROAD_TRACER_H
#define ROAD_TRACER_H

#include "gst/testsrc/scene.h"

#define ROAD_BASELINE 120.0
#define ROAD_BACKDROP 80000.0

typedef enum
{
  ROAD_SKY,
  ROAD_GROUND,
  ROAD_RAMP,
  ROAD_TOP,
  ROAD_FACE,
  ROAD_OBSTACLE,
  ROAD_SURFACES
} RoadSurface;

typedef struct
{
  GstStereoSceneParams params;
  const GstStereoRoadParams *road;
  gdouble focal, cx, cy;
  gdouble axis[3][3];        /* the camera's x, y and z axes in the coordinates of the road */
  gdouble obstacle_z, top_y; /* camera coordinates of the obstacle */
} RoadTracer;

/* @params outlives it. */
RoadTracer road_tracer_new (const GstStereoSceneParams *params, gdouble max_disparity, guint64 frame);
/* What place (x, y) of a view shows, and its depth along the optical axis. */
RoadSurface road_tracer_trace (const RoadTracer *tracer, gboolean right, gdouble x, gdouble y, gdouble *depth);
/* Whether all that lies as near to a place as rounding may move a border is the same surface. */
gboolean road_tracer_is_plain (const RoadTracer *tracer, gboolean right, gdouble x, gdouble y);

#endif
