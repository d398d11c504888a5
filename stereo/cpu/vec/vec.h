/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arithmetic on as many elements at a time as the instruction set has. Each instruction set has a header with these
 * operations; below them is what all build from them. Widening and narrowing are spelt out there, because gcc 12 does
 * __builtin_convertvector an element at a time.
 *
 *   vec_widen_bytes (bytes), vec_widen (words), vec_widen_signed (words)    to 32 bits
 *   vec_narrow (v), vec_narrow_bytes (v)     of values from 0 to 65535, from 0 to 255
 *   vec_narrow_two (a, b)                    words of a, then of b
 *   vec_min (a, b), vec_max (a, b), vec_abs (v)
 *   vec_min_unsigned (a, b), vec_max_unsigned (a, b)
 *   vec_popcount (v)                         bits set; here, but where VEC_COUNTS_BITS is defined
 *   vec_popcount_long (bits, from)           bits set in bits ^ from[k], k from 0 to LANES - 1
 *   vec_byte_differences (a, b)              |a - b| of each byte
 *   vec_sum_bytes (bytes)                    sum of the four bytes of an element
 *   vec_dot (a, b)                           sum of the two products of signed 16-bit halves
 *   vec_round (v)                            to the nearest whole number, ties to even, as rintf()
 *   vec_min_float (a, b), vec_max_float (a, b)           b where either is not a number
 *   vec_root (v)                             square root
 *   vec_float_unsigned (v)                   of all 32 bits, rounded once
 *   vec_look_up (table, index)               table[index]
 *   vec_any (v)                              whether a bit is set in any lane
 *   vec_gather (from, offset)                four bytes at from + offset; only where VEC_GATHERS is defined
 *   vec_words_at (from, index)               from[index]; here
 *   vec_join_words (high, low)               high << 16 | low, of values from 0 to 65535; here, but where VEC_JOINS_WORDS is defined
 *   vec_store_threes (to, pixels)            the lower three bytes of each element, without gaps; only with VEC_GATHERS.
 *                                            Up to 4 bytes past a quarter are written; nothing past the last pixel
 *   vec_words_of_bytes (from)                WORDS bytes, widened
 *   vec_store_words_as_bytes (to, words)     of values from 0 to 255
 *   vec_add_words (a, b)                     a sum above 65535 becomes 65535
 *   vec_min_words (a, b), vec_lowest_word (v)        minimum of each element, of all elements
 */
#ifndef STEREO_CPU_VEC_VEC_H
#define STEREO_CPU_VEC_VEC_H

#if defined __AVX512F__
#include "stereo/cpu/vec/avx512.h"
#elif defined __AVX2__
#include "stereo/cpu/vec/avx2.h"
#elif defined __ARM_NEON && defined __aarch64__
#include "stereo/cpu/vec/neon.h"
#else
#include "stereo/cpu/vec/baseline.h"
#endif

/* Lane k gets lane k ^ @half. */
VEC_INLINE VecU
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

/* Two vectors become two others, between which an operation in lanes joins lanes k and k ^ @half of each: those of @a where k has
 * not the bit @half, those of @b where it has. */
VEC_INLINE void
vec_zip (VecU *a, VecU *b, int half)
{
#ifdef __clang__
  VecU own = *a, other = *b;
  for (int k = 0; k < LANES; k++) {
    own[k] = (k & half ? *b : *a)[k];
    other[k] = (k & half ? *b : *a)[k ^ half];
  }
#else
  const VecI lanes = LANE_NUMBERS;
  VecI second = (lanes & half) != 0;
  VecU own = __builtin_shuffle (*a, *b, (VecU) (lanes + (second & LANES)));
  VecU other = __builtin_shuffle (*a, *b, (VecU) ((lanes ^ half) + (second & LANES)));
#endif
  *a = own;
  *b = other;
}

/* @a in the lanes of @mask whose bits are set, @b where none is. */
VEC_INLINE VecF
vec_choose (VecI mask, VecF a, VecF b)
{
  return (VecF) (((VecI) a & mask) | ((VecI) b & ~mask));
}

/* All bits set in the lanes whose number, counted from @k, is @from or more and below @to. */
VEC_INLINE VecU
vec_between (int k, int from, int to)
{
  const VecI lanes = LANE_NUMBERS;
  return (VecU) ((lanes >= from - k) & (lanes < to - k));
}

VEC_INLINE VecF
vec_float (VecI v)
{
  return __builtin_convertvector(v, VecF);
}

VEC_INLINE VecF
vec_from_bytes (VecB bytes)
{
  return vec_float (vec_widen_bytes (bytes));
}

#ifndef VEC_COUNTS_BITS
VEC_INLINE VecI
vec_popcount (VecU v)
{
  v -= v >> 1 & 0x55555555u;
  v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
  v = (v + (v >> 4)) & 0x0F0F0F0Fu;
  v += v >> 8;
  return (VecI) ((v + (v >> 16)) & 63u);
}
#endif

/* from[index], one after the other: processors take two to four times as long for a gather. */
VEC_INLINE VecI
vec_words_at (const uint16_t *from, VecI index)
{
  VecH words = { 0 };
  int32_t at[LANES];

  memcpy (at, &index, sizeof at);
#pragma GCC unroll 16
  for (int k = 0; k < LANES; k++)
    words[k] = from[at[k]];
  return vec_widen (words);
}

#ifndef VEC_JOINS_WORDS
VEC_INLINE VecU
vec_join_words (VecH high, VecI low)
{
  return (VecU) vec_widen (high) << 16 | (VecU) low;
}
#endif

/* Product of values that fit 16 bits, the sign included. */
VEC_INLINE VecI
vec_product (VecI a, VecI b)
{
  return vec_dot (a & 0xFFFF, b);
}

/* stereo_color_distance() in lanes: SAD over R, G, B. */
#ifndef VEC_SUMS_COLORS
VEC_INLINE VecI
vec_color_distance (VecU a, VecU b)
{
  return vec_sum_bytes (vec_byte_differences (a, b));
}
#endif

/* @color in the even lanes, and in the odd ones with its halves exchanged. */
VEC_INLINE VecU
vec_turned (uint32_t color)
{
  const VecI lanes = LANE_NUMBERS;
  VecU odd = (VecU) (-(lanes & 1)), all = (VecU){ 0 } + color;
  return (all & ~odd) | ((all << 16 | all >> 16) & odd);
}

/* SAD over R, G, B of @color and of pixels of which the odd ones have their halves exchanged. */
#ifndef VEC_SUMS_COLORS
VEC_INLINE VecI
vec_turned_distance (VecU pixels, uint32_t color)
{
  return vec_color_distance (pixels, vec_turned (color));
}
#endif

/* The same, of squared differences. */
VEC_INLINE VecI
vec_turned_squares (VecU pixels, uint32_t color)
{
  VecU difference = vec_byte_differences (pixels, vec_turned (color));
  VecI even = (VecI) (difference & 0x00FF00FFu), odd = (VecI) (difference >> 8 & 0x00FF00FFu);
  return vec_dot (even, even) + vec_dot (odd, odd);
}

/* 2^x for x <= 0, with an error below 3e-6; 0 below 2^-126. */
VEC_INLINE VecF
vec_exp2 (VecF x)
{
  const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
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

/* Support weight of a pair of pixels: exp (-SAD / gamma_color - distance / gamma_distance), with both gammas made base-2
 * factors (4.4.1). */
VEC_INLINE VecF
vec_weight (VecU a, VecU b, float color_factor, float distance_term)
{
  return vec_exp2 (vec_float (vec_color_distance (a, b)) * color_factor + distance_term);
}

#endif
