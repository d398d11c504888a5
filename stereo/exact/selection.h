/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection: which candidates exist, the penalty of refinement, the sub-pixel fit. */
#ifndef STEREO_EXACT_SELECTION_H
#define STEREO_EXACT_SELECTION_H

#include "stereo/exact/shared.h"

/* Candidates of column @x of either view: first index .. last index, whose partners lie in the other image. There is
 * none when first > last. */
STEREO_SHARED int
stereo_first_index (int x, int width, int min_disparity)
{
  int first = x - (width - 1) - min_disparity;
  return first > 0 ? first : 0;
}

STEREO_SHARED int
stereo_last_index (int x, int disparities, int min_disparity)
{
  int last = x - min_disparity;
  return last < disparities - 1 ? last : disparities - 1;
}

/* Penalty of 3.2.3, alpha * |D-bar - d|, in volume steps. @alpha is plan->alpha: alpha * unit * 256 / EXPECT_STEPS. */
STEREO_SHARED uint32_t
stereo_penalty (uint32_t alpha, int32_t expected, int index)
{
  int32_t away = expected - index * STEREO_EXPECT_STEPS;
  return (alpha * (uint32_t) (away < 0 ? -away : away)) >> 8;
}

/* Equiangular (V-shaped) sub-pixel offset, -0.5..0.5 px: both flanks get the slope of the steeper one. */
STEREO_SHARED float
stereo_equiangular (uint32_t before, uint32_t lowest, uint32_t after)
{
  uint32_t steep = before > after ? before : after;
  if (steep <= lowest || before < lowest || after < lowest)
    return 0.0f;
  return (float) ((int32_t) before - (int32_t) after) / (float) (2 * (steep - lowest));
}

#endif
