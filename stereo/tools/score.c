/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/score.h"

#include <math.h>

#define LEVELS 256
#define STEPS 20

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

/* ---- how well a confidence tells right from wrong ------------------------------------------- */

/* Wrong pixels among the surest @wanted, on average over the orders of equals. */
static double
wrong_among (const int *pixels, const int *wrong, double wanted)
{
  double sum = 0;

  for (int k = LEVELS - 1; k >= 0 && wanted > 0; k--) {
    double taken = pixels[k] < wanted ? pixels[k] : wanted;
    sum += pixels[k] ? taken * wrong[k] / pixels[k] : 0;
    wanted -= taken;
  }
  return sum;
}

static void
calibrate (ConfidenceScore *s, double away, int confidence)
{
  int bin = confidence * CONFIDENCE_BINS / LEVELS;

  s->count[bin]++;
  s->stated[bin] += confidence / 255.0;
  s->right[bin] += away <= 1;
}

ConfidenceScore
score_confidence (const Scene *scene, const float *disparity, const uint8_t *confidence, const uint8_t *mask)
{
  size_t count = (size_t) scene->left.width * (size_t) scene->left.height;
  int pixels[LEVELS] = { 0 }, wrong[LEVELS] = { 0 };
  double all_wrong = 0;
  ConfidenceScore s = { 0 };

  for (size_t at = 0; scene->truth && at < count; at++) {
    if (!isfinite (scene->truth[at]) || (mask && mask[at] != 255))
      continue;
    double away = fabs ((double) disparity[at] - (double) scene->truth[at]);
    int bad = !(away <= 3);
    s.pixels++;
    pixels[confidence[at]]++;
    wrong[confidence[at]] += bad;
    all_wrong += bad;
    if (isfinite (disparity[at]))
      calibrate (&s, away, confidence[at]);
  }
  for (int k = 1; k <= STEPS && s.pixels; k++) {
    double kept = (double) s.pixels * k / STEPS;
    s.area += wrong_among (pixels, wrong, kept) / kept / STEPS;
  }
  for (int k = 0; k < CONFIDENCE_BINS; k++) {
    s.stated[k] /= s.count[k] ? s.count[k] : 1;
    s.right[k] /= s.count[k] ? s.count[k] : 1;
  }
  double e = s.pixels ? all_wrong / s.pixels : 0;
  s.best = e < 1 ? e + (1 - e) * log (1 - e) : 1;
  return s;
}
