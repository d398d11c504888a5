/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the last indices to the disparity of the left view, and background fill. Median and threshold: store.cu. */
#include "cuda/check.cuh"
#include "cuda/subpixel.cuh"

#define BLOCK_X 32
#define BLOCK_Y 4
#define FILL_THREADS 256

/* ---- disparity ---------------------------------------------------------------------------------- */

/* Offsets of those of four pixels that are @wanted. Select has @found that of the lowest cost's index, which mostly still
 * is the pixel's; the other pixels' costs are under way together. */
static __device__ __forceinline__ void
fit_four (const Frame &f, const float *found, size_t row, int x, int y, const int (&index)[FOUR],
    const bool (&wanted)[FOUR], float (&offset)[FOUR])
{
  const uint16_t *column = f.volume + ((size_t) y * f.width + x) * f.depth;
  float4 quad = *(const float4 *) (found + row + x);
  uint2 pairs[FOUR];
  int first[FOUR];

  load_four (f.view[STEREO_LEFT].first + row + x, first);
  offset[0] = quad.x;
  offset[1] = quad.y;
  offset[2] = quad.z;
  offset[3] = quad.w;
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    pairs[k] = wanted[k] && index[k] != first[k] ? load_pairs (f, column + k * f.depth, index[k]) : make_uint2 (0, 0);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (index[k] != first[k])
      offset[k] = fit (pairs[k], index[k]);
}

/*
 * The last check, the sub-pixel fit and the rejection in one: a thread per four pixels of a row. The right view is only
 * looked at, because nothing asks for its confidence any more, and pixels that are rejected are not fitted.
 */
template <bool SUBPIXEL> static __global__ void __launch_bounds__ (BLOCK_X * BLOCK_Y)
disparity_kernel (Frame f, const float *found, int consistency, bool reject)
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
    fit_four (f, found, row, x, y, index, wanted, offset);
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
  const CudaState *state = cuda_state (plan);
  bool reject = stereo_params_reject (p);

  if (p->subpixel)
    disparity_kernel<true> <<<grid, block, 0, state->stream>>> (cuda_frame (plan), state->select_offset, p->consistency,
        reject);
  else
    disparity_kernel<false> <<<grid, block, 0, state->stream>>> (cuda_frame (plan), NULL, p->consistency, reject);
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
