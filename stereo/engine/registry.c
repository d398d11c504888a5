/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods and the costs: names, texts, sources, and which method takes which cost. */
#include "stereo/exact/cost.h"

#define COST_BIT(cost) (1u << STEREO_COST_##cost)

/* The bits of the pixel-pair costs that a method takes. */
#define TAKEN_BY(METHOD, COST, takers) | ((takers) &STEREO_TAKEN_BY_##METHOD ? COST_BIT (COST) : 0)
#define TAKEN_BY_ASW(COST, name, max, unit, features, takers, ...) TAKEN_BY (ASW, COST, takers)
#define TAKEN_BY_SGM(COST, name, max, unit, features, takers, ...) TAKEN_BY (SGM, COST, takers)

static const char *const asw_reads[] = { "window", "aggregation", "support", "color-difference", "gamma-color",
  "gamma-distance", "truncation", NULL };

static const char *const esaw_reads[] = { "gamma-color", "gamma-distance", "iterations", "step-base", "truncation",
  "cost-scale", NULL };
static const char *const esmp_reads[] = { "gamma-color", "gamma-distance", "iterations", "step-base", "truncation",
  "cost-scale", "smoothness", "smoothness-max", NULL };
static const char *const sgm_reads[] = { NULL };
static const char *const bm_reads[] = { "window", NULL };

static const StereoMethodInfo methods[STEREO_METHODS] = {
  [STEREO_METHOD_ASW] = { .name = "asw",
      .text = "Adaptive support weights: costs averaged over a window, weighted by likeness and nearness to its centre",
      .source = "Hillerstrom 2017, 3.2-4.4 (after Yoon & Kweon 2006, Kowalczuk et al. 2013)",
      .costs = 0 STEREO_PIXEL_COSTS (TAKEN_BY_ASW),
      .reads = asw_reads },
  [STEREO_METHOD_ESAW] = { .name = "esaw",
      .text = "Exponential step size adaptive weight: three taps a pass, farther apart with every iteration",
      .source = "Yu, Chen, Franchetti, Hoe, III-A, equations 3-7, Table III",
      .costs = COST_BIT (AD),
      .reads = esaw_reads },
  [STEREO_METHOD_ESMP] = { .name = "esmp",
      .text = "Exponential step size message propagation: esaw, with costs that let neighbours differ in disparity",
      .source = "Yu, Chen, Franchetti, Hoe, III-B, equations 9-21, Table III",
      .costs = COST_BIT (AD),
      .reads = esmp_reads },
  [STEREO_METHOD_SGM] = { .name = "sgm",
      .text = "Semi-global matching: costs of paths from 8 or 4 directions, changes of disparity penalised, summed",
      .source = "Mahieu & Lowney, 3 and Table 1; Hirschmueller 2008, 2.3 (the previous pixel's minimum subtracted)",
      .costs = 0 STEREO_PIXEL_COSTS (TAKEN_BY_SGM),
      .reads = sgm_reads },
  [STEREO_METHOD_BM] = { .name = "bm",
      .text = "Block matching: costs of square windows, then their mean over a window of the same size",
      .source = "Hong et al. 2016, equations 2-8; GCVL, 2.1.3",
      .costs = COST_BIT (AD) | COST_BIT (SD) | COST_BIT (SAD) | COST_BIT (SSD) | COST_BIT (NSSD) | COST_BIT (NCC) |
          COST_BIT (ZNCC),
      .reads = bm_reads },
};

/* The pixel-pair costs first; the others belong to block matching (stereo/exact/bm.h). */
static const StereoCostInfo costs[STEREO_COSTS] = {
#define ROW(COST, NAME, MAX, UNIT, features, takers, penalties, TEXT, SOURCE) \
  [STEREO_COST_##COST] = { .name = NAME, .max = MAX, .unit = UNIT, .text = TEXT, .source = SOURCE },
  STEREO_PIXEL_COSTS (ROW)
#undef ROW
      [STEREO_COST_SD] = { .name = "sd",
          .max = 65025,
          .unit = 255,
          .text = "Squared difference of luma: 0..65025",
          .source = "Hong et al. 2016, equation 3" },
  [STEREO_COST_SSD] = { .name = "ssd",
      .max = 65025,
      .unit = 255,
      .text = "Sum of squared differences over R, G, B, a third of it: 0..65025",
      .source = "Hong et al. 2016, equation 5" },
  /* The costs below compare windows, not pixels: a raw step is 1 / 32767 of the correlation, and a cost unit 1 / 100. */
  [STEREO_COST_NSSD] = { .name = "nssd",
      .max = 65534,
      .unit = 327.67,
      .text = "Sum of squared differences of luma over the window, divided by the root of the product of both windows' energies: 0..2, cut there",
      .source = "Hong et al. 2016, equation 6" },
  [STEREO_COST_NCC] = { .name = "ncc",
      .max = 65534,
      .unit = 327.67,
      .text = "1 - normalised cross-correlation of luma over the window: 0..1",
      .source = "Hong et al. 2016, equation 7" },
  [STEREO_COST_ZNCC] = { .name = "zncc",
      .max = 65534,
      .unit = 327.67,
      .text = "1 - zero-mean normalised cross-correlation of luma over the window: 0..2",
      .source = "Hong et al. 2016, equation 8" },
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
