/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medians of windows: ../../stereo/exact/median.h. */
#ifndef STEREO_CUDA_POST_MEDIAN_CUH
#define STEREO_CUDA_POST_MEDIAN_CUH

#include "cuda/common.cuh"
#include "stereo/exact/median.h"

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

/* ---- medians of neighbouring windows of 5x5, which share columns ------------------------------------ */

/* The five values in ascending order. */
static __device__ __forceinline__ void
sort_five (float (&v)[5])
{
  sort_two (v[0], v[3]);
  sort_two (v[1], v[4]);
  sort_two (v[0], v[2]);
  sort_two (v[1], v[3]);
  sort_two (v[0], v[1]);
  sort_two (v[2], v[4]);
  sort_two (v[1], v[2]);
  sort_two (v[3], v[4]);
  sort_two (v[2], v[3]);
}

/* Merges two ascending pairs: the first and the last ones on their own, then the neighbours (Batcher 1968). */
static __device__ __forceinline__ void
merge_twos (float a0, float a1, float b0, float b1, float (&to)[4])
{
  sort_two (a0, b0);
  sort_two (a1, b1);
  sort_two (b0, a1);
  to[0] = a0, to[1] = b0, to[2] = a1, to[3] = b1;
}

/* Merges two columns in ascending order: their odd and their even values on their own, then the neighbours. */
static __device__ __forceinline__ void
merge_fives (const float (&a)[5], const float (&b)[5], float (&to)[10])
{
  float ends[4], even[4], low = a[2], high = b[2];

  merge_twos (a[0], a[4], b[0], b[4], ends);
  merge_twos (a[1], a[3], b[1], b[3], even);
  sort_two (low, high);
  sort_two (low, ends[1]);
  sort_two (high, ends[2]);
  /* the odd ones are ends[0], low, ends[1], high, ends[2], ends[3] */
  float odd[4] = { low, ends[1], high, ends[2] };
  to[0] = ends[0];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    sort_two (even[k], odd[k]);
    to[1 + 2 * k] = even[k];
    to[2 + 2 * k] = odd[k];
  }
  to[9] = ends[3];
}

/* The 8th to the 13th of 20 values, in ascending order, of which @a and @b have ten each in ascending order. Of the value at k
 * from the front of one and the value at k from the back of the other, the lower one is among the ten lowest of all. In both
 * tens, the same holds of values five apart. */
static __device__ __forceinline__ void
middle_six (const float (&a)[10], const float (&b)[10], float (&six)[6])
{
  float low[5], high[5];

#pragma unroll
  for (int k = 0; k < 5; k++) {
    low[k] = fmaxf (fminf (a[k], b[9 - k]), fminf (a[k + 5], b[4 - k]));
    high[k] = fminf (fmaxf (a[k], b[9 - k]), fmaxf (a[k + 5], b[4 - k]));
  }
  sort_five (low);
  sort_five (high);
#pragma unroll
  for (int k = 0; k < 3; k++) {
    six[k] = low[2 + k];
    six[3 + k] = high[k];
  }
}

/* The middle one of 25 values: of 20, @six are the 8th to the 13th, and @five are the others. It is the 6th of these 11, and
 * that is the least of what bounds any six of them that are the lowest of each. */
static __device__ __forceinline__ float
middle_with (const float (&six)[6], const float (&five)[5])
{
  float middle = six[5];

#pragma unroll
  for (int k = 0; k < 5; k++)
    middle = fminf (middle, fmaxf (six[k], five[4 - k]));
  return middle;
}

/* The middles of four windows of 5x5 from eight columns in ascending order. Neighbouring windows share four columns. */
static __device__ __forceinline__ void
middles_of_columns (const float (&column)[8][5], float (&middle)[4])
{
  float centre[10], side[10], six[6];

  merge_fives (column[3], column[4], centre);
  merge_fives (column[1], column[2], side);
  middle_six (centre, side, six);
  middle[0] = middle_with (six, column[0]);
  middle[1] = middle_with (six, column[5]);
  merge_fives (column[5], column[6], side);
  middle_six (centre, side, six);
  middle[2] = middle_with (six, column[2]);
  middle[3] = middle_with (six, column[7]);
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

/* The median of a window of 5x5 around a pixel that has a disparity; or that disparity, where it is of a thin near thing. */
static __device__ __forceinline__ float
median_or_thin (const float (&window)[25])
{
  float v[25], own = window[12];
  int alike = 0;

#pragma unroll
  for (int k = 0; k < 25; k++)
    v[k] = window[k];
  float median = median_of (v);
  if (!stereo_median_is_before (own, median))
    return median;
#pragma unroll
  for (int k = 0; k < 25; k++)
    alike += stereo_median_is_alike (own, window[k]);
  return stereo_median_keeps (alike) ? own : median;
}

}

#endif
