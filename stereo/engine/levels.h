/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The levels of a search from coarse to fine: the plan of the half size, and its part of a frame. */
#ifndef STEREO_ENGINE_LEVELS_H
#define STEREO_ENGINE_LEVELS_H

#include "stereo/engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* With plan->listed, once the backend is open: makes plan->coarse. */
StereoStatus stereo_levels_open (StereoPlan *plan, StereoError *error);
void stereo_levels_close (StereoPlan *plan);

/* The steps of the half size, with the frame that is in its color and luma. */
StereoStatus stereo_levels_run (StereoPlan *plan, StereoError *error);

#ifdef __cplusplus
}
#endif

#endif
