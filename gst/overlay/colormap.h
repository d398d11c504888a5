/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Depth samples become codes, codes become colours: pure arithmetic, no frames.
 *
 * A code is where a sample lies between far and near: 1 = far, 255 = near or nearer, 0 = show the live view.
 * Samples become codes by one table look-up (65536 entries, made anew only when what samples mean changes), codes
 * become colours by another.
 */
#ifndef GST_STEREO_COLORMAP_H
#define GST_STEREO_COLORMAP_H

#include "gst/meta/gststereometa.h"

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

/* 0 = @far, 1 = @near; clamped. Any unit; the curves other than linear take nothing below 1 as a distance. */
gdouble gst_stereo_curve_position (GstStereoCurve curve, gdouble near, gdouble far, gdouble value);

#define GST_STEREO_CODE_HIDDEN 0

/* What the samples that go with a meta mean. All bytes are set, so that two of them can be compared with memcmp(). */
typedef struct
{
  GstStereoOutputKind kind;
  gboolean metric;      /* distances are mm; else only disparities, in px, are known */
  gdouble near, far;    /* mm; for disparities the ends of the search range, near > far */
  GstStereoCurve curve; /* linear for disparities: that is inverse in the distance */
  gboolean beyond;      /* what is farther than far gets far's colour; else it is hidden */
  gdouble disparity_scale, min_disparity, focal_length, baseline, principal_offset, depth_unit;
} GstStereoScale;

/* Where colours end, in mm, for what @meta says of the search: its nearest distance, and that of FAR_DISPARITY px (colormap.c). */
void gst_stereo_scale_ends (const GstStereoMeta *meta, gdouble *near, gdouble *far);
/* @near, @far: mm; replaced by the search range, and @curve by linear, where distances do not follow from @meta. */
void gst_stereo_scale_init (
    GstStereoScale *scale, const GstStereoMeta *meta, gdouble near, gdouble far, GstStereoCurve curve, gboolean beyond);
/* 0..1, clamped, for a value in the scale's unit. */
gdouble gst_stereo_scale_position (const GstStereoScale *scale, gdouble value);
/* The codes of samples 0 to @count - 1. @meta is the one that @scale was made of. */
void gst_stereo_scale_codes (const GstStereoScale *scale, const GstStereoMeta *meta, guint8 *codes, guint count);

G_END_DECLS

#endif
