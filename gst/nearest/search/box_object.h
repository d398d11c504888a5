/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the distance of the object in a box: pure logic on rows of samples.
 *
 * Another element has found the object, such as a person or a car, and has drawn the box. The box also has background in
 * it, and something may stand before the object. A pixel in the middle of the box belongs to the object more likely than
 * one at the border, so the weight of a pixel grows with its distance from the border. We take for the object the interval
 * of disparities (or of similar distances) with the largest weight. The object's distance is the median of the interval.
 */
#ifndef GST_STEREO_BOX_OBJECT_H
#define GST_STEREO_BOX_OBJECT_H

#include "gst/video/depth.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble coverage;   /* share of the box's pixels that count, 0..1; known also where no object was found */
  guint sample;       /* of the median */
  guint near, far;    /* samples of the nearest and the farthest of the middle two thirds */
  gdouble support;    /* share of the pixels that count that belong to the object, 0..1; weighted */
  gdouble confidence; /* mean of its pixels, 0..1 */
} GstStereoBoxObject;

typedef struct _GstStereoBoxObjectFinder GstStereoBoxObjectFinder;

GstStereoBoxObjectFinder *gst_stereo_box_object_finder_new (void);
void gst_stereo_box_object_finder_free (GstStereoBoxObjectFinder *finder);

/* @view: the region is the box, inside the picture. FALSE where too few of its pixels count: less than a twentieth. */
gboolean gst_stereo_box_object_find (
    GstStereoBoxObjectFinder *finder, const GstStereoDepthView *view, GstStereoBoxObject *object);

G_END_DECLS

#endif
