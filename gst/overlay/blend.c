/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A row takes three steps. Samples become codes. Codes become the numbers to add: alpha * colour in 16 bits, or
 * UNTOUCHED where nothing is shown. The row is blended with those numbers. The first two steps look up tables; the
 * third has neither a table nor a branch, so that the compiler can vectorise it.
 */
#include "gst/overlay/overlay.h"

#include <math.h>
#include <string.h>

#define CODES 256
#define ONE 256          /* alpha 1 */
#define UNTOUCHED 0xFFFF /* the sample stays as it is; above ONE * 255 + ONE / 2, the largest number to add */

/* Three sums of up to four pixels each in one number: ONE * 255 * 4 < 2^18. */
#define FIELD 21
#define FIELD_MASK ((1u << FIELD) - 1)

struct _GstStereoBlender
{
  GstVideoInfo info; /* of frames that the colours were made for, by @map and @wanted_alpha */
  GstStereoColormap map;
  gdouble wanted_alpha;
  gboolean have_colors;

  guint alpha;           /* of ONE */
  guint16 add[3][CODES]; /* of a component */
  guint64 pixel[CODES];  /* of a packed RGB pixel's bytes, 16 bits each */
  guint64 chroma[CODES]; /* alpha * U, alpha * V, alpha; all 0 where hidden */

  /* during a run: from @left, @top of one to the whole of the other */
  GstVideoFrame *in, *out;
  gint left, top;

  /* rows, for one width of frame and depth */
  gint width, depth_width;
  guint *columns;   /* the column of the depth for each of the frame */
  guint8 *sampled;  /* codes of a row of depth */
  guint8 *codes[2]; /* of two rows of the frame; one more than its width */
  guint16 *row;     /* to be added */
};

GstStereoBlender *
gst_stereo_blender_new (void)
{
  return g_new0 (GstStereoBlender, 1);
}

void
gst_stereo_blender_free (GstStereoBlender *blender)
{
  g_free (blender->columns);
  g_free (blender->sampled);
  g_free (blender->codes[0]);
  g_free (blender->codes[1]);
  g_free (blender->row);
  g_free (blender);
}

static void
ensure_rows (GstStereoBlender *blender, gint width, gint depth_width)
{
  if (blender->width == width && blender->depth_width == depth_width)
    return;
  blender->width = width;
  blender->depth_width = depth_width;
  blender->columns = g_renew (guint, blender->columns, width);
  for (gint x = 0; x < width; x++)
    blender->columns[x] = (guint) (((guint64) x * 2 + 1) * (guint64) depth_width / (2 * (guint64) width));
  blender->sampled = g_realloc (blender->sampled, (gsize) depth_width);
  for (guint i = 0; i < 2; i++)
    blender->codes[i] = g_realloc (blender->codes[i], (gsize) width + 1);
  /* a pixel is written as four numbers even where it has three */
  blender->row = g_renew (guint16, blender->row, 4 * (gsize) width + 4);
}

/* ---- colours ----------------------------------------------------------------------------- */

static guint8
level (gdouble value)
{
  return (guint8) lrint (CLAMP (value, 0, 255));
}

/* RGB as the three components of @info: itself, or Y, Cb and Cr. */
static void
convert (const GstVideoInfo *info, const guint8 rgb[3], guint8 components[3])
{
  const GstVideoColorimetry *color = &GST_VIDEO_INFO_COLORIMETRY (info);
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble kr, kb, luma;

  if (GST_VIDEO_INFO_IS_RGB (info)) {
    memcpy (components, rgb, 3);
    return;
  }
  if (!gst_video_color_matrix_get_Kr_Kb (color->matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  gst_video_color_range_offsets (color->range, info->finfo, offset, scale);
  luma = (kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2]) / 255;
  components[0] = level (offset[0] + scale[0] * luma);
  components[1] = level (offset[1] + scale[1] * (rgb[2] / 255.0 - luma) / (2 * (1 - kb)));
  components[2] = level (offset[2] + scale[2] * (rgb[0] / 255.0 - luma) / (2 * (1 - kr)));
}

/* The numbers to add in the order of a packed pixel's bytes; a byte that is none of the three components stays as it
 * is. */
static guint64
pack (const GstVideoFormatInfo *format, const guint16 add[3])
{
  guint16 bytes[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
  guint64 packed;

  for (guint c = 0; c < 3; c++)
    bytes[GST_VIDEO_FORMAT_INFO_POFFSET (format, c)] = add[c];
  memcpy (&packed, bytes, sizeof packed);
  return packed;
}

static void
set_colors (GstStereoBlender *blender, const GstVideoInfo *info, GstStereoColormap map, gdouble alpha)
{
  guint8 rgb[3], components[3] = { 0 };
  guint16 add[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
  gboolean packed = GST_VIDEO_INFO_IS_RGB (info);

  if (blender->have_colors && blender->map == map && blender->wanted_alpha == alpha &&
      gst_video_info_is_equal (&blender->info, info))
    return;
  blender->have_colors = TRUE;
  blender->map = map;
  blender->wanted_alpha = alpha;
  blender->info = *info;
  blender->alpha = (guint) lrint (CLAMP (alpha, 0, 1) * ONE);
  for (guint code = 0; code < CODES; code++) {
    guint64 weight = code == GST_STEREO_CODE_HIDDEN ? 0 : blender->alpha;

    if (code != GST_STEREO_CODE_HIDDEN) {
      gst_stereo_colormap_rgb (map, (code - 1) / (CODES - 2.0), rgb);
      convert (info, rgb, components);
      for (guint c = 0; c < 3; c++)
        add[c] = (guint16) (blender->alpha * components[c] + ONE / 2);
    }
    for (guint c = 0; c < 3; c++)
      blender->add[c][code] = add[c];
    blender->pixel[code] = packed ? pack (info->finfo, add) : 0;
    blender->chroma[code] = weight * components[1] | weight * components[2] << FIELD | weight << (2 * FIELD);
  }
}

/* ---- rows -------------------------------------------------------------------------------- */

/* A row of a component of the part of @frame from @left, @top on. */
static guint8 *
row_of (GstVideoFrame *frame, guint c, gint left, gint top, gint row)
{
  const GstVideoFormatInfo *format = frame->info.finfo;

  return (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c) +
      (gssize) ((top >> GST_VIDEO_FORMAT_INFO_H_SUB (format, c)) + row) * GST_VIDEO_FRAME_COMP_STRIDE (frame, c) +
      (gssize) (left >> GST_VIDEO_FORMAT_INFO_W_SUB (format, c)) * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
}

/* The codes of row @y of a frame @height rows high. */
static void
read_codes (
    GstStereoBlender *blender, const GstStereoDepthView *view, const guint8 *table, gint y, gint height, guint8 *codes)
{
  /* In locals: for the compiler, a byte that is written could change a member of *blender or *view. */
  gint from = (gint) (((gint64) y * 2 + 1) * view->height / (2 * (gint64) height));
  gint width = blender->width, depth_width = view->width;
  const guint8 *row = view->samples + (gssize) from * view->stride;
  guint8 *sampled = depth_width == width ? codes : blender->sampled;

  if (view->wide)
    for (gint x = 0; x < depth_width; x++)
      sampled[x] = table[(guint) row[2 * x] | (guint) row[2 * x + 1] << 8];
  else
    for (gint x = 0; x < depth_width; x++)
      sampled[x] = table[row[x]];
  if (view->confidence && view->min_confidence) {
    const guint8 *confidence = view->confidence + (gssize) from * view->confidence_stride;
    const guint8 least = (guint8) view->min_confidence;

    for (gint x = 0; x < depth_width; x++)
      sampled[x] = confidence[x] < least ? GST_STEREO_CODE_HIDDEN : sampled[x];
  }
  if (sampled != codes) {
    const guint *columns = blender->columns;

    for (gint x = 0; x < width; x++)
      codes[x] = sampled[columns[x]];
  }
  codes[width] = codes[width - 1];
}

/* Tells the compiler that the pixels of a loop do not depend on each other. */
#ifdef __clang__
#define INDEPENDENT _Pragma ("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma ("GCC ivdep")
#endif

/* @out may be @in. */
static void
blend_bytes (guint8 *out, const guint8 *in, const guint16 *add, gint count, guint alpha)
{
  const guint16 live_weight = (guint16) (ONE - alpha);

  INDEPENDENT
  for (gint i = 0; i < count; i++) {
    guint16 mixed = (guint16) (in[i] * live_weight + add[i]) >> 8;
    out[i] = add[i] == UNTOUCHED ? in[i] : (guint8) mixed;
  }
}

/* Blends row @y of a component that has a sample for every pixel. */
static void
blend_full (GstStereoBlender *blender, guint c, gint y, const guint8 *codes)
{
  const guint8 *in = row_of (blender->in, c, blender->left, blender->top, y);
  guint8 *out = row_of (blender->out, c, 0, 0, y);
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (blender->out, c);
  const guint16 *add = blender->add[c];
  guint16 *row = blender->row;
  gint width = blender->width;

  for (gint x = 0; x < width; x++)
    row[x] = add[codes[x]];
  if (step == 1) {
    blend_bytes (out, in, row, width, blender->alpha);
    return;
  }
  guint live_weight = ONE - blender->alpha;
  for (gint x = 0; x < width; x++) {
    guint mixed = (in[step * x] * live_weight + row[x]) >> 8;
    out[step * x] = row[x] == UNTOUCHED ? in[step * x] : (guint8) mixed;
  }
}

/* Blends row @y of packed RGB: all bytes at once, from the first pixel's first byte, whichever component that is. */
static void
blend_pixels (GstStereoBlender *blender, gint y, const guint8 *codes)
{
  gint back = GST_VIDEO_FRAME_COMP_POFFSET (blender->out, 0), step = GST_VIDEO_FRAME_COMP_PSTRIDE (blender->out, 0);
  const guint64 *pixel = blender->pixel;
  guint16 *row = blender->row;
  gint width = blender->width;

  if (step == 4)
    for (gint x = 0; x < width; x++)
      memcpy (row + 4 * x, &pixel[codes[x]], sizeof (guint64));
  else
    for (gint x = 0; x < width; x++)
      memcpy (row + 3 * x, &pixel[codes[x]], sizeof (guint64));
  blend_bytes (row_of (blender->out, 0, 0, 0, y) - back, row_of (blender->in, 0, blender->left, blender->top, y) - back,
      row, step * width, blender->alpha);
}

/* Blends both chroma components. A sample covers two pixels of @first and, in 4:2:0, two of @second. @bits: log2
 * of the number of pixels. */
static inline void
blend_chroma (const GstStereoBlender *blender, guint8 *const out[2], guint8 *const in[2], const guint8 *first,
    const guint8 *second, gint step, guint bits)
{
  const guint64 *chroma = blender->chroma;
  const guint shift = 8 + bits, half = 1u << (shift - 1);
  gint width = (blender->width + 1) / 2;

  for (gint x = 0; x < width; x++) {
    guint64 sum = chroma[first[2 * x]] + chroma[first[2 * x + 1]];

    if (bits == 2)
      sum += chroma[second[2 * x]] + chroma[second[2 * x + 1]];
    guint live_weight = (1u << shift) - (guint) (sum >> (2 * FIELD));
    out[0][step * x] = (guint8) ((in[0][step * x] * live_weight + (guint) (sum & FIELD_MASK) + half) >> shift);
    out[1][step * x] = (guint8) ((in[1][step * x] * live_weight + (guint) (sum >> FIELD & FIELD_MASK) + half) >> shift);
  }
}

static void
blend_chroma_row (GstStereoBlender *blender, gint y, const guint8 *second)
{
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (blender->out, 1);
  guint8 *const in[2] = { row_of (blender->in, 1, blender->left, blender->top, y),
    row_of (blender->in, 2, blender->left, blender->top, y) };
  guint8 *const out[2] = { row_of (blender->out, 1, 0, 0, y), row_of (blender->out, 2, 0, 0, y) };

  if (second && step == 1)
    blend_chroma (blender, out, in, blender->codes[0], second, 1, 2);
  else if (second)
    blend_chroma (blender, out, in, blender->codes[0], second, 2, 2);
  else
    blend_chroma (blender, out, in, blender->codes[0], NULL, step, 1);
}

/* Blends row @y, and with 4:2:0 the one below it. */
static void
blend_rows (GstStereoBlender *blender, const GstStereoDepthView *depth, const guint8 *table, gint y, gint rows)
{
  const GstVideoFormatInfo *format = blender->info.finfo;
  gint height = GST_VIDEO_INFO_HEIGHT (&blender->info);

  for (gint i = 0; i < rows && y + i < height; i++) {
    read_codes (blender, depth, table, y + i, height, blender->codes[i]);
    if (!GST_VIDEO_FORMAT_INFO_IS_RGB (format))
      blend_full (blender, 0, y + i, blender->codes[i]);
  }
  if (GST_VIDEO_FORMAT_INFO_IS_RGB (format))
    blend_pixels (blender, y, blender->codes[0]);
  else if (!GST_VIDEO_FORMAT_INFO_IS_GRAY (format) && GST_VIDEO_FORMAT_INFO_W_SUB (format, 1))
    blend_chroma_row (blender, y / rows, rows == 1 ? NULL : blender->codes[y + 1 < height ? 1 : 0]);
  else
    for (guint c = 1; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); c++)
      blend_full (blender, c, y, blender->codes[0]);
}

void
gst_stereo_blender_run (GstStereoBlender *blender, GstStereoColormap map, gdouble alpha, GstVideoFrame *in, gint x,
    gint y, GstVideoFrame *out, const GstStereoDepthView *depth, const guint8 *codes)
{
  static const guint8 nothing[256] = { 0 };
  const GstStereoDepthView none = { .samples = nothing, .width = 1, .height = 1 };
  const GstVideoInfo *info = &out->info;
  gint rows = GST_VIDEO_INFO_IS_YUV (info) ? 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1) : 1;

  if (!depth)
    depth = &none;
  set_colors (blender, info, map, alpha);
  ensure_rows (blender, GST_VIDEO_INFO_WIDTH (info), depth->width);
  blender->in = in;
  blender->out = out;
  blender->left = x;
  blender->top = y;
  for (gint row = 0; row < GST_VIDEO_INFO_HEIGHT (info); row += rows)
    blend_rows (blender, depth, depth == &none ? nothing : codes, row, rows);
}

void
gst_stereo_blend_fill (GstVideoFrame *out, GstVideoFrame *grey, gint left, gint top)
{
  const GstVideoInfo *info = &out->info;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gint size = grey ? GST_VIDEO_FRAME_COMP_PSTRIDE (grey, 0) : 0;
  gboolean rgb = GST_VIDEO_INFO_IS_RGB (info);
  guint8 level[256];

  gst_video_color_range_offsets (GST_VIDEO_INFO_COLORIMETRY (info).range, info->finfo, offset, scale);
  for (gint i = 0; i < 256; i++)
    level[i] = (guint8) (rgb ? i : offset[0] + (scale[0] * i + 127) / 255);
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (out); y++) {
    const guint8 *from = !grey ?
        NULL :
        row_of (grey, 0, left, top, y) + (GST_VIDEO_FRAME_FORMAT (grey) == GST_VIDEO_FORMAT_GRAY16_LE);

    if (rgb) /* a byte that is no component is 0 */
      memset (row_of (out, 0, 0, 0, y) - GST_VIDEO_FRAME_COMP_POFFSET (out, 0), 0,
          (gsize) GST_VIDEO_FRAME_WIDTH (out) * (gsize) GST_VIDEO_FRAME_COMP_PSTRIDE (out, 0));
    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (out); c++) {
      guint8 *to = row_of (out, c, 0, 0, y >> GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c));
      gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (out, c);
      gboolean light = c == 0 || (rgb && c < 3);

      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (out, c); x++)
        to[x * step] = c == 3 ? 255 : light ? level[from ? from[x * size] : 0] : (guint8) offset[c];
    }
  }
}
