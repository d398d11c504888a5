/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fits a polynomial to the vertical disparities of points: least squares, reweighted for points that do not belong (Holland and Welsch 1977). */
#include "stereo/sparse/private.h"

#include <math.h>
#include <string.h>

#define BIN 0.02 /* px of the histogram that the median is taken from */
#define BINS 256
#define MIN_SCALE 0.15 /* px of a residual that is still ordinary */

/* Standard deviations of the coefficients before anything is known, px: they hold the polynomial where there are no
 * points. */
static const double prior[6] = { 3, 1.5, 1.5, 1.5, 1.5, 1.5 };

int
sparse_solve (int n, double a[6][6], double b[6])
{
  for (int i = 0; i < n; i++) {
    if (!(a[i][i] > 1e-9))
      return 0;
    for (int j = i + 1; j < n; j++) {
      double f = a[j][i] / a[i][i];
      for (int k = i; k < n; k++)
        a[j][k] -= f * a[i][k];
      b[j] -= f * b[i];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++)
      b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
  return 1;
}

/* Weighted median of |vertical - polynomial|. */
static double
median_residual (const StereoSparsePlace *points, int count, const double c[6])
{
  double bins[BINS] = { 0 }, total = 0, sum = 0;

  for (int i = 0; i < count; i++) {
    const StereoSparsePlace *q = &points[i];
    if (q->weight <= 0)
      continue;
    double at = fabs (q->vertical - stereo_sparse_value (c, q->u, q->v)) / BIN;
    bins[at < BINS - 1 ? (int) at : BINS - 1] += q->weight;
    total += q->weight;
  }
  for (int k = 0; k < BINS; k++)
    if ((sum += bins[k]) >= total / 2)
      return (k + 0.5) * BIN;
  return 0;
}

/* How much a residual counts: 1 near 0, and with its fourth power less far away. */
static double
trust (double residual, double scale)
{
  double ratio = residual / scale, w = 1 / (1 + ratio * ratio);
  return w * w;
}

/* The terms of the polynomial at a place. */
static void
terms_at (double u, double v, double terms[6])
{
  terms[0] = 1;
  terms[1] = v;
  terms[2] = u;
  terms[3] = u * u;
  terms[4] = u * v;
  terms[5] = v * v;
}

/* One round with the first @n terms. */
static int
fit_once (const StereoSparsePlace *points, int count, int n, double scale, double c[6])
{
  double a[6][6] = { { 0 } }, b[6] = { 0 }, terms[6];

  for (int k = 0; k < count; k++) {
    const StereoSparsePlace *q = &points[k];
    if (q->weight <= 0)
      continue;
    double w = q->weight * trust (q->vertical - stereo_sparse_value (c, q->u, q->v), scale);
    terms_at (q->u, q->v, terms);
    for (int i = 0; i < n; i++) {
      double wt = w * terms[i];
      for (int j = i; j < n; j++)
        a[i][j] += wt * terms[j];
      b[i] += wt * q->vertical;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      a[i][j] = a[j][i];
    a[i][i] += 1 / (prior[i] * prior[i]);
  }
  if (!sparse_solve (n, a, b))
    return 0;
  memcpy (c, b, (size_t) n * sizeof *c);
  return 1;
}

/* What the fit is worth, with residuals that count as they did in the last round. */
static void
judge (const StereoSparsePlace *points, int count, double scale, StereoSparseFit *fit)
{
  double before = 0, after = 0, total = 0;

  fit->points = 0;
  for (int n = 0; n < count; n++) {
    const StereoSparsePlace *q = &points[n];
    if (q->weight <= 0)
      continue;
    double left = q->vertical - stereo_sparse_value (fit->c, q->u, q->v);
    double w = q->weight * trust (left, scale);
    before += w * q->vertical * q->vertical;
    after += w * left * left;
    total += w;
    fit->points += fabs (left) < 2 * scale;
  }
  fit->before = total > 0 ? sqrt (before / total) : 0;
  fit->after = total > 0 ? sqrt (after / total) : 0;
  /* neighbouring windows share pixels and disparities: half of what they say is news */
  fit->gain = after > 0 ? (before - after) / after * fit->points / 2 : 0;
}

void
stereo_sparse_fit (const StereoSparsePlace *points, int count, int terms, int rounds, StereoSparseFit *fit)
{
  double scale = 2;

  for (int round = 0; round < rounds; round++) {
    double ordinary = 2 * 1.4826 * median_residual (points, count, fit->c);
    scale = ordinary < MIN_SCALE ? MIN_SCALE : ordinary;
    if (!fit_once (points, count, terms, scale, fit->c))
      break;
  }
  judge (points, count, scale, fit);
}
