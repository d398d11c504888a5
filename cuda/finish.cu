/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the last indices to the disparity of the left view, and background fill. Median and threshold: store.cu. */
#include "cuda/check.cuh"

#define BLOCK_X 32
#define BLOCK_Y 4
#define FILL_THREADS 256

/* ---- disparity ---------------------------------------------------------------------------------- */

/* Two pairs of costs that hold an index's and its neighbours', as they lie in the volume. */
static __device__ __forceinline__ uint2
load_pairs (const uint16_t *column, int index)
{
  const uint32_t *pairs = (const uint32_t *) column + (index - 1) / 2;
  return make_uint2 (__ldg (pairs), __ldg (pairs + 1));
}

/* The sub-pixel offset; none beside a candidate that does not exist. */
static __device__ __forceinline__ float
fit (uint2 pairs, int index)
{
  /* an even index has its neighbour before it in an upper half */
  uint32_t before = index % 2 ? pairs.x & 0xFFFF : pairs.x >> 16, lowest = index % 2 ? pairs.x >> 16 : pairs.y & 0xFFFF;
  uint32_t after = index % 2 ? pairs.y & 0xFFFF : pairs.y >> 16;

  return before == STEREO_INVALID || after == STEREO_INVALID ? 0.0f : stereo_equiangular (before, lowest, after);
}

/* Offsets of those of four pixels that are @wanted, whose costs are under way together. */
static __device__ __forceinline__ void
fit_four (const Frame &f, int x, int y, const int (&index)[FOUR], const bool (&wanted)[FOUR], float (&offset)[FOUR])
{
  const uint16_t *column = f.volume + ((size_t) y * f.width + x) * f.depth;
  uint2 pairs[FOUR];

#pragma unroll
  for (int k = 0; k < FOUR; k++) {
    /* at the ends of the range there is nothing to fit */
    bool inner = wanted[k] && index[k] > 0 && index[k] < f.disparities - 1;
    pairs[k] = inner ? load_pairs (column + k * f.depth, index[k]) : make_uint2 (0, 0);
  }
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    offset[k] = fit (pairs[k], index[k]);
}

/*
 * The last check, the sub-pixel fit and the rejection in one: a thread per four pixels of a row. The right view is only
 * looked at, because nothing asks for its confidence any more, and pixels that are rejected are not fitted.
 */
template <bool SUBPIXEL> static __global__ void __launch_bounds__ (BLOCK_X * BLOCK_Y)
disparity_kernel (Frame f, int consistency, bool reject)
{
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * FOUR, y = blockIdx.y * BLOCK_Y + threadIdx.y, index[FOUR];
  const StereoView &view = f.view[STEREO_LEFT];
  size_t row = (size_t) y * f.map_pitch;
  bool wanted[FOUR];
  float d[FOUR], offset[FOUR];

  if (x >= f.width || y >= f.height)
    return;
  load_four (view.index + row + x, index);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    wanted[k] = x + k < f.width && index[k] != (int) STEREO_INVALID;
  if (consistency >= 0) {
    float4 quad = *(const float4 *) (view.confidence + row + x);
    float confidence[FOUR] = { quad.x, quad.y, quad.z, quad.w };
    bool contradicted[FOUR];
    find_contradicted (f, f.view[STEREO_RIGHT], row, x, index, consistency, contradicted);
#pragma unroll
    for (int k = 0; k < FOUR; k++) {
      confidence[k] = contradicted[k] ? 0.0f : confidence[k];
      wanted[k] = wanted[k] && !(reject && confidence[k] == 0);
    }
    if (contradicted[0] || contradicted[1] || contradicted[2] || contradicted[3])
      *(float4 *) (view.confidence + row + x) =
          make_float4 (confidence[0], confidence[1], confidence[2], confidence[3]);
  }
  if (SUBPIXEL)
    fit_four (f, x, y, index, wanted, offset);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    d[k] = wanted[k] ? (float) (f.min_disparity + index[k]) + (SUBPIXEL ? offset[k] : 0.0f) : NAN;
  *(float4 *) (f.disparity + row + x) = make_float4 (d[0], d[1], d[2], d[3]);
}

static StereoStatus
disparity_run (StereoPlan *plan, StereoError *error)
{
  const StereoParams *p = &plan->params;
  dim3 grid (cuda_blocks (plan->width, BLOCK_X * FOUR), cuda_blocks (plan->height, BLOCK_Y)), block (BLOCK_X, BLOCK_Y);
  cudaStream_t stream = cuda_state (plan)->stream;
  bool reject = stereo_params_reject (p);

  if (p->subpixel)
    disparity_kernel<true> <<<grid, block, 0, stream>>> (cuda_frame (plan), p->consistency, reject);
  else
    disparity_kernel<false> <<<grid, block, 0, stream>>> (cuda_frame (plan), p->consistency, reject);
  CUDA_LAUNCHED (plan, "disparity_kernel");
  return STEREO_OK;
}

/* ---- background fill ------------------------------------------------------------------------------ */

/* For every thread the last value at or before it (@step -1), or the first at or after it (@step 1). */
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
  __shared__ float last[FILL_THREADS], first[FILL_THREADS];
  float *row = f.disparity + (size_t) blockIdx.x * f.map_pitch;
  int t = threadIdx.x, span = (f.width + FILL_THREADS - 1) / FILL_THREADS;
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
  fill_span (row, from, to, t > 0 ? last[t - 1] : NAN, t < FILL_THREADS - 1 ? first[t + 1] : NAN);
}

static StereoStatus
fill_run (StereoPlan *plan, StereoError *error)
{
  fill_kernel <<<plan->height, FILL_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "fill_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_disparity = { "disparity", NULL, disparity_run };
extern const StereoStage stereo_cuda_fill = { "fill", NULL, fill_run };
