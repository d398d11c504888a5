/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of a tile, as kernels read it: stereo/exact/lists.h says what it is. */
#ifndef STEREO_CUDA_LISTS_CUH
#define STEREO_CUDA_LISTS_CUH

#include "cuda/common.cuh"

/* The left view's candidate of the lowest cost in @volume, of equal ones the first, to @index, a map; what paths read of it to
 * @path_costs, which may be NULL. */
StereoStatus cuda_lowest (StereoPlan *plan, cudaStream_t stream, const uint16_t *volume, uint16_t *index,
    uint8_t *path_costs, StereoError *error);

namespace
{

constexpr int LIST_TILE = STEREO_TILE, LIST_GROUPS = STEREO_TILE_GROUPS, LIST_SLOTS = STEREO_SLOTS;
constexpr unsigned LIST_LANES = 0xFFFFFFFFu; /* all of a warp */
static_assert (LIST_TILE == 16 && LIST_GROUPS == 8 && STEREO_GROUP == 4, "vectors of groups, and of slots");

/* The lists of a plan, which kernels take by value. */
struct Lists
{
  int columns, rows;
  uint16_t *groups;
  uint8_t *costs;
  int chance;
};

static inline Lists
lists_of (const StereoPlan *plan)
{
  return { plan->lists.columns, plan->lists.rows, plan->lists.groups, plan->lists.costs, plan->lists.chance };
}

/* Groups in the list of tile @tile. */
static __device__ __forceinline__ int
count_groups (const Lists &lists, int tile)
{
  uint4 all = ((const uint4 *) lists.groups)[tile];
  uint32_t pairs[4] = { all.x, all.y, all.z, all.w };
  int count = 0;

#pragma unroll
  for (int k = 0; k < 4; k++)
    count += (pairs[k] & 0xFFFF) != STEREO_NO_GROUP ? (pairs[k] >> 16 != STEREO_NO_GROUP ? 2 : 1) : 0;
  return count;
}

/* The lower one of @best, a cost in the upper half and its index in the lower one, and of eight candidates from @index on, two a word;
 * those outside [first, last] do not count. */
static __device__ __forceinline__ uint32_t
lowest_of_eight (uint32_t best, const uint32_t (&words)[4], int index, int first, int last)
{
#pragma unroll
  for (int e = 0; e < 8; e++, index++) {
    uint32_t key = (e % 2 ? words[e / 2] & 0xFFFF0000u : words[e / 2] << 16) | (uint32_t) index;
    best = index >= first && index <= last ? min (best, key) : best;
  }
  return best;
}

/* Stores the index of the lowest @best of the LANES lanes that have pixel (x, y), if it has any candidate. */
template <int LANES> static __device__ __forceinline__ void
store_lowest (const Frame &f, uint32_t best, int x, int y, uint16_t *to)
{
#pragma unroll
  for (int away = 1; away < LANES; away *= 2)
    best = min (best, __shfl_xor_sync (LIST_LANES, best, away));
  if (threadIdx.x % LANES == 0 && x < f.width)
    to[(size_t) y * f.map_pitch + x] = best >> 16 == STEREO_INVALID ? (uint16_t) STEREO_INVALID : (uint16_t) best;
}

/* Pixel (x, y)'s costs. */
static __device__ __forceinline__ uint8_t *
list_costs (const Frame &f, const Lists &lists, int x, int y)
{
  return lists.costs + ((size_t) y * f.width + x) * LIST_SLOTS;
}

}

#endif
