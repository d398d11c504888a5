/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scale of the cost volume: how many of its steps make a raw cost step, so that every sum fits 16 bits. */
#ifndef STEREO_ENGINE_VOLUME_H
#define STEREO_ENGINE_VOLUME_H

#include "stereo/stereo.h"

/* Largest cost of one candidate that the method stores in the volume, in raw cost steps. */
int stereo_volume_top (const StereoParams *params);
/* Volume steps per raw cost step that the method stores: the largest power of two up to 1024 with stereo_volume_top() * it
 * <= STEREO_COST_TOP. */
int stereo_volume_unit (const StereoParams *params);
/* P1, or P2 if @large, of paths along @direction (STEREO_PATH_*), in cost units. P1 is never more than P2. */
double stereo_path_penalty (const StereoParams *params, int direction, int large);
/* Sets the scales of @plan: volume_unit, path_shift, path_unit, alpha. Fails if weighted paths do not fit 16 bits. */
StereoStatus stereo_volume_measure (StereoPlan *plan, StereoError *error);

#endif
