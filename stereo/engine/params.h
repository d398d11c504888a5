/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameter table, by field. */
#ifndef STEREO_ENGINE_PARAMS_H
#define STEREO_ENGINE_PARAMS_H

#include "stereo/stereo.h"

/* The row of the field at offset @field of StereoParams: every field has one. */
const StereoParamInfo *stereo_param_of_field (size_t field);
/* STEREO_ERROR_PARAMETER where @value is outside the range, or is no value of the enumeration. */
StereoStatus stereo_param_check (const StereoParamInfo *info, double value, StereoError *error);

#endif
