/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/deep.h"

#include "gst/pairing/debug.h"
#include "gst/video/metas.h"

#define MOST_BITS 16
#define LEAST_BITS 8
#define LOOKED_AT 4 /* one of so many rows is looked at for its largest sample */

struct _GstStereoDeep
{
  GstElement *element;
  gint bits; /* the property; protected by the element's object lock */

  /* of the source pad's task */
  guint found;  /* bits of the largest sample so far */
  guint16 *row; /* unpacked: four samples a pixel, of which the second is luma */
  gsize row_bytes;
};

const GstStereoProperty gst_stereo_deep_properties[] = {
  { .name = "significant-bits",
      .kind = GST_STEREO_INT,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoDeep, bits),
      .max = MOST_BITS,
      .blurb = "Bits of a GRAY16 sample that the camera uses, from the lowest one on; the upper 8 of them "
               "are read (fewer than 8 count as 8). 0 = as many as the largest sample so far needs" },
  { .name = NULL },
};

GstStereoDeep *
gst_stereo_deep_new (GstElement *element)
{
  GstStereoDeep *deep = g_new0 (GstStereoDeep, 1);

  deep->element = element;
  return deep;
}

void
gst_stereo_deep_free (GstStereoDeep *deep)
{
  g_free (deep->row);
  g_free (deep);
}

void
gst_stereo_deep_start (GstStereoDeep *deep)
{
  deep->found = LEAST_BITS;
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
find_bits (GstStereoDeep *deep, const GstVideoFrame *frame)
{
  guint16 all = 0;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y += LOOKED_AT) {
    const guint16 *row = unpack_row (deep, frame, y);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++)
      all |= row[4 * x];
  }
  if (g_bit_storage (all) > deep->found) {
    deep->found = g_bit_storage (all);
    GST_INFO_OBJECT (deep->element, "samples use %u bits", deep->found);
  }
}

static void
convert_rows (GstStereoDeep *deep, const GstVideoFrame *from, guint bits, guint8 *to, gint stride)
{
  const guint shift = MAX (bits, LEAST_BITS) - LEAST_BITS;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (from); y++, to += stride) {
    const guint16 *row = unpack_row (deep, from, y);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (from); x++)
      to[x] = (guint8) MIN (row[4 * x] >> shift, 255);
  }
}

/* ---- frames ------------------------------------------------------------------------------- */

/* The caps of @info in 8 bits of luma. */
static GstVideoInfo
info_of_luma (const GstVideoInfo *info)
{
  GstVideoInfo luma;

  gst_video_info_set_format (
      &luma, GST_VIDEO_FORMAT_GRAY8, (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info));
  luma.par_n = info->par_n;
  luma.par_d = info->par_d;
  luma.fps_n = info->fps_n;
  luma.fps_d = info->fps_d;
  luma.views = info->views;
  GST_VIDEO_INFO_MULTIVIEW_MODE (&luma) = GST_VIDEO_INFO_MULTIVIEW_MODE (info);
  GST_VIDEO_INFO_MULTIVIEW_FLAGS (&luma) = GST_VIDEO_INFO_MULTIVIEW_FLAGS (info);
  return luma;
}

static GstStereoFrame *
convert (GstStereoDeep *deep, const GstStereoFrame *frame, const GstVideoFrame *mapped, guint bits)
{
  GstVideoInfo info = info_of_luma (&frame->info);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  GstStereoFrame *converted;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  convert_rows (deep, mapped, bits, map.data, GST_VIDEO_INFO_PLANE_STRIDE (&info, 0));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_copy_into (buffer, frame->buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (buffer, frame->buffer, TRUE, TRUE);
  converted = g_new (GstStereoFrame, 1);
  *converted = *frame;
  converted->references = 1;
  converted->buffer = buffer;
  converted->info = info;
  return converted;
}

static void
reserve_row (GstStereoDeep *deep, const GstVideoInfo *info)
{
  gsize bytes = 4 * sizeof *deep->row * (gsize) GST_VIDEO_INFO_WIDTH (info);

  if (bytes > deep->row_bytes) {
    deep->row = g_realloc (deep->row, bytes);
    deep->row_bytes = bytes;
  }
}

/* Of the samples of both views, so that these stay comparable: as many as the property says, or as the largest GRAY16 sample needs. A
 * view of 8 bits has no frame. */
static guint
bits_of (GstStereoDeep *deep, const GstVideoFrame mapped[2])
{
  gint bits;

  GST_OBJECT_LOCK (deep->element);
  bits = deep->bits;
  GST_OBJECT_UNLOCK (deep->element);
  for (guint i = 0; !bits && i < 2; i++)
    if (mapped[i].buffer && is_gray16 (&mapped[i].info))
      find_bits (deep, &mapped[i]);
  return bits ? (guint) bits : deep->found;
}

/* The first @count frames of @view. FALSE after an error was posted. */
static gboolean
convert_views (GstStereoDeep *deep, GstStereoFrame *const view[2], guint count, GstStereoFrame *converted[2])
{
  GstVideoFrame mapped[2] = { 0 };
  gboolean readable = TRUE;
  guint bits;

  for (guint i = 0; readable && i < count; i++) {
    if (!is_deep (&view[i]->info))
      continue;
    readable = gst_stereo_map_input (deep->element, &mapped[i], view[i], NULL);
    if (!readable)
      mapped[i].buffer = NULL;
    reserve_row (deep, &view[i]->info);
  }
  bits = readable ? bits_of (deep, mapped) : 0;
  for (guint i = 0; readable && i < count; i++) {
    if (!mapped[i].buffer)
      converted[i] = gst_stereo_frame_ref (view[i]);
    else
      converted[i] = convert (deep, view[i], &mapped[i], is_gray16 (&mapped[i].info) ? bits : MOST_BITS);
  }
  for (guint i = 0; i < count; i++)
    if (mapped[i].buffer)
      gst_video_frame_unmap (&mapped[i]);
  return readable;
}

gboolean
gst_stereo_deep_convert (GstStereoDeep *deep, GstStereoFrame *view[2])
{
  guint count = view[0] == view[1] ? 1 : 2;
  GstStereoFrame *converted[2];

  if (!convert_views (deep, view, count, converted))
    return FALSE;
  view[0] = converted[0];
  view[1] = count == 1 ? gst_stereo_frame_ref (converted[0]) : converted[1];
  return TRUE;
}
