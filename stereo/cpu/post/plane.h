/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums over a window that a plane is fitted to: stereo/exact/fill.h. */
#ifndef STEREO_CPU_POST_PLANE_H
#define STEREO_CPU_POST_PLANE_H

#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/fill.h"

#define CPU_TAP_BORDER (STEREO_PLANE_CELLS / 2) /* cells around the grid */
#define VECTORS (STEREO_PLANE_CELLS / LANES)    /* of a row of a window */
#define ROUNDED(v) ((v) + STEREO_PLANE_MAGIC - STEREO_PLANE_MAGIC)

/* The taps of planes: a grid, with a border of none. */
typedef struct CpuTaps
{
  float *disparity;
  uint32_t *color;
  int pitch;
} CpuTaps;

/* Sums of a window, of each of its columns. Those of x follow at the end: a column has one x. All are whole numbers that a
 * float holds. */
typedef struct CpuPlaneColumns
{
  VecF w, wy, wyy, wd, wyd;
} CpuPlaneColumns;

/* Adds the taps of a row of the window, LANES of them. */
VEC_INLINE void
cpu_add_taps (
    CpuPlaneColumns *sums, const float *taps, const uint32_t *colors, float anchor, float near, VecU color, float y)
{
  VecF away = vec_load_f (taps) - anchor;
  VecI distance = vec_color_distance (vec_load_u (colors), color);
  VecF weight = ROUNDED ((VecF) (STEREO_PLANE_WEIGHT_BITS - (distance << STEREO_PLANE_DISTANCE_SHIFT)));
  VecI of_surface = (VecI) (away <= near) & (VecI) (away >= -near);
  VecF steps = ROUNDED (away * (float) STEREO_PLANE_STEPS);

  weight = (VecF) ((VecI) weight & of_surface);
  VecF wd = weight * steps;
  sums->w += weight;
  sums->wy += weight * y;
  sums->wyy += weight * (y * y);
  sums->wd += wd;
  sums->wyd += wd * y;
}

/* Sums of a window, of each lane. */
typedef struct CpuPlaneLanes
{
  VecI w, wx, wy, wxx, wxy, wyy, wd, wxd, wyd;
} CpuPlaneLanes;

/* Adds columns whose x is @x. */
VEC_INLINE void
cpu_add_columns (CpuPlaneLanes *sums, const CpuPlaneColumns *columns, VecF x)
{
  sums->w += vec_round (columns->w);
  sums->wx += vec_round (columns->w * x);
  sums->wy += vec_round (columns->wy);
  sums->wxx += vec_round (columns->w * x * x);
  sums->wxy += vec_round (columns->wy * x);
  sums->wyy += vec_round (columns->wyy);
  sums->wd += vec_round (columns->wd);
  sums->wxd += vec_round (columns->wd * x);
  sums->wyd += vec_round (columns->wyd);
}

static inline int32_t
cpu_total (VecI lanes)
{
  int32_t sum = 0;
  for (int k = 0; k < LANES; k++)
    sum += lanes[k];
  return sum;
}

static inline StereoPlaneSums
cpu_plane_sums (const CpuTaps *taps, int x, int y, float anchor, uint32_t color)
{
  const VecI lanes = LANE_NUMBERS;
  int column = stereo_plane_first (x), row = stereo_plane_first (y);
  size_t at = (size_t) (row + CPU_TAP_BORDER) * (size_t) taps->pitch + (size_t) (column + CPU_TAP_BORDER);
  float near = stereo_plane_near (anchor);
  CpuPlaneColumns columns[VECTORS] = { 0 };
  CpuPlaneLanes sums = { 0 };
  VecU own = (VecU){ 0 } + color;

  for (int k = 0; k < STEREO_PLANE_CELLS; k++, at += (size_t) taps->pitch)
    for (int v = 0; v < VECTORS; v++)
      cpu_add_taps (&columns[v], taps->disparity + at + v * LANES, taps->color + at + v * LANES, anchor, near, own,
          (float) ((row + k) * STEREO_PLANE_CELL - y));
  for (int v = 0; v < VECTORS; v++)
    cpu_add_columns (&sums, &columns[v], vec_float ((lanes + column + v * LANES) * STEREO_PLANE_CELL - x));
  return (StereoPlaneSums){ cpu_total (sums.w), cpu_total (sums.wx), cpu_total (sums.wy), cpu_total (sums.wxx),
    cpu_total (sums.wxy), cpu_total (sums.wyy), cpu_total (sums.wd), cpu_total (sums.wxd), cpu_total (sums.wyd) };
}

#undef VECTORS
#undef ROUNDED

#endif
