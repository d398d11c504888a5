/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Selection after a refinement. Candidates are keys that compare by cost + penalty; of a pixel there is a range of indices that may
 * hold one of the two lowest. Then what a block knows of its pixels, and its search through the candidates of the open ones.
 */
#include "cuda/common.cuh"

#include <limits.h>

namespace
{

constexpr int INDEX_BITS = 10;      /* of up to 1024 disparities */
constexpr int RADIUS_TOP = 0x10000; /* farther away than any candidate, in steps of the expected disparity */

/* Key: (cost + penalty) << INDEX_BITS | index, in 32 bits or, for a large alpha, in 64. Ties go to the smaller
 * index. */
template <typename Key> static __device__ __forceinline__ Key
no_key ()
{
  return (Key) ~(Key) 0;
}

/* stereo_penalty(); for short keys alpha times any distance fits an int. */
template <typename Key> static __device__ __forceinline__ uint32_t
penalty_of (uint32_t alpha, int expected, int index)
{
  if (sizeof (Key) > sizeof (uint32_t))
    return stereo_penalty (alpha, expected, index);
  return (uint32_t) abs ((int) (alpha * (uint32_t) (expected - index * STEREO_EXPECT_STEPS))) >> 8;
}

template <typename Key> static __device__ __forceinline__ Key
key_of (uint32_t alpha, int expected, uint32_t cost, int index)
{
  return (Key) (cost + penalty_of<Key> (alpha, expected, index)) * (1 << INDEX_BITS) + (Key) index;
}

template <typename Key> struct Best
{
  Key lowest, next;

  __device__ __forceinline__ void
  insert (Key key)
  {
    next = min (next, max (lowest, key));
    lowest = min (lowest, key);
  }
};

template <typename Key> static __device__ __forceinline__ Best<Key>
none_yet ()
{
  return { no_key<Key> (), no_key<Key> () };
}

/* The candidates of both. */
template <typename Key> static __device__ __forceinline__ Best<Key>
merge (const Best<Key> &a, const Best<Key> &b)
{
  return { min (a.lowest, b.lowest), min (max (a.lowest, b.lowest), min (a.next, b.next)) };
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

template <typename Key> static __device__ __forceinline__ int
index_of (Key key)
{
  return (int) (key & ((1 << INDEX_BITS) - 1));
}

/* The indices whose candidates, if they cost at least @cost, may have a total up to that of @bound; it may be an index
 * too wide. */
template <typename Key> static __device__ __forceinline__ Range
range_of (Key bound, uint32_t cost, int expected, float steps_per_cost)
{
  uint32_t most = (uint32_t) (bound >> INDEX_BITS);
  int radius = (int) fminf ((float) (most + 1 - cost) * steps_per_cost, (float) RADIUS_TOP);
  Range r = { (expected - radius + STEREO_EXPECT_STEPS - 1) >> 6, (expected + radius) >> 6 };
  if (most < cost)
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

template <typename Key> static __device__ __forceinline__ float
confidence_of (Key lowest, Key next)
{
  return stereo_confidence ((uint32_t) (lowest >> INDEX_BITS), (uint32_t) (next >> INDEX_BITS));
}

/* ---- a block ---------------------------------------------------------------------------------------- */

constexpr int BLOCK_X = 128;
constexpr int BLOCK_Y = 4;
constexpr int PIXELS = BLOCK_X * BLOCK_Y;
constexpr int THREADS = PIXELS / 2;
constexpr int SEARCHERS = 4; /* lanes that search the candidates of one pixel; divides 32 */
constexpr int AT_ONCE = 4;   /* candidates that a lane loads before it compares them */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* What is known of a pixel before the volume is read. */
template <typename Key> struct Known
{
  Key keys[2];
  int expected;
  uint32_t least; /* any other candidate costs as much or more */
};

/* The pixels of a block. */
struct Block
{
  const uint16_t *rows; /* the volume from the block's first row on */
  int x, y, view, step;
  uint32_t alpha;
  float steps_per_cost; /* of the expected disparity */
};

/* 32 bits count the elements of BLOCK_Y rows, and those beside the rows that candidates reach. */
static_assert ((int64_t) (BLOCK_Y + 1) * STEREO_MAX_PITCH * STEREO_MAX_DISPARITIES <= INT32_MAX, "a block's rows");

/* The element of the block's rows that belongs to index 0 of a pixel; it may be beside the image. */
static __device__ __forceinline__ int
column_of (const Frame &f, const Block &block, int pixel)
{
  int x = block.x + pixel % BLOCK_X;
  return (pixel / BLOCK_X * f.width + (block.view ? f.width - 1 - x + f.min_disparity : x)) * f.depth;
}

static __device__ __forceinline__ size_t
map_of (const Frame &f, const Block &block, int pixel)
{
  return (size_t) (block.y + pixel / BLOCK_X) * f.map_pitch + (block.x + pixel % BLOCK_X);
}

/* A pixel without an expected disparity has no penalties. */
template <typename Key> static __device__ __forceinline__ Known<Key>
known_of (const Block &block, uint32_t costs, int first, int second, int expected)
{
  uint32_t alpha = expected == STEREO_EXPECT_NONE ? 0 : block.alpha;

  return { { key_of<Key> (alpha, expected, costs & 0xFFFF, first), key_of<Key> (alpha, expected, costs >> 16, second) },
    expected, costs >> 16 };
}

/*
 * The two lowest totals, of cost + penalty (3.2.3).
 *
 * Selection has found the two lowest costs of each pixel. Every other candidate costs at least as much as the second.
 * Its total can be among the two lowest only if that cost + its penalty is small enough, which means near the expected
 * disparity. This decides most pixels. What is still undecided, the block searches together, several lanes a pixel.
 */

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
constexpr int BLOCKS = 4; /* on a multiprocessor, for the compiler's choice of registers: the most that Turing can run */
#else
constexpr int BLOCKS = 6;
#endif

/* The indices of the candidates that may be among the two lowest, with those that are known, which become @b. It may be empty. */
template <typename Key> static __device__ __forceinline__ Range
open_range (const Frame &f, const Block &block, const Known<Key> &known, int x, Best<Key> &b)
{
  b = none_yet<Key> ();
  b.insert (known.keys[0]);
  b.insert (known.keys[1]);
  if (known.expected == STEREO_EXPECT_NONE || known.least == STEREO_INVALID)
    return { 0, -1 };
  return common (range_of (b.next, known.least, known.expected, block.steps_per_cost), valid_range (f, x));
}

/* Whether the two lowest costs decide a pixel, because no other candidate is in range. */
template <typename Key> static __device__ __forceinline__ bool
known_decide (const Frame &f, const Block &block, const Known<Key> &known, int x, Best<Key> &b)
{
  Range r = open_range (f, block, known, x, b);
  return r.to - r.from + 1 <= r.holds (index_of (known.keys[0])) + r.holds (index_of (known.keys[1]));
}

/* Stores the two candidates of a pixel that was open. */
template <typename Key> static __device__ __forceinline__ void
store_found (const Frame &f, const Block &block, int pixel, const Best<Key> &b)
{
  const StereoView &view = f.view[block.view];
  size_t map = map_of (f, block, pixel);

  view.index[map] = (uint16_t) index_of (b.lowest);
  view.confidence[map] = confidence_of<Key> (b.lowest, b.next);
}

/* Two pixels from @map on: stores what is known of them. Bit k of the result: k is open, what was stored will
 * not last. */
template <typename Key> static __device__ __forceinline__ int
decide_pair (const Frame &f, const Block &block, const uint32_t *known, size_t map, int x)
{
  const StereoView &view = f.view[block.view];
  uint2 costs = *(const uint2 *) (known + map);
  uint32_t first = *(const uint32_t *) (view.first + map), second = *(const uint32_t *) (view.second + map);
  int2 expected = *(const int2 *) (view.expected + map);
  Known<Key> a = known_of<Key> (block, costs.x, first & 0xFFFF, second & 0xFFFF, expected.x);
  Known<Key> b = known_of<Key> (block, costs.y, first >> 16, second >> 16, expected.y);
  Best<Key> best[2];
  bool open[2] = { !known_decide<Key> (f, block, a, x, best[0]),
    !known_decide<Key> (f, block, b, x + 1, best[1]) && x + 1 < f.width }; /* nothing is known past the last column */
  /* a pixel without a second candidate has no confidence, and may have no first candidate either */
  bool single[2] = { costs.x >> 16 == STEREO_INVALID, costs.y >> 16 == STEREO_INVALID };
  uint32_t index[2] = { single[0] ? first & 0xFFFF : index_of (best[0].lowest),
    single[1] ? first >> 16 : index_of (best[1].lowest) };
  float confidence[2] = { confidence_of<Key> (best[0].lowest, single[0] ? 0 : best[0].next),
    confidence_of<Key> (best[1].lowest, single[1] ? 0 : best[1].next) };
  if (x + 1 < f.width) {
    *(uint32_t *) (view.index + map) = index[0] | index[1] << 16;
    *(float2 *) (view.confidence + map) = make_float2 (confidence[0], confidence[1]);
    return open[0] | open[1] << 1;
  }
  view.index[map] = (uint16_t) index[0];
  view.confidence[map] = confidence[0];
  return open[0];
}

/* What is known of an open pixel. */
template <typename Key> static __device__ __forceinline__ Known<Key>
load_known (const Frame &f, const Block &block, const uint32_t *costs, int pixel)
{
  const StereoView &view = f.view[block.view];
  size_t map = map_of (f, block, pixel);
  return known_of<Key> (block, costs[map], view.first[map], view.second[map], view.expected[map]);
}

/* Searches the candidates of open pixel @pixel by SEARCHERS lanes, which all have it; not @there: of none. */
template <typename Key> static __device__ __forceinline__ void
search (const Frame &f, const Block &block, const uint32_t *found, int pixel, bool there)
{
  int lane = threadIdx.x % SEARCHERS, stride = SEARCHERS * block.step;
  Known<Key> known = load_known<Key> (f, block, found, pixel);
  Best<Key> b;
  Range r = open_range (f, block, known, block.x + pixel % BLOCK_X, b);
  int i = r.from + lane, to = there ? r.to : -1;
  uint32_t at = (uint32_t) (column_of (f, block, pixel) + i * block.step); /* 32 bits wrap around beside the rows */

  /* of the known candidates, the search finds those in range again */
  b = none_yet<Key> ();
#pragma unroll
  for (int k = 0; k < 2; k++)
    b.insert (lane > 0 || r.holds (index_of (known.keys[k])) ? no_key<Key> () : known.keys[k]);
#pragma unroll 1
  for (; i + (AT_ONCE - 1) * SEARCHERS <= to; i += AT_ONCE * SEARCHERS, at += AT_ONCE * stride) {
    uint32_t costs[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      costs[k] = __ldg (block.rows + (at + k * stride));
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      b.insert (key_of<Key> (block.alpha, known.expected, costs[k], i + k * SEARCHERS));
  }
#pragma unroll 1
  for (; i <= to; i += SEARCHERS, at += stride)
    b.insert (key_of<Key> (block.alpha, known.expected, __ldg (block.rows + at), i));
#pragma unroll
  for (int away = SEARCHERS / 2; away; away /= 2) {
    Best<Key> other = { __shfl_xor_sync (ALL_LANES, b.lowest, away), __shfl_xor_sync (ALL_LANES, b.next, away) };
    b = merge (b, other);
  }
  if (there && lane == 0)
    store_found<Key> (f, block, pixel, b);
}

/* Searches all pixels of a list, in turns. All lanes of a warp take part in the last turn: they exchange results. */
template <typename Key> static __device__ __forceinline__ void
search_all (const Frame &f, const Block &block, const uint32_t *found, const uint16_t *open, int opened)
{
#pragma unroll 1
  for (int k = threadIdx.x / SEARCHERS; k - (int) threadIdx.x % 32 / SEARCHERS < opened; k += THREADS / SEARCHERS)
    search<Key> (f, block, found, open[min (k, opened - 1)], k < opened);
}

/*
 * Block: 128 by 4 pixels of one view. A thread decides two pixels by what is known; undecided ones go to a list in
 * shared memory. Then several lanes a pixel search these. Blocks of the two views alternate, so that both find the costs of a row
 * in the cache: a left pixel reads along a column of the volume, a right pixel along a diagonal.
 */
template <typename Key> static __global__ void
__launch_bounds__ (THREADS, BLOCKS) reselect_kernel (Frame f, Selection found, float steps_per_cost)
{
  __shared__ uint16_t open[PIXELS];
  __shared__ int opened;
  int v = blockIdx.x % 2, thread = threadIdx.x;
  const uint32_t *costs = found.costs[v];
  Block block = { f.volume + (size_t) (blockIdx.y * BLOCK_Y) * f.width * f.depth, (int) (blockIdx.x / 2 * BLOCK_X),
    (int) (blockIdx.y * BLOCK_Y), v, v ? f.depth + 1 : 1, f.alpha, steps_per_cost };
  int x = block.x + 2 * thread % BLOCK_X;

#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(block.rows)); /* the compiler would add up this address again for every cost */
#endif
  if (thread == 0)
    opened = 0;
  __syncthreads ();
  int which = 0;
  if (x < f.width && block.y + 2 * thread / BLOCK_X < f.height)
    which = decide_pair<Key> (f, block, costs, map_of (f, block, 2 * thread), x);
#pragma unroll
  for (int k = 0; k < 2; k++)
    if (which >> k & 1)
      open[atomicAdd (&opened, 1)] = (uint16_t) (2 * thread + k);
  __syncthreads ();
  search_all<Key> (f, block, costs, open, opened);
}

/* Whether totals leave room for an index in 32 bits. They do unless alpha is far beyond useful values. */
static bool
keys_are_short (const StereoPlan *plan)
{
  uint64_t largest = STEREO_INVALID + (((uint64_t) plan->alpha * (uint64_t) plan->depth * STEREO_EXPECT_STEPS) >> 8);
  return largest < 1u << (32 - INDEX_BITS);
}

static StereoStatus
reselect_run (StereoPlan *plan, void *data, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  dim3 grid (2 * cuda_blocks (plan->width, BLOCK_X), cuda_blocks (plan->height, BLOCK_Y));
  /* rounded up by more than rounding of the product can lose; without penalties first and second stay */
  float steps = plan->alpha ? 256.0f / (float) plan->alpha * 1.000002f : 0.0f;

  if (keys_are_short (plan))
    reselect_kernel<uint32_t><<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), state->selection, steps);
  else
    reselect_kernel<uint64_t><<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), state->selection, steps);
  CUDA_LAUNCHED (plan, "reselect_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_reselect = { .name = "reselect", .run = reselect_run };
