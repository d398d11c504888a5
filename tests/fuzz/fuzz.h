/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the fuzz targets share. A target works in two ways. As a test it tries the same inputs every time: with driver.c
 * the files of its corpus and mutations of them, with draws.c inputs made of random numbers. With -Dfuzz=true and clang
 * it is a target of libFuzzer, and a CHECK that does not hold aborts.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"

#ifdef STEREO_LIBFUZZER
#define CHECK(condition, ...) ((condition) ? 1 : (fprintf (stderr, __VA_ARGS__), fputc ('\n', stderr), abort (), 0))
#define fuzz_failed() 0
#else
#include "tests/support/check.h"
#define fuzz_failed() check_failures ()
#endif

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

enum
{
  FUZZ_OUTCOMES = 4
};

/* For driver.c: how many inputs had each outcome. A target whose inputs hardly ever have one of them tests nothing, and
 * fails. Names end with NULL. */
extern const char *const fuzz_outcome_names[FUZZ_OUTCOMES];
extern int fuzz_outcomes[FUZZ_OUTCOMES];
/* Pieces of text that the target understands; they end with NULL. */
extern const char *const fuzz_pieces[];

/* For draws.c: a target that draws its input from random numbers. */
typedef struct FuzzDraws
{
  const char *name;
  int iterations; /* of the test, unless STEREO_FUZZ_ITERATIONS is set */
  /* What can happen to an input, and to how many percent of the inputs it has to; 0: no bound. */
  struct
  {
    const char *name;
    int least;
  } outcomes[FUZZ_OUTCOMES];
  /* Draws and tries one input; returns the index of its outcome. */
  int (*draw) (Random *random);
} FuzzDraws;
extern const FuzzDraws fuzz_draws;

/* The bytes of libFuzzer are the first numbers, so that a mutated byte changes one thing. The later numbers come from a
 * seed that depends on every byte (FNV). */
static inline Random
fuzz_random (const uint8_t *data, size_t size)
{
  Random random = { 0xCBF29CE484222325u, data, data + size };

  for (size_t k = 0; k < size; k++)
    random.state = (random.state ^ data[k]) * 0x100000001B3u;
  return random;
}

#endif
