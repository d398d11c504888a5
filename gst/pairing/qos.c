/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/qos.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/lateness.h"

struct _GstStereoQos
{
  GstAggregator *aggregator;

  /* protected by the aggregator's object lock */
  gboolean enabled;
  GstClockTime earliest_time; /* running time; earlier pairs are late for downstream */
  gdouble proportion;         /* from the last QoS event; 0 = there was none */
  GstStereoLateness lateness;
  GstClockTime wait_time;  /* for the later frame of a pair */
  GstClockTime announced;  /* the latency of this element */
  GstClockTime configured; /* the latency of the pipeline, as the sinks have it; 0 = not known */
  GstStereoQosStats stats;
  GstClockTime recent[GST_STEREO_QOS_RECENT]; /* compute times of the last pairs */
  gint64 computed; /* running time at which a pair was not late, where there is a clock; GST_STEREO_TIME_NONE = none was */

  /* of the source pad's task */
  gint64 decided;       /* running time at which the pair was not late; GST_STEREO_TIME_NONE = not live */
  gint64 waited, spare; /* its wait at the decision: see GstStereoLateness */
};

const GstStereoProperty gst_stereo_qos_properties[] = {
  { .name = "qos",
      .kind = GST_STEREO_BOOLEAN,
      .flags = GST_STEREO_PLAYING,
      .offset = G_STRUCT_OFFSET (GstStereoQos, enabled),
      .initial = TRUE,
      .blurb = "Drop pairs before they are computed when downstream says that they come too late, and in live "
               "pipelines when they would come later than the latency that is reported" },
  { .name = NULL },
};

GstStereoQos *
gst_stereo_qos_new (GstAggregator *aggregator)
{
  GstStereoQos *qos = g_new0 (GstStereoQos, 1);

  qos->aggregator = aggregator;
  qos->earliest_time = GST_CLOCK_TIME_NONE;
  qos->decided = qos->computed = GST_STEREO_TIME_NONE;
  gst_stereo_lateness_init (&qos->lateness);
  return qos;
}

void
gst_stereo_qos_free (GstStereoQos *qos)
{
  g_free (qos);
}

void
gst_stereo_qos_reset (GstStereoQos *qos, gboolean start)
{
  GST_OBJECT_LOCK (qos->aggregator);
  qos->earliest_time = GST_CLOCK_TIME_NONE;
  qos->proportion = 0;
  qos->computed = GST_STEREO_TIME_NONE;
  gst_stereo_lateness_flush (&qos->lateness);
  if (start) {
    memset (&qos->stats, 0, sizeof qos->stats);
    memset (qos->recent, 0, sizeof qos->recent);
    gst_stereo_lateness_init (&qos->lateness);
    qos->configured = 0;
  }
  GST_OBJECT_UNLOCK (qos->aggregator);
}

void
gst_stereo_qos_get_stats (GstStereoQos *qos, GstStereoQosStats *stats)
{
  GST_OBJECT_LOCK (qos->aggregator);
  *stats = qos->stats;
  stats->compute_recent = 0;
  for (guint i = 0; i < GST_STEREO_QOS_RECENT; i++)
    stats->compute_recent += qos->recent[i];
  stats->compute_recent /= CLAMP (stats->pairs, 1, GST_STEREO_QOS_RECENT);
  GST_OBJECT_UNLOCK (qos->aggregator);
}

/* ---- the latency -------------------------------------------------------------------------- */

/* A pair is out when its later frame is in, has waited for its turn and is computed. */
static void
announce_latency (GstStereoQos *qos)
{
  GstClockTime latency, before;

  GST_OBJECT_LOCK (qos->aggregator);
  before = qos->announced;
  latency = qos->announced = qos->wait_time + (GstClockTime) gst_stereo_lateness_latency (&qos->lateness);
  /* the pipeline's latency is soon lower by as much */
  if (latency < before)
    qos->configured -= MIN (qos->configured, before - latency);
  GST_OBJECT_UNLOCK (qos->aggregator);
  if (latency == before)
    return;
  GST_INFO_OBJECT (qos->aggregator, "latency %" GST_TIME_FORMAT ", was %" GST_TIME_FORMAT, GST_TIME_ARGS (latency),
      GST_TIME_ARGS (before));
  gst_aggregator_set_latency (qos->aggregator, latency, latency);
}

void
gst_stereo_qos_set_frame (GstStereoQos *qos, GstClockTime frame, GstClockTime wait)
{
  GST_OBJECT_LOCK (qos->aggregator);
  gst_stereo_lateness_set_frame (&qos->lateness, (gint64) frame);
  qos->wait_time = wait;
  GST_OBJECT_UNLOCK (qos->aggregator);
  announce_latency (qos);
}

/* ---- events from downstream --------------------------------------------------------------- */

static void
read_qos (GstStereoQos *qos, GstEvent *event)
{
  GstClockTimeDiff diff;
  GstClockTime timestamp, earliest;
  gdouble proportion;

  gst_event_parse_qos (event, NULL, &proportion, &diff, &timestamp);
  /* late: aim ahead by as much again, as GstBaseTransform does, or the next pair is late as well */
  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    earliest = GST_CLOCK_TIME_NONE;
  else if (diff < 0 && (GstClockTime) -diff > timestamp)
    earliest = 0;
  else
    earliest = timestamp + (GstClockTime) (diff > 0 ? 2 * diff : diff);
  GST_OBJECT_LOCK (qos->aggregator);
  qos->proportion = proportion;
  qos->earliest_time = earliest;
  GST_OBJECT_UNLOCK (qos->aggregator);
  GST_LOG_OBJECT (qos->aggregator,
      "QoS from downstream: off by %" GST_STIME_FORMAT ", proportion %.3f; pairs before %" GST_TIME_FORMAT " are late",
      GST_STIME_ARGS (diff), proportion, GST_TIME_ARGS (earliest));
}

static void
read_latency (GstStereoQos *qos, GstEvent *event)
{
  GstClockTime latency;

  gst_event_parse_latency (event, &latency);
  GST_OBJECT_LOCK (qos->aggregator);
  qos->configured = latency;
  GST_OBJECT_UNLOCK (qos->aggregator);
  GST_DEBUG_OBJECT (qos->aggregator, "the pipeline's latency is %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
}

void
gst_stereo_qos_read_event (GstStereoQos *qos, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS)
    read_qos (qos, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY)
    read_latency (qos, event);
}

/* ---- the decision ------------------------------------------------------------------------- */

/* By how much a pair of that time comes too late, by the last QoS event; 0 = it does not, or none was computed for long. With the
 * lock held. */
static gint64
late_for_downstream (GstStereoQos *qos, gint64 time, GstClockTime now)
{
  if (!GST_CLOCK_TIME_IS_VALID (qos->earliest_time) || time >= (gint64) qos->earliest_time)
    return 0;
  if (GST_CLOCK_TIME_IS_VALID (now)) {
    if (qos->computed == GST_STEREO_TIME_NONE || qos->computed > (gint64) now)
      qos->computed = (gint64) now;
    if ((gint64) now - qos->computed >= GST_STEREO_LATENESS_LONGEST)
      return 0;
  }
  return (gint64) qos->earliest_time - time;
}

/* By how much a pair of that time would come later than the reported latency allows; 0 = it would not. The latency is
 * the pipeline's, or as much of it as is known up to here. Only in live pipelines does a pair have to be there at some
 * time. They hold nothing in flight, so that no other pair is computed before this one. */
static gint64
decide_for_latency (GstStereoQos *qos, gint64 time, GstClockTime now)
{
  GstClockTime latency = gst_aggregator_get_latency (qos->aggregator);
  gint64 by = 0, expected, allowed;

  if (!GST_CLOCK_TIME_IS_VALID (latency) || !GST_CLOCK_TIME_IS_VALID (now))
    return 0;
  GST_OBJECT_LOCK (qos->aggregator);
  qos->spare = qos->configured > latency ? (gint64) (qos->configured - latency) : 0;
  qos->decided = (gint64) now;
  qos->waited = (gint64) now - time - (gint64) (latency - qos->announced + qos->wait_time);
  if (qos->enabled)
    by = gst_stereo_lateness_decide (&qos->lateness, qos->decided, qos->waited, qos->spare);
  expected = qos->lateness.expected;
  allowed = qos->lateness.allowed;
  GST_OBJECT_UNLOCK (qos->aggregator);
  GST_LOG_OBJECT (qos->aggregator,
      "pair of %" GST_STIME_FORMAT ": waited %" GST_STIME_FORMAT ", expected to take %" GST_STIME_FORMAT
      ", allowed %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT " to spare",
      GST_STIME_ARGS (time), GST_STIME_ARGS (qos->waited), GST_STIME_ARGS (expected), GST_STIME_ARGS (allowed),
      GST_STIME_ARGS (qos->spare));
  announce_latency (qos);
  return by;
}

static void
post_qos (GstStereoQos *qos, const GstStereoFrame *frame, gint64 by)
{
  gboolean live = qos->decided != GST_STEREO_TIME_NONE;
  gdouble proportion;

  GST_OBJECT_LOCK (qos->aggregator);
  proportion = qos->proportion;
  if (proportion <= 0)
    proportion = live && qos->lateness.frame ? (gdouble) qos->lateness.expected / (gdouble) qos->lateness.frame : 1;
  guint64 dropped = ++qos->stats.late;
  guint64 processed = qos->stats.pairs;
  GST_OBJECT_UNLOCK (qos->aggregator);
  GstMessage *message = gst_message_new_qos (GST_OBJECT (qos->aggregator), live,
      frame->time < 0 ? 0 : (guint64) frame->time,
      gst_segment_to_stream_time (&frame->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->buffer)),
      GST_BUFFER_PTS (frame->buffer), GST_BUFFER_DURATION (frame->buffer));
  gst_message_set_qos_values (message, by, proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message (GST_ELEMENT (qos->aggregator), message);
}

gboolean
gst_stereo_qos_drop_if_late (GstStereoQos *qos, const GstStereoFrame *frame)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (qos->aggregator));

  qos->decided = GST_STEREO_TIME_NONE;
  if (frame->time == GST_STEREO_TIME_NONE)
    return FALSE;
  gint64 for_latency = decide_for_latency (qos, frame->time, now);
  GST_OBJECT_LOCK (qos->aggregator);
  gint64 for_downstream = qos->enabled ? late_for_downstream (qos, frame->time, now) : 0;
  if (!for_latency && !for_downstream && GST_CLOCK_TIME_IS_VALID (now))
    qos->computed = (gint64) now;
  GST_OBJECT_UNLOCK (qos->aggregator);
  if (!for_latency && !for_downstream)
    return FALSE;
  post_qos (qos, frame, MAX (for_latency, for_downstream));
  GST_DEBUG_OBJECT (qos->aggregator,
      "dropped, late: pair of %" GST_STIME_FORMAT ", by %" GST_STIME_FORMAT " for the latency, by %" GST_STIME_FORMAT
      " for downstream",
      GST_STIME_ARGS (frame->time), GST_STIME_ARGS (for_latency), GST_STIME_ARGS (for_downstream));
  return TRUE;
}

/* ---- the measurement ---------------------------------------------------------------------- */

void
gst_stereo_qos_computed (GstStereoQos *qos, GstClockTime compute_time)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (qos->aggregator));
  gboolean live = qos->decided != GST_STEREO_TIME_NONE && GST_CLOCK_TIME_IS_VALID (now);

  GST_OBJECT_LOCK (qos->aggregator);
  qos->recent[qos->stats.pairs++ % GST_STEREO_QOS_RECENT] = compute_time;
  qos->stats.compute_last = compute_time;
  qos->stats.compute_total += compute_time;
  if (live)
    gst_stereo_lateness_took (
        &qos->lateness, qos->waited, qos->spare, MAX ((gint64) compute_time, (gint64) now - qos->decided));
  GST_OBJECT_UNLOCK (qos->aggregator);
  if (live)
    announce_latency (qos);
}

void
gst_stereo_qos_pushed (GstStereoQos *qos, gint64 ns)
{
  GST_OBJECT_LOCK (qos->aggregator);
  gst_stereo_lateness_pushed (&qos->lateness, ns);
  GST_OBJECT_UNLOCK (qos->aggregator);
}
