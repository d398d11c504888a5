/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two passes of support=left: see asw_left.cu. Each has a file. */
#ifndef STEREO_CUDA_ASW_LEFT_CUH
#define STEREO_CUDA_ASW_LEFT_CUH

#include "cuda/asw/banded.cuh"

/* Of left column or pixel @x: the indices of candidates that exist. */
struct Candidates
{
  int first, last;
};

__device__ __forceinline__ Candidates
candidates (const Frame &f, int x)
{
  return { stereo_first_index (x, f.width, f.min_disparity), stereo_last_index (x, f.disparities, f.min_disparity) };
}

__device__ __forceinline__ bool
has (const Candidates &c, int i)
{
  return i >= c.first && i <= c.last;
}

__device__ __forceinline__ bool
has_all (const Candidates &c, int base)
{
  return c.first <= base && c.last >= base + 8 * NT - 1;
}

__device__ __forceinline__ bool
has_none (const Candidates &c, int base)
{
  return c.last < base || c.first >= base + 8 * NT;
}

/* Where a line is so short that parts of the stage are never copied to: 0 times what they hold must be 0. */
__device__ __forceinline__ void
clear_stage (uint8_t *stage, int bytes, Copyists c)
{
  for (int e = 16 * c.thread; e < bytes; e += 16 * c.threads)
    *(uint4 *) (stage + e) = make_uint4 (0, 0, 0, 0);
  __syncthreads ();
}

/* How a pass is laid out: warps side by side on a line's disparities, @chunks blocks of them, @columns lines. */
struct Layout
{
  int warps, chunks, columns;
};

static inline Layout
layout_of (const StereoPlan *plan, int most_warps)
{
  int warps = (plan->depth + 8 * NT - 1) / (8 * NT), chunks = (warps + most_warps - 1) / most_warps;
  return { (warps + chunks - 1) / chunks, chunks, 1 };
}

StereoStatus asw_left_columns_prepare (StereoPlan *plan, void *context, StereoError *error);
StereoStatus asw_left_columns (StereoPlan *plan, StereoError *error);
StereoStatus asw_left_rows (StereoPlan *plan, StereoError *error);

/* Whether windows reach 5 tiles instead of 3. */
static inline bool
asw_left_wide (const StereoPlan *plan)
{
  return plan->params.window / 2 > TILE;
}

#endif
