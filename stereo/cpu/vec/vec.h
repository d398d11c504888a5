/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As many lanes at a time as the instruction set has, in the compiler's own vector types. (Wider ones
 * than it has are split badly by gcc 12: ten times slower.) */
#ifndef STEREO_CPU_VEC_H
#define STEREO_CPU_VEC_H

#include <stdint.h>
#include <string.h>
#if defined __AVX2__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h>
#endif

#if defined __AVX512F__
#define LANES 16
#define LANE_NUMBERS { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 }
#elif defined __AVX2__
#define LANES 8
#define LANE_NUMBERS { 0, 1, 2, 3, 4, 5, 6, 7 }
#else
#define LANES 4
#define LANE_NUMBERS { 0, 1, 2, 3 }
#endif

typedef float VecF __attribute__ ((vector_size (4 * LANES)));
typedef int32_t VecI __attribute__ ((vector_size (4 * LANES)));
typedef uint32_t VecU __attribute__ ((vector_size (4 * LANES)));
typedef uint16_t VecH __attribute__ ((vector_size (2 * LANES)));
typedef int16_t VecS __attribute__ ((vector_size (2 * LANES)));
typedef uint8_t VecB __attribute__ ((vector_size (LANES)));
typedef uint8_t VecU8 __attribute__ ((vector_size (4 * LANES)));

#define VEC_LOADS(type, name, element) \
  static inline __attribute__ ((always_inline)) type vec_load_##name (const element *from) \
  { \
    type v; \
    memcpy (&v, from, sizeof v); \
    return v; \
  } \
  static inline __attribute__ ((always_inline)) void vec_store_##name (element *to, type v) \
  { \
    memcpy (to, &v, sizeof v); \
  }

VEC_LOADS (VecF, f, float)
VEC_LOADS (VecU, u, uint32_t)
VEC_LOADS (VecH, h, uint16_t)
VEC_LOADS (VecB, b, uint8_t)
VEC_LOADS (VecI, i, int32_t)
VEC_LOADS (VecS, s, int16_t)
#undef VEC_LOADS

/* Widening and narrowing are spelt out: __builtin_convertvector does them an element at a time (gcc 12). */
static inline __attribute__ ((always_inline)) VecI
vec_widen_bytes (VecB bytes)
{
#if defined __AVX512F__
  return (VecI) _mm512_cvtepu8_epi32 ((__m128i) bytes);
#elif defined __AVX2__
  return (VecI) _mm256_cvtepu8_epi32 (_mm_cvtsi64_si128 ((int64_t) bytes));
#else
  return __builtin_convertvector (bytes, VecI);
#endif
}

static inline __attribute__ ((always_inline)) VecI
vec_widen (VecH words)
{
#if defined __AVX512F__
  return (VecI) _mm512_cvtepu16_epi32 ((__m256i) words);
#elif defined __AVX2__
  return (VecI) _mm256_cvtepu16_epi32 ((__m128i) words);
#else
  return __builtin_convertvector (words, VecI);
#endif
}

static inline __attribute__ ((always_inline)) VecI
vec_widen_signed (VecS words)
{
#if defined __AVX512F__
  return (VecI) _mm512_cvtepi16_epi32 ((__m256i) words);
#elif defined __AVX2__
  return (VecI) _mm256_cvtepi16_epi32 ((__m128i) words);
#else
  return __builtin_convertvector (words, VecI);
#endif
}

/* Of values from 0 to 65535. */
static inline __attribute__ ((always_inline)) VecH
vec_narrow (VecI v)
{
#if defined __AVX512F__
  return (VecH) _mm512_cvtepi32_epi16 ((__m512i) v);
#elif defined __AVX2__
  __m256i words = _mm256_packus_epi32 ((__m256i) v, (__m256i) v);
  return (VecH) _mm256_castsi256_si128 (_mm256_permute4x64_epi64 (words, 0xD8));
#else
  return __builtin_convertvector (v, VecH);
#endif
}

/* Of values from 0 to 255. */
static inline __attribute__ ((always_inline)) VecB
vec_narrow_bytes (VecI v)
{
#if defined __AVX512F__
  return (VecB) _mm512_cvtepi32_epi8 ((__m512i) v);
#elif defined __AVX2__
  __m256i words = _mm256_packus_epi32 ((__m256i) v, (__m256i) v);
  __m128i half = _mm256_castsi256_si128 (_mm256_permute4x64_epi64 (words, 0xD8));
  return (VecB) _mm_cvtsi128_si64 (_mm_packus_epi16 (half, half));
#else
  return __builtin_convertvector (v, VecB);
#endif
}

static inline __attribute__ ((always_inline)) VecI
vec_min (VecI a, VecI b)
{
  VecI less = a < b;
  return (a & less) | (b & ~less);
}

static inline __attribute__ ((always_inline)) VecI
vec_max (VecI a, VecI b)
{
  VecI more = a > b;
  return (a & more) | (b & ~more);
}

/* Lane k gets lane k ^ @half. */
static inline __attribute__ ((always_inline)) VecU
vec_partners (VecU v, int half)
{
#ifdef __clang__
  VecU partners = v;
  for (int k = 0; k < LANES; k++)
    partners[k] = v[k ^ half];
  return partners;
#else
  const VecI lanes = LANE_NUMBERS;
  return __builtin_shuffle (v, (VecU) (lanes ^ half));
#endif
}

static inline __attribute__ ((always_inline)) VecU
vec_min_unsigned (VecU a, VecU b)
{
#if defined __AVX512F__
  return (VecU) _mm512_min_epu32 ((__m512i) a, (__m512i) b);
#elif defined __AVX2__
  return (VecU) _mm256_min_epu32 ((__m256i) a, (__m256i) b);
#else
  VecU less = (VecU) (a < b);
  return (a & less) | (b & ~less);
#endif
}

static inline __attribute__ ((always_inline)) VecU
vec_max_unsigned (VecU a, VecU b)
{
  return ~vec_min_unsigned (~a, ~b);
}

static inline __attribute__ ((always_inline)) VecF
vec_float (VecI v)
{
  return __builtin_convertvector (v, VecF);
}

static inline __attribute__ ((always_inline)) VecF
vec_from_bytes (VecB bytes)
{
  return vec_float (vec_widen_bytes (bytes));
}

static inline __attribute__ ((always_inline)) VecI
vec_popcount (VecU v)
{
  v -= v >> 1 & 0x55555555u;
  v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
  v = (v + (v >> 4)) & 0x0F0F0F0Fu;
  v += v >> 8;
  return (VecI) ((v + (v >> 16)) & 63u);
}

/* Bits set in @bits ^ from[0..LANES-1]; on x86 by tables of four bits, summed by the instruction that sums bytes. */
static inline __attribute__ ((always_inline)) VecB
vec_popcount_long (uint64_t bits, const uint64_t *from)
{
#if defined __AVX512F__
  const __m512i table = _mm512_set4_epi32 (0x04030302, 0x03020201, 0x03020201, 0x02010100), low = _mm512_set1_epi8 (15);
  __m128i half[2];
  for (int k = 0; k < 2; k++) {
    __m512i v = _mm512_xor_si512 (_mm512_set1_epi64 ((long long) bits), _mm512_loadu_si512 (from + 8 * k));
    __m512i counts = _mm512_add_epi8 (_mm512_shuffle_epi8 (table, _mm512_and_si512 (v, low)),
        _mm512_shuffle_epi8 (table, _mm512_and_si512 (_mm512_srli_epi16 (v, 4), low)));
    half[k] = _mm512_cvtepi64_epi8 (_mm512_sad_epu8 (counts, _mm512_setzero_si512 ()));
  }
  return (VecB) _mm_unpacklo_epi64 (half[0], half[1]);
#elif defined __AVX2__
  const __m256i table = _mm256_broadcastsi128_si256 (_mm_set_epi32 (0x04030302, 0x03020201, 0x03020201, 0x02010100));
  const __m256i low = _mm256_set1_epi8 (15);
  __m256i half[2];
  for (int k = 0; k < 2; k++) {
    __m256i v = _mm256_xor_si256 (_mm256_set1_epi64x ((long long) bits),
        _mm256_loadu_si256 ((const __m256i *) (from + 4 * k)));
    __m256i counts = _mm256_add_epi8 (_mm256_shuffle_epi8 (table, _mm256_and_si256 (v, low)),
        _mm256_shuffle_epi8 (table, _mm256_and_si256 (_mm256_srli_epi16 (v, 4), low)));
    half[k] = _mm256_sad_epu8 (counts, _mm256_setzero_si256 ());
  }
  __m256 both = _mm256_shuffle_ps ((__m256) half[0], (__m256) half[1], 0x88);    /* 0 1 4 5, 2 3 6 7 */
  return vec_narrow_bytes ((VecI) _mm256_permute4x64_epi64 ((__m256i) both, 0xD8));
#else
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
#endif
}

/* SAD over R, G, B of packed colours. */
static inline __attribute__ ((always_inline)) VecI
vec_color_distance (VecU a, VecU b)
{
  VecU8 p = (VecU8) a, q = (VecU8) b;
  VecU8 more = (VecU8) (p > q);
  VecU difference = (VecU) (((p - q) & more) | ((q - p) & ~more));
  VecU pairs = (difference & 0x00FF00FFu) + (difference >> 8 & 0xFFu);
  return (VecI) ((pairs + (pairs >> 16)) & 0x3FFu);
}

/* Words of 16 bits whose sums stop at 65535: the best such a vector can be without 512 bits, which depths that are
 * multiples of 16 do not fill. */
#ifdef __AVX2__
#define WORDS 16
#else
#define WORDS 8
#endif
typedef uint16_t VecW __attribute__ ((vector_size (2 * WORDS)));
typedef uint8_t VecWB __attribute__ ((vector_size (WORDS)));

static inline __attribute__ ((always_inline)) VecW
vec_load_w (const uint16_t *from)
{
  VecW v;
  memcpy (&v, from, sizeof v);
  return v;
}

static inline __attribute__ ((always_inline)) void
vec_store_w (uint16_t *to, VecW v)
{
  memcpy (to, &v, sizeof v);
}

/* Bytes from @from, widened. */
static inline __attribute__ ((always_inline)) VecW
vec_words_of_bytes (const uint8_t *from)
{
#if defined __AVX2__
  return (VecW) _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) from));
#elif defined __SSE2__
  return (VecW) _mm_unpacklo_epi8 (_mm_loadl_epi64 ((const __m128i *) from), _mm_setzero_si128 ());
#else
  VecWB bytes;
  memcpy (&bytes, from, sizeof bytes);
  return __builtin_convertvector (bytes, VecW);
#endif
}

static inline __attribute__ ((always_inline)) VecW
vec_add_words (VecW a, VecW b)
{
#if defined __AVX2__
  return (VecW) _mm256_adds_epu16 ((__m256i) a, (__m256i) b);
#elif defined __SSE2__
  return (VecW) _mm_adds_epu16 ((__m128i) a, (__m128i) b);
#else
  VecW sum = a + b;
  return sum | (VecW) (sum < a);
#endif
}

static inline __attribute__ ((always_inline)) VecW
vec_min_words (VecW a, VecW b)
{
#if defined __AVX2__
  return (VecW) _mm256_min_epu16 ((__m256i) a, (__m256i) b);
#elif defined __SSE2__
  return a - (VecW) _mm_subs_epu16 ((__m128i) a, (__m128i) b);
#else
  VecW less = (VecW) (a < b);
  return (a & less) | (b & ~less);
#endif
}

static inline __attribute__ ((always_inline)) uint16_t
vec_lowest_word (VecW v)
{
#if defined __AVX2__
  __m128i half = _mm_min_epu16 (_mm256_castsi256_si128 ((__m256i) v), _mm256_extracti128_si256 ((__m256i) v, 1));
  return (uint16_t) _mm_cvtsi128_si32 (_mm_minpos_epu16 (half));
#else
  for (int half = WORDS / 2; half; half /= 2) {
    VecW other;
    for (int k = 0; k < WORDS; k++)
      other[k] = v[k ^ half];
    v = vec_min_words (v, other);
  }
  return v[0];
#endif
}

/* 2^x for x <= 0 to 3e-6; 0 below 2^-126. */
static inline __attribute__ ((always_inline)) VecF
vec_exp2 (VecF x)
{
  const float magic = 12582912.0f;      /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
  VecF shifted = x + magic;
  VecF f = x - (shifted - magic);
  VecF p = 0.0013333558f * f + 0.0096181291f;
  p = p * f + 0.0555041087f;
  p = p * f + 0.2402265070f;
  p = p * f + 0.6931471806f;
  p = p * f + 1.0f;
  VecI scaled = (VecI) ((VecU) p + ((VecU) shifted << 23));
  return (VecF) (scaled & (x > -126.0f));
}

/* Support weight of a pair of pixels: exp (-SAD / gamma_color - distance / gamma_distance), with
 * both gammas folded into base-2 factors (4.4.1). */
static inline __attribute__ ((always_inline)) VecF
vec_weight (VecU a, VecU b, float color_factor, float distance_term)
{
  return vec_exp2 (vec_float (vec_color_distance (a, b)) * color_factor + distance_term);
}

#endif
