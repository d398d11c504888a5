/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the cameras of a file by the keys that the table of formats names. */
#include "gst/rectify/calibration/private.h"

#include <string.h>

/* ---- models ---- */

static const struct
{
  const gchar *name;
  gint model;
} models[] = { { "", STEREO_LENS_PINHOLE }, { "none", STEREO_LENS_PINHOLE }, { "plumb_bob", STEREO_LENS_PINHOLE },
  { "rational_polynomial", STEREO_LENS_PINHOLE }, { "pinhole", STEREO_LENS_PINHOLE },
  { "rectified", STEREO_LENS_PINHOLE }, { "radtan", STEREO_LENS_PINHOLE }, { "pinhole-radtan", STEREO_LENS_PINHOLE },
  { "radial-tangential", STEREO_LENS_PINHOLE }, { "radial_tangential", STEREO_LENS_PINHOLE },
  { "radialtangential", STEREO_LENS_PINHOLE }, { "equidistant", STEREO_LENS_EQUIDISTANT },
  { "equi", STEREO_LENS_EQUIDISTANT }, { "pinhole-equi", STEREO_LENS_EQUIDISTANT },
  { "fisheye", STEREO_LENS_EQUIDISTANT }, { "kannalabrandt8", STEREO_LENS_EQUIDISTANT },
  { "kannala_brandt", STEREO_LENS_EQUIDISTANT } };

static gboolean
fail_model (const GstStereoReading *r, gint v, const gchar *key, const gchar *model)
{
  g_autofree gchar *shown = gst_stereo_keys_shorten (model);

  gst_stereo_keys_fail (r->keys[v], r->message,
      "this is %s of a camera whose %s is '%s', which is not supported: calibrate with plumb_bob (radtan), "
      "rational_polynomial or equidistant (fisheye).",
      r->format[v]->name, key, shown);
  return FALSE;
}

/* Refuses lenses that the engine's models do not describe, and names them. */
static gboolean
take_model (const GstStereoReading *r, gint v, StereoCamera *camera)
{
  const gchar *fisheye = gst_stereo_keys_text (r->keys[v], "fisheye_model");
  gchar **names = g_strsplit (r->format[v]->model ? r->format[v]->model : "", "|", -1);
  gboolean ok = TRUE;

  for (guint n = 0; ok && names[n]; n++) {
    const gchar *key = gst_stereo_reading_find (r, v, names[n]);
    const gchar *model = key ? gst_stereo_keys_text (r->keys[v], key) : "";
    guint k = 0;
    while (k < G_N_ELEMENTS (models) && g_ascii_strcasecmp (model, models[k].name) != 0)
      k++;
    ok = k < G_N_ELEMENTS (models) || fail_model (r, v, key, model);
    if (ok && models[k].model)
      camera->model = models[k].model;
  }
  if (fisheye && !g_str_equal (fisheye, "0"))
    camera->model = STEREO_LENS_EQUIDISTANT;
  g_strfreev (names);
  return ok;
}

/* ---- a camera ---- */

gboolean
gst_stereo_reading_fail (const GstStereoReading *r, gint v, const gchar *missing)
{
  g_autofree gchar *list = gst_stereo_keys_list (r->keys[v]);

  gst_stereo_keys_fail (r->keys[v], r->message, "%s is missing. Needed of %s: %s. In the file: %s.", missing,
      r->format[v]->name, r->format[v]->needed, list);
  return FALSE;
}

gboolean
gst_stereo_take_size (const GstStereoReading *r, gint v, gint size[2])
{
  const GstStereoFormat *format = r->format[v];
  GstStereoKeys *keys = r->keys[v];
  const gchar *w = gst_stereo_reading_find (r, v, format->width), *h = gst_stereo_reading_find (r, v, format->height);
  const gchar *both = gst_stereo_reading_find (r, v, format->size);
  gdouble side[2] = { 0, 0 };

  if (!w && !h && !both && !format->one_each)
    return TRUE;
  if (!w && !h && both)
    return gst_stereo_keys_matrix (keys, both, 1, 2, side, r->message) &&
        gst_stereo_take_side (keys, both, side[0], &size[0], r->message) &&
        gst_stereo_take_side (keys, both, side[1], &size[1], r->message);
  if (!w || !h)
    return gst_stereo_reading_fail (r, v, gst_stereo_reading_first (r, v, w ? format->height : format->width));
  return gst_stereo_keys_matrix (keys, w, 1, 1, &side[0], r->message) &&
      gst_stereo_keys_matrix (keys, h, 1, 1, &side[1], r->message) &&
      gst_stereo_take_side (keys, w, side[0], &size[0], r->message) &&
      gst_stereo_take_side (keys, h, side[1], &size[1], r->message);
}

/* The key of a part that a format needs; NULL and a message. */
static const gchar *
need (const GstStereoReading *r, gint v, const gchar *names)
{
  const gchar *key = gst_stereo_reading_find (r, v, names);

  if (!key)
    gst_stereo_reading_fail (r, v, gst_stereo_reading_first (r, v, names));
  return key;
}

static gboolean
take_lens_values (const GstStereoReading *r, gint v, StereoCamera *camera)
{
  const gchar *key = need (r, v, r->format[v]->distortion);

  if (key && g_str_has_suffix (key, "_FE"))
    camera->model = STEREO_LENS_EQUIDISTANT;
  return key && gst_stereo_take_distortion (r->keys[v], key, camera, r->message);
}

static gboolean
take_camera (const GstStereoReading *r, gint v)
{
  const GstStereoFormat *format = r->format[v];
  StereoCamera *camera = &r->calibration->camera[v];

  if (format->scalars) {
    g_autofree gchar *prefix = g_strconcat (
        v || gst_stereo_keys_has (r->keys[v], "Camera1.fx") ? r->at[v] : "Camera", ".", NULL);

    return gst_stereo_take_scalars (r->keys[v], prefix, camera, r->message) &&
        gst_stereo_take_lens (r->keys[v], prefix, camera, r->message);
  }
  const gchar *key = need (r, v, format->matrix ? format->matrix : format->intrinsics);
  return key &&
      (format->matrix ? gst_stereo_take_matrix : gst_stereo_take_intrinsics) (r->keys[v], key, camera, r->message) &&
      take_lens_values (r, v, camera);
}

/* R1 P1 or R2 P2. A format that may do without them has a pose then. */
static gboolean
take_rectification (const GstStereoReading *r, gint v)
{
  const GstStereoFormat *format = r->format[v];
  const gchar *rotation, *projection;

  if (!format->rectifying || (!format->rectified && !r->calibration->has_rectification))
    return TRUE;
  rotation = need (r, v, format->rectifying);
  projection = rotation ? need (r, v, format->projection) : NULL;
  return projection && gst_stereo_keys_matrix (r->keys[v], rotation, 3, 3, r->calibration->rectifying[v], r->message) &&
      gst_stereo_take_projection (r->keys[v], projection, r->unit_mm, r->calibration->projection[v], r->message);
}

/* A part of the sensor: numbers of ROS' messages are of all of it. */
static gboolean
cut_out_roi (const GstStereoReading *r, gint v, gint size[2])
{
  static const gchar *const names[4] = { "roi.x_offset", "roi.y_offset", "roi.width", "roi.height" };
  StereoCamera *camera = &r->calibration->camera[v];
  gdouble *p = r->calibration->projection[v], roi[4] = { 0 };

  for (gint i = 0; i < 4; i++)
    if (!gst_stereo_take_number (r->keys[v], names[i], &roi[i], r->message))
      return FALSE;
  if (roi[2] == 0 && roi[3] == 0)
    return TRUE;
  camera->cx -= roi[0];
  camera->cy -= roi[1];
  p[2] -= roi[0];
  p[6] -= roi[1];
  return gst_stereo_take_side (r->keys[v], names[2], roi[2], &size[0], r->message) &&
      gst_stereo_take_side (r->keys[v], names[3], roi[3], &size[1], r->message);
}

/* ---- a pair ---- */

gboolean
gst_stereo_read_cameras (GstStereoReading *r)
{
  StereoCalibration *c = r->calibration;
  gint size[2][2] = { { 0 } };

  c->has_rectification = r->format[0]->rectified;
  if (r->format[0]->rectifying && !c->has_rectification)
    c->has_rectification = gst_stereo_reading_find (r, 0, r->format[0]->rectifying) &&
        gst_stereo_reading_find (r, 1, r->format[1]->rectifying) &&
        gst_stereo_reading_find (r, 0, r->format[0]->projection) &&
        gst_stereo_reading_find (r, 1, r->format[1]->projection);
  for (gint v = 0; v < 2; v++)
    if (!take_model (r, v, &c->camera[v]) || !take_camera (r, v) || !gst_stereo_take_size (r, v, size[v]) ||
        !take_rectification (r, v) || !cut_out_roi (r, v, size[v]))
      return FALSE;
  if (memcmp (size[0], size[1], sizeof size[0]) != 0)
    return gst_stereo_keys_fail (r->keys[1], r->message,
        "the pictures of its right camera are %d x %d, those of the left one%s%s are %d x %d: both cameras must have one "
        "size.",
        size[1][0], size[1][1], r->keys[0] == r->keys[1] ? "" : " of ",
        r->keys[0] == r->keys[1] ? "" : gst_stereo_keys_name (r->keys[0]), size[0][0], size[0][1]);
  c->width = size[0][0];
  c->height = size[0][1];
  return !r->format[0]->pose || r->format[0]->pose (r);
}
