/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a pair gives to its output buffer, and whether there is time for it. */
#include "gst/pairing/aggregator.h"

#include "gst/video/metas.h"
#include "gst/video/stream.h"

#define GST_CAT_DEFAULT gst_stereo_aggregator_debug

GstFlowReturn
gst_stereo_aggregator_mismatch (GstStereoAggregator *self, const GstStereoFrame *left,
    const GstStereoFrame *right)
{
  gchar *a = gst_stereo_layout_describe (&left->layout, &left->info);
  gchar *b = gst_stereo_layout_describe (&right->layout, &right->info);

  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("The two views must have one size, and both colour or both luma: the left one is %s, the right one %s. Put "
          "videoscale or videoconvert before one of them.", a, b), (NULL));
  g_free (a);
  g_free (b);
  return GST_FLOW_NOT_NEGOTIATED;
}

/* By how much a pair of that time comes too late for what downstream has said; 0 = it does not. */
static gint64
late_for_downstream (GstStereoAggregator *self, gint64 time)
{
  gint64 late = 0;

  GST_OBJECT_LOCK (self);
  if (self->qos && GST_CLOCK_TIME_IS_VALID (self->earliest_time) && time < (gint64) self->earliest_time)
    late = (gint64) self->earliest_time - time;
  GST_OBJECT_UNLOCK (self);
  return late;
}

/* By how much a pair of that time would come later than the latency that is reported, by the pipeline or by what there
 * is of it up to here; 0 = it does not. In live pipelines alone: nothing else tells when a pair has to be there. They
 * hold nothing in flight, so that no other pair is computed before this one. */
static gint64
late_for_latency (GstStereoAggregator *self, gint64 time)
{
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self));
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gint64 late = 0;

  self->decided = GST_STEREO_TIME_NONE;
  if (!GST_CLOCK_TIME_IS_VALID (latency) || !GST_CLOCK_TIME_IS_VALID (now))
    return 0;
  GST_OBJECT_LOCK (self);
  self->spare = self->configured > latency ? (gint64) (self->configured - latency) : 0;
  self->decided = (gint64) now;
  self->waited = (gint64) now - time - (gint64) (latency - self->announced + self->wait_time);
  gst_stereo_lateness_advance (&self->lateness, self->decided);
  if (self->qos)
    late = gst_stereo_lateness_decide (&self->lateness, self->decided, self->waited, self->spare);
  GST_OBJECT_UNLOCK (self);
  gst_stereo_aggregator_announce_latency (self);
  return late;
}

static void
post_qos (GstStereoAggregator *self, const GstStereoFrame *frame, gint64 late)
{
  gboolean live = self->decided != GST_STEREO_TIME_NONE;
  guint64 processed, dropped;
  GstMessage *message;
  gdouble proportion;

  GST_OBJECT_LOCK (self);
  proportion = self->proportion;
  if (proportion <= 0)
    proportion = live && self->lateness.frame ? (gdouble) self->lateness.expected / (gdouble) self->lateness.frame : 1;
  dropped = ++self->stats.late;
  processed = self->stats.pairs;
  GST_OBJECT_UNLOCK (self);
  message = gst_message_new_qos (GST_OBJECT (self), live, frame->time < 0 ? 0 : (guint64) frame->time,
      gst_segment_to_stream_time (&frame->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->buffer)),
      GST_BUFFER_PTS (frame->buffer), GST_BUFFER_DURATION (frame->buffer));
  gst_message_set_qos_values (message, late, proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message (GST_ELEMENT (self), message);
}

gboolean
gst_stereo_aggregator_is_late (GstStereoAggregator *self, const GstStereoFrame *frame)
{
  gint64 late;

  self->decided = GST_STEREO_TIME_NONE;
  if (frame->time == GST_STEREO_TIME_NONE)
    return FALSE;
  late = late_for_latency (self, frame->time);
  late = MAX (late, late_for_downstream (self, frame->time));
  if (!late)
    return FALSE;
  post_qos (self, frame, late);
  GST_DEBUG_OBJECT (self, "late by %" GST_STIME_FORMAT ", dropped", GST_STIME_ARGS (late));
  self->discont = TRUE;
  return TRUE;
}

gboolean
gst_stereo_aggregator_map (GstStereoAggregator *self, GstVideoFrame *mapped, const GstStereoFrame *frame,
    GstStereoCudaContext *context)
{
  if (gst_stereo_frame_map (mapped, &frame->info, frame->buffer, context))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A buffer of %" G_GSIZE_FORMAT " bytes %sdoes not hold the %dx%d %s frame "
          "that its caps announce%s.", gst_buffer_get_size (frame->buffer),
          gst_stereo_cuda_context_of (frame->buffer) ? "in device memory " : "", GST_VIDEO_INFO_WIDTH (&frame->info),
          GST_VIDEO_INFO_HEIGHT (&frame->info), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info)),
          gst_stereo_cuda_context_of (frame->buffer) ? ", or cannot be read" : ""), (NULL));
  return FALSE;
}

void
gst_stereo_aggregator_decorate (GstStereoAggregator *self, GstBuffer *out, const GstStereoFrame *left,
    const GstStereoFrame *other, gboolean same_place)
{
  gboolean alone = left->layout.packing == GST_STEREO_PACKING_AUTO ||
      left->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME;
  const GstStereoFrame *timed = GST_BUFFER_PTS_IS_VALID (left->buffer) ||
      left->layout.packing == GST_STEREO_PACKING_AUTO ? left : other;

  gst_buffer_copy_into (out, timed->buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  GST_BUFFER_DTS (out) = GST_CLOCK_TIME_NONE;
  if (self->discont || GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_DISCONT))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  if (GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_CORRUPTED) ||
      GST_BUFFER_FLAG_IS_SET (other->buffer, GST_BUFFER_FLAG_CORRUPTED))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_CORRUPTED);
  self->discont = FALSE;
  gst_stereo_copy_metas (out, left->buffer, same_place && alone, FALSE);
}

/* Before it is pushed: it comes within the latency that is reported then. */
static void
count_time (GstStereoAggregator *self, GstClockTime compute_time)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gboolean live = self->decided != GST_STEREO_TIME_NONE && GST_CLOCK_TIME_IS_VALID (now);

  GST_OBJECT_LOCK (self);
  self->stats.pairs++;
  self->stats.compute_last = compute_time;
  self->stats.compute_total += compute_time;
  if (live)
    gst_stereo_lateness_took (&self->lateness, self->waited, self->spare,
        MAX ((gint64) compute_time, (gint64) now - self->decided));
  GST_OBJECT_UNLOCK (self);
  if (live)
    gst_stereo_aggregator_announce_latency (self);
}

GstFlowReturn
gst_stereo_aggregator_finish (GstStereoAggregator *self, const GstSegment *segment, GstBuffer *out,
    GstClockTime compute_time)
{
  GstFlowReturn flow;
  gint64 begin;

  count_time (self, compute_time);
  begin = g_get_monotonic_time ();
  flow = gst_stereo_push (GST_AGGREGATOR (self), &self->segment, &self->have_segment, segment, out);
  GST_OBJECT_LOCK (self);
  gst_stereo_lateness_pushed (&self->lateness, (g_get_monotonic_time () - begin) * 1000);
  GST_OBJECT_UNLOCK (self);
  return flow;
}
