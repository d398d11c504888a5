/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every processor of the architecture has: SSE2 on x86-64, elsewhere what the compiler makes of its vector types.
 * vec.h says what each operation does. */
#ifndef STEREO_CPU_VEC_BASELINE_H
#define STEREO_CPU_VEC_BASELINE_H

#ifdef __SSE2__
#include <emmintrin.h>
#else
#include <math.h>
#endif

#define LANES 4
#define LANE_NUMBERS \
  { \
    0, 1, 2, 3 \
  }
#define WORDS 8

#include "stereo/cpu/vec/types.h"

VEC_INLINE VecI
vec_widen_bytes (VecB bytes)
{
  return __builtin_convertvector(bytes, VecI);
}

VEC_INLINE VecI
vec_widen (VecH words)
{
  return __builtin_convertvector(words, VecI);
}

VEC_INLINE VecI
vec_widen_signed (VecS words)
{
  return __builtin_convertvector(words, VecI);
}

VEC_INLINE VecH
vec_narrow (VecI v)
{
  return __builtin_convertvector(v, VecH);
}

VEC_INLINE VecU16
vec_narrow_two (VecI a, VecI b)
{
  return VEC_SHUFFLE (VecU16, (VecU16) a, (VecU16) b, 0, 2, 4, 6, 8, 10, 12, 14);
}

VEC_INLINE VecB
vec_narrow_bytes (VecI v)
{
  return __builtin_convertvector(v, VecB);
}

VEC_INLINE VecI
vec_min (VecI a, VecI b)
{
  VecI less = a < b;
  return (a & less) | (b & ~less);
}

VEC_INLINE VecI
vec_max (VecI a, VecI b)
{
  VecI more = a > b;
  return (a & more) | (b & ~more);
}

VEC_INLINE VecI
vec_abs (VecI v)
{
  VecI negative = v < 0;
  return (v ^ negative) - negative;
}

VEC_INLINE VecU
vec_min_unsigned (VecU a, VecU b)
{
  VecU less = (VecU) (a < b);
  return (a & less) | (b & ~less);
}

VEC_INLINE VecU
vec_max_unsigned (VecU a, VecU b)
{
  VecU less = (VecU) (a < b);
  return (b & less) | (a & ~less);
}

VEC_INLINE VecB
vec_popcount_long (uint64_t bits, const uint64_t *from)
{
  VecB counts = { 0 };
  for (int k = 0; k < LANES; k++) {
    uint64_t v = bits ^ from[k];
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    v += v >> 8;
    v += v >> 16;
    counts[k] = (uint8_t) ((v + (v >> 32)) & 127);
  }
  return counts;
}

VEC_INLINE VecI
vec_sum_bytes (VecU bytes)
{
  VecU pairs = (bytes & 0x00FF00FFu) + (bytes >> 8 & 0x00FF00FFu);
  return (VecI) ((pairs + (pairs >> 16)) & 0x3FFu);
}

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
  VecF v = { 0 };
  for (int k = 0; k < LANES; k++)
    v[k] = table[index[k]];
  return v;
}

VEC_INLINE int
vec_any (VecI v)
{
  uint64_t halves[LANES / 2], bits = 0;

  memcpy (halves, &v, sizeof halves);
  for (int k = 0; k < LANES / 2; k++)
    bits |= halves[k];
  return bits != 0;
}

VEC_INLINE uint16_t
vec_lowest_word (VecW v)
{
  uint16_t words[WORDS], lowest;

  memcpy (words, &v, sizeof words);
  lowest = words[0];
  for (int k = 1; k < WORDS; k++)
    lowest = words[k] < lowest ? words[k] : lowest;
  return lowest;
}

#ifdef __SSE2__

VEC_INLINE VecU
vec_byte_differences (VecU a, VecU b)
{
  return (VecU) _mm_or_si128 (_mm_subs_epu8 ((__m128i) a, (__m128i) b), _mm_subs_epu8 ((__m128i) b, (__m128i) a));
}

VEC_TWO (VecI, vec_dot, VecI, _mm_madd_epi16, __m128i)
VEC_ONE (VecI, vec_round, VecF, _mm_cvtps_epi32, __m128)
VEC_TWO (VecF, vec_min_float, VecF, _mm_min_ps, __m128)
VEC_TWO (VecF, vec_max_float, VecF, _mm_max_ps, __m128)
VEC_ONE (VecF, vec_root, VecF, _mm_sqrt_ps, __m128)

VEC_INLINE VecW
vec_words_of_bytes (const uint8_t *from)
{
  return (VecW) _mm_unpacklo_epi8 (_mm_loadl_epi64 ((const __m128i *) from), _mm_setzero_si128 ());
}

VEC_INLINE void
vec_store_words_as_bytes (uint8_t *to, VecW words)
{
  _mm_storel_epi64 ((__m128i *) to, _mm_packus_epi16 ((__m128i) words, (__m128i) words));
}

VEC_TWO (VecW, vec_add_words, VecW, _mm_adds_epu16, __m128i)

VEC_INLINE VecW
vec_min_words (VecW a, VecW b)
{
  return a - (VecW) _mm_subs_epu16 ((__m128i) a, (__m128i) b);
}

#else

VEC_INLINE VecU
vec_byte_differences (VecU a, VecU b)
{
  VecU8 p = (VecU8) a, q = (VecU8) b, more = (VecU8) (p > q);
  return (VecU) (((p - q) & more) | ((q - p) & ~more));
}

VEC_INLINE VecI
vec_dot (VecI a, VecI b)
{
  VecI low = (a << 16 >> 16) * (b << 16 >> 16), high = (a >> 16) * (b >> 16);
  return low + high;
}

VEC_INLINE VecI
vec_round (VecF v)
{
  VecI whole = { 0 };
  for (int k = 0; k < LANES; k++)
    whole[k] = (int32_t) rintf (v[k]);
  return whole;
}

VEC_INLINE VecF
vec_min_float (VecF a, VecF b)
{
  VecI first = a < b;
  return (VecF) (((VecI) a & first) | ((VecI) b & ~first));
}

VEC_INLINE VecF
vec_max_float (VecF a, VecF b)
{
  VecI first = a > b;
  return (VecF) (((VecI) a & first) | ((VecI) b & ~first));
}

VEC_INLINE VecF
vec_root (VecF v)
{
  for (int k = 0; k < LANES; k++)
    v[k] = sqrtf (v[k]);
  return v;
}

VEC_INLINE VecW
vec_words_of_bytes (const uint8_t *from)
{
  VecWB bytes;
  memcpy (&bytes, from, sizeof bytes);
  return __builtin_convertvector(bytes, VecW);
}

VEC_INLINE void
vec_store_words_as_bytes (uint8_t *to, VecW words)
{
  VecWB bytes = __builtin_convertvector(words, VecWB);
  memcpy (to, &bytes, sizeof bytes);
}

VEC_INLINE VecW
vec_add_words (VecW a, VecW b)
{
  VecW sum = a + b;
  return sum | (VecW) (sum < a);
}

VEC_INLINE VecW
vec_min_words (VecW a, VecW b)
{
  VecW less = (VecW) (a < b);
  return (a & less) | (b & ~less);
}

#endif

#endif
