/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of formats, and which one a file has. stereo_rectify() checks whether the numbers make sense. */
#include "gst/rectify/calibration/private.h"

#include <string.h>

#define ROS_MODEL "distortion_model|camera_model|model"
#define ROS_NEEDED \
  "image_width, image_height, camera_matrix, distortion_model, distortion_coefficients, rectification_matrix and " \
  "projection_matrix"

static const GstStereoFormat formats[] = {
  { .name = "ROS' camera_info",
      .mark = "camera_matrix|projection_matrix",
      .one_each = TRUE,
      .unit_mm = 1000,
      .width = "image_width",
      .height = "image_height",
      .matrix = "camera_matrix",
      .distortion = "distortion_coefficients",
      .model = ROS_MODEL,
      .rectifying = "rectification_matrix",
      .projection = "projection_matrix",
      .rectified = TRUE,
      .needed = ROS_NEEDED },
  { .name = "a camera_info message of ROS",
      .mark = "k|K",
      .one_each = TRUE,
      .unit_mm = 1000,
      .width = "width",
      .height = "height",
      .matrix = "k|K",
      .distortion = "d|D",
      .model = ROS_MODEL,
      .rectifying = "r|R",
      .projection = "p|P",
      .rectified = TRUE,
      .needed = "width, height, distortion_model, d, k, r and p (ROS 1: D, K, R and P)" },
  { .name = "ZED's factory calibration",
      .writing = GST_STEREO_SECTIONS,
      .mark = "stereo.baseline|left_cam_hd.fx|left_cam_fhd.fx|left_cam_fhd1200.fx|left_cam_2k.fx",
      .unit_mm = 1,
      .needed = "sections LEFT_CAM_HD, RIGHT_CAM_HD (or FHD, 2K, VGA, FHD1200, SVGA, 4K, QHDPLUS) and STEREO",
      .read = gst_stereo_read_zed },
  { .name = "ROS' ost.txt",
      .writing = GST_STEREO_SECTIONS,
      .mark = "left.camera matrix|right.camera matrix",
      .unit_mm = 1000,
      .width = "image.width",
      .height = "image.height",
      .matrix = "$.camera matrix",
      .distortion = "$.distortion",
      .rectifying = "$.rectification",
      .projection = "$.projection",
      .rectified = TRUE,
      .needed = "width, height, and camera matrix, distortion, rectification and projection of both cameras" },
  { .name = "ROS' INI file",
      .writing = GST_STEREO_SECTIONS,
      .one_each = TRUE,
      .unit_mm = 1000,
      .width = "image.width",
      .height = "image.height",
      .matrix = "camera matrix",
      .distortion = "distortion",
      .rectifying = "rectification",
      .projection = "projection",
      .rectified = TRUE,
      .needed = "width, height, camera matrix, distortion, rectification and projection" },
  { .name = "Kalibr's camchain",
      .mark = "cam0.intrinsics|cam1.intrinsics|cam0.camera_model",
      .unit_mm = 1000,
      .numbered = "cam",
      .probe = "@.intrinsics",
      .size = "@.resolution",
      .intrinsics = "@.intrinsics",
      .distortion = "@.distortion_coeffs",
      .model = "@.camera_model|@.distortion_model",
      .needed = "camera_model, intrinsics, distortion_model, distortion_coeffs and resolution of cam0 and cam1, and "
                "cam1.T_cn_cnm1",
      .pose = gst_stereo_pose_kalibr },
  { .name = "EuRoC's sensor.yaml",
      .mark = "T_BS",
      .one_each = TRUE,
      .unit_mm = 1000,
      .width = "resolution.width",
      .height = "resolution.height",
      .size = "resolution",
      .intrinsics = "intrinsics",
      .distortion = "distortion_coefficients",
      .model = "camera_model|distortion_model",
      .needed = "T_BS, resolution, intrinsics, distortion_model and distortion_coefficients",
      .pose = gst_stereo_pose_euroc },
  { .name = "ORB-SLAM's settings",
      .mark = "LEFT.K|RIGHT.K",
      .unit_mm = 1000,
      .width = "%.width|Camera.width",
      .height = "%.height|Camera.height",
      .matrix = "%.K",
      .distortion = "%.D",
      .model = "Camera.type",
      .rectifying = "%.R",
      .projection = "%.P",
      .rectified = TRUE,
      .needed = "LEFT.K LEFT.D LEFT.R LEFT.P and RIGHT.K RIGHT.D RIGHT.R RIGHT.P" },
  { .name = "ORB-SLAM3's settings",
      .mark = "Camera2.fx",
      .unit_mm = 1000,
      .called = { "Camera1", "Camera2" },
      .width = "Camera.width",
      .height = "Camera.height",
      .scalars = "Camera1.|Camera.",
      .model = "Camera.type",
      .needed = "fx, fy, cx, cy of Camera1 and Camera2, and Stereo.T_c1_c2",
      .pose = gst_stereo_pose_orbslam },
  { .name = "ORB-SLAM's settings of rectified views",
      .mark = "Camera.bf|Stereo.b",
      .unit_mm = 1000,
      .width = "Camera.width",
      .height = "Camera.height",
      .model = "Camera.type",
      .needed = "fx, fy, cx and cy of Camera (or Camera1), and Camera.bf (or Stereo.b)",
      .read = gst_stereo_read_orbslam_rectified },
  { .name = "KITTI's calib_cam_to_cam.txt",
      .writing = GST_STEREO_LINES,
      .mark = "K_00|K_01|K_02|K_03|P_rect_00|P_rect_02",
      .unit_mm = 1000,
      .numbered = "0",
      .probe = "P_rect_@",
      .size = "S_@",
      .matrix = "K_@",
      .distortion = "D_@",
      .rectifying = "R_rect_@",
      .projection = "P_rect_@",
      .rectified = TRUE,
      .needed = "S_ K_ D_ R_rect_ P_rect_ S_rect_ of both cameras (00 and 01; 02 and 03 with cameras=2,3)",
      .pose = gst_stereo_pose_kitti },
  { .name = "KITTI's calib.txt",
      .writing = GST_STEREO_LINES,
      .unit_mm = 1000,
      .numbered = "P",
      .probe = "@",
      .needed = "P0 and P1, or P2 and P3 (calib.txt), or S_00 K_00 D_00 … P_rect_01 (calib_cam_to_cam.txt)",
      .read = gst_stereo_read_kitti },
  { .name = "Middlebury's calib.txt",
      .writing = GST_STEREO_ASSIGNMENTS,
      .unit_mm = 1,
      .width = "width",
      .height = "height",
      .needed = "cam0, cam1 and baseline; width and height where they are known",
      .read = gst_stereo_read_middlebury },
  { .name = "OpenCV's file of a pair",
      .unit_mm = 1,
      .called = { "1", "2" },
      .width = "image_width|imageWidth|width|imageSize_width",
      .height = "image_height|imageHeight|height|imageSize_height",
      .size = "size|imageSize|image_size|img_size|Size",
      .matrix = "M@|K@|cameraMatrix@|camera_matrix_$|K_%",
      .distortion = "D@|distCoeffs@|dist_coeffs@|distortion_coefficients_$|D_%|D_%_FE",
      .model = ROS_MODEL,
      .rectifying = "R@",
      .projection = "P@",
      .needed = "M1 D1 M2 D2 (or K1 distCoeffs1 …, cameraMatrix1 …), and R and T, or R1, R2, P1 and P2",
      .pose = gst_stereo_pose_opencv },
};
#define OPENCV (&formats[G_N_ELEMENTS (formats) - 1])

/* Files of other programs, by a key of them: what they are, and what to do. */
static const struct
{
  const gchar *mark, *what, *instead;
} foreign[] = {
  { "imagelist|images", "a list of pictures, not a calibration", "give the file that was made from them" },
  { "Camera.fx|Camera1.fx", "ORB-SLAM's settings of one camera", "take those of the stereo camera, with Camera.bf" },
  { "value0.intrinsics|value0.T_imu_cam", "Basalt's calibration", NULL },
  { "cam0_calib|body_T_cam0|model_type", "VINS' settings", NULL },
  { "cameraData|stereoRectificationData", "a DepthAI calibration", NULL },
  { "cameras|ncameras|sensors", "OKVIS' or maplab's calibration", NULL },
};

/* ---- which format ---- */

static const GstStereoFormat *
find_format (GstStereoKeys *keys, GstStereoWriting writing)
{
  GstStereoReading any = { .keys = { keys, keys }, .at = { "1", "2" } };

  if (writing == GST_STEREO_MAPPING && gst_stereo_reading_find (&any, 0, OPENCV->matrix))
    return OPENCV;
  any.at[0] = any.at[1] = "";
  for (guint k = 0; k < G_N_ELEMENTS (formats); k++)
    if (formats[k].writing == writing && (!formats[k].mark || gst_stereo_reading_find (&any, 0, formats[k].mark)))
      return &formats[k];
  return OPENCV;
}

static gboolean
refuse_foreign (GstStereoKeys *keys, const GstStereoFormat *format, gchar **message)
{
  const GstStereoReading any = { .keys = { keys, keys }, .at = { "", "" } };

  for (guint k = 0; format == OPENCV && k < G_N_ELEMENTS (foreign); k++)
    if (gst_stereo_reading_find (&any, 0, foreign[k].mark))
      return gst_stereo_keys_fail (keys, message, "this is %s: %s.", foreign[k].what,
          foreign[k].instead ? foreign[k].instead :
                               "it is not read; give the numbers as OpenCV's file of a pair, with M1 D1 M2 D2 and R T");
  return TRUE;
}

/* Of one file: refuses formats of a file for each camera. Of two: both are of such formats, or parts of OpenCV's file. */
static gboolean
check_files (GstStereoReading *r, GstStereoKeys *second)
{
  const GstStereoFormat **format = r->format;

  if (!second && format[0]->one_each)
    return gst_stereo_keys_fail (r->keys[0], r->message,
        "this is the calibration of one camera (%s): give both cameras' as \"left.yaml,right.yaml\", or OpenCV's of the "
        "pair, with M1 D1 M2 D2 and R T.",
        format[0]->name);
  if (!second || (format[0] == OPENCV && format[1] == OPENCV))
    return TRUE;
  for (gint v = 0; v < 2; v++)
    if (!format[v]->one_each && format[v] != OPENCV)
      return gst_stereo_keys_fail (
          r->keys[v], r->message, "this is %s, which has both cameras: give only one file.", format[v]->name);
  /* the other one lacks something, and is told so */
  for (gint v = 0; v < 2; v++)
    if (format[v] == OPENCV)
      format[v] = format[!v];
  if (format[0]->pose == format[1]->pose)
    return TRUE;
  return gst_stereo_keys_fail (r->keys[1], r->message, "this is %s, and %s is %s: both must be of one kind.",
      format[1]->name, gst_stereo_keys_name (r->keys[0]), format[0]->name);
}

/* ---- which cameras ---- */

static gboolean
parse_cameras (const gchar *text, gint number[2])
{
  gchar **parts = g_strsplit (text, ",", -1);
  gboolean ok = g_strv_length (parts) == 2;

  for (gint v = 0; ok && v < 2; v++) {
    guint64 value;
    ok = g_ascii_string_to_unsigned (g_strstrip (parts[v]), 10, 0, 99, &value, NULL);
    number[v] = ok ? (gint) value : 0;
  }
  g_strfreev (parts);
  return ok && number[0] != number[1];
}

static gboolean
has_camera (const GstStereoReading *r, gint number)
{
  g_autofree gchar *called = g_strdup_printf ("%s%d", r->format[0]->numbered, number);
  const GstStereoReading one = { .keys = { r->keys[0], r->keys[0] }, .at = { called, called } };

  return gst_stereo_reading_find (&one, 0, r->format[0]->probe) != NULL;
}

/* KITTI's files may have the colour cameras alone. */
static gboolean
choose_cameras (GstStereoReading *r, const gchar *cameras)
{
  const GstStereoFormat *format = r->format[0];
  gint first;

  for (gint v = 0; v < 2; v++)
    r->at[v] = format->called[v] ? format->called[v] : "";
  if (cameras && !format->numbered)
    return gst_stereo_keys_fail (r->keys[0], r->message,
        "cameras=%s was set, and %s has two cameras that have no numbers: leave cameras unset.", cameras, format->name);
  if (cameras && !parse_cameras (cameras, r->number))
    return gst_stereo_keys_fail (r->keys[0], r->message,
        "cameras=%s are not two cameras: set two numbers that differ with a comma between them, that of the left camera "
        "first, as in cameras=2,3.",
        cameras);
  if (!format->numbered)
    return TRUE;
  if (!cameras) {
    first = has_camera (r, 0) || has_camera (r, 1) || !has_camera (r, 2) ? 0 : 2;
    r->number[0] = first;
    r->number[1] = first + 1;
  }
  for (gint v = 0; v < 2; v++) {
    g_autofree gchar *called = g_strdup_printf ("%s%d", format->numbered, r->number[v]);
    r->at[v] = g_intern_string (called);
  }
  return TRUE;
}

/* ---- public ---- */

/* The size of the raw pictures is that of the options. */
static gboolean
set_size (GstStereoReading *r, const GstStereoCalibrationOptions *options)
{
  gint width = options->width, height = options->height;
  GString *sizes;

  if (!width && !height)
    return TRUE;
  if (!width || !height)
    return gst_stereo_keys_fail (r->keys[0], r->message,
        "calibration-width=%d and calibration-height=%d: set both, to the size of the pictures that the calibration was "
        "made of, or none.",
        width, height);
  if (r->out->count > 1) {
    sizes = g_string_new (NULL);
    for (gint m = 0; m < r->out->count; m++) {
      const StereoCalibration mode = r->out->modes[m];
      g_string_append_printf (sizes, "%s%dx%d", m ? ", " : "", mode.width, mode.height);
      if (mode.width == width && mode.height == height) {
        r->out->modes[0] = mode;
        r->out->count = 1;
      }
    }
    if (r->out->count > 1)
      gst_stereo_keys_fail (r->keys[0], r->message,
          "calibration-width=%d calibration-height=%d is none of its sizes: %s.", width, height, sizes->str);
    g_string_free (sizes, TRUE);
  }
  r->calibration->width = width;
  r->calibration->height = height;
  return r->out->count == 1;
}

gboolean
gst_stereo_formats_read (GstStereoCalibration *out, GstStereoKeys *first, GstStereoKeys *second,
    const GstStereoWriting *writing, const GstStereoCalibrationOptions *options, gchar **message)
{
  GstStereoReading r = {
    .keys = { first, second ? second : first }, .out = out, .calibration = &out->modes[0], .message = message
  };

  out->count = 1;
  for (gint v = 0; v < 2; v++) {
    r.format[v] = find_format (r.keys[v], writing[second ? v : 0]);
    if (!refuse_foreign (r.keys[v], r.format[v], message))
      return FALSE;
  }
  if (!check_files (&r, second))
    return FALSE;
  if (second && r.format[0] == OPENCV) {
    gst_stereo_keys_merge (first, second);
    r.keys[1] = first;
  }
  r.unit_mm = out->unit_mm = options->unit_mm > 0 ? options->unit_mm : r.format[0]->unit_mm;
  return choose_cameras (&r, options->cameras) &&
      (r.format[0]->read ? r.format[0]->read : gst_stereo_read_cameras) (&r) && set_size (&r, options);
}
