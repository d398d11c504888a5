/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How well a disparity map meets the truth, and how well its confidence tells right from wrong. */
#ifndef SCORE_H
#define SCORE_H

#include "stereo/tools/scene.h"

enum
{
  SCORE_MAX_LEVELS = 12
};

typedef struct ScoreLevels
{
  int count;
  double px[SCORE_MAX_LEVELS]; /* rising */
} ScoreLevels;

/* 0.5, 1, 2 and 4 px */
extern const ScoreLevels score_levels;

/* Shares are in percent. */
typedef struct Score
{
  int pixels;                   /* with a truth; 0: nothing to score */
  int kept;                     /* of them: those that have a value */
  double bad[SCORE_MAX_LEVELS]; /* of the pixels: off by more than the level, or missing */
  double d1;                    /* of the pixels: off by more than 3 px and more than 5 % of the truth, or missing */
  double kept_bad[SCORE_MAX_LEVELS]; /* of those kept: off by more */
  double kept_d1;
  double average_error; /* px, of those kept */
  double density;       /* kept, of the pixels */
} Score;

/* @mask: 255 where a pixel counts; NULL: every pixel with a truth. Disparities: rows without padding, NaN = missing. */
Score score_map (const Scene *scene, const float *disparity, const uint8_t *mask, const ScoreLevels *levels);

enum
{
  CONFIDENCE_BINS = 10
};

/*
 * Sparsification: the surest 5 %, 10 %, ... 100 % of the pixels are kept, and the shares of wrong ones among them averaged.
 * Wrong is off by more than 3 px, or missing. Among equals the mean over all orders counts. The best possible order has
 * all wrong pixels last: e + (1 - e) ln (1 - e), e being the share of wrong ones.
 *
 * Calibration: of the pixels that have a value, by their confidence in ten bins, the share that is right within 1 px.
 */
typedef struct ConfidenceScore
{
  int pixels;        /* with a truth; 0: nothing is known */
  double area, best; /* under the curve, and of the best order; shares */
  int count[CONFIDENCE_BINS];
  double stated[CONFIDENCE_BINS], right[CONFIDENCE_BINS]; /* means of the bin's pixels, 0..1 */
} ConfidenceScore;

/* @mask, @disparity: as for score_map(). @confidence: 0..255, rows without padding. */
ConfidenceScore score_confidence (
    const Scene *scene, const float *disparity, const uint8_t *confidence, const uint8_t *mask);

#endif
