/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two passes of support=both: see asw_both.cu. Each has a file. */
#ifndef STEREO_CUDA_ASW_BOTH_CUH
#define STEREO_CUDA_ASW_BOTH_CUH

#include "cuda/asw/banded.cuh"

/* Scratch memory of the stage. */
struct AswBothContext
{
  uint32_t *weights;            /* of the first pass, for a band of rows: see both_columns.cu */
};

StereoStatus asw_both_columns_prepare (StereoPlan *plan, AswBothContext *context, StereoError *error);
StereoStatus asw_both_columns (StereoPlan *plan, const AswBothContext *context, StereoError *error);
StereoStatus asw_both_rows_prepare (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_rows (StereoPlan *plan, StereoError *error);

namespace
{

__device__ __forceinline__ uint32_t
times (uint32_t a, uint32_t b)
{
  return bits_of (__hmul2 (halves_of (a), halves_of (b)));
}

/* What times() rounds away. */
__device__ __forceinline__ uint32_t
rest (uint32_t a, uint32_t b, uint32_t product)
{
  return bits_of (__hfma2 (halves_of (a), halves_of (b), __hneg2 (halves_of (product))));
}

/* Half the depth of multiply(). */
__device__ __forceinline__ void
multiply_half (float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b)
{
  asm ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f" (sum[0]), "+f" (sum[1]), "+f" (sum[2]), "+f" (sum[3]) : "r" (a0), "r" (a1), "r" (b));
}

/* Products of right weights and costs are half floats, rounded by 2^-12 at most, in either pass, and so are the means
 * between them. That is more than 2^-11 in all, where it adds up instead of averaging out: of few taps that count,
 * which here are as many as equal ones would make the same (sum of weights)^2 / sum of weights^2. Then what
 * rounding took is added, tap by tap. */
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
