/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods, the costs, and what each profile means for each method. */
#include "stereo/private.h"

#include <string.h>

#define COST_BIT(cost) (1u << STEREO_COST_##cost)

static const char *const asw_reads[] = { "window", "aggregation", "support", "gamma-color", "gamma-distance", NULL };

static const StereoMethodInfo methods[STEREO_METHODS] = {
  [STEREO_METHOD_ASW] = {
        .name = "asw",
        .text = "Adaptive support weights: costs averaged over a window, weighted by likeness and nearness to its centre",
        .source = "Hillerstrom 2017, 3.2-4.4 (after Yoon & Kweon 2006, Kowalczuk et al. 2013)",
        .costs = COST_BIT (CENSUS_7X5) | COST_BIT (CENSUS_9X7) | COST_BIT (MIXED) | COST_BIT (AD) | COST_BIT (SAD),
        .reads = asw_reads },
};

static const StereoCostInfo costs[STEREO_COSTS] = {
  [STEREO_COST_CENSUS_7X5] = {
        .name = "census-7x5", .max = 32, .unit = 1,
        .text = "Hamming distance of the census over 7x5 pixels without the corners (-3,-2) and (3,2): 0..32 bits",
        .source = "Hillerstrom 2017, 3.2.5 and 4.3.4" },
  [STEREO_COST_CENSUS_9X7] = {
        .name = "census-9x7", .max = 62, .unit = 1,
        .text = "Hamming distance of the census over 9x7 pixels: 0..62 bits",
        .source = "Hillerstrom 2017, 3.2.5" },
  [STEREO_COST_MIXED] = {
        .name = "mixed", .max = 164, .unit = 4,
        .text = "census-7x5 bits + 0.2 * min (mean |RGB difference|, 20) + min (|difference of horizontal gradients|, 5): 0..41",
        .source = "after Kowalczuk et al. 2013 (census and gradient)" },
  [STEREO_COST_AD] = {
        .name = "ad", .max = 255, .unit = 1,
        .text = "Absolute difference of luma: 0..255",
        .source = "Hillerstrom 2017, 3.1.3" },
  [STEREO_COST_SAD] = {
        .name = "sad", .max = 255, .unit = 1 / 3.0,
        .text = "Sum of absolute differences over R, G, B: 0..765, held to the nearest multiple of 3",
        .source = "Hillerstrom 2017, 3.1.3" },
};

/* What a profile means: the values of parameters left at their own value. Distances of support are
 * those of support=both; support=left takes half of them, for one view's weights instead of two. */
typedef struct OwnValue
{
  const char *name;
  double value;
} OwnValue;

static const OwnValue asw_thesis[] = {  /* Hillerstrom 2017, 5.1.3 */
  { "cost", STEREO_COST_CENSUS_7X5 }, { "support", STEREO_SUPPORT_BOTH }, { "window", 33 },
  { "gamma-color", 259.65 }, { "gamma-distance", 28 },
  { "refine-iterations", 7 }, { "refine-alpha", 0.16 }, { "subpixel", 0 }, { "median", 0 }, { "fill", STEREO_FILL_KEEP }, { NULL, 0 }
};

static const OwnValue asw_balanced[] = {
  { "support", STEREO_SUPPORT_LEFT }, { "refine-iterations", 2 }, { NULL, 0 }
};

static const OwnValue asw_fast[] = {
  { "support", STEREO_SUPPORT_LEFT }, { "refine-iterations", 1 }, { "refine-alpha", 0.3 }, { "refine-window", 33 },
  { NULL, 0 }
};

static const OwnValue asw_quality[] = {
  { "support", STEREO_SUPPORT_BOTH }, { "refine-iterations", 3 }, { "fill", STEREO_FILL_BACKGROUND }, { NULL, 0 }
};

static const OwnValue asw_common[] = {
  { "cost", STEREO_COST_MIXED }, { "window", 33 }, { "gamma-color", 80 }, { "gamma-distance", 14 },
  { "refine-alpha", 0.2 }, { NULL, 0 }
};

static const OwnValue common[] = {      /* refinement: Hillerstrom 2017, 5.1.3 */
  { "refine-mode", STEREO_REFINE_TWO_PASS }, { "refine-window", 65 },
  { "refine-gamma-color", 9 }, { "refine-gamma-distance", 12 }, { "refine-alpha", 0.16 },
  { "subpixel", 1 }, { "median", 3 }, { "fill", STEREO_FILL_NONE }, { NULL, 0 }
};

static const struct
{
  const OwnValue *profile[STEREO_PROFILES];
  const OwnValue *method;
} own[STEREO_METHODS] = {
  [STEREO_METHOD_ASW] = {
    { [STEREO_PROFILE_BALANCED] = asw_balanced, [STEREO_PROFILE_FAST] = asw_fast,
      [STEREO_PROFILE_QUALITY] = asw_quality, [STEREO_PROFILE_THESIS] = asw_thesis },
    asw_common },
};

const StereoMethodInfo *
stereo_method_info (int method)
{
  return method >= 0 && method < STEREO_METHODS ? &methods[method] : NULL;
}

const StereoCostInfo *
stereo_cost_info (int cost)
{
  return cost > STEREO_COST_AUTO && cost < STEREO_COSTS ? &costs[cost] : NULL;
}

/* The own sentinel of a parameter is its default, and only parameters that have one are in these tables. */
static void
apply (StereoParams *params, const OwnValue *values)
{
  for (; values && values->name; values++) {
    const StereoParamInfo *info = stereo_param_find (values->name);
    if (stereo_param_get (params, info) == info->initial)
      stereo_param_set (params, info, values->value);
  }
}

void
stereo_registry_own (StereoParams *params)
{
  int own_color = params->gamma_color == 0, own_distance = params->gamma_distance == 0;

  apply (params, own[params->method].profile[params->profile]);
  apply (params, own[params->method].method);
  apply (params, common);
  if (params->support == STEREO_SUPPORT_LEFT) {
    params->gamma_color *= own_color ? 0.5 : 1;
    params->gamma_distance *= own_distance ? 0.5 : 1;
  }
}
