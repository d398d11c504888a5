/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of support weights times the costs along it, as a banded matrix product on the tensor cores:
 * tiles of 16 pixels, KT of them in reach, NT tiles of 8 disparities a warp. See asw_left.cu.
 *
 * Lane (j = lane / 4, g = lane % 4) holds, of a tile of weights, rows j and j + 8 at pixels 4 g..4 g + 3,
 * and of a tile of costs those pixels of one disparity a tile of NT: the order of the pixels inside a
 * tile does not matter to a sum, so that what is neighbours in memory is neighbours in a lane.
 */
#ifndef STEREO_CUDA_BANDED_CUH
#define STEREO_CUDA_BANDED_CUH

#include "cuda/asw.cuh"

#include <cuda_fp16.h>

#define TILE 16                 /* pixels */
#define NT 4

__device__ __forceinline__ void
multiply (float (&sum)[4], const uint4 &a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  asm ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f" (sum[0]), "+f" (sum[1]), "+f" (sum[2]), "+f" (sum[3])
      : "r" (a.x), "r" (a.y), "r" (a.z), "r" (a.w), "r" (b0), "r" (b1));
#else
  asm ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f" (sum[0]), "+f" (sum[1]), "+f" (sum[2]), "+f" (sum[3]) : "r" (a.x), "r" (a.y), "r" (b0));
  asm ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f" (sum[0]), "+f" (sum[1]), "+f" (sum[2]), "+f" (sum[3]) : "r" (a.z), "r" (a.w), "r" (b1));
#endif
}

__device__ __forceinline__ uint32_t
pack_halves (float low, float high)
{
  __half2 pair = __floats2half2_rn (low, high);
  return *reinterpret_cast<uint32_t *> (&pair);
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* What a block keeps of a pass: weights of the tile at hand and of the next one, in fragment order, and
 * the distance terms of every lane's weights, the same for all tiles; minus infinity outside the window. */
template <int KT> struct Band
{
  uint4 weights[2][KT * 32];
  float4 distances[KT * 32][2];
};

template <int KT> __device__ __forceinline__ void
make_distances (Band<KT> &band, AswWindow w)
{
  for (int e = threadIdx.x; e < KT * 32 * 8; e += blockDim.x) {
    int lane = e >> 3 & 31, row = (lane >> 2) + 2 * (e & 4);
    int away = abs (((e >> 8) - KT / 2) * TILE + 4 * (lane & 3) + (e & 3) - row);
    ((float *) band.distances)[e] = away <= w.radius ? w.distance * (float) away : -INFINITY;
  }
}

/* The line of pixels that a pass runs along: colours, how many there are, and how many may be read. */
struct Line
{
  const uint32_t *color;
  int length, readable;
};

/* Minus infinity for the taps first..first + 3 that are not on the line. */
__device__ __forceinline__ void
cut (float4 &d, int first, int length)
{
  d.x = (unsigned) first < (unsigned) length ? d.x : -INFINITY;
  d.y = (unsigned) (first + 1) < (unsigned) length ? d.y : -INFINITY;
  d.z = (unsigned) (first + 2) < (unsigned) length ? d.z : -INFINITY;
  d.w = (unsigned) (first + 3) < (unsigned) length ? d.w : -INFINITY;
}

/* A warp's part: weights of tile @tile to the pixels of tile @tile + kt - KT / 2. */
template <int KT> __device__ __forceinline__ void
make_weights (Band<KT> &band, const Line &line, int tile, int kt, AswWindow w)
{
  int lane = threadIdx.x & 31, first = (tile + kt - KT / 2) * TILE + 4 * (lane & 3);
  bool inner = tile >= KT / 2 && (tile + KT / 2 + 1) * TILE <= line.length;
  const uint32_t *centre = line.color + tile * TILE + (lane >> 2);
  uint32_t p = centre[0], q = centre[8];
  uint4 taps = *(const uint4 *) (line.color + (inner ? first : min (max (first, 0), line.readable - 4)));
  float4 d = band.distances[kt * 32 + lane][0], e = band.distances[kt * 32 + lane][1];

  if (!inner) {
    cut (d, first, line.length);
    cut (e, first, line.length);
  }
  band.weights[tile & 1][kt * 32 + lane] = make_uint4 (
      pack_halves (cuda_weight (p, taps.x, w.color, d.x), cuda_weight (p, taps.y, w.color, d.y)),
      pack_halves (cuda_weight (q, taps.x, w.color, e.x), cuda_weight (q, taps.y, w.color, e.y)),
      pack_halves (cuda_weight (p, taps.z, w.color, d.z), cuda_weight (p, taps.w, w.color, d.w)),
      pack_halves (cuda_weight (q, taps.z, w.color, e.z), cuda_weight (q, taps.w, w.color, e.w)));
}

/* The block's warps take turns: turn KT * tile + kt makes one tile of weights. @turn: this warp's next. */
template <int KT> __device__ __forceinline__ void
share_weights (Band<KT> &band, const Line &line, int tile, int &turn, AswWindow w)
{
  for (; turn < KT * (tile + 1); turn += blockDim.x >> 5)
    make_weights<KT> (band, line, tile, turn - KT * tile, w);
}

template <int KT> __device__ __forceinline__ void
load_weights (uint4 (&a)[KT], const Band<KT> &band, int tile)
{
#pragma unroll
  for (int kt = 0; kt < KT; kt++)
    a[kt] = band.weights[tile & 1][kt * 32 + (threadIdx.x & 31)];
}

/* sum[0]: of row j, sum[2]: of row j + 8. */
template <int KT> __device__ __forceinline__ void
sum_weights (float (&sum)[4], const uint4 (&a)[KT])
{
  const uint32_t ones = 0x3C003C00u;
  sum[0] = sum[1] = sum[2] = sum[3] = 0;
#pragma unroll
  for (int kt = 0; kt < KT; kt++)
    multiply (sum, a[kt], ones, ones);
}

/* ---- costs --------------------------------------------------------------------------------------- */

/* The tiles of costs in reach and one made ahead. Tile n stands in slot n % slots: unrolled by that
 * many steps, the loop over tiles moves nothing. */
template <int KT> struct Ring
{
  static constexpr int slots = KT + 1;
  uint32_t costs[slots][NT][2];
};

/* Before the first tile there is nothing; those in reach of it come by make (tile, where). */
template <int KT, typename Make> __device__ __forceinline__ void
start_rolling (Ring<KT> &ring, Make make)
{
#pragma unroll
  for (int s = 0; s < Ring<KT>::slots; s++)
#pragma unroll
    for (int t = 0; t < NT; t++)
      ring.costs[s][t][0] = ring.costs[s][t][1] = 0;
#pragma unroll
  for (int n = 0; n <= KT / 2; n++)
    make (n, ring.costs[n]);
}

/* @step: the tile's number modulo the slots, known when compiled. */
template <int KT> __device__ __forceinline__ void
multiply_band (float (&sum)[NT][4], const uint4 (&a)[KT], const Ring<KT> &ring, int step)
{
#pragma unroll
  for (int kt = 0; kt < KT; kt++)
#pragma unroll
    for (int t = 0; t < NT; t++) {
      int slot = (step + kt - KT / 2 + Ring<KT>::slots) % Ring<KT>::slots;
      multiply (sum[t], a[kt], ring.costs[slot][t][0], ring.costs[slot][t][1]);
    }
}

/* Row j + 8 r of the product as words of neighbouring disparities, 2 NT of them from 2 NT g on. */
template <typename Convert> __device__ __forceinline__ uint4
gather_row (const float (&sum)[NT][4], int r, Convert convert)
{
  uint32_t words[NT];
#pragma unroll
  for (int e = 0; e < 2; e++)
#pragma unroll
    for (int t = 0; t < NT; t += 2)
      words[(e * NT + t) / 2] = convert (sum[t][2 * r + e], sum[t + 1][2 * r + e], e * NT + t);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

#endif
