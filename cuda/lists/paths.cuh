/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths over the candidates in the lists: what the kernels of paths.cu, ways.cu and winners.cu share. */
#ifndef STEREO_CUDA_LISTS_PATHS_CUH
#define STEREO_CUDA_LISTS_PATHS_CUH

#include "cuda/lists.cuh"

/* Ways along which paths come: to the right, to the left, down, up. */
enum ListWay
{
  LIST_RIGHT,
  LIST_LEFT,
  LIST_DOWN,
  LIST_UP,
  LIST_WAYS
};

/* What does not depend on costs, of a tile. */
struct __align__ (16) ListLink
{
  /* For each line of the tile, a row or a column: bit k says that the step to pixel k lowers the penalties. */
  uint16_t lowered[LIST_WAYS][STEREO_TILE];
  /* Where the tile that a path comes from has each group, bits 0..3, the one below it, 4..7, and the one above it, 8..11; or
   * LIST_NOWHERE. */
  uint16_t before[LIST_WAYS][STEREO_TILE_GROUPS];
  uint32_t head; /* bits 0..8: no group, or a gap, lies before this one; from LIST_COUNT_AT: groups; LIST_EDGE, LIST_BEYOND */
};
constexpr int LIST_FEW = STEREO_TILE_GROUPS / 2; /* lane k of a pixel's has group k, in longer lists k + LIST_FEW too */
constexpr int LIST_NOWHERE = STEREO_TILE_GROUPS, LIST_COUNT_AT = 12;
constexpr uint32_t LIST_EDGE = 1u << 16;   /* some candidates of some pixels do not exist */
constexpr uint32_t LIST_BEYOND = 1u << 17; /* some are beyond the last disparity: the others are outside the other view */

/* What the paths work on. What paths add is packed: of a tile LIST_ADDED bytes of each way, [y][x], of a pixel LIST_FEW groups or
 * all. */
struct ListPaths
{
  Lists lists;
  ListLink *links;
  uint8_t *added[LIST_WAYS];
  uint8_t *distinctness;                                   /* of cells; NULL: nobody reads it */
  uint32_t small[2], large[2], small_low[2], large_low[2]; /* along rows, along columns; in both halves of a word */
  int penalty_step, subpixel;
  int first_row, end_row; /* a band's rows of tiles, which @added is for: it begins with the first tile of row 0 */
};
constexpr size_t LIST_ADDED = (size_t) STEREO_TILE * STEREO_TILE * STEREO_SLOTS;

StereoStatus list_ways (StereoPlan *plan, const ListPaths &paths, cudaStream_t stream, StereoError *error);
StereoStatus list_winners_prepare (StereoPlan *plan, StereoError *error);
StereoStatus list_winners (StereoPlan *plan, const ListPaths &paths, cudaStream_t stream, StereoError *error);

namespace
{

static __device__ __forceinline__ int
groups_in (uint32_t head)
{
  return (int) (head >> LIST_COUNT_AT & 15);
}

/* Bytes of a pixel in what paths add. */
static __device__ __forceinline__ int
added_pitch (bool many)
{
  return many ? LIST_SLOTS : LIST_SLOTS / 2;
}

static __device__ __forceinline__ bool
has_many (uint32_t head)
{
  return groups_in (head) > LIST_FEW;
}

/* All bits of the slots whose candidate does not exist, of two neighbouring indices in a word. */
static __device__ __forceinline__ uint32_t
outside_of (int index, int first, int last)
{
  return (index < first || index > last ? 0xFFFFu : 0) | (index + 1 < first || index + 1 > last ? 0xFFFF0000u : 0);
}

}

#endif
