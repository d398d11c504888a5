/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operations on 256 bits and less, of AVX2, that both avx2.h and avx512.h have. */
#ifndef STEREO_CPU_VEC_YMM_H
#define STEREO_CPU_VEC_YMM_H

#include "stereo/cpu/vec/types.h"

#define VEC_GATHERS 1 /* vec_gather() and vec_store_threes() are there */

VEC_INLINE VecW
vec_words_of_bytes (const uint8_t *from)
{
  return (VecW) _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) from));
}

VEC_TWO (VecW, vec_add_words, VecW, _mm256_adds_epu16, __m256i)
VEC_TWO (VecW, vec_min_words, VecW, _mm256_min_epu16, __m256i)

VEC_INLINE uint16_t
vec_lowest_word (VecW v)
{
  __m128i half = _mm_min_epu16 (_mm256_castsi256_si128 ((__m256i) v), _mm256_extracti128_si256 ((__m256i) v, 1));
  return (uint16_t) _mm_cvtsi128_si32 (_mm_minpos_epu16 (half));
}

VEC_INLINE void
vec_store_threes (uint8_t *to, VecI pixels)
{
  const __m128i close = _mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  __m128i quarters[LANES / 4];

  memcpy (quarters, &pixels, sizeof pixels);
  for (int k = 0; k < LANES / 4; k++) {
    __m128i packed = _mm_shuffle_epi8 (quarters[k], close);
    if (k < LANES / 4 - 1)
      _mm_storeu_si128 ((__m128i *) (to + 12 * k), packed);
    else
      memcpy (to + 12 * k, &packed, 12);
  }
}

#endif
