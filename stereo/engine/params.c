/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameter table, from which properties, options and range checks are made; parameters as numbers and as text. */
#include "stereo/engine/params.h"

#include "stereo/engine/error.h"
#include "stereo/exact/shared.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const StereoChoice profile_choices[] = { { STEREO_PROFILE_BALANCED, "balanced",
                                                    "Best quality for the time: for live streams" },
  { STEREO_PROFILE_THESIS, "thesis",
      "The constants of the method's paper (asw: the thesis, section 5.1.3), and no finish" },
  { STEREO_PROFILE_ROAD, "road", "Best quality on roads, for vehicles: method sgm in place of the default" },
  { 0, NULL, NULL } };

static const StereoChoice search_choices[] = {
  { STEREO_SEARCH_AUTO, "auto",
      "coarse-to-fine for profile=road, and for method=asw with profile=balanced, with more than 32 disparities and settings that go "
      "with it; else full" },
  { STEREO_SEARCH_FULL, "full", "Every disparity of every pixel" },
  { STEREO_SEARCH_COARSE_TO_FINE, "coarse-to-fine",
      "Every disparity at half the size, and near what it finds at full size: up to 32 of a pixel" },
  { 0, NULL, NULL }
};

static const StereoChoice aggregation_choices[] = { { STEREO_AGGREGATION_TWO_PASS, "two-pass",
                                                        "A vertical, then a horizontal line of the window" },
  { STEREO_AGGREGATION_FULL, "full", "Every pixel of the window (slow)" }, { 0, NULL, NULL } };

static const StereoChoice support_choices[] = { { STEREO_SUPPORT_AUTO, "auto", "What the profile calls for" },
  { STEREO_SUPPORT_BOTH, "both", "The product of both views' weights, as in the thesis" },
  { STEREO_SUPPORT_LEFT, "left", "The left view's weights alone: far less work" }, { 0, NULL, NULL } };

static const StereoChoice color_choices[] = { { STEREO_COLOR_RGB, "rgb", "Of red, green and blue, as the thesis has it" },
  { STEREO_COLOR_LAB, "lab", "Of CIELAB, nearer to what eyes see; own gammas are those of its steps" },
  { 0, NULL, NULL } };

static const StereoChoice refine_choices[] = { { STEREO_REFINE_AUTO, "auto", "What the profile calls for" },
  { STEREO_REFINE_TWO_PASS, "two-pass", "A vertical, then a horizontal line of the window" },
  { STEREO_REFINE_FULL, "full", "Every pixel of the window (slow)" },
  { STEREO_REFINE_IDR, "idr",
      "The last approximation of Kowalczuk et al.: no expected value, a weighted sum of distances" },
  { 0, NULL, NULL } };

static const StereoChoice paths_choices[] = { { STEREO_PATHS_AUTO, "auto", "What the profile calls for" },
  { STEREO_PATHS_NONE, "none", "No paths; sgm needs them" },
  { STEREO_PATHS_4, "4", "Along rows and columns, both ways" }, { STEREO_PATHS_8, "8", "Along diagonals too" },
  { 0, NULL, NULL } };

static const StereoChoice subpixel_choices[] = { { STEREO_SUBPIXEL_AUTO, "auto", "What the profile calls for" },
  { STEREO_SUBPIXEL_OFF, "off", "Whole pixels" }, { STEREO_SUBPIXEL_ON, "on", "Equiangular fit" }, { 0, NULL, NULL } };

static const StereoChoice median_choices[] = { { STEREO_MEDIAN_AUTO, "auto", "What the profile calls for" },
  { STEREO_MEDIAN_OFF, "off", "No filter" }, { STEREO_MEDIAN_3, "3", "3 x 3 pixels" },
  { STEREO_MEDIAN_5, "5", "5 x 5 pixels, at depth edges by colour; thin near things stay" }, { 0, NULL, NULL } };

static const StereoChoice fill_choices[] = { { STEREO_FILL_AUTO, "auto", "What the profile calls for" },
  { STEREO_FILL_KEEP, "keep", "The matcher's value" }, { STEREO_FILL_NONE, "none", "Invalid" },
  { STEREO_FILL_BACKGROUND, "background",
      "Occluded: the farther neighbour's along the row; mismatched: a median of the neighbours all around" },
  { STEREO_FILL_PLANES, "planes", "As background, and the plane of the surface that the value belongs to goes on" },
  { STEREO_FILL_GAPS, "gaps",
      "As planes, but invalid where no surface bounds the hole: open to the picture's top, or wide and empty" },
  { 0, NULL, NULL } };

static const StereoChoice measure_choices[] = { { STEREO_CONFIDENCE_AUTO, "auto", "What the profile calls for" },
  { STEREO_CONFIDENCE_MARGIN, "margin", "The papers' F: by how much the lowest cost lies below the second-lowest" },
  { STEREO_CONFIDENCE_PROBABILITY, "probability", "That the disparity is right within a pixel" }, { 0, NULL, NULL } };

static const StereoChoice align_choices[] = { { STEREO_ALIGN_OFF, "off", "The views are taken as they are" },
  { STEREO_ALIGN_AUTO, "auto", "It is measured and followed, and the right view resampled where that helps" },
  { 0, NULL, NULL } };

static const StereoChoice output_choices[] = { { STEREO_OUTPUT_DISPARITY, "disparity",
                                                   "Disparity times disparity-scale" },
  { STEREO_OUTPUT_DEPTH, "depth", "Depth in steps of depth-unit; needs focal-length and baseline" }, { 0, NULL, NULL } };

static const StereoChoice backend_choices[] = { { STEREO_BACKEND_AUTO, "auto",
                                                    "CUDA where a device is usable, else the CPU" },
  { STEREO_BACKEND_CUDA, "cuda", "An NVIDIA GPU; an error where there is none" },
  { STEREO_BACKEND_CPU, "cpu", "The processor, all cores" }, { 0, NULL, NULL } };

/* Filled from the registry on first use. */
static StereoChoice method_choices[STEREO_METHODS + 1];
static StereoChoice cost_choices[STEREO_COSTS + 1] = { { STEREO_COST_AUTO, "auto", "The method's own" } };

#define FIELD(name) offsetof (StereoParams, name)
#define ENUM(label, field, initial, choices, text) \
  { \
    label, text, STEREO_PARAM_ENUM, FIELD (field), 0, 0, initial, choices \
  }
#define INT(label, field, min, max, initial, text) \
  { \
    label, text, STEREO_PARAM_INT, FIELD (field), min, max, initial, NULL \
  }
#define DOUBLE(label, field, min, max, initial, text) \
  { \
    label, text, STEREO_PARAM_DOUBLE, FIELD (field), min, max, initial, NULL \
  }

static const StereoParamInfo table[] = {
  ENUM ("profile", profile, STEREO_PROFILE_BALANCED, profile_choices,
      "Preset for all parameters that you do not set yourself; what you set always wins"),
  ENUM ("method", method, STEREO_METHOD_ASW, method_choices, "Matching method"),
  ENUM ("cost", cost, STEREO_COST_AUTO, cost_choices, "Matching cost, of a pixel pair or of the windows around it"),
  INT ("min-disparity", min_disparity, -STEREO_MAX_DISPARITIES, STEREO_MAX_DISPARITIES, 0,
      "Smallest disparity searched, in pixels"),
  INT ("num-disparities", num_disparities, 1, STEREO_MAX_DISPARITIES, 128,
      "Number of disparities searched, in pixels: [min, min + num)"),
  ENUM ("search", search, STEREO_SEARCH_AUTO, search_choices, "Which disparities of a pixel are looked at"),
  INT ("window", window, 0, 63, 0,
      "Side of the aggregation window in pixels, odd; 0 = own (asw 3, without paths 13; bm 9)"),
  ENUM ("aggregation", aggregation, STEREO_AGGREGATION_TWO_PASS, aggregation_choices, "How the window is summed (asw)"),
  ENUM ("support", support, STEREO_SUPPORT_AUTO, support_choices, "Whose support weights enter the aggregation (asw)"),
  ENUM ("color-difference", color_difference, STEREO_COLOR_RGB, color_choices,
      "Differences of colour that support weights of the aggregation and of refinement take; costs take RGB (asw)"),
  DOUBLE ("gamma-color", gamma_color, 0, 10000, 0,
      "Support weights: colour difference at which a weight falls to 1/e (asw: sum over R, G, B, 0..765, or over L, a, "
      "b, 1.25 a unit; esaw, esmp: the largest of the three, 0..255); 0 = own"),
  DOUBLE ("gamma-distance", gamma_distance, 0, 10000, 0,
      "Support weights: distance in pixels at which a weight falls to 1/e (asw, esaw, esmp); 0 = own"),
  INT ("iterations", iterations, 0, 16, 0, "Aggregation iterations (esaw, esmp); 0 = own (esaw 9, esmp 8)"),
  DOUBLE ("step-base", step_base, 0, 4, 0,
      "Iteration t takes its taps round (step-base^(t - 1)) pixels away (esaw, esmp), 1 to 4; 0 = own (1.9, esmp 1.8)"),
  DOUBLE ("truncation", truncation, 0, 255, 0,
      "Largest matching cost of one pixel pair, in cost units (esaw, esmp; asw with cost=ad, whole grey levels); 0 = own (esaw 12, "
      "esmp 17, asw 255: all of it)"),
  DOUBLE ("cost-scale", cost_scale, 0, 1000, 0,
      "Factor of the truncated cost, against the smoothness (esaw, esmp); 0 = own (esaw 1, esmp 0.15)"),
  DOUBLE ("smoothness", smoothness, 0, 1000, 0, "Scaled cost per pixel of change in disparity (esmp); 0 = own (1)"),
  DOUBLE ("smoothness-max", smoothness_max, 0, 10000, 0,
      "Largest scaled cost of a change in disparity (esmp); 0 = own (0.0375 * num-disparities)"),
  DOUBLE ("p1", p1, 0, 1000, 0,
      "Penalty of a change in disparity by one pixel, in cost units, of every path; 0 = own (sgm: by direction; others: in "
      "settings)"),
  DOUBLE ("p2", p2, 0, 1000, 0,
      "Penalty of a larger change in disparity, in cost units, of every path; 0 = own (sgm: by direction; others: in "
      "settings)"),
  ENUM ("paths", paths, STEREO_PATHS_AUTO, paths_choices, "Directions of the paths along which costs are smoothed"),
  DOUBLE ("path-weight-vertical", path_weight_vertical, 0, 4, 1,
      "Weight of the paths along columns, where those along rows have 1; rounded to what 16 bits leave room for"),
  DOUBLE ("path-weight-diagonal", path_weight_diagonal, 0, 4, 1, "The same of the paths along diagonals (paths=8)"),
  INT ("penalty-step", penalty_step, -1, 255, -1,
      "Step of luma along a path, in grey levels, at which its penalties are lowered; -1 = own, 0 = never"),
  INT ("refine-iterations", refine_iterations, -1, 64, -1, "Refinement iterations; -1 = own, 0 = off"),
  ENUM ("refine-mode", refine_mode, STEREO_REFINE_AUTO, refine_choices, "How the refinement window is summed"),
  INT ("refine-window", refine_window, 0, 127, 0, "Side of the refinement window in pixels, odd; 0 = own (65)"),
  DOUBLE ("refine-gamma-color", refine_gamma_color, 0, 10000, 0, "As gamma-color, for refinement; 0 = own (9)"),
  DOUBLE ("refine-gamma-distance", refine_gamma_distance, 0, 10000, 0, "As gamma-distance, for refinement; 0 = own (12)"),
  DOUBLE ("refine-alpha", refine_alpha, 0, 10, 0,
      "Refinement penalty in cost units (census: bits) per pixel from the expected disparity; 0 = own (asw 0.4, "
      "thesis 0.16)"),
  INT ("consistency", consistency, -2, 1024, -2,
      "Pixels by which the views may disagree before both lose their confidence; -2 = own (1; asw with thesis 0), -1 = off. "
      "With paths, except in thesis, a left pixel keeps its disparity where the right view prefers a farther one that looks clearly less alike"),
  ENUM ("subpixel", subpixel, STEREO_SUBPIXEL_AUTO, subpixel_choices, "Sub-pixel fit of the disparity"),
  ENUM ("median", median, STEREO_MEDIAN_AUTO, median_choices, "Median filter of the disparity"),
  INT ("speckle-size", speckle_size, -1, 1 << 24, -1,
      "Connected regions of fewer pixels than this become invalid; -1 = own (60; thesis, fill=keep: off), 0 = off"),
  DOUBLE ("speckle-range", speckle_range, 0, 1024, 1,
      "Disparity difference up to which two neighbours belong to one region, in pixels"),
  ENUM ("confidence-measure", confidence_measure, STEREO_CONFIDENCE_AUTO, measure_choices, "What the confidence means"),
  DOUBLE ("confidence-threshold", confidence_threshold, -1, 1, -1,
      "Pixels of a lower confidence (0..1) become invalid; -1 = own (0.62 with probability and "
      "fill=none; else off), 0 = off"),
  ENUM ("fill", fill, STEREO_FILL_AUTO, fill_choices, "What a pixel gets where the views disagree"),
  ENUM ("align", align, STEREO_ALIGN_AUTO, align_choices,
      "What happens to a small vertical disparity between the views, up to 3 px"),
  DOUBLE ("temporal", temporal, -1, 1, -1,
      "How long the views are averaged over time where they stand still; with moving cameras, unlikely "
      "disparities follow the motion, and coarse to fine the last frame is a mild prior: 0 = off, for "
      "unrelated pairs; 0.75 = up to 24 frames, 1 = 32; -1 = own (0.75; off in thesis)"),
  ENUM ("output", output, STEREO_OUTPUT_DISPARITY, output_choices, "What the samples of the output mean"),
  DOUBLE ("disparity-scale", disparity_scale, 1e-3, 65535, 64,
      "GRAY16 disparity = round (d * scale), 0 = invalid, a valid zero is stored as 1"),
  DOUBLE ("focal-length", focal_length, 0, 1e6, 0, "Focal length of the rectified views in pixels; 0 = unknown"),
  DOUBLE ("baseline", baseline, 0, 1e6, 0, "Distance between the cameras in millimetres; 0 = unknown"),
  DOUBLE ("principal-offset", principal_offset, -1e5, 1e5, 0,
      "Pixels added to the disparity: x of the right principal point minus the left one's"),
  DOUBLE ("depth-unit", depth_unit, 1e-3, 1e6, 1000, "Micrometres per step of depth; 1000 = millimetres"),
  ENUM ("backend", backend, STEREO_BACKEND_AUTO, backend_choices, "Where to compute; chosen once, never switched"),
  INT ("cuda-device-id", cuda_device_id, -2, 255, -1,
      "CUDA device; -1 = the driver's first, -2 = the calling thread's current context"),
  INT ("threads", threads, 0, 256, 0,
      "Threads of the CPU backend, or that copy for the CUDA one; 0 = all cores, at most 8 for copies"),
  INT ("scratch-layers", scratch_layers, 0, 1024, 0,
      "Disparities aggregated at a time on the CPU: fewer take less memory (CUDA works in place); 0 = chosen"),
  { "memory-limit", "Bytes one matcher may take; fewer scratch layers are tried before it is an error; 0 = no limit",
      STEREO_PARAM_SIZE, FIELD (memory_limit), 0, 9007199254740992.0, 0, NULL },
};

static void
fill_choices_from_registry (void)
{
  for (int i = 0; i < STEREO_METHODS; i++)
    method_choices[i] = (StereoChoice){ i, stereo_method_info (i)->name, stereo_method_info (i)->text };
  for (int i = 1; i < STEREO_COSTS; i++)
    cost_choices[i] = (StereoChoice){ i, stereo_cost_info (i)->name, stereo_cost_info (i)->text };
}

const StereoParamInfo *
stereo_param_info (int index)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once (&once, fill_choices_from_registry);
  return index >= 0 && (size_t) index < sizeof table / sizeof *table ? &table[index] : NULL;
}

const StereoParamInfo *
stereo_param_find (const char *name)
{
  const StereoParamInfo *info;
  for (int i = 0; (info = stereo_param_info (i)); i++)
    if (!strcmp (info->name, name))
      return info;
  return NULL;
}

const StereoParamInfo *
stereo_param_of_field (size_t field)
{
  const StereoParamInfo *info;
  for (int i = 0; (info = stereo_param_info (i)); i++)
    if (info->offset == field)
      return info;
  return NULL;
}

double
stereo_param_get (const StereoParams *params, const StereoParamInfo *info)
{
  const void *field = (const char *) params + info->offset;
  switch (info->type) {
    case STEREO_PARAM_DOUBLE:
      return *(const double *) field;
    case STEREO_PARAM_SIZE:
      return (double) *(const uint64_t *) field;
    default:
      return *(const int *) field;
  }
}

void
stereo_param_put (StereoParams *params, const StereoParamInfo *info, double value)
{
  void *field = (char *) params + info->offset;
  switch (info->type) {
    case STEREO_PARAM_DOUBLE:
      *(double *) field = value;
      break;
    case STEREO_PARAM_SIZE:
      *(uint64_t *) field = value >= 18446744073709551616.0 ? UINT64_MAX : value > 0 ? (uint64_t) value : 0;
      break;
    default:
      /* NaN becomes a value that no parameter accepts. */
      *(int *) field = value > 2147483647.0 ? INT32_MAX : value >= -2147483648.0 ? (int) value : INT32_MIN;
  }
}

_Static_assert(sizeof table / sizeof *table <= 64, "StereoParams.set has too few bits");

void
stereo_param_note (StereoParams *params, const StereoParamInfo *info)
{
  params->set |= (uint64_t) 1 << (info - table);
}

void
stereo_param_set (StereoParams *params, const StereoParamInfo *info, double value)
{
  stereo_param_put (params, info, value);
  stereo_param_note (params, info);
}

int
stereo_param_is_set (const StereoParams *params, const StereoParamInfo *info)
{
  return (params->set >> (info - table) & 1) || stereo_param_get (params, info) != info->initial;
}

void
stereo_params_init (StereoParams *params)
{
  const StereoParamInfo *info;
  memset (params, 0, sizeof *params);
  for (int i = 0; (info = stereo_param_info (i)); i++)
    stereo_param_put (params, info, info->initial);
}

static void
list_choices (const StereoChoice *choices, char *text, size_t size)
{
  size_t used = 0;
  text[0] = 0;
  for (; choices->name && used < size; choices++)
    used += (size_t) snprintf (text + used, size - used, "%s%s",
        !used               ? "" :
            choices[1].name ? ", " :
                              " or ",
        choices->name);
}

StereoStatus
stereo_param_check (const StereoParamInfo *info, double value, StereoError *error)
{
  char list[256];

  for (const StereoChoice *c = info->choices; c && c->name; c++)
    if (c->value == value)
      return STEREO_OK;
  if (info->choices) {
    list_choices (info->choices, list, sizeof list);
    return stereo_fail (
        error, STEREO_ERROR_PARAMETER, "%s=%g: there is no such value; choose one of %s.", info->name, value, list);
  }
  if (value >= info->min && value <= info->max)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER, "%s=%.16g is out of range: set it between %.16g and %.16g.",
      info->name, value, info->min, info->max);
}

StereoStatus
stereo_param_parse (StereoParams *params, const char *name, const char *value, StereoError *error)
{
  const StereoParamInfo *info = stereo_param_find (name);
  char list[256], *end;
  double number = strtod (value, &end);
  int is_number = end != value && !*end && isfinite (number);

  if (!info)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "There is no parameter '%s'.", name);
  for (const StereoChoice *c = info->choices; c && c->name; c++)
    if (!strcmp (c->name, value) || (is_number && c->value == number)) {
      stereo_param_set (params, info, c->value);
      return STEREO_OK;
    }
  if (info->choices) {
    list_choices (info->choices, list, sizeof list);
    return stereo_fail (
        error, STEREO_ERROR_PARAMETER, "%s=%s: there is no such value; choose one of %s.", name, value, list);
  }
  if (!is_number || (info->type != STEREO_PARAM_DOUBLE && number != floor (number)))
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "%s=%s: this takes %s from %.16g to %.16g.", name, value,
        info->type == STEREO_PARAM_DOUBLE ? "a number" : "a whole number", info->min, info->max);
  stereo_param_set (params, info, number);
  return STEREO_OK;
}

const char *
stereo_param_format (const StereoParams *params, const StereoParamInfo *info, char *buffer, size_t size)
{
  double value = stereo_param_get (params, info);
  for (const StereoChoice *c = info->choices; c && c->name; c++)
    if (c->value == (int) value) {
      snprintf (buffer, size, "%s", c->name);
      return buffer;
    }
  snprintf (buffer, size, "%.15g", value);
  return buffer;
}
