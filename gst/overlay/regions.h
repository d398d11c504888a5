/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions that somebody else marked in the live view, a detector of persons for example: how far what is in them is. Each
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

/* Measures the regions of @live, of which @view is shown. @picture: the depth over it, mapped, with its meta; NULL: there is
 * none, and their distance is not known. */
void gst_depth_overlay_regions_measure (GstDepthOverlayRegions *regions, GstBuffer *live, const GstStereoLiveView *view,
    const GstDepthOverlayPicture *picture, const GstStereoMeta *meta);
/* The boxes to be drawn, valid until the next measure. */
const GstDepthOverlayBox *gst_depth_overlay_regions_boxes (const GstDepthOverlayRegions *regions, guint *count);
/* Writes what was measured into the regions of @buffer, which was made of the live frame; transfer full, both ways. */
GstBuffer *gst_depth_overlay_regions_write (GstDepthOverlayRegions *regions, GstBuffer *buffer);

G_END_DECLS

#endif
