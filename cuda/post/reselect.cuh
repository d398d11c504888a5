/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reselection's arithmetic: candidates as keys that compare by cost + penalty, the range of those that are in
 * question, and what one iteration keeps for the next.
 */
#ifndef STEREO_CUDA_RESELECT_CUH
#define STEREO_CUDA_RESELECT_CUH

#include "cuda/common.cuh"

#include <limits.h>

namespace
{

#define INDEX_BITS 10           /* of up to 1024 disparities */
#define REACH_TOP 0x10000       /* farther than any candidate, in expected's steps */

/* Key: (cost + penalty) << INDEX_BITS | index, in 32 bits or, for a large alpha, in 64. Ties go to the smaller
 * index. */
template <typename Key> static __device__ __forceinline__ Key
no_key ()
{
  return (Key) ~(Key) 0;
}

/* stereo_penalty(); where keys are short, alpha times any distance fits an int. */
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

template <typename Key> static __device__ __forceinline__ int
index_of (Key key)
{
  return (int) (key & ((1 << INDEX_BITS) - 1));
}

/* What valid candidates beyond @r have at least, those that cost @cost or more. */
template <typename Key> static __device__ __forceinline__ Key
least_beyond (uint32_t alpha, int expected, uint32_t cost, Range valid, Range r)
{
  int before = r.from > valid.from ? max (expected - (r.from - 1) * STEREO_EXPECT_STEPS, 0) : INT_MAX;
  int after = r.to < valid.to ? max ((r.to + 1) * STEREO_EXPECT_STEPS - expected, 0) : INT_MAX;
  int away = min (before, after);
  return away == INT_MAX ? no_key<Key> () : (Key) (cost + ((alpha * (uint32_t) away) >> 8)) << INDEX_BITS;
}

/* Where candidates that cost at least @cost may have a total of no more than @bound's; perhaps a step more. */
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

/* What an earlier iteration found of a pixel: true when that decides it, or @one of two candidates. */
template <typename Key> static __device__ __forceinline__ bool
recall (uint32_t alpha, int expected, uint4 memory, bool one, Best<Key> &b)
{
  uint32_t move = (uint32_t) abs (expected - (int) memory.w);

  b = none_yet<Key> ();
  b.meet_two (key_of<Key> (alpha, expected, memory.x & 0xFFFF, (int) (memory.y & 0xFFFF)));
  b.meet_two (key_of<Key> (alpha, expected, memory.x >> 16, (int) (memory.y >> 16)));
  uint32_t most = (uint32_t) ((one ? b.lowest : b.next) >> INDEX_BITS);
  return move == 0 || most + ((alpha * move) >> 8) + 1 < memory.z;
}

/* Two candidates' costs and indices, the least total of any other, and for which expected disparity. */
template <typename Key> static __device__ __forceinline__ uint4
memory_of (uint32_t alpha, int expected, const Best<Key> &b)
{
  int first = index_of (b.lowest), second = index_of (b.next);
  uint32_t cost1 = (uint32_t) (b.lowest >> INDEX_BITS) - penalty_of<Key> (alpha, expected, first);
  uint32_t cost2 = (uint32_t) (b.next >> INDEX_BITS) - penalty_of<Key> (alpha, expected, second);

  return make_uint4 (cost1 | cost2 << 16, (uint32_t) (first | second << 16), (uint32_t) (b.least >> INDEX_BITS),
      (uint32_t) expected);
}

/*
 * stereo_confidence(). The quotient is the device's own for operands like these, neither tiny nor huge, and is rounded
 * as it must be; only the way out for the others is left away.
 */
template <typename Key> static __device__ __forceinline__ float
confidence_of (Key lowest, Key next)
{
  uint32_t second = (uint32_t) (next >> INDEX_BITS), away = second - (uint32_t) (lowest >> INDEX_BITS);
#ifdef __CUDA_ARCH__
  float a = (float) away, b = (float) second, inverse;
  asm ("rcp.approx.ftz.f32 %0, %1;" : "=f" (inverse) : "f" (b));
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
