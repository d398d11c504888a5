/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What paths over lists need that depends on no cost: where the tiles beside a tile have its groups, and where penalties are
 * lower. */
#include "cuda/lists/paths.cuh"

#include <algorithm>

namespace
{

constexpr int THREADS = LIST_TILE * LIST_TILE;
constexpr int WARPS = 4; /* of link_kernel */
static_assert (LIST_WAYS * LIST_GROUPS == 32, "a lane a group of a way");

/* Whether the step to pixel (x, y) from (x + dx, y + dy) lowers the penalties. */
static __device__ __forceinline__ bool
lowers (const Frame &f, int x, int y, int dx, int dy, int step)
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
__launch_bounds__ (THREADS) lowered_kernel (const __grid_constant__ Frame f, const __grid_constant__ ListPaths p)
{
  int x0 = blockIdx.x * LIST_TILE, y0 = blockIdx.y * LIST_TILE;
  int along = threadIdx.x % LIST_TILE, line = threadIdx.x / LIST_TILE;
  ListLink *link = p.links + blockIdx.y * p.lists.columns + blockIdx.x;

  store_lines (link->lowered[LIST_RIGHT], lowers (f, x0 + along, y0 + line, -1, 0, p.penalty_step));
  store_lines (link->lowered[LIST_LEFT], lowers (f, x0 + along, y0 + line, 1, 0, p.penalty_step));
  store_lines (link->lowered[LIST_DOWN], lowers (f, x0 + line, y0 + along, 0, -1, p.penalty_step));
  store_lines (link->lowered[LIST_UP], lowers (f, x0 + line, y0 + along, 0, 1, p.penalty_step));
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

static StereoStatus
list_links (StereoPlan *plan, const ListPaths &paths, StereoError *error)
{
  cudaStream_t stream;
  StereoStatus status = cuda_begin_early (plan, &stream, error);

  if (status)
    return status;
  lowered_kernel<<<dim3 (paths.lists.columns, paths.lists.rows), THREADS, 0, stream>>> (cuda_frame (plan), paths);
  CUDA_LAUNCHED (plan, "lowered_kernel");
  unsigned blocks = cuda_blocks ((size_t) paths.lists.columns * paths.lists.rows, WARPS);
  link_kernel<<<blocks, dim3 (32, WARPS), 0, cuda_state (plan)->stream>>> (cuda_frame (plan), paths);
  CUDA_LAUNCHED (plan, "link_kernel");
  return cuda_join (plan, error);
}

/* Paths over the candidates in the lists, four ways, and the winners of both views: the stage. ways.cu and winners.cu have its other
 * kernels. */

/* The finest level is done in bands of rows of tiles, a stretch of columns high: what paths add is kept of two of them, which run beside
 * each other. */
struct PathsContext
{
  ListLink *links;
  uint8_t *added[LIST_WAYS];
  int bands, rows; /* of tiles, of a band */
};

static size_t
tiles_of (const StereoPlan *plan)
{
  return (size_t) plan->lists.columns * (size_t) plan->lists.rows;
}

static StereoStatus
paths_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  PathsContext *context = (PathsContext *) data;
  size_t cells = (size_t) stereo_cells (plan->width) * (size_t) stereo_cells (plan->height);
  StereoStatus status = list_winners_prepare (plan, error);

  context->bands = plan->is_coarse || plan->single_stages ? 1 : stereo_stretches (0, plan->lists.rows);
  context->bands = context->bands > 2 ? context->bands : 1; /* two would be all that is kept */
  context->rows = context->bands == 1 ? plan->lists.rows : stereo_stretch_length (0, plan->lists.rows);
  size_t tiles = (size_t) plan->lists.columns * context->rows * std::min (context->bands, 2);
  if (!status)
    status = stereo_reserve_for (
        plan, STEREO_LIFE_COSTS, (void **) &context->links, tiles_of (plan), sizeof (ListLink), error);
  for (int k = 0; k < LIST_WAYS && !status; k++)
    status = stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &context->added[k], tiles, LIST_ADDED, error);
  if (!status && plan->params.confidence_measure == STEREO_CONFIDENCE_PROBABILITY)
    status = stereo_reserve (plan, (void **) &cuda_state (plan)->distinctness, cells, 1, error);
  return status;
}

static ListPaths
paths_of (const StereoPlan *plan, const PathsContext *context)
{
  const StereoParams *p = &plan->params;
  ListPaths paths = { lists_of (plan), context->links, {}, NULL, {}, {}, {}, {}, p->penalty_step, p->subpixel, 0, 0 };

  if (p->confidence_measure == STEREO_CONFIDENCE_PROBABILITY)
    paths.distinctness = cuda_state (plan)->distinctness;
  for (int k = 0; k < 2; k++) {
    int direction = k ? STEREO_PATH_VERTICAL : STEREO_PATH_SIDEWAYS;
    int small = stereo_plan_penalty (plan, direction, 0), large = stereo_plan_penalty (plan, direction, 1);
    paths.small[k] = 0x10001u * (uint32_t) small;
    paths.large[k] = 0x10001u * (uint32_t) large;
    paths.small_low[k] = 0x10001u * (uint32_t) (small / STEREO_LISTED_STEP_P1);
    paths.large_low[k] = 0x10001u * (uint32_t) (large / STEREO_LISTED_STEP_P2);
  }
  return paths;
}

static StereoStatus
paths_run (StereoPlan *plan, void *data, StereoError *error)
{
  const PathsContext *context = (const PathsContext *) data;
  ListPaths paths = paths_of (plan, context);
  cudaStream_t streams[2] = { cuda_state (plan)->stream, cuda_state (plan)->stream };
  StereoStatus status = list_links (plan, paths, error);

  if (!status && context->bands > 1)
    status = cuda_begin_late (plan, &streams[1], error);
  for (int band = 0; band < context->bands && !status; band++) {
    paths.first_row = band * context->rows;
    paths.end_row = std::min (paths.first_row + context->rows, plan->lists.rows);
    ptrdiff_t first = (ptrdiff_t) plan->lists.columns * (band % 2 * context->rows - paths.first_row);
    for (int k = 0; k < LIST_WAYS; k++)
      paths.added[k] = context->added[k] + first * (ptrdiff_t) LIST_ADDED;
    if (!(status = list_ways (plan, paths, streams[band % 2], error)))
      status = list_winners (plan, paths, streams[band % 2], error);
  }
  return status ? status : cuda_join (plan, error);
}

}

extern const StereoStage stereo_cuda_list_paths = {
  .name = "paths", .context_size = sizeof (PathsContext), .prepare = paths_prepare, .run = paths_run
};
