/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cameras of several formats have: matrices, distortions, sizes. */
#include "gst/rectify/calibration/private.h"

#include <math.h>
#include <string.h>

#define MAX_SIDE 65535    /* px */
#define MAX_DISTORTION 14 /* OpenCV's longest model; past STEREO_DISTORTION all have to be 0 */
#define FISHEYE_LENS 4    /* values of an equidistant lens */

/* ---- names ---- */

/* The name of @length bytes as a key of camera @v. */
static const gchar *
expand (const GstStereoReading *r, gint v, const gchar *name, gsize length)
{
  GString *text = g_string_new (NULL);

  for (gsize i = 0; i < length; i++)
    if (name[i] == '@')
      g_string_append (text, r->at[v]);
    else if (name[i] == '$')
      g_string_append (text, v ? "right" : "left");
    else if (name[i] == '%')
      g_string_append (text, v ? "RIGHT" : "LEFT");
    else
      g_string_append_c (text, name[i]);
  /* these keys are few, and are wanted again */
  const gchar *key = g_intern_string (text->str);
  g_string_free (text, TRUE);
  return key;
}

const gchar *
gst_stereo_reading_find (const GstStereoReading *r, gint v, const gchar *names)
{
  while (names && *names) {
    gsize length = strcspn (names, "|");
    const gchar *key = expand (r, v, names, length);
    if (gst_stereo_keys_has (r->keys[v], key))
      return key;
    names += length + (names[length] == '|');
  }
  return NULL;
}

const gchar *
gst_stereo_reading_first (const GstStereoReading *r, gint v, const gchar *names)
{
  return expand (r, v, names, strcspn (names, "|"));
}

/* ---- numbers ---- */

gboolean
gst_stereo_take_number (GstStereoKeys *keys, const gchar *key, gdouble *value, gchar **message)
{
  return !gst_stereo_keys_has (keys, key) || gst_stereo_keys_matrix (keys, key, 1, 1, value, message);
}

gboolean
gst_stereo_take_side (GstStereoKeys *keys, const gchar *key, gdouble value, gint *side, gchar **message)
{
  if (!(value >= 1 && value <= MAX_SIDE && value == floor (value)))
    return gst_stereo_keys_fail (
        keys, message, "%s is %g: it must be a whole number of pixels from 1 to %d.", key, value, MAX_SIDE);
  *side = (gint) value;
  return TRUE;
}

/* ---- cameras ---- */

gboolean
gst_stereo_take_matrix (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message)
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

gboolean
gst_stereo_take_intrinsics (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message)
{
  gdouble m[4];

  if (!gst_stereo_keys_matrix (keys, key, 1, 4, m, message))
    return FALSE;
  camera->fx = m[0];
  camera->fy = m[1];
  camera->cx = m[2];
  camera->cy = m[3];
  return TRUE;
}

/* Three values are k1 k2 k3 (MATLAB's radial distortion): no model has p1 without p2. */
static void
order_pinhole (gdouble *d, gint count)
{
  if (count == 3) {
    d[4] = d[2];
    d[2] = 0;
  }
}

gboolean
gst_stereo_take_distortion (GstStereoKeys *keys, const gchar *key, StereoCamera *camera, gchar **message)
{
  gboolean fisheye = camera->model == STEREO_LENS_EQUIDISTANT;
  gint most = fisheye ? FISHEYE_LENS : STEREO_DISTORTION;
  gdouble d[MAX_DISTORTION] = { 0 };
  gint count = gst_stereo_keys_vector (keys, key, d, MAX_DISTORTION, message);
  gboolean longer = FALSE;

  if (count < 0)
    return FALSE;
  for (gint i = most; i < MIN (count, MAX_DISTORTION); i++)
    longer |= d[i] != 0;
  if (fisheye && (count > MAX_DISTORTION || longer))
    return gst_stereo_keys_fail (
        keys, message, "%s has %d values: an equidistant (fisheye) lens has 4, k1 k2 k3 k4.", key, count);
  if (!fisheye && !(count <= 5 || count == 8 || ((count == 12 || count == 14) && !longer)))
    return gst_stereo_keys_fail (keys, message,
        "%s has %d values: up to 2 (k1 k2), 3 (k1 k2 k3), 4 (k1 k2 p1 p2), 5 (and k3) and 8 (and k4 k5 k6) are "
        "supported%s.",
        key, count, longer ? "; calibrate without thin prism and tilt" : "");
  if (!fisheye)
    order_pinhole (d, count);
  memcpy (camera->distortion, d, (gsize) most * sizeof *d);
  return TRUE;
}

static gboolean
take_named (GstStereoKeys *keys, const gchar *prefix, const gchar *name, gdouble *value, gchar **message)
{
  g_autofree gchar *key = g_strconcat (prefix, name, NULL);

  return gst_stereo_take_number (keys, key, value, message);
}

gboolean
gst_stereo_take_scalars (GstStereoKeys *keys, const gchar *prefix, StereoCamera *camera, gchar **message)
{
  static const gchar *const names[4] = { "fx", "fy", "cx", "cy" };
  gdouble *const values[4] = { &camera->fx, &camera->fy, &camera->cx, &camera->cy };

  for (gint i = 0; i < 4; i++) {
    gchar *key = g_strconcat (prefix, names[i], NULL);
    gboolean ok = gst_stereo_keys_matrix (keys, key, 1, 1, values[i], message);
    g_free (key);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_stereo_take_lens (GstStereoKeys *keys, const gchar *prefix, StereoCamera *camera, gchar **message)
{
  static const gchar *const pinhole[STEREO_DISTORTION] = { "k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6" };
  static const gchar *const fisheye[FISHEYE_LENS] = { "k1", "k2", "k3", "k4" };
  gboolean equidistant = camera->model == STEREO_LENS_EQUIDISTANT;

  for (gint i = 0; i < (equidistant ? FISHEYE_LENS : STEREO_DISTORTION); i++)
    if (!take_named (keys, prefix, equidistant ? fisheye[i] : pinhole[i], &camera->distortion[i], message))
      return FALSE;
  return TRUE;
}

/* ---- pairs ---- */

/* Lengths are @unit_mm millimetres; only the fourth column has any. */
gboolean
gst_stereo_take_projection (GstStereoKeys *keys, const gchar *key, gdouble unit_mm, gdouble *p, gchar **message)
{
  if (!gst_stereo_keys_matrix (keys, key, 3, 4, p, message))
    return FALSE;
  p[3] *= unit_mm;
  p[7] *= unit_mm;
  p[11] *= unit_mm;
  return TRUE;
}

void
gst_stereo_take_rectified (StereoCalibration *calibration, gdouble baseline_mm)
{
  for (gint v = 0; v < 2; v++) {
    const StereoCamera *camera = &calibration->camera[v];
    const gdouble p[12] = { camera->fx, 0, camera->cx, v ? -camera->fx * baseline_mm : 0, 0, camera->fy, camera->cy, 0,
      0, 0, 1, 0 };
    memcpy (calibration->projection[v], p, sizeof p);
    for (gint i = 0; i < 9; i++)
      calibration->rectifying[v][i] = i % 4 == 0;
  }
  calibration->has_rectification = TRUE;
}
