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

/* Sums over a row of a window, by columns of the window: whole numbers, which a float holds. */
struct RowSums
{
  float w, wc, wcc, wd, wdc;
};

static __device__ __forceinline__ void
add_tap (RowSums &sums, const Tap &tap, uint32_t color, float anchor, float near, float column)
{
  float away = tap.disparity - anchor, steps = rounded (away * (float) STEREO_PLANE_STEPS);
  uint32_t distance;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(distance) : "r"(tap.color), "r"(color), "r"(0u));
  float weight = rounded (__int_as_float (STEREO_PLANE_WEIGHT_BITS - (int) (distance << STEREO_PLANE_DISTANCE_SHIFT)));

  weight = fabsf (away) <= near ? weight : 0.0f;
  sums.w += weight;
  sums.wc += weight * column;
  sums.wcc += weight * (column * column);
  sums.wd += weight * steps;
  sums.wdc += weight * steps * column;
}

/* The sums of exact/fill.h: columns become places along x, x = first + CELL * column. */
static __device__ float
plane_at (const Frame &f, const Tap *grid, int pitch, int x, int y, float anchor)
{
  int column = stereo_plane_first (x), row = stereo_plane_first (y);
  int first_x = column * STEREO_PLANE_CELL - x, first_y = row * STEREO_PLANE_CELL - y;
  const Tap *taps = grid + (row + CELL_BORDER) * pitch + column + CELL_BORDER;
  uint32_t color = f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x];
  float near = stereo_plane_near (anchor);
  StereoPlaneSums s = {};

#pragma unroll 1
  for (int k = 0; k < CELLS; k++, taps += pitch) {
    RowSums row_sums = {};
#pragma unroll
    for (int i = 0; i < CELLS; i++)
      add_tap (row_sums, taps[i], color, anchor, near, (float) i);
    int v = first_y + k * STEREO_PLANE_CELL, w = (int) row_sums.w, wc = (int) row_sums.wc, wd = (int) row_sums.wd;
    s.w += w;
    s.wx += wc;
    s.wxx += (int) row_sums.wcc;
    s.wy += w * v;
    s.wxy += wc * v;
    s.wyy += w * v * v;
    s.wd += wd;
    s.wxd += (int) row_sums.wdc;
    s.wyd += wd * v;
  }
  s.wxx = STEREO_PLANE_CELL * (STEREO_PLANE_CELL * s.wxx + 2 * first_x * s.wx) + first_x * first_x * s.w;
  s.wx = STEREO_PLANE_CELL * s.wx + first_x * s.w;
  s.wxy = STEREO_PLANE_CELL * s.wxy + first_x * s.wy;
  s.wxd = STEREO_PLANE_CELL * s.wxd + first_x * s.wd;
  return stereo_plane_value (&s, anchor, (float) f.min_disparity, (float) (f.min_disparity + f.disparities - 1));
}

#endif
