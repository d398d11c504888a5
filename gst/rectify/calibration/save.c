/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a calibration and its rectification as OpenCV's FileStorage does: YAML with M1 D1 M2 D2 R T R1 R2 P1 P2 Q. */
#include "gst/rectify/calibration/calibration.h"

#include <string.h>

#include "gst/video/file.h"

#define FISHEYE_LENS 4 /* values of an equidistant lens */
#define SHORT_LENS 5   /* values of plumb_bob; more only where they say something */

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

static void
append_camera (GString *text, const gchar *matrix, const gchar *distortion, const StereoCamera *camera)
{
  const gdouble m[9] = { camera->fx, 0, camera->cx, 0, camera->fy, camera->cy, 0, 0, 1 };
  gint lens = SHORT_LENS;

  for (gint i = SHORT_LENS; i < STEREO_DISTORTION; i++)
    if (camera->distortion[i] != 0)
      lens = STEREO_DISTORTION;
  if (camera->model == STEREO_LENS_EQUIDISTANT)
    lens = FISHEYE_LENS;
  append_matrix (text, matrix, 3, 3, m);
  append_matrix (text, distortion, 1, lens, camera->distortion);
}

/* (x, y, disparity, 1) times Q is a point, in millimetres, of the left rectified view. */
static void
append_q (GString *text, const StereoRectification *r)
{
  const gdouble *p = r->projection[0];
  const gdouble q[16] = { 1, 0, 0, -p[2], 0, 1, 0, -p[6], 0, 0, 0, r->focal_length, 0, 0, 1 / r->baseline,
    r->principal_offset / r->baseline };

  append_matrix (text, "Q", 4, 4, q);
}

gchar *
gst_stereo_calibration_write (const StereoCalibration *calibration, const StereoRectification *rectification)
{
  GString *text = g_string_new ("%YAML:1.0\n---\n");

  g_string_append (
      text, "# Lengths are millimetres. M1 D1 M2 D2 are the raw cameras; R1 R2 P1 P2 rectify their views.\n");
  g_string_append_printf (text, "image_width: %d\nimage_height: %d\nrectified_width: %d\nrectified_height: %d\n",
      calibration->width, calibration->height, rectification->width, rectification->height);
  if (calibration->camera[0].model == STEREO_LENS_EQUIDISTANT)
    g_string_append (text, "distortion_model: equidistant\n");
  append_camera (text, "M1", "D1", &calibration->camera[0]);
  append_camera (text, "M2", "D2", &calibration->camera[1]);
  if (calibration->has_pose) {
    append_matrix (text, "R", 3, 3, calibration->rotation);
    append_matrix (text, "T", 3, 1, calibration->translation);
  }
  append_matrix (text, "R1", 3, 3, rectification->rectifying[0]);
  append_matrix (text, "R2", 3, 3, rectification->rectifying[1]);
  append_matrix (text, "P1", 3, 4, rectification->projection[0]);
  append_matrix (text, "P2", 3, 4, rectification->projection[1]);
  append_q (text, rectification);
  return g_string_free (text, FALSE);
}

gboolean
gst_stereo_calibration_save (const StereoCalibration *calibration, const StereoRectification *rectification,
    const gchar *location, gchar **message)
{
  static const GstStereoFileRules rules = { .property = "save",
    .instead = "a file in a folder that can be written to, or leave it unset" };
  g_autofree gchar *text = gst_stereo_calibration_write (calibration, rectification);

  return gst_stereo_file_write (&rules, location, text, strlen (text), message);
}
