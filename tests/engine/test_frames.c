/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames: the same result again and again, with any threads and beside other plans; nothing written elsewhere. */
#include <math.h>

#include "pair.h"

/* ---- repetition -------------------------------------------------------------------------- */

/* Frames leave nothing behind, and plans do not see each other. */
CASE (test_neighbours, "frames and plans side by side")
{
  static const int widths[2] = { 61, 90 };
  StereoParams params[2];
  StereoPlan *plan[2];
  StereoError error = { 0 };
  Pair alone[2][3], mixed[2][3];

  for (int p = 0; p < 2; p++) {
    params_small (&params[p]);
    params[p].profile = p ? STEREO_PROFILE_THESIS : STEREO_PROFILE_BALANCED;
    params[p].speckle_size = 20;
    plan[p] = stereo_plan_new (&params[p], widths[p], 37, &error);
    if (!CHECK (plan[p] != NULL, "%s", error.message))
      return;
    for (int k = 0; k < 3; k++) {
      pair_new (&alone[p][k], widths[p], 37, (uint64_t) k);
      pair_new (&mixed[p][k], widths[p], 37, (uint64_t) k);
      execute_with (&params[p], &alone[p][k]);
    }
  }
  for (int round = 0; round < 2; round++)
    for (int k = 0; k < 3; k++)
      for (int p = 0; p < 2; p++) {
        execute (plan[p], &mixed[p][k], NULL);
        CHECK (pair_same_results (&alone[p][k], &mixed[p][k]), "round %d: frame %d of plan %d differs from alone",
            round, k, p);
      }
  for (int p = 0; p < 2; p++) {
    stereo_plan_free (plan[p]);
    for (int k = 0; k < 3; k++) {
      pair_free (&alone[p][k]);
      pair_free (&mixed[p][k]);
    }
  }
}

/* Bit for bit, on every backend that is there. */
static int
same_frame (StereoPlan *plan, Pair *pair, const Pair *want, const StereoStats *wanted)
{
  StereoStats stats = { 0 };

  memset (pair->result, 0xA5, (size_t) (pair->width * pair->height) * sizeof *pair->result);
  execute (plan, pair, &stats);
  return pair_same_results (pair, want) && stats.valid_ratio == wanted->valid_ratio &&
      stats.mean_confidence == wanted->mean_confidence;
}

/* Plan after plan and frame after frame, with a picture of another seed in between. */
static void
repeat (StereoParams *params, const char *what)
{
  static const int threads[] = { 1, 2, 3, 7, 64, 0 };
  Pair want, got, other;
  StereoStats wanted = { 0 };

  pair_new (&want, 61, 37, 9);
  pair_new (&got, 61, 37, 9);
  pair_new (&other, 61, 37, 12);
  for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
    StereoError error = { 0 };
    params->threads = threads[k];
    StereoPlan *plan = stereo_plan_new (params, 61, 37, &error);
    if (!CHECK (plan != NULL, "%s: %s", what, error.message))
      break;
    if (k == 0)
      execute (plan, &want, &wanted);
    CHECK (same_frame (plan, &got, &want, &wanted), "%s: %d threads differ from one", what, threads[k]);
    execute (plan, &other, NULL);
    CHECK (same_frame (plan, &got, &want, &wanted), "%s: %d threads differ the second time", what, threads[k]);
    stereo_plan_free (plan);
  }
  CHECK (wanted.valid_ratio > 0.1 && !pair_same_results (&want, &other), "%s: nothing is compared", what);
  pair_free (&want);
  pair_free (&got);
  pair_free (&other);
}

/* All that changes the steps: methods, refinements, both kinds of aggregation, every finish, profiles. */
CASE (test_threads, "again and again, with any threads")
{
  StereoParams params;
  char what[80];

  for (int backend = STEREO_BACKEND_CUDA; backend <= STEREO_BACKEND_CPU; backend++)
    for (int k = 0; stereo_backend_available ((StereoBackendChoice) backend, -1, NULL, 0) && k < 6 * STEREO_METHODS;
         k++) {
      int method = k / 6, mode = STEREO_REFINE_TWO_PASS + k % 3, finish = k / 3 % 2;
      params_small (&params);
      params_set (&params, "backend=%d method=%d refine-mode=%d refine-iterations=2 refine-window=9 %s %s", backend,
          method, mode, method == STEREO_METHOD_ASW || method == STEREO_METHOD_BM ? "window=9" : "",
          finish ? "support=both speckle-size=20 median=5 fill=background confidence-threshold=0.02" : "");
      params.aggregation = finish && method == STEREO_METHOD_ASW ? STEREO_AGGREGATION_FULL : params.aggregation;
      snprintf (what, sizeof what, "backend %d, method %d, refine mode %d, finish %d", backend, method, mode, finish);
      repeat (&params, what);
    }
  for (int profile = 0; profile < STEREO_PROFILES; profile++) {
    params_small (&params);
    params.profile = profile;
    snprintf (what, sizeof what, "profile %d", profile);
    repeat (&params, what);
  }
}

/* ---- buffers ----------------------------------------------------------------------------- */

CASE (test_strides, "nothing is written beside the rows")
{
  static const size_t sizes[] = { [STEREO_SAMPLE_U8] = 1, [STEREO_SAMPLE_U16] = 2, [STEREO_SAMPLE_F32] = 4 };
  enum
  {
    WIDTH = 45,
    HEIGHT = 19,
    STRIDE = 200,
    OTHER = 77
  };
  StereoParams params;
  StereoError error = { 0 };
  Pair pair;

  params_small (&params);
  pair_new (&pair, WIDTH, HEIGHT, 2);
  StereoPlan *plan = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  for (int sample = 0; plan && sample < 3; sample++) {
    static uint8_t data[STRIDE * HEIGHT], confidence[OTHER * HEIGHT];
    memset (data, 0xEE, sizeof data);
    memset (confidence, 0xEE, sizeof confidence);
    StereoImage left = picture_view (&pair.picture[0]), right = picture_view (&pair.picture[1]);
    StereoOutput output = { data, STRIDE, (StereoSample) sample, confidence, OTHER };
    CHECK (!stereo_plan_execute (plan, &left, &right, &output, NULL, &error), "%s", error.message);
    for (size_t at = 0; at < sizeof data; at++)
      CHECK (
          at % STRIDE < WIDTH * sizes[sample] || data[at] == 0xEE, "sample type %d: byte %zu was written", sample, at);
    for (size_t at = 0; at < sizeof confidence; at++)
      CHECK (at % OTHER < WIDTH || confidence[at] == 0xEE, "confidence byte %zu was written", at);
  }
  CHECK (plan != NULL, "%s", error.message);
  stereo_plan_free (plan);
  pair_free (&pair);
}

CASE (test_stats, "stats and profiling")
{
  StereoParams params;
  StereoError error = { 0 };
  StereoStats stats = { -1, -1, 0, 0 };
  Pair pair;
  int valid = 0;
  double confidence = 0, sum = 0;

  params_small (&params);
  pair_new (&pair, 120, 60, 4);
  StereoPlan *plan = stereo_plan_new (&params, 120, 60, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  stereo_plan_set_profiling (plan, 1);
  execute (plan, &pair, &stats);
  for (int at = 0; at < 120 * 60; at++) {
    valid += pair.result[at] != 0;
    confidence += pair.confidence[at] / 255.0;
  }
  CHECK (fabs (stats.valid_ratio - valid / 7200.0) < 1e-9, "%g, counted %g", stats.valid_ratio, valid / 7200.0);
  CHECK (fabs (stats.mean_confidence - confidence / 7200.0) < 0.003, "%g, summed %g", stats.mean_confidence,
      confidence / 7200);
  CHECK (stats.valid_ratio > 0.3 && stats.valid_ratio < 1, "%g of a textured pair is valid", stats.valid_ratio);
  CHECK (stereo_plan_stage_count (plan) >= 5, "%d stages", stereo_plan_stage_count (plan));
  for (int k = 0; k < stereo_plan_stage_count (plan); k++) {
    CHECK (*stereo_plan_stage_name (plan, k) && stereo_plan_stage_ms (plan, k) >= 0, "stage %d: %g ms", k,
        stereo_plan_stage_ms (plan, k));
    sum += stereo_plan_stage_ms (plan, k);
  }
  CHECK (sum > 0 && sum <= stats.compute_ns * 1e-6 + 0.01, "stages take %g ms, the frame %g", sum,
      stats.compute_ns * 1e-6);
  CHECK (stats.steps_ns > 0 && stats.steps_ns <= stats.compute_ns && sum <= stats.steps_ns * 1e-6 + 0.01,
      "steps take %llu ns, the frame %llu, its stages %g ms", (unsigned long long) stats.steps_ns,
      (unsigned long long) stats.compute_ns, sum);
  stereo_plan_set_profiling (plan, 0);
  stats.steps_ns = 0;
  execute (plan, &pair, &stats);
  CHECK (stats.steps_ns > 0, "steps are not timed without profiling");
  CHECK (!stereo_plan_stage_name (plan, -1) && !stereo_plan_stage_name (plan, 99), "stages past the ends");
  stereo_plan_free (plan);
  pair_free (&pair);
}

/* A copy in the backend's memory, of rows from the bottom up with gaps between them, gives the same result. */
CASE (test_image_copies, "copies of images")
{
  enum
  {
    WIDTH = 45,
    HEIGHT = 19,
    STRIDE = WIDTH * 4 + 7
  };
  static uint8_t bytes[2][STRIDE * HEIGHT];
  StereoParams params;
  StereoError error = { 0 };
  StereoImage copy[2], odd[2];
  Pair want, got;

  params_small (&params);
  pair_new (&want, WIDTH, HEIGHT, 6);
  pair_new (&got, WIDTH, HEIGHT, 6);
  execute_with (&params, &want);
  StereoPlan *plan = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  for (int v = 0; v < 2; v++) {
    StereoImage view = picture_view (&want.picture[v]);
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        for (int c = 0; c < 3; c++)
          bytes[v][(HEIGHT - 1 - y) * STRIDE + x * 4 + 3 - c] = view.data[y * view.stride + x * view.pixel_stride + c];
    odd[v] = (StereoImage){ bytes[v] + (HEIGHT - 1) * STRIDE, -STRIDE, 4, 3, { 3, 2, 1 }, STEREO_MEMORY_HOST };
    CHECK (!stereo_plan_image_new (plan, &odd[v], &copy[v], &error), "%s", error.message);
    memset (bytes[v], 0, sizeof bytes[v]);
  }
  StereoOutput output = { got.result, WIDTH * 2, STEREO_SAMPLE_U16, got.confidence, WIDTH };
  CHECK (!stereo_plan_execute (plan, &copy[0], &copy[1], &output, NULL, &error), "%s", error.message);
  CHECK (pair_same_results (&want, &got), "copies of the images give another result");
  odd[0].memory = STEREO_MEMORY_CUDA;
  stereo_plan_image_free (plan, &copy[0]);
  CHECK (stereo_plan_image_new (plan, &odd[0], &copy[0], &error) == STEREO_ERROR_PARAMETER && !copy[0].data,
      "an image in device memory was copied");
  stereo_plan_image_free (plan, &copy[0]);
  stereo_plan_image_free (plan, &copy[1]);
  stereo_plan_free (plan);
  pair_free (&want);
  pair_free (&got);
}
