/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scene of stereotestsrc: its true disparity is right, and its parameters take effect; and its cameras: each thing that can be
 * wrong with them shows, in its view, as stated. */
#include "tests/support/gst/scene_picture.h"

#include <math.h>

#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define WIDTH 300
#define HEIGHT 200

/*
 * The two views agree where the truth says, and worse the further from there: by what interpolation and rounding
 * leave (a texture's fastest waves are past what eight taps can follow), against a spread of 35 grey levels.
 */
TEST (test_truth_is_exact)
{
  static const gint sizes[][3] = { { 641, 211, 0 }, { 320, 97, 50 }, { 1023, 120, 0 } };
  Random random = { random_seed () };

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, random_next (&random), sizes[k][0], sizes[k][1],
      sizes[k][2], 1.37, 0 };
    g_auto (ScenePicture) picture = scene_picture_of (&params, random_next (&random) % 100000);
    for (gint layer = 0; layer < GST_STEREO_SCENE_ROOM_LAYERS; layer++) {
      guint count;
      gdouble right = scene_picture_warp_error (&picture, layer, 8, 0, &count);
      fail_unless (count > 500, "size %u: layer %d has %u pixels", k, layer, count);
      fail_unless (right < 2.5, "size %u: layer %d is off by %.2f", k, layer, right);
      for (gint off = 2; off <= 16; off *= 2) {
        gdouble before = scene_picture_warp_error (&picture, layer, 8, -off / 32.0, &count);
        gdouble behind = scene_picture_warp_error (&picture, layer, 8, off / 32.0, &count);
        fail_unless (right < before && right < behind, "size %u: layer %d: %.3f, but %.3f and %.3f %d/32 px beside it",
            k, layer, right, before, behind, off);
      }
    }
  }
}

/* Whole pixels: nothing to interpolate, so every pixel that both views see is the same to the bit. */
TEST (test_dots_are_equal_to_the_bit)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 8; k++) {
    GstStereoSceneParams params = { k % 2 ? GST_STEREO_PATTERN_STRIPES : GST_STEREO_PATTERN_RANDOM_DOTS,
      random_next (&random), random_range (&random, 60, 400), random_range (&random, 1, 90), 0, 3, 0 };
    g_auto (ScenePicture) picture = scene_picture_of (&params, random_next (&random) % 1000);
    guint seen = 0;
    for (gint y = 0; y < picture.height; y++)
      for (gint x = 0; x < picture.width; x++) {
        gsize row = (gsize) y * (gsize) picture.width;
        guint16 truth = picture.truth[row + (gsize) x];
        fail_unless (truth % TRUTH_STEPS == 0);
        if (!picture.visible[row + (gsize) x])
          continue;
        seen++;
        fail_unless_equals_int (
            picture.level[0][row + (gsize) x], picture.level[1][row + (gsize) (x - truth / TRUTH_STEPS)]);
      }
    fail_unless (seen > (guint) (picture.width * picture.height) / 2);
  }
}

TEST (test_one_seed_one_picture)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 123, 45, 0, 2, 1.5 }, other = params;
  g_auto (ScenePicture) first = scene_picture_of (&params, 12), again = scene_picture_of (&params, 12);
  g_auto (ScenePicture) next = scene_picture_of (&params, 13), seeded;

  other.seed = 6;
  seeded = scene_picture_of (&other, 12);
  fail_unless (scene_picture_equal (&first, &again));
  fail_if (scene_picture_equal (&first, &next));
  fail_if (scene_picture_equal (&first, &seeded));
  /* the seed is of textures, not of the geometry */
  fail_unless (!memcmp (first.truth, seeded.truth, 2 * 123 * 45));
}

/* The foreground of the next frame is that of this one, @motion pixels further. */
TEST (test_motion_moves_the_foreground)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 300, 60, 0, 3, 0 };
  g_auto (ScenePicture) now = scene_picture_of (&params, 4), next = scene_picture_of (&params, 5);
  guint moved = 0, kept = 0;

  for (gint y = 0; y < 60; y++)
    for (gint x = 0; x + 3 < 300; x++) {
      gsize at = (gsize) (y * 300 + x);
      if (now.layer[0][at] == 4) {
        fail_unless_equals_int (next.layer[0][at + 3], 4);
        fail_unless_equals_int (next.level[0][at + 3], now.level[0][at]);
        moved++;
      } else if (next.layer[0][at] != 4) {
        fail_unless_equals_int (next.level[0][at], now.level[0][at]);
        kept++;
      }
    }
  fail_unless (moved > 300 && kept > 6000);
}

/* It turns back at the sides, and stays in the picture for ever. */
TEST (test_motion_stays_inside)
{
  static const guint64 frames[] = { 0, 90, 1000, 123456789, G_MAXUINT32, G_MAXINT64 };
  static const gdouble motions[] = { 2, -7.25, 1000, -0.01 };

  for (guint m = 0; m < G_N_ELEMENTS (motions); m++)
    for (guint f = 0; f < G_N_ELEMENTS (frames); f++) {
      GstStereoSceneParams params = { GST_STEREO_PATTERN_RANDOM_DOTS, 5, 200, 20, 20, motions[m], 0 };
      g_auto (ScenePicture) picture = scene_picture_of (&params, frames[f]);
      guint covered = 0;
      for (guint x = 0; x < 200; x++)
        covered += picture.truth[10 * 200 + x] == 15 * TRUTH_STEPS;
      /* 2 * 36 pixels wide, a pixel less or more where it lies between pixels */
      fail_unless (
          covered >= 71 && covered <= 73, "motion %f, frame %" G_GUINT64_FORMAT ": %u", motions[m], frames[f], covered);
    }
}

TEST (test_flat_is_flat_and_stripes_repeat)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 9, 211, 33, 0, 2, 0 };
  ScenePicture picture = scene_picture_of (&params, 7);
  guint compared = 0, spread = 0;

  for (gint i = 0; i < 211 * 33; i++)
    fail_unless (picture.level[0][i] == 128 && picture.level[1][i] == 128);
  fail_unless (picture.truth[0] != picture.truth[211 * 20]);
  scene_picture_clear (&picture);
  params.pattern = GST_STEREO_PATTERN_STRIPES;
  picture = scene_picture_of (&params, 7);
  for (gint i = 0; i + GST_STEREO_SCENE_STRIPE < 211 * 33; i++)
    if (i % 211 + GST_STEREO_SCENE_STRIPE < 211 && picture.layer[1][i] == picture.layer[1][i + GST_STEREO_SCENE_STRIPE]) {
      fail_unless_equals_int (picture.level[1][i], picture.level[1][i + GST_STEREO_SCENE_STRIPE]);
      spread = MAX (spread, (guint) ABS (picture.level[1][i] - picture.level[1][i + GST_STEREO_SCENE_STRIPE / 2]));
      compared++;
    }
  fail_unless (compared > 211 * 33 / 2 && spread > 100);
  scene_picture_clear (&picture);
}

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

/* Weights of Catmull and Rom's cubic for a place @t behind the second of four samples. */
static void
cubic (gdouble t, gdouble weights[4])
{
  weights[0] = (-t + 2 * t * t - t * t * t) / 2;
  weights[1] = (2 - 5 * t * t + 3 * t * t * t) / 2;
  weights[2] = (t + 4 * t * t - 3 * t * t * t) / 2;
  weights[3] = (-t * t + t * t * t) / 2;
}

/* What the right camera sees at (@x, @y), between rows and columns; beyond a side it goes on as at the side. */
static gdouble
sample_between (GstStereoScene *scene, gdouble x, gdouble y, gint width)
{
  gint left = (gint) floor (x), above = (gint) floor (y);
  g_autofree guint8 *row = g_malloc ((gsize) width), *layer = g_malloc ((gsize) width);
  gdouble across[4], down[4], sum = 0;

  cubic (x - left, across);
  cubic (y - above, down);
  for (gint j = 0; j < 4; j++) {
    gst_stereo_scene_row (scene, TRUE, above - 1 + j, row, layer);
    for (gint i = 0; i < 4; i++)
      sum += down[j] * across[i] * row[CLAMP (left - 1 + i, 0, width - 1)];
  }
  return sum;
}

/* A point at (u, v) from the middle is seen at that place turned clockwise, and as much lower as the camera hangs. */
TEST (test_roll_and_vertical_offset)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 50; k++) {
    GstStereoSceneParams params = { k % 2, random_next (&random), random_range (&random, 20, 150),
      random_range (&random, 30, 90), 0, 2, 0 };
    gint steps = random_range (&random, -20 * 256, 20 * 256) & (k % 5 ? ~0 : ~255);
    GstStereoRigParams cameras = {
      .roll = k % 3 ? random_unit (&random) * 10 - 5 : 0, .vertical_offset = k % 4 ? steps / 256.0 : 0, .right_gain = 1
    };
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
      /* places of a camera that is rolled are rounded to 1/256 px */
      fail_unless (fabs (is - CLAMP (should, 0, 255)) < (cameras.roll != 0 ? 3 : 0.51),
          "%g degrees, %g px: %d,%d is %d, not %g", cameras.roll, cameras.vertical_offset, x, y, is, should);
    }
  }
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
  GstStereoRigParams cameras = { .right_gain = 1 };
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

/* Any size and setting: in its range, and nothing read or written outside (under a sanitizer). */
TEST (test_any_size)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 120; k++) {
    GstStereoSceneParams params = { k % 4, random_next (&random), random_range (&random, 8, 90),
      random_range (&random, 1, 40), 0, random_unit (&random) * 40 - 20, k % 3 };
    GstStereoRigParams cameras = { random_unit (&random) * 200 - 100, random_unit (&random) * 3,
      (GstStereoTestFault) (k % 13), (GstStereoTestFaultView) random_range (&random, 0, 2) };
    params.max_disparity = k % 5 ? random_range (&random, 0, params.width / 2) : 0;
    gint most = params.max_disparity ? params.max_disparity : MAX (1, params.width / 10);
    g_auto (ScenePicture) picture = scene_picture_through (&params, &cameras, random_next (&random));
    for (gint i = 0; i < params.width * params.height; i++) {
      fail_unless (picture.truth[i] > 0 && picture.truth[i] <= most * TRUTH_STEPS, "truth %u of at most %d px",
          picture.truth[i], most);
      fail_unless (picture.layer[0][i] < GST_STEREO_SCENE_LAYERS && picture.layer[1][i] < GST_STEREO_SCENE_LAYERS);
    }
  }
}

SUITE (testscene)
{
}
