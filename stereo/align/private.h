/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the estimate share: pictures.c prepares the views, match.c and place.c measure points, fit.c fits
 * the polynomial to them, align.c decides. */
#ifndef STEREO_ALIGN_PRIVATE_H
#define STEREO_ALIGN_PRIVATE_H

#include "stereo/align.h"

/* px; vertical disparities are looked for a little beyond what is corrected */
#define ALIGN_REACH 4
#define ALIGN_PATCH 8 /* px of the small pictures, both ways: what is matched, and the side of a cell */
/* px of the views: the window that is placed exactly */
#define ALIGN_COLUMNS 16
#define ALIGN_ROWS 11

/* Rows of one view: its luma, and a picture a few times smaller with what a correlation needs of each patch. */
typedef struct AlignPicture
{
  uint8_t *luma;
  int16_t *small; /* means of factor * factor pixels; 16 bits: products of pairs are one instruction then */
  int32_t *sum;   /* of the patch that starts there */
  float *scale;   /* 1 / (its standard deviation times its pixels); 0 for a flat patch */
} AlignPicture;

typedef struct AlignPictures
{
  int width, height;
  int min, max; /* disparities searched */
  int factor;   /* views to small pictures */
  int small_width, small_height;
  int top, rows;             /* of the small pictures: the first row that is there, and how many are */
  int first, end;            /* rows of the views that are there */
  int most_rows, most_lines; /* rows of the small pictures and of the views that there is memory for */
  AlignPicture view[2];
  int32_t *columns; /* scratch: sums of a patch's columns, values and squares */
  float *scores;    /* scratch: of one search */
  int score_columns;
} AlignPictures;

/* A match of the small pictures, in pixels of the views: the point (x, y) of the left view, its disparity and how much
 * lower it lies in the right view. */
typedef struct AlignMatch
{
  float x, y, disparity, vertical;
} AlignMatch;

/* A measured point. */
typedef struct AlignPoint
{
  float u, v;     /* place in the right view: x / width - 1/2, y / height - 1/2 */
  float vertical; /* px */
  float weight;   /* 1 / variance, px^-2; 0: not a point */
} AlignPoint;

typedef struct AlignFit
{
  double c[6];
  double before, after; /* px: robust root mean square of the points' vertical disparity, and of what the fit leaves */
  double gain;          /* how much likelier the points are with the fit: a difference of chi-squared */
  int points;           /* that agree with the fit */
} AlignFit;

/* How far up and down a match is looked for in the small pictures. */
static inline int
align_reach (const AlignPictures *p)
{
  return (ALIGN_REACH - 2) / p->factor + 1;
}

/* Places in the small picture that a point is looked for in, one way. */
static inline int
align_candidates (const AlignPictures *p)
{
  return ((p->max - p->min) / p->factor + 4) * (2 * align_reach (p) + 1);
}

/* ---- pictures.c */
/* With memory for @cells rows of cells; 0: there is none. */
int align_pictures_init (AlignPictures *p, int width, int height, int min, int max, int cells);
void align_pictures_clear (AlignPictures *p);
/* Rows *@first to *@end - 1 of the views that the cells of rows @row to @row + @count - 1 need. */
void align_pictures_need (const AlignPictures *p, int row, int count, int *first, int *end);
/* Takes what the cells of rows @row to @row + @count - 1 need. */
void align_pictures_take (AlignPictures *p, const StereoImage *left, const StereoImage *right, int row, int count);

/* ---- match.c: the best point of a cell and its partner; 0: there is none. */
int align_match (AlignPictures *p, int column, int row, AlignMatch *match);

/* ---- place.c: places a match exactly; 0: that is not possible. */
int align_place (const AlignPictures *p, const AlignMatch *match, AlignPoint *point);

/* ---- fit.c */
/* The terms of the polynomial at a place. */
static inline void
align_terms (double u, double v, double terms[6])
{
  terms[0] = 1;
  terms[1] = v;
  terms[2] = u;
  terms[3] = u * u;
  terms[4] = u * v;
  terms[5] = v * v;
}

static inline double
align_value (const double c[6], double u, double v)
{
  return c[0] + c[1] * v + c[2] * u + c[3] * u * u + c[4] * u * v + c[5] * v * v;
}

/* Fits the polynomial to @count points, of which some have no weight, in @rounds rounds from @fit->c on. */
void align_fit (const AlignPoint *points, int count, int rounds, AlignFit *fit);
/* Solves the @n equations @a x = @b, n <= 6, symmetric and positive; 0: they are singular. @b becomes x. */
int align_solve (int n, double a[6][6], double b[6]);

#endif
