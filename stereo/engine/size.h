/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arithmetic of sizes that cannot wrap: a result that does not fit a size_t is SIZE_MAX, and so is everything computed
 * from it. stereo_reserve() refuses such a size. */
#ifndef STEREO_ENGINE_SIZE_H
#define STEREO_ENGINE_SIZE_H

#include <stddef.h>
#include <stdint.h>

static inline size_t
stereo_times (size_t a, size_t b)
{
  size_t product;
  return __builtin_mul_overflow (a, b, &product) ? SIZE_MAX : product;
}

static inline size_t
stereo_plus (size_t a, size_t b)
{
  size_t sum;
  return __builtin_add_overflow (a, b, &sum) ? SIZE_MAX : sum;
}

/* Up to a multiple of @unit. */
static inline size_t
stereo_round_up (size_t size, size_t unit)
{
  size_t more = stereo_plus (size, unit - 1);
  return more == SIZE_MAX ? SIZE_MAX : more / unit * unit;
}

#endif
