/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cameras of stereotestsrc: each thing that can be wrong with them shows, in its view, as stated. */
#include "tests/support/gst/scene_picture.h"

#include <math.h>

#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define WIDTH 300
#define HEIGHT 200
#define SOUND ((GstStereoRigParams){ .right_gain = 1 })

static gdouble
mean_of (const ScenePicture *picture, guint v)
{
  gdouble sum = 0;

  for (gint i = 0; i < picture->width * picture->height; i++)
    sum += picture->level[v][i];
  return sum / (picture->width * picture->height);
}

/* Standard deviation of the difference between two views. */
static gdouble
spread_of (const guint8 *a, const guint8 *b, gint count, gdouble *mean)
{
  gdouble sum = 0, squares = 0;

  for (gint i = 0; i < count; i++) {
    sum += a[i] - b[i];
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  *mean = sum / count;
  return sqrt (squares / count - *mean * *mean);
}

/* Mean of the absolute difference of neighbours, both ways. */
static gdouble
detail_of (const ScenePicture *picture, guint v)
{
  gdouble sum = 0;

  for (gint y = 1; y < picture->height; y++)
    for (gint x = 1; x < picture->width; x++) {
      const guint8 *at = picture->level[v] + y * picture->width + x;
      sum += abs (at[0] - at[-1]) + abs (at[0] - at[-picture->width]);
    }
  return sum / ((picture->width - 1) * (picture->height - 1));
}

static gboolean
same_view (const ScenePicture *a, const ScenePicture *b, guint v)
{
  gsize pixels = (gsize) a->width * (gsize) a->height;

  return !memcmp (a->level[v], b->level[v], pixels) && !memcmp (a->layer[v], b->layer[v], pixels);
}

/* ---- noise ------------------------------------------------------------------------------ */

/* Level 128 / 2 in the right view, and twice that: the deviation is as stated at each level, and the mean is kept. */
TEST (test_noise_by_level)
{
  static const gdouble deviations[] = { 2, 6, 15 }, gains[] = { 0.5, 1, 1.5 };

  for (guint k = 0; k < 9; k++) {
    gdouble deviation = deviations[k / 3], gain = gains[k % 3], level = rint (128 * gain), mean, found;
    gdouble stated = deviation * sqrt (0.5 + level / 255);
    GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 5 + k, WIDTH, HEIGHT, 0, 0, 0 };
    GstStereoRigParams cameras = { .right_gain = gain };
    g_auto (ScenePicture) clean = scene_picture_through (&params, &cameras, 3), noisy;
    params.noise = deviation;
    noisy = scene_picture_through (&params, &cameras, 3);
    found = spread_of (noisy.level[1], clean.level[1], WIDTH * HEIGHT, &mean);
    /* 60000 draws: the deviation is within 1 % but for what rounding adds, 1/12 of the variance's unit */
    found = sqrt (found * found - 1 / 12.0);
    fail_unless (fabs (found / stated - 1) < 0.03, "noise %g at level %g: %g, not %g", deviation, level, found, stated);
    fail_unless (fabs (mean) < 0.03 * deviation + 0.02, "noise %g at level %g: %g more", deviation, level, mean);
  }
}

/* Bell-shaped: the shares within one and two deviations are those of a normal distribution. */
TEST (test_noise_is_close_to_normal)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 5, WIDTH, HEIGHT, 0, 0, 20 };
  g_auto (ScenePicture) noisy = scene_picture_of (&params, 3);
  guint one = 0, two = 0;

  for (gint i = 0; i < WIDTH * HEIGHT; i++) {
    one += abs (noisy.level[0][i] - 128) <= 20;
    two += abs (noisy.level[0][i] - 128) <= 40;
  }
  fail_unless (fabs (one / (gdouble) (WIDTH * HEIGHT) - 0.69) < 0.02, "%u within one deviation", one);
  fail_unless (fabs (two / (gdouble) (WIDTH * HEIGHT) - 0.955) < 0.01, "%u within two deviations", two);
}

/* Two views, and two frames, share nothing; the same frame comes again to the bit. */
TEST (test_noise_is_independent)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 5, WIDTH, HEIGHT, 0, 0, 6 };
  g_auto (ScenePicture) now = scene_picture_of (&params, 8), again = scene_picture_of (&params, 8), next, seeded;
  gdouble mean, apart = 6 * sqrt (2);

  next = scene_picture_of (&params, 9);
  params.seed = 6;
  seeded = scene_picture_of (&params, 8);
  fail_unless (same_view (&now, &again, 0) && same_view (&now, &again, 1));
  fail_unless (fabs (spread_of (now.level[0], now.level[1], WIDTH * HEIGHT, &mean) - apart) < 0.3);
  for (guint v = 0; v < 2; v++) {
    fail_unless (fabs (spread_of (now.level[v], next.level[v], WIDTH * HEIGHT, &mean) - apart) < 0.3);
    fail_unless (fabs (spread_of (now.level[v], seeded.level[v], WIDTH * HEIGHT, &mean) - apart) < 0.3);
    /* of one row and the next one too */
    fail_unless (fabs (spread_of (now.level[v], now.level[v] + WIDTH, WIDTH * (HEIGHT - 1), &mean) - apart) < 0.3);
  }
}

/* ---- where the right camera hangs, and its exposure ------------------------------------- */

/* Row @place, between two rows, of the right view of @scene. */
static void
row_between (GstStereoScene *scene, gdouble place, gint width, gdouble *level)
{
  gint above = (gint) floor (place);
  gdouble t = place - above,
          weights[] = { (-t + 2 * t * t - t * t * t) / 2, (2 - 5 * t * t + 3 * t * t * t) / 2,
            (t + 4 * t * t - 3 * t * t * t) / 2, (-t * t + t * t * t) / 2 };
  g_autofree guint8 *row = g_malloc ((gsize) width), *layer = g_malloc ((gsize) width);

  for (gint x = 0; x < width; x++)
    level[x] = 0;
  for (gint i = 0; i < 4; i++) {
    gst_stereo_scene_row (scene, TRUE, above - 1 + i, row, layer);
    for (gint x = 0; x < width; x++)
      level[x] += weights[i] * row[x];
  }
}

TEST (test_vertical_offset)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 30; k++) {
    GstStereoSceneParams params = { k % 2, random_next (&random), random_range (&random, 20, 150),
      random_range (&random, 30, 90), 0, 2, 0 };
    gint steps = random_range (&random, -20 * 256, 20 * 256) & (k % 3 ? ~0 : ~255);
    GstStereoRigParams cameras = { .vertical_offset = steps / 256.0, .right_gain = 1 };
    guint64 frame = random_next (&random) % 1000;
    g_auto (ScenePicture) sound = scene_picture_of (&params, frame),
                          moved = scene_picture_through (&params, &cameras, frame);
    gchar *message;
    g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (&params, &message);
    g_autofree gdouble *level = g_new (gdouble, params.width);
    gst_stereo_scene_set_frame (scene, frame);
    fail_unless (same_view (&sound, &moved, 0));
    fail_unless (!memcmp (sound.truth, moved.truth, 2 * (gsize) (params.width * params.height)));
    for (gint y = 0; y < params.height; y++) {
      /* what the left camera sees in row y, the right one sees that much lower */
      row_between (scene, y - cameras.vertical_offset, params.width, level);
      for (gint x = 0; x < params.width; x++) {
        gint is = moved.level[1][y * params.width + x];
        fail_unless (fabs (is - CLAMP (level[x], 0, 255)) < 0.51, "%g px: %d,%d is %d, not %g", cameras.vertical_offset,
            x, y, is, level[x]);
      }
    }
  }
}

/* What the right camera sees at (@x, @y), between rows and columns; beyond a side it goes on as at the side. */
static gdouble
sample_between (GstStereoScene *scene, gdouble x, gdouble y, gint width)
{
  gint left = (gint) floor (x);
  gdouble t = x - left, *level = g_new (gdouble, width), sum = 0,
          weights[] = { (-t + 2 * t * t - t * t * t) / 2, (2 - 5 * t * t + 3 * t * t * t) / 2,
            (t + 4 * t * t - 3 * t * t * t) / 2, (-t * t + t * t * t) / 2 };

  row_between (scene, y, width, level);
  for (gint i = 0; i < 4; i++)
    sum += weights[i] * level[CLAMP (left - 1 + i, 0, width - 1)];
  g_free (level);
  return sum;
}

/* A point at (u, v) from the middle is seen at that place turned clockwise, and as much lower as the camera hangs. */
TEST (test_roll)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 20; k++) {
    GstStereoSceneParams params = { k % 2, random_next (&random), random_range (&random, 20, 150),
      random_range (&random, 30, 90), 0, 2, 0 };
    GstStereoRigParams cameras = { .roll = random_unit (&random) * 10 - 5,
      .vertical_offset = k % 3 ? random_range (&random, -512, 512) / 256.0 : 0,
      .right_gain = 1 };
    gdouble angle = cameras.roll * G_PI / 180, middle[2] = { params.width / 2.0, params.height / 2.0 };
    guint64 frame = random_next (&random) % 1000;
    g_auto (ScenePicture) sound = scene_picture_of (&params, frame),
                          moved = scene_picture_through (&params, &cameras, frame);
    gchar *message;
    g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (&params, &message);
    gst_stereo_scene_set_frame (scene, frame);
    fail_unless (same_view (&sound, &moved, 0));
    fail_unless (!memcmp (sound.truth, moved.truth, 2 * (gsize) (params.width * params.height)));
    for (guint n = 0; n < 200; n++) {
      gint x = random_range (&random, 0, params.width - 1), y = random_range (&random, 0, params.height - 1);
      gdouble u = x - middle[0], v = y - cameras.vertical_offset - middle[1];
      gdouble should = sample_between (scene, middle[0] + u * cos (angle) + v * sin (angle),
          middle[1] - u * sin (angle) + v * cos (angle), params.width);
      gint is = moved.level[1][y * params.width + x];
      /* places are rounded to 1/256 px */
      fail_unless (
          fabs (is - CLAMP (should, 0, 255)) < 3, "%g degrees: %d,%d is %d, not %g", cameras.roll, x, y, is, should);
    }
  }
}

/* Rows may be asked for in any order. */
TEST (test_rows_in_any_order)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 90, 60, 0, 2, 2 };
  GstStereoRigParams cameras = { .vertical_offset = 2.5, .right_gain = 1.25 };
  g_auto (ScenePicture) picture = scene_picture_through (&params, &cameras, 7);
  Random random = { random_seed () };
  gchar *message;
  g_autoptr (GstStereoScene) scene = gst_stereo_scene_new (&params, &message);
  GstStereoRig *rig = gst_stereo_rig_new (scene, &cameras);

  gst_stereo_rig_set_frame (rig, 7);
  for (guint k = 0; k < 300; k++) {
    guint8 level[90], layer[90];
    gint y = random_range (&random, 0, 59), v = random_range (&random, 0, 1);
    gst_stereo_rig_row (rig, v, y, level, layer);
    fail_unless (!memcmp (level, picture.level[v] + y * 90, 90) && !memcmp (layer, picture.layer[v] + y * 90, 90));
  }
  gst_stereo_rig_free (rig);
}

TEST (test_right_gain)
{
  static const gdouble gains[] = { 0, 0.3, 1.7, 16 };
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, WIDTH, HEIGHT, 0, 2, 0 };
  g_auto (ScenePicture) sound = scene_picture_of (&params, 7);

  for (guint k = 0; k < G_N_ELEMENTS (gains); k++) {
    GstStereoRigParams cameras = { .right_gain = gains[k] };
    g_auto (ScenePicture) picture = scene_picture_through (&params, &cameras, 7);
    fail_unless (same_view (&sound, &picture, 0));
    for (gint i = 0; i < WIDTH * HEIGHT; i++)
      fail_unless_equals_int (picture.level[1][i], (gint) MIN (255, rint (sound.level[1][i] * gains[k])));
  }
}

/* ---- faults ----------------------------------------------------------------------------- */

/* The same but for the noise of sensors. */
static gboolean
is_like (const guint8 *a, const guint8 *b, gsize count)
{
  guint difference = 0;

  for (gsize i = 0; i < count; i++)
    difference += (guint) abs (a[i] - b[i]);
  return difference < count;
}

/* The upper half is that of the sound view, the lower half that of another frame. */
static void
check_halves (const ScenePicture *picture, const ScenePicture *sound, const ScenePicture *other, guint v)
{
  gsize half = WIDTH * (HEIGHT / 2), rest = WIDTH * HEIGHT - half;

  fail_unless (!memcmp (picture->level[v], sound->level[v], half));
  fail_unless (is_like (picture->level[v] + half, other->level[v] + half, rest));
  fail_if (is_like (picture->level[v] + half, sound->level[v] + half, rest));
  fail_if (!memcmp (picture->level[v] + half, sound->level[v] + half, WIDTH), "the first row of it is the sound one");
}

/* A point twenty pixels from the middle lies a fiftieth farther out; those in the middle stay. */
static void
check_zoom (const ScenePicture *picture, const ScenePicture *sound, guint v)
{
  gdouble error[2] = { 0, 0 };

  for (gint y = 8; y < HEIGHT - 8; y++)
    for (gint x = 8; x < WIDTH - 8; x++) {
      gdouble u = (x - (WIDTH - 1) / 2.0) / 1.02 + (WIDTH - 1) / 2.0,
              w = (y - (HEIGHT - 1) / 2.0) / 1.02 + (HEIGHT - 1) / 2.0;
      gint left = (gint) u, top = (gint) w;
      gdouble a = u - left, b = w - top;
      const guint8 *from = sound->level[v] + top * WIDTH + left;
      gdouble expected = (1 - b) * ((1 - a) * from[0] + a * from[1]) + b * ((1 - a) * from[WIDTH] + a * from[WIDTH + 1]);
      error[0] += fabs (picture->level[v][y * WIDTH + x] - expected);
      error[1] += fabs (picture->level[v][y * WIDTH + x] - (gdouble) sound->level[v][y * WIDTH + x]);
    }
  /* another interpolation than this one */
  fail_unless (error[0] < 0.5 * error[1], "zoomed: off by %g, and by %g unzoomed", error[0], error[1]);
}

/* What the statement of each fault says of a view; @first, @before: the view of frame 0, and of the frame before. */
static void
check_fault (GstStereoTestFault fault, const ScenePicture *sound, const ScenePicture *picture,
    const ScenePicture *first, const ScenePicture *before, guint v)
{
  gdouble mean = mean_of (picture, v), detail = detail_of (picture, v) / detail_of (sound, v);
  guint white = 0;

  for (gint i = 0; i < WIDTH * HEIGHT; i++)
    white += picture->level[v][i] == 255;
  switch (fault) {
    case GST_STEREO_TEST_FAULT_FROZEN:
      fail_unless (same_view (picture, first, v) && !same_view (picture, sound, v));
      break;
    case GST_STEREO_TEST_FAULT_BLACK:
      fail_unless (mean < 2, "black: %g", mean);
      break;
    case GST_STEREO_TEST_FAULT_BLOWN_OUT:
      fail_unless (white > 0.97 * WIDTH * HEIGHT, "blown out: %u are white", white);
      break;
    case GST_STEREO_TEST_FAULT_DARK:
      fail_unless (fabs (mean - mean_of (sound, v) / 4) < 1, "dark: %g, sound %g", mean, mean_of (sound, v));
      break;
    case GST_STEREO_TEST_FAULT_BLURRED:
      fail_unless (fabs (mean - mean_of (sound, v)) < 3, "blurred: %g, sound %g", mean, mean_of (sound, v));
      fail_unless (detail < 0.12, "blurred: %g of the detail", detail);
      break;
    case GST_STEREO_TEST_FAULT_COVERED:
      fail_unless (mean > 30 && mean < 60 && detail < 0.08, "covered: mean %g, %g of the detail", mean, detail);
      break;
    case GST_STEREO_TEST_FAULT_SAME_VIEW:
      fail_unless (is_like (picture->level[v], sound->level[!v], WIDTH * HEIGHT));
      break;
    case GST_STEREO_TEST_FAULT_LATE:
      fail_unless (is_like (picture->level[v], before->level[v], WIDTH * HEIGHT));
      fail_if (is_like (picture->level[v], sound->level[v], WIDTH * HEIGHT));
      break;
    case GST_STEREO_TEST_FAULT_TORN:
      check_halves (picture, sound, before, v);
      break;
    case GST_STEREO_TEST_FAULT_HALF_FROZEN:
      check_halves (picture, sound, first, v);
      break;
    case GST_STEREO_TEST_FAULT_ZOOMED:
      check_zoom (picture, sound, v);
      break;
    case GST_STEREO_TEST_FAULT_STILL_PATTERN:
      fail_unless (detail < 1 && !same_view (picture, sound, v));
      break;
    default:
      fail ("no such fault");
  }
}

/* Each fault in the view that has it, the other view as before, and the truth too. */
TEST (test_faults)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, WIDTH, HEIGHT, 0, 2, 0.4 };
  GstStereoRigParams cameras = SOUND;
  g_auto (ScenePicture) sound = scene_picture_of (&params, 7), first = scene_picture_of (&params, 0);
  g_auto (ScenePicture) before = scene_picture_of (&params, 6);

  for (guint k = 1; k <= GST_STEREO_TEST_FAULT_STILL_PATTERN; k++)
    for (guint view = 0; view <= GST_STEREO_TEST_FAULT_VIEW_BOTH; view++) {
      cameras.fault = (GstStereoTestFault) k;
      cameras.fault_view = (GstStereoTestFaultView) view;
      g_auto (ScenePicture) picture = scene_picture_through (&params, &cameras, 7);
      for (guint v = 0; v < 2; v++)
        if (view == v || view == GST_STEREO_TEST_FAULT_VIEW_BOTH)
          check_fault (cameras.fault, &sound, &picture, &first, &before, v);
        else
          fail_unless (same_view (&sound, &picture, v), "fault %u in view %u", k, view);
      fail_unless (!memcmp (sound.truth, picture.truth, 2 * WIDTH * HEIGHT));
    }
  /* no frame comes before the first one */
  cameras.fault = GST_STEREO_TEST_FAULT_LATE;
  g_auto (ScenePicture) start = scene_picture_through (&params, &cameras, 0);
  fail_unless (same_view (&start, &first, 0) && same_view (&start, &first, 1));
}

/* Mean around (x, y) along one direction; pixels outside are like the nearest one inside. */
static guint8
mean_around (const guint8 *level, gint width, gint height, gint x, gint y, gint along_x, gint along_y, gint radius)
{
  gint sum = 0;

  for (gint i = -radius; i <= radius; i++)
    sum += level[CLAMP (y + i * along_y, 0, height - 1) * width + CLAMP (x + i * along_x, 0, width - 1)];
  return (guint8) ((sum + radius) / (2 * radius + 1));
}

/* A blur is what it says, at odd sizes: twice a mean along x, twice along y. */
TEST (test_blur_is_a_mean)
{
  static const gint sizes[][2] = { { 67, 41 }, { 8, 1 }, { 9, 77 }, { 391, 5 } };

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5 + k, sizes[k][0], sizes[k][1], 0, 2, 0 };
    GstStereoRigParams cameras = { 0, 1, GST_STEREO_TEST_FAULT_BLURRED, GST_STEREO_TEST_FAULT_VIEW_BOTH };
    g_auto (ScenePicture) sound = scene_picture_of (&params, 7), picture = scene_picture_through (&params, &cameras, 7);
    gint width = params.width, height = params.height, radius = MAX (2, width / 64);
    g_autofree guint8 *copy = g_malloc ((gsize) (width * height));
    for (guint v = 0; v < 2; v++) {
      for (guint pass = 0; pass < 4; pass++) {
        for (gint i = 0; i < width * height; i++)
          copy[i] = mean_around (sound.level[v], width, height, i % width, i / width, pass < 2, pass >= 2, radius);
        memcpy (sound.level[v], copy, (gsize) (width * height));
      }
      fail_unless (!memcmp (sound.level[v], picture.level[v], (gsize) (width * height)), "%dx%d", width, height);
    }
  }
}

/* Any size and setting: nothing read or written outside (under a sanitizer). */
TEST (test_any_size)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 120; k++) {
    GstStereoSceneParams params = { k % 4, random_next (&random), random_range (&random, 8, 90),
      random_range (&random, 1, 40), 0, random_unit (&random) * 40 - 20, k % 3 };
    GstStereoRigParams cameras = { random_unit (&random) * 200 - 100, random_unit (&random) * 3,
      (GstStereoTestFault) (k % 13), (GstStereoTestFaultView) random_range (&random, 0, 2) };
    g_auto (ScenePicture) picture = scene_picture_through (&params, &cameras, random_next (&random));
    for (gint i = 0; i < params.width * params.height; i++)
      fail_unless (picture.layer[0][i] < GST_STEREO_SCENE_LAYERS && picture.layer[1][i] < GST_STEREO_SCENE_LAYERS);
  }
}

SUITE (testrig)
{
}
