/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sixteen lanes at a time, in the compiler's own vector types: it splits them where the processor
 * has narrower ones. */
#ifndef STEREO_CPU_VEC_H
#define STEREO_CPU_VEC_H

#include <stdint.h>
#include <string.h>

#define LANES 16

typedef float VecF __attribute__ ((vector_size (64)));
typedef int32_t VecI __attribute__ ((vector_size (64)));
typedef uint32_t VecU __attribute__ ((vector_size (64)));
typedef uint16_t VecH __attribute__ ((vector_size (32)));
typedef uint8_t VecB __attribute__ ((vector_size (16)));
typedef uint8_t VecU8 __attribute__ ((vector_size (64)));

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
#undef VEC_LOADS

static inline __attribute__ ((always_inline)) VecF
vec_from_bytes (VecB bytes)
{
  return __builtin_convertvector (__builtin_convertvector (bytes, VecI), VecF);
}

/* SAD over R, G, B of packed colours, as floats. */
static inline __attribute__ ((always_inline)) VecF
vec_color_distance (VecU a, VecU b)
{
  VecU8 p = (VecU8) a, q = (VecU8) b;
  VecU8 more = (VecU8) (p > q);
  VecU difference = (VecU) (((p - q) & more) | ((q - p) & ~more));
  VecU pairs = (difference & 0x00FF00FFu) + (difference >> 8 & 0xFFu);
  return __builtin_convertvector ((VecI) ((pairs + (pairs >> 16)) & 0x3FFu), VecF);
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
  VecI scaled = (VecI) p + ((VecI) shifted << 23);
  return (VecF) (scaled & (x > -126.0f));
}

/* Support weight of a pair of pixels: exp (-SAD / gamma_color - distance / gamma_distance), with
 * both gammas folded into base-2 factors (4.4.1). */
static inline __attribute__ ((always_inline)) VecF
vec_weight (VecU a, VecU b, float color_factor, float distance_term)
{
  return vec_exp2 (vec_color_distance (a, b) * color_factor + distance_term);
}

#define LOG2E 1.4426950408889634

#endif
