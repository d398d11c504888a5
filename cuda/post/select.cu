/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Winner-takes-all of both views (3.2.3) from one pass over the volume.
 *
 * A warp walks along a segment of a row, a column of the volume at a time, W indices a lane: the more, the less there
 * is to do besides comparisons. They are neighbours, or two runs of neighbours (see Shape). A left pixel's candidates
 * are then spread over the warp: its lowest ones are reductions. A right pixel meets the next column at the next index,
 * so its lowest ones so far wander from register to register and from lane to lane, and leave behind the last index.
 * The third lowest spares reselection most of its searches. Costs go from global memory to registers, AHEAD columns
 * before they are needed, and warps wait for each other only at the end.
 *
 * A right pixel under way at the end of a segment has two parts: what it met there, in the registers of
 * that segment's warp, and what leaves the next segment's early, kept in shared memory. More indices than
 * a warp holds are taken in rounds, which merge through the maps.
 */
#include "cuda/post/lowest.cuh"
#include "cuda/post/select.cuh"
#include "cuda/post/subpixel.cuh"

namespace
{

#define MAX_SEGMENTS 8
#define PERIOD 8                /* columns after which right pixels stand in the same registers again */
#define GROUP 32                /* columns between two turns of storing, a lane each */

/* W indices a lane: FIRST of them side by side, the lanes in order; and SECOND that go on from there, the lanes in
 * reverse order. */
template <int W> struct Shape
{
  static const int FIRST = W == 10 ? 8 : W, SECOND = W - FIRST;
  static const int AHEAD = W == 10 ? 4 : 8;     /* columns on their way */
  static const int WARPS = W >= 8 ? 16 : 32;    /* of a multiprocessor: what registers allow for */
  static const bool SKIP = W >= 8;      /* candidates left of the right image are not read: with few, asking costs more */

  /* The first index of a lane's run that register @j belongs to, from the round's first one. */
  static __device__ __forceinline__ int
  run (int lane, int j)
  {
    return j < FIRST ? lane * FIRST : 32 * FIRST + (31 - lane) * SECOND;
  }

  /* The lane where right pixels leave. */
  static __device__ __forceinline__ int
  last_lane (int indices)
  {
    return SECOND ? 32 - (indices - 32 * FIRST) / (SECOND ? SECOND : 1) : indices / FIRST - 1;
  }
};

/* A round over up to 32 * W indices of a row. */
struct Round
{
  int from, indices;
  int last_lane;                /* where right pixels leave */
  bool again;                   /* the maps hold what the rounds before found */
  size_t map;                   /* of the row */
};

/* Hands back the first index. */
static __device__ int
store_lowest (const Frame &f, const Selection &found, int v, const Round &r, int x, Lowest l)
{
  const StereoView &view = f.view[v];
  size_t map = r.map + x;

  if (r.again) {
    uint2 before = found.costs[v][map];
    Lowest other = { before.x << 16 | view.first[map], (before.x & 0xFFFF0000u) | view.second[map],
      before.y << 16 | before.y >> 16 };
    l = merge (l, other);
  }
  bool some = l.first >> 16 != STEREO_INVALID, more = l.second >> 16 != STEREO_INVALID;
  view.first[map] = view.index[map] = some ? (uint16_t) l.first : (uint16_t) STEREO_INVALID;
  view.second[map] = more ? (uint16_t) l.second : (uint16_t) STEREO_INVALID;
  view.confidence[map] = more ? stereo_confidence (l.first >> 16, l.second >> 16) : 0.0f;
  found.costs[v][map] = make_uint2 (l.first >> 16 | (l.second & 0xFFFF0000u), l.third >> 16 | l.third << 16);
  return some ? (int) (l.first & 0xFFFF) : (int) STEREO_INVALID;
}

/* The right pixel that meets column @x at index @i. */
static __device__ __forceinline__ int
right_pixel (const Frame &f, int x, int i)
{
  return f.width - 1 - x + f.min_disparity + i;
}

/* Right pixels that no column meets in the first round. */
static __device__ void
blank_right (const Frame &f, const Selection &found, const Round &r)
{
  Lowest none = { NO_KEY, NO_KEY, NO_KEY };
  for (int x = threadIdx.x; x < f.width; x += blockDim.x)
    if (x < right_pixel (f, f.width - 1, 0) || x > right_pixel (f, 0, r.indices - 1))
      store_lowest (f, found, STEREO_RIGHT, r, x, none);
}

/* What a lane holds: W indices' costs of the columns ahead, and the right pixels that stand there. */
template <int W> struct Lane
{
  typedef Shape<W> S;
  uint32_t costs[S::AHEAD][W / 2];
  Lowest right[W];
  uint32_t index[2];            /* the first one of each run */

  /* The right pixel that meets register @j's index in column @k of PERIOD. */
  __device__ __forceinline__ Lowest &
  meeting (int j, int k)
  {
    return j < S::FIRST ? right[(j - k + PERIOD) % S::FIRST] :
        right[S::FIRST + (j - S::FIRST - k + PERIOD) % (S::SECOND ? S::SECOND : 1)];
  }
};

/* A run's; nothing to read: no candidates. */
template <int N> static __device__ __forceinline__ void
load_run (uint32_t *to, const uint16_t *from, bool there)
{
#pragma unroll
  for (int j = 0; j < N / 2; j++)
    to[j] = 0xFFFFFFFFu;
  if (there && N == 8) {
    uint4 words = __ldcs ((const uint4 *) from);
    to[0] = words.x;
    to[1 % (N / 2)] = words.y;
    to[2 % (N / 2)] = words.z;
    to[3 % (N / 2)] = words.w;
  } else if (there && N == 4) {
    uint2 words = __ldcs ((const uint2 *) from);
    to[0] = words.x;
    to[1 % (N / 2)] = words.y;
  } else if (there)
    to[0] = __ldcs ((const uint32_t *) from);
}

/* A lane's costs of column @x, which is @column: those left of the right image need not be read. */
template <int W, bool EDGE> static __device__ __forceinline__ void
load_costs (const Frame &f, Lane<W> &l, uint32_t (&to)[W / 2], const uint16_t *column, int x, int end)
{
  typedef Shape<W> S;
  int last = x - f.min_disparity;       /* index */
  load_run<S::FIRST> (to, column + l.index[0], !EDGE || ((!S::SKIP || (int) l.index[0] <= last) && x < end));
  if (S::SECOND)
    load_run<S::SECOND ? S::SECOND : 2> (to + S::FIRST / 2 % (W / 2), column + l.index[1],
        !EDGE || ((!S::SKIP || (int) l.index[1] <= last) && x < end));
}

/* The keys of a column. */
template <int W> static __device__ __forceinline__ void
make_keys (uint32_t (&keys)[W], const uint32_t (&costs)[W / 2], const uint32_t (&index)[2])
{
#pragma unroll
  for (int j = 0; j < W; j += 2) {
    uint32_t i = j < Shape<W>::FIRST ? index[0] + j : index[1] + (j - Shape<W>::FIRST);
    keys[j] = costs[j / 2] * 0x10000 + i;       /* not where the other one is made */
    keys[j + 1] = __byte_perm (i + 1, costs[j / 2], 0x7610);
  }
}

/* On to the lane above, which goes on with it in the next column; nothing comes to the lowest one. */
static __device__ __forceinline__ void
pass_up (uint32_t &a, bool lowest_lane)
{
  uint32_t below = __shfl_up_sync (ALL_LANES, a, 1);
  a = below * (lowest_lane ? 0 : blockDim.y) + (lowest_lane ? NO_KEY : 0);     /* see sum() */
}

/* The second run goes down, and on with what leaves the first. */
static __device__ __forceinline__ void
pass_down (uint32_t &b, uint32_t a, bool highest_lane)
{
  uint32_t above = __shfl_down_sync (ALL_LANES, b, 1);
  b = above * (highest_lane ? 0 : blockDim.y) + a * (highest_lane ? blockDim.y : 0);
}

/* What stands at the ends of a lane's runs in column @k. */
template <int W> static __device__ __forceinline__ void
pass_on (Lane<W> &l, int k)
{
  bool lowest_lane = threadIdx.x % 32 == 0, highest_lane = threadIdx.x % 32 == 31;
  Lowest &a = l.meeting (Shape<W>::FIRST - 1, k), &b = l.meeting (W - 1, k);

  if (Shape<W>::SECOND) {
    pass_down (b.first, a.first, highest_lane);
    pass_down (b.second, a.second, highest_lane);
    pass_down (b.third, a.third, highest_lane);
  }
  pass_up (a.first, lowest_lane);
  pass_up (a.second, lowest_lane);
  pass_up (a.third, lowest_lane);
}

/* Columns @x and @x + 1, the @k'th and the next of PERIOD: a right pixel meets both, unless it leaves or enters a run
 * between them. */
template <int W> static __device__ __forceinline__ void
meet_two (Lane<W> &l, const uint32_t (&keys)[2][W], int k, bool leave, Lowest *right)
{
  const int FIRST = Shape<W>::FIRST;

  meet (l.meeting (W - 1, k), keys[0][W - 1]);
  if (FIRST < W)
    meet (l.meeting (FIRST - 1, k), keys[0][FIRST - 1]);
  if (leave)
    right[0] = l.meeting (W - 1, k);
  pass_on<W> (l, k);
#pragma unroll
  for (int j = 0; j < W - 1; j++)
    if (j != FIRST - 1)
      meet (l.meeting (j, k), keys[0][j], keys[1][j + 1]);
  meet (l.meeting (0, k + 1), keys[1][0]);
  if (FIRST < W)
    meet (l.meeting (FIRST, k + 1), keys[1][FIRST % W]);
  if (leave)
    right[1] = l.meeting (W - 1, k + 1);
  pass_on<W> (l, k + 1);
}

/* PERIOD columns, by twos. @next: the column AHEAD of them, the @x'th; those before @end are read, and all candidates
 * exist unless @EDGE. Left pixels and the right ones that leave go to @left and @right, in shared memory. */
template <int W, bool EDGE> static __device__ __forceinline__ void
walk (const Frame &f, Lane<W> &l, const uint16_t *next, int x, int end, bool leave, Lowest *left, Lowest *right)
{
#pragma unroll
  for (int k = 0; k < PERIOD; k += 2) {
    uint32_t keys[2][W];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t (&costs)[W / 2] = l.costs[(k + h) % Shape<W>::AHEAD];
      make_keys<W> (keys[h], costs, l.index);
      load_costs<W, EDGE> (f, l, costs, next + (k + h) * (unsigned) f.depth, x + k + h, end);
      left[k + h] = warp_lowest<W> (keys[h]);
    }
    meet_two<W> (l, keys, k, leave, right + k);
  }
}

/* Of a warp: its own place for a group's pixels, and of those that left early. */
template <int W> struct Shared
{
  Lowest left[GROUP], right[GROUP];
  Lowest early[32 * W];
};

/* A lane a column: right pixels that entered in the segment before wait in @early for their other part. The costs
 * beside a left pixel's lowest one are still in the cache; later they would be a memory access a pixel. */
template <int W> static __device__ __forceinline__ void
store_group (const Frame &f, const Selection &found, const Round &r, Shared<W> &shared, int y, int x, int since,
    int early)
{
  int lane = threadIdx.x % 32, right = right_pixel (f, x + lane, r.from + r.indices - 1), first = 0;
  uint2 pairs = make_uint2 (0, 0);

  __syncwarp ();
  if (x + lane < f.width) {
    first = store_lowest (f, found, STEREO_LEFT, r, x + lane, shared.left[lane]);
    if (found.offset)
      pairs = load_pairs (f, f.volume + ((size_t) y * f.width + (x + lane)) * f.depth, first);
  }
  if (since + lane < early)
    shared.early[since + lane] = shared.right[lane];
  else if (right >= 0 && right < f.width)
    store_lowest (f, found, STEREO_RIGHT, r, right, shared.right[lane]);
  if (found.offset && x + lane < f.width)
    found.offset[r.map + x + lane] = fit (pairs, first);
  __syncwarp ();
}

/* In a round after the first, columns that have none of its candidates are left out before the others, where no
 * right pixel is under way yet. */
static __device__ __forceinline__ int
first_column (const Frame &f, const Round &r, int x0, int x1)
{
  int first = max (r.from + f.min_disparity, 0) / GROUP * GROUP;
  return r.again && x0 == 0 ? min (first, x1) : x0;
}

/* The segment's columns @x0..@x1, in groups: columns past the image have no candidates. */
template <int W> static __device__ __forceinline__ void
walk_segment (const Frame &f, const Selection &found, const Round &r, Shared<W> &shared, Lane<W> &l, int y, int x0,
    int x1)
{
  const int AHEAD = Shape<W>::AHEAD;
  int lane = threadIdx.x % 32, end = min (x1, f.width), early = x0 > 0 ? r.indices - 1 : 0;
  int first = first_column (f, r, x0, x1), full = Shape<W>::SKIP ? r.from + r.indices - 1 + f.min_disparity : 0;
  const uint16_t *next = f.volume + ((size_t) y * f.width + first) * f.depth;
  bool leave = lane == r.last_lane;

#pragma unroll
  for (int k = 0; k < AHEAD; k++)
    load_costs<W, true> (f, l, l.costs[k], next + k * f.depth, first + k, end);
#pragma unroll
  for (int j = 0; j < W; j++)
    l.right[j].first = l.right[j].second = l.right[j].third = NO_KEY;
  next += AHEAD * f.depth;
  for (int x = first; x < x1; x += GROUP) {
#pragma unroll 1
    for (int k = 0; k < GROUP; k += PERIOD) {
      int to_read = x + k + AHEAD;
      if (to_read >= full && to_read + PERIOD <= end)
        walk<W, false> (f, l, next, to_read, end, leave, shared.left + k, shared.right + k);
      else
        walk<W, true> (f, l, next, to_read, end, leave, shared.left + k, shared.right + k);
      next += PERIOD * f.depth;
    }
    store_group<W> (f, found, r, shared, y, x, x - x0, early);
  }
}

/* Right pixels under way at the end @x1 of a segment: @other, of the segment after it, holds what they met
 * there, unless it is the @last. */
template <int W> static __device__ __forceinline__ void
store_rest (const Frame &f, const Selection &found, const Round &r, Shared<W> &other, const Lane<W> &l, int x1,
    bool last)
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
      store_lowest (f, found, STEREO_RIGHT, r, right, other.early[k]);
  }
}

/* A round of a segment of @columns, a warp's, of which there are @segments in the row @y. */
template <int W> static __device__ __forceinline__ void
walk_round (const Frame &f, const Selection &found, Round &r, uint4 *memory, int y, int columns)
{
  Shared<W> *shared = (Shared<W> *) memory;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, segments = blockDim.x / 32, x0 = warp * columns;
  bool last = warp + 1 == segments;
  Lane<W> l;

  r.indices = min (32 * W, f.depth - r.from);
  r.last_lane = Shape<W>::last_lane (r.indices);
  /* what two lanes hold is as good as held once */
  l.index[0] = r.from + Shape<W>::run (Shape<W>::SECOND ? lane : min (lane, r.last_lane), 0);
  l.index[1] = r.from + Shape<W>::run (max (lane, r.last_lane), W - 1);
  /* how small they are the compiler need not know: it makes more of their bytes than there is to gain */
  asm ("" : "+r" (l.index[0]), "+r" (l.index[1]));
  walk_segment<W> (f, found, r, shared[warp], l, y, x0, x0 + columns);
  __syncthreads ();
  store_rest<W> (f, found, r, shared[last ? 0 : warp + 1], l, x0 + columns, last);
  __syncthreads ();
  r.from += 32 * W;
  r.again = true;
}

/* A block per row, a warp per segment of @columns, the last of which may reach past the image. The last round takes
 * fewer indices a lane where those are enough. */
template <int W> static __global__ void __launch_bounds__ (32 * MAX_SEGMENTS, Shape<W>::WARPS / MAX_SEGMENTS)
select_kernel (Frame f, Selection found, int columns)
{
  extern __shared__ uint4 memory[];
  int y = blockIdx.x;
  Round r = { 0, min (32 * W, f.depth), 0, false, (size_t) y * f.map_pitch };

  blank_right (f, found, r);
  if (W == 10)
    walk_round<W> (f, found, r, memory, y, columns);
  else {
    while (f.depth - r.from > 16 * W)
      walk_round<W> (f, found, r, memory, y, columns);
    if (W == 8 && f.depth - r.from > 64)
      walk_round<4> (f, found, r, memory, y, columns);
    else if (f.depth > r.from)
      walk_round<2> (f, found, r, memory, y, columns);
  }
}

/* Segments of whole groups, long enough that no right pixel meets three of them, and so many that all rows
 * run at once: a few rows in a second turn would take as long as all. */
template <int W> static StereoStatus
launch (StereoPlan *plan, const Selection &found, StereoError *error)
{
  const int WARPS = Shape<W>::WARPS;
  const CudaState *state = cuda_state (plan);
  int groups = (int) cuda_blocks (plan->width, GROUP);
  int rows = (int) cuda_blocks (plan->height, state->multiprocessors);  /* of a multiprocessor */
  int least = (int) cuda_blocks (plan->depth < 32 * W ? plan->depth : 32 * W, GROUP);
  int segments = rows * MAX_SEGMENTS <= WARPS ? MAX_SEGMENTS : rows <= WARPS ? WARPS / rows : 1;
  int each = (int) cuda_blocks (groups, segments);

  each = each > least ? each : least;
  segments = (int) cuda_blocks (groups, each);
  select_kernel<W> <<<plan->height, 32 * segments, segments * sizeof (Shared<W>), state->stream>>> (cuda_frame (plan),
      found, each * GROUP);
  CUDA_LAUNCHED (plan, "select_kernel");
  return STEREO_OK;
}

static StereoStatus
select_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Selection *found = (Selection *) context;
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &found->costs[v], (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (uint2), error);
  if (!status && plan->params.subpixel)
    status = stereo_reserve (plan, (void **) &found->offset, (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (float), error);
  return status;
}

/* All of a row's candidates in one round where that can be: each round merges its finds with the last one's. */
static StereoStatus
select_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Selection &found = *(const Selection *) context;

  if (plan->depth <= 64)
    return launch<2> (plan, found, error);
  if (plan->depth <= 128)
    return launch<4> (plan, found, error);
  if (plan->depth <= 256 || plan->depth > 320)
    return launch<8> (plan, found, error);
  return launch<10> (plan, found, error);
}

}

extern const StereoStage stereo_cuda_select = { .name = "select", .context_size = sizeof (Selection),
  .prepare = select_prepare, .run = select_run };
