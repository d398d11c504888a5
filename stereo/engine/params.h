/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameter table, by field, and parameters before a plan; stereo_params_resolve() is declared in stereo.h. */
#ifndef STEREO_ENGINE_PARAMS_H
#define STEREO_ENGINE_PARAMS_H

#include "stereo/stereo.h"

/* The row of the field at offset @field of StereoParams: every field has one. */
const StereoParamInfo *stereo_param_of_field (size_t field);
/* STEREO_ERROR_PARAMETER where @value is outside the range, or is no value of the enumeration. */
StereoStatus stereo_param_check (const StereoParamInfo *info, double value, StereoError *error);
/* Writes to @text which parameters are set that another method reads and the chosen one does not; "" when there are none. */
void stereo_params_unread (const StereoParams *params, char *text, size_t size);

#endif
