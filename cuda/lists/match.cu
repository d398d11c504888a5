/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of the candidates in the lists, of single pixels. asw/lists.cu averages them. */
#include "cuda/cost.cuh"
#include "cuda/lists.cuh"

namespace
{

constexpr int SINGLE_THREADS = 256;

/* Thread: a group of a pixel of row blockIdx.y, a word. */
template <int COST> static __global__ void
__launch_bounds__ (SINGLE_THREADS)
    single_kernel (const __grid_constant__ Frame f, const __grid_constant__ Lists lists, int shift)
{
  int item = blockIdx.x * SINGLE_THREADS + threadIdx.x, x = item / LIST_GROUPS, g = item % LIST_GROUPS, y = blockIdx.y;

  if (x >= f.width)
    return;
  int group = lists.groups[(size_t) (y / LIST_TILE * lists.columns + x / LIST_TILE) * LIST_GROUPS + g];
  if (group == STEREO_NO_GROUP)
    return;
  uint32_t word = 0;
#pragma unroll
  for (int e = 0; e < STEREO_GROUP; e++) {
    int xm = f.width - 1 - x + f.min_disparity + group * STEREO_GROUP + e;
    if (xm >= 0 && xm < f.width)
      word |= stereo_path_cost ((uint32_t) raw_cost<COST> (f, (size_t) y * f.image_pitch, x, xm), shift) << 8 * e;
  }
  ((uint32_t *) list_costs (f, lists, x, y))[g] = word;
}

static StereoStatus
single_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = launch_for_cost<STEREO_METHOD_SGM> (plan, error, [=] (auto cost) {
    single_kernel<decltype (cost)::value>
        <<<dim3 (cuda_blocks ((size_t) plan->width * LIST_GROUPS, SINGLE_THREADS), plan->height), SINGLE_THREADS, 0,
            cuda_state (plan)->stream>>> (cuda_frame (plan), lists_of (plan), plan->path_shift);
    return STEREO_OK;
  });
  CUDA_LAUNCHED (plan, "single_kernel");
  return status;
}

const StereoStage singles = { .name = "match", .run = single_run };

}

const StereoStage *
stereo_cuda_list_match (const StereoParams *params)
{
  if (!takes_cost (params->method, params->cost))
    return NULL;
  return params->method == STEREO_METHOD_SGM ? &singles : &stereo_cuda_list_means;
}
