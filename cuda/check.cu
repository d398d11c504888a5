/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The consistency of both views (3.2.4). */
#include "cuda/common.cuh"

#define BLOCK_X 32
#define BLOCK_Y 4
#define EACH 4                  /* pixels of a thread: rows of maps are whole vectors of them */

/* A thread per four pixels of a row, a plane of the grid per view: each writes its own confidence and reads only
 * indices of the other. */
static __global__ void __launch_bounds__ (BLOCK_X * BLOCK_Y)
check_kernel (Frame f, int consistency)
{
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
  const StereoView &own = blockIdx.z ? f.view[1] : f.view[0], &other = blockIdx.z ? f.view[0] : f.view[1];
  size_t row = (size_t) y * f.map_pitch;

  cuda_let_next_start ();
  cuda_await_last ();
  if (x >= f.width || y >= f.height)
    return;
  uint2 pairs = *(const uint2 *) (own.index + row + x);
  int index[EACH] = { (int) (pairs.x & 0xFFFF), (int) (pairs.x >> 16), (int) (pairs.y & 0xFFFF),
    (int) (pairs.y >> 16) }, partner[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    bool some = x + k < f.width && index[k] != (int) STEREO_INVALID;
    partner[k] = some ? other.index[row + (f.width - 1 - (x + k) + f.min_disparity + index[k])] : index[k];
  }
#pragma unroll
  for (int k = 0; k < EACH; k++)
    if (abs (partner[k] - index[k]) > consistency)
      own.confidence[row + x + k] = 0;
}

static StereoStatus
check_run (StereoPlan *plan, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, BLOCK_X * EACH), cuda_blocks (plan->height, BLOCK_Y), 2);
  dim3 block (BLOCK_X, BLOCK_Y);
  cuda_launch_close (plan, check_kernel, grid, block, 0, cuda_frame (plan), plan->params.consistency);
  CUDA_LAUNCHED (plan, "check_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_check = { "check", NULL, check_run };
