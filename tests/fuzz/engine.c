/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random parameters, in range and out of it, on random shapes between guard pages, before the first byte and after the
 * last one of every image and result: a plan is refused with a message, or it runs and its result is possible, and the
 * same wherever it lies. Nothing else may happen. Repeatable: STEREO_TEST_SEED, and STEREO_FUZZ_ITERATIONS for more of
 * it. With -DSTEREO_LIBFUZZER it is a target of libFuzzer, whose bytes are what is drawn first.
 */
#include <limits.h>
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/picture.h"
#include "stereo/stereo.h"

/* weighted taps of one frame; one in thirty-two may be as many as take 0.1 s without vectors */
#define MOST_WORK 3e7
#define USUAL_WORK 1e6

enum
{
  MOST_WIDTH = 80,
  MOST_HEIGHT = 60
};

static const double wild[] = { 0, -1, 1, 2, 1e9, -1e9, INT_MAX, INT_MIN, 0.5, 1e-300, 1e308, 65535, 1024, 64 };

static double
draw_value (const StereoParamInfo *info, Random *random)
{
  int choices = 0;

  while (info->choices && info->choices[choices].name)
    choices++;
  if (random_range (random, 0, 29) == 0) {
    if (info->type == STEREO_PARAM_DOUBLE && random_range (random, 0, 4) == 0)
      return random_range (random, 0, 1) ? NAN : INFINITY;
    return wild[random_range (random, 0, (int) (sizeof wild / sizeof *wild) - 1)];
  }
  if (choices)
    return info->choices[random_range (random, 0, choices - 1)].value;
  /* mostly near the lower end, where most of the sensible values are */
  double u = random_unit (random), value = info->min + (info->max - info->min) * u * u * u;
  return info->type == STEREO_PARAM_DOUBLE ? value : floor (value);
}

/* What nearly all of them would be refused for, by a check that one in ten is enough for. */
static void
make_sense (StereoParams *params, int width, Random *random)
{
  params->window += params->window > 0 && params->window % 2 == 0 ? 1 : 0;
  params->refine_window += params->refine_window > 0 && params->refine_window % 2 == 0 ? 1 : 0;
  params->min_disparity %= width;
  if (params->step_base > 0 && params->step_base < 1)
    params->step_base += 1;
  if (params->output == STEREO_OUTPUT_DEPTH && random_range (random, 0, 9))
    params->focal_length = params->baseline = random_range (random, 1, 1000);
  if (params->backend == STEREO_BACKEND_CUDA)
    params->backend = STEREO_BACKEND_CPU;
}

static void
draw_params (StereoParams *params, int width, Random *random)
{
  const StereoParamInfo *info;

  stereo_params_init (params);
  for (int i = 0; (info = stereo_param_info (i)); i++)
    if (random_range (random, 0, 2) == 0)
      stereo_param_set (params, info, draw_value (info, random));
  if (random_range (random, 0, 9))
    make_sense (params, width, random);
  if (random_range (random, 0, 9))
    params->cuda_device_id = -1;
  if (random_range (random, 0, 3))
    params->memory_limit = 0;
  if (params->threads > 8)
    params->threads = 8;
}

/* What a frame costs, about. */
static double
work_of (const StereoParams *p, int width, int height)
{
  double pixels = (double) width * height, window = p->window, refine = p->refine_window;
  double disparities = (p->num_disparities + 15) / 16 * 16; /* candidates are computed by sixteens */
  double match = disparities * (p->aggregation == STEREO_AGGREGATION_FULL ? window * window : 2 * window);
  double sums = p->refine_mode == STEREO_REFINE_FULL ? refine * refine :
      p->refine_mode == STEREO_REFINE_IDR            ? 2 * refine * disparities :
                                                       2 * refine;
  return pixels * (match + 2 * p->refine_iterations * (sums + disparities));
}

static void
print_params (const StereoParams *params, int width, int height)
{
  const StereoParamInfo *info;
  char text[32];

  fprintf (stderr, "  %dx%d", width, height);
  for (int i = 0; (info = stereo_param_info (i)); i++)
    if (stereo_param_get (params, info) != info->initial)
      fprintf (stderr, " %s=%s", info->name, stereo_param_format (params, info, text, sizeof text));
  fputc ('\n', stderr);
}

static void
check_result (const StereoParams *p, const float *result, const uint8_t *confidence, int pixels)
{
  for (int k = 0; k < pixels; k++) {
    if (p->output == STEREO_OUTPUT_DEPTH)
      CHECK (isnan (result[k]) || result[k] >= 0, "pixel %d: depth %g", k, (double) result[k]);
    else
      CHECK (isnan (result[k]) ||
              (result[k] >= p->min_disparity - 0.5f && result[k] <= p->min_disparity + p->num_disparities - 0.5f),
          "pixel %d: disparity %g", k, (double) result[k]);
    CHECK (!isnan (result[k]) || !confidence[k], "pixel %d: no value, and confidence %d", k, confidence[k]);
  }
}

/* What a frame writes: between guard pages, top down or bottom up, rows with a gap that nobody may write to. */
static void
result_new (Picture *result, int width, int height, int sample, int gap, int bottom_up, PictureGuard guard)
{
  const PictureLayout layout = { sample == 1 ? 1 : 3, sample, { 0, 1, (uint8_t) (sample - 1) }, gap, bottom_up };
  picture_new (result, width, height, &layout, guard);
}

/* Without gaps, top down; and the gaps are as they were. */
static void
result_take (Picture *result, void *to)
{
  ptrdiff_t row = (ptrdiff_t) result->width * result->layout.pixel_stride, end = row + result->layout.padding;

  for (int y = 0; y < result->height; y++) {
    const uint8_t *from = result->data + y * result->stride;
    memcpy ((uint8_t *) to + y * row, from, (size_t) row);
    for (ptrdiff_t k = row; k < end && y != (result->layout.bottom_up ? 0 : result->height - 1); k++)
      CHECK (from[k] == 0xA5, "row %d: written past its end", y);
  }
  picture_free (result);
}

static void
run_guarded (StereoPlan *plan, int width, int height, PictureGuard guard, const PictureLayout *const layout[2],
    Random random, float *disparity, uint8_t *confidence)
{
  PictureKind kind = (PictureKind) random_range (&random, 0, PICTURE_KINDS - 1);
  const StereoParams *p = stereo_plan_params (plan);
  int gap = random_range (&random, 0, 2) * 4, up[2] = { random_range (&random, 0, 1), random_range (&random, 0, 1) };
  Picture results[2], picture[2];
  StereoError error = { 0 };
  StereoStats stats;

  result_new (&results[0], width, height, sizeof *disparity, gap, up[0], guard);
  result_new (&results[1], width, height, 1, gap, up[1], guard);
  for (int v = 0; v < 2; v++)
    picture_new (&picture[v], width, height, layout[v], guard);
  picture_paint (&picture[0], &picture[1], kind, p->min_disparity, p->num_disparities, &random);
  StereoImage left = picture_view (&picture[0]), right = picture_view (&picture[1]);
  StereoOutput output = { results[0].data, results[0].stride, STEREO_SAMPLE_F32, results[1].data, results[1].stride };
  CHECK (!stereo_plan_execute (plan, &left, &right, &output, &stats, &error), "%s", error.message);
  result_take (&results[0], disparity);
  result_take (&results[1], confidence);
  check_result (p, disparity, confidence, width * height);
  for (int v = 0; v < 2; v++)
    picture_free (&picture[v]);
}

static void
run_frames (StereoPlan *plan, int width, int height, Random *random)
{
  static float disparity[2][MOST_WIDTH * MOST_HEIGHT];
  static uint8_t confidence[2][MOST_WIDTH * MOST_HEIGHT];
  const PictureLayout *layout[2] = { picture_random_layout (random), picture_random_layout (random) };
  size_t pixels = (size_t) width * (size_t) height;

  run_guarded (plan, width, height, PICTURE_GUARD_AFTER, layout, *random, disparity[0], confidence[0]);
  run_guarded (plan, width, height, PICTURE_GUARD_BEFORE, layout, *random, disparity[1], confidence[1]);
  CHECK (!memcmp (disparity[0], disparity[1], pixels * sizeof *disparity[0]) &&
          !memcmp (confidence[0], confidence[1], pixels),
      "another result at another place");
  random_next (random);
}

/* Mostly small: what goes wrong at edges does so there, in a tenth of the time. */
static int
draw_side (Random *random, int most)
{
  double u = random_unit (random);
  return 1 + (int) ((random_range (random, 0, 7) ? u * u * u : u) * most);
}

/* 2: ran, 1: taken but too much work, 0: refused */
static int
iterate (Random *random)
{
  double most_work = random_range (random, 0, 31) ? USUAL_WORK : MOST_WORK;
  int width = draw_side (random, MOST_WIDTH), height = draw_side (random, MOST_HEIGHT), outcome = 0;
  StereoParams params;
  StereoError error = { 0 };

  draw_params (&params, width, random);
  StereoPlan *plan = stereo_plan_new (&params, width, height, &error);
  if (plan) {
    outcome = work_of (stereo_plan_params (plan), width, height) < most_work ? 2 : 1;
    if (outcome == 2)
      run_frames (plan, width, height, random);
    stereo_plan_free (plan);
  } else {
    CHECK (error.status != STEREO_OK && strlen (error.message) > 10, "refused without a word");
  }
  if (fuzz_failed ())
    print_params (&params, width, height);
  return outcome;
}

const FuzzTarget fuzz_target = { 10000, { { "refused", 0 }, { "planned only", 0 }, { "run", 5 } }, iterate, NULL, NULL };
