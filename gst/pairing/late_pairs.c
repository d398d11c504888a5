/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/late_pairs.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/lateness.h"

struct _GstStereoLatePairs
{
  GstAggregator *aggregator;

  /* protected by the aggregator's object lock */
  gboolean qos;
  GstClockTime earliest_time; /* running time; earlier pairs are late for downstream */
  gdouble proportion;         /* as downstream has it; 0 = it has said nothing */
  GstStereoLateness lateness;
  GstClockTime wait_time;  /* for the later frame of a pair */
  GstClockTime announced;  /* the latency of this element */
  GstClockTime configured; /* the latency of the pipeline, as the sinks have it; 0 = not known */
  GstStereoLatePairsStats stats;

  /* of the source pad's task */
  gint64 decided;       /* running time at which the pair was not late; GST_STEREO_TIME_NONE = not live */
  gint64 waited, spare; /* what it had then: see GstStereoLateness */
};

GstStereoLatePairs *
gst_stereo_late_pairs_new (GstAggregator *aggregator)
{
  GstStereoLatePairs *late = g_new0 (GstStereoLatePairs, 1);

  late->aggregator = aggregator;
  late->qos = TRUE;
  late->earliest_time = GST_CLOCK_TIME_NONE;
  late->decided = GST_STEREO_TIME_NONE;
  gst_stereo_lateness_init (&late->lateness);
  return late;
}

void
gst_stereo_late_pairs_free (GstStereoLatePairs *late)
{
  g_free (late);
}

void
gst_stereo_late_pairs_start (GstStereoLatePairs *late)
{
  GST_OBJECT_LOCK (late->aggregator);
  memset (&late->stats, 0, sizeof late->stats);
  gst_stereo_lateness_init (&late->lateness);
  late->configured = 0;
  GST_OBJECT_UNLOCK (late->aggregator);
}

void
gst_stereo_late_pairs_flush (GstStereoLatePairs *late)
{
  GST_OBJECT_LOCK (late->aggregator);
  late->earliest_time = GST_CLOCK_TIME_NONE;
  late->proportion = 0;
  gst_stereo_lateness_flush (&late->lateness);
  GST_OBJECT_UNLOCK (late->aggregator);
}

void
gst_stereo_late_pairs_set_qos (GstStereoLatePairs *late, gboolean qos)
{
  GST_OBJECT_LOCK (late->aggregator);
  late->qos = qos;
  GST_OBJECT_UNLOCK (late->aggregator);
}

gboolean
gst_stereo_late_pairs_get_qos (GstStereoLatePairs *late)
{
  gboolean qos;

  GST_OBJECT_LOCK (late->aggregator);
  qos = late->qos;
  GST_OBJECT_UNLOCK (late->aggregator);
  return qos;
}

void
gst_stereo_late_pairs_get_stats (GstStereoLatePairs *late, GstStereoLatePairsStats *stats)
{
  GST_OBJECT_LOCK (late->aggregator);
  *stats = late->stats;
  GST_OBJECT_UNLOCK (late->aggregator);
}

/* ---- the latency -------------------------------------------------------------------------- */

/* A pair is out when its later frame is in, has waited for its turn and is computed. */
static void
announce_latency (GstStereoLatePairs *late)
{
  GstClockTime latency, before;

  GST_OBJECT_LOCK (late->aggregator);
  before = late->announced;
  latency = late->announced = late->wait_time + (GstClockTime) gst_stereo_lateness_latency (&late->lateness);
  /* the pipeline's latency is soon lower by as much */
  if (latency < before)
    late->configured -= MIN (late->configured, before - latency);
  GST_OBJECT_UNLOCK (late->aggregator);
  if (latency == before)
    return;
  GST_INFO_OBJECT (late->aggregator, "latency %" GST_TIME_FORMAT ", was %" GST_TIME_FORMAT, GST_TIME_ARGS (latency),
      GST_TIME_ARGS (before));
  gst_aggregator_set_latency (late->aggregator, latency, latency);
}

void
gst_stereo_late_pairs_set_frame (GstStereoLatePairs *late, GstClockTime frame, GstClockTime wait)
{
  GST_OBJECT_LOCK (late->aggregator);
  gst_stereo_lateness_set_frame (&late->lateness, (gint64) frame);
  late->wait_time = wait;
  GST_OBJECT_UNLOCK (late->aggregator);
  announce_latency (late);
}

/* ---- events from downstream --------------------------------------------------------------- */

static void
read_qos (GstStereoLatePairs *late, GstEvent *event)
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
  GST_OBJECT_LOCK (late->aggregator);
  late->proportion = proportion;
  late->earliest_time = earliest;
  GST_OBJECT_UNLOCK (late->aggregator);
  GST_LOG_OBJECT (late->aggregator,
      "QoS from downstream: off by %" GST_STIME_FORMAT ", proportion %.3f; pairs before %" GST_TIME_FORMAT " are late",
      GST_STIME_ARGS (diff), proportion, GST_TIME_ARGS (earliest));
}

static void
read_latency (GstStereoLatePairs *late, GstEvent *event)
{
  GstClockTime latency;

  gst_event_parse_latency (event, &latency);
  GST_OBJECT_LOCK (late->aggregator);
  late->configured = latency;
  GST_OBJECT_UNLOCK (late->aggregator);
  GST_DEBUG_OBJECT (late->aggregator, "the pipeline's latency is %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
}

void
gst_stereo_late_pairs_read_event (GstStereoLatePairs *late, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS)
    read_qos (late, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY)
    read_latency (late, event);
}

/* ---- the decision ------------------------------------------------------------------------- */

/* By how much a pair of that time comes too late for what downstream has said; 0 = it does not. */
static gint64
late_for_downstream (GstStereoLatePairs *late, gint64 time)
{
  gint64 by = 0;

  GST_OBJECT_LOCK (late->aggregator);
  if (late->qos && GST_CLOCK_TIME_IS_VALID (late->earliest_time) && time < (gint64) late->earliest_time)
    by = (gint64) late->earliest_time - time;
  GST_OBJECT_UNLOCK (late->aggregator);
  return by;
}

/* By how much a pair of that time would come later than the reported latency allows; 0 = it would not. The latency is
 * the pipeline's, or as much of it as is known up to here. Only live pipelines tell when a pair has to be there. They
 * hold nothing in flight, so that no other pair is computed before this one. */
static gint64
decide_for_latency (GstStereoLatePairs *late, gint64 time)
{
  GstClockTime latency = gst_aggregator_get_latency (late->aggregator);
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (late->aggregator));
  gint64 by = 0, expected, allowed;

  if (!GST_CLOCK_TIME_IS_VALID (latency) || !GST_CLOCK_TIME_IS_VALID (now))
    return 0;
  GST_OBJECT_LOCK (late->aggregator);
  late->spare = late->configured > latency ? (gint64) (late->configured - latency) : 0;
  late->decided = (gint64) now;
  late->waited = (gint64) now - time - (gint64) (latency - late->announced + late->wait_time);
  gst_stereo_lateness_advance (&late->lateness, late->decided);
  if (late->qos)
    by = gst_stereo_lateness_decide (&late->lateness, late->decided, late->waited, late->spare);
  expected = late->lateness.expected;
  allowed = late->lateness.allowed;
  GST_OBJECT_UNLOCK (late->aggregator);
  GST_LOG_OBJECT (late->aggregator,
      "pair of %" GST_STIME_FORMAT ": waited %" GST_STIME_FORMAT ", expected to take %" GST_STIME_FORMAT
      ", allowed %" GST_STIME_FORMAT " and %" GST_STIME_FORMAT " to spare",
      GST_STIME_ARGS (time), GST_STIME_ARGS (late->waited), GST_STIME_ARGS (expected), GST_STIME_ARGS (allowed),
      GST_STIME_ARGS (late->spare));
  announce_latency (late);
  return by;
}

static void
post_qos (GstStereoLatePairs *late, const GstStereoFrame *frame, gint64 by)
{
  gboolean live = late->decided != GST_STEREO_TIME_NONE;
  guint64 processed, dropped;
  GstMessage *message;
  gdouble proportion;

  GST_OBJECT_LOCK (late->aggregator);
  proportion = late->proportion;
  if (proportion <= 0)
    proportion = live && late->lateness.frame ? (gdouble) late->lateness.expected / (gdouble) late->lateness.frame : 1;
  dropped = ++late->stats.late;
  processed = late->stats.pairs;
  GST_OBJECT_UNLOCK (late->aggregator);
  message = gst_message_new_qos (GST_OBJECT (late->aggregator), live, frame->time < 0 ? 0 : (guint64) frame->time,
      gst_segment_to_stream_time (&frame->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->buffer)),
      GST_BUFFER_PTS (frame->buffer), GST_BUFFER_DURATION (frame->buffer));
  gst_message_set_qos_values (message, by, proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message (GST_ELEMENT (late->aggregator), message);
}

gboolean
gst_stereo_late_pairs_drop (GstStereoLatePairs *late, const GstStereoFrame *frame)
{
  gint64 for_latency, for_downstream;

  late->decided = GST_STEREO_TIME_NONE;
  if (frame->time == GST_STEREO_TIME_NONE)
    return FALSE;
  for_latency = decide_for_latency (late, frame->time);
  for_downstream = late_for_downstream (late, frame->time);
  if (!for_latency && !for_downstream)
    return FALSE;
  post_qos (late, frame, MAX (for_latency, for_downstream));
  GST_DEBUG_OBJECT (late->aggregator,
      "dropped, late: pair of %" GST_STIME_FORMAT ", by %" GST_STIME_FORMAT " for the latency, by %" GST_STIME_FORMAT
      " for downstream",
      GST_STIME_ARGS (frame->time), GST_STIME_ARGS (for_latency), GST_STIME_ARGS (for_downstream));
  return TRUE;
}

/* ---- the measurement ---------------------------------------------------------------------- */

void
gst_stereo_late_pairs_computed (GstStereoLatePairs *late, GstClockTime compute_time)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (late->aggregator));
  gboolean live = late->decided != GST_STEREO_TIME_NONE && GST_CLOCK_TIME_IS_VALID (now);

  GST_OBJECT_LOCK (late->aggregator);
  late->stats.pairs++;
  late->stats.compute_last = compute_time;
  late->stats.compute_total += compute_time;
  if (live)
    gst_stereo_lateness_took (
        &late->lateness, late->waited, late->spare, MAX ((gint64) compute_time, (gint64) now - late->decided));
  GST_OBJECT_UNLOCK (late->aggregator);
  if (live)
    announce_latency (late);
}

void
gst_stereo_late_pairs_pushed (GstStereoLatePairs *late, gint64 ns)
{
  GST_OBJECT_LOCK (late->aggregator);
  gst_stereo_lateness_pushed (&late->lateness, ns);
  GST_OBJECT_UNLOCK (late->aggregator);
}
