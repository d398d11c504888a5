/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Sparse matching: textured points of the left view, and where they lie in the right one, on the CPU.
 *
 * Points are chosen and matched in small pictures, by normalised correlation of patches, which another exposure does not
 * change. A match is then placed in the views to a fraction of a pixel. What the matches mean is for the caller to decide:
 * stereo/align estimates the alignment of a rig from them, stereomatch diagnoses its input.
 *
 * Order of calls: take() prepares rows of both views; find_point() and match() work in the small pictures of these rows,
 * place() in the views.
 */
#ifndef STEREO_SPARSE_H
#define STEREO_SPARSE_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STEREO_SPARSE_PATCH 8 /* px of the small pictures, both ways: what is matched, and the side of a cell */
#define STEREO_SPARSE_BLOCK 4 /* px of the small pictures: patches start on a grid this fine */

typedef struct StereoSparse StereoSparse;

typedef struct StereoSparseParams
{
  int width, height; /* of the views, px */
  int side;          /* px: the small pictures are at most this wide and high */
  int min, max;      /* disparities searched, px */
  int reach;         /* vertical disparities searched, px: up and down; at least 2 */
  int cells;         /* rows of cells that are prepared at a time; 0: all */
  float good;        /* correlation of a match, at least */
  float rival;       /* the next best place has to be this many times as far from a correlation of 1, */
  float clear;       /* and this much farther */
  int same_column;   /* places above and below a match are rivals, too */
  int noisy;         /* windows may differ by noise, as long as the difference has no structure */
  int motion;        /* stereo_sparse_track() is called; for `cells` 0 only */
} StereoSparseParams;

/* A patch of the small left picture. */
typedef struct StereoSparsePoint
{
  int x, y;      /* its top left pixel */
  float texture; /* smaller eigenvalue of its structure tensor per pixel, (1/8 grey level / px)^2 */
} StereoSparsePoint;

/* Pixels of the views. */
typedef struct StereoSparseMatch
{
  float x, y;                /* the middle of the patch in the left view */
  float disparity, vertical; /* from there to its place in the right view; below is positive */
  float margin;              /* how much farther the next best place is from a correlation of 1 than `rival` asks for */
} StereoSparseMatch;

/* A match that is placed exactly. */
typedef struct StereoSparsePlace
{
  float u, v;      /* place in the right view: x / width - 1/2, y / height - 1/2 */
  float vertical;  /* px */
  float weight;    /* 1 / variance of `vertical`, px^-2; 0: not a point */
  float disparity; /* px */
} StereoSparsePlace;

typedef enum StereoSparseFound
{
  STEREO_SPARSE_NOTHING, /* no place correlates well */
  STEREO_SPARSE_SEVERAL, /* some place does, but so does another one; or the search back ends elsewhere */
  STEREO_SPARSE_ONE
} StereoSparseFound;

/* NULL: no memory. */
StereoSparse *stereo_sparse_new (const StereoSparseParams *params);
/* NULL is fine. */
void stereo_sparse_free (StereoSparse *sparse);
/* Size of the small pictures; and pixels of the views to a pixel of them, each way. */
void stereo_sparse_size (const StereoSparse *sparse, int *width, int *height, int *factor);
/* Places that a point is searched at, there. */
int stereo_sparse_candidates (const StereoSparse *sparse);

/* Rows *@first to *@end - 1 of the views that the cells of rows @row to @row + @count - 1 need. */
void stereo_sparse_need (const StereoSparse *sparse, int row, int count, int *first, int *end);
/* Prepares these rows of two views in host memory. The views have to stay until other rows are prepared. */
void stereo_sparse_take (StereoSparse *sparse, const StereoImage *left, const StereoImage *right, int row, int count);
/* The most textured patch of those that start in columns @left to @right - 1 and rows @top to @bottom - 1 of the small
 * picture, on the grid of blocks; 0: none has enough. @counts: a byte a pixel of the left view, in rows without padding;
 * a patch with a pixel where it is 0 does not count. NULL: all count. */
int stereo_sparse_find_point (const StereoSparse *sparse, int left, int right, int top, int bottom,
    const uint8_t *counts, StereoSparsePoint *point);
StereoSparseFound stereo_sparse_match (StereoSparse *sparse, const StereoSparsePoint *point, StereoSparseMatch *match);
/* 0: the match cannot be placed. */
int stereo_sparse_place (const StereoSparse *sparse, const StereoSparseMatch *match, StereoSparsePlace *place);

/* Copies two views, all rows, as those of an earlier moment. */
void stereo_sparse_keep (StereoSparse *sparse, const StereoImage *left, const StereoImage *right);
/* Where a match was in its own view (0: left, 1: right) at the kept moment, up to `reach` pixels away both ways. @place has its
 * motion back to there: `vertical` and `disparity`. 0: it was not found. */
int stereo_sparse_track (StereoSparse *sparse, const StereoSparseMatch *match, int view, StereoSparsePlace *place);

/* A polynomial of the place, fitted to vertical disparities: c[0] + c[1] v + c[2] u + c[3] u^2 + c[4] u v + c[5] v^2. */
typedef struct StereoSparseFit
{
  double c[6];
  double before, after; /* px: robust root mean square of the points' vertical disparity, and of what the fit leaves */
  double gain;          /* how much likelier the points are with the fit: a difference of chi-squared */
  int points;           /* that agree with the fit */
} StereoSparseFit;

static inline double
stereo_sparse_value (const double c[6], double u, double v)
{
  return c[0] + c[1] * v + c[2] * u + c[3] * u * u + c[4] * u * v + c[5] * v * v;
}

/* Fits the first @terms of the polynomial to @count points, of which some have no weight, in @rounds rounds from @fit->c on. */
void stereo_sparse_fit (const StereoSparsePlace *points, int count, int terms, int rounds, StereoSparseFit *fit);

#ifdef __cplusplus
}
#endif
#endif
