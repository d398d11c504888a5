/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support=own: what each view gets must be what a matcher with support=left gives its left view, when that view, mirrored
 * if it is the right one, is its left view. No part of the engine but support=left is trusted here.
 */
#include "pair.h"

#include "stereo/engine/backend.h"

typedef struct Maps
{
  uint16_t *index;
  float *confidence;
  size_t pitch;
} Maps;

static void
maps_free (Maps *maps)
{
  free (maps->index);
  free (maps->confidence);
}

static Maps
take_maps (StereoPlan *plan, int view)
{
  size_t count = (size_t) plan->map_pitch * (size_t) plan->height;
  Maps maps = { calloc (count, sizeof *maps.index), calloc (count, sizeof *maps.confidence), (size_t) plan->map_pitch };

  CHECK (!plan->backend->copy_out (plan, maps.index, plan->view[view].index, count * sizeof *maps.index) &&
          !plan->backend->copy_out (plan, maps.confidence, plan->view[view].confidence, count * sizeof *maps.confidence),
      "maps cannot be read");
  return maps;
}

/* Takes both views' maps after a frame; @right may be NULL. */
static void
match (StereoParams params, int support, Pair *pair, Maps *left, Maps *right)
{
  StereoError error = { 0 };

  params.support = support;
  StereoPlan *plan = stereo_plan_new (&params, pair->width, pair->height, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    exit (1);
  for (int frame = 0; frame < 2; frame++)
    execute (plan, pair, NULL);
  *left = take_maps (plan, STEREO_LEFT);
  if (right)
    *right = take_maps (plan, STEREO_RIGHT);
  stereo_plan_free (plan);
}

/* The views of @pair, mirrored and exchanged. */
static void
turn (const Pair *pair, Pair *turned)
{
  pair_new (turned, pair->width, pair->height, 1);
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < pair->height; y++)
      for (int x = 0; x < pair->width; x++) {
        const Picture *from = &pair->picture[1 - v];
        const uint8_t *pixel = from->data + y * from->stride + (pair->width - 1 - x) * 3;
        picture_set (&turned->picture[v], x, y, (int[3]){ pixel[0], pixel[1], pixel[2] });
      }
}

static void
compare (const char *what, const Pair *pair, const Maps *got, const Maps *want)
{
  for (int y = 0; y < pair->height; y++)
    for (int x = 0; x < pair->width; x++) {
      size_t at = (size_t) y * want->pitch + (size_t) x;
      CHECK (got->index[at] == want->index[at] && got->confidence[at] == want->confidence[at],
          "%s view, column %d, row %d: %d with %g, wanted %d with %g", what, x, y, got->index[at],
          (double) got->confidence[at], want->index[at], (double) want->confidence[at]);
    }
}

/* The census over 7x5 pixels leaves out two corners, and is another one in a mirror: costs are those that are not. Without
 * the check, no view has a say about the other. */
static void
test_pair (StereoBackendChoice backend, StereoRefineMode mode, int iterations, int min, StereoCost cost)
{
  StereoParams params;
  Pair pair, turned;
  Maps left, right, want_left, want_right;

  params_small (&params);
  params.backend = backend;
  params.cost = cost;
  params.min_disparity = min;
  params.refine_mode = mode;
  params.refine_iterations = iterations;
  params.consistency = -1;
  params.fill = STEREO_FILL_KEEP;
  params.confidence_measure = STEREO_CONFIDENCE_MARGIN;
  params.align = STEREO_ALIGN_OFF;
  params.temporal = 0;
  pair_new (&pair, 83, 41, 5 + (uint64_t) iterations);
  turn (&pair, &turned);
  match (params, STEREO_SUPPORT_OWN, &pair, &left, &right);
  match (params, STEREO_SUPPORT_LEFT, &pair, &want_left, NULL);
  match (params, STEREO_SUPPORT_LEFT, &turned, &want_right, NULL);
  compare ("left", &pair, &left, &want_left);
  compare ("right", &pair, &right, &want_right);
  maps_free (&left);
  maps_free (&right);
  maps_free (&want_left);
  maps_free (&want_right);
  pair_free (&pair);
  pair_free (&turned);
}

static void
test_backend (const char *name, StereoBackendChoice backend)
{
  static const struct
  {
    StereoRefineMode mode;
    int iterations, min;
    StereoCost cost;
  } rows[] = {
    { STEREO_REFINE_TWO_PASS, 0, 0, STEREO_COST_CENSUS_9X7 },
    { STEREO_REFINE_TWO_PASS, 0, -7, STEREO_COST_SAD },
    { STEREO_REFINE_TWO_PASS, 1, 3, STEREO_COST_AD },
    { STEREO_REFINE_TWO_PASS, 3, 0, STEREO_COST_CENSUS_9X7 },
    { STEREO_REFINE_FULL, 2, 0, STEREO_COST_SAD },
    { STEREO_REFINE_IDR, 2, 0, STEREO_COST_SAD },
  };

  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (check_begin ("%s: case %zu", name, k)) {
      test_pair (backend, rows[k].mode, rows[k].iterations, rows[k].min, rows[k].cost);
      check_end ();
    }
}

int
main (int argc, char **argv)
{
  char reason[200];

  check_start (argc, argv);
  test_backend ("cpu", STEREO_BACKEND_CPU);
  if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason))
    test_backend ("cuda", STEREO_BACKEND_CUDA);
  return check_finish ();
}
