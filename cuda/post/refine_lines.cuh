/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weighted sums along lines for two-pass refinement: columns in one pass, rows in the other.
 *
 * A pair of pixels of a line is weighed once and counts for both, because w (p, q) = w (q, p). A block has 32 lines, a
 * lane each, and a strip of them in shared memory. A warp has eight neighbouring pixels (an eight) of every line in
 * registers. It takes the eights before its own one after another, all warps the nearest first, then the next: so no
 * two warps add to the same eight at a time. Beyond the strip there are only taps, which get no sums.
 *
 * The distance is not part of a weight's exponent. 2^(distance * (p - q)) is a product, and for an eight that starts at
 * o it is split at o: taps before o are multiplied by 2^(distance * (o - q)), sums and taps of the eight by 2^(distance
 * * (p - o)). No factor exceeds 1; where a factor underflows to 0, so does the weight.
 */
#ifndef STEREO_CUDA_POST_REFINE_LINES_CUH
#define STEREO_CUDA_POST_REFINE_LINES_CUH

#include "cuda/post/refine_window.cuh"

namespace
{

constexpr int LINES = 32;
constexpr int EIGHT = 8;
struct LineFactors
{
  int radius, rounded; /* rounded: radius rounded up to whole eights */
  float color, offset; /* offset: -2^23 * color */
  float distance;
};

/* 2^-1024 is already 0 in floats, and products of steeper factors could overflow. */
static inline LineFactors
line_factors (const Window &window)
{
  float color = fmaxf (window.color, -1024.0f), distance = fmaxf (window.distance, -1024.0f);
  return { window.radius, (window.radius + EIGHT - 1) / EIGHT * EIGHT, color, -8388608.0f * color, distance };
}

/* In shared memory: a strip of 8 pixels a warp, and @rounded pixels on both sides; pixel p of line l is at p * PITCH +
 * l. */
template <int PITCH> struct LineTile
{
  float2 *trust; /* F and F D, or their vertical sums; 0 outside the image */
  float2 *sum;   /* of the strip only, LINES a pixel */
  uint32_t *color;
  float *decay; /* 2^(distance * (rounded - place)) */

  static __host__ __device__ int
  pixels (int rounded, int warps)
  {
    return 2 * rounded + EIGHT * warps;
  }

  static size_t
  bytes (int rounded, int warps)
  {
    return (size_t) pixels (rounded, warps) * PITCH * (sizeof (float2) + sizeof (uint32_t)) +
        (size_t) (EIGHT * warps) * LINES * sizeof (float2) + (size_t) rounded * sizeof (float);
  }

  __device__
  LineTile (void *shared, int rounded, int warps)
  {
    int count = pixels (rounded, warps) * PITCH;
    trust = (float2 *) shared;
    sum = trust + count;
    color = (uint32_t *) (sum + EIGHT * warps * LINES);
    decay = (float *) (color + count);
  }
};

static __device__ __forceinline__ void
make_decay (float *decay, const LineFactors &w)
{
  for (int n = threadIdx.x; n < w.rounded; n += blockDim.x)
    decay[n] = exp2f (w.distance * (float) (w.rounded - n));
}

/* 2^(color * SAD): fmaf() does not round the product of color and 2^23 + SAD, and subtracts color * 2^23 for free. */
static __device__ __forceinline__ float
color_weight (uint32_t a, uint32_t b, float color, float offset)
{
  uint32_t bits;
  float weight;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(bits) : "r"(a), "r"(b), "r"(0x4B000000u));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(weight) : "f"(fmaf (__uint_as_float (bits), color, offset)));
  return weight;
}

static __device__ __forceinline__ void
add_scaled (float2 &sum, float factor, float2 value)
{
  sum.x = fmaf (factor, value.x, sum.x);
  sum.y = fmaf (factor, value.y, sum.y);
}

static __device__ __forceinline__ float2
scaled (float factor, float2 value)
{
  return make_float2 (factor * value.x, factor * value.y);
}

/* An eight of a lane's line. */
struct Eight
{
  uint32_t color[EIGHT];
  float2 trust[EIGHT], sum[EIGHT];
};

/* Which pairs of pixel k and tap m of another eight count: all; those with k <= m; those with k - m <= most. */
enum PairShape
{
  PAIRS_ALL,
  PAIRS_CORNER,
  PAIRS_NEAR
};

/*
 * Weighs the pairs of @a and of the eight at @color and @trust, whose tap m is at m * STEP * PITCH, and adds to the
 * sums of @a. BOTH: adds to the sums of the other eight too. @decay: of the taps, aligned to 16 bytes.
 */
template <PairShape SHAPE, bool BOTH, int STEP, int PITCH> static __device__ __forceinline__ void
weigh_eight (Eight &a, const uint32_t *__restrict__ color, const float2 *__restrict__ trust, float2 *__restrict__ sum,
    const float *__restrict__ decay, int most, const LineFactors &w)
{
  constexpr int halves = SHAPE == PAIRS_NEAR ? 1 : 2; /* unrolled, except for an unusual shape */
#pragma unroll halves
  for (int half = 0; half < EIGHT; half += 4) {
    float4 four = *(const float4 *) (decay + half);
    const float decays[4] = { four.x, four.y, four.z, four.w };
#pragma unroll
    for (int n = 0; n < 4; n++) {
      int m = half + n;
      uint32_t tap = color[m * STEP * PITCH];
      float2 value = scaled (decays[n], trust[m * STEP * PITCH]), back = {};
#pragma unroll
      for (int k = 0; k < EIGHT; k++) {
        if (SHAPE == PAIRS_CORNER && k > m)
          continue;
        float weight = color_weight (
            a.color[k], tap, w.color, SHAPE == PAIRS_NEAR && k - m > most ? -INFINITY : w.offset);
        add_scaled (a.sum[k], weight, value);
        if (BOTH && k)
          add_scaled (back, weight, a.trust[k]);
        else if (BOTH)
          back = scaled (weight, a.trust[k]);
      }
      if (BOTH)
        add_scaled (sum[m * LINES], decays[n], back);
    }
  }
}

/* Weighs the pairs with the eight @away eights before, as far as it is within the radius. If the radius is a multiple
 * of eight (ALIGNED), that part is PAIRS_CORNER. */
template <bool ALIGNED, bool BOTH, int STEP, int PITCH> static __device__ __forceinline__ void
weigh_away (Eight &a, int away, const uint32_t *color, const float2 *trust, float2 *sum, const float *decay,
    const LineFactors &w)
{
  int most = w.radius - EIGHT * away;

  decay += w.rounded - EIGHT * away;
  if (most >= EIGHT - 1)
    weigh_eight<PAIRS_ALL, BOTH, STEP, PITCH> (a, color, trust, sum, decay, most, w);
  else
    weigh_eight<ALIGNED ? PAIRS_CORNER : PAIRS_NEAR, BOTH, STEP, PITCH> (a, color, trust, sum, decay, most, w);
}

static __device__ __forceinline__ void
clear_sums (Eight &a)
{
#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    a.sum[k] = make_float2 (0, 0);
}

/* The decay of a distance of @k < 8 pixels. */
static __device__ __forceinline__ float
decay_of (const float *decay, int k, const LineFactors &w)
{
  return k ? decay[w.rounded - k] : 1.0f;
}

/* Weighs the pairs inside an eight. */
static __device__ __forceinline__ void
weigh_itself (Eight &a, const LineFactors &w)
{
#pragma unroll
  for (int k = 0; k < EIGHT; k++) {
    a.sum[k].x += a.trust[k].x;
    a.sum[k].y += a.trust[k].y;
#pragma unroll
    for (int m = 0; m < k; m++) {
      float weight = cuda_weight (
          a.color[k], a.color[m], w.color, k - m <= w.radius ? w.distance * (float) (k - m) : -INFINITY);
      add_scaled (a.sum[k], weight, a.trust[m]);
      add_scaled (a.sum[m], weight, a.trust[k]);
    }
  }
}

/* Weighs the pairs with the eight @away eights after, beyond the strip, and adds to the sums of the tile. Pixels and
 * taps are in reverse order: decays and shapes are then those of taps before. */
template <bool ALIGNED, int PITCH> static __device__ __forceinline__ void
weigh_behind (const Eight &a, const LineTile<PITCH> &t, const LineFactors &w, int away, int place, int strip)
{
  Eight back;
  int last = place + (EIGHT * away + EIGHT - 1) * PITCH;

  clear_sums (back);
#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    back.color[k] = a.color[EIGHT - 1 - k];
  weigh_away<ALIGNED, false, -1, PITCH> (back, away, t.color + last, t.trust + last, NULL, t.decay, w);
#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    add_scaled (t.sum[strip + (EIGHT - 1 - k) * LINES], decay_of (t.decay, k, w), back.sum[k]);
}

/* The trust of @a with its own part of the decay, for pairs with eights before it. */
template <int PITCH> static __device__ __forceinline__ void
load_trust (Eight &a, const LineTile<PITCH> &t, const LineFactors &w, int place)
{
#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    a.trust[k] = scaled (decay_of (t.decay, k, w), t.trust[place + k * PITCH]);
}

/*
 * Writes to @total the sums of eight @own of a strip of @warps eights, which starts at @start of a line of @length
 * pixels. All threads of the block call this when the tile is filled.
 */
template <bool ALIGNED, int PITCH> static __device__ __forceinline__ void
sum_lines (const LineTile<PITCH> &t, const LineFactors &w, int own, int warps, int start, int length, int lane,
    float2 (&total)[EIGHT])
{
  Eight a;
  int place = (w.rounded + EIGHT * own) * PITCH + lane, strip = EIGHT * own * LINES + lane;
  bool there = start + EIGHT * own < length;

  clear_sums (a);
#pragma unroll
  for (int k = 0; k < EIGHT; k++) {
    a.color[k] = t.color[place + k * PITCH];
    a.trust[k] = t.trust[place + k * PITCH];
  }
  weigh_itself (a, w);
#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    t.sum[strip + k * LINES] = a.sum[k];
  clear_sums (a);
  if (w.rounded)
    load_trust (a, t, w, place);
  for (int away = 1; EIGHT * away <= w.rounded; away++) {
    int from = place - EIGHT * away * PITCH;
    __syncthreads ();
    if (there && own + away >= warps && start + EIGHT * (own + away) < length) {
      /* no eight of the strip is @away after this one, so no other warp adds to this eight now */
      weigh_behind<ALIGNED> (a, t, w, away, place, strip);
      load_trust (a, t, w, place); /* loading again is faster than holding registers meanwhile */
    }
    if (there && away <= own)
      weigh_away<ALIGNED, true, 1, PITCH> (
          a, away, t.color + from, t.trust + from, t.sum + strip - EIGHT * away * LINES, t.decay, w);
    else if (there && start + EIGHT * (own - away) >= 0)
      weigh_away<ALIGNED, false, 1, PITCH> (a, away, t.color + from, t.trust + from, NULL, t.decay, w);
  }
  __syncthreads ();
#pragma unroll
  for (int k = 0; k < EIGHT; k++) {
    total[k] = t.sum[strip + k * LINES];
    if (w.rounded)
      add_scaled (total[k], decay_of (t.decay, k, w), a.sum[k]);
  }
}

/* The eight of a warp. The last eights of a strip have the most taps beyond it. The last four warps take theirs in
 * reverse order, so that the warps that share a scheduler have about the same work. */
static __device__ __forceinline__ int
own_eight (int warp, int warps)
{
  int turned = min (warps, 4);
  return warp < warps - turned ? warp : 2 * warps - turned - 1 - warp;
}

}

#endif
