/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a frame predicts for the next one, by the rules of exact/prior.h. */
#include "cuda/motion/motion.cuh"

#include "stereo/exact/prior.h"

namespace
{

constexpr int THREADS = 128;

/* Thread: a pixel of the frame that was kept. */
static __global__ void
__launch_bounds__ (THREADS)
    predict_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w, int32_t least_sure)
{
  int x = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y;
  size_t at = (size_t) y * f.map_pitch + x;
  float middle_x = (float) (f.width - 1) * 0.5f, middle_y = (float) (f.height - 1) * 0.5f, across, down, next;

  if (!w.c.motion->known || x >= f.width || w.last.age[at] != 1 || w.last.confidence[at] < least_sure)
    return;
  StereoMotion motion = *w.c.motion;
  if (!stereo_prior_place (
          &motion, (float) x - middle_x, (float) y - middle_y, w.last.disparity[at], &across, &down, &next))
    return;
  float column = rintf (across + middle_x), row = rintf (down + middle_y);
  if (!(column >= 0 && row >= 0 && column <= (float) (f.width - 1) && row <= (float) (f.height - 1)))
    return;
  uint32_t word = stereo_prior_word (next, f.min_disparity, f.disparities, w.last.luma[at]);
  atomicMax (w.last.predicted + (size_t) (int) row * f.map_pitch + (int) column, word);
}

}

StereoStatus
cuda_motion_predict (StereoPlan *plan, const Frame &f, const MotionWork &w, cudaStream_t stream, StereoError *error)
{
  size_t size = (size_t) plan->map_pitch * plan->height * sizeof *w.last.predicted;

  CUDA_TRY (cudaMemsetAsync (w.last.predicted, 0, size, stream));
  predict_kernel<<<dim3 (cuda_blocks (plan->width, THREADS), plan->height), THREADS, 0, stream>>> (
      f, w, stereo_prior_least_sure (stereo_params_hide_unlikely (&plan->params)));
  CUDA_LAUNCHED (plan, "predict_kernel");
  return STEREO_OK;
}
