/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps the points of the last pairs, fits the polynomial to them and decides whether it is worth a resampling. */
#include "stereo/align/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
#define PASSES 4 /* passes over the picture until the estimate has followed a change, */
#define JUMP 0.3 /* px of change that is followed at once */
#define BAND 4   /* rows of cells that are taken at a time of the first pair */
#define GRID 16  /* the polynomial is looked at on a grid this fine */

struct StereoAligner
{
  AlignPictures pictures;
  int columns, rows; /* of cells */
  AlignPoint *points;
  uint8_t *age; /* passes since a point was measured */
  int started;
  int turn; /* row of cells that is next */
  double c[6];
  StereoAlignment result;
};

StereoAligner *
stereo_aligner_new (int width, int height, int min, int num)
{
  StereoAligner *aligner = calloc (1, sizeof *aligner);

  if (!aligner)
    return NULL;
  if (!align_pictures_init (&aligner->pictures, width, height, min, min + num - 1, BAND)) {
    stereo_aligner_free (aligner);
    return NULL;
  }
  aligner->columns = aligner->pictures.small_width / ALIGN_PATCH;
  aligner->rows = aligner->pictures.small_height / ALIGN_PATCH;
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
  align_pictures_clear (&aligner->pictures);
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

/* Measures a row of cells; the small pictures have its rows and those around it. */
static void
measure_row (StereoAligner *aligner, int row)
{
  for (int column = 0; column < aligner->columns; column++) {
    size_t cell = (size_t) row * (size_t) aligner->columns + (size_t) column;
    AlignPoint *point = &aligner->points[cell], fresh;
    AlignMatch match;

    if (align_match (&aligner->pictures, column, row, &match) && align_place (&aligner->pictures, &match, &fresh)) {
      *point = fresh;
      aligner->age[cell] = 0;
    } else if (point->weight > 0 && ++aligner->age[cell] >= LASTING) {
      point->weight = 0;
    }
  }
}

/* Whether points that agree with the polynomial lie in enough of the picture. */
static int
is_spread (const StereoAligner *aligner, const double c[6], double reach)
{
  int counts[QUARTERS * QUARTERS] = { 0 }, regions = 0;

  for (int i = 0; i < aligner->columns * aligner->rows; i++) {
    const AlignPoint *p = &aligner->points[i];
    if (p->weight <= 0 || fabs (p->vertical - align_value (c, p->u, p->v)) > reach)
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
      double d = fabs (align_value (c, (double) i / GRID - 0.5, (double) j / GRID - 0.5));
      squares += d * d;
      *max = d > *max ? d : *max;
    }
  *rms = sqrt (squares / ((GRID + 1) * (GRID + 1)));
}

/* Moves the estimate towards the fit: slowly after the first pair, so that it averages over many. */
static void
move_estimate (StereoAligner *aligner, const AlignFit *fit)
{
  double change[6], rms, max, share = 1.0 / (PASSES * aligner->rows);

  for (int i = 0; i < 6; i++)
    change[i] = fit->c[i] - aligner->c[i];
  measure_polynomial (change, &rms, &max);
  if (!aligner->started || max > JUMP)
    share = 1;
  for (int i = 0; i < 6; i++)
    aligner->c[i] += share * change[i];
}

/* Fits the points anew. Where they say too little the estimate stays. */
static void
estimate (StereoAligner *aligner, int rounds)
{
  int cells = aligner->columns * aligner->rows;
  StereoAlignment *result = &aligner->result;
  AlignFit fit = { { 0 } };
  double rms, max;

  if (aligner->started)
    memcpy (fit.c, aligner->c, sizeof fit.c);
  align_fit (aligner->points, cells, rounds, &fit);
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
      align_pictures_take (&aligner->pictures, left, right, row, BAND);
    measure_row (aligner, row);
  }
  estimate (aligner, FIRST_ROUNDS);
}

void
stereo_aligner_rows (const StereoAligner *aligner, int *first, int *end)
{
  *first = *end = 0;
  if (aligner->rows && aligner->columns)
    align_pictures_need (&aligner->pictures, aligner->turn, 1, first, end);
}

void
stereo_aligner_follow (StereoAligner *aligner, const StereoImage *left, const StereoImage *right)
{
  int row = aligner->turn;

  if (!aligner->rows || !aligner->columns)
    return;
  align_pictures_take (&aligner->pictures, left, right, row, 1);
  measure_row (aligner, row);
  estimate (aligner, aligner->started ? NEXT_ROUNDS : FIRST_ROUNDS);
  /* a stride that shares no factor with most numbers of rows: neighbours in time are far apart in the picture */
  aligner->turn = (row + 7) % aligner->rows;
}
