/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AVX2. vec.h says what each operation does. */
#ifndef STEREO_CPU_VEC_AVX2_H
#define STEREO_CPU_VEC_AVX2_H

#include <immintrin.h>

#define LANES 8
#define LANE_NUMBERS \
  { \
    0, 1, 2, 3, 4, 5, 6, 7 \
  }
#define WORDS 16

#include "stereo/cpu/vec/types.h"
#include "stereo/cpu/vec/ymm.h"

VEC_INLINE VecI
vec_widen_bytes (VecB bytes)
{
  return (VecI) _mm256_cvtepu8_epi32 (_mm_cvtsi64_si128 ((int64_t) bytes));
}

VEC_ONE (VecI, vec_widen, VecH, _mm256_cvtepu16_epi32, __m128i)
VEC_ONE (VecI, vec_widen_signed, VecS, _mm256_cvtepi16_epi32, __m128i)

VEC_INLINE VecU16
vec_narrow_two (VecI a, VecI b)
{
  return (VecU16) _mm256_permute4x64_epi64 (_mm256_packus_epi32 ((__m256i) a, (__m256i) b), 0xD8);
}

VEC_INLINE VecH
vec_narrow (VecI v)
{
  return (VecH) _mm256_castsi256_si128 ((__m256i) vec_narrow_two (v, v));
}

VEC_INLINE VecB
vec_narrow_bytes (VecI v)
{
  __m128i half = (__m128i) vec_narrow (v);
  return (VecB) _mm_cvtsi128_si64 (_mm_packus_epi16 (half, half));
}

VEC_INLINE void
vec_store_words_as_bytes (uint8_t *to, VecW words)
{
  __m256i bytes = _mm256_packus_epi16 ((__m256i) words, (__m256i) words);
  _mm_storeu_si128 ((__m128i *) to, _mm256_castsi256_si128 (_mm256_permute4x64_epi64 (bytes, 0xD8)));
}

VEC_TWO (VecI, vec_min, VecI, _mm256_min_epi32, __m256i)
VEC_TWO (VecI, vec_max, VecI, _mm256_max_epi32, __m256i)
VEC_ONE (VecI, vec_abs, VecI, _mm256_abs_epi32, __m256i)
VEC_TWO (VecU, vec_min_unsigned, VecU, _mm256_min_epu32, __m256i)
VEC_TWO (VecU, vec_max_unsigned, VecU, _mm256_max_epu32, __m256i)

/* Bits set in each byte, by tables of four bits. */
VEC_INLINE __m256i
vec_count_bytes (__m256i v)
{
  const __m256i table = _mm256_broadcastsi128_si256 (_mm_set_epi32 (0x04030302, 0x03020201, 0x03020201, 0x02010100));
  const __m256i low = _mm256_set1_epi8 (15);
  return _mm256_add_epi8 (_mm256_shuffle_epi8 (table, _mm256_and_si256 (v, low)),
      _mm256_shuffle_epi8 (table, _mm256_and_si256 (_mm256_srli_epi16 (v, 4), low)));
}

VEC_INLINE VecB
vec_popcount_long (uint64_t bits, const uint64_t *from)
{
  __m256i half[2];
  for (int k = 0; k < 2; k++) {
    __m256i v = _mm256_xor_si256 (
        _mm256_set1_epi64x ((long long) bits), _mm256_loadu_si256 ((const __m256i *) (from + 4 * k)));
    half[k] = _mm256_sad_epu8 (vec_count_bytes (v), _mm256_setzero_si256 ());
  }
  __m256 both = _mm256_shuffle_ps ((__m256) half[0], (__m256) half[1], 0x88); /* 0 1 4 5, 2 3 6 7 */
  return vec_narrow_bytes ((VecI) _mm256_permute4x64_epi64 ((__m256i) both, 0xD8));
}

VEC_INLINE VecU
vec_byte_differences (VecU a, VecU b)
{
  return (VecU) _mm256_or_si256 (
      _mm256_subs_epu8 ((__m256i) a, (__m256i) b), _mm256_subs_epu8 ((__m256i) b, (__m256i) a));
}

VEC_INLINE VecI
vec_sum_bytes (VecU bytes)
{
  __m256i pairs = _mm256_maddubs_epi16 ((__m256i) bytes, _mm256_set1_epi8 (1));
  return (VecI) _mm256_madd_epi16 (pairs, _mm256_set1_epi16 (1));
}

#define VEC_COUNTS_BITS 1 /* vec_popcount() is here */

VEC_INLINE VecI
vec_popcount (VecU v)
{
  return vec_sum_bytes ((VecU) vec_count_bytes ((__m256i) v));
}

VEC_TWO (VecI, vec_dot, VecI, _mm256_madd_epi16, __m256i)
VEC_ONE (VecI, vec_round, VecF, _mm256_cvtps_epi32, __m256)
VEC_TWO (VecF, vec_min_float, VecF, _mm256_min_ps, __m256)
VEC_TWO (VecF, vec_max_float, VecF, _mm256_max_ps, __m256)
VEC_ONE (VecF, vec_root, VecF, _mm256_sqrt_ps, __m256)

/* Half of a large value keeps the bit that says whether anything was lost: the result is rounded once. */
VEC_INLINE VecF
vec_float_unsigned (VecU v)
{
  VecI large = (VecI) v < 0;
  VecF small = __builtin_convertvector((VecI) v, VecF);
  VecF half = __builtin_convertvector((VecI) (v >> 1 | (v & 1)), VecF), twice = half + half;
  return (VecF) (((VecI) twice & large) | ((VecI) small & ~large));
}

VEC_INLINE VecF
vec_look_up (const float *table, VecI index)
{
  return (VecF) _mm256_i32gather_ps (table, (__m256i) index, 4);
}

VEC_INLINE int
vec_any (VecI v)
{
  return !_mm256_testz_si256 ((__m256i) v, (__m256i) v);
}

VEC_INLINE VecI
vec_gather (const uint8_t *from, VecI offset)
{
  return (VecI) _mm256_i32gather_epi32 ((const int *) from, (__m256i) offset, 1);
}

#endif
