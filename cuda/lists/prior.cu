/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The prior on the costs of candidates in lists: exact/prior.h. */
#include "cuda/lists.cuh"

#include "stereo/exact/prior.h"

namespace
{

constexpr int PRIOR_THREADS = 256;

/* Thread: a group of a pixel of row blockIdx.y, a word. */
static __global__ void
__launch_bounds__ (PRIOR_THREADS) prior_kernel (
    const __grid_constant__ Frame f, const __grid_constant__ Lists lists, const uint32_t *predicted, int most)
{
  int item = blockIdx.x * PRIOR_THREADS + threadIdx.x, x = item / LIST_GROUPS, g = item % LIST_GROUPS, y = blockIdx.y;

  if (x >= f.width)
    return;
  uint32_t word = predicted[(size_t) y * f.map_pitch + x];
  if (!stereo_prior_holds (word, f.view[STEREO_LEFT].luma[(size_t) y * f.image_pitch + x]))
    return;
  int group = lists.groups[(size_t) (y / LIST_TILE * lists.columns + x / LIST_TILE) * LIST_GROUPS + g];
  if (group == STEREO_NO_GROUP)
    return;
  uint32_t penalties = 0;
#pragma unroll
  for (int e = 0; e < STEREO_GROUP; e++)
    penalties |= (uint32_t) stereo_prior_penalty (stereo_prior_steps (word), group * STEREO_GROUP + e, most) << 8 * e;
  uint32_t *costs = (uint32_t *) list_costs (f, lists, x, y) + g;
  *costs = __vaddus4 (*costs, penalties);
}

static StereoStatus
prior_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks ((size_t) plan->width * LIST_GROUPS, PRIOR_THREADS), plan->height);

  prior_kernel<<<grid, PRIOR_THREADS, 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), lists_of (plan), plan->last.predicted, stereo_plan_prior (plan));
  CUDA_LAUNCHED (plan, "prior_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_prior = { .name = "prior", .run = prior_run };
