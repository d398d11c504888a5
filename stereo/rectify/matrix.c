/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/rectify/matrix.h"

void
stereo_matrix_multiply (const double *a, const double *b, double *out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

void
stereo_matrix_apply (const double *a, const double *v, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

void
stereo_matrix_cross (const double *a, const double *b, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

void
stereo_matrix_transpose (const double *a, double *out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = a[3 * j + i];
}

double
stereo_matrix_invert (const double *a, double *out)
{
  double rows[3][3], determinant;

  for (int i = 0; i < 3; i++)
    stereo_matrix_cross (a + 3 * ((i + 1) % 3), a + 3 * ((i + 2) % 3), rows[i]);
  determinant = a[0] * rows[0][0] + a[1] * rows[0][1] + a[2] * rows[0][2];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * j + i] = rows[i][j] / determinant;
  return determinant;
}
