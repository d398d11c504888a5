/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sub-pixel offset of a left pixel, from the costs beside its index. */
#ifndef STEREO_CUDA_POST_SUBPIXEL_CUH
#define STEREO_CUDA_POST_SUBPIXEL_CUH

#include "cuda/common.cuh"

namespace
{

/* Two pairs of neighbouring costs of the volume, which contain those of @index and of its neighbours. At the ends of
 * the range there is nothing to fit, and nothing is read. */
static __device__ __forceinline__ uint2
load_pairs (const Frame &f, const uint16_t *column, int index)
{
  const uint32_t *pairs = (const uint32_t *) column + (index - 1) / 2;
  bool inner = index > 0 && index < f.disparities - 1;
  return inner ? make_uint2 (__ldg (pairs), __ldg (pairs + 1)) : make_uint2 (0, 0);
}

/* The offset; 0 if a neighbour does not exist. */
static __device__ __forceinline__ float
fit (uint2 pairs, int index)
{
  /* with an even index, the cost before it is in an upper half */
  uint32_t before = index % 2 ? pairs.x & 0xFFFF : pairs.x >> 16, lowest = index % 2 ? pairs.x >> 16 : pairs.y & 0xFFFF;
  uint32_t after = index % 2 ? pairs.y & 0xFFFF : pairs.y >> 16;

  return before == STEREO_INVALID || after == STEREO_INVALID ? 0.0f : stereo_equiangular (before, lowest, after);
}

}

#endif
