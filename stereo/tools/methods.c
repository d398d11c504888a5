/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* docs/methods.md: methods, costs and defaults, as the registry and the parameter table have them. */
#include "stereo/tools/methods.h"

#include "stereo/engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two search ranges tell which values follow num-disparities. */
enum
{
  RANGE = 128,
  OTHER_RANGE = 64,
  CELL = 64 * STEREO_PROFILES + 16
};

static const StereoChoice *
profile_choice (int profile)
{
  return &stereo_param_find ("profile")->choices[profile];
}

static StereoParams
in_force (int method, int profile, int cost, int range)
{
  StereoParams params;
  StereoError error;

  stereo_params_init (&params);
  stereo_param_set (&params, stereo_param_find ("method"), method);
  params.profile = profile;
  params.cost = cost;
  params.num_disparities = range;
  if (stereo_params_resolve (&params, &params, &error))
    fprintf (stderr, "%s\n", error.message);
  return params;
}

/* What a parameter is when it is left alone, into @text; returns that. */
static const char *
own_value (int method, int profile, const StereoParamInfo *info, char *text, size_t size)
{
  StereoParams params = in_force (method, profile, STEREO_COST_AUTO, RANGE);
  StereoParams other = in_force (method, profile, STEREO_COST_AUTO, OTHER_RANGE);
  double value = stereo_param_get (&params, info);

  if (!info->choices && value == 0 && (!strcmp (info->name, "p1") || !strcmp (info->name, "p2")))
    snprintf (text, size, method == STEREO_METHOD_SGM ? "[by direction](#sgm)" : "no paths");
  else if (value != stereo_param_get (&other, info) && !strcmp (info->name, "p2"))
    snprintf (text, size, "%.3g * log2 (num-disparities)", value / log2 (RANGE));
  else if (value != stereo_param_get (&other, info))
    snprintf (text, size, "%g * num-disparities", value / RANGE);
  else
    stereo_param_format (&params, info, text, size);
  return text;
}

static int
reads (int method, const char *name)
{
  for (const char *const *read = stereo_method_info (method)->reads; *read; read++)
    if (!strcmp (*read, name))
      return 1;
  return 0;
}

/* Whether method and profile say what the parameter is where it is left alone. */
static int
is_owned (const StereoParamInfo *info)
{
  if (!strcmp (info->name, "method") || !strcmp (info->name, "profile") || !strcmp (info->name, "num-disparities"))
    return 0;
  for (int method = 0; method < STEREO_METHODS; method++) {
    if (reads (method, info->name))
      return 1;
    for (int profile = 0; profile < STEREO_PROFILES; profile++) {
      StereoParams params = in_force (method, profile, STEREO_COST_AUTO, RANGE);
      if (info->initial != stereo_param_get (&params, info))
        return 1;
    }
  }
  return 0;
}

/* Whether only the methods whose list has it read the parameter. */
static int
is_special (const StereoParamInfo *info)
{
  for (int method = 0; method < STEREO_METHODS; method++)
    if (reads (method, info->name))
      return 1;
  return 0;
}

static void
print_methods (void)
{
  const StereoMethodInfo *method;

  puts ("| method | costs | parameters that not every method reads | source |\n|---|---|---|---|");
  for (int m = 0; (method = stereo_method_info (m)); m++) {
    const char *comma = "";
    printf ("| `%s` | ", method->name);
    for (int c = 1; c < STEREO_COSTS; c++)
      if (method->costs & 1u << c) {
        printf ("%s`%s`", comma, stereo_cost_info (c)->name);
        comma = ", ";
      }
    printf (" | ");
    for (const char *const *name = method->reads; *name; name++)
      printf ("%s`%s`", name == method->reads ? "" : ", ", *name);
    printf (" | %s |\n", method->source);
  }
}

static void
print_costs (void)
{
  const StereoCostInfo *cost;

  puts ("| cost | raw steps, largest | in a cost unit | source |\n|---|---|---|---|");
  for (int c = 1; (cost = stereo_cost_info (c)); c++)
    printf ("| `%s` | %d | %g | %s |\n", cost->name, cost->max, cost->unit, cost->source);
}

/* sgm's own penalties: two of a direction, for every cost. */
static void
print_penalties (int method)
{
  static const char *const directions[4] = { "rows", "columns", "rising to the right", "falling to the right" };

  printf ("\n"
          "### sgm\n"
          "\n"
          "Own `p1` / `p2` of each direction, in cost units; a pair set by hand is for all:\n"
          "\n"
          "| cost ");
  for (int k = 0; k < 4; k++)
    printf ("| %s ", directions[k]);
  puts ("|\n|---|---|---|---|---|");
  for (int c = 1; c < STEREO_COSTS; c++) {
    if (!(stereo_method_info (method)->costs & 1u << c))
      continue;
    StereoParams params = in_force (method, STEREO_PROFILE_BALANCED, c, RANGE);
    printf ("| `%s` ", stereo_cost_info (c)->name);
    for (int k = 0; k < 4; k++)
      printf ("| %.2f / %.2f ", stereo_path_penalty (&params, k, 0), stereo_path_penalty (&params, k, 1));
    puts ("|");
  }
}

/* One value, or those of the profiles in turn; "" for a parameter that the method does not read. */
static void
write_cell (int method, const StereoParamInfo *info, char text[CELL])
{
  char values[STEREO_PROFILES][64];
  int alike = 1, length;

  text[0] = '\0';
  if (is_special (info) && !reads (method, info->name))
    return;
  for (int profile = 0; profile < STEREO_PROFILES; profile++)
    alike &= !strcmp (own_value (method, profile, info, values[profile], sizeof values[profile]), values[0]);
  length = snprintf (text, CELL, "%s", values[0]);
  for (int profile = 1; profile < STEREO_PROFILES && !alike; profile++)
    length += snprintf (text + length, CELL - (size_t) length, " / %s", values[profile]);
}

/* A row: what all methods share, or a cell for each. */
static void
print_default (const StereoParamInfo *info, int shared)
{
  char cells[STEREO_METHODS][CELL];
  int alike = 1;

  for (int m = 0; m < STEREO_METHODS; m++) {
    write_cell (m, info, cells[m]);
    alike &= !strcmp (cells[m], cells[0]);
  }
  if (alike != shared)
    return;
  printf ("| `%s` |", info->name);
  for (int m = 0; m < (shared ? 1 : STEREO_METHODS); m++)
    printf (*cells[m] ? " %s |" : " |", cells[m]);
  puts ("");
}

static void
print_defaults (void)
{
  const StereoParamInfo *info;

  for (int shared = 1; shared >= 0; shared--) {
    printf (shared ? "| parameter | all methods |\n|---|---|\n" : "\n| parameter |");
    for (int m = 0; m < STEREO_METHODS && !shared; m++)
      printf (" `%s` |", stereo_method_info (m)->name);
    printf (shared ? "" : "\n|---|---|---|---|---|---|\n");
    for (int i = 0; (info = stereo_param_info (i)); i++)
      if (is_owned (info))
        print_default (info, shared);
  }
}

void
methods_print (void)
{
  puts (
      "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
      "<!-- Made by `stereo-bench --methods > docs/methods.md` from the registry and the table of parameters; a test compares. -->\n"
      "# Methods\n"
      "\n"
      "Sources, costs and defaults; [elements.md](elements.md#stereomatch) says what each method, cost and parameter is. Both backends\n"
      "have all methods, with the costs named. Steps after the matching are the same for all.\n");
  print_methods ();
  puts ("\n"
        "## Costs\n"
        "\n"
        "`p1`, `p2`, `truncation` and `refine-alpha` are in cost units: so many raw steps.\n");
  print_costs ();
  puts ("\n"
        "## Defaults\n"
        "\n"
        "Values of parameters that are not set. What is not here has one default for all methods and profiles.\n"
        "With `color-difference=lab` the own `gamma-color` of `asw` is a fifth, and `refine-gamma-color` a half. `profile=thesis` of\n"
        "`esaw` and `esmp` keeps candidates outside the right picture, with the cost of the pixel at its edge.");
  printf ("\nA cell has one value, or those of ");
  for (int profile = 0; profile < STEREO_PROFILES; profile++)
    printf ("%s`%s`", profile ? " / " : "", profile_choice (profile)->name);
  puts (". An empty one: the method does not read it.\n");
  print_defaults ();
  print_penalties (STEREO_METHOD_SGM);
}
