/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is shown over a live frame: a frame from the sink pads to the source pad, as the properties say. */
#ifndef GST_DEPTH_OVERLAY_SHOW_H
#define GST_DEPTH_OVERLAY_SHOW_H

#include "gst/overlay/output.h"
#include "gst/overlay/properties.h"
#include "gst/overlay/sync.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayShow GstDepthOverlayShow;

/* All of them must outlive it. @settings are protected by the owner's object lock. */
GstDepthOverlayShow *gst_depth_overlay_show_new (GstElement *owner, const GstDepthOverlaySettings *settings,
    GstStereoJoin *join, GstDepthOverlaySync *sync, GstDepthOverlayOutput *output);
void gst_depth_overlay_show_free (GstDepthOverlayShow *show);

void gst_depth_overlay_show_start (GstDepthOverlayShow *show);
/* May be called twice. */
void gst_depth_overlay_show_stop (GstDepthOverlayShow *show);
void gst_depth_overlay_show_flush (GstDepthOverlayShow *show);

/* For GstAggregator's aggregate(): takes the next live frame with its depth, and pushes what becomes of it. */
GstFlowReturn gst_depth_overlay_show_next (GstDepthOverlayShow *show, gboolean timeout);

G_END_DECLS

#endif
