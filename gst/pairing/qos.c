/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drops pairs that come too late, before they are computed. A pair is late where a QoS event from downstream says so, and
 * where, in a live pipeline, it would come later than the latency that the element reports:
 *
 *   latency = what upstream reports + the wait for the partner + excess + allowed
 *   a pair has waited: now - its time - (what upstream reports + the wait for the partner) - excess
 *   it is late when waited + expected > allowed + spare
 *
 * `spare` is what the pipeline allows beyond the latency of this element: what the sink adds, or a slower branch. `expected` is what
 * the last pair took and an eighth; after a slower one it falls back by a sixteenth with each pair. A quarter of `allowed` is kept back
 * in any case: a pair may turn out to be slower, on top of its wait. `allowed` is at least `expected` and half a frame for waiting, and
 * at least a frame. A pair that takes longer raises `allowed` before it is pushed; where less was enough for a whole period, it is
 * lowered. A single pair that takes more than four times `allowed` does not count: the machine stood still then.
 *
 * `excess` is by how much frames arrive later than upstream reports: the delay of the sources (sources.c). So large a delay that the
 * timestamps cannot be of this clock is not added to the latency. However late all pairs are, one a second is computed.
 */
#include "gst/pairing/private.h"

#define PERIOD ((gint64) (8 * GST_SECOND))
#define STALL 4                                 /* in units of `allowed` */
#define PATIENCE ((gint64) (500 * GST_MSECOND)) /* with nothing but late pairs: four frames, and at least this */
#define LONGEST ((gint64) GST_SECOND)           /* without a pair */
#define MOST_EXCESS ((gint64) (5 * GST_SECOND))

/* ---- the rules ---------------------------------------------------------------------------- */

/* How long a pair may wait for its turn. Frames come unevenly: at high rates, half a frame is too short. */
static gint64
slack (const GstStereoQos *qos)
{
  return qos->frame ? MAX (qos->frame / 2, (gint64) (2 * GST_MSECOND)) : (gint64) (20 * GST_MSECOND);
}

static gint64
and_an_eighth (gint64 time)
{
  return time + time / 8;
}

static gint64
most_waited (const GstStereoQos *qos)
{
  return MAX (slack (qos), qos->allowed + qos->spare - MAX (qos->expected, qos->allowed / 4));
}

void
gst_stereo_qos_set_rate (GstStereoQos *qos, gint64 frame)
{
  qos->frame = frame;
  qos->allowed = qos->expected ? MAX (frame, qos->expected + slack (qos)) : frame;
}

gint64
gst_stereo_qos_latency (const GstStereoQos *qos)
{
  return qos->allowed + (qos->excess <= MOST_EXCESS ? qos->excess : 0);
}

gint64
gst_stereo_qos_decide (GstStereoQos *qos, gint64 now, gint64 delay)
{
  if (now < qos->since || now - qos->since >= PERIOD) {
    /* what would have been enough in the period that is over? */
    gint64 enough = MAX (qos->frame, and_an_eighth (qos->slowest) + slack (qos));
    if (qos->slowest && enough <= qos->allowed / 4 * 3)
      qos->allowed = enough;
    qos->since = now;
    qos->slowest = 0;
    qos->stalled = FALSE;
  }
  if (delay != NONE && ABS (MAX (delay, 0) - qos->excess) > slack (qos))
    qos->excess = MAX (delay, 0);
  qos->waited -= qos->excess;
  return qos->expected ? MAX (0, qos->waited - most_waited (qos)) : 0;
}

void
gst_stereo_qos_took (GstStereoQos *qos, gint64 service)
{
  /* In overload a wait adds up with a slow pair; but for one that was computed though it was late, as the first one or without QoS. */
  gboolean adds_up = qos->expected > qos->frame && qos->waited <= most_waited (qos);

  if (qos->expected && service > STALL * qos->allowed && !qos->stalled) {
    qos->stalled = TRUE;
    return;
  }
  qos->expected = MAX (and_an_eighth (service), qos->expected - qos->expected / GST_STEREO_FALLS_BACK);
  qos->slowest = MAX (qos->slowest, service);
  if (service + slack (qos) > qos->allowed)
    qos->allowed = and_an_eighth (service) + slack (qos);
  if (adds_up)
    qos->allowed = MAX (qos->allowed, qos->waited + service - qos->spare);
}

gboolean
gst_stereo_qos_is_patience_over (GstStereoQos *qos, gint64 now)
{
  qos->late_since = MIN (qos->late_since, now);
  return now - qos->late_since >= CLAMP (4 * qos->frame, PATIENCE, LONGEST);
}

/* ---- the element -------------------------------------------------------------------------- */

void
gst_stereo_qos_reset (GstStereoAggregator *self, gboolean start)
{
  GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  if (start)
    *qos = (GstStereoQos){ .enabled = qos->enabled };
  qos->earliest_time = GST_CLOCK_TIME_NONE;
  qos->proportion = 0;
  qos->excess = 0;
  qos->late_since = G_MAXINT64;
  GST_OBJECT_UNLOCK (self);
}

/* A pair is out when its later frame is in, has waited for its turn and is computed. */
static void
announce_latency (GstStereoAggregator *self)
{
  GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  GstClockTime before = qos->announced, latency = qos->wait_time + (GstClockTime) gst_stereo_qos_latency (qos);
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
  gst_stereo_qos_set_rate (&self->priv->qos, (gint64) frame);
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

gboolean
gst_stereo_qos_drop_if_late (GstStereoAggregator *self, const GstStereoFrame *frame)
{
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self)),
               now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gboolean clock = GST_CLOCK_TIME_IS_VALID (now),
           live = clock && GST_CLOCK_TIME_IS_VALID (latency) && frame->time != NONE;
  GstStereoQos *qos = &self->priv->qos;
  gint64 late = 0;

  GST_OBJECT_LOCK (self);
  qos->decided = live ? (gint64) now : NONE;
  /* The latency is the pipeline's, or as much of it as is known up to here. Only in live pipelines does a pair have to be there
   * at some time. They hold nothing in flight, so that no other pair is computed before this one. */
  if (live) {
    gint64 upstream = (gint64) (latency - qos->announced), delay = self->priv->delay;
    qos->spare = qos->configured > latency ? (gint64) (qos->configured - latency) : 0;
    qos->waited = qos->decided - frame->time - upstream - (gint64) qos->wait_time;
    late = gst_stereo_qos_decide (qos, qos->decided, delay == NONE ? NONE : delay - upstream);
  }
  if (frame->time != NONE && GST_CLOCK_TIME_IS_VALID (qos->earliest_time))
    late = MAX (late, (gint64) qos->earliest_time - frame->time);
  if (!qos->enabled || (late && clock && gst_stereo_qos_is_patience_over (qos, (gint64) now)))
    late = 0;
  gdouble proportion = qos->proportion > 0 ? qos->proportion : 1;
  guint64 dropped = qos->late += late > 0, processed = qos->pairs;
  gint64 waited = qos->waited, expected = qos->expected, allowed = qos->allowed, spare = qos->spare;
  GST_OBJECT_UNLOCK (self);
  GST_LOG_OBJECT (self,
      "pair of %" GST_STIME_FORMAT ": waited %" GST_STIME_FORMAT ", expected to take %" GST_STIME_FORMAT
      ", allowed %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT " to spare",
      GST_STIME_ARGS (frame->time), GST_STIME_ARGS (waited), GST_STIME_ARGS (expected), GST_STIME_ARGS (allowed),
      GST_STIME_ARGS (spare));
  if (live)
    announce_latency (self);
  if (late <= 0)
    return FALSE;
  GST_DEBUG_OBJECT (self, "dropped, late: pair of %" GST_STIME_FORMAT ", by %" GST_STIME_FORMAT,
      GST_STIME_ARGS (frame->time), GST_STIME_ARGS (late));
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
  qos->late_since = G_MAXINT64;
  if (live)
    gst_stereo_qos_took (qos, MAX ((gint64) compute_time, (gint64) now - qos->decided));
  GST_OBJECT_UNLOCK (self);
  if (live)
    announce_latency (self);
}
