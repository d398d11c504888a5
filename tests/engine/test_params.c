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

/* Each method, and none set by hand, with each profile: nothing that it reads stays open, but for sgm's penalties, which go by direction. */
CASE (test_methods_own, "every method's own")
{
  StereoParams params, out, again;
  StereoError error;
  char text[32];

  for (int m = -1; m < STEREO_METHODS; m++)
    for (int profile = 0; profile < STEREO_PROFILES; profile++) {
      stereo_params_init (&params);
      if (m >= 0)
        stereo_param_set (&params, stereo_param_find ("method"), m);
      params.profile = profile;
      if (!CHECK (!stereo_params_resolve (&params, &out, &error), "method %d: %s", m, error.message))
        return;
      const StereoMethodInfo *method = stereo_method_info (out.method);
      CHECK (m < 0 || out.method == m, "%s, profile %d: %d", method->name, profile, out.method);
      CHECK (!stereo_params_resolve (&out, &again, &error) && !memcmp (&out, &again, sizeof out),
          "%s, profile %d: what is in force is no fixed point", method->name, profile);
      CHECK (out.cost != STEREO_COST_AUTO && method->costs & 1u << out.cost, "%s takes no cost %d", method->name,
          out.cost);
      CHECK (out.refine_iterations >= 0 && out.refine_window > 0 && out.refine_alpha > 0 &&
              out.refine_mode != STEREO_REFINE_AUTO && out.subpixel >= 0 && out.median >= 0 &&
              out.fill != STEREO_FILL_AUTO && out.speckle_size >= 0 && out.consistency >= 0,
          "%s, profile %d leaves something open", method->name, profile);
      for (const char *const *name = method->reads; *name; name++) {
        const StereoParamInfo *info = stereo_param_find (*name);
        int open = out.method == STEREO_METHOD_SGM ? 0 : !info->choices && stereo_param_get (&out, info) == 0;
        CHECK (!open && strcmp (stereo_param_format (&out, info, text, sizeof text), "auto"), "%s, profile %d: %s=%s",
            method->name, profile, *name, text);
      }
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

/* Sets what @words name, one by one; the first error is that of the whole. */
static StereoStatus
resolve_words (const char *words, StereoParams *out, StereoError *error)
{
  char text[400], *rest = NULL;
  StereoParams params;
  StereoStatus status = STEREO_OK;

  *error = (StereoError){ STEREO_OK, "" };
  stereo_params_init (&params);
  snprintf (text, sizeof text, "%s", words);
  for (char *name = strtok_r (text, " ", &rest); name && !status; name = strtok_r (NULL, " ", &rest)) {
    char *value = strchr (name, '=');
    *value++ = 0;
    status = stereo_param_parse (&params, name, value, error);
  }
  return status ? status : stereo_params_resolve (&params, out, error);
}

#define EVERY "*" /* method, of the whole row */

/* What is in force with some words. */
static const struct
{
  const char *words, *in_force;
} rows[] = {
  { "", "method=asw" },
  { "profile=road", "method=sgm" },
  /* values as text; an enumeration's numbers, as in gst-launch-1.0 */
  { "num-disparities=70 refine-alpha=0.16 memory-limit=5000000000",
      "num-disparities=70 refine-alpha=0.16 memory-limit=5000000000" },
  { "subpixel=1 median=0 paths=4", "subpixel=on median=off paths=4" },
  { "profile=thesis subpixel=-1 median=5", "subpixel=off median=5" },
  { "window=1 refine-window=1", "window=1 refine-window=1" },
  { "output=depth focal-length=700 baseline=50", "output=depth focal-length=700 baseline=50" },
  /* Hillerstrom 2017, 5.1.3; 3.2.4: the views must agree */
  { "profile=thesis",
      "cost=census-7x5 window=33 support=both gamma-color=259.65 gamma-distance=28 aggregation=two-pass "
      "refine-mode=two-pass refine-iterations=7 refine-window=65 refine-gamma-color=9 refine-gamma-distance=12 "
      "refine-alpha=0.16 fill=keep subpixel=off median=off consistency=0" },
  /* Yu et al., Table III; of the base of esmp see profiles.c */
  { "method=esaw", "iterations=9 step-base=1.9 gamma-color=17 gamma-distance=36 truncation=12 cost-scale=1" },
  { "method=esmp profile=thesis num-disparities=60",
      "iterations=8 step-base=1.8 gamma-color=18 gamma-distance=29 truncation=17 cost-scale=0.15 smoothness=1 "
      "smoothness-max=2.25" },
  /* one view's weights reach half as far as the product of two: own gammas follow, those set by hand stay */
  { "support=both", "gamma-color=20 gamma-distance=14" },
  { "support=left", "gamma-color=10 gamma-distance=7" },
  { "profile=thesis support=left", "gamma-color=129.825 gamma-distance=14" },
  { "support=left gamma-color=7 gamma-distance=8", "gamma-color=7 gamma-distance=8" },
  { "profile=thesis support=left gamma-color=7 gamma-distance=8", "gamma-color=7 gamma-distance=8" },
  /* steps of CIELAB are larger than those of RGB: own gammas of colours follow, those set by hand stay */
  { "color-difference=lab", "gamma-color=2 gamma-distance=7 refine-gamma-color=4.5 refine-gamma-distance=12" },
  { "color-difference=lab profile=thesis", "gamma-color=51.93 gamma-distance=28 refine-gamma-color=4.5" },
  { "color-difference=lab gamma-color=7 refine-gamma-color=8", "gamma-color=7 refine-gamma-color=8" },
  { "color-difference=lab profile=thesis gamma-color=7 refine-gamma-color=8", "gamma-color=7 refine-gamma-color=8" },
  /* speckles go unless someone wants what the matcher said */
  { EVERY "", "speckle-size=60" },
  { EVERY "fill=planes", "speckle-size=60" },
  { EVERY "fill=keep", "speckle-size=0" },
  { EVERY "fill=keep speckle-size=30", "speckle-size=30" },
  { EVERY "speckle-size=0", "speckle-size=0" },
  { EVERY "profile=thesis", "speckle-size=0" },
  { EVERY "profile=thesis fill=background", "speckle-size=0" },
  { EVERY "profile=thesis fill=background speckle-size=100", "speckle-size=100" },
  /* without paths, nothing else gathers what lies farther away */
  { "paths=4", "window=3 gamma-color=10" },
  { "paths=none", "window=13 gamma-color=20" },
  { "paths=none window=7", "window=7" },
  /* where paths follow asw, their penalties are reported as they are in force: of the census and 128 disparities 11 and 115, on lists
   * 12 and 150; 0.8 of that of mixed; a larger one by the logarithm of the range. sgm has a pair for each direction, and 0 stands for
   * that. */
  { "cost=census-9x7 search=full", "p1=11 p2=115" },
  { "cost=census-9x7", "p1=12 p2=150" },
  { "cost=mixed", "p1=9.6 p2=120" },
  { "cost=census-9x7 num-disparities=16", "p1=11 p2=65.7142857142857" },
  { "cost=census-9x7 p2=20", "p1=12 p2=20" },
  { "cost=census-9x7 p2=3", "p1=3 p2=3" },
  { "cost=census-9x7 p1=7 paths=none", "p1=7 p2=0" },
  { "method=sgm", "p1=0 p2=0" },
  { "method=sgm p1=5 p2=50", "p1=5 p2=50" },
  { "method=sgm p1=10 p2=10", "p1=10 p2=10" },
  { "method=esaw paths=8", "p1=11 p2=115" },
  { "method=bm cost=sad window=1", "window=1" },
  /* lists, unless one list could hold all, or something does not go with them */
  { "num-disparities=33", "search=coarse-to-fine" },
  { "num-disparities=33 profile=road", "search=coarse-to-fine" },
  { "num-disparities=32", "search=full" },
  { "search=full", "search=full" },
  { "paths=none", "search=full" },
  { "profile=thesis", "search=full" },
  { "support=both", "search=full" },
  { "refine-iterations=1", "search=full" },
  { "paths=8", "search=full" },
  { "method=sgm", "search=full" },
  { "method=bm", "search=full" },
};

static void
check_in_force (const char *method, const char *words, const char *in_force)
{
  StereoParams out, want;
  StereoError error;
  char text[500], *rest = NULL, got[32];

  snprintf (text, sizeof text, "%s%s%s", words, method ? " method=" : "", method ? method : "");
  if (!CHECK (!resolve_words (text, &out, &error), "%s: %s", text, error.message))
    return;
  stereo_params_init (&want);
  params_set (&want, "%s", in_force);
  snprintf (text, sizeof text, "%s", in_force);
  for (char *name = strtok_r (text, " ", &rest); name; name = strtok_r (NULL, " ", &rest)) {
    *strchr (name, '=') = 0;
    const StereoParamInfo *info = stereo_param_find (name);
    double away = fabs (stereo_param_get (&out, info) - stereo_param_get (&want, info));
    CHECK (away < 1e-9, "%s %s: %s=%s, not as in %s", words, method ? method : "", name,
        stereo_param_format (&out, info, got, sizeof got), in_force);
  }
}

CASE (test_in_force, "what is in force")
{
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (strncmp (rows[k].words, EVERY, 1))
      check_in_force (NULL, rows[k].words, rows[k].in_force);
    else
      for (int m = 0; m < STEREO_METHODS; m++)
        check_in_force (stereo_method_info (m)->name, rows[k].words + 1, rows[k].in_force);
}

/* What is no value, and values that do not go together: refused, with what fits. */
CASE (test_refusals, "what is refused")
{
  static const struct
  {
    const char *words, *says[3];
  } bad[] = {
    { "num-disparities=", { "num-disparities" } },
    { "num-disparities=12x", { "num-disparities" } },
    { "num-disparities=1.5", { "num-disparities" } },
    { "num-disparities=nan", { "num-disparities" } },
    { "gamma-color=inf", { "gamma-color" } },
    { "gamma-color=a", { "gamma-color" } },
    { "memory-limit=1k", { "memory-limit" } },
    { "paths=5", { "paths=5", "4 or 8" } },
    { "paths=8.5", { "paths" } },
    { "median=4", { "median", "off, 3 or 5" } },
    { "subpixel=2", { "subpixel" } },
    { "no-such-parameter=1", { "no-such-parameter" } },
    { "=1", { "''" } },
    { "window=32", { "window", "31", "33" } },
    { "refine-window=32", { "refine-window", "31", "33" } },
    { "output=depth", { "focal-length", "baseline" } },
    { "output=depth focal-length=700", { "focal-length", "baseline" } },
    { "output=depth baseline=50", { "focal-length", "baseline" } },
    { "step-base=0.5", { "step-base=0.5", "1 to 4" } },
    { "method=sgm p1=10", { "p1=10", "both" } },
    { "p1=200", { "p1=200", "120", "set p2" } },
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
    { "search=coarse-to-fine support=both", { "support=both", "support=left" } },
    { "search=coarse-to-fine aggregation=full", { "aggregation=full", "two-pass" } },
    { "search=coarse-to-fine refine-iterations=1", { "refine-iterations=1", "search=full" } },
    { "search=coarse-to-fine path-weight-vertical=2", { "path-weight-vertical=2", "search=full" } },
    { "method=bm window=1", { "window=1", "3 or more", "sad" } },
    { "method=bm window=1 cost=ncc", { "window=1", "cost=ncc", "3 or more" } },
  };
  StereoParams out;
  StereoError error;

  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    CHECK (resolve_words (bad[k].words, &out, &error) == STEREO_ERROR_PARAMETER, "%s was taken", bad[k].words);
    for (int i = 0; i < 3 && bad[k].says[i]; i++)
      CHECK (strstr (error.message, bad[k].says[i]), "%s: '%s' does not say '%s'", bad[k].words, error.message,
          bad[k].says[i]);
  }
}

/* Every method with every cost it does not take. */
CASE (test_costs, "costs of methods")
{
  const StereoMethodInfo *method;
  StereoParams out;
  StereoError error;
  char words[64];

  for (int m = 0; (method = stereo_method_info (m)); m++)
    for (int c = 1; c < STEREO_COSTS; c++) {
      int takes = (method->costs >> c & 1) != 0;
      snprintf (words, sizeof words, "method=%s cost=%s", method->name, stereo_cost_info (c)->name);
      CHECK ((resolve_words (words, &out, &error) == STEREO_OK) == takes, "%s: '%s'", words, error.message);
      for (int k = 1; !takes && k < STEREO_COSTS; k++)
        CHECK (!(method->costs & 1u << k) || strstr (error.message, stereo_cost_info (k)->name), "'%s' does not say %s",
            error.message, stereo_cost_info (k)->name);
    }
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
  } levels[] = {
    { "", 128, 639, STEREO_SEARCH_FULL, 9, 0, 64 },
    { "", 128, 640, STEREO_SEARCH_COARSE_TO_FINE, 0, 0, 64 },
    { "", 62, 640, STEREO_SEARCH_FULL, 9, 0, 31 },
    { "", 63, 640, STEREO_SEARCH_COARSE_TO_FINE, 0, 0, 32 },
    { "window=3 min-disparity=-9", 100, 2000, STEREO_SEARCH_COARSE_TO_FINE, 0, -5, 51 },
    { "window=3 min-disparity=5", 40, 300, STEREO_SEARCH_FULL, 9, 2, 21 },
    { "profile=road", 128, 639, STEREO_SEARCH_FULL, 9, 0, 64 },
    { "profile=road p1=7 p2=33 penalty-step=4 cost=census-7x5", 128, 640, STEREO_SEARCH_COARSE_TO_FINE, 0, 0, 64 },
  };

  for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
    StereoParams full, coarse, out;
    StereoError error;
    CHECK (!resolve_words (levels[k].words, &full, &error), "%s", error.message);
    int sgm = full.method == STEREO_METHOD_SGM && levels[k].search == STEREO_SEARCH_COARSE_TO_FINE;

    full.backend = STEREO_BACKEND_CPU;
    full.threads = 3;
    stereo_params_coarse (&full, levels[k].disparities, levels[k].width, &coarse);
    CHECK (coarse.search == levels[k].search && coarse.window == levels[k].window &&
            coarse.min_disparity == levels[k].min && coarse.num_disparities == levels[k].num,
        "level %zu: search %d, window %d, [%d, +%d)", k, coarse.search, coarse.window, coarse.min_disparity,
        coarse.num_disparities);
    CHECK (coarse.method == (sgm ? STEREO_METHOD_SGM : STEREO_METHOD_ASW) && coarse.p1 == (sgm ? full.p1 : 0) &&
            coarse.p2 == (sgm ? full.p2 : 0) && coarse.cost == (sgm ? full.cost : STEREO_COST_AUTO) &&
            coarse.penalty_step == (sgm ? full.penalty_step : -1),
        "level %zu: method %d, p1 %g, p2 %g", k, coarse.method, coarse.p1, coarse.p2);
    CHECK (coarse.backend == full.backend && coarse.threads == 3 && coarse.cuda_device_id == full.cuda_device_id &&
            coarse.temporal == 0 && coarse.align == STEREO_ALIGN_OFF && coarse.refine_iterations == 0 &&
            coarse.confidence_measure == STEREO_CONFIDENCE_MARGIN,
        "level %zu", k);
    CHECK (!stereo_params_resolve (&coarse, &out, &error) && out.search == levels[k].search, "level %zu: %s", k,
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
