/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The presets: what each profile means for each method. */
#include "stereo/engine/profiles.h"

#include "stereo/engine/backend.h"

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
  SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (align, STEREO_ALIGN_OFF), SET (temporal, 0), END };

static const Preset asw_balanced[] = { SET (search, STEREO_SEARCH_COARSE_TO_FINE), SET (refine_iterations, 1),
  SET (refine_window, 33), SET (median, STEREO_MEDIAN_5), END };

static const Preset asw_fast[] = { SET (paths, STEREO_PATHS_NONE), SET (refine_iterations, 1), SET (refine_alpha, 0.3),
  SET (refine_window, 33), SET (speckle_size, 0), END };

static const Preset asw_quality[] = { SET (support, STEREO_SUPPORT_BOTH), SET (gamma_color, 28),
  SET (refine_iterations, 3), SET (refine_alpha, 1.5), SET (median, STEREO_MEDIAN_5), SET (fill, STEREO_FILL_GAPS),
  END };

/* Where no paths gather what lies farther away. */
static const Preset asw_alone[] = { SET (window, 13), END };

static const Preset asw_common[] = { SET (cost, STEREO_COST_MIXED), SET (support, STEREO_SUPPORT_LEFT), SET (window, 5),
  SET (gamma_color, 40), SET (gamma_distance, 14), SET (truncation, 255), SET (paths, STEREO_PATHS_4),
  SET (refine_alpha, 0.4), END };

/* Yu et al., Table III; of ESMP's base, printed 2.80, 1.80 gives the errors that the paper states. */
static const Preset es_thesis[] = { SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (align, STEREO_ALIGN_OFF),
  SET (temporal, 0), SET (subpixel, STEREO_SUBPIXEL_OFF), SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP), END };

static const Preset esaw_fast[] = { SET (iterations, 5), SET (step_base, 2.6), END };

static const Preset esaw_common[] = { SET (cost, STEREO_COST_AD), SET (iterations, 9), SET (step_base, 1.9),
  SET (gamma_color, 17), SET (gamma_distance, 36), SET (truncation, 12), SET (cost_scale, 1),
  SET (refine_iterations, 0), END };

/* smoothness_max: stereo_profile_apply() */
static const Preset esmp_common[] = { SET (cost, STEREO_COST_AD), SET (iterations, 8), SET (step_base, 1.8),
  SET (gamma_color, 18), SET (gamma_distance, 29), SET (truncation, 17), SET (cost_scale, 0.15), SET (smoothness, 1),
  SET (refine_iterations, 0), END };

static const Preset filled[] = { SET (fill, STEREO_FILL_GAPS), END };

/* Mahieu & Lowney, 3 and 4 */
static const Preset sgm_thesis[] = { SET (cost, STEREO_COST_AD), SET (subpixel, STEREO_SUBPIXEL_OFF),
  SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP), SET (penalty_step, 0),
  SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (align, STEREO_ALIGN_OFF), SET (temporal, 0), END };

static const Preset sgm_quality[] = { SET (cost, STEREO_COST_MIXED), SET (refine_iterations, 1),
  SET (fill, STEREO_FILL_GAPS), END };

static const Preset sgm_road[] = { SET (search, STEREO_SEARCH_COARSE_TO_FINE), SET (cost, STEREO_COST_MIXED),
  SET (paths, STEREO_PATHS_4), SET (p1, 15), SET (p2, 70), SET (penalty_step, 6), SET (median, STEREO_MEDIAN_5),
  SET (fill, STEREO_FILL_GAPS), END };

/* p1, p2: stereo_path_penalty() */
static const Preset sgm_common[] = { SET (cost, STEREO_COST_CENSUS_9X7), SET (paths, STEREO_PATHS_8),
  SET (refine_iterations, 0), END };

/* Hong et al. and GCVL: nothing after the winner */
static const Preset bm_thesis[] = { SET (cost, STEREO_COST_SAD), SET (subpixel, STEREO_SUBPIXEL_OFF),
  SET (median, STEREO_MEDIAN_OFF), SET (speckle_size, 0), SET (fill, STEREO_FILL_KEEP),
  SET (confidence_measure, STEREO_CONFIDENCE_MARGIN), SET (align, STEREO_ALIGN_OFF), SET (temporal, 0), END };

static const Preset bm_fast[] = { SET (cost, STEREO_COST_SAD), END };

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
                              [STEREO_PROFILE_FAST] = asw_fast,
                              [STEREO_PROFILE_QUALITY] = asw_quality,
                              [STEREO_PROFILE_THESIS] = asw_thesis },
      asw_common },
  [STEREO_METHOD_ESAW] = { { [STEREO_PROFILE_FAST] = esaw_fast, [STEREO_PROFILE_QUALITY] = filled, [STEREO_PROFILE_THESIS] = es_thesis },
      esaw_common },
  [STEREO_METHOD_ESMP] = { { [STEREO_PROFILE_QUALITY] = filled, [STEREO_PROFILE_THESIS] = es_thesis }, esmp_common },
  [STEREO_METHOD_SGM] = { { [STEREO_PROFILE_QUALITY] = sgm_quality,
                              [STEREO_PROFILE_THESIS] = sgm_thesis,
                              [STEREO_PROFILE_ROAD] = sgm_road },
      sgm_common },
  [STEREO_METHOD_BM] = { { [STEREO_PROFILE_FAST] = bm_fast, [STEREO_PROFILE_QUALITY] = filled, [STEREO_PROFILE_THESIS] = bm_thesis },
      bm_common },
};

/* Sets the parameters that still have their default: for a parameter in these lists, it means "not set". */
static void
apply (StereoParams *params, const Preset *preset)
{
  for (; preset && preset->field != SIZE_MAX; preset++) {
    const StereoParamInfo *info = stereo_param_of_field (preset->field);
    if (stereo_param_get (params, info) == info->initial)
      stereo_param_set (params, info, preset->value);
  }
}

/* The road profile is a setting of sgm. Where the method is left alone, it is that. */
void
stereo_profile_choose_method (StereoParams *params)
{
  if (params->profile == STEREO_PROFILE_ROAD && params->method == stereo_param_find ("method")->initial)
    params->method = STEREO_METHOD_SGM;
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

/* It leaves at most 1 % of a sky with a value. */
void
stereo_profile_choose_threshold (StereoParams *params)
{
  if (params->confidence_threshold < 0)
    params->confidence_threshold = stereo_params_reject_unlikely (params) ? 0.62 : 0;
}
