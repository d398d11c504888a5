/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Semi-global matching: the unit that costs of paths are counted in. */
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
 * Steps of a path's cost that make one raw cost step. A path's cost L is at most cost + P2: what the pixel before adds is
 * at most its minimum + P2, less that minimum. So the sum of @paths such costs is at most paths * (cost->max + P2) raw
 * steps, which stereo_volume_top() holds to COST_TOP in volume steps. With a raw step of volume_unit / paths steps of L,
 * the sum of all paths needs no division.
 */
STEREO_SHARED int
stereo_path_unit (int volume_unit, int paths)
{
  return volume_unit / paths;
}

#endif
