/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential step size aggregation, for esaw.cu and esmp.cu: a kernel an iteration, which reads one volume and writes
 * the other.
 *
 * Rows and columns are taken in the order of their chains (stereo_chain_row()): there a pixel's taps are its
 * neighbours, however far apart they are, and a block of neighbours finds most taps in the L1 cache. A thread has
 * eight candidates (VECTORS times eight) of a column and goes down some rows: it makes the mean along each row, and of
 * every three of those the mean along the column. Lanes next to each other have neighbouring candidates, so that
 * memory is read and written in runs. The weights of the block's pixels are made first, each once.
 *
 * The first iteration makes the costs it reads. With MESSAGES, costs become messages before they are averaged: those
 * along the row in registers, those along the column when they are stored for the next iteration.
 */
#ifndef STEREO_CUDA_EXPONENTIAL_CUH
#define STEREO_CUDA_EXPONENTIAL_CUH

#include "cuda/common.cuh"
#include "stereo/exponential.h"

#define EXPONENTIAL_THREADS 256
#define EXPONENTIAL_BLOCKS 3    /* at least, on a multiprocessor */
#define EXPONENTIAL_COLUMNS 32  /* of a block, or fewer */
#define EXPONENTIAL_ROWS 32     /* of a block, at most */

enum { EXPONENTIAL_FIRST, EXPONENTIAL_MIDDLE, EXPONENTIAL_LAST, EXPONENTIAL_ONLY };

/* An iteration. blockDim: lanes, columns. A slot is a row of the block, one more before and one after them. */
struct Iteration
{
  Frame f;
  StereoExponential e;
  StereoTaps taps;
  const uint16_t *from;
  uint16_t *to;
  int rows;                     /* of a block */
};

/* ---- shared memory ------------------------------------------------------------------------------- */

/* The row of every slot; weights of its pixels' taps along the row and along the column; luma of the right view, clamped, for the
 * first iteration: of slot k, partner of the column after the last at candidate 0 first. */
struct Shared
{
  float *table;
  int *y;
  float2 *row, *column;
  uint8_t *luma;
  int luma_pitch;
};

/* Slots: rows of a block and two more, made even for what lies behind them. */
static __host__ __device__ __forceinline__ int
exponential_slots (int rows)
{
  return (rows + 3) / 2 * 2;
}

static __host__ __device__ __forceinline__ int
exponential_luma_pitch (int columns, int candidates)
{
  return (columns + 2 + candidates + 3) / 4 * 4;
}

static size_t
exponential_shared (int columns, int rows, int candidates, bool first)
{
  size_t slots = (size_t) exponential_slots (rows);
  return 256 * sizeof (float) + slots * (sizeof (int) + columns * 2 * sizeof (float2) +
      (first ? (size_t) exponential_luma_pitch (columns, candidates) : 0));
}

/* The row of slot @k; one that is there, if there is none. */
static __device__ __forceinline__ int
slot_row (const Iteration &t, int k)
{
  int first = blockIdx.y * t.rows, last = min (first + t.rows, t.f.height) - 1, n = first + k - 1;
  int y = stereo_chain_row (min (max (n, first), last), t.f.height, t.taps.reach);
  if (n < first)
    return y >= t.taps.reach ? y - t.taps.reach : y;
  if (n == last + 1)
    return y + t.taps.reach < t.f.height ? y + t.taps.reach : y;
  return y;
}

/* Normalised weights of the taps @away elements before and after a pixel, where there are any. */
static __device__ __forceinline__ float2
tap_weights (const float *table, const uint32_t *color, ptrdiff_t away, bool before, bool after)
{
  uint32_t own = *color;
  float a = before ? table[stereo_largest_difference (own, color[-away])] : 0.0f;
  float b = after ? table[stereo_largest_difference (own, color[away])] : 0.0f;
  float sum = a + 1.0f + b;
  return make_float2 (stereo_normalised (a, sum), stereo_normalised (b, sum));
}

template <bool FIRST>
static __device__ __forceinline__ void
fill_shared (const Iteration &t, const Shared &s, int candidates)
{
  const Frame &f = t.f;
  int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y, columns = blockDim.y;
  int reach = t.taps.reach, items = (t.rows + 2) * columns;

  for (int k = thread; k < 256; k += threads)
    s.table[k] = t.taps.weight[k];
  for (int k = thread; k < t.rows + 2; k += threads)
    s.y[k] = slot_row (t, k);
  __syncthreads ();
  for (int n = thread; n < items; n += threads) {
    int slot = n / columns, place = min ((int) (blockIdx.x * columns + n - slot * columns), f.width - 1);
    int x = stereo_chain_row (place, f.width, reach), y = s.y[slot];
    const uint32_t *color = f.view[STEREO_LEFT].color + (size_t) y * f.image_pitch + x;
    s.row[n] = tap_weights (s.table, color, reach, x >= reach, x + reach < f.width);
    s.column[n] = tap_weights (s.table, color, (ptrdiff_t) reach * f.image_pitch, y >= reach, y + reach < f.height);
  }
  if (FIRST) {  /* reach is 1: places are columns */
    int low = f.width - 1 - (int) ((blockIdx.x + 1) * columns) + f.min_disparity + (int) blockIdx.z * candidates;
    for (int n = thread; n < (t.rows + 2) * s.luma_pitch; n += threads) {
      int slot = n / s.luma_pitch, m = min (max (low + n - slot * s.luma_pitch, 0), f.width - 1);
      s.luma[n] = f.view[STEREO_RIGHT].luma[(size_t) s.y[slot] * f.image_pitch + m];
    }
  }
  __syncthreads ();
}

/* ---- costs in floats, STEREO_EXPONENTIAL_MAGIC more ------------------------------------------------ */

static __device__ __forceinline__ void
unpack (uint4 v, float *costs)
{
  uint32_t words[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
  for (int k = 0; k < 4; k++) {
    costs[2 * k] = __uint_as_float (__byte_perm (words[k], 0x4B000000u, 0x7410));
    costs[2 * k + 1] = __uint_as_float (__byte_perm (words[k], 0x4B000000u, 0x7432));
  }
}

static __device__ __forceinline__ uint4
pack (const float *costs)
{
  uint32_t words[4];
#pragma unroll
  for (int k = 0; k < 4; k++)
    words[k] = __byte_perm (__float_as_uint (costs[2 * k]), __float_as_uint (costs[2 * k + 1]), 0x5410);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

/* The weighted mean, rounded. */
static __device__ __forceinline__ float
mean (float own, float before, float after, float2 weight)
{
  return own + ((before - own) * weight.x + (after - own) * weight.y);
}

/* Candidates from @first on of a pixel whose luma is @own; @line: luma of their partners. */
template <int N>
static __device__ __forceinline__ void
make_costs (const Iteration &t, int own, const uint8_t *line, float *costs)
{
  uint32_t exponent = 0x4B000000u + ((uint32_t) t.e.shift << 23);       /* the low bits count volume units */
  float luma = __uint_as_float (exponent | own), top = (float) t.e.top;
#pragma unroll
  for (int i = 0; i < N; i++)
    costs[i] = fminf (fabsf (luma - __uint_as_float (exponent | line[i])), top) + STEREO_EXPONENTIAL_MAGIC;
}

/* ---- messages -------------------------------------------------------------------------------------- */

/* Candidates beyond the search, from @end on: the least likely of all. */
template <int N>
static __device__ __forceinline__ void
set_pads (float *costs, int end)
{
  if (end < N)
#pragma unroll
    for (int i = 0; i < N; i++)
      costs[i] = i < end ? costs[i] : STEREO_EXPONENTIAL_MAGIC + STEREO_EXPONENTIAL_PAD;
}

/*
 * Costs of a pixel, N a lane, to messages: a sweep up and one down in every lane, between which lanes hand on what
 * leaves them. What a value rises by on its way may exceed 24 bits, and is then beyond any cost however it is rounded.
 */
template <int N>
static __device__ __forceinline__ void
make_messages (const Iteration &t, float *costs, int end)
{
  int lanes = blockDim.x, lane = threadIdx.x;
  float slope = (float) t.e.small, lowest = costs[0];

  set_pads<N> (costs, end);
#pragma unroll
  for (int i = 0; i < N; i++)
    lowest = fminf (lowest, costs[i]);
#pragma unroll
  for (int i = 1; i < N; i++)
    costs[i] = fminf (costs[i], costs[i - 1] + slope);
#pragma unroll
  for (int i = N - 2; i >= 0; i--)
    costs[i] = fminf (costs[i], costs[i + 1] + slope);
  float up = costs[N - 1], down = costs[0];
  for (int o = 1; o < lanes; o *= 2) {
    float rise = slope * (float) (N * o);
    float below = __shfl_up_sync (0xFFFFFFFFu, up, o, lanes), above = __shfl_down_sync (0xFFFFFFFFu, down, o, lanes);
    lowest = fminf (lowest, __shfl_xor_sync (0xFFFFFFFFu, lowest, o, lanes));
    up = lane >= o ? fminf (up, below + rise) : up;
    down = lane + o < lanes ? fminf (down, above + rise) : down;
  }
  up = __shfl_up_sync (0xFFFFFFFFu, up, 1, lanes);
  down = __shfl_down_sync (0xFFFFFFFFu, down, 1, lanes);
  up = lane > 0 ? up : 2 * STEREO_EXPONENTIAL_MAGIC;
  down = lane + 1 < lanes ? down : 2 * STEREO_EXPONENTIAL_MAGIC;
  lowest += (float) t.e.large;
#pragma unroll
  for (int i = 0; i < N; i++) {
    float near = fminf (up + slope * (float) (i + 1), down + slope * (float) (N - i));
    costs[i] = fminf (fminf (costs[i], near), lowest);
  }
  set_pads<N> (costs, end);
}

/* ---- the kernel -------------------------------------------------------------------------------------- */

/* What a thread reads of a row. */
template <int VECTORS> struct Reads
{
  uint4 own[VECTORS], before[VECTORS], after[VECTORS];
};

/* @there: vectors that exist; instead of others the first is read. */
template <int VECTORS>
static __device__ __forceinline__ void
read_row (Reads<VECTORS> &r, const uint16_t *own, ptrdiff_t before, ptrdiff_t after, int there)
{
#pragma unroll
  for (int v = 0; v < VECTORS; v++) {
    int from = v < there ? v : 0;
    r.own[v] = ((const uint4 *) own)[from];
    r.before[v] = ((const uint4 *) (own + before))[from];
    r.after[v] = ((const uint4 *) (own + after))[from];
  }
}

/* The column's costs as they are stored; candidates that do not exist, if this is the @LAST time. */
template <int N, bool LAST>
static __device__ __forceinline__ void
write_column (const Iteration &t, int x, int i0, int there, uint16_t *to, float *costs)
{
  if (LAST) {
    int first = stereo_first_index (x, t.f.width, t.f.min_disparity);
    int last = stereo_last_index (x, t.f.disparities, t.f.min_disparity);
    if (i0 < first || i0 + N - 1 > last)
#pragma unroll
      for (int i = 0; i < N; i++)
        if (i0 + i < first || i0 + i > last)
          costs[i] = STEREO_EXPONENTIAL_MAGIC + STEREO_INVALID;
  }
#pragma unroll
  for (int v = 0; v < N / 8; v++)
    if (v < there)
      ((uint4 *) to)[v] = pack (costs + 8 * v);
}

template <int VECTORS, bool MESSAGES, int WHEN>
static __global__ void __launch_bounds__ (EXPONENTIAL_THREADS, VECTORS == 1 ? EXPONENTIAL_BLOCKS : 1)
exponential_kernel (const __grid_constant__ Iteration t)
{
  constexpr bool FIRST = WHEN == EXPONENTIAL_FIRST || WHEN == EXPONENTIAL_ONLY;
  constexpr bool LAST = WHEN == EXPONENTIAL_LAST || WHEN == EXPONENTIAL_ONLY;
  constexpr int N = 8 * VECTORS;
  extern __shared__ float memory[];
  const Frame &f = t.f;
  int columns = blockDim.y, column = threadIdx.y, reach = t.taps.reach, candidates = blockDim.x * N;
  int slots = exponential_slots (t.rows);
  Shared s = { memory, (int *) (memory + 256), NULL, NULL, NULL, exponential_luma_pitch (columns, candidates) };
  s.row = (float2 *) (s.y + slots);
  s.column = s.row + slots * columns;
  s.luma = (uint8_t *) (s.column + slots * columns);

  fill_shared<FIRST> (t, s, candidates);
  bool outside = (int) blockIdx.x * columns + column >= f.width;
  int place = min ((int) blockIdx.x * columns + column, f.width - 1), x = stereo_chain_row (place, f.width, reach);
  int i0 = blockIdx.z * candidates + threadIdx.x * N;
  int there = (f.depth - i0) / 8;       /* vectors to write and, of a column that is there, to read */
  int i = there > 0 ? i0 : 0, count = min (t.rows, f.height - (int) blockIdx.y * t.rows);
  ptrdiff_t away = (ptrdiff_t) reach * f.depth, before = x >= reach ? -away : 0, after = x + reach < f.width ? away : 0;
  size_t at = (size_t) x * f.depth + i, row = (size_t) f.width * f.depth;
  Reads<VECTORS> next;
  float last[N], own[N], now[N];

  if (!FIRST)
    read_row (next, t.from + (size_t) s.y[0] * row + at, before, after, there);
#pragma unroll
  for (int j = 0; j < N; j++)
    last[j] = own[j] = STEREO_EXPONENTIAL_MAGIC;
  for (int k = 0; k <= count + 1; k++) {
    float a[N], b[N];
    if (FIRST) {
      const uint8_t *luma = f.view[STEREO_LEFT].luma + (size_t) s.y[k] * f.image_pitch + x;
      const uint8_t *line = s.luma + k * s.luma_pitch + columns - (x - (int) blockIdx.x * columns) + threadIdx.x * N;
      make_costs<N> (t, luma[0], line, now);
      make_costs<N> (t, luma[x > 0 ? -1 : 0], line + 1, a);
      make_costs<N> (t, luma[x + 1 < f.width ? 1 : 0], line - 1, b);
      if (MESSAGES) {
        make_messages<N> (t, now, f.disparities - i0);
        make_messages<N> (t, a, f.disparities - i0);
        make_messages<N> (t, b, f.disparities - i0);
      }
    } else {
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        unpack (next.own[v], now + 8 * v);
        unpack (next.before[v], a + 8 * v);
        unpack (next.after[v], b + 8 * v);
      }
      if (k <= count)
        read_row (next, t.from + (size_t) s.y[k + 1] * row + at, before, after, there);
    }
    float2 weight = s.row[k * columns + column];
#pragma unroll
    for (int j = 0; j < N; j++)
      now[j] = mean (now[j], a[j], b[j], weight);
    if (MESSAGES)
      make_messages<N> (t, now, f.disparities - i0);
    if (k >= 2) {       /* the row before has both neighbours now */
      weight = s.column[(k - 1) * columns + column];
#pragma unroll
      for (int j = 0; j < N; j++)
        last[j] = mean (own[j], last[j], now[j], weight);
      if (MESSAGES && !LAST)
        make_messages<N> (t, last, f.disparities - i0);
      if (!outside)
        write_column<N, LAST> (t, x, i0, there, t.to + (size_t) s.y[k - 1] * row + at, last);
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
      last[j] = own[j];
      own[j] = now[j];
    }
  }
}

/* ---- launching ---------------------------------------------------------------------------------------- */

/* Lanes of a pixel and vectors of a lane. */
struct Lanes
{
  int lanes, vectors;
};

template <int VECTORS, bool MESSAGES>
static StereoStatus
exponential_launch (StereoPlan *plan, const Iteration &t, int when, int lanes, StereoError *error)
{
  static void (*const kernels[]) (Iteration) = {
    exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_FIRST>, exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_MIDDLE>,
    exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_LAST>, exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_ONLY> };
  int columns = EXPONENTIAL_THREADS / lanes < EXPONENTIAL_COLUMNS ? EXPONENTIAL_THREADS / lanes : EXPONENTIAL_COLUMNS;
  int candidates = 8 * VECTORS * lanes;
  bool first = when == EXPONENTIAL_FIRST || when == EXPONENTIAL_ONLY;
  dim3 grid (cuda_blocks (plan->width, columns), cuda_blocks (plan->height, t.rows), cuda_blocks (plan->depth, candidates));

  kernels[when] <<<grid, dim3 (lanes, columns), exponential_shared (columns, t.rows, candidates, first),
      cuda_state (plan)->stream>>> (t);
  CUDA_LAUNCHED (plan, "exponential_kernel");
  return STEREO_OK;
}

/* Rows of a block such that all blocks run at a time, if they can. */
static int
exponential_rows (const StereoPlan *plan, int lanes, int candidates)
{
  int columns = EXPONENTIAL_THREADS / lanes < EXPONENTIAL_COLUMNS ? EXPONENTIAL_THREADS / lanes : EXPONENTIAL_COLUMNS;
  int across = (int) (cuda_blocks (plan->width, columns) * cuda_blocks (plan->depth, candidates));
  int down = cuda_state (plan)->processors * EXPONENTIAL_BLOCKS * EXPONENTIAL_THREADS / (lanes * columns) / across;
  int rows = down ? (int) cuda_blocks (plan->height, down) : EXPONENTIAL_ROWS;
  return rows < 8 ? 8 : rows < EXPONENTIAL_ROWS ? rows : EXPONENTIAL_ROWS;
}

typedef StereoStatus (*ExponentialLaunch) (StereoPlan *plan, const Iteration &t, int when, int lanes, StereoError *error);

static StereoStatus
exponential_run (StereoPlan *plan, ExponentialLaunch launch, int lanes, int candidates, StereoError *error)
{
  int iterations = plan->params.iterations;
  Iteration t;
  StereoStatus status;

  t.f = cuda_frame (plan);
  t.e = stereo_exponential (plan);
  t.rows = exponential_rows (plan, lanes, candidates);
  for (int k = 0; k < iterations; k++) {
    int left = iterations - 1 - k;
    stereo_exponential_taps (&plan->params, k, &t.taps);
    t.to = left % 2 ? cuda_state (plan)->exponential_volume : plan->volume;
    t.from = left % 2 ? plan->volume : cuda_state (plan)->exponential_volume;
    int when = iterations == 1 ? EXPONENTIAL_ONLY : k == 0 ? EXPONENTIAL_FIRST : left ? EXPONENTIAL_MIDDLE :
        EXPONENTIAL_LAST;
    if ((status = launch (plan, t, when, lanes, error)))
      return status;
  }
  return STEREO_OK;
}

static StereoStatus
exponential_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  int device;

  CUDA_TRY (cudaGetDevice (&device));
  CUDA_TRY (cudaDeviceGetAttribute (&state->processors, cudaDevAttrMultiProcessorCount, device));
  if (plan->params.iterations == 1)
    return STEREO_OK;
  return stereo_reserve (plan, (void **) &state->exponential_volume,
      (size_t) plan->height * (size_t) plan->width * (size_t) plan->depth, sizeof (uint16_t), error);
}

#endif
