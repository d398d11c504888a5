/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernels of adaptive support weights share: weights, and raw costs of one pixel pair. */
#ifndef STEREO_CUDA_ASW_CUH
#define STEREO_CUDA_ASW_CUH

#include "cuda/common.cuh"

#include <cuda_fp16.h>

/* Window and base-2 factors of the weights (4.4.1). */
struct AswWindow
{
  int radius;
  float color, distance;
};

static inline AswWindow
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

__device__ __forceinline__ uint32_t
bits_of (__half2 pair)
{
  return *reinterpret_cast<uint32_t *> (&pair);
}

__device__ __forceinline__ __half2
halves_of (uint32_t bits)
{
  return *reinterpret_cast<__half2 *> (&bits);
}

/* Sums of weights are neither tiny nor huge. */
__device__ __forceinline__ float
reciprocal (float a)
{
  float b;
  asm ("rcp.approx.ftz.f32 %0, %1;" : "=f" (b) : "f" (a));
  return b;
}

/* Raw cost of left (x, y) against mirrored right (xm, y): the same numbers as stereo/cpu/match.c. */
template <int COST> __device__ __forceinline__ int
asw_raw_cost (const Frame &f, size_t row, int x, int xm)
{
  const StereoView &l = f.view[STEREO_LEFT], &r = f.view[STEREO_RIGHT];
  ptrdiff_t left = (ptrdiff_t) row + x, right = (ptrdiff_t) row + xm;

  if (COST == STEREO_COST_CENSUS_9X7)
    return __popcll (((const unsigned long long *) l.census)[left] ^ ((const unsigned long long *) r.census)[right]);
  if (COST == STEREO_COST_AD)
    return abs ((int) l.luma[left] - (int) r.luma[right]);
  if (COST == STEREO_COST_SAD)
    return ((int) __vsadu4 (l.color[left], r.color[right]) + 1) / 3;
  int bits = __popc (((const uint32_t *) l.census)[left] ^ ((const uint32_t *) r.census)[right]);
  if (COST == STEREO_COST_CENSUS_7X5)
    return bits;
  return 4 * bits + stereo_mixed_part ((int) __vsadu4 (l.color[left], r.color[right]),
      l.gradient[left] - r.gradient[right]);
}

/* Calls `launch<COST>` for the plan's cost. */
#define ASW_FOR_COST(plan, launch, ...) \
  ((plan)->params.cost == STEREO_COST_CENSUS_7X5 ? launch<STEREO_COST_CENSUS_7X5> (__VA_ARGS__) : \
   (plan)->params.cost == STEREO_COST_CENSUS_9X7 ? launch<STEREO_COST_CENSUS_9X7> (__VA_ARGS__) : \
   (plan)->params.cost == STEREO_COST_MIXED ? launch<STEREO_COST_MIXED> (__VA_ARGS__) : \
   (plan)->params.cost == STEREO_COST_AD ? launch<STEREO_COST_AD> (__VA_ARGS__) : \
   launch<STEREO_COST_SAD> (__VA_ARGS__))

extern const StereoStage stereo_cuda_asw_left, stereo_cuda_asw_both, stereo_cuda_asw_full_left;
extern const StereoStage stereo_cuda_asw_full_both;

#endif
