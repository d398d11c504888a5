/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads and writes calibration files. stereo_rectify() checks whether their numbers make sense. */
#include "gst/rectify/calibration/calibration.h"

#include <math.h>
#include <string.h>

#include "gst/rectify/calibration/keys.h"
#include "gst/video/file.h"

#define MAX_FILE (4 << 20) /* bytes; calibrations have a few thousand */
#define MAX_SIDE 65535     /* px */
#define MAX_DISTORTION 14  /* OpenCV's longest model; past STEREO_DISTORTION all have to be 0 */
#define FISHEYE_LENS 4     /* values of an equidistant lens */
#define SHORT_LENS 5       /* values of plumb_bob; more are written only where they say something */
#define BLANKS " \t\r\n"
#define LISTED 16 /* keys of a message */

/* What the parts of a calibration are called, of the left and the right camera. A bar stands between names, the first of which
 * that the file has is taken. */
typedef struct
{
  const gchar *name;
  gdouble unit_mm; /* of lengths */
  const gchar *matrix[2], *distortion[2], *rectifying[2], *projection[2], *width, *height, *size;
  const gchar *needed; /* for messages */
} Format;

#define BOTH(names) \
  { \
    names, names \
  }
static const Format ros = {
  .name = "ROS' camera_info",
  .unit_mm = 1000,
  .matrix = BOTH ("camera_matrix|k|K"),
  .distortion = BOTH ("distortion_coefficients|d|D"),
  .rectifying = BOTH ("rectification_matrix|r|R"),
  .projection = BOTH ("projection_matrix|p|P"),
  .width = "image_width|width",
  .height = "image_height|height",
  .needed = "image_width, image_height, camera_matrix, distortion_model, distortion_coefficients, rectification_matrix "
            "and projection_matrix (of a message: width, height, distortion_model, d, k, r and p; of ROS 1: D, K, R, P)"
};
static const Format opencv = { .name = "OpenCV's file of a pair",
  .unit_mm = 1,
  .matrix = { "M1|K1|cameraMatrix1|camera_matrix_left", "M2|K2|cameraMatrix2|camera_matrix_right" },
  .distortion = { "D1|distCoeffs1|dist_coeffs1|distortion_coefficients_left",
      "D2|distCoeffs2|dist_coeffs2|distortion_coefficients_right" },
  .rectifying = { "R1", "R2" },
  .projection = { "P1", "P2" },
  .width = "image_width|imageWidth|width|imageSize_width",
  .height = "image_height|imageHeight|height|imageSize_height",
  .size = "size|imageSize|image_size|img_size|Size",
  .needed = "M1 D1 M2 D2 (or K1 distCoeffs1 …, cameraMatrix1 …), and R and T, or R1, R2, P1 and P2" };

/* Formats that pipelines/calibration.py reads, by a line of them. */
static const struct
{
  const gchar *line, *name;
} foreign[] = { { "^cam[0-9]: *$", "Kalibr's camchain" }, { "^T_BS: *", "EuRoC's sensor.yaml, of one camera" },
  { "^(LEFT|RIGHT)\\.K:|^Camera[12]?\\.fx:", "a file of ORB-SLAM's settings" },
  { "^\\[(LEFT|RIGHT)_CAM_", "ZED's factory calibration" }, { "^\\[image\\]", "ROS' INI file (ost.txt)" },
  { "^(P[0-3]|[KS]_0[0-3]|P_rect_0[0-3]): *[-+.0-9]|^[-+.e0-9]+( +[-+.e0-9]+){11} *$", "KITTI's calibration" },
  { "^cam[01] *=", "Middlebury's calib.txt" } };

/* A calibration that is being read. */
typedef struct
{
  const Format *format;
  GstStereoKeys *keys[2]; /* with the left and the right camera; the same where one file has both */
  GstStereoCalibration *out;
  gchar **message;
} Reading;

/* ---- values ---- */

/* The first of some names that the file has; NULL: none. */
static const gchar *
find (GstStereoKeys *keys, const gchar *names)
{
  gpointer found = NULL;

  while (!found && names && *names) {
    gsize length = strcspn (names, "|");
    g_autofree gchar *key = g_strndup (names, length);
    if (!g_hash_table_lookup_extended (keys->values, key, &found, NULL))
      found = NULL;
    names += length + (names[length] == '|');
  }
  return found;
}

static const gchar *
text_of (GstStereoKeys *keys, const gchar *key)
{
  GString *text = key ? g_hash_table_lookup (keys->values, key) : NULL;

  return text ? text->str : NULL;
}

static gboolean
fail_missing (const Reading *r, gint v, const gchar *missing)
{
  g_autoptr (GList) names = g_list_sort (g_hash_table_get_keys (r->keys[v]->values), (GCompareFunc) g_strcmp0);
  g_autoptr (GString) list = g_string_new (NULL);
  guint count = 0;

  for (GList *l = names; l; l = l->next) {
    g_autofree gchar *name = gst_stereo_keys_shorten (l->data);
    if (!strchr (l->data, '.') && count++ < LISTED)
      g_string_append_printf (list, "%s%s", list->len ? ", " : "", name);
  }
  if (count > LISTED)
    g_string_append_printf (list, " and %u more", count - LISTED);
  return gst_stereo_keys_fail (r->keys[v], r->message,
      "%s is missing. Needed of %s: %s. In the file: %s. calibration.py reads other formats.", missing, r->format->name,
      r->format->needed, count ? list->str : "no keys at all");
}

/* The same, or a message and NULL. */
static const gchar *
need (const Reading *r, gint v, const gchar *names)
{
  const gchar *key = find (r->keys[v], names);
  g_autofree gchar *first = g_strndup (names, strcspn (names, "|"));

  if (!key)
    fail_missing (r, v, first);
  return key;
}

/* How many numbers a key has, of which the first @most are written; -1 and a message where it has something else. */
static gint
take_numbers (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message)
{
  const gchar *at = text_of (keys, key);
  gint count = 0;

  for (at += strspn (at, BLANKS); *at; at += strspn (at, BLANKS)) {
    gsize length = strcspn (at, BLANKS);
    g_autofree gchar *word = g_strndup (at, length), *shown = gst_stereo_keys_shorten (word);
    gchar *end;
    gdouble number = g_ascii_strtod (word, &end);
    if (*end != 0 || !isfinite (number)) {
      gst_stereo_keys_fail (keys, message, "value %d of %s is '%s', which is not a finite number%s", count + 1, key,
          shown, *end == ',' ? "." GST_STEREO_DECIMAL_COMMAS : ": calibrate again.");
      return -1;
    }
    if (count < most)
      numbers[count] = number;
    count++;
    at += length;
  }
  return count;
}

/* Whether rows and cols in the file, if it has them, are @rows x @cols; vectors may lie or stand. */
static gboolean
shape_fits (GstStereoKeys *keys, const gchar *key, gint rows, gint cols, gchar **message)
{
  g_autofree gchar *rows_key = g_strconcat (key, ".rows", NULL), *cols_key = g_strconcat (key, ".cols", NULL);
  const gchar *r = text_of (keys, rows_key), *c = text_of (keys, cols_key);
  gint64 has_rows = r ? g_ascii_strtoll (r, NULL, 10) : 0, has_cols = c ? g_ascii_strtoll (c, NULL, 10) : 0;

  if ((!r && !c) || (has_rows == rows && has_cols == cols) ||
      (MIN (rows, cols) == 1 && has_rows == cols && has_cols == rows))
    return TRUE;
  return gst_stereo_keys_fail (keys, message,
      "%s is a matrix of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ", but must be %d x %d.", key, has_rows, has_cols,
      rows, cols);
}

static gboolean
take_matrix (GstStereoKeys *keys, const gchar *key, gint rows, gint cols, gdouble *numbers, gchar **message)
{
  if (!shape_fits (keys, key, rows, cols, message))
    return FALSE;
  gint count = take_numbers (keys, key, numbers, rows * cols, message);
  if (count < 0 || count == rows * cols)
    return count > 0;
  return gst_stereo_keys_fail (keys, message, "%s has %d values, but needs %d (%d x %d).%s", key, count, rows * cols,
      rows, cols, count > rows * cols && keys->many_commas ? GST_STEREO_DECIMAL_COMMAS : "");
}

/* A number of pixels. @width: a key of one number, or of both sides. */
static gboolean
take_sides (GstStereoKeys *keys, const gchar *key, gint count, gint *sides, gchar **message)
{
  gdouble value[2];

  if (!take_matrix (keys, key, 1, count, value, message))
    return FALSE;
  for (gint i = 0; i < count; i++) {
    if (!(value[i] >= 1 && value[i] <= MAX_SIDE && value[i] == floor (value[i])))
      return gst_stereo_keys_fail (
          keys, message, "%s is %g: it must be a whole number of pixels from 1 to %d.", key, value[i], MAX_SIDE);
    sides[i] = (gint) value[i];
  }
  return TRUE;
}

static gboolean
is_zero (const gdouble *numbers, gint count)
{
  for (gint i = 0; i < count; i++)
    if (numbers[i] != 0)
      return FALSE;
  return TRUE;
}

/* ---- cameras ---- */

/* Refuses lenses that the engine's models do not describe, and names them. */
static gboolean
take_model (const Reading *r, gint v, StereoCamera *camera)
{
  static const gchar *const named[] = { "distortion_model", "camera_model", "model" };
  static const gchar *const pinhole[] = { "", "none", "plumb_bob", "rational_polynomial", "pinhole", "rectified",
    "radtan", "pinhole-radtan", "radial-tangential", "radial_tangential", NULL };
  static const gchar *const fisheye[] = { "equidistant", "equi", "pinhole-equi", "fisheye", "kannalabrandt8",
    "kannala_brandt", NULL };
  const gchar *flag = text_of (r->keys[v], "fisheye_model");

  if (flag && !g_str_equal (flag, "0"))
    camera->model = STEREO_LENS_EQUIDISTANT;
  for (guint n = 0; n < G_N_ELEMENTS (named); n++) {
    const gchar *text = text_of (r->keys[v], named[n]);
    g_autofree gchar *model = g_ascii_strdown (text ? text : "", -1),
                     *shown = gst_stereo_keys_shorten (text ? text : "");
    if (g_strv_contains (fisheye, model))
      camera->model = STEREO_LENS_EQUIDISTANT;
    else if (!g_strv_contains (pinhole, model))
      return gst_stereo_keys_fail (r->keys[v], r->message,
          "this is %s of a camera whose %s is '%s', which is not supported: calibrate with plumb_bob (radtan), "
          "rational_polynomial or equidistant (fisheye).",
          r->format->name, named[n], shown);
  }
  return TRUE;
}

static gboolean
take_lens (const Reading *r, gint v, StereoCamera *camera)
{
  const gchar *key = need (r, v, r->format->distortion[v]);
  gdouble d[MAX_DISTORTION] = { 0 };
  gint count = key ? take_numbers (r->keys[v], key, d, MAX_DISTORTION, r->message) : -1;

  if (count < 0 || (count > 0 && !shape_fits (r->keys[v], key, 1, count, r->message)))
    return FALSE;
  gboolean fisheye = camera->model == STEREO_LENS_EQUIDISTANT;
  gint most = fisheye ? FISHEYE_LENS : STEREO_DISTORTION;
  gboolean longer = count > MAX_DISTORTION || (count > most && !is_zero (d + most, count - most));
  const gchar *commas = count > SHORT_LENS && r->keys[v]->many_commas ? GST_STEREO_DECIMAL_COMMAS : "";
  if (fisheye && longer)
    return gst_stereo_keys_fail (r->keys[v], r->message,
        "%s has %d values: an equidistant (fisheye) lens has 4, k1 k2 k3 k4.%s", key, count, commas);
  if (!fisheye && !(count <= SHORT_LENS || count == 8 || ((count == 12 || count == 14) && !longer)))
    return gst_stereo_keys_fail (r->keys[v], r->message,
        "%s has %d values: up to 2 (k1 k2), 3 (k1 k2 k3), 4 (k1 k2 p1 p2), 5 (and k3) and 8 (and k4 k5 k6) are "
        "supported%s.%s",
        key, count, longer ? "; calibrate without thin prism and tilt" : "", commas);
  /* three values are k1 k2 k3 (MATLAB's radial distortion): no model has p1 without p2 */
  if (!fisheye && count == 3) {
    d[4] = d[2];
    d[2] = 0;
  }
  memcpy (camera->distortion, d, (gsize) most * sizeof *d);
  return TRUE;
}

/* R1 P1 or R2 P2. @unit_mm: of lengths; only the fourth column of a projection has any. */
static gboolean
take_rectification (const Reading *r, gint v, StereoCalibration *c)
{
  const gchar *rotation = need (r, v, r->format->rectifying[v]);
  const gchar *projection = rotation ? need (r, v, r->format->projection[v]) : NULL;

  if (!projection || !take_matrix (r->keys[v], rotation, 3, 3, c->rectifying[v], r->message) ||
      !take_matrix (r->keys[v], projection, 3, 4, c->projection[v], r->message))
    return FALSE;
  for (gint i = 3; i < 12; i += 4)
    c->projection[v][i] *= r->out->unit_mm;
  return TRUE;
}

/* A driver whose camera rectifies by itself leaves zeros in what does not matter then. ROS' rule for a camera that is not
 * calibrated is that K is zero. @k is the camera matrix, which is filled in from P. */
static gboolean
fill_in_rectified (const Reading *r, gint v, gdouble *k)
{
  StereoCalibration *c = &r->out->whole;
  gboolean no_k = is_zero (k, 9), no_r = is_zero (c->rectifying[v], 9), no_p = is_zero (c->projection[v], 12);
  gboolean no_lens = is_zero (c->camera[v].distortion, STEREO_DISTORTION);
  const gdouble *p = c->projection[v];
  const gchar *what = no_p ? "P (projection_matrix)" : no_k ? "K (camera_matrix)" : "R (rectification_matrix)";

  if (no_k && no_p)
    return gst_stereo_keys_fail (r->keys[v], r->message,
        "K and P (camera_matrix and projection_matrix) are all zeros: this camera was not calibrated. Calibrate the pair "
        "(calibrate.py), or give another file.");
  if (no_p || ((no_k || no_r) && !no_lens))
    return gst_stereo_keys_fail (r->keys[v], r->message,
        "%s is all zeros%s: this camera_info is of a camera that was not calibrated as one of a pair. Calibrate the pair "
        "(calibrate.py), or give another file.",
        what, no_p ? "" : ", although the lens has a distortion");
  for (gint i = 0; i < 9; i++) {
    c->rectifying[v][i] = no_r ? i % 4 == 0 : c->rectifying[v][i];
    k[i] = no_k ? p[i / 3 * 4 + i % 3] : k[i];
  }
  return TRUE;
}

static gboolean
take_camera (const Reading *r, gint v)
{
  StereoCalibration *c = &r->out->whole;
  StereoCamera *camera = &c->camera[v];
  const gchar *key = need (r, v, r->format->matrix[v]);
  gdouble m[9];

  if (!key || !take_model (r, v, camera) || !take_matrix (r->keys[v], key, 3, 3, m, r->message) ||
      !take_lens (r, v, camera) || (c->has_rectification && !take_rectification (r, v, c)) ||
      (r->format == &ros && !fill_in_rectified (r, v, m)))
    return FALSE;
  if (m[3] != 0 || m[6] != 0 || m[7] != 0 || fabs (m[8] - 1) > 1e-9 || fabs (m[1]) > 1e-3)
    return gst_stereo_keys_fail (r->keys[v], r->message,
        "%s is no camera matrix: the rows of one are fx 0 cx, 0 fy cy, 0 0 1 (skew is not supported).", key);
  camera->fx = m[0];
  camera->fy = m[4];
  camera->cx = m[2];
  camera->cy = m[5];
  return TRUE;
}

/* The size of the pictures; 0 x 0 where OpenCV's file does not say. */
static gboolean
take_size (const Reading *r, gint v, gint size[2])
{
  GstStereoKeys *keys = r->keys[v];
  const gchar *w = find (keys, r->format->width), *h = find (keys, r->format->height);
  const gchar *both = find (keys, r->format->size);

  if (!w && !h && r->format == &opencv)
    return !both || take_sides (keys, both, 2, size, r->message);
  return (w || need (r, v, r->format->width)) && (h || need (r, v, r->format->height)) &&
      take_sides (keys, w, 1, &size[0], r->message) && take_sides (keys, h, 1, &size[1], r->message);
}

/* ---- a part of the sensor ---- */

/* Numbers of a message of ROS are of the whole sensor; binning adds up pixels, and a region (roi) is a part of the sensor.
 * @size becomes that of binned pictures of the whole sensor, and the numbers those of such pictures. */
static gboolean
take_binning_and_roi (const Reading *r, gint v, gint size[2])
{
  static const gchar *const names[2][3] = { { "binning_x", "roi.x_offset", "roi.width" },
    { "binning_y", "roi.y_offset", "roi.height" } };
  GstStereoCalibration *out = r->out;
  StereoCamera *camera = &out->whole.camera[v];
  gdouble *const focal[2] = { &camera->fx, &camera->fy }, *const middle[2] = { &camera->cx, &camera->cy };
  gint *const roi[2][2] = { { &out->roi.x[v], &out->roi.width[v] }, { &out->roi.y[v], &out->roi.height[v] } };

  for (gint axis = 0; axis < 2; axis++) {
    gdouble value[3] = { 0 }, *p = out->whole.projection[v] + 4 * axis;
    for (gint i = 0; i < 3; i++) {
      const gchar *key = names[axis][i];
      if (text_of (r->keys[v], key) && !take_matrix (r->keys[v], key, 1, 1, &value[i], r->message))
        return FALSE;
      if (!(value[i] >= 0 && value[i] <= MAX_SIDE && value[i] == floor (value[i])))
        return gst_stereo_keys_fail (
            r->keys[v], r->message, "%s is %g: it must be a whole number from 0 to %d.", key, value[i], MAX_SIDE);
    }
    if (value[2] > 0 && value[1] + value[2] > size[axis])
      return gst_stereo_keys_fail (r->keys[v], r->message,
          "%s is %g and %s %g: such a region (roi) ends outside of the sensor, which has %d pixels there.",
          names[axis][1], value[1], names[axis][2], value[2], size[axis]);
    gdouble by = fmax (1, value[0]);
    *focal[axis] /= by;
    *middle[axis] = (*middle[axis] + 0.5) / by - 0.5;
    p[axis] /= by;
    p[3] /= by;
    p[2] = (p[2] + 0.5) / by - 0.5;
    size[axis] = (gint) (size[axis] / by);
    *roi[axis][0] = (gint) (value[1] / by);
    *roi[axis][1] = (gint) (value[2] / by);
  }
  /* 0 x 0, and all of the sensor, are no region */
  if (!out->roi.width[v] || !out->roi.height[v] || (out->roi.width[v] == size[0] && out->roi.height[v] == size[1]))
    out->roi.width[v] = out->roi.height[v] = 0;
  return TRUE;
}

static gboolean
take_sensor (const Reading *r)
{
  GstStereoCalibration *out = r->out;
  gint size[2][2] = { { 0 } };

  for (gint v = 0; v < 2; v++) {
    if (!take_size (r, v, size[v]))
      return FALSE;
    out->sensor_width = size[v][0];
    out->sensor_height = size[v][1];
    if (r->format == &ros && !take_binning_and_roi (r, v, size[v]))
      return FALSE;
  }
  gboolean of_roi = out->roi.width[0] != out->roi.width[1] || out->roi.height[0] != out->roi.height[1];
  if (of_roi || memcmp (size[0], size[1], sizeof size[0]) != 0)
    return gst_stereo_keys_fail (r->keys[1], r->message,
        "the %s of its right camera is %d x %d, that of the left one of %s is %d x %d: both cameras must have one size.",
        of_roi ? "region (roi; 0 x 0: none)" : "picture", of_roi ? out->roi.width[1] : size[1][0],
        of_roi ? out->roi.height[1] : size[1][1], r->keys[0]->name, of_roi ? out->roi.width[0] : size[0][0],
        of_roi ? out->roi.height[0] : size[0][1]);
  out->whole.width = size[0][0];
  out->whole.height = size[0][1];
  return TRUE;
}

static gboolean
is_whole (const GstStereoCalibration *calibration, gint width, gint height)
{
  const StereoCalibration *whole = &calibration->whole;

  return !calibration->roi.width[0] || (width == whole->width && height == whole->height) ||
      (width == calibration->sensor_width && height == calibration->sensor_height);
}

StereoCalibration
gst_stereo_calibration_for (const GstStereoCalibration *calibration, gint width, gint height)
{
  StereoCalibration c = calibration->whole;

  if (is_whole (calibration, width, height))
    return c;
  for (gint v = 0; v < 2; v++) {
    c.camera[v].cx -= calibration->roi.x[v];
    c.camera[v].cy -= calibration->roi.y[v];
    c.projection[v][2] -= calibration->roi.x[v];
    c.projection[v][6] -= calibration->roi.y[v];
  }
  c.width = calibration->roi.width[0];
  c.height = calibration->roi.height[0];
  return c;
}

gchar *
gst_stereo_calibration_doubt_roi (const GstStereoCalibration *calibration, gint width, gint height)
{
  if (!calibration->roi.width[0] || !is_whole (calibration, width, height))
    return NULL;
  return g_strdup_printf (
      "The calibration names a region of the sensor (roi) of %dx%d pixels, but these frames are %dx%d, the size of the whole "
      "sensor: the region is not cut out. If the frames are of the region and were scaled, give frames of another size; "
      "else remove roi from the files.",
      calibration->roi.width[0], calibration->roi.height[0], width, height);
}

/* ---- a pair ---- */

/* The rest of OpenCV's file: R and T take a point from the left camera's frame to the right one's. The size of the
 * rectified views is no key of OpenCV: gst_stereo_calibration_write() writes it. */
static gboolean
take_pose (const Reading *r)
{
  StereoCalibration *c = &r->out->whole;
  GstStereoKeys *keys = r->keys[0];

  c->has_pose = find (keys, "R") && find (keys, "T");
  if (!c->has_pose && !c->has_rectification)
    return fail_missing (r, 0, "the pose of the cameras relative to each other");
  if (c->has_pose) {
    if (!take_matrix (keys, "R", 3, 3, c->rotation, r->message) ||
        !take_matrix (keys, "T", 3, 1, c->translation, r->message))
      return FALSE;
    for (gint i = 0; i < 3; i++)
      c->translation[i] *= r->out->unit_mm;
  }
  if (!find (keys, "rectified_width") && !find (keys, "rectified_height"))
    return TRUE;
  return need (r, 0, "rectified_width") && need (r, 0, "rectified_height") &&
      take_sides (keys, "rectified_width", 1, &c->rectified_width, r->message) &&
      take_sides (keys, "rectified_height", 1, &c->rectified_height, r->message);
}

/* The size of the raw pictures is that of the options. */
static gboolean
set_size (const Reading *r, const GstStereoCalibrationOptions *options)
{
  if (!options->width && !options->height)
    return TRUE;
  if (!options->width || !options->height)
    return gst_stereo_keys_fail (r->keys[0], r->message,
        "calibration-width=%d and calibration-height=%d: set both, to the size of the pictures that the calibration was "
        "made of, or none.",
        options->width, options->height);
  r->out->whole.width = options->width;
  r->out->whole.height = options->height;
  r->out->roi.width[0] = 0;
  return TRUE;
}

/* Says of a text that calibration.py reads what it is. Texts with marks of the formats that are read here are read here. */
static gboolean
refuse_foreign (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  static const gchar
      ours[] = "^[ \t\"]*(M1|K1|cameraMatrix1|camera_matrix|camera_matrix_left|projection_matrix|K|k)\"?[ \t]*:";

  for (guint k = 0; *text != '<' && k < G_N_ELEMENTS (foreign); k++)
    if (g_regex_match_simple (foreign[k].line, text, G_REGEX_MULTILINE | G_REGEX_RAW, 0) &&
        !g_regex_match_simple (ours, text, G_REGEX_MULTILINE | G_REGEX_RAW, 0))
      return gst_stereo_keys_fail (keys, message,
          "this is %s. stereorectify reads calibrations of OpenCV and ROS; calibration.py makes OpenCV's of this one: "
          "python3 pipelines/calibration.py FILE… -o stereo.yml, then set calibration=stereo.yml.",
          foreign[k].name);
  return TRUE;
}

static gboolean
read_text (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  /* without the byte order mark; comments and camera names may have any bytes */
  g_autofree gchar *valid = g_utf8_make_valid (g_str_has_prefix (text, "\357\273\277") ? text + 3 : text, -1);

  return refuse_foreign (keys, valid, message) && gst_stereo_keys_read (keys, valid, message);
}

/* One file is OpenCV's, two are ROS'. @name and @text: of two files, or of one, and NULL. */
static gboolean
parse (GstStereoCalibration *out, const gchar *const name[2], const gchar *const text[2],
    const GstStereoCalibrationOptions *options, gchar **message)
{
  g_autoptr (GstStereoKeys) first = gst_stereo_keys_new (name[0]);
  g_autoptr (GstStereoKeys) second = gst_stereo_keys_new (text[1] ? name[1] : "");
  Reading r = { text[1] ? &ros : &opencv, { first, text[1] ? second : first }, out, message };
  StereoCalibration *c = &out->whole;

  memset (out, 0, sizeof *out);
  for (gint v = 0; v < (text[1] ? 2 : 1); v++) {
    if (!read_text (r.keys[v], text[v], message))
      return FALSE;
    gboolean is_opencv = find (r.keys[v], opencv.matrix[0]) || find (r.keys[v], "T|P1");
    if (text[1] && is_opencv)
      return gst_stereo_keys_fail (r.keys[v], message,
          "this is %s, which has both cameras: give only this file. Of two files (intrinsics and extrinsics) calibration.py "
          "makes one: python3 pipelines/calibration.py FILE FILE -o stereo.yml.",
          opencv.name);
    if (!text[1] && !is_opencv && (find (first, ros.matrix[0]) || find (first, "projection_matrix")))
      return gst_stereo_keys_fail (first, message,
          "this is the calibration of one camera (%s): give both cameras' as \"left.yaml,right.yaml\", or OpenCV's of the "
          "pair, with M1 D1 M2 D2 and R T.",
          ros.name);
  }
  out->unit_mm = options->unit_mm > 0 ? options->unit_mm : r.format->unit_mm;
  c->has_rectification = r.format == &ros ||
      (find (first, "R1") && find (first, "R2") && find (first, "P1") && find (first, "P2"));
  return take_camera (&r, 0) && take_camera (&r, 1) && take_sensor (&r) && (r.format == &ros || take_pose (&r)) &&
      set_size (&r, options);
}

gboolean
gst_stereo_calibration_parse (GstStereoCalibration *calibration, const gchar *left, const gchar *right,
    const GstStereoCalibrationOptions *options, gchar **message)
{
  const gchar *const name[2] = { right ? "left calibration" : "calibration", "right calibration" };
  const gchar *const text[2] = { left, right };

  return parse (calibration, name, text, options, message);
}

/* ---- files ---- */

/* UTF-16, which Windows writes, as UTF-8: told by its byte order mark, or by the zero of its first letter. NULL: it is not,
 * or is broken, or has zeros of its own, as UTF-32 seems to. */
static gchar *
from_utf16 (const gchar *text, gsize size)
{
  gboolean little = g_str_has_prefix (text, "\377\376") || (text[0] && !text[1]);
  gboolean big = g_str_has_prefix (text, "\376\377") || (!text[0] && text[1]);

  gsize length = 0;
  gchar *read = little || big ?
      g_convert (text, (gssize) size, "UTF-8", little ? "UTF-16LE" : "UTF-16BE", NULL, &length, NULL) :
      NULL;
  if (read && strlen (read) != length)
    g_clear_pointer (&read, g_free);
  return read;
}

/* g_free() it; NULL on failure. */
static gchar *
read_file (const gchar *path, gchar **message)
{
  static const GstStereoFileRules rules = { "calibration",
    "a file with both cameras, or to two with a comma between them (ROS)", MAX_FILE };
  gsize length;
  gchar *text = gst_stereo_file_read (&rules, path, &length, message);

  if (text && strlen (text) != length) {
    gchar *converted = from_utf16 (text, length);
    if (!converted && message)
      *message = g_strdup_printf (
          "%s: it is not a text file: it has zero bytes. Save the calibration as text (UTF-8), as cv::FileStorage does.",
          path);
    g_free (text);
    text = converted;
  }
  return text;
}

/* "left,right" are two files, else there is one, and NULL; g_free() them. Names of files may have commas themselves: the comma
 * between two files that exist is taken, or the first. */
static void
split (const gchar *location, gchar *name[2])
{
  const gchar *comma = g_file_test (location, G_FILE_TEST_EXISTS) ? NULL : strchr (location, ',');
  gboolean both = FALSE;

  name[0] = g_strdup (location);
  name[1] = NULL;
  for (const gchar *at = comma; at && !both; at = strchr (at + 1, ',')) {
    g_autofree gchar *left = g_strstrip (g_strndup (location, (gsize) (at - location)));
    g_autofree gchar *right = g_strstrip (g_strdup (at + 1));
    both = g_file_test (left, G_FILE_TEST_EXISTS) && g_file_test (right, G_FILE_TEST_EXISTS);
    if (at == comma || both) {
      g_free (name[0]);
      g_free (name[1]);
      name[0] = g_steal_pointer (&left);
      name[1] = g_steal_pointer (&right);
    }
  }
}

gboolean
gst_stereo_calibration_reads (const gchar *location, const gchar *file)
{
  gboolean reads = FALSE;
  gchar *name[2];

  split (location, name);
  for (gint k = 0; k < 2; k++) {
    reads = reads || (name[k] && gst_stereo_file_is_same (name[k], file));
    g_free (name[k]);
  }
  return reads;
}

gboolean
gst_stereo_calibration_load (GstStereoCalibration *calibration, const gchar *location,
    const GstStereoCalibrationOptions *options, gchar **message)
{
  gchar *name[2], *text[2] = { NULL, NULL };
  gboolean ok;

  split (location, name);
  ok = *name[0] != 0 && !(name[1] && *name[1] == 0);
  if (!ok && message)
    *message = g_strdup_printf (
        "'%s': the name of a file is missing: give one file, or two with a comma between them.", location);
  ok = ok && (text[0] = read_file (name[0], message)) && (!name[1] || (text[1] = read_file (name[1], message))) &&
      parse (calibration, (const gchar *const *) name, (const gchar *const *) text, options, message);
  for (gint k = 0; k < 2; k++) {
    g_free (name[k]);
    g_free (text[k]);
  }
  return ok;
}

/* ---- writing ---- */

static void
append_matrix (GString *text, const gchar *name, gint rows, gint cols, const gdouble *values)
{
  g_string_append_printf (
      text, "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ ", name, rows, cols);
  for (gint i = 0; i < rows * cols; i++) {
    gchar number[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf (text, "%s%s",
        i == 0       ? "" :
            i % cols ? ", " :
                       ",\n       ",
        g_ascii_dtostr (number, sizeof number, values[i] == 0 ? 0 : values[i]));
  }
  g_string_append (text, " ]\n");
}

gchar *
gst_stereo_calibration_write (const StereoCalibration *calibration, const StereoRectification *r)
{
  static const gchar *const names[2][4] = { { "M1", "D1", "R1", "P1" }, { "M2", "D2", "R2", "P2" } };
  GString *text = g_string_new (
      "%YAML:1.0\n---\n"
      "# Lengths are millimetres. M1 D1 M2 D2 are the raw cameras; R1 R2 P1 P2 rectify their views.\n");
  const gdouble *p = r->projection[0];
  /* (x, y, disparity, 1) times Q is a point of the left rectified view */
  const gdouble q[16] = { 1, 0, 0, -p[2], 0, 1, 0, -p[6], 0, 0, 0, r->focal_length, 0, 0, 1 / r->baseline,
    r->principal_offset / r->baseline };

  g_string_append_printf (text, "image_width: %d\nimage_height: %d\nrectified_width: %d\nrectified_height: %d\n",
      calibration->width, calibration->height, r->width, r->height);
  if (calibration->camera[0].model == STEREO_LENS_EQUIDISTANT)
    g_string_append (text, "distortion_model: equidistant\n");
  for (gint v = 0; v < 2; v++) {
    const StereoCamera *camera = &calibration->camera[v];
    const gdouble m[9] = { camera->fx, 0, camera->cx, 0, camera->fy, camera->cy, 0, 0, 1 };
    gboolean rational = !is_zero (camera->distortion + SHORT_LENS, STEREO_DISTORTION - SHORT_LENS);
    append_matrix (text, names[v][0], 3, 3, m);
    append_matrix (text, names[v][1], 1,
        camera->model == STEREO_LENS_EQUIDISTANT ? FISHEYE_LENS :
            rational                             ? STEREO_DISTORTION :
                                                   SHORT_LENS,
        camera->distortion);
  }
  if (calibration->has_pose) {
    append_matrix (text, "R", 3, 3, calibration->rotation);
    append_matrix (text, "T", 3, 1, calibration->translation);
  }
  for (gint v = 0; v < 2; v++) {
    append_matrix (text, names[v][2], 3, 3, r->rectifying[v]);
    append_matrix (text, names[v][3], 3, 4, r->projection[v]);
  }
  append_matrix (text, "Q", 4, 4, q);
  return g_string_free (text, FALSE);
}
