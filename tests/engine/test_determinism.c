/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The same input gives the same output, bit for bit: run to run, plan to plan, for any number of threads, on every
 * backend there is. (That the backends agree with each other is the stage tests'
 * business, and that remapping gives what its twin gives, with any threads, that of test_remap.c.)
 */
#include "pair.h"

enum
{
  WIDTH = 101,
  HEIGHT = 53,
  THREADS = 8,
  RUNS = 2
};

/* All that a frame gives. */
typedef struct Result
{
  float disparity[WIDTH * HEIGHT];
  uint8_t confidence[WIDTH * HEIGHT];
  double valid_ratio, mean_confidence;
} Result;

static void
run (StereoPlan *plan, const Pair *pair, Result *result)
{
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]);
  StereoOutput output = { result->disparity, WIDTH * 4, STEREO_SAMPLE_F32, result->confidence, WIDTH };
  StereoError error = { 0 };
  StereoStats stats = { 0 };

  memset (result, 0xA5, sizeof *result);
  CHECK (!stereo_plan_execute (plan, &left, &right, &output, &stats, &error), "%s", error.message);
  result->valid_ratio = stats.valid_ratio;
  result->mean_confidence = stats.mean_confidence;
}

/* Nothing may be left of another picture in between. */
static void
run_plan (const StereoParams *params, const Pair *pair, const Pair *other, Result *result, const Result *want)
{
  StereoError error = { 0 };
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  Result *again = malloc (sizeof *again);

  if (CHECK (plan != NULL, "%s", error.message)) {
    run (plan, pair, result);
    run (plan, other, again);
    run (plan, pair, again);
    CHECK (!memcmp (again, result, sizeof *again), "%d threads: another result the second time", params->threads);
    CHECK (!want || !memcmp (want, result, sizeof *want), "%d threads: another result", params->threads);
  }
  stereo_plan_free (plan);
  free (again);
}

static void
compare_runs (StereoParams *params)
{
  Result *want = malloc (sizeof *want), *got = malloc (sizeof *got);
  int most = params->backend == STEREO_BACKEND_CPU ? THREADS : 2;
  Pair pair, other;

  pair_new (&pair, WIDTH, HEIGHT, 11);
  pair_new (&other, WIDTH, HEIGHT, 12);
  params->threads = 1;
  run_plan (params, &pair, &other, want, NULL);
  CHECK (want->valid_ratio > 0.1, "hardly a pixel is valid (%g): nothing is compared", want->valid_ratio);
  for (int run = 0; run < RUNS; run++)
    for (int threads = 1; threads <= most; threads++) {
      params->threads = threads;
      run_plan (params, &pair, &other, got, want);
    }
  pair_free (&pair);
  pair_free (&other);
  free (want);
  free (got);
}

/* What else changes the steps: both kinds of aggregation, every finish. */
static void
params_of (StereoParams *params, int backend, int method, int refine, int finish)
{
  params_small (params);
  params_set (
      params, "backend=%d method=%d refine-mode=%d refine-iterations=2 refine-window=9", backend, method, refine);
  if (method == STEREO_METHOD_ASW || method == STEREO_METHOD_BM)
    params->window = 9;
  if (finish)
    params_set (params, "support=both speckle-size=20 median=5 fill=background confidence-threshold=0.02 %s",
        method == STEREO_METHOD_ASW ? "aggregation=full" : "");
}

static void
test_plans (int backend)
{
  static const int refine[] = { STEREO_REFINE_TWO_PASS, STEREO_REFINE_FULL, STEREO_REFINE_IDR };

  for (int method = 0; method < STEREO_METHODS; method++)
    for (int k = 0; k < 3; k++)
      for (int finish = 0; finish < 2; finish++)
        if (check_begin ("%s method=%s, refine mode %d, finish %d", backend == STEREO_BACKEND_CPU ? "cpu" : "cuda",
                stereo_method_info (method)->name, k, finish)) {
          StereoParams params;
          params_of (&params, backend, method, refine[k], finish);
          compare_runs (&params);
          check_end ();
        }
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  for (int backend = STEREO_BACKEND_CUDA; backend <= STEREO_BACKEND_CPU; backend++) {
    char reason[200];
    if (!stereo_backend_available ((StereoBackendChoice) backend, -1, reason, sizeof reason)) {
      printf ("cuda is left out: %s\n", reason);
      continue;
    }
    test_plans (backend);
  }
  return check_finish ();
}
