/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rectification after Bouguet, in the conventions of OpenCV's stereoRectify (equal principal points) and
 * initUndistortRectifyMap. Each camera turns by half of the rotation between them; then both turn about the axis that
 * brings the baseline onto the rows. Both views have one focal length and one principal point.
 */
#include "stereo/rectify.h"

#include "stereo/engine/error.h"
#include "stereo/rectify/check.h"
#include "stereo/rectify/lens.h"
#include "stereo/rectify/matrix.h"
#include "stereo/rectify/rotation.h"

#include <math.h>
#include <string.h>

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
static StereoPoint
rectify_point (const StereoLens *lens, const double *rotation, double u, double v, int steps)
{
  StereoPoint p = stereo_lens_undistort (lens, u, v, steps);
  double in[3] = { p.x, p.y, 1 }, out[3];

  stereo_matrix_apply (rotation, in, out);
  return out[2] > 0 ? (StereoPoint){ out[0] / out[2], out[1] / out[2] } : (StereoPoint){ NAN, NAN };
}

/* ---- projections ------------------------------------------------------------------------- */

/* The principal point that centres the rectified corners of the picture. */
static StereoPoint
centre (const StereoLens *lens, const double *rotation, int width, int height, double focal)
{
  double x = 0, y = 0;

  for (int i = 0; i < 4; i++) {
    StereoPoint p = rectify_point (lens, rotation, i % 2 * (width - 1.0), i / 2 * (height - 1.0), ROUGH);
    x += focal * p.x / 4;
    y += focal * p.y / 4;
  }
  return (StereoPoint){ (width - 1) / 2.0 - x, (height - 1) / 2.0 - y };
}

/* The outline from @count points on each side of the picture, which lie @inset pixels inside the centres of the outermost
 * pixels; px, relative to the principal point. */
static Outline
outline_of (const StereoLens *lens, const double *rotation, const int size[2], double focal, int count, double inset)
{
  Outline o = { { -INFINITY, -INFINITY, INFINITY, INFINITY }, { INFINITY, INFINITY, -INFINITY, -INFINITY } };
  double width = size[0] - 1 - 2 * inset, height = size[1] - 1 - 2 * inset;

  for (int side = 0; side < 4; side++)
    for (int i = 0; i < count; i++) {
      double t = i / (count - 1.0), s = side >= 2;
      double u = inset + (side % 2 ? t : s) * width, v = inset + (side % 2 ? s : t) * height;
      StereoPoint p = rectify_point (lens, rotation, u, v, count == FEW ? ROUGH : EXACT);
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
growth (const double *box, StereoPoint to, const int size[2], int least)
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
place (const StereoCalibration *c, const StereoRectification *r, double focal, double middle, double alpha,
    StereoPoint *to)
{
  const int raw[2] = { c->width, c->height }, size[2] = { r->width, r->height };
  const StereoLens lenses[2] = { stereo_lens_of (&c->camera[0]), stereo_lens_of (&c->camera[1]) };
  double most = 0, least = INFINITY;
  StereoPoint at[2];

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
  StereoPoint to;
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

  if (width < 1 || height < 1 || width > STEREO_RECTIFY_MAX_SIZE || height > STEREO_RECTIFY_MAX_SIZE)
    return stereo_fail (error, STEREO_ERROR_SIZE,
        "Pictures of %d x %d cannot be rectified: 1 x 1 to %d x %d are possible.", width, height,
        STEREO_RECTIFY_MAX_SIZE, STEREO_RECTIFY_MAX_SIZE);
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
  StereoStatus status = stereo_rectify_check (c, alpha, width, height, error);
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
    baseline = stereo_rectify_share_rotation (c, r->rectifying);
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
  const double lens_end = stereo_lens_of (camera).straight_end, farthest = lens_end * lens_end;
  double forward[9], back[9];

  stereo_matrix_multiply (intrinsic, rectification->rectifying[view], forward);
  stereo_matrix_invert (forward, back);
  for (int v = first; v < end; v++) {
    float *row_x = map_x + (ptrdiff_t) (v - first) * pitch, *row_y = map_y + (ptrdiff_t) (v - first) * pitch;
    for (int u = 0; u < rectification->width; u++) {
      const double pixel[3] = { u, v, 1 };
      double ray[3];
      stereo_matrix_apply (back, pixel, ray);
      double rx = ray[0] / ray[2], ry = ray[1] / ray[2];
      StereoPoint d = stereo_lens_distort (camera, rx, ry);
      double x = camera->fx * d.x + camera->cx, y = camera->fy * d.y + camera->cy;
      int seen = ray[2] > 0 && rx * rx + ry * ry <= farthest && fabs (x) < limit && fabs (y) < limit;
      row_x[u] = seen ? (float) x : STEREO_RECTIFY_NOWHERE;
      row_y[u] = seen ? (float) y : STEREO_RECTIFY_NOWHERE;
    }
  }
}
