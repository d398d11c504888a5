/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two lowest of cost + penalty (3.2.3), and the consistency of both views (3.2.4).
 *
 * Select left the three lowest costs. Any other candidate costs at least as much as the third, so that it is
 * among the two lowest only where third's cost + its penalty allow for it: near the expected disparity, if
 * anywhere. That decides most pixels. For the others a thread reads a few candidates around the expected
 * disparity, and what is open even then, the block searches together, some lanes a pixel.
 *
 * What that found is kept for the iterations after it: the two candidates, and a total that no other one was
 * below. Where the expected disparity has since moved by m, no total has come down by more than m's penalty,
 * and mostly m is 0 or little: the two are still the lowest.
 */
#include "cuda/common.cuh"

#include <limits.h>

#define BLOCK_X 64
#define BLOCK_Y 4
#define THREADS (BLOCK_X * BLOCK_Y)
#define NEAR 4                  /* candidates read around the expected disparity */
#ifndef SEARCHERS
#define SEARCHERS 4             /* lanes that search one pixel's candidates; divides 32 */
#endif
#ifndef AT_ONCE
#define AT_ONCE 4               /* candidates a searching lane reads before it looks at them */
#endif
#ifndef SPARE
#define SPARE 1                 /* candidates searched beyond either end, so that the result outlasts some move */
#endif
#define REMEMBERED 0x80000000u  /* in a pixel's costs, where no index reaches: there is a Memory of it */
#define INDEX_BITS 10           /* of up to 1024 disparities */
#define REACH_TOP 0x10000       /* farther than any candidate, in expected's steps */
#define ALL_LANES 0xFFFFFFFFu

/* What select found: see there; what reselect did: see remember(). NULL: no iteration follows. */
struct KnownMaps
{
  uint2 *costs;
  uint4 *memory;
};

/* Key: (cost + penalty) << INDEX_BITS | index, in 32 bits or, for a large alpha, in 64. Ties go to the smaller
 * index. */
template <typename Key> static __device__ __forceinline__ Key
no_key ()
{
  return (Key) ~(Key) 0;
}

template <typename Key> static __device__ __forceinline__ Key
key_of (uint32_t alpha, int expected, uint32_t cost, int index)
{
  return (Key) (cost + stereo_penalty (alpha, expected, index)) * (1 << INDEX_BITS) + (Key) index;
}

template <typename Key> struct Best
{
  Key lowest, next;
  Key least;                    /* no other candidate's is below it */

  __device__ __forceinline__ void
  meet (Key key)
  {
    least = min (least, max (next, key));
    next = min (next, max (lowest, key));
    lowest = min (lowest, key);
  }

  /* Cheaper; in the end, what is above next is not below it. */
  __device__ __forceinline__ void
  meet_two (Key key)
  {
    next = min (next, max (lowest, key));
    lowest = min (lowest, key);
  }
};

template <typename Key> static __device__ __forceinline__ Best<Key>
none_yet ()
{
  return { no_key<Key> (), no_key<Key> (), no_key<Key> () };
}

/* Of candidates that one of them has. */
template <typename Key> static __device__ __forceinline__ Best<Key>
merge (const Best<Key> &a, const Best<Key> &b)
{
  return { min (a.lowest, b.lowest), min (max (a.lowest, b.lowest), min (a.next, b.next)),
    min (min (a.least, b.least), min (max (a.lowest, b.next), max (a.next, b.lowest))) };
}

/* Indices @from..@to. */
struct Range
{
  int from, to;

  __device__ __forceinline__ bool
  holds (int index) const
  {
    return index >= from && index <= to;
  }
};

/* A pixel that is not decided yet. */
template <typename Key> struct Open
{
  Key known[3];
  int expected;
  uint16_t cost, thread;        /* the least of any other candidate; whose pixel */
};

/* One of which @from..@to are to be searched, beside @best of what lies elsewhere. */
template <typename Key> struct Wide
{
  Best<Key> best;
  int column, expected;         /* where its index 0 would stand in the block's rows */
  uint16_t from, to, thread;
};

/* What a block knows of its pixels. */
struct Block
{
  const uint16_t *rows;         /* costs, from the block's first row on */
  int x, y, view, step;
  uint32_t alpha;
  float steps_per_cost;         /* of the expected disparity */
};

template <typename Key> static __device__ __forceinline__ int
index_of (Key key)
{
  return (int) (key & ((1 << INDEX_BITS) - 1));
}

/* What candidates beyond @from..@to have at least, those that cost @cost or more. */
template <typename Key> static __device__ __forceinline__ Key
least_beyond (uint32_t alpha, int expected, uint32_t cost, Range valid, int from, int to)
{
  int before = from > valid.from ? max (expected - (from - 1) * STEREO_EXPECT_STEPS, 0) : INT_MAX;
  int after = to < valid.to ? max ((to + 1) * STEREO_EXPECT_STEPS - expected, 0) : INT_MAX;
  int away = min (before, after);
  return away == INT_MAX ? no_key<Key> () : (Key) (cost + ((alpha * (uint32_t) away) >> 8)) << INDEX_BITS;
}

/* Where candidates that cost at least @cost may have a total of no more than next's; perhaps a step more. */
template <typename Key> static __device__ __forceinline__ Range
range_of (const Best<Key> &b, uint32_t cost, int expected, float steps_per_cost)
{
  uint32_t next = (uint32_t) (b.next >> INDEX_BITS);
  int reach = (int) fminf ((float) (next + 1 - cost) * steps_per_cost, (float) REACH_TOP);
  Range r = { (expected - reach + STEREO_EXPECT_STEPS - 1) >> 6, (expected + reach) >> 6 };
  if (next < cost)
    r.to = -1;
  return r;
}

static __device__ __forceinline__ Range
valid_range (const Frame &f, int x)
{
  return { stereo_first_index (x, f.width, f.min_disparity), stereo_last_index (x, f.disparities, f.min_disparity) };
}

static __device__ __forceinline__ Range
common (Range a, Range b)
{
  return { max (a.from, b.from), min (a.to, b.to) };
}

/* The element of the block's rows where a pixel's index 0 would stand, in the image or beside it. */
static __device__ __forceinline__ int
column_of (const Frame &f, const Block &block, int thread)
{
  int x = block.x + thread % BLOCK_X;
  return (thread / BLOCK_X * f.width + (block.view ? f.width - 1 - x + f.min_disparity : x)) * f.depth;
}

/* The one @k steps on: in one multiplication. */
static __device__ __forceinline__ uint32_t
element (const uint16_t *at, unsigned k, unsigned step)
{
  return *(const uint16_t *) ((const char *) at + (size_t) k * (step * (unsigned) sizeof (uint16_t)));
}

/* Whether the three lowest costs decide a pixel: no other candidate is in range. */
template <typename Key> static __device__ __forceinline__ bool
known_decide (const Best<Key> &b, Range r, const Key (&known)[3])
{
  int unknown = r.to - r.from + 1;
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (index_of (known[k]));
  return unknown <= 0;
}

/* Reads some of the candidates in range, those around the expected disparity: true when they decide the pixel;
 * else @wide says what there is to search besides @b. */
template <typename Key> static __device__ __forceinline__ bool
near_decide (const Frame &f, const Block &block, const Open<Key> &o, Best<Key> &b, Wide<Key> &wide)
{
  Range valid = valid_range (f, block.x + o.thread % BLOCK_X), r, near;

  b = none_yet<Key> ();
#pragma unroll
  for (int k = 0; k < 3; k++)
    b.meet_two (o.known[k]);
  r = common (range_of (b, o.cost, o.expected, block.steps_per_cost), valid);
  near.from = max (min ((o.expected >> 6) - (NEAR / 2 - 1), r.to - (NEAR - 1)), r.from);
  near.to = min (near.from + NEAR - 1, r.to);

  int column = column_of (f, block, o.thread);
  const uint16_t *at = block.rows + (column + near.from * block.step);
  uint32_t costs[NEAR];
#pragma unroll
  for (int k = 0; k < NEAR; k++)
    costs[k] = element (at, (unsigned) min (k, near.to - near.from), block.step);
  b = none_yet<Key> ();
#pragma unroll
  for (int k = 0; k < NEAR; k++) {
    Key key = key_of<Key> (block.alpha, o.expected, costs[k], near.from + k);
    b.meet (near.from + k <= near.to ? key : no_key<Key> ());
  }
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!near.holds (index_of (o.known[k])))
      b.meet (o.known[k]);
  r = common (range_of (b, o.cost, o.expected, block.steps_per_cost), valid);
  int unknown = r.to - r.from + 1 - max (min (r.to, near.to) - max (r.from, near.from) + 1, 0);
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (index_of (o.known[k])) && !near.holds (index_of (o.known[k]));
  if (unknown <= 0) {
    b.least = min (b.least, least_beyond<Key> (block.alpha, o.expected, o.cost, valid, near.from, near.to));
    return true;
  }
  r = { max (r.from - SPARE, valid.from), min (r.to + SPARE, valid.to) };
  b = none_yet<Key> ();
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!r.holds (index_of (o.known[k])))
      b.meet (o.known[k]);
  b.least = min (b.least, least_beyond<Key> (block.alpha, o.expected, o.cost, valid, r.from, r.to));
  wide = { b, column, o.expected, (uint16_t) r.from, (uint16_t) r.to, o.thread };
  return false;
}

/* An undecided pixel, by SEARCHERS lanes together. */
template <typename Key> static __device__ __forceinline__ Best<Key>
search (const Block &block, const Wide<Key> &wide, bool there)
{
  int lane = threadIdx.x % SEARCHERS, to = there ? wide.to : -1, expected = wide.expected;
  Best<Key> b = none_yet<Key> ();
  const uint16_t *at = block.rows + (wide.column + (wide.from + lane) * block.step);

#pragma unroll 1
  for (int i = wide.from + lane; i <= to; i += AT_ONCE * SEARCHERS, at += AT_ONCE * SEARCHERS * block.step) {
    uint32_t costs[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      costs[k] = i + k * SEARCHERS <= to ? element (at, k * SEARCHERS, block.step) : 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      Key key = key_of<Key> (block.alpha, expected, costs[k], i + k * SEARCHERS);
      b.meet_two (i + k * SEARCHERS <= to ? key : no_key<Key> ());
    }
  }
  b.least = b.next;
  if (lane == 0)
    b = merge (b, wide.best);
#pragma unroll
  for (int away = SEARCHERS / 2; away; away /= 2) {
    Best<Key> other = { __shfl_xor_sync (ALL_LANES, b.lowest, away), __shfl_xor_sync (ALL_LANES, b.next, away),
      __shfl_xor_sync (ALL_LANES, b.least, away) };
    b = merge (b, other);
  }
  return b;
}

/* What an earlier iteration found of a pixel: true when that decides it. */
template <typename Key> static __device__ __forceinline__ bool
recall (uint32_t alpha, int expected, uint4 memory, Best<Key> &b)
{
  uint32_t move = (uint32_t) abs (expected - (int) memory.w);

  b = none_yet<Key> ();
  b.meet_two (key_of<Key> (alpha, expected, memory.x & 0xFFFF, (int) (memory.y & 0xFFFF)));
  b.meet_two (key_of<Key> (alpha, expected, memory.x >> 16, (int) (memory.y >> 16)));
  return move == 0 || (uint32_t) (b.next >> INDEX_BITS) + ((alpha * move) >> 8) + 1 < memory.z;
}

/* Two candidates' costs and indices, the least total of any other, and for which expected disparity. */
template <typename Key> static __device__ __forceinline__ uint4
memory_of (uint32_t alpha, int expected, const Best<Key> &b)
{
  int first = index_of (b.lowest), second = index_of (b.next);
  uint32_t cost1 = (uint32_t) (b.lowest >> INDEX_BITS) - stereo_penalty (alpha, expected, first);
  uint32_t cost2 = (uint32_t) (b.next >> INDEX_BITS) - stereo_penalty (alpha, expected, second);

  return make_uint4 (cost1 | cost2 << 16, (uint32_t) (first | second << 16), (uint32_t) (b.least >> INDEX_BITS),
      (uint32_t) expected);
}

/* Of a pixel that has two candidates. */
template <typename Key> static __device__ __forceinline__ void
store (const StereoView &view, size_t map, const Best<Key> &b)
{
  view.index[map] = (uint16_t) index_of (b.lowest);
  view.confidence[map] = stereo_confidence ((uint32_t) (b.lowest >> INDEX_BITS), (uint32_t) (b.next >> INDEX_BITS));
}

/* Of one that was open. */
template <typename Key> static __device__ __forceinline__ void
store_found (const Frame &f, const Block &block, const KnownMaps &maps, int thread, int expected, const Best<Key> &b)
{
  size_t map = (size_t) (block.y + thread / BLOCK_X) * f.map_pitch + (block.x + thread % BLOCK_X);

  store (f.view[block.view], map, b);
  if (maps.memory) {
    maps.memory[map] = memory_of (block.alpha, expected, b);
    ((uint32_t *) (maps.costs + map))[1] |= REMEMBERED;
  }
}

/* Stores what is known of a thread's own pixel: true when that decides it, else @o is what there is to find. */
template <typename Key> static __device__ __forceinline__ bool
known_decides (const Frame &f, const Block &block, const KnownMaps &maps, Open<Key> &o)
{
  const StereoView &view = f.view[block.view];
  int x = block.x + threadIdx.x % BLOCK_X;
  size_t map = (size_t) (block.y + threadIdx.x / BLOCK_X) * f.map_pitch + x;
  uint2 costs = maps.costs[map];
  int indices[3] = { view.first[map], view.second[map], (int) ((costs.y & ~REMEMBERED) >> 16) };
  uint32_t known[3] = { costs.x & 0xFFFF, costs.x >> 16, costs.y & 0xFFFF };
  Best<Key> b = none_yet<Key> ();

  if (known[1] == STEREO_INVALID) {     /* no second one, no confidence */
    view.index[map] = (uint16_t) indices[0];
    view.confidence[map] = 0.0f;
    return true;
  }
  o.expected = view.expected[map];
  o.cost = (uint16_t) known[2];
  o.thread = (uint16_t) threadIdx.x;
  uint32_t alpha = o.expected == STEREO_EXPECT_NONE ? 0 : block.alpha;
#pragma unroll
  for (int k = 0; k < 3; k++) {
    o.known[k] = key_of<Key> (alpha, o.expected, known[k], indices[k]);
    if (known[k] != STEREO_INVALID)
      b.meet_two (o.known[k]);
  }
  bool done = o.expected == STEREO_EXPECT_NONE || known[2] == STEREO_INVALID;
  if (!done)
    done = known_decide (b, common (range_of (b, o.cost, o.expected, block.steps_per_cost), valid_range (f, x)),
        o.known);
  if (!done && (costs.y & REMEMBERED))
    done = recall<Key> (alpha, o.expected, maps.memory[map], b);
  if (done)
    store (view, map, b);
  return done;
}

/*
 * A thread per pixel; those it cannot decide go to a list, then a thread each reads a few costs of those, and
 * at last the block searches what is open still, some lanes a pixel. Blocks of the two views alternate, so that
 * both find a row's costs in the cache: left pixels read along a column of the volume, right ones along a
 * diagonal, of which neighbouring pixels read neighbouring elements one step later.
 */
template <typename Key> static __global__ void __launch_bounds__ (THREADS)
reselect_kernel (Frame f, KnownMaps left, KnownMaps right, float steps_per_cost)
{
  __shared__ Open<Key> open[THREADS];
  __shared__ Wide<Key> wide[THREADS];
  __shared__ int opened, widened;
  int v = blockIdx.x % 2, thread = threadIdx.x;
  KnownMaps maps = { v ? right.costs : left.costs, v ? right.memory : left.memory };
  Block block = { f.volume + (size_t) (blockIdx.y * BLOCK_Y) * f.width * f.depth, (int) (blockIdx.x / 2 * BLOCK_X),
    (int) (blockIdx.y * BLOCK_Y), v, v ? f.depth + 1 : 1, f.alpha, steps_per_cost };

  if (thread == 0)
    opened = widened = 0;
  __syncthreads ();
  if (block.x + thread % BLOCK_X < f.width && block.y + thread / BLOCK_X < f.height) {
    Open<Key> o;
    if (!known_decides<Key> (f, block, maps, o))
      open[atomicAdd (&opened, 1)] = o;
  }
  __syncthreads ();
  if (thread < opened) {
    const Open<Key> &o = open[thread];
    Best<Key> b;
    Wide<Key> w;
    if (near_decide<Key> (f, block, o, b, w))
      store_found (f, block, maps, o.thread, o.expected, b);
    else
      wide[atomicAdd (&widened, 1)] = w;
  }
  __syncthreads ();
  /* all lanes of a warp take part in its last turn */
  for (int k = thread / SEARCHERS; k - thread % 32 / SEARCHERS < widened; k += THREADS / SEARCHERS) {
    const Wide<Key> &w = wide[min (k, widened - 1)];
    Best<Key> b = search<Key> (block, w, k < widened);
    if (k < widened && thread % SEARCHERS == 0)
      store_found (f, block, maps, w.thread, w.expected, b);
  }
}

/* A thread per pixel, a plane of the grid per view: each writes its own confidence and reads only indices
 * of the other. */
static __global__ void
check_kernel (Frame f, int consistency)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, view = blockIdx.z;

  if (x >= f.width || y >= f.height)
    return;
  size_t row = (size_t) y * f.map_pitch;
  int index = f.view[view].index[row + x];
  if (index == (int) STEREO_INVALID)
    return;
  int partner = f.width - 1 - x + f.min_disparity + index;
  if (abs (f.view[!view].index[row + partner] - index) > consistency)
    f.view[view].confidence[row + x] = 0;
}

/* Penalties that leave room for an index in 32 bits: all but those of an alpha far beyond what is of use. */
static bool
keys_are_short (const StereoPlan *plan)
{
  uint64_t largest = STEREO_INVALID + (((uint64_t) plan->alpha * (uint64_t) plan->depth * STEREO_EXPECT_STEPS) >> 8);
  return largest < 1u << (32 - INDEX_BITS);
}

/* Nothing is kept for an iteration that does not come. */
static StereoStatus
reselect_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status && plan->params.refine_iterations > 1; v++)
    status = stereo_reserve (plan, (void **) &state->reselect_memory[v], (size_t) plan->map_pitch *
        (size_t) plan->height, sizeof (uint4), error);
  return status;
}

static StereoStatus
reselect_run (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  dim3 grid (2 * cuda_blocks (plan->width, BLOCK_X), cuda_blocks (plan->height, BLOCK_Y));
  KnownMaps left = { (uint2 *) state->select_costs[0], state->reselect_memory[0] };
  KnownMaps right = { (uint2 *) state->select_costs[1], state->reselect_memory[1] };
  /* rounded up by more than what rounding of the product can lose; without penalties first and second stay */
  float steps_per_cost = plan->alpha ? 256.0f / (float) plan->alpha * 1.000002f : 0.0f;

  if (keys_are_short (plan))
    reselect_kernel<uint32_t> <<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), left, right, steps_per_cost);
  else
    reselect_kernel<uint64_t> <<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), left, right, steps_per_cost);
  CUDA_LAUNCHED (plan, "reselect_kernel");
  return STEREO_OK;
}

static StereoStatus
check_run (StereoPlan *plan, StereoError *error)
{
  dim3 block (32, 8), grid (cuda_blocks (plan->width, 32), cuda_blocks (plan->height, 8), 2);
  check_kernel <<<grid, block, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), plan->params.consistency);
  CUDA_LAUNCHED (plan, "check_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_reselect = { "reselect", reselect_prepare, reselect_run };
extern const StereoStage stereo_cuda_check = { "check", NULL, check_run };
