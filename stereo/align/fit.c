/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fits the polynomial to the points: least squares, reweighted for points that do not belong (Holland and Welsch 1977). */
#include "stereo/align/private.h"

#include <math.h>
#include <string.h>

#define BIN 0.02 /* px of the histogram that the median is taken from */
#define BINS 256
#define MIN_SCALE 0.15 /* px of a residual that is still ordinary */

/* Standard deviations of the coefficients before anything is known, px: they hold the polynomial where there are no
 * points. */
static const double prior[6] = { 3, 1.5, 1.5, 1.5, 1.5, 1.5 };

/* Weighted median of |vertical - polynomial|. */
static double
median_residual (const StereoSparsePlace *points, int count, const double c[6])
{
  double bins[BINS] = { 0 }, total = 0, sum = 0;

  for (int i = 0; i < count; i++) {
    const StereoSparsePlace *q = &points[i];
    if (q->weight <= 0)
      continue;
    double at = fabs (q->vertical - align_value (c, q->u, q->v)) / BIN;
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

static int
fit_once (const StereoSparsePlace *points, int count, double scale, double c[6])
{
  double a[6][6] = { { 0 } }, b[6] = { 0 }, terms[6];

  for (int n = 0; n < count; n++) {
    const StereoSparsePlace *q = &points[n];
    if (q->weight <= 0)
      continue;
    double w = q->weight * trust (q->vertical - align_value (c, q->u, q->v), scale);
    align_terms (q->u, q->v, terms);
    for (int i = 0; i < 6; i++) {
      double wt = w * terms[i];
      for (int j = i; j < 6; j++)
        a[i][j] += wt * terms[j];
      b[i] += wt * q->vertical;
    }
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < i; j++)
      a[i][j] = a[j][i];
    a[i][i] += 1 / (prior[i] * prior[i]);
  }
  if (!stereo_sparse_solve (6, a, b))
    return 0;
  memcpy (c, b, 6 * sizeof *c);
  return 1;
}

/* What the fit is worth, with residuals that count as they did in the last round. */
static void
judge (const StereoSparsePlace *points, int count, double scale, AlignFit *fit)
{
  double before = 0, after = 0, total = 0;

  fit->points = 0;
  for (int n = 0; n < count; n++) {
    const StereoSparsePlace *q = &points[n];
    if (q->weight <= 0)
      continue;
    double left = q->vertical - align_value (fit->c, q->u, q->v);
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
align_fit (const StereoSparsePlace *points, int count, int rounds, AlignFit *fit)
{
  double scale = 2;

  for (int round = 0; round < rounds; round++) {
    double ordinary = 2 * 1.4826 * median_residual (points, count, fit->c);
    scale = ordinary < MIN_SCALE ? MIN_SCALE : ordinary;
    if (!fit_once (points, count, scale, fit->c))
      break;
  }
  judge (points, count, scale, fit);
}
