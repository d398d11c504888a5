/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the nearest object is, and where: pure logic on rows of samples.
 *
 * A single pixel may be wrong, so the distance is a percentile of all pixels that count. The place is where most of
 * the pixels at that distance or nearer lie: the mean of those in the fullest cell of a grid. So it lies neither
 * between two objects nor at a single wrong pixel.
 */
#ifndef GST_STEREO_NEAREST_H
#define GST_STEREO_NEAREST_H

#include <glib.h>

G_BEGIN_DECLS

/* Samples and their confidence, and the part of them to search. */
typedef struct
{
  const guint8 *samples;    /* 1 or, little-endian, 2 bytes each; 0 = invalid */
  gint stride;              /* bytes */
  gboolean wide;            /* 2 bytes */
  const guint8 *confidence; /* NULL: every pixel's is 255 */
  gint confidence_stride;
  guint min_confidence;     /* pixels below it do not count */
  gint x, y, width, height; /* the region, inside the picture */
  gboolean larger_is_nearer;
} GstStereoNearestView;

typedef struct
{
  guint sample;
  gint x, y;          /* in the picture */
  gdouble confidence; /* mean of the pixels in the fullest cell, 0..1 */
} GstStereoNearest;

typedef struct _GstStereoNearestFinder GstStereoNearestFinder;

GstStereoNearestFinder *gst_stereo_nearest_finder_new (void);
void gst_stereo_nearest_finder_free (GstStereoNearestFinder *finder);

/* @percentile: 0..100; 0 = the one nearest pixel. Of large regions only every second row (third, ...) is read.
 * FALSE when no pixel counts. */
gboolean gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoNearestView *view, gdouble percentile, GstStereoNearest *nearest);

G_END_DECLS

#endif
