/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential step size aggregation, for esaw and esmp (Yu et al., III): one kernel for an iteration, which reads
 * one volume and writes the other.
 *
 * Rows and columns are in the order of their chains (stereo_chain_row()): there the taps of a pixel are its neighbours,
 * however far away they are in the picture, and a block finds most taps in the L1 cache. A thread has eight candidates
 * (VECTORS times eight) of a column and goes down some rows. It makes the mean along each row, and from every three of
 * these the mean along the column. Neighbouring lanes have neighbouring candidates: a warp reads and writes memory in
 * runs. The weights of the block's pixels are made first, each once.
 *
 * With MESSAGES, costs become messages before they are averaged: along the row in registers, along the column when they are
 * stored for the next iteration. A kernel of its own makes the first costs.
 */
#include "cuda/common.cuh"
#include "stereo/exact/exponential.h"
#include "cuda/cost.cuh"

namespace
{

constexpr int EXPONENTIAL_THREADS = 256;
constexpr int EXPONENTIAL_BLOCKS = 3;   /* of a multiprocessor, at least */
constexpr int EXPONENTIAL_COLUMNS = 32; /* of a block, at most */
constexpr int EXPONENTIAL_ROWS = 32;    /* of a block, at most */

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
 * the column. */
struct BlockMemory
{
  float *table;
  int *y;
  float2 *row, *column;
};

/* Slots: rows of a block and two more, rounded up to an even number to align the arrays behind them. */
static __host__ __device__ __forceinline__ int
exponential_slots (int rows)
{
  return (rows + 3) / 2 * 2;
}

static size_t
exponential_shared (int columns, int rows)
{
  return 256 * sizeof (float) + (size_t) exponential_slots (rows) * (sizeof (int) + columns * 2 * sizeof (float2));
}

static __device__ __forceinline__ BlockMemory
lay_out (float *memory, int rows, int columns)
{
  int slots = exponential_slots (rows);
  BlockMemory s = { memory, (int *) (memory + 256) };
  s.row = (float2 *) (s.y + slots);
  s.column = s.row + slots * columns;
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

static __device__ __forceinline__ void
fill_shared (const Iteration &t, const BlockMemory &s)
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

/* ---- the kernel -------------------------------------------------------------------------------------- */

static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_DISPARITIES * sizeof (uint16_t) <= UINT32_MAX, "a row's bytes");
static_assert (takes_only (STEREO_METHOD_ESAW, STEREO_COST_AD) && takes_only (STEREO_METHOD_ESMP, STEREO_COST_AD),
    "make_costs() has no branch for another cost");

/* Where a thread reads, of row 0. */
struct Places
{
  const char *own, *before, *after;
  uint32_t row; /* bytes */
  int there;    /* vectors that exist; for others the first one is read */
};

/* What a thread reads of a row. */
template <int VECTORS> struct Reads
{
  uint4 own[VECTORS], before[VECTORS], after[VECTORS];
};

template <int VECTORS> static __device__ __forceinline__ void
read_row (const Places &p, uint32_t y, Reads<VECTORS> &r)
{
  uint64_t place = (uint64_t) y * p.row;
#pragma unroll
  for (int v = 0; v < VECTORS; v++) {
    int from = v < p.there ? v : 0;
    r.own[v] = ((const uint4 *) (p.own + place))[from];
    r.before[v] = ((const uint4 *) (p.before + place))[from];
    r.after[v] = ((const uint4 *) (p.after + place))[from];
  }
}

/* Stores the costs of a column; the LAST iteration marks candidates that do not exist. */
template <int N, bool LAST> static __device__ __forceinline__ void
write_column (const Iteration &t, int x, int i0, int there, uint4 *to, float *costs)
{
  if (LAST) {
    int first = t.f.outside ? 0 : stereo_first_index (x, t.f.width, t.f.min_disparity);
    int last = t.f.outside ? t.f.disparities - 1 : stereo_last_index (x, t.f.disparities, t.f.min_disparity);
    if (i0 < first || i0 + N - 1 > last)
#pragma unroll
      for (int i = 0; i < N; i++)
        if (i0 + i < first || i0 + i > last)
          costs[i] = STEREO_EXPONENTIAL_MAGIC + STEREO_INVALID;
  }
#pragma unroll
  for (int v = 0; v < N / 8; v++)
    if (v < there)
      to[v] = pack (costs + 8 * v);
}

/* A thread's place. */
struct Column
{
  int place; /* among the block's */
  int x, i0;
  int end; /* of the candidates of the search, from i0 on */
  int slots;
  Places places;
};

/* Means along the row of slot @k, from what was read; starts to read the next slot. */
template <int VECTORS, bool MESSAGES> static __device__ __forceinline__ void
mean_along_row (const Iteration &t, const BlockMemory &s, const Column &c, int k, const Reads<VECTORS> &r,
    Reads<VECTORS> &next, float *own)
{
  constexpr int N = 8 * VECTORS;
  float before[N], after[N];

  read_row (c.places, s.y[min (k + 1, c.slots - 1)], next);
#pragma unroll
  for (int v = 0; v < VECTORS; v++) {
    unpack (r.own[v], own + 8 * v);
    unpack (r.before[v], before + 8 * v);
    unpack (r.after[v], after + 8 * v);
  }
  float2 weight = s.row[k * blockDim.y + c.place];
#pragma unroll
  for (int j = 0; j < N; j++)
    own[j] = mean (own[j], before[j] - own[j], after[j] - own[j], weight);
  if (MESSAGES)
    make_messages<N> (t, own, c.end);
}

/* Slot @k: the means along its row, @now; and from these and the two rows before, @own and @own - @rise, the means
 * along the column at the row before. */
template <int VECTORS, bool MESSAGES, bool LAST> static __device__ __forceinline__ void
take_slot (const Iteration &t, const BlockMemory &s, const Column &c, int k, const Reads<VECTORS> &r,
    Reads<VECTORS> &next, char *to, int there, const float *own, float *now, float *rise)
{
  constexpr int N = 8 * VECTORS;
  float done[N];

  mean_along_row<VECTORS, MESSAGES> (t, s, c, k, r, next, now);
  float2 weight = s.column[(k - 1) * blockDim.y + c.place];
#pragma unroll
  for (int j = 0; j < N; j++) {
    float more = now[j] - own[j];
    done[j] = mean (own[j], -rise[j], more, weight);
    rise[j] = more;
  }
  if (MESSAGES && !LAST)
    make_messages<N> (t, done, c.end);
  write_column<N, LAST> (t, c.x, c.i0, there, (uint4 *) (to + (uint64_t) (uint32_t) s.y[k - 1] * c.places.row), done);
}

static __device__ __forceinline__ Column
find_column (const Iteration &t, int candidates, int candidates_a_lane)
{
  const Frame &f = t.f;
  int left = f.width - (int) (blockIdx.x * blockDim.y);
  Column c;

  c.place = (int) threadIdx.y < left ? (int) threadIdx.y : left - 1;
  c.x = stereo_chain_row (blockIdx.x * blockDim.y + c.place, f.width, t.taps.step);
  c.i0 = blockIdx.z * candidates + threadIdx.x * candidates_a_lane;
  c.end = f.disparities - c.i0;
  c.slots = min (t.rows, f.height - (int) blockIdx.y * t.rows) + 2;
  c.places.there = (f.depth - c.i0) / 8;
  c.places.row = (uint32_t) f.width * (uint32_t) f.depth * (uint32_t) sizeof (uint16_t);
  ptrdiff_t away = (ptrdiff_t) t.taps.step * f.depth;
  const uint16_t *own = t.from + (ptrdiff_t) c.x * f.depth + (c.places.there > 0 ? c.i0 : 0);
  c.places.own = (const char *) own;
  c.places.before = (const char *) (own - (c.x >= t.taps.step ? away : 0));
  c.places.after = (const char *) (own + (c.x + t.taps.step < f.width ? away : 0));
  return c;
}

/* Block: columns (threadIdx.y, blockIdx.x) by t.rows rows (blockIdx.y) by candidates (threadIdx.x: the lanes of a
 * pixel, blockIdx.z). Shared memory: see BlockMemory. A lane reads and writes 16 bytes at a time. */
template <int VECTORS, bool MESSAGES, bool LAST> static __global__ void
__launch_bounds__ (EXPONENTIAL_THREADS, VECTORS == 1 ? EXPONENTIAL_BLOCKS : 1)
    exponential_kernel (const __grid_constant__ Iteration t)
{
  constexpr int N = 8 * VECTORS;
  extern __shared__ float memory[];
  int candidates = blockDim.x * N, k = 2;
  BlockMemory s = lay_out (memory, t.rows, blockDim.y);
  Reads<VECTORS> even, odd;
  float own[N], now[N], rise[N]; /* of two rows, and the difference of the second to the row before it */

  fill_shared (t, s);
  Column c = find_column (t, candidates, N);
  int there = blockIdx.x * blockDim.y + threadIdx.y < (unsigned) t.f.width ? c.places.there : 0;
  char *to = (char *) t.to + (c.places.own - (const char *) t.from);
  read_row (c.places, s.y[0], even);
  mean_along_row<VECTORS, MESSAGES> (t, s, c, 0, even, odd, now);
  mean_along_row<VECTORS, MESSAGES> (t, s, c, 1, odd, even, own);
#pragma unroll
  for (int j = 0; j < N; j++)
    rise[j] = own[j] - now[j];
  for (; k + 1 < c.slots; k += 2) { /* two slots in turn, so that no registers are moved */
    take_slot<VECTORS, MESSAGES, LAST> (t, s, c, k, even, odd, to, there, own, now, rise);
    take_slot<VECTORS, MESSAGES, LAST> (t, s, c, k + 1, odd, even, to, there, now, own, rise);
  }
  if (k < c.slots)
    take_slot<VECTORS, MESSAGES, LAST> (t, s, c, k, even, odd, to, there, own, now, rise);
}

/* ---- the first costs ---------------------------------------------------------------------------------- */

/* Block: columns (threadIdx.y, blockIdx.x) of row blockIdx.y by candidates, as above. */
template <int VECTORS, bool MESSAGES> static __global__ void
__launch_bounds__ (EXPONENTIAL_THREADS) exponential_cost_kernel (const __grid_constant__ Iteration t)
{
  constexpr int N = 8 * VECTORS;
  const Frame &f = t.f;
  int y = blockIdx.y, column = blockIdx.x * blockDim.y + threadIdx.y, x = min (column, f.width - 1);
  int i0 = (blockIdx.z * blockDim.x + threadIdx.x) * N, partner = f.width - 1 - x + f.min_disparity + i0;
  const uint8_t *left = f.view[STEREO_LEFT].luma + (size_t) y * f.image_pitch;
  const uint8_t *right = f.view[STEREO_RIGHT].luma + (size_t) y * f.image_pitch;
  uint32_t exponent = 0x4B000000u + ((uint32_t) t.e.shift << 23); /* the low bits count volume units */
  float costs[N], luma = __uint_as_float (exponent | left[x]), top = (float) t.e.top;

#pragma unroll
  for (int i = 0; i < N; i++) {
    float other = __uint_as_float (exponent | right[min (max (partner + i, 0), f.width - 1)]);
    costs[i] = fminf (fabsf (luma - other), top) + STEREO_EXPONENTIAL_MAGIC;
  }
  if (MESSAGES)
    make_messages<N> (t, costs, f.disparities - i0);
  uint4 *to = (uint4 *) (t.to + ((size_t) y * f.width + x) * f.depth + i0);
#pragma unroll
  for (int v = 0; v < VECTORS; v++)
    if (column < f.width && i0 + 8 * v < f.depth)
      to[v] = pack (costs + 8 * v);
}

/* ---- launching ---------------------------------------------------------------------------------------- */

/* Rows of a block, such that all blocks run at once if they can. */
static int
exponential_rows (const StereoPlan *plan, int lanes, int columns, int candidates)
{
  int across = (int) (cuda_blocks (plan->width, columns) * cuda_blocks (plan->depth, candidates));
  int down = cuda_state (plan)->multiprocessors * EXPONENTIAL_BLOCKS * EXPONENTIAL_THREADS / (lanes * columns) / across;
  int rows = down ? (int) cuda_blocks (plan->height, down) : EXPONENTIAL_ROWS;
  return rows < 8 ? 8 : rows < EXPONENTIAL_ROWS ? rows : EXPONENTIAL_ROWS;
}

/* Iterations read one volume and write the other one, @second; the last one writes the plan's. @lanes: of a pixel. */
template <int VECTORS, bool MESSAGES> static StereoStatus
exponential_run (StereoPlan *plan, uint16_t *second, int lanes, StereoError *error)
{
  cudaStream_t stream = cuda_state (plan)->stream;
  int columns = EXPONENTIAL_THREADS / lanes < EXPONENTIAL_COLUMNS ? EXPONENTIAL_THREADS / lanes : EXPONENTIAL_COLUMNS;
  int candidates = 8 * VECTORS * lanes, iterations = plan->params.iterations;
  dim3 block (lanes, columns),
      grid (cuda_blocks (plan->width, columns), plan->height, cuda_blocks (plan->depth, candidates));
  Iteration t;

  t.f = cuda_frame (plan);
  t.e = stereo_exponential (&plan->params, plan->volume_unit);
  t.rows = exponential_rows (plan, lanes, columns, candidates);
  t.to = iterations % 2 ? second : plan->volume;
  exponential_cost_kernel<VECTORS, MESSAGES><<<grid, block, 0, stream>>> (t);
  CUDA_LAUNCHED (plan, "exponential_cost_kernel");
  grid.y = cuda_blocks (plan->height, t.rows);
  for (int k = 0; k < iterations; k++) {
    bool last = k == iterations - 1;
    stereo_exponential_taps (&plan->params, k, &t.taps);
    t.from = t.to;
    t.to = t.from == second ? plan->volume : second;
    auto kernel = last ? exponential_kernel<VECTORS, MESSAGES, true> : exponential_kernel<VECTORS, MESSAGES, false>;
    kernel<<<grid, block, exponential_shared (columns, t.rows), stream>>> (t);
    CUDA_LAUNCHED (plan, "exponential_kernel");
  }
  return STEREO_OK;
}

/* Scratch memory of the stage: the second volume. */
struct ExponentialContext
{
  uint16_t *volume;
};

static StereoStatus
exponential_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return stereo_reserve (plan, (void **) &((ExponentialContext *) context)->volume,
      (size_t) plan->height * (size_t) plan->width * (size_t) plan->depth, sizeof (uint16_t), error);
}

constexpr int MOST_LANES = 8; /* of a pixel */

/* Without messages candidates are independent: the number of blocks that share the candidates of a pixel leaves few lanes idle. */
static StereoStatus
esaw_run (StereoPlan *plan, void *context, StereoError *error)
{
  int vectors = plan->depth / 8, lanes = (int) cuda_blocks (vectors, cuda_blocks (vectors, MOST_LANES));
  return exponential_run<1, false> (plan, ((const ExponentialContext *) context)->volume, lanes, error);
}

/* Messages: all candidates of a pixel are in one warp. With up to four vectors of eight candidates a lane, 32 lanes hold all depths there
 * are, up to 1024. Their number is a power of two, so that no pixel's lanes are in two warps. */
static StereoStatus
esmp_run (StereoPlan *plan, void *context, StereoError *error)
{
  uint16_t *volume = ((const ExponentialContext *) context)->volume;
  int vectors = plan->depth <= 256 ? 1 : plan->depth <= 512 ? 2 : 4, lanes = 2;

  while (lanes * vectors * 8 < plan->depth)
    lanes *= 2;
  return vectors == 1 ? exponential_run<1, true> (plan, volume, lanes, error) :
      vectors == 2    ? exponential_run<2, true> (plan, volume, lanes, error) :
                        exponential_run<4, true> (plan, volume, lanes, error);
}

const StereoStage esaw = {
  .name = "match", .context_size = sizeof (ExponentialContext), .prepare = exponential_prepare, .run = esaw_run
};
const StereoStage esmp = {
  .name = "match", .context_size = sizeof (ExponentialContext), .prepare = exponential_prepare, .run = esmp_run
};

}

const StereoStage *
stereo_cuda_esaw (const StereoParams *params)
{
  return takes_cost (STEREO_METHOD_ESAW, params->cost) ? &esaw : NULL;
}

const StereoStage *
stereo_cuda_esmp (const StereoParams *params)
{
  return takes_cost (STEREO_METHOD_ESMP, params->cost) ? &esmp : NULL;
}
