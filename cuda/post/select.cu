/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Winner takes all for both views (3.2.3), in one pass over the volume.
 *
 * A warp scans a segment of a row, one column of the volume at a time, with W indices a lane: the more indices, the
 * fewer instructions besides comparisons. A lane's indices are neighbours, or two runs of neighbours (see Shape). The
 * candidates of a left pixel are spread over the warp: its lowest keys are reductions. A right pixel has its next
 * candidate in the next column at the next index: its lowest keys so far move from register to register and from lane
 * to lane, and leave after the last index. Costs are loaded to registers AHEAD columns before they are needed; warps wait
 * for each other only at the end.
 *
 * A right pixel that has not left at the end of a segment has two parts: one in the registers of that segment's warp,
 * and one that leaves the next segment early and waits in shared memory. If there are more indices than a warp holds,
 * they are scanned in rounds, which merge their results in the maps.
 */
#include "cuda/lists.cuh"
#include "cuda/pick/lane.cuh"
#include "cuda/pick/maps.cuh"
#include "cuda/post/subpixel.cuh"

namespace
{

constexpr int MAX_SEGMENTS = 8;
constexpr int GROUP = 32; /* columns whose results are stored at once, a lane each */

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
constexpr int FEW_KEPT_WARPS = 32; /* the most that Turing can run */
#else
constexpr int FEW_KEPT_WARPS = 36;
#endif

/* Warps of a multiprocessor, as many as registers allow, and those of the blocks that they are counted in. */
template <int W, int RIGHT> constexpr int WARPS = W >= 8 ? 16 : W == 4 && RIGHT == 1 ? FEW_KEPT_WARPS : 32;
template <int W, int RIGHT> constexpr int BLOCK_WARPS = WARPS<W, RIGHT> == 36 ? 12 : 8;

/* A round over up to 32 * W indices of a row. */
struct Round
{
  int from, indices;
  int last_lane; /* where right pixels leave the warp */
  bool again;    /* the maps hold results of earlier rounds */
  size_t map;    /* first element of the row in the maps */
};

/* Shared memory of a warp: the pixels of a group, and right pixels that left early. With few indices a lane, so many warps have
 * columns under way that a cache no longer has what is beside a lowest cost: where one round has all indices, sub-pixel offsets
 * are found from the costs of PERIOD columns that are kept here. */
template <int W> struct Shared
{
  static const bool KEEPS = W <= 4;
  static const int KEPT = KEEPS ? PERIOD : 1; /* columns; column k of PERIOD is at k % KEPT */
  Lowest left[GROUP], right[GROUP];
  Lowest early[32 * W];
  uint32_t costs[KEPT][16 * W]; /* two a word, in the order of the indices */
  float offset[GROUP];
};

/* Whether offsets are found from Shared.costs. */
template <int W> static __device__ __forceinline__ bool
keeps_costs (const Frame &f, const Selection &found)
{
  return Shared<W>::KEEPS && f.depth <= 32 * W && found.offset;
}

/* Scans PERIOD columns, two at a time, those from @at on of a group. @next: the column AHEAD of them, number @x; columns before
 * @end are read. All candidates exist unless EDGE. Left pixels, and right pixels that leave, go to @shared; with @keeps, costs
 * too. */
template <int W, int RIGHT, bool EDGE> static __device__ __forceinline__ void
scan_columns (
    const Frame &f, Lane<W> &l, const uint16_t *next, int x, int end, bool leave, Shared<W> &shared, int at, bool keeps)
{
#pragma unroll
  for (int k = 0; k < PERIOD; k += 2) {
    uint32_t keys[2][W];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t (&costs)[W / 2] = l.costs[(k + h) % Shape<W>::AHEAD];
      make_keys<W> (keys[h], costs, l.index);
      if (keeps)
#pragma unroll
        for (int j = 0; j < W / 2; j++)
          shared.costs[(k + h) % Shared<W>::KEPT][threadIdx.x % 32 * (W / 2) + j] = costs[j];
      load_costs<W, EDGE> (f, l, costs, next + (k + h) * (unsigned) f.depth, x + k + h, end);
      shared.left[at + k + h] = warp_lowest<W> (keys[h]);
    }
    insert_columns<W, RIGHT> (l, keys, k, leave, shared.right + at + k);
  }
}

/* The sub-pixel offsets of PERIOD columns whose costs are kept, those from @at on of a group. */
template <int W> static __device__ __forceinline__ void
fit_columns (const Frame &f, Shared<W> &shared, int at)
{
  int lane = threadIdx.x % 32;

  __syncwarp ();
  if (lane < PERIOD) {
    uint32_t key = shared.left[at + lane].first;
    int index = (int) (key & 0xFFFF);
    bool inner = key >> 16 != STEREO_INVALID && index > 0 && index < f.disparities - 1;
    const uint32_t *pairs = shared.costs[lane % Shared<W>::KEPT] + max (index - 1, 0) / 2;
    shared.offset[at + lane] = inner ? fit (make_uint2 (pairs[0], pairs[1]), index) : 0.0f;
  }
  __syncwarp ();
}

/* Stores a group, a lane a column. Right pixels that entered in the segment before wait in @early for their other part.
 * Without @keeps the sub-pixel fit is done here because the costs beside the lowest one may still be in a cache. */
template <int W, int RIGHT> static __device__ __forceinline__ void
store_group (const Frame &f, const Selection &found, const Round &r, Shared<W> &shared, int y, int x, int since,
    int early, bool keeps)
{
  int lane = threadIdx.x % 32, right = right_pixel (f, x + lane, r.from + r.indices - 1), first = 0;
  uint2 pairs = make_uint2 (0, 0);

  __syncwarp ();
  if (x + lane < f.width) {
    first = store_lowest<2> (f, found, STEREO_LEFT, r.map + x + lane, r.again, shared.left[lane]);
    if (found.offset && !keeps)
      pairs = load_pairs (f, f.volume + ((size_t) y * f.width + (x + lane)) * f.depth, first);
  }
  if (since + lane < early)
    shared.early[since + lane] = shared.right[lane];
  else if (right >= 0 && right < f.width)
    store_lowest<RIGHT> (f, found, STEREO_RIGHT, r.map + right, r.again, shared.right[lane]);
  if (found.offset && x + lane < f.width)
    found.offset[r.map + x + lane] = keeps ? shared.offset[lane] : fit (pairs, first);
  __syncwarp ();
}

/* Rounds after the first skip the first columns of a row as long as these have no candidates of the round: no right
 * pixel has entered yet. */
static __device__ __forceinline__ int
first_column (const Frame &f, const Round &r, int x0, int x1)
{
  int first = max (r.from + f.min_disparity, 0) / GROUP * GROUP;
  return r.again && x0 == 0 && !f.outside ? min (first, x1) : x0;
}

/* Scans the columns @x0..@x1 of a segment in groups. Columns past the image have no candidates. */
template <int W, int RIGHT> static __device__ __forceinline__ void
scan_segment (
    const Frame &f, const Selection &found, const Round &r, Shared<W> &shared, Lane<W> &l, int y, int x0, int x1)
{
  const int AHEAD = Shape<W>::AHEAD;
  int lane = threadIdx.x % 32, end = min (x1, f.width), early = x0 > 0 ? r.indices - 1 : 0;
  int first = first_column (f, r, x0, x1), full = Shape<W>::SKIP ? r.from + r.indices - 1 + f.min_disparity : 0;
  const uint16_t *next = f.volume + ((size_t) y * f.width + first) * f.depth;
  bool leave = lane == r.last_lane, keeps = keeps_costs<W> (f, found);

#pragma unroll
  for (int k = 0; k < AHEAD; k++)
    load_costs<W, true> (f, l, l.costs[k], next + k * f.depth, first + k, end);
#pragma unroll
  for (int j = 0; j < W; j++)
    l.right[j].first = l.right[j].second = NO_KEY;
  next += AHEAD * f.depth;
  for (int x = first; x < x1; x += GROUP) {
#pragma unroll 1
    for (int k = 0; k < GROUP; k += PERIOD) {
      int to_read = x + k + AHEAD;
      if (to_read >= full && to_read + PERIOD <= end)
        scan_columns<W, RIGHT, false> (f, l, next, to_read, end, leave, shared, k, keeps);
      else
        scan_columns<W, RIGHT, true> (f, l, next, to_read, end, leave, shared, k, keeps);
      if (keeps)
        fit_columns<W> (f, shared, k);
      next += PERIOD * f.depth;
    }
    store_group<W, RIGHT> (f, found, r, shared, y, x, x - x0, early, keeps);
  }
}

/* Stores the right pixels that have not left at the end @x1 of a segment. @other, of the next segment, holds their
 * other parts, unless this is the @last segment. */
template <int W, int RIGHT> static __device__ __forceinline__ void
store_rest (
    const Frame &f, const Selection &found, const Round &r, Shared<W> &other, const Lane<W> &l, int x1, bool last)
{
  int lane = threadIdx.x % 32;

#pragma unroll
  for (int j = 0; j < W; j++) {
    int left = r.indices - 1 - (Shape<W>::run (lane, j) + j % Shape<W>::FIRST); /* columns until it leaves */
    if (left >= 0 && left < r.indices - 1)
      other.early[left] = last ? l.right[j] : merge (other.early[left], l.right[j]);
  }
  __syncwarp ();
  for (int k = lane; k < r.indices - 1; k += 32) {
    int right = right_pixel (f, x1 + k, r.from + r.indices - 1);
    if (right >= 0 && right < f.width)
      store_lowest<RIGHT> (f, found, STEREO_RIGHT, r.map + right, r.again, other.early[k]);
  }
}

/* A round of the warp's segment of @columns columns of row @y. */
template <int W, int RIGHT> static __device__ __forceinline__ void
scan_round (const Frame &f, const Selection &found, Round &r, uint4 *memory, int y, int columns)
{
  Shared<W> *shared = (Shared<W> *) memory;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, segments = blockDim.x / 32, x0 = warp * columns;
  bool last = warp + 1 == segments;
  Lane<W> l;

  r.indices = min (32 * W, f.depth - r.from);
  r.last_lane = Shape<W>::last_lane (r.indices);
  /* lanes past the last index repeat it: a key counts once even if two lanes hold it */
  l.index[0] = r.from + Shape<W>::run (Shape<W>::SECOND ? lane : min (lane, r.last_lane), 0);
  l.index[1] = r.from + Shape<W>::run (max (lane, r.last_lane), W - 1);
  /* hides the range of the indices from the compiler, whose code for small numbers is slower */
  asm("" : "+r"(l.index[0]), "+r"(l.index[1]));
  scan_segment<W, RIGHT> (f, found, r, shared[warp], l, y, x0, x0 + columns);
  __syncthreads ();
  store_rest<W, RIGHT> (f, found, r, shared[last ? 0 : warp + 1], l, x0 + columns, last);
  __syncthreads ();
  r.from += 32 * W;
  r.again = true;
}

/* Block: a row; warp: a segment of @columns, the last of which may reach past the image. The last round has fewer
 * indices a lane where those are enough. Shared memory: see Shared. A lane loads up to 16 bytes of a column at a
 * time. */
template <int W, int RIGHT> static __global__ void __launch_bounds__ (32 * BLOCK_WARPS<W, RIGHT>,
    WARPS<W, RIGHT> / BLOCK_WARPS<W, RIGHT>) select_kernel (Frame f, Selection found, int columns)
{
  extern __shared__ uint4 memory[];
  int y = blockIdx.x;
  Round r = { 0, min (32 * W, f.depth), 0, false, (size_t) y * f.map_pitch };

  blank_right<RIGHT> (f, found, r.map, r.indices);
  if (W == 10)
    scan_round<W, RIGHT> (f, found, r, memory, y, columns);
  else {
    while (f.depth - r.from > 16 * W)
      scan_round<W, RIGHT> (f, found, r, memory, y, columns);
    if (W == 8 && f.depth - r.from > 64)
      scan_round<4, RIGHT> (f, found, r, memory, y, columns);
    else if (f.depth > r.from)
      scan_round<2, RIGHT> (f, found, r, memory, y, columns);
  }
}

/* Segments are whole groups, and so long that no right pixel is in three of them. There are as many as let all rows run
 * at once: a second wave of a few rows would take as long as the first. */
template <int W, int RIGHT> static StereoStatus
launch_kept (StereoPlan *plan, const Selection &found, StereoError *error)
{
  const int MOST = WARPS<W, RIGHT>;
  const CudaState *state = cuda_state (plan);
  int groups = (int) cuda_blocks (plan->width, GROUP);
  int rows = (int) cuda_blocks (plan->height, state->multiprocessors); /* of a multiprocessor */
  int least = (int) cuda_blocks (plan->depth < 32 * W ? plan->depth : 32 * W, GROUP);
  int segments = rows * MAX_SEGMENTS <= MOST ? MAX_SEGMENTS : rows <= MOST ? MOST / rows : 1;
  int each = (int) cuda_blocks (groups, segments);

  each = each > least ? each : least;
  segments = (int) cuda_blocks (groups, each);
  select_kernel<W, RIGHT><<<plan->height, 32 * segments, segments * sizeof (Shared<W>), state->stream>>> (
      cuda_frame (plan), found, each * GROUP);
  CUDA_LAUNCHED (plan, "select_kernel");
  return STEREO_OK;
}

template <int W> static StereoStatus
launch (StereoPlan *plan, Selection found, StereoError *error)
{
  if (plan->params.refine_iterations == 0 && plan->depth <= 32 * W) /* one round: there is nothing to merge */
    found.costs[0] = found.costs[1] = NULL;
  return plan->fusion.keeps_right ? launch_kept<W, 2> (plan, found, error) : launch_kept<W, 1> (plan, found, error);
}

static StereoStatus
select_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Selection *found = &cuda_state (plan)->selection;
  StereoLife life = plan->fusion.selector != STEREO_SELECTOR_SELECT ?
      (StereoLife) (STEREO_LIFE_PATHS | STEREO_LIFE_MAPS) :
      STEREO_LIFE_MAPS;
  StereoStatus status = STEREO_OK;

  if (plan->is_coarse)
    return STEREO_OK;
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve_for (plan, life, (void **) &found->costs[v],
        (size_t) plan->map_pitch * (size_t) plan->height, sizeof (uint32_t), error);
  for (int v = 0; v < 2 && !status && plan->params.refine_iterations > 1; v++)
    status = stereo_reserve_for (plan, life, (void **) &found->remembered[v],
        (size_t) plan->map_pitch * (size_t) plan->height, sizeof (uint32_t), error);
  if (!status && plan->params.subpixel)
    status = stereo_reserve_for (
        plan, life, (void **) &found->offset, (size_t) plan->map_pitch * (size_t) plan->height, sizeof (float), error);
  return status;
}

/* Takes all candidates of a row in one round where a warp can hold them. Some paths have selected already. Of a coarser level
 * only the left index is read. */
static StereoStatus
select_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Selection &found = cuda_state (plan)->selection;

  if (plan->fusion.selector != STEREO_SELECTOR_SELECT)
    return STEREO_OK;
  if (plan->is_coarse)
    return cuda_lowest (plan, plan->volume, plan->view[STEREO_LEFT].index, NULL, error);
  if (plan->depth <= 64)
    return launch<2> (plan, found, error);
  if (plan->depth <= 128)
    return launch<4> (plan, found, error);
  if (plan->depth <= 256 || plan->depth > 320)
    return launch<8> (plan, found, error);
  return launch<10> (plan, found, error);
}

}

extern const StereoStage stereo_cuda_select = { .name = "select", .prepare = select_prepare, .run = select_run };
