/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Median of the valid values of a window, the lower one of two. */
#ifndef STEREO_CUDA_POST_MEDIAN_CUH
#define STEREO_CUDA_POST_MEDIAN_CUH

#include "cuda/common.cuh"

namespace
{

static __device__ __forceinline__ void
sort_two (float &a, float &b)
{
  float low = fminf (a, b), high = fmaxf (a, b);
  a = low;
  b = high;
}

/* Moves the least of the values @first..@last to @first and the greatest to @last. */
template <int N> static __device__ __forceinline__ void
extremes (float (&v)[N], int first, int last)
{
  int count = last - first + 1;

#pragma unroll
  for (int k = 0; k < count / 2; k++)
    sort_two (v[first + k], v[last - k]);
#pragma unroll
  for (int k = first + 1; k < first + (count + 1) / 2; k++)
    sort_two (v[first], v[k]);
#pragma unroll
  for (int k = first + count / 2; k < last; k++)
    sort_two (v[k], v[last]);
}

/*
 * The middle one of an odd number of values. Of any N / 2 + 2 values neither the least nor the greatest can be the
 * middle of all: both are dropped and the next value is taken in, until three are left. Reorders @v.
 */
template <int N> static __device__ __forceinline__ float
middle_of (float (&v)[N])
{
  const int HELD = N / 2 + 2;

#pragma unroll
  for (int k = 0; k < HELD - 2; k++) {
    extremes (v, k, HELD - 1);
    if (k < HELD - 3)
      v[HELD - 1] = v[HELD + k];
  }
  return v[HELD - 2];
}

/* Invalid values become the lowest and the highest in turn: the middle of all is then the median of the valid ones. */
template <int N> static __device__ __forceinline__ float
median_of (float (&v)[N])
{
  float beyond = -INFINITY;

#pragma unroll
  for (int k = 0; k < N; k++)
    if (isnan (v[k])) {
      v[k] = beyond;
      beyond = -beyond;
    }
  return middle_of (v);
}

}

#endif
