/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes an output buffer from a live frame, the colours of its depth, and text. */
#ifndef GST_DEPTH_OVERLAY_COMPOSE_H
#define GST_DEPTH_OVERLAY_COMPOSE_H

#include "gst/overlay/blend.h"
#include "gst/overlay/output.h"
#include "gst/overlay/text.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayComposer GstDepthOverlayComposer;

/* What is drawn over a frame. */
typedef struct
{
  const GstStereoBlendDepth *depth; /* NULL: no colours */
  GstStereoColormap colormap;
  gdouble alpha; /* of the colours, 0..1 */
  GstDepthOverlayTextContent text;
} GstDepthOverlayStyle;

GstDepthOverlayComposer *gst_depth_overlay_composer_new (GstElement *owner);
void gst_depth_overlay_composer_free (GstDepthOverlayComposer *composer);

/* Makes @buffer (transfer full) from @live. It is another reference of @live where drawing in place is possible, or
 * nothing is drawn; else a new buffer of the output. An error was posted when the flow is neither OK nor FLUSHING. */
GstFlowReturn gst_depth_overlay_compose (GstDepthOverlayComposer *composer, GstDepthOverlayOutput *output,
    GstBuffer *live, const GstDepthOverlayStyle *style, GstBuffer **buffer);

/* The same for depth alone: its colours, opaque, on black. */
GstFlowReturn gst_depth_overlay_compose_alone (GstDepthOverlayComposer *composer, GstDepthOverlayOutput *output,
    GstBuffer *depth, const GstDepthOverlayStyle *style, GstBuffer **buffer);

G_END_DECLS

#endif
