/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Aggregation over the full window: every tap of it, for every candidate. An option to compare with,
 * not to live on: a thread takes one candidate and makes its right weights and costs as it goes;
 * only the left weights are shared, by the block that has all disparities of a pixel.
 */
#include "cuda/asw/weights.cuh"

namespace
{

constexpr int THREADS = 128;

/*
 * Block: a pixel (blockIdx.x, blockIdx.y) by THREADS indices (blockIdx.z). Shared: the pixel's weights,
 * 0 for taps outside the image. Neighbouring threads read neighbouring right pixels.
 */
template <int COST, bool BOTH> __global__ void
aggregate_window (Frame f, AswWindow w)
{
  extern __shared__ float left[];
  int x = blockIdx.x, y = blockIdx.y, i = blockIdx.z * THREADS + threadIdx.x, side = 2 * w.radius + 1;
  int xm = f.width - 1 - x + f.min_disparity + i;
  size_t row = (size_t) y * f.image_pitch;
  const uint32_t *color = f.view[STEREO_LEFT].likeness + row + x;

  for (int t = threadIdx.x; t < side * side; t += THREADS) {
    int dx = t % side - w.radius, dy = t / side - w.radius;
    bool inside = x + dx >= 0 && x + dx < f.width && y + dy >= 0 && y + dy < f.height;
    left[t] = inside ?
        asw_weight (color[0], color[(ptrdiff_t) dy * f.image_pitch + dx], w, sqrtf ((float) (dx * dx + dy * dy))) :
        0;
  }
  __syncthreads ();
  if (i >= f.depth)
    return;
  uint16_t *to = f.volume + ((size_t) y * f.width + x) * f.depth + i;
  if (xm < 0 || xm >= f.width || i >= f.disparities) {
    *to = STEREO_INVALID;
    return;
  }
  const uint32_t *partner = f.view[STEREO_RIGHT].likeness + row + xm;
  float sum = 0, weights = 0;
  for (int dy = -w.radius; dy <= w.radius; dy++)
    for (int dx = -w.radius; dx <= w.radius; dx++) {
      float weight = left[(dy + w.radius) * side + dx + w.radius];
      if (weight == 0 || xm - dx < 0 || xm - dx >= f.width)
        continue;
      ptrdiff_t tap = (ptrdiff_t) dy * f.image_pitch;
      if (BOTH)
        weight *= asw_weight (partner[0], partner[tap - dx], w, sqrtf ((float) (dx * dx + dy * dy)));
      weights += weight;
      uint32_t cost = (uint32_t) raw_cost<COST> (f, (size_t) ((ptrdiff_t) row + tap), x + dx, xm - dx);
      sum += weight * (float) truncated<COST> (f, cost);
    }
  *to = (uint16_t) min (__float2uint_rn (sum / weights * (float) f.volume_unit), STEREO_COST_TOP);
}

template <int COST, bool BOTH> static StereoStatus
launch_window (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  size_t taps = (size_t) (2 * w.radius + 1) * (size_t) (2 * w.radius + 1);
  dim3 grid (f.width, f.height, cuda_blocks (f.depth, THREADS));

  aggregate_window<COST, BOTH><<<grid, THREADS, taps * sizeof (float), cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "aggregate_window");
  return STEREO_OK;
}

template <bool BOTH> static StereoStatus
full_run (StereoPlan *plan, void *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (
      plan, error, [=] (auto cost) { return launch_window<decltype (cost)::value, BOTH> (plan, error); });
}

}

const StereoStage stereo_cuda_asw_full_left = { .name = "match", .run = full_run<false> };
const StereoStage stereo_cuda_asw_full_both = { .name = "match", .run = full_run<true> };

/* Adaptive support weights: chooses the stage of a plan. */

const StereoStage *
stereo_cuda_asw (const StereoParams *params)
{
  if (!takes_cost (STEREO_METHOD_ASW, params->cost))
    return NULL;
  int left = params->support == STEREO_SUPPORT_LEFT;
  if (params->aggregation == STEREO_AGGREGATION_FULL)
    return left ? &stereo_cuda_asw_full_left : &stereo_cuda_asw_full_both;
  return left ? &stereo_cuda_asw_left : &stereo_cuda_asw_both;
}
