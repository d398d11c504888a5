/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is shown over a live frame: the properties, and a frame from the sink pads to the source pad as they say. */
#ifndef GST_DEPTH_OVERLAY_SHOW_H
#define GST_DEPTH_OVERLAY_SHOW_H

#include "gst/overlay/output.h"
#include "gst/overlay/sync.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayShow GstDepthOverlayShow;

/* All of them must outlive it. */
GstDepthOverlayShow *gst_depth_overlay_show_new (
    GstElement *owner, GstStereoJoin *join, GstDepthOverlaySync *sync, GstDepthOverlayOutput *output);
void gst_depth_overlay_show_free (GstDepthOverlayShow *show);

/* All properties of the element. Set and get take the owner's object lock. */
void gst_depth_overlay_show_install_properties (GObjectClass *klass);
void gst_depth_overlay_show_set_property (GstDepthOverlayShow *show, guint id, const GValue *value, GParamSpec *spec);
void gst_depth_overlay_show_get_property (GstDepthOverlayShow *show, guint id, GValue *value);

void gst_depth_overlay_show_start (GstDepthOverlayShow *show);
/* May be called twice. */
void gst_depth_overlay_show_stop (GstDepthOverlayShow *show);
void gst_depth_overlay_show_flush (GstDepthOverlayShow *show);

/* For GstAggregator's aggregate(): takes the next live frame with its depth, and pushes what becomes of it. */
GstFlowReturn gst_depth_overlay_show_next (GstDepthOverlayShow *show, gboolean timeout);

G_END_DECLS

#endif
