/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pattern `road` of stereotestsrc: every pixel of both views is what a ray tracer sees there, thin things too. Each pixel's ray is
 * turned into the coordinates of the road (x right, y down, z forward along the ground, mm from the left camera) by the camera's
 * axes, and cut with the road there.
 */
#include "tests/support/gst/scene_picture.h"

#include <math.h>

#include "gst/testsrc/road.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define BASELINE 120.0
#define BACKDROP 80000.0
#define BESIDE 0.02 /* pixels: nearer to a border than this, either side is right */

/* Thin things come behind the last one. */
enum
{
  SKY,
  GROUND,
  RAMP,
  TOP,
  FACE,
  OBSTACLE,
  SURFACES
};

typedef struct
{
  const GstStereoRoadParams *road;
  gdouble focal, cx, cy;
  gdouble axis[3][3];        /* the camera's x, y and z axes in the coordinates of the road */
  gdouble obstacle_z, top_y; /* camera coordinates of the obstacle */
  GstStereoRoadThin thing[GST_STEREO_SCENE_THIN_THINGS];
} Tracer;

/* ---- the tracer ---------------------------------------------------------------------------- */

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
to_road (const Tracer *tracer, const gdouble camera[3], gdouble road[3])
{
  for (guint i = 0; i < 3; i++)
    road[i] = camera[0] * tracer->axis[0][i] + camera[1] * tracer->axis[1][i] + camera[2] * tracer->axis[2][i];
}

/* Whether a point is in the ground, in the ramp or in the kerb. */
static gboolean
is_solid (const Tracer *tracer, gdouble x, gdouble y, gdouble z)
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
stand_obstacle (Tracer *tracer, gdouble max_disparity, guint64 frame)
{
  const GstStereoRoadParams *road = tracer->road;
  gdouble air = -1e6, solid = 1e6;

  tracer->obstacle_z = fmax (
      road->obstacle_distance - (gdouble) frame * road->obstacle_approach, tracer->focal * BASELINE / max_disparity);
  for (guint i = 0; i < 100; i++) {
    gdouble y = (air + solid) / 2;
    if (is_solid (tracer, road->obstacle_lateral, y, tracer->obstacle_z))
      solid = y;
    else
      air = y;
  }
  tracer->top_y = solid - road->obstacle_height;
}

static Tracer
tracer_new (const GstStereoSceneParams *params, gdouble max_disparity, guint64 frame)
{
  Tracer tracer = { .road = &params->road,
    .focal = 0.9 * params->width,
    .cx = (params->width - 1) / 2.0,
    .cy = (params->height - 1) / 2.0,
    .axis = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
  GstStereoRoad road;

  /* the optical axis goes down, and then the right side */
  turn (tracer.axis[2], tracer.axis[1], params->road.camera_pitch);
  turn (tracer.axis[0], tracer.axis[1], params->road.camera_roll);
  stand_obstacle (&tracer, max_disparity, frame);
  gst_stereo_road_init (&road, params);
  for (gint i = 0; i < params->road.thin_count; i++)
    gst_stereo_road_get_thin (&road, i, &tracer.thing[i]);
  return tracer;
}

static void
meet (gdouble depth, guint surface, gdouble *nearest, guint *seen)
{
  if (depth > 0 && depth < *nearest) {
    *nearest = depth;
    *seen = surface;
  }
}

/* What place (x, y) of a view shows without thin things, and its depth along the optical axis. */
static guint
trace_road (const Tracer *tracer, gboolean right, gdouble x, gdouble y, gdouble *depth)
{
  const GstStereoRoadParams *road = tracer->road;
  const gdouble ray[3] = { (x - tracer->cx) / tracer->focal, (y - tracer->cy) / tracer->focal, 1 };
  const gdouble eye[3] = { right ? BASELINE : 0, 0, 0 };
  gdouble from[3], way[3], slope = tan (road->ramp_slope * G_PI / 180), t, on_board;
  guint seen = SKY;

  to_road (tracer, eye, from);
  to_road (tracer, ray, way);
  *depth = BACKDROP;
  meet ((road->camera_height - from[1]) / way[1], GROUND, depth, &seen);
  t = (road->camera_height - from[1] + (road->ramp_distance - from[2]) * slope) / (way[1] + way[2] * slope);
  if (slope > 0 && from[2] + t * way[2] >= road->ramp_distance)
    meet (t, RAMP, depth, &seen);
  t = (road->camera_height - road->kerb_height - from[1]) / way[1];
  if (road->kerb_height > 0 && from[0] + t * way[0] >= road->kerb_distance)
    meet (t, TOP, depth, &seen);
  t = (road->kerb_distance - from[0]) / way[0];
  if (from[1] + t * way[1] >= road->camera_height - road->kerb_height && from[1] + t * way[1] <= road->camera_height)
    meet (t, FACE, depth, &seen);
  on_board = eye[0] + tracer->obstacle_z * ray[0] - road->obstacle_lateral;
  if (road->obstacle_height > 0 && fabs (on_board) <= road->obstacle_width / 2 &&
      tracer->obstacle_z * ray[1] >= tracer->top_y)
    meet (tracer->obstacle_z, OBSTACLE, depth, &seen);
  return seen;
}

/* How far inside the outline of a thing a point of the left view is, in pixels; below 0: outside. */
static gdouble
depth_in_outline (const GstStereoRoadThin *thing, gdouble x, gint y)
{
  gdouble away = fabs (x - thing->center - thing->lean * (y - thing->top));

  return y >= thing->top && y < thing->top + thing->rows ? thing->half_width - away : -1;
}

/* A bar across the kerb is not what the tracer can see. */
static gboolean
crosses_kerb (const Tracer *tracer, const GstStereoRoadThin *thing)
{
  gdouble scale = BASELINE / thing->disparity, lean = fabs (thing->lean) * MIN (thing->rows, 1000);
  gdouble reach = thing->half_width + lean, middle = thing->center - tracer->cx;

  return tracer->road->kerb_height > 0 && (middle - reach) * scale < tracer->road->kerb_distance &&
      (middle + reach) * scale > tracer->road->kerb_distance;
}

/* What a pixel shows, and its disparity; @is_plain, unless it is NULL: whether all that lies as near as rounding may move a border
 * shows the same. */
static guint
trace (const Tracer *tracer, gint v, gint x, gint y, gdouble *disparity, gboolean *is_plain)
{
  gdouble depth, behind;
  gboolean plain = TRUE;
  guint seen;

  seen = trace_road (tracer, v, x, y, &depth);
  behind = *disparity = tracer->focal * BASELINE / depth;
  for (guint i = 0; is_plain && i < 4; i++)
    plain &= trace_road (tracer, v, x + (i % 2 ? BESIDE : -BESIDE), y + (i / 2 ? BESIDE : -BESIDE), &depth) == seen;
  for (gint i = 0; i < tracer->road->thin_count; i++) {
    const GstStereoRoadThin *thing = &tracer->thing[i];
    gdouble inside = depth_in_outline (thing, x + (v ? thing->disparity : 0), y);

    if (inside > -BESIDE && (inside < BESIDE || fabs (thing->disparity - behind) < 0.01 || crosses_kerb (tracer, thing)))
      plain = FALSE;
    if (inside >= 0 && thing->disparity > *disparity) {
      seen = SURFACES + (guint) i;
      *disparity = thing->disparity;
    }
  }
  if (is_plain)
    *is_plain = plain;
  return seen;
}

/* ---- what is seen -------------------------------------------------------------------------- */

/* Which surface a layer of the scene is: those that are not asked for have none. */
static guint
surface_of (const GstStereoRoadParams *road, guint layer)
{
  const gboolean there[SURFACES] = { TRUE, TRUE, road->ramp_slope > 0, road->kerb_height > 0, road->kerb_height > 0,
    road->obstacle_height > 0 };

  for (guint surface = 0; surface < SURFACES; surface++)
    if (there[surface] && layer-- == 0)
      return surface;
  return SURFACES + layer;
}

/* The thin thing that pixel @at of view @v shows; below 0: none. */
static gint
thing_at (const ScenePicture *picture, const GstStereoRoadParams *road, guint v, gint at)
{
  return (gint) surface_of (road, picture->layer[v][at]) - SURFACES;
}

/* Compares a frame with the tracer; adds to how many pixels of each surface the left view has, and of thin things both views. */
static void
check_frame (const GstStereoSceneParams *params, guint64 frame, guint seen[SURFACES + 1])
{
  gint max_disparity = scene_picture_max_disparity (params);
  g_auto (ScenePicture) picture = scene_picture_of (params, frame);
  Tracer tracer = tracer_new (params, max_disparity, frame);
  guint borders = 0, pixels = 2 * (guint) (params->width * params->height);

  for (gint i = 0; i < (gint) pixels; i++) {
    gint v = i % 2, at = i / 2, x = at % params->width, y = at / params->width;
    gdouble disparity = picture.truth[at] / (gdouble) TRUTH_STEPS, wanted;
    gboolean is_plain;
    guint shown = surface_of (&params->road, picture.layer[v][at]), surface = trace (&tracer, v, x, y, &wanted, NULL);

    wanted = fmax (wanted, 1.0 / TRUTH_STEPS);
    seen[MIN (surface, SURFACES)] += !v || surface >= SURFACES;
    fail_unless (v || picture.truth[at] <= max_disparity * TRUTH_STEPS);
    if (shown == surface && (v || fabs (disparity - wanted) <= 0.5 / TRUTH_STEPS + 1e-4))
      continue;
    trace (&tracer, v, x, y, &wanted, &is_plain);
    fail_if (is_plain, "pitch %f, roll %f: pixel %d,%d of view %d shows %u, not %u; %f px, not %f",
        params->road.camera_pitch, params->road.camera_roll, x, y, v, shown, surface, disparity, wanted);
    borders++;
  }
  /* a border is that near to a pixel by chance; bars across a kerb are left out */
  fail_unless (borders <= (params->road.thin_count ? pixels / 20 : (guint) (params->width + params->height) / 8),
      "%u pixels lie beside a border", borders);
}

static GstStereoSceneParams
bare_road (Random *random)
{
  GstStereoSceneParams params = { .pattern = GST_STEREO_PATTERN_ROAD,
    .seed = random_next (random),
    .width = 2 * random_range (random, 60, 200) + 1,
    .height = 2 * random_range (random, 40, 120) + 1,
    .road = { .camera_height = random_between (random, 800, 3000),
        .camera_pitch = random_between (random, -4, 12),
        .camera_roll = random_between (random, -12, 12),
        .obstacle_width = 600,
        .obstacle_distance = 10000,
        .ramp_distance = 15000,
        .kerb_distance = 2500 } };

  return params;
}

/* ---- geometry ------------------------------------------------------------------------------ */

/* For a level camera, by the rule that everybody knows: depth = f * height / rows below the horizon. */
TEST (test_level_camera)
{
  GstStereoSceneParams params = {
    .pattern = GST_STEREO_PATTERN_ROAD, .width = 641, .height = 361, .road = { .camera_height = 1500 }
  };
  g_auto (ScenePicture) picture = scene_picture_of (&params, 0);
  const gdouble focal = 0.9 * 641, horizon = 180;

  for (gint y = 0; y < 361; y++) {
    gdouble depth = y > horizon ? fmin (focal * 1500 / (y - horizon), BACKDROP) : BACKDROP;
    for (gint x = 0; x < 641; x++)
      fail_unless (fabs (picture.truth[y * 641 + x] / 64.0 - focal * 120 / depth) <= 0.5 / 64 + 1e-4);
  }
}

/* Above 0, the horizon lies higher with the pitch, and rises to the right with the roll. */
TEST (test_signs_of_the_angles)
{
  GstStereoSceneParams params = {
    .pattern = GST_STEREO_PATTERN_ROAD, .width = 321, .height = 241, .road = { .camera_height = 1500 }
  };
  g_auto (ScenePicture) level = scene_picture_of (&params, 0), pitched, rolled;

  params.road.camera_pitch = 5;
  pitched = scene_picture_of (&params, 0);
  params.road.camera_pitch = 0;
  params.road.camera_roll = 5;
  rolled = scene_picture_of (&params, 0);
  fail_unless (level.layer[0][110 * 321 + 160] == 0 && pitched.layer[0][110 * 321 + 160] == 1);
  fail_unless (rolled.layer[0][120 * 321 + 20] == 0 && rolled.layer[0][120 * 321 + 300] == 1);
}

TEST (test_ground)
{
  Random random = { random_seed () };
  guint seen[SURFACES + 1] = { 0 };

  for (guint k = 0; k < 12; k++) {
    GstStereoSceneParams params = bare_road (&random);
    check_frame (&params, k, seen);
  }
  fail_unless (seen[SKY] > 10000 && seen[GROUND] > 10000);
}

TEST (test_ramp_and_kerb)
{
  Random random = { random_seed () };
  guint seen[SURFACES + 1] = { 0 };

  for (guint k = 0; k < 18; k++) {
    GstStereoSceneParams params = bare_road (&random);
    if (k % 3 != 1) {
      params.road.ramp_slope = random_between (&random, 1, 30);
      params.road.ramp_distance = random_between (&random, 3000, 30000);
    }
    if (k % 3 != 0) {
      params.road.kerb_height = random_between (&random, 50, 500);
      params.road.kerb_distance = random_between (&random, 500, 3000);
    }
    check_frame (&params, 0, seen);
  }
  fail_unless (
      seen[RAMP] > 10000 && seen[TOP] > 5000 && seen[FACE] > 1000, "%u %u %u", seen[RAMP], seen[TOP], seen[FACE]);
}

/* On the ground, on the ramp, on the kerb and left of it, and while it comes nearer. */
TEST (test_obstacle)
{
  Random random = { random_seed () };
  guint seen[SURFACES + 1] = { 0 };

  for (guint k = 0; k < 24; k++) {
    GstStereoSceneParams params = bare_road (&random);
    GstStereoRoadParams *road = &params.road;
    road->obstacle_height = random_between (&random, 200, 2000);
    road->obstacle_width = random_between (&random, 200, 1500);
    road->obstacle_distance = random_between (&random, 5000, 25000);
    road->obstacle_lateral = random_between (&random, -2000, 500);
    road->obstacle_approach = k % 4 ? random_between (&random, 0, 300) : 0;
    road->ramp_slope = k & 1 ? random_between (&random, 1, 10) : 0;
    if (k & 2) {
      road->camera_roll /= 12; /* so that it leans over the kerb in no frame */
      road->kerb_height = random_between (&random, 50, 400);
      road->kerb_distance = 3000;
      road->obstacle_lateral += k & 4 ? 7000 : 0;
    }
    check_frame (&params, k, seen);
  }
  fail_unless (seen[OBSTACLE] > 5000, "%u", seen[OBSTACLE]);
}

/* ---- pictures ------------------------------------------------------------------------------ */

/* As in test_scene.c: the views agree where the truth says, and worse the further from there. */
TEST (test_views_agree)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 3; k++) {
    GstStereoSceneParams params = { .pattern = GST_STEREO_PATTERN_ROAD,
      .seed = random_next (&random),
      .width = 641,
      .height = 361,
      .road = { .camera_height = 1500,
          .camera_pitch = 4,
          .camera_roll = random_between (&random, -6, 6),
          .obstacle_height = 1200,
          .obstacle_width = 1500,
          .obstacle_distance = 7000,
          .obstacle_lateral = -500,
          .ramp_slope = 8,
          .ramp_distance = 14000,
          .kerb_height = 500,
          .kerb_distance = 1500 } };
    g_auto (ScenePicture) picture = scene_picture_of (&params, 0);
    for (gint layer = 0; layer < SURFACES; layer++) {
      guint count;
      gdouble right = scene_picture_warp_error (&picture, layer, 8, 0, &count);
      fail_unless (count > 500, "layer %d has %u pixels", layer, count);
      fail_unless (right < 2.5, "layer %d is off by %.2f", layer, right);
      for (gint off = 2; off <= 16; off *= 2) {
        gdouble before = scene_picture_warp_error (&picture, layer, 8, -off / 32.0, &count);
        gdouble behind = scene_picture_warp_error (&picture, layer, 8, off / 32.0, &count);
        fail_unless (right < before && right < behind, "layer %d: %.3f, but %.3f and %.3f %d/32 px beside it", layer,
            right, before, behind, off);
      }
    }
  }
}

static gboolean
same_picture (const GstStereoSceneParams *a, const GstStereoSceneParams *b, guint64 frame)
{
  g_auto (ScenePicture) one = scene_picture_of (a, frame), other = scene_picture_of (b, frame);

  return scene_picture_equal (&one, &other);
}

TEST (test_patterns_do_not_mix)
{
  Random random = { random_seed () };
  GstStereoSceneParams road = bare_road (&random), moving = road;

  moving.motion = 7;
  fail_unless (same_picture (&road, &moving, 9), "motion has an effect on the road");
  for (guint pattern = GST_STEREO_PATTERN_PLANES; pattern < GST_STEREO_PATTERN_ROAD; pattern++) {
    GstStereoSceneParams plain = { .pattern = pattern, .width = 100, .height = 50, .motion = 2 }, other = plain;
    other.road = road.road;
    other.road.obstacle_height = other.road.kerb_height = 1e9;
    fail_unless (same_picture (&plain, &other, 9), "the road's parameters have an effect on pattern %u", pattern);
  }
}

/* ---- limits -------------------------------------------------------------------------------- */

static void
expect_refusal (const GstStereoSceneParams *params, const gchar *what, const gchar *instead)
{
  g_autofree gchar *message = NULL;

  fail_unless (gst_stereo_scene_new (params, &message) == NULL, "%s is not refused", what);
  fail_unless (message && strstr (message, what) && strstr (message, instead), "%s", message);
}

TEST (test_refusals)
{
  const GstStereoSceneParams good = { .pattern = GST_STEREO_PATTERN_ROAD,
    .width = 640,
    .height = 360,
    .road = { .camera_height = 1500,
        .obstacle_height = 1000,
        .obstacle_width = 800,
        .obstacle_distance = 9000,
        .kerb_distance = 2500 } };
  GstStereoSceneParams bad = good;
  /* by the pinhole model: f * 120 * 179.5 / (f * 1500) px at the bottom, and 576 * 120 / 1000 at a metre */
  const gint ground = 15, metre = 70;

  fail_unless (scene_picture_max_disparity (&good) == 64, "a tenth of the width covers it");
  bad.max_disparity = ground - 1;
  expect_refusal (&bad, "max-disparity=14", "at least 15");
  bad.road.obstacle_distance = 1000;
  bad.max_disparity = metre - 1;
  expect_refusal (&bad, "obstacle-distance=1000", "max-disparity to at least 70");
  bad.max_disparity = 0;
  fail_unless_equals_int (scene_picture_max_disparity (&bad), metre);
  bad.road.obstacle_distance = 200;
  expect_refusal (&bad, "obstacle-distance=200", "at least 216"); /* 576 * 120 / 320 */
  bad = good;
  bad.road.kerb_height = 1301;
  expect_refusal (&bad, "kerb-height=1301", "at most 1300");
  bad = good;
  bad.road.kerb_height = 100;
  bad.road.obstacle_lateral = 2200;
  expect_refusal (&bad, "obstacle-lateral=2200", "on one side");
  bad.road.obstacle_lateral = 2000;
  scene_picture_max_disparity (&bad);
  /* the camera looks down and leans: the obstacle comes to stand across the kerb as it comes nearer */
  bad.road.camera_pitch = 5;
  bad.road.camera_roll = -10;
  for (bad.road.obstacle_lateral = 1500;; bad.road.obstacle_lateral += 50) {
    g_autofree gchar *message = NULL;
    g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (&bad, &message);

    fail_unless (scene != NULL, "%s", message);
    bad.road.obstacle_approach = 100;
    g_clear_pointer (&scene, gst_stereo_scene_free);
    if (!(scene = gst_stereo_scene_new (&bad, &message)))
      break;
    bad.road.obstacle_approach = 0;
  }
  expect_refusal (&bad, "obstacle-lateral=", "on one side");
  bad = good;
  bad.road.camera_pitch = -18;
  expect_refusal (&bad, "camera-pitch=-18", "larger camera-pitch");
  bad = good;
  bad.width = 16;
  bad.height = 2000;
  expect_refusal (&bad, "The ground", "camera-height to more than 1500");
}

/* What is closest of all that there can be: nothing overflows (under a sanitizer), and truth stays in its range. */
TEST (test_any_road)
{
  Random random = { random_seed () };
  guint made = 0;

  for (guint k = 0; k < 100; k++) {
    GstStereoSceneParams params = bare_road (&random);
    GstStereoRoadParams *road = &params.road;
    gchar *message = NULL;
    params.width = random_range (&random, 8, k % 20 ? 300 : 16384);
    params.height = random_range (&random, 1, k % 20 ? 100 : 16384);
    road->camera_height = random_between (&random, 200, k % 2 ? 2000 : 20000);
    road->camera_pitch = random_between (&random, -20, 20);
    road->camera_roll = random_between (&random, -20, 20);
    road->obstacle_height = k % 3 ? random_between (&random, 0, 10000) : 0;
    road->obstacle_width = random_between (&random, 10, 20000);
    road->obstacle_distance = random_between (&random, 300, 79000);
    road->obstacle_lateral = random_between (&random, -40000, 40000);
    road->obstacle_approach = random_between (&random, 0, 10000);
    road->ramp_slope = k % 4 ? random_between (&random, 0, 45) : 0;
    road->ramp_distance = random_between (&random, 500, 79000);
    road->kerb_height = k % 5 ? random_between (&random, 0, 1000) : 0;
    road->kerb_distance = random_between (&random, 200, 20000);
    road->thin_count = k % 3 == 2 ? random_range (&random, 1, GST_STEREO_SCENE_THIN_THINGS) : 0;
    road->thin_width = random_range (&random, 1, 8);
    g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (&params, &message);
    fail_unless (!scene == (message != NULL));
    g_free (message);
    made += scene != NULL;
    for (guint f = 0; scene && f < 3; f++) {
      g_autofree guint8 *level = g_malloc (2 * (gsize) params.width);
      g_autofree guint16 *truth = g_new (guint16, params.width);
      gst_stereo_scene_set_frame (scene, f == 2 ? G_MAXUINT64 : f);
      for (gint i = 0; i < 12; i++) {
        gint y = i * (params.height - 1) / 11;
        gst_stereo_scene_row (scene, FALSE, y, level, level + params.width);
        gst_stereo_scene_row (scene, TRUE, y, level, level + params.width);
        gst_stereo_scene_row (scene, i & 1, y + (i & 2 ? params.height : -params.height), level, level + params.width);
        gst_stereo_scene_truth (scene, y, truth);
        for (gint x = 0; x < params.width; x++)
          fail_unless (truth[x] > 0 && truth[x] <= gst_stereo_scene_params (scene)->max_disparity * TRUTH_STEPS);
      }
    }
  }
  fail_unless (made > 15, "only %u roads could be made", made);
}

/* ---- thin things --------------------------------------------------------------------------- */

static GstStereoSceneParams
road_with_thin_things (Random *random, gint count, gint width)
{
  GstStereoSceneParams params = { .pattern = GST_STEREO_PATTERN_ROAD,
    .seed = random_next (random),
    .width = 2 * random_range (random, 140, 300) + 1,
    .height = 2 * random_range (random, 60, 120) + 1,
    .road = { .camera_height = random_between (random, 1200, 3000),
        .camera_pitch = random_between (random, 0, 6),
        .obstacle_width = 600,
        .obstacle_distance = 10000,
        .ramp_distance = 15000,
        .kerb_distance = 2500,
        .thin_count = count,
        .thin_width = width,
        .thin_contrast = 1 } };

  return params;
}

TEST (test_thin_things)
{
  Random random = { random_seed () };
  guint seen[SURFACES + 1] = { 0 };

  for (guint k = 0; k < 12; k++) {
    GstStereoSceneParams params = road_with_thin_things (
        &random, random_range (&random, 1, 32), random_range (&random, 1, 8));
    GstStereoRoadParams *road = &params.road;
    road->camera_roll = k % 3 ? random_between (&random, -8, 8) : 0;
    road->ramp_slope = k & 1 ? random_between (&random, 1, 10) : 0;
    if (k % 3 == 0) {
      road->kerb_height = random_between (&random, 50, 400);
      road->kerb_distance = random_between (&random, 1000, 3000);
    } else {
      /* it passes things */
      road->obstacle_height = random_between (&random, 500, 3000);
      road->obstacle_width = random_between (&random, 1000, 4000);
      road->obstacle_distance = 38000;
      road->obstacle_approach = 3000;
      road->obstacle_lateral = random_between (&random, -2000, 2000);
    }
    check_frame (&params, k, seen);
  }
  fail_unless (seen[SURFACES] > 20000, "%u pixels", seen[SURFACES]);
}

/* How many pixels a thing has in each column, or row. */
static void
count_lines (
    const ScenePicture *picture, const GstStereoRoadParams *road, guint v, gint thing, gboolean rows, guint *counts)
{
  for (gint at = 0; at < picture->width * picture->height; at++)
    if (thing_at (picture, road, v, at) == thing)
      counts[rows ? at / picture->width : at % picture->width]++;
}

/* A thing has exactly @width pixels in each of its lines, except where something hides it. */
static void
check_width (const ScenePicture *picture, const GstStereoRoadParams *road, guint v, gint thing, gboolean rows)
{
  gint lines = rows ? picture->height : picture->width, filled = 0, whole = 0;
  g_autofree guint *counts = g_new0 (guint, lines);

  count_lines (picture, road, v, thing, rows, counts);
  for (gint i = 0; i < lines; i++) {
    fail_unless (counts[i] <= (guint) road->thin_width, "thing %d has %u pixels in a line, not %d", thing, counts[i],
        road->thin_width);
    filled += counts[i] > 0;
    whole += counts[i] == (guint) road->thin_width;
  }
  fail_unless (10 * whole >= 9 * filled, "thing %d is whole in %d of %d lines", thing, whole, filled);
}

/* A slanted bar is as wide in each of its rows: of that many pixels, either side of a whole number is right. With a slant of 45
 * degrees all rows may err to the same side. No row has more, and rows that nothing hides do not have less. */
static void
check_slanted (const ScenePicture *picture, const GstStereoSceneParams *params, guint v, gint thing)
{
  g_autofree guint *counts = g_new0 (guint, picture->height);
  GstStereoRoadThin bar;
  GstStereoRoad road;
  gint whole = 0;

  gst_stereo_road_init (&road, params);
  gst_stereo_road_get_thin (&road, thing, &bar);
  count_lines (picture, &params->road, v, thing, TRUE, counts);
  /* of a bar of this width at this slant, not what the source keeps for a row */
  gdouble width = params->road.thin_width * sqrt (1 + bar.lean * bar.lean);
  for (gint y = 0; y < picture->height; y++) {
    fail_unless (
        counts[y] <= ceil (width + 2 * BESIDE), "a slanted bar has %u pixels in a row, not %f", counts[y], width);
    whole += counts[y] >= MAX (1, floor (width - 2 * BESIDE));
  }
  fail_unless (
      whole <= bar.rows && 10 * whole >= 9 * bar.rows, "a slanted bar is whole in %d of %d rows", whole, bar.rows);
}

TEST (test_widths)
{
  Random random = { random_seed () };
  guint checked = 0;

  for (gint k = 0; k < 16; k++) {
    GstStereoSceneParams params = road_with_thin_things (&random, 3, 1 + k % 8);
    Tracer tracer = tracer_new (&params, 100, 0);
    g_auto (ScenePicture) picture = scene_picture_of (&params, 0);
    for (gint i = 0; i < 6; i++) {
      const GstStereoRoadThin *thing = &tracer.thing[i / 2];
      gdouble reach = thing->half_width + fabs (thing->lean) * MIN (thing->rows, params.height) + 1;
      /* whole in both views, and higher than the ground */
      if (thing->center - thing->disparity < reach || thing->center + reach > params.width || thing->top < 0 ||
          (i / 2 && thing->top + thing->rows > params.height))
        continue;
      if (i / 2 == 2)
        check_slanted (&picture, &params, i % 2, i / 2);
      else
        check_width (&picture, &params.road, i % 2, i / 2, i / 2 == 0);
      checked++;
    }
  }
  fail_unless (checked > 20, "only %u things were whole", checked);
}

TEST (test_distances)
{
  Random random = { random_seed () };
  GstStereoSceneParams params = road_with_thin_things (&random, GST_STEREO_SCENE_THIN_THINGS, 2);
  Tracer tracer = tracer_new (&params, 100, 0);
  const gdouble unit = tracer.focal * BASELINE;

  fail_unless (unit / tracer.thing[0].disparity > 38000 && unit / tracer.thing[31].disparity < 7000);
  for (gint i = 0; i < GST_STEREO_SCENE_THIN_THINGS; i++) {
    gdouble distance = unit / tracer.thing[i].disparity;
    fail_unless (distance > 5000 && distance < 40000, "thing %d is %f mm away", i, distance);
    fail_unless (i == 0 || tracer.thing[i].disparity > tracer.thing[i - 1].disparity);
  }
}

/* The texture's place is exact to a fraction of a pixel: the views agree best where the truth says. */
TEST (test_thin_views_agree)
{
  enum
  {
    OFFSETS = 9
  };
  Random random = { random_seed () };
  gdouble sum[3][OFFSETS] = { { 0 } }, error[OFFSETS];
  guint count[3][OFFSETS] = { { 0 } };

  for (guint k = 0; k < 6; k++) {
    GstStereoSceneParams params = road_with_thin_things (&random, 12, 6 + k % 3);
    g_auto (ScenePicture) picture = scene_picture_of (&params, k);
    for (gint i = 0; i < 12 * OFFSETS; i++) {
      guint pixels, kind = i % 12 % 3, o = i / 12;
      gdouble off = scene_picture_warp_error (&picture, 2 + i % 12, 4, ((gint) o - OFFSETS / 2) / 8.0, &pixels);
      sum[kind][o] += off * off * pixels;
      count[kind][o] += pixels;
    }
  }
  for (gint kind = 0; kind < 3; kind++) {
    for (gint o = 0; o < OFFSETS; o++)
      error[o] = sqrt (sum[kind][o] / count[kind][o]);
    fail_unless (count[kind][OFFSETS / 2] > 1000, "kind %d: %u pixels", kind, count[kind][OFFSETS / 2]);
    fail_unless (error[OFFSETS / 2] < 5, "kind %d is off by %f", kind, error[OFFSETS / 2]);
    for (gint o = 0; o < OFFSETS; o++)
      fail_unless (o == OFFSETS / 2 || error[o] > error[OFFSETS / 2], "kind %d: %f, but %f at %d/8 px", kind,
          error[OFFSETS / 2], error[o], o - OFFSETS / 2);
  }
}

/* What they do not hide is as without them. */
TEST (test_nothing_else_changes)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 4; k++) {
    GstStereoSceneParams params = road_with_thin_things (&random, 20, 3), bare = params;
    guint hidden = 0;
    params.max_disparity = bare.max_disparity = scene_picture_max_disparity (&params);
    bare.road.thin_count = 0;
    g_auto (ScenePicture) picture = scene_picture_of (&params, k);
    g_auto (ScenePicture) without = scene_picture_of (&bare, k);
    for (gint i = 0; i < 2 * params.width * params.height; i++) {
      gint v = i % 2, at = i / 2;
      if (thing_at (&picture, &params.road, v, at) >= 0) {
        fail_unless (v || picture.truth[at] >= without.truth[at]);
        hidden++;
        continue;
      }
      fail_unless_equals_int (picture.level[v][at], without.level[v][at]);
      fail_unless (v || picture.truth[at] == without.truth[at]);
    }
    fail_unless (hidden > 500, "%u pixels", hidden);
  }
}

/* Without contrast each thing has one grey level, posts too a dark or a bright one; half of it is half way there. */
TEST (test_contrast)
{
  Random random = { random_seed () };
  GstStereoSceneParams params = road_with_thin_things (&random, 12, 8);
  g_auto (ScenePicture) full = scene_picture_of (&params, 0), half, plain;
  gint level[GST_STEREO_SCENE_THIN_THINGS] = { 0 };

  params.road.thin_contrast = 0.5;
  half = scene_picture_of (&params, 0);
  params.road.thin_contrast = 0;
  plain = scene_picture_of (&params, 0);
  for (gint i = 0; i < 2 * params.width * params.height; i++) {
    gint v = i % 2, at = i / 2, thing = thing_at (&plain, &params.road, v, at);
    if (thing < 0)
      continue;
    level[thing] = level[thing] ? level[thing] : plain.level[v][at];
    fail_unless_equals_int (plain.level[v][at], level[thing]);
    fail_unless (abs (2 * half.level[v][at] - full.level[v][at] - plain.level[v][at]) <= 1);
  }
  for (gint i = 0; i < 12; i++)
    fail_unless (level[i] == 0 || (i % 2 ? level[i] > 180 : level[i] < 70), "thing %d: %d", i, level[i]);
}

static gboolean
same_truth (const GstStereoSceneParams *a, const GstStereoSceneParams *b, guint64 frame)
{
  g_auto (ScenePicture) one = scene_picture_of (a, 0), other = scene_picture_of (b, frame);

  return !memcmp (one.truth, other.truth, 2 * (gsize) (one.width * one.height));
}

TEST (test_places_follow_from_the_seed)
{
  Random random = { random_seed () };
  GstStereoSceneParams params = road_with_thin_things (&random, 12, 3), other = params;

  fail_unless (same_truth (&params, &params, 9), "they move");
  other.seed++;
  fail_if (same_truth (&params, &other, 0));
}

TEST (test_thin_max_disparity)
{
  /* by the pinhole model: 576 * 120 / 5000 px */
  GstStereoSceneParams params = { .pattern = GST_STEREO_PATTERN_ROAD,
    .width = 640,
    .height = 100,
    .max_disparity = 13,
    .road = { .camera_height = 2000, .camera_pitch = 4, .thin_count = 5, .thin_width = 3 } };
  g_autofree gchar *message = NULL;

  fail_unless (gst_stereo_scene_new (&params, &message) == NULL);
  fail_unless (strstr (message, "thin-count=5") && strstr (message, "at least 14"), "%s", message);
  params.max_disparity = 14;
  fail_unless_equals_int (scene_picture_max_disparity (&params), 14);
  /* a tenth of the width is enough, and more where the camera is wide */
  params.max_disparity = 0;
  fail_unless_equals_int (scene_picture_max_disparity (&params), 64);
  params.width = 8000;
  fail_unless_equals_int (scene_picture_max_disparity (&params), 173);
}

SUITE (testroad)
{
}
