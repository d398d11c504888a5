/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far the thing in a box is: pure logic on rows of samples.
 *
 * Somebody else found the thing, with a detector of persons or cars, and drew a box around it. In the box there is
 * background, too, and something may stand before the thing. What lies in the middle of the box is the thing, more likely
 * than what lies at its border: pixels weigh as much as they are away from the border. The thing is what has most of the
 * weight within an interval of disparities (or of like distances); its distance is the median there.
 */
#ifndef GST_STEREO_THING_H
#define GST_STEREO_THING_H

#include "gst/nearest/search/nearest.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble coverage;   /* share of the box's pixels that count, 0..1; known also where nothing was found */
  guint sample;       /* of the median */
  guint near, far;    /* samples of the nearest and the farthest of the middle two thirds */
  gdouble support;    /* share of the pixels that count that belong to the thing, 0..1; weighted */
  gdouble confidence; /* mean of its pixels, 0..1 */
} GstStereoThing;

typedef struct _GstStereoThingFinder GstStereoThingFinder;

GstStereoThingFinder *gst_stereo_thing_finder_new (void);
void gst_stereo_thing_finder_free (GstStereoThingFinder *finder);

/* @view: the region is the box, inside the picture. FALSE where too few of its pixels count: less than a twentieth. */
gboolean gst_stereo_thing_find (GstStereoThingFinder *finder, const GstStereoDepthView *view, GstStereoThing *thing);

G_END_DECLS

#endif
