/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets an aligner look at the pairs of a plan, and hands its estimate to the align stage. All of this does nothing with
 * align=off. */
#ifndef STEREO_ENGINE_ALIGN_H
#define STEREO_ENGINE_ALIGN_H

#include "stereo/engine/backend.h"

StereoStatus stereo_align_open (StereoPlan *plan, StereoError *error);
void stereo_align_close (StereoPlan *plan);
/* Before the pair in plan->input is computed. */
void stereo_align_before (StereoPlan *plan);
/* When the backend has begun to compute it. */
void stereo_align_after (StereoPlan *plan);

#endif
