/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes downstream: its caps, the view that it shows, the buffers it lies in, and pushing them. */
#ifndef GST_DEPTH_OVERLAY_OUTPUT_H
#define GST_DEPTH_OVERLAY_OUTPUT_H

#include <gst/base/gstaggregator.h>

#include "gst/video/view.h"

G_BEGIN_DECLS

typedef struct _GstDepthOverlayOutput GstDepthOverlayOutput;

/* @owner: the element, which owns the output. */
GstDepthOverlayOutput *gst_depth_overlay_output_new (GstAggregator *owner);
void gst_depth_overlay_output_free (GstDepthOverlayOutput *output);
/* Forgets the segment that downstream has: after a flush. @caps: forgets what was negotiated, too. */
void gst_depth_overlay_output_reset (GstDepthOverlayOutput *output, gboolean caps);

/* ---- caps -------------------------------------------------------------------------------- */

/* The caps of @pad that downstream would take, in any size, as the output may be a part of the frame. @filter may be
 * NULL. Transfer full. */
GstCaps *gst_depth_overlay_output_query_caps (GstDepthOverlayOutput *output, GstPad *pad, GstCaps *filter);
/* Chooses the view that is shown of such live frames, as gst_stereo_live_view_choose(); a size of 0 x 0 keeps the one
 * of before. FALSE after an error was posted that no later frame can mend. */
gboolean gst_depth_overlay_output_choose_view (
    GstDepthOverlayOutput *output, const GstVideoInfo *live, gint depth_width, gint depth_height, gboolean expected);
/* The view is depth alone, of that size and rate, in the first format of ALONE_FORMATS that downstream takes. */
void gst_depth_overlay_output_choose_alone (GstDepthOverlayOutput *output, const GstVideoInfo *depth);
/* Negotiates caps for that view, if need be. An error was posted unless the flow is OK or FLUSHING. */
GstFlowReturn gst_depth_overlay_output_negotiate (GstDepthOverlayOutput *output);
/* For GstAggregator's functions of these names. */
GstFlowReturn gst_depth_overlay_output_update_src_caps (GstDepthOverlayOutput *output, GstCaps *caps, GstCaps **result);
gboolean gst_depth_overlay_output_negotiated_src_caps (GstDepthOverlayOutput *output, GstCaps *caps);
gboolean gst_depth_overlay_output_decide_allocation (GstDepthOverlayOutput *output, GstQuery *query);

/* ---- buffers ----------------------------------------------------------------------------- */

const GstStereoLiveView *gst_depth_overlay_output_view (const GstDepthOverlayOutput *output);
/* Whether @live itself can go downstream: it shows the view alone, and downstream knows where its rows lie. */
gboolean gst_depth_overlay_output_can_pass (const GstDepthOverlayOutput *output, GstBuffer *live);
/* A buffer for a frame of the output. An error was posted when the flow is ERROR. */
GstFlowReturn gst_depth_overlay_output_acquire (GstDepthOverlayOutput *output, GstBuffer **buffer);
/* Pushes @buffer (transfer full), after its segment where that is another one. */
GstFlowReturn gst_depth_overlay_output_push (
    GstDepthOverlayOutput *output, const GstSegment *segment, GstBuffer *buffer);
/* Passes on that the live view has nothing at the time of @gap. */
void gst_depth_overlay_output_push_gap (GstDepthOverlayOutput *output, GstBuffer *gap);

G_END_DECLS

#endif
