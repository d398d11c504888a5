/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What both kernels of block matching share: candidates, and what two pixels add to a window. */
#ifndef STEREO_CUDA_BM_PIXELS_CUH
#define STEREO_CUDA_BM_PIXELS_CUH

#include "cuda/cost.cuh"
#include "stereo/exact/bm.h"

/* fused.cu: the stage that does both steps in one kernel; NULL: the parameters do not suit that kernel. */
const StereoStage *stereo_cuda_bm_fused (const StereoParams *params);

namespace
{

/* What windows sum up, by the cost. */
enum BmKind
{
  BM_DIFFERENCE,
  BM_SQUARE,
  BM_COLORS,
  BM_COLOR_SQUARES,
  BM_PRODUCT,
  BM_NO_KIND
};

__host__ __device__ constexpr BmKind
bm_kind (int cost)
{
  switch (cost) {
    case STEREO_COST_AD:
      return BM_DIFFERENCE;
    case STEREO_COST_SD:
      return BM_SQUARE;
    case STEREO_COST_SAD:
      return BM_COLORS;
    case STEREO_COST_SSD:
      return BM_COLOR_SQUARES;
    case STEREO_COST_NSSD:
    case STEREO_COST_NCC:
    case STEREO_COST_ZNCC:
      return BM_PRODUCT;
    default:
      return BM_NO_KIND;
  }
}

/* Whether the cost compares windows; the others compare single pixels. */
__host__ __device__ constexpr bool
bm_compares_windows (BmKind kind)
{
  return kind != BM_DIFFERENCE && kind != BM_SQUARE;
}

/* Columns that have candidate @i. */
struct BmSpan
{
  int first, last;
};

static __device__ __forceinline__ BmSpan
bm_span (const Frame &f, int i)
{
  int away = f.min_disparity + i;
  BmSpan s = { max (0, away), i < f.disparities ? min (f.width - 1, f.width - 1 + away) : -1 };
  return s;
}

/* What the cost compares of a pixel. */
template <BmKind KIND> static __device__ __forceinline__ uint32_t
bm_pixel (const StereoView &v, ptrdiff_t at)
{
  return KIND == BM_COLORS || KIND == BM_COLOR_SQUARES ? v.color[at] & 0xFFFFFFu : v.luma[at];
}

static __device__ __forceinline__ uint32_t
bm_absolute_sum (uint32_t a, uint32_t b, uint32_t sum)
{
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

template <BmKind KIND> static __device__ __forceinline__ uint32_t
bm_add_raw (uint32_t l, uint32_t r, uint32_t sum)
{
  if (KIND == BM_COLORS)
    return bm_absolute_sum (l, r, sum);
  if (KIND == BM_COLOR_SQUARES) {
    uint32_t difference = __vabsdiffu4 (l, r);
    return __dp4a (difference, difference, sum);
  }
  int difference = (int) l - (int) r;
  return sum +
      (KIND == BM_PRODUCT       ? l * r :
              KIND == BM_SQUARE ? (uint32_t) (difference * difference) :
                                  (uint32_t) abs (difference));
}

/* The mean in the low 16 bits: adding 2^23 rounds to whole numbers, ties to even. */
static __device__ __forceinline__ uint32_t
bm_mean_bits (uint32_t sum, float factor)
{
  return __float_as_uint (__fadd_rn (__fmul_rn (__uint2float_rn (sum), factor), 8388608.0f));
}

}

#endif
