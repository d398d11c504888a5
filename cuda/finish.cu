/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From indices to the finished disparity of the left view, but for median and speckle. */
#include "cuda/common.cuh"

#define THREADS 256

/* ---- a thread per pixel ------------------------------------------------------------------------ */

#define EACH 4                  /* pixels a thread fits, whose costs are under way together */

/* Disparity from the index, with or without the sub-pixel fit. */
template <bool SUBPIXEL>
static __global__ void
disparity_kernel (Frame f)
{
  int x0 = blockIdx.x * EACH * THREADS + threadIdx.x, y = blockIdx.y;
  size_t map = (size_t) y * f.map_pitch;
  const uint16_t *row = f.volume + (size_t) y * f.width * f.depth;
  int index[EACH];
  uint16_t before[EACH], lowest[EACH], after[EACH];

  cuda_let_next_start ();
  cuda_await_last ();
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int x = x0 + k * THREADS;
    index[k] = x < f.width ? f.view[STEREO_LEFT].index[map + x] : STEREO_INVALID;
  }
#pragma unroll
  for (int k = 0; SUBPIXEL && k < EACH; k++) {
    /* at the ends of the range there is nothing to fit */
    bool inner = index[k] > 0 && index[k] < f.disparities - 1;
    const uint16_t *cost = row + (size_t) (x0 + k * THREADS) * f.depth + index[k];
    before[k] = inner ? cost[-1] : (uint16_t) STEREO_INVALID;
    lowest[k] = inner ? cost[0] : 0;
    after[k] = inner ? cost[1] : 0;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int x = x0 + k * THREADS;
    float d = index[k] == (int) STEREO_INVALID ? NAN : (float) (f.min_disparity + index[k]);
    if (SUBPIXEL && before[k] != STEREO_INVALID && after[k] != STEREO_INVALID)
      d += stereo_equiangular (before[k], lowest[k], after[k]);
    if (x < f.width)
      f.disparity[map + x] = d;
  }
}

/* Pixels whose confidence is below @least have no disparity; @zero: those without any confidence. */
static __global__ void
invalidate_kernel (Frame f, float least, bool zero)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  size_t map = (size_t) blockIdx.y * f.map_pitch + x;

  cuda_let_next_start ();
  cuda_await_last ();
  if (x >= f.width)
    return;
  float confidence = f.view[STEREO_LEFT].confidence[map];
  if (zero ? confidence == 0 : confidence < least)
    f.disparity[map] = NAN;
}

/* @each pixels a thread. */
static dim3
pixel_grid (const StereoPlan *plan, int each)
{
  return dim3 (cuda_blocks (plan->width, each * THREADS), plan->height);
}

static StereoStatus
integer_run (StereoPlan *plan, StereoError *error)
{
  cuda_launch_close (plan, disparity_kernel<false>, pixel_grid (plan, EACH), THREADS, 0, cuda_frame (plan));
  CUDA_LAUNCHED (plan, "disparity_kernel");
  return STEREO_OK;
}

static StereoStatus
subpixel_run (StereoPlan *plan, StereoError *error)
{
  cuda_launch_close (plan, disparity_kernel<true>, pixel_grid (plan, EACH), THREADS, 0, cuda_frame (plan));
  CUDA_LAUNCHED (plan, "disparity_kernel");
  return STEREO_OK;
}

static StereoStatus
reject_run (StereoPlan *plan, StereoError *error)
{
  cuda_launch_close (plan, invalidate_kernel, pixel_grid (plan, 1), THREADS, 0, cuda_frame (plan), 0.0f, true);
  CUDA_LAUNCHED (plan, "invalidate_kernel");
  return STEREO_OK;
}

static StereoStatus
threshold_run (StereoPlan *plan, StereoError *error)
{
  float least = (float) plan->params.confidence_threshold;
  cuda_launch_close (plan, invalidate_kernel, pixel_grid (plan, 1), THREADS, 0, cuda_frame (plan), least, false);
  CUDA_LAUNCHED (plan, "invalidate_kernel");
  return STEREO_OK;
}

/* ---- background fill ------------------------------------------------------------------------------ */

/* For every thread the last value at or before it (@step -1), or the first at or after it (@step 1). */
static __device__ void
spread (float *values, int step)
{
  int t = threadIdx.x;

  for (int reach = 1; reach < THREADS; reach *= 2) {
    int from = t + step * reach;
    __syncthreads ();
    float value = values[t];
    if (isnan (value) && from >= 0 && from < THREADS)
      value = values[from];
    __syncthreads ();
    values[t] = value;
  }
  __syncthreads ();
}

/* A hole is what the left view sees and the right one does not: the farther neighbour's. */
static __device__ void
fill_span (float *row, int from, int to, float before, float beyond)
{
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
    for (; x < end; x++)
      row[x] = value;
  }
}

/* A block per row, a span of it per thread. Shared: the last and first values of the spans, which tell
 * every thread what stands before and after its own; only it reads and writes its span. */
static __global__ void
fill_kernel (Frame f)
{
  __shared__ float last[THREADS], first[THREADS];
  float *row = f.disparity + (size_t) blockIdx.x * f.map_pitch;
  int t = threadIdx.x, span = (f.width + THREADS - 1) / THREADS;
  int from = min (t * span, f.width), to = min (from + span, f.width);

  last[t] = first[t] = NAN;
  for (int x = from; x < to; x++)
    if (!isnan (row[x])) {
      last[t] = row[x];
      if (isnan (first[t]))
        first[t] = row[x];
    }
  spread (last, -1);
  spread (first, 1);
  fill_span (row, from, to, t > 0 ? last[t - 1] : NAN, t < THREADS - 1 ? first[t + 1] : NAN);
}

static StereoStatus
fill_run (StereoPlan *plan, StereoError *error)
{
  fill_kernel <<<plan->height, THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "fill_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_integer = { "integer", NULL, integer_run };
extern const StereoStage stereo_cuda_subpixel = { "subpixel", NULL, subpixel_run };
extern const StereoStage stereo_cuda_reject = { "reject", NULL, reject_run };
extern const StereoStage stereo_cuda_threshold = { "threshold", NULL, threshold_run };
extern const StereoStage stereo_cuda_fill = { "fill", NULL, fill_run };
