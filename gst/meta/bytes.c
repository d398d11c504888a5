/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metadata as bytes, for sending and recording. A header of little-endian fields of 8 bytes: magic number, sides,
 * kind and flags, pair skew, the numbers in doubles[], health. After it the pictures in planes[], without padding; the
 * flags say which of them there is.
 */
#include "gst/meta/map.h"
#include "gst/meta/private.h"

#include <string.h>

#define MAGIC 0x34304d5453ull /* "STM04" */

enum
{
  AT_MAGIC,
  AT_SIZE,
  AT_KIND,
  AT_SKEW,
  AT_DOUBLES
};

/* In the order in which they are stored. */
static const gsize doubles[] = { G_STRUCT_OFFSET (GstStereoMeta, disparity_scale),
  G_STRUCT_OFFSET (GstStereoMeta, min_disparity), G_STRUCT_OFFSET (GstStereoMeta, num_disparities),
  G_STRUCT_OFFSET (GstStereoMeta, focal_length), G_STRUCT_OFFSET (GstStereoMeta, baseline),
  G_STRUCT_OFFSET (GstStereoMeta, principal_offset), G_STRUCT_OFFSET (GstStereoMeta, depth_unit),
  G_STRUCT_OFFSET (GstStereoMeta, valid_ratio), G_STRUCT_OFFSET (GstStereoMeta, mean_confidence),
  G_STRUCT_OFFSET (GstStereoMeta, principal_x), G_STRUCT_OFFSET (GstStereoMeta, principal_y),
  G_STRUCT_OFFSET (GstStereoMeta, focal_length_y) };

/* In the order in which they are stored. The flag of planes[i] is 1 << i. */
static const struct
{
  gsize offset;
  GstVideoFormat format;
  guint bytes; /* of a pixel */
} planes[] = { { G_STRUCT_OFFSET (GstStereoMeta, confidence), GST_VIDEO_FORMAT_GRAY8, 1 },
  { G_STRUCT_OFFSET (GstStereoMeta, truth), GST_VIDEO_FORMAT_GRAY16_LE, 2 },
  { G_STRUCT_OFFSET (GstStereoMeta, mask), GST_VIDEO_FORMAT_GRAY8, 1 } };

#define AT_HEALTH (AT_DOUBLES + G_N_ELEMENTS (doubles))
#define HEADER (8 * (AT_HEALTH + 1))

/* Size of the pictures that @flags name, in bytes. */
static guint64
size_of_planes (guint64 flags, guint64 pixels)
{
  guint64 size = 0;

  for (guint i = 0; i < G_N_ELEMENTS (planes); i++)
    if (flags & 1u << i)
      size += planes[i].bytes * pixels;
  return size;
}

static void
write_header (const GstStereoMeta *meta, guint64 flags, guint8 *data)
{
  GST_WRITE_UINT64_LE (data + 8 * AT_MAGIC, MAGIC);
  GST_WRITE_UINT64_LE (data + 8 * AT_SIZE, meta->width | (guint64) meta->height << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_KIND, (guint64) meta->kind | flags << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_SKEW, (guint64) meta->pair_skew);
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    GST_WRITE_DOUBLE_LE (data + 8 * (AT_DOUBLES + i), G_STRUCT_MEMBER (gdouble, meta, doubles[i]));
  GST_WRITE_UINT64_LE (data + 8 * AT_HEALTH, (guint64) meta->health);
}

/* A picture that cannot be read is left out. */
GBytes *
gst_stereo_meta_to_bytes (const GstStereoMeta *meta)
{
  GBytes *packed[G_N_ELEMENTS (planes)];
  gsize size = HEADER;
  guint64 flags = 0;

  g_return_val_if_fail (meta != NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (planes); i++) {
    packed[i] = gst_stereo_meta_pack_plane (
        G_STRUCT_MEMBER (GstBuffer *, meta, planes[i].offset), planes[i].format, meta->width, meta->height);
    if (!packed[i])
      continue;
    flags |= 1u << i;
    size += g_bytes_get_size (packed[i]);
  }
  guint8 *data = g_malloc (size);
  write_header (meta, flags, data);
  guint8 *to = data + HEADER;
  for (guint i = 0; i < G_N_ELEMENTS (planes); i++) {
    if (!packed[i])
      continue;
    memcpy (to, g_bytes_get_data (packed[i], NULL), g_bytes_get_size (packed[i]));
    to += g_bytes_get_size (packed[i]);
    g_bytes_unref (packed[i]);
  }
  return g_bytes_new_take (data, size);
}

gboolean
gst_stereo_meta_decode (GstStereoMeta *meta, const guint8 *data, gsize size)
{
  GstStereoMeta header;

  if (size < HEADER || GST_READ_UINT64_LE (data + 8 * AT_MAGIC) != MAGIC)
    return FALSE;
  memset (&header, 0, sizeof header);
  header.width = GST_READ_UINT32_LE (data + 8 * AT_SIZE);
  header.height = GST_READ_UINT32_LE (data + 8 * AT_SIZE + 4);
  header.kind = GST_READ_UINT32_LE (data + 8 * AT_KIND);
  header.pair_skew = (gint64) GST_READ_UINT64_LE (data + 8 * AT_SKEW);
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    G_STRUCT_MEMBER (gdouble, &header, doubles[i]) = GST_READ_DOUBLE_LE (data + 8 * (AT_DOUBLES + i));
  header.health = (GstStereoHealthFlags) GST_READ_UINT64_LE (data + 8 * AT_HEALTH);
  g_autofree gchar *problem = gst_stereo_meta_problem (&header);
  guint flags = GST_READ_UINT32_LE (data + 8 * AT_KIND + 4);
  /* flags of health that this version does not know are kept; there are no more than 32 */
  if (problem || flags >> G_N_ELEMENTS (planes) || GST_READ_UINT64_LE (data + 8 * AT_HEALTH) > G_MAXUINT32 ||
      size != HEADER + size_of_planes (flags, (guint64) header.width * header.height))
    return FALSE;
  *meta = header;
  data += HEADER;
  for (guint i = 0; i < G_N_ELEMENTS (planes); i++) {
    if (!(flags & 1u << i))
      continue;
    G_STRUCT_MEMBER (GstBuffer *, meta, planes[i].offset) = gst_stereo_meta_unpack_plane (
        data, planes[i].format, header.width, header.height);
    data += planes[i].bytes * (gsize) header.width * header.height;
  }
  return TRUE;
}

/* ---- the pictures: one plane each, rows padded or not ------------------------------------- */

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
