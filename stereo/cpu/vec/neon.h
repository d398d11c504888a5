/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NEON, which every 64-bit ARM processor has. vec.h says what each operation does. */
#ifndef STEREO_CPU_VEC_NEON_H
#define STEREO_CPU_VEC_NEON_H

#include <arm_neon.h>

#define LANES 4
#define LANE_NUMBERS \
  { \
    0, 1, 2, 3 \
  }
#define WORDS 8

#include "stereo/cpu/vec/types.h"

/* Four bytes in the lower half of a register; the rest means nothing. */
VEC_INLINE uint8x8_t
vec_in_register (VecB bytes)
{
  uint32_t four;
  memcpy (&four, &bytes, sizeof four);
  return vcreate_u8 (four);
}

VEC_INLINE VecB
vec_of_register (uint8x8_t bytes)
{
  uint32_t four = vget_lane_u32 (vreinterpret_u32_u8 (bytes), 0);
  VecB v;
  memcpy (&v, &four, sizeof v);
  return v;
}

VEC_INLINE VecI
vec_widen_bytes (VecB bytes)
{
  return (VecI) vmovl_u16 (vget_low_u16 (vmovl_u8 (vec_in_register (bytes))));
}

VEC_ONE (VecI, vec_widen, VecH, vmovl_u16, uint16x4_t)
VEC_ONE (VecI, vec_widen_signed, VecS, vmovl_s16, int16x4_t)
VEC_ONE (VecH, vec_narrow, VecI, vmovn_u32, uint32x4_t)

VEC_TWO (VecU16, vec_narrow_two, VecI, vuzp1q_u16, uint16x8_t)

VEC_INLINE VecB
vec_narrow_bytes (VecI v)
{
  uint16x4_t words = vmovn_u32 ((uint32x4_t) v);
  return vec_of_register (vmovn_u16 (vcombine_u16 (words, words)));
}

VEC_TWO (VecI, vec_min, VecI, vminq_s32, int32x4_t)
VEC_TWO (VecI, vec_max, VecI, vmaxq_s32, int32x4_t)
VEC_ONE (VecI, vec_abs, VecI, vabsq_s32, int32x4_t)
VEC_TWO (VecU, vec_min_unsigned, VecU, vminq_u32, uint32x4_t)
VEC_TWO (VecU, vec_max_unsigned, VecU, vmaxq_u32, uint32x4_t)

#define VEC_COUNTS_BITS 1 /* vec_popcount() is here */

VEC_INLINE VecI
vec_popcount (VecU v)
{
  return (VecI) vpaddlq_u16 (vpaddlq_u8 (vcntq_u8 ((uint8x16_t) v)));
}

VEC_INLINE VecB
vec_popcount_long (uint64_t bits, const uint64_t *from)
{
  uint64x2_t own = vdupq_n_u64 (bits);
  uint8x16_t first = vcntq_u8 (vreinterpretq_u8_u64 (veorq_u64 (own, vld1q_u64 (from))));
  uint8x16_t last = vcntq_u8 (vreinterpretq_u8_u64 (veorq_u64 (own, vld1q_u64 (from + 2))));
  /* sums of neighbours: of 8 bytes each, at most 64, after three times */
  uint8x16_t pairs = vpaddq_u8 (first, last);
  uint8x16_t fours = vpaddq_u8 (pairs, pairs);
  return vec_of_register (vget_low_u8 (vpaddq_u8 (fours, fours)));
}

VEC_INLINE VecI
vec_sum_bytes (VecU bytes)
{
  return (VecI) vpaddlq_u16 (vpaddlq_u8 ((uint8x16_t) bytes));
}

VEC_TWO (VecU, vec_byte_differences, VecU, vabdq_u8, uint8x16_t)

VEC_INLINE VecI
vec_dot (VecI a, VecI b)
{
  int16x8_t x = (int16x8_t) a, y = (int16x8_t) b;
  return (VecI) vpaddq_s32 (vmull_s16 (vget_low_s16 (x), vget_low_s16 (y)), vmull_high_s16 (x, y));
}

VEC_ONE (VecI, vec_round, VecF, vcvtnq_s32_f32, float32x4_t)

/* vminq_f32() and vmaxq_f32() would hand on what is not a number. */
VEC_INLINE VecF
vec_min_float (VecF a, VecF b)
{
  return (VecF) vbslq_f32 (vcltq_f32 ((float32x4_t) a, (float32x4_t) b), (float32x4_t) a, (float32x4_t) b);
}

VEC_INLINE VecF
vec_max_float (VecF a, VecF b)
{
  return (VecF) vbslq_f32 (vcgtq_f32 ((float32x4_t) a, (float32x4_t) b), (float32x4_t) a, (float32x4_t) b);
}

VEC_ONE (VecF, vec_root, VecF, vsqrtq_f32, float32x4_t)
VEC_ONE (VecF, vec_float_unsigned, VecU, vcvtq_f32_u32, uint32x4_t)

VEC_INLINE VecF
vec_look_up (const float *table, VecI index)
{
  return (VecF){ table[index[0]], table[index[1]], table[index[2]], table[index[3]] };
}

VEC_INLINE int
vec_any (VecI v)
{
  return vmaxvq_u32 ((uint32x4_t) v) != 0;
}

VEC_INLINE VecW
vec_words_of_bytes (const uint8_t *from)
{
  return (VecW) vmovl_u8 (vld1_u8 (from));
}

VEC_INLINE void
vec_store_words_as_bytes (uint8_t *to, VecW words)
{
  vst1_u8 (to, vmovn_u16 ((uint16x8_t) words));
}

VEC_TWO (VecW, vec_add_words, VecW, vqaddq_u16, uint16x8_t)
VEC_TWO (VecW, vec_min_words, VecW, vminq_u16, uint16x8_t)
VEC_ONE (uint16_t, vec_lowest_word, VecW, vminvq_u16, uint16x8_t)

#endif
