/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AVX-512 (F, BW, DQ, VL). vec.h says what each operation does. */
#ifndef STEREO_CPU_VEC_AVX512_H
#define STEREO_CPU_VEC_AVX512_H

#include <immintrin.h>

#define LANES 16
#define LANE_NUMBERS \
  { \
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 \
  }
#define WORDS 16 /* of 256 bits: depths are multiples of 16, which 512 bits would not divide */

#include "stereo/cpu/vec/types.h"
#include "stereo/cpu/vec/ymm.h"

VEC_ONE (VecI, vec_widen_bytes, VecB, _mm512_cvtepu8_epi32, __m128i)
VEC_ONE (VecI, vec_widen, VecH, _mm512_cvtepu16_epi32, __m256i)
VEC_ONE (VecI, vec_widen_signed, VecS, _mm512_cvtepi16_epi32, __m256i)
VEC_ONE (VecH, vec_narrow, VecI, _mm512_cvtepi32_epi16, __m512i)
VEC_ONE (VecB, vec_narrow_bytes, VecI, _mm512_cvtepi32_epi8, __m512i)

VEC_INLINE VecU16
vec_narrow_two (VecI a, VecI b)
{
  const VecI lanes = LANE_NUMBERS;
  VecI second = (lanes & 8) << 2, words = 4 * lanes & 31; /* of a; from 32 on of b */
  words = (words + second) | (words + second + 2) << 16;
  return (VecU16) _mm512_permutex2var_epi16 ((__m512i) a, (__m512i) words, (__m512i) b);
}

#define VEC_JOINS_WORDS 1 /* vec_join_words() is here */

VEC_INLINE VecU
vec_join_words (VecH high, VecI low)
{
  const VecI lanes = LANE_NUMBERS, words = (lanes + 32) << 16 | 2 * lanes; /* of @low; from 32 on of @high */
  return (VecU) _mm512_permutex2var_epi16 ((__m512i) low, (__m512i) words, _mm512_castsi256_si512 ((__m256i) high));
}

VEC_INLINE void
vec_store_words_as_bytes (uint8_t *to, VecW words)
{
  _mm_storeu_si128 ((__m128i *) to, _mm256_cvtepi16_epi8 ((__m256i) words));
}

VEC_TWO (VecI, vec_min, VecI, _mm512_min_epi32, __m512i)
VEC_TWO (VecI, vec_max, VecI, _mm512_max_epi32, __m512i)
VEC_ONE (VecI, vec_abs, VecI, _mm512_abs_epi32, __m512i)
VEC_TWO (VecU, vec_min_unsigned, VecU, _mm512_min_epu32, __m512i)
VEC_TWO (VecU, vec_max_unsigned, VecU, _mm512_max_epu32, __m512i)

/* Bits set in each byte, by tables of four bits. */
VEC_INLINE __m512i
vec_count_bytes (__m512i v)
{
  const __m512i table = _mm512_set4_epi32 (0x04030302, 0x03020201, 0x03020201, 0x02010100), low = _mm512_set1_epi8 (15);
  return _mm512_add_epi8 (_mm512_shuffle_epi8 (table, _mm512_and_si512 (v, low)),
      _mm512_shuffle_epi8 (table, _mm512_and_si512 (_mm512_srli_epi16 (v, 4), low)));
}

VEC_INLINE VecB
vec_popcount_long (uint64_t bits, const uint64_t *from)
{
  __m128i half[2];
  for (int k = 0; k < 2; k++) {
    __m512i v = _mm512_xor_si512 (_mm512_set1_epi64 ((long long) bits), _mm512_loadu_si512 (from + 8 * k));
    half[k] = _mm512_cvtepi64_epi8 (_mm512_sad_epu8 (vec_count_bytes (v), _mm512_setzero_si512 ()));
  }
  return (VecB) _mm_unpacklo_epi64 (half[0], half[1]);
}

VEC_INLINE VecU
vec_byte_differences (VecU a, VecU b)
{
  return (VecU) _mm512_or_si512 (
      _mm512_subs_epu8 ((__m512i) a, (__m512i) b), _mm512_subs_epu8 ((__m512i) b, (__m512i) a));
}

VEC_INLINE VecI
vec_sum_bytes (VecU bytes)
{
  __m512i pairs = _mm512_maddubs_epi16 ((__m512i) bytes, _mm512_set1_epi8 (1));
  return (VecI) _mm512_madd_epi16 (pairs, _mm512_set1_epi16 (1));
}

#define VEC_SUMS_COLORS 1 /* vec_color_distance() is here */

/* vdbpsadbw sums four bytes of an even pixel against the first four of eight, of an odd one against the middle ones: those of @b,
 * its halves exchanged. If it is a constant, that is done once. */
VEC_INLINE VecI
vec_color_distance (VecU a, VecU b)
{
  __m512i sad = _mm512_maskz_dbsad_epu8 (0x11111111, (__m512i) a, (__m512i) b, 0xE4);
  return (VecI) _mm512_mask_dbsad_epu8 (sad, 0x44444444, (__m512i) a, _mm512_rol_epi32 ((__m512i) b, 16), 0xF5);
}

/* What an odd pixel is summed against begins in the middle of @color: with its halves exchanged, one vdbpsadbw is enough. */
VEC_INLINE VecI
vec_turned_distance (VecU pixels, uint32_t color)
{
  return (VecI) _mm512_maskz_dbsad_epu8 (0x55555555, (__m512i) pixels, _mm512_set1_epi32 ((int) color), 0xE4);
}

#define VEC_COUNTS_BITS 1 /* vec_popcount() is here */

VEC_INLINE VecI
vec_popcount (VecU v)
{
  return vec_sum_bytes ((VecU) vec_count_bytes ((__m512i) v));
}

VEC_TWO (VecI, vec_dot, VecI, _mm512_madd_epi16, __m512i)
VEC_ONE (VecI, vec_round, VecF, _mm512_cvtps_epi32, __m512)
VEC_TWO (VecF, vec_min_float, VecF, _mm512_min_ps, __m512)
VEC_TWO (VecF, vec_max_float, VecF, _mm512_max_ps, __m512)
VEC_ONE (VecF, vec_root, VecF, _mm512_sqrt_ps, __m512)
VEC_ONE (VecF, vec_float_unsigned, VecU, _mm512_cvtepu32_ps, __m512i)

VEC_INLINE VecF
vec_look_up (const float *table, VecI index)
{
  return (VecF) _mm512_i32gather_ps ((__m512i) index, table, 4);
}

VEC_INLINE int
vec_any (VecI v)
{
  return _mm512_test_epi32_mask ((__m512i) v, (__m512i) v) != 0;
}

VEC_INLINE VecI
vec_gather (const uint8_t *from, VecI offset)
{
  return (VecI) _mm512_i32gather_epi32 ((__m512i) offset, from, 1);
}

#endif
