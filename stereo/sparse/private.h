/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the matcher share: pictures.c prepares the views, match.c and place.c measure
 * points, fit.c fits a polynomial to them. */
#ifndef STEREO_SPARSE_PRIVATE_H
#define STEREO_SPARSE_PRIVATE_H

#include "stereo/sparse.h"

#define PATCH STEREO_SPARSE_PATCH
/* px of the views: the window that is placed exactly */
#define WINDOW_COLUMNS 16
#define WINDOW_ROWS 11

/* Rows of one view: its luma, and a picture a few times smaller with what a correlation needs of each patch. */
typedef struct Picture
{
  const uint8_t *luma; /* of row `first` of the view */
  ptrdiff_t stride;    /* of luma */
  uint8_t *made;       /* luma that is made of colours */
  int16_t *small;      /* means of factor * factor pixels; 16 bits: products of pairs are one instruction then */
  int32_t *sum;        /* of the patch that starts there */
  float *scale;        /* 1 / (its standard deviation times its pixels); 0 for a flat patch */
} Picture;

struct StereoSparse
{
  StereoSparseParams params;
  int factor; /* views to small pictures */
  int small_width, small_height;
  int top, rows;            /* of the small pictures: the first row that is there, and how many are */
  int first, end;           /* rows of the views that are there */
  Picture view[2], kept[2]; /* of this moment, and of an earlier one */
  int32_t *columns;         /* scratch: sums of a patch's columns, values and squares */
  int32_t *line;            /* scratch: sums of columns of a view */
  float *scores;            /* scratch: of one search */
};

/* How far up and down a match is looked for in the small pictures. */
static inline int
vertical_reach (const StereoSparse *s)
{
  return (s->params.reach - 2) / s->factor + 1;
}

/* ---- fit.c: solves the @n equations @a x = @b, n <= 6, symmetric and positive; 0: they are singular. @b becomes x. */
int sparse_solve (int n, double a[6][6], double b[6]);

/* ---- place.c: stereo_sparse_place() of a match of @from in @to. */
int sparse_place (const StereoSparse *s, const Picture *from, const Picture *to, const StereoSparseMatch *match,
    StereoSparsePlace *place);

#endif
