/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reselection: what a block knows of its pixels, and its search through the candidates of the open ones. See
 * reselect.cu. */
#ifndef STEREO_CUDA_POST_RESELECT_SEARCH_CUH
#define STEREO_CUDA_POST_RESELECT_SEARCH_CUH

#include "cuda/post/reselect.cuh"

namespace
{

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
