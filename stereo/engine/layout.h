/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arena: the one allocation that holds the frame state and the scratch memory of a plan and of its coarser levels. Stages
 * reserve their part with stereo_reserve(). */
#ifndef STEREO_ENGINE_LAYOUT_H
#define STEREO_ENGINE_LAYOUT_H

#include "stereo/engine/backend.h"

/* Drops all reservations and reserves the frame state, which is the same for every backend, and the coarser levels, which have
 * their reservations. */
StereoStatus stereo_layout_state (StereoPlan *plan, StereoError *error);
/* Places all reservations, and returns the bytes that they take; SIZE_MAX if they do not fit a size_t. */
size_t stereo_layout_total (StereoPlan *plan);
/* Allocates the arena and sets the pointers of all reservations, those of the coarser levels too. */
StereoStatus stereo_layout_commit (StereoPlan *plan, StereoError *error);

#endif
