/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Median of the valid values of a window, the lower one of two. */
#ifndef STEREO_CUDA_MEDIAN_CUH
#define STEREO_CUDA_MEDIAN_CUH

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

/* Of values @first..@last, the least one to @first and the greatest to @last. */
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
 * The middle one of an odd number of values. Of any N / 2 + 2 of them neither the least nor the greatest can be it:
 * both are dropped, and a value not seen yet comes in, until three are left. Reorders @v on the way.
 */
template <int N> static __device__ __forceinline__ float
middle_of (float (&v)[N])
{
  const int KEPT = N / 2 + 2;

#pragma unroll
  for (int k = 0; k < KEPT - 2; k++) {
    extremes (v, k, KEPT - 1);
    if (k < KEPT - 3)
      v[KEPT - 1] = v[KEPT + k];
  }
  return v[KEPT - 2];
}

/* Invalid values are put below and above all others in turn, so that the middle of all is the valid ones' median. */
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
