/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures of a view, from a few of its rows: brightness, sharpness, and whether anything moved. Only 32 pairs of
 * rows are read, so that a measurement costs a small part of a frame's time at any size.
 *
 * Sharpness is fine detail: how far pixels differ from the mean of their neighbours two pixels to the left and to the
 * right. Noise must not count as detail. Each of these differences is therefore multiplied with the one two rows below:
 * texture is alike in both rows, noise is not and cancels in the mean. The root of that mean is divided by the
 * brightness, so that exposure does not count as sharpness either.
 */
#ifndef GST_STEREO_VIEW_FIGURES_H
#define GST_STEREO_VIEW_FIGURES_H

#include <glib.h>

#include "gst/match/diagnose/views/changes.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_LEVEL_BLACK 16 /* levels up to this one are black: room for the noise of a sensor without light */
#define GST_STEREO_LEVEL_WHITE 250

/* The rows are divided into bands, from the top to the bottom, and the columns into as many strips. */
#define GST_STEREO_VIEW_BANDS 16

/* Changes in a band or a strip since the last measurement. Noise must not count as movement. As for detail, the temporal difference of a
 * pixel is therefore multiplied with that of the pixel two rows below. */
typedef struct
{
  gdouble change; /* mean of these products, squared grey levels; about 0 without movement, and may be negative */
  gdouble doubt;  /* standard deviation of `change` for pure noise */
  gdouble other;  /* share of the pixels whose value changed */
  gdouble level;  /* mean, 0..255 */
} GstStereoBandFigures;

/* Whether a band is one that an encoder has rounded coarsely, beside the other view's. Noise changes most pixels of both views alike.
 * Such an encoder keeps most pixels to the bit, and lets single blocks jump. So what changes in it is no evidence of movement. */
gboolean gst_stereo_band_is_rounded (const GstStereoBandFigures *band, const GstStereoBandFigures *other);

/* Levels are 0 for black to 255 for white, whatever the range of the format. */
typedef struct
{
  gdouble brightness;   /* mean level */
  gdouble black, white; /* share of the pixels that are black, or white */
  gdouble detail;       /* root of the mean product, grey levels */
  gdouble roughness;    /* detail and noise together: root mean square of the differences, grey levels */
  gdouble contrast;  /* standard deviation of means over 16 pixels of a row, grey levels: a blur does not change it */
  gdouble doubt;     /* standard deviation of the mean product for pure noise */
  gdouble sharpness; /* detail / brightness */
  gboolean compared; /* whether there was an earlier measurement */
  gboolean same;     /* no pixel has changed */
  gdouble moved;     /* share of the pixels that differ by more than GST_STEREO_LEVEL_MOVED levels */
  GstStereoBandFigures bands[GST_STEREO_VIEW_BANDS], strips[GST_STEREO_VIEW_BANDS];
  guint covered; /* parts in a row that are even where the other view is not: see cover.h */
  guint alone;   /* bands in a row where the other view moves alone: see alone.h */
} GstStereoViewFigures;

#define GST_STEREO_LEVEL_MOVED 2

/* Whether a view shows more than noise. */
gboolean gst_stereo_view_has_detail (const GstStereoViewFigures *figures);
/* Whether nothing but noise is left of the detail of a view that shows something. Texture whose rows have nothing in common is rough. */
gboolean gst_stereo_view_has_no_detail (const GstStereoViewFigures *figures);
/* Its noise, and texture whose rows have nothing in common: grey levels. */
gdouble gst_stereo_view_noise (const GstStereoViewFigures *figures);

/* Reads views of one size. */
typedef struct _GstStereoViewReader GstStereoViewReader;

/* NULL for views that are too small. */
GstStereoViewReader *gst_stereo_view_reader_new (gint width, gint height);
void gst_stereo_view_reader_free (GstStereoViewReader *reader);
gboolean gst_stereo_view_reader_is_for (const GstStereoViewReader *reader, gint width, gint height);
/* The next measurement counts as the first one. */
void gst_stereo_view_reader_forget (GstStereoViewReader *reader);
/* Measures a view in host memory. @offset, @scale: the sample of black, and the difference from black to white. Movement of
 * bands is measured in the columns @first to @end, which the other view sees too. */
void gst_stereo_view_reader_read (GstStereoViewReader *reader, const StereoImage *image, gint offset, gint scale,
    gint first, gint end, GstStereoViewFigures *figures);
/* The rows of a measurement, one after the other, and their @count. @age: 0 = the last measurement, 1 = the one before, ...;
 * NULL where there is no such measurement. */
const guint8 *gst_stereo_view_reader_rows (const GstStereoViewReader *reader, guint age, gint *count);
#define GST_STEREO_VIEW_READER_AGES 4 /* measurements that are kept */

#define GST_STEREO_VIEW_CELLS 32 /* of a band, from the left to the right */

/* Bands, and cells of each. */
typedef struct
{
  gint from, to;
  gint first, end;
} GstStereoViewPart;

/* What has changed in a part since an earlier measurement, which there must be. */
GstStereoViewChange gst_stereo_view_reader_compare (
    const GstStereoViewReader *reader, guint age, const GstStereoViewPart *part);

G_END_DECLS

#endif
