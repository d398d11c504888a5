/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/calibration/robots.h"

#include <math.h>
#include <string.h>

#include "tests/support/gst/calibration/text.h"

#define METRE 1000.0

/* ---- cameras, frames ---- */

Frame
frame_multiply (const Frame *a, const Frame *b)
{
  Frame out = { { 0 } };

  for (gint i = 0; i < 4; i++)
    for (gint j = 0; j < 4; j++)
      for (gint k = 0; k < 4; k++)
        out.m[4 * i + j] += a->m[4 * i + k] * b->m[4 * k + j];
  return out;
}

static Frame
turn_about (gint axis, gdouble angle)
{
  Frame f = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 } };
  gint i = (axis + 1) % 3, j = (axis + 2) % 3;

  f.m[5 * i] = f.m[5 * j] = cos (angle);
  f.m[4 * i + j] = -sin (angle);
  f.m[4 * j + i] = sin (angle);
  return f;
}

Frame
frame_draw (Random *random, gdouble angle, gdouble near, gdouble far)
{
  Frame x = turn_about (0, random_between (random, -angle, angle)),
        y = turn_about (1, random_between (random, -angle, angle)),
        z = turn_about (2, random_between (random, -angle, angle)), f = frame_multiply (&x, &y);

  f = frame_multiply (&f, &z);
  f.m[3] = random_between (random, near, far);
  f.m[7] = random_between (random, -0.1, 0.1) * near;
  f.m[11] = random_between (random, -0.1, 0.1) * near;
  return f;
}

/* Rows that turn back, and the place that comes to 0. */
Frame
frame_invert (const Frame *a)
{
  Frame out = { { 0 } };

  for (gint i = 0; i < 3; i++) {
    for (gint j = 0; j < 3; j++) {
      out.m[4 * i + j] = a->m[4 * j + i];
      out.m[4 * i + 3] -= a->m[4 * j + i] * a->m[4 * j + 3];
    }
  }
  out.m[15] = 1;
  return out;
}

StereoCalibration
calibration_draw_cameras (Random *random, gint lens, gboolean rectification, gboolean fisheye)
{
  OpencvStyle style = { .lens = lens, .size = 1, .pose = !rectification, .rectification = rectification };
  StereoCalibration c = calibration_draw (random, &style);

  for (gint v = 0; v < 2; v++)
    c.camera[v].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
  return c;
}

gchar *
calibration_replaced (gchar *text, const gchar *from, const gchar *to)
{
  gchar **parts = g_strsplit (text, from, 2), *out = g_strjoinv (to, parts);

  g_assert (g_strv_length (parts) == 2);
  g_strfreev (parts);
  g_free (text);
  return out;
}

/* ---- numbers ---- */
static void
number (GString *text, const gchar *before, gdouble value, const gchar *after)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, before);
  g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.17g", value));
  g_string_append (text, after);
}

static void
numbers (GString *text, const gchar *before, const gdouble *values, gint count, const gchar *between, const gchar *after)
{
  g_string_append (text, before);
  for (gint i = 0; i < count; i++)
    number (text, i ? between : "", values[i], "");
  g_string_append (text, after);
}

static void
matrix_of (const StereoCamera *camera, gdouble *m)
{
  const gdouble values[9] = { camera->fx, 0, camera->cx, 0, camera->fy, camera->cy, 0, 0, 1 };

  memcpy (m, values, sizeof values);
}

static void
projection_of (const StereoCalibration *c, gint v, gdouble *p)
{
  memcpy (p, c->projection[v], sizeof c->projection[v]);
  p[3] /= METRE;
  p[7] /= METRE;
  p[11] /= METRE;
}

/* ---- ROS ---- */

static void
list (GString *text, gchar key, const gdouble *values, gint count, gboolean ros1)
{
  gchar start[8] = { ros1 ? g_ascii_toupper (key) : key, ':', 0 };

  g_string_append (text, start);
  if (ros1)
    numbers (text, " [", values, count, ", ", "]\n");
  else
    numbers (text, count ? "\n- " : " []", values, count, "\n- ", "\n");
}

gchar *
calibration_message (const StereoCalibration *c, gint v, gint lens, gboolean ros1)
{
  GString *text = g_string_new ("header: \n");
  gdouble m[9], p[12];

  matrix_of (&c->camera[v], m);
  projection_of (c, v, p);
  g_string_append (
      text, ros1 ? "  seq: 11\n  stamp: \n    secs: 1\n    nsecs: 2\n" : "  stamp:\n    sec: 1\n    nanosec: 2\n");
  g_string_append_printf (text, "  frame_id: \"camera\"\nheight: %d\nwidth: %d\ndistortion_model: \"%s\"\n", c->height,
      c->width,
      c->camera[v].model ? "equidistant" :
          lens > 5       ? "rational_polynomial" :
                           "plumb_bob");
  list (text, 'd', c->camera[v].distortion, lens, ros1);
  list (text, 'k', m, 9, ros1);
  list (text, 'r', c->rectifying[v], 9, ros1);
  list (text, 'p', p, 12, ros1);
  g_string_append (text,
      "binning_x: 0\nbinning_y: 0\nroi: \n  x_offset: 0\n  y_offset: 0\n  height: 0\n  width: 0\n"
      "  do_rectify: False\n---\n");
  return g_string_free (text, FALSE);
}

static void
rows (GString *text, const gchar *heading, const gdouble *values, gint count, gint columns)
{
  g_string_append_printf (text, "%s\n", heading);
  for (gint i = 0; i < count; i += columns)
    numbers (text, "", values + i, columns, " ", "\n");
  g_string_append_c (text, '\n');
}

gchar *
calibration_ost (const StereoCalibration *c, gint v, const gchar *side)
{
  GString *text = g_string_new ("# oST version 5.0 parameters\n\n\n[image]\n\n");
  gdouble m[9], p[12];

  matrix_of (&c->camera[v], m);
  projection_of (c, v, p);
  g_string_append_printf (text, "width\n%d\n\nheight\n%d\n\n[%s]\n\n", c->width, c->height, side);
  rows (text, "camera matrix", m, 9, 3);
  rows (text, "distortion", c->camera[v].distortion, 5, 5);
  rows (text, "rectification", c->rectifying[v], 9, 3);
  rows (text, "projection", p, 12, 4);
  return g_string_free (text, FALSE);
}

/* ---- Kalibr, EuRoC ---- */

/* The four values of one line. */
static void
intrinsics (GString *text, const gchar *indent, const StereoCamera *camera)
{
  const gdouble values[4] = { camera->fx, camera->fy, camera->cx, camera->cy };

  g_string_append (text, indent);
  numbers (text, "intrinsics: [", values, 4, ", ", "]\n");
}

/* Lengths in metres. */
static Frame
in_metres (const Frame *frame)
{
  Frame f = *frame;

  for (gint i = 0; i < 3; i++)
    f.m[4 * i + 3] /= METRE;
  return f;
}

static void
kalibr_rows (GString *text, const gchar *name, const Frame *frame)
{
  Frame f = in_metres (frame);

  g_string_append_printf (text, "  %s:\n", name);
  for (gint i = 0; i < 4; i++)
    numbers (text, "  - [", f.m + 4 * i, 4, ", ", "]\n");
}

static void
kalibr_camera (GString *text, const StereoCalibration *c, gint n, gint lens)
{
  const StereoCamera *camera = &c->camera[n % 2];

  g_string_append_printf (text, "  cam_overlaps: [%d]\n  camera_model: pinhole\n", !(n % 2));
  numbers (text, "  distortion_coeffs: [", camera->distortion, lens, ", ", "]\n");
  g_string_append_printf (text, "  distortion_model: %s\n", camera->model ? "equidistant" : lens ? "radtan" : "none");
  intrinsics (text, "  ", camera);
  g_string_append_printf (text, "  resolution: [%d, %d]\n  rostopic: /cam%d/image_raw\n", c->width, c->height, n);
}

gchar *
calibration_kalibr (const StereoCalibration *c, gint lens, const Frame *steps, gint count)
{
  GString *text = g_string_new (NULL);

  for (gint n = 0; n < count; n++) {
    g_string_append_printf (text, "cam%d:\n", n);
    if (n)
      kalibr_rows (text, "T_cn_cnm1", &steps[n]);
    kalibr_camera (text, c, n, lens);
  }
  return g_string_free (text, FALSE);
}

gchar *
calibration_kalibr_frames (const StereoCalibration *c, const Frame *frames, const gchar *name)
{
  GString *text = g_string_new ("%YAML:1.0\n");

  for (gint n = 0; n < 2; n++) {
    g_string_append_printf (text, "cam%d:\n", n);
    kalibr_rows (text, name, &frames[n]);
    kalibr_camera (text, c, n, 4);
  }
  return g_string_free (text, FALSE);
}

gchar *
calibration_euroc (const StereoCalibration *c, gint v, const Frame *body)
{
  const StereoCamera *camera = &c->camera[v];
  Frame f = in_metres (body);
  GString *text = g_string_new (
      "# General sensor definitions.\nsensor_type: camera\ncomment: VI-Sensor cam0 (MT9M034)\n\n");

  numbers (text, "T_BS:\n  cols: 4\n  rows: 4\n  data: [", f.m, 16, ", ", "]\n\n");
  g_string_append_printf (text, "rate_hz: 20\nresolution: [%d, %d]\ncamera_model: pinhole\n", c->width, c->height);
  intrinsics (text, "", camera);
  g_string_append_printf (text, "distortion_model: %s\n", camera->model ? "equidistant" : "radial-tangential");
  numbers (text, "distortion_coefficients: [", camera->distortion, 4, ", ", "]\n");
  return g_string_free (text, FALSE);
}

/* ---- ORB-SLAM ---- */

static void
opencv_matrix (GString *text, const gchar *name, const gdouble *values, gint matrix_rows, gint columns)
{
  g_string_append_printf (text, "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n", name, matrix_rows, columns);
  numbers (text, "   data: [", values, matrix_rows * columns, ", ", "]\n");
}

static void
scalar (GString *text, const gchar *prefix, const gchar *name, gdouble value)
{
  g_string_append_printf (text, "%s.%s", prefix, name);
  number (text, ": ", value, "\n");
}

static void
orbslam_camera (GString *text, const gchar *prefix, const StereoCamera *camera)
{
  static const gchar *const pinhole[5] = { "k1", "k2", "p1", "p2", "k3" };
  static const gchar *const fisheye[4] = { "k1", "k2", "k3", "k4" };

  scalar (text, prefix, "fx", camera->fx);
  scalar (text, prefix, "fy", camera->fy);
  scalar (text, prefix, "cx", camera->cx);
  scalar (text, prefix, "cy", camera->cy);
  for (gint i = 0; i < (camera->model ? 4 : 5); i++)
    if (camera->distortion[i] != 0)
      scalar (text, prefix, camera->model ? fisheye[i] : pinhole[i], camera->distortion[i]);
}

gchar *
calibration_orbslam2 (const StereoCalibration *c, gint lens)
{
  static const gchar *const side[2] = { "LEFT", "RIGHT" };
  GString *text = g_string_new ("%YAML:1.0\n\n# Camera Parameters\nCamera.fx: 435.2\nCamera.fy: 435.2\nCamera.cx: 367.4\n"
                                "Camera.cy: 252.2\nCamera.k1: 0.0\nCamera.bf: 47.9\nCamera.fps: 20.0\nThDepth: 35\n");
  gdouble m[9], p[12];

  g_string_append_printf (text, "Camera.width: %d\nCamera.height: %d\n", c->width, c->height);
  for (gint v = 0; v < 2; v++) {
    gchar *names[4] = { g_strconcat (side[v], ".K", NULL), g_strconcat (side[v], ".D", NULL),
      g_strconcat (side[v], ".R", NULL), g_strconcat (side[v], ".P", NULL) };
    matrix_of (&c->camera[v], m);
    projection_of (c, v, p);
    g_string_append_printf (text, "%s.height: %d\n%s.width: %d\n", side[v], c->height, side[v], c->width);
    opencv_matrix (text, names[1], c->camera[v].distortion, 1, lens);
    opencv_matrix (text, names[0], m, 3, 3);
    opencv_matrix (text, names[2], c->rectifying[v], 3, 3);
    opencv_matrix (text, names[3], p, 3, 4);
    for (gint i = 0; i < 4; i++)
      g_free (names[i]);
  }
  return g_string_free (text, FALSE);
}

gchar *
calibration_orbslam3 (const StereoCalibration *c, const Frame *left_right, gboolean old)
{
  Frame f = in_metres (left_right);
  GString *text = g_string_new ("%YAML:1.0\n\nFile.version: \"1.0\"\n");

  g_string_append_printf (text, "Camera.type: \"%s\"\n", c->camera[0].model ? "KannalaBrandt8" : "PinHole");
  orbslam_camera (text, old ? "Camera" : "Camera1", &c->camera[0]);
  orbslam_camera (text, "Camera2", &c->camera[1]);
  g_string_append_printf (text, "Camera.width: %d\nCamera.height: %d\nCamera.fps: 20\n", c->width, c->height);
  opencv_matrix (text, old ? "Tlr" : "Stereo.T_c1_c2", f.m, old ? 3 : 4, 4);
  g_string_append (text, "Stereo.ThDepth: 60.0\nORBextractor.nFeatures: 1200\n");
  return g_string_free (text, FALSE);
}

gchar *
calibration_orbslam_rectified (const StereoCalibration *c, const gchar *key, gdouble length)
{
  gboolean old = g_str_equal (key, "Camera.bf");
  GString *text = g_string_new ("%YAML:1.0\n");

  g_string_append_printf (text, "Camera.type: \"%s\"\nCamera.width: %d\nCamera.height: %d\n",
      old ? "PinHole" : "Rectified", c->width, c->height);
  orbslam_camera (text, old ? "Camera" : "Camera1", &c->camera[0]);
  g_string_append (text, key);
  number (text, ": ", length, "\n");
  return g_string_free (text, FALSE);
}

/* ---- ZED ---- */

static void
zed_lens (GString *text, const StereoCamera *camera)
{
  static const gchar *const pinhole[8] = { "k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6" };
  static const gchar *const fisheye[4] = { "k1", "k2", "k3", "k4" };

  for (gint i = 0; i < (camera->model ? 4 : 8); i++) {
    g_string_append (text, camera->model ? fisheye[i] : pinhole[i]);
    number (text, "=", camera->distortion[i], "\n");
  }
}

gchar *
calibration_zed (
    const StereoCalibration *modes, const gchar *const *names, gint count, const gdouble *turn, gboolean disto)
{
  static const gchar *const side[2] = { "LEFT", "RIGHT" }, *const axis[3] = { "RX", "CV", "RZ" };
  GString *text = g_string_new (NULL);

  for (gint n = 0; n < count; n++)
    for (gint v = 0; v < 2; v++) {
      const StereoCamera *camera = &modes[n].camera[v];
      g_string_append_printf (text, "[%s_CAM_%s]\n", side[v], names[n]);
      number (text, "fx=", camera->fx, "\n");
      number (text, "fy = ", camera->fy, "\n");
      number (text, "cx=", camera->cx, "\n");
      number (text, "cy=", camera->cy, "\n");
      if (!disto)
        zed_lens (text, camera);
      g_string_append_c (text, '\n');
    }
  for (gint v = 0; v < 2 && disto; v++) {
    g_string_append_printf (text, "[%s_DISTO]\n", side[v]);
    zed_lens (text, &modes[0].camera[v]);
  }
  number (text, "[STEREO]\nBaseline=", -modes[0].translation[0], "\n");
  number (text, "TY=", modes[0].translation[1], "\n");
  number (text, "TZ=", modes[0].translation[2], "\n");
  for (gint n = 0; n < count; n++)
    for (gint i = 0; i < 3; i++) {
      g_string_append_printf (text, "%s_%s", axis[i], names[n]);
      number (text, "=", turn[i], "\n");
    }
  g_string_append (text, "[MISC]\nSensor_ID=1\n");
  return g_string_free (text, FALSE);
}
