/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the fuzzers share. A target is LLVMFuzzerTestOneInput() and works in two ways: with driver.c (or a main of its
 * own) it is a test that mutates the files of its corpus, the same way every time; with -Dfuzz=true and clang it is a
 * target of libFuzzer, and what does not hold aborts.
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

/* For driver.c: how often each thing happened to an input. A fuzzer to whose inputs one of them hardly ever happens
 * tests nothing. Names end with NULL. */
enum { FUZZ_OUTCOMES = 4 };
extern const char *const fuzz_outcome_names[FUZZ_OUTCOMES];
extern int fuzz_outcomes[FUZZ_OUTCOMES];
/* Pieces of text that mean something to the target; end with NULL. */
extern const char *const fuzz_pieces[];

/* For targets that draw their input: the bytes are what is drawn first, so that a mutation of a byte changes one thing.
 * What is drawn after them comes from a seed that every byte counts for (FNV). */
static inline Random
fuzz_random (const uint8_t *data, size_t size)
{
  Random random = { 0xCBF29CE484222325u, data, data + size };

  for (size_t k = 0; k < size; k++)
    random.state = (random.state ^ data[k]) * 0x100000001B3u;
  return random;
}

#endif
