/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of paths: a lane's candidates of a pixel, to and from memory in vectors of up to 16 bytes. In registers they are
 * pairs. */
#ifndef STEREO_CUDA_SGM_CANDIDATES_CUH
#define STEREO_CUDA_SGM_CANDIDATES_CUH

#include "cuda/common.cuh"

namespace
{

/* Bytes of a lane's candidates, as they lie: raw costs, or what paths add. */
template <int PAIRS> struct RawCosts
{
  uint32_t word[(PAIRS + 1) / 2];
};

/*
 * A lane's share of a column: where it begins, and the step to its second half where it has more than 16 candidates.
 * Lanes past the depth, whose candidates are all missing, read the last 16 or fewer that there are, and write nothing.
 */
struct Share
{
  int first, second;
  bool there;
};

template <int PAIRS> __device__ __forceinline__ Share
share_of (int lane, int depth)
{
  int i = lane * PAIRS * 2;
  Share s = { min (i, depth - (PAIRS < 8 ? PAIRS * 2 : 16)), i + 16 < depth ? 16 : 0, i < depth };
  return s;
}

template <int PAIRS> __device__ __forceinline__ void
store_costs (uint8_t *to, const RawCosts<PAIRS> &c, Share share)
{
  if (PAIRS == 2 && share.there)
    *(uint32_t *) to = c.word[0];
  if (PAIRS == 4 && share.there)
    *(uint2 *) to = make_uint2 (c.word[0], c.word[PAIRS > 2]);
#pragma unroll
  for (int k = 0; k + 7 < PAIRS; k += 8)
    if (k ? share.second : share.there)
      *(uint4 *) (to + 2 * k) = make_uint4 (
          c.word[k / 2], c.word[k / 2 + (PAIRS > 2)], c.word[k / 2 + (PAIRS > 4) * 2], c.word[k / 2 + (PAIRS > 6) * 3]);
}

/* Bytes as pairs, times @unit: costs in steps of a path's costs. */
template <int PAIRS> __device__ __forceinline__ void
spread_costs (uint32_t (&cost)[PAIRS], const RawCosts<PAIRS> &raw, uint32_t unit)
{
#pragma unroll
  for (int k = 0; k < PAIRS; k++)
    cost[k] = __byte_perm (raw.word[k / 2], 0, k % 2 ? 0x4342 : 0x4140) * unit;
}

/* Pairs of multiples of 1 << @bits, up to 255 of them, as bytes. */
template <int PAIRS> __device__ __forceinline__ void
gather_bytes (RawCosts<PAIRS> &bytes, const uint32_t (&pairs)[PAIRS], int bits)
{
#pragma unroll
  for (int k = 0; k + 1 < PAIRS; k += 2)
    bytes.word[k / 2] = __byte_perm (pairs[k] >> bits, pairs[k + 1] >> bits, 0x6420);
}

/* In vectors of up to 16 bytes. */
template <int PAIRS> __device__ __forceinline__ void
load_pairs (uint32_t (&pairs)[PAIRS], const void *from)
{
  if (PAIRS == 2) {
    uint2 v = *(const uint2 *) from;
    pairs[0] = v.x;
    pairs[PAIRS > 1] = v.y;
  }
#pragma unroll
  for (int k = 0; k + 3 < PAIRS; k += 4) {
    uint4 v = ((const uint4 *) from)[k / 4];
    pairs[k] = v.x;
    pairs[k + (PAIRS > 1)] = v.y;
    pairs[k + (PAIRS > 2) * 2] = v.z;
    pairs[k + (PAIRS > 2) * 3] = v.w;
  }
}

template <int PAIRS> __device__ __forceinline__ void
store_pairs (void *to, const uint32_t (&pairs)[PAIRS])
{
  if (PAIRS == 2)
    *(uint2 *) to = make_uint2 (pairs[0], pairs[PAIRS > 1]);
#pragma unroll
  for (int k = 0; k + 3 < PAIRS; k += 4)
    ((uint4 *) to)[k / 4] = make_uint4 (
        pairs[k], pairs[k + (PAIRS > 1)], pairs[k + (PAIRS > 2) * 2], pairs[k + (PAIRS > 2) * 3]);
}

/* The same for sums in the volume. */
template <int PAIRS> __device__ __forceinline__ void
store_sums (uint16_t *to, const uint32_t (&sums)[PAIRS], Share share)
{
  if (PAIRS <= 8) {
    if (share.there)
      store_pairs (to, sums);
  } else
#pragma unroll
    for (int k = 0; k < PAIRS; k += 8)
      if (k ? share.second : share.there) {
        uint32_t half[8];
#pragma unroll
        for (int n = 0; n < 8; n++)
          half[n] = sums[k + n];
        store_pairs (to + 2 * k, half);
      }
}

}

#endif
