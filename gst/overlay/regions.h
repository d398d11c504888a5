/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the distances of regions that another element marked in the live view, such as a detector of persons. Each
 * GstVideoRegionOfInterestMeta of the output gets a parameter `stereo-distance`, and a box is drawn around it.
 */
#ifndef GST_DEPTH_OVERLAY_REGIONS_H
#define GST_DEPTH_OVERLAY_REGIONS_H

#include "gst/overlay/picture.h"
#include "gst/overlay/text.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayRegions GstDepthOverlayRegions;

GstDepthOverlayRegions *gst_depth_overlay_regions_new (GstElement *owner);
void gst_depth_overlay_regions_free (GstDepthOverlayRegions *regions);

/* Measures the regions of @live, of which @view is shown. @picture: the mapped depth over the view, and its @meta. NULL:
 * there is no depth, and the distances are unknown. */
void gst_depth_overlay_regions_measure (GstDepthOverlayRegions *regions, GstBuffer *live, const GstStereoLiveView *view,
    const GstDepthOverlayPicture *picture, const GstStereoMeta *meta);
/* The boxes to be drawn, valid until the next measure. */
const GstDepthOverlayBox *gst_depth_overlay_regions_boxes (const GstDepthOverlayRegions *regions, guint *count);
/* Writes the distances into the regions of @buffer, which was made from the live frame; transfer full, both ways. */
GstBuffer *gst_depth_overlay_regions_write (GstDepthOverlayRegions *regions, GstBuffer *buffer);

G_END_DECLS

#endif
