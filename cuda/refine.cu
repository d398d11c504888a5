/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (3.2.3), in two passes: over a window, the mean of the
 * disparities selected so far, weighted by likeness, nearness and confidence. Both sums are carried
 * unnormalised through both passes, so that a column without confidence adds nothing to its row.
 */
#include "cuda/refine.cuh"

#define VERTICAL_X 32
#define VERTICAL_Y 8            /* threads; 4 rows each */
#define HORIZONTAL 128          /* threads; 4 columns each */

struct SumMaps
{
  float2 *view[2];              /* w F, w F D */
};

/* A thread per column and four rows, a plane of the grid per view. Taps come straight from global
 * memory, rows at a time; the threads of the block below read most of them again from L1. */
static __global__ void __launch_bounds__ (VERTICAL_X * VERTICAL_Y)
vertical_kernel (Frame f, Window w, SumMaps sums)
{
  __shared__ __align__ (16) float distances[REFINE_DISTANCES];
  const StereoView &view = f.view[blockIdx.z];
  float2 *map = blockIdx.z ? sums.view[1] : sums.view[0];
  int x = blockIdx.x * VERTICAL_X + threadIdx.x, y = (blockIdx.y * VERTICAL_Y + threadIdx.y) * 4;

  for (int t = threadIdx.y * VERTICAL_X + threadIdx.x; t < 2 * w.reach + 8; t += VERTICAL_X * VERTICAL_Y)
    distances[t] = distance_term (w, t, 0);
  __syncthreads ();
  if (x >= f.width || y >= f.height)
    return;

  const uint32_t *color = view.color + x;
  const float *confidence = view.confidence + x;
  const uint16_t *index = view.index + x;
  Sums s = { };
  uint32_t centre[4];
#pragma unroll
  for (int k = 0; k < 4; k++)
    centre[k] = color[(size_t) min (y + k, f.height - 1) * f.image_pitch];
  for (int g = max (0, w.reach - y) / 4; g <= w.reach / 2; g++) {
    int row = y - w.reach + 4 * g;
    uint32_t colors[4];
    float trusts[4], products[4];
    if (row >= f.height)
      break;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int tap = min (max (row + k, 0), f.height - 1);
      colors[k] = color[(size_t) tap * f.image_pitch];
      trusts[k] = tap == row + k ? confidence[(size_t) tap * f.map_pitch] : 0.0f;
      products[k] = trusts[k] * (float) index[(size_t) tap * f.map_pitch];
    }
    add_group (s, centre, make_uint4 (colors[0], colors[1], colors[2], colors[3]),
        make_float4 (trusts[0], trusts[1], trusts[2], trusts[3]),
        make_float4 (products[0], products[1], products[2], products[3]), distances + 4 * g, w.color);
  }
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (y + k < f.height)
      map[(size_t) (y + k) * f.map_pitch + x] = make_float2 (s.confidence[k], s.product[k]);
}

/* A thread per row and four columns, a plane of the grid per view. The block's piece of the row and
 * reach columns around it stand in shared memory; threads read vectors of four side by side. */
static __global__ void __launch_bounds__ (HORIZONTAL)
horizontal_kernel (Frame f, Window w, SumMaps sums)
{
  const int SPAN = 4 * HORIZONTAL + 2 * REFINE_REACH;
  __shared__ __align__ (16) float distances[REFINE_DISTANCES];
  __shared__ __align__ (16) uint32_t color[SPAN];
  __shared__ __align__ (16) float confidence[SPAN], product[SPAN];
  const StereoView &view = f.view[blockIdx.z];
  float2 *map = blockIdx.z ? sums.view[1] : sums.view[0];
  int x0 = blockIdx.x * 4 * HORIZONTAL, x = x0 + 4 * threadIdx.x, y = blockIdx.y;

  for (int t = threadIdx.x; t < 2 * w.reach + 8; t += HORIZONTAL)
    distances[t] = distance_term (w, t, 0);
  for (int u = threadIdx.x; u < 4 * HORIZONTAL + 2 * w.reach; u += HORIZONTAL) {
    int from = x0 + u - w.reach;
    bool inside = from >= 0 && from < f.width;
    float2 sum = inside ? map[(size_t) y * f.map_pitch + from] : make_float2 (0, 0);
    color[u] = inside ? view.color[(size_t) y * f.image_pitch + from] : 0;
    confidence[u] = sum.x;
    product[u] = sum.y;
  }
  __syncthreads ();
  if (x >= f.width)
    return;

  Sums s = { };
  uint32_t centre[4];
#pragma unroll
  for (int k = 0; k < 4; k++)
    centre[k] = color[4 * threadIdx.x + w.reach + k];
  for (int g = 0; g <= w.reach / 2; g++) {
    int u = threadIdx.x + g;
    add_group (s, centre, ((const uint4 *) color)[u], ((const float4 *) confidence)[u], ((const float4 *) product)[u],
        distances + 4 * g, w.color);
  }
  store_expected (view, (size_t) y * f.map_pitch + x, s);
}

static StereoStatus
two_pass_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  StereoStatus status = STEREO_OK;
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &state->refine_sum[v], (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (float2), error);
  return status;
}

static StereoStatus
two_pass_run (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Window w = window_of (plan);
  SumMaps sums = { { state->refine_sum[0], state->refine_sum[1] } };
  dim3 vertical (cuda_blocks (plan->width, VERTICAL_X), cuda_blocks (plan->height, 4 * VERTICAL_Y), 2);
  dim3 horizontal (cuda_blocks (plan->width, 4 * HORIZONTAL), plan->height, 2);

  vertical_kernel <<<vertical, dim3 (VERTICAL_X, VERTICAL_Y), 0, state->stream>>> (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "vertical_kernel");
  horizontal_kernel <<<horizontal, HORIZONTAL, 0, state->stream>>> (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "horizontal_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_refine_two_pass = { "refine", two_pass_prepare, two_pass_run };
