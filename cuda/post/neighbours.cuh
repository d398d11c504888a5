/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weighted medians of the neighbours of a pixel, for filling. */
#ifndef STEREO_CUDA_POST_NEIGHBOURS_CUH
#define STEREO_CUDA_POST_NEIGHBOURS_CUH

#include "cuda/common.cuh"
#include "stereo/exact/cost.h"
#include "stereo/exact/fill.h"

static __device__ __forceinline__ float
disparity_at (const Frame &f, int x, int y)
{
  return x >= 0 && x < f.width && y >= 0 && y < f.height ? f.disparity[(size_t) y * f.map_pitch + x] : NAN;
}

/* Neighbours of a pixel: infinity and no weight where there is none. */
template <int COUNT> struct Met
{
  float value[COUNT];
  int weight[COUNT];
};

/* The weight of the pixel (x, y) for one of colour @color. */
static __device__ __forceinline__ int
weight_at (const Frame &f, int x, int y, uint32_t color)
{
  int distance = stereo_color_distance (color, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x]);
  return max (STEREO_FILL_ALIKE - distance, 1);
}

/* The least of the values that half of the weight is at or below; infinity if there is no neighbour. Of equal values, the
 * last one gets the weight of them all. */
template <int COUNT> static __device__ __forceinline__ float
weighted_median (const Met<COUNT> &met)
{
  int below[COUNT], total = 0;
  float median = INFINITY;

#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    below[k] = met.weight[k];
    total += met.weight[k];
#pragma unroll
    for (int other = 0; other < k; other++) {
      bool lower = met.value[other] <= met.value[k];
      below[k] += lower ? met.weight[other] : 0;
      below[other] += lower ? 0 : met.weight[k];
    }
  }
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    median = 2 * below[k] >= total ? fminf (median, met.value[k]) : median;
  return median;
}

#endif
