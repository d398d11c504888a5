/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the points of the last pairs, fits the polynomial to them and decides whether it is worth a resampling. */
#include "stereo/align/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/sparse.h"

#define SMALL_SIDE 640 /* px: of the small pictures, at most */
#define VERTICAL 4     /* px; vertical disparities are looked for a little beyond what is corrected */
#define GOOD 0.8f      /* correlation of a match */
#define RIVAL 1.4f     /* see StereoSparseParams */
#define CLEAR 0.02f
#define TERMS 6 /* of the polynomial */
#define MIN_POINTS 40
#define MIN_GAIN 60.0  /* chi-squared; six coefficients gain 6 from noise */
#define QUARTERS 4     /* the picture is QUARTERS x QUARTERS regions, */
#define MIN_REGIONS 4  /* of which so many have points */
#define WORTH 0.09     /* px, root mean square over the picture: less gains nothing (see docs/development/tried.md), */
#define WORTHLESS 0.06 /* and an estimate that is used is given up below this */
#define LARGEST 3.5    /* px: more is not a misalignment of a rectified pair */
#define LASTING 3      /* passes over the picture that a point is kept for */
#define FIRST_ROUNDS 10
#define NEXT_ROUNDS 2
#define PASSES 4  /* passes over the picture until the estimate has followed a change, */
#define JUMP 0.25 /* px of change, root mean square over the picture, that is followed at once */
#define BAND 4    /* rows of cells that are taken at a time of the first pair */
#define GRID 16   /* the polynomial is looked at on a grid this fine */

#define MOST_SCORES 1200000 /* candidates that the first pair may be searched for, about: what bounds its time */

struct StereoAligner
{
  StereoSparse *sparse;
  int columns, rows; /* of cells */
  StereoSparsePlace *points;
  uint8_t *age; /* passes since a point was measured */
  int started;
  int turn;   /* row of cells that is next */
  int stride; /* rows from one turn to the next: neighbours in time are far apart in the picture */
  int turns;
  int settling; /* turns in which the estimate is the fit */
  int share;    /* a pass measures one cell in so many, the next pass others */
  double c[6];
  StereoAlignment result;
};

/* A stride that visits every row. */
static int
choose_stride (int rows)
{
  for (int stride = rows * 3 / 8 + 1; stride < rows; stride++) {
    int a = stride, b = rows;
    while (b) {
      int rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1)
      return stride;
  }
  return 1;
}

StereoAligner *
stereo_aligner_new (int width, int height, int min, int num)
{
  StereoSparseParams params = { .width = width,
    .height = height,
    .side = SMALL_SIDE,
    .min = min,
    .max = min + num - 1,
    .reach = VERTICAL,
    .cells = BAND,
    .good = GOOD,
    .rival = RIVAL,
    .clear = CLEAR };
  StereoAligner *aligner = calloc (1, sizeof *aligner);

  if (!aligner)
    return NULL;
  aligner->sparse = stereo_sparse_new (&params);
  if (!aligner->sparse) {
    stereo_aligner_free (aligner);
    return NULL;
  }
  int small_width, small_height, factor;
  stereo_sparse_size (aligner->sparse, &small_width, &small_height, &factor);
  aligner->columns = small_width / STEREO_SPARSE_PATCH;
  aligner->rows = small_height / STEREO_SPARSE_PATCH;
  aligner->stride = choose_stride (aligner->rows);
  int64_t scores = (int64_t) aligner->columns * aligner->rows * stereo_sparse_candidates (aligner->sparse);
  aligner->share = 1 + (int) (scores / MOST_SCORES);
  size_t cells = (size_t) aligner->columns * (size_t) aligner->rows;
  aligner->points = calloc (cells + 1, sizeof *aligner->points);
  aligner->age = calloc (cells + 1, sizeof *aligner->age);
  if (!aligner->points || !aligner->age) {
    stereo_aligner_free (aligner);
    return NULL;
  }
  return aligner;
}

void
stereo_aligner_free (StereoAligner *aligner)
{
  if (!aligner)
    return;
  stereo_sparse_free (aligner->sparse);
  free (aligner->points);
  free (aligner->age);
  free (aligner);
}

const StereoAlignment *
stereo_aligner_result (const StereoAligner *aligner)
{
  return &aligner->result;
}

/* ---- points ------------------------------------------------------------------------------------ */

/* The points of a row that were not found again are dropped, once they are old. A row in which hardly any point was found
 * drops none: it is dark there, which says nothing of the rig. */
static void
age_row (StereoAligner *aligner, int row, int pass, int found)
{
  StereoSparsePlace *points = aligner->points + (size_t) row * (size_t) aligner->columns;
  uint8_t *age = aligner->age + (size_t) row * (size_t) aligner->columns;
  int known = 0;

  for (int column = 0; column < aligner->columns; column++)
    known += points[column].weight > 0;
  if (found * aligner->share * 4 < known)
    return;
  for (int column = (row + pass) % aligner->share; column < aligner->columns; column += aligner->share)
    if (points[column].weight > 0 && ++age[column] > LASTING)
      points[column].weight = 0;
}

/* The best point of a cell; 0: there is none that can be measured. */
static int
measure_cell (StereoAligner *aligner, int column, int row, StereoSparsePlace *place)
{
  int x = column * STEREO_SPARSE_PATCH, y = row * STEREO_SPARSE_PATCH;
  StereoSparse *sparse = aligner->sparse;
  StereoSparsePoint point;
  StereoSparseMatch match;

  return stereo_sparse_find_point (sparse, x, x + STEREO_SPARSE_PATCH, y, y + STEREO_SPARSE_PATCH, NULL, &point) &&
      stereo_sparse_match (sparse, &point, &match) == STEREO_SPARSE_ONE && stereo_sparse_place (sparse, &match, place);
}

/* Measures the cells of a row whose turn it is in this pass; the pictures have its rows and those around it. */
static void
measure_row (StereoAligner *aligner, int row, int pass)
{
  int found = 0;

  for (int column = (row + pass) % aligner->share; column < aligner->columns; column += aligner->share) {
    size_t cell = (size_t) row * (size_t) aligner->columns + (size_t) column;
    StereoSparsePlace fresh;

    if (measure_cell (aligner, column, row, &fresh)) {
      aligner->points[cell] = fresh;
      aligner->age[cell] = 0;
      found++;
    }
  }
  age_row (aligner, row, pass, found);
}

/* Whether points that agree with the polynomial lie in enough of the picture. */
static int
is_spread (const StereoAligner *aligner, const double c[6], double reach)
{
  int counts[QUARTERS * QUARTERS] = { 0 }, regions = 0;

  for (int i = 0; i < aligner->columns * aligner->rows; i++) {
    const StereoSparsePlace *p = &aligner->points[i];
    if (p->weight <= 0 || fabs (p->vertical - stereo_sparse_value (c, p->u, p->v)) > reach)
      continue;
    int x = (int) ((p->u + 0.5f) * QUARTERS), y = (int) ((p->v + 0.5f) * QUARTERS);
    if (x >= 0 && x < QUARTERS && y >= 0 && y < QUARTERS)
      counts[y * QUARTERS + x]++;
  }
  for (int k = 0; k < QUARTERS * QUARTERS; k++)
    regions += counts[k] >= 3;
  return regions >= MIN_REGIONS;
}

/* ---- the estimate -------------------------------------------------------------------------------- */

/* Root mean square and largest size of a polynomial over the picture. */
static void
measure_polynomial (const double c[6], double *rms, double *max)
{
  double squares = 0;

  *max = 0;
  for (int j = 0; j <= GRID; j++)
    for (int i = 0; i <= GRID; i++) {
      double d = fabs (stereo_sparse_value (c, (double) i / GRID - 0.5, (double) j / GRID - 0.5));
      squares += d * d;
      *max = d > *max ? d : *max;
    }
  *rms = sqrt (squares / ((GRID + 1) * (GRID + 1)));
}

/* Moves the estimate towards the fit: slowly, so that it averages over many pairs. After a start and after a jump it is
 * the fit until the points of before are gone. */
static void
move_estimate (StereoAligner *aligner, const StereoSparseFit *fit)
{
  double change[6], rms, max, share = 1.0 / (PASSES * aligner->rows);

  for (int i = 0; i < 6; i++)
    change[i] = fit->c[i] - aligner->c[i];
  measure_polynomial (change, &rms, &max);
  if (!aligner->started || rms > JUMP)
    aligner->settling = LASTING * aligner->rows;
  if (aligner->settling) {
    aligner->settling--;
    share = 1;
  }
  for (int i = 0; i < 6; i++)
    aligner->c[i] += share * change[i];
}

/* Fits the points anew. Where they say too little the estimate stays. */
static void
estimate (StereoAligner *aligner, int rounds)
{
  int cells = aligner->columns * aligner->rows;
  StereoAlignment *result = &aligner->result;
  StereoSparseFit fit = { { 0 } };
  double rms, max;

  if (aligner->started)
    memcpy (fit.c, aligner->c, sizeof fit.c);
  stereo_sparse_fit (aligner->points, cells, TERMS, rounds, &fit);
  result->points = fit.points;
  if (fit.points < MIN_POINTS || !is_spread (aligner, fit.c, 3 * fit.after))
    return;
  measure_polynomial (fit.c, &rms, &max);
  if (max > LARGEST)
    return;
  move_estimate (aligner, &fit);
  aligner->started = 1;
  measure_polynomial (aligner->c, &result->rms, &result->max);
  memcpy (result->coefficients, aligner->c, sizeof result->coefficients);
  result->before = fit.before;
  result->after = fit.after;
  result->active = result->active ? result->rms > WORTHLESS : result->rms > WORTH && fit.gain > MIN_GAIN;
}

void
stereo_aligner_measure (StereoAligner *aligner, const StereoImage *left, const StereoImage *right)
{
  if (!aligner->rows || !aligner->columns)
    return;
  for (int row = 0; row < aligner->rows; row++) {
    if (row % BAND == 0)
      stereo_sparse_take (aligner->sparse, left, right, row, BAND);
    measure_row (aligner, row, 0);
  }
  estimate (aligner, FIRST_ROUNDS);
}

void
stereo_aligner_rows (const StereoAligner *aligner, int *first, int *end)
{
  *first = *end = 0;
  if (aligner->rows && aligner->columns)
    stereo_sparse_need (aligner->sparse, aligner->turn, 1, first, end);
}

void
stereo_aligner_follow (StereoAligner *aligner, const StereoImage *left, const StereoImage *right)
{
  int row = aligner->turn;

  if (!aligner->rows || !aligner->columns)
    return;
  stereo_sparse_take (aligner->sparse, left, right, row, 1);
  measure_row (aligner, row, 1 + aligner->turns / aligner->rows);
  estimate (aligner, aligner->started ? NEXT_ROUNDS : FIRST_ROUNDS);
  aligner->turn = (row + aligner->stride) % aligner->rows;
  aligner->turns = (aligner->turns + 1) % (aligner->rows * aligner->share);
}
