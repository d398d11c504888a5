/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filling: ../../stereo/exact/fill.h says what a pixel without a disparity gets. A first kernel lists these pixels, a
 * second one finds their values, and a third one stores them when nothing looks at the disparities before any more. The
 * same then happens to the values that smooth them. The length of the list stays on the device: the grids do not depend on
 * it.
 */
#include "cuda/common.cuh"
#include "cuda/post/neighbours.cuh"
#include "cuda/post/plane.cuh"

namespace
{

constexpr int FILL_THREADS = 256;
constexpr int HOLE_THREADS = 128;
constexpr int HOLE_BLOCKS = 16;              /* of a multiprocessor, at most */
constexpr int STRIDE = 4;                    /* steps of a ray whose loads are in flight together */
constexpr uint32_t MISMATCHED = 0x80000000u; /* beside the number of a pixel */
constexpr int WORDS = STEREO_MAX_SIDE / 32;  /* bits of a row */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

static_assert (STEREO_FILL_REACH % STRIDE == 0, "the end of a ray");
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

/* Scratch memory of a stage. */
struct FillContext
{
  uint32_t *pixels; /* y * map_pitch + x, with MISMATCHED, of each pixel without a disparity; those of a row together */
  float *values;    /* of the same pixels: what they get */
  int *count;       /* of them */
  Tap *taps;        /* a grid with a border; planes only */
  int tap_pitch, tap_rows;
};

/* ---- the list ----------------------------------------------------------------------------------------- */

/* Gives every thread the last value at or before its own (@step -1), or the first value at or after it (@step 1). */
static __device__ void
spread (float *values, int step)
{
  int t = threadIdx.x;

  for (int reach = 1; reach < FILL_THREADS; reach *= 2) {
    int from = t + step * reach;
    __syncthreads ();
    float value = values[t];
    if (isnan (value) && from >= 0 && from < FILL_THREADS)
      value = values[from];
    __syncthreads ();
    values[t] = value;
  }
  __syncthreads ();
}

/* Sets the bits in @seen of the columns of row @y that have a candidate on the right view's disparity map: each pixel of
 * the right view is on it with the candidate it selected, and one less and one more. */
static __device__ void
mark_seen (const Frame &f, int y, uint32_t *seen)
{
  const uint16_t *selected = f.view[STEREO_RIGHT].index + (size_t) y * f.map_pitch;

  for (int x = threadIdx.x; x < f.width; x += FILL_THREADS) {
    int index = selected[x];
    for (int i = index - 1; index != (int) STEREO_INVALID && i <= index + 1; i++) {
      int left = f.width - 1 - x + f.min_disparity + i;
      if (i >= 0 && i < f.disparities && left >= 0 && left < f.width)
        atomicOr (&seen[left / 32], 1u << left % 32);
    }
  }
}

/* The place in the list of the first of @count pixels of each thread: those of a block lie together, in the order of the
 * threads. */
static __device__ int
reserve (int *list, int count)
{
  __shared__ int sums[FILL_THREADS / 32], start;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = count;

  for (int reach = 1; reach < 32; reach *= 2) {
    int other = __shfl_up_sync (ALL_LANES, before, reach);
    before += lane >= reach ? other : 0;
  }
  if (lane == 31)
    sums[warp] = before;
  __syncthreads ();
  if (threadIdx.x == 0) {
    int all = 0;
    for (int k = 0; k < FILL_THREADS / 32; k++) {
      int own = sums[k];
      sums[k] = all;
      all += own;
    }
    start = atomicAdd (list, all);
  }
  __syncthreads ();
  return start + sums[warp] + before - count;
}

/* Lists the pixels of columns @from to @to - 1 of row @y that have no disparity, with the farther neighbour's. */
static __device__ void
list_span (const Frame &f, const FillContext &c, const uint32_t *seen, int y, int from, int to, float before,
    float beyond, int place)
{
  const float *row = f.disparity + (size_t) y * f.map_pitch;

  for (int x = from; x < to;) {
    if (!isnan (row[x])) {
      before = row[x++];
      continue;
    }
    int end = x;
    while (end < to && isnan (row[end]))
      end++;
    float after = end < to ? row[end] : beyond;
    float value = isnan (before) || after < before ? after : before;
    for (; x < end; x++, place++) {
      uint32_t mismatched = seen[x / 32] >> x % 32 & 1 ? MISMATCHED : 0;
      c.pixels[place] = (uint32_t) (y * f.map_pitch + x) | mismatched;
      c.values[place] = value;
    }
  }
}

/* Block: a row; thread: a span of it. Shared memory: the last and the first value of each span, from which every thread
 * gets the values before and after its own span, and a bit for each column. */
static __global__ void
__launch_bounds__ (FILL_THREADS) list_kernel (Frame f, FillContext c)
{
  __shared__ float last[FILL_THREADS], first[FILL_THREADS];
  __shared__ uint32_t seen[WORDS];
  const float *row = f.disparity + (size_t) blockIdx.x * f.map_pitch;
  int t = threadIdx.x, span = (f.width + FILL_THREADS - 1) / FILL_THREADS, holes = 0;
  int from = min (t * span, f.width), to = min (from + span, f.width);

  last[t] = first[t] = NAN;
  for (int x = from; x < to; x++) {
    float d = row[x];
    holes += isnan (d);
    last[t] = isnan (d) ? last[t] : d;
    first[t] = isnan (first[t]) ? d : first[t];
  }
  if (!__syncthreads_or (holes))
    return;
  for (int k = t; k < (f.width + 31) / 32; k += FILL_THREADS)
    seen[k] = 0;
  __syncthreads ();
  mark_seen (f, blockIdx.x, seen);
  spread (last, -1);
  spread (first, 1);
  int place = reserve (c.count, holes);
  list_span (
      f, c, seen, blockIdx.x, from, to, t > 0 ? last[t - 1] : NAN, t < FILL_THREADS - 1 ? first[t + 1] : NAN, place);
}

/* ---- mismatched pixels -------------------------------------------------------------------------------- */

/* The first value along ray @ray from (x, y), a pixel of colour @color. */
static __device__ __forceinline__ void
follow (const Frame &f, int x, int y, uint32_t color, int ray, Met<STEREO_FILL_RAYS> &met)
{
  int along = stereo_ray_x (ray), down = stereo_ray_y (ray);

  met.value[ray] = INFINITY;
  met.weight[ray] = 0;
  for (int step = 1; step <= STEREO_FILL_REACH; step += STRIDE) {
    float d[STRIDE];
    int found = STRIDE;
#pragma unroll
    for (int k = 0; k < STRIDE; k++)
      d[k] = disparity_at (f, x + stereo_ray_offset (step + k, along), y + stereo_ray_offset (step + k, down));
#pragma unroll
    for (int k = STRIDE - 1; k >= 0; k--)
      if (!isnan (d[k])) {
        met.value[ray] = d[k];
        found = k;
      }
    if (found == STRIDE)
      continue;
    met.weight[ray] = weight_at (
        f, x + stereo_ray_offset (step + found, along), y + stereo_ray_offset (step + found, down), color);
    return;
  }
}

/* The weighted median of the rays' values; @otherwise if no ray meets one. */
static __device__ __forceinline__ float
median_around (const Frame &f, int x, int y, float otherwise)
{
  uint32_t color = f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x];
  Met<STEREO_FILL_RAYS> met;

#pragma unroll
  for (int ray = 0; ray < STEREO_FILL_RAYS; ray++)
    follow (f, x, y, color, ray, met);
  float median = weighted_median (met);
  return median < INFINITY ? median : otherwise;
}

/* ---- planes ------------------------------------------------------------------------------------------- */

/* Thread: a cell, or one of the border. */
static __global__ void
tap_kernel (Frame f, FillContext c)
{
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  int x = (column - CELL_BORDER) * STEREO_PLANE_CELL, y = (row - CELL_BORDER) * STEREO_PLANE_CELL;
  float d = disparity_at (f, x, y);
  Tap tap = { STEREO_PLANE_NOWHERE, 0 };

  if (column >= c.tap_pitch)
    return;
  if (!isnan (d))
    tap = { d, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x] };
  c.taps[row * c.tap_pitch + column] = tap;
}

/* ---- kernels of the listed pixels --------------------------------------------------------------------- */

/* Thread: pixels of the list. Threads of a warp have pixels of a row beside each other: their rays and windows read the
 * same lines. */
template <bool PLANES> static __global__ void
__launch_bounds__ (HOLE_THREADS) value_kernel (Frame f, FillContext c)
{
  int count = *c.count;

  for (int k = blockIdx.x * HOLE_THREADS + threadIdx.x; k < count; k += gridDim.x * HOLE_THREADS) {
    uint32_t pixel = c.pixels[k];
    int y = (int) ((pixel & ~MISMATCHED) / f.map_pitch), x = (int) ((pixel & ~MISMATCHED) % f.map_pitch);
    float value = c.values[k];

    if (pixel & MISMATCHED)
      value = median_around (f, x, y, value);
    if (PLANES && !isnan (value))
      value = plane_at (f, c.taps, c.tap_pitch, x, y, value);
    c.values[k] = value;
  }
}

/* Thread: pixels of the list, whose values are stored already. */
static __global__ void
__launch_bounds__ (HOLE_THREADS) smooth_kernel (Frame f, FillContext c)
{
  int count = *c.count;

  for (int k = blockIdx.x * HOLE_THREADS + threadIdx.x; k < count; k += gridDim.x * HOLE_THREADS) {
    int pixel = (int) (c.pixels[k] & ~MISMATCHED), y = pixel / f.map_pitch, x = pixel % f.map_pitch;
    uint32_t color = f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x];
    Met<STEREO_SMOOTH_TAPS> met;

#pragma unroll
    for (int tap = 0; tap < STEREO_SMOOTH_TAPS; tap++) {
      int row = y + tap / STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_REACH;
      int column = x + tap % STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_REACH;
      float value = disparity_at (f, column, row);
      met.value[tap] = isnan (value) ? INFINITY : value;
      met.weight[tap] = isnan (value) ? 0 : weight_at (f, column, row, color);
    }
    float median = weighted_median (met);
    c.values[k] = median < INFINITY ? median : NAN;
  }
}

static __global__ void
__launch_bounds__ (HOLE_THREADS) store_kernel (Frame f, FillContext c)
{
  int count = *c.count;

  for (int k = blockIdx.x * HOLE_THREADS + threadIdx.x; k < count; k += gridDim.x * HOLE_THREADS)
    f.disparity[c.pixels[k] & ~MISMATCHED] = c.values[k];
}

/* ---- stages --------------------------------------------------------------------------------------------- */

static StereoStatus
fill_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  FillContext *c = (FillContext *) data;
  size_t pixels = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  StereoStatus status = stereo_reserve_for (
      plan, STEREO_LIFE_MAPS, (void **) &c->pixels, pixels, sizeof (uint32_t), error);

  if (!status)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->values, pixels, sizeof (float), error);
  return status ? status : stereo_reserve (plan, (void **) &c->count, 1, sizeof (int), error);
}

static StereoStatus
planes_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  FillContext *c = (FillContext *) data;
  StereoStatus status = fill_prepare (plan, data, error);

  c->tap_pitch = (int) cuda_blocks (plan->width, STEREO_PLANE_CELL) + 2 * CELL_BORDER;
  c->tap_rows = (int) cuda_blocks (plan->height, STEREO_PLANE_CELL) + 2 * CELL_BORDER;
  return status ? status :
                  stereo_reserve (plan, (void **) &c->taps, (size_t) c->tap_pitch * c->tap_rows, sizeof (Tap), error);
}

template <bool PLANES> static StereoStatus
run (StereoPlan *plan, void *data, StereoError *error)
{
  const FillContext &c = *(const FillContext *) data;
  const CudaState *state = cuda_state (plan);
  Frame frame = cuda_frame (plan);
  int blocks = (int) cuda_blocks ((size_t) plan->width * plan->height, HOLE_THREADS);

  blocks = min (blocks, HOLE_BLOCKS * state->multiprocessors);
  CUDA_TRY (cudaMemsetAsync (c.count, 0, sizeof (int), state->stream));
  list_kernel<<<plan->height, FILL_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "list_kernel");
  if (PLANES) {
    dim3 grid (cuda_blocks (c.tap_pitch, HOLE_THREADS), c.tap_rows);
    tap_kernel<<<grid, HOLE_THREADS, 0, state->stream>>> (frame, c);
    CUDA_LAUNCHED (plan, "tap_kernel");
  }
  value_kernel<PLANES><<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "value_kernel");
  store_kernel<<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "store_kernel");
  smooth_kernel<<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "smooth_kernel");
  store_kernel<<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "store_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_fill = {
  .name = "fill", .context_size = sizeof (FillContext), .prepare = fill_prepare, .run = run<false>
};
extern const StereoStage stereo_cuda_planes = {
  .name = "planes", .context_size = sizeof (FillContext), .prepare = planes_prepare, .run = run<true>
};
