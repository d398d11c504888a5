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
 * timestamps cannot be of this clock is not added to the latency. However late all pairs are, one a second is computed, and what that
 * one has waited is allowed from then on.
 */
#include "gst/pairing/private.h"

#define PERIOD ((gint64) (8 * GST_SECOND))
#define STALL 4                                 /* in units of `allowed` */
#define PATIENCE ((gint64) (500 * GST_MSECOND)) /* with nothing but late pairs: four frames, and at least this */
#define LONGEST ((gint64) GST_SECOND)           /* without a pair */
#define RECENT 10                               /* pairs whose mean compute time stats have */
#define MOST_EXCESS ((gint64) (5 * GST_SECOND))

/* ---- the rules ---------------------------------------------------------------------------- */

/* How long a pair may wait for its turn. Frames come unevenly: at high rates, half a frame is too short. */
static gint64
slack (const GstStereoQos *qos)
{
  return qos->frame ? MAX (qos->frame / 2, (gint64) (2 * GST_MSECOND)) : (gint64) (20 * GST_MSECOND);
}

static gint64
most_waited (const GstStereoQos *qos)
{
  return MAX (slack (qos), qos->allowed + qos->spare - MAX (qos->expected, qos->allowed / 4));
}

gint64
gst_stereo_qos_decide (GstStereoQos *qos, gint64 now, gint64 delay, gint64 late)
{
  if (qos->live) {
    if (now < qos->since || now - qos->since >= PERIOD) {
      /* what would have been enough in the period that is over? */
      gint64 enough = MAX (qos->frame, qos->slowest + qos->slowest / 8 + slack (qos));
      if (qos->slowest && enough <= qos->allowed / 4 * 3)
        qos->allowed = enough;
      qos->since = now;
      qos->slowest = 0;
      qos->stalled = FALSE;
    }
    if (delay != NONE && ABS (MAX (delay, 0) - qos->excess) > slack (qos))
      qos->excess = MAX (delay, 0);
    qos->waited -= qos->excess;
    if (qos->expected)
      late = MAX (late, qos->waited - most_waited (qos));
  }
  if (late > 0)
    qos->late_since = MIN (qos->late_since, now);
  qos->forced = late > 0 && now - qos->late_since >= CLAMP (4 * qos->frame, PATIENCE, LONGEST);
  /* until the delay is known, it is what all pairs wait */
  if (qos->forced && qos->enabled && delay == NONE && qos->waited > 0) {
    qos->excess += qos->waited;
    qos->waited = 0;
  }
  return qos->forced ? 0 : late;
}

void
gst_stereo_qos_took (GstStereoQos *qos, gint64 service)
{
  const gint64 enough = service + service / 8;
  /* In overload a wait adds up with a slow pair. Where all pairs are late, what they wait is allowed from now on; but not what the first
   * one has waited, or without QoS. */
  gboolean adds_up = qos->forced ? qos->enabled && qos->waited < MOST_EXCESS :
                                   qos->expected > qos->frame && qos->waited <= most_waited (qos);

  if (qos->expected && service > STALL * qos->allowed && !qos->stalled) {
    qos->stalled = TRUE;
    return;
  }
  qos->expected = MAX (enough, qos->expected - qos->expected / 16);
  qos->slowest = MAX (qos->slowest, service);
  if (service + slack (qos) > qos->allowed)
    qos->allowed = enough + slack (qos);
  if (adds_up)
    qos->allowed = MAX (qos->allowed, qos->waited + service - qos->spare);
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
  qos->proportion = 1;
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
  GstClockTime before = qos->announced, latency = qos->wait_time + (GstClockTime) qos->allowed;
  latency += qos->excess <= MOST_EXCESS ? (GstClockTime) qos->excess : 0;
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
  GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  qos->frame = (gint64) frame;
  qos->allowed = qos->expected ? MAX (qos->frame, qos->expected + slack (qos)) : qos->frame;
  qos->wait_time = wait;
  GST_OBJECT_UNLOCK (self);
  announce_latency (self);
}

gboolean
gst_stereo_qos_src_event (GstAggregator *aggregator, GstEvent *event)
{
  GstStereoAggregator *self = (GstStereoAggregator *) aggregator;
  GstClockTime timestamp, earliest = GST_CLOCK_TIME_NONE;
  GstStereoQos *qos = &self->priv->qos;
  GstClockTimeDiff diff;
  gdouble proportion;

  GST_OBJECT_LOCK (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    gst_event_parse_latency (event, &qos->configured);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    gst_event_parse_qos (event, NULL, &proportion, &diff, &timestamp);
    /* twice as far ahead as it was late, as GstBaseTransform does, or the next pair is late as well */
    if (GST_CLOCK_TIME_IS_VALID (timestamp))
      earliest = (GstClockTime) MAX (0, (GstClockTimeDiff) timestamp + (diff > 0 ? 2 * diff : diff));
    qos->proportion = proportion > 0 ? proportion : 1;
    qos->earliest_time = earliest;
  }
  GST_OBJECT_UNLOCK (self);
  return GST_AGGREGATOR_CLASS (g_type_class_peek (GST_TYPE_AGGREGATOR))->src_event (aggregator, event);
}

/* TRUE where the pair would come too late. Then counts it and posts a QoS message. */
static gboolean
is_late (GstStereoAggregator *self, const GstStereoFrame *frame, const GstStereoFrame *right)
{
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self)),
               time = gst_element_get_current_running_time (GST_ELEMENT (self));
  gint64 now = GST_CLOCK_TIME_IS_VALID (time) ? (gint64) time : NONE, delay = self->priv->delay, late = 0;
  GstStereoQos *qos = &self->priv->qos;

  GST_OBJECT_LOCK (self);
  qos->decided = now;
  qos->live = now != NONE && frame->time != NONE && GST_CLOCK_TIME_IS_VALID (latency);
  /* The latency is the pipeline's, or as much of it as is known up to here. Only in live pipelines does a pair have to be there
   * at some time. They hold nothing in flight, so that no other pair is computed before this one. */
  if (qos->live) {
    gint64 upstream = (gint64) (latency - qos->announced);
    /* slow cameras may be farther apart than half the frame that they have announced */
    if (right->time != NONE)
      qos->wait_time = (GstClockTime) MAX ((gint64) qos->wait_time, right->time - frame->time);
    qos->spare = qos->configured > latency ? (gint64) (qos->configured - latency) : 0;
    qos->waited = now - frame->time - upstream - (gint64) qos->wait_time;
    delay = delay == NONE ? NONE : delay - upstream;
  }
  if (frame->time != NONE && GST_CLOCK_TIME_IS_VALID (qos->earliest_time))
    late = MAX (0, (gint64) qos->earliest_time - frame->time);
  late = gst_stereo_qos_decide (qos, now, delay, late);
  if (!qos->enabled)
    late = 0;
  qos->late += late > 0;
  const GstStereoQos was = *qos;
  GST_OBJECT_UNLOCK (self);
  GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, late > 0 ? GST_LEVEL_DEBUG : GST_LEVEL_LOG, self,
      "pair of %" GST_STIME_FORMAT ": late by %" GST_STIME_FORMAT ", has waited %" GST_STIME_FORMAT
      ", expected to take %" GST_STIME_FORMAT ", allowed %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT
      " to spare; those before %" GST_TIME_FORMAT " are late downstream",
      GST_STIME_ARGS (frame->time), GST_STIME_ARGS (late), GST_STIME_ARGS (was.waited), GST_STIME_ARGS (was.expected),
      GST_STIME_ARGS (was.allowed), GST_STIME_ARGS (was.spare), GST_TIME_ARGS (was.earliest_time));
  if (was.live)
    announce_latency (self);
  if (late <= 0)
    return FALSE;
  GstMessage *message = gst_message_new_qos (GST_OBJECT (self), was.live, (guint64) MAX (0, frame->time),
      gst_segment_to_stream_time (&frame->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->buffer)),
      GST_BUFFER_PTS (frame->buffer), GST_BUFFER_DURATION (frame->buffer));
  gst_message_set_qos_values (message, late, was.proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, was.pairs, was.late);
  gst_element_post_message (GST_ELEMENT (self), message);
  return TRUE;
}

/* ---- pairs that are computed, and frames that give no output ------------------------------- */

/* Whether downstream has the caps and the segment that a GAP event needs. */
static gboolean
can_forward_gap (const GstStereoAggregator *self, const GstStereoFrame *frame)
{
  return gst_pad_has_current_caps (GST_AGGREGATOR_SRC_PAD (self)) && self->priv->have_segment &&
      gst_segment_is_equal (&self->priv->segment, &frame->segment);
}

GstFlowReturn
gst_stereo_aggregator_forward_gap (GstStereoAggregator *self, const GstStereoFrame *missing)
{
  GstClockTime time = GST_BUFFER_PTS (missing->buffer);
  GstFlowReturn flow = GST_STEREO_AGGREGATOR_GET_CLASS (self)->drain (self, FALSE);

  if (flow == GST_FLOW_OK && can_forward_gap (self, missing) && GST_CLOCK_TIME_IS_VALID (time))
    gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (self), gst_event_new_gap (time, GST_BUFFER_DURATION (missing->buffer)));
  return flow;
}

gboolean
gst_stereo_aggregator_drop_if_late (
    GstStereoAggregator *self, const GstStereoFrame *left, const GstStereoFrame *right, GstFlowReturn *flow)
{
  gboolean live = GST_CLOCK_TIME_IS_VALID (self->priv->latency);

  /* where nothing is live, an element downstream may wait for each pair until a GAP event comes in its place */
  if ((!live && !can_forward_gap (self, left)) || !is_late (self, left->time == NONE ? right : left, right))
    return FALSE;
  self->priv->pairs.broken = TRUE;
  /* no element of a live pipeline waits longer than the latency; a sink that is not behind a queue would hold this thread until the
   * gap is over, and the next pair would be late as well */
  *flow = live ? GST_FLOW_OK : gst_stereo_aggregator_forward_gap (self, left);
  return TRUE;
}

GstFlowReturn
gst_stereo_aggregator_finish (
    GstStereoAggregator *self, const GstSegment *segment, GstBuffer *out, GstClockTime compute_time)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  GstStereoQos *qos = &self->priv->qos;
  gboolean live = qos->live && GST_CLOCK_TIME_IS_VALID (now);

  GST_OBJECT_LOCK (self);
  qos->pairs++;
  qos->compute_recent += ((gint64) compute_time - (gint64) qos->compute_recent) / (gint64) MIN (qos->pairs, RECENT);
  qos->compute_last = compute_time;
  qos->compute_total += compute_time;
  qos->late_since = G_MAXINT64;
  if (live)
    gst_stereo_qos_took (qos, MAX ((gint64) compute_time, (gint64) now - qos->decided));
  GST_OBJECT_UNLOCK (self);
  if (live)
    announce_latency (self);
  GST_LOG_OBJECT (self, "computed in %" GST_TIME_FORMAT ", pushes %" GST_PTR_FORMAT, GST_TIME_ARGS (compute_time), out);
  return gst_stereo_push (GST_AGGREGATOR (self), &self->priv->segment, &self->priv->have_segment, segment, out);
}
