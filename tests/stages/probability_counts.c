/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probability_counts [--sky MASK] LEFT RIGHT NAME=VALUE...
 *
 * What tests/bench/probability.py fits the probability to: matches a pair with the parameters and counts the pixels with a
 * truth by their two measures (stereo/exact/confidence.h). Prints a line for each pair of them: agreement, distinctness,
 * pixels, those right within 1 px, those right within 3 px. The truth lies beside LEFT, as for stereo-bench, with the
 * mask of what both views see; or MASK is 255 where the sky is, whose disparity is 0.
 */
#include "naive.h"
#include "stereo/tools/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first pair tells how the views are aligned. */
#define FRAMES 4

typedef struct Counts
{
  unsigned pixels[256][256], right[256][256], near[256][256];
} Counts;

static StereoStatus
parse (StereoParams *params, char **words, StereoError *error)
{
  StereoStatus status = STEREO_OK;

  stereo_params_init (params);
  params->backend = STEREO_BACKEND_CPU;
  for (; *words && !status; words++) {
    char *value = strchr (*words, '=');
    if (!value)
      return stereo_fail (error, STEREO_ERROR_PARAMETER, "%s is not NAME=VALUE", *words);
    *value++ = 0;
    status = stereo_param_parse (params, *words, value, error);
  }
  return status;
}

/* Runs a frame, and takes the measures before the step that would use them. */
static StereoStatus
match (StereoPlan *plan, const Scene *scene, StereoOutput *output, NaiveMeasures **measures, StereoError *error)
{
  StereoImage left = scene_view (&scene->left), right = scene_view (&scene->right);
  StereoStatus status = STEREO_OK;

  for (int k = 1; k < FRAMES && !status; k++)
    status = stereo_plan_execute (plan, &left, &right, output, NULL, error);
  plan->input[0] = left;
  plan->input[1] = right;
  plan->output = *output;
  for (int k = 0; k < plan->step_count && !status; k++) {
    if (plan->steps[k].stage == plan->stages->probability)
      *measures = plan->listed ? naive_list_measures (plan) : naive_measures (plan);
    status = stereo_run_steps (plan, k, k + 1, error);
  }
  return status;
}

static void
count (Counts *counts, const NaiveMeasures *measures, double away)
{
  counts->pixels[measures->agreement][measures->distinctness]++;
  counts->right[measures->agreement][measures->distinctness] += away <= 1;
  counts->near[measures->agreement][measures->distinctness] += away <= 3;
}

static void
print (const Counts *counts)
{
  for (int a = 0; a < 256; a++)
    for (int d = 0; d < 256; d++)
      if (counts->pixels[a][d])
        printf ("%d %d %u %u %u\n", a, d, counts->pixels[a][d], counts->right[a][d], counts->near[a][d]);
}

/* @sky: NULL, or 255 where the truth is 0. */
static StereoStatus
run (const Scene *scene, const uint16_t *sky, char **words, StereoError *error)
{
  static Counts counts;
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  float *disparity = naive_allocate (pixels, sizeof *disparity);
  StereoOutput output = { .sample = STEREO_SAMPLE_F32,
    .data = disparity,
    .stride = (ptrdiff_t) ((size_t) scene->left.width * sizeof *disparity) };
  NaiveMeasures *measures = NULL;
  StereoParams params;
  StereoPlan *plan;
  StereoStatus status = parse (&params, words, error);

  if (!status && !(plan = stereo_plan_new (&params, scene->left.width, scene->left.height, error)))
    status = error->status;
  else if (!status) {
    status = match (plan, scene, &output, &measures, error);
    stereo_plan_free (plan);
  }
  if (!status && !measures)
    status = stereo_fail (error, STEREO_ERROR_PARAMETER, "confidence-measure is not probability");
  for (size_t at = 0; at < pixels && !status; at++) {
    double truth = sky ? sky[at] == 255 ? 0 : INFINITY : (double) scene->truth[at];
    if (isfinite (truth) && (sky || !scene->visible || scene->visible[at] == 255))
      count (&counts, &measures[at], fabs ((double) disparity[at] - truth));
  }
  if (!status)
    print (&counts);
  free (measures);
  free (disparity);
  return status;
}

int
main (int argc, char **argv)
{
  const char *mask = argc > 2 && !strcmp (argv[1], "--sky") ? argv[2] : NULL;
  char **words = argv + (mask ? 3 : 1);
  int width, height, bits;
  uint16_t *sky = NULL;
  SceneFiles files;
  Scene scene;
  StereoError error;

  if (argc - (words - argv) < 2) {
    fprintf (stderr, "usage: %s [--sky MASK] LEFT RIGHT NAME=VALUE...\n", argv[0]);
    return 2;
  }
  if (!scene_pair (&files, words[0], words[1]) || !scene_load (&scene, &files, 0))
    return 1;
  if (mask &&
      (!image_read_samples (mask, &width, &height, &bits, &sky) || width != scene.left.width ||
          height != scene.left.height)) {
    fprintf (stderr, "%s is not a mask of the left view's size\n", mask);
    return 1;
  }
  if (!mask && !scene.truth) {
    fprintf (stderr, "%s: there is no truth beside it\n", words[0]);
    return 1;
  }
  if (run (&scene, sky, words + 2, &error)) {
    fprintf (stderr, "%s\n", error.message);
    return 1;
  }
  free (sky);
  scene_free (&scene);
  return 0;
}
