/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the engine's files do for each other. Backends do not include it. */
#ifndef STEREO_ENGINE_ENGINE_H
#define STEREO_ENGINE_ENGINE_H

#include "stereo/engine/backend.h"

/* plan.c: the backend for @choice (StereoBackendChoice) on CUDA device @device; auto takes CUDA where a device is usable, else the
 * CPU. Writes a sentence that says why to @reason. NULL and @error if the backend was asked for and cannot be used. */
const StereoBackend *stereo_backend_choose (int choice, int device, char *reason, size_t size, StereoError *error);

/* Around everything that talks to a plan's backend: makes the plan's device current, and then the caller's again. Returns what
 * stereo_leave() takes as @before. */
static inline int
stereo_enter (StereoPlan *plan)
{
  return plan->backend->enter ? plan->backend->enter (plan) : 0;
}

static inline void
stereo_leave (StereoPlan *plan, int before)
{
  if (plan->backend->leave)
    plan->backend->leave (plan, before);
}

/* steps.c: chooses the steps from the parameters and the backend's stages, and allocates their contexts. Fails if the backend
 * lacks a stage that the parameters need. stereo_run_steps() runs them. */
StereoStatus stereo_steps_choose (StereoPlan *plan, StereoError *error);
/* Decides what stages do for each other (plan->fusion), and lets every stage reserve its scratch memory, once however many steps it
 * has. */
StereoStatus stereo_steps_prepare (StereoPlan *plan, StereoError *error);
/* Frees the contexts; accepts a plan whose steps were never chosen. */
void stereo_steps_free (StereoPlan *plan);

/* layout.c, the arena: the one allocation that holds the frame state and the scratch memory of a plan and of its coarser levels.
 * Drops all reservations and reserves the frame state, which is the same for every backend, and the coarser levels, which have
 * their reservations. */
StereoStatus stereo_layout_state (StereoPlan *plan, StereoError *error);
/* Places all reservations, and returns the bytes that they take; SIZE_MAX if they do not fit a size_t. */
size_t stereo_layout_total (StereoPlan *plan);
/* Allocates the arena and sets the pointers of all reservations, those of the coarser levels too. */
StereoStatus stereo_layout_commit (StereoPlan *plan, StereoError *error);

/* volume.c, the scale of the cost volume: how many of its steps make a raw cost step, so that every sum fits 16 bits. Largest cost
 * of one candidate that the method stores in the volume, in raw cost steps. */
int stereo_volume_top (const StereoParams *params);
/* Volume steps per raw cost step that the method stores: the largest power of two up to 1024 with stereo_volume_top() * it
 * <= STEREO_COST_TOP. */
int stereo_volume_unit (const StereoParams *params);
/* P1, or P2 if @large, of paths along @direction (STEREO_PATH_*), in cost units. P1 is never more than P2. */
double stereo_path_penalty (const StereoParams *params, int direction, int large);
/* Sets the scales of @plan: volume_unit, path_shift, path_unit, alpha. Fails if weighted paths do not fit 16 bits. */
StereoStatus stereo_volume_measure (StereoPlan *plan, StereoError *error);

/* align.c lets an aligner look at the pairs of a plan, and hands its estimate to the align stage; nothing with align=off. */
StereoStatus stereo_align_open (StereoPlan *plan, StereoError *error);
void stereo_align_close (StereoPlan *plan);
/* Before the pair in plan->input is computed. */
void stereo_align_before (StereoPlan *plan);
/* When the backend has begun to compute it. */
void stereo_align_after (StereoPlan *plan);

#endif
