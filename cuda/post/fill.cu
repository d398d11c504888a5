/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filling: ../../stereo/exact/fill.h says what a pixel without a disparity gets. A first kernel lists these pixels, a
 * second one finds their values, and a third one stores them when nothing looks at the disparities before any more. The
 * same then happens to the values that smooth them. The length of the list stays on the device: the grids do not depend on
 * it.
 */
#include "cuda/common.cuh"
#include "cuda/post/gaps.cuh"
#include "cuda/post/neighbours.cuh"
#include "cuda/post/plane.cuh"

namespace
{

constexpr int FILL_THREADS = 192; /* of a row: all rows of 1080 run at once on a GPU with 108 multiprocessors */
constexpr int FILL_WARPS = FILL_THREADS / 32;
constexpr int HOLE_THREADS = 128;
constexpr int HOLE_BLOCKS = 16;              /* of a multiprocessor, at most */
constexpr int STRIDE = 4;                    /* steps of a ray whose loads are in flight together */
constexpr int GROUP = STEREO_FILL_RAYS;      /* lanes that look at a pixel together */
constexpr int EACH = 2;                      /* pixels of a group at a time */
constexpr int HOLES = 32 / GROUP * EACH;     /* of a warp */
constexpr uint32_t MISMATCHED = 0x80000000u; /* beside the number of a pixel */
constexpr int WORDS = STEREO_MAX_SIDE / 32;  /* bits of a row */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

static_assert (STEREO_FILL_STEPS % STRIDE == 0, "the end of a ray");
static_assert (
    GROUP == 16 && CELLS == GROUP, "half a warp: a lane for each ray, and for each column of a plane's window");
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

/* Scratch memory of a stage. */
struct FillContext
{
  uint32_t *pixels; /* y * map_pitch + x, with MISMATCHED, of each pixel without a disparity; those of a row together */
  float *values;    /* of the same pixels: what they get */
  int *count;       /* of them */
  Tap *taps;        /* a grid with a border; planes and gaps */
  int tap_pitch, tap_rows;
  CudaGaps gaps; /* gaps only */
};

/* ---- the list ----------------------------------------------------------------------------------------- */

/* The nearest value before this lane's (@step -1), or after it (@step 1), in the warp; NaN: there is none. *@all: the nearest one
 * for who comes after the warp in that direction. */
static __device__ __forceinline__ float
nearest_in_warp (float own, int step, float *all)
{
  int lane = threadIdx.x % 32;

#pragma unroll
  for (int away = 1; away < 32; away *= 2) {
    float other = __shfl_sync (ALL_LANES, own, lane + step * away);
    own = isnan (own) && lane + step * away >= 0 && lane + step * away < 32 ? other : own;
  }
  float beside = __shfl_sync (ALL_LANES, own, lane + step);
  *all = __shfl_sync (ALL_LANES, own, step < 0 ? 31 : 0);
  return lane == (step < 0 ? 0 : 31) ? NAN : beside;
}

/* Of each thread's span, @first and @last are its first and last value: they become the first value after it, and the last one
 * before it. */
static __device__ void
spread (float *first, float *last)
{
  __shared__ float firsts[FILL_WARPS], lasts[FILL_WARPS];
  int warp = threadIdx.x / 32;
  float all_first, all_last;

  *first = nearest_in_warp (*first, 1, &all_first);
  *last = nearest_in_warp (*last, -1, &all_last);
  if (threadIdx.x % 32 == 0) {
    firsts[warp] = all_first;
    lasts[warp] = all_last;
  }
  __syncthreads ();
  for (int k = warp + 1; k < FILL_WARPS; k++)
    *first = isnan (*first) ? firsts[k] : *first;
  for (int k = warp - 1; k >= 0; k--)
    *last = isnan (*last) ? lasts[k] : *last;
}

/* Sets the bits in @seen of the columns of row @y that have a candidate on the right view's disparity map: each pixel of
 * the right view is on it with the candidate it selected, and one less and one more. These are columns beside each other. */
static __device__ void
mark_seen (const Frame &f, int y, uint32_t *seen)
{
  const uint16_t *selected = f.view[STEREO_RIGHT].index + (size_t) y * f.map_pitch;

#pragma unroll 4
  for (int x = threadIdx.x; x < f.width; x += FILL_THREADS) {
    int index = selected[x], column = f.width - 1 - x + f.min_disparity; /* of candidate 0 */
    int first = max (max (index - 1, 0), -column), last = min (min (index + 1, f.disparities - 1), f.width - 1 - column);
    if (index == (int) STEREO_INVALID || first > last)
      continue;
    int from = column + first, to = column + last;
    uint32_t bits = (2u << (last - first)) - 1;
    atomicOr (&seen[from / 32], bits << from % 32);
    if (from / 32 != to / 32)
      atomicOr (&seen[to / 32], bits >> (32 - from % 32));
  }
}

/* The place in the list of the first of @count pixels of each thread: those of a block lie together, in the order of the
 * threads. */
static __device__ int
reserve (int *list, int count)
{
  __shared__ int sums[FILL_WARPS], start;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = count;

  for (int away = 1; away < 32; away *= 2) {
    int other = __shfl_up_sync (ALL_LANES, before, away);
    before += lane >= away ? other : 0;
  }
  if (lane == 31)
    sums[warp] = before;
  __syncthreads ();
  if (threadIdx.x == 0) {
    int all = 0;
    for (int k = 0; k < FILL_WARPS; k++) {
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

/* Block: a row; thread: a span of it. Shared memory: a bit for each column. */
static __global__ void
__launch_bounds__ (FILL_THREADS) list_kernel (Frame f, FillContext c)
{
  __shared__ uint32_t seen[WORDS];
  const float *row = f.disparity + (size_t) blockIdx.x * f.map_pitch;
  int t = threadIdx.x, span = (f.width + FILL_THREADS - 1) / FILL_THREADS, holes = 0;
  int from = min (t * span, f.width), to = min (from + span, f.width);
  float first = NAN, last = NAN;

#pragma unroll 4
  for (int x = from; x < to; x++) {
    float d = row[x];
    holes += isnan (d);
    last = isnan (d) ? last : d;
    first = isnan (first) ? d : first;
  }
  if (!__syncthreads_or (holes))
    return;
  for (int k = t; k < (f.width + 31) / 32; k += FILL_THREADS)
    seen[k] = 0;
  __syncthreads ();
  mark_seen (f, blockIdx.x, seen);
  spread (&first, &last);
  int place = reserve (c.count, holes); /* which also waits for what the others have seen */
  list_span (f, c, seen, blockIdx.x, from, to, last, first, place);
}

/* ---- mismatched pixels -------------------------------------------------------------------------------- */

/* What a ray meets: infinity and no weight where it meets no value. */
struct Neighbour
{
  float value;
  int weight;
};

/* Steps of a ray of @halves from place @at of @size that stay inside. */
static __device__ __forceinline__ int
steps_inside (int at, int size, int halves)
{
  int room = halves > 0 ? size - 1 - at : at;
  return halves == 0 ? STEREO_FILL_STEPS : halves % 2 == 0 ? room : 2 * room + (halves < 0);
}

/* The first value along ray @ray from (x, y), a pixel of colour @color. STRIDE steps from any place go equally far. */
static __device__ __forceinline__ Neighbour
follow (const Frame &f, int x, int y, uint32_t color, int ray)
{
  static_assert (STRIDE % 2 == 0, "whole pixels");
  int along = stereo_ray_x (ray), down = stereo_ray_y (ray);
  int most = min (STEREO_FILL_STEPS, min (steps_inside (x, f.width, along), steps_inside (y, f.height, down)));
  const float *from = f.disparity + (size_t) y * f.map_pitch + x;
  int away[STRIDE], further = STRIDE / 2 * (down * f.map_pitch + along);

#pragma unroll
  for (int k = 0; k < STRIDE; k++)
    away[k] = stereo_ray_offset (1 + k, down) * f.map_pitch + stereo_ray_offset (1 + k, along);
#pragma unroll 1
  for (int step = 1; step <= most; step += STRIDE, from += further) {
    float d[STRIDE], value = NAN;
    int found = STRIDE;
#pragma unroll
    for (int k = 0; k < STRIDE; k++)
      d[k] = step + k <= most ? from[away[k]] : NAN;
#pragma unroll
    for (int k = STRIDE - 1; k >= 0; k--)
      if (!isnan (d[k])) {
        value = d[k];
        found = k;
      }
    if (found == STRIDE)
      continue;
    int at = step + found;
    return { value, weight_at (f, x + stereo_ray_offset (at, along), y + stereo_ray_offset (at, down), color) };
  }
  return { INFINITY, 0 };
}

/* By the lanes of a group, a ray each: the weighted median of the values they meet; @otherwise if they meet none. Of equal
 * values, each has the weight of them all. */
static __device__ __forceinline__ float
median_around (const Frame &f, int x, int y, uint32_t color, float otherwise)
{
  Neighbour own = follow (f, x, y, color, threadIdx.x % GROUP);
  int below = 0, total = 0;

#pragma unroll
  for (int k = 0; k < GROUP; k++) {
    int weight = __shfl_sync (ALL_LANES, own.weight, k, GROUP);
    below += __shfl_sync (ALL_LANES, own.value, k, GROUP) <= own.value ? weight : 0;
    total += weight;
  }
  float median = 2 * below >= total ? own.value : INFINITY;
#pragma unroll
  for (int away = GROUP / 2; away; away /= 2)
    median = fminf (median, __shfl_xor_sync (ALL_LANES, median, away));
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

/* A pixel of the list, as the lanes of a group see it. */
struct Hole
{
  int x, y;
  bool mismatched;
  uint32_t color;
  float value;
};

static __device__ __forceinline__ Hole
load_hole (const Frame &f, const FillContext &c, int k)
{
  uint32_t pixel = c.pixels[k];
  int y = (int) ((pixel & ~MISMATCHED) / f.map_pitch), x = (int) ((pixel & ~MISMATCHED) % f.map_pitch);
  return { x, y, (pixel & MISMATCHED) != 0, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x], c.values[k] };
}

/* Warp: HOLES pixels of the list at a time, one after the other for each group of lanes; what the sums for a plane come to is
 * found for all of them at once, by a lane each. A warp goes on with its groups together, to the end of the list for both. */
template <bool PLANES> static __global__ void
__launch_bounds__ (HOLE_THREADS) value_kernel (Frame f, FillContext c)
{
  int count = *c.count, lane = threadIdx.x % GROUP, group = threadIdx.x % 32 / GROUP;
  int warp = (blockIdx.x * HOLE_THREADS + threadIdx.x) / 32, warps = gridDim.x * (HOLE_THREADS / 32);

  for (int from = HOLES * warp; from < count; from += HOLES * warps) {
    int own = from + group * EACH + lane % EACH; /* the pixel that this lane stores */
    StereoPlaneSums sums = {};
    float value = NAN;
#pragma unroll 1
    for (int n = 0; n < EACH; n++) {
      Hole hole = load_hole (f, c, min (from + group * EACH + n, count - 1));
      if (__any_sync (ALL_LANES, hole.mismatched)) {
        float median = median_around (f, hole.x, hole.y, hole.color, hole.value);
        hole.value = hole.mismatched ? median : hole.value;
      }
      if (PLANES) {
        StereoPlaneSums all = plane_sums<GROUP> (f, c.taps, c.tap_pitch, hole.x, hole.y, hole.color, hole.value);
        sums = lane % EACH == n ? all : sums;
      }
      value = lane % EACH == n ? hole.value : value;
    }
    if (PLANES && !isnan (value))
      value = stereo_plane_value (&sums, value, (float) f.min_disparity, (float) (f.min_disparity + f.disparities - 1));
    if (lane < EACH && own < count)
      c.values[own] = value;
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
      int row = y + tap / STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
      int column = x + tap % STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
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

static StereoStatus
gaps_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  StereoStatus status = planes_prepare (plan, data, error);
  return status ? status : cuda_gaps_reserve (plan, &((FillContext *) data)->gaps, error);
}

static StereoStatus
gaps_run (StereoPlan *plan, void *data, StereoError *error)
{
  const CudaGaps &gaps = ((const FillContext *) data)->gaps;
  StereoStatus status;
  cudaStream_t beside;

  if ((status = cuda_gaps_count (plan, gaps, error)) || (status = cuda_begin_late (plan, &beside, error)) ||
      (status = cuda_gaps_find (plan, gaps, beside, error)) || (status = run<true> (plan, data, error)) ||
      (status = cuda_join (plan, error)))
    return status;
  return cuda_gaps_empty (plan, gaps, error);
}

}

extern const StereoStage stereo_cuda_fill = {
  .name = "fill", .context_size = sizeof (FillContext), .prepare = fill_prepare, .run = run<false>
};
extern const StereoStage stereo_cuda_planes = {
  .name = "planes", .context_size = sizeof (FillContext), .prepare = planes_prepare, .run = run<true>
};
extern const StereoStage stereo_cuda_gaps = {
  .name = "gaps", .context_size = sizeof (FillContext), .prepare = gaps_prepare, .run = gaps_run
};
