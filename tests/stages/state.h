/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frame state outside its plan: taken, put into another plan, made dirty, compared. */
#ifndef STATE_H
#define STATE_H

#include "naive.h"
#include "tests/support/random.h"

/* A copy of @plan whose frame state lies in host memory. Free with state_free(). */
Naive *state_take (StereoPlan *plan);
void state_free (Naive *state);
/* The frame state of @state into @plan, which may be another backend's of the same geometry. */
void state_put (const Naive *state, StereoPlan *plan);
/* Random bytes into all frame state (@everything), or only where no pixel is: the pads of the images
 * and what lies right of the last column. Neither may change a result. */
void state_dirty (StereoPlan *plan, int everything, Random *random);
/* Random bytes into all memory that is in use in some parts of a frame only. */
void state_dirty_shared (StereoPlan *plan, Random *random);

/* What a step of @kind reads of frames before, if anything. */
void state_draw (StereoPlan *plan, StageKind kind, Random *random);

/* How far a step's floats may be off. */
typedef struct Tolerance
{
  int cost;        /* volume steps, after a step of kind STAGE_MATCH */
  double relative; /* and that share of the cost */
  int expected;    /* 1 / STEREO_EXPECT_STEPS px, after STAGE_REFINE */
  double plane;    /* px, after STAGE_PLANES and STAGE_GAPS */
} Tolerance;

/* Checks that after a step of @kind the state @got is what @want says; @who names the two. What the
 * step has no business with must be bit-equal. */
void state_compare (const Naive *got, const Naive *want, StageKind kind, Tolerance tolerance, const char *who);
/* The caller's output of a frame against what STAGE_STORE wants. */
void state_compare_output (const StereoPlan *plan, const Naive *want);

#endif
