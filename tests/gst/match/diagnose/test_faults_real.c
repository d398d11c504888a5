/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wrong with the input, on real frames: nothing is found in them as they are, and each fault is found in frames
 * that are changed accordingly. STEREO_DATA names the folder of the pictures, which are not part of the project.
 */
#include "tests/support/gst/suite.h"

#include <string.h>

#include "tests/gst/match/diagnose/made.h"
#include "tests/support/gst/real.h"
#include "tests/support/gst/views.h"

static const gchar *const healthy[] = { "road", "street", "fog", "tsukuba", "venus", "teddy", "cones", "motorcycle",
  "aloe", "kitti15-000003", "kitti15-000011", "kitti15-000020", "kitti15-000030", "kitti12-000027", "kitti12-000138",
  "piano", "playtable", "recycle", "vintage" };

/* ---- the search range -------------------------------------------------------------------- */

/* Silent with the range of the scene, and with the default one; with a third of it bad; on the road, not each frame has
 * something near. */
TEST_LOOP (test_range, 0, 12)
{
  static const struct
  {
    const gchar *name;
    gint num; /* that the scene needs */
  } scenes[] = { { "teddy", 54 }, { "cones", 56 }, { "motorcycle", 64 }, { "aloe", 212 }, { "piano", 52 },
    { "recycle", 57 }, { "playtable", 67 }, { "vintage", 162 }, { "kitti15-000003", 103 }, { "road", 96 },
    { "tsukuba", 15 }, { "venus", 20 } };
  gint needed = scenes[__i__].num;
  GstStereoMatchFigures result;
  g_auto (RealSequence) sequence = { 0 };

  if (!real_sequence_load (&sequence, scenes[__i__].name, "GRAY8"))
    return;
  for (guint i = 0; i < sequence.count; i++)
    for (gint k = 0; k < 3; k++) {
      gint num = k == 0 ? needed : k == 1 ? MAX (128, needed) : needed / 3;
      const RealView *left = &sequence.views[i][0], *right = &sequence.views[i][1];
      StereoImage images[] = { real_view_image (left), real_view_image (right) };
      fail_unless (match_views (images, left->width, left->height, 0, num, 0, &result));
      g_print ("%s, %d disparities: %u inside, %u beyond, farthest %.1f\n", scenes[__i__].name, num, result.forward,
          result.beyond, result.farthest);
      if (k < 2)
        fail_unless (verdict_of (GST_STEREO_HEALTH_RANGE, &result) != BAD);
      else if (strcmp (scenes[__i__].name, "road"))
        fail_unless_equals_int (verdict_of (GST_STEREO_HEALTH_RANGE, &result), BAD);
    }
}

/* ---- one scene in both views -------------------------------------------------------------- */

/* Most points are found, and next to none where one view is mirrored. Under fog, next to none are
 * found at any time. */
TEST_LOOP (test_mismatch, 0, G_N_ELEMENTS (healthy))
{
  g_auto (RealSequence) sequence = { 0 };

  if (!real_sequence_load (&sequence, healthy[__i__], "GRAY8"))
    return;
  for (guint i = 0; i < sequence.count; i++) {
    const RealView *left = &sequence.views[i][0], *right = &sequence.views[i][1];
    gint num = MIN (256, left->width / 4);
    RealView mirrored = real_view_copy (right);
    const StereoImage images[] = { real_view_image (left), real_view_image (right) };
    const StereoImage others[] = { real_view_image (left), real_view_image (&mirrored) };
    GstStereoMatchFigures result, other;

    for (gint y = 0; y < right->height; y++)
      for (gint x = 0; x < right->width; x++)
        mirrored.pixels[y * right->width + x] = right->pixels[y * right->width + right->width - 1 - x];
    fail_unless (match_views (images, left->width, left->height, 0, num, 0, &result));
    fail_unless (match_views (others, left->width, left->height, 0, num, 0, &other));
    g_print ("%s: %u points, %u alike, %u matched; mirrored %u, %u, %u\n", healthy[__i__], result.points, result.alike,
        result.matches, other.points, other.alike, other.matches);
    fail_unless (verdict_of (GST_STEREO_HEALTH_MISMATCH, &result) != BAD);
    g_print ("  %u placed, scale %.2f px, rest %.2f px\n", result.placed, result.scale, result.rest);
    fail_unless (verdict_of (GST_STEREO_HEALTH_FOCAL, &result) != BAD);
    fail_unless (!strcmp (healthy[__i__], "fog") || verdict_of (GST_STEREO_HEALTH_MISMATCH, &other) == BAD);
    g_free (mirrored.pixels);
  }
}

/* ---- noise --------------------------------------------------------------------------------- */

static void
match_under_noise (const RealView *left, const RealView *right, GstStereoMatchFigures *matches)
{
  RealView views[] = { real_view_copy (left), real_view_copy (right) };
  StereoImage images[2];

  for (guint v = 0; v < 2; v++) {
    for (guint k = 0; k < 25; k++)
      real_view_change (&views[v], "none", 1000 * v + 17 * k);
    images[v] = real_view_image (&views[v]);
  }
  fail_unless (match_views (images, left->width, left->height, 0, MIN (256, left->width / 4), 0, matches));
  g_free (views[0].pixels);
  g_free (views[1].pixels);
}

/* Noise of 15 grey levels hides neither rows nor focal lengths, at full size, and makes up nothing, at half size either. */
TEST_LOOP (test_noise, 0, G_N_ELEMENTS (healthy))
{
  g_auto (RealSequence) sequence = { 0 };

  if (!real_sequence_load (&sequence, healthy[__i__], "GRAY8"))
    return;
  for (guint half = 0; half < 2; half++) {
    const RealView *pair = sequence.views[0];
    RealView left = half ? real_view_halved (&pair[0]) : real_view_copy (&pair[0]),
             right = half ? real_view_halved (&pair[1]) : real_view_copy (&pair[1]);
    RealView low = real_view_resampled (&right, 1, 3), large = real_view_resampled (&right, 1.02, 0);
    GstStereoMatchFigures sound, lower, larger;

    match_under_noise (&left, &right, &sound);
    match_under_noise (&left, &low, &lower);
    match_under_noise (&left, &large, &larger);
    g_print ("%s%s: %u of %u placed; lower: %u, by %.1f px; larger: %u, by %.1f px\n", healthy[__i__],
        half ? ", half" : "", sound.placed, sound.points, lower.placed, lower.middle, larger.placed, larger.scale);
    fail_unless (verdict_under_noise (GST_STEREO_HEALTH_ROWS, &sound, 15) != BAD);
    fail_unless (verdict_under_noise (GST_STEREO_HEALTH_FOCAL, &sound, 15) != BAD);
    fail_unless (verdict_under_noise (GST_STEREO_HEALTH_RANGE, &sound, 15) != BAD);
    fail_unless (verdict_under_noise (GST_STEREO_HEALTH_SWAPPED, &sound, 15) != BAD);
    /* fog has no detail beside noise: it is not judged */
    fail_unless (!strcmp (healthy[__i__], "fog") || verdict_under_noise (GST_STEREO_HEALTH_MISMATCH, &sound, 15) != BAD);
    /* so few points are no evidence; and one pair is badly rectified */
    fail_unless (lower.placed < 12 || verdict_under_noise (GST_STEREO_HEALTH_ROWS, &lower, 15) == BAD);
    fail_unless (larger.placed < 24 || verdict_under_noise (GST_STEREO_HEALTH_FOCAL, &larger, 15) == BAD ||
        !strcmp (healthy[__i__], "playtable"));
    fail_unless (half || !strcmp (healthy[__i__], "fog") || !strcmp (healthy[__i__], "aloe") ||
        (lower.placed >= 8 && larger.placed >= 14));
    for (guint i = 0; i < 4; i++)
      g_free ((RealView *[]){ &left, &right, &low, &large }[i]->pixels);
  }
}

/* A pair of a drive that goes to and fro: a right view that is @late frames late. */
static void
pair_of (const RealSequence *sequence, gboolean half, guint at, guint late, RealView views[2])
{
  guint period = 2 * (sequence->count - 1), now = at % period, then = (at + period - late) % period;
  const RealView *left = &sequence->views[MIN (now, period - now)][0],
                 *right = &sequence->views[MIN (then, period - then)][1];

  views[0] = half ? real_view_halved (left) : real_view_copy (left);
  views[1] = half ? real_view_halved (right) : real_view_copy (right);
}

/* Frames of 10 a second, from @first on, with @noise times noise of 3 grey levels; each is checked, as where there is a
 * suspicion. Returns after how many a view is known to be late; 0 = not within @count. */
static guint
begin_of_delay (const RealSequence *sequence, gboolean half, guint first, guint late, guint noise, guint count)
{
  const StereoParams params = { .num_disparities = half ? 64 : 128 };
  GstStereoMatches *matcher = gst_stereo_matches_new (NULL, NULL);
  guint begin = 0, bad = 0;

  for (guint n = 0; n < count && !begin; n++) {
    RealView views[2];
    StereoImage images[2];
    pair_of (sequence, half, first + n, late, views);
    for (guint v = 0; v < 2; v++) {
      for (guint k = 0; k < noise; k++)
        real_view_change (&views[v], "none", 100 * n + 10 * k + v);
      images[v] = real_view_image (&views[v]);
    }
    const GstStereoLookedPair pair = {
      .images = { images[0], images[1] }, .width = views[0].width, .height = views[0].height, .params = &params
    };
    GstStereoMatchFigures figures;
    if (gst_stereo_matches_measure (matcher, &pair, &figures))
      bad = verdict_of (GST_STEREO_HEALTH_OUT_OF_STEP, &figures) == BAD ? bad + 1 : 0;
    begin = bad == 2 ? n : 0;
    gst_stereo_matches_keep (matcher, &pair);
    g_free (views[0].pixels);
    g_free (views[1].pixels);
  }
  gst_stereo_matches_free (matcher);
  return begin;
}

/* A right view that is late, on a drive: known after few frames at both sizes, wherever it begins, and
 * under noise of 15 grey levels; and of the drive itself never. */
TEST_LOOP (test_moments, 0, 4)
{
  static const gchar *const drives[] = { "road", "street" };
  gboolean half = __i__ % 2;
  g_auto (RealSequence) sequence = { 0 };

  if (!real_sequence_load (&sequence, drives[__i__ / 2], "GRAY8"))
    return;
  for (guint first = 1; first < 20; first += 6) {
    guint late = begin_of_delay (&sequence, half, first, 1, 0, 10);
    guint later = begin_of_delay (&sequence, half, first, 2, 0, 10);
    guint noisy = begin_of_delay (&sequence, half, first, 1, 25, 10);
    g_print ("%s%s, frame %u: late after %u frames, two frames %u, late under noise %u\n", drives[__i__ / 2],
        half ? ", half" : "", first, late, later, noisy);
    fail_unless (late > 0 && late <= 3);
    fail_unless (later > 0);
    fail_unless (noisy > 0);
  }
  fail_unless_equals_int (begin_of_delay (&sequence, half, 1, 0, 0, 60), 0);
  fail_unless_equals_int (begin_of_delay (&sequence, half, 1, 0, 25, 60), 0);
}

SUITE_IF (faults_real, real_is_there ())
{
  tcase_set_timeout (tcase, 240);
}
