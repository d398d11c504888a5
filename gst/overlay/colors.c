/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The colours of a depth picture over a frame. A sample becomes a code, and a code becomes a colour. */
#include "gst/overlay/overlay.h"

#include <math.h>

/* ---- colour maps ------------------------------------------------------------------------- */

#define TERMS 7

/* A polynomial for each of red, green and blue, constant term first. turbo: the fit that its authors published; viridis: M. Zucker's. */
static const gdouble maps[][3][TERMS] = {
  [GST_STEREO_COLORMAP_TURBO] = { { 0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943 },
      { 0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604 },
      { 0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973 } },
  [GST_STEREO_COLORMAP_VIRIDIS] = { { 0.2777273272, 0.1050930431, -0.3308618287, -4.6342304985, 6.2282699363,
                                        4.7763849977, -5.4354558559 },
      { 0.0054073445, 1.4046135299, 0.2148475595, -5.7991009734, 14.1799333668, -13.7451453777, 4.6458526122 },
      { 0.3340998053, 1.3845901626, 0.0950951630, -19.3324409563, 56.6905526007, -65.3530326334, 26.3124352496 } },
  [GST_STEREO_COLORMAP_GRAY] = { { 0, 1 }, { 0, 1 }, { 0, 1 } },
  [GST_STEREO_COLORMAP_HEAT] = { { 0, 3 }, { -1, 3 }, { -2, 3 } },
};

void
gst_stereo_colormap_rgb (GstStereoColormap map, gdouble position, guint8 rgb[3])
{
  gdouble x = CLAMP (position, 0, 1);

  for (gint c = 0; c < 3; c++) {
    gdouble sum = 0;

    for (gint i = TERMS - 1; i >= 0; i--)
      sum = sum * x + maps[map][c][i];
    rgb[c] = (guint8) lrint (255 * CLAMP (sum, 0, 1));
  }
}

/* ---- codes ------------------------------------------------------------------------------- */

/* Colours are even in this number, which falls with the distance. */
static gdouble
nearness (GstStereoCurve curve, gdouble value)
{
  switch (curve) {
    case GST_STEREO_CURVE_INVERSE:
      return 1 / MAX (value, 1);
    case GST_STEREO_CURVE_LOGARITHMIC:
      return -log (MAX (value, 1));
    default:
      return -value;
  }
}

gdouble
gst_stereo_scale_position (const GstStereoScale *scale, gdouble value)
{
  gdouble far = nearness (scale->curve, scale->far);
  gdouble position = (nearness (scale->curve, value) - far) / (nearness (scale->curve, scale->near) - far);

  return CLAMP (position, 0, 1);
}

/* px: an error of a quarter of a pixel is an eighth of the distance there, and more beyond. */
#define FAR_DISPARITY 2

/* In mm, for the search range in @meta: its nearest distance, and that of FAR_DISPARITY px. */
static void
find_ends (const GstStereoMeta *meta, gdouble *near, gdouble *far)
{
  gdouble product = meta->focal_length * meta->baseline; /* of distance and disparity */
  gdouble least = meta->min_disparity + meta->principal_offset, most = least + meta->num_disparities - 1;

  *near = 500;
  *far = 10000;
  if (!(product > 0 && most > 0))
    return;
  *near = product / most;
  *far = product / MIN (MAX (least, FAR_DISPARITY), most / 2);
}

static gboolean
is_close (gdouble value, gdouble other)
{
  return fabs (value - other) <= 0.02 * other;
}

/* To two digits, for the legend. */
static gdouble
rounded (gdouble distance)
{
  gdouble step = pow (10, floor (log10 (distance)) - 1);

  return rint (distance / step) * step;
}

gboolean
gst_stereo_codes_update (
    GstStereoCodes *codes, const GstStereoMeta *meta, gdouble near, gdouble far, GstStereoCurve curve, gboolean beyond)
{
  GstStereoScale scale;
  gdouble from, to;

  find_ends (meta, &from, &to);
  if (!is_close (from, codes->near) || !is_close (to, codes->far)) {
    codes->near = from;
    codes->far = to;
  }
  if (near <= 0)
    near = far > 0 ? MIN (rounded (codes->near), far / 2) : rounded (codes->near);
  if (far <= 0)
    far = MAX (rounded (codes->far), 2 * near);
  memset (&scale, 0, sizeof scale);
  gst_stereo_sample_meaning_init (&scale.meaning, meta);
  scale.metric = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH || (meta->focal_length > 0 && meta->baseline > 0);
  scale.near = scale.metric ? MAX (near, 1) : meta->min_disparity + MAX (1, meta->num_disparities - 1);
  scale.far = scale.metric ? MAX (far, scale.near + 1) : meta->min_disparity;
  scale.curve = scale.metric ? curve : GST_STEREO_CURVE_LINEAR;
  scale.beyond = beyond || !scale.metric;
  if (codes->known && memcmp (&scale, &codes->scale, sizeof scale) == 0)
    return FALSE;
  codes->scale = scale;
  codes->known = TRUE;
  for (guint sample = 0; sample < G_N_ELEMENTS (codes->of); sample++) {
    gdouble value = scale.metric ? gst_stereo_meta_get_depth (meta, sample) :
                                   gst_stereo_meta_get_disparity (meta, sample);

    if (isnan (value) || (!scale.beyond && value > scale.far))
      codes->of[sample] = GST_STEREO_CODE_HIDDEN;
    else
      codes->of[sample] = (guint8) (1 + lrint (254 * gst_stereo_scale_position (&scale, value)));
  }
  return TRUE;
}

/* ---- blending ---------------------------------------------------------------------------- */

#define CODES 256
#define ONE 256 /* alpha 1 */

/* RGB as the components of @info: itself, or Y, Cb and Cr. The fourth one is an alpha. */
static void
convert (const GstVideoInfo *info, const guint8 rgb[3], gdouble components[4])
{
  const GstVideoColorimetry *color = &GST_VIDEO_INFO_COLORIMETRY (info);
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble kr, kb, luma;

  components[3] = 255;
  for (guint c = 0; c < 3; c++)
    components[c] = rgb[c];
  if (GST_VIDEO_INFO_IS_RGB (info))
    return;
  if (!gst_video_color_matrix_get_Kr_Kb (color->matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  gst_video_color_range_offsets (color->range, info->finfo, offset, scale);
  luma = (kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2]) / 255;
  components[0] = offset[0] + scale[0] * luma;
  components[1] = offset[1] + scale[1] * (rgb[2] / 255.0 - luma) / (2 * (1 - kb));
  components[2] = offset[2] + scale[2] * (rgb[0] / 255.0 - luma) / (2 * (1 - kr));
}

/* What becomes of a component's samples where a code is: sample * (mix >> 16) + (mix & 0xffff), of ONE. */
typedef guint32 Mix[GST_VIDEO_MAX_COMPONENTS][CODES];

static void
make_mix (const GstVideoInfo *info, GstStereoColormap map, gdouble alpha, gboolean alone, Mix mix)
{
  guint opacity = alone ? ONE : (guint) lrint (CLAMP (alpha, 0, 1) * ONE);

  for (guint code = 0; code < CODES; code++) {
    guint8 rgb[3] = { 0 };
    gdouble components[4];

    if (code != GST_STEREO_CODE_HIDDEN)
      gst_stereo_colormap_rgb (map, (code - 1) / (CODES - 2.0), rgb);
    convert (info, rgb, components);
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
      guint weight = alone || (code != GST_STEREO_CODE_HIDDEN && c < 3) ? opacity : 0;

      mix[c][code] = (ONE - weight) << 16 | (weight * (guint) lrint (CLAMP (components[c], 0, 255)) + ONE / 2);
    }
  }
}

/* The codes of a row of depth, whose columns are those of the frame. */
static void
read_row (const GstStereoDepthView *view, const guint8 *table, gint row, const guint *columns, gint width, guint8 *codes)
{
  const guint8 *samples = view->samples + (gssize) row * view->stride;
  guint least = view->confidence ? view->min_confidence : 0;
  const guint8 *confidence = least ? view->confidence + (gssize) row * view->confidence_stride : NULL;

  for (gint x = 0; x < width; x++) {
    const guint at = columns[x];
    guint8 code = table[view->wide ? GST_READ_UINT16_LE (samples + 2 * at) : samples[at]];

    codes[x] = confidence && confidence[at] < least ? GST_STEREO_CODE_HIDDEN : code;
  }
}

void
gst_stereo_codes_blend (const GstStereoCodes *codes, const GstStereoDepthView *depth, GstStereoColormap map,
    gdouble alpha, gboolean alone, GstVideoFrame *frame)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const gint width = GST_VIDEO_FRAME_WIDTH (frame), height = GST_VIDEO_FRAME_HEIGHT (frame);
  g_autofree guint *columns = g_new (guint, width);
  g_autofree guint8 *row = g_malloc ((gsize) width);
  Mix mix;

  make_mix (&frame->info, map, alpha, alone, mix);
  for (gint x = 0; x < width; x++)
    columns[x] = (guint) (((guint64) x * 2 + 1) * (guint64) depth->width / (2 * (guint64) width));
  for (gint y = 0; y < height; y++) {
    read_row (
        depth, codes->of, (gint) (((gint64) y * 2 + 1) * depth->height / (2 * (gint64) height)), columns, width, row);
    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
      const gint across = GST_VIDEO_FORMAT_INFO_W_SUB (format, c), down = GST_VIDEO_FORMAT_INFO_H_SUB (format, c);
      const gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c), samples = GST_VIDEO_FRAME_COMP_WIDTH (frame, c);
      const guint32 *of = mix[c];
      guint8 *to = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c) +
          (gssize) (y >> down) * GST_VIDEO_FRAME_COMP_STRIDE (frame, c);

      /* a chroma sample is that of its first pixel */
      for (gint x = 0; x < samples && y % (1 << down) == 0; x++, to += step)
        *to = (guint8) ((*to * (of[row[x << across]] >> 16) + (of[row[x << across]] & 0xffff)) / ONE);
    }
  }
}
