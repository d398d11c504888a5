/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thin things of stereotestsrc pattern=road: both views show them where they stand, and the truth is theirs. */
#include "tests/support/gst/scene_picture.h"

#include <math.h>

#include "gst/testsrc/road.h"
#include "tests/support/gst/road_tracer.h"
#include "tests/support/gst/suite.h"
#include "tests/support/random.h"

#define BESIDE 0.02 /* pixels: nearer to a border than this, either side is right */
#define NOTHING (-1)

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

/* The layer of the first thin thing. */
static gint
first_layer (const GstStereoRoadParams *road)
{
  return 2 + (road->ramp_slope > 0) + 2 * (road->kerb_height > 0) + (road->obstacle_height > 0);
}

/* The thin thing that pixel @at of view @v shows, or NOTHING. */
static gint
shown_at (const ScenePicture *picture, const GstStereoRoadParams *road, guint v, gint at)
{
  return MAX (NOTHING, picture->layer[v][at] - first_layer (road));
}

/* ---- what is seen -------------------------------------------------------------------------- */

typedef struct
{
  GstStereoRoadThin thing[GST_STEREO_SCENE_THIN_THINGS];
  gint count;
  RoadTracer tracer;
  gdouble kerb; /* column of the kerb's face in millimetres, or far away */
} Street;

static Street
street_of (const GstStereoSceneParams *params, gint max_disparity, guint64 frame)
{
  Street street = { .count = params->road.thin_count,
    .tracer = road_tracer_new (params, max_disparity, frame),
    .kerb = params->road.kerb_height > 0 ? params->road.kerb_distance : 1e9 };
  GstStereoRoad road;

  gst_stereo_road_init (&road, params);
  for (gint i = 0; i < street.count; i++)
    gst_stereo_road_get_thin (&road, i, &street.thing[i]);
  return street;
}

/* How far inside the outline of a thing a point of the left view is, in pixels; below 0: outside. */
static gdouble
depth_in_outline (const GstStereoRoadThin *thing, gdouble x, gint y)
{
  gdouble away = fabs (x - thing->center - thing->lean * (y - thing->top));

  return y >= thing->top && y < thing->top + thing->rows ? thing->half_width - away : -1;
}

/* A bar across the kerb is not what a tracer can see. */
static gboolean
crosses_kerb (const Street *street, const GstStereoRoadThin *thing)
{
  gdouble scale = ROAD_BASELINE / thing->disparity, lean = fabs (thing->lean) * MIN (thing->rows, 1000);
  gdouble left = (thing->center - thing->half_width - lean - street->tracer.cx) * scale;
  gdouble right = (thing->center + thing->half_width + lean - street->tracer.cx) * scale;

  return left < street->kerb && right > street->kerb;
}

/* Which thing is seen in pixel (@x, @y) of a view, and whether that is as clear as it can be. @disparity: of what is seen. */
static gint
trace (const Street *street, guint v, gint x, gint y, gdouble *disparity, gboolean *is_clear)
{
  const RoadTracer *tracer = &street->tracer;
  gdouble depth, behind;
  gint seen = NOTHING;

  road_tracer_trace (tracer, v == 1, x, y, &depth);
  behind = *disparity = tracer->focal * ROAD_BASELINE / depth;
  *is_clear = road_tracer_is_plain (tracer, v == 1, x, y);
  for (gint i = 0; i < street->count; i++) {
    const GstStereoRoadThin *thing = &street->thing[i];
    gdouble inside = depth_in_outline (thing, x + (v ? thing->disparity : 0), y);
    if (inside > -BESIDE && (inside < BESIDE || fabs (thing->disparity - behind) < 0.01 || crosses_kerb (street, thing)))
      *is_clear = FALSE;
    if (inside < 0 || thing->disparity <= *disparity)
      continue;
    seen = i;
    *disparity = thing->disparity;
  }
  return seen;
}

/* Returns how many pixels of both views show thin things. */
static guint
check_picture (const GstStereoSceneParams *params, guint64 frame)
{
  g_auto (ScenePicture) picture = scene_picture_of (params, frame);
  Street street = street_of (params, scene_picture_max_disparity (params), frame);
  guint unclear = 0, things = 0, pixels = 2 * (guint) (params->width * params->height);

  for (gint i = 0; i < (gint) pixels; i++) {
    gint v = i % 2, at = i / 2, x = at % params->width, y = at / params->width;
    gint shown = shown_at (&picture, &params->road, v, at);
    gdouble disparity, truth = picture.truth[at] / (gdouble) TRUTH_STEPS;
    gboolean is_clear;
    gint seen = trace (&street, v, x, y, &disparity, &is_clear);
    things += shown != NOTHING;
    unclear += !is_clear;
    if (!is_clear)
      continue;
    fail_unless (shown == seen, "pixel %d,%d of view %d shows thing %d, not %d", x, y, v, shown, seen);
    fail_unless (v || shown == NOTHING || fabs (truth - disparity) <= 0.5 / TRUTH_STEPS + 1e-4,
        "pixel %d,%d has a truth of %f px, not %f", x, y, truth, disparity);
  }
  fail_unless (unclear < pixels / 20, "%u of %u pixels are not compared", unclear, pixels);
  return things;
}

TEST (test_views_show_what_stands_there)
{
  Random random = { random_seed () };
  guint things = 0;

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
    things += check_picture (&params, k);
  }
  fail_unless (things > 20000, "%u pixels", things);
}

/* ---- widths, distances --------------------------------------------------------------------- */

/* How many pixels a thing has in each column, or row. */
static void
count_lines (
    const ScenePicture *picture, const GstStereoRoadParams *road, guint v, gint thing, gboolean rows, guint *counts)
{
  for (gint at = 0; at < picture->width * picture->height; at++)
    if (shown_at (picture, road, v, at) == thing)
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
    Street street = street_of (&params, 100, 0);
    ScenePicture picture = scene_picture_of (&params, 0);
    for (gint i = 0; i < 6; i++) {
      const GstStereoRoadThin *thing = &street.thing[i / 2];
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
    scene_picture_clear (&picture);
  }
  fail_unless (checked > 20, "only %u things were whole", checked);
}

TEST (test_distances)
{
  Random random = { random_seed () };
  GstStereoSceneParams params = road_with_thin_things (&random, GST_STEREO_SCENE_THIN_THINGS, 2);
  Street street = street_of (&params, 100, 0);
  const gdouble unit = street.tracer.focal * ROAD_BASELINE;

  fail_unless (unit / street.thing[0].disparity > 38000 && unit / street.thing[31].disparity < 7000);
  for (gint i = 0; i < street.count; i++) {
    gdouble distance = unit / street.thing[i].disparity;
    fail_unless (distance > 5000 && distance < 40000, "thing %d is %f mm away", i, distance);
    fail_unless (i == 0 || street.thing[i].disparity > street.thing[i - 1].disparity);
  }
}

/* ---- pictures ------------------------------------------------------------------------------ */

/* A row between its pixels, by Catmull and Rom's cubic; FALSE where one of its four pixels shows another layer. */
static gboolean
interpolate (const guint8 *level, const guint8 *layer, gint width, guint8 wanted, gdouble x, gdouble *value)
{
  gint first = (gint) floor (x) - 1;
  gdouble t = x - floor (x);
  const gdouble weight[] = { (-t + 2 * t * t - t * t * t) / 2, (2 - 5 * t * t + 3 * t * t * t) / 2,
    (t + 4 * t * t - 3 * t * t * t) / 2, (-t * t + t * t * t) / 2 };

  *value = 0;
  if (first < 0 || first + 4 > width)
    return FALSE;
  for (gint i = 0; i < 4; i++) {
    if (layer[first + i] != wanted)
      return FALSE;
    *value += weight[i] * level[first + i];
  }
  return TRUE;
}

/* Adds the squares of left (x, y) - right (x - d - @off, y) over the pixels of kind @kind of thin things. */
static void
add_errors (
    const ScenePicture *picture, const GstStereoRoadParams *road, gint kind, gdouble off, gdouble *sum, guint *count)
{
  for (gint at = 0; at < picture->width * picture->height; at++) {
    gint row = at / picture->width * picture->width, thing = shown_at (picture, road, 0, at);
    gdouble x = at - row - picture->truth[at] / (gdouble) TRUTH_STEPS - off, value;
    if (thing == NOTHING || thing % 3 != kind ||
        !interpolate (picture->level[1] + row, picture->layer[1] + row, picture->width, picture->layer[0][at], x, &value))
      continue;
    *sum += (picture->level[0][at] - value) * (picture->level[0][at] - value);
    ++*count;
  }
}

/* The texture's place is exact to a fraction of a pixel: the views agree best where the truth says. */
TEST (test_views_agree)
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
    for (gint i = 0; i < 3 * OFFSETS; i++)
      add_errors (&picture, &params.road, i % 3, (i / 3 - OFFSETS / 2) / 8.0, &sum[i % 3][i / 3], &count[i % 3][i / 3]);
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
    ScenePicture picture = scene_picture_of (&params, k);
    ScenePicture without = scene_picture_of (&bare, k);
    for (gint i = 0; i < 2 * params.width * params.height; i++) {
      gint v = i % 2, at = i / 2;
      if (shown_at (&picture, &params.road, v, at) != NOTHING) {
        fail_unless (v || picture.truth[at] >= without.truth[at]);
        hidden++;
        continue;
      }
      fail_unless_equals_int (picture.level[v][at], without.level[v][at]);
      fail_unless (v || picture.truth[at] == without.truth[at]);
    }
    fail_unless (hidden > 500, "%u pixels", hidden);
    scene_picture_clear (&picture);
    scene_picture_clear (&without);
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
    gint v = i % 2, at = i / 2, thing = shown_at (&plain, &params.road, v, at);
    if (thing == NOTHING)
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

TEST (test_max_disparity)
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

SUITE (testthin)
{
}
