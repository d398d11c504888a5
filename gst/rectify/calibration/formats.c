/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What keys mean in files of OpenCV, ROS, KITTI and Middlebury. stereo_rectify() checks whether the numbers make sense. */
#include "gst/rectify/calibration/private.h"

#include <math.h>
#include <string.h>

#define MAX_SIDE 65535    /* px */
#define MAX_DISTORTION 14 /* OpenCV's longest model; past STEREO_DISTORTION all have to be 0 */

/* The names that a quantity has in files, for the left and the right camera. */
typedef const gchar *const Names[2][5];
static Names camera_names = { { "M1", "K1", "cameraMatrix1", "camera_matrix_left", NULL },
  { "M2", "K2", "cameraMatrix2", "camera_matrix_right", NULL } };
static Names distortion_names = { { "D1", "distCoeffs1", "dist_coeffs1", "distortion_coefficients_left", NULL },
  { "D2", "distCoeffs2", "dist_coeffs2", "distortion_coefficients_right", NULL } };
static const gchar *const width_names[] = { "image_width", "imageWidth", "width", NULL };
static const gchar *const height_names[] = { "image_height", "imageHeight", "height", NULL };
static const gchar *const size_names[] = { "size", "imageSize", "image_size", "img_size", NULL };

/* The first of @names that the file has, or NULL. */
static const gchar *
find (GstStereoKeys *keys, const gchar *const *names)
{
  while (*names && !gst_stereo_keys_has (keys, *names))
    names++;
  return *names;
}

static gboolean
fail_missing (GstStereoKeys *keys, gchar **message, const gchar *missing, const gchar *needed)
{
  gchar *list = gst_stereo_keys_list (keys);

  gst_stereo_keys_fail (keys, message, "%s is missing. Needed: %s. In the file: %s.", missing, needed, list);
  g_free (list);
  return FALSE;
}

static gboolean
take_side (GstStereoKeys *keys, const gchar *key, gdouble value, gint *side, gchar **message)
{
  if (!(value >= 1 && value <= MAX_SIDE && value == floor (value)))
    return gst_stereo_keys_fail (
        keys, message, "%s is %g: it must be a whole number of pixels from 1 to %d.", key, value, MAX_SIDE);
  *side = (gint) value;
  return TRUE;
}

/* Reads the size of the pictures; it stays 0 x 0 where the file does not say. */
static gboolean
take_size (GstStereoKeys *keys, gint *width, gint *height, gchar **message)
{
  const gchar *w = find (keys, width_names), *h = find (keys, height_names), *both = find (keys, size_names);
  gdouble size[2] = { 0, 0 };

  if (w && h)
    return gst_stereo_keys_matrix (keys, w, 1, 1, &size[0], message) &&
        gst_stereo_keys_matrix (keys, h, 1, 1, &size[1], message) && take_side (keys, w, size[0], width, message) &&
        take_side (keys, h, size[1], height, message);
  if (both)
    return gst_stereo_keys_matrix (keys, both, 1, 2, size, message) &&
        take_side (keys, both, size[0], width, message) && take_side (keys, both, size[1], height, message);
  if (w || h)
    return fail_missing (keys, message, w ? height_names[0] : width_names[0], "width and height");
  return TRUE;
}

static gboolean
take_camera (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message)
{
  gdouble m[9];

  if (!gst_stereo_keys_matrix (keys, key, 3, 3, m, message))
    return FALSE;
  if (m[3] != 0 || m[6] != 0 || m[7] != 0 || fabs (m[8] - 1) > 1e-9 || fabs (m[1]) > 1e-3)
    return gst_stereo_keys_fail (keys, message,
        "%s is no camera matrix: the rows of one are fx 0 cx, 0 fy cy, 0 0 1 (skew is not supported).", key);
  camera->fx = m[0];
  camera->fy = m[4];
  camera->cx = m[2];
  camera->cy = m[5];
  return TRUE;
}

/* @none: a file may have no values, which means no distortion. */
static gboolean
take_distortion (GstStereoKeys *keys, const gchar *key, gboolean none, StereoCamera *camera, gchar **message)
{
  gdouble d[MAX_DISTORTION] = { 0 };
  gint count = gst_stereo_keys_vector (keys, key, d, MAX_DISTORTION, message);
  gboolean longer = FALSE;

  if (count < 0)
    return FALSE;
  for (gint i = STEREO_DISTORTION; i < MIN (count, MAX_DISTORTION); i++)
    longer |= d[i] != 0;
  if (!(count == 4 || count == 5 || count == 8 || ((count == 12 || count == 14) && !longer) || (count == 0 && none)))
    return gst_stereo_keys_fail (keys, message,
        "%s has %d values: 4 (k1 k2 p1 p2), 5 (and k3) and 8 (and k4 k5 k6) are supported%s.", key, count,
        longer ? "; calibrate without thin prism and tilt" : "");
  memcpy (camera->distortion, d, sizeof camera->distortion);
  return TRUE;
}

/* Lengths are @unit_mm millimetres; only the fourth column has any. */
static gboolean
take_projection (GstStereoKeys *keys, const gchar *key, gdouble unit_mm, gdouble *p, gchar **message)
{
  if (!gst_stereo_keys_matrix (keys, key, 3, 4, p, message))
    return FALSE;
  p[3] *= unit_mm;
  p[7] *= unit_mm;
  p[11] *= unit_mm;
  return TRUE;
}

static gboolean
take_pose (GstStereoKeys *keys, const gchar *rotation, const gchar *translation, gdouble unit_mm,
    StereoCalibration *calibration, gchar **message)
{
  if (!gst_stereo_keys_matrix (keys, rotation, 3, 3, calibration->rotation, message) ||
      !gst_stereo_keys_matrix (keys, translation, 3, 1, calibration->translation, message))
    return FALSE;
  for (gint i = 0; i < 3; i++)
    calibration->translation[i] *= unit_mm;
  return calibration->has_pose = TRUE;
}

/* Refuses lenses that the engine's model does not describe, and names them. */
static gboolean
check_model (GstStereoKeys *keys, gchar **message)
{
  static const gchar *const names[] = { "distortion_model", "camera_model", "model", NULL };
  static const gchar *const known[] = { "", "none", "plumb_bob", "rational_polynomial", "radtan", "pinhole" };
  const gchar *key = find (keys, names), *fisheye = gst_stereo_keys_text (keys, "fisheye_model");
  const gchar *model = key ? gst_stereo_keys_text (keys, key) : "";
  gchar *shown;

  if (fisheye && !g_str_equal (fisheye, "0"))
    return gst_stereo_keys_fail (keys, message,
        "fisheye_model is set: fisheye lenses are not supported, calibrate with plumb_bob or rational_polynomial.");
  for (guint k = 0; k < G_N_ELEMENTS (known); k++)
    if (g_ascii_strcasecmp (model, known[k]) == 0)
      return TRUE;
  shown = gst_stereo_keys_shorten (model);
  gst_stereo_keys_fail (
      keys, message, "the %s '%s' is not supported: calibrate with plumb_bob or rational_polynomial.", key, shown);
  g_free (shown);
  return FALSE;
}

/* ---- OpenCV ---- */

static gboolean
take_opencv_pair (StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message)
{
  static const gchar *const rectified[] = { "R1", "R2", "P1", "P2" };
  gboolean pose = gst_stereo_keys_has (keys, "R") && gst_stereo_keys_has (keys, "T"), all = TRUE;

  for (guint k = 0; k < 4; k++)
    all &= gst_stereo_keys_has (keys, rectified[k]);
  if (!pose && !all)
    return fail_missing (
        keys, message, "the pose of the cameras relative to each other", "R and T, or R1, R2, P1 and P2");
  if (pose && !take_pose (keys, "R", "T", unit_mm, calibration, message))
    return FALSE;
  for (guint v = 0; all && v < 2; v++)
    if (!gst_stereo_keys_matrix (keys, rectified[v], 3, 3, calibration->rectifying[v], message) ||
        !take_projection (keys, rectified[v + 2], unit_mm, calibration->projection[v], message))
      return FALSE;
  calibration->has_rectification = all;
  return TRUE;
}

/* Not OpenCV's own keys: gst_stereo_calibration_save() writes them. */
static gboolean
take_rectified_size (StereoCalibration *calibration, GstStereoKeys *keys, gchar **message)
{
  static const gchar *const names[2] = { "rectified_width", "rectified_height" };
  gint *const sides[2] = { &calibration->rectified_width, &calibration->rectified_height };
  gdouble side;

  if (!gst_stereo_keys_has (keys, names[0]) && !gst_stereo_keys_has (keys, names[1]))
    return TRUE;
  for (gint k = 0; k < 2; k++)
    if (!gst_stereo_keys_matrix (keys, names[k], 1, 1, &side, message) ||
        !take_side (keys, names[k], side, sides[k], message))
      return FALSE;
  return TRUE;
}

gboolean
gst_stereo_calibration_from_opencv (
    StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message)
{
  if (gst_stereo_keys_has (keys, "imagelist") || gst_stereo_keys_has (keys, "images"))
    return gst_stereo_keys_fail (
        keys, message, "this is a list of pictures, not a calibration: give the file that was made from them.");
  if (!check_model (keys, message))
    return FALSE;
  if (!find (keys, camera_names[0]) && gst_stereo_keys_has (keys, "camera_matrix"))
    return gst_stereo_keys_fail (keys, message,
        "this is the calibration of one camera: give both cameras' as \"left.yaml,right.yaml\" (ROS), or OpenCV's of "
        "the pair, with M1 D1 M2 D2 and R T.");
  for (guint v = 0; v < 2; v++) {
    const gchar *camera = find (keys, camera_names[v]), *distortion = find (keys, distortion_names[v]);
    if (!camera || !distortion)
      return fail_missing (keys, message, camera ? distortion_names[v][0] : camera_names[v][0],
          "M1 D1 M2 D2 (or K1 distCoeffs1 …, cameraMatrix1 …) and R T or R1 R2 P1 P2");
    if (!take_camera (keys, camera, &calibration->camera[v], message) ||
        !take_distortion (keys, distortion, FALSE, &calibration->camera[v], message))
      return FALSE;
  }
  return take_size (keys, &calibration->width, &calibration->height, message) &&
      take_rectified_size (calibration, keys, message) && take_opencv_pair (calibration, keys, unit_mm, message);
}

/* ---- ROS ---- */

static gboolean
take_camera_info (
    StereoCalibration *calibration, gint v, GstStereoKeys *keys, gdouble unit_mm, gint size[2], gchar **message)
{
  static const gchar *const needed[] = { "image_width", "image_height", "camera_matrix", "distortion_coefficients",
    "rectification_matrix", "projection_matrix" };
  StereoCamera *camera = &calibration->camera[v];

  for (guint k = 0; k < G_N_ELEMENTS (needed); k++)
    if (!gst_stereo_keys_has (keys, needed[k]))
      return fail_missing (keys, message, needed[k],
          "image_width, image_height, camera_matrix, distortion_model, distortion_coefficients, rectification_matrix "
          "and projection_matrix");
  return check_model (keys, message) && take_size (keys, &size[0], &size[1], message) &&
      take_camera (keys, "camera_matrix", camera, message) &&
      take_distortion (keys, "distortion_coefficients", TRUE, camera, message) &&
      gst_stereo_keys_matrix (keys, "rectification_matrix", 3, 3, calibration->rectifying[v], message) &&
      take_projection (keys, "projection_matrix", unit_mm, calibration->projection[v], message);
}

gboolean
gst_stereo_calibration_from_ros (
    StereoCalibration *calibration, GstStereoKeys *left, GstStereoKeys *right, gdouble unit_mm, gchar **message)
{
  gint size[2][2] = { { 0 } };

  if (!take_camera_info (calibration, 0, left, unit_mm, size[0], message) ||
      !take_camera_info (calibration, 1, right, unit_mm, size[1], message))
    return FALSE;
  if (memcmp (size[0], size[1], sizeof size[0]) != 0)
    return gst_stereo_keys_fail (right, message,
        "its pictures are %d x %d, those of %s are %d x %d: both cameras must have one size.", size[1][0], size[1][1],
        gst_stereo_keys_name (left), size[0][0], size[0][1]);
  calibration->width = size[0][0];
  calibration->height = size[0][1];
  return calibration->has_rectification = TRUE;
}

/* ---- KITTI ---- */

/* calib.txt has only projections: its pictures are rectified already. */
static gboolean
take_projections (StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message)
{
  static const gchar *const name[2] = { "P0", "P1" };

  for (gint v = 0; v < 2; v++) {
    StereoCamera *camera = &calibration->camera[v];
    gdouble *p = calibration->projection[v];
    if (!gst_stereo_keys_has (keys, name[v]))
      return fail_missing (
          keys, message, name[v], "P0 and P1 (calib.txt), or S_00 K_00 D_00 … P_rect_01 (calib_cam_to_cam.txt)");
    if (!take_projection (keys, name[v], unit_mm, p, message))
      return FALSE;
    *camera = (StereoCamera){ p[0], p[5], p[2], p[6], { 0 } };
    for (gint i = 0; i < 9; i++)
      calibration->rectifying[v][i] = i % 4 == 0;
  }
  return calibration->has_rectification = TRUE;
}

static gboolean
take_kitti_camera (
    StereoCalibration *calibration, gint v, GstStereoKeys *keys, gdouble unit_mm, gdouble size[4], gchar **message)
{
  static const gchar *const name[2][6] = { { "S_00", "K_00", "D_00", "R_rect_00", "P_rect_00", "S_rect_00" },
    { "S_01", "K_01", "D_01", "R_rect_01", "P_rect_01", "S_rect_01" } };
  StereoCamera *camera = &calibration->camera[v];

  for (guint k = 0; k < 6; k++)
    if (!gst_stereo_keys_has (keys, name[v][k]))
      return fail_missing (keys, message, name[v][k], "S_ K_ D_ R_rect_ P_rect_ S_rect_ of cameras 00 and 01");
  return gst_stereo_keys_matrix (keys, name[v][0], 1, 2, size, message) &&
      take_camera (keys, name[v][1], camera, message) && take_distortion (keys, name[v][2], FALSE, camera, message) &&
      gst_stereo_keys_matrix (keys, name[v][3], 3, 3, calibration->rectifying[v], message) &&
      take_projection (keys, name[v][4], unit_mm, calibration->projection[v], message) &&
      gst_stereo_keys_matrix (keys, name[v][5], 1, 2, size + 2, message);
}

gboolean
gst_stereo_calibration_from_kitti (StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message)
{
  gdouble size[2][4];

  if (!gst_stereo_keys_has (keys, "K_00") && !gst_stereo_keys_has (keys, "P_rect_00"))
    return take_projections (calibration, keys, unit_mm, message);
  if (!take_kitti_camera (calibration, 0, keys, unit_mm, size[0], message) ||
      !take_kitti_camera (calibration, 1, keys, unit_mm, size[1], message))
    return FALSE;
  for (gint i = 0; i < 4; i++)
    if (size[0][i] != size[1][i])
      return gst_stereo_keys_fail (keys, message, "%s differ: both cameras must have one size.",
          i < 2 ? "S_00 and S_01" : "S_rect_00 and S_rect_01");
  calibration->has_rectification = TRUE;
  if (gst_stereo_keys_has (keys, "R_01") && gst_stereo_keys_has (keys, "T_01") &&
      !take_pose (keys, "R_01", "T_01", unit_mm, calibration, message))
    return FALSE;
  return take_side (keys, "S_00", size[0][0], &calibration->width, message) &&
      take_side (keys, "S_00", size[0][1], &calibration->height, message) &&
      take_side (keys, "S_rect_00", size[0][2], &calibration->rectified_width, message) &&
      take_side (keys, "S_rect_00", size[0][3], &calibration->rectified_height, message);
}

/* ---- Middlebury ---- */

#define OFFSET_TOLERANCE 0.01 /* px: the files have three decimals */

/* The pictures of these sets are rectified already: only the principal points of the views differ. */
gboolean
gst_stereo_calibration_from_middlebury (
    StereoCalibration *calibration, GstStereoKeys *keys, gdouble unit_mm, gchar **message)
{
  static const gchar *const needed[] = { "cam0", "cam1", "baseline" };
  gdouble baseline, offset;

  for (guint k = 0; k < G_N_ELEMENTS (needed); k++)
    if (!gst_stereo_keys_has (keys, needed[k]))
      return fail_missing (keys, message, needed[k], "cam0, cam1 and baseline; width and height where they are known");
  if (!take_camera (keys, "cam0", &calibration->camera[0], message) ||
      !take_camera (keys, "cam1", &calibration->camera[1], message) ||
      !gst_stereo_keys_matrix (keys, "baseline", 1, 1, &baseline, message) ||
      !take_size (keys, &calibration->width, &calibration->height, message))
    return FALSE;
  offset = calibration->camera[1].cx - calibration->camera[0].cx;
  if (gst_stereo_keys_has (keys, "doffs")) {
    gdouble given;
    if (!gst_stereo_keys_matrix (keys, "doffs", 1, 1, &given, message))
      return FALSE;
    if (fabs (given - offset) > OFFSET_TOLERANCE)
      return gst_stereo_keys_fail (keys, message,
          "doffs is %g, but the principal points of cam1 and cam0 are %g px apart: one of them was changed without the "
          "other; set doffs to that.",
          given, offset);
  }
  for (gint v = 0; v < 2; v++) {
    const StereoCamera *camera = &calibration->camera[v];
    const gdouble p[12] = { camera->fx, 0, camera->cx, v ? -camera->fx * baseline * unit_mm : 0, 0, camera->fy,
      camera->cy, 0, 0, 0, 1, 0 };
    memcpy (calibration->projection[v], p, sizeof p);
    for (gint i = 0; i < 9; i++)
      calibration->rectifying[v][i] = i % 4 == 0;
  }
  return calibration->has_rectification = TRUE;
}
