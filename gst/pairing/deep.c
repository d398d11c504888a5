/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views with more than 8 bits a sample: machine vision, thermal cameras, video of 10 bits. The elements read 8 bits of luma. These are
 * taken from where the picture has its contrast: a camera of 12 bits in samples of 16 uses a sixteenth of their range, of which
 * videoconvert would keep 4 bits.
 */
#include "gst/pairing/private.h"

#define MOST_BITS 16
#define LEAST_BITS 8
#define LOOKED_AT 4 /* one of so many rows is looked at for the samples that it has */
#define LEVEL 16    /* samples are counted in steps of this */
#define LEVELS ((1 << MOST_BITS) / LEVEL)
#define RARE 500 /* of so many samples one may be that of a dead pixel */

/* How samples become luma: without @offset, the upper 8 of @bits. */
typedef struct
{
  guint offset, bits;
} Scale;

void
gst_stereo_deep_start (GstStereoDeep *deep)
{
  deep->found = LEAST_BITS;
  deep->lowest = G_MAXUINT16;
  deep->highest = 0;
}

/* ---- samples ------------------------------------------------------------------------------ */

/* Whether the samples of this format may use fewer bits than they have. */
static gboolean
is_gray16 (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE ||
      GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_BE;
}

/* GStreamer unpacks such a format to AYUV64: the samples of others fill 16 bits then. */
static gboolean
is_deep (const GstVideoInfo *info)
{
  return !GST_VIDEO_INFO_IS_RGB (info) && GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8 &&
      info->finfo->unpack_format == GST_VIDEO_FORMAT_AYUV64;
}

/* Row @y, from luma on; the samples of a row are four apart. */
static const guint16 *
unpack_row (GstStereoDeep *deep, const GstVideoFrame *frame, gint y)
{
  frame->info.finfo->unpack_func (frame->info.finfo, GST_VIDEO_PACK_FLAG_NONE, deep->row, frame->data,
      frame->info.stride, 0, y, GST_VIDEO_FRAME_WIDTH (frame));
  return deep->row + 1;
}

static void
look_at (GstStereoDeep *deep, const GstVideoFrame *frame)
{
  guint counts[LEVELS] = { 0 }, all = 0, rare = 0, lowest = 0, highest = LEVELS - 1;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y += LOOKED_AT, rare += (guint) GST_VIDEO_FRAME_WIDTH (frame)) {
    const guint16 *row = unpack_row (deep, frame, y);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++) {
      all |= row[4 * x];
      counts[row[4 * x] / LEVEL]++;
    }
  }
  rare /= RARE;
  /* the levels that no more than these lie beyond */
  for (guint seen = counts[lowest]; seen <= rare; seen += counts[lowest])
    lowest++;
  for (guint seen = counts[highest]; seen <= rare; seen += counts[highest])
    highest--;
  deep->found = MAX (deep->found, g_bit_storage (all));
  deep->lowest = MIN (deep->lowest, LEVEL * lowest);
  deep->highest = MAX (deep->highest, LEVEL * highest + LEVEL - 1);
}

/* ---- frames ------------------------------------------------------------------------------- */

/* @frame, mapped, in 8 bits of luma. */
static GstStereoFrame *
convert (GstStereoDeep *deep, const GstStereoFrame *frame, const GstVideoFrame *mapped, Scale scale)
{
  const gint offset = (gint) scale.offset, shift = (gint) MAX (scale.bits, LEAST_BITS) - LEAST_BITS;
  GstStereoFrame *converted = g_new (GstStereoFrame, 1);
  const GstVideoInfo *info = &frame->info;
  GstVideoInfo *luma = &converted->info;
  GstMapInfo map;

  *converted = *frame;
  converted->references = 1;
  gst_video_info_set_format (
      luma, GST_VIDEO_FORMAT_GRAY8, (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info));
  luma->par_n = info->par_n;
  luma->par_d = info->par_d;
  luma->fps_n = info->fps_n;
  luma->fps_d = info->fps_d;
  luma->views = info->views;
  GST_VIDEO_INFO_MULTIVIEW_MODE (luma) = GST_VIDEO_INFO_MULTIVIEW_MODE (info);
  GST_VIDEO_INFO_MULTIVIEW_FLAGS (luma) = GST_VIDEO_INFO_MULTIVIEW_FLAGS (info);
  converted->buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (luma), NULL);
  gst_buffer_map (converted->buffer, &map, GST_MAP_WRITE);
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (luma); y++) {
    guint8 *to = map.data + y * GST_VIDEO_INFO_PLANE_STRIDE (luma, 0);
    const guint16 *row = unpack_row (deep, mapped, y);
    for (gint x = 0; x < GST_VIDEO_INFO_WIDTH (luma); x++)
      to[x] = (guint8) MIN (MAX (row[4 * x] - offset, 0) >> shift, 255);
  }
  gst_buffer_unmap (converted->buffer, &map);
  gst_buffer_copy_into (
      converted->buffer, frame->buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (converted->buffer, frame->buffer, TRUE, TRUE);
  return converted;
}

/* One scale for the GRAY16 samples of both views, so that these stay comparable. A view of 8 bits has no frame. */
static Scale
find_scale (GstStereoAggregator *self, const GstVideoFrame mapped[2])
{
  GstStereoDeep *deep = &self->priv->deep;

  GST_OBJECT_LOCK (self);
  guint bits = (guint) deep->bits;
  GST_OBJECT_UNLOCK (self);
  if (bits)
    return (Scale){ 0, bits };
  for (guint i = 0; i < 2; i++)
    if (mapped[i].buffer && is_gray16 (&mapped[i].info))
      look_at (deep, &mapped[i]);
  if (deep->lowest <= deep->highest / 2)
    return (Scale){ 0, deep->found };
  return (Scale){ deep->lowest, g_bit_storage (deep->highest - deep->lowest) };
}

gboolean
gst_stereo_deep_convert (GstStereoAggregator *self, GstStereoFrame *view[2])
{
  const guint count = view[0] == view[1] ? 1 : 2;
  GstStereoDeep *deep = &self->priv->deep;
  GstVideoFrame mapped[2] = { 0 };
  gboolean readable = TRUE;

  for (guint i = 0; readable && i < count; i++) {
    gsize bytes = 4 * sizeof *deep->row * (gsize) GST_VIDEO_INFO_WIDTH (&view[i]->info);
    if (!is_deep (&view[i]->info))
      continue;
    readable = gst_stereo_map_input (GST_ELEMENT (self), &mapped[i], view[i], NULL);
    if (!readable)
      mapped[i].buffer = NULL;
    if (bytes > deep->row_bytes)
      deep->row = g_realloc (deep->row, deep->row_bytes = bytes);
  }
  const Scale whole = { 0, MOST_BITS }, scale = readable ? find_scale (self, mapped) : whole;
  for (guint i = 0; i < count; i++) {
    const gboolean deeper = mapped[i].buffer != NULL;
    if (readable && deeper)
      view[i] = convert (deep, view[i], &mapped[i], is_gray16 (&mapped[i].info) ? scale : whole);
    else if (readable)
      gst_stereo_frame_ref (view[i]);
    if (deeper)
      gst_video_frame_unmap (&mapped[i]);
  }
  if (readable && count == 1)
    view[1] = gst_stereo_frame_ref (view[0]);
  return readable;
}
