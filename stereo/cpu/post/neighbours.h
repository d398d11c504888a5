/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weighted medians of the neighbours of pixels, for filling. */
#ifndef STEREO_CPU_POST_NEIGHBOURS_H
#define STEREO_CPU_POST_NEIGHBOURS_H

#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/fill.h"

#include <math.h>

/* A neighbour of LANES pixels: infinity and no weight where there is none. */
typedef struct CpuMet
{
  VecF value;
  VecI weight;
} CpuMet;

/* Weights of the pixels @other for pixels of the colours @own. */
VEC_INLINE VecI
cpu_fill_weights (VecU own, const uint32_t *other)
{
  return vec_max (STEREO_FILL_ALIKE - vec_color_distance (own, vec_load_u (other)), (VecI){ 0 } + 1);
}

/* The least values that half of the weight is at or below; infinity where there is no neighbour. */
VEC_INLINE VecF
cpu_weighted_median (const CpuMet *met, int count)
{
  VecI total = { 0 };
  VecF median = (VecF){ 0 } + INFINITY;

  for (int k = 0; k < count; k++)
    total += met[k].weight;
  for (int k = 0; k < count; k++) {
    VecF value = met[k].value;
    VecI below = { 0 };
#pragma GCC unroll 8
    for (int other = 0; other < count; other++)
      below += met[other].weight & (VecI) (met[other].value <= value);
    median = vec_choose ((VecI) (value < median) & (VecI) (2 * below >= total), value, median);
  }
  return median;
}

#endif
