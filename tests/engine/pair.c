/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pair.h"

int
no_device (void)
{
  char reason[200];

  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason))
    return 0;
  check_skip ("%s", reason);
  return 1;
}

void
pair_new (Pair *pair, int width, int height, uint64_t seed)
{
  static const PictureLayout rgb = { 3, 3, { 0, 1, 2 }, 0, 0 };
  Random random = { seed };

  *pair = (Pair){ .width = width, .height = height };
  for (int v = 0; v < 2; v++)
    picture_new (&pair->picture[v], width, height, &rgb, PICTURE_PLAIN);
  picture_paint (&pair->picture[0], &pair->picture[1], PICTURE_SHIFTED, 0, 12, &random);
  pair->result = calloc ((size_t) (width * height), sizeof *pair->result);
  pair->confidence = calloc ((size_t) (width * height), 1);
}

void
pair_free (Pair *pair)
{
  picture_free (&pair->picture[0]);
  picture_free (&pair->picture[1]);
  free (pair->result);
  free (pair->confidence);
}

void
params_small (StereoParams *params)
{
  stereo_params_init (params);
  params->backend = STEREO_BACKEND_CPU;
  params->num_disparities = 24;
}

void
execute (StereoPlan *plan, Pair *pair, StereoStats *stats)
{
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]);
  StereoOutput output = { pair->result, pair->width * 2, STEREO_SAMPLE_U16, pair->confidence, pair->width };
  StereoError error = { 0 };

  CHECK (!stereo_plan_execute (plan, &left, &right, &output, stats, &error), "%s", error.message);
}

void
execute_with (const StereoParams *params, Pair *pair)
{
  StereoError error = { 0 };
  StereoPlan *plan = stereo_plan_new (params, pair->width, pair->height, &error);

  if (CHECK (plan != NULL, "%s", error.message))
    execute (plan, pair, NULL);
  stereo_plan_free (plan);
}

int
pair_same_results (const Pair *a, const Pair *b)
{
  size_t pixels = (size_t) (a->width * a->height);
  return !memcmp (a->result, b->result, pixels * 2) && !memcmp (a->confidence, b->confidence, pixels);
}
