/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probability_counts TRUTH LEFT RIGHT NAME=VALUE...
 *
 * What tests/bench/probability.py fits the probability to: matches a pair with the parameters and counts the pixels with a
 * truth by their two measures (stereo/exact/confidence.h). Prints a line for each pair of them: agreement, distinctness,
 * pixels, those right within 1 px, those right within 3 px. TRUTH: a float for each pixel of LEFT, px, of this machine's byte
 * order; what is not finite does not count.
 */
#include "naive.h"
#include "stereo/tools/image.h"

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

static StereoImage
view_of (const Image *image)
{
  return (StereoImage){ .data = image->data,
    .stride = (ptrdiff_t) image->width * image->channels,
    .pixel_stride = image->channels,
    .channels = image->channels,
    .offset = { 0, 1, 2 } };
}

/* Runs a frame, and takes the measures before the step that would use them. */
static StereoStatus
match (StereoPlan *plan, const Image views[2], StereoOutput *output, NaiveMeasures **measures, StereoError *error)
{
  StereoImage left = view_of (&views[0]), right = view_of (&views[1]);
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

static StereoStatus
run (const Image views[2], const float *truth, char **words, StereoError *error)
{
  static Counts counts;
  size_t pixels = (size_t) views->width * (size_t) views->height;
  float *disparity = naive_allocate (pixels, sizeof *disparity);
  StereoOutput output = {
    .sample = STEREO_SAMPLE_F32, .data = disparity, .stride = (ptrdiff_t) ((size_t) views->width * sizeof *disparity)
  };
  NaiveMeasures *measures = NULL;
  StereoParams params;
  StereoPlan *plan;
  StereoStatus status = parse (&params, words, error);

  if (!status && !(plan = stereo_plan_new (&params, views->width, views->height, error)))
    status = error->status;
  else if (!status) {
    status = match (plan, views, &output, &measures, error);
    stereo_plan_free (plan);
  }
  if (!status && !measures)
    status = stereo_fail (error, STEREO_ERROR_PARAMETER, "confidence-measure is not probability");
  for (size_t at = 0; at < pixels && !status; at++)
    if (isfinite (truth[at]))
      count (&counts, &measures[at], fabs ((double) disparity[at] - (double) truth[at]));
  if (!status)
    print (&counts);
  free (measures);
  free (disparity);
  return status;
}

int
main (int argc, char **argv)
{
  StereoError error;
  Image views[2];

  if (argc < 4) {
    fprintf (stderr, "usage: %s TRUTH LEFT RIGHT NAME=VALUE...\n", argv[0]);
    return 2;
  }
  if (!image_read_png (argv[2], &views[0]) || !image_read_png (argv[3], &views[1]))
    return 1;
  size_t pixels = (size_t) views->width * (size_t) views->height;
  float *truth = naive_allocate (pixels, sizeof *truth);
  FILE *file = fopen (argv[1], "rb");
  if (!file || fread (truth, sizeof *truth, pixels, file) != pixels || views[1].width != views->width ||
      views[1].height != views->height) {
    fprintf (stderr, "%s and %s do not have the size of the left view\n", argv[1], argv[3]);
    return 1;
  }
  if (run (views, truth, argv + 4, &error)) {
    fprintf (stderr, "%s\n", error.message);
    return 1;
  }
  fclose (file);
  free (truth);
  free (views[0].data);
  free (views[1].data);
  return 0;
}
