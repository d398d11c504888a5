/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Draws what is over a frame, as its metadata says. Pango and cairo draw a piece, which GStreamer blends into the frame. */
#include "gst/overlay/overlay.h"

#include <gst/video/gstvideosink.h>
#include <math.h>
#include <pango/pangocairo.h>

#define BLACK 0xd0000000
#define WHITE 0xffffffff
#define RED 0xffd21010
#define AMBER 0xfff5a800
#define GREEN 0xff18c060
#define DARK 0xb80d0f14
#define MOST_LABELS 3 /* so many things have a box and a label */

/* A frame that is drawn over, and the places of its text, of which no two overlap. */
typedef struct
{
  PangoContext *context;
  const GstDepthOverlayContent *content;
  GstVideoFrame *frame;
  gint width, height; /* of the frame */
  gint border;        /* pixels */
  gint font;          /* pixels: digits are 3 % of the picture high, or more */
  GstVideoRectangle taken[2 + MOST_LABELS];
  guint n_taken;
} Sheet;

PangoContext *
gst_depth_overlay_display_new (void)
{
  /* Not the default font map: Pango makes one for each thread, and every start has another thread. */
  g_autoptr (PangoFontMap) fonts = pango_cairo_font_map_new ();

  return pango_font_map_create_context (fonts);
}

/* ---- words ------------------------------------------------------------------------------- */

/* "3.42 m", "12.3 m", "57.5 px": no more digits than depth has. */
static void
format_value (gchar *string, gsize size, gdouble value, gboolean metric)
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

#define CHARACTERS 15 /* of the type */
#define LINE_SEPARATOR 0x2028
#define PARAGRAPH_SEPARATOR 0x2029

void
gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value)
{
  /* no character that is shown lies behind these bytes, whatever a detector wrote */
  g_autofree gchar *valid = g_utf8_make_valid (type ? type : "", type ? (gssize) strnlen (type, 4 * CHARACTERS) : 0);
  const gchar *from = valid;
  gchar *to = label;

  for (gint i = 0; i < CHARACTERS && *from; i++) {
    gunichar c = g_utf8_get_char (from);
    /* some of the others turn the direction of what follows, and would turn a distance round, too */
    to += g_unichar_to_utf8 (g_unichar_isprint (c) && c != LINE_SEPARATOR && c != PARAGRAPH_SEPARATOR ? c : ' ', to);
    from = g_utf8_next_char (from);
  }
  if (to > label)
    *to++ = ' ';
  g_strlcpy (to, value, GST_DEPTH_OVERLAY_LABEL - (gsize) (to - label));
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
put_frame (const Sheet *sheet, GstVideoRectangle at, guint32 color)
{
  gint thick = MAX (1, sheet->height / 300);

  put_sides (sheet, at, thick, BLACK, FALSE);
  put_sides (sheet, (GstVideoRectangle){ at.x + thick, at.y + thick, at.w - 2 * thick, at.h - 2 * thick }, thick, color,
      FALSE);
}

static void
put_line (const Sheet *sheet, const gint x[2], const gint y[2], guint32 color)
{
  gint thick = MAX (4, sheet->height / 90), half = thick / 2, left = MIN (x[0], x[1]), top = MIN (y[0], y[1]);
  cairo_t *cr = begin_piece (ABS (x[1] - x[0]) + thick, ABS (y[1] - y[0]) + thick);

  for (gint pass = 0; pass < 2; pass++) {
    set_color (cr, pass == 0 ? BLACK : color);
    cairo_set_line_width (cr, pass == 0 ? thick : thick / 2.0);
    for (gint end = 0; end < 2; end++)
      cairo_line_to (cr, x[end] - left + thick / 2.0, y[end] - top + thick / 2.0);
    cairo_stroke (cr);
  }
  end_piece (sheet, cr, left - half, top - half);
}

/* A ring: the object in the middle stays visible. White with a dark rim, which no colour map hides. */
static void
put_marker (const Sheet *sheet, gint x, gint y)
{
  gint size = MAX (11, sheet->height / 14) | 1;
  gdouble line = MAX (1.5, size / 20.0);
  cairo_t *cr = begin_piece (size, size);

  for (gint pass = 0; pass < 2; pass++) {
    set_color (cr, pass == 0 ? BLACK : WHITE);
    cairo_set_line_width (cr, pass == 0 ? 2.4 * line : line);
    cairo_arc (cr, size / 2.0, size / 2.0, size * 0.38, 0, 2 * G_PI);
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

  sheet->taken[sheet->n_taken++] = (GstVideoRectangle){ x, y, panel->width, panel->height };
  set_color (cr, panel->color);
  cairo_paint (cr);
  if (panel->clear) {
    set_color (cr, GREEN);
    cairo_rectangle (cr, 0, 0, MAX (3, sheet->font / 3), panel->height);
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
  const GstStereoFoundNearest *nearest = &content->nearest;
  gboolean unknown = nearest->state == GST_STEREO_NEAREST_STATE_UNKNOWN, dated = GST_CLOCK_TIME_IS_VALID (content->age);
  gint margin = sheet->border + MAX (2, sheet->height / 60);
  const gchar *note = content->note ? content->note : "";
  gchar value[16] = "";
  Panel panel = { .most = MAX (8 * sheet->font, sheet->width * 3 / 5),
    .big = MAX (12, MIN (sheet->height / 9, sheet->width / 9)),
    .color = unknown     ? AMBER :
        nearest->warning ? RED :
                           DARK,
    .clear = !nearest->warning && nearest->state == GST_STEREO_NEAREST_STATE_CLEAR };

  if (nearest->valid)
    format_value (
        value, sizeof value, content->scale.metric ? nearest->distance : nearest->disparity, content->scale.metric);
  g_strlcpy (panel.lines[0], unknown ? "UNKNOWN" : *value ? value : "clear", sizeof panel.lines[0]);
  if (unknown)
    g_snprintf (panel.lines[1], sizeof panel.lines[1], "%s%s%s",
        content->reason     ? content->reason :
            nearest->reason ? nearest->reason :
                              "no reason is given",
        *value ? ", seen: " : "", value);
  else if (nearest->warning || (panel.clear && *value))
    g_strlcpy (panel.lines[1], nearest->warning ? "too near" : "clear", sizeof panel.lines[1]);
  /* a tenth of a second more rather than less */
  if (dated)
    g_snprintf (panel.lines[2], sizeof panel.lines[2], "%.1f s old%s%s", ceil ((gdouble) content->age / 1e8) / 10,
        *note ? ", " : "", note);
  else
    g_strlcpy (panel.lines[2], note, sizeof panel.lines[2]);
  if (dated && !unknown && !nearest->warning)
    panel.last = content->age > content->max_age ? 0xffff6050 : content->age > GST_SECOND / 2 ? AMBER : 0;
  else if (dated && unknown && content->age > content->max_age)
    panel.last = 0xffa00000;
  lay_panel (sheet, NULL, &panel);
  put_panel (sheet, &panel, margin, margin);
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
  gint font = sheet->font, pad = font / 3, bar = MAX (4, sheet->height / 60), high = sheet->height * 2 / 5;
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
  GstVideoRectangle at = { sheet->width - width - sheet->border - MAX (2, sheet->height / 60),
    (sheet->height - height) / 2, width, height };
  if (width <= sheet->width * 2 / 5 && height <= sheet->height - 2 * sheet->border && is_free (sheet, &at)) {
    g_autoptr (PangoLayout) name = new_layout (sheet, content->scale.metric ? "m" : "px", font, TRUE, &widest, &line);
    cairo_t *cr = begin_piece (width, height);
    guint8 rgb[3];

    set_color (cr, DARK);
    cairo_paint (cr);
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

/* ---- things ------------------------------------------------------------------------------ */

/* A thin frame around a part of the picture, and its label. */
typedef struct
{
  GstVideoRectangle at; /* pixels of the picture */
  gchar label[GST_DEPTH_OVERLAY_LABEL];
  gboolean warning;
  gboolean ahead;   /* in the driving corridor */
  gdouble distance; /* mm; infinite where it is not known */
} Thing;

/* A rectangle of the depth picture, whole pixels of the picture that is drawn. */
static GstVideoRectangle
scaled (const Sheet *sheet, gint64 x, gint64 y, gint64 width, gint64 height)
{
  gint64 across = sheet->content->depth_width, down = sheet->content->depth_height;
  gint64 left = CLAMP (x, 0, across) * sheet->width / across, top = CLAMP (y, 0, down) * sheet->height / down;
  gint64 right = (CLAMP (x + width, 0, across) * sheet->width + across - 1) / across;
  gint64 bottom = (CLAMP (y + height, 0, down) * sheet->height + down - 1) / down;

  return (GstVideoRectangle){ (gint) left, (gint) top, (gint) (right - left), (gint) (bottom - top) };
}

static gint
compare_things (gconstpointer one, gconstpointer other)
{
  const Thing *first = one, *second = other;

  if (first->ahead != second->ahead)
    return first->ahead ? -1 : 1;
  return first->distance < second->distance ? -1 : first->distance > second->distance;
}

/* stereoground's obstacles, and the regions of others that stereonearest measured; the nearest of those ahead come first. */
static GArray *
read_things (const Sheet *sheet)
{
  GArray *things = g_array_new (FALSE, FALSE, sizeof (Thing));
  gpointer state = NULL;
  GstMeta *next;

  while ((next = gst_buffer_iterate_meta_filtered (
              sheet->content->depth, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) next;
    const GstStructure *obstacle = gst_video_region_of_interest_meta_get_param (roi, "stereo-obstacle");
    const GstStructure *measured = gst_video_region_of_interest_meta_get_param (roi, "stereo-distance");
    Thing thing = { .at = scaled (sheet, roi->x, roi->y, roi->w, roi->h), .distance = INFINITY };
    gdouble number = 0;
    gchar value[16] = "?";

    if (!obstacle && !measured)
      continue;
    if (gst_structure_get_double (obstacle ? obstacle : measured, "distance", &number) && number >= 0) {
      thing.distance = number;
      format_value (value, sizeof value, number, TRUE);
    } else if (measured && gst_structure_get_double (measured, "disparity", &number)) {
      format_value (value, sizeof value, number, FALSE);
    }
    /* without a corridor, all obstacles are in the way */
    if (obstacle && !gst_structure_get_boolean (obstacle, "ahead", &thing.ahead))
      thing.ahead = TRUE;
    thing.warning = thing.ahead && thing.distance < sheet->content->nearest.warn_distance;
    gst_depth_overlay_label_make (thing.label, obstacle ? NULL : g_quark_to_string (roi->roi_type), value);
    g_array_append_val (things, thing);
  }
  g_array_sort (things, compare_things);
  g_array_set_size (things, MIN (things->len, MOST_LABELS));
  return things;
}

/* Above the thing, in it, or below it; not at all where other text has these places. */
static void
put_label (Sheet *sheet, const Thing *thing)
{
  const GstVideoRectangle *around = &thing->at;
  Panel panel = { .color = thing->warning ? RED : DARK };

  g_strlcpy (panel.lines[1], thing->label, sizeof panel.lines[1]);
  lay_panel (sheet, NULL, &panel);
  const gint tops[] = { around->y - panel.height, around->y, around->y + around->h,
    around->y + around->h - panel.height, around->y - 2 * panel.height };
  const gint lefts[] = { around->x, around->x + around->w - panel.width, around->x + around->w,
    around->x - panel.width };
  gint right = MAX (sheet->border, sheet->width - sheet->border - panel.width);
  for (guint i = 0; i < G_N_ELEMENTS (lefts) * G_N_ELEMENTS (tops); i++) {
    GstVideoRectangle at = { CLAMP (lefts[i / G_N_ELEMENTS (tops)], sheet->border, right),
      tops[i % G_N_ELEMENTS (tops)], panel.width, panel.height };

    if (at.y >= sheet->border && at.y + at.h <= sheet->height - sheet->border && is_free (sheet, &at)) {
      put_panel (sheet, &panel, at.x, at.y);
      return;
    }
  }
}

/* ---- ground ------------------------------------------------------------------------------ */

/* Where the ground at @distance (mm) is seen in a column of the depth, in rows of the picture; FALSE: outside. Its disparity is
 * plane[0] + plane[1] * x + plane[2] * y, pixels of the depth. */
static gboolean
row_of (const Sheet *sheet, const gdouble plane[3], gdouble x, gdouble distance, gint *row)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (sheet->content->depth);
  gdouble disparity = meta->focal_length * meta->baseline / distance - meta->principal_offset;
  gdouble y = (disparity - plane[0] - plane[1] * x) / plane[2];

  if (!(y >= 0 && y < sheet->content->depth_height))
    return FALSE;
  *row = (gint) (y * sheet->height / sheet->content->depth_height);
  return TRUE;
}

#define CORRIDOR_END 30000 /* mm: beyond it, both sides are a few pixels apart */

/* A side of the corridor on the ground, from the bottom of the picture on. */
static void
put_side (const Sheet *sheet, const gdouble plane[3], gdouble aside)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (sheet->content->depth);
  gint width = sheet->content->depth_width, x[2], y[2];
  gdouble middle = meta->principal_x > 0 ? meta->principal_x : width / 2.0;
  guint end = 0;

  for (gdouble distance = CORRIDOR_END; distance > 300; distance *= 0.97) {
    gdouble at = middle + aside * meta->focal_length / distance;

    if (!(at >= 0 && at < width) || !row_of (sheet, plane, at, distance, &y[end]))
      continue;
    x[end] = (gint) (at * sheet->width / width);
    if (end == 0)
      x[1] = x[0], y[1] = y[0];
    end = 1; /* the second end is the nearest one that is in the picture */
  }
  if (end && y[1] > y[0])
    put_line (sheet, x, y, 0xff40c8ff);
}

/* Both sides of the corridor, and a short green line in each column whose ground is free up to some distance. */
static void
put_ground (const Sheet *sheet)
{
  const GstStructure *ground = gst_stereo_found_get (sheet->content->depth, GST_STEREO_GROUND_META);
  gboolean valid = FALSE;
  gdouble corridor = 0, plane[3];

  if (!ground || !gst_structure_get_boolean (ground, "ground", &valid) || !valid ||
      !gst_structure_get (ground, "plane-offset", G_TYPE_DOUBLE, &plane[0], "plane-across", G_TYPE_DOUBLE, &plane[1],
          "plane-down", G_TYPE_DOUBLE, &plane[2], NULL))
    return;
  gst_structure_get_double (ground, "corridor", &corridor);
  for (gint side = -1; side <= 1 && corridor > 0; side += 2)
    put_side (sheet, plane, side * corridor / 2);
  const GValue *all = gst_structure_get_value (ground, "free-distances");
  guint columns = all && GST_VALUE_HOLDS_ARRAY (all) ? gst_value_array_get_size (all) : 0;
  for (guint i = 0; i < MIN (columns, 256); i++) {
    const GValue *one = gst_value_array_get_value (all, i);
    gdouble distance = G_VALUE_HOLDS_DOUBLE (one) ? g_value_get_double (one) : 0;
    gint from = (gint) (i * (guint) sheet->width / columns), to = (gint) ((i + 1) * (guint) sheet->width / columns), row;

    if (distance > 0 && row_of (sheet, plane, (i + 0.5) * sheet->content->depth_width / columns, distance, &row))
      put_line (sheet, (gint[2]){ from, MAX (from + 1, to) }, (gint[2]){ row, row }, GREEN);
  }
}

/* ---- all --------------------------------------------------------------------------------- */

void
gst_depth_overlay_draw (PangoContext *context, const GstDepthOverlayContent *content, GstVideoFrame *frame)
{
  const GstStereoFoundNearest *nearest = &content->nearest;
  gint width = GST_VIDEO_FRAME_WIDTH (frame), height = GST_VIDEO_FRAME_HEIGHT (frame);
  Sheet sheet = { context, content, frame, width, height, .font = MAX (10, height / 22) };
  gboolean unknown = nearest->state == GST_STEREO_NEAREST_STATE_UNKNOWN, placed = content->placed && content->depth;
  g_autoptr (GArray) things = placed ? read_things (&sheet) : g_array_new (FALSE, FALSE, sizeof (Thing));

  /* what belongs to the moment of the picture is below all text */
  if (content->placed && (nearest->region_width < content->depth_width || nearest->region_height < content->depth_height))
    put_frame (&sheet,
        scaled (&sheet, nearest->region_x, nearest->region_y, nearest->region_width, nearest->region_height), WHITE);
  if (placed)
    put_ground (&sheet);
  for (guint i = things->len; i-- > 0;) {
    const Thing *thing = &g_array_index (things, Thing, i);

    put_frame (&sheet, thing->at, thing->warning ? 0xffff3030 : WHITE);
  }
  if (content->panel && (unknown || nearest->warning)) {
    sheet.border = MAX (2, height / (unknown ? 28 : 50));
    put_sides (&sheet, (GstVideoRectangle){ 0, 0, width, height }, sheet.border, unknown ? AMBER : RED, unknown);
  }
  if (content->panel)
    put_readout (&sheet);
  if (content->legend && height >= 64) /* a lower picture has no room for it */
    put_legend (&sheet);
  for (guint i = 0; i < things->len; i++)
    put_label (&sheet, &g_array_index (things, Thing, i));
  if (content->placed && nearest->valid)
    put_marker (&sheet, (gint) ((2 * (gint64) nearest->x + 1) * width / (2 * (gint64) content->depth_width)),
        (gint) ((2 * (gint64) nearest->y + 1) * height / (2 * (gint64) content->depth_height)));
}
