/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/gstdepthoverlay-text.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#define SMALLEST 64             /* a picture lower than this has no room for a legend */
#define TICKS 6

typedef enum
{
  PIECE_EDGE_ACROSS,            /* of the warning's frame */
  PIECE_EDGE_DOWN,
  PIECE_MARKER,
  PIECE_LEGEND,
  PIECE_READOUT,
  PIECES
} Piece;

/* What a piece was drawn from. */
typedef struct
{
  gint width, height;
  gboolean warning;
  GstStereoColormap colormap;
  gdouble near, far;
  gboolean metric, notice;
  gchar string[32];
} Key;

struct _GstDepthOverlayText
{
  PangoFontMap *fonts;
  PangoContext *context;
  struct
  {
    Key key;
    GstBuffer *pixels;          /* NULL: not drawn */
    gint width, height;
  } pieces[PIECES];
};

typedef void (*Draw) (GstDepthOverlayText *text, cairo_t *cr, const Key *key, gint width, gint height);

GstDepthOverlayText *
gst_depth_overlay_text_new (void)
{
  GstDepthOverlayText *text = g_new0 (GstDepthOverlayText, 1);

  /* not the default one: that is of the thread, and every play has another thread */
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

/* ---- drawing ----------------------------------------------------------------------------- */

static gint
margin_of (gint height)
{
  return MAX (3, height / 45);
}

static PangoLayout *
new_layout (GstDepthOverlayText *text, const gchar *string, gint pixels, gboolean bold)
{
  PangoLayout *layout = pango_layout_new (text->context);
  PangoFontDescription *font = pango_font_description_from_string (bold ? "Sans Bold" : "Sans");

  pango_font_description_set_absolute_size (font, pixels * (gdouble) PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, string, -1);
  pango_font_description_free (font);
  return layout;
}

static void
show_layout (cairo_t *cr, PangoLayout *layout, gdouble x, gdouble y)
{
  cairo_move_to (cr, x, y);
  pango_cairo_show_layout (cr, layout);
  g_object_unref (layout);
}

/* Dark, so that any picture can be under it. */
static void
draw_panel (cairo_t *cr, gint width, gint height, gdouble radius, gboolean warning)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, width - radius, radius, radius, -G_PI / 2, 0);
  cairo_arc (cr, width - radius, height - radius, radius, 0, G_PI / 2);
  cairo_arc (cr, radius, height - radius, radius, G_PI / 2, G_PI);
  cairo_arc (cr, radius, radius, radius, G_PI, 1.5 * G_PI);
  cairo_close_path (cr);
  if (warning)
    cairo_set_source_rgba (cr, 0.82, 0.06, 0.06, 0.92);
  else
    cairo_set_source_rgba (cr, 0.05, 0.06, 0.08, 0.66);
  cairo_fill (cr);
}

static void
draw_edge (GstDepthOverlayText *text, cairo_t *cr, const Key *key, gint width, gint height)
{
  cairo_set_source_rgba (cr, 0.86, 0.06, 0.06, 0.85);
  cairo_paint (cr);
}

/* A ring with four ticks: the thing itself stays visible in the middle. White with a dark rim, which no colour map
 * hides. */
static void
draw_marker (GstDepthOverlayText *text, cairo_t *cr, const Key *key, gint width, gint height)
{
  gdouble line = MAX (1.5, width / 24.0), radius = width * 0.28, middle = width / 2.0;

  for (gint pass = 0; pass < 2; pass++) {
    if (pass == 0)
      cairo_set_source_rgba (cr, 0, 0, 0, 0.75);
    else
      cairo_set_source_rgb (cr, 1, 1, 1);
    cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width (cr, pass == 0 ? 2.4 * line : line);
    cairo_new_sub_path (cr);
    cairo_arc (cr, middle, middle, radius, 0, 2 * G_PI);
    for (gint i = 0; i < 4; i++) {
      gdouble dx = i % 2 ? 0 : 1 - i, dy = i % 2 ? 2 - i : 0;
      cairo_move_to (cr, middle + dx * radius, middle + dy * radius);
      cairo_line_to (cr, middle + dx * radius * 1.5, middle + dy * radius * 1.5);
    }
    cairo_stroke (cr);
  }
}

/* ---- read-out ---------------------------------------------------------------------------- */

static gint
readout_font (const Key *key)
{
  return MAX (11, key->height / (key->notice ? 24 : 15));
}

static gint
sign_width (const Key *key, gint font)
{
  return key->warning ? font + font / 3 : 0;
}

static void
measure_readout (GstDepthOverlayText *text, const Key *key, gint *width, gint *height)
{
  gint font = readout_font (key), step = MAX (2, font / 2);
  PangoLayout *layout = new_layout (text, key->string, font, !key->notice);

  pango_layout_get_pixel_size (layout, width, height);
  g_object_unref (layout);
  *width += font + sign_width (key, font);
  /* in steps, so that the panel does not tremble with the digits */
  *width = (*width + step - 1) / step * step;
  *height += font / 3;
}

static void
draw_sign (GstDepthOverlayText *text, cairo_t *cr, gint x, gint height, gint font)
{
  gdouble top = (height - 0.86 * font) / 2, bottom = height - top;
  PangoLayout *layout = new_layout (text, "!", font * 3 / 4, TRUE);
  gint width, high;

  cairo_move_to (cr, x + font / 2.0, top);
  cairo_line_to (cr, x + font, bottom);
  cairo_line_to (cr, x, bottom);
  cairo_close_path (cr);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_width (cr, font / 10.0);
  cairo_stroke_preserve (cr);
  cairo_fill (cr);
  cairo_set_source_rgb (cr, 0.82, 0.06, 0.06);
  pango_layout_get_pixel_size (layout, &width, &high);
  show_layout (cr, layout, x + (font - width) / 2.0, bottom - high * 0.87);
}

static void
draw_readout (GstDepthOverlayText *text, cairo_t *cr, const Key *key, gint width, gint height)
{
  gint font = readout_font (key);

  draw_panel (cr, width, height, font / 3.0, key->warning);
  if (key->warning)
    draw_sign (text, cr, font / 2, height, font);
  if (key->notice)
    cairo_set_source_rgb (cr, 1, 0.8, 0.36);
  else
    cairo_set_source_rgb (cr, 1, 1, 1);
  show_layout (cr, new_layout (text, key->string, font, !key->notice), font / 2 + sign_width (key, font), font / 6);
}

/* ---- legend ------------------------------------------------------------------------------ */

typedef struct
{
  gint font, pad, bar_width, bar_height, bar_x, bar_y;
} LegendShape;

/* In m, or px. */
static gdouble
shown (const Key *key, gdouble value)
{
  return key->metric ? value / 1000 : value;
}

static gchar *
tick_string (gdouble value)
{
  return g_strdup_printf ("%.4g", value);
}

/* 1, 2 or 5 times a power of ten, for at most TICKS of them. */
static gdouble
tick_step (gdouble range)
{
  gdouble rough = range / TICKS, power = pow (10, floor (log10 (rough))), digit = rough / power;

  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* The ends, and round numbers that keep off them. */
static guint
tick_values (const Key *key, gdouble values[TICKS + 4])
{
  gdouble low = shown (key, MIN (key->near, key->far)), high = shown (key, MAX (key->near, key->far));
  gdouble step = tick_step (high - low);
  guint count = 0;

  values[count++] = low;
  for (gdouble i = floor (low / step) + 1; i * step < high && count < TICKS + 3; i++)
    if (i * step - low > 0.35 * step && high - i * step > 0.35 * step)
      values[count++] = i * step;
  values[count++] = high;
  return count;
}

static void
shape_legend (GstDepthOverlayText *text, const Key *key, LegendShape *shape, gint *width, gint *height)
{
  gdouble values[TICKS + 4];
  guint count = tick_values (key, values);
  gint widest = 0;

  shape->font = MAX (9, key->height / 32);
  shape->pad = shape->font / 2 + 2;
  for (guint i = 0; i < count; i++) {
    gchar *string = tick_string (values[i]);
    PangoLayout *layout = new_layout (text, string, shape->font, FALSE);
    gint wide, high;

    pango_layout_get_pixel_size (layout, &wide, &high);
    widest = MAX (widest, wide);
    g_object_unref (layout);
    g_free (string);
  }
  shape->bar_width = MAX (6, key->height / 45);
  shape->bar_height = key->height * 9 / 20;
  shape->bar_x = shape->pad + widest + shape->font / 2;
  shape->bar_y = shape->pad + 2 * shape->font;
  *width = shape->bar_x + shape->bar_width + shape->pad;
  *height = shape->bar_y + shape->bar_height + shape->pad;
}

static void
measure_legend (GstDepthOverlayText *text, const Key *key, gint *width, gint *height)
{
  LegendShape shape;

  shape_legend (text, key, &shape, width, height);
}

/* Near is below, as it mostly is in the picture. */
static void
draw_bar (cairo_t *cr, const Key *key, const LegendShape *shape)
{
  guint8 rgb[3];

  for (gint y = 0; y < shape->bar_height; y++) {
    gst_stereo_colormap_rgb (key->colormap, y / (shape->bar_height - 1.0), rgb);
    cairo_set_source_rgb (cr, rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0);
    cairo_rectangle (cr, shape->bar_x, shape->bar_y + y, shape->bar_width, 1);
    cairo_fill (cr);
  }
}

static void
draw_legend (GstDepthOverlayText *text, cairo_t *cr, const Key *key, gint width, gint height)
{
  gdouble values[TICKS + 4];
  guint count = tick_values (key, values);
  gint wide, high;
  LegendShape shape;
  PangoLayout *layout;

  shape_legend (text, key, &shape, &width, &height);
  draw_panel (cr, width, height, shape.font / 2.0, FALSE);
  draw_bar (cr, key, &shape);
  cairo_set_source_rgb (cr, 1, 1, 1);
  layout = new_layout (text, key->metric ? "m" : "px", shape.font, TRUE);
  pango_layout_get_pixel_size (layout, &wide, &high);
  show_layout (cr, layout, shape.bar_x + (shape.bar_width - wide) / 2.0, shape.pad);
  for (guint i = 0; i < count; i++) {
    gdouble position = (shown (key, key->far) - values[i]) / (shown (key, key->far) - shown (key, key->near));
    gdouble y = shape.bar_y + position * (shape.bar_height - 1);
    gchar *string = tick_string (values[i]);

    layout = new_layout (text, string, shape.font, FALSE);
    pango_layout_get_pixel_size (layout, &wide, &high);
    show_layout (cr, layout, shape.bar_x - shape.font * 0.4 - wide, y - high / 2.0);
    cairo_rectangle (cr, shape.bar_x - shape.font * 0.25, floor (y), shape.font * 0.25, 1);
    cairo_fill (cr);
    g_free (string);
  }
}

/* ---- pieces ------------------------------------------------------------------------------ */

static GstBuffer *
render (GstDepthOverlayText *text, Draw draw, const Key *key, gint width, gint height)
{
  GstBuffer *pixels = gst_buffer_new_allocate (NULL, (gsize) width * (gsize) height * 4, NULL);
  cairo_surface_t *surface;
  GstMapInfo map;
  cairo_t *cr;

  gst_buffer_add_video_meta (pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB,
      (guint) width, (guint) height);
  if (!gst_buffer_map (pixels, &map, GST_MAP_WRITE)) {
    gst_buffer_unref (pixels);
    return NULL;
  }
  memset (map.data, 0, map.size);
  surface = cairo_image_surface_create_for_data (map.data, CAIRO_FORMAT_ARGB32, width, height, 4 * width);
  cr = cairo_create (surface);
  pango_cairo_update_context (cr, text->context);
  draw (text, cr, key, width, height);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  gst_buffer_unmap (pixels, &map);
  return pixels;
}

/* The part of @frame under a rectangle, with whole chroma samples, and the rectangle's place in it; FALSE where that is
 * nothing. gst_video_blend() converts every row it touches from end to end: of the part that is little. */
static gboolean
part_under (GstVideoFrame *part, GstVideoFrame *frame, gint *x, gint *y, gint width, gint height)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint left = MAX (*x, 0) & ~1, top = MAX (*y, 0) & ~1;
  gint right = MIN (*x + width, GST_VIDEO_FRAME_WIDTH (frame)), bottom = MIN (*y + height, GST_VIDEO_FRAME_HEIGHT (frame));
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

/* Drawn anew when @key is another one. */
static void
put_piece (GstDepthOverlayText *text, Piece piece, const Key *key, Draw draw, gint width, gint height, gint x, gint y,
    GstVideoFrame *frame)
{
  GstBuffer **pixels = &text->pieces[piece].pixels;
  GstVideoOverlayComposition *composition;
  GstVideoOverlayRectangle *rectangle;
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
  rectangle = gst_video_overlay_rectangle_new_raw (*pixels, x, y, (guint) width, (guint) height,
      GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  composition = gst_video_overlay_composition_new (rectangle);
  if (!gst_video_overlay_composition_blend (composition, &part))
    GST_WARNING ("cannot draw text on %s", gst_video_format_to_string (GST_VIDEO_FRAME_FORMAT (frame)));
  gst_video_overlay_composition_unref (composition);
  gst_video_overlay_rectangle_unref (rectangle);
}

/* The size a piece has, or had when it was drawn from the same key. */
static void
size_piece (GstDepthOverlayText *text, Piece piece, const Key *key, gint *width, gint *height)
{
  if (text->pieces[piece].pixels && memcmp (&text->pieces[piece].key, key, sizeof *key) == 0) {
    *width = text->pieces[piece].width;
    *height = text->pieces[piece].height;
  } else if (piece == PIECE_LEGEND) {
    measure_legend (text, key, width, height);
  } else {
    measure_readout (text, key, width, height);
  }
}

/* Every piece's key holds only what the piece depends on. */
static void
init_key (Key *key, const GstDepthOverlayTextContent *content)
{
  memset (key, 0, sizeof *key);
  key->width = content->width;
  key->height = content->height;
}

static void
put_edges (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content,
    GstVideoFrame *frame)
{
  gint thick = MAX (2, content->height / 72), inner = content->height - 2 * thick;
  Key key;

  init_key (&key, content);
  if (inner < 1)
    return;
  put_piece (text, PIECE_EDGE_ACROSS, &key, draw_edge, content->width, thick, 0, 0, frame);
  put_piece (text, PIECE_EDGE_ACROSS, &key, draw_edge, content->width, thick, 0, content->height - thick, frame);
  put_piece (text, PIECE_EDGE_DOWN, &key, draw_edge, thick, inner, 0, thick, frame);
  put_piece (text, PIECE_EDGE_DOWN, &key, draw_edge, thick, inner, content->width - thick, thick, frame);
}

static void
put_legend (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content,
    GstVideoFrame *frame)
{
  gint width, height;
  Key key;

  init_key (&key, content);
  key.colormap = content->colormap;
  key.near = content->scale.near;
  key.far = content->scale.far;
  key.metric = content->scale.metric;
  if (content->height < SMALLEST)
    return;
  size_piece (text, PIECE_LEGEND, &key, &width, &height);
  if (width > content->width / 3 || height > content->height)
    return;
  put_piece (text, PIECE_LEGEND, &key, draw_legend, width, height,
      content->width - width - 2 * margin_of (content->height), (content->height - height) / 2, frame);
}

static void
put_marker (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content,
    GstVideoFrame *frame)
{
  gint size = MAX (11, content->height / 14) | 1;
  Key key;

  init_key (&key, content);
  put_piece (text, PIECE_MARKER, &key, draw_marker, size, size, content->x - size / 2, content->y - size / 2,
      frame);
}

static void
put_readout (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content,
    GstVideoFrame *frame)
{
  gint width, height, margin = 2 * margin_of (content->height);
  Key key;

  init_key (&key, content);
  key.notice = content->notice != NULL;
  key.warning = content->warning;
  if (content->notice)
    g_strlcpy (key.string, content->notice, sizeof key.string);
  else
    gst_depth_overlay_text_format (key.string, sizeof key.string, content->value, content->scale.metric);
  size_piece (text, PIECE_READOUT, &key, &width, &height);
  put_piece (text, PIECE_READOUT, &key, draw_readout, width, height, margin, margin, frame);
}

void
gst_depth_overlay_text_blend (GstDepthOverlayText *text, const GstDepthOverlayTextContent *content,
    GstVideoFrame *frame)
{
  if (content->text && content->warning)
    put_edges (text, content, frame);
  if (content->legend && content->have_scale)
    put_legend (text, content, frame);
  if (content->text && content->have_value)
    put_marker (text, content, frame);
  if (content->text && (content->notice || content->have_value))
    put_readout (text, content, frame);
}
