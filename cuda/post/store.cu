/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Medians of windows: ../../stereo/exact/median.h. */
#include "cuda/common.cuh"
#include "stereo/exact/cost.h"
#include "stereo/exact/median.h"

namespace
{

static __device__ __forceinline__ void
sort_two (float &a, float &b)
{
  float low = fminf (a, b), high = fmaxf (a, b);
  a = low;
  b = high;
}

/* Moves the least of the values @first..@last to @first and the greatest to @last. */
template <int N> static __device__ __forceinline__ void
extremes (float (&v)[N], int first, int last)
{
  int count = last - first + 1;

#pragma unroll
  for (int k = 0; k < count / 2; k++)
    sort_two (v[first + k], v[last - k]);
#pragma unroll
  for (int k = first + 1; k < first + (count + 1) / 2; k++)
    sort_two (v[first], v[k]);
#pragma unroll
  for (int k = first + count / 2; k < last; k++)
    sort_two (v[k], v[last]);
}

/*
 * The middle one of an odd number of values. Of any N / 2 + 2 values neither the least nor the greatest can be the
 * middle of all: both are dropped and the next value is taken in, until three are left. Reorders @v.
 */
template <int N> static __device__ __forceinline__ float
middle_of (float (&v)[N])
{
  const int HELD = N / 2 + 2;

#pragma unroll
  for (int k = 0; k < HELD - 2; k++) {
    extremes (v, k, HELD - 1);
    if (k < HELD - 3)
      v[HELD - 1] = v[HELD + k];
  }
  return v[HELD - 2];
}

/* ---- medians of neighbouring windows of 5x5, which share columns ------------------------------------ */

/* The five values in ascending order. */
static __device__ __forceinline__ void
sort_five (float (&v)[5])
{
  sort_two (v[0], v[3]);
  sort_two (v[1], v[4]);
  sort_two (v[0], v[2]);
  sort_two (v[1], v[3]);
  sort_two (v[0], v[1]);
  sort_two (v[2], v[4]);
  sort_two (v[1], v[2]);
  sort_two (v[3], v[4]);
  sort_two (v[2], v[3]);
}

/* Merges two ascending pairs: the first and the last ones on their own, then the neighbours (Batcher 1968). */
static __device__ __forceinline__ void
merge_twos (float a0, float a1, float b0, float b1, float (&to)[4])
{
  sort_two (a0, b0);
  sort_two (a1, b1);
  sort_two (b0, a1);
  to[0] = a0, to[1] = b0, to[2] = a1, to[3] = b1;
}

/* Merges two columns in ascending order: their odd and their even values on their own, then the neighbours. */
static __device__ __forceinline__ void
merge_fives (const float (&a)[5], const float (&b)[5], float (&to)[10])
{
  float ends[4], even[4], low = a[2], high = b[2];

  merge_twos (a[0], a[4], b[0], b[4], ends);
  merge_twos (a[1], a[3], b[1], b[3], even);
  sort_two (low, high);
  sort_two (low, ends[1]);
  sort_two (high, ends[2]);
  /* the odd ones are ends[0], low, ends[1], high, ends[2], ends[3] */
  float odd[4] = { low, ends[1], high, ends[2] };
  to[0] = ends[0];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    sort_two (even[k], odd[k]);
    to[1 + 2 * k] = even[k];
    to[2 + 2 * k] = odd[k];
  }
  to[9] = ends[3];
}

/* The 8th to the 13th of 20 values, in ascending order, of which @a and @b have ten each in ascending order. Of the value at k
 * from the front of one and the value at k from the back of the other, the lower one is among the ten lowest of all. In both
 * tens, the same holds of values five apart. */
static __device__ __forceinline__ void
middle_six (const float (&a)[10], const float (&b)[10], float (&six)[6])
{
  float low[5], high[5];

#pragma unroll
  for (int k = 0; k < 5; k++) {
    low[k] = fmaxf (fminf (a[k], b[9 - k]), fminf (a[k + 5], b[4 - k]));
    high[k] = fminf (fmaxf (a[k], b[9 - k]), fmaxf (a[k + 5], b[4 - k]));
  }
  sort_five (low);
  sort_five (high);
#pragma unroll
  for (int k = 0; k < 3; k++) {
    six[k] = low[2 + k];
    six[3 + k] = high[k];
  }
}

/* The middle one of 25 values: of 20, @six are the 8th to the 13th, and @five are the others. It is the 6th of these 11, and
 * that is the least of what bounds any six of them that are the lowest of each. */
static __device__ __forceinline__ float
middle_with (const float (&six)[6], const float (&five)[5])
{
  float middle = six[5];

#pragma unroll
  for (int k = 0; k < 5; k++)
    middle = fminf (middle, fmaxf (six[k], five[4 - k]));
  return middle;
}

/* The middles of four windows of 5x5 from eight columns in ascending order. Neighbouring windows share four columns. */
static __device__ __forceinline__ void
middles_of_columns (const float (&column)[8][5], float (&middle)[4])
{
  float centre[10], side[10], six[6];

  merge_fives (column[3], column[4], centre);
  merge_fives (column[1], column[2], side);
  middle_six (centre, side, six);
  middle[0] = middle_with (six, column[0]);
  middle[1] = middle_with (six, column[5]);
  merge_fives (column[5], column[6], side);
  middle_six (centre, side, six);
  middle[2] = middle_with (six, column[2]);
  middle[3] = middle_with (six, column[7]);
}

/* Invalid values become the lowest and the highest in turn: the middle of all is then the median of the valid ones. */
template <int N> static __device__ __forceinline__ float
median_of (float (&v)[N])
{
  float beyond = -INFINITY;

#pragma unroll
  for (int k = 0; k < N; k++)
    if (isnan (v[k])) {
      v[k] = beyond;
      beyond = -beyond;
    }
  return middle_of (v);
}

/* The median of a window of 5x5 around a pixel that has a disparity; or that disparity, where it is of a thin near thing. */
static __device__ __forceinline__ float
median_or_thin (const float (&window)[25])
{
  float v[25], own = window[12];
  int alike = 0;

#pragma unroll
  for (int k = 0; k < 25; k++)
    v[k] = window[k];
  float median = median_of (v);
  if (!stereo_median_is_before (own, median))
    return median;
#pragma unroll
  for (int k = 0; k < 25; k++)
    alike += stereo_median_is_alike (own, window[k]);
  return stereo_median_keeps (alike) ? own : median;
}

/* From the disparity and its confidence to samples, for transfer.cu. Median, threshold and storing are one kernel: the disparities between
 * them are never written. */

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 8;
constexpr int EACH = 4; /* pixels of a thread: rows of maps are whole vectors of them */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* Scratch memory of the stage. */
struct OutputContext
{
  float *edges; /* the disparity before the median of 5x5 */
};

struct Store
{
  uint8_t *rows;              /* of results: see common.cuh */
  size_t row;                 /* bytes */
  unsigned long long *counts; /* valid samples, sum of confidence bytes */
  float least;                /* confidence that a pixel needs to have a disparity */
  bool depth;
  float scale;                   /* u16 disparity */
  float byte_factor;             /* u8 */
  float product, offset, per_mm; /* depth */
};

template <typename Value> struct __align__ (EACH * sizeof (Value)) Four
{
  Value of[EACH];
};

/* ---- samples ---------------------------------------------------------------------------------------- */

/* Makes one sample; true: it holds a value. */
static __device__ __forceinline__ bool
make_sample (const Frame &f, const Store &s, float d, uint16_t *to)
{
  uint32_t v = isnan (d) ? 0 :
      s.depth            ? stereo_store_depth (stereo_depth (d, s.product, s.offset), s.per_mm) :
                           stereo_store_disparity (d, s.scale);
  *to = (uint16_t) v;
  return v != 0;
}

static __device__ __forceinline__ bool
make_sample (const Frame &f, const Store &s, float d, uint8_t *to)
{
  uint32_t v = isnan (d) ? 0 : stereo_store_byte (d, (float) f.min_disparity, s.byte_factor);
  *to = (uint8_t) v;
  return v != 0;
}

static __device__ __forceinline__ bool
make_sample (const Frame &f, const Store &s, float d, float *to)
{
  float v = isnan (d) ? NAN : s.depth ? stereo_depth (d, s.product, s.offset) : d;
  *to = v;
  return !isnan (v);
}

/* Stores the values of the pixels from column @x on to row @to, in one piece if every row begins on a whole vector. */
template <typename Value> static __device__ __forceinline__ void
store_four (const Frame &f, int x, const Four<Value> &values, Value *to)
{
  to += x;
  if (f.width % EACH == 0) {
    *(Four<Value> *) to = values;
    return;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (x + k < f.width)
      to[k] = values.of[k];
}

/* ---- disparities ------------------------------------------------------------------------------------ */

/* Row @y of a window from RADIUS columns before @x to as many beyond the last of its pixels. */
template <int RADIUS> static __device__ __forceinline__ void
load_row (const Frame &f, int x, int y, float (&row)[EACH + 2 * RADIUS])
{
  const float4 none = make_float4 (NAN, NAN, NAN, NAN);
  const float4 *from = (const float4 *) (f.disparity + (ptrdiff_t) y * f.map_pitch + x);
  bool inside = y >= 0 && y < f.height;
  float4 before = RADIUS > 0 && inside && x > 0 ? from[-1] : none, own = inside ? from[0] : none;
  float4 after = RADIUS > 0 && inside && x + EACH < f.width ? from[1] : none;
  const float all[3 * EACH] = { before.x, before.y, before.z, before.w, own.x, own.y, own.z, own.w, after.x, after.y,
    after.z, after.w };

  static_assert (RADIUS <= EACH && EACH == 4, "one vector to either side");
#pragma unroll
  for (int k = 0; k < EACH + 2 * RADIUS; k++)
    row[k] = x + k - RADIUS < f.width ? all[EACH - RADIUS + k] : NAN;
}

/* The disparities of the pixels from column @x on: medians of their windows. A pixel without a disparity stays
 * without. Bit k of the result: pixel k waits for find_open_medians(). It has a disparity, but not all of its window of 5x5 has, or
 * it is nearer than the median. */
template <int RADIUS> static __device__ __forceinline__ unsigned
load_disparities (const Frame &f, int x, int y, float (&d)[EACH])
{
  const int SIDE = 2 * RADIUS + 1;
  float rows[SIDE][EACH + 2 * RADIUS];

#pragma unroll
  for (int v = 0; v < SIDE; v++)
    load_row<RADIUS> (f, x, y + v - RADIUS, rows[v]);
#pragma unroll
  for (int k = 0; k < EACH; k++)
    d[k] = rows[RADIUS][RADIUS + k];
  if constexpr (RADIUS == 2) {
    float columns[EACH + 4][5];
    unsigned invalid = 0, open = 0; /* columns, pixels */
#pragma unroll
    for (int u = 0; u < EACH + 4; u++) {
      float sum = 0;
#pragma unroll
      for (int v = 0; v < 5; v++)
        sum += columns[u][v] = rows[v][u];
      invalid |= (unsigned) isnan (sum) << u;
      sort_five (columns[u]);
    }
    float middle[EACH];
    middles_of_columns (columns, middle);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      bool all = !(invalid >> k & 31);
      open |= (unsigned) (all ? stereo_median_is_before (d[k], middle[k]) : !isnan (d[k])) << k;
      d[k] = all ? middle[k] : d[k];
    }
    return open;
  } else if constexpr (RADIUS == 1) {
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      float window[9];
#pragma unroll
      for (int j = 0; j < 9; j++)
        window[j] = rows[j / 3][k + j % 3];
      if (!isnan (d[k]))
        d[k] = median_of (window);
    }
  }
  return 0;
}

/* Pixels of a block whose windows have invalid values, or that may be thin near things. They are few, but most warps have some:
 * all threads of the block share them out. */
struct OpenPixels
{
  int count;
  uint16_t pixel[BLOCK_X * BLOCK_Y * EACH]; /* thread * EACH + its pixel */
  float median[BLOCK_X * BLOCK_Y * EACH];
};

/* By all threads of the block: the medians of the @open pixels of this thread; see load_disparities(). */
static __device__ __forceinline__ void
find_open_medians (const Frame &f, OpenPixels *shared, int first, unsigned open, float (&d)[EACH])
{
  int thread = threadIdx.y * BLOCK_X + threadIdx.x;

#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (open >> k & 1)
      shared->pixel[atomicAdd (&shared->count, 1)] = (uint16_t) (thread * EACH + k);
  __syncthreads ();
#pragma unroll 1
  for (int n = thread; n < shared->count; n += BLOCK_X * BLOCK_Y) {
    int pixel = shared->pixel[n], x = blockIdx.x * BLOCK_X * EACH + pixel % (BLOCK_X * EACH);
    int y = first + blockIdx.y * BLOCK_Y + pixel / (BLOCK_X * EACH);
    float window[25];
#pragma unroll
    for (int j = 0; j < 25; j++) {
      int u = x + j % 5 - 2, v = y + j / 5 - 2;
      bool inside = u >= 0 && u < f.width && v >= 0 && v < f.height;
      window[j] = inside ? f.disparity[(ptrdiff_t) v * f.map_pitch + u] : NAN;
    }
    shared->median[pixel] = median_or_thin (window);
  }
  __syncthreads ();
#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (open >> k & 1)
      d[k] = shared->median[thread * EACH + k];
}

/* ---- depth edges, before the median of 5x5 ------------------------------------------------------------ */

/* Sorts all words: Batcher's merging network (1968), from runs of @RUN words on. */
template <int RUN = 1, int AWAY = RUN> static __device__ __forceinline__ void
sort_words (int (&word)[STEREO_EDGE_TAPS])
{
#pragma unroll
  for (int k = AWAY % RUN; k + AWAY < STEREO_EDGE_TAPS; k++)
    if ((k - AWAY % RUN) / AWAY % 2 == 0 && k / (2 * RUN) == (k + AWAY) / (2 * RUN)) {
      int low = min (word[k], word[k + AWAY]), high = max (word[k], word[k + AWAY]);
      word[k] = low;
      word[k + AWAY] = high;
    }
  if constexpr (AWAY > 1)
    sort_words<RUN, AWAY / 2> (word);
  else if constexpr (2 * RUN < STEREO_EDGE_TAPS)
    sort_words<2 * RUN> (word);
}

/* The word of tap @k of the pixel (@x, @y), of colour @color. */
static __device__ __forceinline__ int
edge_word (const Frame &f, int x, int y, uint32_t color, int k)
{
  const int MISSING = INT32_MAX >> STEREO_EDGE_WEIGHT_BITS << STEREO_EDGE_WEIGHT_BITS;
  const float MOST = STEREO_MAX_DISPARITIES * STEREO_EDGE_STEPS;
  int u = x + k % STEREO_EDGE_SIDE * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
  int v = y + k / STEREO_EDGE_SIDE * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
  bool inside = (unsigned) u < (unsigned) f.width && (unsigned) v < (unsigned) f.height;

  u = inside ? u : x; /* all taps are loaded before one of them is waited for */
  v = inside ? v : y;
  float value = f.disparity[(size_t) v * f.map_pitch + u];
  int distance = stereo_color_distance (color, f.view[STEREO_LEFT].color[(size_t) v * f.image_pitch + u]);
  int weight = max (STEREO_EDGE_ALIKE - distance, 1) * (k == STEREO_EDGE_TAPS / 2 ? 2 : 1);
  float steps = fminf (fmaxf ((value - (float) f.min_disparity) * (float) STEREO_EDGE_STEPS, 0.0f), MOST - 1);
  static_assert (
      STEREO_MAX_DISPARITIES * STEREO_EDGE_STEPS == 1 << 23, "the sum has the rounded steps in its lowest bits");
  return !inside || isnan (value) ? MISSING : __float_as_int (steps + MOST) << STEREO_EDGE_WEIGHT_BITS | weight;
}

static __device__ __forceinline__ float
edge_median (const Frame &f, int x, int y)
{
  const int WEIGHTS = (1 << STEREO_EDGE_WEIGHT_BITS) - 1;
  uint32_t color = f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x];
  int word[STEREO_EDGE_TAPS], total = 0, below = 0;

#pragma unroll
  for (int k = 0; k < STEREO_EDGE_TAPS; k++) {
    word[k] = edge_word (f, x, y, color, k);
    total += word[k] & WEIGHTS;
  }
  sort_words (word);
  int median = word[0];
#pragma unroll
  for (int k = 0; k < STEREO_EDGE_TAPS - 1; k++) {
    below += word[k] & WEIGHTS;
    median = 2 * below < total ? word[k + 1] : median;
  }
  return (float) (median >> STEREO_EDGE_WEIGHT_BITS) * (1.0f / STEREO_EDGE_STEPS) + (float) f.min_disparity;
}

/* Which of four pixels of a row, whose disparities go to @own, are at an edge and not of a thin near thing, in bits. */
static __device__ __forceinline__ unsigned
find_edges (const Frame &f, int x, int y, float (&own)[EACH])
{
  constexpr int LAST = 2 * STEREO_EDGE_RADIUS, COLUMNS = EACH + LAST;
  float rows[STEREO_EDGE_SIDE][COLUMNS], low[COLUMNS], high[COLUMNS];
  unsigned edges = 0;

#pragma unroll
  for (int v = 0; v < STEREO_EDGE_SIDE; v++) {
    load_row<STEREO_EDGE_RADIUS> (f, x, y + v * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS, rows[v]);
#pragma unroll
    for (int u = 0; u < COLUMNS; u++) {
      low[u] = v ? fminf (low[u], rows[v][u]) : rows[v][u];
      high[u] = v ? fmaxf (high[u], rows[v][u]) : rows[v][u];
    }
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const float (&middle)[COLUMNS] = rows[STEREO_EDGE_SIDE / 2];
    float d = own[k] = middle[k + STEREO_EDGE_RADIUS], least = d, most = d;
#pragma unroll
    for (int u = 0; u < STEREO_EDGE_SIDE; u++) {
      least = fminf (least, low[k + u * STEREO_EDGE_STEP]);
      most = fmaxf (most, high[k + u * STEREO_EDGE_STEP]);
    }
    bool along = stereo_edge_is_near (d, middle[k]) || stereo_edge_is_near (d, middle[k + LAST]);
    bool down = stereo_edge_is_near (d, rows[0][k + STEREO_EDGE_RADIUS]) ||
        stereo_edge_is_near (d, rows[STEREO_EDGE_SIDE - 1][k + STEREO_EDGE_RADIUS]);
    edges |= (unsigned) (along && down && most - least > STEREO_EDGE_JUMP) << k;
  }
  return edges;
}

/* Thread: four pixels of a row, from row @first on. Those at edges are few: all threads of the block share them out. Shared memory: their
 * list. @counts, to which the next kernel adds, are emptied. */
static __global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y, 4) edges_kernel (Frame f, float *to, unsigned long long *counts, int first)
{
  __shared__ int count;
  __shared__ uint16_t pixels[BLOCK_X * BLOCK_Y * EACH]; /* thread * EACH + its pixel */
  int thread = threadIdx.y * BLOCK_X + threadIdx.x;
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = first + blockIdx.y * BLOCK_Y + threadIdx.y;

  if (thread == 0)
    count = 0;
  if (blockIdx.x == 0 && blockIdx.y == 0 && thread < 2)
    counts[thread] = 0;
  __syncthreads ();
  if (x < f.width && y < f.height) {
    float own[EACH] = {};
    unsigned edges = find_edges (f, x, y, own);
    *(float4 *) (to + (size_t) y * f.map_pitch + x) = make_float4 (own[0], own[1], own[2], own[3]);
#pragma unroll
    for (int k = 0; k < EACH; k++)
      if (edges >> k & 1)
        pixels[atomicAdd (&count, 1)] = (uint16_t) (thread * EACH + k);
  }
  __syncthreads ();
#pragma unroll 1
  for (int n = thread; n < count; n += BLOCK_X * BLOCK_Y) {
    int u = blockIdx.x * BLOCK_X * EACH + pixels[n] % (BLOCK_X * EACH);
    int v = first + blockIdx.y * BLOCK_Y + pixels[n] / (BLOCK_X * EACH);
    to[(size_t) v * f.map_pitch + u] = edge_median (f, u, v);
  }
}

/* ---- the kernel ------------------------------------------------------------------------------------- */

static __device__ __forceinline__ unsigned
warp_sum (unsigned value)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
  return __reduce_add_sync (ALL_LANES, value);
#else
  for (int away = 16; away; away /= 2)
    value += __shfl_xor_sync (ALL_LANES, value, away);
  return value;
#endif
}

/* One word has both counts of a block of 1024 pixels: 11 bits for the valid ones above 20 bits of confidence. */
constexpr int VALID_SHIFT = 20;

/* Thread: four pixels of a row, from @first to @end - 1. A pixel without a disparity gets the confidence 0. Shared memory: the counts of
 * the block, and its open pixels. */
template <typename Sample, int RADIUS> static __global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y) output_kernel (Frame f, Store s, int first, int end)
{
  __shared__ unsigned block_counts;
  __shared__ OpenPixels open_pixels; /* only of windows of 5x5 */
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = first + blockIdx.y * BLOCK_Y + threadIdx.y;
  bool inside = x < f.width && y < end;
  unsigned counts = 0, open = 0;
  float d[EACH];

  if (threadIdx.x == 0 && threadIdx.y == 0) {
    block_counts = 0;
    if (RADIUS == 2)
      open_pixels.count = 0;
  }
  __syncthreads ();
  if (inside)
    open = load_disparities<RADIUS> (f, x, y, d);
  if (RADIUS == 2)
    find_open_medians (f, &open_pixels, first, open, d);
  if (inside) {
    float4 quad = *(const float4 *) (f.view[STEREO_LEFT].confidence + (size_t) y * f.map_pitch + x);
    float confidence[EACH] = { quad.x, quad.y, quad.z, quad.w };
    Four<Sample> samples;
    Four<uint8_t> bytes;

#pragma unroll
    for (int k = 0; k < EACH; k++) {
      if (confidence[k] < s.least)
        d[k] = NAN;
      counts += (unsigned) make_sample (f, s, d[k], &samples.of[k]) << VALID_SHIFT;
      bytes.of[k] = isnan (d[k]) ? 0 : (uint8_t) rintf (confidence[k] * 255);
      counts += bytes.of[k];
    }
    store_four (f, x, samples, (Sample *) (s.rows + (size_t) y * s.row));
    store_four (f, x, bytes, s.rows + (size_t) y * s.row + f.width * sizeof (Sample));
  }
  counts = warp_sum (counts);
  if (threadIdx.x == 0)
    atomicAdd (&block_counts, counts);
  __syncthreads ();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    atomicAdd (s.counts, (unsigned long long) (block_counts >> VALID_SHIFT));
    atomicAdd (s.counts + 1, (unsigned long long) (block_counts & ((1u << VALID_SHIFT) - 1)));
  }
}

static StereoStatus
output_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  OutputContext *context = (OutputContext *) data;
  CudaState *state = cuda_state (plan);
  StereoStatus status = STEREO_OK;

  if (plan->params.median == STEREO_MEDIAN_5)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &context->edges,
        stereo_times ((size_t) plan->map_pitch, (size_t) plan->height), sizeof (float), error);
  for (CudaSlot &slot : state->slot)
    if (!status)
      status = stereo_reserve (plan, (void **) &slot.results, cuda_results_most (plan), 1, error);
  return status;
}

static dim3
grid_of (const Frame &f, int rows)
{
  return dim3 (cuda_blocks (f.width, BLOCK_X * EACH), cuda_blocks (rows, BLOCK_Y));
}

template <typename Sample> static void
launch (const StereoPlan *plan, const Frame &f, const Store &s, int first, int end, cudaStream_t stream)
{
  auto kernel = plan->params.median == STEREO_MEDIAN_5 ? output_kernel<Sample, 2> :
      plan->params.median == STEREO_MEDIAN_3           ? output_kernel<Sample, 1> :
                                                         output_kernel<Sample, 0>;
  kernel<<<grid_of (f, end - first), dim3 (BLOCK_X, BLOCK_Y), 0, stream>>> (f, s, first, end);
}

/* The rows of some parts of the results. Medians at edges are made as far as the windows of 5x5 reach: those between two parts are made
 * twice, the same ones. */
static StereoStatus
run_parts (StereoPlan *plan, Store s, float *edges, int part, int parts, cudaStream_t stream, StereoError *error)
{
  int first = cuda_part (plan, part), end = cuda_part (plan, part + parts);
  Frame f = cuda_frame (plan);

  s.counts += part ? 2 : 0;
  if (plan->params.median == STEREO_MEDIAN_5) {
    int from = max (first - 2, 0);
    edges_kernel<<<grid_of (f, min (end + 2, f.height) - from), dim3 (BLOCK_X, BLOCK_Y), 0, stream>>> (
        f, edges, s.counts, from);
    CUDA_LAUNCHED (plan, "edges_kernel");
    f.disparity = edges;
  } else
    CUDA_TRY (cudaMemsetAsync (s.counts, 0, 2 * sizeof *s.counts, stream));
  switch (plan->output.sample) {
    case STEREO_SAMPLE_U8:
      launch<uint8_t> (plan, f, s, first, end, stream);
      break;
    case STEREO_SAMPLE_U16:
      launch<uint16_t> (plan, f, s, first, end, stream);
      break;
    case STEREO_SAMPLE_F32:
      launch<float> (plan, f, s, first, end, stream);
      break;
  }
  CUDA_LAUNCHED (plan, "output_kernel");
  return STEREO_OK;
}

/* Of several parts, the first ones are on their way to the host while the others are made. Their event is not one of the graph's own. */
static StereoStatus
output_run (StereoPlan *plan, void *data, StereoError *error)
{
  const OutputContext *context = (const OutputContext *) data;
  const CudaState *state = cuda_state (plan);
  const StereoParams *p = &plan->params;
  uint8_t *results = state->slot[plan->slot].results;
  Store s = { results + CUDA_ROWS_AT, cuda_result_row (plan), (unsigned long long *) results,
    (float) stereo_params_last_threshold (p), p->output == STEREO_OUTPUT_DEPTH, (float) p->disparity_scale,
    p->num_disparities > 1 ? 254.0f / (float) (p->num_disparities - 1) : 0.0f, (float) (p->focal_length * p->baseline),
    (float) p->principal_offset, (float) (1000 / p->depth_unit) };
  int parts = cuda_parts (plan), early = min (parts, CUDA_EARLY);
  cudaStream_t late = state->stream;
  cudaStreamCaptureStatus capture;
  StereoStatus status = parts > early ? cuda_begin_late (plan, &late, error) : STEREO_OK;

  if (status || (status = run_parts (plan, s, context->edges, 0, early, state->stream, error)) || early == parts)
    return status;
  CUDA_TRY (cudaStreamIsCapturing (state->stream, &capture));
  CUDA_TRY (cudaEventRecordWithFlags (state->slot[plan->slot].computed[0], state->stream,
      capture == cudaStreamCaptureStatusActive ? cudaEventRecordExternal : cudaEventRecordDefault));
  status = run_parts (plan, s, context->edges, early, parts - early, late, error);
  return status ? status : cuda_join (plan, error);
}

}

extern const StereoStage stereo_cuda_output = {
  .name = "output", .context_size = sizeof (OutputContext), .prepare = output_prepare, .run = output_run
};
