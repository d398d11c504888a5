/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the nearest surface, its distance and its place: pure logic on rows of samples.
 *
 * A pixel may be wrong, and so may many that lie apart. A surface is a set of pixels in which neighbours are connected if
 * their disparities differ by little (rank_table.h). The nearest one is found by a threshold that goes from near to far,
 * until as many pixels as asked for, none of them farther than the threshold, are connected. The surface is all that is
 * connected with these, also what is farther. Its place is the mean of its pixels that are not farther than the threshold,
 * in the block of the picture that has the most of them. So it lies neither between two parts of the surface nor at a
 * single pixel. The distance is that of a plane through the surface around the place: a matcher's errors nearly cancel out,
 * and a slope does not.
 *
 * Of large regions a grid of cells is looked at, of up to three by three pixels each (grid.h).
 */
#ifndef GST_STEREO_NEAREST_H
#define GST_STEREO_NEAREST_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble coverage; /* share that is seen of the region's pixels that are not excluded, 0..1; 0 where all are excluded.
                     * Known also where no surface was found */
  guint sample;
  gint x, y;          /* in the picture */
  gdouble confidence; /* mean of the pixels there, 0..1 */
  guint64 support;    /* pixels of the surface */
} GstStereoNearestFound;

typedef struct _GstStereoNearestFinder GstStereoNearestFinder;

GstStereoNearestFinder *gst_stereo_nearest_finder_new (void);
void gst_stereo_nearest_finder_free (GstStereoNearestFinder *finder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoNearestFinder, gst_stereo_nearest_finder_free)

/* @percentage: 0..100, of the region's pixels, excluded ones too, that must be connected; a single pixel is the least.
 * FALSE when that many are connected nowhere. */
gboolean gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoDepthView *view, gdouble percentage, GstStereoNearestFound *nearest);

G_END_DECLS

#endif
