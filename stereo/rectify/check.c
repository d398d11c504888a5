/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Refuses calibrations that do not describe a pair, and says what is wrong with them. */
#include "stereo/rectify/check.h"

#include "stereo/engine/error.h"

#include <math.h>
#include <stdio.h>

#define ROTATION_TOLERANCE 1e-3 /* accepts files with few digits, refuses other matrices */
#define MAX_TURN 60             /* degrees between the cameras */
#define NO_BASELINE 1e-6        /* mm */

static const char *const side[2] = { "left", "right" };

static StereoStatus
check_finite (const char *name, const double *values, int count, StereoError *error)
{
  for (int i = 0; i < count; i++)
    if (!isfinite (values[i]))
      return stereo_fail (error, STEREO_ERROR_PARAMETER,
          "Value %d of the calibration's %s is %g, not a finite number: calibrate again.", i + 1, name, values[i]);
  return STEREO_OK;
}

static StereoStatus
check_camera (const StereoCamera *camera, int v, StereoError *error)
{
  const double matrix[4] = { camera->fx, camera->fy, camera->cx, camera->cy };
  char name[64];
  StereoStatus status;

  snprintf (name, sizeof name, "%s camera matrix (fx fy cx cy)", side[v]);
  if ((status = check_finite (name, matrix, 4, error)))
    return status;
  snprintf (name, sizeof name, "%s distortion", side[v]);
  if ((status = check_finite (name, camera->distortion, STEREO_DISTORTION, error)))
    return status;
  if (camera->fx > 0 && camera->fy > 0)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "The focal length of the %s camera is %g x %g px and has to be above 0: this camera is not calibrated.", side[v],
      camera->fx, camera->fy);
}

static StereoStatus
check_rotation (const char *name, const double *r, StereoError *error)
{
  double worst = 0;
  StereoStatus status = check_finite (name, r, 9, error);

  if (status)
    return status;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double dot = r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
      worst = fmax (worst, fabs (dot - (i == j)));
    }
  double determinant = r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) +
      r[2] * (r[3] * r[7] - r[4] * r[6]);
  if (worst <= ROTATION_TOLERANCE && determinant > 0)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "The calibration's %s is not a rotation: its determinant is %g, and its rows are off by %g from being of length "
      "1 and at right angles.",
      name, determinant, worst);
}

/* @x, @y: mm, of the right camera in the left camera's frame as projections have it: x is negative where it belongs. */
static StereoStatus
check_side_by_side (double x, double y, const char *from, StereoError *error)
{
  if (hypot (x, y) < NO_BASELINE)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "The baseline is %g mm (%s): two cameras in one place see no depth; this is not the calibration of a pair.",
        hypot (x, y), from);
  if (fabs (y) > fabs (x))
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "The cameras stand one above the other (%s: %g mm across, %g mm down): only a pair side by side can be "
        "rectified; turn pictures and calibration by 90 degrees.",
        from, -x, -y);
  if (x > 0)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "The right camera stands %g mm to the left of the left one (%s): left and right are exchanged: "
        "swap the files or the pads.",
        x, from);
  return STEREO_OK;
}

static StereoStatus
check_projections (const double p[2][12], StereoError *error)
{
  for (int v = 0; v < 2; v++) {
    StereoStatus status = check_finite (v ? "right projection (P2)" : "left projection (P1)", p[v], 12, error);
    if (status)
      return status;
    if (!(p[v][0] > 0 && p[v][5] > 0 && fabs (p[v][10] - 1) < 1e-6))
      return stereo_fail (error, STEREO_ERROR_PARAMETER,
          "The %s projection (P%d) has focal lengths %g and %g px and %g in its third row: above 0 and 1 are needed.",
          side[v], v + 1, p[v][0], p[v][5], p[v][10]);
  }
  /* The rows of the two views must be the same rows. */
  if (fabs (p[0][0] - p[1][0]) > 1e-3 * p[0][0] || fabs (p[0][5] - p[1][5]) > 1e-3 * p[0][5] ||
      fabs (p[0][6] - p[1][6]) > 0.5)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "P1 and P2 are not of one rectified pair: focal lengths %g x %g and %g x %g px, rows of the "
        "principal points %g and %g.",
        p[0][0], p[0][5], p[1][0], p[1][5], p[0][6], p[1][6]);
  return check_side_by_side ((p[1][3] - p[0][3]) / p[1][0], (p[1][7] - p[0][7]) / p[1][5], "P2", error);
}

static StereoStatus
check_pose (const StereoCalibration *calibration, StereoError *error)
{
  const double *t = calibration->translation, *r = calibration->rotation;
  StereoStatus status;

  if ((status = check_rotation ("rotation R", calibration->rotation, error)) ||
      (status = check_finite ("translation T", t, 3, error)))
    return status;
  /* Each picture turns by half of the rotation, and must remain in sight. */
  double degrees = acos (fmax (-1, fmin (1, (r[0] + r[4] + r[8] - 1) / 2))) * 180 / 3.14159265358979;
  if (degrees > MAX_TURN)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "Rotation R turns the cameras %.1f degrees against each other, and %d are possible: turn the pictures of one "
        "before, or calibrate again.",
        degrees, MAX_TURN);
  if (fabs (t[2]) > fabs (t[0]) && fabs (t[2]) > fabs (t[1]))
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "The cameras stand one behind the other (T is %g %g %g mm): only a pair side by side can be rectified.", t[0],
        t[1], t[2]);
  return check_side_by_side (t[0], t[1], "T", error);
}

static StereoStatus
check_sizes (const StereoCalibration *calibration, double alpha, int width, int height, StereoError *error)
{
  const int sizes[3][2] = { { calibration->width, calibration->height },
    { calibration->rectified_width, calibration->rectified_height }, { width, height } };
  static const char *const name[3] = { "raw pictures", "calibration's rectified views", "rectified views asked for" };

  for (int i = 0; i < 3; i++) {
    int by_default = i && !sizes[i][0] && !sizes[i][1];
    if (!by_default &&
        (sizes[i][0] < 1 || sizes[i][1] < 1 || sizes[i][0] > STEREO_RECTIFY_MAX_SIZE ||
            sizes[i][1] > STEREO_RECTIFY_MAX_SIZE))
      return stereo_fail (error, STEREO_ERROR_SIZE, "The size of the %s is %d x %d: 1 x 1 to %d x %d are possible.",
          name[i], sizes[i][0], sizes[i][1], STEREO_RECTIFY_MAX_SIZE, STEREO_RECTIFY_MAX_SIZE);
  }
  if (alpha == -1 || (alpha >= 0 && alpha <= 1))
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "alpha=%g is out of range: set it between 0 (no black borders) and 1 (all pixels), or -1 for the calibration's "
      "own projections.",
      alpha);
}

StereoStatus
stereo_rectify_check (const StereoCalibration *calibration, double alpha, int width, int height, StereoError *error)
{
  StereoStatus status;

  if ((status = check_sizes (calibration, alpha, width, height, error)) ||
      (status = check_camera (&calibration->camera[0], 0, error)) ||
      (status = check_camera (&calibration->camera[1], 1, error)))
    return status;
  if (calibration->has_rectification) {
    if ((status = check_rotation ("left rectifying rotation (R1)", calibration->rectifying[0], error)) ||
        (status = check_rotation ("right rectifying rotation (R2)", calibration->rectifying[1], error)))
      return status;
    return check_projections (calibration->projection, error);
  }
  if (calibration->has_pose)
    return check_pose (calibration, error);
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "The calibration does not say how the cameras stand to each other: it needs R and T, or R1, R2, P1 and P2.");
}
