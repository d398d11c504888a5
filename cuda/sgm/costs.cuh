/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs as paths read them, written by the method before: the volume need not be written and read for that alone. */
#ifndef STEREO_CUDA_SGM_COSTS_CUH
#define STEREO_CUDA_SGM_COSTS_CUH

#include "cuda/common.cuh"

/* What stereo_path_cost() needs, for two costs in a word. */
struct PathCosts
{
  uint8_t *costs;      /* [y][x][i]; NULL: no paths follow, or they read the volume */
  uint32_t most, half; /* steps that make the largest byte; half a byte step */
  int shift;
};

/* stage.cu: where support=left writes costs for paths, in place of the volume. */
PathCosts sgm_path_costs (const StereoPlan *plan);

namespace
{

/* Four words of two costs in volume steps as eight bytes. */
__device__ __forceinline__ uint2
path_bytes (const PathCosts &p, uint4 steps)
{
  uint32_t words[4] = { steps.x, steps.y, steps.z, steps.w };
#pragma unroll
  for (int k = 0; k < 4; k++)
    words[k] = (__vminu2 (words[k], p.most) + p.half) >> p.shift;
  return make_uint2 (__byte_perm (words[0], words[1], 0x6420), __byte_perm (words[2], words[3], 0x6420));
}

}

#endif
