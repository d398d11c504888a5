/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pattern `road` of stereotestsrc: every pixel of both views is what a ray tracer sees there. */
#include "tests/support/gst/scene_picture.h"

#include <math.h>

#include "tests/support/gst/road_tracer.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

/* Which surface a layer of the scene is: those that are not asked for have none. */
static RoadSurface
surface_of (const GstStereoRoadParams *road, guint layer)
{
  const gboolean there[ROAD_SURFACES] = { TRUE, TRUE, road->ramp_slope > 0, road->kerb_height > 0,
    road->kerb_height > 0, road->obstacle_height > 0 };
  guint surface = 0;

  while (surface < ROAD_SURFACES && (!there[surface] || layer-- > 0))
    surface++;
  return surface;
}

/* Compares a frame with the tracer; adds to how many pixels of each surface the left view has. */
static void
check_frame (const GstStereoSceneParams *params, guint64 frame, guint seen[ROAD_SURFACES])
{
  gint max_disparity = scene_picture_max_disparity (params);
  g_auto (ScenePicture) picture = scene_picture_of (params, frame);
  RoadTracer tracer = road_tracer_new (params, max_disparity, frame);
  guint borders = 0;

  for (gint i = 0; i < 2 * params->width * params->height; i++) {
    gint v = i % 2, at = i / 2, x = at % params->width, y = at / params->width;
    gdouble depth, disparity = picture.truth[at] / (gdouble) TRUTH_STEPS, wanted;
    RoadSurface shown = surface_of (&params->road, picture.layer[v][at]),
                surface = road_tracer_trace (&tracer, v, x, y, &depth);
    wanted = fmax (tracer.focal * ROAD_BASELINE / depth, 1.0 / TRUTH_STEPS);
    if (!v) {
      seen[surface]++;
      fail_unless (picture.truth[at] <= max_disparity * TRUTH_STEPS);
    }
    if (shown == surface && (v || fabs (disparity - wanted) <= 0.5 / TRUTH_STEPS + 1e-4))
      continue;
    fail_if (road_tracer_is_plain (&tracer, v, x, y),
        "pitch %f, roll %f: pixel %d,%d of view %d shows %d, not %d; %f px, not %f", params->road.camera_pitch,
        params->road.camera_roll, x, y, v, shown, surface, disparity, wanted);
    borders++;
  }
  /* a border is that near to a pixel by chance */
  fail_unless (borders <= (guint) (params->width + params->height) / 8, "%u pixels lie beside a border", borders);
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
    gdouble depth = y > horizon ? fmin (focal * 1500 / (y - horizon), ROAD_BACKDROP) : ROAD_BACKDROP;
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
  guint seen[ROAD_SURFACES] = { 0 };

  for (guint k = 0; k < 12; k++) {
    GstStereoSceneParams params = bare_road (&random);
    check_frame (&params, k, seen);
  }
  fail_unless (seen[ROAD_SKY] > 10000 && seen[ROAD_GROUND] > 10000);
}

TEST (test_ramp_and_kerb)
{
  Random random = { random_seed () };
  guint seen[ROAD_SURFACES] = { 0 };

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
  fail_unless (seen[ROAD_RAMP] > 10000 && seen[ROAD_TOP] > 5000 && seen[ROAD_FACE] > 1000, "%u %u %u", seen[ROAD_RAMP],
      seen[ROAD_TOP], seen[ROAD_FACE]);
}

/* On the ground, on the ramp, on the kerb and left of it, and while it comes nearer. */
TEST (test_obstacle)
{
  Random random = { random_seed () };
  guint seen[ROAD_SURFACES] = { 0 };

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
  fail_unless (seen[ROAD_OBSTACLE] > 5000, "%u", seen[ROAD_OBSTACLE]);
}

/* Columns and rows of a level camera's obstacle, by the pinhole model. */
TEST (test_obstacle_of_level_camera)
{
  GstStereoSceneParams params = { .pattern = GST_STEREO_PATTERN_ROAD,
    .width = 640,
    .height = 360,
    .max_disparity = 40,
    .road = { .camera_height = 1500,
        .obstacle_height = 1000,
        .obstacle_width = 800,
        .obstacle_distance = 9000,
        .obstacle_lateral = -700,
        .obstacle_approach = 100 } };

  for (guint64 frame = 0; frame < 100; frame += 9) {
    g_auto (ScenePicture) picture = scene_picture_of (&params, frame);
    const gdouble focal = 576, nearest = focal * 120 / 40, z = fmax (9000 - 100.0 * (gdouble) frame, nearest);
    const gdouble left = 319.5 + focal * -1100 / z, right = 319.5 + focal * -300 / z;
    const gdouble top = 179.5 + focal * 500 / z, foot = 179.5 + focal * 1500 / z;
    gint first_x = 640, last_x = -1, first_y = 360, last_y = -1;
    for (gint i = 0; i < 640 * 360; i++)
      if (picture.layer[0][i] == 2) {
        first_x = MIN (first_x, i % 640);
        last_x = MAX (last_x, i % 640);
        first_y = MIN (first_y, i / 640);
        last_y = MAX (last_y, i / 640);
        fail_unless (fabs (picture.truth[i] / 64.0 - focal * 120 / z) <= 0.5 / 64 + 1e-4);
      }
    fail_unless (fabs (first_x - fmax (left, 0)) <= 1 && fabs (last_x - right) <= 1, "%d..%d, not %f..%f", first_x,
        last_x, left, right);
    fail_unless (fabs (first_y - top) <= 1 && fabs (last_y - fmin (foot, 359)) <= 1, "%d..%d, not %f..%f", first_y,
        last_y, top, foot);
  }
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
    for (gint layer = 0; layer < ROAD_SURFACES; layer++) {
      guint count;
      gdouble right = scene_picture_warp_error (&picture, layer, 0, &count);
      fail_unless (count > 500, "layer %d has %u pixels", layer, count);
      fail_unless (right < 2.5, "layer %d is off by %.2f", layer, right);
      for (gint off = 2; off <= 16; off *= 2) {
        gdouble before = scene_picture_warp_error (&picture, layer, -off / 32.0, &count);
        gdouble behind = scene_picture_warp_error (&picture, layer, off / 32.0, &count);
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

SUITE (testroad)
{
}
