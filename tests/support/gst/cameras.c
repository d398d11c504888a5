/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/cameras.h"

#include <glib/gstdio.h>
#include <math.h>

Cameras
cameras_straight (gint width, gint height)
{
  gdouble cx = (width - 1) / 2.0, cy = (height - 1) / 2.0;

  return (Cameras){ width, height, 40, cx, cy, { 0, 0 }, 40, { cx, cx }, cy, 120 };
}

static void
append_matrix (GString *text, const gchar *name, guint rows, guint columns, const gdouble *values)
{
  g_string_append_printf (
      text, "%s: !!opencv-matrix\n   rows: %u\n   cols: %u\n   dt: d\n   data: [ ", name, rows, columns);
  for (guint i = 0; i < rows * columns; i++) {
    gchar number[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf (text, "%s%s", i ? ", " : "", g_ascii_dtostr (number, sizeof number, values[i]));
  }
  g_string_append (text, " ]\n");
}

static gchar *
describe (const Cameras *cameras)
{
  GString *text = g_string_new ("%YAML:1.0\n---\n");
  const gdouble camera[9] = { cameras->focal, 0, cameras->cx, 0, cameras->focal, cameras->cy, 0, 0, 1 };
  const gdouble none[5] = { 0 };

  if (cameras->width) {
    g_string_append_printf (text, "image_width: %d\nimage_height: %d\n", cameras->width, cameras->height);
  }
  for (guint v = 0; v < 2; v++) {
    gdouble c = cos (cameras->turn[v]), s = sin (cameras->turn[v]);
    const gdouble turn[9] = { c, -s, 0, s, c, 0, 0, 0, 1 };
    const gdouble projection[12] = { cameras->new_focal, 0, cameras->new_cx[v],
      v ? -cameras->new_focal * cameras->baseline : 0, 0,
      cameras->new_focal_y ? cameras->new_focal_y : cameras->new_focal, cameras->new_cy, 0, 0, 0, 1, 0 };
    append_matrix (text, v ? "M2" : "M1", 3, 3, camera);
    append_matrix (text, v ? "D2" : "D1", 1, 5, none);
    append_matrix (text, v ? "R2" : "R1", 3, 3, turn);
    append_matrix (text, v ? "P2" : "P1", 3, 4, projection);
  }
  return g_string_free (text, FALSE);
}

gchar *
calibration_new_text (const gchar *text)
{
  gchar *name = NULL;
  gint file = g_file_open_tmp ("rectify-XXXXXX.yml", &name, NULL);

  fail_unless (file >= 0);
  g_close (file, NULL);
  fail_unless (g_file_set_contents (name, text, -1, NULL));
  return name;
}

gchar *
calibration_new (const Cameras *cameras)
{
  gchar *text = describe (cameras), *name = calibration_new_text (text);

  g_free (text);
  return name;
}

void
calibration_write (const gchar *name, const Cameras *cameras)
{
  g_autofree gchar *text = describe (cameras);

  fail_unless (g_file_set_contents (name, text, -1, NULL));
}

void
calibration_free (gchar *name)
{
  g_unlink (name);
  g_free (name);
}

gchar *
with_calibration (const gchar *name, const gchar *more)
{
  const gchar *backend = g_getenv ("STEREO_TEST_BACKEND");

  return g_strdup_printf ("calibration=%s backend=%s %s", name, backend ? backend : "cpu", more);
}

Pair *
rectify_new (const gchar *calibration, const gchar *more)
{
  g_autofree gchar *properties = with_calibration (calibration, more);

  return pair_new_of ("stereorectify", properties);
}

GstBuffer *
noise_frame (const GstVideoInfo *info, guint seed, gint padding)
{
  GstBuffer *buffer = new_frame (info, padding);
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&frame); p++) {
    const GstVideoFormatInfo *format = info->finfo;
    gint rows = p ? GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (format, 1, info->height) : info->height;
    for (gint y = 0; y < rows; y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p) - padding; x++)
        ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame,
            p))[(gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p) + (gsize) x] = texture (seed + 17 * p, x, y);
  }
  gst_video_frame_unmap (&frame);
  return buffer;
}

guint
component_at (const GstVideoFrame *frame, guint c, gint x, gint y)
{
  return ((const guint8 *) GST_VIDEO_FRAME_COMP_DATA (
      frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c) + x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)];
}

gdouble
number_of (GstElement *element, const gchar *property)
{
  gdouble value;

  g_object_get (element, property, &value, NULL);
  return value;
}
