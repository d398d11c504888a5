/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block matching: what a thread keeps, and arithmetic in vectors. */
#ifndef STEREO_CPU_BM_H
#define STEREO_CPU_BM_H

#include "stereo/exact/bm.h"
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#define BM_LAYER 32             /* disparities at a time */

/* Luma of one view in the rows of the first step's windows: sums down the columns, and along the row what these sum up
 * to before each column; norms and sums of whole windows around each. */
typedef struct BmLine
{
  uint32_t *column_sums, *column_squares;
  uint32_t *sums, *squares;     /* width + 1; modulo 2^32, as their differences are small enough */
  uint32_t *window_sums, *window_squares;
  float *norms;                 /* of the right view: times STEREO_BM_STEPS */
} BmLine;

/* A thread's work: candidates @first..@first + @count - 1. Rows below have @count elements a column. */
typedef struct BmLayer
{
  const StereoPlan *plan;
  int first, count;
  int radius;                   /* of the first step's window */
  int rows;                     /* of the picture in the windows around the row at hand, and how many taps a whole one has */
  int taps;
  float factor;                 /* of whole windows */
  uint32_t *sums;               /* down the columns, first step */
  uint32_t *means;              /* second step */
  uint16_t *ring;               /* the first step's costs of the last rows; row y at y % window */
  BmLine line[2];
} BmLayer;

size_t CPU (bm_bytes) (const StereoPlan *plan);
void CPU (bm_start) (BmLayer *layer, const StereoPlan *plan, int first, uint8_t *memory);
void CPU (bm_row) (BmLayer *layer, int cost, int y);
#define bm_thread_bytes CPU (bm_bytes)
#define bm_start_layer CPU (bm_start)
#define bm_set_row CPU (bm_row)

/* To the nearest, ties to even, as rintf(). */
static inline __attribute__ ((always_inline)) VecI
bm_round (VecF v)
{
#if defined __AVX512F__
  return (VecI) _mm512_cvtps_epi32 ((__m512) v);
#elif defined __AVX2__
  return (VecI) _mm256_cvtps_epi32 ((__m256) v);
#elif defined __SSE2__
  return (VecI) _mm_cvtps_epi32 ((__m128) v);
#else
  VecI whole;
  for (int k = 0; k < LANES; k++)
    whole[k] = (int32_t) rintf (v[k]);
  return whole;
#endif
}

static inline __attribute__ ((always_inline)) VecF
bm_root (VecF v)
{
#if defined __AVX512F__
  return (VecF) _mm512_sqrt_ps ((__m512) v);
#elif defined __AVX2__
  return (VecF) _mm256_sqrt_ps ((__m256) v);
#elif defined __SSE2__
  return (VecF) _mm_sqrt_ps ((__m128) v);
#else
  for (int k = 0; k < LANES; k++)
    v[k] = sqrtf (v[k]);
  return v;
#endif
}

/* Of all 32 bits, rounded once: half of a large value keeps the bit that says whether anything was lost. */
static inline __attribute__ ((always_inline)) VecF
bm_float (VecU v)
{
#if defined __AVX512F__
  return (VecF) _mm512_cvtepu32_ps ((__m512i) v);
#else
  VecI large = (VecI) v < 0;
  VecF small = vec_float ((VecI) v), half = vec_float ((VecI) (v >> 1 | (v & 1)));
  VecF twice = half + half;
  return (VecF) (((VecI) twice & large) | ((VecI) small & ~large));
#endif
}

/* Lanes whose number, counted from @k, is @from or more and below @to. */
static inline __attribute__ ((always_inline)) VecU
bm_between (int k, int from, int to)
{
  const VecI lanes = LANE_NUMBERS;
  return (VecU) ((lanes >= from - k) & (lanes < to - k));
}

/* Of values that fit 16 bits, the sign included. */
static inline __attribute__ ((always_inline)) VecI
bm_product (VecI a, VecI b)
{
#if defined __AVX512F__
  return (VecI) _mm512_madd_epi16 ((__m512i) (a & 0xFFFF), (__m512i) b);
#elif defined __AVX2__
  return (VecI) _mm256_madd_epi16 ((__m256i) (a & 0xFFFF), (__m256i) b);
#elif defined __SSE2__
  return (VecI) _mm_madd_epi16 ((__m128i) (a & 0xFFFF), (__m128i) b);
#else
  return a * b;
#endif
}

/* |a - b| of bytes. */
static inline __attribute__ ((always_inline)) VecU
bm_byte_differences (VecU a, VecU b)
{
#if defined __AVX512F__
  return (VecU) _mm512_or_si512 (_mm512_subs_epu8 ((__m512i) a, (__m512i) b), _mm512_subs_epu8 ((__m512i) b, (__m512i) a));
#elif defined __AVX2__
  return (VecU) _mm256_or_si256 (_mm256_subs_epu8 ((__m256i) a, (__m256i) b), _mm256_subs_epu8 ((__m256i) b, (__m256i) a));
#elif defined __SSE2__
  return (VecU) _mm_or_si128 (_mm_subs_epu8 ((__m128i) a, (__m128i) b), _mm_subs_epu8 ((__m128i) b, (__m128i) a));
#else
  VecU8 p = (VecU8) a, q = (VecU8) b, more = (VecU8) (p > q);
  return (VecU) (((p - q) & more) | ((q - p) & ~more));
#endif
}

/* SAD over R, G, B. */
static inline __attribute__ ((always_inline)) VecI
bm_color_distance (VecU a, VecU b)
{
  VecU difference = bm_byte_differences (a, b);
#if defined __AVX512F__
  __m512i pairs = _mm512_maddubs_epi16 ((__m512i) difference, _mm512_set1_epi8 (1));
  return (VecI) _mm512_madd_epi16 (pairs, _mm512_set1_epi16 (1));
#elif defined __AVX2__
  __m256i pairs = _mm256_maddubs_epi16 ((__m256i) difference, _mm256_set1_epi8 (1));
  return (VecI) _mm256_madd_epi16 (pairs, _mm256_set1_epi16 (1));
#else
  VecU pairs = (difference & 0x00FF00FFu) + (difference >> 8 & 0xFFu);
  return (VecI) ((pairs + (pairs >> 16)) & 0x3FFu);
#endif
}

/* Sum of squared differences over R, G, B. */
static inline __attribute__ ((always_inline)) VecI
bm_color_squares (VecU a, VecU b)
{
  VecU difference = bm_byte_differences (a, b);
  VecI outer = (VecI) (difference & 0x00FF00FFu), inner = (VecI) (difference >> 8 & 0xFFu);
#if defined __AVX512F__
  return (VecI) _mm512_madd_epi16 ((__m512i) outer, (__m512i) outer) + bm_product (inner, inner);
#elif defined __AVX2__
  return (VecI) _mm256_madd_epi16 ((__m256i) outer, (__m256i) outer) + bm_product (inner, inner);
#elif defined __SSE2__
  return (VecI) _mm_madd_epi16 ((__m128i) outer, (__m128i) outer) + bm_product (inner, inner);
#else
  VecI low = outer & 0xFF, high = outer >> 16;
  return low * low + high * high + inner * inner;
#endif
}

/* Equation 8's where it takes more than 32 bits. (Not inline, or it would be made every time, to be thrown away.) */
static __attribute__ ((noinline, unused)) VecF
bm_large_numerator (int taps, VecU products, uint32_t sum_l, const uint32_t *sums_r)
{
  VecF numerator;
  for (int k = 0; k < LANES; k++)
    numerator[k] = (float) ((int64_t) taps * products[k] - (int64_t) sum_l * sums_r[k]);
  return numerator;
}

/* Costs of LANES candidates with whole windows: left column @x, right columns from @m. */
static inline __attribute__ ((always_inline)) VecU
bm_correlation (const BmLayer *layer, int cost, VecU products, int x, int m)
{
  const BmLine *l = &layer->line[STEREO_LEFT], *r = &layer->line[STEREO_RIGHT];
  VecF numerator;

  if (cost == STEREO_COST_NCC)
    numerator = vec_float ((VecI) products);
  else if (cost == STEREO_COST_NSSD)
    numerator = vec_float ((VecI) (vec_load_u (r->window_squares + m) + l->window_squares[x] - 2 * products));
  else if (layer->taps <= STEREO_BM_SMALL)
    numerator = vec_float ((VecI) ((uint32_t) layer->taps * products - l->window_sums[x] * vec_load_u (r->window_sums + m)));
  else
    numerator = bm_large_numerator (layer->taps, products, l->window_sums[x], r->window_sums + m);
  VecF steps = numerator * l->norms[x] * vec_load_f (r->norms + m);
  if (cost == STEREO_COST_NSSD) {
    const VecF most = (VecF) { 0 } + 2.0f * STEREO_BM_STEPS;
    VecI less = steps < most;
    return (VecU) bm_round ((VecF) (((VecI) steps & less) | ((VecI) most & ~less)));
  }
  VecI whole = vec_min (bm_round (steps), (VecI) { 0 } + STEREO_BM_STEPS);
  return (VecU) (STEREO_BM_STEPS - vec_max (whole, (VecI) { 0 } - STEREO_BM_STEPS));
}

#endif
