/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line: the engine's parameters come from its own table. */
#include "stereo/tools/bench.h"

#include <stddef.h>
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

  puts ("Times the stereo engine, and scores it where the true disparity is known.\n"
        "\n"
        "stereo-bench [options] LEFT.png RIGHT.png      (the truth lies beside LEFT.png)\n"
        "stereo-bench [options] --scenes FOLDER [--scenes FOLDER ...] [--scene NAME,NAME]\n"
        "stereo-bench [options] --synthetic WIDTHxHEIGHT\n"
        "stereo-bench [options] --sequence FOLDER       (left/NAME.png, right/NAME.png; gt/ where known)\n"
        "stereo-bench --methods                         (docs/methods.md: methods, costs, defaults, sources)\n"
        "\n"
        "  --runs N         timed frames, after a few untimed ones (20 on the CPU, 60 on CUDA; 1 with --score)\n"
        "  --score          no times: the last of N frames is scored\n"
        "  --device-input   the views lie in device memory already (on the CPU: packed in host memory)\n"
        "  --json           a JSON array: one object a scene or sequence, with all that is known of it\n"
        "  --write FOLDER   disparity (16-bit PNG, times disparity-scale) and confidence (8-bit) of every scene;\n"
        "                   of sequences, the disparity of every frame\n"
        "  --bad N,N        more thresholds in px beside 0.5, 1, 2 and 4\n"
        "  --frames N       no times: N frames through one matcher, each with its error, flicker "
        "(percent that change by\n"
        "                   more than 1 px) and trails (percent of those whose truth changed "
        "that keep the one before);\n"
        "                   means from the tenth on; of --sequence, at most N\n"
        "  --noise S        with --frames or --sequence: noise of that standard deviation, new in every frame\n"
        "  --truth-scale N  steps in a pixel of an 8-bit truth, where its size does not tell\n"
        "\n"
        "frame: host images to host results; compute: the steps alone, by the device's clock, without copies;\n"
        "overlap: a frame on average with two in flight, as in a pipeline.");
  puts (
      "\n"
      "Scenes, in FOLDER and in folders below:\n"
      "  left.png, right.png      gt.pfm (px, inf = unknown) or gt.png (KITTI's), mask_nocc.png (255 = in both views)\n"
      "  im0.png, im1.png         disp0.pfm or disp0GT.pfm, mask0nocc.png, calib.txt       (Middlebury 2014)\n"
      "  view1.png, view5.png     disp1.png (8 bits, 0 = unknown; full, half or third size) (Middlebury 2005, 2006)\n"
      "  image_2/, image_3/       disp_occ_0/, disp_noc_0/ (16 bits, px * 256, 0 = unknown) (KITTI 2015)\n"
      "  colored_0/, colored_1/ or image_0/, image_1/   disp_occ/, disp_noc/               (KITTI 2012)\n"
      "  left/, right/            gt/ (as KITTI's); frames without a truth are left out\n"
      "Truth, mask and calib.txt may be missing; gt.pfm and gt.png go with any views. Scenes in "
      "one folder are a group,\n"
      "and so are scenes called NAME-NUMBER.\n"
      "\n"
      "num-disparities is, if the option is not given, ndisp of calib.txt; else the largest true disparity rounded up\n"
      "to a multiple of 16 (from the truth, which a real camera does not have).\n"
      "all: pixels with a truth; nocc: those of them that both views see. bad N: percent off by more than N px, or\n"
      "missing; D1: off by more than 3 px and 5 %, or missing; err: mean error of the pixels that have a value;\n"
      "dens: percent that has a value; kept: the percent wrong among the pixels that have a value.\n"
      "\n"
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

/* Adds "3,5" to the thresholds, which stay in order. */
static int
parse_levels (Options *options, const char *text)
{
  ScoreLevels *levels = &options->levels;

  for (const char *at = text;; at++) {
    char *end;
    double px = strtod (at, &end);
    int k = levels->count;
    if (end == at || !(px > 0 && px <= 1000) || (*end && *end != ',') || k == SCORE_MAX_LEVELS) {
      fprintf (stderr, "--bad %s: write it as 3,5: pixels above 0, at most %d thresholds with 0.5, 1, 2 and 4\n", text,
          SCORE_MAX_LEVELS);
      return 0;
    }
    while (k > 0 && levels->px[k - 1] > px)
      k--;
    if (!k || levels->px[k - 1] != px) { /* a new one */
      memmove (&levels->px[k + 1], &levels->px[k], (size_t) (levels->count++ - k) * sizeof *levels->px);
      levels->px[k] = px;
    }
    at = end;
    if (!*at)
      return 1;
  }
}

/* A number from @min to @max, whole if that is wanted. */
static int
parse_number (const char *name, const char *text, double min, double max, int whole, double *value)
{
  char *end;

  *value = strtod (text, &end);
  if (end != text && !*end && *value >= min && *value <= max && !(whole && *value != (int) *value))
    return 1;
  fprintf (stderr, "--%s %s: this takes a %snumber from %g to %g\n", name, text, whole ? "whole " : "", min, max);
  return 0;
}

/* An option with a value; 0 and a message when it makes no sense. */
static int
parse_value (Options *options, const char *name, const char *value)
{
  static const struct
  {
    const char *name;
    size_t place;
    double min, max;
  } numbers[] = { { "runs", offsetof (Options, runs), 1, BENCH_MAX_RUNS },
    { "frames", offsetof (Options, frames), 2, BENCH_MAX_RUNS },
    { "truth-scale", offsetof (Options, truth_scale), 1, 256 } };
  StereoError error;
  double number;

  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!strcmp (name, numbers[k].name)) {
      int good = parse_number (name, value, numbers[k].min, numbers[k].max, 1, &number);
      *(int *) ((char *) options + numbers[k].place) = good ? (int) number : 0;
      return good;
    }
  if (!strcmp (name, "synthetic"))
    return parse_size (options, value);
  if (!strcmp (name, "noise"))
    return parse_number (name, value, 0, 100, 0, &options->noise);
  if (!strcmp (name, "bad"))
    return parse_levels (options, value);
  if (!strcmp (name, "scenes")) {
    if (options->folders < BENCH_MAX_FOLDERS) {
      options->scenes[options->folders++] = value;
      return 1;
    }
    fprintf (stderr, "--scenes %s: there are %d folders already, the most that it takes\n", value, BENCH_MAX_FOLDERS);
    return 0;
  }
  if (!strcmp (name, "scene")) {
    options->scene_list = value;
  } else if (!strcmp (name, "sequence")) {
    options->sequence = value;
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
  if (!strcmp (name, "score"))
    return options->score = 1;
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
  options->levels = score_levels;
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
  if ((views == 2) + (options->folders > 0) + (options->width > 0) + (options->sequence != NULL) != 1 || views == 1) {
    fputs (
        "Give two views, or --scenes FOLDER, or --synthetic WIDTHxHEIGHT, or --sequence FOLDER. See --help.\n", stderr);
    return -1;
  }
  if (options->noise > 0 && !options->sequence && !options->frames) {
    fputs ("--noise is for --frames and --sequence: give --frames 20 too. See --help.\n", stderr);
    return -1;
  }
  return 1;
}
