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

/* The middle one of five sorted columns. If their rows were sorted too, the value at row a and column b, both from 1, would be
 * at least as large as a * b values and at most as large as (6 - a) * (6 - b), itself among them. With more than 13 on one
 * side it is not the middle of 25: of the rows there stay the 2 largest, the 3 largest, the 3 in the middle, the 3 smallest
 * and the 2 smallest, and the middle of these is the middle of all. */
static __device__ __forceinline__ float
middle_of_columns (const float *const (&column)[5])
{
  float row[5][5], held[13];

#pragma unroll
  for (int a = 0; a < 5; a++)
#pragma unroll
    for (int b = 0; b < 5; b++)
      row[a][b] = column[b][a];
  sort_five (row[0]);
  sort_five (row[1]);
  extremes (row[2], 0, 4);
  sort_five (row[3]);
  sort_five (row[4]);
#pragma unroll
  for (int k = 0; k < 3; k++) {
    held[k] = row[1][2 + k];
    held[3 + k] = row[2][1 + k];
    held[6 + k] = row[3][k];
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    held[9 + k] = row[0][3 + k];
    held[11 + k] = row[4][k];
  }
  return middle_of (held);
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
