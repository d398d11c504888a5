/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel of windows.cuh: a block takes a strip of columns down a segment of rows. */
#ifndef STEREO_CUDA_BM_WINDOWS_KERNEL_CUH
#define STEREO_CUDA_BM_WINDOWS_KERNEL_CUH

#include "cuda/bm/windows.cuh"

namespace
{

static __device__ void
bm_set_edge (const BmTask &t, const BmPlace &p, float *factors, int cost, bool mean, BmEdge *e)
{
  const Frame &f = t.f;
  int thread = threadIdx.y * 32 + threadIdx.x, most = (2 * t.radius + 1) * (2 * t.radius + 1);

  e->exists = e->left = e->right = 0;
#pragma unroll
  for (int k = 0; k <= BM_COLUMNS; k++) {
    int m = p.m - (BM_COLUMNS - 1) + k;
    e->left |= (uint32_t) (k < BM_COLUMNS && p.x + k >= 0 && p.x + k < f.width) << k;
    e->right |= (uint32_t) (m >= 0 && m < f.width) << k;
  }
  e->factors = factors;
#pragma unroll
  for (int k = 0; k < 2 * BM_COLUMNS; k++) {
    int x = p.x + k / 2, m = p.m - k / 2 + k % 2;
    bool exists = bm_exists (f, x, m, p.i + k % 2);
    uint32_t span = exists ? stereo_bm_high (x, m, f.width, t.radius) - stereo_bm_low (x, m, f.width, t.radius) + 1 : 0;
    e->exists |= (uint32_t) exists << k;
    e->spans[k / 4] = k % 4 ? e->spans[k / 4] | span << k % 4 * 8 : span;
  }
  bm_hold_in_register (e->exists);
  bm_hold_in_register (e->left);
  bm_hold_in_register (e->right);
#pragma unroll
  for (int k = 0; k < BM_COLUMNS / 2; k++)
    bm_hold_in_register (e->spans[k]);
  for (int taps = 1 + thread; taps <= most; taps += 32 * BM_WARPS)
    factors[taps] = mean ? stereo_bm_mean_factor (taps) : stereo_bm_cost_factor (cost, f.volume_unit, taps);
  if (thread == 0)
    factors[0] = 0;
}

template <int COST, BmKind KIND, bool INNER, int R, int DEPTH> static __device__ __forceinline__ void
bm_strip (const BmTask &t, const BmPlace &p, uint2 *buffers)
{
  const Frame &f = t.f;
  const int radius = R ? R : t.radius;
  int first = blockIdx.z * t.segment, end = min (first + t.segment, f.height), pitch = (DEPTH ? DEPTH : f.depth) / 2;
  uint32_t *volume = KIND == BM_MEAN ? (uint32_t *) f.volume : t.costs;
  uint2 sums[BM_COLUMNS] = {};
  BmEdge e = {};

  if (!INNER)
    bm_set_edge (t, p, (float *) (buffers + t.buffers * BM_BUFFER), COST, KIND == BM_MEAN, &e);
  for (int y = max (first - radius, 0); y < min (first + radius, f.height); y++)
    bm_roll<KIND, INNER, true, DEPTH> (t, p, e, y, sums);
  for (int y = first; y < end; y++) {
    uint2 *buffer = buffers + (t.buffers == 2 ? (y & 1) * BM_BUFFER : 0) + threadIdx.x;
    uint32_t costs[BM_COLUMNS];
    if (y + radius < f.height)
      bm_roll<KIND, INNER, true, DEPTH> (t, p, e, y + radius, sums);
    if (y > first && y > radius)
      bm_roll<KIND, INNER, false, DEPTH> (t, p, e, y - radius - 1, sums);
    if (t.buffers == 1)
      __syncthreads ();
#pragma unroll
    for (int j = 0; j < BM_COLUMNS; j++)
      buffer[(p.strip_column + j) * 32] = sums[j];
    __syncthreads ();
    bm_finish<COST, KIND, INNER, R> (t, p, e, buffer, y, costs);
    uint32_t *to = volume + ((ptrdiff_t) y * f.width + p.x) * pitch + p.i / 2;
    if (p.stores == (1 << BM_COLUMNS) - 1) {
#pragma unroll
      for (int j = 0; j < BM_COLUMNS; j++)
        to[j * pitch] = costs[j];
    } else {
#pragma unroll
      for (int j = 0; j < BM_COLUMNS; j++)
        if (p.stores >> j & 1)
          to[j * pitch] = costs[j];
    }
  }
}

/* Block: BM_STRIP columns, 8 a warp, by BM_CHUNK candidates, two a lane, by t.segment rows. R, DEPTH: the radius, and
 * the depth of the volume; 0: any. Shared memory: buffers of sums, and factors. A warp stores 128 bytes of a column at
 * a time. */
template <int COST, BmKind KIND, int R, int DEPTH>
static __global__ void __launch_bounds__ (32 * BM_WARPS, bm_resident (KIND)) bm_kernel (BmTask t)
{
  extern __shared__ uint2 buffers[];
  const Frame &f = t.f;
  const int radius = R ? R : t.radius;
  int x0 = blockIdx.x * (BM_STRIP - 2 * radius) - radius, i0 = blockIdx.y * BM_CHUNK;
  int candidates = min (BM_CHUNK, f.disparities - i0);
  BmPlace p;

  p.strip_column = BM_GUARD + threadIdx.y * BM_COLUMNS;
  p.x = x0 + threadIdx.y * BM_COLUMNS;
  p.i = i0 + 2 * threadIdx.x;
  p.m = f.width - 1 - p.x + f.min_disparity + min (p.i, f.depth - 2);
  p.exists = (p.i < f.disparities ? 0xFFFFu : 0) | (p.i + 1 < f.disparities ? 0xFFFF0000u : 0);
  p.stores = 0;
#pragma unroll
  for (int j = 0; j < BM_COLUMNS; j++) {
    int c = p.strip_column + j - BM_GUARD;
    p.stores |= (uint32_t) (c >= radius && c < BM_STRIP - radius && p.x + j >= 0 && p.x + j < f.width && p.i < f.depth)
        << j;
  }
  bm_hold_in_register (p.stores);
  /* partners of the last column at the first candidate, and of the first column at the last candidate */
  int lowest = f.width - 1 - (x0 + BM_STRIP - 1) + f.min_disparity + i0;
  int highest = f.width - 1 - x0 + f.min_disparity + i0 + candidates - 1;
  if (x0 >= 0 && x0 + BM_STRIP <= f.width && lowest >= 0 && highest < f.width)
    bm_strip<COST, KIND, true, R, DEPTH> (t, p, buffers);
  else
    bm_strip<COST, KIND, false, R, DEPTH> (t, p, buffers);
}

}

#endif
