/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of support weights times the costs along it, as a banded matrix product on the tensor cores:
 * tiles of 16 pixels, KT of them in reach, NT tiles of 8 disparities a warp. See asw_left.cu.
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

/*
 * Weights of a tile in fragment order: word (kt * 32 + lane) * 4 + r holds row lane / 4 + 8 * (r & 1) of
 * the tile and two pixels, from 4 * (lane % 4) + (r & 2) of tile + kt - KT / 2 on.
 */
__device__ __forceinline__ int
word_row (int e)
{
  return (e >> 4 & 7) + 8 * (e & 1);
}

template <int KT> __device__ __forceinline__ int
word_pixel (int e)
{
  return ((e >> 7) - KT / 2) * TILE + (e & 12) + (e & 2);
}

/* The distance terms of all words, the same for every tile; minus infinity outside the window. */
template <int KT> __device__ __forceinline__ void
make_distances (float2 *distances, AswWindow w)
{
  for (int e = threadIdx.x; e < KT * 128; e += blockDim.x) {
    int away = word_pixel<KT> (e) - word_row (e);
    distances[e] = make_float2 (abs (away) <= w.radius ? w.distance * (float) abs (away) : -INFINITY,
        abs (away + 1) <= w.radius ? w.distance * (float) abs (away + 1) : -INFINITY);
  }
}

/* The words of tile @tile of a line of @length pixels with colours @color; the block shares them out.
 * Pixels outside the line weigh nothing. */
template <int KT> __device__ __forceinline__ void
make_weights (uint32_t *words, const float2 *distances, const uint32_t *color, int tile, int length, AswWindow w)
{
  bool inner = tile >= KT / 2 && (tile + KT / 2 + 1) * TILE <= length;

  color += tile * TILE;
  for (int e = threadIdx.x; e < KT * 128; e += blockDim.x) {
    int p = word_row (e), q = word_pixel<KT> (e);
    float2 distance = distances[e];
    if (!inner) {
      int left = length - tile * TILE, first = -tile * TILE;
      distance.x = p < left && q >= first && q < left ? distance.x : -INFINITY;
      distance.y = p < left && q + 1 >= first && q + 1 < left ? distance.y : -INFINITY;
      p = min (p, left - 1);
      q = min (max (q, first), (left - 1) & ~1);
    }
    uint32_t centre = color[p];
    uint2 taps = *(const uint2 *) (color + q);
    words[e] = pack_halves (cuda_weight (centre, taps.x, w.color, distance.x),
        cuda_weight (centre, taps.y, w.color, distance.y));
  }
}

template <int KT> __device__ __forceinline__ void
sum_weights (float (&sum)[4], const uint4 (&a)[KT])
{
  const uint32_t ones = 0x3C003C00u;
  sum[0] = sum[1] = sum[2] = sum[3] = 0;
  for (int kt = 0; kt < KT; kt++)
    multiply (sum, a[kt], ones, ones);
}

template <int KT> __device__ __forceinline__ void
load_weights (uint4 (&a)[KT], const uint4 *shared, int lane)
{
#pragma unroll
  for (int kt = 0; kt < KT; kt++)
    a[kt] = shared[kt * 32 + lane];
}

template <int KT> __device__ __forceinline__ void
multiply_band (float (&sum)[NT][4], const uint4 (&a)[KT], const uint32_t (&costs)[KT][NT][2])
{
#pragma unroll
  for (int t = 0; t < NT; t++)
#pragma unroll
    for (int kt = 0; kt < KT; kt++)
      multiply (sum[t], a[kt], costs[kt][t][0], costs[kt][t][1]);
}

/* The tiles of costs at hand: the first of KT leaves, the one made ahead comes in. */
template <int KT> __device__ __forceinline__ void
roll (uint32_t (&costs)[KT][NT][2], const uint32_t (&next)[NT][2])
{
#pragma unroll
  for (int t = 0; t < NT; t++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int kt = 0; kt < KT - 1; kt++)
        costs[kt][t][h] = costs[kt + 1][t][h];
      costs[KT - 1][t][h] = next[t][h];
    }
}

/* Before the first tile there is nothing; those it meets ahead, by make (tile, where). */
template <int KT, typename Make> __device__ __forceinline__ void
start_rolling (uint32_t (&costs)[KT][NT][2], uint32_t (&next)[NT][2], Make make)
{
#pragma unroll
  for (int kt = 0; kt < KT; kt++)
#pragma unroll
    for (int t = 0; t < NT; t++)
      costs[kt][t][0] = costs[kt][t][1] = 0;
#pragma unroll
  for (int kt = 0; kt < KT / 2; kt++)
    make (kt, costs[KT / 2 + 1 + kt]);
  make (KT / 2, next);
}

#endif
