/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two lowest of cost + penalty (3.2.3).
 *
 * Select left the three lowest costs. Any other candidate costs at least as much as the third, so that it is
 * among the two lowest only where third's cost + its penalty allow for it: near the expected disparity, if
 * anywhere. That decides most pixels. For the others a thread reads a few candidates around the expected
 * disparity, and what is open even then, the block searches together, some lanes a pixel.
 *
 * What that found is kept for the iterations after it: the two candidates, and a total that no other one was
 * below. Where the expected disparity has since moved by m, no total has come down by more than m's penalty,
 * and mostly m is 0 or little: the two are still the lowest.
 *
 * The last iteration (LAST) keeps nothing, and of the right view it leaves an index only: no second candidate matters
 * there, because nothing asks for a confidence of it any more.
 */
#include "cuda/post/reselect.cuh"
#include "cuda/post/select.cuh"

namespace
{

#define BLOCK_X 128
#define BLOCK_Y 4
#define PIXELS (BLOCK_X * BLOCK_Y)
#define THREADS (PIXELS / 2)
#define NEAR 4                  /* candidates read around the expected disparity */
#define SEARCHERS 4             /* lanes that search one pixel's candidates; divides 32 */
#define MORE_SEARCHERS 16       /* where that few are left that one turn is enough: sooner done */
#define AT_ONCE 8               /* candidates a searching lane reads before it looks at them */
#define SPARE 1                 /* candidates searched beyond either end, so that the result outlasts some move */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define BLOCKS 4                /* on a multiprocessor, what registers are shared out for: all that Turing takes */
#else
#define BLOCKS 6
#endif
#define REMEMBERED 0x80000000u  /* in a pixel's costs, where no index reaches: there is a memory, see memory_of() */
#define ALL_LANES 0xFFFFFFFFu

/* What select found: see there; what reselect did: see memory_of(). NULL: there is one iteration. */
struct KnownMaps
{
  uint2 *costs;
  uint4 *memory;
};

/* What is known of a pixel before the volume is read. */
template <typename Key> struct Known
{
  Key keys[3];
  int expected;
  uint32_t least;               /* cost of any other candidate */
};

/* One of which @from..@to are to be searched, beside @best of what lies elsewhere. */
template <typename Key> struct Wide
{
  Best<Key> best;
  int column, expected;         /* where its index 0 would stand in the block's rows */
  uint16_t from, to, pixel;
};

/* What a block knows of its pixels, row by row. */
struct Block
{
  const uint16_t *rows;         /* costs, from the block's first row on */
  int x, y, view, step;
  uint32_t alpha;
  float steps_per_cost;         /* of the expected disparity */
};

/* Elements of BLOCK_Y rows, and what candidates reach beside them, are counted in 32 bits. */
static_assert ((int64_t) (BLOCK_Y + 1) * STEREO_MAX_PITCH * STEREO_MAX_DISPARITIES <= INT32_MAX, "a block's rows");

/* The element of the block's rows where a pixel's index 0 would stand, in the image or beside it. */
static __device__ __forceinline__ int
column_of (const Frame &f, const Block &block, int pixel)
{
  int x = block.x + pixel % BLOCK_X;
  return (pixel / BLOCK_X * f.width + (block.view ? f.width - 1 - x + f.min_disparity : x)) * f.depth;
}

/* A pixel's cost at index @i, by 32 bits beside the rows: they hold less than that. */
static __device__ __forceinline__ uint32_t
cost_at (const Block &block, int column, int i)
{
  return __ldg (block.rows + (uint32_t) (column + i * block.step));
}

static __device__ __forceinline__ size_t
map_of (const Frame &f, const Block &block, int pixel)
{
  return (size_t) (block.y + pixel / BLOCK_X) * f.map_pitch + (block.x + pixel % BLOCK_X);
}

/* Whether the lowest candidate alone matters. */
template <bool LAST> static __device__ __forceinline__ bool
one_counts (const Block &block)
{
  return LAST && block.view;
}

/* What no other candidate may come up to. */
template <bool LAST, typename Key> static __device__ __forceinline__ Key
bound_of (const Block &block, const Best<Key> &b)
{
  return one_counts<LAST> (block) ? b.lowest : b.next;
}

/* Without an expected disparity costs alone count. */
template <typename Key> static __device__ __forceinline__ Known<Key>
known_of (const Block &block, uint2 costs, int first, int second, int expected)
{
  uint32_t alpha = expected == STEREO_EXPECT_NONE ? 0 : block.alpha;
  int third = (int) ((costs.y & ~REMEMBERED) >> 16);

  Key lowest = key_of<Key> (alpha, expected, costs.x & 0xFFFF, first);
  Key next = key_of<Key> (alpha, expected, costs.x >> 16, second);
  return { { lowest, next, key_of<Key> (alpha, expected, costs.y & 0xFFFF, third) }, expected, costs.y & 0xFFFF };
}

/* Whether the three lowest costs decide a pixel: no other candidate is in range. */
template <typename Key, bool LAST> static __device__ __forceinline__ bool
known_decide (const Frame &f, const Block &block, const Known<Key> &known, int x, Best<Key> &b)
{
  b = none_yet<Key> ();
  b.meet_two (known.keys[0]);
  b.meet_two (known.keys[1]);
  if (known.expected == STEREO_EXPECT_NONE || known.least == STEREO_INVALID)
    return true;
  b.meet_two (known.keys[2]);
  Range r = common (range_of (bound_of<LAST> (block, b), known.least, known.expected, block.steps_per_cost),
      valid_range (f, x));
  int unknown = r.to - r.from + 1;
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (index_of (known.keys[k]));
  return unknown <= 0;
}

/* Keeps a compiler from making a sum of its own run along with every one that a loop's turns take from @value. */
template <typename Value> static __device__ __forceinline__ void
one_counter (Value &value)
{
#ifdef __CUDA_ARCH__
  asm volatile ("" : "+r" (value));
#endif
}

/* An undecided pixel, by LANES lanes together. */
template <typename Key, int LANES> static __device__ __forceinline__ Best<Key>
search (const Block &block, const Wide<Key> &wide, bool there)
{
  int lane = threadIdx.x % LANES, i = wide.from + lane, to = there ? wide.to : -1, expected = wide.expected;
  int stride = LANES * block.step;
  uint32_t at = (uint32_t) (wide.column + i * block.step);      /* beside the rows, as in cost_at() */
  Best<Key> b = none_yet<Key> ();

#pragma unroll 1
  for (; i <= to; i += AT_ONCE * LANES, at += AT_ONCE * stride) {
    uint32_t costs[AT_ONCE];
    one_counter (at);
    one_counter (i);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      costs[k] = i + k * LANES <= to ? __ldg (block.rows + (at + k * stride)) : 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      Key key = key_of<Key> (block.alpha, expected, costs[k], i + k * LANES);
      b.meet_two (i + k * LANES <= to ? key : no_key<Key> ());
    }
  }
  b.least = b.next;
  if (there && lane == 0)
    b = merge (b, wide.best);
#pragma unroll
  for (int away = LANES / 2; away; away /= 2) {
    Best<Key> other = { __shfl_xor_sync (ALL_LANES, b.lowest, away), __shfl_xor_sync (ALL_LANES, b.next, away),
      __shfl_xor_sync (ALL_LANES, b.least, away) };
    b = merge (b, other);
  }
  return b;
}

/* All of a list, in turns. */
template <typename Key, int LANES> static __device__ __forceinline__ void
search_all (const Block &block, Wide<Key> *wide, int widened)
{
  int thread = threadIdx.x;

  /* all lanes of a warp take part in its last turn */
#pragma unroll 1
  for (int k = thread / LANES; k - thread % 32 / LANES < widened; k += THREADS / LANES) {
    Wide<Key> &w = wide[min (k, widened - 1)];
    Best<Key> b = search<Key, LANES> (block, w, k < widened);
    if (k < widened && thread % LANES == 0)
      w.best = b;
  }
}

/* A pixel that was open, and two candidates of it. */
template <typename Key, bool LAST> static __device__ __forceinline__ void
store_found (const Frame &f, const Block &block, const KnownMaps &maps, int pixel, int expected, const Best<Key> &b)
{
  const StereoView &view = f.view[block.view];
  size_t map = map_of (f, block, pixel);

  view.index[map] = (uint16_t) index_of (b.lowest);
  if (!one_counts<LAST> (block))
    view.confidence[map] = confidence_of<Key> (b.lowest, b.next);
  if (!LAST) {
    maps.memory[map] = memory_of (block.alpha, expected, b);
    atomicOr (&maps.costs[map].y, REMEMBERED);  /* waits for nothing */
  }
}

/* Two pixels from @map on: stores what is known of them. Bit k of the result: k is open, what was stored will
 * not last. */
template <typename Key, bool LAST> static __device__ __forceinline__ int
decide_pair (const Frame &f, const Block &block, const KnownMaps &maps, size_t map, int x)
{
  const StereoView &view = f.view[block.view];
  uint4 costs = *(const uint4 *) (maps.costs + map);
  uint32_t first = *(const uint32_t *) (view.first + map), second = *(const uint32_t *) (view.second + map);
  int2 expected = *(const int2 *) (view.expected + map);
  Known<Key> a = known_of<Key> (block, make_uint2 (costs.x, costs.y), first & 0xFFFF, second & 0xFFFF, expected.x);
  Known<Key> b = known_of<Key> (block, make_uint2 (costs.z, costs.w), first >> 16, second >> 16, expected.y);
  Best<Key> best[2];
  uint4 memory[2];
  bool open[2] = { !known_decide<Key, LAST> (f, block, a, x, best[0]),
    !known_decide<Key, LAST> (f, block, b, x + 1, best[1]) };
  bool recalled[2] = { open[0] && (costs.y & REMEMBERED), open[1] && (costs.w & REMEMBERED) };

#pragma unroll
  for (int k = 0; k < 2; k++)
    if (recalled[k])
      memory[k] = maps.memory[map + k];
#pragma unroll
  for (int k = 0; k < 2; k++)
    if (recalled[k])
      open[k] = !recall<Key> (block.alpha, k ? expected.y : expected.x, memory[k], one_counts<LAST> (block), best[k]);

  /* no second one, no confidence, and perhaps no first one */
  bool single[2] = { costs.x >> 16 == STEREO_INVALID, costs.z >> 16 == STEREO_INVALID };
  uint32_t index[2] = { single[0] ? first & 0xFFFF : index_of (best[0].lowest),
    single[1] ? first >> 16 : index_of (best[1].lowest) };
  float confidence[2] = { confidence_of<Key> (best[0].lowest, single[0] ? 0 : best[0].next),
    confidence_of<Key> (best[1].lowest, single[1] ? 0 : best[1].next) };
  if (x + 1 < f.width) {
    *(uint32_t *) (view.index + map) = index[0] | index[1] << 16;
    if (!one_counts<LAST> (block))
      *(float2 *) (view.confidence + map) = make_float2 (confidence[0], confidence[1]);
    return open[0] | open[1] << 1;
  }
  view.index[map] = (uint16_t) index[0];
  if (!one_counts<LAST> (block))
    view.confidence[map] = confidence[0];
  return open[0];
}

/* Adds a thread's open pixels to a list, in their order: neighbours then read the volume together. */
static __device__ __forceinline__ void
list_pair (int which, uint16_t *open, int *opened)
{
  uint32_t first = __ballot_sync (ALL_LANES, which & 1), second = __ballot_sync (ALL_LANES, which >> 1);
  uint32_t before = (1u << threadIdx.x % 32) - 1;
  int at = 0;

  if (threadIdx.x % 32 == 0 && (first | second))
    at = atomicAdd (opened, __popc (first) + __popc (second));
  at = __shfl_sync (ALL_LANES, at, 0) + __popc (first & before) + __popc (second & before);
  if (which & 1)
    open[at] = (uint16_t) (2 * threadIdx.x);
  if (which >> 1)
    open[at + (which & 1)] = (uint16_t) (2 * threadIdx.x + 1);
}

/* The same of one that is open. */
template <typename Key> static __device__ __forceinline__ Known<Key>
load_known (const Frame &f, const Block &block, const KnownMaps &maps, int pixel)
{
  const StereoView &view = f.view[block.view];
  size_t map = map_of (f, block, pixel);
  return known_of<Key> (block, maps.costs[map], view.first[map], view.second[map], view.expected[map]);
}

/* Reads some of the candidates in range of an open pixel, those around the expected disparity, which may decide it;
 * else what is left goes to the list @wide. */
template <typename Key, bool LAST> static __device__ __forceinline__ void
look_near (const Frame &f, const Block &block, const KnownMaps &maps, int pixel, Wide<Key> *wide, int *widened)
{
  Known<Key> known = load_known<Key> (f, block, maps, pixel);
  int expected = known.expected, column = column_of (f, block, pixel);
  Range valid = valid_range (f, block.x + pixel % BLOCK_X), r, near;
  Best<Key> b = none_yet<Key> ();

#pragma unroll
  for (int k = 0; k < 3; k++)
    b.meet_two (known.keys[k]);
  r = common (range_of (bound_of<LAST> (block, b), known.least, expected, block.steps_per_cost), valid);
  near.from = max (min ((expected >> 6) - (NEAR / 2 - 1), r.to - (NEAR - 1)), r.from);
  near.to = min (near.from + NEAR - 1, r.to);

  uint32_t costs[NEAR];
#pragma unroll
  for (int k = 0; k < NEAR; k++)
    costs[k] = cost_at (block, column, min (near.from + k, near.to));
  b = none_yet<Key> ();
#pragma unroll
  for (int k = 0; k < NEAR; k++) {
    Key key = key_of<Key> (block.alpha, expected, costs[k], near.from + k);
    b.meet (near.from + k <= near.to ? key : no_key<Key> ());
  }
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!near.holds (index_of (known.keys[k])))
      b.meet (known.keys[k]);
  r = common (range_of (bound_of<LAST> (block, b), known.least, expected, block.steps_per_cost), valid);
  int unknown = r.to - r.from + 1 - max (min (r.to, near.to) - max (r.from, near.from) + 1, 0);
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (index_of (known.keys[k])) && !near.holds (index_of (known.keys[k]));
  if (unknown <= 0) {
    b.least = min (b.least, least_beyond<Key> (block.alpha, expected, known.least, valid, near));
    store_found<Key, LAST> (f, block, maps, pixel, expected, b);
    return;
  }
  if (!LAST)
    r = { max (r.from - SPARE, valid.from), min (r.to + SPARE, valid.to) };
  b = none_yet<Key> ();
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!r.holds (index_of (known.keys[k])))
      b.meet (known.keys[k]);
  b.least = min (b.least, least_beyond<Key> (block.alpha, expected, known.least, valid, r));
  wide[atomicAdd (widened, 1)] = { b, column, expected, (uint16_t) r.from, (uint16_t) r.to, (uint16_t) pixel };
}

/*
 * A thread per pair of pixels; those it cannot decide go to a list, then a thread each reads a few costs of those,
 * and at last the block searches what is open still, some lanes a pixel. Blocks of the two views alternate, so that
 * both find a row's costs in the cache: left pixels read along a column of the volume, right ones along a
 * diagonal, of which neighbouring pixels read neighbouring elements one step later.
 */
template <typename Key, bool LAST> static __global__ void __launch_bounds__ (THREADS, BLOCKS)
reselect_kernel (Frame f, KnownMaps left, KnownMaps right, float steps_per_cost)
{
  __shared__ uint16_t open[PIXELS];
  __shared__ Wide<Key> wide[PIXELS];
  __shared__ int opened, widened;
  int v = blockIdx.x % 2, thread = threadIdx.x;
  KnownMaps maps = { v ? right.costs : left.costs, v ? right.memory : left.memory };
  Block block = { f.volume + (size_t) (blockIdx.y * BLOCK_Y) * f.width * f.depth, (int) (blockIdx.x / 2 * BLOCK_X),
    (int) (blockIdx.y * BLOCK_Y), v, v ? f.depth + 1 : 1, f.alpha, steps_per_cost };
  int x = block.x + 2 * thread % BLOCK_X;

#ifdef __CUDA_ARCH__
  asm volatile ("" : "+l" (block.rows));        /* one sum, not put together anew for every cost */
#endif
  if (thread == 0)
    opened = widened = 0;
  __syncthreads ();
  int which = 0;
  if (x < f.width && block.y + 2 * thread / BLOCK_X < f.height)
    which = decide_pair<Key, LAST> (f, block, maps, map_of (f, block, 2 * thread), x);
  list_pair (which, open, &opened);
  __syncthreads ();
#pragma unroll 1
  for (int k = thread; k < opened; k += THREADS)
    look_near<Key, LAST> (f, block, maps, open[k], wide, &widened);
  __syncthreads ();
  if (widened <= THREADS / MORE_SEARCHERS)
    search_all<Key, MORE_SEARCHERS> (block, wide, widened);
  else
    search_all<Key, SEARCHERS> (block, wide, widened);
  __syncthreads ();
#pragma unroll 1
  for (int k = thread; k < widened; k += THREADS)
    store_found<Key, LAST> (f, block, maps, wide[k].pixel, wide[k].expected, wide[k].best);
}

/* Penalties that leave room for an index in 32 bits: all but those of an alpha far beyond what is of use. */
static bool
keys_are_short (const StereoPlan *plan)
{
  uint64_t largest = STEREO_INVALID + (((uint64_t) plan->alpha * (uint64_t) plan->depth * STEREO_EXPECT_STEPS) >> 8);
  return largest < 1u << (32 - INDEX_BITS);
}

/* What one iteration finds for the next one: see memory_of(). */
struct ReselectContext
{
  uint4 *memory[2];             /* maps of both views */
};

static StereoStatus
reselect_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  ReselectContext *context = (ReselectContext *) data;
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &context->memory[v], (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (uint4), error);
  return status;
}

static KnownMaps
known_maps (const StereoPlan *plan, int view)
{
  const ReselectContext *before = (const ReselectContext *) cuda_context_of (plan, &stereo_cuda_reselect);
  return { cuda_selection (plan)->costs[view], before ? before->memory[view] : NULL };
}

/* Both stages read the memory of stereo_cuda_reselect, which a plan of one iteration does not have. */
template <bool LAST> static StereoStatus
reselect_run (StereoPlan *plan, void *data, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  dim3 grid (2 * cuda_blocks (plan->width, BLOCK_X), cuda_blocks (plan->height, BLOCK_Y));
  KnownMaps left = known_maps (plan, STEREO_LEFT), right = known_maps (plan, STEREO_RIGHT);
  /* rounded up by more than rounding of the product can lose; without penalties first and second stay */
  float steps = plan->alpha ? 256.0f / (float) plan->alpha * 1.000002f : 0.0f;

  if (keys_are_short (plan))
    reselect_kernel<uint32_t, LAST> <<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), left, right, steps);
  else
    reselect_kernel<uint64_t, LAST> <<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), left, right, steps);
  CUDA_LAUNCHED (plan, "reselect_kernel");
  return STEREO_OK;
}

/* One name, so that the times of both stages are added up. */
static const char name[] = "reselect";

}

extern const StereoStage stereo_cuda_reselect = { .name = name, .context_size = sizeof (ReselectContext),
  .prepare = reselect_prepare, .run = reselect_run<false> };
extern const StereoStage stereo_cuda_reselect_last = { .name = name, .run = reselect_run<true> };
