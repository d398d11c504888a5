/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in flight, on every backend there is: submit and collect give what execute gives, and misuse is said. */
#include "stereo/engine/backend.h"
#include "pair.h"

#include <unistd.h>

enum
{
  WIDTH = 61,
  HEIGHT = 37,
  FRAMES = 9
};

static StereoPlan *
plan_on (int backend, StereoParams *params)
{
  StereoError error = { 0 };

  params_small (params);
  params->backend = backend;
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  CHECK (plan != NULL, "%s", error.message);
  return plan;
}

/* Runs @test on the CPU, and on CUDA where there is a device. */
static void
on_backends (void (*test) (StereoPlan *plan))
{
  StereoParams params;

  for (int backend = STEREO_BACKEND_CUDA; backend <= STEREO_BACKEND_CPU; backend++) {
    if (!stereo_backend_available ((StereoBackendChoice) backend, -1, NULL, 0))
      continue;
    StereoPlan *plan = plan_on (backend, &params);
    if (plan)
      test (plan);
    stereo_plan_free (plan);
  }
}

#define CASE_ON_BACKENDS(check, text) \
  static void check (StereoPlan *plan); \
  CASE (check##_on_backends, text) \
  { \
    on_backends (check); \
  } \
  static void check (StereoPlan *plan)

static StereoStatus
submit (StereoPlan *plan, Pair *pair, StereoError *error)
{
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]);
  StereoOutput output = { pair->result, WIDTH * 2, STEREO_SAMPLE_U16, pair->confidence, WIDTH };

  return stereo_plan_submit (plan, &left, &right, &output, error);
}

static void
collect (StereoPlan *plan, StereoStats *stats)
{
  StereoError error = { 0 };
  CHECK (!stereo_plan_collect (plan, stats, &error), "%s", error.message);
}

/* ---- results ----------------------------------------------------------------------------- */

/* The caller's again once submit has returned. */
static void
spoil (Pair *pair)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < HEIGHT; y++) {
      StereoImage view = picture_view (&pair->picture[v]);
      memset ((uint8_t *) view.data + y * view.stride, 0xA5, WIDTH * (size_t) view.pixel_stride);
    }
}

/* What a frame gives: @confidence lies behind samples of any type. */
typedef struct Result
{
  uint8_t samples[WIDTH * HEIGHT * 4], confidence[WIDTH * HEIGHT];
} Result;

/* Of three types in turn: results of one frame do not reach into another's. */
static StereoOutput
output_of (Result *result, int k)
{
  static const ptrdiff_t sizes[] = { [STEREO_SAMPLE_U8] = 1, [STEREO_SAMPLE_U16] = 2, [STEREO_SAMPLE_F32] = 4 };
  StereoSample sample = (StereoSample) (k % 3);

  memset (result, 0xEE, sizeof *result);
  return (StereoOutput){ result->samples, WIDTH * sizes[sample], sample, result->confidence, WIDTH };
}

CASE_ON_BACKENDS (check_overlap, "two in flight give what execute gives")
{
  static Result want[FRAMES], got[FRAMES];
  Pair pair[FRAMES];
  StereoStats wanted[FRAMES] = { { 0 } }, stats = { 0 };
  StereoError error = { 0 };
  int collected = 0;

  for (int k = 0; k < FRAMES; k++) {
    StereoOutput output = output_of (&want[k], k);
    pair_new (&pair[k], WIDTH, HEIGHT, (uint64_t) k);
    StereoImage left = picture_view (&pair[k].picture[0]), right = picture_view (&pair[k].picture[1]);
    CHECK (!stereo_plan_execute (plan, &left, &right, &output, &wanted[k], &error), "%s", error.message);
  }
  CHECK (memcmp (&want[0], &want[3], sizeof *want), "two frames give one result");
  for (int k = 0; k <= FRAMES; k++) {
    /* one stays in flight, and another joins it; every third time all are collected */
    int left_there = k < FRAMES && k % 3 < 2;
    if (k < FRAMES) {
      StereoOutput output = output_of (&got[k], k);
      StereoImage left = picture_view (&pair[k].picture[0]), right = picture_view (&pair[k].picture[1]);
      CHECK (!stereo_plan_submit (plan, &left, &right, &output, &error), "frame %d: %s", k, error.message);
      spoil (&pair[k]);
    }
    for (; stereo_plan_in_flight (plan) > left_there; collected++) {
      collect (plan, &stats);
      CHECK (!memcmp (&want[collected], &got[collected], sizeof *want), "frame %d differs from that of execute",
          collected);
      CHECK (stats.valid_ratio == wanted[collected].valid_ratio &&
              stats.mean_confidence == wanted[collected].mean_confidence,
          "frame %d: other stats than those of execute", collected);
      CHECK (stats.steps_ns > 0 && stats.steps_ns <= stats.compute_ns, "frame %d: steps %llu ns, all %llu", collected,
          (unsigned long long) stats.steps_ns, (unsigned long long) stats.compute_ns);
    }
  }
  CHECK (collected == FRAMES, "%d of %d frames came back", collected, FRAMES);
  for (int k = 0; k < FRAMES; k++)
    pair_free (&pair[k]);
}

/* However late a frame is collected, its time ends when its results were there. */
CASE_ON_BACKENDS (check_time, "time does not run on until a frame is collected")
{
  StereoStats stats = { 0 };
  StereoError error = { 0 };
  Pair pair;

  pair_new (&pair, WIDTH, HEIGHT, 3);
  execute (plan, &pair, NULL);
  CHECK (!submit (plan, &pair, &error), "%s", error.message);
  usleep (1000000);
  collect (plan, &stats);
  CHECK (stats.compute_ns > 0 && stats.compute_ns < 900000000, "%llu ns", (unsigned long long) stats.compute_ns);
  pair_free (&pair);
}

/* ---- misuse ------------------------------------------------------------------------------ */

static void
refused (StereoStatus status, const StereoError *error, const char *word)
{
  CHECK (status == STEREO_ERROR_PARAMETER, "status %d: %s", status, word);
  CHECK (strstr (error->message, word), "'%s' does not say %s", error->message, word);
}

CASE_ON_BACKENDS (check_misuse, "misuse")
{
  StereoError error = { 0 };
  Pair pair[3], want;

  for (int k = 0; k < 3; k++)
    pair_new (&pair[k], WIDTH, HEIGHT, 7);
  pair_new (&want, WIDTH, HEIGHT, 7);
  execute (plan, &want, NULL);
  StereoImage view = picture_view (&pair[0].picture[0]), bad = view;
  StereoOutput output = { pair[2].result, WIDTH * 2, STEREO_SAMPLE_U16, NULL, 0 };
  bad.channels = 2;

  refused (stereo_plan_collect (plan, NULL, &error), &error, "submit one");
  refused (stereo_plan_submit (plan, &bad, &view, &output, &error), &error, "channels");
  CHECK (stereo_plan_in_flight (plan) == 0, "a refused frame is in flight");
  CHECK (!submit (plan, &pair[0], &error) && !submit (plan, &pair[1], &error), "%s", error.message);
  refused (submit (plan, &pair[2], &error), &error, "collect one");
  refused (stereo_plan_execute (plan, &view, &view, &output, NULL, &error), &error, "collect them");
  CHECK (stereo_plan_in_flight (plan) == 2, "%d in flight", stereo_plan_in_flight (plan));
  collect (plan, NULL);
  stereo_plan_set_profiling (plan, 1);
  refused (submit (plan, &pair[2], &error), &error, "profiling");
  collect (plan, NULL);
  CHECK (!submit (plan, &pair[2], &error), "%s", error.message);
  collect (plan, NULL);
  stereo_plan_set_profiling (plan, 0);
  refused (stereo_plan_collect (plan, NULL, &error), &error, "submit one");
  for (int k = 0; k < 3; k++) {
    CHECK (pair_same_results (&want, &pair[k]), "frame %d is not what execute gives, after the refusals", k);
    pair_free (&pair[k]);
  }
  pair_free (&want);
}

/* ---- failures ---------------------------------------------------------------------------- */

static StereoStatus
fail_run (StereoPlan *plan, void *context, StereoError *error)
{
  return stereo_fail (error, STEREO_ERROR_BACKEND, "A step that fails.");
}

/* The frame before one that fails is whole; the failure is that frame's, and the plan takes no more. */
CASE (test_failure, "a frame that fails")
{
  static const StereoStage failing = { .name = "failing", .run = fail_run };
  StereoParams params;
  StereoPlan *plan = plan_on (STEREO_BACKEND_CPU, &params);
  StereoError error = { 0 };
  Pair pair, want;

  if (!plan)
    return;
  pair_new (&pair, WIDTH, HEIGHT, 7);
  pair_new (&want, WIDTH, HEIGHT, 7);
  execute (plan, &want, NULL);
  CHECK (!submit (plan, &pair, &error), "%s", error.message);
  plan->steps[2].stage = &failing;
  CHECK (!submit (plan, &want, &error), "%s", error.message);
  collect (plan, NULL);
  CHECK (stereo_plan_collect (plan, NULL, &error) == STEREO_ERROR_BACKEND && strstr (error.message, "step that fails"),
      "'%s'", error.message);
  CHECK (submit (plan, &pair, &error) == STEREO_ERROR_BACKEND && strstr (error.message, "can only be freed") &&
          strstr (error.message, "step that fails"),
      "'%s'", error.message);
  CHECK (stereo_plan_in_flight (plan) == 0, "%d in flight", stereo_plan_in_flight (plan));
  stereo_plan_free (plan);
  pair_free (&pair);
  pair_free (&want);
}

static Pair flying[2];

/* What is in flight goes with the plan; the buffers outlive it. */
static void
check_free (StereoPlan *plan)
{
  StereoError error = { 0 };

  for (int k = 0; k < 2; k++)
    CHECK (!submit (plan, &flying[k], &error), "%s", error.message);
}

CASE (test_free, "freed with frames in flight")
{
  for (int k = 0; k < 2; k++)
    pair_new (&flying[k], WIDTH, HEIGHT, (uint64_t) k);
  on_backends (check_free);
  for (int k = 0; k < 2; k++)
    pair_free (&flying[k]);
}
