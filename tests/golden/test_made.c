/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scenes with a known truth, on every backend there is. The bounds come from what must hold, not
 * from what was seen:
 * - a view shifted by whole pixels has its exact copy in the other: cost 0 at the truth, more elsewhere;
 * - of a slanted plane, whole disparities are off by 0.25 px on average (uniform in +-0.5); a
 *   sub-pixel fit that is worth anything does clearly better;
 * - wrong pixels of an occluding square lie within a few pixels of its outline: support weights stop
 *   at edges of colour;
 * - what the right view does not show must not be called consistent, but for chance.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/params.h"
#include "tests/support/random.h"
#include "stereo/stereo.h"

/* ---- scenes whose true disparity is known because the test makes them ------------------------------- */

enum
{
  MADE_WIDTH = 240,
  MADE_HEIGHT = 160
};

/* Disparity of left pixel (x, y): a + b * x + c * y behind, and a square of disparity @front before it. */
typedef struct MadeScene
{
  double a, b, c;
  double front;      /* 0: no square */
  double gain, bias; /* exposure of the right view: gain * value + bias */
  int noise;         /* in both views, independent, -noise..noise */
} MadeScene;

typedef struct Made
{
  uint8_t view[2][MADE_HEIGHT][MADE_WIDTH][3];
  float truth[MADE_HEIGHT][MADE_WIDTH];
  uint8_t visible[MADE_HEIGHT][MADE_WIDTH]; /* in the right view too */
  uint8_t edge[MADE_HEIGHT][MADE_WIDTH];    /* pixels from the square's outline, 255: far */
} Made;

/* The square in the left view. */
enum
{
  LEFT = 90,
  RIGHT = 170,
  TOP = 40,
  BOTTOM = 120
};

static double
lattice (int x, int y, int channel, uint32_t salt)
{
  Random random = { (uint64_t) (uint32_t) x << 40 ^ (uint64_t) (uint32_t) y << 16 ^ (uint64_t) channel << 8 ^ salt };
  return random_next (&random) / 4294967296.0;
}

/* Random texture that can be looked up between pixels: noise on two lattices (3 and 11 px), joined
 * smoothly, so that a shift by part of a pixel is a true resampling of one surface. */
static double
texture (double x, double y, int channel, uint32_t salt)
{
  static const double cell[2] = { 3, 11 };
  double value = 0;

  for (int k = 0; k < 2; k++) {
    double u = x / cell[k] + 1000, v = y / cell[k] + 1000;
    int i = (int) floor (u), j = (int) floor (v);
    double s = u - i, t = v - j;
    s = s * s * (3 - 2 * s);
    t = t * t * (3 - 2 * t);
    uint32_t layer = salt + (uint32_t) k;
    value += (1 - t) * ((1 - s) * lattice (i, j, channel, layer) + s * lattice (i + 1, j, channel, layer)) +
        t * ((1 - s) * lattice (i, j + 1, channel, layer) + s * lattice (i + 1, j + 1, channel, layer));
  }
  return 20 + 105 * value;
}

static int
in_square (const MadeScene *scene, double x, int y)
{
  return scene->front > 0 && x >= LEFT && x < RIGHT && y >= TOP && y < BOTTOM;
}

static uint8_t
byte (double value)
{
  return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : lrint (value));
}

/* Left coordinate of what right pixel (x, y) shows, and whether it is the square. */
static double
left_of (const MadeScene *scene, int x, int y, int *square)
{
  *square = in_square (scene, x + scene->front, y);
  return *square ? x + scene->front : (x + scene->a + scene->c * y) / (1 - scene->b);
}

static void
paint_pixel (Made *made, const MadeScene *scene, int x, int y, uint32_t salt, Random *random)
{
  int square = in_square (scene, x, y), right_square;
  double right = left_of (scene, x, y, &right_square);

  for (int c = 0; c < 3; c++) {
    int noise[2] = { 0, 0 };
    for (int v = 0; scene->noise && v < 2; v++)
      noise[v] = random_range (random, -scene->noise, scene->noise);
    made->view[0][y][x][c] = byte (texture (x, y, c, square ? salt + 100 : salt) + noise[0]);
    made->view[1][y][x][c] = byte (
        texture (right, y, c, right_square ? salt + 100 : salt) * scene->gain + scene->bias + noise[1]);
  }
  double d = square ? scene->front : scene->a + scene->b * x + scene->c * y;
  int hidden = !square && in_square (scene, x - d + scene->front, y);
  made->truth[y][x] = (float) d;
  made->visible[y][x] = x - d >= 0 && !hidden ? 255 : 0;
}

/* How far @at lies outside from..to - 1; 0 inside. */
static int
outside (int at, int from, int to)
{
  return at < from ? from - at : at >= to ? at - to + 1 : 0;
}

static int
square_distance (const MadeScene *scene, int x, int y)
{
  int dx = outside (x, LEFT, RIGHT), dy = outside (y, TOP, BOTTOM);

  if (scene->front <= 0)
    return 255;
  if (dx || dy)
    return dx > dy ? dx : dy;
  int in_x = x - LEFT < RIGHT - 1 - x ? x - LEFT : RIGHT - 1 - x;
  int in_y = y - TOP < BOTTOM - 1 - y ? y - TOP : BOTTOM - 1 - y;
  return 1 + (in_x < in_y ? in_x : in_y);
}

static void
made_paint (Made *made, const MadeScene *scene, uint64_t seed)
{
  Random random = { seed };
  uint32_t salt = random_next (&random);

  for (int y = 0; y < MADE_HEIGHT; y++)
    for (int x = 0; x < MADE_WIDTH; x++) {
      int distance = square_distance (scene, x, y);
      paint_pixel (made, scene, x, y, salt, &random);
      made->edge[y][x] = (uint8_t) (distance < 255 ? distance : 255);
    }
}

/* ---- matching --------------------------------------------------------------------------------- */

static StereoBackendChoice backend;
static uint64_t seed;
static Made made;
static float result[MADE_HEIGHT][MADE_WIDTH];
static uint8_t confidence[MADE_HEIGHT][MADE_WIDTH];

static void
match (const char *setting, StereoSample sample, void *data, int pixel_size)
{
  StereoParams params;
  StereoError error = { 0 };

  stereo_params_init (&params);
  params.backend = backend;
  params.num_disparities = 40;
  params_set (&params, "%s", setting);
  StereoPlan *plan = stereo_plan_new (&params, MADE_WIDTH, MADE_HEIGHT, &error);
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  StereoImage view[2];
  for (int v = 0; v < 2; v++)
    view[v] = (StereoImage){
      .data = &made.view[v][0][0][0], .stride = MADE_WIDTH * 3, .pixel_stride = 3, .channels = 3, .offset = { 0, 1, 2 }
    };
  StereoOutput output = { data, MADE_WIDTH * pixel_size, sample, &confidence[0][0], MADE_WIDTH };
  CHECK (!stereo_plan_execute (plan, &view[0], &view[1], &output, NULL, &error), "%s", error.message);
  stereo_plan_free (plan);
}

static char words[200];
#define MATCH(...) (snprintf (words, sizeof words, __VA_ARGS__), match (words, STEREO_SAMPLE_F32, result, 4))

/* What share of the pixels of interest is off by more than @limit, or missing: in percent. */
typedef int (*Interest) (int x, int y);

static double
bad (double limit, Interest interest)
{
  int count = 0, wrong = 0;
  for (int y = 0; y < MADE_HEIGHT; y++)
    for (int x = 0; x < MADE_WIDTH; x++)
      if (interest (x, y)) {
        count++;
        wrong += !(fabsf (result[y][x] - made.truth[y][x]) <= (float) limit);
      }
  return 100.0 * wrong / count;
}

static int
everywhere (int x, int y)
{
  return 1;
}

static int
visible (int x, int y)
{
  return made.visible[y][x];
}

/* Both views see it and neither border is within reach of the census or most of the weights. */
static int
inner (int x, int y)
{
  return made.visible[y][x] && x >= made.truth[y][x] + 16 && x < MADE_WIDTH - 16 && y >= 8 && y < MADE_HEIGHT - 8;
}

static int
visible_off_edge (int x, int y)
{
  return inner (x, y) && made.edge[y][x] > 4;
}

static double
mean_error (Interest interest)
{
  double sum = 0;
  int count = 0;
  for (int y = 0; y < MADE_HEIGHT; y++)
    for (int x = 0; x < MADE_WIDTH; x++)
      if (interest (x, y) && !isnan (result[y][x])) {
        sum += fabsf (result[y][x] - made.truth[y][x]);
        count++;
      }
  return sum / count;
}

/* ---- scenes ------------------------------------------------------------------------------ */

static void
test_whole_shift (void)
{
  static const char *const costs[] = { "census-7x5", "census-9x7", "mixed", "ad", "sad" };

  made_paint (&made, &(MadeScene){ .a = 11, .gain = 1 }, seed);
  for (int k = 0; k < 5; k++) {
    MATCH ("cost=%s profile=thesis", costs[k]);
    CHECK (bad (0, inner) < 0.05, "%s: %g %% of the inner pixels are not exact", costs[k], bad (0, inner));
    CHECK (bad (0, visible) < 2, "%s: %g %% of the visible pixels are not exact", costs[k], bad (0, visible));
    MATCH ("cost=%s profile=quality refine-iterations=0", costs[k]);
    CHECK (bad (0.25, inner) < 0.05, "%s, quality: %g %% of the inner pixels", costs[k], bad (0.25, inner));
  }
}

static void
test_full_window (void)
{
  made_paint (&made, &(MadeScene){ .a = 6, .gain = 1 }, seed);
  MATCH (
      "num-disparities=16 aggregation=full window=11 refine-mode=full refine-window=15 refine-iterations=1 profile=thesis");
  CHECK (bad (0, inner) < 0.05, "%g %% of the inner pixels are not exact", bad (0, inner));
  MATCH ("num-disparities=16 refine-mode=idr refine-alpha=0.001 profile=thesis");
  CHECK (bad (0, inner) < 0.05, "idr: %g %% of the inner pixels are not exact", bad (0, inner));
}

/* The search may start anywhere: the right view moved by 20 px makes 11 into -9. */
static void
test_negative (void)
{
  made_paint (&made, &(MadeScene){ .a = -9, .gain = 1 }, seed);
  MATCH ("min-disparity=-24 profile=thesis");
  int count = 0, wrong = 0;
  for (int y = 8; y < MADE_HEIGHT - 8; y++)
    for (int x = 16; x < MADE_WIDTH - 9 - 16; x++, count++)
      wrong += result[y][x] != -9;
  CHECK (wrong < 0.0005 * count, "%d of %d inner pixels are not -9", wrong, count);
}

static void
test_slanted (void)
{
  made_paint (&made, &(MadeScene){ .a = 8, .b = 0.03, .c = 0.05, .gain = 1 }, seed);
  MATCH ("profile=thesis");
  CHECK (bad (1, inner) < 1, "whole: %g %% off by more than 1 px", bad (1, inner));
  CHECK (mean_error (inner) > 0.2 && mean_error (inner) < 0.35, "whole: off by %g px on average, not 0.25",
      mean_error (inner));
  for (int k = 0; k < 2; k++) {
    static const char *const profiles[] = { "balanced", "quality" };
    MATCH ("profile=%s", profiles[k]);
    CHECK (bad (1, inner) < 1, "%s: %g %% off by more than 1 px", profiles[k], bad (1, inner));
    CHECK (mean_error (inner) < 0.18, "%s: off by %g px on average", profiles[k], mean_error (inner));
  }
}

/* A shift by a quarter is nearer to the whole below than to the next, and the fit must say so. */
static void
test_fraction (void)
{
  for (int quarter = 1; quarter <= 3; quarter++) {
    made_paint (&made, &(MadeScene){ .a = 9 + quarter / 4.0, .gain = 1 }, seed);
    MATCH ("profile=quality");
    CHECK (bad (0.5, inner) < 1, "9 + %d/4: %g %% off by more than 0.5 px", quarter, bad (0.5, inner));
    CHECK (mean_error (inner) < 0.2, "9 + %d/4: off by %g px on average", quarter, mean_error (inner));
  }
}

static void
test_occlusion (void)
{
  int hidden = 0, called_good = 0;

  made_paint (&made, &(MadeScene){ .a = 6, .front = 25, .gain = 1 }, seed);
  MATCH ("profile=balanced fill=none");
  CHECK (bad (1, visible_off_edge) < 1, "%g %% wrong or missing farther than 4 px from the outline",
      bad (1, visible_off_edge));
  for (int y = 0; y < MADE_HEIGHT; y++)
    for (int x = 31; x < MADE_WIDTH; x++)
      if (!made.visible[y][x]) {
        hidden++;
        called_good += confidence[y][x] > 0;
      }
  /* 19 columns are hidden; agreement within 1 px by chance or at the strip's borders: 3 of them */
  CHECK (called_good < 0.2 * hidden, "%d of %d hidden pixels are called consistent", called_good, hidden);
  MATCH ("profile=quality");
  CHECK (bad (1, visible_off_edge) < 1, "quality: %g %% wrong farther than 4 px from the outline",
      bad (1, visible_off_edge));
  /* 4 px on both sides of an outline of 320 px would be 6.7 % of the picture */
  CHECK (bad (1, everywhere) < 6.7, "quality, background fill: %g %% wrong of all pixels, hidden ones too",
      bad (1, everywhere));
}

/* Census sees order only: another exposure changes next to nothing, and ad must suffer. */
static void
test_exposure (void)
{
  made_paint (&made, &(MadeScene){ .a = 11, .gain = 0.7, .bias = 20 }, seed);
  MATCH ("profile=thesis");
  CHECK (bad (1, inner) < 0.5, "census-7x5: %g %% wrong", bad (1, inner));
  double census = bad (1, inner);
  MATCH ("profile=thesis cost=ad refine-iterations=0");
  CHECK (bad (1, inner) > census, "ad: %g %% wrong under another exposure", bad (1, inner));
}

static void
test_noise (void)
{
  made_paint (&made, &(MadeScene){ .a = 6, .c = 0.04, .front = 25, .gain = 1, .noise = 6 }, seed);
  MATCH ("profile=quality");
  CHECK (bad (2, visible_off_edge) < 2, "%g %% wrong farther than 4 px from the outline", bad (2, visible_off_edge));
}

/* f 700 px, baseline 60 mm, principal offset 4 px: 700 * 60 / (11 + 4) = 2800 mm. */
static void
test_depth (void)
{
  static uint16_t depth[MADE_HEIGHT][MADE_WIDTH];
  static const char *const settings[] = {
    "output=depth focal-length=700 baseline=60 principal-offset=4 profile=thesis depth-unit=1000",
    "output=depth focal-length=700 baseline=60 principal-offset=4 profile=thesis depth-unit=100",
  };
  int wrong = 0, count = 0;

  made_paint (&made, &(MadeScene){ .a = 11, .gain = 1 }, seed);
  for (int unit = 0; unit < 2; unit++) {
    match (settings[unit], STEREO_SAMPLE_U16, depth, 2);
    for (int y = 8; y < MADE_HEIGHT - 8; y++)
      for (int x = 27; x < MADE_WIDTH - 16; x++, count++)
        wrong += depth[y][x] != (unit ? 28000 : 2800);
    CHECK (wrong < 0.0005 * count, "%d of %d depths are not %d; the middle one is %d", wrong, count,
        unit ? 28000 : 2800, depth[80][120]);
  }
}

int
main (int argc, char **argv)
{
  char reason[200];

  check_start (argc, argv);
  seed = random_seed ();
  for (int b = 0; b < 2; b++) {
    backend = b ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
    if (!stereo_backend_available (backend, -1, reason, sizeof reason)) {
      if (check_begin ("cuda")) {
        check_skip ("%s", reason);
        check_end ();
      }
      continue;
    }
    printf ("on %s\n", b ? "cuda" : "cpu");
    check_case ("shift by whole pixels", test_whole_shift);
    check_case ("full windows and idr", test_full_window);
    check_case ("negative disparities", test_negative);
    check_case ("slanted plane", test_slanted);
    check_case ("shift by parts of a pixel", test_fraction);
    check_case ("occluding square", test_occlusion);
    check_case ("another exposure", test_exposure);
    check_case ("noise", test_noise);
    check_case ("depth in millimetres", test_depth);
  }
  return check_finish ();
}
