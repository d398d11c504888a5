/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The presets: what each profile means for each method; the parameters of coarser levels; what parameters mean together. */
#include "stereo/engine/params.h"

#include "stereo/exact/lists.h"

/* The value of a parameter that the user did not set. */
typedef struct Preset
{
  size_t field; /* offset in StereoParams */
  double value;
} Preset;

#define SET(parameter, preset) \
  { \
    offsetof (StereoParams, parameter), preset \
  }
#define END \
  { \
    SIZE_MAX, 0 \
  }

/* Gammas of asw are those of support=both; support=left takes half of them, for one view's weights instead of two. Those of colours
 * are for RGB. Of CIELAB these shares of them are the best of a scan over eleven scenes: its steps are larger. */
#define GAMMA_OF_LAB 0.2
#define REFINE_GAMMA_OF_LAB 0.5

/* Hillerstrom 2017, 5.1.3; 3.2.4: the views must agree */
static const Preset asw_thesis[] = { SET (cost, STEREO_COST_CENSUS_7X5), SET (support, STEREO_SUPPORT_BOTH),
  SET (window, 33), SET (gamma_color, 259.65), SET (gamma_distance, 28), SET (paths, STEREO_PATHS_NONE),
  SET (refine_iterations, 7), SET (refine_alpha, 0.16), SET (consistency, 0), SET (subpixel, STEREO_SUBPIXEL_OFF),
  SET (median, STEREO_MEDIAN_OFF), SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP),
  SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (temporal, 0), END };

static const Preset asw_balanced[] = { SET (search, STEREO_SEARCH_COARSE_TO_FINE), SET (refine_iterations, 1),
  SET (refine_window, 33), SET (median, STEREO_MEDIAN_5), END };

/* Where no paths gather what lies farther away. */
static const Preset asw_alone[] = { SET (window, 13), SET (gamma_color, 40), END };

static const Preset asw_common[] = { SET (cost, STEREO_COST_MIXED), SET (support, STEREO_SUPPORT_LEFT), SET (window, 3),
  SET (gamma_color, 20), SET (gamma_distance, 14), SET (truncation, 255), SET (paths, STEREO_PATHS_4),
  SET (refine_alpha, 0.4), END };

/* Yu et al., Table III; of ESMP's base, printed 2.80, 1.80 gives the errors that the paper states. */
static const Preset es_thesis[] = { SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (temporal, 0),
  SET (subpixel, STEREO_SUBPIXEL_OFF), SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP), END };

static const Preset esaw_common[] = { SET (cost, STEREO_COST_AD), SET (iterations, 9), SET (step_base, 1.9),
  SET (gamma_color, 17), SET (gamma_distance, 36), SET (truncation, 12), SET (cost_scale, 1),
  SET (refine_iterations, 0), END };

/* smoothness_max: stereo_profile_apply() */
static const Preset esmp_common[] = { SET (cost, STEREO_COST_AD), SET (iterations, 8), SET (step_base, 1.8),
  SET (gamma_color, 18), SET (gamma_distance, 29), SET (truncation, 17), SET (cost_scale, 0.15), SET (smoothness, 1),
  SET (refine_iterations, 0), END };

/* Mahieu & Lowney, 3 and 4 */
static const Preset sgm_thesis[] = { SET (cost, STEREO_COST_AD), SET (subpixel, STEREO_SUBPIXEL_OFF),
  SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP), SET (penalty_step, 0),
  SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (temporal, 0), END };

static const Preset sgm_road[] = { SET (search, STEREO_SEARCH_COARSE_TO_FINE), SET (cost, STEREO_COST_MIXED),
  SET (paths, STEREO_PATHS_4), SET (p1, 15), SET (p2, 70), SET (median, STEREO_MEDIAN_5), SET (fill, STEREO_FILL_GAPS),
  END };

/* p1, p2: stereo_path_penalty() */
static const Preset sgm_common[] = { SET (cost, STEREO_COST_CENSUS_9X7), SET (paths, STEREO_PATHS_8),
  SET (refine_iterations, 0), END };

/* Hong et al. and GCVL: nothing after the winner */
static const Preset bm_thesis[] = { SET (cost, STEREO_COST_SAD), SET (subpixel, STEREO_SUBPIXEL_OFF),
  SET (median, STEREO_MEDIAN_OFF), SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP),
  SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (temporal, 0), END };

static const Preset bm_common[] = { SET (cost, STEREO_COST_ZNCC), SET (window, 9), SET (refine_iterations, 0), END };

/* refinement: Hillerstrom 2017, 5.1.3 */
static const Preset common[] = { SET (consistency, 1), SET (refine_mode, STEREO_REFINE_TWO_PASS),
  SET (refine_window, 65), SET (refine_gamma_color, 9), SET (refine_gamma_distance, 12), SET (refine_alpha, 0.16),
  SET (paths, STEREO_PATHS_NONE), SET (penalty_step, 10), SET (subpixel, STEREO_SUBPIXEL_ON),
  SET (median, STEREO_MEDIAN_3), SET (speckle_size, 60), SET (fill, STEREO_FILL_NONE),
  SET (confidence_measure, STEREO_CONFIDENCE_PROBABILITY), SET (temporal, 0.75), END };

static const struct
{
  const Preset *profile[STEREO_PROFILES];
  const Preset *method;
} presets[STEREO_METHODS] = {
  [STEREO_METHOD_ASW] = { { [STEREO_PROFILE_BALANCED] = asw_balanced,
                              [STEREO_PROFILE_THESIS] = asw_thesis,
                              [STEREO_PROFILE_ROAD] = asw_balanced },
      asw_common },
  [STEREO_METHOD_ESAW] = { { [STEREO_PROFILE_THESIS] = es_thesis }, esaw_common },
  [STEREO_METHOD_ESMP] = { { [STEREO_PROFILE_THESIS] = es_thesis }, esmp_common },
  [STEREO_METHOD_SGM] = { { [STEREO_PROFILE_THESIS] = sgm_thesis, [STEREO_PROFILE_ROAD] = sgm_road }, sgm_common },
  [STEREO_METHOD_BM] = { { [STEREO_PROFILE_THESIS] = bm_thesis }, bm_common },
};

/* Sets the parameters that still have their default: for a parameter in these lists, it means "not set". */
static void
apply (StereoParams *params, const Preset *preset)
{
  for (; preset && preset->field != SIZE_MAX; preset++) {
    const StereoParamInfo *info = stereo_param_of_field (preset->field);
    if (stereo_param_get (params, info) == info->initial)
      stereo_param_put (params, info, preset->value);
  }
}

/* The road profile is a setting of sgm. The papers have no alignment. */
void
stereo_params_choose (StereoParams *params)
{
  if (params->profile == STEREO_PROFILE_ROAD && !stereo_param_is_set (params, stereo_param_find ("method")))
    params->method = STEREO_METHOD_SGM;
  if (params->profile == STEREO_PROFILE_THESIS && !stereo_param_is_set (params, stereo_param_find ("align")))
    params->align = STEREO_ALIGN_OFF;
}

void
stereo_profile_apply (StereoParams *params)
{
  int preset_color = params->gamma_color == 0, preset_distance = params->gamma_distance == 0;
  int preset_refine_color = params->refine_gamma_color == 0, preset_speckle = params->speckle_size < 0;

  apply (params, presets[params->method].profile[params->profile]);
  if (params->method == STEREO_METHOD_ASW && params->paths == STEREO_PATHS_NONE)
    apply (params, asw_alone);
  apply (params, presets[params->method].method);
  apply (params, common);
  if (preset_speckle && params->fill == STEREO_FILL_KEEP)
    params->speckle_size = 0; /* who asks for the matcher's value everywhere means everywhere */
  if (params->method == STEREO_METHOD_ESMP && params->smoothness_max == 0)
    params->smoothness_max = 0.0375 * params->num_disparities;
  if (params->method == STEREO_METHOD_ASW && params->support != STEREO_SUPPORT_BOTH) {
    params->gamma_color *= preset_color ? 0.5 : 1;
    params->gamma_distance *= preset_distance ? 0.5 : 1;
  }
  if (params->color_difference == STEREO_COLOR_LAB) {
    params->gamma_color *= preset_color ? GAMMA_OF_LAB : 1;
    params->refine_gamma_color *= preset_refine_color ? REFINE_GAMMA_OF_LAB : 1;
  }
}

/* Whether unlikely pixels lose their disparity before speckles are removed, and not at the end of a frame. */
static int
reject_unlikely (const StereoParams *params)
{
  return params->confidence_measure == STEREO_CONFIDENCE_PROBABILITY && params->fill == STEREO_FILL_NONE;
}

/* It leaves at most 1 % of a sky with a value. */
void
stereo_profile_choose_threshold (StereoParams *params)
{
  if (params->confidence_threshold < 0)
    params->confidence_threshold = reject_unlikely (params) ? 0.62 : 0;
}

/* ---- coarser levels ----------------------------------------------------------------------------- */

/* A half size that is smaller is searched at every disparity: half of it again would find too little, and save nothing. */
#define LEAST_WIDTH 640
#define LEAST_DISPARITIES 32

/* Where no level has chosen candidates, a wrong one is not mended later: a larger window than the default's has fewer. */
static const Preset of_coarsest[] = { SET (window, 9), SET (gamma_color, 20), END };

/* A level that is large enough searches coarse to fine itself. The coarsest level takes the default method, whatever the full size
 * does: its support weights see thin things before the paths remove them. Of a level with lists sgm takes its own costs, as at the
 * full size. */
void
stereo_params_coarse (const StereoParams *params, int disparities, int width, StereoParams *coarse)
{
  int count = stereo_half_count (params->min_disparity, disparities);
  int coarsest = width < LEAST_WIDTH || count < LEAST_DISPARITIES;
  const Preset level[] = { SET (min_disparity, stereo_half_min (params->min_disparity)), SET (num_disparities, count),
    SET (search, coarsest ? STEREO_SEARCH_FULL : STEREO_SEARCH_COARSE_TO_FINE), SET (refine_iterations, 0),
    SET (align, STEREO_ALIGN_OFF), SET (temporal, 0), SET (confidence_measure, STEREO_CONFIDENCE_MARGIN),
    SET (backend, params->backend), SET (cuda_device_id, params->cuda_device_id), SET (threads, params->threads), END };
  const Preset of_sgm[] = { SET (method, params->method), SET (cost, params->cost), SET (paths, params->paths),
    SET (p1, params->p1), SET (p2, params->p2), SET (penalty_step, params->penalty_step), END };

  stereo_params_init (coarse);
  apply (coarse, level);
  if (coarsest)
    apply (coarse, of_coarsest);
  else if (params->method == STEREO_METHOD_SGM)
    apply (coarse, of_sgm);
}

/* ---- what resolved parameters mean -------------------------------------------------------------- */

int
stereo_params_reject (const StereoParams *params)
{
  return params->fill != STEREO_FILL_KEEP && params->consistency >= 0;
}

int
stereo_params_keep_near (const StereoParams *params)
{
  return params->paths != STEREO_PATHS_NONE && params->profile != STEREO_PROFILE_THESIS;
}

int
stereo_params_top_of_luma (const StereoParams *params)
{
  if (params->method != STEREO_METHOD_ASW || params->cost != STEREO_COST_AD)
    return 255;
  return params->truncation < 1 ? 1 : (int) (params->truncation + 0.5);
}

int
stereo_params_keep_outside (const StereoParams *params)
{
  return params->profile == STEREO_PROFILE_THESIS &&
      (params->method == STEREO_METHOD_ESAW || params->method == STEREO_METHOD_ESMP) &&
      params->paths == STEREO_PATHS_NONE && params->refine_iterations == 0 &&
      params->confidence_measure == STEREO_CONFIDENCE_MARGIN;
}

float
stereo_params_sure (const StereoParams *params)
{
  return params->confidence_measure == STEREO_CONFIDENCE_PROBABILITY ? 0.5f : 1e-9f;
}

int
stereo_params_follow (const StereoParams *params)
{
  return params->temporal > 0 && params->confidence_measure == STEREO_CONFIDENCE_PROBABILITY;
}

double
stereo_params_first_threshold (const StereoParams *params)
{
  return reject_unlikely (params) ? params->confidence_threshold : 0;
}

double
stereo_params_last_threshold (const StereoParams *params)
{
  return reject_unlikely (params) ? 0 : params->confidence_threshold;
}

int
stereo_params_hide_unlikely (const StereoParams *params)
{
  return params->confidence_threshold > 0 || params->fill == STEREO_FILL_GAPS;
}
