/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters before a plan, and what those of a plan mean together. The table is in params.c, the presets and all that depends on
 * more than one parameter in profiles.c, the checks in resolve.c.
 */
#ifndef STEREO_ENGINE_PARAMS_H
#define STEREO_ENGINE_PARAMS_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- before a plan ------------------------------------------------------------------------------ */

/* The row of the field at offset @field of StereoParams: every field but `set` has one. */
const StereoParamInfo *stereo_param_of_field (size_t field);
/* As stereo_param_set(), of a value that nobody set by hand. */
void stereo_param_put (StereoParams *params, const StereoParamInfo *info, double value);
/* STEREO_ERROR_PARAMETER where @value is outside the range, or is no value of the enumeration. */
StereoStatus stereo_param_check (const StereoParamInfo *info, double value, StereoError *error);
/* Writes to @text which parameters are set that another method reads and the chosen one does not; "" when there are none. */
void stereo_params_unread (const StereoParams *params, char *text, size_t size);
/* Replaces the value "not set" of every parameter but method and align, which are chosen, by the preset of the profile and the
 * method. */
void stereo_profile_apply (StereoParams *params);
/* The same for the confidence threshold, once the search is chosen. */
void stereo_profile_choose_threshold (StereoParams *params);
/* What to ask for the next coarser level, @width pixels wide, of a plan with @params (as resolved) and @disparities. */
void stereo_params_coarse (const StereoParams *params, int disparities, int width, StereoParams *coarse);

/* ---- what resolved parameters mean -------------------------------------------------------------- */

/* Whether pixels about which the views disagree lose their disparity. */
int stereo_params_reject (const StereoParams *params);
/* Whether the check leaves some near pixels alone: exact/selection.h. It is a cure for what paths do, and no published method has it. */
int stereo_params_keep_near (const StereoParams *params);
/* The largest difference of luma that enters an aggregation of asw, as Yu et al. have it of RtAW: cost=ad is whole grey levels. */
int stereo_params_top_of_luma (const StereoParams *params);
/* Whether candidates outside the right picture keep the cost of the pixel at its edge, as a texture read gives it on Yu et
 * al.'s GPU. No other view can confirm them. Only selection, the check and what needs no partner take such candidates. */
int stereo_params_keep_outside (const StereoParams *params);
/* The confidence from which a pixel is sure, for exact/gaps.h. A margin tells whether the views agree, and no probability. */
float stereo_params_sure (const StereoParams *params);
/* Whether unlikely disparities give way to those of the frame before. */
int stereo_params_follow (const StereoParams *params);
/* The confidence below which pixels lose their disparity before speckles are removed, and at the end; 0: none does. Where
 * holes are filled, it is at the end: filling needs every value that it can get, and what it fills is seldom likely. */
double stereo_params_first_threshold (const StereoParams *params);
double stereo_params_last_threshold (const StereoParams *params);
/* Whether some pixels show no disparity because theirs is unlikely. */
int stereo_params_hide_unlikely (const StereoParams *params);

#ifdef __cplusplus
}
#endif

#endif
