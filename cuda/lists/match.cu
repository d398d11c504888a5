/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of the candidates in the lists, of single pixels. asw/lists.cu averages them. */
#include "cuda/cost.cuh"
#include "cuda/lists.cuh"

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

/* Of group @group at a pixel of column @x, whose features are @left. @right: those of row y of the other view. */
template <int COST> static __device__ __forceinline__ uint32_t
cost_group (const Frame &f, const CostPixel &left, ptrdiff_t row, int x, int group, int shift)
{
  uint32_t word = 0;

#pragma unroll
  for (int e = 0; e < STEREO_GROUP; e++) {
    int xm = f.width - 1 - x + f.min_disparity + group * STEREO_GROUP + e;
    int raw = raw_cost<COST> (left, load_pixel<COST> (f.view[STEREO_RIGHT], row + xm));
    uint32_t cost = stereo_path_cost ((uint32_t) raw, shift);
    word |= xm >= 0 && xm < f.width ? cost << 8 * e : 0;
  }
  return word;
}

/* Thread: a pixel of row blockIdx.y. Neighbours look at neighbours in the other view; they would not if a thread had a group. */
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
    if (group_at (groups, 4 * half) == STEREO_NO_GROUP)
      return;
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
  StereoStatus status = launch_for_cost<STEREO_METHOD_SGM> (plan, error, [=] (auto cost) {
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
