/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drops pairs that come too late, before they are computed. A pair is late where a QoS event from downstream says so, and
 * where, in a live pipeline, it would come later than the latency that the element reports. lateness.h has the rules for
 * the latter case. This file reads the clock and the events for them, reports the latency and posts the messages.
 */
#include "gst/pairing/private.h"

void
gst_stereo_qos_reset (GstStereoAggregator *self, gboolean start)
{
  GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  qos->earliest_time = GST_CLOCK_TIME_NONE;
  qos->proportion = 0;
  gst_stereo_lateness_flush (&qos->lateness);
  if (start) {
    qos->pairs = qos->late = qos->compute_last = qos->compute_total = 0;
    memset (qos->recent, 0, sizeof qos->recent);
    gst_stereo_lateness_init (&qos->lateness);
    qos->configured = 0;
  }
  GST_OBJECT_UNLOCK (self);
}

/* A pair is out when its later frame is in, has waited for its turn and is computed. */
static void
announce_latency (GstStereoAggregator *self)
{
  GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  GstClockTime before = qos->announced,
               latency = qos->wait_time + (GstClockTime) gst_stereo_lateness_latency (&qos->lateness);
  qos->announced = latency;
  /* the pipeline's latency is soon lower by as much */
  if (latency < before)
    qos->configured -= MIN (qos->configured, before - latency);
  GST_OBJECT_UNLOCK (self);
  if (latency == before)
    return;
  GST_INFO_OBJECT (
      self, "latency %" GST_TIME_FORMAT ", was %" GST_TIME_FORMAT, GST_TIME_ARGS (latency), GST_TIME_ARGS (before));
  gst_aggregator_set_latency (GST_AGGREGATOR (self), latency, latency);
}

void
gst_stereo_qos_set_frame (GstStereoAggregator *self, GstClockTime frame, GstClockTime wait)
{
  GST_OBJECT_LOCK (self);
  gst_stereo_lateness_set_frame (&self->priv->qos.lateness, (gint64) frame);
  self->priv->qos.wait_time = wait;
  GST_OBJECT_UNLOCK (self);
  announce_latency (self);
}

void
gst_stereo_qos_read_event (GstStereoAggregator *self, GstEvent *event)
{
  GstClockTime timestamp, earliest = GST_CLOCK_TIME_NONE, latency;
  GstStereoQos *qos = &self->priv->qos;
  GstClockTimeDiff diff;
  gdouble proportion;

  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    gst_event_parse_latency (event, &latency);
    GST_DEBUG_OBJECT (self, "the pipeline's latency is %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
    GST_OBJECT_LOCK (self);
    qos->configured = latency;
    GST_OBJECT_UNLOCK (self);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    gst_event_parse_qos (event, NULL, &proportion, &diff, &timestamp);
    /* twice as far ahead as it was late, as GstBaseTransform does, or the next pair is late as well */
    if (GST_CLOCK_TIME_IS_VALID (timestamp))
      earliest = (GstClockTime) MAX (0, (GstClockTimeDiff) timestamp + (diff > 0 ? 2 * diff : diff));
    GST_LOG_OBJECT (self,
        "QoS from downstream: off by %" GST_STIME_FORMAT ", proportion %.3f; pairs before %" GST_TIME_FORMAT " are late",
        GST_STIME_ARGS (diff), proportion, GST_TIME_ARGS (earliest));
    GST_OBJECT_LOCK (self);
    qos->proportion = proportion;
    qos->earliest_time = earliest;
    GST_OBJECT_UNLOCK (self);
  }
}

/* By how much a pair of that time comes too late; 0 = it does not, or none was computed for long. */
static gint64
find_lateness (GstStereoAggregator *self, gint64 time)
{
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self)),
               now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gboolean clock = GST_CLOCK_TIME_IS_VALID (now), live = clock && GST_CLOCK_TIME_IS_VALID (latency);
  GstStereoQos *qos = &self->priv->qos;
  gint64 late = 0, for_downstream = 0;

  qos->decided = live ? (gint64) now : NONE;
  GST_OBJECT_LOCK (self);
  /* The latency is the pipeline's, or as much of it as is known up to here. Only in live pipelines does a pair have to be there
   * at some time. They hold nothing in flight, so that no other pair is computed before this one. */
  if (live) {
    qos->spare = qos->configured > latency ? (gint64) (qos->configured - latency) : 0;
    qos->waited = (gint64) now - time - (gint64) (latency - qos->announced + qos->wait_time);
  }
  if (live && qos->enabled)
    late = gst_stereo_lateness_decide (&qos->lateness, qos->decided, qos->waited, qos->spare);
  if (qos->enabled && GST_CLOCK_TIME_IS_VALID (qos->earliest_time))
    for_downstream = MAX (0, (gint64) qos->earliest_time - time);
  if (for_downstream && clock && gst_stereo_lateness_is_patience_over (&qos->lateness, (gint64) now))
    for_downstream = 0;
  gint64 expected = qos->lateness.expected, allowed = qos->lateness.allowed;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self,
      "pair of %" GST_STIME_FORMAT ": waited %" GST_STIME_FORMAT ", expected to take %" GST_STIME_FORMAT
      ", allowed %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT " to spare",
      GST_STIME_ARGS (time), GST_STIME_ARGS (qos->waited), GST_STIME_ARGS (expected), GST_STIME_ARGS (allowed),
      GST_STIME_ARGS (qos->spare));
  if (live)
    announce_latency (self);
  if (late || for_downstream)
    GST_DEBUG_OBJECT (self,
        "dropped, late: pair of %" GST_STIME_FORMAT ", by %" GST_STIME_FORMAT " for the latency, by %" GST_STIME_FORMAT
        " for downstream",
        GST_STIME_ARGS (time), GST_STIME_ARGS (late), GST_STIME_ARGS (for_downstream));
  return MAX (late, for_downstream);
}

gboolean
gst_stereo_qos_drop_if_late (GstStereoAggregator *self, const GstStereoFrame *frame)
{
  GstStereoQos *qos = &self->priv->qos;

  qos->decided = NONE;
  gint64 late = frame->time == NONE ? 0 : find_lateness (self, frame->time);
  if (!late)
    return FALSE;
  gboolean live = qos->decided != NONE;
  GST_OBJECT_LOCK (self);
  gdouble proportion = qos->proportion > 0 ? qos->proportion : 1;
  guint64 dropped = ++qos->late, processed = qos->pairs;
  GST_OBJECT_UNLOCK (self);
  GstMessage *message = gst_message_new_qos (GST_OBJECT (self), live, (guint64) MAX (0, frame->time),
      gst_segment_to_stream_time (&frame->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->buffer)),
      GST_BUFFER_PTS (frame->buffer), GST_BUFFER_DURATION (frame->buffer));
  gst_message_set_qos_values (message, late, proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message (GST_ELEMENT (self), message);
  return TRUE;
}

void
gst_stereo_qos_computed (GstStereoAggregator *self, GstClockTime compute_time)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  GstStereoQos *qos = &self->priv->qos;
  gboolean live = qos->decided != NONE && GST_CLOCK_TIME_IS_VALID (now);

  GST_OBJECT_LOCK (self);
  qos->recent[qos->pairs++ % GST_STEREO_RECENT] = compute_time;
  qos->compute_last = compute_time;
  qos->compute_total += compute_time;
  qos->lateness.late_since = G_MAXINT64;
  if (live)
    gst_stereo_lateness_took (
        &qos->lateness, qos->waited, qos->spare, MAX ((gint64) compute_time, (gint64) now - qos->decided));
  GST_OBJECT_UNLOCK (self);
  if (live)
    announce_latency (self);
}
