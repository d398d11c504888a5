/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only a device can show: graphs, plans side by side, device memory. Skipped where there is no device. */
#include "pair.h"

#include "tests/support/random.h"

#include <stdlib.h>

enum
{
  WIDTH = 157,
  HEIGHT = 83,
  FRAMES = 6,
  SETTINGS = 6
};

/* Settings that between them take every stage, and an even and an odd number of passes over the disparity map. */
static void
params_of (StereoParams *params, int setting)
{
  static const int profiles[] = { STEREO_PROFILE_BALANCED, STEREO_PROFILE_BALANCED, STEREO_PROFILE_BALANCED,
    STEREO_PROFILE_THESIS, STEREO_PROFILE_BALANCED, STEREO_PROFILE_BALANCED };

  params_small (params);
  params->backend = STEREO_BACKEND_CUDA;
  params->profile = profiles[setting];
  params->median = setting % 2 ? 3 : 0;
  if (setting == 1)
    params->paths = STEREO_PATHS_NONE;
  if (setting == 2) {
    params->support = STEREO_SUPPORT_BOTH;
    params->refine_iterations = 3;
    params->fill = STEREO_FILL_GAPS;
  }
  if (setting == 5) {
    params->refine_mode = STEREO_REFINE_IDR;
    params->cost = STEREO_COST_CENSUS_9X7;
  }
  if (setting == 4) {
    params->aggregation = STEREO_AGGREGATION_FULL;
    params->refine_mode = STEREO_REFINE_FULL;
    params->window = 9;
    params->refine_window = 9;
    params->median = 5;
    params->speckle_size = 20;
    params->fill = STEREO_FILL_BACKGROUND;
    params->confidence_threshold = 0.05;
  }
}

static StereoPlan *
plan_with (const StereoParams *params, int graph)
{
  StereoError error = { 0 };

  setenv ("STEREO_CUDA_GRAPH", graph ? "1" : "0", 1);
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  unsetenv ("STEREO_CUDA_GRAPH");
  if (!CHECK (plan != NULL, "%s", error.message))
    return NULL;
  CHECK (strstr (stereo_plan_backend_reason (plan), graph ? "one CUDA graph" : "one by one"), "%s",
      stereo_plan_backend_reason (plan));
  return plan;
}

static void
run (StereoPlan *plan, const Pair *pair, StereoSample sample, void *data, uint8_t *confidence)
{
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]);
  StereoOutput output = { data, WIDTH * 4, sample, confidence, WIDTH };
  StereoError error = { 0 };

  CHECK (!stereo_plan_execute (plan, &left, &right, &output, NULL, &error), "%s", error.message);
}

/* Frames, sample types and profiling change from call to call, and what a plan did before must not matter. */
CASE_ON_DEVICE (test_graph, "graph and single launches")
{
  static uint8_t data[2][WIDTH * HEIGHT * 4], confidence[2][WIDTH * HEIGHT];
  StereoParams params;
  Pair pair[FRAMES];

  for (int k = 0; k < FRAMES; k++)
    pair_new (&pair[k], WIDTH, HEIGHT, (uint64_t) k);
  for (int setting = 0; setting < SETTINGS; setting++) {
    params_of (&params, setting);
    StereoPlan *single = plan_with (&params, 0), *graph = plan_with (&params, 1);
    for (int k = 0; k < 3 * FRAMES && single && graph; k++) {
      memset (data, 0, sizeof data);
      stereo_plan_set_profiling (graph, k % 4 == 3);
      run (single, &pair[k * 5 % FRAMES], (StereoSample) (k % 3), data[0], confidence[0]);
      run (graph, &pair[k * 5 % FRAMES], (StereoSample) (k % 3), data[1], confidence[1]);
      CHECK (
          !memcmp (data[0], data[1], sizeof *data), "setting %d, frame %d: the graph gives another result", setting, k);
      CHECK (!memcmp (confidence[0], confidence[1], sizeof *confidence),
          "setting %d, frame %d: the graph gives another confidence", setting, k);
    }
    stereo_plan_free (single);
    stereo_plan_free (graph);
  }
  for (int k = 0; k < FRAMES; k++)
    pair_free (&pair[k]);
}

/* Runs a case with fused stages and with single ones, and compares all that comes out. */
static void
compare_fused (const StereoParams *params, int width, int height, const char *what)
{
  Pair fused, single;

  pair_new (&fused, width, height, 4);
  pair_new (&single, width, height, 4);
  execute_with (params, &fused);
  setenv ("STEREO_CUDA_FUSION", "0", 1);
  execute_with (params, &single);
  unsetenv ("STEREO_CUDA_FUSION");
  CHECK (pair_same_results (&fused, &single), "%s, %dx%d: another result", what, width, height);
  pair_free (&fused);
  pair_free (&single);
}

/* Stages that leave out what only the next stage would read give what all stages give one by one, to the bit: tests of
 * single stages run without such fusion. */
CASE_ON_DEVICE (test_fusion, "fused stages")
{
  static const struct
  {
    int disparities, window, width, height;
    int cost, paths;
    double p2;
  } cases[] = {
    { 128, 9, WIDTH, HEIGHT, STEREO_COST_MIXED, STEREO_PATHS_4, 0 },
    { 40, 17, 131, HEIGHT, STEREO_COST_CENSUS_7X5, STEREO_PATHS_4, 0 },
    { 200, 33, 333, HEIGHT, STEREO_COST_CENSUS_9X7, STEREO_PATHS_8, 0 },
    { 70, 11, 90, HEIGHT, STEREO_COST_AD, STEREO_PATHS_4, 0 },
    { 64, 9, WIDTH, HEIGHT, STEREO_COST_MIXED, STEREO_PATHS_4, 500 },
    /* in three bands; stretches that come up cross their borders */
    { 128, 5, 200, 700, STEREO_COST_MIXED, STEREO_PATHS_4, 0 },
  };

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    StereoParams params;
    char what[40];

    params_of (&params, 0);
    params.num_disparities = cases[k].disparities;
    params.window = cases[k].window;
    params.cost = cases[k].cost;
    params.paths = cases[k].paths;
    params.p2 = cases[k].p2;
    snprintf (what, sizeof what, "case %zu", k);
    compare_fused (&params, cases[k].width, cases[k].height, what);
  }
}

/* The last paths select: of both views, whatever the method, wherever the range begins, and in pictures that are narrower than
 * the range or have one column. The margin shows the second lowest costs too, and refinement the third ones. */
CASE_ON_DEVICE (test_winners, "paths that select")
{
  static const int widths[] = { 1, 2, 31, 33, 66, 127, 131, 260, 517 };
  Random random = { .state = random_seed () };

  for (int k = 0; k < 4 * random_count ("STEREO_TEST_DRAWS", 30); k++) {
    StereoParams params;
    char what[200];

    params_of (&params, 0);
    params.method = random_range (&random, 0, 2) ? STEREO_METHOD_SGM : STEREO_METHOD_ASW;
    params.cost = random_range (&random, 0, 1) ? STEREO_COST_MIXED : STEREO_COST_CENSUS_9X7;
    params.paths = params.method == STEREO_METHOD_SGM && random_range (&random, 0, 1) ? STEREO_PATHS_8 : STEREO_PATHS_4;
    params.num_disparities = 65 + random_range (&random, 0, 64 - 1);
    params.min_disparity = random_range (&random, 0, 1) ? 0 : random_range (&random, 0, 200 - 1) - 140;
    params.refine_iterations = random_range (&random, 0, 3 - 1);
    params.subpixel = random_range (&random, 0, 3) ? STEREO_SUBPIXEL_ON : STEREO_SUBPIXEL_OFF;
    params.confidence_measure = random_range (&random, 0, 1) ? STEREO_CONFIDENCE_MARGIN : STEREO_CONFIDENCE_PROBABILITY;
    params.fill = random_range (&random, 0, 1) ? STEREO_FILL_KEEP : STEREO_FILL_BACKGROUND;
    params.p2 = random_range (&random, 0, 2) ? 0 : 20;
    params.p1 = params.p2 / 4;
    params.consistency = 1;
    int width = widths[random_range (&random, 0, (int) (sizeof widths / sizeof *widths) - 1)];
    int height = 1 + random_range (&random, 0, 40 - 1);
    if (params.min_disparity >= width || params.min_disparity + params.num_disparities <= -width)
      params.min_disparity = 0;
    snprintf (what, sizeof what,
        "draw %d: method %d, cost %d, %d paths, from %d, %d disparities, %d refinements, subpixel %d, measure %d, fill %d, p2 %g",
        k, params.method, params.cost, params.paths, params.min_disparity, params.num_disparities,
        params.refine_iterations, params.subpixel, params.confidence_measure, params.fill, params.p2);
    compare_fused (&params, width, height, what);
  }
}

/* What a kernel is allowed is the device's, not the plan's: a plan made later for a small window takes nothing from one
 * with a large window. */
CASE_ON_DEVICE (test_neighbours, "a large window beside a small one")
{
  static uint8_t data[2][WIDTH * HEIGHT * 4], confidence[2][WIDTH * HEIGHT];
  StereoParams params;
  Pair pair;

  pair_new (&pair, WIDTH, HEIGHT, 4);
  for (int graph = 0; graph < 2; graph++) {
    params_of (&params, 0);
    params.support = STEREO_SUPPORT_BOTH;
    params.window = params.refine_window = 63;
    StereoPlan *large = plan_with (&params, graph);
    memset (data, 0, sizeof data);
    if (large)
      run (large, &pair, STEREO_SAMPLE_F32, data[0], confidence[0]);
    params.window = params.refine_window = 5;
    StereoPlan *small = plan_with (&params, graph);
    if (small)
      run (small, &pair, STEREO_SAMPLE_F32, data[1], confidence[1]);
    if (large)
      run (large, &pair, STEREO_SAMPLE_F32, data[1], confidence[1]);
    CHECK (!memcmp (data[0], data[1], sizeof *data), "graph=%d: another result beside a small window", graph);
    stereo_plan_free (large);
    stereo_plan_free (small);
  }
  pair_free (&pair);
}

/* Made and freed again and again, with frames in flight: nothing runs out. */
CASE_ON_DEVICE (test_made_again, "1000 plans")
{
  StereoError error = { 0 };
  StereoParams params;
  Pair want, got;

  params_of (&params, 0);
  pair_new (&want, WIDTH, HEIGHT, 4);
  pair_new (&got, WIDTH, HEIGHT, 4);
  execute_with (&params, &want);
  StereoImage left = picture_view (&got.picture[0]), right = picture_view (&got.picture[1]);
  StereoOutput output = { got.result, WIDTH * 2, STEREO_SAMPLE_U16, got.confidence, WIDTH };
  for (int k = 0; k < 1000 && !check_failures (); k++) {
    StereoPlan *plan = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
    if (!CHECK (plan != NULL, "plan %d: %s", k, error.message))
      break;
    memset (got.result, 0, (size_t) (WIDTH * HEIGHT * 2));
    execute (plan, &got, NULL);
    CHECK (pair_same_results (&want, &got), "plan %d gives another result", k);
    for (int frame = 0; frame < k % 3; frame++)
      CHECK (!stereo_plan_submit (plan, &left, &right, &output, &error), "%s", error.message);
    stereo_plan_free (plan);
  }
  pair_free (&want);
  pair_free (&got);
}

/* Views in device memory, one and both, give what views in host memory give. */
CASE_ON_DEVICE (test_device_input, "views in device memory")
{
  StereoError error = { 0 };
  StereoImage host[2], device[2];
  StereoParams params;
  Pair want, got;

  params_of (&params, 0);
  pair_new (&want, WIDTH, HEIGHT, 4);
  pair_new (&got, WIDTH, HEIGHT, 4);
  execute_with (&params, &want);
  StereoPlan *plan = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  for (int v = 0; v < 2; v++) {
    host[v] = picture_view (&want.picture[v]);
    CHECK (!stereo_plan_image_new (plan, &host[v], &device[v], &error), "%s", error.message);
    CHECK (device[v].memory == STEREO_MEMORY_CUDA, "the copy lies in host memory");
  }
  for (int which = 0; which < 4; which++) {
    StereoOutput output = { got.result, WIDTH * 2, STEREO_SAMPLE_U16, got.confidence, WIDTH };
    memset (got.result, 0, (size_t) (WIDTH * HEIGHT * 2));
    CHECK (!stereo_plan_execute (
               plan, which & 1 ? &device[0] : &host[0], which & 2 ? &device[1] : &host[1], &output, NULL, &error),
        "%s", error.message);
    CHECK (pair_same_results (&want, &got), "views %d in device memory give another result", which);
  }
  for (int v = 0; v < 2; v++)
    stereo_plan_image_free (plan, &device[v]);
  stereo_plan_free (plan);
  pair_free (&want);
  pair_free (&got);
}
