/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depth samples become codes, codes become colours: pure arithmetic, no frames.
 *
 * A code is the position of a sample between far and near: 1 = far, 255 = near or nearer, 0 = show the live view. One table
 * look-up turns a sample into a code (65536 entries, made anew when the scale changes), and another one turns the code into a
 * colour.
 */
#ifndef GST_STEREO_COLORMAP_H
#define GST_STEREO_COLORMAP_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

typedef enum
{
  GST_STEREO_COLORMAP_TURBO,
  GST_STEREO_COLORMAP_VIRIDIS,
  GST_STEREO_COLORMAP_GRAY,
  GST_STEREO_COLORMAP_HEAT
} GstStereoColormap;

extern const GEnumValue gst_stereo_colormap_choices[];

/* @position: 0 = far, 1 = near; clamped. */
void gst_stereo_colormap_rgb (GstStereoColormap map, gdouble position, guint8 rgb[3]);

/* How colours are spread over the distances between near and far. */
typedef enum
{
  GST_STEREO_CURVE_INVERSE,
  GST_STEREO_CURVE_LOGARITHMIC,
  GST_STEREO_CURVE_LINEAR
} GstStereoCurve;

extern const GEnumValue gst_stereo_curve_choices[];

/* 0 = @far, 1 = @near; clamped. Any unit. For curves other than linear, a distance is at least 1. */
gdouble gst_stereo_curve_position (GstStereoCurve curve, gdouble near, gdouble far, gdouble value);

#define GST_STEREO_CODE_HIDDEN 0

/* The scale of the samples of a meta. All bytes are set, so that memcmp() can compare two scales. */
typedef struct
{
  GstStereoSampleMeaning meaning;
  gboolean metric;      /* distances in mm are known; else only disparities in px */
  gdouble near, far;    /* mm; for disparities the ends of the search range, near > far */
  GstStereoCurve curve; /* always linear for disparities, which is inverse in the distance */
  gboolean beyond;      /* pixels farther than far get far's colour; else they are hidden */
} GstStereoScale;

/* The ends of the colours in mm, for the search range in @meta: its nearest distance, and that of FAR_DISPARITY px. */
void gst_stereo_scale_ends (const GstStereoMeta *meta, gdouble *near, gdouble *far);
/* @near, @far: mm. Where @meta gives no distances, the search range replaces them, and linear replaces @curve. */
void gst_stereo_scale_init (
    GstStereoScale *scale, const GstStereoMeta *meta, gdouble near, gdouble far, GstStereoCurve curve, gboolean beyond);
/* 0..1, clamped, for a value in the scale's unit. */
gdouble gst_stereo_scale_position (const GstStereoScale *scale, gdouble value);
/* The codes of samples 0 to @count - 1. @scale was made from @meta. */
void gst_stereo_scale_codes (const GstStereoScale *scale, const GstStereoMeta *meta, guint8 *codes, guint count);

G_END_DECLS

#endif
