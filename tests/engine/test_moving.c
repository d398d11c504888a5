/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole frames in a row on a device, while the cameras move: each depends on the one before, at its own disparities, and steps run
 * side by side. Tests of stages see one step at a time. */
#include "pair.h"

#include "tests/support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
  WIDTH = 640,
  HEIGHT = 403,
  FRAMES = 5
};

/* A plan, and the pair that it works on. */
typedef struct Matcher
{
  StereoPlan *plan;
  Pair pair;
} Matcher;

/* @in_order: kernels wait for each other, in the order of the steps. */
static int
matcher_new (Matcher *m, const StereoParams *params, int in_order)
{
  StereoError error = { 0 };

  pair_new (&m->pair, WIDTH, HEIGHT, 0);
  setenv ("STEREO_DEBUG_SYNC", in_order ? "1" : "0", 1);
  m->plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);
  unsetenv ("STEREO_DEBUG_SYNC");
  return CHECK (m->plan != NULL, "%s", error.message);
}

static void
matcher_free (Matcher *m)
{
  stereo_plan_free (m->plan);
  pair_free (&m->pair);
}

/* A texture in patches. Between them it is so faint that pixels are unsure. */
static double
patches (double x, double y)
{
  double value = picture_texture (x, y, 0) - 128;
  return 128 + (sin (x / 17) * sin (y / 19) > 0 ? value : value / 30);
}

/* Frame @frame of two planes, one above the other, that the cameras approach, with noise. */
static void
paint_approached (Pair *pair, int frame, uint64_t seed)
{
  Random random = { .state = seed };

  for (int v = 0; v < 2; v++)
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++) {
        double near = 2 * y < HEIGHT ? 9 : 16, scale = 1 / (1 - near * frame / 400), disparity = near * scale;
        double u = (x + (v ? disparity : 0) - WIDTH / 2) / scale, w = (y - HEIGHT / 2) / scale;
        int value = (int) patches (u, w + 100 * near) + random_range (&random, -4, 4);
        picture_set (&pair->picture[v], x, y, (const int[3]){ value & 255, value * 7 / 8 & 255, 255 - (value & 255) });
      }
}

/* Pixels of the results that differ. */
static int
different (const Pair *a, const Pair *b)
{
  int count = 0;

  for (int at = 0; at < WIDTH * HEIGHT; at++)
    count += a->result[at] != b->result[at] || a->confidence[at] != b->confidence[at];
  return count;
}

/* Lets both see the same frames, and compares what they give. */
static void
compare_frames (Matcher m[2], uint64_t seed, const char *what)
{
  for (int frame = 0; frame < FRAMES; frame++) {
    paint_approached (&m[0].pair, frame, seed + (uint64_t) frame);
    for (int v = 0; v < 2; v++)
      memcpy (m[1].pair.picture[v].data, m[0].pair.picture[v].data, (size_t) m[0].pair.picture[v].stride * HEIGHT);
    for (int n = 0; n < 2; n++)
      execute (m[n].plan, &m[n].pair, NULL);
    int count = different (&m[0].pair, &m[1].pair);
    CHECK (!count, "%s, frame %d: %d pixels differ", what, frame, count);
  }
}

/* The last frame without those before gives something else: else the frames before would not matter, and nothing would be shown. */
static void
check_memory (const Matcher *m, const StereoParams *params, uint64_t seed, const char *what)
{
  Matcher alone;

  if (matcher_new (&alone, params, 0)) {
    paint_approached (&alone.pair, FRAMES - 1, seed + FRAMES - 1);
    execute (alone.plan, &alone.pair, NULL);
    int count = different (&m->pair, &alone.pair);
    CHECK (count > WIDTH * HEIGHT / 100, "%s: only %d pixels have anything of the frames before", what, count);
  }
  matcher_free (&alone);
}

static void
compare (const StereoParams params[2], int in_order, const char *what)
{
  uint64_t seed = random_seed ();
  Matcher m[2];
  int made = matcher_new (&m[0], &params[0], 0);

  made &= matcher_new (&m[1], &params[1], in_order);
  if (made) {
    compare_frames (m, seed, what);
    check_memory (&m[0], &params[0], seed, what);
  }
  for (int n = 0; n < 2; n++)
    matcher_free (&m[n]);
}

/* A kernel beside the steps needs nothing that they make meanwhile. */
CASE_ON_DEVICE (test_branches, "a graph, and kernels one after the other")
{
  for (int k = 0; k < 6; k++) {
    StereoParams params[2];
    char what[60];

    params_small (&params[0]);
    params[0].backend = STEREO_BACKEND_CUDA;
    params[0].profile = k / 2 == 2 ? STEREO_PROFILE_ROAD : STEREO_PROFILE_BALANCED;
    if (k / 2 == 1) {
      params[0].support = STEREO_SUPPORT_BOTH;
      params[0].refine_iterations = 3;
      params[0].fill = STEREO_FILL_GAPS;
    }
    params[0].num_disparities = k % 2 ? 40 : 100;
    params[1] = params[0];
    snprintf (what, sizeof what, "setting %d, %d disparities", k / 2, params[0].num_disparities);
    compare (params, 1, what);
  }
}

/* Where costs are whole numbers, both backends give the same frames. Lists come from averages, of a half size. */
CASE_ON_DEVICE (test_backends, "both backends")
{
  static const struct
  {
    int method, profile;
  } cases[] = { { STEREO_METHOD_SGM, STEREO_PROFILE_BALANCED }, { STEREO_METHOD_SGM, STEREO_PROFILE_ROAD },
    { STEREO_METHOD_BM, STEREO_PROFILE_BALANCED } };

  for (int k = 0; k < 3; k++) {
    StereoParams params[2];
    char what[60];

    params_small (&params[0]);
    params[0].method = cases[k].method;
    params[0].profile = cases[k].profile;
    params[0].num_disparities = 40;
    params[0].search = STEREO_SEARCH_FULL;
    params[1] = params[0];
    params[1].backend = STEREO_BACKEND_CUDA;
    snprintf (what, sizeof what, "method %d, profile %d, both backends", cases[k].method, cases[k].profile);
    compare (params, 0, what);
  }
}
