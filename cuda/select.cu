/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Winner-takes-all of both views (3.2.3) from one pass over the volume.
 *
 * A warp walks along a segment of a row, a column of the volume at a time, W neighbouring indices a lane: the more,
 * the less there is to do besides comparisons. A left pixel's candidates are then spread over the warp: its lowest
 * ones are reductions. A right pixel meets the next column at the next index, so its lowest ones so far wander from
 * register to register and from lane to lane, and leave behind the last index. The third lowest spares reselection
 * most of its searches. Costs go from global memory to registers, AHEAD columns before they are needed, and warps
 * wait for each other only at the end.
 *
 * A right pixel under way at the end of a segment has two parts: what it met there, in the registers of
 * that segment's warp, and what leaves the next segment's early, kept in shared memory. More indices than
 * a warp holds are taken in rounds, which merge through the maps.
 */
#include "cuda/common.cuh"

#define MAX_SEGMENTS 8
#define NO_KEY 0xFFFFFFFFu
#define ALL_LANES 0xFFFFFFFFu

/* Variants to time. */
#ifndef SELECT_WIDEST
#define SELECT_WIDEST 10        /* of 2, 4, 8 and 10 indices a lane */
#endif
#ifndef SELECT_AHEAD_4
#define SELECT_AHEAD_4 8        /* columns on their way; divides 8 */
#endif
#ifndef SELECT_AHEAD_8
#define SELECT_AHEAD_8 8        /* divides 8 */
#endif
#ifndef SELECT_AHEAD_10
#define SELECT_AHEAD_10 5       /* divides 10 */
#endif
#ifndef SELECT_WARPS_4
#define SELECT_WARPS_4 32
#endif
#ifndef SELECT_WARPS_8
#define SELECT_WARPS_8 16
#endif
#ifndef SELECT_WARPS_10
#define SELECT_WARPS_10 16
#endif
#ifndef SELECT_FMA
#define SELECT_FMA 7            /* what multiply-adds do: 1 least_beyond(), 2 and 8 maxima of meet(), 4 pass_on() */
#endif
#ifndef SELECT_SKIP
#define SELECT_SKIP 1           /* candidates left of the right image are not read */
#endif

/* What W indices a lane ask for. */
template <int W> struct Shape
{
  static const int PERIOD = W == 10 ? 10 : 8;   /* columns after which right pixels stand in the same registers */
  static const int AHEAD = W == 10 ? SELECT_AHEAD_10 : W == 8 ? SELECT_AHEAD_8 : SELECT_AHEAD_4;
  static const int GROUP = 32 / PERIOD * PERIOD; /* columns between two turns of storing, a lane each */
  static const int WARPS = W == 10 ? SELECT_WARPS_10 : W == 8 ? SELECT_WARPS_8 : SELECT_WARPS_4;
};

/* The three lowest keys (cost << 16 | index) seen: ties go to the smaller index. */
struct __align__ (16) Lowest
{
  uint32_t first, second, third;
};

static __device__ __forceinline__ void
meet (Lowest &l, uint32_t key)
{
  uint32_t above = max (l.first, key);
  l.third = min (l.third, max (l.second, above));
  l.second = min (l.second, above);
  l.first = min (l.first, key);
}

/*
 * Comparisons are what there is too much of, and the units for them are the ones for additions: some sums are made by
 * the multipliers, next to idle here. The factor is 1 (a block has one row of threads), which the compiler cannot know.
 */
template <bool MULTIPLIERS> static __device__ __forceinline__ uint32_t
sum (uint32_t a, uint32_t b)
{
  return MULTIPLIERS ? a * blockDim.y + b : a + b;
}

/* The greater one, where the lesser is known. */
template <bool MULTIPLIERS> static __device__ __forceinline__ uint32_t
greater (uint32_t a, uint32_t b, uint32_t lesser)
{
  return MULTIPLIERS ? sum<true> (a, b) - lesser * blockDim.y : max (a, b);
}

/* Two keys at once: fewer comparisons. */
static __device__ __forceinline__ void
meet (Lowest &l, uint32_t a, uint32_t b)
{
  uint32_t low = min (a, b), high = greater<(SELECT_FMA & 2) != 0> (a, b, low), first = min (l.first, low);
  l.third = min (min (l.third, max (l.first, high)), max (l.second, low));
  l.second = min (min (l.second, high), greater<(SELECT_FMA & 8) != 0> (l.first, low, first));
  l.first = first;
}

static __device__ __forceinline__ Lowest
merge (Lowest a, Lowest b)
{
  Lowest l = { min (a.first, b.first), min (max (a.first, b.first), min (a.second, b.second)),
    min (min (a.third, b.third), min (max (a.first, b.second), max (a.second, b.first))) };
  return l;
}

static __device__ __forceinline__ uint32_t
warp_min (uint32_t key)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync (ALL_LANES, key);
#else
  for (int away = 16; away; away /= 2)
    key = min (key, __shfl_xor_sync (ALL_LANES, key, away));
  return key;
#endif
}

/* Of both views' pixels: costs of first | second << 16, and of the third | its index << 16. */
struct CostMaps
{
  uint2 *view[2];
};

/* A round over up to 32 * W indices of a row. */
struct Round
{
  int from, indices;
  int last_lane;                /* that holds any of them */
  bool again;                   /* the maps hold what the rounds before found */
  size_t map;                   /* of the row */
};

static __device__ void
store_lowest (const Frame &f, const CostMaps &costs, int v, const Round &r, int x, Lowest l)
{
  const StereoView &view = f.view[v];
  size_t map = r.map + x;

  if (r.again) {
    uint2 before = costs.view[v][map];
    Lowest other = { before.x << 16 | view.first[map], (before.x & 0xFFFF0000u) | view.second[map],
      before.y << 16 | before.y >> 16 };
    l = merge (l, other);
  }
  bool some = l.first >> 16 != STEREO_INVALID, more = l.second >> 16 != STEREO_INVALID;
  view.first[map] = view.index[map] = some ? (uint16_t) l.first : (uint16_t) STEREO_INVALID;
  view.second[map] = more ? (uint16_t) l.second : (uint16_t) STEREO_INVALID;
  view.confidence[map] = more ? stereo_confidence (l.first >> 16, l.second >> 16) : 0.0f;
  costs.view[v][map] = make_uint2 (l.first >> 16 | (l.second & 0xFFFF0000u), l.third >> 16 | l.third << 16);
}

/* The right pixel that meets column @x at index @i. */
static __device__ __forceinline__ int
right_pixel (const Frame &f, int x, int i)
{
  return f.width - 1 - x + f.min_disparity + i;
}

/* Right pixels that no column meets in the first round. */
static __device__ void
blank_right (const Frame &f, const CostMaps &costs, const Round &r)
{
  Lowest none = { NO_KEY, NO_KEY, NO_KEY };
  for (int x = threadIdx.x; x < f.width; x += blockDim.x)
    if (x < right_pixel (f, f.width - 1, 0) || x > right_pixel (f, 0, r.indices - 1))
      store_lowest (f, costs, STEREO_RIGHT, r, x, none);
}

/* What a lane holds: W indices' costs of the columns ahead, and the right pixels that stand there. In column
 * k of PERIOD, the one that meets index j is right[(j - k) mod W]. */
template <int W> struct Lane
{
  uint32_t costs[Shape<W>::AHEAD][W / 2];
  Lowest right[W];
  uint32_t index;               /* the first one */

  __device__ __forceinline__ Lowest &
  meeting (int j, int k)
  {
    return right[(j - k + 2 * W + Shape<W>::PERIOD) % W];
  }
};

template <int W> static __device__ __forceinline__ void
load_costs (uint32_t (&to)[W / 2], const uint16_t *from)
{
  if (W == 8) {
    uint4 words = __ldcs ((const uint4 *) from);
    to[0] = words.x;
    to[1 % (W / 2)] = words.y;
    to[2 % (W / 2)] = words.z;
    to[3 % (W / 2)] = words.w;
  } else if (W == 4) {
    uint2 words = __ldcs ((const uint2 *) from);
    to[0] = words.x;
    to[1 % (W / 2)] = words.y;
  } else
#pragma unroll
    for (int j = 0; j < W / 2; j++)
      to[j] = __ldcs ((const uint32_t *) from + j);
}

/* Nothing to read: no candidates. */
template <int W> static __device__ __forceinline__ void
load_costs_before (uint32_t (&to)[W / 2], const uint16_t *from, bool there)
{
#pragma unroll
  for (int j = 0; j < W / 2; j++)
    to[j] = 0xFFFFFFFFu;
  if (there)
    load_costs<W> (to, from);
}

/* The keys of a column. */
template <int W> static __device__ __forceinline__ void
make_keys (uint32_t (&keys)[W], const uint32_t (&costs)[W / 2], uint32_t index)
{
#pragma unroll
  for (int j = 0; j < W; j += 2) {
    keys[j] = costs[j / 2] * 0x10000 + (index + j);     /* not where the other one is made */
    keys[j + 1] = __byte_perm (index + j + 1, costs[j / 2], 0x7610);
  }
}

template <int W> static __device__ __forceinline__ uint32_t
least_key (const uint32_t (&keys)[W])
{
  uint32_t least = keys[0];
#pragma unroll
  for (int j = 1; j < W; j++)
    least = min (least, keys[j]);
  return warp_min (least);
}

/* The least key of all lanes' beyond @bound, where there is one: what is not beyond wraps around to the top. */
template <int W> static __device__ __forceinline__ uint32_t
least_beyond (const uint32_t (&keys)[W], uint32_t bound)
{
  uint32_t away[W];
#pragma unroll
  for (int j = 0; j < W; j++)
    away[j] = sum<((SELECT_FMA & 1) && W > 2)> (keys[j], ~bound);
  return least_key<W> (away) + bound + 1;
}

/* A left pixel's. A key that several lanes hold counts once; a round has three and more. */
template <int W> static __device__ __forceinline__ Lowest
warp_lowest (const uint32_t (&keys)[W])
{
  Lowest l;
  l.first = least_key<W> (keys);
  l.second = least_beyond<W> (keys, l.first);
  l.third = least_beyond<W> (keys, l.second);
  return l;
}

/* On to the lane above, which goes on with it in the next column. */
static __device__ __forceinline__ void
pass_on (Lowest &l, bool lowest_lane)
{
  l.first = __shfl_up_sync (ALL_LANES, l.first, 1);
  l.second = __shfl_up_sync (ALL_LANES, l.second, 1);
  l.third = __shfl_up_sync (ALL_LANES, l.third, 1);
  if (SELECT_FMA & 4) {
    uint32_t factor = lowest_lane ? 0 : blockDim.y, fresh = lowest_lane ? NO_KEY : 0;
    l.first = l.first * factor + fresh;
    l.second = l.second * factor + fresh;
    l.third = l.third * factor + fresh;
  } else if (lowest_lane)
    l.first = l.second = l.third = NO_KEY;
}

/* PERIOD columns, by twos: a right pixel meets both, unless it leaves or enters the lane between them.
 * @next: the costs AHEAD columns on, of which those @from..@end - 1 are to be read (@EDGE: perhaps not all). Left
 * pixels and the right ones that leave go to @left and @right, in shared memory. */
template <int W, bool EDGE> static __device__ __forceinline__ void
walk (Lane<W> &l, const uint16_t *next, unsigned depth, int from, int end, bool leave, Lowest *left, Lowest *right)
{
  bool lowest_lane = threadIdx.x % 32 == 0;

#pragma unroll
  for (int k = 0; k < Shape<W>::PERIOD; k += 2) {
    uint32_t keys[2][W];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t (&costs)[W / 2] = l.costs[(k + h) % Shape<W>::AHEAD];
      make_keys<W> (keys[h], costs, l.index);
      if (EDGE)
        load_costs_before<W> (costs, next + (k + h) * depth, k + h >= from && k + h < end);
      else
        load_costs<W> (costs, next + (k + h) * depth);
      left[k + h] = warp_lowest<W> (keys[h]);
    }
    Lowest &last = l.meeting (W - 1, k), &before = l.meeting (W - 2, k);
    meet (last, keys[0][W - 1]);
    if (leave)
      right[k] = last;
    pass_on (last, lowest_lane);
#pragma unroll
    for (int j = 0; j < W - 1; j++)
      meet (l.meeting (j, k), keys[0][j], keys[1][j + 1]);
    meet (last, keys[1][0]);
    if (leave)
      right[k + 1] = before;
    pass_on (before, lowest_lane);
  }
}

/* Of a warp: its own place for a group's pixels, and of those that left early. */
template <int W> struct Shared
{
  Lowest left[Shape<W>::GROUP], right[Shape<W>::GROUP];
  Lowest early[32 * W];
};

/* A lane a column: right pixels that entered in the segment before wait in @early for their other part. */
template <int W> static __device__ __forceinline__ void
store_group (const Frame &f, const CostMaps &costs, const Round &r, Shared<W> &shared, int x, int since, int early)
{
  int lane = threadIdx.x % 32, right = right_pixel (f, x + lane, r.from + r.indices - 1);

  bool mine = Shape<W>::GROUP == 32 || lane < Shape<W>::GROUP;

  __syncwarp ();
  if (mine && x + lane < f.width)
    store_lowest (f, costs, STEREO_LEFT, r, x + lane, shared.left[lane]);
  if (mine && since + lane < early)
    shared.early[since + lane] = shared.right[lane];
  else if (mine && right >= 0 && right < f.width)
    store_lowest (f, costs, STEREO_RIGHT, r, right, shared.right[lane]);
  __syncwarp ();
}

/* In a round after the first, columns that have none of its candidates are left out before the others, where no
 * right pixel is under way yet. */
template <int W> static __device__ __forceinline__ int
first_column (const Frame &f, const Round &r, int x0, int x1)
{
  int first = max (r.from + f.min_disparity, 0) / Shape<W>::GROUP * Shape<W>::GROUP;
  return r.again && x0 == 0 ? min (first, x1) : x0;
}

/* The segment's columns @x0..@x1, in groups: columns past the image have no candidates. */
template <int W> static __device__ __forceinline__ void
walk_segment (const Frame &f, const CostMaps &costs, const Round &r, Shared<W> &shared, Lane<W> &l, int y, int x0,
    int x1)
{
  typedef Shape<W> S;
  int lane = threadIdx.x % 32, end = min (x1, f.width), early = x0 > 0 ? r.indices - 1 : 0;
  int first = first_column<W> (f, r, x0, x1);
  unsigned depth = f.depth;
  const uint16_t *next = f.volume + ((size_t) y * f.width + first) * depth + l.index;
  bool leave = lane == r.last_lane;
  /* the first columns that have candidates of this lane, and of all */
  int mine = SELECT_SKIP ? l.index + f.min_disparity : 0;
  int all = SELECT_SKIP ? r.from + r.indices - W + f.min_disparity : 0;

#pragma unroll
  for (int k = 0; k < S::AHEAD; k++)
    load_costs_before<W> (l.costs[k], next + k * depth, first + k >= mine && first + k < end);
#pragma unroll
  for (int j = 0; j < W; j++)
    l.right[j].first = l.right[j].second = l.right[j].third = NO_KEY;
  next += S::AHEAD * depth;
  for (int x = first; x < x1; x += S::GROUP) {
#pragma unroll 1
    for (int k = 0; k < S::GROUP; k += S::PERIOD) {
      int to_read = x + k + S::AHEAD;
      if (to_read >= all && to_read + S::PERIOD <= end)
        walk<W, false> (l, next, depth, 0, S::PERIOD, leave, shared.left + k, shared.right + k);
      else
        walk<W, true> (l, next, depth, mine - to_read, end - to_read, leave, shared.left + k, shared.right + k);
      next += S::PERIOD * depth;
    }
    store_group<W> (f, costs, r, shared, x, x - x0, early);
  }
}

/* Right pixels under way at the end @x1 of a segment: @other, of the segment after it, holds what they met
 * there, unless it is the @last. */
template <int W> static __device__ __forceinline__ void
store_rest (const Frame &f, const CostMaps &costs, const Round &r, Shared<W> &other, const Lane<W> &l, int x1,
    bool last)
{
  int lane = threadIdx.x % 32;

#pragma unroll
  for (int j = 0; j < W; j++) {
    int left = r.indices - 1 - (lane * W + j);  /* columns until it leaves */
    if (left >= 0 && left < r.indices - 1)
      other.early[left] = last ? l.right[j] : merge (other.early[left], l.right[j]);
  }
  __syncwarp ();
  for (int k = lane; k < r.indices - 1; k += 32) {
    int right = right_pixel (f, x1 + k, r.from + r.indices - 1);
    if (right >= 0 && right < f.width)
      store_lowest (f, costs, STEREO_RIGHT, r, right, other.early[k]);
  }
}

/* A round of a segment of @columns, a warp's, of which there are @segments in the row @y. */
template <int W> static __device__ __forceinline__ void
walk_round (const Frame &f, const CostMaps &costs, Round &r, uint4 *memory, int y, int columns)
{
  Shared<W> *shared = (Shared<W> *) memory;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, segments = blockDim.x / 32, x0 = warp * columns;
  bool last = warp + 1 == segments;
  Lane<W> l;

  r.indices = min (32 * W, f.depth - r.from);
  r.last_lane = r.indices / W - 1;
  l.index = r.from + min (lane, r.last_lane) * W;       /* what two lanes hold is as good as held once */
  walk_segment<W> (f, costs, r, shared[warp], l, y, x0, x0 + columns);
  __syncthreads ();
  store_rest<W> (f, costs, r, shared[last ? 0 : warp + 1], l, x0 + columns, last);
  __syncthreads ();
  r.from += 32 * W;
  r.again = true;
}

/* A block per row, a warp per segment of @columns, the last of which may reach past the image. The last round takes
 * fewer indices a lane where those are enough. */
template <int W> static __global__ void __launch_bounds__ (32 * MAX_SEGMENTS, Shape<W>::WARPS / MAX_SEGMENTS)
select_kernel (Frame f, CostMaps costs, int columns)
{
  extern __shared__ uint4 memory[];
  Round r = { 0, min (32 * W, f.depth), 0, false, (size_t) blockIdx.x * f.map_pitch };

  blank_right (f, costs, r);
  if (W == 10)
    for (; r.from < f.depth;)
      walk_round<W> (f, costs, r, memory, blockIdx.x, columns);
  else {
    while (f.depth - r.from > 16 * W)
      walk_round<W> (f, costs, r, memory, blockIdx.x, columns);
    if (W == 8 && f.depth - r.from > 64)
      walk_round<4> (f, costs, r, memory, blockIdx.x, columns);
    else if (f.depth > r.from)
      walk_round<2> (f, costs, r, memory, blockIdx.x, columns);
  }
}

/* Segments of whole groups, long enough that no right pixel meets three of them, and so many that all rows
 * run at once: a few rows in a second turn would take as long as all. */
template <int W> static StereoStatus
launch (StereoPlan *plan, StereoError *error)
{
  const int GROUP = Shape<W>::GROUP, WARPS = Shape<W>::WARPS;
  const CudaState *state = cuda_state (plan);
  CostMaps costs = { { (uint2 *) state->select_costs[0], (uint2 *) state->select_costs[1] } };
  int groups = (int) cuda_blocks (plan->width, GROUP);
  int rows = (int) cuda_blocks (plan->height, state->multiprocessors);  /* of a multiprocessor */
  int least = (int) cuda_blocks (plan->depth < 32 * W ? plan->depth : 32 * W, GROUP);
  int segments = rows * MAX_SEGMENTS <= WARPS ? MAX_SEGMENTS : rows <= WARPS ? WARPS / rows : 1;
  int each = (int) cuda_blocks (groups, segments);

  each = each > least ? each : least;
  segments = (int) cuda_blocks (groups, each);
  select_kernel<W> <<<plan->height, 32 * segments, segments * sizeof (Shared<W>), state->stream>>> (cuda_frame (plan),
      costs, each * GROUP);
  CUDA_LAUNCHED (plan, "select_kernel");
  return STEREO_OK;
}

static StereoStatus
select_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &state->select_costs[v], (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (uint2), error);
  return status;
}

/* All of a row's candidates in one round where that can be: each round merges its finds with the last one's. */
static StereoStatus
select_run (StereoPlan *plan, StereoError *error)
{
  if (plan->depth <= 64)
    return launch<2> (plan, error);
  if (plan->depth <= 128 || SELECT_WIDEST == 4)
    return launch<4> (plan, error);
  return SELECT_WIDEST == 10 && plan->depth % 320 == 0 ? launch<10> (plan, error) : launch<8> (plan, error);
}

extern const StereoStage stereo_cuda_select = { "select", select_prepare, select_run };
