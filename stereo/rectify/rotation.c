/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each camera turns by half of the rotation between them; then both turn so that the baseline lies along the rows. */
#include "stereo/rectify/rotation.h"

#include "stereo/rectify/matrix.h"

#include <math.h>
#include <string.h>

/* The rotation nearest to @a, which is nearly a rotation: Newton's iteration for the polar factor. */
static void
nearest_rotation (const double *a, double *out)
{
  double inverse[9];

  memcpy (out, a, sizeof inverse);
  for (int step = 0; step < 8; step++) {
    stereo_matrix_invert (out, inverse);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        out[3 * i + j] = (out[3 * i + j] + inverse[3 * j + i]) / 2;
  }
}

/* The rotation by @angle, rad, about @axis, whose length is 1. */
static void
rotation_about (const double *axis, double angle, double *out)
{
  double c = cos (angle), s = sin (angle);

  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
  for (int i = 0; i < 3; i++) {
    out[3 * ((i + 2) % 3) + (i + 1) % 3] += s * axis[i];
    out[3 * ((i + 1) % 3) + (i + 2) % 3] -= s * axis[i];
  }
}

/* The axis of a rotation, to @axis, and its angle, rad. */
static double
axis_of (const double *r, double *axis)
{
  const double skew[3] = { r[7] - r[5], r[2] - r[6], r[3] - r[1] };
  double length = sqrt (skew[0] * skew[0] + skew[1] * skew[1] + skew[2] * skew[2]);
  double trace = r[0] + r[4] + r[8];

  axis[0] = 1;
  axis[1] = axis[2] = 0;
  for (int i = 0; length > 0 && i < 3; i++)
    axis[i] = skew[i] / length;
  return atan2 (length, trace - 1);
}

double
stereo_rectify_share_rotation (const StereoCalibration *calibration, double rectifying[2][9])
{
  double r[9], half[9], back[9], global[9], t[3], axis[3], angle, length;

  nearest_rotation (calibration->rotation, r);
  angle = axis_of (r, axis);
  rotation_about (axis, -angle / 2, half);
  stereo_matrix_transpose (half, back);
  stereo_matrix_apply (half, calibration->translation, t);

  const double along[3] = { t[0] > 0 ? 1 : -1, 0, 0 };
  stereo_matrix_cross (t, along, axis);
  length = sqrt (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  angle = atan2 (length, fabs (t[0]));
  for (int i = 0; i < 3; i++)
    axis[i] = length > 0 ? axis[i] / length : i == 0;
  rotation_about (axis, angle, global);
  stereo_matrix_multiply (global, back, rectifying[0]);
  stereo_matrix_multiply (global, half, rectifying[1]);
  stereo_matrix_apply (global, t, axis);
  return axis[0];
}
