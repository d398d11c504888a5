/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How well a disparity map meets the truth. */
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

/* The mean of each figure over scenes. Those with nothing to score do not count; pixels and kept are sums. */
typedef struct ScoreMean
{
  Score sum;
  int scenes, scenes_kept; /* with pixels; with kept pixels */
} ScoreMean;
void score_mean_add (ScoreMean *mean, const Score *score);
Score score_mean (const ScoreMean *mean);

#endif
