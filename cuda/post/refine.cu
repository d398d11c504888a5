/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernels of refinement share (3.2.3): the window and the expected disparity; and the inner loop over the full
 * window. There a thread has four neighbouring pixels and takes the taps of a line in groups of four: it loads a tap
 * once for four pixels. Taps of the first and the last group that are beyond the window have an infinite distance.
 */
#include "cuda/common.cuh"

namespace
{

constexpr int REFINE_MOST = 64; /* the largest radius, 63, in whole groups */
constexpr int REFINE_DISTANCES = 2 * REFINE_MOST + 8;
struct Window
{
  int radius, rounded;   /* rounded: radius in whole groups of four, rounded up */
  float color, distance; /* base-2 factors of SAD and distance (4.4.1) */
};

static inline Window
window_of (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  int radius = p->refine_window / 2;
  Window w = { radius, (radius + 3) / 4 * 4, (float) (-STEREO_LOG2E / p->refine_gamma_color),
    (float) (-STEREO_LOG2E / p->refine_gamma_distance) };
  return w;
}

/* Unnormalised sums of w F and w F D of four pixels. */
struct Sums
{
  float confidence[4], product[4];
};

/* Distance terms of offsets from -rounded - 3 on, as add_group() reads them: tap a of group g is 4 g - rounded + a pixels
 * from the first pixel. @across: the offset in the other direction. */
static __device__ float
distance_term (const Window &w, int place, int across)
{
  int along = abs (place - 3 - w.rounded);
  if (along > w.radius || abs (across) > w.radius)
    return -INFINITY;
  return w.distance * (across ? sqrtf ((float) (along * along + across * across)) : (float) along);
}

/* @distances: of the group, from place 4 g on; aligned to 16 bytes. */
static __device__ __forceinline__ void
add_group (Sums &s, const uint32_t *centre, uint4 color, float4 confidence, float4 product, const float *distances,
    float color_factor)
{
  const uint32_t colors[4] = { color.x, color.y, color.z, color.w };
  const float trusts[4] = { confidence.x, confidence.y, confidence.z, confidence.w };
  const float products[4] = { product.x, product.y, product.z, product.w };
  float4 d0 = ((const float4 *) distances)[0], d1 = ((const float4 *) distances)[1];
  const float d[8] = { d0.x, d0.y, d0.z, d0.w, d1.x, d1.y, d1.z, d1.w };

#pragma unroll
  for (int tap = 0; tap < 4; tap++)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      float weight = cuda_weight (centre[k], colors[tap], color_factor, d[3 + tap - k]);
      s.confidence[k] = fmaf (weight, trusts[tap], s.confidence[k]);
      s.product[k] = fmaf (weight, products[tap], s.product[k]);
    }
}

/* rint (sum of w F D / sum of w F) in steps of 1/64; none where no neighbour has confidence. */
static __device__ int
expected_of (float confidence, float product)
{
  return confidence > 0 ? (int) rintf (product / confidence * STEREO_EXPECT_STEPS) : STEREO_EXPECT_NONE;
}

/* Stores four neighbours at once: rows of maps are whole groups. */
static __device__ void
store_expected (const StereoView &view, size_t map, const Sums &s)
{
  *(int4 *) (view.expected + map) = make_int4 (expected_of (s.confidence[0], s.product[0]),
      expected_of (s.confidence[1], s.product[1]), expected_of (s.confidence[2], s.product[2]),
      expected_of (s.confidence[3], s.product[3]));
}

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

/*
 * The expected disparity of refinement (3.2.3) in two passes: over a window, the mean of the disparities selected so
 * far, weighted by likeness, nearness and confidence F. Both sums, of w F D and of w F, stay unnormalised until the end
 * of the second pass: a column without confidence then adds nothing to its row.
 */

constexpr int MOST_WARPS = 8;         /* of a block, and eights of its strip */
constexpr int BLOCKS = 3;             /* on a multiprocessor at a time, for the compiler's choice of registers */
constexpr int LOADS_AHEAD = 4;        /* loads of a thread before it stores them: all of a window of the usual size */
constexpr int ROWS_PITCH = LINES + 1; /* odd: lanes that write neighbours of one row use different banks */

/* Scratch memory of the stage: of both views, the vertical sums of w F and w F D. */
struct SumMaps
{
  float2 *view[2];
};

/* ---- columns ------------------------------------------------------------------------------------- */

/* F and F D of a pixel whose index is in the low half of @bits. With the exponent of 2^23 the index is a float +
 * 2^23. */
static __device__ __forceinline__ float2
low_trust (float confidence, uint32_t bits)
{
  return make_float2 (confidence, confidence * (__uint_as_float (__byte_perm (bits, 0x4B00, 0x5410)) - 8388608.0f));
}

static __device__ __forceinline__ float2
high_trust (float confidence, uint32_t bits)
{
  return make_float2 (confidence, confidence * (__uint_as_float (__byte_perm (bits, 0x4B00, 0x5432)) - 8388608.0f));
}

static __device__ __forceinline__ void
store_columns (const LineTile<LINES> &tile, int at, uint4 color, float4 confidence, uint2 index)
{
  float2 a = low_trust (confidence.x, index.x), b = high_trust (confidence.y, index.x);
  float2 c = low_trust (confidence.z, index.y), d = high_trust (confidence.w, index.y);
  float4 *trust = (float4 *) (tile.trust + at);

  trust[0] = make_float4 (a.x, a.y, b.x, b.y);
  trust[1] = make_float4 (c.x, c.y, d.x, d.y);
  *(uint4 *) (tile.color + at) = color;
}

/* Loads rows from @first on of 32 columns, four pixels a thread: rows of maps and images are whole vectors of four. */
static __device__ __forceinline__ void
load_columns (const Frame &f, const StereoView &view, const LineTile<LINES> &tile, int pixels, int x0, int first)
{
  int line = threadIdx.x % 8 * 4, step = blockDim.x / 8;

  const uint32_t *colors = view.likeness + x0 + line;
  const float *confidences = view.confidence + x0 + line;
  const uint16_t *indices = view.index + x0 + line;

#pragma unroll 1
  for (int start = threadIdx.x / 8; start < pixels; start += LOADS_AHEAD * step) {
    uint4 color[LOADS_AHEAD];
    float4 confidence[LOADS_AHEAD];
    uint2 index[LOADS_AHEAD];
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++) {
      /* a small window needs fewer loads: the others load the last row, which is in the first-level cache */
      int row = first + min (start + n * step, pixels - 1), y = min (max (row, 0), f.height - 1);
      ptrdiff_t map = (ptrdiff_t) y * f.map_pitch;
      color[n] = *(const uint4 *) (colors + (ptrdiff_t) y * f.image_pitch);
      confidence[n] = *(const float4 *) (confidences + map);
      index[n] = *(const uint2 *) (indices + map);
      if (y != row)
        confidence[n] = make_float4 (0, 0, 0, 0);
    }
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++)
      if (start + n * step < pixels)
        store_columns (tile, (start + n * step) * LINES + line, color[n], confidence[n], index[n]);
  }
}

/* Block: 32 columns (a lane each) by a strip of rows (eight a warp); blockIdx.z: the view. Shared memory: see
 * LineTile. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
    vertical_kernel (Frame f, LineFactors w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  float2 *map = blockIdx.z ? sums.view[1] : sums.view[0], total[EIGHT];
  int warps = blockDim.x / 32, own = own_eight (threadIdx.x / 32, warps), lane = threadIdx.x % 32;
  int x = blockIdx.x * LINES + lane, y0 = blockIdx.y * EIGHT * warps, y = y0 + EIGHT * own;
  LineTile<LINES> tile (shared, w.rounded, warps);

  make_decay (tile.decay, w);
  load_columns (f, view, tile, tile.pixels (w.rounded, warps), blockIdx.x * LINES, y0 - w.rounded);
  __syncthreads ();
  sum_lines<ALIGNED> (tile, w, own, warps, y0, f.height, lane, total);
  if (x >= f.width) /* the columns past the image, up to a whole vector, are read by the second pass */
#pragma unroll
    for (int k = 0; k < EIGHT; k++)
      total[k] = make_float2 (0, 0);
  float2 *to = map + (ptrdiff_t) y * f.map_pitch + x;
#pragma unroll
  for (int k = 0; k < EIGHT; k++, to += f.map_pitch)
    if (y + k < f.height)
      *to = total[k];
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ void
store_rows (const LineTile<ROWS_PITCH> &tile, int at, uint4 color, float4 low, float4 high)
{
  uint32_t *to = tile.color + at;
  float2 *trust = tile.trust + at;

  to[0] = color.x, to[ROWS_PITCH] = color.y, to[2 * ROWS_PITCH] = color.z, to[3 * ROWS_PITCH] = color.w;
  trust[0] = make_float2 (low.x, low.y), trust[ROWS_PITCH] = make_float2 (low.z, low.w);
  trust[2 * ROWS_PITCH] = make_float2 (high.x, high.y), trust[3 * ROWS_PITCH] = make_float2 (high.z, high.w);
}

/* Loads columns from @first on of 32 rows. A warp loads four rows of 32 columns, four pixels a lane: the lanes then
 * write to different banks. */
static __device__ __forceinline__ void
load_rows (const Frame &f, const StereoView &view, const float2 *map, const LineTile<ROWS_PITCH> &tile, int pixels,
    int first, int y0)
{
  int row = threadIdx.x % 4, column = threadIdx.x % 32 / 4 * 4, step = blockDim.x / 32;
  int last = (f.width - 1) / 4 * 4, items = (pixels + 31) / 32 * 8;

#pragma unroll 1
  for (int start = threadIdx.x / 32; start < items; start += LOADS_AHEAD * step) {
    uint4 color[LOADS_AHEAD];
    float4 low[LOADS_AHEAD], high[LOADS_AHEAD];
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++) {
      int item = min (start + n * step, items - 1); /* as in load_columns() */
      int from = first + item / 8 * 32 + column, x = min (max (from, 0), last);
      int y = min (y0 + item % 8 * 4 + row, f.height - 1);
      const float4 *sums = (const float4 *) (map + (ptrdiff_t) y * f.map_pitch + x);
      color[n] = *(const uint4 *) (view.likeness + (ptrdiff_t) y * f.image_pitch + x);
      low[n] = sums[0];
      high[n] = sums[1];
      if (x != from)
        low[n] = high[n] = make_float4 (0, 0, 0, 0);
    }
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++) {
      int item = start + n * step, p = item / 8 * 32 + column;
      if (p < pixels)
        store_rows (tile, p * ROWS_PITCH + item % 8 * 4 + row, color[n], low[n], high[n]);
    }
  }
}

/* Block: 32 rows (a lane each) by a strip of columns (eight a warp); blockIdx.z: the view. Shared memory: see
 * LineTile. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
    horizontal_kernel (Frame f, LineFactors w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  const float2 *map = blockIdx.z ? sums.view[1] : sums.view[0];
  float2 total[EIGHT];
  int warps = blockDim.x / 32, own = own_eight (threadIdx.x / 32, warps), lane = threadIdx.x % 32;
  int x0 = blockIdx.x * EIGHT * warps, x = x0 + EIGHT * own, y = blockIdx.y * LINES + lane;
  LineTile<ROWS_PITCH> tile (shared, w.rounded, warps);

  make_decay (tile.decay, w);
  load_rows (f, view, map, tile, tile.pixels (w.rounded, warps), x0 - w.rounded, blockIdx.y * LINES);
  __syncthreads ();
  sum_lines<ALIGNED> (tile, w, own, warps, x0, f.width, lane, total);
  if (x >= f.width || y >= f.height)
    return;
  int4 *to = (int4 *) (view.expected + (size_t) y * f.map_pitch + x);
#pragma unroll
  for (int k = 0; k < EIGHT; k += 4)
    to[k / 4] = make_int4 (expected_of (total[k].x, total[k].y), expected_of (total[k + 1].x, total[k + 1].y),
        expected_of (total[k + 2].x, total[k + 2].y), expected_of (total[k + 3].x, total[k + 3].y));
}

/* ---- stage ----------------------------------------------------------------------------------------- */

/* Eights of a strip along a line of @length pixels: as many as a block may have and shared memory holds, which is at
 * least two on every device of the backend. Strips get about the same length. */
static int
choose_warps (const StereoPlan *plan, int length)
{
  int rounded = line_factors (window_of (plan)).rounded, warps = MOST_WARPS, eights = (length + EIGHT - 1) / EIGHT;

  while (warps > 2 && LineTile<ROWS_PITCH>::bytes (rounded, warps) > (size_t) cuda_state (plan)->shared_per_block)
    warps--;
  int strips = (eights + warps - 1) / warps;
  return (eights + strips - 1) / strips;
}

/* Allows the kernels the device's limit of shared memory: another plan of the process may need more than this one. */
template <bool ALIGNED> static StereoStatus
allow_shared (const StereoPlan *plan, StereoError *error)
{
  int most = cuda_state (plan)->shared_per_block;
  CUDA_TRY (cudaFuncSetAttribute (vertical_kernel<ALIGNED>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (cudaFuncSetAttribute (horizontal_kernel<ALIGNED>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (cudaFuncSetAttribute (
      vertical_kernel<ALIGNED>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  CUDA_TRY (cudaFuncSetAttribute (
      horizontal_kernel<ALIGNED>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  return STEREO_OK;
}

template <bool ALIGNED> static StereoStatus
launch_passes (StereoPlan *plan, const SumMaps &sums, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  LineFactors w = line_factors (window_of (plan));
  int down = choose_warps (plan, plan->height), across = choose_warps (plan, plan->width);
  dim3 vertical (cuda_blocks (plan->width, LINES), cuda_blocks (plan->height, EIGHT * down), 2);
  dim3 horizontal (cuda_blocks (plan->width, EIGHT * across), cuda_blocks (plan->height, LINES), 2);

  vertical_kernel<ALIGNED>
      <<<vertical, 32 * down, LineTile<LINES>::bytes (w.rounded, down), state->stream>>> (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "vertical_kernel");
  horizontal_kernel<ALIGNED>
      <<<horizontal, 32 * across, LineTile<ROWS_PITCH>::bytes (w.rounded, across), state->stream>>> (
          cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "horizontal_kernel");
  return STEREO_OK;
}

/* The radius of windows of 17, 33, 49, 65, ... is a multiple of eight. */
static bool
is_aligned (const StereoPlan *plan)
{
  int radius = plan->params.refine_window / 2;
  return radius >= EIGHT && radius % EIGHT == 0;
}

static StereoStatus
two_pass_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  SumMaps *sums = (SumMaps *) context;
  StereoStatus status = is_aligned (plan) ? allow_shared<true> (plan, error) : allow_shared<false> (plan, error);
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &sums->view[v],
        (size_t) plan->map_pitch * (size_t) plan->height, sizeof (float2), error);
  return status;
}

static StereoStatus
two_pass_run (StereoPlan *plan, void *context, StereoError *error)
{
  const SumMaps &sums = *(const SumMaps *) context;
  return is_aligned (plan) ? launch_passes<true> (plan, sums, error) : launch_passes<false> (plan, sums, error);
}

}

extern const StereoStage stereo_cuda_refine_two_pass = {
  .name = "refine", .context_size = sizeof (SumMaps), .prepare = two_pass_prepare, .run = two_pass_run
};

/* The expected disparity of refinement (3.2.3) over the full window. It is slow, and there to compare with. */

namespace
{

constexpr int BLOCK_X = 32; /* threads; 4 columns each */
constexpr int ROWS = 8;     /* rows of threads, and rows of taps at a time */
constexpr int THREADS = BLOCK_X * ROWS;
constexpr int SPAN = 4 * BLOCK_X + 2 * REFINE_MOST;
constexpr int OFFSETS = 2 * ROWS - 1; /* between a row of taps and a row of threads */

struct Taps
{
  uint32_t color[ROWS][SPAN];
  float confidence[ROWS][SPAN], product[ROWS][SPAN];
  float distances[OFFSETS][REFINE_DISTANCES];
};

/* Loads ROWS rows of taps from @row on, around column @x0, and their distance terms for the rows from @y0 on. */
static __device__ void
load_taps (const Frame &f, const Window &w, const StereoView &view, int x0, int y0, int row, Taps *taps)
{
  int span = 4 * BLOCK_X + 2 * w.rounded, places = 2 * w.rounded + 8;

  for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < ROWS * span; n += THREADS) {
    int k = n / span, u = n % span, x = x0 + u - w.rounded, y = row + k;
    bool inside = x >= 0 && x < f.width && y >= 0 && y < f.height;
    float confidence = inside ? view.confidence[(size_t) y * f.map_pitch + x] : 0.0f;
    taps->color[k][u] = inside ? view.likeness[(size_t) y * f.image_pitch + x] : 0;
    taps->confidence[k][u] = confidence;
    taps->product[k][u] = inside ? confidence * (float) view.index[(size_t) y * f.map_pitch + x] : 0.0f;
  }
  for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < OFFSETS * places; n += THREADS)
    taps->distances[n / places][n % places] = distance_term (w, n % places, row - y0 + n / places - (ROWS - 1));
}

/* Thread: a row by four columns; blockIdx.z: the view. Shared memory: eight rows of taps at a time, and the distance
 * terms between them and the block's eight rows. */
static __global__ void
__launch_bounds__ (THREADS) full_kernel (Frame f, Window w)
{
  __shared__ __align__ (16) Taps taps;
  const StereoView &view = f.view[blockIdx.z];
  int x0 = blockIdx.x * 4 * BLOCK_X, y0 = blockIdx.y * ROWS, x = x0 + 4 * threadIdx.x, y = y0 + threadIdx.y;
  bool inside = x < f.width && y < f.height;
  Sums s = {};
  uint32_t centre[4];

#pragma unroll
  for (int k = 0; k < 4; k++)
    centre[k] = view.likeness[(size_t) min (y, f.height - 1) * f.image_pitch + min (x + k, f.width - 1)];
  for (int row = y0 - w.radius; row < y0 + ROWS + w.radius; row += ROWS) {
    __syncthreads ();
    load_taps (f, w, view, x0, y0, row, &taps);
    __syncthreads ();
    for (int k = 0; k < ROWS && inside; k++) {
      if (row + k < 0 || row + k >= f.height || abs (row + k - y) > w.radius)
        continue;
      const float *distances = taps.distances[k - (int) threadIdx.y + ROWS - 1];
      for (int g = 0; g <= w.rounded / 2; g++) {
        int u = threadIdx.x + g;
        add_group (s, centre, ((const uint4 *) taps.color[k])[u], ((const float4 *) taps.confidence[k])[u],
            ((const float4 *) taps.product[k])[u], distances + 4 * g, w.color);
      }
    }
  }
  if (inside)
    store_expected (view, (size_t) y * f.map_pitch + x, s);
}

static StereoStatus
full_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, 4 * BLOCK_X), cuda_blocks (plan->height, ROWS), 2);
  full_kernel<<<grid, dim3 (BLOCK_X, ROWS), 0, cuda_state (plan)->stream>>> (cuda_frame (plan), window_of (plan));
  CUDA_LAUNCHED (plan, "full_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_refine_full = { .name = "refine", .run = full_run };
