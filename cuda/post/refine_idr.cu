/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Refinement by the last approximation of Kowalczuk et al. (3.2.3): the penalty of disparity d is alpha * the sum of w
 * F |D - d| over the window, in two passes and unnormalised as published.
 *
 * As a function of d this sum is piecewise linear, with kinks at the disparities D of the window. A pixel needs only
 * the histogram of w F over D, and two running sums over the histogram. For a few rows at a time, one kernel makes the
 * histograms of columns, and another adds them along the row and selects. No sum depends on the order of threads.
 */
#include "cuda/common.cuh"

namespace
{

constexpr int COLUMNS = 8; /* of a block of column_kernel, pixels of a thread of pixel_kernel */
constexpr int THREADS = 128;
constexpr int MOST_GROUPS = 4; /* groups of pixels of a block of pixel_kernel */
constexpr int MOST_TAPS = 127;
constexpr size_t BATCH_BYTES = (size_t) 128 << 20;

/* Scratch memory of the stage. */
struct IdrContext
{
  uint16_t *index[2]; /* maps of both views before an iteration */
  float *confidence[2];
  float *columns; /* see Idr */
};

struct Idr
{
  int radius;
  float color, distance;    /* base-2 factors of SAD and distance */
  float alpha;              /* volume steps a px */
  int y, rows;              /* of the batch */
  float *columns;           /* [view][row of the batch][x][depth]: histograms */
  const uint16_t *index[2]; /* before this iteration */
  const float *confidence[2];
};

static __device__ float
weigh (const Idr &r, uint32_t a, uint32_t b, int offset)
{
  return cuda_weight (a, b, r.color, (float) abs (offset) * r.distance);
}

static __device__ float *
columns_of (const Frame &f, const Idr &r, int view, int row)
{
  return r.columns + ((size_t) view * r.rows + row) * f.width * f.depth;
}

/* ---- histograms of columns ------------------------------------------------------------------------ */

/* Block: eight columns of a row (blockIdx.y) of a view (blockIdx.z). All threads compute weights of taps; then one
 * thread a column adds the taps to its histogram in shared memory, from top to bottom. */
static __global__ void
__launch_bounds__ (THREADS) column_kernel (Frame f, Idr r)
{
  extern __shared__ float histograms[]; /* [COLUMNS][depth] */
  __shared__ float trust[MOST_TAPS][COLUMNS];
  __shared__ uint16_t index[MOST_TAPS][COLUMNS];
  int x0 = blockIdx.x * COLUMNS, y = r.y + blockIdx.y, side = blockIdx.z, taps = 2 * r.radius + 1;
  int count = min (COLUMNS, f.width - x0) * f.depth;
  const uint32_t *color = f.view[side].likeness;
  const uint16_t *indices = side ? r.index[1] : r.index[0];
  const float *confidences = side ? r.confidence[1] : r.confidence[0];

  for (int n = threadIdx.x; n < COLUMNS * f.depth; n += THREADS)
    histograms[n] = 0;
  for (int n = threadIdx.x; n < taps * COLUMNS; n += THREADS) {
    int k = n / COLUMNS - r.radius, x = x0 + n % COLUMNS, v = y + k;
    bool inside = x < f.width && v >= 0 && v < f.height;
    size_t map = (size_t) v * f.map_pitch + x;
    index[n / COLUMNS][n % COLUMNS] = inside ? indices[map] : (uint16_t) STEREO_INVALID;
    trust[n / COLUMNS][n % COLUMNS] = inside ?
        confidences[map] * weigh (r, color[(size_t) y * f.image_pitch + x], color[(size_t) v * f.image_pitch + x], k) :
        0.0f;
  }
  __syncthreads ();
  if (threadIdx.x < COLUMNS)
    for (int k = 0; k < taps; k++)
      if (index[k][threadIdx.x] != STEREO_INVALID)
        histograms[threadIdx.x * f.depth + index[k][threadIdx.x]] += trust[k][threadIdx.x];
  __syncthreads ();
  float *to = columns_of (f, r, side, blockIdx.y) + (size_t) x0 * f.depth;
  for (int n = threadIdx.x; n < count; n += THREADS)
    to[n] = histograms[n];
}

/* ---- pixels ----------------------------------------------------------------------------------------- */

/* The horizontal weights of eight pixels from @x0 on: [tap][pixel], taps from x0 - radius on. */
static __device__ void
weigh_row (const Frame &f, const Idr &r, const uint32_t *color, int x0, int thread, int threads, float *weights)
{
  for (int n = thread; n < (2 * r.radius + COLUMNS) * COLUMNS; n += threads) {
    int x = x0 + n % COLUMNS, tap = x0 - r.radius + n / COLUMNS;
    bool inside = x < f.width && tap >= 0 && tap < f.width && abs (tap - x) <= r.radius;
    weights[n] = inside ? weigh (r, color[x], color[tap], tap - x) : 0.0f;
  }
}

/* Histograms of eight pixels, disparities 4 @quad to 4 @quad + 3. */
static __device__ void
add_columns (const Frame &f, const Idr &r, const float *columns, int x0, int quad, const float *weights, float *pixels)
{
  float4 sum[COLUMNS];

#pragma unroll
  for (int p = 0; p < COLUMNS; p++)
    sum[p] = make_float4 (0, 0, 0, 0);
  for (int t = max (0, r.radius - x0); t < 2 * r.radius + COLUMNS && x0 - r.radius + t < f.width; t++) {
    float4 column = ((const float4 *) (columns + (size_t) (x0 - r.radius + t) * f.depth))[quad];
#pragma unroll
    for (int p = 0; p < COLUMNS; p++) {
      float weight = weights[t * COLUMNS + p];
      sum[p].x = fmaf (weight, column.x, sum[p].x);
      sum[p].y = fmaf (weight, column.y, sum[p].y);
      sum[p].z = fmaf (weight, column.z, sum[p].z);
      sum[p].w = fmaf (weight, column.w, sum[p].w);
    }
  }
#pragma unroll
  for (int p = 0; p < COLUMNS; p++)
    ((float4 *) (pixels + p * f.depth))[quad] = sum[p];
}

static __device__ double
warp_sum (double v)
{
  for (int away = 16; away; away /= 2)
    v += __shfl_xor_sync (0xFFFFFFFFu, v, away);
  return v;
}

/* Sum of this lane's and all lower lanes' values. */
static __device__ double
warp_scan (double v)
{
  for (int away = 1; away < 32; away *= 2) {
    double lower = __shfl_up_sync (0xFFFFFFFFu, v, away);
    v += (int) threadIdx.x % 32 >= away ? lower : 0;
  }
  return v;
}

/* By a warp: replaces each element i of the histogram by the sum over j of histogram[j] * |j - i|. */
static __device__ void
histogram_to_distance (float *histogram, int count)
{
  int lane = threadIdx.x % 32;
  double mass = 0, distance = 0, below = 0, below_distance = 0;

  for (int i = lane; i < count; i += 32) {
    mass += histogram[i];
    distance += (double) histogram[i] * i;
  }
  mass = warp_sum (mass);
  distance = warp_sum (distance);
  for (int i0 = 0; i0 < count; i0 += 32) {
    int i = i0 + lane;
    double here = i < count ? histogram[i] : 0;
    double b = below + warp_scan (here), d = below_distance + warp_scan (here * i);
    double sum = b * i - d + (distance - d) - (mass - b) * i;
    if (i < count)
      histogram[i] = (float) (sum > 0 ? sum : 0);
    below = __shfl_sync (0xFFFFFFFFu, b, 31);
    below_distance = __shfl_sync (0xFFFFFFFFu, d, 31);
  }
}

/* By a warp: selects the two lowest totals, of cost + penalty. Keys have total and index: ties go to the smaller
 * index. */
static __device__ void
select_penalised (const Frame &f, const Idr &r, const StereoView &view, size_t map, int x, const uint16_t *costs,
    ptrdiff_t step, const float *distance)
{
  int from = stereo_first_index (x, f.width, f.min_disparity);
  int to = stereo_last_index (x, f.disparities, f.min_disparity);
  unsigned long long lowest = ~0ull, next = ~0ull;

  for (int i = from + (int) threadIdx.x % 32; i <= to; i += 32) {
    float penalty = rintf (r.alpha * distance[i]);
    uint32_t cost = costs[i * step] + (penalty < 1e9f ? (uint32_t) penalty : 1000000000u);
    unsigned long long key = (unsigned long long) cost << 32 | i;
    next = min (next, max (lowest, key));
    lowest = min (lowest, key);
  }
  for (int away = 16; away; away /= 2) {
    unsigned long long lowest2 = __shfl_xor_sync (0xFFFFFFFFu, lowest, away);
    unsigned long long next2 = __shfl_xor_sync (0xFFFFFFFFu, next, away);
    next = min (max (lowest, lowest2), min (next, next2));
    lowest = min (lowest, lowest2);
  }
  if (threadIdx.x % 32)
    return;
  uint32_t cost1 = (uint32_t) (lowest >> 32), cost2 = (uint32_t) (next >> 32);
  if (lowest != ~0ull)
    view.index[map] = (uint16_t) lowest;
  view.confidence[map] = next == ~0ull ? 0.0f : stereo_confidence (cost1, cost2);
}

/* Block: up to four groups of eight pixels of a row (blockIdx.y) of a view (blockIdx.z). A thread adds four disparities
 * of a group, from columns read along the disparities. Shared memory: weights and histograms of the pixels. Then a warp
 * turns the histogram of a pixel into penalties and selects. */
static __global__ void
__launch_bounds__ (THREADS) pixel_kernel (Frame f, Idr r, int groups)
{
  extern __shared__ __align__ (16) float shared[];
  int taps = 2 * r.radius + COLUMNS, side = blockIdx.z, y = r.y + blockIdx.y, quads = f.depth / 4;
  int x0 = blockIdx.x * COLUMNS * groups, threads = THREADS / groups;
  int group = threadIdx.x / threads, thread = threadIdx.x % threads, first = x0 + group * COLUMNS;
  float *pixels = shared, *weights = shared + (size_t) groups * COLUMNS * f.depth; /* [group]... */
  const StereoView &view = f.view[side];

  weigh_row (f, r, view.likeness + (size_t) y * f.image_pitch, first, thread, threads, weights + group * taps * COLUMNS);
  __syncthreads ();
  if (first < f.width)
    for (int quad = thread; quad < quads; quad += threads)
      add_columns (f, r, columns_of (f, r, side, blockIdx.y), first, quad, weights + group * taps * COLUMNS,
          pixels + (size_t) group * COLUMNS * f.depth);
  __syncthreads ();
  for (int p = threadIdx.x / 32; p < groups * COLUMNS && x0 + p < f.width; p += THREADS / 32) {
    int x = x0 + p;
    ptrdiff_t start = side == STEREO_LEFT ? x : f.width - 1 - x + f.min_disparity;
    const uint16_t *costs = f.volume + (size_t) y * f.width * f.depth + start * f.depth;
    histogram_to_distance (pixels + p * f.depth, f.disparities);
    __syncwarp ();
    select_penalised (f, r, view, (size_t) y * f.map_pitch + x, x, costs, side == STEREO_LEFT ? 1 : f.depth + 1,
        pixels + p * f.depth);
  }
}

/* ---- stage ------------------------------------------------------------------------------------------- */

static int
batch_rows (const StereoPlan *plan)
{
  size_t row = 2 * (size_t) plan->width * (size_t) plan->depth * sizeof (float), rows = BATCH_BYTES / row;
  return rows < 1 ? 1 : rows > (size_t) plan->height ? plan->height : (int) rows;
}

static StereoStatus
idr_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  IdrContext *context = (IdrContext *) data;
  size_t map = (size_t) plan->map_pitch * (size_t) plan->height;
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status; v++)
    if (!(status = stereo_reserve (plan, (void **) &context->index[v], map, sizeof (uint16_t), error)))
      status = stereo_reserve (plan, (void **) &context->confidence[v], map, sizeof (float), error);
  return status ?
      status :
      stereo_reserve (plan, (void **) &context->columns,
          2 * (size_t) batch_rows (plan) * (size_t) plan->width * (size_t) plan->depth, sizeof (float), error);
}

static StereoStatus
idr_copy (StereoPlan *plan, const IdrContext *context, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  size_t map = (size_t) plan->map_pitch * (size_t) plan->height;

  for (int v = 0; v < 2; v++) {
    CUDA_TRY (cudaMemcpyAsync (
        context->index[v], plan->view[v].index, map * sizeof (uint16_t), cudaMemcpyDeviceToDevice, state->stream));
    CUDA_TRY (cudaMemcpyAsync (context->confidence[v], plan->view[v].confidence, map * sizeof (float),
        cudaMemcpyDeviceToDevice, state->stream));
  }
  return STEREO_OK;
}

/* Shared memory stays below 48 KiB: the longest histograms take 32 KiB, with one group. */
static StereoStatus
idr_run (StereoPlan *plan, void *data, StereoError *error)
{
  const IdrContext *context = (const IdrContext *) data;
  const CudaState *state = cuda_state (plan);
  const StereoParams *p = &plan->params;
  int radius = p->refine_window / 2, batch = batch_rows (plan), groups = 4 * THREADS / plan->depth;
  Idr r = { radius, (float) (-STEREO_LOG2E / p->refine_gamma_color), (float) (-STEREO_LOG2E / p->refine_gamma_distance),
    (float) plan->alpha / 4, 0, 0, context->columns, { context->index[0], context->index[1] },
    { context->confidence[0], context->confidence[1] } };
  StereoStatus status = idr_copy (plan, context, error);

  groups = groups >= MOST_GROUPS ? MOST_GROUPS : groups >= 2 ? 2 : 1;
  size_t histograms = (size_t) COLUMNS * plan->depth * sizeof (float);
  size_t weights = (size_t) COLUMNS * (2 * radius + COLUMNS) * sizeof (float);
  for (; r.y < plan->height && !status; r.y += batch) {
    r.rows = plan->height - r.y < batch ? plan->height - r.y : batch;
    column_kernel<<<dim3 (cuda_blocks (plan->width, COLUMNS), r.rows, 2), THREADS, histograms, state->stream>>> (
        cuda_frame (plan), r);
    CUDA_LAUNCHED (plan, "column_kernel");
    pixel_kernel<<<dim3 (cuda_blocks (plan->width, COLUMNS * groups), r.rows, 2), THREADS,
        groups *(histograms + weights), state->stream>>> (cuda_frame (plan), r, groups);
    CUDA_LAUNCHED (plan, "pixel_kernel");
  }
  return status;
}

}

extern const StereoStage stereo_cuda_refine_idr = {
  .name = "refine", .context_size = sizeof (IdrContext), .prepare = idr_prepare, .run = idr_run
};
