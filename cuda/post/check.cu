/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The consistency of both views (3.2.4) before a refinement. After the last refinement disparity.cu checks the left
 * view. */
#include "cuda/post/check.cuh"

namespace
{

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 4;

/* Thread: four pixels of a row; blockIdx.z: the view, whose confidence the thread writes. It reads indices of both
 * views. */
static __global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y) check_kernel (Frame f, int consistency)
{
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * FOUR, y = blockIdx.y * BLOCK_Y + threadIdx.y, index[FOUR];
  const StereoView &own = blockIdx.z ? f.view[1] : f.view[0], &other = blockIdx.z ? f.view[0] : f.view[1];
  size_t row = (size_t) y * f.map_pitch;
  bool contradicted[FOUR];

  if (x >= f.width || y >= f.height)
    return;
  load_four (own.index + row + x, index);
  find_contradicted (f, other, row, x, index, consistency, contradicted);
  if (blockIdx.z == STEREO_LEFT)
    leave_near (f, x, y, contradicted);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (contradicted[k])
      own.confidence[row + x + k] = 0;
}

static StereoStatus
check_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, BLOCK_X * FOUR), cuda_blocks (plan->height, BLOCK_Y), 2);
  dim3 block (BLOCK_X, BLOCK_Y);
  check_kernel<<<grid, block, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), plan->params.consistency);
  CUDA_LAUNCHED (plan, "check_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_check = { .name = "check", .run = check_run };
