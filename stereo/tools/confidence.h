/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How well a confidence tells right from wrong. */
#ifndef TOOLS_CONFIDENCE_H
#define TOOLS_CONFIDENCE_H

#include "stereo/tools/scene.h"

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

/* The area as a multiple of the best; NaN where nothing is wrong. */
double sparsification_ratio (const ConfidenceScore *score);

#endif
