/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rectify.c and its checks share. */
#ifndef STEREO_RECTIFY_PRIVATE_H
#define STEREO_RECTIFY_PRIVATE_H

#include "stereo/engine/backend.h"
#include "stereo/rectify.h"

#define STEREO_RECTIFY_MAX_SIZE 32768   /* px, either side */

/* rectify_check.c: everything that is refused before anything is computed. */
StereoStatus stereo_rectify_check (const StereoCalibration *calibration, double alpha, int width, int height,
    StereoError *error);

/* rectify_rotation.c: both cameras' rotations from that between them; returns the right one's place along the rows then,
 * which is negative, in mm. */
double stereo_rectify_share_rotation (const StereoCalibration *calibration, double rectifying[2][9]);

/* ---- 3 x 3 matrices, row by row; @out is none of the others ---- */

static inline void
matrix_multiply (const double *a, const double *b, double *out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static inline void
matrix_apply (const double *a, const double *v, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

static inline void
matrix_cross (const double *a, const double *b, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Returns the determinant; @out is undefined where that is 0. */
static inline double
matrix_invert (const double *a, double *out)
{
  double rows[3][3], determinant;

  for (int i = 0; i < 3; i++)
    matrix_cross (a + 3 * ((i + 1) % 3), a + 3 * ((i + 2) % 3), rows[i]);
  determinant = a[0] * rows[0][0] + a[1] * rows[0][1] + a[2] * rows[0][2];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * j + i] = rows[i][j] / determinant;
  return determinant;
}

#endif
