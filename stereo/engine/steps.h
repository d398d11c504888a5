/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The steps of a plan: which stages a frame goes through, and their contexts. stereo_run_steps() runs them. */
#ifndef STEREO_ENGINE_STEPS_H
#define STEREO_ENGINE_STEPS_H

#include "stereo/engine/backend.h"

/* Chooses the steps from the parameters and the backend's stages, and allocates their contexts. Fails if the backend
 * lacks a stage that the parameters need. */
StereoStatus stereo_steps_choose (StereoPlan *plan, StereoError *error);
/* Decides what stages do for each other (plan->fusion), and lets every stage reserve its scratch memory, once however many steps it
 * has. */
StereoStatus stereo_steps_prepare (StereoPlan *plan, StereoError *error);
/* Frees the contexts; accepts a plan whose steps were never chosen. */
void stereo_steps_free (StereoPlan *plan);

#endif
