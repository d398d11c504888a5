/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arithmetic of reselection: candidates as keys that compare by cost + penalty, the range of indices that may hold
 * one of the two lowest, and the memory that one iteration leaves for the next.
 */
#ifndef STEREO_CUDA_POST_RESELECT_CUH
#define STEREO_CUDA_POST_RESELECT_CUH

#include "cuda/common.cuh"

#include <limits.h>

namespace
{

constexpr int INDEX_BITS = 10;     /* of up to 1024 disparities */
constexpr int REACH_TOP = 0x10000; /* farther away than any candidate, in steps of the expected disparity */

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
  int reach = (int) fminf ((float) (most + 1 - cost) * steps_per_cost, (float) REACH_TOP);
  Range r = { (expected - reach + STEREO_EXPECT_STEPS - 1) >> 6, (expected + reach) >> 6 };
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

}

#endif
