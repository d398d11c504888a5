/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws what is over a frame. Pango and cairo draw a piece, which GStreamer blends into the frame. */
#include "gst/overlay/overlay.h"

#include <math.h>
#include <pango/pangocairo.h>

#define BLACK 0xd0000000
#define WHITE 0xffffffff
#define RED 0xffd21010
#define AMBER 0xfff5a800
#define GREEN 0xff18c060
#define DARK 0xb80d0f14

/* A frame that is drawn over, and the places of its text, of which no two overlap. */
typedef struct
{
  PangoContext *context;
  const GstDepthOverlayContent *content;
  GstVideoFrame *frame;
  gint border; /* pixels */
  gint font;   /* pixels: digits are 3 % of the picture high, or more */
  GstVideoRectangle taken[2 + GST_DEPTH_OVERLAY_LABELS];
  guint n_taken;
} Sheet;

PangoContext *
gst_depth_overlay_text_new (void)
{
  /* Not the default font map: Pango makes one for each thread, and every start has another thread. */
  g_autoptr (PangoFontMap) fonts = pango_cairo_font_map_new ();

  return pango_font_map_create_context (fonts);
}

/* ---- pieces ------------------------------------------------------------------------------ */

static cairo_t *
begin_piece (gint width, gint height)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (surface);

  cairo_surface_destroy (surface);
  return cr;
}

/* Blends the piece at @x, @y. gst_video_blend() converts whole rows, so it gets the part of the frame under the piece, widened to
 * whole chroma samples. */
static void
end_piece (const Sheet *sheet, cairo_t *cr, gint x, gint y)
{
  cairo_surface_t *surface = cairo_get_target (cr);
  gint width = cairo_image_surface_get_width (surface), height = cairo_image_surface_get_height (surface);
  gint left = MAX (x, 0) & ~1, top = MAX (y, 0) & ~1;
  GstVideoFrame part = *sheet->frame, piece = { 0 };
  gint right = MIN ((x + width + 1) & ~1, GST_VIDEO_FRAME_WIDTH (&part)),
       bottom = MIN ((y + height + 1) & ~1, GST_VIDEO_FRAME_HEIGHT (&part));

  cairo_surface_flush (surface);
  gst_video_info_set_format (
      &piece.info, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint) MAX (width, 1), (guint) MAX (height, 1));
  GST_VIDEO_INFO_FLAGS (&piece.info) |= GST_VIDEO_FLAG_PREMULTIPLIED_ALPHA;
  piece.data[0] = cairo_image_surface_get_data (surface); /* NULL: cairo has no memory */
  GST_VIDEO_INFO_WIDTH (&part.info) = right - left;
  GST_VIDEO_INFO_HEIGHT (&part.info) = bottom - top;
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&part); c++)
    part.data[GST_VIDEO_FRAME_COMP_PLANE (&part, c)] = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (sheet->frame, c) -
        GST_VIDEO_FRAME_COMP_POFFSET (&part, c) +
        (top >> GST_VIDEO_FORMAT_INFO_H_SUB (part.info.finfo, c)) * (gssize) GST_VIDEO_FRAME_COMP_STRIDE (&part, c) +
        (left >> GST_VIDEO_FORMAT_INFO_W_SUB (part.info.finfo, c)) * (gssize) GST_VIDEO_FRAME_COMP_PSTRIDE (&part, c);
  if (piece.data[0] && right > left && bottom > top)
    gst_video_blend (&part, &piece, x - left, y - top, 1);
  cairo_destroy (cr);
}

static void
set_color (cairo_t *cr, guint32 argb)
{
  cairo_set_source_rgba (
      cr, (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0, (argb & 255) / 255.0, (argb >> 24) / 255.0);
}

/* @hatched: with black stripes. */
static void
put_bar (const Sheet *sheet, gint x, gint y, gint width, gint height, guint32 color, gboolean hatched)
{
  cairo_t *cr = begin_piece (width, height);
  gint step = MAX (6, 2 * MIN (width, height));

  set_color (cr, color);
  cairo_paint (cr);
  set_color (cr, 0xff000000);
  cairo_set_line_width (cr, step / 2.0 / G_SQRT2);
  for (gint at = -height; hatched && at < width + step; at += step) {
    cairo_move_to (cr, at, height + 0.0);
    cairo_line_to (cr, at + height, 0);
  }
  cairo_stroke (cr);
  end_piece (sheet, cr, x, y);
}

/* The four sides of a frame along the inside of a rectangle. */
static void
put_sides (const Sheet *sheet, GstVideoRectangle at, gint thick, guint32 color, gboolean hatched)
{
  if (MIN (at.w, at.h) <= 2 * thick)
    return;
  put_bar (sheet, at.x, at.y, at.w, thick, color, hatched);
  put_bar (sheet, at.x, at.y + at.h - thick, at.w, thick, color, hatched);
  put_bar (sheet, at.x, at.y + thick, thick, at.h - 2 * thick, color, hatched);
  put_bar (sheet, at.x + at.w - thick, at.y + thick, thick, at.h - 2 * thick, color, hatched);
}

/* Light within dark: visible over any colour. */
static void
put_frame (const Sheet *sheet, const GstVideoRectangle *at, guint32 color)
{
  gint thick = MAX (1, sheet->content->height / 300);

  put_sides (sheet, *at, thick, BLACK, FALSE);
  put_sides (sheet, (GstVideoRectangle){ at->x + thick, at->y + thick, at->w - 2 * thick, at->h - 2 * thick }, thick,
      color, FALSE);
}

static void
put_line (const Sheet *sheet, const GstDepthOverlayLine *line, guint32 color)
{
  gint thick = MAX (4, sheet->content->height / 90), half = thick / 2;
  gint left = MIN (line->x[0], line->x[1]), top = MIN (line->y[0], line->y[1]);
  cairo_t *cr = begin_piece (ABS (line->x[1] - line->x[0]) + thick, ABS (line->y[1] - line->y[0]) + thick);

  for (gint pass = 0; pass < 2; pass++) {
    set_color (cr, pass == 0 ? BLACK : color);
    cairo_set_line_width (cr, pass == 0 ? thick : thick / 2.0);
    for (gint end = 0; end < 2; end++)
      cairo_line_to (cr, line->x[end] - left + thick / 2.0, line->y[end] - top + thick / 2.0);
    cairo_stroke (cr);
  }
  end_piece (sheet, cr, left - half, top - half);
}

/* A ring with four ticks: the object in the middle stays visible. White with a dark rim, which no colour map hides. */
static void
put_marker (const Sheet *sheet, gint x, gint y)
{
  gint size = MAX (11, sheet->content->height / 14) | 1;
  gdouble line = MAX (1.5, size / 24.0), radius = size * 0.28, middle = size / 2.0;
  cairo_t *cr = begin_piece (size, size);

  cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND);
  for (gint pass = 0; pass < 2; pass++) {
    set_color (cr, pass == 0 ? BLACK : WHITE);
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
  end_piece (sheet, cr, x - size / 2, y - size / 2);
}

/* ---- text -------------------------------------------------------------------------------- */

static PangoLayout *
new_layout (const Sheet *sheet, const gchar *string, gint pixels, gboolean bold, gint *width, gint *height)
{
  PangoLayout *layout = pango_layout_new (sheet->context);
  PangoFontDescription *font = pango_font_description_from_string (bold ? "Sans Bold" : "Sans");

  pango_font_description_set_absolute_size (font, pixels * (gdouble) PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, string, -1);
  pango_font_description_free (font);
  pango_layout_get_pixel_size (layout, width, height);
  return layout;
}

/* The background of text: text is legible over any picture. */
static void
draw_background (cairo_t *cr, gint width, gint height, gdouble radius, guint32 color)
{
  cairo_new_sub_path (cr);
  for (gint corner = 0; corner < 4; corner++)
    cairo_arc (cr, corner == 0 || corner == 3 ? width - radius : radius, corner < 2 ? height - radius : radius, radius,
        corner * G_PI / 2, (corner + 1) * G_PI / 2);
  cairo_close_path (cr);
  set_color (cr, color);
  cairo_fill (cr);
}

typedef struct
{
  gint width, height; /* measured */
  gint most;          /* width at most, but for the first line; 0: any */
  gint big;           /* pixels: font of the first line */
  guint32 color;      /* of the background */
  guint32 last;       /* of the last line; 0: as the others */
  gboolean clear;     /* a green bar */
  gchar lines[3][GST_DEPTH_OVERLAY_LABEL];
} Panel;

/* Measures a panel; draws it, too, where @cr is not NULL. Long lines are wrapped once, and then cut. */
static void
lay_panel (const Sheet *sheet, cairo_t *cr, Panel *panel)
{
  gint pad = (panel->big ? panel->big : sheet->font) / 3, y = pad / 2, widest = 0, wide, high;

  for (guint i = 0; i < G_N_ELEMENTS (panel->lines); i++) {
    if (!*panel->lines[i])
      continue;
    g_autoptr (PangoLayout) layout = new_layout (
        sheet, panel->lines[i], i == 0 ? panel->big : sheet->font, i == 0, &wide, &high);
    if (i > 0 && panel->most) {
      pango_layout_set_width (layout, MAX (1, panel->most - 2 * pad) * PANGO_SCALE);
      pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
      pango_layout_set_height (layout, -2);
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
      pango_layout_get_pixel_size (layout, &wide, &high);
    }
    widest = MAX (widest, wide);
    if (cr) {
      set_color (cr, i == 2 && panel->last ? panel->last : panel->color == AMBER ? 0xff000000 : WHITE);
      cairo_move_to (cr, pad, y);
      pango_cairo_show_layout (cr, layout);
    }
    y += high;
  }
  /* rounded up to a step, so that the panel does not change its size with every digit */
  panel->width = (widest + 2 * pad + pad) / (pad + 1) * (pad + 1);
  panel->height = y + pad / 2;
}

static gboolean
is_free (const Sheet *sheet, const GstVideoRectangle *at)
{
  for (guint i = 0; i < sheet->n_taken; i++) {
    const GstVideoRectangle *other = &sheet->taken[i];

    if (at->x < other->x + other->w && other->x < at->x + at->w && at->y < other->y + other->h &&
        other->y < at->y + at->h)
      return FALSE;
  }
  return TRUE;
}

/* Takes the place of a panel that was measured, and draws it there. */
static void
put_panel (Sheet *sheet, Panel *panel, gint x, gint y)
{
  cairo_t *cr = begin_piece (panel->width, panel->height);
  gdouble radius = sheet->font / 3.0;

  sheet->taken[sheet->n_taken++] = (GstVideoRectangle){ x, y, panel->width, panel->height };
  draw_background (cr, panel->width, panel->height, radius, panel->color);
  if (panel->clear) {
    set_color (cr, GREEN);
    cairo_rectangle (cr, 0, radius, MAX (3, radius), panel->height - 2 * radius);
    cairo_fill (cr);
  }
  lay_panel (sheet, cr, panel);
  end_piece (sheet, cr, x, y);
}

/* The word or the number, why it is so, and how old it is. */
static void
put_readout (Sheet *sheet)
{
  const GstDepthOverlayContent *content = sheet->content;
  gboolean unknown = content->verdict == GST_STEREO_NEAREST_STATE_UNKNOWN,
           dated = GST_CLOCK_TIME_IS_VALID (content->age);
  gint margin = sheet->border + MAX (2, content->height / 60);
  gchar value[16] = "";
  Panel panel = { .most = MAX (8 * sheet->font, content->width * 3 / 5),
    .big = MAX (12, MIN (content->height / 9, content->width / 9)),
    .color = unknown     ? AMBER :
        content->warning ? RED :
                           DARK,
    .clear = !content->warning && content->verdict == GST_STEREO_NEAREST_STATE_CLEAR };

  if (content->valid)
    gst_depth_overlay_format (value, sizeof value, content->value, content->scale.metric);
  g_strlcpy (panel.lines[0], unknown ? "UNKNOWN" : *value ? value : "clear", sizeof panel.lines[0]);
  if (unknown)
    g_snprintf (panel.lines[1], sizeof panel.lines[1], "%s%s%s", content->reason, *value ? ", seen: " : "", value);
  else if (content->warning || (panel.clear && *value))
    g_strlcpy (panel.lines[1], content->warning ? "too near" : "clear", sizeof panel.lines[1]);
  /* a tenth of a second more rather than less */
  if (dated)
    g_snprintf (panel.lines[2], sizeof panel.lines[2], "%.1f s old%s%s", ceil ((gdouble) content->age / 1e8) / 10,
        *content->note ? ", " : "", content->note);
  else
    g_strlcpy (panel.lines[2], content->note, sizeof panel.lines[2]);
  if (dated && !unknown && !content->warning)
    panel.last = content->age > content->max_age ? 0xffff6050 : content->age > GST_SECOND / 2 ? AMBER : 0;
  else if (dated && unknown && content->age > content->max_age)
    panel.last = 0xffa00000;
  lay_panel (sheet, NULL, &panel);
  put_panel (sheet, &panel, margin, margin);
}

/* Above the box, in it, or below it; not at all where other text has these places. */
static void
put_label (Sheet *sheet, const GstDepthOverlayBox *box)
{
  const GstVideoRectangle *around = &box->at;
  Panel panel = { .color = box->warning ? RED : DARK };

  g_strlcpy (panel.lines[1], box->label, sizeof panel.lines[1]);
  lay_panel (sheet, NULL, &panel);
  const gint tops[] = { around->y - panel.height, around->y, around->y + around->h,
    around->y + around->h - panel.height, around->y - 2 * panel.height };
  const gint lefts[] = { around->x, around->x + around->w - panel.width, around->x + around->w,
    around->x - panel.width };
  gint right = MAX (sheet->border, sheet->content->width - sheet->border - panel.width);
  for (guint i = 0; i < G_N_ELEMENTS (lefts) * G_N_ELEMENTS (tops); i++) {
    GstVideoRectangle at = { CLAMP (lefts[i / G_N_ELEMENTS (tops)], sheet->border, right),
      tops[i % G_N_ELEMENTS (tops)], panel.width, panel.height };

    if (at.y >= sheet->border && at.y + at.h <= sheet->content->height - sheet->border && is_free (sheet, &at)) {
      put_panel (sheet, &panel, at.x, at.y);
      return;
    }
  }
}

/* ---- legend ------------------------------------------------------------------------------ */

#define TICKS 8

/* Both ends of the range, and between them the round numbers that are @gap or more from each other on the bar: in m, or px. */
static guint
tick_values (const GstStereoScale *scale, gdouble unit, gdouble gap, gdouble values[TICKS])
{
  static const gdouble digits[] = { 1, 2, 3, 5, 7 };
  gdouble low = MIN (scale->near, scale->far) / unit, high = MAX (scale->near, scale->far) / unit;
  gdouble last = gst_stereo_scale_position (scale, low * unit), end = gst_stereo_scale_position (scale, high * unit);
  guint count = 0;

  values[count++] = low;
  for (gdouble power = pow (10, floor (log10 (MAX (low, 0.001)))); power < high; power *= 10)
    for (guint i = 0; i < G_N_ELEMENTS (digits) && count < TICKS - 1; i++) {
      gdouble value = digits[i] * power, position = gst_stereo_scale_position (scale, value * unit);

      if (value <= low || value >= high || fabs (position - last) < gap || fabs (position - end) < gap)
        continue;
      values[count++] = value;
      last = position;
    }
  values[count++] = high;
  return count;
}

/* Always at the right: it must not change sides from frame to frame. Near is at the bottom, as near objects mostly are. */
static void
put_legend (Sheet *sheet)
{
  const GstDepthOverlayContent *content = sheet->content;
  gdouble unit = content->scale.metric ? 1000 : 1, values[TICKS];
  gint font = sheet->font, pad = font / 3, bar = MAX (4, content->height / 60), high = content->height * 2 / 5;
  guint count = tick_values (&content->scale, unit, 1.2 * font / high, values);
  PangoLayout *numbers[TICKS];
  gint widths[TICKS], line = 0, widest = 0;

  for (guint i = 0; i < count; i++) {
    g_autofree gchar *string = g_strdup_printf ("%.4g", values[i]);

    numbers[i] = new_layout (sheet, string, font, FALSE, &widths[i], &line);
    widest = MAX (widest, widths[i]);
  }
  gint left = pad + widest + font / 3, top = pad / 2 + line * 3 / 2, width = left + bar + pad,
       height = top + high + line / 2 + pad / 2;
  GstVideoRectangle at = { content->width - width - sheet->border - MAX (2, content->height / 60),
    (content->height - height) / 2, width, height };
  if (width <= content->width * 2 / 5 && height <= content->height - 2 * sheet->border && is_free (sheet, &at)) {
    g_autoptr (PangoLayout) name = new_layout (sheet, content->scale.metric ? "m" : "px", font, TRUE, &widest, &line);
    cairo_t *cr = begin_piece (width, height);
    guint8 rgb[3];

    draw_background (cr, width, height, font / 3.0, DARK);
    for (gint y = 0; y < high; y++) {
      gst_stereo_colormap_rgb (content->colormap, y / (high - 1.0), rgb);
      set_color (cr, 0xff000000 | (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2]);
      cairo_rectangle (cr, left, top + y, bar, 1);
      cairo_fill (cr);
    }
    set_color (cr, WHITE);
    cairo_move_to (cr, width - pad - widest, pad / 2.0);
    pango_cairo_show_layout (cr, name);
    for (guint i = 0; i < count; i++) {
      gdouble y = top + gst_stereo_scale_position (&content->scale, values[i] * unit) * (high - 1);

      cairo_move_to (cr, left - font / 3.0 - widths[i], y - line / 2.0);
      pango_cairo_show_layout (cr, numbers[i]);
      cairo_rectangle (cr, left - font / 4.0, floor (y), font / 4.0, 1);
      cairo_fill (cr);
    }
    sheet->taken[sheet->n_taken++] = at;
    end_piece (sheet, cr, at.x, at.y);
  }
  for (guint i = 0; i < count; i++)
    g_object_unref (numbers[i]);
}

/* ---- all --------------------------------------------------------------------------------- */

#define SMALLEST 64 /* a picture lower than this has no room for a legend */

void
gst_depth_overlay_text_draw (PangoContext *context, const GstDepthOverlayContent *content, GstVideoFrame *frame)
{
  Sheet sheet = { context, content, frame, .font = MAX (10, content->height / 22) };
  gboolean unknown = content->verdict == GST_STEREO_NEAREST_STATE_UNKNOWN;

  /* what belongs to the moment of the picture is below all text */
  if (content->placed && content->part)
    put_frame (&sheet, &content->region, WHITE);
  for (guint i = 0; content->placed && i < content->n_corridor; i++)
    put_line (&sheet, &content->corridor[i], 0xff40c8ff);
  for (guint i = 0; content->placed && i < content->n_marks; i++)
    put_line (&sheet, &content->marks[i], GREEN);
  for (guint i = content->placed ? content->n_boxes : 0; i-- > 0;)
    put_frame (&sheet, &content->boxes[i].at, content->boxes[i].warning ? 0xffff3030 : WHITE);
  if (content->panel && (unknown || content->warning)) {
    sheet.border = MAX (2, content->height / (unknown ? 28 : 50));
    put_sides (&sheet, (GstVideoRectangle){ 0, 0, content->width, content->height }, sheet.border,
        unknown ? AMBER : RED, unknown);
  }
  if (content->panel)
    put_readout (&sheet);
  if (content->legend && content->height >= SMALLEST)
    put_legend (&sheet);
  for (guint i = 0; content->placed && i < content->n_boxes; i++)
    put_label (&sheet, &content->boxes[i]);
  if (content->placed && content->valid)
    put_marker (&sheet, content->x, content->y);
}
