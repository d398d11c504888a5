/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/deep.h"

#include "gst/pairing/debug.h"
#include "gst/video/stream.h"

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

struct _GstStereoDeep
{
  GstElement *element;
  gint bits; /* the property; protected by the element's object lock */

  /* of the source pad's task */
  guint found;           /* bits of the largest sample so far */
  guint lowest, highest; /* of the samples so far, but for rare ones */
  guint16 *row;          /* unpacked: four samples a pixel, of which the second is luma */
  gsize row_bytes;
};

const GstStereoProperty gst_stereo_deep_properties[] = {
  { .name = "significant-bits",
      .kind = GST_STEREO_INT,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoDeep, bits),
      .max = MOST_BITS,
      .blurb = "Bits of a GRAY16 sample that the camera uses, from the lowest one on; the upper 8 of them "
               "are read (fewer than 8 count as 8). 0 = as many as the largest sample so far needs; where no sample is below half of it, as of "
               "thermal cameras, the lowest one is black" },
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

/* The level that no more than @rare samples lie beyond, from level @at on in steps of @by. */
static guint
find_level (const guint counts[LEVELS], guint rare, guint at, gint by)
{
  guint seen = counts[at];

  while (seen <= rare) {
    at += (guint) by;
    seen += counts[at];
  }
  return at;
}

static void
look_at (GstStereoDeep *deep, const GstVideoFrame *frame)
{
  guint counts[LEVELS] = { 0 }, all = 0, count = 0, lowest, highest;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y += LOOKED_AT, count += (guint) GST_VIDEO_FRAME_WIDTH (frame)) {
    const guint16 *row = unpack_row (deep, frame, y);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++) {
      all |= row[4 * x];
      counts[row[4 * x] / LEVEL]++;
    }
  }
  lowest = LEVEL * find_level (counts, count / RARE, 0, 1);
  highest = LEVEL * find_level (counts, count / RARE, LEVELS - 1, -1) + LEVEL - 1;
  if (g_bit_storage (all) > deep->found || lowest < deep->lowest || highest > deep->highest) {
    deep->found = MAX (deep->found, g_bit_storage (all));
    deep->lowest = MIN (deep->lowest, lowest);
    deep->highest = MAX (deep->highest, highest);
    GST_INFO_OBJECT (
        deep->element, "samples use %u bits, nearly all are %u to %u", deep->found, deep->lowest, deep->highest);
  }
}

static void
convert_rows (GstStereoDeep *deep, const GstVideoFrame *from, Scale scale, guint8 *to, gint stride)
{
  const gint offset = (gint) scale.offset, shift = (gint) MAX (scale.bits, LEAST_BITS) - LEAST_BITS;

  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (from); y++, to += stride) {
    const guint16 *row = unpack_row (deep, from, y);
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (from); x++)
      to[x] = (guint8) MIN (MAX (row[4 * x] - offset, 0) >> shift, 255);
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
convert (GstStereoDeep *deep, const GstStereoFrame *frame, const GstVideoFrame *mapped, Scale scale)
{
  GstVideoInfo info = info_of_luma (&frame->info);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  convert_rows (deep, mapped, scale, map.data, GST_VIDEO_INFO_PLANE_STRIDE (&info, 0));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_copy_into (buffer, frame->buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (buffer, frame->buffer, TRUE, TRUE);
  GstStereoFrame *converted = g_new (GstStereoFrame, 1);
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

/* One scale for the GRAY16 samples of both views, so that these stay comparable. A view of 8 bits has no frame. */
static Scale
find_scale (GstStereoDeep *deep, const GstVideoFrame mapped[2])
{
  gint bits;

  GST_OBJECT_LOCK (deep->element);
  bits = deep->bits;
  GST_OBJECT_UNLOCK (deep->element);
  if (bits)
    return (Scale){ 0, (guint) bits };
  for (guint i = 0; i < 2; i++)
    if (mapped[i].buffer && is_gray16 (&mapped[i].info))
      look_at (deep, &mapped[i]);
  if (deep->lowest <= deep->highest / 2)
    return (Scale){ 0, deep->found };
  return (Scale){ deep->lowest, g_bit_storage (deep->highest - deep->lowest) };
}

/* The first @count frames of @view. FALSE after an error was posted. */
static gboolean
convert_views (GstStereoDeep *deep, GstStereoFrame *const view[2], guint count, GstStereoFrame *converted[2])
{
  GstVideoFrame mapped[2] = { 0 };
  const Scale whole = { 0, MOST_BITS };
  gboolean readable = TRUE;
  Scale scale = whole;

  for (guint i = 0; readable && i < count; i++) {
    if (!is_deep (&view[i]->info))
      continue;
    readable = gst_stereo_map_input (deep->element, &mapped[i], view[i], NULL);
    if (!readable)
      mapped[i].buffer = NULL;
    reserve_row (deep, &view[i]->info);
  }
  if (readable)
    scale = find_scale (deep, mapped);
  for (guint i = 0; readable && i < count; i++) {
    if (!mapped[i].buffer)
      converted[i] = gst_stereo_frame_ref (view[i]);
    else
      converted[i] = convert (deep, view[i], &mapped[i], is_gray16 (&mapped[i].info) ? scale : whole);
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
