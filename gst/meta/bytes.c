/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metadata as bytes, for sending and recording. A header of little-endian fields of 8 bytes: magic number, sides,
 * kind and flags, pair skew, then the numbers in doubles[]. After it the confidence, then the true disparity, both
 * without padding; the flags say which of them there is.
 */
#include "gst/meta/private.h"

#include <math.h>
#include <string.h>

#define MAGIC 0x31304d5453ull /* "STM01" */
#define HAS_CONFIDENCE 1u
#define HAS_TRUTH 2u
#define MAX_SIDE 65536u

enum
{
  AT_MAGIC,
  AT_SIZE,
  AT_KIND,
  AT_SKEW,
  AT_DOUBLES
};

/* In the order in which they are stored. The first one, disparity_scale, has to be above 0. */
static const gsize doubles[] = { G_STRUCT_OFFSET (GstStereoMeta, disparity_scale),
  G_STRUCT_OFFSET (GstStereoMeta, min_disparity), G_STRUCT_OFFSET (GstStereoMeta, num_disparities),
  G_STRUCT_OFFSET (GstStereoMeta, focal_length), G_STRUCT_OFFSET (GstStereoMeta, baseline),
  G_STRUCT_OFFSET (GstStereoMeta, principal_offset), G_STRUCT_OFFSET (GstStereoMeta, depth_unit),
  G_STRUCT_OFFSET (GstStereoMeta, valid_ratio), G_STRUCT_OFFSET (GstStereoMeta, mean_confidence) };

#define HEADER (8 * (AT_DOUBLES + G_N_ELEMENTS (doubles)))

GBytes *
gst_stereo_meta_to_bytes (const GstStereoMeta *meta)
{
  gsize pixels, size;
  guint64 flags;
  guint8 *data;

  g_return_val_if_fail (meta != NULL, NULL);
  pixels = (gsize) meta->width * meta->height;
  size = HEADER + (meta->confidence ? pixels : 0) + (meta->truth ? 2 * pixels : 0);
  data = g_malloc0 (size);
  flags = (meta->confidence ? HAS_CONFIDENCE : 0) | (meta->truth ? HAS_TRUTH : 0);
  GST_WRITE_UINT64_LE (data + 8 * AT_MAGIC, MAGIC);
  GST_WRITE_UINT64_LE (data + 8 * AT_SIZE, meta->width | (guint64) meta->height << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_KIND, (guint64) meta->kind | flags << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_SKEW, (guint64) meta->pair_skew);
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    GST_WRITE_DOUBLE_LE (data + 8 * (AT_DOUBLES + i), G_STRUCT_MEMBER (gdouble, meta, doubles[i]));
  if (meta->confidence)
    gst_stereo_meta_pack_plane (meta->confidence, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height, data + HEADER);
  if (meta->truth)
    gst_stereo_meta_pack_plane (
        meta->truth, GST_VIDEO_FORMAT_GRAY16_LE, meta->width, meta->height, data + size - 2 * pixels);
  return g_bytes_new_take (data, size);
}

/* Whether the header is complete, of a known kind and plausible, and whether its sizes add up to @size. */
static gboolean
check (const guint8 *data, gsize size, guint *width, guint *height, guint *flags)
{
  guint64 pixels;

  if (size < HEADER || GST_READ_UINT64_LE (data) != MAGIC)
    return FALSE;
  *width = GST_READ_UINT32_LE (data + 8 * AT_SIZE);
  *height = GST_READ_UINT32_LE (data + 8 * AT_SIZE + 4);
  *flags = GST_READ_UINT32_LE (data + 8 * AT_KIND + 4);
  if (*width < 1 || *height < 1 || *width > MAX_SIDE || *height > MAX_SIDE ||
      GST_READ_UINT32_LE (data + 8 * AT_KIND) > GST_STEREO_OUTPUT_KIND_VIEWS || *flags & ~(HAS_CONFIDENCE | HAS_TRUTH))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    if (!isfinite (GST_READ_DOUBLE_LE (data + 8 * (AT_DOUBLES + i))))
      return FALSE;
  if (!(GST_READ_DOUBLE_LE (data + 8 * AT_DOUBLES) > 0))
    return FALSE;
  pixels = (guint64) *width * *height;
  return size == HEADER + (*flags & HAS_CONFIDENCE ? pixels : 0) + (*flags & HAS_TRUTH ? 2 * pixels : 0);
}

gboolean
gst_stereo_meta_decode (GstStereoMeta *meta, const guint8 *data, gsize size)
{
  guint width, height, flags;

  if (!check (data, size, &width, &height, &flags))
    return FALSE;
  memset (meta, 0, sizeof *meta);
  meta->width = width;
  meta->height = height;
  meta->kind = GST_READ_UINT32_LE (data + 8 * AT_KIND);
  meta->pair_skew = (gint64) GST_READ_UINT64_LE (data + 8 * AT_SKEW);
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    G_STRUCT_MEMBER (gdouble, meta, doubles[i]) = GST_READ_DOUBLE_LE (data + 8 * (AT_DOUBLES + i));
  if (flags & HAS_CONFIDENCE)
    meta->confidence = gst_stereo_meta_unpack_plane (data + HEADER, GST_VIDEO_FORMAT_GRAY8, width, height);
  if (flags & HAS_TRUTH)
    meta->truth = gst_stereo_meta_unpack_plane (
        data + size - 2 * (gsize) width * height, GST_VIDEO_FORMAT_GRAY16_LE, width, height);
  return TRUE;
}
