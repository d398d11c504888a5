/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was not seen is not made up: with every profile but thesis, a sky and the middle of a blank wall stay without a value, and what
 * both views' surfaces bound is filled. A synthetic scene has a sky over a street with a post that stands out into it and one before a house, another a blank wall in a
 * textured frame. Real skies: test_real.py.
 */
#include <math.h>

#include "tests/support/check.h"
#include "tests/support/params.h"
#include "tests/support/picture.h"

enum
{
  WIDTH = 480,
  HEIGHT = 240,
  SEARCH = 48
};

typedef enum Surface
{
  SKY,
  HOUSES,
  GROUND,
  PATCH, /* of the ground: without texture, and narrow */
  POST,
  WALL, /* without texture */
  CLOSE,
  SURFACES
} Surface;

static StereoBackendChoice backend;
static uint64_t seed;
static uint8_t view[2][HEIGHT][WIDTH];
static float result[HEIGHT][WIDTH];

/* ---- synthetic scenes ----------------------------------------------------------------------------------------- */

static double
disparity_of (Surface surface, int y)
{
  static const double away[SURFACES] = { [HOUSES] = 8, [POST] = 24, [WALL] = 10, [CLOSE] = 40 };
  return surface == GROUND || surface == PATCH ? 8 + (y - 150) * 0.125 : away[surface];
}

/* What a ray of the left view meets. */
static Surface
street_at (double x, int y)
{
  if ((x >= 300 && x < 320 && y >= 30 && y < 210) || (x >= 420 && x < 450 && y >= 100 && y < 200))
    return POST;
  if (y >= 150)
    return x >= 200 && x < 208 && y >= 190 && y < 200 ? PATCH : GROUND;
  return y >= (x > 380 ? 60 : x > 200 ? 120 : 90) ? HOUSES : SKY;
}

static Surface
wall_at (double x, int y)
{
  return x >= 100 && x < 400 && y >= 40 && y < 200 ? WALL : HOUSES;
}

static Surface
close_at (double x, int y)
{
  return CLOSE;
}

typedef Surface (*SurfaceAt) (double x, int y);

static double
grey_of (Surface surface, double x, int y)
{
  if (surface == SKY)
    return 180 + 0.1 * y;
  return surface == WALL || surface == PATCH ? 150 : picture_texture (x, y, surface);
}

/* The nearest surface that the right view has there, and where the left view has it. */
static Surface
right_at (SurfaceAt at, double x, int y, double *left)
{
  Surface seen = SKY;

  *left = x;
  for (int s = 0; s < SURFACES; s++) {
    double away = disparity_of (s, y);
    if (at (x + away, y) == (Surface) s && away >= *left - x) {
      *left = x + away;
      seen = s;
    }
  }
  return seen;
}

static void
paint (SurfaceAt at)
{
  Random random = { .state = seed };
  double left;

  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      Surface right = right_at (at, x, y, &left);
      view[0][y][x] = (uint8_t) (grey_of (at (x, y), x, y) + random_range (&random, -2, 2));
      view[1][y][x] = (uint8_t) (grey_of (right, left, y) + random_range (&random, -2, 2));
    }
}

static int
match (const char *words)
{
  StereoOutput output = { result[0], WIDTH * 4, STEREO_SAMPLE_F32, NULL, 0 };
  StereoError error = { 0 };
  StereoImage image[2];
  StereoParams params;

  for (int v = 0; v < 2; v++)
    image[v] = (StereoImage){ .data = view[v][0], .stride = WIDTH, .pixel_stride = 1, .channels = 1 };
  stereo_params_init (&params);
  params.backend = backend;
  params.num_disparities = SEARCH;
  params_set (&params, "%s", words);
  StereoPlan *plan = stereo_plan_new (&params, WIDTH, HEIGHT, &error);
  int done = CHECK (plan != NULL, "%s", error.message) &&
      CHECK (!stereo_plan_execute (plan, &image[0], &image[1], &output, NULL, &error), "%s", error.message);
  stereo_plan_free (plan);
  return done;
}

/* Whether the pixel and all around it, to @margin px, show that surface; outside the picture it goes on. */
static int
shows (SurfaceAt at, Surface surface, int x, int y, int margin)
{
  for (int v = -margin; v <= margin; v += margin ? margin : 1)
    for (int u = -margin; u <= margin; u += margin ? margin : 1)
      if (at (x + u, y + v) != surface)
        return 0;
  return 1;
}

/* Percent of the pixels that show a surface, in columns @first to before @end, that have a value. */
static double
valued (SurfaceAt at, Surface surface, int margin, int first, int end)
{
  int count = 0, found = 0;

  for (int y = 0; y < HEIGHT; y++)
    for (int x = first; x < end; x++)
      if (shows (at, surface, x, y, margin)) {
        count++;
        found += !isnan (result[y][x]);
      }
  return 100.0 * found / count;
}

/* The default fill of the profiles that fill. esaw and esmp are left out: they are sure of much of a sky before anything is filled. */
static const char *const filling[] = {
  "profile=road",
  "profile=quality",
  "method=sgm profile=quality",
  "method=bm profile=quality",
};

/* What the post hides has a skyline, at which half a small square of its 90 rows may be lost. */

/* px around what is looked at: no small square of exact/gaps.h at it has another surface, and no large one */
#define SMALL 9
#define LARGE 49

static void
test_street (const char *words)
{
  paint (street_at);
  if (!match (words))
    return;
  double sky = valued (street_at, SKY, SMALL, 0, WIDTH), patch = valued (street_at, PATCH, 0, 0, WIDTH);
  double hidden = valued (street_at, HOUSES, 0, 420 - 16, 420), ground = valued (street_at, GROUND, 0, SEARCH, WIDTH);
  printf ("  sky %.2f %%, hidden %.1f %%, patch %.1f %%, ground %.2f %%\n", sky, hidden, patch, ground);
  CHECK (sky <= 0.3, "%g %% of the sky have a value", sky);
  CHECK (hidden > 95, "%g %% of what the post hides have a value", hidden);
  CHECK (patch > 99, "%g %% of the patch have a value", patch);
  CHECK (ground > 99, "%g %% of the ground have a value", ground);
}

static void
test_wall (const char *words)
{
  paint (wall_at);
  if (!match (words))
    return;
  double middle = valued (wall_at, WALL, LARGE, 0, WIDTH);
  double frame = valued (wall_at, HOUSES, 0, SEARCH, WIDTH);
  printf ("  middle %.2f %%, frame %.2f %%\n", middle, frame);
  CHECK (middle <= 0.3, "%g %% of the wall's middle have a value", middle);
  CHECK (frame > 99, "%g %% of the frame have a value", frame);
}

/* The right view lacks its left border, wider than half a large square: the surface beside it goes on. */
static void
test_border (const char *words)
{
  paint (close_at);
  if (!match (words))
    return;
  double border = valued (close_at, CLOSE, 0, 0, 40);
  printf ("  border %.1f %%\n", border);
  CHECK (border > 99, "%g %% of the left border have a value", border);
}

/* It is not the scenes that leave them empty: what fill=planes finds to begin with goes into the sky and over the wall. */
static void
test_planes (void)
{
  paint (street_at);
  if (match ("profile=road fill=planes"))
    CHECK (valued (street_at, SKY, 0, 0, WIDTH) > 50, "%g %% of the sky", valued (street_at, SKY, 0, 0, WIDTH));
  paint (wall_at);
  if (match ("profile=road fill=planes"))
    CHECK (valued (wall_at, WALL, 0, 0, WIDTH) > 50, "%g %% of the wall", valued (wall_at, WALL, 0, 0, WIDTH));
}

static void
test_all (const char *on)
{
  static void (*const tests[]) (const char *words) = { test_street, test_wall, test_border };
  static const char *const names[] = { "street", "wall", "border" };

  for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
    for (size_t k = 0; k < sizeof filling / sizeof *filling; k++)
      if (check_begin ("%s, %s, %s", on, names[t], filling[k])) {
        tests[t](filling[k]);
        check_end ();
      }
  check_case ("planes", test_planes);
}

int
main (int argc, char **argv)
{
  char reason[200];

  check_start (argc, argv);
  seed = random_seed ();
  for (int b = 0; b < 2; b++) {
    backend = b ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
    if (stereo_backend_available (backend, -1, reason, sizeof reason))
      test_all (b ? "cuda" : "cpu");
    else if (check_begin ("cuda")) {
      check_skip ("%s", reason);
      check_end ();
    }
  }
  return check_finish ();
}
