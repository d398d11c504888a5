/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What paths over lists need that depends on no cost: where the tiles beside a tile have its groups, and where penalties are
 * halved. */
#include "cuda/lists/paths.cuh"

namespace
{

constexpr int THREADS = LIST_TILE * LIST_TILE;
constexpr int WARPS = 4; /* of link_kernel */
static_assert (LIST_WAYS * LIST_GROUPS == 32, "a lane a group of a way");

/* Whether the step to pixel (x, y) from (x + dx, y + dy) halves the penalties. */
static __device__ __forceinline__ bool
halves (const Frame &f, int x, int y, int dx, int dy, int step)
{
  const uint8_t *luma = f.view[STEREO_LEFT].luma;
  int from_x = x + dx, from_y = y + dy;

  if (x >= f.width || y >= f.height || from_x < 0 || from_x >= f.width || from_y < 0 || from_y >= f.height)
    return false;
  return stereo_path_steps (luma[(size_t) y * f.image_pitch + x], luma[(size_t) from_y * f.image_pitch + from_x], step);
}

/* The bits of a warp, which are those of two lines. */
static __device__ __forceinline__ void
store_lines (uint16_t *lines, bool bit)
{
  uint32_t both = __ballot_sync (LIST_LANES, bit);
  if (threadIdx.x % 32 == 0)
    ((uint32_t *) lines)[threadIdx.x / 32] = both;
}

/* Where the list of @groups has @group. */
static __device__ __forceinline__ uint32_t
place_of (const uint16_t *groups, int group)
{
  uint32_t place = LIST_NOWHERE;

#pragma unroll
  for (int k = LIST_GROUPS - 1; k >= 0; k--)
    place = groups[k] == group ? k : place;
  return place;
}

/* One group of the tile, for paths that come along @way. */
static __device__ __forceinline__ uint32_t
before_of (const Lists &lists, int column, int row, int way, int group)
{
  int from_column = column + (way == LIST_LEFT) - (way == LIST_RIGHT),
      from_row = row + (way == LIST_UP) - (way == LIST_DOWN);

  if (from_column < 0 || from_column >= lists.columns || from_row < 0 || from_row >= lists.rows ||
      group == STEREO_NO_GROUP)
    return LIST_NOWHERE * 0x111;
  const uint16_t *from = lists.groups + (size_t) (from_row * lists.columns + from_column) * LIST_GROUPS;
  return place_of (from, group) | place_of (from, group - 1) << 4 | place_of (from, group + 1) << 8;
}

static __device__ uint32_t
head_of (const Frame &f, const uint16_t *groups, int count, int column)
{
  uint32_t head = (uint32_t) count << LIST_COUNT_AT;
  int x0 = column * LIST_TILE, x1 = min (x0 + LIST_TILE, f.width) - 1;

  for (int k = 0; k <= LIST_GROUPS; k++)
    head |= k == 0 || k >= count || groups[k - 1] + 1 != groups[k] ? 1u << k : 0;
  if (groups[0] * STEREO_GROUP < stereo_first_index (x1, f.width, f.min_disparity) ||
      groups[count - 1] * STEREO_GROUP + STEREO_GROUP - 1 > stereo_last_index (x0, f.disparities, f.min_disparity))
    head |= LIST_EDGE;
  if (groups[count - 1] * STEREO_GROUP + STEREO_GROUP > f.disparities)
    head |= LIST_BEYOND;
  return head;
}

/* Block: a tile. A thread looks at a pixel of a row, and at one of a column, such that a warp has two lines of either. */
static __global__ void
__launch_bounds__ (THREADS) halved_kernel (const __grid_constant__ Frame f, const __grid_constant__ ListPaths p)
{
  int x0 = blockIdx.x * LIST_TILE, y0 = blockIdx.y * LIST_TILE;
  int along = threadIdx.x % LIST_TILE, line = threadIdx.x / LIST_TILE;
  ListLink *link = p.links + blockIdx.y * p.lists.columns + blockIdx.x;

  store_lines (link->halved[LIST_RIGHT], halves (f, x0 + along, y0 + line, -1, 0, p.penalty_step));
  store_lines (link->halved[LIST_LEFT], halves (f, x0 + along, y0 + line, 1, 0, p.penalty_step));
  store_lines (link->halved[LIST_DOWN], halves (f, x0 + line, y0 + along, 0, -1, p.penalty_step));
  store_lines (link->halved[LIST_UP], halves (f, x0 + line, y0 + along, 0, 1, p.penalty_step));
}

/* Warp: a tile, a lane a group of a way. */
static __global__ void __launch_bounds__ (32 * WARPS)
    link_kernel (const __grid_constant__ Frame f, const __grid_constant__ ListPaths p)
{
  int tile = blockIdx.x * WARPS + threadIdx.y, column = tile % p.lists.columns, row = tile / p.lists.columns;
  int way = threadIdx.x / LIST_GROUPS, g = threadIdx.x % LIST_GROUPS;

  if (row >= p.lists.rows)
    return;
  const uint16_t *groups = p.lists.groups + (size_t) tile * LIST_GROUPS;
  p.links[tile].before[way][g] = (uint16_t) before_of (p.lists, column, row, way, groups[g]);
  if (threadIdx.x == 0)
    p.links[tile].head = head_of (f, groups, count_groups (p.lists, tile), column);
}

}

StereoStatus
list_links (StereoPlan *plan, const ListPaths &paths, StereoError *error)
{
  cudaStream_t stream;
  StereoStatus status = cuda_begin_early (plan, &stream, error);

  if (status)
    return status;
  halved_kernel<<<dim3 (paths.lists.columns, paths.lists.rows), THREADS, 0, stream>>> (cuda_frame (plan), paths);
  CUDA_LAUNCHED (plan, "halved_kernel");
  if ((status = cuda_join (plan, error)))
    return status;
  unsigned blocks = cuda_blocks ((size_t) paths.lists.columns * paths.lists.rows, WARPS);
  link_kernel<<<blocks, dim3 (32, WARPS), 0, cuda_state (plan)->stream>>> (cuda_frame (plan), paths);
  CUDA_LAUNCHED (plan, "link_kernel");
  return STEREO_OK;
}
