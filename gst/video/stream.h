/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions for elements: properties that follow control sources, the times of frames; and for every element on GstAggregator:
 * clipping of the input, allocation queries, pushing.
 */
#ifndef GST_STEREO_STREAM_H
#define GST_STEREO_STREAM_H

#include <gst/base/gstaggregator.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Before the properties of @element are read for a frame of time @pts: sets those that a control source drives. */
void gst_stereo_follow_controls (gpointer element, const GstSegment *segment, GstClockTime pts);
/* Adds the times of @buffer to a message about it: `timestamp`, `stream-time`, `running-time` and `duration`. */
void gst_stereo_add_times (GstStructure *message, GstBuffer *buffer, const GstSegment *segment);
/* Whether the stream that comes to the `sink` of @element is live: its time goes by the clock. */
gboolean gst_stereo_is_live (GstElement *element);
/* Adds `age` to a message about a frame that was taken at that running time: the clock of @element, which is in a live
 * pipeline, now minus then, ns. Adds nothing where it does not play, or has no clock. */
void gst_stereo_add_age (GstStructure *message, GstElement *element, gint64 running_time);

/* Signed running time, or GST_CLOCK_STIME_NONE. A frame that begins a little before its segment has one too. */
gint64 gst_stereo_running_time (const GstSegment *segment, GstClockTime pts);
/* The running time of a buffer of @pad, by the pad's current segment. */
gint64 gst_stereo_pad_running_time (GstAggregatorPad *pad, GstBuffer *buffer);

/* GstAggregatorClass.clip: drops a buffer that lies wholly outside the segment. A buffer that lies partly inside stays
 * whole, for a frame cannot be cut. */
GstBuffer *gst_stereo_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

/* GstAggregatorClass.sink_query_pre_queue: answers serialized queries at once. In the queue, such a query would wait behind
 * frames that wait for the other pad. It would block the thread that asks, and this thread may also bring the frames of the
 * other pad: a deadlock. The answer to an ALLOCATION query does not depend on earlier frames. Other serialized queries, such
 * as DRAIN, get FALSE: the answer is not known. */
gboolean gst_stereo_sink_query_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query);

/* Pushes @out (transfer full). Pushes @segment before it, unless it is equal to @last, the segment that was pushed last.
 * @have_last: whether @last is set. This function updates both. */
GstFlowReturn gst_stereo_push (
    GstAggregator *aggregator, GstSegment *last, gboolean *have_last, const GstSegment *segment, GstBuffer *out);

/* Copies the metas of @from that are true of @out as well.
 * @same_place: @out has the size of @from, and every object lies at the same place.
 * @same_pixels: @out shows the same picture, so that its colours and its GstStereoMeta still hold. */
void gst_stereo_copy_metas (GstBuffer *out, GstBuffer *from, gboolean same_place, gboolean same_pixels);

/* In class_init of an element on GstBaseTransform that passes pictures through unchanged and adds metadata: sets the functions of @klass about memory. No picture is copied. Downstream's allocation query is passed
 * upstream, and a shared buffer is replaced by a new one with the same memory. */
void gst_stereo_in_place_class_init (GstBaseTransformClass *klass);

G_END_DECLS

#endif
