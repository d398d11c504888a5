/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The depthoverlay element. Its parts do not know the element:
 *   show        the properties, and the way of a frame from the sink pads to the source pad
 *   sync        the depth for a frame of the live view
 *   view        which part of the live frame is shown; output: caps, buffers and pushing
 *   picture     the depth as samples, confidence and codes
 *   nearest     the nearest distance in it; report: the message about it
 *   colormap    codes and colours; blend: colours over a frame
 *   text        legend, read-out, marker and warning, each drawn when it changes; draw: how they look
 *   compose     a frame, its colours and its text become an output buffer
 */
#ifndef GST_DEPTH_OVERLAY_H
#define GST_DEPTH_OVERLAY_H

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

#define GST_TYPE_DEPTH_OVERLAY (gst_depth_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstDepthOverlay, gst_depth_overlay, GST, DEPTH_OVERLAY, GstAggregator)
GST_ELEMENT_REGISTER_DECLARE (depthoverlay);

G_END_DECLS

#endif
