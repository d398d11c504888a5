/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Support weights of the tiles of a row, some tiles at a time: each pair of pixels is weighed once. */
#ifndef STEREO_CPU_LISTS_WEIGHTS_H
#define STEREO_CPU_LISTS_WEIGHTS_H

#include "stereo/cpu/lists/lists.h"

/* At a time. The more there are, the fewer columns are weighed twice; the tables of these stay in the cache. */
#define CPU_WEIGHED_TILES 4

/* Tap t of a window with radius r is the pixel t - r below or to the right. Outside the picture a weight is 0. */
typedef struct CpuWeights
{
  int radius, columns, rows;        /* columns, rows: of the tables that are set */
  int pitch;                        /* elements of a line */
  int left;                         /* the column of the picture that is column 0 of the tables */
  float *down, *across;             /* [row of the tile][tap][column]; across: from column @radius on */
  float *down_share, *across_share; /* [row][column]: one over the sum of all taps */
  float *pairs;                     /* [distance - 1][column]: of a row, the pixel and the one so far to its right */
  float color_factor, distance_factor;
} CpuWeights;

/* Divides memory from @base on, and returns its size in floats. @base NULL: returns the size only. */
size_t CPU (list_weights_lay_out) (CpuWeights *w, const StereoPlan *plan, int radius, float *base);

/* For CPU_WEIGHED_TILES tiles from (@column, @row) on. */
void CPU (list_weights) (CpuWeights *w, const StereoPlan *plan, int column, int row);

#endif
