/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scene of stereotestsrc: its true disparity is right, and its parameters take effect. */
#include "tests/support/gst/scene_picture.h"

#include <math.h>

#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

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
    ScenePicture picture = scene_picture_of (&params, random_next (&random) % 100000);
    for (gint layer = 0; layer < GST_STEREO_SCENE_ROOM_LAYERS; layer++) {
      guint count;
      gdouble right = scene_picture_warp_error (&picture, layer, 0, &count);
      fail_unless (count > 500, "size %u: layer %d has %u pixels", k, layer, count);
      fail_unless (right < 2.5, "size %u: layer %d is off by %.2f", k, layer, right);
      for (gint off = 2; off <= 16; off *= 2) {
        gdouble before = scene_picture_warp_error (&picture, layer, -off / 32.0, &count);
        gdouble behind = scene_picture_warp_error (&picture, layer, off / 32.0, &count);
        fail_unless (right < before && right < behind, "size %u: layer %d: %.3f, but %.3f and %.3f %d/32 px beside it",
            k, layer, right, before, behind, off);
      }
    }
    scene_picture_clear (&picture);
  }
}

/* Whole pixels: nothing to interpolate, so every pixel that both views see is the same to the bit. */
TEST (test_dots_are_equal_to_the_bit)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 8; k++) {
    GstStereoSceneParams params = { k % 2 ? GST_STEREO_PATTERN_STRIPES : GST_STEREO_PATTERN_RANDOM_DOTS,
      random_next (&random), random_range (&random, 60, 400), random_range (&random, 1, 90), 0, 3, 0 };
    ScenePicture picture = scene_picture_of (&params, random_next (&random) % 1000);
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
    scene_picture_clear (&picture);
  }
}

TEST (test_one_seed_one_picture)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 123, 45, 0, 2, 1.5 }, other = params;
  ScenePicture first = scene_picture_of (&params, 12), again = scene_picture_of (&params, 12);
  ScenePicture next = scene_picture_of (&params, 13), seeded;

  other.seed = 6;
  seeded = scene_picture_of (&other, 12);
  fail_unless (scene_picture_equal (&first, &again));
  fail_if (scene_picture_equal (&first, &next));
  fail_if (scene_picture_equal (&first, &seeded));
  /* the seed is of textures, not of the geometry */
  fail_unless (!memcmp (first.truth, seeded.truth, 2 * 123 * 45));
  scene_picture_clear (&first);
  scene_picture_clear (&again);
  scene_picture_clear (&next);
  scene_picture_clear (&seeded);
}

static void
noise_of (const ScenePicture *clean, const ScenePicture *noisy, guint v, gdouble *mean, gdouble *deviation)
{
  gint pixels = clean->width * clean->height;
  gdouble sum = 0, squares = 0;

  for (gint i = 0; i < pixels; i++) {
    gint more = noisy->level[v][i] - clean->level[v][i];
    sum += more;
    squares += more * more;
  }
  *mean = sum / pixels;
  *deviation = sqrt (squares / pixels - *mean * *mean);
}

TEST (test_noise)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_FLAT, 5, 300, 200, 0, 0, 0 };
  ScenePicture clean = scene_picture_of (&params, 3), noisy, later;
  gdouble mean, deviation;

  params.noise = 6;
  noisy = scene_picture_of (&params, 3);
  later = scene_picture_of (&params, 4);
  for (guint v = 0; v < 2; v++) {
    noise_of (&clean, &noisy, v, &mean, &deviation);
    /* 60000 draws: the mean is within 0.1 and the deviation within 2 % */
    fail_unless (fabs (mean) < 0.15 && fabs (deviation - 6) < 0.2, "noise of %f, %f", mean, deviation);
  }
  /* drawn anew: the difference of two draws spreads by the root of two more */
  noise_of (&later, &noisy, 0, &mean, &deviation);
  fail_unless (fabs (deviation - 6 * sqrt (2)) < 0.3, "%f between frames", deviation);
  memcpy (clean.level[0], noisy.level[1], 300 * 200);
  noise_of (&clean, &noisy, 0, &mean, &deviation);
  fail_unless (fabs (deviation - 6 * sqrt (2)) < 0.3, "%f between views", deviation);
  scene_picture_clear (&clean);
  scene_picture_clear (&noisy);
  scene_picture_clear (&later);
}

/* The foreground of the next frame is that of this one, @motion pixels further. */
TEST (test_motion_moves_the_foreground)
{
  GstStereoSceneParams params = { GST_STEREO_PATTERN_PLANES, 5, 300, 60, 0, 3, 0 };
  ScenePicture now = scene_picture_of (&params, 4), next = scene_picture_of (&params, 5);
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
  scene_picture_clear (&now);
  scene_picture_clear (&next);
}

/* It turns back at the sides, and stays in the picture for ever. */
TEST (test_motion_stays_inside)
{
  static const guint64 frames[] = { 0, 90, 1000, 123456789, G_MAXUINT32, G_MAXINT64 };
  static const gdouble motions[] = { 2, -7.25, 1000, -0.01 };

  for (guint m = 0; m < G_N_ELEMENTS (motions); m++)
    for (guint f = 0; f < G_N_ELEMENTS (frames); f++) {
      GstStereoSceneParams params = { GST_STEREO_PATTERN_RANDOM_DOTS, 5, 200, 20, 20, motions[m], 0 };
      ScenePicture picture = scene_picture_of (&params, frames[f]);
      guint covered = 0;
      for (guint x = 0; x < 200; x++)
        covered += picture.truth[10 * 200 + x] == 15 * TRUTH_STEPS;
      /* 2 * 36 pixels wide, a pixel less or more where it lies between pixels */
      fail_unless (
          covered >= 71 && covered <= 73, "motion %f, frame %" G_GUINT64_FORMAT ": %u", motions[m], frames[f], covered);
      scene_picture_clear (&picture);
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

/* Any size and setting: in its range, and nothing read or written outside (under a sanitizer). */
TEST (test_any_size)
{
  Random random = { random_seed () };

  for (guint k = 0; k < 60; k++) {
    GstStereoSceneParams params = { k % 4, random_next (&random), random_range (&random, 8, 90),
      random_range (&random, 1, 40), 0, random_unit (&random) * 40 - 20, k % 3 };
    params.max_disparity = k % 5 ? random_range (&random, 0, params.width / 2) : 0;
    gint most = params.max_disparity ? params.max_disparity : MAX (1, params.width / 10);
    ScenePicture picture = scene_picture_of (&params, random_next (&random));
    for (gint i = 0; i < params.width * params.height; i++) {
      fail_unless (picture.truth[i] > 0 && picture.truth[i] <= most * TRUTH_STEPS, "truth %u of at most %d px",
          picture.truth[i], most);
      fail_unless (picture.layer[0][i] < GST_STEREO_SCENE_LAYERS && picture.layer[1][i] < GST_STEREO_SCENE_LAYERS);
    }
    scene_picture_clear (&picture);
  }
}

SUITE (testscene)
{
}
