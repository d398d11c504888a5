/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/pictures.h"

#include <math.h>
#include <string.h>

#include "gst/meta/map.h"
#include "gst/video/pool.h"
#include "gst/video/properties.h"

#define COMPONENTS 4
#define LEVELS 256
#define ROWS 6 /* level and layer of a row of the frame, and of each view where they alternate along x */

/* Writes levels and layers as samples. */
typedef struct
{
  gboolean words;                                             /* a pixel is a word of four bytes */
  guint8 table[COMPONENTS][GST_STEREO_SCENE_LAYERS * LEVELS]; /* a component's sample, by layer and level */
  guint32 word[GST_STEREO_SCENE_LAYERS * LEVELS];
  guint8 *rows[ROWS];
} Painter;

struct _GstStereoPictures
{
  GstVideoInfo info;      /* of a frame */
  GstStereoLayout layout; /* of the views in it */
  GstVideoInfo truth_info;
  GstBufferPool *truth_pool;
  GstStereoScene *scene;
  GstStereoSceneParams asked; /* what the scene was made of */
  Painter painter;            /* of the scene */
  GstStereoRigParams rig_params;
  GstStereoRig *rig; /* that look at the scene */
};

/* ---- samples ------------------------------------------------------------------------------- */

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
make_tables (Painter *painter, const GstStereoScene *scene, const GstVideoInfo *info)
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

/* Opens the painter of the scene, for frames of the format. */
static void
open_painter (GstStereoPictures *pictures)
{
  Painter *painter = &pictures->painter;
  const GstVideoInfo *info = &pictures->info;
  gsize width = (gsize) GST_VIDEO_INFO_WIDTH (info);

  painter->words = GST_VIDEO_INFO_N_PLANES (info) == 1 && GST_VIDEO_INFO_COMP_PSTRIDE (info, 0) == 4 &&
      GST_VIDEO_INFO_COMP_PSTRIDE (info, 1) == 4 && GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, 1) == 0;
  make_tables (painter, pictures->scene, info);
  for (guint i = 0; i < ROWS; i++)
    painter->rows[i] = g_realloc (painter->rows[i], width);
}

static void
interleave (GstStereoPictures *pictures, gboolean right, gint y)
{
  guint8 *const *rows = pictures->painter.rows;

  for (guint v = 0; v < 2; v++)
    gst_stereo_rig_row (pictures->rig, v ? !right : right, y, rows[2 + 2 * v], rows[3 + 2 * v]);
  for (gint x = 0; x < GST_VIDEO_INFO_WIDTH (&pictures->info); x++)
    for (guint i = 0; i < 2; i++)
      rows[i][x] = rows[2 + 2 * (x % 2) + i][x / 2];
}

/* Makes row @y of the frame: levels and layers of both views, as they lie in it. */
static void
compose (GstStereoPictures *pictures, gint y)
{
  const GstStereoLayout *layout = &pictures->layout;
  guint8 *level = pictures->painter.rows[0], *layer = pictures->painter.rows[1];
  gboolean right = layout->right_first;
  gint view;

  switch (layout->packing) {
    case GST_STEREO_PACKING_TOP_BOTTOM:
      view = y >= layout->height;
      gst_stereo_rig_row (pictures->rig, view ? !right : right, y % layout->height, level, layer);
      break;
    case GST_STEREO_PACKING_ROW_INTERLEAVED:
      gst_stereo_rig_row (pictures->rig, y % 2 ? !right : right, y / 2, level, layer);
      break;
    case GST_STEREO_PACKING_COLUMN_INTERLEAVED:
      interleave (pictures, right, y);
      break;
    default:
      for (view = 0; view < 2; view++)
        gst_stereo_rig_row (
            pictures->rig, view ? !right : right, y, level + view * layout->width, layer + view * layout->width);
  }
}

static void
write_words (const Painter *painter, gint width, guint8 *to)
{
  for (gint x = 0; x < width; x++)
    memcpy (to + 4 * (gsize) x, &painter->word[painter->rows[1][x] * LEVELS + painter->rows[0][x]], 4);
}

/* A chroma sample is that of the first pixel it covers. */
static void
write_component (const Painter *painter, GstVideoFrame *frame, guint c, gint y)
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
    *to = painter->table[c][painter->rows[1][x] * LEVELS + painter->rows[0][x]];
  }
}

/* ---- object -------------------------------------------------------------------------------- */

GstStereoPictures *
gst_stereo_pictures_new (void)
{
  return g_new0 (GstStereoPictures, 1);
}

static void
drop_scene (GstStereoPictures *pictures)
{
  g_clear_pointer (&pictures->rig, gst_stereo_rig_free);
  g_clear_pointer (&pictures->scene, gst_stereo_scene_free);
}

static void
drop_truth_pool (GstStereoPictures *pictures)
{
  if (pictures->truth_pool)
    gst_buffer_pool_set_active (pictures->truth_pool, FALSE);
  gst_clear_object (&pictures->truth_pool);
}

void
gst_stereo_pictures_clear (GstStereoPictures *pictures)
{
  drop_scene (pictures);
  drop_truth_pool (pictures);
}

void
gst_stereo_pictures_free (GstStereoPictures *pictures)
{
  gst_stereo_pictures_clear (pictures);
  for (guint i = 0; i < ROWS; i++)
    g_free (pictures->painter.rows[i]);
  g_free (pictures);
}

/* ---- format -------------------------------------------------------------------------------- */

gboolean
gst_stereo_pictures_set_format (GstStereoPictures *pictures, const GstVideoInfo *info, gchar **message)
{
  if (!gst_stereo_layout_packed (&pictures->layout, info, GST_STEREO_PACKING_AUTO, message))
    return FALSE;
  pictures->info = *info;
  drop_scene (pictures);
  drop_truth_pool (pictures);
  gst_video_info_set_format (&pictures->truth_info, GST_VIDEO_FORMAT_GRAY16_LE, (guint) pictures->layout.width,
      (guint) pictures->layout.height);
  pictures->truth_pool = gst_stereo_pool_new (&pictures->truth_info);
  if (pictures->truth_pool && gst_buffer_pool_set_active (pictures->truth_pool, TRUE))
    return TRUE;
  *message = g_strdup_printf ("There is no memory for the true disparity of views of %dx%d pixels.",
      pictures->layout.width, pictures->layout.height);
  return FALSE;
}

gchar *
gst_stereo_pictures_describe (const GstStereoPictures *pictures)
{
  const GstStereoLayout *layout = &pictures->layout;

  return g_strdup_printf ("%dx%d pixels, %s, %s view first", layout->width, layout->height,
      gst_stereo_choice_name (gst_stereo_packings, (gint) layout->packing), layout->right_first ? "right" : "left");
}

/* ---- scene --------------------------------------------------------------------------------- */

gboolean
gst_stereo_pictures_prepare (GstStereoPictures *pictures, const GstStereoSceneParams *params,
    const GstStereoRigParams *rig, gboolean *changed, gchar **message)
{
  GstStereoSceneParams sized = *params;

  *changed = FALSE;
  if (!pictures->scene || memcmp (&pictures->asked, params, sizeof *params)) {
    drop_scene (pictures);
    sized.width = pictures->layout.width;
    sized.height = pictures->layout.height;
    pictures->scene = gst_stereo_scene_new (&sized, message);
    if (!pictures->scene)
      return FALSE;
    open_painter (pictures);
    pictures->asked = *params;
  }
  if (!pictures->rig || memcmp (&pictures->rig_params, rig, sizeof *rig)) {
    gst_stereo_rig_free (pictures->rig);
    pictures->rig = gst_stereo_rig_new (pictures->scene, rig);
    pictures->rig_params = *rig;
    *changed = TRUE;
  }
  return TRUE;
}

const GstStereoSceneParams *
gst_stereo_pictures_params (const GstStereoPictures *pictures)
{
  return gst_stereo_scene_params (pictures->scene);
}

/* ---- pictures ------------------------------------------------------------------------------ */

gboolean
gst_stereo_pictures_paint (GstStereoPictures *pictures, guint64 number, GstBuffer *buffer)
{
  const Painter *painter = &pictures->painter;
  GstVideoFrame frame;

  if (!gst_stereo_map (&frame, &pictures->info, buffer, GST_MAP_WRITE))
    return FALSE;
  gst_stereo_rig_set_frame (pictures->rig, number);
  gst_stereo_pool_clear_padding (&frame);
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++) {
    compose (pictures, y);
    if (painter->words)
      write_words (painter, GST_VIDEO_FRAME_WIDTH (&frame),
          (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
    else
      for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
        write_component (painter, &frame, c, y);
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}

GstBuffer *
gst_stereo_pictures_make_truth (GstStereoPictures *pictures)
{
  GstBuffer *truth = NULL;
  GstVideoFrame frame;

  if (gst_buffer_pool_acquire_buffer (pictures->truth_pool, &truth, NULL) != GST_FLOW_OK)
    return NULL;
  if (!gst_stereo_map (&frame, &pictures->truth_info, truth, GST_MAP_WRITE)) {
    gst_buffer_unref (truth);
    return NULL;
  }
  gst_stereo_pool_clear_padding (&frame);
  for (gint y = 0; y < pictures->layout.height; y++) {
    guint16 *row = (guint16 *) ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
    gst_stereo_scene_truth (pictures->scene, y, row);
    for (gint x = 0; G_BYTE_ORDER == G_BIG_ENDIAN && x < pictures->layout.width; x++)
      row[x] = GUINT16_TO_LE (row[x]);
  }
  gst_video_frame_unmap (&frame);
  return truth;
}
