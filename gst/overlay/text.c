/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/text.h"

#include "gst/overlay/debug.h"
#include "gst/overlay/draw.h"

#include <math.h>
#include <string.h>

#define SMALLEST 64 /* a picture lower than this has no room for a legend */

typedef enum
{
  PIECE_EDGE_ACROSS, /* of the warning's frame */
  PIECE_EDGE_DOWN,
  PIECE_REGION_ACROSS,
  PIECE_REGION_DOWN,
  PIECE_MARKER,
  PIECE_LEGEND,
  PIECE_READOUT,
  PIECE_MARK,
  PIECE_BOXES, /* of each box: the next three */
  PIECES = PIECE_BOXES + 3 * GST_DEPTH_OVERLAY_BOXES
} Piece;

enum
{
  BOX_ACROSS,
  BOX_DOWN,
  BOX_LABEL
};

typedef GstDepthOverlayKey Key;

struct _GstDepthOverlayText
{
  PangoFontMap *fonts;
  PangoContext *context;
  struct
  {
    Key key;
    GstBuffer *pixels; /* NULL: not drawn */
    gint width, height;
  } pieces[PIECES];
};

GstDepthOverlayText *
gst_depth_overlay_text_new (void)
{
  GstDepthOverlayText *text = g_new0 (GstDepthOverlayText, 1);

  /* Not the default font map: Pango makes one for each thread, and every start has another thread. */
  text->fonts = pango_cairo_font_map_new ();
  text->context = pango_font_map_create_context (text->fonts);
  return text;
}

void
gst_depth_overlay_text_free (GstDepthOverlayText *text)
{
  for (guint i = 0; i < PIECES; i++)
    gst_clear_buffer (&text->pieces[i].pixels);
  g_object_unref (text->context);
  g_object_unref (text->fonts);
  g_free (text);
}

void
gst_depth_overlay_text_format (gchar *string, gsize size, gdouble value, gboolean metric)
{
  if (!metric)
    g_snprintf (string, size, "%.1f px", value);
  else if (!isfinite (value))
    g_snprintf (string, size, "far");
  else if (value < 9995)
    g_snprintf (string, size, "%.2f m", value / 1000);
  else
    g_snprintf (string, size, "%.1f m", value / 1000);
}

/* "3.42 m"; "unknown: 38% seen", "unknown: 38% seen, 3.42 m", "unknown: right camera frozen"; or the notice. Of several
 * reasons the first one is shown, because it explains the others. Percents are rounded down: a picture that lacks a pixel
 * is not 100% seen. */
static void
say (gchar *string, gsize size, const GstDepthOverlayTextContent *content)
{
  gchar value[16] = "";

  if (content->notice) {
    g_strlcpy (string, content->notice, size);
    return;
  }
  if (content->reason) {
    g_snprintf (string, size, "unknown: %.*s", (gint) strcspn (content->reason, ","), content->reason);
    return;
  }
  if (content->nearest->valid)
    gst_depth_overlay_text_format (value, sizeof value, content->nearest->value, content->scale.metric);
  if (content->nearest->state == GST_STEREO_NEAREST_STATE_UNKNOWN)
    g_snprintf (string, size, "unknown: %d%% seen%s%s", (gint) (100 * content->nearest->found.coverage + 1e-9),
        content->nearest->valid ? ", " : "", value);
  else
    g_strlcpy (string, value, size);
}

/* ---- pieces ------------------------------------------------------------------------------ */

static GstBuffer *
render (GstDepthOverlayText *text, GstDepthOverlayDraw draw, const Key *key, gint width, gint height)
{
  GstBuffer *pixels = gst_buffer_new_allocate (NULL, (gsize) width * (gsize) height * 4, NULL);
  GstMapInfo map;

  gst_buffer_add_video_meta (
      pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint) width, (guint) height);
  if (!gst_buffer_map (pixels, &map, GST_MAP_WRITE)) {
    gst_buffer_unref (pixels);
    return NULL;
  }
  memset (map.data, 0, map.size);
  cairo_surface_t *surface = cairo_image_surface_create_for_data (
      map.data, CAIRO_FORMAT_ARGB32, width, height, 4 * width);
  cairo_t *cr = cairo_create (surface);
  pango_cairo_update_context (cr, text->context);
  draw (text->context, cr, key, width, height);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  gst_buffer_unmap (pixels, &map);
  return pixels;
}

/* The part of @frame under a rectangle, widened to whole chroma samples; @x and @y become the rectangle's place in it.
 * FALSE where they do not overlap. gst_video_blend() converts whole rows, and those of the part are short. */
static gboolean
part_under (GstVideoFrame *part, GstVideoFrame *frame, gint *x, gint *y, gint width, gint height)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint left = MAX (*x, 0) & ~1, top = MAX (*y, 0) & ~1;
  gint right = MIN (*x + width, GST_VIDEO_FRAME_WIDTH (frame));
  gint bottom = MIN (*y + height, GST_VIDEO_FRAME_HEIGHT (frame));
  guint planes = 0;

  if (right <= left || bottom <= top)
    return FALSE;
  *part = *frame;
  GST_VIDEO_INFO_WIDTH (&part->info) = MIN ((right + 1) & ~1, GST_VIDEO_FRAME_WIDTH (frame)) - left;
  GST_VIDEO_INFO_HEIGHT (&part->info) = MIN ((bottom + 1) & ~1, GST_VIDEO_FRAME_HEIGHT (frame)) - top;
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++) {
    guint plane = GST_VIDEO_FORMAT_INFO_PLANE (format, c);

    if (planes & 1u << plane)
      continue;
    planes |= 1u << plane;
    part->data[plane] = (guint8 *) frame->data[plane] +
        (gssize) (top >> GST_VIDEO_FORMAT_INFO_H_SUB (format, c)) * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane) +
        (gssize) (left >> GST_VIDEO_FORMAT_INFO_W_SUB (format, c)) * GST_VIDEO_FORMAT_INFO_PSTRIDE (format, c);
  }
  *x -= left;
  *y -= top;
  return TRUE;
}

/* Blends a piece at @x, @y; draws it anew when @key is another one than that of the last frame. */
static void
put_piece (GstDepthOverlayText *text, Piece piece, const Key *key, GstDepthOverlayDraw draw, gint width, gint height,
    gint x, gint y, GstVideoFrame *frame)
{
  GstBuffer **pixels = &text->pieces[piece].pixels;
  GstVideoFrame part;

  if (!*pixels || memcmp (&text->pieces[piece].key, key, sizeof *key) != 0) {
    gst_clear_buffer (pixels);
    *pixels = render (text, draw, key, width, height);
    text->pieces[piece].key = *key;
    text->pieces[piece].width = width;
    text->pieces[piece].height = height;
  }
  if (!*pixels || !part_under (&part, frame, &x, &y, width, height))
    return;
  GstVideoOverlayRectangle *rectangle = gst_video_overlay_rectangle_new_raw (
      *pixels, x, y, (guint) width, (guint) height, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  GstVideoOverlayComposition *composition = gst_video_overlay_composition_new (rectangle);
  if (!gst_video_overlay_composition_blend (composition, &part))
    GST_WARNING ("cannot draw text on %s", gst_video_format_to_string (GST_VIDEO_FRAME_FORMAT (frame)));
  gst_video_overlay_composition_unref (composition);
  gst_video_overlay_rectangle_unref (rectangle);
}

/* The size of a piece. Pango needs some time to measure, so a piece with an unchanged key is not measured again. */
static void
size_piece (GstDepthOverlayText *text, Piece piece, const Key *key, gint *width, gint *height)
{
  if (text->pieces[piece].pixels && memcmp (&text->pieces[piece].key, key, sizeof *key) == 0) {
    *width = text->pieces[piece].width;
    *height = text->pieces[piece].height;
  } else if (piece == PIECE_LEGEND) {
    gst_depth_overlay_measure_legend (text->context, key, width, height);
  } else {
    gst_depth_overlay_measure_readout (text->context, key, width, height);
  }
}

/* The part of a key that all pieces depend on. Callers add only what their piece depends on. */
static void
init_key (Key *key, const GstDepthOverlayTextContent *content)
{
  memset (key, 0, sizeof *key);
  key->width = content->width;
  key->height = content->height;
}

static gint
margin_of (gint height)
{
  return MAX (3, height / 45);
}

static void
put_edges (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  gint thick = MAX (2, content->height / 72), inner = content->height - 2 * thick;
  Key key;

  init_key (&key, content);
  if (inner < 1)
    return;
  put_piece (text, PIECE_EDGE_ACROSS, &key, gst_depth_overlay_draw_edge, content->width, thick, 0, 0, frame);
  put_piece (text, PIECE_EDGE_ACROSS, &key, gst_depth_overlay_draw_edge, content->width, thick, 0,
      content->height - thick, frame);
  put_piece (text, PIECE_EDGE_DOWN, &key, gst_depth_overlay_draw_edge, thick, inner, 0, thick, frame);
  put_piece (
      text, PIECE_EDGE_DOWN, &key, gst_depth_overlay_draw_edge, thick, inner, content->width - thick, thick, frame);
}

/* Inside the region, so that all four sides are in the picture. */
static void
put_region (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  gint thick = MAX (2, content->height / 240), width = content->region->width, height = content->region->height;
  gint right = content->region->x + width - thick, bottom = content->region->y + height - thick;
  Key across, down;

  if (MIN (width, height) <= 2 * thick)
    return;
  init_key (&across, content);
  across.length = width;
  init_key (&down, content);
  down.length = height;
  put_piece (text, PIECE_REGION_ACROSS, &across, gst_depth_overlay_draw_region, width, thick, content->region->x,
      content->region->y, frame);
  put_piece (text, PIECE_REGION_ACROSS, &across, gst_depth_overlay_draw_region, width, thick, content->region->x,
      bottom, frame);
  put_piece (text, PIECE_REGION_DOWN, &down, gst_depth_overlay_draw_region, thick, height, content->region->x,
      content->region->y, frame);
  put_piece (
      text, PIECE_REGION_DOWN, &down, gst_depth_overlay_draw_region, thick, height, right, content->region->y, frame);
}

/* Room for the frame's four sides. */
static gboolean
has_inside (const GstDepthOverlayBox *box, gint thick)
{
  return MIN (box->width, box->height) > 2 * thick;
}

/* The frame of a box. */
static void
put_frame (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, const GstDepthOverlayBox *box,
    Piece first, GstVideoFrame *frame)
{
  gint thick = MAX (2, content->height / 240);
  gint right = box->x + box->width - thick, bottom = box->y + box->height - thick;
  Key across, down;

  init_key (&across, content);
  across.length = box->width;
  across.warning = box->warning;
  init_key (&down, content);
  down.length = box->height;
  down.warning = box->warning;
  if (!has_inside (box, thick))
    return;
  for (gint side = 0; side < 2; side++) {
    put_piece (text, first + BOX_ACROSS, &across, gst_depth_overlay_draw_region, box->width, thick, box->x,
        side ? bottom : box->y, frame);
    put_piece (text, first + BOX_DOWN, &down, gst_depth_overlay_draw_region, thick, box->height, side ? right : box->x,
        box->y, frame);
  }
}

/* Above the box, or below its upper edge where the picture ends. */
static void
put_label (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, const GstDepthOverlayBox *box,
    Piece piece, GstVideoFrame *frame)
{
  gint width, height;
  Key key;

  init_key (&key, content);
  key.notice = TRUE; /* the smaller font */
  key.warning = box->warning;
  g_strlcpy (key.string, box->label, sizeof key.string);
  size_piece (text, piece, &key, &width, &height);
  put_piece (text, piece, &key, gst_depth_overlay_draw_readout, width, height,
      CLAMP (box->x, 0, MAX (0, content->width - width)), box->y >= height ? box->y - height : MAX (0, box->y), frame);
}

static void
put_marks (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  gint thick = MAX (2, content->height / 240);
  Key key;

  init_key (&key, content);
  for (guint i = 0; i < content->n_marks; i++)
    key.length = MAX (key.length, content->marks[i].width);
  for (guint i = 0; i < content->n_marks; i++)
    put_piece (text, PIECE_MARK, &key, gst_depth_overlay_draw_mark, key.length, thick, content->marks[i].x,
        content->marks[i].y - thick / 2, frame);
}

static void
put_boxes (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  for (guint i = 0; i < content->n_boxes; i++)
    put_frame (text, content, &content->boxes[i], PIECE_BOXES + 3 * i, frame);
  for (guint i = 0; i < content->n_boxes; i++)
    put_label (text, content, &content->boxes[i], PIECE_BOXES + 3 * i + BOX_LABEL, frame);
}

static gint
marker_size (const GstDepthOverlayTextContent *content)
{
  return MAX (11, content->height / 14) | 1;
}

/* Always at the right: it must not change sides from frame to frame. The marker is drawn over it. */
static void
put_legend (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  gint width, height;
  Key key;

  init_key (&key, content);
  key.colormap = content->colormap;
  key.curve = content->scale.curve;
  key.near = content->scale.near;
  key.far = content->scale.far;
  key.metric = content->scale.metric;
  if (content->height < SMALLEST)
    return;
  size_piece (text, PIECE_LEGEND, &key, &width, &height);
  if (width > content->width / 3 || height > content->height)
    return;
  put_piece (text, PIECE_LEGEND, &key, gst_depth_overlay_draw_legend, width, height,
      content->width - width - 2 * margin_of (content->height), (content->height - height) / 2, frame);
}

static void
put_marker (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  gint size = marker_size (content);
  Key key;

  init_key (&key, content);
  put_piece (text, PIECE_MARKER, &key, gst_depth_overlay_draw_marker, size, size, content->nearest->x - size / 2,
      content->nearest->y - size / 2, frame);
}

static void
put_readout (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  gint width, height, margin = 2 * margin_of (content->height);
  Key key;

  init_key (&key, content);
  key.notice = content->notice || content->nearest->state == GST_STEREO_NEAREST_STATE_UNKNOWN;
  key.warning = content->nearest->warning;
  say (key.string, sizeof key.string, content);
  size_piece (text, PIECE_READOUT, &key, &width, &height);
  put_piece (text, PIECE_READOUT, &key, gst_depth_overlay_draw_readout, width, height, margin, margin, frame);
}

gboolean
gst_depth_overlay_text_is_empty (const GstDepthOverlayTextContent *content)
{
  return !content->n_boxes && !content->n_marks && !content->edges && !content->region && !content->legend &&
      !content->marker && !content->readout;
}

void
gst_depth_overlay_text_blend (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content, GstVideoFrame *frame)
{
  if (content->edges)
    put_edges (text, content, frame);
  if (content->region)
    put_region (text, content, frame);
  if (content->n_marks)
    put_marks (text, content, frame);
  if (content->n_boxes)
    put_boxes (text, content, frame);
  if (content->legend)
    put_legend (text, content, frame);
  if (content->marker)
    put_marker (text, content, frame);
  if (content->readout)
    put_readout (text, content, frame);
}
