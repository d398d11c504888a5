/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures inside the metadata: one plane each, rows padded or not. */
#include "gst/meta/map.h"
#include "gst/meta/private.h"

#include <string.h>

/* NULL when the picture is larger than GStreamer allows, or there is no memory for it. */
static GstBuffer *
new_plane (GstVideoFormat format, guint width, guint height)
{
  GstVideoInfo info;

  if (!gst_video_info_set_format (&info, format, width, height))
    return NULL;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  if (!buffer)
    return NULL;
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height);
  return buffer;
}

GstBuffer *
gst_stereo_meta_scale_plane (
    GstBuffer *plane, GstVideoFormat format, guint width, guint height, guint new_width, guint new_height)
{
  GstVideoFrame in, out;

  if (!gst_stereo_map_plane (&in, plane, format, width, height, GST_MAP_READ))
    return NULL;
  GstBuffer *scaled = new_plane (format, new_width, new_height);
  if (!scaled || !gst_stereo_map_plane (&out, scaled, format, new_width, new_height, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&in);
    gst_clear_buffer (&scaled);
    return NULL;
  }
  guint bytes = GST_VIDEO_FRAME_COMP_PSTRIDE (&in, 0);
  for (guint y = 0; y < new_height; y++) {
    guint from_y = (guint) (((guint64) y * 2 + 1) * height / (2 * (guint64) new_height));
    const guint8 *from = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&in, 0) +
        (gssize) from_y * GST_VIDEO_FRAME_PLANE_STRIDE (&in, 0);
    guint8 *to = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&out, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&out, 0);
    for (guint x = 0; x < new_width; x++) {
      guint from_x = (guint) (((guint64) x * 2 + 1) * width / (2 * (guint64) new_width));
      memcpy (to + (gsize) x * bytes, from + (gsize) from_x * bytes, bytes);
    }
  }
  gst_video_frame_unmap (&out);
  gst_video_frame_unmap (&in);
  return scaled;
}

gboolean
gst_stereo_meta_multiply_plane (GstBuffer *plane, guint width, guint height, gdouble factor)
{
  GstVideoFrame frame;

  if (!gst_stereo_map_plane (&frame, plane, GST_VIDEO_FORMAT_GRAY16_LE, width, height, GST_MAP_READWRITE))
    return FALSE;
  for (guint y = 0; y < height; y++) {
    guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    for (guint x = 0; x < width; x++) {
      guint value = GST_READ_UINT16_LE (row + 2 * (gsize) x);
      if (value)
        GST_WRITE_UINT16_LE (row + 2 * (gsize) x, (guint16) CLAMP (value * factor + 0.5, 1, G_MAXUINT16));
    }
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}

GBytes *
gst_stereo_meta_pack_plane (GstBuffer *plane, GstVideoFormat format, guint width, guint height)
{
  GstVideoFrame frame;

  /* before anything is allocated: mapping refuses a size that the memory does not have */
  if (!plane || !gst_stereo_map_plane (&frame, plane, format, width, height, GST_MAP_READ))
    return NULL;
  gsize row = (gsize) width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  guint8 *packed = g_try_malloc (row * height);
  for (guint y = 0; packed && y < height; y++)
    memcpy (packed + y * row,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), row);
  gst_video_frame_unmap (&frame);
  return packed ? g_bytes_new_take (packed, row * height) : NULL;
}

GstBuffer *
gst_stereo_meta_unpack_plane (const guint8 *from, GstVideoFormat format, guint width, guint height)
{
  GstBuffer *plane = new_plane (format, width, height);
  GstVideoFrame frame;

  if (!plane || !gst_stereo_map_plane (&frame, plane, format, width, height, GST_MAP_WRITE)) {
    gst_clear_buffer (&plane);
    return NULL;
  }
  gsize row = (gsize) width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  for (guint y = 0; y < height; y++)
    memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        from + y * row, row);
  gst_video_frame_unmap (&frame);
  return plane;
}
