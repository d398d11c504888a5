/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of support weights times the costs along it, as a banded matrix product on the tensor cores:
 * tiles of 16 pixels, REACH of them in reach, INDEX_TILES tiles of 8 disparities a warp. See asw_left.cu.
 *
 * Lane (j = lane / 4, g = lane % 4) holds, of a tile of weights, rows j and j + 8 at pixels 4 g..4 g + 3,
 * and of a tile of costs those pixels of one disparity a tile of INDEX_TILES: the order of the pixels inside a
 * tile does not matter to a sum, so that what is neighbours in memory is neighbours in a lane.
 */
#ifndef STEREO_CUDA_BANDED_CUH
#define STEREO_CUDA_BANDED_CUH

#include "cuda/async_copy.cuh"
#include "cuda/asw/weights.cuh"

namespace
{

constexpr int TILE_PIXELS = 16;                 /* of a tile of weights, and taps of it */
constexpr int INDEX_TILES = 4;                  /* of 8 disparity indices, a warp */
constexpr int WARP_INDICES = 8 * INDEX_TILES;

/* @sum = @to + a tile of 16 pixels by 16 taps times one of 16 taps by 8. */
__device__ __forceinline__ void
multiply_onto (float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1, float c0, float c1, float c2, float c3)
{
#if __CUDA_ARCH__ >= 800
  asm ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f" (sum[0]), "=f" (sum[1]), "=f" (sum[2]), "=f" (sum[3])
      : "r" (a.x), "r" (a.y), "r" (a.z), "r" (a.w), "r" (b0), "r" (b1), "f" (c0), "f" (c1), "f" (c2), "f" (c3));
#else
  asm ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=f" (sum[0]), "=f" (sum[1]), "=f" (sum[2]), "=f" (sum[3])
      : "r" (a.x), "r" (a.y), "r" (b0), "f" (c0), "f" (c1), "f" (c2), "f" (c3));
  asm ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f" (sum[0]), "+f" (sum[1]), "+f" (sum[2]), "+f" (sum[3]) : "r" (a.z), "r" (a.w), "r" (b1));
#endif
}

/* The first of a sum overwrites it. */
__device__ __forceinline__ void
multiply (float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1, bool first = false)
{
  if (first)
    multiply_onto (sum, a, b0, b1, 0, 0, 0, 0);
  else
    multiply_onto (sum, a, b0, b1, sum[0], sum[1], sum[2], sum[3]);
}

__device__ __forceinline__ uint32_t
pack_halves (float low, float high)
{
  __half2 pair = __floats2half2_rn (low, high);
  return *reinterpret_cast<uint32_t *> (&pair);
}

/* ---- weights ------------------------------------------------------------------------------------ */

constexpr int LINE_TILES = 8;   /* tiles of colours in shared memory: at least REACH and those copied ahead; a power of two */

/* A line of pixels that a pass runs along: weights of the tile at hand and of the next one in fragment order, and
 * where colours stand: tile n at color + n % LINE_TILES * pitch. */
template <int REACH> struct Line
{
  uint4 (*weights)[REACH * 32];
  const uint32_t *color;
  int pitch, length;
};

/* Distance terms of every lane's weights, the same for all tiles; minus infinity outside the window. */
template <int REACH> struct Distances
{
  float4 of[REACH * 32][2];
};

/* The block shares it out: @thread of @threads. */
template <int REACH> __device__ __forceinline__ void
make_distances (Distances<REACH> &distances, AswWindow w, int thread, int threads)
{
  for (int e = thread; e < REACH * 32 * 8; e += threads) {
    int lane = e >> 3 & 31, row = (lane >> 2) + 2 * (e & 4);
    int away = abs (((e >> 8) - REACH / 2) * TILE_PIXELS + 4 * (lane & 3) + (e & 3) - row);
    ((float *) distances.of)[e] = away <= w.radius ? w.distance * (float) away : -INFINITY;
  }
}

/* Minus infinity for the taps first..first + 3 that are not on the line. */
__device__ __forceinline__ void
cut (float4 &d, int first, int length)
{
  d.x = (unsigned) first < (unsigned) length ? d.x : -INFINITY;
  d.y = (unsigned) (first + 1) < (unsigned) length ? d.y : -INFINITY;
  d.z = (unsigned) (first + 2) < (unsigned) length ? d.z : -INFINITY;
  d.w = (unsigned) (first + 3) < (unsigned) length ? d.w : -INFINITY;
}

/* A warp's part: weights of tile @tile to the pixels of tile @tile + tap_tile - REACH / 2. */
template <int REACH> __device__ __forceinline__ void
make_weights (const Line<REACH> &line, const Distances<REACH> &distances, int tile, int tap_tile, AswWindow w)
{
  int lane = threadIdx.x & 31, other = tile + tap_tile - REACH / 2, first = 4 * (lane & 3);
  const uint32_t *centre = line.color + tile % LINE_TILES * line.pitch;
  uint32_t p = centre[lane >> 2], q = centre[(lane >> 2) + 8];
  uint4 taps = *(const uint4 *) (line.color + (unsigned) other % LINE_TILES * line.pitch + first);
  float4 d = distances.of[tap_tile * 32 + lane][0], e = distances.of[tap_tile * 32 + lane][1];

  if (other < 0 || (other + 1) * TILE_PIXELS > line.length) {
    cut (d, other * TILE_PIXELS + first, line.length);
    cut (e, other * TILE_PIXELS + first, line.length);
  }
  line.weights[tile & 1][tap_tile * 32 + lane] = make_uint4 (
      pack_halves (cuda_weight (p, taps.x, w.color, d.x), cuda_weight (p, taps.y, w.color, d.y)),
      pack_halves (cuda_weight (q, taps.x, w.color, e.x), cuda_weight (q, taps.y, w.color, e.y)),
      pack_halves (cuda_weight (p, taps.z, w.color, d.z), cuda_weight (p, taps.w, w.color, d.w)),
      pack_halves (cuda_weight (q, taps.z, w.color, e.z), cuda_weight (q, taps.w, w.color, e.w)));
}

/* A line's warps take turns: turn REACH * tile + tap_tile makes one tile of weights. @turn: this warp's next. */
template <int REACH> __device__ __forceinline__ void
share_weights (const Line<REACH> &line, const Distances<REACH> &distances, int tile, int &turn, AswWindow w)
{
  for (; turn < REACH * (tile + 1); turn += blockDim.x >> 5)
    make_weights<REACH> (line, distances, tile, turn - REACH * tile, w);
}

template <int REACH> __device__ __forceinline__ void
load_weights (uint4 (&a)[REACH], const Line<REACH> &line, int tile)
{
#pragma unroll
  for (int tap_tile = 0; tap_tile < REACH; tap_tile++)
    a[tap_tile] = line.weights[tile & 1][tap_tile * 32 + (threadIdx.x & 31)];
}

/* sum[0]: of row j, sum[2]: of row j + 8. */
template <int REACH> __device__ __forceinline__ void
sum_weights (float (&sum)[4], const uint4 (&a)[REACH])
{
  const uint32_t ones = 0x3C003C00u;
#pragma unroll
  for (int tap_tile = 0; tap_tile < REACH; tap_tile++)
    multiply (sum, a[tap_tile], ones, ones, tap_tile == 0);
}

/* ---- costs --------------------------------------------------------------------------------------- */

/* The tiles of costs in reach. Tile n stands in slot n % REACH: unrolled by as many steps, the loop over tiles moves
 * nothing. */
template <int REACH> struct Ring
{
  uint32_t costs[REACH][INDEX_TILES][2];
};

template <int REACH> __device__ __forceinline__ void
clear_ring (Ring<REACH> &ring)
{
#pragma unroll
  for (int s = 0; s < REACH; s++)
#pragma unroll
    for (int t = 0; t < INDEX_TILES; t++)
      ring.costs[s][t][0] = ring.costs[s][t][1] = 0;
}

/* @step: the tile's number modulo REACH, known when compiled. */
template <int REACH> __device__ __forceinline__ void
multiply_band (float (&sum)[INDEX_TILES][4], const uint4 (&a)[REACH], const Ring<REACH> &ring, int step)
{
#pragma unroll
  for (int tap_tile = 0; tap_tile < REACH; tap_tile++)
#pragma unroll
    for (int t = 0; t < INDEX_TILES; t++) {
      int slot = (step + tap_tile - REACH / 2 + REACH) % REACH;
      multiply (sum[t], a[tap_tile], ring.costs[slot][t][0], ring.costs[slot][t][1], tap_tile == 0);
    }
}

/* Row j + 8 r of the product as words of neighbouring disparities, 2 INDEX_TILES of them from 2 INDEX_TILES g on. */
template <typename Convert> __device__ __forceinline__ uint4
gather_row (const float (&sum)[INDEX_TILES][4], int r, Convert convert)
{
  uint32_t words[INDEX_TILES];
#pragma unroll
  for (int e = 0; e < 2; e++)
#pragma unroll
    for (int t = 0; t < INDEX_TILES; t += 2)
      words[(e * INDEX_TILES + t) / 2] = convert (sum[t][2 * r + e], sum[t + 1][2 * r + e], e * INDEX_TILES + t);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

}

#endif
