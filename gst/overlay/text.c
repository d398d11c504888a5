/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws what is over a frame. Every piece is drawn by cairo once, and blended into each frame until what it shows changes: a
 * piece depends on its key alone.
 */
#include "gst/overlay/overlay.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#define PIECES 40   /* more than any frame has */
#define SMALLEST 64 /* a picture lower than this has no room for a legend */

typedef enum
{
  SOLID,
  HATCH, /* of the border, where nothing is known */
  MARKER,
  LINE,
  PANEL, /* text */
  LEGEND
} Kind;

/* The input of the drawing of a piece. Fields that a piece does not use are 0, because keys are compared with memcmp(). */
typedef struct
{
  Kind kind;
  gint width, height; /* of the piece; a panel is measured */
  gint most;          /* width of a panel at most, but for its first line */
  gint big, font;     /* pixels: of the first line of a panel, and of others, the legend, a LINE */
  guint32 color;      /* ARGB: SOLID, LINE, background of a panel */
  guint32 last;       /* ARGB: last line of a panel; 0: as the others */
  gboolean clear;     /* a panel with a green bar */
  gboolean rising;    /* LINE: from the lower left corner */
  GstStereoColormap colormap;
  GstStereoScale scale;
  gchar lines[3][GST_DEPTH_OVERLAY_LABEL];
} Key;

typedef struct
{
  Key key;
  gint width, height;
  GstVideoFrame pixels; /* of no buffer; zeroed: the place is free */
  guint64 used;         /* the frame that it was used in last */
} Piece;

struct _GstDepthOverlayText
{
  PangoFontMap *fonts;
  PangoContext *context;
  guint64 frames;
  Piece pieces[PIECES];
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
    g_free (text->pieces[i].pixels.data[0]);
  g_object_unref (text->context);
  g_object_unref (text->fonts);
  g_free (text);
}

/* ---- shapes ------------------------------------------------------------------------------ */

static void
set_color (cairo_t *cr, guint32 argb)
{
  cairo_set_source_rgba (
      cr, (argb >> 16 & 255) / 255.0, (argb >> 8 & 255) / 255.0, (argb & 255) / 255.0, (argb >> 24) / 255.0);
}

#define BLACK 0xd0000000
#define WHITE 0xffffffff
#define RED 0xffd21010
#define AMBER 0xfff5a800
#define GREEN 0xff18c060
#define DARK 0xb80d0f14

static void
draw_hatch (cairo_t *cr, const Key *key)
{
  gint size = MIN (key->width, key->height), step = MAX (6, 2 * size);

  set_color (cr, AMBER);
  cairo_paint (cr);
  set_color (cr, 0xff000000);
  cairo_set_line_width (cr, step / 2.0 / G_SQRT2);
  for (gint x = -key->height; x < key->width + step; x += step) {
    cairo_move_to (cr, x, key->height + 0.0);
    cairo_line_to (cr, x + key->height, 0);
  }
  cairo_stroke (cr);
}

/* A ring with four ticks: the object in the middle stays visible. White with a dark rim, which no colour map hides. */
static void
draw_marker (cairo_t *cr, const Key *key)
{
  gdouble line = MAX (1.5, key->width / 24.0), radius = key->width * 0.28, middle = key->width / 2.0;

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
}

static void
draw_line (cairo_t *cr, const Key *key)
{
  gdouble half = key->font / 2.0;

  for (gint pass = 0; pass < 2; pass++) {
    set_color (cr, pass == 0 ? BLACK : key->color);
    cairo_set_line_width (cr, pass == 0 ? key->font : half);
    cairo_move_to (cr, half, key->rising ? key->height - half : half);
    cairo_line_to (cr, key->width - half, key->rising ? half : key->height - half);
    cairo_stroke (cr);
  }
}

/* ---- text -------------------------------------------------------------------------------- */

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

/* @x: of the left or the right edge. */
static void
show_text (PangoContext *context, cairo_t *cr, const Key *key, const gchar *string, gboolean bold, gdouble x, gdouble y,
    gdouble right, gdouble down)
{
  g_autoptr (PangoLayout) layout = new_layout (context, string, key->font, bold);
  gint wide, high;

  pango_layout_get_pixel_size (layout, &wide, &high);
  cairo_move_to (cr, x - right * wide, y - down * high);
  pango_cairo_show_layout (cr, layout);
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

/* The lines of a panel; @cr NULL: only measures. Long lines are wrapped once, and then cut. */
static void
lay_panel (PangoContext *context, cairo_t *cr, const Key *key, gint *width, gint *height)
{
  gint pad = (key->big ? key->big : key->font) / 3, y = pad / 2, widest = 0, wide, high;

  for (guint i = 0; i < G_N_ELEMENTS (key->lines); i++) {
    if (!*key->lines[i])
      continue;
    g_autoptr (PangoLayout) layout = new_layout (context, key->lines[i], i == 0 ? key->big : key->font, i == 0);
    if (i > 0 && key->most) {
      pango_layout_set_width (layout, MAX (1, key->most - 2 * pad) * PANGO_SCALE);
      pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
      pango_layout_set_height (layout, -2);
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    }
    pango_layout_get_pixel_size (layout, &wide, &high);
    widest = MAX (widest, wide);
    if (cr) {
      set_color (cr, i == 2 && key->last ? key->last : key->color == AMBER ? 0xff000000 : WHITE);
      cairo_move_to (cr, pad, y);
      pango_cairo_show_layout (cr, layout);
    }
    y += high;
  }
  /* rounded up to a step, so that the panel does not change its size with every digit */
  *width = (widest + 2 * pad + pad) / (pad + 1) * (pad + 1);
  *height = y + pad / 2;
}

static void
draw_panel (PangoContext *context, cairo_t *cr, const Key *key, gint width, gint height)
{
  gdouble radius = key->font / 3.0;

  draw_background (cr, width, height, radius, key->color);
  if (key->clear) {
    set_color (cr, GREEN);
    cairo_rectangle (cr, 0, radius, MAX (3, radius), height - 2 * radius);
    cairo_fill (cr);
  }
  lay_panel (context, cr, key, &width, &height);
}

/* ---- legend ------------------------------------------------------------------------------ */

#define TICKS 10
#define GAP 0.11 /* of the bar, between ticks at least: a line of text */
#define NUMBER 3 /* width of the longest number, in heights of the font */

/* Where a value stands on the bar: 0 = far, 1 = near. In m, or px. */
static gdouble
bar_position (const GstStereoScale *scale, gdouble value)
{
  return gst_stereo_scale_position (scale, scale->metric ? value * 1000 : value);
}

/* Both ends of the range, and between them the round numbers that keep their distance on the bar. */
static guint
tick_values (const GstStereoScale *scale, gdouble values[TICKS])
{
  static const gdouble digits[] = { 1, 2, 3, 5, 7 };
  gdouble unit = scale->metric ? 1000 : 1;
  gdouble low = MIN (scale->near, scale->far) / unit, high = MAX (scale->near, scale->far) / unit;
  gdouble last = bar_position (scale, low), end = bar_position (scale, high);
  guint count = 0;

  values[count++] = low;
  for (gdouble power = pow (10, floor (log10 (MAX (low, 0.001)))); power < high; power *= 10)
    for (guint i = 0; i < G_N_ELEMENTS (digits) && count < TICKS - 1; i++) {
      gdouble value = digits[i] * power, position = bar_position (scale, value);

      if (value <= low || value >= high || fabs (position - last) < GAP || fabs (position - end) < GAP)
        continue;
      values[count++] = value;
      last = position;
    }
  values[count++] = high;
  return count;
}

/* Near is at the bottom: near objects are mostly in the lower part of a picture. */
static void
draw_legend (PangoContext *context, cairo_t *cr, const Key *key)
{
  gdouble values[TICKS], pad = key->font / 2 + 2, left = pad + (NUMBER + 0.5) * key->font, top = pad + 2 * key->font;
  gdouble wide = key->width - left - pad, high = key->height - top - pad;
  guint count = tick_values (&key->scale, values);
  guint8 rgb[3];

  draw_background (cr, key->width, key->height, key->font / 2.0, DARK);
  for (gint y = 0; y < high; y++) {
    gst_stereo_colormap_rgb (key->colormap, y / (high - 1), rgb);
    set_color (cr, 0xff000000 | (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2]);
    cairo_rectangle (cr, left, top + y, wide, 1);
    cairo_fill (cr);
  }
  set_color (cr, WHITE);
  show_text (context, cr, key, key->scale.metric ? "m" : "px", TRUE, left + wide / 2, pad, 0.5, 0);
  for (guint i = 0; i < count; i++) {
    gdouble y = top + bar_position (&key->scale, values[i]) * (high - 1);
    g_autofree gchar *string = g_strdup_printf ("%.4g", values[i]);

    show_text (context, cr, key, string, FALSE, left - key->font * 0.4, y, 1, 0.5);
    cairo_rectangle (cr, left - key->font * 0.25, floor (y), key->font * 0.25, 1);
    cairo_fill (cr);
  }
}

/* ---- pieces ------------------------------------------------------------------------------ */

static void
render (GstDepthOverlayText *text, Piece *piece)
{
  gint width = piece->width, height = piece->height;

  gst_video_info_set_format (
      &piece->pixels.info, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint) width, (guint) height);
  GST_VIDEO_INFO_FLAGS (&piece->pixels.info) |= GST_VIDEO_FLAG_PREMULTIPLIED_ALPHA;
  piece->pixels.data[0] = g_malloc0 (GST_VIDEO_INFO_SIZE (&piece->pixels.info));
  cairo_surface_t *surface = cairo_image_surface_create_for_data (
      piece->pixels.data[0], CAIRO_FORMAT_ARGB32, width, height, 4 * width);
  cairo_t *cr = cairo_create (surface);
  pango_cairo_update_context (cr, text->context);
  switch (piece->key.kind) {
    case SOLID:
      set_color (cr, piece->key.color);
      cairo_paint (cr);
      break;
    case HATCH:
      draw_hatch (cr, &piece->key);
      break;
    case MARKER:
      draw_marker (cr, &piece->key);
      break;
    case LINE:
      draw_line (cr, &piece->key);
      break;
    case PANEL:
      draw_panel (text->context, cr, &piece->key, width, height);
      break;
    case LEGEND:
      draw_legend (text->context, cr, &piece->key);
      break;
  }
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

/* The piece with that key, drawn. It takes the place of the one that was not used for the longest time. */
static Piece *
piece_of (GstDepthOverlayText *text, const Key *key)
{
  Piece *oldest = &text->pieces[0];

  for (guint i = 0; i < PIECES; i++) {
    Piece *piece = &text->pieces[i];

    if (piece->pixels.data[0] && memcmp (&piece->key, key, sizeof *key) == 0) {
      piece->used = text->frames;
      return piece;
    }
    if (piece->used < oldest->used)
      oldest = piece;
  }
  g_free (oldest->pixels.data[0]);
  oldest->key = *key;
  oldest->used = text->frames;
  oldest->width = key->width;
  oldest->height = key->height;
  if (key->kind == PANEL)
    lay_panel (text->context, NULL, key, &oldest->width, &oldest->height);
  render (text, oldest);
  return oldest;
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

static void
put (GstDepthOverlayText *text, const Key *key, gint x, gint y, GstVideoFrame *frame)
{
  Piece *piece = piece_of (text, key);
  GstVideoFrame part;

  if (part_under (&part, frame, &x, &y, piece->width, piece->height))
    gst_video_blend (&part, &piece->pixels, x, y, 1);
}

static Key
new_key (Kind kind)
{
  Key key;

  memset (&key, 0, sizeof key);
  key.kind = kind;
  return key;
}

/* The four sides of a frame along the inside of a rectangle. */
static void
put_sides (
    GstDepthOverlayText *text, GstVideoFrame *frame, const GstVideoRectangle *at, Kind kind, guint32 color, gint thick)
{
  Key key = new_key (kind);

  if (MIN (at->w, at->h) <= 2 * thick)
    return;
  key.color = color;
  key.width = at->w;
  key.height = thick;
  put (text, &key, at->x, at->y, frame);
  put (text, &key, at->x, at->y + at->h - thick, frame);
  key.width = thick;
  key.height = at->h - 2 * thick;
  put (text, &key, at->x, at->y + thick, frame);
  put (text, &key, at->x + at->w - thick, at->y + thick, frame);
}

/* Light within dark: visible over any colour. */
static void
put_frame (GstDepthOverlayText *text, GstVideoFrame *frame, const GstVideoRectangle *at, guint32 color)
{
  gint thick = MAX (1, GST_VIDEO_FRAME_HEIGHT (frame) / 300);
  GstVideoRectangle inner = { at->x + thick, at->y + thick, at->w - 2 * thick, at->h - 2 * thick };

  put_sides (text, frame, at, SOLID, BLACK, thick);
  put_sides (text, frame, &inner, SOLID, color, thick);
}

static void
put_line (GstDepthOverlayText *text, GstVideoFrame *frame, const GstDepthOverlayLine *line, guint32 color)
{
  gint thick = MAX (4, GST_VIDEO_FRAME_HEIGHT (frame) / 90), half = thick / 2;
  Key key = new_key (LINE);

  key.font = thick;
  key.color = color;
  key.width = ABS (line->x[1] - line->x[0]) + thick;
  key.height = ABS (line->y[1] - line->y[0]) + thick;
  key.rising = (line->x[1] > line->x[0]) != (line->y[1] > line->y[0]);
  put (text, &key, MIN (line->x[0], line->x[1]) - half, MIN (line->y[0], line->y[1]) - half, frame);
}

/* ---- layout ------------------------------------------------------------------------------ */

#define MOST_TAKEN (2 + GST_DEPTH_OVERLAY_LABELS)

/* A frame that is drawn over, and the places of its text, of which no two overlap. */
typedef struct
{
  GstDepthOverlayText *text;
  const GstDepthOverlayContent *content;
  GstVideoFrame *frame;
  gint border; /* pixels */
  gint font;   /* pixels: digits are 3 % of the picture high, or more */
  GstVideoRectangle taken[MOST_TAKEN];
  guint n_taken;
} Sheet;

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

/* Takes the place of a piece, and blends it there. */
static void
take (Sheet *sheet, const Key *key, gint x, gint y)
{
  const Piece *piece = piece_of (sheet->text, key);

  sheet->taken[sheet->n_taken++] = (GstVideoRectangle){ x, y, piece->width, piece->height };
  put (sheet->text, key, x, y, sheet->frame);
}

/* The word or the number, why it is so, and how old it is. */
static void
put_readout (Sheet *sheet)
{
  const GstDepthOverlayContent *content = sheet->content;
  gboolean unknown = content->verdict == GST_STEREO_NEAREST_STATE_UNKNOWN,
           dated = GST_CLOCK_TIME_IS_VALID (content->age);
  gint margin = sheet->border + MAX (2, content->height / 60);
  Key key = new_key (PANEL);
  gchar value[16] = "";

  if (content->valid)
    gst_depth_overlay_format (value, sizeof value, content->value, content->scale.metric);
  key.big = MAX (12, MIN (content->height / 9, content->width / 9));
  key.font = sheet->font;
  key.most = MAX (8 * key.font, content->width * 3 / 5);
  key.color = unknown ? AMBER : content->warning ? RED : DARK;
  key.clear = !unknown && !content->warning && content->verdict == GST_STEREO_NEAREST_STATE_CLEAR;
  g_strlcpy (key.lines[0], unknown ? "UNKNOWN" : *value ? value : "clear", sizeof key.lines[0]);
  if (unknown)
    g_snprintf (key.lines[1], sizeof key.lines[1], "%s%s%s", content->reason, *value ? ", seen: " : "", value);
  else if (content->warning || (key.clear && *value))
    g_strlcpy (key.lines[1], content->warning ? "too near" : "clear", sizeof key.lines[1]);
  /* a tenth of a second more rather than less */
  if (dated)
    g_snprintf (key.lines[2], sizeof key.lines[2], "%.1f s old%s%s", ceil ((gdouble) content->age / 1e8) / 10,
        *content->note ? ", " : "", content->note);
  else
    g_strlcpy (key.lines[2], content->note, sizeof key.lines[2]);
  if (dated && !unknown && !content->warning)
    key.last = content->age > content->max_age ? 0xffff6050 : content->age > GST_SECOND / 2 ? AMBER : 0;
  else if (dated && unknown && content->age > content->max_age)
    key.last = 0xffa00000;
  take (sheet, &key, margin, margin);
}

/* Always at the right: it must not change sides from frame to frame. */
static void
put_legend (Sheet *sheet)
{
  const GstDepthOverlayContent *content = sheet->content;
  Key key = new_key (LEGEND);

  if (content->height < SMALLEST)
    return;
  key.font = sheet->font;
  key.colormap = content->colormap;
  key.scale = content->scale;
  key.width = 2 * (key.font / 2 + 2) + (gint) ((NUMBER + 0.5) * key.font) + MAX (6, content->height / 45);
  key.height = 2 * (key.font / 2 + 2) + 2 * key.font + content->height * 11 / 20;
  gint x = content->width - key.width - sheet->border - MAX (2, content->height / 60);
  GstVideoRectangle at = { x, (content->height - key.height) / 2, key.width, key.height };
  if (key.width <= content->width * 2 / 5 && key.height <= content->height - 2 * sheet->border && is_free (sheet, &at))
    take (sheet, &key, at.x, at.y);
}

/* Above the box, in it, or below it; not at all where other text has these places. */
static void
put_label (Sheet *sheet, const GstDepthOverlayBox *box)
{
  const GstDepthOverlayContent *content = sheet->content;
  Key key = new_key (PANEL);

  key.font = sheet->font;
  key.color = box->warning ? RED : DARK;
  g_strlcpy (key.lines[1], box->label, sizeof key.lines[1]);
  const Piece *piece = piece_of (sheet->text, &key);
  const gint tops[] = { box->at.y - piece->height, box->at.y, box->at.y + box->at.h,
    box->at.y + box->at.h - piece->height, box->at.y - 2 * piece->height };
  gint right = content->width - sheet->border - piece->width;
  const gint lefts[] = { box->at.x, box->at.x + box->at.w - piece->width, box->at.x + box->at.w,
    box->at.x - piece->width };

  for (guint i = 0; i < G_N_ELEMENTS (lefts); i++)
    for (guint j = 0; j < G_N_ELEMENTS (tops); j++) {
      GstVideoRectangle at = { CLAMP (lefts[i], sheet->border, MAX (sheet->border, right)), tops[j], piece->width,
        piece->height };

      if (at.y < sheet->border || at.y + at.h > content->height - sheet->border || !is_free (sheet, &at))
        continue;
      take (sheet, &key, at.x, at.y);
      return;
    }
}

/* What belongs to the moment of the picture, below all text. */
static void
put_places (const Sheet *sheet)
{
  const GstDepthOverlayContent *content = sheet->content;

  if (content->part)
    put_frame (sheet->text, sheet->frame, &content->region, WHITE);
  for (guint i = 0; i < content->n_corridor; i++)
    put_line (sheet->text, sheet->frame, &content->corridor[i], 0xff40c8ff);
  for (guint i = 0; i < content->n_marks; i++)
    put_line (sheet->text, sheet->frame, &content->marks[i], GREEN);
  for (guint i = content->n_boxes; i-- > 0;)
    put_frame (sheet->text, sheet->frame, &content->boxes[i].at, content->boxes[i].warning ? 0xffff3030 : WHITE);
}

void
gst_depth_overlay_text_draw (GstDepthOverlayText *text, const GstDepthOverlayContent *content, GstVideoFrame *frame)
{
  const GstVideoRectangle whole = { 0, 0, content->width, content->height };
  gint size = MAX (11, content->height / 14) | 1;
  Sheet sheet = { .text = text, .content = content, .frame = frame, .font = MAX (10, content->height / 22) };
  gboolean unknown = content->verdict == GST_STEREO_NEAREST_STATE_UNKNOWN;

  text->frames++;
  if (content->placed)
    put_places (&sheet);
  if (content->panel && (unknown || content->warning)) {
    sheet.border = MAX (2, content->height / (unknown ? 28 : 50));
    put_sides (text, frame, &whole, unknown ? HATCH : SOLID, RED, sheet.border);
  }
  if (content->panel)
    put_readout (&sheet);
  if (content->legend)
    put_legend (&sheet);
  for (guint i = 0; content->placed && i < content->n_boxes; i++)
    put_label (&sheet, &content->boxes[i]);
  if (content->placed && content->valid) {
    Key key = new_key (MARKER);

    key.width = key.height = size;
    put (text, &key, content->x - size / 2, content->y - size / 2, frame);
  }
}
