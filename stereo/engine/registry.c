/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods, the costs, and what each profile means for each method. */
#include "stereo/engine/backend.h"

#include <string.h>

#define COST_BIT(cost) (1u << STEREO_COST_##cost)

static const char *const asw_reads[] = { "window", "aggregation", "support", "gamma-color", "gamma-distance", NULL };

static const char *const esaw_reads[] = {
  "gamma-color", "gamma-distance", "iterations", "step-base", "truncation", "cost-scale", NULL
};
static const char *const esmp_reads[] = {
  "gamma-color", "gamma-distance", "iterations", "step-base", "truncation", "cost-scale", "smoothness", "smoothness-max",
  NULL
};
static const char *const sgm_reads[] = { "p1", "p2", "paths", NULL };
static const char *const bm_reads[] = { "window", NULL };

static const StereoMethodInfo methods[STEREO_METHODS] = {
  [STEREO_METHOD_ASW] = {
        .name = "asw",
        .text = "Adaptive support weights: costs averaged over a window, weighted by likeness and nearness to its centre",
        .source = "Hillerstrom 2017, 3.2-4.4 (after Yoon & Kweon 2006, Kowalczuk et al. 2013)",
        .costs = COST_BIT (CENSUS_7X5) | COST_BIT (CENSUS_9X7) | COST_BIT (MIXED) | COST_BIT (AD) | COST_BIT (SAD),
        .reads = asw_reads },
  [STEREO_METHOD_ESAW] = {
        .name = "esaw",
        .text = "Exponential step size adaptive weight: three taps a pass, farther apart with every iteration",
        .source = "Yu, Chen, Franchetti, Hoe, III-A, equations 3-7, Table III",
        .costs = COST_BIT (AD),
        .reads = esaw_reads },
  [STEREO_METHOD_ESMP] = {
        .name = "esmp",
        .text = "Exponential step size message propagation: esaw, with costs that let neighbours differ in disparity",
        .source = "Yu, Chen, Franchetti, Hoe, III-B, equations 9-21, Table III",
        .costs = COST_BIT (AD),
        .reads = esmp_reads },
  [STEREO_METHOD_SGM] = {
        .name = "sgm",
        .text = "Semi-global matching: costs of paths from 8 or 4 directions, changes of disparity penalised, summed",
        .source = "Mahieu & Lowney, 3 and Table 1; Hirschmueller 2008, 2.3 (the previous pixel's minimum subtracted)",
        .costs = COST_BIT (CENSUS_7X5) | COST_BIT (CENSUS_9X7) | COST_BIT (MIXED) | COST_BIT (AD),
        .reads = sgm_reads },
  [STEREO_METHOD_BM] = {
        .name = "bm",
        .text = "Block matching: costs of square windows, then their mean over a window of the same size",
        .source = "Hong et al. 2016, equations 2-8; GCVL, 2.1.3",
        .costs = COST_BIT (AD) | COST_BIT (SD) | COST_BIT (SAD) | COST_BIT (SSD) | COST_BIT (NSSD) | COST_BIT (NCC) |
            COST_BIT (ZNCC),
        .reads = bm_reads },
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
        .source = "Hillerstrom 2017, 3.1.3; Hong et al. 2016, equation 4" },
  [STEREO_COST_SD] = {
        .name = "sd", .max = 65025, .unit = 255,
        .text = "Squared difference of luma: 0..65025",
        .source = "Hong et al. 2016, equation 3" },
  [STEREO_COST_SSD] = {
        .name = "ssd", .max = 65025, .unit = 255,
        .text = "Sum of squared differences over R, G, B, a third of it: 0..65025",
        .source = "Hong et al. 2016, equation 5" },
  /* What follows compares windows, not pixels: a raw step is 1 / 32767 of the correlation, and a cost unit 1 / 100. */
  [STEREO_COST_NSSD] = {
        .name = "nssd", .max = 65534, .unit = 327.67,
        .text = "Sum of squared differences of luma over the window, divided by both windows' energies: 0..2, cut there",
        .source = "Hong et al. 2016, equation 6" },
  [STEREO_COST_NCC] = {
        .name = "ncc", .max = 65534, .unit = 327.67,
        .text = "1 - normalised cross-correlation of luma over the window: 0..1",
        .source = "Hong et al. 2016, equation 7" },
  [STEREO_COST_ZNCC] = {
        .name = "zncc", .max = 65534, .unit = 327.67,
        .text = "1 - zero-mean normalised cross-correlation of luma over the window: 0..2",
        .source = "Hong et al. 2016, equation 8" },
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

/* Yu et al., Table III; of ESMP's base, printed 2.80, 1.80 gives the errors that the paper states. */
static const OwnValue es_thesis[] = { { "subpixel", 0 }, { "fill", STEREO_FILL_KEEP }, { NULL, 0 } };

static const OwnValue esaw_fast[] = { { "iterations", 5 }, { "step-base", 2.6 }, { NULL, 0 } };

static const OwnValue esaw_common[] = {
  { "cost", STEREO_COST_AD }, { "iterations", 9 }, { "step-base", 1.9 }, { "gamma-color", 17 }, { "gamma-distance", 36 },
  { "truncation", 12 }, { "cost-scale", 1 }, { "refine-iterations", 0 }, { NULL, 0 }
};

static const OwnValue esmp_common[] = { /* smoothness-max: stereo_registry_own() */
  { "cost", STEREO_COST_AD }, { "iterations", 8 }, { "step-base", 1.8 }, { "gamma-color", 18 }, { "gamma-distance", 29 },
  { "truncation", 17 }, { "cost-scale", 0.15 }, { "smoothness", 1 }, { "refine-iterations", 0 }, { NULL, 0 }
};

static const OwnValue filled[] = { { "fill", STEREO_FILL_BACKGROUND }, { NULL, 0 } };

static const OwnValue sgm_thesis[] = {  /* Mahieu & Lowney, 3 and 4 */
  { "cost", STEREO_COST_AD }, { "subpixel", 0 }, { "fill", STEREO_FILL_KEEP }, { NULL, 0 }
};

static const OwnValue sgm_quality[] = {
  { "cost", STEREO_COST_MIXED }, { "refine-iterations", 1 }, { "fill", STEREO_FILL_BACKGROUND }, { NULL, 0 }
};

static const OwnValue sgm_common[] = { /* p1, p2: stereo_registry_penalty() */
  { "cost", STEREO_COST_CENSUS_9X7 }, { "refine-iterations", 0 }, { NULL, 0 }
};

static const OwnValue bm_thesis[] = {   /* Hong et al. and GCVL: nothing after the winner */
  { "cost", STEREO_COST_SAD }, { "subpixel", 0 }, { "median", 0 }, { "fill", STEREO_FILL_KEEP }, { NULL, 0 }
};

static const OwnValue bm_fast[] = { { "cost", STEREO_COST_SAD }, { NULL, 0 } };

static const OwnValue bm_common[] = {
  { "cost", STEREO_COST_ZNCC }, { "window", 9 }, { "refine-iterations", 0 }, { NULL, 0 }
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
  [STEREO_METHOD_ESAW] = {
    { [STEREO_PROFILE_FAST] = esaw_fast, [STEREO_PROFILE_QUALITY] = filled, [STEREO_PROFILE_THESIS] = es_thesis },
    esaw_common },
  [STEREO_METHOD_ESMP] = {
    { [STEREO_PROFILE_QUALITY] = filled, [STEREO_PROFILE_THESIS] = es_thesis },
    esmp_common },
  [STEREO_METHOD_SGM] = {
    { [STEREO_PROFILE_QUALITY] = sgm_quality, [STEREO_PROFILE_THESIS] = sgm_thesis },
    sgm_common },
  [STEREO_METHOD_BM] = {
    { [STEREO_PROFILE_FAST] = bm_fast, [STEREO_PROFILE_QUALITY] = filled, [STEREO_PROFILE_THESIS] = bm_thesis },
    bm_common },
};

/* Table 1 of Mahieu & Lowney, for differences of luma: P1 and P2 along rows, along columns, along the diagonal that
 * rises to the right, along the one that falls. (The arrows over the last two are hard to read: the other way
 * round six scenes give 0.1 % fewer errors with AD, 0.03 % more with the census.) */
static const double sgm_penalties[4][2] = { { 22.02, 82.79 }, { 17.75, 80.87 }, { 14.93, 23.30 }, { 10.67, 28.80 } };

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

/* The table's penalties suit AD and, in bits, census-9x7 as they are: among factors from 0.35 to 2 these gave the fewest
 * pixels off by more than 1, 2 and 4 px over six Middlebury scenes. Costs of fewer bits take smaller ones, by about the
 * square root of what they can reach. */
static double
sgm_factor (int cost)
{
  return cost == STEREO_COST_CENSUS_7X5 ? 0.7 : cost == STEREO_COST_MIXED ? 0.8 : 1;
}

double
stereo_registry_penalty (const StereoParams *params, int direction, int large)
{
  double by_hand = large ? params->p2 : params->p1;
  return by_hand > 0 ? by_hand : sgm_penalties[direction][large] * sgm_factor (params->cost);
}

int
stereo_plan_penalty (const StereoPlan *plan, int direction, int large)
{
  const StereoParams *p = &plan->params;
  return (int) lrint (stereo_registry_penalty (p, direction, large) * stereo_cost_info (p->cost)->unit *
      stereo_path_unit (plan->volume_unit, p->paths));
}

int
stereo_registry_top (const StereoParams *params)
{
  const StereoCostInfo *cost = stereo_cost_info (params->cost);
  double largest = 0;

  if (params->method == STEREO_METHOD_ESAW || params->method == STEREO_METHOD_ESMP)
    return params->truncation < cost->max ? (int) ceil (params->truncation) : cost->max;
  if (params->method != STEREO_METHOD_SGM)
    return cost->max;
  for (int direction = 0; direction < 4; direction++) {
    double penalty = stereo_registry_penalty (params, direction, 1);
    largest = penalty > largest ? penalty : largest;
  }
  return cost->max + (int) (largest * cost->unit) + 1;
}

void
stereo_registry_own (StereoParams *params)
{
  int own_color = params->gamma_color == 0, own_distance = params->gamma_distance == 0;

  apply (params, own[params->method].profile[params->profile]);
  apply (params, own[params->method].method);
  apply (params, common);
  if (params->method == STEREO_METHOD_ESMP && params->smoothness_max == 0)
    params->smoothness_max = 0.0375 * params->num_disparities;
  if (params->method == STEREO_METHOD_ASW && params->support == STEREO_SUPPORT_LEFT) {
    params->gamma_color *= own_color ? 0.5 : 1;
    params->gamma_distance *= own_distance ? 0.5 : 1;
  }
}
