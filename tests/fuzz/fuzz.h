/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the fuzz targets share. As a test, driver.c tries the same inputs of a target every time: the files of its corpus and mutations
 * of them, or inputs made of random numbers. With -Dfuzz=true and clang it is a target of libFuzzer, and a CHECK that does not hold
 * aborts.
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

typedef struct FuzzTarget
{
  int iterations; /* of the test, unless STEREO_FUZZ_ITERATIONS is set */
  /* What can happen to an input, and to how many percent of the inputs it has to: else the target tests nothing. 0: no bound. */
  struct
  {
    const char *name;
    int least;
  } outcomes[4];
  int (*draw) (Random *random); /* draws and tries an input, and returns the index of its outcome; or NULL, and these: */
  void (*try) (const uint8_t *data, size_t size);
  const char *const *pieces; /* of text that the target understands, up to NULL; "" is a byte 0 */
} FuzzTarget;

extern const FuzzTarget fuzz_target;
/* Of an input that was tried. */
void fuzz_count (int outcome);

#endif
