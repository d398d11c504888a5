/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vector types of the compiler, as wide as the instruction set has them. The header of an instruction set defines LANES and
 * WORDS before it includes this. (Types that are wider than the registers are split badly by gcc 12: ten times slower.) */
#ifndef STEREO_CPU_VEC_TYPES_H
#define STEREO_CPU_VEC_TYPES_H

#include <stdint.h>
#include <string.h>

#define VEC_INLINE static inline __attribute__ ((always_inline))

/* LANES elements of 32 bits, and the narrower ones that widen to them. */
typedef float VecF __attribute__ ((vector_size (4 * LANES)));
typedef int32_t VecI __attribute__ ((vector_size (4 * LANES)));
typedef uint32_t VecU __attribute__ ((vector_size (4 * LANES)));
typedef uint16_t VecH __attribute__ ((vector_size (2 * LANES)));
typedef int16_t VecS __attribute__ ((vector_size (2 * LANES)));
typedef uint8_t VecB __attribute__ ((vector_size (LANES)));
/* The bytes and the words of a vector of 32-bit elements. */
typedef uint8_t VecU8 __attribute__ ((vector_size (4 * LANES)));
typedef uint16_t VecU16 __attribute__ ((vector_size (4 * LANES)));
/* WORDS elements of 16 bits, and as many bytes. */
typedef uint16_t VecW __attribute__ ((vector_size (2 * WORDS)));
typedef uint8_t VecWB __attribute__ ((vector_size (WORDS)));

/* Elements of a and of b, where those of b are numbered behind those of a; MASK: the type of a. */
#ifdef __clang__
#define VEC_SHUFFLE(MASK, a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)
#else
#define VEC_SHUFFLE(MASK, a, b, ...) __builtin_shuffle (a, b, (MASK){ __VA_ARGS__ })
#endif

/* Operations that are one instruction, of one operand or of two, whose type it knows as RAW. */
#define VEC_ONE(result, name, operand, instruction, RAW) \
  VEC_INLINE result name (operand v) \
  { \
    return (result) instruction ((RAW) v); \
  }

#define VEC_TWO(result, name, operand, instruction, RAW) \
  VEC_INLINE result name (operand a, operand b) \
  { \
    return (result) instruction ((RAW) a, (RAW) b); \
  }

#define VEC_LOADS(type, name, element) \
  VEC_INLINE type vec_load_##name (const element *from) \
  { \
    type v; \
    memcpy (&v, from, sizeof v); \
    return v; \
  } \
  VEC_INLINE void vec_store_##name (element *to, type v) \
  { \
    memcpy (to, &v, sizeof v); \
  }

VEC_LOADS (VecF, f, float)
VEC_LOADS (VecU, u, uint32_t)
VEC_LOADS (VecH, h, uint16_t)
VEC_LOADS (VecB, b, uint8_t)
VEC_LOADS (VecI, i, int32_t)
VEC_LOADS (VecS, s, int16_t)
VEC_LOADS (VecW, w, uint16_t)
#undef VEC_LOADS

#endif
