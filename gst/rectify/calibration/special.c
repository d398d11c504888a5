/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats without a matrix and a distortion for each camera: of rectified views, and ZED's. */
#include "gst/rectify/calibration/private.h"

#include <math.h>
#include <string.h>

static gboolean
take_size (GstStereoReading *r)
{
  gint size[2] = { 0, 0 };
  gboolean ok = gst_stereo_take_size (r, 0, size);

  r->calibration->width = size[0];
  r->calibration->height = size[1];
  return ok;
}

/* ---- KITTI ---- */

/* calib.txt has only projections: its pictures are rectified already. */
gboolean
gst_stereo_read_kitti (GstStereoReading *r)
{
  for (gint v = 0; v < 2; v++) {
    StereoCamera *camera = &r->calibration->camera[v];
    gdouble *p = r->calibration->projection[v];
    gchar name[16];
    g_snprintf (name, sizeof name, "P%d", r->number[v]);
    if (!gst_stereo_keys_has (r->keys[0], name))
      return gst_stereo_reading_fail (r, 0, name);
    if (!gst_stereo_take_projection (r->keys[0], name, r->unit_mm, p, r->message))
      return FALSE;
    *camera = (StereoCamera){ .fx = p[0], .fy = p[5], .cx = p[2], .cy = p[6] };
    for (gint i = 0; i < 9; i++)
      r->calibration->rectifying[v][i] = i % 4 == 0;
  }
  return r->calibration->has_rectification = TRUE;
}

/* ---- Middlebury ---- */

#define OFFSET_TOLERANCE 0.01 /* px: the files have three decimals */

static gboolean
check_offset (GstStereoReading *r)
{
  gdouble offset = r->calibration->camera[1].cx - r->calibration->camera[0].cx, given = offset;

  if (!gst_stereo_take_number (r->keys[0], "doffs", &given, r->message))
    return FALSE;
  if (fabs (given - offset) <= OFFSET_TOLERANCE)
    return TRUE;
  return gst_stereo_keys_fail (r->keys[0], r->message,
      "doffs is %g, but the principal points of cam1 and cam0 are %g px apart: one of them was changed without the "
      "other; set doffs to that.",
      given, offset);
}

/* The pictures of these sets are rectified already: only the principal points of the views differ. */
gboolean
gst_stereo_read_middlebury (GstStereoReading *r)
{
  static const gchar *const needed[] = { "cam0", "cam1", "baseline" };
  GstStereoKeys *keys = r->keys[0];
  gdouble baseline;

  for (guint k = 0; k < G_N_ELEMENTS (needed); k++)
    if (!gst_stereo_keys_has (keys, needed[k]))
      return gst_stereo_reading_fail (r, 0, needed[k]);
  if (!gst_stereo_take_matrix (keys, "cam0", &r->calibration->camera[0], r->message) ||
      !gst_stereo_take_matrix (keys, "cam1", &r->calibration->camera[1], r->message) ||
      !gst_stereo_keys_matrix (keys, "baseline", 1, 1, &baseline, r->message) || !take_size (r) || !check_offset (r))
    return FALSE;
  gst_stereo_take_rectified (r->calibration, baseline * r->unit_mm);
  return TRUE;
}

/* ---- ORB-SLAM, of views that are rectified ---- */

gboolean
gst_stereo_read_orbslam_rectified (GstStereoReading *r)
{
  GstStereoKeys *keys = r->keys[0];
  const gchar *prefix = gst_stereo_keys_has (keys, "Camera1.fx") ? "Camera1." : "Camera.";
  const gchar *length = gst_stereo_reading_find (r, 0, "Stereo.b|Camera.bf");
  StereoCamera *camera = r->calibration->camera;
  gdouble value;

  if (!length)
    return gst_stereo_reading_fail (r, 0, "Stereo.b");
  if (!gst_stereo_take_scalars (keys, prefix, &camera[0], r->message) ||
      !gst_stereo_take_lens (keys, prefix, &camera[0], r->message) ||
      !gst_stereo_keys_matrix (keys, length, 1, 1, &value, r->message) || !take_size (r))
    return FALSE;
  for (gint i = 0; i < STEREO_DISTORTION; i++)
    if (camera[0].distortion[i] != 0)
      return gst_stereo_keys_fail (keys, r->message,
          "these settings of ORB-SLAM have a distortion and one camera: of raw views LEFT.K LEFT.D LEFT.R LEFT.P and "
          "RIGHT.K … are needed, or Camera2.fx … and Stereo.T_c1_c2.");
  camera[1] = camera[0];
  /* Camera.bf is the baseline times the focal length */
  gst_stereo_take_rectified (
      r->calibration, (g_str_equal (length, "Camera.bf") ? value / camera[0].fx : value) * r->unit_mm);
  return TRUE;
}

/* ---- ZED ---- */

/* Sizes by their names in sections. */
static const struct
{
  const gchar *name;
  gint width, height;
} zed_modes[GST_STEREO_CALIBRATION_MODES] = { { "hd", 1280, 720 }, { "fhd", 1920, 1080 }, { "2k", 2208, 1242 },
  { "vga", 672, 376 }, { "fhd1200", 1920, 1200 }, { "svga", 960, 600 }, { "4k", 3840, 2160 },
  { "qhdplus", 3200, 1800 } };

/* A value of section stereo, for a size, or of all sizes. */
static gboolean
take_stereo (GstStereoReading *r, const gchar *name, const gchar *mode, gdouble *value)
{
  g_autofree gchar *of_all = g_strconcat ("stereo.", name, NULL), *of_mode = g_strconcat (of_all, "_", mode, NULL);

  return gst_stereo_take_number (r->keys[0], of_all, value, r->message) &&
      gst_stereo_take_number (r->keys[0], of_mode, value, r->message);
}

static gboolean
take_zed_camera (GstStereoReading *r, gint v, const gchar *mode, StereoCamera *camera)
{
  const gchar *side = v ? "right" : "left";
  g_autofree gchar *prefix = g_strdup_printf ("%s_cam_%s.", side, mode), *lens = g_strdup_printf ("%s_disto.", side);
  g_autofree gchar *p1 = g_strconcat (lens, "p1", NULL), *k4 = g_strconcat (lens, "k4", NULL);

  /* the newer files have one distortion for all sizes, and that of a fisheye lens has no p1 */
  if (gst_stereo_keys_has (r->keys[0], k4) && !gst_stereo_keys_has (r->keys[0], p1))
    camera->model = STEREO_LENS_EQUIDISTANT;
  return gst_stereo_take_scalars (r->keys[0], prefix, camera, r->message) &&
      gst_stereo_take_lens (r->keys[0], prefix, camera, r->message) &&
      gst_stereo_take_lens (r->keys[0], lens, camera, r->message);
}

/* The rotation is a vector whose y is called CV; lengths are millimetres. */
static gboolean
take_zed_mode (GstStereoReading *r, guint m, StereoCalibration *c)
{
  const gchar *mode = zed_modes[m].name;
  gdouble turn[3] = { 0 }, baseline = 0, *t = c->translation;

  c->width = zed_modes[m].width;
  c->height = zed_modes[m].height;
  if (!take_zed_camera (r, 0, mode, &c->camera[0]) || !take_zed_camera (r, 1, mode, &c->camera[1]) ||
      !take_stereo (r, "baseline", mode, &baseline) || !take_stereo (r, "ty", mode, &t[1]) ||
      !take_stereo (r, "tz", mode, &t[2]) || !take_stereo (r, "rx", mode, &turn[0]) ||
      !take_stereo (r, "ry", mode, &turn[1]) || !take_stereo (r, "cv", mode, &turn[1]) ||
      !take_stereo (r, "rz", mode, &turn[2]))
    return FALSE;
  t[0] = -baseline;
  for (gint i = 0; i < 3; i++)
    t[i] *= r->unit_mm;
  gst_stereo_pose_from_vector (turn, c->rotation);
  return c->has_pose = TRUE;
}

gboolean
gst_stereo_read_zed (GstStereoReading *r)
{
  GstStereoCalibration *out = r->out;

  out->count = 0;
  for (guint m = 0; m < G_N_ELEMENTS (zed_modes); m++) {
    gchar *mark = g_strdup_printf ("left_cam_%s.fx", zed_modes[m].name);
    gboolean has = gst_stereo_keys_has (r->keys[0], mark);
    g_free (mark);
    if (has && !take_zed_mode (r, m, &out->modes[out->count++]))
      return FALSE;
  }
  return out->count > 0 || gst_stereo_reading_fail (r, 0, "left_cam_hd.fx");
}
