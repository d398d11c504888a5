/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/road_tracer.h"

#include <math.h>

#define BESIDE 0.02 /* pixels: nearer to a border than this, either side is right */

static void
turn (gdouble a[3], gdouble b[3], gdouble degrees)
{
  gdouble c = cos (degrees * G_PI / 180), s = sin (degrees * G_PI / 180);

  for (guint i = 0; i < 3; i++) {
    gdouble first = a[i], second = b[i];
    a[i] = c * first + s * second;
    b[i] = c * second - s * first;
  }
}

/* Camera coordinates. */
static void
to_road (const RoadTracer *tracer, const gdouble camera[3], gdouble road[3])
{
  for (guint i = 0; i < 3; i++)
    road[i] = camera[0] * tracer->axis[0][i] + camera[1] * tracer->axis[1][i] + camera[2] * tracer->axis[2][i];
}

/* Whether a point is in the ground, in the ramp or in the kerb. */
static gboolean
is_solid (const RoadTracer *tracer, gdouble x, gdouble y, gdouble z)
{
  const GstStereoRoadParams *road = tracer->road;
  const gdouble camera[3] = { x, y, z };
  gdouble at[3], above;

  to_road (tracer, camera, at);
  above = road->camera_height - at[1];
  return above <= 0 ||
      (road->ramp_slope > 0 && above <= (at[2] - road->ramp_distance) * tan (road->ramp_slope * G_PI / 180)) ||
      (road->kerb_height > 0 && above <= road->kerb_height && at[0] >= road->kerb_distance);
}

static void
stand_obstacle (RoadTracer *tracer, gdouble max_disparity, guint64 frame)
{
  const GstStereoRoadParams *road = tracer->road;
  gdouble air = -1e6, solid = 1e6;

  tracer->obstacle_z = fmax (road->obstacle_distance - (gdouble) frame * road->obstacle_approach,
      tracer->focal * ROAD_BASELINE / max_disparity);
  for (guint i = 0; i < 100; i++) {
    gdouble y = (air + solid) / 2;
    if (is_solid (tracer, road->obstacle_lateral, y, tracer->obstacle_z))
      solid = y;
    else
      air = y;
  }
  tracer->top_y = solid - road->obstacle_height;
}

RoadTracer
road_tracer_new (const GstStereoSceneParams *params, gdouble max_disparity, guint64 frame)
{
  RoadTracer tracer = { .params = *params,
    .road = &params->road,
    .focal = 0.9 * params->width,
    .cx = (params->width - 1) / 2.0,
    .cy = (params->height - 1) / 2.0,
    .axis = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };

  /* the optical axis goes down, and then the right side */
  turn (tracer.axis[2], tracer.axis[1], params->road.camera_pitch);
  turn (tracer.axis[0], tracer.axis[1], params->road.camera_roll);
  stand_obstacle (&tracer, max_disparity, frame);
  return tracer;
}

static void
meet (gdouble depth, RoadSurface surface, gdouble *nearest, RoadSurface *seen)
{
  if (depth > 0 && depth < *nearest) {
    *nearest = depth;
    *seen = surface;
  }
}

RoadSurface
road_tracer_trace (const RoadTracer *tracer, gboolean right, gdouble x, gdouble y, gdouble *depth)
{
  const GstStereoRoadParams *road = tracer->road;
  const gdouble ray[3] = { (x - tracer->cx) / tracer->focal, (y - tracer->cy) / tracer->focal, 1 };
  const gdouble eye[3] = { right ? ROAD_BASELINE : 0, 0, 0 };
  gdouble from[3], way[3], slope = tan (road->ramp_slope * G_PI / 180), t, on_board;
  RoadSurface seen = ROAD_SKY;

  to_road (tracer, eye, from);
  to_road (tracer, ray, way);
  *depth = ROAD_BACKDROP;
  meet ((road->camera_height - from[1]) / way[1], ROAD_GROUND, depth, &seen);
  t = (road->camera_height - from[1] + (road->ramp_distance - from[2]) * slope) / (way[1] + way[2] * slope);
  if (slope > 0 && from[2] + t * way[2] >= road->ramp_distance)
    meet (t, ROAD_RAMP, depth, &seen);
  t = (road->camera_height - road->kerb_height - from[1]) / way[1];
  if (road->kerb_height > 0 && from[0] + t * way[0] >= road->kerb_distance)
    meet (t, ROAD_TOP, depth, &seen);
  t = (road->kerb_distance - from[0]) / way[0];
  if (from[1] + t * way[1] >= road->camera_height - road->kerb_height && from[1] + t * way[1] <= road->camera_height)
    meet (t, ROAD_FACE, depth, &seen);
  on_board = eye[0] + tracer->obstacle_z * ray[0] - road->obstacle_lateral;
  if (road->obstacle_height > 0 && fabs (on_board) <= road->obstacle_width / 2 &&
      tracer->obstacle_z * ray[1] >= tracer->top_y)
    meet (tracer->obstacle_z, ROAD_OBSTACLE, depth, &seen);
  return seen;
}

gboolean
road_tracer_is_plain (const RoadTracer *tracer, gboolean right, gdouble x, gdouble y)
{
  gdouble depth;
  RoadSurface seen = road_tracer_trace (tracer, right, x, y, &depth);

  for (guint i = 0; i < 4; i++)
    if (road_tracer_trace (tracer, right, x + (i % 2 ? BESIDE : -BESIDE), y + (i / 2 ? BESIDE : -BESIDE), &depth) != seen)
      return FALSE;
  return TRUE;
}
