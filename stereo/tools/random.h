/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repeatable random numbers (splitmix64), the same on every machine. */
#ifndef STEREO_TOOLS_RANDOM_H
#define STEREO_TOOLS_RANDOM_H

#include <stdint.h>

static inline uint32_t
splitmix_next (uint64_t *state)
{
  uint64_t z = *state += 0x9E3779B97F4A7C15u;

  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (uint32_t) ((z ^ z >> 31) >> 32);
}

/* 0..1, without 1 */
static inline double
splitmix_unit (uint64_t *state)
{
  return splitmix_next (state) / 4294967296.0;
}

#endif
