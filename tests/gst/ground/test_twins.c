/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fast parts of the analysis do what their plain twins here do: samples as disparities, scores, quantiles, classes. */

#include <math.h>

#include "gst/ground/objects.h"
#include "gst/ground/plane.h"
#include "tests/gst/ground/made.h"
#include "tests/support/gst/suite.h"

static Random generator;

#define between(low, high) random_between (&generator, low, high)

/* ---- samples ----------------------------------------------------------------------------- */

/* Random bytes as a picture of any kind and size, rows padded. */
static void
check_grid (GstStereoGroundGrid *grid)
{
  GstStereoMeta meta = { .width = (guint) random_range (&generator, 1, 700),
    .height = (guint) random_range (&generator, 1, 500),
    .kind = (GstStereoOutputKind) random_range (&generator, 0, 2),
    .disparity_scale = between (1, 64),
    .min_disparity = between (-10, 20),
    .focal_length = between (100, 1000),
    .baseline = between (10, 500),
    .principal_offset = between (-20, 20),
    .depth_unit = between (100, 2000) };
  gboolean wide = meta.kind != GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  gint stride = (gint) meta.width * (wide ? 2 : 1) + random_range (&generator, 0, 9);
  gint confidence_stride = (gint) meta.width + random_range (&generator, 0, 9);
  g_autofree guint8 *samples = g_malloc ((gsize) stride * meta.height),
                    *confidence = g_malloc ((gsize) confidence_stride * meta.height),
                    *mask = g_malloc ((gsize) confidence_stride * meta.height);
  GstStereoDepthView view = { .samples = samples,
    .stride = stride,
    .wide = wide,
    .confidence = random_range (&generator, 0, 3) ? confidence : NULL,
    .confidence_stride = confidence_stride,
    .min_confidence = (guint) random_range (&generator, 0, 255),
    .mask = random_range (&generator, 0, 3) ? mask : NULL,
    .mask_stride = confidence_stride,
    .meta = &meta };
  guint64 sure = 0, asked_for = 0;
  guint wrong = 0;

  for (gsize i = 0; i < (gsize) stride * meta.height; i++)
    samples[i] = (guint8) random_next (&generator);
  for (gsize i = 0; i < (gsize) confidence_stride * meta.height; i++)
    confidence[i] = (guint8) random_next (&generator);
  for (gsize i = 0; i < (gsize) confidence_stride * meta.height; i++)
    mask[i] = random_next (&generator) % 3 ? 255 : 0;
  gst_stereo_ground_grid_read (grid, &view);
  fail_unless (grid->columns >= 1 && grid->rows >= 1);
  for (gint j = 0; j < grid->rows; j++)
    for (gint i = 0; i < grid->columns; i++) {
      gint x = gst_stereo_ground_grid_pixel (grid, i), y = gst_stereo_ground_grid_pixel (grid, j);
      const guint8 *at = samples + (gsize) y * (gsize) stride + (wide ? 2 : 1) * (gsize) x;
      guint value = wide ? at[0] + 256u * at[1] : at[0];
      gdouble expected = gst_stereo_meta_get_disparity (&meta, value) + meta.principal_offset;

      gboolean excluded = view.mask && !mask[y * confidence_stride + x];

      if (excluded || !(expected > 0) || (meta.kind == GST_STEREO_OUTPUT_KIND_DEPTH && value == 65535) ||
          (view.confidence && confidence[y * confidence_stride + x] < view.min_confidence))
        expected = 0;
      sure += expected > 0;
      asked_for += !excluded;
      wrong += grid->excluded[gst_stereo_ground_grid_at (grid, i, j)] != excluded;
      wrong += x >= (gint) meta.width || y >= (gint) meta.height ||
          !(fabs (grid->disparity[gst_stereo_ground_grid_at (grid, i, j)] - expected) <= 1e-5 * expected);
    }
  fail_unless_equals_int (wrong, 0);
  fail_unless_equals_uint64 (grid->sure, sure);
  fail_unless_equals_uint64 (grid->asked_for, asked_for);
}

TEST (test_grid)
{
  GstStereoGroundGrid grid = { 0 };

  for (guint i = 0; i < 60; i++)
    check_grid (&grid);
  gst_stereo_ground_grid_clear (&grid);
}

/* ---- scores ------------------------------------------------------------------------------ */

TEST (test_score)
{
  GstStereoGroundPoints points = { 0 };

  for (guint turn = 0; turn < 100; turn++) {
    GstStereoGroundPlane plane = { between (-10, 40), between (-0.05, 0.05), between (0.01, 0.4) };
    guint from = (guint) random_range (&generator, 0, 20), to = from + (guint) random_range (&generator, 0, 300);
    gdouble expected = 0, score;

    gst_stereo_ground_points_resize (&points, 400);
    for (guint i = 0; i < 400; i++) {
      points.u[i] = (gfloat) between (-300, 300);
      points.v[i] = (gfloat) between (-200, 200);
      points.weight[i] = i % 3 ? 1 : 0.25f;
      points.d[i] = (gfloat) (plane.at + plane.across * points.u[i] + plane.down * points.v[i] + between (-4, 4));
    }
    for (guint i = from; i < to; i++) {
      gdouble ground = plane.at + plane.across * points.u[i] + plane.down * points.v[i], off = points.d[i] - ground;

      if (fabs (off) < 1)
        expected += points.weight[i] * (1 - off * off);
      else if (off < -1 && off < -0.03 * ground)
        expected -= points.weight[i];
    }
    score = gst_stereo_ground_points_score (&points, from, to, &plane);
    fail_unless (fabs (score - expected) < 0.05, "%g, not %g", score, expected);
  }
  g_free (points.u);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return x < y ? -1 : x > y;
}

TEST (test_quantile)
{
  for (guint turn = 0; turn < 2000; turn++) {
    guint count = (guint) random_range (&generator, 1, 60);
    gfloat values[60], sorted[60];
    gdouble part = random_unit (&generator);

    for (guint i = 0; i < count; i++)
      values[i] = sorted[i] = (gfloat) random_range (&generator, 0, turn % 2 ? 5 : 100000);
    qsort (sorted, count, sizeof *sorted, compare);
    fail_unless (gst_stereo_ground_quantile (values, count, part) == sorted[(gint) (part * (count - 1) + 0.5)]);
  }
}

/* ---- classes ----------------------------------------------------------------------------- */

/* By points in space: where along the normal of the ground each sample lies. */
static GstStereoGroundKind
plain_class (const GstStereoGroundScene *scene, const GstStereoGroundPose *pose, gdouble x, gdouble y, gdouble d)
{
  const GstStereoGroundCamera *camera = &scene->camera;
  gdouble pitch = pose->pitch * G_PI / 180, roll = pose->roll * G_PI / 180, z = camera->focal * camera->baseline / d;
  gdouble right = (x - camera->x) / camera->focal * z, below = (y - camera->y) / (camera->focal * camera->stretch) * z;
  gdouble sinks = right * sin (roll) * cos (pitch) + below * cos (roll) * cos (pitch) + z * sin (pitch);
  gdouble height = pose->height - sinks, ground = d * sinks / pose->height;

  if (z > scene->sizes.max_distance || (d - ground < -1.5 && d - ground < -0.06 * ground))
    return GST_STEREO_GROUND_OTHER;
  if (d - ground <= 1 || height <= scene->sizes.min_height / 3)
    return GST_STEREO_GROUND_GROUND;
  if (height > scene->sizes.max_height)
    return GST_STEREO_GROUND_OTHER;
  return d - ground > 2.7 && height > 0.8 * scene->sizes.min_height ? GST_STEREO_GROUND_TALL :
                                                                      GST_STEREO_GROUND_STANDING;
}

TEST (test_classes)
{
  static const MadeErrors wild = { .noise = 3, .outliers = 0.5, .holes = 0.1 };
  GstStereoGroundGrid grid = { 0 };
  guint seen[GST_STEREO_GROUND_TALL + 1] = { 0 }, differ = 0, all = 0;

  for (guint turn = 0; turn < 10; turn++) {
    MadeScene road = made_road ();
    GstStereoGroundScene scene = { .grid = &grid };

    road.pitch = between (-5, 20);
    road.roll = between (-15, 15);
    road.stretch = between (0.5, 2);
    g_autoptr (MadePicture) picture = made_picture_new (&road);
    made_picture_spoil (picture, &wild, &generator);
    gst_stereo_ground_grid_read (&grid, &picture->view);
    GstStereoGroundPose pose = (GstStereoGroundPose){ road.camera_height, road.pitch, road.roll };
    scene.camera = gst_stereo_ground_camera (&picture->meta);
    scene.plane = gst_stereo_ground_plane_of (&scene.camera, &pose);
    scene.camera_height = pose.height;
    scene.sizes = made_task ().sizes;
    g_autofree guint8 *classes = g_malloc0 ((gsize) grid.stride * (gsize) (grid.rows + 2));
    gst_stereo_ground_classify (&scene, classes);
    for (gint j = 0; j < grid.rows; j++)
      for (gint i = 0; i < grid.columns; i++) {
        gsize place = gst_stereo_ground_grid_at (&grid, i, j);
        gdouble d = grid.disparity[place];
        GstStereoGroundKind expected = d > 0 ? plain_class (&scene, &pose, gst_stereo_ground_grid_pixel (&grid, i),
                                                   gst_stereo_ground_grid_pixel (&grid, j), d) :
                                               GST_STEREO_GROUND_UNSEEN;

        differ += classes[place] != expected;
        seen[expected]++;
        all++;
      }
  }
  /* single precision decides otherwise only where a sample lies on a border */
  fail_unless (differ <= all / 10000, "%u of %u differ", differ, all);
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    fail_unless (seen[i] > 100, "class %u is not tested", i);
  gst_stereo_ground_grid_clear (&grid);
}

SUITE (ground_twins)
{
  generator.state = random_seed ();
}
