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

#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_LEVEL_BLACK 16 /* levels up to this one are black: room for the noise of a sensor without light */
#define GST_STEREO_LEVEL_WHITE 250

/* Bands of rows, from the top to the bottom, each of which has figures of its own of what moves there. */
#define GST_STEREO_VIEW_BANDS 8

/* What changed in a band since the last measurement. Noise must not count as movement, and is treated like that of detail: the
 * difference of a pixel to its past is multiplied with that two rows below. */
typedef struct
{
  gdouble change; /* mean of these products, squared grey levels; 0 where nothing moves, and may be below */
  gdouble doubt;  /* its standard deviation where there is nothing but noise */
  gdouble other;  /* share of the pixels that are not what they were, to the bit */
  gdouble level;  /* mean, 0..255 */
} GstStereoBandFigures;

/* Levels are 0 for black to 255 for white, whatever the range of the format. */
typedef struct
{
  gdouble brightness;   /* mean level */
  gdouble black, white; /* share of the pixels that are black, or white */
  gdouble detail;       /* root of the mean product, grey levels */
  gdouble roughness;    /* detail and noise together: root mean square of the differences, grey levels */
  gdouble contrast;     /* standard deviation of means over 16 pixels of a row, grey levels: what a blur leaves */
  gdouble doubt;        /* standard deviation of the mean product where there is nothing but noise */
  gdouble sharpness;    /* detail / brightness */
  gboolean compared;    /* whether there was an earlier measurement */
  gboolean same;        /* each pixel is what it was */
  gdouble moved;        /* share of the pixels that differ by more than GST_STEREO_LEVEL_MOVED levels */
  GstStereoBandFigures bands[GST_STEREO_VIEW_BANDS];
} GstStereoViewFigures;

#define GST_STEREO_LEVEL_MOVED 2

/* Reads views of one size. */
typedef struct _GstStereoViewReader GstStereoViewReader;

/* NULL for views too small to say anything about. */
GstStereoViewReader *gst_stereo_view_reader_new (gint width, gint height);
void gst_stereo_view_reader_free (GstStereoViewReader *reader);
gboolean gst_stereo_view_reader_is_for (const GstStereoViewReader *reader, gint width, gint height);
/* The next measurement is the first one again. */
void gst_stereo_view_reader_forget (GstStereoViewReader *reader);
/* Measures a view in host memory. @offset, @scale: the sample of black, and how many samples above it white is. The columns
 * that the other view does not see say nothing about movement: @first to @end are compared. */
void gst_stereo_view_reader_read (GstStereoViewReader *reader, const StereoImage *image, gint offset, gint scale,
    gint first, gint end, GstStereoViewFigures *figures);
/* The rows of the last measurement, one after the other, and how many there are. @age: those of so many measurements before it; NULL where
 * there were not so many. */
const guint8 *gst_stereo_view_reader_rows (const GstStereoViewReader *reader, guint age, gint *count);
#define GST_STEREO_VIEW_READER_AGES 4 /* measurements that are kept */

G_END_DECLS

#endif
