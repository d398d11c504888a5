/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection: the two lowest costs of a pixel, as keys that order ties, too. */
#include "cuda/common.cuh"
#include "cuda/lists.cuh"
#include "cuda/post/subpixel.cuh"

namespace
{

constexpr uint32_t NO_KEY = 0xFFFFFFFFu;
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* The lowest keys (cost << 16 | index) seen: ties go to the smaller index. If one is KEPT, the second stays NO_KEY. */
struct __align__ (8) Lowest
{
  uint32_t first, second;
};

template <int KEPT> static __device__ __forceinline__ void
insert_key (Lowest &l, uint32_t key)
{
  if (KEPT > 1)
    l.second = min (l.second, max (l.first, key));
  l.first = min (l.first, key);
}

/*
 * The kernel is bound by comparisons, which issue on the same units as additions. Some sums are made on the multipliers
 * instead, which are almost idle: a * 1 + b. The factor blockDim.y is 1, and the compiler does not know it.
 */
template <bool MULTIPLIERS> static __device__ __forceinline__ uint32_t
sum (uint32_t a, uint32_t b)
{
  return MULTIPLIERS ? a * blockDim.y + b : a + b;
}

/* The greater of two numbers whose lesser is known. */
static __device__ __forceinline__ uint32_t
greater (uint32_t a, uint32_t b, uint32_t lesser)
{
  return sum<true> (a, b) - lesser * blockDim.y;
}

/* Two keys at once take fewer comparisons. */
template <int KEPT> static __device__ __forceinline__ void
insert_two_keys (Lowest &l, uint32_t a, uint32_t b)
{
  uint32_t low = min (a, b), high = greater (a, b, low), first = min (l.first, low);
  if (KEPT > 1)
    l.second = min (min (l.second, high), max (l.first, low));
  l.first = first;
}

static __device__ __forceinline__ Lowest
merge (Lowest a, Lowest b)
{
  return { min (a.first, b.first), min (max (a.first, b.first), min (a.second, b.second)) };
}

/* ---- a left pixel: the lowest of W keys a lane, over all lanes ------------------------------------------------------ */

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

template <int W> static __device__ __forceinline__ uint32_t
least_key (const uint32_t (&keys)[W])
{
  uint32_t least = keys[0];
#pragma unroll
  for (int j = 1; j < W; j++)
    least = min (least, keys[j]);
  return warp_min (least);
}

/* The least key of all lanes above @bound: the difference of a key that is not above wraps around to a large number. */
template <int W> static __device__ __forceinline__ uint32_t
least_beyond (const uint32_t (&keys)[W], uint32_t bound)
{
  uint32_t away[W];
#pragma unroll
  for (int j = 0; j < W; j++)
    away[j] = sum<(W > 2)> (keys[j], ~bound);
  return least_key<W> (away) + bound + 1;
}

/* The two lowest keys of a left pixel. A key that several lanes hold counts once; a round has at least two keys. */
template <int W> static __device__ __forceinline__ Lowest
warp_lowest (const uint32_t (&keys)[W])
{
  uint32_t first = least_key<W> (keys);
  return { first, least_beyond<W> (keys, first) };
}

/* What a lane of selection holds: costs of the columns ahead, and the right pixels that pass through its registers. See
 * post/select.cu. */

constexpr int PERIOD = 8; /* columns after which a right pixel is in the same register again */

/* Columns that are being loaded, and whether candidates left of the right image are not read: with few indices the test costs more. */
constexpr int AHEAD = 8;
template <int W> constexpr bool SKIP = W >= 8;

/* The registers of a lane: costs of W neighbouring indices of the columns ahead, and the right pixels that are at these indices. */
template <int W> struct Lane
{
  uint32_t costs[AHEAD][W / 2];
  Lowest right[W];
  uint32_t index; /* the first one */

  /* The right pixel that is at the index of register @j in column @k of PERIOD. */
  __device__ __forceinline__ Lowest &
  pixel_at (int j, int k)
  {
    return right[(j - k + PERIOD) % W];
  }
};

/* Loads the costs of a lane; not @there: there are no candidates. */
template <int N> static __device__ __forceinline__ void
load_run (uint32_t *to, const uint16_t *from, bool there)
{
#pragma unroll
  for (int j = 0; j < N / 2; j++)
    to[j] = 0xFFFFFFFFu;
  if (there && N == 8) {
    uint4 words = *(const uint4 *) from;
    to[0] = words.x;
    to[1 % (N / 2)] = words.y;
    to[2 % (N / 2)] = words.z;
    to[3 % (N / 2)] = words.w;
  } else if (there && N == 4) {
    uint2 words = *(const uint2 *) from;
    to[0] = words.x;
    to[1 % (N / 2)] = words.y;
  } else if (there)
    to[0] = *(const uint32_t *) from;
}

/* Loads a lane's costs of column @x, at @column. With EDGE, candidates may be missing. */
template <int W, bool EDGE> static __device__ __forceinline__ void
load_costs (const Frame &f, Lane<W> &l, uint32_t (&to)[W / 2], const uint16_t *column, int x, int end)
{
  int last = f.outside ? f.depth : x - f.min_disparity; /* index */
  load_run<W> (to, column + l.index, !EDGE || ((!SKIP<W> || (int) l.index <= last) && x < end));
}

/* The keys of a column. */
template <int W> static __device__ __forceinline__ void
make_keys (uint32_t (&keys)[W], const uint32_t (&costs)[W / 2], uint32_t index)
{
#pragma unroll
  for (int j = 0; j < W; j += 2) {
    keys[j] = costs[j / 2] * 0x10000 + index + j; /* on other units than the next key */
    keys[j + 1] = __byte_perm (index + j + 1, costs[j / 2], 0x7610);
  }
}

/* Moves a key of a right pixel to the lane above, which continues with it in the next column. The lowest lane gets
 * none. */
static __device__ __forceinline__ void
pass_up (uint32_t &a, bool lowest_lane)
{
  uint32_t below = __shfl_up_sync (ALL_LANES, a, 1);
  a = below * (lowest_lane ? 0 : blockDim.y) + (lowest_lane ? NO_KEY : 0); /* see sum() */
}

/* Moves the right pixels at the ends of the lanes in column @k. */
template <int W, int KEPT> static __device__ __forceinline__ void
pass_on (Lane<W> &l, int k)
{
  bool lowest_lane = threadIdx.x % 32 == 0;
  Lowest &a = l.pixel_at (W - 1, k);

  pass_up (a.first, lowest_lane);
  if (KEPT > 1)
    pass_up (a.second, lowest_lane);
}

/* Columns @k and @k + 1 of PERIOD: a right pixel has a candidate in both, unless it leaves or enters a lane between
 * them. With @leave, the right pixels that leave the warp go to @right. */
template <int W, int KEPT> static __device__ __forceinline__ void
insert_columns (Lane<W> &l, const uint32_t (&keys)[2][W], int k, bool leave, Lowest *right)
{
  insert_key<KEPT> (l.pixel_at (W - 1, k), keys[0][W - 1]);
  if (leave)
    right[0] = l.pixel_at (W - 1, k);
  pass_on<W, KEPT> (l, k);
#pragma unroll
  for (int j = 0; j < W - 1; j++)
    insert_two_keys<KEPT> (l.pixel_at (j, k), keys[0][j], keys[1][j + 1]);
  insert_key<KEPT> (l.pixel_at (0, k + 1), keys[1][0]);
  if (leave)
    right[1] = l.pixel_at (W - 1, k + 1);
  pass_on<W, KEPT> (l, k + 1);
}

/* How selection leaves the lowest keys of pixels in the maps. */

/* The right pixel that is the partner of column @x at index @i. */
static __device__ __forceinline__ int
right_pixel (const Frame &f, int x, int i)
{
  return f.width - 1 - x + f.min_disparity + i;
}

/* Stores the lowest keys of a pixel, element @map of the maps; returns its first index. With @again the maps hold results of
 * other candidates, which are merged. Of one key KEPT there is no confidence. */
template <int KEPT> static __device__ int
store_lowest (const Frame &f, const Selection &found, int v, size_t map, bool again, Lowest l)
{
  const StereoView &view = f.view[v];

  if (again) {
    uint32_t before = found.costs[v][map];
    Lowest other = { before << 16 | view.first[map], (before & 0xFFFF0000u) | view.second[map] };
    l = merge (l, other);
  }
  bool some = l.first >> 16 != STEREO_INVALID, more = l.second >> 16 != STEREO_INVALID;
  view.first[map] = view.index[map] = some ? (uint16_t) l.first : (uint16_t) STEREO_INVALID;
  if (KEPT > 1) {
    view.second[map] = more ? (uint16_t) l.second : (uint16_t) STEREO_INVALID;
    view.confidence[map] = more ? stereo_confidence (l.first >> 16, l.second >> 16) : 0.0f;
  }
  if (found.costs[v])
    found.costs[v][map] = l.first >> 16 | (l.second & 0xFFFF0000u);
  return some ? (int) (l.first & 0xFFFF) : (int) STEREO_INVALID;
}

/* By a block: stores the right pixels of a row that are no column's partner at the first @indices. @row: of the maps. */
template <int KEPT> static __device__ void
blank_right (const Frame &f, const Selection &found, size_t row, int indices)
{
  Lowest none = { NO_KEY, NO_KEY };
  for (int x = threadIdx.x; x < f.width; x += blockDim.x)
    if (x < right_pixel (f, f.width - 1, 0) || x > right_pixel (f, 0, indices - 1))
      store_lowest<KEPT> (f, found, STEREO_RIGHT, row + x, false, none);
}

/*
 * Winner takes all for both views (3.2.3), in one pass over the volume.
 *
 * A warp scans a segment of a row, one column of the volume at a time, with W indices a lane: the more indices, the
 * fewer instructions besides comparisons. A lane's indices are neighbours. The
 * candidates of a left pixel are spread over the warp: its lowest keys are reductions. A right pixel has its next
 * candidate in the next column at the next index: its lowest keys so far move from register to register and from lane
 * to lane, and leave after the last index. Costs are loaded to registers AHEAD columns before they are needed; warps wait
 * for each other only at the end.
 *
 * A right pixel that has not left at the end of a segment has two parts: one in the registers of that segment's warp,
 * and one that leaves the next segment early and waits in shared memory. If there are more indices than a warp holds,
 * they are scanned in rounds, which merge their results in the maps.
 */

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
      uint32_t (&costs)[W / 2] = l.costs[(k + h) % AHEAD];
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
  int lane = threadIdx.x % 32, end = min (x1, f.width), early = x0 > 0 ? r.indices - 1 : 0;
  int first = first_column (f, r, x0, x1), full = SKIP<W> ? r.from + r.indices - 1 + f.min_disparity : 0;
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
    int left = r.indices - 1 - (lane * W + j); /* columns until it leaves */
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
  r.last_lane = r.indices / W - 1;
  /* lanes past the last index repeat it: a key counts once even if two lanes hold it */
  l.index = r.from + W * min (lane, r.last_lane);
  /* hides the range of the indices from the compiler, whose code for small numbers is slower */
  asm("" : "+r"(l.index));
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
  while (f.depth - r.from > 16 * W)
    scan_round<W, RIGHT> (f, found, r, memory, y, columns);
  if (W == 8 && f.depth - r.from > 64)
    scan_round<4, RIGHT> (f, found, r, memory, y, columns);
  else if (f.depth > r.from)
    scan_round<2, RIGHT> (f, found, r, memory, y, columns);
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
    return cuda_lowest (plan, cuda_state (plan)->stream, plan->volume, plan->view[STEREO_LEFT].index, NULL, error);
  if (plan->depth <= 64)
    return launch<2> (plan, found, error);
  if (plan->depth <= 128)
    return launch<4> (plan, found, error);
  return launch<8> (plan, found, error);
}

}

extern const StereoStage stereo_cuda_select = { .name = "select", .prepare = select_prepare, .run = select_run };
