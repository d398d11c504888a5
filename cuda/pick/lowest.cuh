/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lowest costs of a pixel, as keys that order ties too, and how the lanes of post/select.cu find them. */
#ifndef STEREO_CUDA_PICK_LOWEST_CUH
#define STEREO_CUDA_PICK_LOWEST_CUH

#include "cuda/common.cuh"

namespace
{

constexpr uint32_t NO_KEY = 0xFFFFFFFFu;
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* The lowest keys (cost << 16 | index) seen: ties go to the smaller index. If one is KEPT, the second stays NO_KEY. */
struct __align__ (8) Lowest
{
  uint32_t first, second;
};

template <int KEPT> static __device__ __forceinline__ void
insert_key (Lowest &l, uint32_t key)
{
  if (KEPT > 1)
    l.second = min (l.second, max (l.first, key));
  l.first = min (l.first, key);
}

/*
 * The kernel is bound by comparisons, which issue on the same units as additions. Some sums are made on the multipliers
 * instead, which are almost idle: a * 1 + b. The factor blockDim.y is 1, and the compiler does not know it.
 */
template <bool MULTIPLIERS> static __device__ __forceinline__ uint32_t
sum (uint32_t a, uint32_t b)
{
  return MULTIPLIERS ? a * blockDim.y + b : a + b;
}

/* The greater of two numbers whose lesser is known. */
static __device__ __forceinline__ uint32_t
greater (uint32_t a, uint32_t b, uint32_t lesser)
{
  return sum<true> (a, b) - lesser * blockDim.y;
}

/* Two keys at once take fewer comparisons. */
template <int KEPT> static __device__ __forceinline__ void
insert_two_keys (Lowest &l, uint32_t a, uint32_t b)
{
  uint32_t low = min (a, b), high = greater (a, b, low), first = min (l.first, low);
  if (KEPT > 1)
    l.second = min (min (l.second, high), max (l.first, low));
  l.first = first;
}

static __device__ __forceinline__ Lowest
merge (Lowest a, Lowest b)
{
  return { min (a.first, b.first), min (max (a.first, b.first), min (a.second, b.second)) };
}

/* ---- a left pixel: the lowest of W keys a lane, over all lanes ------------------------------------------------------ */

static __device__ __forceinline__ uint32_t
warp_min (uint32_t key)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync (ALL_LANES, key);
#else
  for (int away = 16; away; away /= 2)
    key = min (key, __shfl_xor_sync (ALL_LANES, key, away));
  return key;
#endif
}

template <int W> static __device__ __forceinline__ uint32_t
least_key (const uint32_t (&keys)[W])
{
  uint32_t least = keys[0];
#pragma unroll
  for (int j = 1; j < W; j++)
    least = min (least, keys[j]);
  return warp_min (least);
}

/* The least key of all lanes above @bound: the difference of a key that is not above wraps around to a large number. */
template <int W> static __device__ __forceinline__ uint32_t
least_beyond (const uint32_t (&keys)[W], uint32_t bound)
{
  uint32_t away[W];
#pragma unroll
  for (int j = 0; j < W; j++)
    away[j] = sum<(W > 2)> (keys[j], ~bound);
  return least_key<W> (away) + bound + 1;
}

/* The two lowest keys of a left pixel. A key that several lanes hold counts once; a round has at least two keys. */
template <int W> static __device__ __forceinline__ Lowest
warp_lowest (const uint32_t (&keys)[W])
{
  uint32_t first = least_key<W> (keys);
  return { first, least_beyond<W> (keys, first) };
}

}

#endif
