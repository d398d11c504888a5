/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/score.h"

#include <math.h>

const ScoreLevels score_levels = { 4, { 0.5, 1, 2, 4 } };

static void
count_pixel (Score *score, double truth, double disparity, const ScoreLevels *levels)
{
  double error = fabs (disparity - truth);
  int kept = isfinite (disparity);
  int outlier = error > 3 && error > 0.05 * truth;

  score->pixels++;
  score->kept += kept;
  score->d1 += !kept || outlier;
  score->kept_d1 += kept && outlier;
  score->average_error += kept ? error : 0;
  for (int k = 0; k < levels->count; k++) {
    score->bad[k] += !kept || error > levels->px[k];
    score->kept_bad[k] += kept && error > levels->px[k];
  }
}

Score
score_map (const Scene *scene, const float *disparity, const uint8_t *mask, const ScoreLevels *levels)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  Score score = { 0 };

  for (size_t at = 0; scene->truth && at < pixels; at++)
    if (isfinite (scene->truth[at]) && (!mask || mask[at] == 255))
      count_pixel (&score, (double) scene->truth[at], (double) disparity[at], levels);
  if (!score.pixels)
    return score;
  double all = 100.0 / score.pixels, kept = score.kept ? 100.0 / score.kept : 0;
  for (int k = 0; k < levels->count; k++) {
    score.bad[k] *= all;
    score.kept_bad[k] *= kept;
  }
  score.d1 *= all;
  score.kept_d1 *= kept;
  score.average_error *= kept / 100;
  score.density = all * score.kept;
  return score;
}

void
score_mean_add (ScoreMean *mean, const Score *score)
{
  if (!score->pixels)
    return;
  mean->scenes++;
  mean->scenes_kept += score->kept > 0;
  mean->sum.pixels += score->pixels;
  mean->sum.kept += score->kept;
  mean->sum.d1 += score->d1;
  mean->sum.kept_d1 += score->kept_d1;
  mean->sum.average_error += score->average_error;
  mean->sum.density += score->density;
  for (int k = 0; k < SCORE_MAX_LEVELS; k++) {
    mean->sum.bad[k] += score->bad[k];
    mean->sum.kept_bad[k] += score->kept_bad[k];
  }
}

Score
score_mean (const ScoreMean *mean)
{
  Score score = mean->sum;
  double all = mean->scenes ? 1.0 / mean->scenes : 0, kept = mean->scenes_kept ? 1.0 / mean->scenes_kept : 0;

  score.d1 *= all;
  score.density *= all;
  score.kept_d1 *= kept;
  score.average_error *= kept;
  for (int k = 0; k < SCORE_MAX_LEVELS; k++) {
    score.bad[k] *= all;
    score.kept_bad[k] *= kept;
  }
  return score;
}
