/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/paint.h"

#include <math.h>

#define COMPONENTS 4
#define LEVELS 256

struct _GstStereoPainter
{
  GstStereoRig *rig; /* while a frame is painted */
  GstStereoLayout layout;
  gint width, height;                                         /* of the frame */
  gboolean words;                                             /* a pixel is a word of four bytes */
  guint8 table[COMPONENTS][GST_STEREO_SCENE_LAYERS * LEVELS]; /* a component's sample, by layer and level */
  guint32 word[GST_STEREO_SCENE_LAYERS * LEVELS];
  guint8 *level, *layer; /* a row of the frame */
  guint8 *view[2][2];    /* a row of each view, where they alternate along x: level and layer */
};

/* Samples in 0..1, chroma -0.5..0.5, of a colour in 0..255. */
static void
samples_of (const GstVideoInfo *info, const gdouble rgb[3], gdouble sample[3])
{
  gdouble kr, kb, luma;

  for (guint c = 0; c < 3; c++)
    sample[c] = rgb[c] / 255;
  if (GST_VIDEO_INFO_IS_RGB (info))
    return;
  if (!gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  luma = kr * sample[0] + (1 - kr - kb) * sample[1] + kb * sample[2];
  sample[1] = (sample[2] - luma) / (2 * (1 - kb));
  sample[2] = (rgb[0] / 255 - luma) / (2 * (1 - kr));
  sample[0] = luma;
}

static void
make_tables (GstStereoPainter *painter, const GstStereoScene *scene, const GstVideoInfo *info)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble rgb[3], sample[3];

  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  for (guint i = 0; i < GST_STEREO_SCENE_LAYERS * LEVELS; i++) {
    guint8 bytes[4] = { 0xFF, 0xFF, 0xFF, 0xFF }; /* opaque, and unused bytes are defined */
    gst_stereo_scene_color (scene, i / LEVELS, i % LEVELS, rgb);
    if (GST_VIDEO_INFO_IS_GRAY (info))
      rgb[0] = rgb[1] = rgb[2] = i % LEVELS;
    samples_of (info, rgb, sample);
    for (guint c = 0; c < COMPONENTS; c++) {
      gint value = c < 3 ? (gint) rint (offset[c] + sample[c] * scale[c]) : 255;
      painter->table[c][i] = (guint8) CLAMP (value, 0, 255);
      if (painter->words && c < GST_VIDEO_INFO_N_COMPONENTS (info))
        bytes[GST_VIDEO_INFO_COMP_POFFSET (info, c)] = painter->table[c][i];
    }
    memcpy (&painter->word[i], bytes, 4);
  }
}

GstStereoPainter *
gst_stereo_painter_new (const GstStereoScene *scene, const GstVideoInfo *info, const GstStereoLayout *layout)
{
  GstStereoPainter *painter = g_new0 (GstStereoPainter, 1);
  gsize width = (gsize) GST_VIDEO_INFO_WIDTH (info);

  painter->layout = *layout;
  painter->width = GST_VIDEO_INFO_WIDTH (info);
  painter->height = GST_VIDEO_INFO_HEIGHT (info);
  painter->words = GST_VIDEO_INFO_N_PLANES (info) == 1 && GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) == 4 &&
      GST_VIDEO_INFO_COMP_PSTRIDE (info, 1) == 4 && GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1) == 0;
  make_tables (painter, scene, info);
  painter->level = g_malloc (width);
  painter->layer = g_malloc (width);
  for (guint i = 0; i < 4; i++)
    painter->view[i / 2][i % 2] = g_malloc (width);
  return painter;
}

void
gst_stereo_painter_free (GstStereoPainter *painter)
{
  if (!painter)
    return;
  for (guint i = 0; i < 4; i++)
    g_free (painter->view[i / 2][i % 2]);
  g_free (painter->layer);
  g_free (painter->level);
  g_free (painter);
}

static void
interleave (GstStereoPainter *painter, gboolean right, gint y)
{
  for (guint v = 0; v < 2; v++)
    gst_stereo_rig_row (painter->rig, v ? !right : right, y, painter->view[v][0], painter->view[v][1]);
  for (gint x = 0; x < painter->width; x++) {
    painter->level[x] = painter->view[x % 2][0][x / 2];
    painter->layer[x] = painter->view[x % 2][1][x / 2];
  }
}

/* Makes row @y of the frame: levels and layers of both views, as they lie in it. */
static void
compose (GstStereoPainter *painter, gint y)
{
  const GstStereoLayout *layout = &painter->layout;
  gboolean right = layout->right_first;
  gint view;

  switch (layout->packing) {
    case GST_STEREO_PACKING_TOP_BOTTOM:
      view = y >= layout->height;
      gst_stereo_rig_row (painter->rig, view ? !right : right, y % layout->height, painter->level, painter->layer);
      break;
    case GST_STEREO_PACKING_ROW_INTERLEAVED:
      gst_stereo_rig_row (painter->rig, y % 2 ? !right : right, y / 2, painter->level, painter->layer);
      break;
    case GST_STEREO_PACKING_COLUMN_INTERLEAVED:
      interleave (painter, right, y);
      break;
    default:
      for (view = 0; view < 2; view++)
        gst_stereo_rig_row (painter->rig, view ? !right : right, y, painter->level + view * layout->width,
            painter->layer + view * layout->width);
  }
}

static void
write_words (const GstStereoPainter *painter, guint8 *to)
{
  for (gint x = 0; x < painter->width; x++)
    memcpy (to + 4 * (gsize) x, &painter->word[painter->layer[x] * LEVELS + painter->level[x]], 4);
}

/* A chroma sample is that of the first pixel it covers. */
static void
write_component (const GstStereoPainter *painter, GstVideoFrame *frame, guint c, gint y)
{
  guint shift_y = GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, c);
  guint shift_x = GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, c);
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c), width = GST_VIDEO_FRAME_COMP_WIDTH (frame, c);
  guint8 *to = GST_VIDEO_FRAME_COMP_DATA (frame, c);

  if (y & ((1 << shift_y) - 1))
    return;
  to += (gssize) (y >> shift_y) * GST_VIDEO_FRAME_COMP_STRIDE (frame, c);
  for (gint i = 0; i < width; i++, to += step) {
    gint x = i << shift_x;
    *to = painter->table[c][painter->layer[x] * LEVELS + painter->level[x]];
  }
}

void
gst_stereo_painter_paint (GstStereoPainter *painter, GstStereoRig *rig, GstVideoFrame *frame)
{
  painter->rig = rig;
  for (gint y = 0; y < painter->height; y++) {
    compose (painter, y);
    if (painter->words)
      write_words (painter,
          (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0));
    else
      for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++)
        write_component (painter, frame, c, y);
  }
}
