/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The prior on the costs of candidates in lists: exact/prior.h. */
#include "cuda/lists.cuh"

#include "stereo/exact/prior.h"

namespace
{

constexpr int PRIOR_THREADS = 128;

/* Four candidates from @index on, a byte each, with their penalties. */
static __device__ __forceinline__ uint32_t
penalised (uint32_t costs, int index, int steps, int most)
{
  uint32_t penalties = 0;

#pragma unroll
  for (int e = 0; e < STEREO_GROUP; e++)
    penalties |= (uint32_t) stereo_prior_penalty (steps, index + e, most) << 8 * e;
  return __vaddus4 (costs, penalties);
}

/* Thread: a pixel of row blockIdx.y. Where a list has no group, costs are never read. */
static __global__ void
__launch_bounds__ (PRIOR_THREADS) prior_kernel (const __grid_constant__ Frame f, const __grid_constant__ Lists lists,
    uint32_t *predicted, const int32_t *noise, int large)
{
  int x = blockIdx.x * PRIOR_THREADS + threadIdx.x, y = blockIdx.y;

  if (x >= f.width)
    return;
  uint32_t word = predicted[(size_t) y * f.map_pitch + x];
  if (word == 0)
    return;
  predicted[(size_t) y * f.map_pitch + x] = 0;
  if (!stereo_prior_holds (word, f.view[STEREO_LEFT].luma[(size_t) y * f.image_pitch + x]))
    return;
  const uint16_t *groups = lists.groups + (size_t) (y / LIST_TILE * lists.columns + x / LIST_TILE) * LIST_GROUPS;
  uint4 *costs = (uint4 *) list_costs (f, lists, x, y);
  int steps = stereo_prior_steps (word), most = stereo_prior_most (large, *noise);
#pragma unroll
  for (int half = 0; half < 2; half++, groups += LIST_GROUPS / 2, costs++) {
    uint2 pairs = *(const uint2 *) groups;
    if ((pairs.x & 0xFFFF) == STEREO_NO_GROUP)
      return;
    uint4 four = *costs;
    four.x = penalised (four.x, (int) (pairs.x & 0xFFFF) * STEREO_GROUP, steps, most);
    four.y = penalised (four.y, (int) (pairs.x >> 16) * STEREO_GROUP, steps, most);
    four.z = penalised (four.z, (int) (pairs.y & 0xFFFF) * STEREO_GROUP, steps, most);
    four.w = penalised (four.w, (int) (pairs.y >> 16) * STEREO_GROUP, steps, most);
    *costs = four;
  }
}

static StereoStatus
prior_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, PRIOR_THREADS), plan->height);

  prior_kernel<<<grid, PRIOR_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), lists_of (plan),
      plan->last.predicted, plan->last.noise, stereo_plan_penalty (plan, STEREO_PATH_SIDEWAYS, 1));
  CUDA_LAUNCHED (plan, "prior_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_prior = { .name = "prior", .run = prior_run };
