/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views with more than 8 bits a sample: machine vision, thermal cameras, video of 10 bits. The elements read 8 bits of luma. These are
 * taken from where the picture has its contrast: a camera of 12 bits in samples of 16 uses a sixteenth of their range, of which
 * videoconvert would keep 4 bits.
 */
#include "gst/pairing/private.h"

#define LEAST_BITS 8
#define LOOKED_AT 4 /* one of so many rows is looked at for the samples that it has */
#define LEVEL 16    /* samples are counted in steps of this */
#define LEVELS ((1 << GST_STEREO_MOST_BITS) / LEVEL)
#define RARE 500 /* of so many samples one may be that of a dead pixel */

/* Whether the samples of this format may use fewer bits than they have. */
static gboolean
is_gray16 (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE ||
      GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_BE;
}

/* Row @y, from luma on; the samples of a row are four apart. @row has room for them. Samples of other formats than GRAY16 are
 * unpacked to 16 bits. */
static const guint16 *
unpack_row (const GstVideoFrame *frame, gint y, guint16 *row)
{
  frame->info.finfo->unpack_func (frame->info.finfo, GST_VIDEO_PACK_FLAG_NONE, row, frame->data, frame->info.stride, 0,
      y, GST_VIDEO_FRAME_WIDTH (frame));
  return row + 1;
}

static void
look_at (GstStereoDeep *deep, const GstVideoFrame *frame, guint16 *unpacked)
{
  guint counts[LEVELS] = { 0 }, rare = 0, lowest = 0, highest = LEVELS - 1;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y += LOOKED_AT, rare += (guint) GST_VIDEO_FRAME_WIDTH (frame)) {
    const guint16 *row = unpack_row (frame, y, unpacked);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++)
      counts[row[4 * x] / LEVEL]++;
  }
  rare /= RARE;
  /* the levels that no more than these lie beyond */
  for (guint seen = counts[lowest]; seen <= rare; seen += counts[lowest])
    lowest++;
  for (guint seen = counts[highest]; seen <= rare; seen += counts[highest])
    highest--;
  deep->lowest = MIN (deep->lowest, LEVEL * lowest);
  deep->highest = MAX (deep->highest, LEVEL * highest + LEVEL - 1);
}

/* @frame, which is unmapped, becomes one of GRAY8: the upper 8 of @bits of its samples less @offset. */
static void
convert (GstStereoFrame *frame, GstVideoFrame *mapped, gint offset, guint bits, guint16 *unpacked)
{
  const gint width = GST_VIDEO_INFO_WIDTH (&frame->info), shift = (gint) MAX (bits, LEAST_BITS) - LEAST_BITS;
  GstVideoInfo *info = &frame->info;
  GstMapInfo map;

  info->finfo = gst_video_format_get_info (GST_VIDEO_FORMAT_GRAY8);
  info->stride[0] = GST_ROUND_UP_4 (width);
  info->offset[0] = 0;
  info->size = (gsize) info->stride[0] * (gsize) GST_VIDEO_INFO_HEIGHT (info);
  GstBuffer *luma = gst_buffer_new_allocate (NULL, info->size, NULL);
  gst_buffer_map (luma, &map, GST_MAP_WRITE);
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++) {
    guint8 *to = map.data + y * info->stride[0];
    const guint16 *row = unpack_row (mapped, y, unpacked);
    for (gint x = 0; x < width; x++)
      to[x] = (guint8) MIN (MAX (row[4 * x] - offset, 0) >> shift, 255);
  }
  gst_buffer_unmap (luma, &map);
  gst_video_frame_unmap (mapped);
  gst_buffer_copy_into (luma, frame->buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (luma, frame->buffer, TRUE, TRUE);
  gst_buffer_unref (frame->buffer);
  frame->buffer = luma;
}

gboolean
gst_stereo_deep_convert (GstStereoAggregator *self, GstStereoFrame *const view[2])
{
  GstStereoDeep *deep = &self->priv->deep;
  GstVideoFrame mapped[2] = { 0 };
  guint16 *rows[2] = { NULL };
  gboolean readable = TRUE;

  GST_OBJECT_LOCK (self);
  guint bits = (guint) deep->bits;
  GST_OBJECT_UNLOCK (self);
  for (guint v = 0; v < 2 && readable && (v == 0 || view[1] != view[0]); v++) {
    const GstVideoInfo *info = &view[v]->info;
    /* GStreamer unpacks such a format to AYUV64 */
    if (GST_VIDEO_INFO_IS_RGB (info) || GST_VIDEO_INFO_COMP_DEPTH (info, 0) <= 8 ||
        info->finfo->unpack_format != GST_VIDEO_FORMAT_AYUV64 ||
        !(readable = gst_stereo_map_input (GST_ELEMENT (self), &mapped[v], view[v], NULL)))
      continue;
    rows[v] = g_new (guint16, 4 * (gsize) GST_VIDEO_INFO_WIDTH (info));
    if (!bits && is_gray16 (info))
      look_at (deep, &mapped[v], rows[v]);
  }
  /* one scale for the GRAY16 samples of both views, so that these stay comparable */
  gboolean far_from_0 = !bits && deep->lowest > deep->highest / 2;
  guint offset = far_from_0 ? deep->lowest : 0;
  for (guint v = 0; v < 2; v++) {
    if (!rows[v])
      continue;
    if (readable && is_gray16 (&mapped[v].info))
      convert (view[v], &mapped[v], (gint) offset, bits ? bits : g_bit_storage (deep->highest - offset), rows[v]);
    else if (readable)
      convert (view[v], &mapped[v], 0, GST_STEREO_MOST_BITS, rows[v]);
    else
      gst_video_frame_unmap (&mapped[v]);
    g_free (rows[v]);
  }
  return readable;
}
