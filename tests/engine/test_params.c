/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters: table, ranges, texts, own values; every refusal says what to set instead. */
#include <math.h>

#include "tests/support/check.h"
#include "tests/support/params.h"
#include "stereo/engine/params.h"
#include "stereo/stereo.h"

/* Parameters under which @info may take any value of its range. */
static void
permissive (StereoParams *params)
{
  stereo_params_init (params);
  params->focal_length = 700;
  params->baseline = 50;
  params->paths = STEREO_PATHS_8; /* what path-weight-diagonal weighs */
  params->p1 = 1;
  params->p2 = 1000;
}

/* The first method that takes @cost. */
static int
method_for (int cost)
{
  int method = 0;
  while (cost != STEREO_COST_AUTO && stereo_method_info (method) && !(stereo_method_info (method)->costs & 1u << cost))
    method++;
  CHECK (stereo_method_info (method) != NULL, "no method takes cost %d", cost);
  return method;
}

static StereoStatus
resolve_with (const StereoParamInfo *info, double value, StereoParams *out, StereoError *error)
{
  StereoParams params;

  permissive (&params);
  stereo_param_set (&params, info, value);
  error->message[0] = 0;
  return stereo_params_resolve (&params, out, error);
}

CASE (test_table, "parameter table")
{
  const StereoParamInfo *info, *other;

  for (int i = 0; (info = stereo_param_info (i)); i++) {
    CHECK (info->name[strspn (info->name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == 0, "%s", info->name);
    CHECK (strlen (info->text) > 10, "%s: '%s'", info->name, info->text);
    CHECK (stereo_param_find (info->name) == info, "%s", info->name);
    CHECK (info->choices || (info->initial >= info->min && info->initial <= info->max), "%s: %g is outside %g..%g",
        info->name, info->initial, info->min, info->max);
    CHECK ((info->type == STEREO_PARAM_ENUM) == (info->choices != NULL), "%s", info->name);
    for (int j = 0; j < i; j++) {
      other = stereo_param_info (j);
      CHECK (strcmp (info->name, other->name) && info->offset != other->offset, "%s and %s", info->name, other->name);
    }
  }
  CHECK (!stereo_param_info (-1), "row -1");
  CHECK (!stereo_param_find ("no-such-parameter"), "a row for a name there is not");
}

CASE (test_ranges, "every range")
{
  const StereoParamInfo *info;
  StereoParams out;
  StereoError error;
  char text[64];

  for (int i = 0; (info = stereo_param_info (i)); i++) {
    if (info->choices)
      continue;
    CHECK (!resolve_with (info, info->min, &out, &error), "%s=%g: %s", info->name, info->min, error.message);
    CHECK (!resolve_with (info, info->max, &out, &error), "%s=%g: %s", info->name, info->max, error.message);
    double step = info->type == STEREO_PARAM_DOUBLE ? 1e-3 * (info->max - info->min) : info->max > 1e15 ? 4 : 1;
    double beyond[] = { info->min - step, info->max + step, NAN };
    for (int k = 0; k < 3; k++) {
      if ((info->type == STEREO_PARAM_SIZE && k == 0) || (info->type != STEREO_PARAM_DOUBLE && k == 2))
        continue; /* those fields cannot hold such a value */
      CHECK (resolve_with (info, beyond[k], &out, &error) == STEREO_ERROR_PARAMETER, "%s=%g was taken", info->name,
          beyond[k]);
      CHECK (strstr (error.message, info->name), "%s: '%s' does not name it", info->name, error.message);
      snprintf (text, sizeof text, "%.16g", info->max);
      CHECK (strstr (error.message, text), "%s: '%s' does not give the range", info->name, error.message);
    }
  }
}

CASE (test_choices, "every choice")
{
  const StereoParamInfo *info;
  StereoParams params, out;
  StereoError error;
  char text[32];

  for (int i = 0; (info = stereo_param_info (i)); i++) {
    if (!info->choices)
      continue;
    for (const StereoChoice *c = info->choices; c->name; c++) {
      permissive (&params);
      CHECK (!stereo_param_parse (&params, info->name, c->name, &error), "%s=%s", info->name, c->name);
      CHECK (stereo_param_get (&params, info) == c->value, "%s=%s gives %g", info->name, c->name,
          stereo_param_get (&params, info));
      CHECK (!strcmp (stereo_param_format (&params, info, text, sizeof text), c->name), "%s: %s", info->name, text);
      CHECK (strlen (c->text) > 3, "%s=%s has no text", info->name, c->name);
      if (!strcmp (info->name, "cost"))
        params.method = method_for (c->value);
      if (!strcmp (info->name, "search"))
        params.paths = STEREO_PATHS_4; /* the only ones over lists */
      CHECK (!stereo_params_resolve (&params, &out, &error), "%s=%s: %s", info->name, c->name, error.message);
      CHECK (resolve_with (info, 77, &out, &error) == STEREO_ERROR_PARAMETER, "%s=77 was taken", info->name);
      CHECK (strstr (error.message, info->name) && strstr (error.message, c->name), "'%s'", error.message);
    }
    CHECK (stereo_param_parse (&params, info->name, "nonsense", &error) == STEREO_ERROR_PARAMETER, "%s", info->name);
    CHECK (strstr (error.message, info->name) && strstr (error.message, info->choices->name), "'%s'", error.message);
  }
}

CASE (test_parse, "from text")
{
  static const char *const bad[][2] = {
    { "num-disparities", "" },
    { "num-disparities", "12x" },
    { "num-disparities", "1.5" },
    { "num-disparities", "nan" },
    { "gamma-color", "inf" },
    { "gamma-color", "a" },
    { "memory-limit", "1k" },
    { "paths", "5" },
    { "paths", "8.5" },
    { "median", "4" },
    { "subpixel", "2" },
    { "no-such-parameter", "1" },
    { "", "1" },
  };
  StereoParams params;
  StereoError error;
  char text[32];

  stereo_params_init (&params);
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    error.message[0] = 0;
    CHECK (stereo_param_parse (&params, bad[k][0], bad[k][1], &error) == STEREO_ERROR_PARAMETER, "%s=%s was taken",
        bad[k][0], bad[k][1]);
    CHECK (error.message[0] && strstr (error.message, bad[k][0]), "'%s'", error.message);
  }
  CHECK (!stereo_param_parse (&params, "num-disparities", "70", &error) && params.num_disparities == 70, "%d",
      params.num_disparities);
  CHECK (!stereo_param_parse (&params, "refine-alpha", "0.16", &error) && params.refine_alpha == 0.16, "%g",
      params.refine_alpha);
  CHECK (!stereo_param_parse (&params, "memory-limit", "5000000000", &error) && params.memory_limit == 5000000000u,
      "%llu", (unsigned long long) params.memory_limit);
  /* an enumeration's numbers, as in gst-launch-1.0 */
  CHECK (!stereo_param_parse (&params, "subpixel", "1", &error) && params.subpixel == STEREO_SUBPIXEL_ON, "%d",
      params.subpixel);
  CHECK (!stereo_param_parse (&params, "subpixel", "-1", &error) && params.subpixel == STEREO_SUBPIXEL_AUTO, "%d",
      params.subpixel);
  CHECK (
      !stereo_param_parse (&params, "median", "0", &error) && params.median == STEREO_MEDIAN_OFF, "%d", params.median);
  CHECK (!stereo_param_parse (&params, "median", "5", &error) && params.median == 5, "%d", params.median);
  CHECK (!stereo_param_parse (&params, "paths", "4", &error) && params.paths == 4, "%d", params.paths);
  stereo_param_format (&params, stereo_param_find ("refine-alpha"), text, sizeof text);
  CHECK (!strcmp (text, "0.16"), "%s", text);
}

/* Every byte of StereoParams before `set` that is not padding belongs to a row of the table: presets are found by field. */
CASE (test_fields, "every field has a row")
{
  const StereoParamInfo *info;
  size_t end = 0;

  for (int k = 0; (info = stereo_param_info (k)); k++) {
    size_t size = info->type == STEREO_PARAM_DOUBLE || info->type == STEREO_PARAM_SIZE ? 8 : 4;
    CHECK (info->offset == (end + size - 1) / size * size, "%s lies at %zu, and the row before ends at %zu", info->name,
        info->offset, end);
    end = info->offset + size;
  }
  CHECK (end == offsetof (StereoParams, set), "the rows end at %zu of %zu bytes", end, offsetof (StereoParams, set));
}

CASE (test_windows, "windows and medians are odd")
{
  static const char *const names[] = { "window", "refine-window" };
  StereoParams out;
  StereoError error;

  for (int k = 0; k < 2; k++) {
    CHECK (resolve_with (stereo_param_find (names[k]), 32, &out, &error) == STEREO_ERROR_PARAMETER, "%s=32", names[k]);
    CHECK (strstr (error.message, names[k]) && strstr (error.message, "31") && strstr (error.message, "33"), "'%s'",
        error.message);
    CHECK (!resolve_with (stereo_param_find (names[k]), 1, &out, &error), "%s=1: %s", names[k], error.message);
  }
  for (int size = 1; size <= 4; size++)
    if (size != 3) {
      CHECK (resolve_with (stereo_param_find ("median"), size, &out, &error), "median=%d was taken", size);
      CHECK (strstr (error.message, "median") && strstr (error.message, "off, 3 or 5"), "'%s'", error.message);
    }
  CHECK (resolve_with (stereo_param_find ("paths"), 5, &out, &error), "paths=5 was taken");
  CHECK (strstr (error.message, "paths=5") && strstr (error.message, "4 or 8"), "'%s'", error.message);
}

CASE (test_depth, "depth needs the calibration")
{
  StereoParams params, out;
  StereoError error;

  stereo_params_init (&params);
  params.output = STEREO_OUTPUT_DEPTH;
  for (int k = 0; k < 3; k++) {
    params.focal_length = k == 1 ? 700 : 0;
    params.baseline = k == 2 ? 50 : 0;
    CHECK (stereo_params_resolve (&params, &out, &error) == STEREO_ERROR_PARAMETER, "depth without calibration");
    CHECK (strstr (error.message, "focal-length") && strstr (error.message, "baseline"), "'%s'", error.message);
  }
  params.focal_length = 700;
  CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
}

/* Hillerstrom 2017, 5.1.3 */
CASE (test_thesis, "profile=thesis is section 5.1.3")
{
  StereoParams params, out;
  StereoError error;

  stereo_params_init (&params);
  params.profile = STEREO_PROFILE_THESIS;
  CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
  CHECK (out.cost == STEREO_COST_CENSUS_7X5 && out.window == 33 && out.support == STEREO_SUPPORT_BOTH,
      "cost %d, %d, %d", out.cost, out.window, out.support);
  CHECK (out.gamma_color == 259.65 && out.gamma_distance == 28, "%g %g", out.gamma_color, out.gamma_distance);
  CHECK (out.refine_mode == STEREO_REFINE_TWO_PASS && out.refine_iterations == 7 && out.refine_window == 65, "%d %d %d",
      out.refine_mode, out.refine_iterations, out.refine_window);
  CHECK (out.refine_gamma_color == 9 && out.refine_gamma_distance == 12 && out.refine_alpha == 0.16, "%g %g %g",
      out.refine_gamma_color, out.refine_gamma_distance, out.refine_alpha);
  CHECK (out.aggregation == STEREO_AGGREGATION_TWO_PASS && out.fill == STEREO_FILL_KEEP && !out.subpixel && !out.median,
      "%d %d %d %d", out.aggregation, out.fill, out.subpixel, out.median);
  CHECK (out.consistency == 0, "3.2.4: the views must agree, and may differ by %d", out.consistency);
}

/* Whether this value means the preset's: the default, of parameters with a default of that meaning. All others have a meaning of
 * their own. */
static int
is_open (const StereoParamInfo *info, double value)
{
  static const char *const real[] = { "profile", "method", "min-disparity", "num-disparities", "aggregation",
    "color-difference", "path-weight-vertical", "path-weight-diagonal", "speckle-range", "align", "output",
    "disparity-scale", "focal-length", "baseline", "principal-offset", "depth-unit", "backend", "cuda-device-id",
    "threads", "scratch-layers", "memory-limit" };

  for (size_t k = 0; k < sizeof real / sizeof *real; k++)
    if (!strcmp (info->name, real[k]))
      return 0;
  return value == info->initial;
}

/* One value, set by hand in one profile after @words: it is in force, or an error names the parameter. Returns whether it is. */
static int
check_by_hand (int profile, const char *words, const StereoParamInfo *info, double value)
{
  StereoParams params, out;
  StereoError error;
  char text[32], after[32];

  stereo_params_init (&params);
  params_set (&params, "focal-length=700 baseline=50%s", words);
  if (strcmp (info->name, "profile"))
    params.profile = profile;
  stereo_param_set (&params, info, value);
  stereo_param_format (&params, info, text, sizeof text);
  CHECK (stereo_param_is_set (&params, info), "%s=%s is not noted", info->name, text);
  error.message[0] = 0;
  if (stereo_params_resolve (&params, &out, &error)) {
    CHECK (strstr (error.message, info->name) || (*words && strstr (error.message, words + 1)),
        "profile %d,%s, %s=%s: '%s'", profile, words, info->name, text, error.message);
    return 0;
  }
  CHECK (is_open (info, value) || stereo_param_get (&out, info) == value, "profile %d,%s: %s=%s became %s", profile,
      words, info->name, text, stereo_param_format (&out, info, after, sizeof after));
  return 1;
}

/* Each value of each parameter, alone and after each method, in every profile. Of numbers: both ends, the default, and one between. */
CASE (test_by_hand, "by hand wins")
{
  static const char *const before[] = { "", " method=asw", " method=esaw", " method=esmp", " method=sgm", " method=bm",
    " paths=8", " paths=none", " search=coarse-to-fine paths=4 refine-iterations=0 support=left" };
  const StereoParamInfo *info;
  int in_force = 0, all = 0;

  for (int profile = 0; profile < STEREO_PROFILES; profile++)
    for (size_t k = 0; k < sizeof before / sizeof *before; k++)
      for (int i = 0; (info = stereo_param_info (i)); i++) {
        const double between = (info->min + 3 * info->max) / 4;
        const double numbers[] = { info->initial, info->min, info->max,
          info->type == STEREO_PARAM_DOUBLE ? between : floor (between) };
        for (const StereoChoice *c = info->choices; c && c->name; c++, all++)
          in_force += check_by_hand (profile, before[k], info, c->value);
        for (int n = 0; !info->choices && n < 4; n++, all++)
          in_force += check_by_hand (profile, before[k], info, numbers[n]);
      }
  CHECK (in_force > 0.8 * all, "%d of %d were refused", all - in_force, all);
}

/* The method of a profile, and what is in force is a fixed point. */
CASE (test_own, "every profile's own")
{
  const StereoParamInfo *info;
  StereoParams params, out, again;
  StereoError error;

  for (int profile = 0; profile < STEREO_PROFILES; profile++) {
    stereo_params_init (&params);
    params.profile = profile;
    stereo_params_resolve (&params, &out, &error);
    stereo_params_resolve (&out, &again, &error);
    for (int i = 0; (info = stereo_param_info (i)); i++)
      CHECK (stereo_param_get (&out, info) == stereo_param_get (&again, info), "%s: %g, then %g", info->name,
          stereo_param_get (&out, info), stereo_param_get (&again, info));
    CHECK (out.method == (profile == STEREO_PROFILE_ROAD ? STEREO_METHOD_SGM : STEREO_METHOD_ASW),
        "profile %d: method %d", profile, out.method);
    CHECK (out.method == STEREO_METHOD_SGM ||
            (out.window > 0 && out.gamma_color > 0 && out.gamma_distance > 0 && out.support != STEREO_SUPPORT_AUTO),
        "profile %d leaves something of the support open", profile);
    CHECK (out.refine_iterations >= 0 && out.refine_window > 0 && out.refine_alpha > 0 && out.subpixel >= 0 &&
            out.median >= 0 && out.cost != STEREO_COST_AUTO && out.fill != STEREO_FILL_AUTO &&
            out.refine_mode != STEREO_REFINE_AUTO && out.speckle_size >= 0 && out.consistency >= 0,
        "profile %d leaves something open", profile);
  }
}

/* One view's weights reach half as far as the product of two: own gammas follow, those set by hand stay. */
CASE (test_support_left, "own gammas of one view")
{
  StereoParams params, both, one;
  StereoError error = { 0 };

  for (int profile = STEREO_PROFILE_BALANCED; profile <= STEREO_PROFILE_THESIS; profile++) {
    stereo_params_init (&params);
    params.profile = profile;
    params.support = STEREO_SUPPORT_BOTH;
    CHECK (!stereo_params_resolve (&params, &both, &error), "profile %d: %s", profile, error.message);
    params.support = STEREO_SUPPORT_LEFT;
    CHECK (!stereo_params_resolve (&params, &one, &error), "profile %d: %s", profile, error.message);
    CHECK (2 * one.gamma_color == both.gamma_color && 2 * one.gamma_distance == both.gamma_distance,
        "profile %d: %g and %g, of %g and %g", profile, one.gamma_color, one.gamma_distance, both.gamma_color,
        both.gamma_distance);
    params.gamma_color = 7;
    params.gamma_distance = 8;
    CHECK (!stereo_params_resolve (&params, &one, &error), "profile %d: %s", profile, error.message);
    CHECK (one.gamma_color == 7 && one.gamma_distance == 8, "profile %d: by hand, %g and %g", profile, one.gamma_color,
        one.gamma_distance);
  }
}

/* Steps of CIELAB are larger than those of RGB: own gammas of colours follow, those set by hand stay. */
CASE (test_lab_own, "own gammas of CIELAB")
{
  StereoParams params, rgb, lab;
  StereoError error;

  for (int profile = 0; profile < STEREO_PROFILES; profile++) {
    stereo_params_init (&params);
    params.profile = profile;
    if (profile == STEREO_PROFILE_ROAD)
      continue; /* sgm */
    CHECK (!stereo_params_resolve (&params, &rgb, &error), "%s", error.message);
    params.color_difference = STEREO_COLOR_LAB;
    CHECK (!stereo_params_resolve (&params, &lab, &error), "%s", error.message);
    CHECK (lab.gamma_color == 0.2 * rgb.gamma_color && lab.refine_gamma_color == 0.5 * rgb.refine_gamma_color &&
            lab.gamma_distance == rgb.gamma_distance && lab.refine_gamma_distance == rgb.refine_gamma_distance,
        "profile %d: %g and %g, of %g and %g", profile, lab.gamma_color, lab.refine_gamma_color, rgb.gamma_color,
        rgb.refine_gamma_color);
    params.gamma_color = 7;
    params.refine_gamma_color = 8;
    CHECK (!stereo_params_resolve (&params, &lab, &error), "%s", error.message);
    CHECK (lab.gamma_color == 7 && lab.refine_gamma_color == 8, "profile %d: by hand, %g and %g", profile,
        lab.gamma_color, lab.refine_gamma_color);
  }
}

/* Each method and profile: nothing that it reads stays open, but for sgm's penalties, which go by direction. */
CASE (test_methods_own, "every method's own")
{
  StereoParams params, out, again;
  StereoError error;
  char text[32];

  for (int m = 0; stereo_method_info (m); m++)
    for (int profile = 0; profile < STEREO_PROFILES; profile++) {
      const StereoMethodInfo *method = stereo_method_info (m);
      stereo_params_init (&params);
      stereo_param_set (&params, stereo_param_find ("method"), m);
      params.profile = profile;
      CHECK (!stereo_params_resolve (&params, &out, &error), "%s: %s", method->name, error.message);
      CHECK (out.method == m, "%s, profile %d: %d", method->name, profile, out.method);
      CHECK (!stereo_params_resolve (&out, &again, &error) && !memcmp (&out, &again, sizeof out),
          "%s, profile %d: what is in force is no fixed point", method->name, profile);
      CHECK (out.cost != STEREO_COST_AUTO && method->costs & 1u << out.cost, "%s takes no cost %d", method->name,
          out.cost);
      CHECK (out.refine_iterations >= 0 && out.subpixel >= 0 && out.median >= 0 && out.fill != STEREO_FILL_AUTO &&
              out.speckle_size >= 0,
          "%s, profile %d leaves something open", method->name, profile);
      for (const char *const *name = stereo_method_info (out.method)->reads; *name; name++) {
        const StereoParamInfo *info = stereo_param_find (*name);
        int open = out.method == STEREO_METHOD_SGM ? 0 : !info->choices && stereo_param_get (&out, info) == 0;
        CHECK (!open, "%s, profile %d: %s=%s", method->name, profile, *name,
            stereo_param_format (&out, info, text, sizeof text));
      }
    }
}

/* Speckles go unless someone wants what the matcher said. */
CASE (test_speckles, "speckles go by default")
{
  static const struct
  {
    int profile, fill, size, in_force;
  } rows[] = {
    { STEREO_PROFILE_BALANCED, STEREO_FILL_AUTO, -1, 60 },
    { STEREO_PROFILE_QUALITY, STEREO_FILL_PLANES, -1, 60 },
    { STEREO_PROFILE_QUALITY, STEREO_FILL_KEEP, -1, 0 },
    { STEREO_PROFILE_QUALITY, STEREO_FILL_KEEP, 30, 30 },
    { STEREO_PROFILE_BALANCED, STEREO_FILL_AUTO, 0, 0 },
    { STEREO_PROFILE_THESIS, STEREO_FILL_AUTO, -1, 0 },
    { STEREO_PROFILE_THESIS, STEREO_FILL_BACKGROUND, -1, 0 },
    { STEREO_PROFILE_THESIS, STEREO_FILL_BACKGROUND, 100, 100 },
  };

  for (int m = 0; m < STEREO_METHODS; m++)
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      StereoParams params, out;
      StereoError error;
      stereo_params_init (&params);
      params.method = m;
      params.profile = rows[k].profile;
      params.fill = rows[k].fill;
      params.speckle_size = rows[k].size;
      CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
      CHECK (out.speckle_size == rows[k].in_force, "method %d, row %zu: %d", m, k, out.speckle_size);
    }
}

/* Yu et al., Table III */
CASE (test_table_three, "esaw and esmp are Table III")
{
  StereoParams params, out;
  StereoError error;

  stereo_params_init (&params);
  params.num_disparities = 60;
  params.method = STEREO_METHOD_ESAW;
  CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
  CHECK (out.iterations == 9 && out.step_base == 1.9 && out.gamma_color == 17 && out.gamma_distance == 36 &&
          out.truncation == 12 && out.cost_scale == 1,
      "esaw: %d %g %g %g %g %g", out.iterations, out.step_base, out.gamma_color, out.gamma_distance, out.truncation,
      out.cost_scale);
  params.method = STEREO_METHOD_ESMP;
  params.profile = STEREO_PROFILE_THESIS;
  CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
  CHECK (out.iterations == 8 && out.step_base == 1.8 && out.gamma_color == 18 && out.gamma_distance == 29 &&
          out.truncation == 17 && out.cost_scale == 0.15,
      "esmp: %d %g %g %g %g %g", out.iterations, out.step_base, out.gamma_color, out.gamma_distance, out.truncation,
      out.cost_scale);
  CHECK (out.smoothness == 1 && fabs (out.smoothness_max - 2.25) < 1e-9, "esmp: %g %g", out.smoothness,
      out.smoothness_max);
}

/* What is in force with the options of @words. */
static StereoParams
resolved (const char *words)
{
  StereoParams params, out;
  StereoError error;

  stereo_params_init (&params);
  params_set (&params, "%s", words);
  CHECK (!stereo_params_resolve (&params, &out, &error), "%s: %s", words, error.message);
  return out;
}

/* Without paths, nothing else gathers what lies farther away. */
CASE (test_window_without_paths, "the own window")
{
  static const struct
  {
    const char *words;
    int window;
  } rows[] = {
    { "paths=4", 5 },
    { "paths=none", 13 },
    { "paths=none window=7", 7 },
    { "profile=quality", 5 },
    { "profile=quality paths=none", 13 },
    { "profile=thesis", 33 },
  };

  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    int window = resolved (rows[k].words).window;
    CHECK (window == rows[k].window, "%s: %d", rows[k].words, window);
  }
}

/* Where paths follow asw, their penalties are reported as they are in force: of the census and 128 disparities 11 and 115, on lists
 * 12 and 130; 0.8 of that of mixed; a larger one by the logarithm of the range. sgm has a pair for each direction, and 0 stands for
 * that. */
CASE (test_penalties, "penalties in force")
{
  static const struct
  {
    const char *words;
    double p1, p2;
  } rows[] = {
    { "cost=census-9x7 search=full", 11, 115 },
    { "cost=census-9x7", 12, 130 },
    { "cost=mixed", 9.6, 104 },
    { "cost=census-9x7 num-disparities=16", 11, 115 * 4 / 7.0 },
    { "cost=census-9x7 p2=20", 12, 20 },
    { "cost=census-9x7 p2=3", 3, 3 },
    { "cost=census-9x7 p1=7 paths=none", 7, 0 },
    { "method=sgm", 0, 0 },
    { "method=sgm p1=5 p2=50", 5, 50 },
    { "method=esaw paths=8", 11, 115 },
  };

  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    StereoParams out = resolved (rows[k].words);
    CHECK (fabs (out.p1 - rows[k].p1) < 1e-9 && fabs (out.p2 - rows[k].p2) < 1e-9, "row %zu: %g %g", k, out.p1, out.p2);
  }
}

/* asw reads truncation with differences of luma alone. */
CASE (test_unread, "what the method does not read")
{
  StereoParams params;
  char text[256];

  stereo_params_init (&params);
  params.truncation = 12;
  params.smoothness = 2;
  stereo_params_unread (&params, text, sizeof text);
  CHECK (strstr (text, "truncation") && strstr (text, "smoothness"), "'%s'", text);
  params.cost = STEREO_COST_AD;
  stereo_params_unread (&params, text, sizeof text);
  CHECK (!strstr (text, "truncation") && strstr (text, "smoothness"), "'%s'", text);
  params.method = STEREO_METHOD_SGM;
  stereo_params_unread (&params, text, sizeof text);
  CHECK (strstr (text, "truncation"), "'%s'", text);
}

/* Every method with every cost it does not take, and values that do not go together: refused, with what fits. */
CASE (test_combinations, "combinations that fit")
{
  static const struct
  {
    const char *words, *says[3];
  } bad[] = {
    { "step-base=0.5", { "step-base=0.5", "1 to 4" } },
    { "method=sgm p1=10", { "p1=10", "both" } },
    { "p1=200", { "p1=200", "104", "set p2" } },
    { "method=sgm p2=20", { "p2=20", "both" } },
    { "method=sgm p1=30 p2=20", { "p1=30", "p2=20", "20 or less" } },
    { "method=sgm color-difference=lab", { "color-difference=lab", "method=asw", "method=sgm" } },
    { "search=coarse-to-fine truncation=12 cost=ad", { "truncation=12", "search=full" } },
    { "method=bm path-weight-vertical=2", { "path-weight-vertical=2", "paths=none", "4 or 8" } },
    { "paths=4 path-weight-diagonal=2", { "path-weight-diagonal=2", "paths=4", "8" } },
    { "profile=road color-difference=lab", { "color-difference=lab", "method=asw", "method=sgm" } },
    { "method=bm window=33", { "bm", "window=33", "31" } },
    { "search=coarse-to-fine method=bm", { "coarse-to-fine", "method=bm", "method=asw" } },
    { "search=coarse-to-fine method=sgm", { "coarse-to-fine", "paths=8", "paths=4" } },
    { "search=coarse-to-fine profile=quality", { "support=both", "support=left" } },
    { "search=coarse-to-fine aggregation=full", { "aggregation=full", "two-pass" } },
    { "search=coarse-to-fine refine-iterations=1", { "refine-iterations=1", "search=full" } },
    { "search=coarse-to-fine path-weight-vertical=2", { "path-weight-vertical=2", "search=full" } },
    { "method=bm window=1", { "window=1", "3 or more", "sad" } },
    { "method=bm window=1 cost=ncc", { "window=1", "cost=ncc", "3 or more" } },
  };
  const StereoMethodInfo *method;
  StereoParams params, out;
  StereoError error;

  for (int m = 0; (method = stereo_method_info (m)); m++)
    for (int c = 1; c < STEREO_COSTS; c++) {
      stereo_params_init (&params);
      params.method = m;
      params.cost = c;
      int takes = (method->costs >> c & 1) != 0;
      error.message[0] = 0;
      CHECK ((stereo_params_resolve (&params, &out, &error) == STEREO_OK) == takes, "%s with %s: '%s'", method->name,
          stereo_cost_info (c)->name, error.message);
      for (int k = 1; !takes && k < STEREO_COSTS; k++)
        CHECK (!(method->costs & 1u << k) || strstr (error.message, stereo_cost_info (k)->name), "'%s' does not say %s",
            error.message, stereo_cost_info (k)->name);
    }
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    stereo_params_init (&params);
    params_set (&params, "%s", bad[k].words);
    error.message[0] = 0;
    CHECK (stereo_params_resolve (&params, &out, &error) == STEREO_ERROR_PARAMETER, "row %zu was taken", k);
    for (int i = 0; i < 3 && bad[k].says[i]; i++)
      CHECK (strstr (error.message, bad[k].says[i]), "'%s' does not say '%s'", error.message, bad[k].says[i]);
  }
  stereo_params_init (&params);
  params.method = STEREO_METHOD_BM;
  params.cost = STEREO_COST_SAD;
  params.window = 1;
  CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
  params.method = STEREO_METHOD_SGM;
  params.cost = STEREO_COST_AUTO;
  params.p1 = params.p2 = 10;
  CHECK (!stereo_params_resolve (&params, &out, &error) && out.p1 == 10 && out.p2 == 10, "%s", error.message);
}

/* What the next coarser level is asked for: on both sides of the least width and range at which it searches coarse to fine itself.
 * The coarsest level is asw with a larger window, whatever the full size does; a level between has the costs of sgm. */
CASE (test_coarse, "coarser levels")
{
  static const struct
  {
    const char *words;
    int disparities, width;       /* of the full size, of the level */
    int search, window, min, num; /* as asked for: 0 = own */
  } rows[] = {
    { "", 128, 639, STEREO_SEARCH_FULL, 9, 0, 64 },
    { "", 128, 640, STEREO_SEARCH_COARSE_TO_FINE, 0, 0, 64 },
    { "", 62, 640, STEREO_SEARCH_FULL, 9, 0, 31 },
    { "", 63, 640, STEREO_SEARCH_COARSE_TO_FINE, 0, 0, 32 },
    { "window=3 min-disparity=-9", 100, 2000, STEREO_SEARCH_COARSE_TO_FINE, 0, -5, 51 },
    { "window=3 min-disparity=5", 40, 300, STEREO_SEARCH_FULL, 9, 2, 21 },
    { "profile=road", 128, 639, STEREO_SEARCH_FULL, 9, 0, 64 },
    { "profile=road p1=7 p2=33 penalty-step=4 cost=census-7x5", 128, 640, STEREO_SEARCH_COARSE_TO_FINE, 0, 0, 64 },
  };

  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    StereoParams full = resolved (rows[k].words), coarse, out;
    StereoError error;
    int sgm = full.method == STEREO_METHOD_SGM && rows[k].search == STEREO_SEARCH_COARSE_TO_FINE;

    full.backend = STEREO_BACKEND_CPU;
    full.threads = 3;
    stereo_params_coarse (&full, rows[k].disparities, rows[k].width, &coarse);
    CHECK (coarse.search == rows[k].search && coarse.window == rows[k].window && coarse.min_disparity == rows[k].min &&
            coarse.num_disparities == rows[k].num,
        "row %zu: search %d, window %d, [%d, +%d)", k, coarse.search, coarse.window, coarse.min_disparity,
        coarse.num_disparities);
    CHECK (coarse.method == (sgm ? STEREO_METHOD_SGM : STEREO_METHOD_ASW) && coarse.p1 == (sgm ? full.p1 : 0) &&
            coarse.p2 == (sgm ? full.p2 : 0) && coarse.cost == (sgm ? full.cost : STEREO_COST_AUTO) &&
            coarse.penalty_step == (sgm ? full.penalty_step : -1),
        "row %zu: method %d, p1 %g, p2 %g", k, coarse.method, coarse.p1, coarse.p2);
    CHECK (coarse.backend == full.backend && coarse.threads == 3 && coarse.cuda_device_id == full.cuda_device_id &&
            coarse.temporal == 0 && coarse.align == STEREO_ALIGN_OFF && coarse.refine_iterations == 0 &&
            coarse.confidence_measure == STEREO_CONFIDENCE_MARGIN,
        "row %zu", k);
    CHECK (!stereo_params_resolve (&coarse, &out, &error) && out.search == rows[k].search, "row %zu: %s", k,
        error.message);
  }
}

CASE (test_registry, "registry")
{
  const StereoMethodInfo *method;
  const StereoCostInfo *cost;

  for (int m = 0; (method = stereo_method_info (m)); m++) {
    CHECK (*method->name && *method->text && *method->source && method->costs, "%s", method->name);
    CHECK (!(method->costs & ~((1u << STEREO_COSTS) - 2)), "%s takes costs there are not", method->name);
    for (const char *const *name = method->reads; *name; name++)
      CHECK (stereo_param_find (*name) != NULL, "%s reads %s", method->name, *name);
  }
  for (int c = 1; (cost = stereo_cost_info (c)); c++)
    CHECK (*cost->name && *cost->text && *cost->source && cost->max > 0 && cost->max <= 65534 && cost->unit > 0, "%s",
        cost->name);
  /* all but bm work on costs of a byte */
  for (int m = 0; (method = stereo_method_info (m)); m++)
    for (int c = 1; (cost = stereo_cost_info (c)); c++)
      CHECK (m == STEREO_METHOD_BM || !(method->costs & 1u << c) || cost->max <= 255, "%s with %s", method->name,
          cost->name);
  CHECK (!stereo_method_info (-1) && !stereo_cost_info (STEREO_COST_AUTO) && !stereo_cost_info (STEREO_COSTS), "ends");
}
