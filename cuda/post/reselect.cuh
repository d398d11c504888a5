/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What reselect.cu works with. Candidates are keys that compare by cost + penalty; of a pixel there is a range of indices that may
 * hold one of the two lowest, and a memory that one iteration leaves for the next. Then what a block knows of its pixels, and its search
 * through the candidates of the open ones.
 */
#ifndef STEREO_CUDA_POST_RESELECT_CUH
#define STEREO_CUDA_POST_RESELECT_CUH

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
  Key least; /* no other candidate's key is below it */

  __device__ __forceinline__ void
  insert (Key key)
  {
    least = min (least, max (next, key));
    next = min (next, max (lowest, key));
    lowest = min (lowest, key);
  }

  /* Without least: at the end every other key is at least next. */
  __device__ __forceinline__ void
  insert_lowest_two (Key key)
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

/* Of the candidates of both. */
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

template <typename Key> static __device__ __forceinline__ int
index_of (Key key)
{
  return (int) (key & ((1 << INDEX_BITS) - 1));
}

/* The least key that a valid candidate outside @r can have if it costs @cost or more. */
template <typename Key> static __device__ __forceinline__ Key
least_beyond (uint32_t alpha, int expected, uint32_t cost, Range valid, Range r)
{
  int before = r.from > valid.from ? max (expected - (r.from - 1) * STEREO_EXPECT_STEPS, 0) : INT_MAX;
  int after = r.to < valid.to ? max ((r.to + 1) * STEREO_EXPECT_STEPS - expected, 0) : INT_MAX;
  int away = min (before, after);
  return away == INT_MAX ? no_key<Key> () : (Key) (cost + ((alpha * (uint32_t) away) >> 8)) << INDEX_BITS;
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

/* Takes the two candidates of a pixel from memory. True: no other candidate can be below them, or with @one below the
 * lower one. */
template <typename Key> static __device__ __forceinline__ bool
recall (uint32_t alpha, int expected, uint4 memory, bool one, Best<Key> &b)
{
  uint32_t move = (uint32_t) abs (expected - (int) memory.w);

  b = none_yet<Key> ();
  b.insert_lowest_two (key_of<Key> (alpha, expected, memory.x & 0xFFFF, (int) (memory.y & 0xFFFF)));
  b.insert_lowest_two (key_of<Key> (alpha, expected, memory.x >> 16, (int) (memory.y >> 16)));
  uint32_t most = (uint32_t) ((one ? b.lowest : b.next) >> INDEX_BITS);
  return move == 0 || most + ((alpha * move) >> 8) + 1 < memory.z;
}

/* Costs and indices of two candidates, a bound below which no other total is, and the expected disparity of all
 * this. */
template <typename Key> static __device__ __forceinline__ uint4
memory_of (uint32_t alpha, int expected, const Best<Key> &b)
{
  int first = index_of (b.lowest), second = index_of (b.next);
  uint32_t cost1 = (uint32_t) (b.lowest >> INDEX_BITS) - penalty_of<Key> (alpha, expected, first);
  uint32_t cost2 = (uint32_t) (b.next >> INDEX_BITS) - penalty_of<Key> (alpha, expected, second);

  return make_uint4 (
      cost1 | cost2 << 16, (uint32_t) (first | second << 16), (uint32_t) (b.least >> INDEX_BITS), (uint32_t) expected);
}

/* stereo_confidence(), rounded the same. This is the device's division without the branch for tiny and huge operands,
 * which do not occur. */
template <typename Key> static __device__ __forceinline__ float
confidence_of (Key lowest, Key next)
{
  uint32_t second = (uint32_t) (next >> INDEX_BITS), away = second - (uint32_t) (lowest >> INDEX_BITS);
#ifdef __CUDA_ARCH__
  float a = (float) away, b = (float) second, inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  inverse = fmaf (inverse, fmaf (-b, inverse, 1.0f), inverse);
  float q = a * inverse;
  q = fmaf (inverse, fmaf (-b, q, a), q);
  return second ? q : 0.0f;
#else
  return second ? (float) away / (float) second : 0.0f;
#endif
}

/* ---- a block ---------------------------------------------------------------------------------------- */

constexpr int BLOCK_X = 128;
constexpr int BLOCK_Y = 4;
constexpr int PIXELS = BLOCK_X * BLOCK_Y;
constexpr int THREADS = PIXELS / 2;
constexpr int SEARCHERS = 4;       /* lanes that search the candidates of one pixel; divides 32 */
constexpr int MORE_SEARCHERS = 16; /* of one pixel, if that few are open that the block needs one turn for all */
constexpr int AT_ONCE = 8;         /* candidates that a lane loads before it compares them */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* Maps of a view: costs that selection found, and which pixels have a memory (select.cuh); the memory of reselection
 * (memory_of()). A plan of one iteration has no memory. */
struct KnownMaps
{
  uint32_t *costs, *remembered;
  uint4 *memory;
};

/* What is known of a pixel before the volume is read. */
template <typename Key> struct Known
{
  Key keys[2];
  int expected;
  uint32_t least; /* any other candidate costs as much or more */
};

/* A pixel that needs a search over the indices @from..@to; @best: of all its other candidates. */
template <typename Key> struct Wide
{
  Best<Key> best;
  int column, expected; /* element of index 0 in the block's rows: see column_of() */
  uint16_t from, to, pixel;
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

/* The cost of a pixel at index @i. */
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

/* Whether only the lowest candidate matters. */
template <bool LAST> static __device__ __forceinline__ bool
one_counts (const Block &block)
{
  return LAST && block.view;
}

/* The total that another candidate must be below to matter. */
template <bool LAST, typename Key> static __device__ __forceinline__ Key
bound_of (const Block &block, const Best<Key> &b)
{
  return one_counts<LAST> (block) ? b.lowest : b.next;
}

/* A pixel without an expected disparity has no penalties. */
template <typename Key> static __device__ __forceinline__ Known<Key>
known_of (const Block &block, uint32_t costs, int first, int second, int expected)
{
  uint32_t alpha = expected == STEREO_EXPECT_NONE ? 0 : block.alpha;

  return { { key_of<Key> (alpha, expected, costs & 0xFFFF, first), key_of<Key> (alpha, expected, costs >> 16, second) },
    expected, costs >> 16 };
}

/* Hides how @value was made: otherwise the compiler makes one more running sum for each expression of the loop with
 * @value. */
template <typename Value> static __device__ __forceinline__ void
hide_origin (Value &value)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(value));
#endif
}

/* Searches the candidates of one pixel by LANES lanes. */
template <typename Key, int LANES> static __device__ __forceinline__ Best<Key>
search (const Block &block, const Wide<Key> &wide, bool there)
{
  int lane = threadIdx.x % LANES, i = wide.from + lane, to = there ? wide.to : -1, expected = wide.expected;
  int stride = LANES * block.step;
  uint32_t at = (uint32_t) (wide.column + i * block.step); /* beside the rows, as in cost_at() */
  Best<Key> b = none_yet<Key> ();

#pragma unroll 1
  for (; i <= to; i += AT_ONCE * LANES, at += AT_ONCE * stride) {
    uint32_t costs[AT_ONCE];
    hide_origin (at);
    hide_origin (i);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      costs[k] = i + k * LANES <= to ? __ldg (block.rows + (at + k * stride)) : 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      Key key = key_of<Key> (block.alpha, expected, costs[k], i + k * LANES);
      b.insert_lowest_two (i + k * LANES <= to ? key : no_key<Key> ());
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

/* Searches all pixels of a list, in turns. */
template <typename Key, int LANES> static __device__ __forceinline__ void
search_all (const Block &block, Wide<Key> *wide, int widened)
{
  int thread = threadIdx.x;

  /* all lanes of a warp take part in the last turn: they exchange results */
#pragma unroll 1
  for (int k = thread / LANES; k - thread % 32 / LANES < widened; k += THREADS / LANES) {
    Wide<Key> &w = wide[min (k, widened - 1)];
    Best<Key> b = search<Key, LANES> (block, w, k < widened);
    if (k < widened && thread % LANES == 0)
      w.best = b;
  }
}

}

#endif
