/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sparse matching: points of a pair whose shift is known are found and placed where they are, points that have no partner or
 * several are not, and the fit follows a polynomial. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/sparse.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

#define WIDTH 601
#define HEIGHT 243

/* Waves of @shortest pixels and more that repeat after @period pixels along the rows, shifted by (@across, @down). */
#define WAVES 24

static void
paint (uint8_t *view, uint64_t seed, double across, double down, double period, int shortest)
{
  Random random = { .state = seed };
  double phase[WAVES], u[WAVES], v[WAVES];

  for (int k = 0; k < WAVES; k++) {
    int most = (int) period / shortest;
    u[k] = 2 * M_PI * random_range (&random, -most, most) / period;
    v[k] = 2 * M_PI * random_range (&random, -240 / shortest, 240 / shortest) / 240;
    phase[k] = 2 * M_PI * random_unit (&random);
  }
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      double sum = 0;
      for (int k = 0; k < WAVES; k++)
        sum += sin (u[k] * (x + across) + v[k] * (y - down) + phase[k]);
      view[y * WIDTH + x] = (uint8_t) (128 + 14 * fmin (fmax (sum, -9), 9));
    }
}

static StereoImage
image_of (const uint8_t *view)
{
  return (StereoImage){ view, WIDTH, 1, 1, { 0, 0, 0 }, STEREO_MEMORY_HOST };
}

typedef struct Counts
{
  int points, found, several, placed;
  int exact; /* of those placed, those near enough to the truth */
} Counts;

/* Left and right view, and those of the moment before, where there is one; how far away the partner, or the moment before, lies. */
typedef struct Views
{
  uint8_t *view[4];
  double across, down;
} Views;

/* Places the points of all cells; with a moment before, in both views where they were then. */
static Counts
count (const Views *views, StereoSparseParams params, double exact, const uint8_t *mask)
{
  params.width = WIDTH;
  params.height = HEIGHT;
  params.reach = 12;
  params.good = 0.85f;
  params.rival = 1.6f;
  params.clear = 0.02f;
  params.same_column = 1;
  params.motion = views->view[2] != NULL;
  StereoSparse *sparse = stereo_sparse_new (&params);
  StereoImage images[4];
  int width, height, factor, step = STEREO_SPARSE_PATCH;
  Counts counts = { 0 };

  for (int i = 0; i < 4; i++)
    images[i] = image_of (views->view[i]);
  stereo_sparse_size (sparse, &width, &height, &factor);
  int rows = height / step, cells = params.cells ? params.cells : rows;
  if (params.motion) {
    stereo_sparse_keep (sparse, &images[2], &images[3]);
    memset (views->view[2], 0, WIDTH * HEIGHT); /* it was copied */
  }
  for (int cell = 0; cell < rows * (width / step); cell++) {
    int row = cell / (width / step), x = cell % (width / step) * step;
    StereoSparsePoint point;
    StereoSparseMatch match;
    StereoSparsePlace place;

    if (!x && row % cells == 0)
      stereo_sparse_take (sparse, &images[0], &images[1], row, cells);
    if (!stereo_sparse_find_point (sparse, x, x + step, row * step, (row + 1) * step, mask, &point))
      continue;
    counts.points++;
    StereoSparseFound found = stereo_sparse_match (sparse, &point, &match);
    counts.several += found == STEREO_SPARSE_SEVERAL;
    counts.found += found == STEREO_SPARSE_ONE;
    for (int view = 0; view < (params.motion ? 2 : 1) && found == STEREO_SPARSE_ONE; view++) {
      if (!(params.motion ? stereo_sparse_track (sparse, &match, view, &place) :
                            stereo_sparse_place (sparse, &match, &place)))
        continue;
      counts.placed++;
      counts.exact += fabs (place.disparity - views->across) < exact && fabs (place.vertical - views->down) < exact;
    }
  }
  stereo_sparse_free (sparse);
  return counts;
}

/* What is searched of pairs that lie still. */
#define STILL(pixels, rows_at_once) \
  (StereoSparseParams) \
  { \
    .side = pixels, .min = -40, .max = 60, .cells = rows_at_once \
  }

/* Disparities of both signs, at the sizes of the views and of small pictures, all rows at once and in bands. */
CASE (test_shifts, "shifts")
{
  static const double shifts[][2] = { { 0, 0 }, { 13.4, 0.3 }, { 42.7, -6.6 }, { -27.25, 8.5 } };
  static uint8_t left[WIDTH * HEIGHT], right[WIDTH * HEIGHT];

  for (int i = 0; i < 8; i++) {
    double across = shifts[i / 2][0], down = shifts[i / 2][1];
    int small = i % 2;
    paint (left, 5 + (uint64_t) i, 0, 0, 601, small ? 18 : 8);
    paint (right, 5 + (uint64_t) i, across, down, 601, small ? 18 : 8);
    for (int cells = 0; cells <= 4; cells += 4) {
      Counts c = count (&(Views){ { left, right }, across, down }, STILL (small ? 240 : 640, cells), 0.1, NULL);
      CHECK (c.points > 100 && c.placed > 0.5 * c.points, "case %d, %d cells: %d points, %d found, %d placed", i, cells,
          c.points, c.found, c.placed);
      CHECK (c.exact > 0.98 * c.placed, "case %d, %d cells: %d of %d points are exact", i, cells, c.exact, c.placed);
    }
  }
}

/* What the mask leaves out gives no points. */
CASE (test_mask, "mask")
{
  static uint8_t left[WIDTH * HEIGHT], mask[WIDTH * HEIGHT];

  const Views same = { { left, left }, 0, 0 };

  paint (left, 9, 0, 0, 601, 18);
  memset (mask, 1, sizeof mask);
  int all = count (&same, STILL (240, 0), 0.1, mask).points;
  for (int y = 0; y < HEIGHT; y++)
    memset (mask + y * WIDTH, 0, WIDTH / 2);
  int half = count (&same, STILL (240, 0), 0.1, mask).points;
  memset (mask, 0, sizeof mask);
  CHECK (all > 100 && half > 0.3 * all && half < 0.6 * all, "%d points, %d of one half", all, half);
  CHECK (count (&same, STILL (240, 0), 0.1, mask).points == 0, "points under a mask");
}

/* A picture that repeats within the search has several places for each point, another picture none. */
CASE (test_doubt, "doubt")
{
  static uint8_t left[WIDTH * HEIGHT], other[WIDTH * HEIGHT];

  paint (left, 11, 0, 0, 36, 8);
  Counts c = count (&(Views){ { left, left }, 0, 0 }, STILL (640, 0), 0.1, NULL);
  CHECK (c.points > 100 && c.found == 0 && c.several == c.points, "repeating: %d points, %d found, %d several",
      c.points, c.found, c.several);
  paint (left, 12, 0, 0, 601, 8);
  paint (other, 13, 0, 0, 601, 8);
  c = count (&(Views){ { left, other }, 0, 0 }, STILL (640, 0), 0.1, NULL);
  CHECK (c.points > 100 && c.found < 0.05 * c.points, "another picture: %d points, %d found", c.points, c.found);
}

/* Noise of all levels up to @most, in both views. */
static void
add_noise (uint8_t *view, Random *random, int most)
{
  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    int level = view[i] + random_range (random, -most, most);
    view[i] = (uint8_t) (level < 0 ? 0 : level > 255 ? 255 : level);
  }
}

/* The motion of both views since the moment that was kept. */
CASE (test_motion, "motion")
{
  static const double motions[][2] = { { 0, 0 }, { 7.3, 0.4 }, { -10.2, 8.6 }, { 3, -9.7 } };
  static uint8_t memory[4][WIDTH * HEIGHT];
  const double shift[] = { 21.5, -1.2 };

  for (int i = 0; i < 4; i++) {
    const Views views = { { memory[0], memory[1], memory[2], memory[3] }, motions[i][0], motions[i][1] };
    for (int k = 0; k < 4; k++)
      paint (views.view[k], 31, (k & 1 ? shift[0] : 0) + (k & 2 ? motions[i][0] : 0),
          (k & 1 ? shift[1] : 0) + (k & 2 ? motions[i][1] : 0), 601, 18);
    Counts c = count (&views, (StereoSparseParams){ .side = 240, .max = 40 }, 0.1, NULL);
    CHECK (c.placed > c.found && c.exact > 0.98 * c.placed, "motion %d: %d matches, %d moved, %d exact", i, c.found,
        c.placed, c.exact);
  }
}

/* Where windows may be noisy, noise hides no place. Another texture in one view hides as many as elsewhere. */
CASE (test_noise, "noise")
{
  static uint8_t memory[2][WIDTH * HEIGHT], other[WIDTH * HEIGHT];
  uint8_t *const views[2] = { memory[0], memory[1] };
  const double shift[] = { 21.5, -1.2 };
  const Views pair = { { memory[0], memory[1] }, shift[0], shift[1] };
  Random random = { .state = 7 };
  int textured = 0;

  for (int noisy = 0; noisy < 2; noisy++) {
    for (int v = 0; v < 2; v++) {
      paint (views[v], 33, v * shift[0], v * shift[1], 601, 18);
      add_noise (views[v], &random, 34);
    }
    Counts c = count (&pair, (StereoSparseParams){ .side = 240, .max = 40, .noisy = noisy }, 1, NULL);
    CHECK (c.found > 100 && (noisy ? c.placed > 0.8 * c.found : c.placed < 0.2 * c.found), "noise, %d: %d of %d placed",
        noisy, c.placed, c.found);
    CHECK (c.exact > 0.95 * c.placed, "noise, %d: %d of %d exact", noisy, c.exact, c.placed);
    for (int v = 0; v < 2; v++)
      paint (views[v], 33, v * shift[0], v * shift[1], 601, 18);
    paint (other, 35, 0, 0, 601, 9);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
      views[1][i] = (uint8_t) ((3 * views[1][i] + 2 * other[i]) / 5);
    c = count (&pair, (StereoSparseParams){ .side = 240, .max = 40, .noisy = noisy }, 1, NULL);
    CHECK (c.found > 30 && (!noisy || c.placed < 1.1 * textured), "another texture, %d: %d of %d placed, not %d", noisy,
        c.placed, c.found, textured);
    textured = c.placed;
  }
}

/* A third of the points say something else; terms beyond those that are asked for stay 0. */
CASE (test_fit, "fit")
{
  static const double truth[6] = { 0.8, -2, 1.5, 0.7, -1.1, 0.4 };
  StereoSparsePlace places[120];
  Random random = { .state = 3 };

  for (int terms = 3; terms <= 6; terms += 3) {
    double c[6] = { 0 };
    memcpy (c, truth, (size_t) terms * sizeof *c);
    for (int i = 0; i < 120; i++) {
      float u = (float) (random_unit (&random) - 0.5), v = (float) (random_unit (&random) - 0.5);
      places[i] = (StereoSparsePlace){ u, v, (float) (stereo_sparse_value (c, u, v) + (i % 3 ? 0 : 4)), 50, 0 };
    }
    StereoSparseFit fit = { .c = { 0 } };
    stereo_sparse_fit (places, 120, terms, 20, &fit);
    for (int k = 0; k < 6; k++)
      CHECK (fabs (fit.c[k] - c[k]) < 0.05, "%d terms: coefficient %d is %.3f, not %.3f", terms, k, fit.c[k], c[k]);
  }
}
