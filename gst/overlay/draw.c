/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/draw.h"

#include <math.h>

#define TICKS 6
#define CURVED_GAP 0.085 /* of the bar, between ticks at least */

typedef GstDepthOverlayKey Key;

/* ---- drawing ----------------------------------------------------------------------------- */

static PangoLayout *
new_layout (PangoContext *context, const gchar *string, gint pixels, gboolean bold)
{
  PangoLayout *layout = pango_layout_new (context);
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

/* The background of text: dark, so that text is legible over any picture. */
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

void
gst_depth_overlay_draw_edge (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
{
  cairo_set_source_rgba (cr, 0.86, 0.06, 0.06, 0.85);
  cairo_paint (cr);
}

/* White on a dark line, as the marker: visible over any colour; red where the key warns. */
void
gst_depth_overlay_draw_region (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
{
  gint thick = MIN (width, height), light = MAX (1, thick / 2);

  cairo_set_source_rgba (cr, 0, 0, 0, 0.6);
  cairo_paint (cr);
  if (key->warning)
    cairo_set_source_rgba (cr, 1, 0.2, 0.2, 0.95);
  else
    cairo_set_source_rgba (cr, 1, 1, 1, 0.9);
  cairo_rectangle (cr, 0, 0, width > height ? width : light, width > height ? light : height);
  cairo_fill (cr);
}

void
gst_depth_overlay_draw_mark (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
{
  cairo_set_source_rgba (cr, 0.1, 1, 0.3, 0.9);
  cairo_paint (cr);
}

/* A ring with four ticks: the object in the middle stays visible. White with a dark rim, which no colour map
 * hides. */
void
gst_depth_overlay_draw_marker (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
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

void
gst_depth_overlay_measure_readout (PangoContext *context, const Key *key, gint *width, gint *height)
{
  gint font = readout_font (key), step = MAX (2, font / 2);
  PangoLayout *layout = new_layout (context, key->string, font, !key->notice);

  pango_layout_get_pixel_size (layout, width, height);
  g_object_unref (layout);
  *width += font + sign_width (key, font);
  /* rounded up to a step, so that the panel does not change its size with every digit */
  *width = (*width + step - 1) / step * step;
  *height += font / 3;
}

static void
draw_sign (PangoContext *context, cairo_t *cr, gint x, gint height, gint font)
{
  gdouble top = (height - 0.86 * font) / 2, bottom = height - top;
  PangoLayout *layout = new_layout (context, "!", font * 3 / 4, TRUE);
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

void
gst_depth_overlay_draw_readout (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
{
  gint font = readout_font (key);

  draw_panel (cr, width, height, font / 3.0, key->warning);
  if (key->warning)
    draw_sign (context, cr, font / 2, height, font);
  if (key->notice)
    cairo_set_source_rgb (cr, 1, 0.8, 0.36);
  else
    cairo_set_source_rgb (cr, 1, 1, 1);
  show_layout (cr, new_layout (context, key->string, font, !key->notice), font / 2 + sign_width (key, font), font / 6);
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

/* Where a value stands on the bar: 0 = far, 1 = near. In mm, or px. */
static gdouble
bar_position (const Key *key, gdouble value)
{
  return gst_stereo_curve_position (key->curve, key->near, key->far, key->metric ? value * 1000 : value);
}

/* From near to far the 1, 2, 3, 5 and 7 of each power of ten that keep their distance on a bar that is not linear. */
static guint
curved_tick_values (const Key *key, gdouble values[TICKS + 4])
{
  static const gdouble digits[] = { 1, 2, 3, 5, 7 };
  gdouble low = shown (key, key->near), high = shown (key, key->far), last = 1;
  guint count = 0;

  values[count++] = low;
  for (gdouble power = pow (10, floor (log10 (MAX (low, 0.001)))); power < high; power *= 10)
    for (guint i = 0; i < G_N_ELEMENTS (digits) && count < TICKS + 3; i++) {
      gdouble value = digits[i] * power, position = bar_position (key, value);

      if (value > low && value < high && last - position > CURVED_GAP && position > CURVED_GAP) {
        values[count++] = value;
        last = position;
      }
    }
  values[count++] = high;
  return count;
}

/* Both ends of the range, and round numbers that are not too close to them. */
static guint
tick_values (const Key *key, gdouble values[TICKS + 4])
{
  gdouble low = shown (key, MIN (key->near, key->far)), high = shown (key, MAX (key->near, key->far));
  gdouble step = tick_step (high - low);
  guint count = 0;

  if (key->curve != GST_STEREO_CURVE_LINEAR)
    return curved_tick_values (key, values);
  values[count++] = low;
  /* counted in whole numbers: adding 1 to a very large gdouble does not change it */
  for (gint i = 1; i <= TICKS + 1; i++) {
    gdouble value = (floor (low / step) + i) * step;
    if (value - low > 0.35 * step && high - value > 0.35 * step)
      values[count++] = value;
  }
  values[count++] = high;
  return count;
}

static void
shape_legend (PangoContext *context, const Key *key, LegendShape *shape, gint *width, gint *height)
{
  gdouble values[TICKS + 4];
  guint count = tick_values (key, values);
  gint widest = 0;

  shape->font = MAX (9, key->height / 32);
  shape->pad = shape->font / 2 + 2;
  for (guint i = 0; i < count; i++) {
    g_autofree gchar *string = tick_string (values[i]);
    PangoLayout *layout = new_layout (context, string, shape->font, FALSE);
    gint wide, high;

    pango_layout_get_pixel_size (layout, &wide, &high);
    widest = MAX (widest, wide);
    g_object_unref (layout);
  }
  shape->bar_width = MAX (6, key->height / 45);
  shape->bar_height = key->height * 9 / 20;
  shape->bar_x = shape->pad + widest + shape->font / 2;
  shape->bar_y = shape->pad + 2 * shape->font;
  *width = shape->bar_x + shape->bar_width + shape->pad;
  *height = shape->bar_y + shape->bar_height + shape->pad;
}

void
gst_depth_overlay_measure_legend (PangoContext *context, const Key *key, gint *width, gint *height)
{
  LegendShape shape;

  shape_legend (context, key, &shape, width, height);
}

/* Near is at the bottom: near objects are mostly in the lower part of a picture. */
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

void
gst_depth_overlay_draw_legend (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
{
  gdouble values[TICKS + 4];
  guint count = tick_values (key, values);
  gint wide, high;
  LegendShape shape;

  shape_legend (context, key, &shape, &width, &height);
  draw_panel (cr, width, height, shape.font / 2.0, FALSE);
  draw_bar (cr, key, &shape);
  cairo_set_source_rgb (cr, 1, 1, 1);
  PangoLayout *layout = new_layout (context, key->metric ? "m" : "px", shape.font, TRUE);
  pango_layout_get_pixel_size (layout, &wide, &high);
  show_layout (cr, layout, shape.bar_x + (shape.bar_width - wide) / 2.0, shape.pad);
  for (guint i = 0; i < count; i++) {
    gdouble y = shape.bar_y + bar_position (key, values[i]) * (shape.bar_height - 1);
    g_autofree gchar *string = tick_string (values[i]);

    layout = new_layout (context, string, shape.font, FALSE);
    pango_layout_get_pixel_size (layout, &wide, &high);
    show_layout (cr, layout, shape.bar_x - shape.font * 0.4 - wide, y - high / 2.0);
    cairo_rectangle (cr, shape.bar_x - shape.font * 0.25, floor (y), shape.font * 0.25, 1);
    cairo_fill (cr);
  }
}
