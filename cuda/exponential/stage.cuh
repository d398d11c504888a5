/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential step size aggregation, for esaw.cu and esmp.cu (Yu et al., III): one kernel for an iteration, which reads
 * one volume and writes the other.
 *
 * Rows and columns are in the order of their chains (stereo_chain_row()): there the taps of a pixel are its neighbours,
 * however far away they are in the picture, and a block finds most taps in the L1 cache. A thread has eight candidates
 * (VECTORS times eight) of a column and goes down some rows. It makes the mean along each row, and from every three of
 * these the mean along the column. Neighbouring lanes have neighbouring candidates: a warp reads and writes memory in
 * runs. The weights of the block's pixels are made first, each once.
 *
 * The first iteration makes its costs itself. With MESSAGES, costs become messages before they are averaged: along the
 * row in registers, along the column when they are stored for the next iteration.
 */
#ifndef STEREO_CUDA_EXPONENTIAL_STAGE_CUH
#define STEREO_CUDA_EXPONENTIAL_STAGE_CUH

#include "cuda/common.cuh"
#include "stereo/exact/exponential.h"

namespace
{

constexpr int EXPONENTIAL_THREADS = 256;
constexpr int EXPONENTIAL_BLOCKS = 3;   /* of a multiprocessor, at least */
constexpr int EXPONENTIAL_COLUMNS = 32; /* of a block, at most */
constexpr int EXPONENTIAL_ROWS = 32;    /* of a block, at most */

enum
{
  EXPONENTIAL_FIRST,
  EXPONENTIAL_MIDDLE,
  EXPONENTIAL_LAST,
  EXPONENTIAL_ONLY
};

/* An iteration. blockDim: lanes, columns. A slot is a row of the block, one more before and one after them. */
struct Iteration
{
  Frame f;
  StereoExponential e;
  StereoTaps taps;
  const uint16_t *from;
  uint16_t *to;
  int rows; /* of a block */
};

/* ---- shared memory ------------------------------------------------------------------------------- */

/* Shared memory: a table of weights; the row of every slot; weights of the taps of its pixels along the row and along
 * the column; for the first iteration luma of the right view, clamped, which starts at the partner of the column after
 * the last one at candidate 0. */
struct BlockMemory
{
  float *table;
  int *y;
  float2 *row, *column;
  uint8_t *luma;
  int luma_pitch;
};

/* Slots: rows of a block and two more, rounded up to an even number to align the arrays behind them. */
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
  return 256 * sizeof (float) +
      slots *
      (sizeof (int) + columns * 2 * sizeof (float2) +
          (first ? (size_t) exponential_luma_pitch (columns, candidates) : 0));
}

static __device__ __forceinline__ BlockMemory
lay_out (float *memory, int rows, int columns, int candidates)
{
  int slots = exponential_slots (rows);
  BlockMemory s = { memory, (int *) (memory + 256), NULL, NULL, NULL, exponential_luma_pitch (columns, candidates) };
  s.row = (float2 *) (s.y + slots);
  s.column = s.row + slots * columns;
  s.luma = (uint8_t *) (s.column + slots * columns);
  return s;
}

/* The row of slot @k, or another row of the picture if there is none. */
static __device__ __forceinline__ int
slot_row (const Iteration &t, int k)
{
  int first = blockIdx.y * t.rows, last = min (first + t.rows, t.f.height) - 1, n = first + k - 1;
  int y = stereo_chain_row (min (max (n, first), last), t.f.height, t.taps.step);
  if (n < first)
    return y >= t.taps.step ? y - t.taps.step : y;
  if (n == last + 1)
    return y + t.taps.step < t.f.height ? y + t.taps.step : y;
  return y;
}

/* Normalised weights of the taps @away elements before and after a pixel, where there are any. */
static __device__ __forceinline__ float2
tap_weights (const float *table, const uint32_t *color, ptrdiff_t away, bool before, bool after)
{
  uint32_t own = *color;
  float a = before ? table[stereo_largest_difference (own, color[-away])] : 0.0f;
  float b = after ? table[stereo_largest_difference (own, color[away])] : 0.0f;
  float share = 1.0f / (a + 1.0f + b);
  return make_float2 (stereo_eight_bits (a * share), stereo_eight_bits (b * share));
}

/* Programmatic dependent launch: the kernel of the next iteration may make its weights while this kernel runs, and
 * waits for the end of this kernel before it reads or writes costs. Without the launch attribute both calls do
 * nothing. */
static __device__ __forceinline__ void
let_next_start ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static __device__ __forceinline__ void
await_last ()
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <bool FIRST> static __device__ __forceinline__ void
fill_shared (const Iteration &t, const BlockMemory &s, int candidates)
{
  const Frame &f = t.f;
  int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y, columns = blockDim.y;
  int step = t.taps.step, column = thread % columns;
  int x = stereo_chain_row (min ((int) blockIdx.x * columns + column, f.width - 1), f.width, step);

  for (int k = thread; k < 256; k += threads)
    s.table[k] = t.taps.weight[k];
  for (int k = thread; k < t.rows + 2; k += threads)
    s.y[k] = slot_row (t, k);
  __syncthreads ();
  for (int slot = thread / columns; slot < t.rows + 2; slot += blockDim.x) {
    int y = s.y[slot], n = slot * columns + column;
    const uint32_t *color = f.view[STEREO_LEFT].color + (size_t) y * f.image_pitch + x;
    s.row[n] = tap_weights (s.table, color, step, x >= step, x + step < f.width);
    s.column[n] = tap_weights (s.table, color, (ptrdiff_t) step * f.image_pitch, y >= step, y + step < f.height);
  }
  if (FIRST) { /* step is 1: places are columns */
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

/* The weighted mean, rounded; taps less the centre. */
static __device__ __forceinline__ float
mean (float own, float before, float after, float2 weight)
{
  return own + (before * weight.x + after * weight.y);
}

/* Candidates from @first on of a pixel whose luma is @own; @line: luma of their partners. */
template <int N> static __device__ __forceinline__ void
make_costs (const Iteration &t, int own, const uint8_t *line, float *costs)
{
  uint32_t exponent = 0x4B000000u + ((uint32_t) t.e.shift << 23); /* the low bits count volume units */
  float luma = __uint_as_float (exponent | own), top = (float) t.e.top;
#pragma unroll
  for (int i = 0; i < N; i++)
    costs[i] = fminf (fabsf (luma - __uint_as_float (exponent | line[i])), top) + STEREO_EXPONENTIAL_MAGIC;
}

/* ---- messages -------------------------------------------------------------------------------------- */

/* Candidates beyond the search, from @end on, get a cost above all others. */
template <int N> static __device__ __forceinline__ void
set_pads (float *costs, int end)
{
  if (end < N)
#pragma unroll
    for (int i = 0; i < N; i++)
      costs[i] = i < end ? costs[i] : STEREO_EXPONENTIAL_MAGIC + STEREO_EXPONENTIAL_PAD;
}

/*
 * Replaces the costs of a pixel, N a lane, by messages: a pass up and a pass down the candidates in every lane, then
 * the lanes exchange their lowest values and the values at their ends. A value that rises beyond 24 bits is above any
 * cost, however it is rounded.
 */
template <int N> static __device__ __forceinline__ void
make_messages (const Iteration &t, float *costs, int end)
{
  int lanes = blockDim.x, lane = threadIdx.x;
  float slope = (float) t.e.small;

  set_pads<N> (costs, end);
  float lowest = costs[0];
#pragma unroll
  for (int i = 1; i < N; i++)
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

}

#endif
