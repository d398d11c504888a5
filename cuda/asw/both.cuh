/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two passes of support=both, each in a file of its own. */
#ifndef STEREO_CUDA_ASW_BOTH_CUH
#define STEREO_CUDA_ASW_BOTH_CUH

#include "cuda/asw/mma.cuh"
#include "cuda/asw/weights.cuh"

/* Scratch memory of the stage. */
struct AswBothContext
{
  uint32_t *weights; /* of the first pass, for a band of rows: see both_columns.cu */
};

StereoStatus asw_both_columns_prepare (StereoPlan *plan, AswBothContext *context, StereoError *error);
StereoStatus asw_both_columns (StereoPlan *plan, const AswBothContext *context, StereoError *error);

namespace
{

__device__ __forceinline__ uint32_t
times (uint32_t a, uint32_t b)
{
  return bits_of (__hmul2 (halves_of (a), halves_of (b)));
}

/* What times() loses by rounding. */
__device__ __forceinline__ uint32_t
rest (uint32_t a, uint32_t b, uint32_t product)
{
  return bits_of (__hfma2 (halves_of (a), halves_of (b), __hneg2 (halves_of (product))));
}

/*
 * Whether the passes have to add what rounding loses. Both passes round the products of right weights and costs to half
 * floats, and so the means between the passes, by up to 2^-12 each. Over many taps these errors average out. Over few
 * taps they add up to more than 2^-11. The number of taps that count is (sum of weights)^2 / sum of weights^2: so many
 * taps of equal weight give the same quotient.
 */
inline bool
asw_both_exact (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  int least = plan->width < plan->height ? plan->width : plan->height;
  int radius = p->window / 2 < least ? p->window / 2 : least;
  double sum = 0, squares = 0;

  for (int k = 0; k <= radius; k++) {
    double weight = exp (-k / p->gamma_distance);
    sum += weight;
    squares += weight * weight;
  }
  return least < 4 * p->window || sum * sum < 8 * squares;
}

}

#endif
