/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/overlay.h"

#include <math.h>

#define TERMS 7

/* Horner's rule, constant term first. */
static gdouble
polynomial (const gdouble terms[TERMS], gdouble x)
{
  gdouble sum = 0;

  for (gint i = TERMS - 1; i >= 0; i--)
    sum = sum * x + terms[i];
  return sum;
}

/* The fifth-degree fit that the authors of turbo published with it. */
static const gdouble turbo[3][TERMS] = { { 0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396,
                                             59.28637943, 0 },
  { 0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604, 0 },
  { 0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973, 0 } };

/* M. Zucker's sixth-degree fit of viridis. */
static const gdouble viridis[3][TERMS] = { { 0.2777273272, 0.1050930431, -0.3308618287, -4.6342304985, 6.2282699363,
                                               4.7763849977, -5.4354558559 },
  { 0.0054073445, 1.4046135299, 0.2148475595, -5.7991009734, 14.1799333668, -13.7451453777, 4.6458526122 },
  { 0.3340998053, 1.3845901626, 0.0950951630, -19.3324409563, 56.6905526007, -65.3530326334, 26.3124352496 } };

void
gst_stereo_colormap_rgb (GstStereoColormap map, gdouble position, guint8 rgb[3])
{
  gdouble x = CLAMP (position, 0, 1);

  for (gint c = 0; c < 3; c++) {
    gdouble value;

    switch (map) {
      case GST_STEREO_COLORMAP_VIRIDIS:
        value = polynomial (viridis[c], x);
        break;
      case GST_STEREO_COLORMAP_GRAY:
        value = x;
        break;
      case GST_STEREO_COLORMAP_HEAT:
        value = 3 * x - c;
        break;
      default:
        value = polynomial (turbo[c], x);
    }
    rgb[c] = (guint8) lrint (255 * CLAMP (value, 0, 1));
  }
}

gdouble
gst_stereo_curve_position (GstStereoCurve curve, gdouble near, gdouble far, gdouble value)
{
  gdouble position;

  if (curve != GST_STEREO_CURVE_LINEAR) {
    near = MAX (near, 1);
    far = MAX (far, near + 1);
    value = MAX (value, 1);
  }
  switch (curve) {
    case GST_STEREO_CURVE_INVERSE:
      position = (1 / value - 1 / far) / (1 / near - 1 / far);
      break;
    case GST_STEREO_CURVE_LOGARITHMIC:
      position = log (far / value) / log (far / near);
      break;
    default:
      position = (far - value) / (far - near);
  }
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
  scale.near = scale.metric ? near : meta->min_disparity + MAX (1, meta->num_disparities - 1);
  scale.far = scale.metric ? MAX (far, near + 1) : meta->min_disparity;
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
      codes->of[sample] = (guint8) (1 +
          lrint (254 * gst_stereo_curve_position (scale.curve, scale.near, scale.far, value)));
  }
  return TRUE;
}
