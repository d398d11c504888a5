/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rectification after Bouguet, in the conventions of OpenCV's stereoRectify (equal principal points) and
 * initUndistortRectifyMap. Each camera turns by half of the rotation between them; then both turn about the axis that
 * brings the baseline onto the rows. Both views have one focal length and one principal point.
 */
#include "stereo/rectify.h"

#include "stereo/engine/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_SIZE 32768 /* px, either side */

/* ---- matrices ---------------------------------------------------------------------------- */

/* 3 x 3 matrices, row by row, and vectors of 3. @out must not overlap an input. */

static void
matrix_multiply (const double *a, const double *b, double *out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static void
matrix_apply (const double *a, const double *v, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = a[3 * i] * v[0] + a[3 * i + 1] * v[1] + a[3 * i + 2] * v[2];
}

static void
matrix_cross (const double *a, const double *b, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void
matrix_transpose (const double *a, double *out)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = a[3 * j + i];
}

static double
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

/* ---- lenses: models as OpenCV defines them, on the plane at distance 1 before the camera ---- */

/* tan of the angle from the axis (63 degrees) up to which rectified views of a fisheye lens are laid out: planes that show
 * more stretch their border without bound. */
#define LENS_WIDEST 2.0

typedef struct Point
{
  double x, y;
} Point;

/* A camera, and how far out its model is one to one: distances from the axis of a point without distortion, and of the
 * same point with distortion. INFINITY where there is no end. */
typedef struct Lens
{
  const StereoCamera *camera;
  double straight_end, distorted_end;
} Lens;

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

static Lens
lens_of (const StereoCamera *camera)
{
  Lens lens = { camera, INFINITY, INFINITY };
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
  return camera->fx * lens_of (camera).distorted_end;
}

/* For a point without distortion that is no farther out than the model holds. */
static Point
lens_distort (const StereoCamera *camera, double x, double y)
{
  const double *k = camera->distortion;
  double r2 = x * x + y * y;

  if (camera->model == STEREO_LENS_EQUIDISTANT) {
    double r = sqrt (r2), angle = atan (r), factor = r > 1e-8 ? angle * angle_factor (k, angle * angle) / r : 1;
    return (Point){ x * factor, y * factor };
  }
  double radial = numerator (k, r2) / denominator (k, r2);
  return (Point){ x * radial + 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x),
    y * radial + k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y };
}

/* The angle whose distorted one is @distorted, below the end of the model. */
static double
find_angle (const double *k, double distorted)
{
  double low = 0, high = atan (LENS_WIDEST), angle = fmin (distorted, high);

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

static Point
undistort_equidistant (const Lens *lens, double x, double y)
{
  double distorted = hypot (x, y), end = fmin (lens->straight_end, LENS_WIDEST);
  double straight = distorted < lens->distorted_end ? tan (find_angle (lens->camera->distortion, distorted)) : end;
  double factor = distorted > 1e-12 ? fmin (straight, end) / distorted : 1;

  return (Point){ x * factor, y * factor };
}

/* Where the raw pixel (u, v) lies without distortion. @steps: iterations of the pinhole model's fixed-point method. A pixel
 * that is farther out than the model holds lies where the model ends; a fisheye lens is taken to end at LENS_WIDEST. */
static Point
lens_undistort (const Lens *lens, double u, double v, int steps)
{
  const StereoCamera *camera = lens->camera;
  const double *k = camera->distortion;
  double x0 = (u - camera->cx) / camera->fx, y0 = (v - camera->cy) / camera->fy, x = x0, y = y0;
  double out = hypot (x0, y0);

  if (camera->model == STEREO_LENS_EQUIDISTANT)
    return undistort_equidistant (lens, x0, y0);
  if (out >= lens->distorted_end)
    return (Point){ x0 * lens->straight_end / out, y0 * lens->straight_end / out };
  for (int step = 0; step < steps; step++) {
    double r2 = x * x + y * y, inverse = denominator (k, r2) / numerator (k, r2);
    if (!(inverse >= 0))
      return (Point){ x0, y0 }; /* outside the range of the distortion model */
    double dx = 2 * k[2] * x * y + k[3] * (r2 + 2 * x * x), dy = k[2] * (r2 + 2 * y * y) + 2 * k[3] * x * y;
    double next_x = (x0 - dx) * inverse, next_y = (y0 - dy) * inverse;
    if (next_x == x && next_y == y)
      break;
    x = next_x;
    y = next_y;
  }
  return (Point){ x, y };
}

/* ---- what is refused, before anything is computed ------------------------------------------ */

#define ROTATION_TOLERANCE 1e-3 /* accepts files with few digits, refuses other matrices */
#define MAX_TURN 60             /* degrees between the cameras */
#define NO_BASELINE 1e-6        /* mm */

static const char *const side_name[2] = { "left", "right" };

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

  snprintf (name, sizeof name, "%s camera matrix (fx fy cx cy)", side_name[v]);
  if ((status = check_finite (name, matrix, 4, error)))
    return status;
  snprintf (name, sizeof name, "%s distortion", side_name[v]);
  if ((status = check_finite (name, camera->distortion, STEREO_DISTORTION, error)))
    return status;
  if (camera->fx > 0 && camera->fy > 0)
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "The focal length of the %s camera is %g x %g px and has to be above 0: this camera is not calibrated.",
      side_name[v], camera->fx, camera->fy);
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
          side_name[v], v + 1, p[v][0], p[v][5], p[v][10]);
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
    if (!by_default && (sizes[i][0] < 1 || sizes[i][1] < 1 || sizes[i][0] > MAX_SIZE || sizes[i][1] > MAX_SIZE))
      return stereo_fail (error, STEREO_ERROR_SIZE, "The size of the %s is %d x %d: 1 x 1 to %d x %d are possible.",
          name[i], sizes[i][0], sizes[i][1], MAX_SIZE, MAX_SIZE);
  }
  if (alpha == -1 || (alpha >= 0 && alpha <= 1))
    return STEREO_OK;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "alpha=%g is out of range: set it between 0 (no black borders) and 1 (all pixels), or -1 for the calibration's "
      "own projections.",
      alpha);
}

static StereoStatus
check_all (const StereoCalibration *calibration, double alpha, int width, int height, StereoError *error)
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

/* ---- rotations --------------------------------------------------------------------------- */

/* The rotation nearest to @a, which is nearly a rotation: Newton's iteration for the polar factor. */
static void
nearest_rotation (const double *a, double *out)
{
  double inverse[9];

  memcpy (out, a, sizeof inverse);
  for (int step = 0; step < 8; step++) {
    matrix_invert (out, inverse);
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

/* The rectifying rotations of both cameras: each turns by half of the rotation between them; then both turn so that the baseline
 * lies along the rows. Returns the x of the right camera in the rectified frame, mm: negative, because that camera stands to the
 * right. */
static double
share_rotation (const StereoCalibration *calibration, double rectifying[2][9])
{
  double r[9], half[9], back[9], global[9], t[3], axis[3], angle, length;

  nearest_rotation (calibration->rotation, r);
  angle = axis_of (r, axis);
  rotation_about (axis, -angle / 2, half);
  matrix_transpose (half, back);
  matrix_apply (half, calibration->translation, t);

  const double along[3] = { t[0] > 0 ? 1 : -1, 0, 0 };
  matrix_cross (t, along, axis);
  length = sqrt (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  angle = atan2 (length, fabs (t[0]));
  for (int i = 0; i < 3; i++)
    axis[i] = length > 0 ? axis[i] / length : i == 0;
  rotation_about (axis, angle, global);
  matrix_multiply (global, back, rectifying[0]);
  matrix_multiply (global, half, rectifying[1]);
  matrix_apply (global, t, axis);
  return axis[0];
}

/* ---- outlines ---------------------------------------------------------------------------- */

/* The bounds of a view come from points on the border of the raw picture. OpenCV takes few points and undistorts them
 * roughly; the same points here give the same views. Where these are wrong by more than half a pixel, many points that are
 * undistorted exactly decide. */
#define FEW 9 /* points on a side */
#define MANY 129
#define ROUGH 5 /* iterations of undistort() */
#define EXACT 50

/* The outline of a rectified picture: the largest rectangle inside it, and the smallest one around it. */
typedef struct Outline
{
  double inner[4], outer[4]; /* x0 y0 x1 y1 */
} Outline;

/* Where the raw pixel (u, v) lies at distance 1 in the rectified frame; NAN if it is behind the rectified camera. */
static Point
rectify_point (const Lens *lens, const double *rotation, double u, double v, int steps)
{
  Point p = lens_undistort (lens, u, v, steps);
  double in[3] = { p.x, p.y, 1 }, out[3];

  matrix_apply (rotation, in, out);
  return out[2] > 0 ? (Point){ out[0] / out[2], out[1] / out[2] } : (Point){ NAN, NAN };
}

/* ---- projections ------------------------------------------------------------------------- */

/* The principal point that centres the rectified corners of the picture. */
static Point
centre (const Lens *lens, const double *rotation, int width, int height, double focal)
{
  double x = 0, y = 0;

  for (int i = 0; i < 4; i++) {
    Point p = rectify_point (lens, rotation, i % 2 * (width - 1.0), i / 2 * (height - 1.0), ROUGH);
    x += focal * p.x / 4;
    y += focal * p.y / 4;
  }
  return (Point){ (width - 1) / 2.0 - x, (height - 1) / 2.0 - y };
}

/* The outline from @count points on each side of the picture, which lie @inset pixels inside the centres of the outermost
 * pixels; px, relative to the principal point. */
static Outline
outline_of (const Lens *lens, const double *rotation, const int size[2], double focal, int count, double inset)
{
  Outline o = { { -INFINITY, -INFINITY, INFINITY, INFINITY }, { INFINITY, INFINITY, -INFINITY, -INFINITY } };
  double width = size[0] - 1 - 2 * inset, height = size[1] - 1 - 2 * inset;

  for (int side = 0; side < 4; side++)
    for (int i = 0; i < count; i++) {
      double t = i / (count - 1.0), s = side >= 2;
      double u = inset + (side % 2 ? t : s) * width, v = inset + (side % 2 ? s : t) * height;
      Point p = rectify_point (lens, rotation, u, v, count == FEW ? ROUGH : EXACT);
      const double at[2] = { focal * p.x, focal * p.y };
      if (isnan (p.x))
        return (Outline){ { NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN } };
      for (int axis = 0; axis < 2; axis++) {
        o.outer[axis] = fmin (o.outer[axis], at[axis]);
        o.outer[axis + 2] = fmax (o.outer[axis + 2], at[axis]);
      }
      /* sides 0..3 are left, top, right, bottom */
      o.inner[side] = side < 2 ? fmax (o.inner[side], at[side]) : fmin (o.inner[side], at[side - 2]);
    }
  return o;
}

/* The factor by which the focal length must grow so that a view of @size with its principal point at @to ends on the sides
 * of @box. @least 0: the largest of the four factors, with which the view is inside @box; else the smallest, with which
 * @box is inside the view. NAN if no factor does that. */
static double
growth (const double *box, Point to, const int size[2], int least)
{
  const double room[4] = { -to.x, -to.y, size[0] - 1 - to.x, size[1] - 1 - to.y };
  double factor = least ? INFINITY : 0;

  for (int i = 0; i < 4; i++) {
    double f = room[i] / box[i];
    if (!(f > 0))
      return NAN;
    factor = least ? fmin (factor, f) : fmax (factor, f);
  }
  return factor;
}

/* Unlike fmax() and fmin(), these return NAN if @a is NAN. */
static double
larger (double a, double b)
{
  return a > b || isnan (a) ? a : b;
}

static double
smaller (double a, double b)
{
  return a < b || isnan (a) ? a : b;
}

/* Finds the principal point of both views, to @to, and returns the factor by which @focal must grow; 0 if there is no such
 * view. @middle: the focal length with which the middle of the pictures is computed. */
static double
place (const StereoCalibration *c, const StereoRectification *r, double focal, double middle, double alpha, Point *to)
{
  const int raw[2] = { c->width, c->height }, size[2] = { r->width, r->height };
  const Lens lenses[2] = { lens_of (&c->camera[0]), lens_of (&c->camera[1]) };
  double most = 0, least = INFINITY;
  Point at[2];

  for (int v = 0; v < 2; v++)
    at[v] = centre (&lenses[v], r->rectifying[v], c->width, c->height, middle);
  to->x = (at[0].x + at[1].x) / 2 * r->width / c->width;
  to->y = (at[0].y + at[1].y) / 2 * r->height / c->height;
  for (int v = 0; v < 2; v++) {
    Outline few = outline_of (&lenses[v], r->rectifying[v], raw, focal, FEW, 0);
    Outline area = outline_of (&lenses[v], r->rectifying[v], raw, focal, MANY, -0.5);
    Outline core = outline_of (&lenses[v], r->rectifying[v], raw, focal, MANY, 0.5);
    most = larger (most, larger (growth (few.inner, *to, size, 0), growth (area.inner, *to, size, 0)));
    least = smaller (least, smaller (growth (few.outer, *to, size, 1), growth (core.outer, *to, size, 1)));
  }
  double scale = alpha <= 0 ? most : alpha >= 1 ? least : most * (1 - alpha) + least * alpha;
  return isfinite (scale) ? scale : 0;
}

/* Computes P1 and P2 from the rotations in @r. @baseline: mm along x, negative. */
static StereoStatus
project (const StereoCalibration *c, double baseline, double alpha, StereoRectification *r, StereoError *error)
{
  double raw = (c->camera[0].fy + c->camera[1].fy) / 2, focal = raw * r->height / c->height;
  Point to;
  double scale = place (c, r, focal, focal, alpha, &to);

  /* This is OpenCV's method. It finds no view when the new size is several times the old one, or of another shape. */
  if (!(scale > 0))
    scale = place (c, r, focal, raw, alpha, &to);
  if (!(scale > 0))
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "No rectangle of the rectified views (%d x %d, alpha=%g) has pixels of both pictures: rotation or distortion "
        "of the calibration is too large, or not of these cameras.",
        r->width, r->height, alpha);
  focal *= scale;
  for (int v = 0; v < 2; v++) {
    double *p = r->projection[v];
    p[0] = p[5] = focal;
    p[2] = to.x;
    p[6] = to.y;
    p[10] = 1;
  }
  r->projection[1][3] = baseline * focal;
  return STEREO_OK;
}

/* The centres of pixels have whole coordinates: the picture starts at -1/2. */
static double
scale_place (double place, double factor)
{
  return (place + 0.5) * factor - 0.5;
}

static void
scale_projection (double *p, double focal_x, double x, double y)
{
  p[0] *= focal_x;
  p[3] *= focal_x;
  p[5] *= y;
  p[7] *= y;
  p[2] = scale_place (p[2], x);
  p[6] = scale_place (p[6], y);
}

/* Scales the projections of the calibration to the size of the views. The height decides the scale. */
static void
resize (const StereoCalibration *c, StereoRectification *r)
{
  int width = c->rectified_width ? c->rectified_width : c->width;
  int height = c->rectified_height ? c->rectified_height : c->height;
  double x = (double) r->width / width, y = (double) r->height / height;

  memcpy (r->projection, c->projection, sizeof r->projection);
  for (int v = 0; v < 2 && (x != 1 || y != 1); v++)
    scale_projection (r->projection[v], y, x, y);
}

/* ---- public ------------------------------------------------------------------------------ */

StereoStatus
stereo_calibration_scale (StereoCalibration *c, int width, int height, StereoError *error)
{
  double x, y;

  if (width < 1 || height < 1 || width > MAX_SIZE || height > MAX_SIZE)
    return stereo_fail (error, STEREO_ERROR_SIZE,
        "Pictures of %d x %d cannot be rectified: 1 x 1 to %d x %d are possible.", width, height, MAX_SIZE, MAX_SIZE);
  if (c->width <= 0 || c->height <= 0) {
    c->width = width;
    c->height = height;
  }
  x = (double) width / c->width;
  y = (double) height / c->height;
  if (fabs (c->width * y - width) > 1 && fabs (c->height * x - height) > 1)
    return stereo_fail (error, STEREO_ERROR_SIZE,
        "The calibration is of pictures of %d x %d, those at hand are %d x %d, which is another aspect: calibrate with "
        "such pictures, or scale without cropping.",
        c->width, c->height, width, height);
  for (int v = 0; v < 2 && (x != 1 || y != 1); v++) {
    StereoCamera *camera = &c->camera[v];
    camera->fx *= x;
    camera->fy *= y;
    camera->cx = scale_place (camera->cx, x);
    camera->cy = scale_place (camera->cy, y);
    if (c->has_rectification)
      scale_projection (c->projection[v], x, x, y);
  }
  if (c->rectified_width > 0 && c->rectified_height > 0) {
    c->rectified_width = (int) fmax (1, round (c->rectified_width * x));
    c->rectified_height = (int) fmax (1, round (c->rectified_height * y));
  }
  c->width = width;
  c->height = height;
  return STEREO_OK;
}

StereoStatus
stereo_rectify (
    const StereoCalibration *c, double alpha, int width, int height, StereoRectification *r, StereoError *error)
{
  StereoStatus status = check_all (c, alpha, width, height, error);
  const double *p[2] = { r->projection[0], r->projection[1] };
  double baseline;

  if (status)
    return status;
  memset (r, 0, sizeof *r);
  r->width = width ? width : c->rectified_width ? c->rectified_width : c->width;
  r->height = height ? height : c->rectified_height ? c->rectified_height : c->height;
  if (c->has_rectification) {
    memcpy (r->rectifying, c->rectifying, sizeof r->rectifying);
    baseline = (c->projection[1][3] - c->projection[0][3]) / c->projection[1][0];
  } else {
    baseline = share_rotation (c, r->rectifying);
  }
  if (c->has_rectification && alpha < 0)
    resize (c, r);
  else if ((status = project (c, baseline, fmax (alpha, 0), r, error)))
    return status;
  r->focal_length = p[0][0];
  r->baseline = -baseline;
  r->principal_offset = p[1][2] - p[0][2];
  return STEREO_OK;
}

void
stereo_rectify_map (const StereoCalibration *calibration, const StereoRectification *rectification, int view,
    float *map_x, float *map_y, int pitch, int first, int end)
{
  const StereoCamera *camera = &calibration->camera[view];
  const double *p = rectification->projection[view], limit = -(double) STEREO_RECTIFY_NOWHERE;
  const double intrinsic[9] = { p[0], p[1], p[2], p[4], p[5], p[6], p[8], p[9], p[10] };
  const double lens_end = lens_of (camera).straight_end, farthest = lens_end * lens_end;
  double forward[9], back[9];

  matrix_multiply (intrinsic, rectification->rectifying[view], forward);
  matrix_invert (forward, back);
  for (int v = first; v < end; v++) {
    float *row_x = map_x + (ptrdiff_t) (v - first) * pitch, *row_y = map_y + (ptrdiff_t) (v - first) * pitch;
    for (int u = 0; u < rectification->width; u++) {
      const double pixel[3] = { u, v, 1 };
      double ray[3];
      matrix_apply (back, pixel, ray);
      double rx = ray[0] / ray[2], ry = ray[1] / ray[2];
      Point d = lens_distort (camera, rx, ry);
      double x = camera->fx * d.x + camera->cx, y = camera->fy * d.y + camera->cy;
      int seen = ray[2] > 0 && rx * rx + ry * ry <= farthest && fabs (x) < limit && fabs (y) < limit;
      row_x[u] = seen ? (float) x : STEREO_RECTIFY_NOWHERE;
      row_y[u] = seen ? (float) y : STEREO_RECTIFY_NOWHERE;
    }
  }
}
