/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Winner-takes-all of both views (3.2.3) from one pass over the volume.
 *
 * A warp walks along a segment of a row, a column of the volume at a time, W neighbouring indices a lane.
 * A left pixel's candidates are then spread over the warp: their lowest ones are a reduction. A right
 * pixel meets the next column at the next index, so its lowest ones so far wander from register to
 * register and from lane to lane, and leave behind the last index. The third lowest spares reselection most
 * of its searches. Costs go from global memory to registers, AHEAD columns before they are needed, and warps
 * wait for each other only at the end.
 *
 * A right pixel under way at the end of a segment has two parts: what it met there, in the registers of
 * that segment's warp, and what leaves the next segment's early, kept in shared memory. More indices than
 * a warp holds are taken in rounds, which merge through the maps.
 */
#include "cuda/common.cuh"

#define AHEAD 8                 /* a multiple of W */
#define GROUP 32                /* columns between two turns of storing, a lane each */
#define MAX_SEGMENTS 8
#define WARPS 32                /* of a multiprocessor: what registers allow for */
#define NO_KEY 0xFFFFFFFFu
#define ALL_LANES 0xFFFFFFFFu

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

/* Two keys at once: fewer comparisons. */
static __device__ __forceinline__ void
meet (Lowest &l, uint32_t a, uint32_t b)
{
  uint32_t low = min (a, b), high = max (a, b);
  l.third = min (min (l.third, max (l.first, high)), max (l.second, low));
  l.second = min (min (l.second, high), max (l.first, low));
  l.first = min (l.first, low);
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
 * k of AHEAD, the one that meets index j is right[(j - k) mod W]. */
template <int W> struct Lane
{
  uint32_t costs[AHEAD][W / 2];
  Lowest right[W];
  uint32_t index;               /* the first one */
};

template <int W> static __device__ __forceinline__ void
load_costs (uint32_t (&to)[W / 2], const uint16_t *from)
{
  if (W == 4) {
    uint2 words = __ldcs ((const uint2 *) from);
    to[0] = words.x;
    to[W / 2 - 1] = words.y;
  } else
    to[0] = __ldcs ((const uint32_t *) from);
}

/* Columns at and beyond the end have no candidates. */
template <int W> static __device__ __forceinline__ void
load_costs_before (uint32_t (&to)[W / 2], const uint16_t *from, bool there)
{
#pragma unroll
  for (int j = 0; j < W / 2; j++)
    to[j] = 0xFFFFFFFFu;
  if (there)
    load_costs<W> (to, from);
}

template <int W> static __device__ __forceinline__ Lowest
lowest_of (const uint32_t (&keys)[W])
{
  Lowest l = { min (keys[0], keys[1]), max (keys[0], keys[1]), NO_KEY };
  if (W == 4) {
    uint32_t low = min (keys[W - 2], keys[W - 1]), high = max (keys[W - 2], keys[W - 1]);
    uint32_t a = max (l.first, low), b = min (l.second, high);  /* the two in the middle */
    l = { min (l.first, low), min (a, b), max (a, b) };
  }
  return l;
}

/* Of all lanes'. A key that several lanes hold counts once. */
static __device__ __forceinline__ Lowest
warp_lowest (Lowest own)
{
  Lowest all;

  all.first = warp_min (own.first);
  bool mine = own.first == all.first;
  own.first = mine ? own.second : own.first;
  own.second = mine ? own.third : own.second;
  all.second = warp_min (own.first);
  all.third = warp_min (own.first == all.second ? own.second : own.first);
  return all;
}

/* The keys of one of AHEAD columns. */
template <int W> static __device__ __forceinline__ void
make_keys (uint32_t (&keys)[W], const uint32_t (&costs)[W / 2], uint32_t index)
{
#pragma unroll
  for (int j = 0; j < W; j += 2) {
    keys[j] = __byte_perm (index + j, costs[j / 2], 0x5410);
    keys[j + 1] = __byte_perm (index + j + 1, costs[j / 2], 0x7610);
  }
}

/* On to the lane above, which goes on with it in the next column. */
static __device__ __forceinline__ void
pass_on (Lowest &l, bool lowest_lane)
{
  l.first = __shfl_up_sync (ALL_LANES, l.first, 1);
  l.second = __shfl_up_sync (ALL_LANES, l.second, 1);
  l.third = __shfl_up_sync (ALL_LANES, l.third, 1);
  if (lowest_lane)
    l.first = l.second = l.third = NO_KEY;
}

/* AHEAD columns, by twos: a right pixel meets both, unless it leaves or enters the lane between them.
 * @next: the costs AHEAD columns on, of which @remaining exist (@EDGE: perhaps not all). Left pixels and
 * the right ones that leave go to @left and @right, in shared memory. */
template <int W, bool EDGE> static __device__ __forceinline__ void
walk (Lane<W> &l, const uint16_t *next, unsigned depth, int remaining, bool leave, Lowest *left, Lowest *right)
{
  bool lowest_lane = threadIdx.x % 32 == 0;

#pragma unroll
  for (int k = 0; k < AHEAD; k += 2) {
    uint32_t keys[2][W];
#pragma unroll
    for (int h = 0; h < 2; h++) {
      make_keys<W> (keys[h], l.costs[k + h], l.index);
      if (EDGE)
        load_costs_before<W> (l.costs[k + h], next + (k + h) * depth, k + h < remaining);
      else
        load_costs<W> (l.costs[k + h], next + (k + h) * depth);
      left[k + h] = warp_lowest (lowest_of<W> (keys[h]));
    }
    Lowest &last = l.right[(W - 1 - k) & (W - 1)], &before = l.right[(W - 2 - k) & (W - 1)];
    meet (last, keys[0][W - 1]);
    if (leave)
      right[k] = last;
    pass_on (last, lowest_lane);
#pragma unroll
    for (int j = 0; j < W - 1; j++)
      meet (l.right[(j - k) & (W - 1)], keys[0][j], keys[1][j + 1]);
    meet (last, keys[1][0]);
    if (leave)
      right[k + 1] = before;
    pass_on (before, lowest_lane);
  }
}

/* Of a warp: its own place for a group's pixels, and of those that left early. */
template <int W> struct Shared
{
  Lowest left[GROUP], right[GROUP];
  Lowest early[32 * W];
};

/* A lane a column: right pixels that entered in the segment before wait in @early for their other part. */
template <int W> static __device__ __forceinline__ void
store_group (const Frame &f, const CostMaps &costs, const Round &r, Shared<W> &shared, int x, int since, int early)
{
  int lane = threadIdx.x % 32, right = right_pixel (f, x + lane, r.from + r.indices - 1);

  __syncwarp ();
  if (x + lane < f.width)
    store_lowest (f, costs, STEREO_LEFT, r, x + lane, shared.left[lane]);
  if (since + lane < early)
    shared.early[since + lane] = shared.right[lane];
  else if (right >= 0 && right < f.width)
    store_lowest (f, costs, STEREO_RIGHT, r, right, shared.right[lane]);
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
walk_segment (const Frame &f, const CostMaps &costs, const Round &r, Shared<W> &shared, Lane<W> &l, int y, int x0,
    int x1)
{
  int lane = threadIdx.x % 32, end = min (x1, f.width), early = x0 > 0 ? r.indices - 1 : 0;
  int first = first_column (f, r, x0, x1);
  unsigned depth = f.depth;
  const uint16_t *next = f.volume + ((size_t) y * f.width + first) * depth + l.index;
  bool leave = lane == r.last_lane;

#pragma unroll
  for (int k = 0; k < AHEAD; k++)
    load_costs_before<W> (l.costs[k], next + k * depth, first + k < end);
#pragma unroll
  for (int j = 0; j < W; j++)
    l.right[j].first = l.right[j].second = l.right[j].third = NO_KEY;
  for (int x = first; x < x1; x += GROUP) {
#pragma unroll 1
    for (int k = 0; k < GROUP; k += AHEAD) {
      int remaining = end - (x + k + AHEAD);
      next += AHEAD * depth;
      if (remaining >= AHEAD)
        walk<W, false> (l, next, depth, remaining, leave, shared.left + k, shared.right + k);
      else
        walk<W, true> (l, next, depth, remaining, leave, shared.left + k, shared.right + k);
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
 * half as many indices a lane where those are enough. */
template <int W> static __global__ void __launch_bounds__ (32 * MAX_SEGMENTS, WARPS / MAX_SEGMENTS)
select_kernel (Frame f, CostMaps costs, int columns)
{
  extern __shared__ uint4 memory[];
  Round r = { 0, min (32 * W, f.depth), 0, false, (size_t) blockIdx.x * f.map_pitch };

  blank_right (f, costs, r);
  while (f.depth - r.from > 64)
    walk_round<W> (f, costs, r, memory, blockIdx.x, columns);
  if (r.from < f.depth)
    walk_round<2> (f, costs, r, memory, blockIdx.x, columns);
}

/* Segments of whole groups, long enough that no right pixel meets three of them, and so many that all rows
 * run at once: a few rows in a second turn would take as long as all. */
template <int W> static StereoStatus
launch (StereoPlan *plan, StereoError *error)
{
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

static StereoStatus
select_run (StereoPlan *plan, StereoError *error)
{
  return plan->depth <= 64 ? launch<2> (plan, error) : launch<4> (plan, error);
}

extern const StereoStage stereo_cuda_select = { "select", select_prepare, select_run };
