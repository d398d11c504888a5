/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the base class does with events and queries: the parts read them, and GstAggregator gets those that it handles. */
#ifndef GST_STEREO_PAIRING_EVENTS_H
#define GST_STEREO_PAIRING_EVENTS_H

#include "gst/pairing/parts.h"

G_BEGIN_DECLS

/* From upstream, in the order of the stream. */
gboolean gst_stereo_read_sink_event (
    GstStereoParts *parts, GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event);
/* From upstream, as soon as it arrives. */
GstFlowReturn gst_stereo_preview_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event);
/* From downstream. */
gboolean gst_stereo_read_src_event (GstStereoParts *parts, GstAggregator *aggregator, GstEvent *event);
gboolean gst_stereo_answer_src_query (GstStereoParts *parts, GstAggregator *aggregator, GstQuery *query);
/* Answers GST_QUERY_CAPS or GST_QUERY_ACCEPT_CAPS of @pad, a sink pad that takes @caps. Where the answer leaves a source no choice, an
 * error names what it has: input/refusal.h. */
void gst_stereo_answer_caps_query (GstQuery *query, GstCaps *caps, GstPad *pad);

G_END_DECLS

#endif
