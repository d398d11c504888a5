/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* docs/methods.md: methods, costs and defaults, as the registry and the parameter table have them. */
#include "stereo/tools/bench.h"

#include "stereo/engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two search ranges tell which values follow num-disparities. */
enum
{
  RANGE = 128,
  OTHER_RANGE = 64
};

/* Text of a table's cell: a bar would end it. */
static void
print_text (const char *text)
{
  for (; *text; text++)
    printf (*text == '|' ? "\\|" : "%c", *text);
}

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

  puts ("| method | what it does | costs | parameters that not every method reads | source |\n|---|---|---|---|---|");
  for (int m = 0; (method = stereo_method_info (m)); m++) {
    const char *comma = "";
    printf ("| `%s` | ", method->name);
    print_text (method->text);
    printf (" | ");
    for (int c = 1; c < STEREO_COSTS; c++)
      if (method->costs & 1u << c) {
        printf ("%s`%s`", comma, stereo_cost_info (c)->name);
        comma = ", ";
      }
    printf (" | ");
    for (const char *const *name = method->reads; *name; name++)
      printf ("%s`%s`", name == method->reads ? "" : ", ", *name);
    printf (" | ");
    print_text (method->source);
    puts (" |");
  }
}

static void
print_costs (void)
{
  const StereoCostInfo *cost;

  puts ("| cost | what it is | raw steps, largest | raw steps in a cost unit | methods | source |\n"
        "|---|---|---|---|---|---|");
  for (int c = 1; (cost = stereo_cost_info (c)); c++) {
    const StereoMethodInfo *method;
    const char *comma = "";
    printf ("| `%s` | ", cost->name);
    print_text (cost->text);
    printf (" | %d | %g | ", cost->max, cost->unit);
    for (int m = 0; (method = stereo_method_info (m)); m++)
      if (method->costs & 1u << c) {
        printf ("%s`%s`", comma, method->name);
        comma = ", ";
      }
    printf (" | ");
    print_text (cost->source);
    puts (" |");
  }
}

/* sgm's own penalties: two of a direction, for every cost. */
static void
print_penalties (int method)
{
  static const char *const directions[4] = { "rows", "columns", "rising to the right", "falling to the right" };

  printf ("\n"
          "### sgm\n"
          "\n"
          "Own `p1` / `p2` of the paths along each direction, in cost units; a pair set by hand "
          "serves all directions:\n"
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

/* A cell: one value, or those of the profiles in turn. */
static void
print_cell (int method, const StereoParamInfo *info)
{
  char text[STEREO_PROFILES][64];
  int alike = 1;

  for (int profile = 0; profile < STEREO_PROFILES; profile++)
    alike &= !strcmp (own_value (method, profile, info, text[profile], sizeof text[profile]), text[0]);
  printf (" %s", text[0]);
  for (int profile = 1; profile < STEREO_PROFILES && !alike; profile++)
    printf (" / %s", text[profile]);
  printf (" |");
}

static void
print_defaults (void)
{
  const StereoParamInfo *info;

  printf ("| parameter |");
  for (int m = 0; m < STEREO_METHODS; m++)
    printf (" `%s` |", stereo_method_info (m)->name);
  puts ("\n|---|---|---|---|---|---|");
  for (int i = 0; (info = stereo_param_info (i)); i++) {
    if (!is_owned (info))
      continue;
    printf ("| `%s` |", info->name);
    for (int m = 0; m < STEREO_METHODS; m++)
      if (is_special (info) && !reads (m, info->name))
        printf (" |");
      else
        print_cell (m, info);
    puts ("");
  }
}

void
methods_print (void)
{
  puts ("<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
        "<!-- Made by `stereo-bench --methods > docs/methods.md` from stereo/engine/registry.c and "
        "stereo/engine/params.c; a test compares. -->\n"
        "# Methods\n"
        "\n"
        "Any method runs on both backends, with any cost named beside it; another combination is refused "
        "when the plan is made.\n"
        "Refinement, consistency check, sub-pixel fit and everything after them work alike after each method.\n");
  puts (
      "The default, `method=asw profile=balanced`, is more than its paper: adaptive support weights of the left view, semi-global\n"
      "paths in four directions behind them, and, with more than 32 disparities, a search from coarse to fine in place of the\n"
      "refinement. `profile=thesis` is the thesis's method with its constants and nothing else. What each part adds\n"
      "stands in docs/papers/README.md of the sources, under \"What the default adds to the thesis\".\n");
  print_methods ();
  puts ("\n"
        "## Costs\n"
        "\n"
        "Parameters in \"cost units\" (`p1`, `p2`, `truncation`, `refine-alpha`) do not depend on how "
        "finely a cost is stored:\n"
        "a unit is so many raw steps.\n");
  print_costs ();
  puts (
      "\n"
      "## Defaults\n"
      "\n"
      "What is in force where a parameter is left alone; elements.md says what each one is, and its unit. One set by hand always\n"
      "wins. What is not here has one default for all methods and profiles.\n"
      "`asw` halves its own `gamma-color` and `gamma-distance` with `support=left`, as the values below show.\n"
      "With `color-difference=lab` its own `gamma-color` is a fifth of that, and `refine-gamma-color` a half.\n"
      "\n"
      "`profile=thesis` of `esaw` and `esmp` keeps candidates outside the right picture, with the cost of the pixel at its edge.");
  printf ("\nA cell has one value, or those of ");
  for (int profile = 0; profile < STEREO_PROFILES; profile++)
    printf ("%s`%s`", profile ? " / " : "", profile_choice (profile)->name);
  puts (". An empty one: the method does not read it.\n");
  print_defaults ();
  print_penalties (STEREO_METHOD_SGM);
}
