/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/road.h"

#include <math.h>

#define BACKDROP_DISTANCE 80000.0
/* At every roll, both cameras, which are 120 mm apart, are above the ground and to the left of the kerb. */
#define LEAST_CLEARANCE 200.0
/* Sizes of posts and of bars: mm. */
#define POST_HEIGHT 2500.0
#define BAR_LENGTH 1500.0
#define LOWEST_BAR 500.0
#define HIGHEST_BAR 2000.0
/* Multiples of this fraction, in circles, lie far apart from each other. */
#define GOLDEN_SECTION 0.6180339887498949

/* Values are rounded: the scene is then the same with mathematical libraries that differ in the last bit. */
static gdouble
rounded (gdouble value)
{
  return rint (value * 4294967296.0) / 4294967296.0;
}

static gdouble
sine (gdouble degrees)
{
  return rounded (sin (degrees * G_PI / 180));
}

static gdouble
cosine (gdouble degrees)
{
  return rounded (cos (degrees * G_PI / 180));
}

/* ---- surfaces ------------------------------------------------------------------------------ */

static void
add_ramp (GstStereoRoad *road, const gdouble down[3], const gdouble forward[3])
{
  const GstStereoRoadParams *params = &road->params;
  GstStereoRoadPlane *ramp = &road->surface[GST_STEREO_ROAD_RAMP];
  gdouble c = cosine (params->ramp_slope), s = sine (params->ramp_slope);

  for (guint i = 0; i < 3; i++)
    ramp->normal[i] = c * down[i] + s * forward[i];
  ramp->distance = c * params->camera_height + s * params->ramp_distance;
}

void
gst_stereo_road_init (GstStereoRoad *road, const GstStereoSceneParams *params)
{
  const GstStereoRoadParams *p = &params->road;
  gdouble sr = sine (p->camera_roll), cr = cosine (p->camera_roll);
  gdouble sp = sine (p->camera_pitch), cp = cosine (p->camera_pitch);
  const gdouble down[3] = { sr * cp, cr * cp, sp }, forward[3] = { -sr * sp, -cr * sp, cp };

  *road = (GstStereoRoad){ .params = *p,
    .focal_length = GST_STEREO_SCENE_FOCAL_LENGTH * params->width,
    .center_x = (params->width - 1) / 2.0,
    .center_y = (params->height - 1) / 2.0,
    .last_x = params->width - 1,
    .last_y = params->height - 1,
    .seed = params->seed };
  road->surface[GST_STEREO_ROAD_BACKDROP] = (GstStereoRoadPlane){ { 0, 0, 1 }, BACKDROP_DISTANCE };
  road->surface[GST_STEREO_ROAD_GROUND] = (GstStereoRoadPlane){ { down[0], down[1], down[2] }, p->camera_height };
  if (p->ramp_slope > 0)
    add_ramp (road, down, forward);
  if (p->kerb_height > 0) {
    road->surface[GST_STEREO_ROAD_KERB_TOP] = road->surface[GST_STEREO_ROAD_GROUND];
    road->surface[GST_STEREO_ROAD_KERB_TOP].distance -= p->kerb_height;
    road->surface[GST_STEREO_ROAD_KERB_FACE] = (GstStereoRoadPlane){ { cr, -sr, 0 }, p->kerb_distance };
  }
}

gboolean
gst_stereo_road_has (const GstStereoRoad *road, GstStereoRoadSurface surface)
{
  return road->surface[surface].distance > 0;
}

void
gst_stereo_road_disparity (const GstStereoRoad *road, GstStereoRoadSurface surface, gdouble value[3])
{
  const GstStereoRoadPlane *plane = &road->surface[surface];
  gdouble factor = GST_STEREO_SCENE_BASELINE / plane->distance;

  value[1] = factor * plane->normal[0];
  value[2] = factor * plane->normal[1];
  value[0] = factor * plane->normal[2] * road->focal_length - value[1] * road->center_x - value[2] * road->center_y;
}

static gdouble
disparity_at (const GstStereoRoad *road, GstStereoRoadSurface surface, gdouble x, gdouble y)
{
  gdouble value[3];

  gst_stereo_road_disparity (road, surface, value);
  return value[0] + value[1] * x + value[2] * y;
}

/* ---- the obstacle -------------------------------------------------------------------------- */

/* y of the point (x, y, z) of a surface. */
static gdouble
level_of (const GstStereoRoadPlane *plane, gdouble x, gdouble z)
{
  return (plane->distance - plane->normal[0] * x - plane->normal[2] * z) / plane->normal[1];
}

/* How far a point is right of the kerb's face. */
static gdouble
beyond_kerb (const GstStereoRoad *road, gdouble x, gdouble y)
{
  const GstStereoRoadPlane *face = &road->surface[GST_STEREO_ROAD_KERB_FACE];

  return face->normal[0] * x + face->normal[1] * y - face->distance;
}

/* Whether an object at (@x, @z) stands on the kerb. */
static gboolean
is_on_kerb (const GstStereoRoad *road, gdouble x, gdouble z)
{
  return gst_stereo_road_has (road, GST_STEREO_ROAD_KERB_FACE) &&
      beyond_kerb (road, x, level_of (&road->surface[GST_STEREO_ROAD_GROUND], x, z)) >= 0;
}

/* y of the highest surface at (@x, @z). */
static gdouble
foot_at (const GstStereoRoad *road, gdouble x, gdouble z)
{
  gdouble foot = level_of (&road->surface[GST_STEREO_ROAD_GROUND], x, z);

  if (gst_stereo_road_has (road, GST_STEREO_ROAD_RAMP))
    foot = MIN (foot, level_of (&road->surface[GST_STEREO_ROAD_RAMP], x, z));
  if (is_on_kerb (road, x, z))
    foot = MIN (foot, level_of (&road->surface[GST_STEREO_ROAD_KERB_TOP], x, z));
  return foot;
}

static gdouble
distance_for (const GstStereoRoad *road, gdouble disparity)
{
  return road->focal_length * GST_STEREO_SCENE_BASELINE / disparity;
}

void
gst_stereo_road_get_obstacle (
    const GstStereoRoad *road, gint max_disparity, guint64 frame, GstStereoRoadObstacle *obstacle)
{
  const GstStereoRoadParams *params = &road->params;
  gdouble way = params->obstacle_approach * (gdouble) frame, x = params->obstacle_lateral;
  gdouble z = MAX (params->obstacle_distance - way, distance_for (road, max_disparity));
  gdouble scale = road->focal_length / z, top = foot_at (road, x, z) - params->obstacle_height;

  obstacle->disparity = scale * GST_STEREO_SCENE_BASELINE;
  obstacle->center = road->center_x + scale * x;
  obstacle->half_width = scale * params->obstacle_width / 2;
  obstacle->top = (gint) ceil (road->center_y + scale * top);
  obstacle->on_kerb = is_on_kerb (road, x, z);
}

/* Whether an obstacle at distance @z reaches over the kerb's face. */
static gboolean
crosses_kerb (const GstStereoRoad *road, gdouble z)
{
  const GstStereoRoadParams *params = &road->params;
  gdouble left = params->obstacle_lateral - params->obstacle_width / 2, right = left + params->obstacle_width;
  gdouble top = foot_at (road, params->obstacle_lateral, z) - params->obstacle_height;
  gboolean on_kerb = is_on_kerb (road, params->obstacle_lateral, z);

  return is_on_kerb (road, left, z) != on_kerb || is_on_kerb (road, right, z) != on_kerb ||
      (beyond_kerb (road, left, top) >= 0) != on_kerb || (beyond_kerb (road, right, top) >= 0) != on_kerb;
}

/* ---- thin things --------------------------------------------------------------------------- */

/* 0..1, without 1: the draw @what of thin thing @i. */
static gdouble
draw (const GstStereoRoad *road, guint what, gint i)
{
  return gst_stereo_mix (gst_stereo_mix (road->seed, 2000 + what), (guint32) i) / 4294967296.0;
}

/* @z: of the bar. @foot: y of the ground there. */
static void
place_bar (const GstStereoRoad *road, gint i, gdouble z, gdouble foot, GstStereoRoadThin *thin)
{
  gdouble scale = road->focal_length / z, length = scale * BAR_LENGTH;
  gdouble above = LOWEST_BAR + (HIGHEST_BAR - LOWEST_BAR) * draw (road, 3, i);
  gdouble middle = road->center_y + scale * (foot - above), angle = 20 + 50 * draw (road, 4, i);

  if (i % 3 == 1) {
    thin->rows = road->params.thin_width;
    thin->half_width = length / 2;
  } else {
    thin->rows = MAX (1, (gint) rint (length * sine (angle)));
    thin->half_width = road->params.thin_width / (2 * sine (angle));
    thin->lean = (draw (road, 5, i) < 0.5 ? -1 : 1) * cosine (angle) / sine (angle);
  }
  thin->top = (gint) rint (middle - thin->rows / 2.0);
  thin->center -= thin->lean * thin->rows / 2;
}

void
gst_stereo_road_get_thin (const GstStereoRoad *road, gint i, GstStereoRoadThin *thin)
{
  const gdouble range = GST_STEREO_SCENE_THIN_FARTHEST - GST_STEREO_SCENE_THIN_NEAREST;
  /* each has a part of the range to itself: no two have the same disparity, and the nearer one hides the farther one */
  gdouble z = GST_STEREO_SCENE_THIN_FARTHEST - range * (i + 0.25 + 0.5 * draw (road, 1, i)) / road->params.thin_count;
  gdouble scale = road->focal_length / z, column = draw (road, 2, 0) + GOLDEN_SECTION * i, x, foot;

  column -= floor (column);
  *thin = (GstStereoRoadThin){ .disparity = scale * GST_STEREO_SCENE_BASELINE, .center = column * (road->last_x + 1) };
  x = (thin->center - road->center_x) / scale;
  foot = foot_at (road, x, z);
  thin->on_kerb = is_on_kerb (road, x, z);
  if (i % 3) {
    place_bar (road, i, z, foot, thin);
    return;
  }
  thin->half_width = road->params.thin_width / 2.0;
  thin->top = (gint) ceil (road->center_y + scale * (foot - POST_HEIGHT));
  thin->rows = GST_STEREO_ROAD_DEEP;
}

/* ---- what is seen -------------------------------------------------------------------------- */

/* The largest disparity of the kerb along a side of the view. In each pixel, the kerb has the smaller one of the disparities of
 * its top and its face. This is largest at a corner of the view, or where top and face meet. */
static gdouble
most_of_kerb (const GstStereoRoad *road, const gdouble from[2], const gdouble to[2])
{
  gdouble top[2], face[2], most;

  for (guint i = 0; i < 2; i++) {
    const gdouble *at = i ? to : from;
    top[i] = disparity_at (road, GST_STEREO_ROAD_KERB_TOP, at[0], at[1]);
    face[i] = disparity_at (road, GST_STEREO_ROAD_KERB_FACE, at[0], at[1]);
  }
  most = MAX (MIN (top[0], face[0]), MIN (top[1], face[1]));
  if ((top[0] < face[0]) != (top[1] < face[1])) {
    gdouble part = (face[0] - top[0]) / (face[0] - top[0] + top[1] - face[1]);
    most = MAX (most, top[0] + part * (top[1] - top[0]));
  }
  return most;
}

/* The largest disparity of all surfaces but the obstacle. A plane has its largest disparity at a corner of the view. */
static gdouble
most_of_surfaces (const GstStereoRoad *road)
{
  const gdouble corners[][2] = { { 0, 0 }, { road->last_x, 0 }, { road->last_x, road->last_y }, { 0, road->last_y } };
  gdouble most = 0;

  for (guint i = 0; i < 4; i++) {
    for (guint s = GST_STEREO_ROAD_BACKDROP; s <= GST_STEREO_ROAD_RAMP; s++)
      if (gst_stereo_road_has (road, s))
        most = MAX (most, disparity_at (road, s, corners[i][0], corners[i][1]));
    if (gst_stereo_road_has (road, GST_STEREO_ROAD_KERB_TOP))
      most = MAX (most, most_of_kerb (road, corners[i], corners[(i + 1) % 4]));
  }
  return most;
}

static gdouble
most_of_obstacle (const GstStereoRoad *road)
{
  const GstStereoRoadParams *params = &road->params;

  return params->obstacle_height > 0 ? distance_for (road, params->obstacle_distance) : 0;
}

static gdouble
most_of_thin_things (const GstStereoRoad *road)
{
  return road->params.thin_count > 0 ? distance_for (road, GST_STEREO_SCENE_THIN_NEAREST) : 0;
}

gdouble
gst_stereo_road_most (const GstStereoRoad *road)
{
  return MAX (most_of_surfaces (road), MAX (most_of_obstacle (road), most_of_thin_things (road)));
}

/* ---- refusals ------------------------------------------------------------------------------ */

gchar *
gst_stereo_road_refuse (const GstStereoRoad *road)
{
  const GstStereoRoadParams *params = &road->params;
  gdouble left = disparity_at (road, GST_STEREO_ROAD_GROUND, 0, road->last_y);
  gdouble right = disparity_at (road, GST_STEREO_ROAD_GROUND, road->last_x, road->last_y);

  if (params->camera_height - params->kerb_height < LEAST_CLEARANCE)
    return g_strdup_printf (
        "kerb-height=%g leaves camera-height=%g less than %g mm above the kerb: set kerb-height to at most %g, or "
        "camera-height to at least %g.",
        params->kerb_height, params->camera_height, LEAST_CLEARANCE, params->camera_height - LEAST_CLEARANCE,
        params->kerb_height + LEAST_CLEARANCE);
  if (MAX (left, right) <= distance_for (road, BACKDROP_DISTANCE))
    return g_strdup_printf ("camera-pitch=%g leaves no ground within %g m in views of %dx%d pixels. Set a larger "
                            "camera-pitch, so that the camera looks further down, or ask for higher frames.",
        params->camera_pitch, BACKDROP_DISTANCE / 1000, road->last_x + 1, road->last_y + 1);
  return NULL;
}

gchar *
gst_stereo_road_refuse_disparity (const GstStereoRoad *road, gint max_disparity, gint limit)
{
  const GstStereoRoadParams *params = &road->params;
  gdouble ground = most_of_surfaces (road), obstacle = most_of_obstacle (road);
  gdouble nearest = distance_for (road, max_disparity), thin = most_of_thin_things (road);

  if (ground > limit)
    return g_strdup_printf ("The ground comes as near as a disparity of %.1f px, and views of %d pixels can have at "
                            "most %d: set camera-height to more than %g, or ask for wider frames.",
        ground, road->last_x + 1, limit, params->camera_height);
  if (ground > max_disparity)
    return g_strdup_printf (
        "max-disparity=%d does not reach the ground, which comes as near as %.1f px: set max-disparity to at least %d, "
        "or 0 for a value that is large enough.",
        max_disparity, ground, (gint) ceil (ground));
  if (obstacle > limit)
    return g_strdup_printf ("obstacle-distance=%g gives a disparity of %.1f px, and views of %d pixels can have at "
                            "most %d: set obstacle-distance to at least %.0f.",
        params->obstacle_distance, obstacle, road->last_x + 1, limit, ceil (distance_for (road, limit)));
  if (obstacle > max_disparity)
    return g_strdup_printf ("obstacle-distance=%g gives a disparity of %.1f px, and max-disparity is %d: set "
                            "obstacle-distance to at least %.0f, or max-disparity to at least %d, or to 0.",
        params->obstacle_distance, obstacle, max_disparity, ceil (nearest), (gint) ceil (obstacle));
  if (thin > max_disparity)
    return g_strdup_printf ("thin-count=%d puts thin things as near as %g m, where the disparity is %.1f px, and "
                            "max-disparity is %d: set max-disparity to at least %d, or to 0, or thin-count to 0.",
        params->thin_count, GST_STEREO_SCENE_THIN_NEAREST / 1000, thin, max_disparity, (gint) ceil (thin));
  if (params->obstacle_height > 0 && gst_stereo_road_has (road, GST_STEREO_ROAD_KERB_FACE) &&
      (crosses_kerb (road, params->obstacle_distance) || (params->obstacle_approach > 0 && crosses_kerb (road, nearest))))
    return g_strdup_printf ("An obstacle with obstacle-lateral=%g and obstacle-width=%g stands across the kerb at "
                            "kerb-distance=%g: set obstacle-lateral so that all of it is on one side.",
        params->obstacle_lateral, params->obstacle_width, params->kerb_distance);
  return NULL;
}
