/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of paths: the rows that a thread sweeps over, and the function that does so (column.c); paths.c says what they are. */
#ifndef STEREO_CPU_SGM_PATHS_H
#define STEREO_CPU_SGM_PATHS_H

#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/vec/vec.h"

#define PATH_GUARD 16    /* words before a path's costs; the first and the last of them are 65535 */
#define PATH_LOWEST (-8) /* the word before the costs that holds their minimum */
#define PATH_BLOCK 16    /* columns after which a band checks the progress of the band before */

enum
{
  SIDEWAYS = STEREO_PATH_SIDEWAYS,
  VERTICAL = STEREO_PATH_VERTICAL,
  RISING = STEREO_PATH_RISING,
  FALLING = STEREO_PATH_FALLING,
  DIRECTIONS = STEREO_PATH_DIRECTIONS
};

/* Constants of a sweep. */
typedef struct Sweep
{
  const StereoPlan *plan;
  const void *context; /* of the stage */
  int up;
  int pitch;             /* words from one direction's costs to the next's */
  ptrdiff_t column;      /* words from column to column */
  int shift;             /* a step of the costs is 1 << shift steps of a path's costs */
  VecW half, whole;      /* of stereo_path_rounded(): half a step, and the bits of whole steps */
  VecW unit[DIRECTIONS]; /* of weighted paths: steps of a path's cost in a step of the costs */
  VecW small[DIRECTIONS][2], large[DIRECTIONS][2]; /* [1]: where the luma has a step */
} Sweep;

typedef struct Row
{
  const uint16_t *before;            /* paths' costs of the previous row, column 0 */
  uint16_t *after;                   /* of this one */
  ptrdiff_t before_ring, after_ring; /* column n of these rows lies at place n & ring */
  uint16_t *side[2];                 /* sideways paths' costs of the column before, and of this one */
  uint16_t *mask;                    /* 65535 where the candidate does not exist */
  uint8_t *steps;                    /* bit r of column x: the luma has a step along direction r */
  int first, last;                   /* candidates that exist in the mask */
  uint8_t *costs;
  uint16_t *halfway; /* what the sweep down has summed up: either this, costs of its paths */
  uint8_t *added;    /* or this, what both of its paths add to the costs, in steps of stereo_path_rounded() */
  uint16_t *sums;    /* of all paths, from column first_sum on */
  int first_sum;
  CpuPicks picks; /* where the sweep up picks the lowest costs */
} Row;

/* A function that moves columns @from..@to - 1 of a sweep, which count from the right if it goes up. @added: the sweep down
 * leaves Row.added. */
typedef void (*PathColumns) (const Sweep *s, Row *row, int from, int to);
PathColumns CPU (path_columns) (const StereoPlan *plan, int up, int added);

#endif
