/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plane that a filled pixel moves onto: ../../stereo/exact/fill.h. */
#ifndef STEREO_CUDA_POST_PLANE_CUH
#define STEREO_CUDA_POST_PLANE_CUH

#include "cuda/common.cuh"
#include "stereo/exact/fill.h"

constexpr int CELLS = STEREO_PLANE_CELLS; /* taps of a window, either way */
constexpr int CELL_BORDER = CELLS / 2;    /* cells around the grid of taps, which are none */

/* A pixel that planes may be fitted to. */
struct Tap
{
  float disparity;
  uint32_t color;
};

static __device__ __forceinline__ float
rounded (float v)
{
  return v + STEREO_PLANE_MAGIC - STEREO_PLANE_MAGIC;
}

/* Sums over a column of a window, by rows of the window: whole numbers, which a float holds. */
struct ColumnSums
{
  float w, wr, wrr, wd, wdr;
};

static __device__ __forceinline__ void
add_tap (ColumnSums &sums, const Tap &tap, uint32_t color, float anchor, float near, float row)
{
  float away = tap.disparity - anchor, steps = rounded (away * (float) STEREO_PLANE_STEPS);
  uint32_t distance;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(distance) : "r"(tap.color), "r"(color), "r"(0u));
  float weight = rounded (__int_as_float (STEREO_PLANE_WEIGHT_BITS - (int) (distance << STEREO_PLANE_DISTANCE_SHIFT)));

  weight = fabsf (away) <= near ? weight : 0.0f;
  sums.w += weight;
  sums.wr += weight * row;
  sums.wrr += weight * (row * row);
  sums.wd += weight * steps;
  sums.wdr += weight * steps * row;
}

/* The sum over the lanes of a group. */
template <int LANES> static __device__ __forceinline__ int32_t
sum_of_group (int32_t own)
{
#pragma unroll
  for (int away = LANES / 2; away; away /= 2)
    own += __shfl_xor_sync (~0u, own, away);
  return own;
}

/* By the lanes of a group, a column of the window each: the sums of exact/fill.h about (@x, @y), of colour @color. Rows become
 * places along y, y = first + CELL * row. An anchor that is no number has no taps. */
template <int LANES> static __device__ __forceinline__ StereoPlaneSums
plane_sums (const Frame &f, const Tap *grid, int pitch, int x, int y, uint32_t color, float anchor)
{
  static_assert (LANES == CELLS, "a lane a column");
  int column = stereo_plane_first (x) + (int) threadIdx.x % LANES, row = stereo_plane_first (y);
  int u = column * STEREO_PLANE_CELL - x, first_y = row * STEREO_PLANE_CELL - y;
  const Tap *taps = grid + (row + CELL_BORDER) * pitch + column + CELL_BORDER;
  float near = stereo_plane_near (anchor);
  ColumnSums own = {};
  StereoPlaneSums s;

#pragma unroll
  for (int k = 0; k < CELLS; k++, taps += pitch)
    add_tap (own, *taps, color, anchor, near, (float) k);
  int32_t w = (int32_t) own.w, wr = (int32_t) own.wr, wd = (int32_t) own.wd;
  s.w = sum_of_group<LANES> (w);
  s.wx = sum_of_group<LANES> (w * u);
  s.wxx = sum_of_group<LANES> (w * u * u);
  s.wy = sum_of_group<LANES> (wr);
  s.wxy = sum_of_group<LANES> (wr * u);
  s.wyy = sum_of_group<LANES> ((int32_t) own.wrr);
  s.wd = sum_of_group<LANES> (wd);
  s.wxd = sum_of_group<LANES> (wd * u);
  s.wyd = sum_of_group<LANES> ((int32_t) own.wdr);
  s.wyy = STEREO_PLANE_CELL * (STEREO_PLANE_CELL * s.wyy + 2 * first_y * s.wy) + first_y * first_y * s.w;
  s.wxy = STEREO_PLANE_CELL * s.wxy + first_y * s.wx;
  s.wy = STEREO_PLANE_CELL * s.wy + first_y * s.w;
  s.wyd = STEREO_PLANE_CELL * s.wyd + first_y * s.wd;
  return s;
}

#endif
