/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/offsets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORST 3.0 /* medians: what fits worse has no part in the second fit */
#define ROUNDS 3
#define LEAST 1e-9

static gint
compare (gconstpointer a, gconstpointer b)
{
  gdouble one = *(const gdouble *) a, other = *(const gdouble *) b;

  return one < other ? -1 : one > other;
}

static gdouble
rest_of (const GstStereoCheckOffset *offset, guint terms, const gdouble *coefficients)
{
  gdouble rest = offset->offset;

  for (guint i = 0; i < terms; i++)
    rest -= coefficients[i] * offset->terms[i];
  return fabs (rest);
}

/* Gauss and Jordan on the normal equations; terms without a part of their own get 0. */
static void
solve (gdouble matrix[GST_STEREO_CHECK_MAX_TERMS][GST_STEREO_CHECK_MAX_TERMS + 1], guint terms, gdouble *coefficients)
{
  for (guint i = 0; i < terms; i++) {
    gdouble pivot = matrix[i][i];

    for (guint j = 0; j <= terms; j++)
      matrix[i][j] = pivot > LEAST ? matrix[i][j] / pivot : 0;
    for (guint k = 0; k < terms; k++) {
      gdouble factor = matrix[k][i];
      for (guint j = 0; k != i && j <= terms; j++)
        matrix[k][j] -= factor * matrix[i][j];
    }
  }
  for (guint i = 0; i < terms; i++)
    coefficients[i] = matrix[i][terms];
}

gdouble
gst_stereo_check_fit (const GstStereoCheckOffset *offsets, guint count, guint terms,
    gdouble coefficients[GST_STEREO_CHECK_MAX_TERMS], gdouble *scratch)
{
  gdouble limit = INFINITY, median = 0;

  memset (coefficients, 0, GST_STEREO_CHECK_MAX_TERMS * sizeof *coefficients);
  for (guint round = 0; round < ROUNDS && count; round++) {
    gdouble matrix[GST_STEREO_CHECK_MAX_TERMS][GST_STEREO_CHECK_MAX_TERMS + 1] = { { 0 } };

    for (guint n = 0; n < count; n++) {
      const GstStereoCheckOffset *one = &offsets[n];
      if (rest_of (one, terms, coefficients) > limit)
        continue;
      for (guint i = 0; i < terms; i++) {
        for (guint j = 0; j < terms; j++)
          matrix[i][j] += one->terms[i] * one->terms[j];
        matrix[i][terms] += one->terms[i] * one->offset;
      }
    }
    solve (matrix, terms, coefficients);
    for (guint n = 0; n < count; n++)
      scratch[n] = rest_of (&offsets[n], terms, coefficients);
    qsort (scratch, count, sizeof *scratch, compare);
    median = scratch[count / 2];
    limit = WORST * MAX (median, 0.05);
  }
  return median;
}
