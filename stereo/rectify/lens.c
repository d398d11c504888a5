/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/rectify/lens.h"

#include <math.h>

#define RIGHT_ANGLE 1.5707963267948966
#define FARTHEST 4.0 /* tan of 76 degrees: no pinhole lens shows more */
#define STEPS 1024   /* at which a model is looked at up to there */
#define NEWTON 20

static double
angle_factor (const double *k, double angle2)
{
  return 1 + (((k[3] * angle2 + k[2]) * angle2 + k[1]) * angle2 + k[0]) * angle2;
}

/* The distance from the axis is multiplied by the first of these, and divided by the second. */
static double
numerator (const double *k, double r2)
{
  return 1 + ((k[4] * r2 + k[1]) * r2 + k[0]) * r2;
}

static double
denominator (const double *k, double r2)
{
  return 1 + ((k[7] * r2 + k[6]) * r2 + k[5]) * r2;
}

/* The radial part of a model at step @i of STEPS: distances from the axis without and with distortion; NAN beyond a pole.
 * The tangential part is small where a model makes sense. */
static void
radius_at (const StereoCamera *camera, int i, double *straight, double *distorted)
{
  if (camera->model == STEREO_LENS_EQUIDISTANT) {
    double angle = RIGHT_ANGLE * i / STEPS;
    *straight = tan (angle);
    *distorted = angle * angle_factor (camera->distortion, angle * angle);
  } else {
    *straight = FARTHEST * i / STEPS;
    double r2 = *straight * *straight, below = denominator (camera->distortion, r2);
    *distorted = below > 0 ? *straight * numerator (camera->distortion, r2) / below : NAN;
  }
}

StereoLens
stereo_lens_of (const StereoCamera *camera)
{
  StereoLens lens = { camera, INFINITY, INFINITY };
  double before_straight = 0, before = 0, straight, distorted;

  for (int i = 1; i < STEPS; i++) {
    radius_at (camera, i, &straight, &distorted);
    if (!(distorted > before)) {
      lens.straight_end = before_straight;
      lens.distorted_end = before;
      break;
    }
    before_straight = straight;
    before = distorted;
  }
  return lens;
}

double
stereo_camera_reach (const StereoCamera *camera)
{
  return camera->fx * stereo_lens_of (camera).distorted_end;
}

StereoPoint
stereo_lens_distort (const StereoCamera *camera, double x, double y)
{
  const double *k = camera->distortion;
  double r2 = x * x + y * y;

  if (camera->model == STEREO_LENS_EQUIDISTANT) {
    double r = sqrt (r2), angle = atan (r), factor = r > 1e-8 ? angle * angle_factor (k, angle * angle) / r : 1;
    return (StereoPoint){ x * factor, y * factor };
  }
  double radial = numerator (k, r2) / denominator (k, r2);
  return (StereoPoint){ x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x),
    y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y };
}

/* The angle whose distorted one is @distorted, below the end of the model. */
static double
find_angle (const double *k, double distorted)
{
  double low = 0, high = atan (STEREO_LENS_WIDEST), angle = fmin (distorted, high);

  if (high * angle_factor (k, high * high) <= distorted)
    return high;
  for (int step = 0; step < NEWTON; step++) {
    double a2 = angle * angle, error = angle * angle_factor (k, a2) - distorted;
    double slope = 1 + (((9 * k[3] * a2 + 7 * k[2]) * a2 + 5 * k[1]) * a2 + 3 * k[0]) * a2;
    *(error > 0 ? &high : &low) = angle;
    angle -= error / slope;
    if (!(angle > low && angle < high))
      angle = (low + high) / 2;
  }
  return angle;
}

static StereoPoint
undistort_equidistant (const StereoLens *lens, double x, double y)
{
  double distorted = hypot (x, y), end = fmin (lens->straight_end, STEREO_LENS_WIDEST);
  double straight = distorted < lens->distorted_end ? tan (find_angle (lens->camera->distortion, distorted)) : end;
  double factor = distorted > 1e-12 ? fmin (straight, end) / distorted : 1;

  return (StereoPoint){ x * factor, y * factor };
}

StereoPoint
stereo_lens_undistort (const StereoLens *lens, double u, double v, int steps)
{
  const StereoCamera *camera = lens->camera;
  const double *k = camera->distortion;
  double x0 = (u - camera->cx) / camera->fx, y0 = (v - camera->cy) / camera->fy, x = x0, y = y0;
  double out = hypot (x0, y0);

  if (camera->model == STEREO_LENS_EQUIDISTANT)
    return undistort_equidistant (lens, x0, y0);
  if (out >= lens->distorted_end)
    return (StereoPoint){ x0 * lens->straight_end / out, y0 * lens->straight_end / out };
  for (int step = 0; step < steps; step++) {
    double r2 = x * x + y * y, inverse = denominator (k, r2) / numerator (k, r2);
    if (!(inverse >= 0))
      return (StereoPoint){ x0, y0 }; /* outside the range of the distortion model */
    double dx = 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x), dy = k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
    double next_x = (x0 - dx) * inverse, next_y = (y0 - dy) * inverse;
    if (next_x == x && next_y == y)
      break;
    x = next_x;
    y = next_y;
  }
  return (StereoPoint){ x, y };
}
