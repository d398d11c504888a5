/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two passes of support=both: see asw_both.cu. Each has a file. */
#ifndef STEREO_CUDA_ASW_BOTH_CUH
#define STEREO_CUDA_ASW_BOTH_CUH

#include "cuda/asw.cuh"

#include <cuda_fp16.h>

#include "cuda/banded.cuh"

__device__ __forceinline__ uint32_t
times (uint32_t a, uint32_t b)
{
  __half2 product = __hmul2 (*reinterpret_cast<__half2 *> (&a), *reinterpret_cast<__half2 *> (&b));
  return *reinterpret_cast<uint32_t *> (&product);
}

/* Half the depth of multiply(). */
__device__ __forceinline__ void
multiply_half (float (&sum)[4], uint32_t a0, uint32_t a1, uint32_t b)
{
  asm ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f" (sum[0]), "+f" (sum[1]), "+f" (sum[2]), "+f" (sum[3]) : "r" (a0), "r" (a1), "r" (b));
}

StereoStatus asw_both_columns_prepare (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_columns (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_rows_prepare (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_rows (StereoPlan *plan, StereoError *error);

#endif
