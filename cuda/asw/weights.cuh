/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernels of adaptive support weights share: weights, and raw costs of one pixel pair. */
#ifndef STEREO_CUDA_ASW_WEIGHTS_CUH
#define STEREO_CUDA_ASW_WEIGHTS_CUH

#include "cuda/cost.cuh"

namespace
{

/* Window and base-2 factors of the weights (4.4.1). */
struct AswWindow
{
  int radius;
  float color, distance;
};

inline AswWindow
asw_window (const StereoPlan *plan)
{
  return { plan->params.window / 2, (float) (-STEREO_LOG2E / plan->params.gamma_color),
    (float) (-STEREO_LOG2E / plan->params.gamma_distance) };
}

__device__ __forceinline__ float
asw_weight (uint32_t a, uint32_t b, AswWindow w, float distance)
{
  return cuda_weight (a, b, w.color, distance * w.distance);
}

/* Sums of weights are neither tiny nor huge. */
__device__ __forceinline__ float
reciprocal (float a)
{
  float b;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(b) : "f"(a));
  return b;
}

}

extern const StereoStage stereo_cuda_asw_left, stereo_cuda_asw_both, stereo_cuda_asw_full_left;
extern const StereoStage stereo_cuda_asw_full_both;

#endif
