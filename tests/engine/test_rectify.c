/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rectification of random camera pairs against a plain twin: 3-D points go through both raw cameras, lens and all, and
 * have to be where the maps say, in one row of both views. Every refusal says what is wrong.
 */
#include <math.h>

#include "tests/support/check.h"
#include "tests/support/random.h"
#include "stereo/rectify.h"

#define PAIRS 40
#define POINTS 200

static Random source;

#define between(low, high) random_between (&source, low, high)

/* ---- the twin ---- */

static void
rotate (const double *r, const double *x, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = r[3 * i] * x[0] + r[3 * i + 1] * x[1] + r[3 * i + 2] * x[2];
}

static void
rotate_back (const double *r, const double *x, double *out)
{
  for (int i = 0; i < 3; i++)
    out[i] = r[i] * x[0] + r[3 + i] * x[1] + r[6 + i] * x[2];
}

/* The raw pixel of a point in the camera's frame, as the model's definition has it. */
static void
raw_pixel (const StereoCamera *camera, const double *point, double *pixel)
{
  const double *d = camera->distortion;
  double x = point[0] / point[2], y = point[1] / point[2], r = sqrt (x * x + y * y);

  if (camera->model == STEREO_LENS_EQUIDISTANT) {
    double t = atan2 (r, 1), bent = t + d[0] * pow (t, 3) + d[1] * pow (t, 5) + d[2] * pow (t, 7) + d[3] * pow (t, 9);
    pixel[0] = camera->fx * (r > 0 ? bent * x / r : 0) + camera->cx;
    pixel[1] = camera->fy * (r > 0 ? bent * y / r : 0) + camera->cy;
    return;
  }
  double up = 1 + d[0] * pow (r, 2) + d[1] * pow (r, 4) + d[4] * pow (r, 6);
  double down = 1 + d[5] * pow (r, 2) + d[6] * pow (r, 4) + d[7] * pow (r, 6);

  pixel[0] = camera->fx * (x * up / down + 2 * d[2] * x * y + d[3] * (r * r + 2 * x * x)) + camera->cx;
  pixel[1] = camera->fy * (y * up / down + d[2] * (r * r + 2 * y * y) + 2 * d[3] * x * y) + camera->cy;
}

/* The direction a raw pixel looks in: Newton's method on the model, derivatives by differences. */
static int
raw_direction (const StereoCamera *camera, const double *pixel, double *direction)
{
  double x = (pixel[0] - camera->cx) / camera->fx, y = (pixel[1] - camera->cy) / camera->fy, h = 1e-6;
  double at[2], right[2], down[2];

  for (int step = 0; step < 100; step++) {
    raw_pixel (camera, (double[]){ x, y, 1 }, at);
    raw_pixel (camera, (double[]){ x + h, y, 1 }, right);
    raw_pixel (camera, (double[]){ x, y + h, 1 }, down);
    double a = (right[0] - at[0]) / h, b = (down[0] - at[0]) / h, c = (right[1] - at[1]) / h, d = (down[1] - at[1]) / h;
    double ex = pixel[0] - at[0], ey = pixel[1] - at[1], determinant = a * d - b * c;
    x += 0.8 * (d * ex - b * ey) / determinant;
    y += 0.8 * (a * ey - c * ex) / determinant;
  }
  direction[0] = x;
  direction[1] = y;
  direction[2] = 1;
  return hypot (pixel[0] - at[0], pixel[1] - at[1]) < 1e-6;
}

static void
view_pixel (const StereoRectification *r, int v, const double *point, double *pixel)
{
  double turned[3];

  rotate (r->rectifying[v], point, turned);
  pixel[0] = r->projection[v][0] * turned[0] / turned[2] + r->projection[v][2];
  pixel[1] = r->projection[v][5] * turned[1] / turned[2] + r->projection[v][6];
}

/* ---- random pairs ---- */

static void
draw_rotation (double degrees, double *out)
{
  double angle[3], m[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

  for (int axis = 0; axis < 3; axis++) {
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    angle[axis] = between (-degrees, degrees) * 3.14159265358979 / 180;
    for (int row = 0; row < 3; row++) {
      double a = m[3 * row + i], b = m[3 * row + j];
      m[3 * row + i] = cos (angle[axis]) * a + sin (angle[axis]) * b;
      m[3 * row + j] = cos (angle[axis]) * b - sin (angle[axis]) * a;
    }
  }
  memcpy (out, m, sizeof m);
}

/* Whether the lens keeps the order of points from the middle out, to a good way beyond the corners. */
static int
is_lens (const StereoCamera *camera, int width, int height)
{
  double corner = 0.75 * hypot (width, height) / camera->fx, before = camera->cx, pixel[2];

  for (int k = 1; k <= 100; k++) {
    raw_pixel (camera, (double[]){ corner * k / 100, 0, 1 }, pixel);
    if (pixel[0] - before < 0.4 * camera->fx * corner / 100)
      return 0;
    before = pixel[0];
  }
  return 1;
}

enum
{
  PLUMB_BOB,
  RATIONAL,
  FISHEYE,
  LENSES
};

static void
draw_camera (StereoCamera *camera, int width, int height, int lens)
{
  static const double range[STEREO_DISTORTION] = { 0.25, 0.05, 2e-3, 2e-3, 0.02, 0.1, 0.05, 0.01 };
  int fisheye = lens == FISHEYE, terms = fisheye ? 4 : lens == RATIONAL ? 8 : 5;

  do {
    double focal = (fisheye ? between (0.7, 1.2) : between (0.8, 1.6)) * width;
    *camera = (StereoCamera){ focal, focal * between (0.98, 1.02), width * between (0.46, 0.54),
      height * between (0.46, 0.54), { 0 }, fisheye ? STEREO_LENS_EQUIDISTANT : 0 };
    for (int i = 0; i < terms; i++)
      camera->distortion[i] = fisheye ? between (-0.02, 0.02) : between (-range[i], range[i]);
  } while (!fisheye && !is_lens (camera, width, height));
}

static StereoCalibration
draw_pair (void)
{
  StereoCalibration c = { .width = random_range (&source, 97, 400) };
  int lens = random_range (&source, 0, LENSES - 1);
  double baseline = between (10, 500);

  c.height = random_range (&source, 65, c.width * 3 / 4);
  for (int v = 0; v < 2; v++)
    draw_camera (&c.camera[v], c.width, c.height, lens);
  draw_rotation (4, c.rotation);
  c.translation[0] = -baseline;
  c.translation[1] = baseline * between (-0.06, 0.06);
  c.translation[2] = baseline * between (-0.06, 0.06);
  c.has_pose = 1;
  return c;
}

/* A pair that knows its projections, as a file of stereo_rectify()'s own results would. */
static StereoCalibration
with_rectification (const StereoCalibration *calibration, double alpha)
{
  StereoCalibration c = *calibration;
  StereoRectification r;
  StereoError error;

  CHECK (!stereo_rectify (&c, alpha, 0, 0, &r, &error), "%s", error.message);
  memcpy (c.rectifying, r.rectifying, sizeof c.rectifying);
  memcpy (c.projection, r.projection, sizeof c.projection);
  c.has_rectification = 1;
  return c;
}

typedef struct Maps
{
  StereoRectification r;
  float *x[2], *y[2];
} Maps;

static int
maps_new (Maps *maps, const StereoCalibration *c, double alpha, int width, int height)
{
  StereoError error;

  memset (maps, 0, sizeof *maps);
  if (!CHECK (!stereo_rectify (c, alpha, width, height, &maps->r, &error), "alpha %g, %d x %d of %d x %d: %s", alpha,
          width, height, c->width, c->height, error.message))
    return 0;
  for (int v = 0; v < 2; v++) {
    size_t pixels = (size_t) maps->r.width * (size_t) maps->r.height;
    maps->x[v] = malloc (pixels * sizeof (float));
    maps->y[v] = malloc (pixels * sizeof (float));
    stereo_rectify_map (c, &maps->r, v, maps->x[v], maps->y[v], maps->r.width, 0, maps->r.height);
  }
  return 1;
}

static void
maps_free (Maps *maps)
{
  for (int v = 0; v < 2; v++) {
    free (maps->x[v]);
    free (maps->y[v]);
  }
}

/* The ray of pixel @k of a view, in the raw camera's frame. */
static void
ray_of (const Maps *maps, int v, int k, double ray[3])
{
  const double *p = maps->r.projection[v];
  double turned[3] = { (k % maps->r.width - p[2]) / p[0], (k / maps->r.width - p[6]) / p[5], 1 };

  rotate_back (maps->r.rectifying[v], turned, ray);
}

static int
is_nowhere (const Maps *maps, int v, int k)
{
  return maps->x[v][k] == STEREO_RECTIFY_NOWHERE && maps->y[v][k] == STEREO_RECTIFY_NOWHERE;
}

/* ---- cases ---- */

static double
draw_alpha (void)
{
  return (double[]){ 0, 1, between (0, 1), -1 }[random_range (&source, 0, 3)];
}

/* Views of a third to twice the size, and of about its shape. */
static void
draw_size (const StereoCalibration *c, int *width, int *height)
{
  double factor = between (0.34, 2);
  int same = random_range (&source, 0, 1);

  *width = same ? 0 : (int) (c->width * factor);
  *height = same ? 0 : (int) (c->height * factor * between (0.8, 1.25));
}

CASE (test_points_share_rows, "points share rows, and depth comes back")
{
  for (int pair = 0; pair < PAIRS; pair++) {
    StereoCalibration c = draw_pair ();
    StereoRectification r;
    StereoError error;
    if (random_range (&source, 0, 1)) {
      c = with_rectification (&c, between (0, 1));
      c.projection[1][2] += between (-9, 9); /* principal points may differ along rows */
    }
    if (!CHECK (!stereo_rectify (&c, draw_alpha (), 0, 0, &r, &error), "%s", error.message))
      return;
    CHECK (fabs (r.baseline - hypot (hypot (c.translation[0], c.translation[1]), c.translation[2])) < 1e-6 * r.baseline,
        "baseline %g of T %g", r.baseline, c.translation[0]);
    for (int k = 0; k < POINTS; k++) {
      double z = between (2, 50) * r.baseline, left[3] = { z * between (-0.5, 0.5), z * between (-0.4, 0.4), z },
             right[3];
      double at[2][2], turned[3];
      rotate (c.rotation, left, right);
      for (int i = 0; i < 3; i++)
        right[i] += c.translation[i];
      view_pixel (&r, 0, left, at[0]);
      view_pixel (&r, 1, right, at[1]);
      rotate (r.rectifying[0], left, turned);
      CHECK (fabs (at[0][1] - at[1][1]) < 1e-6, "rows %.9g and %.9g", at[0][1], at[1][1]);
      double disparity = at[0][0] - at[1][0], depth = r.focal_length * r.baseline / (disparity + r.principal_offset);
      CHECK (fabs (depth - turned[2]) < 1e-6 * depth, "depth %.9g from disparity %g, and is %.9g", depth, disparity,
          turned[2]);
    }
  }
}

CASE (test_maps_point_to_raw_pixels, "maps point to the raw pixels")
{
  for (int pair = 0; pair < PAIRS; pair++) {
    StereoCalibration c = draw_pair ();
    Maps maps;
    int width, height;
    draw_size (&c, &width, &height);
    if (random_range (&source, 0, 1))
      c = with_rectification (&c, between (0, 1));
    if (!maps_new (&maps, &c, draw_alpha (), width, height))
      return;
    for (int k = 0; k < POINTS; k++) {
      int v = k % 2, x = random_range (&source, 0, maps.r.width - 1), y = random_range (&source, 0, maps.r.height - 1);
      double z = between (1, 1e5), point[3], raw[2];
      ray_of (&maps, v, y * maps.r.width + x, point);
      for (int i = 0; i < 3; i++)
        point[i] *= z;
      raw_pixel (&c.camera[v], point, raw);
      size_t at = (size_t) y * (size_t) maps.r.width + (size_t) x;
      double tolerance = 1e-3 + 1e-6 * fmax (fabs (raw[0]), fabs (raw[1]));
      if (fmax (fabs (raw[0]), fabs (raw[1])) >= 1e6) /* far outside, the model may go anywhere */
        raw[0] = raw[1] = (double) STEREO_RECTIFY_NOWHERE;
      CHECK (fabs (raw[0] - (double) maps.x[v][at]) < tolerance && fabs (raw[1] - (double) maps.y[v][at]) < tolerance,
          "view %d (%d, %d) is at %g, %g, and the map has %g, %g", v, x, y, raw[0], raw[1], (double) maps.x[v][at],
          (double) maps.y[v][at]);
    }
    maps_free (&maps);
  }
}

/* How far beyond the area of the raw picture the map reaches. */
static double
beyond (const StereoCalibration *c, const Maps *maps)
{
  double most = -INFINITY;

  for (int v = 0; v < 2; v++)
    for (int k = 0; k < maps->r.width * maps->r.height; k++) {
      double x = (double) maps->x[v][k], y = (double) maps->y[v][k];
      most = fmax (most, fmax (fmax (-0.5 - x, x - (c->width - 0.5)), fmax (-0.5 - y, y - (c->height - 0.5))));
    }
  return most;
}

/* How far outside of the view's four edges the outermost pixels of the raw pictures lie: at most, and at least. Of an
 * edge it is the pixel farthest in (@inner) or farthest out that counts. */
static void
edges (const StereoCalibration *c, const StereoRectification *r, int inner, double *most, double *least)
{
  *most = -INFINITY;
  *least = INFINITY;
  for (int v = 0; v < 2; v++) {
    double out[4] = { 0 };
    for (int side = 0; side < 4; side++) {
      int upright = side % 2 == 0, count = upright ? c->height : c->width, far = side / 2;
      out[side] = inner ? INFINITY : -INFINITY;
      for (int k = 0; k < count; k += 1 + count / 500) {
        double raw[2] = { upright ? far * (c->width - 1) : k, upright ? k : far * (c->height - 1) }, direction[3], at[2];
        CHECK (raw_direction (&c->camera[v], raw, direction), "the twin finds no direction of %g, %g", raw[0], raw[1]);
        view_pixel (r, v, direction, at);
        double value = far ? at[!upright] - (upright ? r->width - 1 : r->height - 1) : -at[!upright];
        out[side] = inner ? fmin (out[side], value) : fmax (out[side], value);
      }
      *most = fmax (*most, out[side]);
      *least = fmin (*least, out[side]);
    }
  }
}

CASE (test_alpha_0_shows_nothing_outside, "alpha 0 shows nothing outside")
{
  for (int pair = 0; pair < PAIRS; pair++) {
    StereoCalibration c = draw_pair ();
    Maps maps;
    int width, height;
    double most, least;
    draw_size (&c, &width, &height);
    if (!maps_new (&maps, &c, 0, width, height))
      return;
    CHECK (beyond (&c, &maps) < 0.05, "%g px outside of the picture", beyond (&c, &maps));
    /* and no more is cut than has to be: one edge of the view is where a picture ends */
    edges (&c, &maps.r, 1, &most, &least);
    CHECK (fabs (least) < 1.2 * fmax (1, maps.r.focal_length / c.camera[0].fx), "the pictures end %g px outside", least);
    maps_free (&maps);
  }
}

CASE (test_alpha_1_shows_everything, "alpha 1 shows everything")
{
  for (int pair = 0; pair < PAIRS; pair++) {
    StereoCalibration c = draw_pair ();
    StereoRectification r, cropped, half;
    StereoError error;
    int width, height;
    double most, least;
    draw_size (&c, &width, &height);
    if (!CHECK (!stereo_rectify (&c, 1, width, height, &r, &error) &&
                !stereo_rectify (&c, 0, width, height, &cropped, &error) &&
                !stereo_rectify (&c, 0.5, width, height, &half, &error),
            "%s", error.message))
      return;
    edges (&c, &r, 0, &most, &least);
    CHECK (fabs (most) < 1.2 * fmax (1, r.focal_length / c.camera[0].fx), "raw pixels are %g px outside of the view",
        most);
    CHECK (r.focal_length < cropped.focal_length, "%g and %g", r.focal_length, cropped.focal_length);
    CHECK (fabs (half.focal_length - (r.focal_length + cropped.focal_length) / 2) < 1e-9 * half.focal_length, "%g",
        half.focal_length);
    CHECK (half.principal_offset == 0, "%g", half.principal_offset);
  }
}

/* Where points on the border are few for the size, still no more than half a pixel of the view is amiss. */
CASE (test_alpha_of_large_pictures, "alpha of large pictures")
{
  for (int pair = 0; pair < 12; pair++) {
    StereoCalibration c = draw_pair ();
    StereoRectification r;
    StereoError error;
    double most, least;
    CHECK (!stereo_calibration_scale (&c, 20 * c.width, 20 * c.height, &error), "%s", error.message);
    if (!CHECK (!stereo_rectify (&c, pair % 2, 0, 0, &r, &error), "%s", error.message))
      return;
    edges (&c, &r, pair % 2 == 0, &most, &least);
    double outside = pair % 2 ? most : -least, pixel = fmax (1, r.focal_length / c.camera[0].fx);
    CHECK (outside < 0.7 * pixel, "alpha %d, %d x %d: %g px", pair % 2, c.width, c.height, outside);
  }
}

CASE (test_own_projections_stay, "a calibration's own projections")
{
  for (int pair = 0; pair < PAIRS; pair++) {
    StereoCalibration pose = draw_pair (), c = with_rectification (&pose, between (0, 1));
    StereoRectification r, fresh, again;
    StereoError error;
    double alpha = between (0, 1);
    c.has_pose = random_range (&source, 0, 1);
    CHECK (!stereo_rectify (&c, -1, 0, 0, &r, &error), "%s", error.message);
    CHECK (!memcmp (r.projection, c.projection, sizeof r.projection) &&
            !memcmp (r.rectifying, c.rectifying, sizeof r.rectifying),
        "P or R changed");
    CHECK (r.width == c.width && r.height == c.height, "%d x %d", r.width, r.height);
    /* with alpha they are made anew, from either form of the calibration the same */
    CHECK (!stereo_rectify (&pose, alpha, 0, 0, &fresh, &error) && !stereo_rectify (&c, alpha, 0, 0, &again, &error),
        "%s", error.message);
    for (int i = 0; i < 12; i++)
      CHECK (fabs (fresh.projection[1][i] - again.projection[1][i]) < 1e-7 * (1 + fabs (fresh.projection[1][i])),
          "P2[%d] is %g and %g", i, fresh.projection[1][i], again.projection[1][i]);
  }
}

/* Three times the size: the pixel in the middle of 3 x 3 shows what the one pixel did. */
static void
check_tripled (const Maps *small, const Maps *large, double factor, double shift, const char *what)
{
  CHECK (large->r.width == 3 * small->r.width && large->r.height == 3 * small->r.height, "%s: %d x %d", what,
      large->r.width, large->r.height);
  CHECK (fabs (large->r.focal_length - 3 * small->r.focal_length) < 1e-9 * large->r.focal_length &&
          fabs (large->r.baseline - small->r.baseline) < 1e-9 * small->r.baseline,
      "%s: %g and %g", what, large->r.focal_length, large->r.baseline);
  CHECK (fabs (large->r.principal_offset - 3 * small->r.principal_offset) < 1e-9, "%s: offset %g", what,
      large->r.principal_offset);
  for (int k = 0; k < POINTS; k++) {
    int v = k % 2, x = random_range (&source, 0, small->r.width - 1), y = random_range (&source, 0, small->r.height - 1);
    int at = y * small->r.width + x, middle = (3 * y + 1) * large->r.width + 3 * x + 1;
    double ex = factor * (double) small->x[v][at] + shift - (double) large->x[v][middle];
    double ey = factor * (double) small->y[v][at] + shift - (double) large->y[v][middle];
    CHECK (fabs (ex) < 1e-2 && fabs (ey) < 1e-2, "%s: view %d (%d, %d) is off by %g, %g", what, v, x, y, ex, ey);
  }
}

CASE (test_scale, "scale")
{
  for (int pair = 0; pair < 8; pair++) {
    StereoCalibration pose = draw_pair (), c = with_rectification (&pose, between (0, 1)), scaled, sizeless;
    StereoError error;
    Maps plain, large;
    c.projection[1][2] += between (-9, 9);
    scaled = sizeless = c;
    CHECK (!stereo_calibration_scale (&scaled, 3 * c.width, 3 * c.height, &error), "%s", error.message);
    if (!maps_new (&plain, &c, -1, 0, 0) || !maps_new (&large, &scaled, -1, 0, 0))
      return;
    check_tripled (&plain, &large, 3, 1, "raw pictures of three times the size");
    maps_free (&large);
    if (!maps_new (&large, &c, -1, 3 * c.width, 3 * c.height))
      return;
    check_tripled (&plain, &large, 1, 0, "views of three times the size");
    maps_free (&large);
    maps_free (&plain);
    sizeless.width = sizeless.height = 0;
    CHECK (!stereo_calibration_scale (&sizeless, c.width, c.height, &error) && !memcmp (&sizeless, &c, sizeof c),
        "a calibration without a size is another one");
  }
}

CASE (test_rectified_size, "rectified size")
{
  StereoCalibration pose = draw_pair (), c = with_rectification (&pose, 0);
  StereoRectification r;
  StereoError error;

  c.rectified_width = c.width - 20;
  c.rectified_height = c.height - 10;
  CHECK (!stereo_rectify (&c, -1, 0, 0, &r, &error), "%s", error.message);
  CHECK (r.width == c.width - 20 && r.height == c.height - 10, "%d x %d", r.width, r.height);
  CHECK (!memcmp (r.projection, c.projection, sizeof r.projection), "P changed");
  CHECK (!stereo_calibration_scale (&c, 2 * c.width, 2 * c.height, &error), "%s", error.message);
  CHECK (!stereo_rectify (&c, -1, 0, 0, &r, &error), "%s", error.message);
  CHECK (r.width == c.width - 40 && r.height == c.height - 20, "%d x %d", r.width, r.height);
}

CASE (test_aspects, "aspects")
{
  static const int sizes[][5] = { /* from, to, taken */
    { 1226, 370, 2452, 740, 1 }, { 1226, 370, 613, 185, 1 }, { 2452, 741, 1226, 370, 1 }, { 640, 480, 1280, 720, 0 },
    { 640, 480, 640, 478, 0 }, { 1392, 512, 1242, 375, 0 }, { 640, 480, 480, 640, 0 }, { 640, 480, 0, 0, 0 },
    { 640, 480, -640, -480, 0 }, { 640, 480, 640000, 480000, 0 }
  };
  StereoCalibration c;
  StereoError error;
  char text[64];

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int *s = sizes[k];
    c = draw_pair ();
    c.width = s[0];
    c.height = s[1];
    StereoCalibration before = c;
    StereoStatus status = stereo_calibration_scale (&c, s[2], s[3], &error);
    CHECK ((status == STEREO_OK) == s[4], "%d x %d to %d x %d: %d", s[0], s[1], s[2], s[3], status);
    if (s[4])
      continue;
    CHECK (status == STEREO_ERROR_SIZE && !memcmp (&c, &before, sizeof c), "refused, and changed");
    snprintf (text, sizeof text, "%d x %d", s[2], s[3]);
    CHECK (strstr (error.message, text), "'%s' does not say %s", error.message, text);
    snprintf (text, sizeof text, "%d x %d", s[0], s[1]);
    CHECK (s[2] <= 0 || s[2] > 32768 || strstr (error.message, text), "'%s' does not say %s", error.message, text);
  }
}

CASE (test_row_ranges, "row ranges")
{
  enum
  {
    PAD = 5
  };
  StereoCalibration c = draw_pair ();
  Maps maps;

  if (!maps_new (&maps, &c, 0.3, 131, 77))
    return;
  int pitch = maps.r.width + PAD;
  for (int first = 0; first < maps.r.height;) {
    int end = first + random_range (&source, 0, 20), v = random_range (&source, 0, 1);
    end = end < maps.r.height ? end : maps.r.height;
    size_t floats = (size_t) (end - first + 1) * (size_t) pitch;
    float *x = malloc (2 * floats * sizeof *x), *y = x + floats;
    for (size_t k = 0; k < 2 * floats; k++)
      x[k] = 12345;
    stereo_rectify_map (&c, &maps.r, v, x, y, pitch, first, end);
    for (int row = 0; row <= end - first; row++)
      for (int u = 0; u < pitch; u++) {
        int at = (first + row) * maps.r.width + u, inside = row < end - first && u < maps.r.width;
        CHECK (x[row * pitch + u] == (inside ? maps.x[v][at] : 12345) &&
                y[row * pitch + u] == (inside ? maps.y[v][at] : 12345),
            "rows %d..%d: row %d, column %d", first, end, row, u);
      }
    free (x);
    first = end + (end == first);
  }
  maps_free (&maps);
}

/* A view that looks sideways and back: what is behind the camera is nowhere, and no value is not a number. */
CASE (test_behind_is_nowhere, "behind the camera")
{
  StereoCalibration pose = draw_pair (), c = with_rectification (&pose, 0);
  double angle = 1.2, turned[9] = { cos (angle), 0, sin (angle), 0, 1, 0, -sin (angle), 0, cos (angle) };
  Maps maps;
  int nowhere = 0, seen = 0;

  for (int v = 0; v < 2; v++) {
    memcpy (c.rectifying[v], turned, sizeof turned);
    c.projection[v][0] = c.projection[v][5] = 20;
  }
  c.projection[1][3] = -20 * 100;
  if (!maps_new (&maps, &c, -1, 0, 0))
    return;
  for (int v = 0; v < 2; v++)
    for (int k = 0; k < maps.r.width * maps.r.height; k++) {
      float x = maps.x[v][k], y = maps.y[v][k];
      int gone = is_nowhere (&maps, v, k);
      double ray[3];
      ray_of (&maps, v, k, ray);
      CHECK (isfinite (x) && isfinite (y) && fabsf (x) <= 1e6f && fabsf (y) <= 1e6f, "%g, %g", (double) x, (double) y);
      CHECK (gone || ray[2] > 0, "%d is behind the camera, and at %g, %g", k, (double) x, (double) y);
      nowhere += gone;
      seen += !gone;
    }
  CHECK (nowhere > 0 && seen > 0, "%d nowhere, %d seen", nowhere, seen);
  maps_free (&maps);
}

/* ---- lenses that turn back ---- */

/* The distances from the axis, without and with distortion, up to which the model grows: plainly, in small steps. */
static void
find_fold (const StereoCamera *camera, double *straight, double *pixels)
{
  double before = 0, pixel[2];

  for (double r = 1e-4;; r += 1e-4) {
    raw_pixel (camera, (double[]){ r, 0, 1 }, pixel);
    if (pixel[0] - camera->cx <= before)
      break;
    before = pixel[0] - camera->cx;
    *straight = r;
  }
  *pixels = before;
}

static void
check_fold (const StereoCalibration *c, double alpha)
{
  Maps maps;

  if (!maps_new (&maps, c, alpha, 0, 0))
    return;
  for (int v = 0; v < 2; v++) {
    double straight = 0, pixels = 0, reach = stereo_camera_reach (&c->camera[v]);
    int seen = 0;
    find_fold (&c->camera[v], &straight, &pixels);
    CHECK (fabs (reach - pixels) < 0.01 * pixels, "the model ends at %g px, and reaches %g px", pixels, reach);
    for (int k = 0; k < maps.r.width * maps.r.height; k++) {
      double ray[3];
      ray_of (&maps, v, k, ray);
      double r = hypot (ray[0], ray[1]) / ray[2];
      int gone = is_nowhere (&maps, v, k);
      CHECK (gone ? r > straight - 0.02 : r < straight + 0.02, "alpha %g: a ray at %g of %g is at %g, %g", alpha, r,
          straight, (double) maps.x[v][k], (double) maps.y[v][k]);
      seen += !gone;
    }
    CHECK (seen > maps.r.width * maps.r.height / (alpha > 0 ? 10 : 3), "alpha %g: only %d of %d x %d are seen", alpha,
        seen, maps.r.width, maps.r.height);
  }
  maps_free (&maps);
}

/* A strong k1, a pole of the rational model, a fisheye lens: rays beyond the end of the model are nowhere. */
CASE (test_models_that_fold, "models that fold")
{
  for (int k = 0; k < PAIRS; k++) {
    StereoCalibration c = draw_pair ();
    int lens = k % LENSES;
    for (int v = 0; v < 2; v++) {
      StereoCamera *camera = &c.camera[v];
      draw_camera (camera, c.width, c.height, lens);
      memset (camera->distortion, 0, sizeof camera->distortion);
      camera->fx = camera->fy = between (0.7, 0.8) * c.width;
      if (lens == RATIONAL) {
        double pole = between (0.25, 0.5);
        camera->distortion[5] = -1 / pole;
        camera->distortion[0] = camera->distortion[5] * between (1.002, 1.005);
      } else {
        camera->distortion[0] = -between (0.7, 0.9);
      }
    }
    check_fold (&c, 0);
    check_fold (&c, 1);
  }
}

CASE (test_models_that_hold, "models that hold")
{
  for (int k = 0; k < 5 * PAIRS; k++) {
    StereoCalibration c = draw_pair ();
    double corner = hypot (0.54 * c.width, 0.54 * c.height);
    CHECK (stereo_camera_reach (&c.camera[0]) > corner, "ends at %g px of %d x %d", stereo_camera_reach (&c.camera[0]),
        c.width, c.height);
  }
}

/* ---- refusals ---- */

typedef struct Refusal
{
  const char *words[3]; /* of the message */
  int rectification;    /* of a calibration with R1 R2 P1 P2 */
  size_t offset;        /* of a double, that becomes @value */
  double value;
} Refusal;

#define AT(field) offsetof (StereoCalibration, field)
static const Refusal refusals[] = {
  { { "focal length", "left", "-3" }, 0, AT (camera[0].fx), -3 },
  { { "focal length", "right", "0" }, 0, AT (camera[1].fy), 0 },
  { { "left camera matrix", "nan", "finite" }, 0, AT (camera[0].cx), NAN },
  { { "right camera matrix", "inf", "finite" }, 1, AT (camera[1].cy), INFINITY },
  { { "left distortion", "Value 3", "finite" }, 1, AT (camera[0].distortion[2]), NAN },
  { { "rotation R", "not a rotation", "determinant" }, 0, AT (rotation[4]), 0.9 },
  { { "rotation R", "finite", "nan" }, 0, AT (rotation[8]), NAN },
  { { "translation T", "finite", "inf" }, 0, AT (translation[1]), -INFINITY },
  { { "swap", "left and right are exchanged", "T" }, 0, AT (translation[0]), 120 },
  { { "above the other", "side by side", "T" }, 0, AT (translation[1]), 9999 },
  { { "behind the other", "side by side", "T" }, 0, AT (translation[2]), 9999 },
  { { "R1", "not a rotation", "left" }, 1, AT (rectifying[0][0]), -1 },
  { { "R2", "finite", "right" }, 1, AT (rectifying[1][7]), NAN },
  { { "P1", "focal", "left" }, 1, AT (projection[0][0]), 0 },
  { { "P2", "focal", "right" }, 1, AT (projection[1][5]), -1 },
  { { "P2", "finite", "right" }, 1, AT (projection[1][11]), NAN },
  { { "P1 and P2", "not of one rectified pair", "px" }, 1, AT (projection[0][5]), 77 },
  { { "P1 and P2", "not of one rectified pair", "rows" }, 1, AT (projection[1][6]), 7 },
  { { "P2", "baseline", "0 mm" }, 1, AT (projection[1][3]), 0 },
  { { "P2", "left and right are exchanged", "swap" }, 1, AT (projection[1][3]), 5000 },
  { { "P2", "above the other", "side by side" }, 1, AT (projection[1][7]), -1e7 },
};

static void
expect_refusal (const StereoCalibration *c, double alpha, int width, int height, const char *const *words)
{
  StereoRectification r;
  StereoError error = { 0 };

  CHECK (stereo_rectify (c, alpha, width, height, &r, &error), "taken, and should be refused for '%s'", words[0]);
  for (int k = 0; k < 3; k++)
    CHECK (strstr (error.message, words[k]), "'%s' does not say '%s'", error.message, words[k]);
  CHECK (strlen (error.message) < sizeof error.message - 1, "cut: '%s'", error.message);
  CHECK (stereo_rectify (c, alpha, width, height, &r, NULL), "taken without a place for the message");
}

CASE (test_refusals, "refusals")
{
  StereoCalibration pose = draw_pair (), full = with_rectification (&pose, 0), c;

  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    c = refusals[k].rectification ? full : pose;
    memcpy ((char *) &c + refusals[k].offset, &refusals[k].value, sizeof (double));
    expect_refusal (&c, -1, 0, 0, refusals[k].words);
  }
  c = pose;
  memset (c.translation, 0, sizeof c.translation);
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "baseline", "0 mm", "T" });
  c = pose;
  for (int i = 0; i < 9; i++)
    c.rotation[i] = -c.rotation[i];
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "not a rotation", "determinant", "-1" });
  c = pose;
  c.has_pose = 0;
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "R and T", "R1", "P2" });
  expect_refusal (&pose, 1.5, 0, 0, (const char *const[]){ "alpha=1.5", "0", "1" });
  expect_refusal (&pose, -0.5, 0, 0, (const char *const[]){ "alpha=-0.5", "0", "1" });
  expect_refusal (&pose, NAN, 0, 0, (const char *const[]){ "alpha=nan", "0", "1" });
  expect_refusal (&pose, 0, 640, 0, (const char *const[]){ "640 x 0", "size", "asked" });
  expect_refusal (&pose, 0, -1, -1, (const char *const[]){ "-1 x -1", "size", "asked" });
  expect_refusal (&pose, 0, 100000, 4, (const char *const[]){ "100000 x 4", "size", "32768" });
  c = pose;
  c.width = 0;
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "raw pictures", "size", "0 x" });
  c = full;
  c.rectified_height = -5;
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "rectified views", "size", "0 x -5" });
  c = pose;
  memcpy (c.rotation, (double[]){ 0, 0, 1, 0, 1, 0, -1, 0, 0 }, sizeof c.rotation);
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "Rotation R", "90.0 degrees", "60" });
  memcpy (c.rotation, (double[]){ -1, 0, 0, 0, -1, 0, 0, 0, 1 }, sizeof c.rotation);
  expect_refusal (&c, 0, 0, 0, (const char *const[]){ "Rotation R", "180.0 degrees", "60" });
  /* views that look across what the cameras see, or away from it */
  for (int turn = 0; turn < 2; turn++) {
    double angle = turn ? 3.1 : 1.4, across[9] = { cos (angle), 0, sin (angle), 0, 1, 0, -sin (angle), 0, cos (angle) };
    c = full;
    for (int v = 0; v < 2; v++)
      memcpy (c.rectifying[v], across, sizeof across);
    expect_refusal (&c, 0, 0, 0, (const char *const[]){ "No rectangle", "alpha=0", "rotation" });
    expect_refusal (&c, 1, 0, 0, (const char *const[]){ "No rectangle", "alpha=1", "rotation" });
  }
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_registered ();
  return check_finish ();
}
