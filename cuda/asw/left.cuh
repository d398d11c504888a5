/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two passes of support=left, each in a file of its own: see left.cu. */
#ifndef STEREO_CUDA_ASW_LEFT_CUH
#define STEREO_CUDA_ASW_LEFT_CUH

#include "cuda/asw/banded.cuh"

#include <algorithm>

/* Scratch memory and launch settings of the stage. */
struct AswLeftContext
{
  uint8_t *records[2]; /* features of both views, column by column: see records.cuh */
  uint32_t *color;     /* what weights compare of the left view, in the same order */
  int strip;           /* of the first pass, tiles */
};

/* Costs as paths read them, in place of the volume, which need not be written and read for that alone: what stereo_path_cost()
 * needs, for two costs in a word. */
struct PathCosts
{
  uint8_t *costs;      /* [y][x][i]; NULL: no paths follow, or they read the volume */
  uint32_t most, half; /* steps that make the largest byte, or the largest that half can be added to; half a byte step */
  uint32_t kept;       /* bits of a byte: with a shift of more than 8, the other cost of a word comes near */
  int shift;
};

StereoStatus asw_left_columns_prepare (StereoPlan *plan, AswLeftContext *context, StereoError *error);
StereoStatus asw_left_columns (StereoPlan *plan, const AswLeftContext *context, StereoError *error);
StereoStatus asw_left_rows (StereoPlan *plan, StereoError *error);

namespace
{

/* The indices of candidates that exist, of a left column. */
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
  return c.first <= base && c.last >= base + WARP_INDICES - 1;
}

__device__ __forceinline__ bool
has_none (const Candidates &c, int base)
{
  return c.last < base || c.first >= base + WARP_INDICES;
}

/* Clears shared memory that a short line never writes: 0 times any of its values must be 0, and not NaN. */
__device__ __forceinline__ void
clear_stage (uint8_t *stage, int bytes, CopyThreads c)
{
  for (int e = 16 * c.thread; e < bytes; e += 16 * c.threads)
    *(uint4 *) (stage + e) = make_uint4 (0, 0, 0, 0);
  __syncthreads ();
}

/* Shifts that give 0 for 32 and more. */
__device__ __forceinline__ uint32_t
shift_left (uint32_t a, int bits)
{
  uint32_t b;
  asm("shl.b32 %0, %1, %2;" : "=r"(b) : "r"(a), "r"(bits));
  return b;
}

__device__ __forceinline__ uint32_t
shift_right (uint32_t a, int bits)
{
  uint32_t b;
  asm("shr.u32 %0, %1, %2;" : "=r"(b) : "r"(a), "r"(bits));
  return b;
}

/* Half floats of four columns from @x on: 1 where the candidate of index @i exists, which is from column i + min on and
 * before column i + min + width, else 0. */
__device__ __forceinline__ void
four_existing (const Frame &f, int x, int i, uint32_t (&ones)[2])
{
  int before = i + f.min_disparity - x, after = 4 - (before + f.width);
#pragma unroll
  for (int h = 0; h < 2; h++)
    ones[h] = shift_left (0x3C003C00u, 16 * max (before - 2 * h, 0)) &
        shift_right (0x3C003C00u, 16 * max (after - 2 * (1 - h), 0));
}

/* Adding 2^23 leaves the rounded number in the low bits. */
__device__ __forceinline__ uint32_t
rounded_bits (float value, float scale)
{
  return __float_as_uint (fmaf (value, scale, 8388608.0f));
}

/* Four words of two costs in volume steps as eight bytes. */
__device__ __forceinline__ uint2
path_bytes (const PathCosts &p, uint4 steps)
{
  uint32_t words[4] = { steps.x, steps.y, steps.z, steps.w };
#pragma unroll
  for (int k = 0; k < 4; k++)
    words[k] = (__vminu2 (words[k], p.most) + p.half) >> p.shift & p.kept;
  return make_uint2 (__byte_perm (words[0], words[1], 0x6420), __byte_perm (words[2], words[3], 0x6420));
}

inline PathCosts
path_costs_of (const StereoPlan *plan, uint8_t *costs)
{
  uint32_t half = 1u << plan->path_shift >> 1, most = std::min (255u << plan->path_shift, 0xFFFFu - half);

  return { costs, 0x10001u * most, 0x10001u * half, 0x10001u * (0xFFFFu >> std::max (plan->path_shift, 8)),
    plan->path_shift };
}

/* How a pass is laid out: @warps of a block share the disparities of a line, @chunks blocks have all of them, and a
 * block has @columns lines. */
struct Layout
{
  int warps, chunks, columns;
};

inline Layout
layout_of (const StereoPlan *plan, int most_warps)
{
  int warps = (int) cuda_blocks (plan->depth, WARP_INDICES), chunks = (warps + most_warps - 1) / most_warps;
  return { (warps + chunks - 1) / chunks, chunks, 1 };
}

/* Tap tiles that windows reach: see banded.cuh. */
inline int
asw_tap_tiles (const StereoPlan *plan)
{
  int radius = plan->params.window / 2;
  return radius > TILE_PIXELS ? 5 : radius > TILE_PIXELS / 2 ? 3 : 2;
}

/* Tiles of a part of a line, such that a pass takes the least time: @slots blocks run at a time, @blocks have all of the
 * lines, and each part reads, or makes, @side tiles of either neighbour too. */
inline int
asw_left_strip (int tiles, int blocks, int slots, int side)
{
  int best = tiles;
  double least = 1e30;

  for (int strips = 1; strips <= tiles && strips <= 16; strips++) {
    int strip = (tiles + strips - 1) / strips;
    double time = ceil ((double) blocks * strips / (slots > 0 ? slots : 1)) * (strip + side + 0.5);
    if (time < least) {
      least = time;
      best = strip;
    }
  }
  return best;
}

}

#endif
