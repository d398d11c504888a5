/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of depthoverlay, and the way of a frame from the sink pads to the source pad. */
#ifndef GST_DEPTH_OVERLAY_SHOW_H
#define GST_DEPTH_OVERLAY_SHOW_H

#include "gst/overlay/output.h"
#include "gst/overlay/sync.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayShow GstDepthOverlayShow;

/* All properties of the element. */
extern const GstStereoProperty gst_depth_overlay_show_properties[];

/* The arguments must outlive the object. */
GstDepthOverlayShow *gst_depth_overlay_show_new (
    GstElement *owner, GstStereoJoin *join, GstDepthOverlaySync *sync, GstDepthOverlayOutput *output);
void gst_depth_overlay_show_free (GstDepthOverlayShow *show);

void gst_depth_overlay_show_start (GstDepthOverlayShow *show);
/* May be called twice. */
void gst_depth_overlay_show_stop (GstDepthOverlayShow *show);
void gst_depth_overlay_show_flush (GstDepthOverlayShow *show);

/* For GstAggregator's aggregate(): takes the next live frame with its depth, draws, and pushes the result. */
GstFlowReturn gst_depth_overlay_show_next (GstDepthOverlayShow *show, gboolean timeout);

G_END_DECLS

#endif
