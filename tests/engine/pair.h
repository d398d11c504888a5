/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pair to run plans on, and what came out. */
#ifndef ENGINE_PAIR_H
#define ENGINE_PAIR_H

#include "tests/support/check.h"
#include "tests/support/params.h"
#include "tests/support/picture.h"
#include "stereo/stereo.h"

/* Two pictures, and a result without padding. */
typedef struct Pair
{
  int width, height;
  Picture picture[2];
  uint16_t *result;
  uint8_t *confidence;
} Pair;

/* Whether there is no CUDA device; the case is skipped then. */
int no_device (void);

/* A case that is skipped without a device. */
#define CASE_ON_DEVICE(function, text) \
  static void function##_there (void); \
  CASE (function, text) \
  { \
    if (!no_device ()) \
      function##_there (); \
  } \
  static void function##_there (void)

void pair_new (Pair *pair, int width, int height, uint64_t seed);
void pair_free (Pair *pair);
/* Bit for bit. */
int pair_same_results (const Pair *a, const Pair *b);

/* The defaults on the CPU with a small search. */
void params_small (StereoParams *params);
void execute (StereoPlan *plan, Pair *pair, StereoStats *stats);
/* A new plan, one frame. */
void execute_with (const StereoParams *params, Pair *pair);

#endif
