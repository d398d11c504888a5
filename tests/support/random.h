/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repeatable random numbers for tests, from a seed or from what a fuzzer has chosen. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Random
{
  uint64_t state;
  const uint8_t *bytes, *end; /* come first, four a number: a fuzzer's input, each part of which means something */
} Random;

static inline uint32_t
random_next (Random *random)
{
  if (random->end - random->bytes >= 4) {
    const uint8_t *b = random->bytes;
    random->bytes += 4;
    return b[0] | (uint32_t) b[1] << 8 | (uint32_t) b[2] << 16 | (uint32_t) b[3] << 24;
  }
  uint64_t z = random->state += 0x9E3779B97F4A7C15u; /* splitmix64 */
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (uint32_t) ((z ^ z >> 31) >> 32);
}

/* low..high, both included */
static inline int
random_range (Random *random, int low, int high)
{
  return low + (int) (random_next (random) % (uint32_t) (high - low + 1));
}

static inline double
random_unit (Random *random)
{
  return random_next (random) / 4294967296.0;
}

static inline double
random_between (Random *random, double low, double high)
{
  return low + (high - low) * random_unit (random);
}

/* The seed of a test: STEREO_TEST_SEED, a number or "time"; else always the same one. */
static inline uint64_t
random_seed (void)
{
  const char *text = getenv ("STEREO_TEST_SEED");
  uint64_t seed = text ? strtoull (text, NULL, 0) : 20261121;

  if (text && !strcmp (text, "time"))
    seed = (uint64_t) time (NULL);
  printf ("seed %llu (STEREO_TEST_SEED repeats it; STEREO_TEST_SEED=time draws another)\n", (unsigned long long) seed);
  return seed;
}

/* A count from the environment, to run a random test for longer. */
static inline int
random_count (const char *variable, int initial)
{
  const char *text = getenv (variable);
  return text ? atoi (text) : initial;
}

#endif
