/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameter table, by field. */
#ifndef STEREO_ENGINE_PARAMS_H
#define STEREO_ENGINE_PARAMS_H

#include "stereo/stereo.h"

/* The row of the field at offset @field of StereoParams: every field has one. */
const StereoParamInfo *stereo_param_of_field (size_t field);
/* Writes the names of the values to @text, with commas between. */
void stereo_param_list_choices (const StereoChoice *choices, char *text, size_t size);

#endif
