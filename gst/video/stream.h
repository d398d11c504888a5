/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all elements on GstAggregator do alike: tell the time of their input, clip it, answer allocation queries, push their
 * output. */
#ifndef GST_STEREO_STREAM_H
#define GST_STEREO_STREAM_H

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* Signed running time, or GST_CLOCK_STIME_NONE. A frame that begins a little before its segment has one too. */
gint64 gst_stereo_running_time (const GstSegment *segment, GstClockTime pts);
/* The same of a buffer of @pad, by the segment that it came under. */
gint64 gst_stereo_pad_running_time (GstAggregatorPad *pad, GstBuffer *buffer);

/* GstAggregatorClass.clip: drops a buffer that lies wholly outside the segment. A buffer that lies partly inside stays
 * whole, for a frame cannot be cut. */
GstBuffer *gst_stereo_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

/* GstAggregatorClass.sink_query_pre_queue: answers the queries at once that come in line with the frames. In the queue
 * such a query would wait behind frames that wait for another pad, and so hold up the thread that asks; the frames of
 * the other pad may come from that very thread. The answer about allocation depends on nothing that came before. All
 * others, as whether everything was drained, get FALSE: it is not known. */
gboolean gst_stereo_sink_query_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query);

/* Pushes @out (transfer full), with @segment before it where @segment is not the last one that was pushed: @last, which
 * @have_last says to be there, and which this function keeps up to date. */
GstFlowReturn gst_stereo_push (
    GstAggregator *aggregator, GstSegment *last, gboolean *have_last, const GstSegment *segment, GstBuffer *out);

G_END_DECLS

#endif
