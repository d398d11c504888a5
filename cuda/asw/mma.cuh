/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products of small matrices on the tensor cores: a warp adds A (16 x 16) times B (16 x 8) to D (16 x 8).
 *
 * A and B are half floats, two in a register, the one with the lower column (of A) or row (of B) in the lower half. D
 * is single floats. Lane 4 g + t, with g = 0..7 and t = 0..3, holds these elements (m16n8k16):
 *
 *                 A: column                               B: column            D: column
 *               2t,2t+1   2t+8,2t+9                          g                  2t    2t+1
 *     row g       a.x        a.z         rows 2t,2t+1        b0       row g    d[0]   d[1]
 *     row g+8     a.y        a.w         rows 2t+8,2t+9      b1       row g+8  d[2]   d[3]
 *
 * Half the depth (m16n8k8) leaves out columns 8..15 of A and rows 8..15 of B: registers a0 = a.x, a1 = a.y, b = b0.
 *
 * Drawn by lane, the upper left quarter of A (register a.x; a.y, a.z, a.w repeat the pattern) and the upper half of B:
 *
 *     A  column  0   1 | 2   3 | 4   5 | 6   7         B  column  0    1    2    3    4    5    6    7
 *     row 0     lane 0 |  L1   |  L2   |  L3           rows 0,1  L0   L4   L8   L12  L16  L20  L24  L28
 *     row 1     lane 4 |  L5   |  L6   |  L7           rows 2,3  L1   L5   L9   L13  L17  L21  L25  L29
 *      ...                                             rows 4,5  L2   L6   L10  L14  L18  L22  L26  L30
 *     row 7     lane 28|  L29  |  L30  |  L31          rows 6,7  L3   L7   L11  L15  L19  L23  L27  L31
 *
 * The order of the 16 products inside a sum does not matter: a kernel may give any tap to any of the 16 places, as long
 * as A and B agree.
 */
#ifndef STEREO_CUDA_ASW_MMA_CUH
#define STEREO_CUDA_ASW_MMA_CUH

#include <cuda_fp16.h>
#include <stdint.h>

namespace
{

/* @d = A * B + C, with @c0..@c3 the elements of C where d[0]..d[3] are those of D. */
__device__ __forceinline__ void
multiply_add (float (&d)[4], const uint4 &a, uint32_t b0, uint32_t b1, float c0, float c1, float c2, float c3)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "f"(c0), "f"(c1), "f"(c2), "f"(c3));
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a.x), "r"(a.y), "r"(b0), "f"(c0), "f"(c1), "f"(c2), "f"(c3));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a.z), "r"(a.w), "r"(b1));
#endif
}

/* @d += A * B; @first: @d = A * B. */
__device__ __forceinline__ void
multiply (float (&d)[4], const uint4 &a, uint32_t b0, uint32_t b1, bool first = false)
{
  if (first)
    multiply_add (d, a, b0, b1, 0, 0, 0, 0);
  else
    multiply_add (d, a, b0, b1, d[0], d[1], d[2], d[3]);
}

/* The same at half the depth. */
__device__ __forceinline__ void
multiply_half (float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b)
{
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}

__device__ __forceinline__ uint32_t
pack_halves (float low, float high)
{
  __half2 pair = __floats2half2_rn (low, high);
  return *reinterpret_cast<uint32_t *> (&pair);
}

}

#endif
