/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The presets of the profiles. */
#ifndef STEREO_ENGINE_PROFILES_H
#define STEREO_ENGINE_PROFILES_H

#include "stereo/engine/params.h"

/* The method of the profile, where the parameter still has its default. */
void stereo_profile_choose_method (StereoParams *params);
/* Replaces the value "not set" of every other parameter by the preset of the profile and the method. */
void stereo_profile_apply (StereoParams *params);
/* The same for the confidence threshold, once the search is chosen. */
void stereo_profile_choose_threshold (StereoParams *params);

#endif
