/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of all pixels and candidates, a byte each, for paths: raw, or those that a method has aggregated. */
#include "cuda/cost.cuh"
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int THREADS = 128;
constexpr int THREAD_SIDE = 4; /* columns, and candidates, of a thread */

static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_DISPARITIES <= INT32_MAX, "items of a row");

/* Thread: THREAD_SIDE columns by THREAD_SIDE candidates, whose partners are 2 * THREAD_SIDE - 1 right pixels;
 * blockIdx.y: the row. Neighbouring threads have neighbouring candidates. A candidate that does not exist gets the cost
 * 0. */
template <int COST> __global__ void
__launch_bounds__ (THREADS) cost_kernel (Frame f, uint8_t *costs)
{
  int groups = f.depth / THREAD_SIDE, item = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y;
  int x = item / groups * THREAD_SIDE, i = item % groups * THREAD_SIDE;
  ptrdiff_t row = (ptrdiff_t) y * f.image_pitch;
  CostPixel left[THREAD_SIDE], right[2 * THREAD_SIDE - 1];

  if (x >= f.width)
    return;
  int partner = f.width - 1 - x + f.min_disparity + i; /* the right pixel of column x at candidate i */
#pragma unroll
  for (int k = 0; k < THREAD_SIDE; k++)
    left[k] = load_pixel<COST> (f.view[STEREO_LEFT], row + min (x + k, f.width - 1));
#pragma unroll
  for (int k = 0; k < 2 * THREAD_SIDE - 1; k++)
    right[k] = load_pixel<COST> (
        f.view[STEREO_RIGHT], row + min (max (partner + k - (THREAD_SIDE - 1), 0), f.width - 1));
#pragma unroll
  for (int k = 0; k < THREAD_SIDE; k++) {
    uint32_t word = 0;
#pragma unroll
    for (int n = 0; n < THREAD_SIDE; n++) {
      int at = partner - k + n;
      uint32_t cost = (uint32_t) raw_cost<COST> (left[k], right[THREAD_SIDE - 1 - k + n]);
      word |= (at >= 0 && at < f.width && i + n < f.disparities ? cost : 0) << 8 * n;
    }
    if (x + k < f.width)
      *(uint32_t *) (costs + ((size_t) y * f.width + x + k) * f.depth + i) = word;
  }
}

/* Thread: 8 candidates of the volume. */
__global__ void
__launch_bounds__ (THREADS) volume_kernel (const uint4 *volume, uint2 *costs, size_t items, int shift)
{
  size_t item = (size_t) blockIdx.x * THREADS + threadIdx.x;
  uint32_t word[4], byte[8];

  if (item >= items)
    return;
  *(uint4 *) word = volume[item];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    uint32_t steps = word[k / 2] >> k % 2 * 16 & 0xFFFFu;
    byte[k] = steps == STEREO_INVALID ? 0 : stereo_path_cost (steps, shift);
  }
  costs[item] = make_uint2 (
      byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24, byte[4] | byte[5] << 8 | byte[6] << 16 | byte[7] << 24);
}

template <int COST> static StereoStatus
launch_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  size_t items = ((size_t) s.width + THREAD_SIDE - 1) / THREAD_SIDE * (size_t) (s.depth / THREAD_SIDE);
  cost_kernel<COST><<<dim3 (cuda_blocks (items, THREADS), s.height), THREADS, 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), s.costs);
  CUDA_LAUNCHED (plan, "cost_kernel");
  return STEREO_OK;
}

}

StereoStatus
sgm_make_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_SGM> (
      plan, error, [plan, s, error] (auto cost) { return launch_costs<decltype (cost)::value> (plan, s, error); });
}

StereoStatus
sgm_costs_of_volume (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  size_t items = (size_t) s.width * s.height * (size_t) (s.depth / 8);
  volume_kernel<<<cuda_blocks (items, THREADS), THREADS, 0, cuda_state (plan)->stream>>> (
      (const uint4 *) s.volume, (uint2 *) s.costs, items, plan->path_shift);
  CUDA_LAUNCHED (plan, "volume_kernel");
  return STEREO_OK;
}
