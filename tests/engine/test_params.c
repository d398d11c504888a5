/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters: table, ranges, texts, own values; every refusal says what to set instead. */
#include <math.h>

#include "check.h"
#include "stereo/stereo.h"

/* Parameters under which @info may take any value of its range. */
static void
permissive (StereoParams *params)
{
  stereo_params_init (params);
  params->focal_length = 700;
  params->baseline = 50;
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

static void
test_table (void)
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

static void
test_ranges (void)
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
        continue;               /* those fields cannot hold such a value */
      CHECK (resolve_with (info, beyond[k], &out, &error) == STEREO_ERROR_PARAMETER, "%s=%g was taken", info->name,
          beyond[k]);
      CHECK (strstr (error.message, info->name), "%s: '%s' does not name it", info->name, error.message);
      snprintf (text, sizeof text, "%g", info->max);
      CHECK (strstr (error.message, text), "%s: '%s' does not give the range", info->name, error.message);
    }
  }
}

static void
test_choices (void)
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
      CHECK (!stereo_params_resolve (&params, &out, &error), "%s=%s: %s", info->name, c->name, error.message);
      CHECK (resolve_with (info, 77, &out, &error) == STEREO_ERROR_PARAMETER, "%s=77 was taken", info->name);
      CHECK (strstr (error.message, info->name) && strstr (error.message, c->name), "'%s'", error.message);
    }
    CHECK (stereo_param_parse (&params, info->name, "nonsense", &error) == STEREO_ERROR_PARAMETER, "%s", info->name);
    CHECK (strstr (error.message, info->name) && strstr (error.message, info->choices->name), "'%s'", error.message);
  }
}

static void
test_parse (void)
{
  static const char *const bad[][2] = {
    { "num-disparities", "" }, { "num-disparities", "12x" }, { "num-disparities", "1.5" }, { "num-disparities", "nan" },
    { "gamma-color", "inf" }, { "gamma-color", "a" }, { "memory-limit", "1k" }, { "no-such-parameter", "1" },
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
  stereo_param_format (&params, stereo_param_find ("refine-alpha"), text, sizeof text);
  CHECK (!strcmp (text, "0.16"), "%s", text);
}

static void
test_windows (void)
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
      CHECK (strstr (error.message, "median") && strstr (error.message, "3"), "'%s'", error.message);
    }
}

static void
test_depth (void)
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
static void
test_thesis (void)
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
}

/* Whatever is set by hand stays, in every profile; and what is in force is a fixed point. */
static void
test_own (void)
{
  static const char *const by_hand[][2] = {
    { "cost", "ad" }, { "window", "9" }, { "support", "both" }, { "gamma-color", "77.5" }, { "gamma-distance", "7.5" },
    { "refine-iterations", "0" }, { "refine-mode", "idr" }, { "refine-window", "5" }, { "refine-gamma-color", "3" },
    { "refine-gamma-distance", "2" }, { "refine-alpha", "0.5" }, { "subpixel", "0" }, { "median", "5" },
    { "fill", "keep" }, { "subpixel", "1" }, { "median", "0" }, { "support", "left" },
  };
  const StereoParamInfo *info;
  StereoParams params, out, again;
  StereoError error;

  for (int profile = 0; profile < STEREO_PROFILES; profile++) {
    for (size_t k = 0; k < sizeof by_hand / sizeof *by_hand; k++) {
      stereo_params_init (&params);
      params.profile = profile;
      info = stereo_param_find (by_hand[k][0]);
      CHECK (!stereo_param_parse (&params, by_hand[k][0], by_hand[k][1], &error), "%s", error.message);
      CHECK (!stereo_params_resolve (&params, &out, &error), "%s", error.message);
      CHECK (stereo_param_get (&out, info) == stereo_param_get (&params, info), "profile %d: %s=%s became %g", profile,
          by_hand[k][0], by_hand[k][1], stereo_param_get (&out, info));
    }
    stereo_params_init (&params);
    params.profile = profile;
    stereo_params_resolve (&params, &out, &error);
    stereo_params_resolve (&out, &again, &error);
    for (int i = 0; (info = stereo_param_info (i)); i++)
      CHECK (stereo_param_get (&out, info) == stereo_param_get (&again, info), "%s: %g, then %g", info->name,
          stereo_param_get (&out, info), stereo_param_get (&again, info));
    CHECK (out.window > 0 && out.gamma_color > 0 && out.gamma_distance > 0 && out.refine_iterations >= 0 &&
        out.refine_window > 0 && out.refine_alpha > 0 && out.subpixel >= 0 && out.median >= 0 &&
        out.cost != STEREO_COST_AUTO && out.support != STEREO_SUPPORT_AUTO && out.fill != STEREO_FILL_AUTO &&
        out.refine_mode != STEREO_REFINE_AUTO, "profile %d leaves something open", profile);
  }
}

static void
test_registry (void)
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
    CHECK (*cost->name && *cost->text && *cost->source && cost->max > 0 && cost->max <= 255 && cost->unit > 0, "%s",
        cost->name);
  CHECK (!stereo_method_info (-1) && !stereo_cost_info (STEREO_COST_AUTO) && !stereo_cost_info (STEREO_COSTS), "ends");
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  check_case ("parameter table", test_table);
  check_case ("every range", test_ranges);
  check_case ("every choice", test_choices);
  check_case ("from text", test_parse);
  check_case ("windows and medians are odd", test_windows);
  check_case ("depth needs the calibration", test_depth);
  check_case ("profile=thesis is section 5.1.3", test_thesis);
  check_case ("by hand wins", test_own);
  check_case ("registry", test_registry);
  return check_finish ();
}
