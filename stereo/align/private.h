/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the estimate share: fit.c fits the polynomial to the points, align.c decides. */
#ifndef STEREO_ALIGN_PRIVATE_H
#define STEREO_ALIGN_PRIVATE_H

#include "stereo/align.h"
#include "stereo/sparse.h"

typedef struct AlignFit
{
  double c[6];
  double before, after; /* px: robust root mean square of the points' vertical disparity, and of what the fit leaves */
  double gain;          /* how much likelier the points are with the fit: a difference of chi-squared */
  int points;           /* that agree with the fit */
} AlignFit;

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
void align_fit (const StereoSparsePlace *points, int count, int rounds, AlignFit *fit);
#endif
