/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of paths, of semi-global matching and of the smoothing after any other method: what they read, and their unit. */
#ifndef STEREO_EXACT_SGM_H
#define STEREO_EXACT_SGM_H

#include "stereo/exact/shared.h"

/* Directions of paths, both ways each: along rows, along columns, along the diagonal that rises to the right, and along
 * the one that falls to the right. paths=4 takes the first two. */
enum
{
  STEREO_PATH_SIDEWAYS,
  STEREO_PATH_VERTICAL,
  STEREO_PATH_RISING,
  STEREO_PATH_FALLING,
  STEREO_PATH_DIRECTIONS
};

/*
 * Steps of a path's cost that make one raw cost step. A path's cost L is at most cost + P2, rounded: what the pixel before
 * adds is at most its minimum + P2, less that minimum. So the sum of @paths such costs is at most paths * (cost->max + P2)
 * raw steps, which stereo_volume_top() holds to COST_TOP in volume steps. With a raw step of volume_unit / paths steps of L,
 * the sum of all paths needs no division.
 */
STEREO_SHARED int
stereo_path_unit (int volume_unit, int paths)
{
  return volume_unit / paths;
}

/* A cost of the volume as paths read it: a byte. */
STEREO_SHARED uint32_t
stereo_path_cost (uint32_t steps, int shift)
{
  uint32_t cost = (steps + (1u << shift >> 1)) >> shift;
  return cost < 255 ? cost : 255;
}

/* What the pixel before adds to the cost of a candidate is at most P2. Of sgm it is rounded to a multiple of 1 << @round, the
 * least that lets a byte hold what two pixels before add: GPUs keep it in half the memory. Behind aggregation the costs differ
 * by less where texture is weak, and @round is 0: there the penalties are such that a byte holds what one pixel adds. */
STEREO_SHARED uint32_t
stereo_path_rounded (uint32_t added, int round)
{
  return (added + (1u << round >> 1)) >> round << round;
}

/* Where the luma changes by penalty-step or more from a pixel of a path to the next, both penalties are halved: a step in
 * luma is likely to be one in depth. Over lists they become even lower: STEREO_LISTED_STEP_P1, _P2. */
STEREO_SHARED int
stereo_path_steps (int luma, int luma_before, int penalty_step)
{
  int difference = luma - luma_before;
  return penalty_step > 0 && (difference < 0 ? -difference : difference) >= penalty_step;
}

STEREO_SHARED int
stereo_path_halved (int penalty)
{
  return penalty >> 1;
}

#endif
