/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the warps of a strip share (see sweep.cu): costs of diagonal paths in the block and between blocks, and copies
 * of a column's costs and sums. */
#ifndef STEREO_CUDA_SGM_STRIPS_CUH
#define STEREO_CUDA_SGM_STRIPS_CUH

#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int BAND_ROWS = 8; /* of a band; even */
constexpr int HALO_WARPS = BAND_ROWS - 1;
constexpr int ROWS_AHEAD = 4;   /* rows that are being copied to shared memory; a divisor of BAND_ROWS */
constexpr int MAX_COLUMNS = 16; /* of the strips that are on one multiprocessor */
constexpr int MAX_STRIPS = 2;   /* on one multiprocessor: while one strip waits, the other works */

enum
{
  FROM_LEFT,
  FROM_RIGHT,
  FROM_ABOVE,
  WAYS
};

struct Sweep
{
  int up, last;    /* up: from the last row to the first; last: marks the missing candidates */
  int columns;     /* of a strip */
  int band, bands; /* of this launch */
  Penalties penalties[WAYS];
  uint32_t *border, *border_low; /* [band & 1][way][x]: costs of paths at the end of a band, and their lowest */
  int *progress;                 /* of each strip: the bands that it has done */
};

/*
 * Costs of diagonal paths in shared memory: [row & 1][way][slot]. Slots of paths from the left begin with column
 * -BAND_ROWS of the strip, those of paths from the right with column 0. A lane has the address of its place in slot 0;
 * the distances to all other places are constants.
 */
template <int PAIRS> struct Slots
{
  static const int pitch = 32 * PAIRS + 4, count = MAX_COLUMNS + BAND_ROWS; /* words; slots */
  static const int words = 4 * count * pitch;
  uint32_t *lane, *lowest;
};

template <int PAIRS> __device__ __forceinline__ Slots<PAIRS>
slots_at (uint32_t *words, int slot, int lane)
{
  uint32_t *at = words + slot * Slots<PAIRS>::pitch;
  Slots<PAIRS> s = { at + lane * PAIRS, at + 32 * PAIRS };
  return s;
}

template <int PAIRS> __device__ __forceinline__ void
get_slot (uint32_t (&path)[PAIRS], uint32_t &lowest, const Slots<PAIRS> &s, int buffer, int way, int slot)
{
  int n = ((buffer * 2 + way) * s.count + slot) * s.pitch;
  load_pairs (path, s.lane + n);
  lowest = s.lowest[n];
}

template <int PAIRS> __device__ __forceinline__ void
put_slot (const uint32_t (&path)[PAIRS], uint32_t lowest, const Slots<PAIRS> &s, int buffer, int way, int slot)
{
  int n = ((buffer * 2 + way) * s.count + slot) * s.pitch;
  store_pairs (s.lane + n, path);
  s.lowest[n] = lowest;
}

/* ---- the border between bands ------------------------------------------------------------------ */

__device__ __forceinline__ int
load_acquired (const int *from)
{
#if __CUDA_ARCH__
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
#else
  return *(const volatile int *) from;
#endif
}

__device__ __forceinline__ void
store_released (int *to, int value)
{
#if __CUDA_ARCH__
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
#else
  *(volatile int *) to = value;
#endif
}

template <int PAIRS> __device__ __forceinline__ void
get_border (uint32_t (&path)[PAIRS], uint32_t &lowest, const Sgm &s, const Sweep &w, int band, int way, int x, int lane)
{
  size_t n = ((size_t) (band & 1) * WAYS + way) * s.width + x;
#pragma unroll
  for (int k = 0; k < PAIRS; k++)
    path[k] = __ldcg (w.border + n * 32 * PAIRS + k * 32 + lane);
  lowest = __ldcg (w.border_low + n);
}

template <int PAIRS> __device__ __forceinline__ void
put_border (
    const uint32_t (&path)[PAIRS], uint32_t lowest, const Sgm &s, const Sweep &w, int band, int way, int x, int lane)
{
  size_t n = ((size_t) (band & 1) * WAYS + way) * s.width + x;
#pragma unroll
  for (int k = 0; k < PAIRS; k++)
    __stcg (w.border + n * 32 * PAIRS + k * 32 + lane, path[k]);
  if (lane == 0)
    __stcg (w.border_low + n, lowest);
}

/* Waits until the strips within reach have done the bands before @band. */
__device__ __forceinline__ void
await_neighbours (const Sweep &w, int band)
{
  int reach = (BAND_ROWS + w.columns - 1) / w.columns, strip = (int) blockIdx.x - reach + (int) threadIdx.x;

  if (threadIdx.x <= 2 * reach && strip >= 0 && strip < (int) gridDim.x)
    while (load_acquired (w.progress + strip) < band)
      __nanosleep (20);
  cuda_sync_warps ();
}

__device__ __forceinline__ void
signal_neighbours (const Sweep &w, int band)
{
  cuda_sync_warps ();
  if (threadIdx.x == 0)
    store_released (w.progress + blockIdx.x, band + 1);
}

/* Loads the diagonal paths that enter @band from the columns beside the strip; the warps share out the columns. */
template <int PAIRS> __device__ __forceinline__ void
load_halos (const Sgm &s, const Sweep &w, uint32_t *words, int band, int warp, int lane)
{
  for (int n = warp; n < 2 * BAND_ROWS; n += w.columns + HALO_WARPS) {
    int way = n / BAND_ROWS, column = way == FROM_LEFT ? n - BAND_ROWS : w.columns + n - BAND_ROWS;
    int x = (int) blockIdx.x * w.columns + column;
    uint32_t path[PAIRS], lowest;
    if (x < 0 || x >= s.width)
      continue;
    get_border (path, lowest, s, w, band - 1, way, x, lane);
    put_slot (path, lowest, slots_at<PAIRS> (words, way == FROM_LEFT ? column + BAND_ROWS : column, lane), 0, way, 0);
  }
}

/* load_step() of row @r of @band in column @x, for the path from column @x + @dx. */
__device__ __forceinline__ LumaStep
load_band_step (const Sgm &s, const Sweep &w, int band, int r, int x, int dx)
{
  int n = band * BAND_ROWS + r, y = w.up ? s.height - 1 - n : n;
  return n < s.height ? load_step (s, x, y, x + dx, w.up ? y + 1 : y - 1) : LumaStep ();
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* A column of the picture, row by row in the order of the sweep. */
template <int PAIRS> struct SweptColumn
{
  const uint8_t *costs; /* of the next row to load; stays on the last row at the end */
  const uint16_t *sums;
  ptrdiff_t step; /* elements */
  int left;       /* rows still to load */
  Share share;
};

template <int PAIRS> __device__ __forceinline__ SweptColumn<PAIRS>
start_column (const Sgm &s, const Sweep &w, int x, int lane)
{
  SweptColumn<PAIRS> c;
  int row = w.band * BAND_ROWS;
  c.share = share_of<PAIRS> (lane, s.depth);
  size_t place = ((size_t) (w.up ? s.height - 1 - row : row) * s.width + x) * s.depth + c.share.first;
  c.costs = s.costs + place;
  c.sums = s.volume + place;
  c.step = (ptrdiff_t) s.width * s.depth * (w.up ? -1 : 1);
  c.left = s.height - row;
  return c;
}

template <int PAIRS> __device__ __forceinline__ void
next_row (SweptColumn<PAIRS> &c)
{
  ptrdiff_t step = --c.left > 0 ? c.step : 0;
  c.costs += step;
  c.sums += step;
}

/* The rows that are being copied, a ring in the warp's part of shared memory. A lane reads only its own copies. With
 * registers in place of shared memory the compiler moves values and waits for the loads. A copy has at least 4
 * bytes. */
template <int PAIRS> struct RowRing
{
  static const int cost_bytes = PAIRS == 1 ? 4 : 2 * PAIRS, sum_bytes = 4 * PAIRS;
  static const int row = 32 * (cost_bytes + sum_bytes);
  char *lane; /* this lane's sums of row 0; the costs come after the sums of all lanes */
};

template <int PAIRS> __device__ __forceinline__ RowRing<PAIRS>
row_ring (uint32_t *words, int warp, int lane)
{
  RowRing<PAIRS> r = { (char *) (words + Slots<PAIRS>::words) + warp * ROWS_AHEAD * RowRing<PAIRS>::row +
    lane * RowRing<PAIRS>::sum_bytes };
  return r;
}

/* Where the costs of a row are; @second: in the place of the sums. */
template <int PAIRS> __device__ __forceinline__ char *
ring_costs (const RowRing<PAIRS> &r, int row, int lane, bool second)
{
  return r.lane + row % ROWS_AHEAD * r.row + lane * (r.cost_bytes - r.sum_bytes) + (second ? 0 : 32 * r.sum_bytes);
}

template <int PAIRS> __device__ __forceinline__ void
fetch_costs (const RowRing<PAIRS> &r, const SweptColumn<PAIRS> &c, int row, int lane, bool second)
{
  const uint8_t *from = PAIRS == 1 ? (const uint8_t *) ((uintptr_t) c.costs & ~(uintptr_t) 3) : c.costs;
  copy_async<RowRing<PAIRS>::cost_bytes> (ring_costs (r, row, lane, second), from);
}

template <int PAIRS> __device__ __forceinline__ void
ring_raw (RawCosts<PAIRS> &raw, const RowRing<PAIRS> &r, const SweptColumn<PAIRS> &c, int row, int lane, bool second)
{
  const char *from = ring_costs (r, row, lane, second);
  load_costs (raw, (const uint8_t *) from + (PAIRS == 1 ? c.share.first & 2 : 0), c.share);
}

}

#endif
