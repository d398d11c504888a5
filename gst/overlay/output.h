/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output: its caps, the view that it shows, its buffers, and pushing them. */
#ifndef GST_DEPTH_OVERLAY_OUTPUT_H
#define GST_DEPTH_OVERLAY_OUTPUT_H

#include <gst/base/gstaggregator.h>

#include "gst/video/view.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayOutput GstDepthOverlayOutput;

/* @owner: the element, which owns the output. */
GstDepthOverlayOutput *gst_depth_overlay_output_new (GstAggregator *owner);
void gst_depth_overlay_output_free (GstDepthOverlayOutput *output);
/* After a flush: forgets the segment that downstream has. @caps: also forgets the negotiated caps. */
void gst_depth_overlay_output_reset (GstDepthOverlayOutput *output, gboolean caps);

/* ---- caps -------------------------------------------------------------------------------- */

/* The caps of @pad that downstream would take, in any size, as the output may be a part of the frame. @filter may be
 * NULL. Transfer full. */
GstCaps *gst_depth_overlay_output_query_caps (GstDepthOverlayOutput *output, GstPad *pad, GstCaps *filter);
/* Chooses the view to show of live frames with these caps (gst_stereo_live_view_choose()). A depth size of 0 x 0 keeps the
 * current view. FALSE after an error was posted that concerns all later frames, too. */
gboolean gst_depth_overlay_output_choose_view (
    GstDepthOverlayOutput *output, const GstVideoInfo *live, gint depth_width, gint depth_height, gboolean expected);
/* The view becomes depth alone, of this size and rate, in the first format of ALONE_FORMATS that downstream accepts. */
void gst_depth_overlay_output_choose_alone (GstDepthOverlayOutput *output, const GstVideoInfo *depth);
/* Negotiates caps for the view, if needed. An error was posted unless the flow is OK or FLUSHING. */
GstFlowReturn gst_depth_overlay_output_negotiate (GstDepthOverlayOutput *output);
/* For GstAggregator's functions of these names. */
GstFlowReturn gst_depth_overlay_output_update_src_caps (GstDepthOverlayOutput *output, GstCaps *caps, GstCaps **result);
gboolean gst_depth_overlay_output_negotiated_src_caps (GstDepthOverlayOutput *output, GstCaps *caps);
gboolean gst_depth_overlay_output_decide_allocation (GstDepthOverlayOutput *output, GstQuery *query);

/* ---- buffers ----------------------------------------------------------------------------- */

const GstStereoLiveView *gst_depth_overlay_output_view (const GstDepthOverlayOutput *output);
/* Whether @live can be pushed without a copy: it has only the view, and downstream can read the layout of its rows. */
gboolean gst_depth_overlay_output_can_pass (const GstDepthOverlayOutput *output, GstBuffer *live);
/* A buffer for a frame of the output. An error was posted when the flow is ERROR. */
GstFlowReturn gst_depth_overlay_output_acquire (GstDepthOverlayOutput *output, GstBuffer **buffer);
/* Pushes @buffer (transfer full), and before it its segment if that has changed. */
GstFlowReturn gst_depth_overlay_output_push (
    GstDepthOverlayOutput *output, const GstSegment *segment, GstBuffer *buffer);
/* Pushes a GAP event: the live view has no frame at the time of @gap. */
void gst_depth_overlay_output_push_gap (GstDepthOverlayOutput *output, GstBuffer *gap);

G_END_DECLS

#endif
