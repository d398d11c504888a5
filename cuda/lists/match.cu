/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of the candidates in the lists, of single pixels. asw/lists.cu averages them. */
#include "cuda/cost.cuh"
#include "cuda/lists.cuh"
#include "stereo/exact/prior.h"

namespace
{

constexpr int SINGLE_THREADS = 128;

/* The group of a list that is in the @k-th half word. */
static __device__ __forceinline__ int
group_at (const uint4 &groups, int k)
{
  uint32_t pair = word_of (groups, k / 2);
  return (int) (k % 2 ? pair >> 16 : pair & 0xFFFF);
}

/* Thread: a pixel of row blockIdx.y. Neighbours look at neighbours in the other view; they would not if a thread had a group. Costs of
 * missing groups are written, too: no one reads them, but memory takes whole sectors faster. */
template <int COST> static __global__ void
__launch_bounds__ (SINGLE_THREADS)
    single_kernel (const __grid_constant__ Frame f, const __grid_constant__ Lists lists, int shift)
{
  int x = blockIdx.x * SINGLE_THREADS + threadIdx.x, y = blockIdx.y;

  if (x >= f.width)
    return;
  ptrdiff_t row = (ptrdiff_t) y * f.image_pitch;
  uint4 groups = ((const uint4 *) lists.groups)[y / LIST_TILE * lists.columns + x / LIST_TILE];
  uint4 *to = (uint4 *) list_costs (f, lists, x, y);
  CostPixel left = load_pixel<COST> (f.view[STEREO_LEFT], row + x);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    uint32_t words[4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int group = group_at (groups, 4 * half + k);
      if (group != STEREO_NO_GROUP)
        words[k] = cost_group<COST> (f, left, row, x, group, shift);
    }
    to[half] = make_uint4 (words[0], words[1], words[2], words[3]);
  }
}

static StereoStatus
single_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = cuda_join (plan, error);

  if (status)
    return status;
  status = launch_for_cost<STEREO_METHOD_SGM> (plan, error, [=] (auto cost) {
    single_kernel<decltype (cost)::value>
        <<<dim3 (cuda_blocks (plan->width, SINGLE_THREADS), plan->height), SINGLE_THREADS, 0, cuda_state (plan)->stream>>> (
            cuda_frame (plan), lists_of (plan), plan->path_shift);
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

/* The prior on the costs of candidates in lists: exact/prior.h. */

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
  cudaStream_t stream;
  StereoStatus status = cuda_begin_late (plan, &stream, error);

  if (status)
    return status;
  prior_kernel<<<grid, PRIOR_THREADS, 0, stream>>> (cuda_frame (plan), lists_of (plan), plan->last.predicted,
      plan->last.noise, stereo_plan_penalty (plan, STEREO_PATH_SIDEWAYS, 1));
  CUDA_LAUNCHED (plan, "prior_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_prior = { .name = "prior", .run = prior_run };
