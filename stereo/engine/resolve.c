/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks all that can be checked of parameters without an image, and then applies the presets. */
#include "stereo/engine/backend.h"
#include "stereo/engine/params.h"
#include "stereo/engine/engine.h"
#include "stereo/exact/sgm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static StereoStatus
check_ranges (const StereoParams *params, StereoError *error)
{
  const StereoParamInfo *info;
  StereoStatus status = STEREO_OK;

  for (int i = 0; !status && (info = stereo_param_info (i)); i++)
    status = stereo_param_check (info, stereo_param_get (params, info), error);
  return status;
}

static StereoStatus
check_odd (const char *name, int value, StereoError *error)
{
  if (value && value % 2 == 0)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "%s=%d is even, and a window needs a centre: set %d or %d.",
        name, value, value - 1, value + 1);
  return STEREO_OK;
}

static StereoStatus
check_method (const StereoParams *params, StereoError *error)
{
  const StereoMethodInfo *method = stereo_method_info (params->method);
  char list[256];
  size_t used = 0;

  if (params->cost == STEREO_COST_AUTO || method->costs & 1u << params->cost)
    return STEREO_OK;
  list[0] = 0;
  for (int i = 1; i < STEREO_COSTS && used < sizeof list; i++)
    if (method->costs & 1u << i)
      used += (size_t) snprintf (list + used, sizeof list - used, "%s%s", used ? ", " : "", stereo_cost_info (i)->name);
  return stereo_fail (error, STEREO_ERROR_PARAMETER, "method=%s does not take cost=%s; it takes %s.", method->name,
      stereo_cost_info (params->cost)->name, list);
}

/* What bm's windows can be: the correlations of a single pixel are all alike. */
static StereoStatus
check_bm (const StereoParams *params, StereoError *error)
{
  uint32_t single = 1u << STEREO_COST_AUTO | 1u << STEREO_COST_NSSD | 1u << STEREO_COST_NCC | 1u << STEREO_COST_ZNCC;

  if (params->window > 31)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "method=bm takes windows of 1 to 31 pixels, and window=%d: set 31 or less.", params->window);
  if (params->window == 1 && single & 1u << params->cost)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "window=1 leaves nothing to normalise for cost=%s: set window to 3 or more, or cost to ad, sd, sad or ssd.",
        params->cost == STEREO_COST_AUTO ? "auto" : stereo_cost_info (params->cost)->name);
  return STEREO_OK;
}

static StereoStatus
check_paths (const StereoParams *params, StereoError *error)
{
  if (params->method == STEREO_METHOD_SGM && params->paths == STEREO_PATHS_NONE)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "paths=none leaves nothing of method=sgm, which sums the costs of paths: set paths to 4 "
        "or 8, or another method.");
  if (params->method == STEREO_METHOD_SGM && (params->p1 > 0) != (params->p2 > 0))
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "p1=%g and p2=%g: set both, one pair for all directions, or neither, for the method's own.", params->p1,
        params->p2);
  if (params->p2 > 0 && params->p1 > params->p2)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "p1=%g is more than p2=%g, and a small change may not cost more than a large one: set p1 to %g or less.",
        params->p1, params->p2, params->p2);
  return STEREO_OK;
}

/* A parameter that changes nothing but what asw does: silence would look like a result. */
static StereoStatus
check_asw (const StereoParams *params, StereoError *error)
{
  if (params->method != STEREO_METHOD_ASW && params->color_difference != STEREO_COLOR_RGB)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "color-difference=lab is for the support weights of method=asw, and method=%s: set "
        "color-difference=rgb, or that method.",
        stereo_method_info (params->method)->name);
  return STEREO_OK;
}

static StereoStatus
check_combination (const StereoParams *params, StereoError *error)
{
  if (params->step_base > 0 && params->step_base < 1)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "step-base=%g would make steps shorter with every iteration: set 1 to 4, or 0 for the method's own.",
        params->step_base);
  StereoStatus status;
  if ((status = check_paths (params, error)) || (status = check_asw (params, error)))
    return status;
  return params->method == STEREO_METHOD_BM ? check_bm (params, error) : STEREO_OK;
}

/* Weights of paths that are not there. @params: with the presets. */
static StereoStatus
check_path_weights (const StereoParams *params, StereoError *error)
{
  static const char *const names[2] = { "path-weight-vertical", "path-weight-diagonal" };
  const double weights[2] = { params->path_weight_vertical, params->path_weight_diagonal };

  for (int k = 0; k < 2; k++)
    if (weights[k] != 1 && params->paths < (k ? STEREO_PATHS_8 : STEREO_PATHS_4))
      return stereo_fail (error, STEREO_ERROR_PARAMETER,
          "%s=%g has no path to weigh, with paths=%s: set paths to %s, or %s to 1.", names[k], weights[k],
          params->paths == STEREO_PATHS_4 ? "4" : "none", k ? "8" : "4 or 8", names[k]);
  return STEREO_OK;
}

static StereoStatus
check_depth (const StereoParams *params, StereoError *error)
{
  if (params->output != STEREO_OUTPUT_DEPTH || (params->focal_length > 0 && params->baseline > 0))
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "output=depth needs the calibration: focal-length (px) is %g and baseline (mm) is %g; set both above 0, and "
      "principal-offset (px) if the principal points differ.",
      params->focal_length, params->baseline);
}

/* The parameter that lists of candidates do not serve, or NULL. @asked: before the presets. */
static const char *
unlisted (const StereoParams *p, const StereoParams *asked)
{
  if (p->method != STEREO_METHOD_ASW && p->method != STEREO_METHOD_SGM)
    return "method";
  if (p->method == STEREO_METHOD_ASW && p->aggregation != STEREO_AGGREGATION_TWO_PASS)
    return "aggregation";
  if (p->method == STEREO_METHOD_ASW && p->support != STEREO_SUPPORT_LEFT)
    return "support";
  if (stereo_params_top_of_luma (p) < 255)
    return "truncation";
  if (p->paths != STEREO_PATHS_4)
    return "paths";
  if (p->path_weight_vertical != 1)
    return "path-weight-vertical";
  if (asked->refine_iterations > 0 || (asked->refine_iterations < 0 && p->refine_iterations > 1))
    return "refine-iterations";
  return NULL;
}

/* @params: with the presets. What one list could hold is searched in full, and so is what lists do not serve, unless the caller asked
 * for lists. */
static StereoStatus
choose_search (StereoParams *params, const StereoParams *asked, StereoError *error)
{
  const char *name = unlisted (params, asked);
  char text[64];

  if (asked->search == STEREO_SEARCH_AUTO && (name || params->num_disparities <= STEREO_SLOTS))
    params->search = STEREO_SEARCH_FULL;
  if (params->search != STEREO_SEARCH_COARSE_TO_FINE) {
    params->search = STEREO_SEARCH_FULL;
    return STEREO_OK;
  }
  if (!name) {
    params->refine_iterations = 0; /* behind lists the single one of balanced changes next to nothing */
    return STEREO_OK;
  }
  const StereoParamInfo *info = stereo_param_find (name);
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "search=coarse-to-fine does not go with %s=%s: it needs method=asw with aggregation=two-pass and support=left, "
      "or method=sgm; both with paths=4, path-weight-vertical=1, truncation=255 and refine-iterations=0. Set these, or search=full.",
      name, stereo_param_format (params, info, text, sizeof text));
}

/* One pair of penalties is in force where paths follow a method. Those of sgm's directions have no number of their own. */
static StereoStatus
write_penalties (StereoParams *params, StereoError *error)
{
  double p1 = stereo_path_penalty (params, STEREO_PATH_SIDEWAYS, 0),
         p2 = stereo_path_penalty (params, STEREO_PATH_SIDEWAYS, 1);

  if (params->method == STEREO_METHOD_SGM || params->paths == STEREO_PATHS_NONE)
    return STEREO_OK;
  if (params->p1 > p1)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "p1=%g is more than the p2 of these settings, %g, and a small change may not cost more than a large one: set p2, "
        "too, or p1 to %g or less.",
        params->p1, p2, p2);
  params->p1 = p1;
  params->p2 = p2;
  return STEREO_OK;
}

StereoStatus
stereo_params_resolve (const StereoParams *in, StereoParams *out, StereoError *error)
{
  StereoParams params = *in;
  StereoStatus status;

  stereo_params_choose (&params);
  if ((status = check_ranges (&params, error)) || (status = check_odd ("window", params.window, error)) ||
      (status = check_odd ("refine-window", params.refine_window, error)) || (status = check_method (&params, error)) ||
      (status = check_combination (&params, error)) || (status = check_depth (&params, error)))
    return status;
  stereo_profile_apply (&params);
  if ((status = check_path_weights (&params, error)) || (status = choose_search (&params, in, error)))
    return status;
  stereo_profile_choose_threshold (&params);
  if (!(status = write_penalties (&params, error)))
    *out = params;
  return status;
}

StereoStatus
stereo_params_check_sample (const StereoParams *p, StereoSample sample, StereoError *error)
{
  int largest = p->min_disparity + p->num_disparities - 1;

  if (sample == STEREO_SAMPLE_U8 && p->output == STEREO_OUTPUT_DEPTH)
    return stereo_fail (error, STEREO_ERROR_PARAMETER, "output=depth does not fit 8-bit samples: use 16-bit ones.");
  if (sample != STEREO_SAMPLE_U16 || p->output != STEREO_OUTPUT_DISPARITY || largest * p->disparity_scale <= 65535)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "disparity-scale=%g makes %.0f of the largest disparity, %d, and 16 bits hold 65535: set it to %.0f or less, or "
      "search fewer disparities.",
      p->disparity_scale, largest * p->disparity_scale, largest, floor (65535.0 / largest));
}

/* Whether the method reads parameter @name. asw truncates differences of luma alone. */
static int
is_read (const StereoParams *params, const char *name)
{
  if (params->method == STEREO_METHOD_ASW && params->cost != STEREO_COST_AD && !strcmp (name, "truncation"))
    return 0;
  for (const char *const *read = stereo_method_info (params->method)->reads; *read; read++)
    if (!strcmp (*read, name))
      return 1;
  return 0;
}

void
stereo_params_unread (const StereoParams *params, char *text, size_t size)
{
  StereoParams with_method = *params;
  size_t used = 0;

  stereo_params_choose (&with_method);
  text[0] = 0;
  for (int m = 0; m < STEREO_METHODS; m++)
    for (const char *const *name = stereo_method_info (m)->reads; *name && used < size; name++) {
      const StereoParamInfo *info = stereo_param_find (*name);
      int known = strstr (text, *name) || is_read (&with_method, *name);
      if (!known && stereo_param_get (params, info) != info->initial)
        used += (size_t) snprintf (
            text + used, size - used, "%s%s", used ? ", " : "Not read by the chosen method: ", *name);
    }
}
