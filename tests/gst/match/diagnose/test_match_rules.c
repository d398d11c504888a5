/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the faults that matches show: its verdicts, from made figures, and its rows. */
#include "tests/support/gst/suite.h"

#include "tests/gst/match/diagnose/made.h"

/* When points that lie beyond infinity count, and when points show that none do. */
TEST (test_beyond_infinity)
{
  static const struct
  {
    const gchar *name;
    GstStereoMatchFigures figures;
    gint min;
    gdouble offset;
    gint verdict;
  } cases[] = {
    { "beyond", { .placed = 60, .sure = 50, .lowest = -1.1 }, 0, 0, BAD },
    { "doubtful", { .placed = 60, .sure = 50, .lowest = -0.9 }, 0, 0, UNKNOWN },
    { "far away", { .placed = 60, .sure = 50, .lowest = -0.6 }, 0, 0, GOOD },
    { "no horizon", { .placed = 60, .sure = 50, .lowest = 1.1 }, 0, 0, UNKNOWN },
    { "few", { .placed = 60, .sure = 11, .lowest = -5 }, 0, 0, UNKNOWN },
    { "few, no scale", { .placed = 23, .sure = 20, .lowest = -5 }, 0, 0, UNKNOWN },
    { "mostly repeated", { .placed = 60, .sure = 20, .doubtful = 61, .lowest = -5 }, 0, 0, UNKNOWN },
    { "repeated in part", { .placed = 60, .sure = 20, .doubtful = 60, .lowest = -5 }, 0, 0, BAD },
    { "another focal length", { .placed = 60, .sure = 50, .lowest = -5, .scale = 0.5, .rest = 0.2 }, 0, 0, UNKNOWN },
    { "other moments", { .placed = 60, .sure = 50, .lowest = -5, .rest = 0.9 }, 0, 0, UNKNOWN },
    { "exchanged", { .placed = 60, .sure = 50, .lowest = -5, .forward = 9, .backward = 31 }, 0, 0, UNKNOWN },
    { "more than half", { .placed = 60, .sure = 50, .lowest = -5, .forward = 15, .backward = 25 }, 0, 0, BAD },
    { "searched", { .placed = 60, .sure = 50, .lowest = -5 }, -5, 0, GOOD },
    { "below the search", { .placed = 60, .sure = 50, .lowest = -6.1 }, -5, 0, BAD },
    { "searched from farther on", { .placed = 60, .sure = 50, .lowest = 2 }, 16, 0, UNKNOWN },
    { "principal points", { .placed = 60, .sure = 50, .lowest = -5 }, 0, 5, GOOD },
    { "others", { .placed = 60, .sure = 50, .lowest = -6.1 }, 0, 5, BAD },
    { "not so far", { .placed = 60, .sure = 50, .lowest = -3.9 }, 0, 5, UNKNOWN },
    { "the other way", { .placed = 60, .sure = 50, .lowest = 4 }, 0, -5, GOOD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    StereoParams params = { .min_disparity = cases[i].min, .principal_offset = cases[i].offset };
    fail_unless (
        verdict_of_shift (&cases[i].figures, &params) == (GstStereoVerdict) cases[i].verdict, "%s", cases[i].name);
  }
}

/* What vertical offsets are put down to, from their figures. */
TEST (test_causes_of_offsets)
{
  static const struct
  {
    const gchar *name;
    GstStereoMatchFigures figures;
    gint rows, focal;
    gdouble noise;
  } cases[] = {
    { "too few", { .placed = 11, .vertical = 9, .middle = 9, .shift = 9, .scale = 5, .rest = 2 }, UNKNOWN, UNKNOWN },
    { "few, a fit", { .placed = 16, .scale = 3, .rest = 0.2 }, GOOD, UNKNOWN },
    { "enough for a scale", { .placed = 24, .scale = 3, .rest = 0.2 }, GOOD, BAD },
    { "few, no fit", { .placed = 15, .vertical = 1.1, .middle = 1.1, .shift = 1.1, .rest = 0.2 }, BAD, UNKNOWN },
    { "in order", { .placed = 60, .vertical = 0.9, .scale = 0.4, .rest = 0.4 }, GOOD, GOOD },
    { "doubtful", { .placed = 60, .vertical = 0.9, .scale = 0.6, .rest = 0.6 }, GOOD, UNKNOWN },
    { "offset", { .placed = 60, .vertical = 1.2, .middle = -1.2, .shift = -1.2, .rest = 0.3 }, BAD, GOOD },
    { "turned", { .placed = 60, .vertical = 0.9, .roll = -1.6, .rest = 0.3 }, BAD, GOOD },
    { "larger", { .placed = 60, .vertical = 1.9, .scale = 3.8, .rest = 0.5 }, GOOD, BAD },
    { "smaller", { .placed = 60, .vertical = 0.5, .scale = -0.9, .rest = 0.2 }, GOOD, BAD },
    { "larger and offset", { .placed = 60, .vertical = 2.1, .middle = 1.3, .shift = 1.3, .scale = 3.8, .rest = 0.5 },
        BAD, BAD },
    { "larger and turned", { .placed = 60, .vertical = 2.1, .scale = 3.8, .roll = 1.6, .rest = 0.5 }, BAD, BAD },
    { "other moments", { .placed = 60, .vertical = 1.9, .middle = 1.2, .shift = 1.2, .scale = -7, .rest = 1.1 },
        UNKNOWN, UNKNOWN },
    { "larger, wrong matches", { .placed = 60, .vertical = 1.9, .scale = 3.8, .rest = 0.72 }, UNKNOWN, UNKNOWN },
    { "larger, noise", { .placed = 60, .vertical = 1.9, .scale = 3.8, .rest = 0.72 }, GOOD, BAD, 15 },
    { "other moments, noise", { .placed = 60, .vertical = 1.9, .scale = -7, .rest = 0.8 }, UNKNOWN, UNKNOWN, 15 },
    { "not rectified", { .placed = 60, .vertical = 6, .middle = -6, .shift = -5, .scale = 4, .roll = 3, .rest = 1.5 },
        BAD, UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstStereoMatchFigures *figures = &cases[i].figures;
    GstStereoVerdict rows = verdict_under_noise (GST_STEREO_HEALTH_ROWS, figures, cases[i].noise),
                     focal = verdict_under_noise (GST_STEREO_HEALTH_FOCAL, figures, cases[i].noise);
    fail_unless (rows == (GstStereoVerdict) cases[i].rows, "%s: rows", cases[i].name);
    fail_unless (focal == (GstStereoVerdict) cases[i].focal, "%s: focal", cases[i].name);
  }
}

/* How many points have to be found in the other view: of all, and under noise. */
TEST (test_shares)
{
  static const struct
  {
    guint points, alike, matches;
    gint factor;
    gdouble noise;
    GstStereoVerdict verdict;
  } cases[] = { { 100, 20, 10, 3, 1, BAD }, { 100, 50, 10, 3, 1, UNKNOWN }, { 40, 2, 1, 3, 1, UNKNOWN },
    { 100, 20, 18, 3, 1, GOOD }, { 100, 20, 10, 3, 15, BAD }, { 100, 20, 10, 1, 15, UNKNOWN },
    { 100, 20, 1, 1, 15, BAD } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstStereoMatchFigures figures = {
      .points = cases[i].points, .alike = cases[i].alike, .matches = cases[i].matches, .factor = cases[i].factor
    };
    GstStereoVerdict verdict = verdict_under_noise (GST_STEREO_HEALTH_MISMATCH, &figures, cases[i].noise);
    fail_unless (verdict == cases[i].verdict, "case %u: %d", i, verdict);
  }
}

TEST (test_range)
{
  static const struct
  {
    guint forward, beyond, backward, doubtful;
    GstStereoVerdict verdict;
  } cases[] = { { 100, 0, 0, 0, GOOD }, { 100, 1, 0, 0, GOOD }, { 100, 4, 0, 0, UNKNOWN }, { 100, 6, 0, 0, BAD },
    { 10, 60, 0, 0, BAD }, { 170, 6, 0, 0, UNKNOWN }, { 4, 7, 0, 0, UNKNOWN }, { 30, 10, 0, 121, UNKNOWN },
    { 10, 10, 30, 0, UNKNOWN } };
  GstStereoMatchFigures result = { .farthest = 100 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    result.forward = cases[i].forward;
    result.beyond = cases[i].beyond;
    result.backward = cases[i].backward;
    result.doubtful = cases[i].doubtful;
    fail_unless_equals_int (verdict_of (GST_STEREO_HEALTH_RANGE, &result), cases[i].verdict);
  }
  /* 100 px and 15 % */
  fail_unless_equals_int (gst_stereo_wanted_disparities (&result, 0), 128);
  fail_unless_equals_int (gst_stereo_wanted_disparities (&result, 10), 112);
  result.farthest = 2000;
  fail_unless_equals_int (gst_stereo_wanted_disparities (&result, 0), 1024);
}

SUITE (match_rules)
{
}
