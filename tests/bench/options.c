/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line: the engine's parameters come from its own table. */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_parameter (const StereoParamInfo *info)
{
  StereoParams params;
  char text[32];

  stereo_params_init (&params);
  stereo_param_format (&params, info, text, sizeof text);
  printf ("  --%-22s %s\n", info->name, info->text);
  printf ("    %-22s ", "");
  if (info->choices) {
    for (const StereoChoice *c = info->choices; c->name; c++)
      printf ("%s%s", c == info->choices ? "" : ", ", c->name);
    printf (" (%s)\n", text);
  } else {
    printf ("%.10g to %.10g (%s)\n", info->min, info->max, text);
  }
}

static void
print_help (void)
{
  const StereoParamInfo *info;
  const StereoMethodInfo *method;
  const StereoCostInfo *cost;

  puts ("Times the stereo engine, and scores it where the true disparity is known.\n\n"
        "stereo-bench [options] LEFT.png RIGHT.png      (gt.pfm and mask_nocc.png beside LEFT.png are the truth)\n"
        "stereo-bench [options] --scenes FOLDER [--scene NAME,NAME]\n"
        "stereo-bench [options] --synthetic WIDTHxHEIGHT\n"
        "stereo-bench --methods                         (docs/methods.md: methods, costs, defaults, sources)\n\n"
        "  --runs N         timed frames, after a few untimed ones (20 on the CPU, 60 on CUDA)\n"
        "  --matrix         every method with every cost it takes, on every backend there is\n"
        "  --device-input   the views lie in device memory already (on the CPU: packed in host memory)\n"
        "  --json           a JSON array instead of the table\n"
        "  --write FOLDER   disparity (16-bit PNG, times disparity-scale) and confidence (8-bit) of every scene\n\n"
        "frame: host images to host results; compute: the steps alone, by the device's clock, without copies;\n"
        "overlap: a frame on average with two in flight, as in a pipeline.\n"
        "num-disparities is the scene's own where that is known and the option is not given.\n"
        "bad N: percent of the pixels with a truth (nocc: those both views see) off by more than N px, or missing.\n\n"
        "Parameters of the engine (default in brackets):");
  for (int i = 0; (info = stereo_param_info (i)); i++)
    print_parameter (info);
  puts ("\nMethods:");
  for (int i = 0; (method = stereo_method_info (i)); i++)
    printf ("  %-12s %s\n  %-12s %s\n", method->name, method->text, "", method->source);
  puts ("\nCosts:");
  for (int i = 1; (cost = stereo_cost_info (i)); i++)
    printf ("  %-12s %s\n", cost->name, cost->text);
}

static int
parse_size (Options *options, const char *text)
{
  char end;
  if (sscanf (text, "%dx%d%c", &options->width, &options->height, &end) == 2 && options->width > 0 &&
      options->height > 0 && options->width <= 32768 && options->height <= 32768)
    return 1;
  fprintf (stderr, "--synthetic %s: write it as 640x480\n", text);
  return 0;
}

static int
parse_runs (Options *options, const char *text)
{
  char end;
  if (sscanf (text, "%d%c", &options->runs, &end) == 1 && options->runs >= 1 && options->runs <= BENCH_MAX_RUNS)
    return 1;
  fprintf (stderr, "--runs %s: this takes a whole number from 1 to %d\n", text, BENCH_MAX_RUNS);
  return 0;
}

/* An option with a value; 0 and a message when it makes no sense. */
static int
parse_value (Options *options, const char *name, const char *value)
{
  StereoError error;

  if (!strcmp (name, "runs"))
    return parse_runs (options, value);
  if (!strcmp (name, "synthetic"))
    return parse_size (options, value);
  if (!strcmp (name, "scenes")) {
    options->scenes = value;
  } else if (!strcmp (name, "scene")) {
    options->scene_list = value;
  } else if (!strcmp (name, "write")) {
    options->write = value;
  } else {
    if (stereo_param_parse (&options->params, name, value, &error)) {
      fprintf (stderr, "%s See --help.\n", error.message);
      return 0;
    }
    options->range_set |= !strcmp (name, "num-disparities");
  }
  return 1;
}

/* "--name value" and "--name=value". */
static int
parse_option (Options *options, char **argv, int *k)
{
  const char *name = argv[*k] + 2, *equals = strchr (name, '=');
  char copy[64];

  if (!strcmp (name, "json"))
    return options->json = 1;
  if (!strcmp (name, "matrix"))
    return options->matrix = 1;
  if (!strcmp (name, "device-input"))
    return options->device_input = 1;
  snprintf (copy, sizeof copy, "%.*s", equals ? (int) (equals - name) : 63, name);
  if (equals)
    return parse_value (options, copy, equals + 1);
  if (!argv[*k + 1]) {
    fprintf (stderr, "--%s needs a value. See --help.\n", copy);
    return 0;
  }
  return parse_value (options, copy, argv[++*k]);
}

int
options_parse (Options *options, int argc, char **argv)
{
  int views = 0;

  memset (options, 0, sizeof *options);
  stereo_params_init (&options->params);
  for (int k = 1; k < argc; k++) {
    if (!strcmp (argv[k], "--help") || !strcmp (argv[k], "-h")) {
      print_help ();
      return 0;
    }
    if (!strcmp (argv[k], "--methods")) {
      methods_print ();
      return 0;
    }
    if (argv[k][0] == '-' && argv[k][1] == '-') {
      if (!parse_option (options, argv, &k))
        return -1;
    } else if (views < 2) {
      options->pair[views++] = argv[k];
    } else {
      fprintf (stderr, "%s: there are two views already\n", argv[k]);
      return -1;
    }
  }
  if ((views == 2) + (options->scenes != NULL) + (options->width > 0) != 1 || views == 1) {
    fputs ("Give two views, or --scenes FOLDER, or --synthetic WIDTHxHEIGHT. See --help.\n", stderr);
    return -1;
  }
  return 1;
}
