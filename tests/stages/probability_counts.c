/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probability_counts TRUTH LEFT RIGHT NAME=VALUE...
 *
 * What tests/bench/probability.py fits the probability to: matches a pair with the parameters and counts the pixels with a
 * truth by their measures (stereo/exact/confidence.h). Prints a line for each set of them: agreement, distinctness, edge,
 * pixels, those right within 1 px, those right within 3 px. TRUTH: a float for each pixel of LEFT, px, of this machine's byte
 * order; what is not finite does not count.
 */
#include "naive.h"
#include "state.h"
#include "stereo/tools/image.h"
#include "tests/support/params.h"

#include <math.h>

/* The first pair tells how the views are aligned. */
#define FRAMES 4

static void
must (int good, const StereoError *error)
{
  if (good)
    return;
  fprintf (stderr, "%s\n", error->message);
  exit (1);
}

/* Runs frames, and takes the measures before the step of the last one that would use them. */
static NaiveMeasures *
match (StereoPlan *plan, const StereoImage views[2], const StereoOutput *output)
{
  StereoError error = { .message = "confidence-measure is not probability" };
  NaiveMeasures *measures = NULL;

  for (int k = 1; k < FRAMES; k++)
    must (!stereo_plan_execute (plan, &views[0], &views[1], output, NULL, &error), &error);
  for (int v = 0; v < 2; v++)
    plan->input[v] = views[v];
  plan->output = *output;
  for (int k = 0; k < plan->step_count; k++) {
    if (plan->steps[k].stage == plan->stages->probability)
      measures = naive_measures (&state_take (plan)->plan); /* on the CPU costs of lists do not lie as twins read them */
    must (!stereo_run_steps (plan, k, k + 1, &error), &error);
  }
  must (measures != NULL, &error);
  return measures;
}

/* By agreement, distinctness and edge: pixels, right within 1 px, within 3 px. */
static unsigned counts[256][256][2][3];

int
main (int argc, char **argv)
{
  Image views[2] = { 0 };
  StereoImage images[2];
  StereoParams params;
  StereoError error = { .message = "usage: probability_counts TRUTH LEFT RIGHT NAME=VALUE..." };

  must (argc > 3, &error);
  for (int v = 0; v < 2; v++) {
    if (!image_read_png (argv[2 + v], &views[v]))
      return 1;
    images[v] = (StereoImage){ views[v].data, (ptrdiff_t) views[v].width * views[v].channels, views[v].channels,
      views[v].channels, { 0, 1, 2 }, STEREO_MEMORY_HOST };
  }
  size_t pixels = (size_t) views->width * (size_t) views->height;
  float *truth = naive_allocate (pixels, sizeof *truth), *disparity = naive_allocate (pixels, sizeof *disparity);
  StereoOutput output = { disparity, (ptrdiff_t) views->width * 4, STEREO_SAMPLE_F32, NULL, 0 };
  FILE *file = fopen (argv[1], "rb");
  snprintf (error.message, sizeof error.message, "%s has no %zu floats, or the views are of two sizes", argv[1], pixels);
  must (file && fread (truth, sizeof *truth, pixels, file) == pixels && views[0].width == views[1].width &&
          views[0].height == views[1].height,
      &error);
  stereo_params_init (&params);
  params.backend = STEREO_BACKEND_CPU;
  for (char **words = argv + 4; *words; words++)
    params_set (&params, "%s", *words);
  StereoPlan *plan = stereo_plan_new (&params, views->width, views->height, &error);
  must (plan != NULL, &error);
  const NaiveMeasures *measures = match (plan, images, &output);
  for (size_t at = 0; at < pixels; at++) {
    unsigned *count = counts[measures[at].agreement][measures[at].distinctness][measures[at].edge];
    float away = fabsf (disparity[at] - truth[at]);
    for (int k = 0; isfinite (truth[at]) && k < 3; k++)
      count[k] += k == 0 || away <= (k == 1 ? 1 : 3);
  }
  for (int a = 0; a < 256; a++)
    for (int k = 0; k < 2 * 256; k++) {
      const unsigned *count = counts[a][k / 2][k % 2];
      if (*count)
        printf ("%d %d %d %u %u %u\n", a, k / 2, k % 2, count[0], count[1], count[2]);
    }
  return 0;
}
