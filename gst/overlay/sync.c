/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/sync.h"

#include "gst/overlay/debug.h"
#include "gst/video/stream.h"

struct _GstDepthOverlaySync
{
  GstElement *owner;
  GstStereoJoin *join;

  gint alone;   /* atomic: there is no live view */
  guint serial; /* of the depth that was shown last; 0 = none */
  gboolean warned_ended, warned_unlinked;
};

GstDepthOverlaySync *
gst_depth_overlay_sync_new (GstElement *owner, GstStereoJoin *join)
{
  GstDepthOverlaySync *sync = g_new0 (GstDepthOverlaySync, 1);

  sync->owner = owner;
  sync->join = join;
  return sync;
}

void
gst_depth_overlay_sync_free (GstDepthOverlaySync *sync)
{
  g_free (sync);
}

void
gst_depth_overlay_sync_reset (GstDepthOverlaySync *sync)
{
  g_atomic_int_set (&sync->alone, FALSE);
  sync->warned_ended = sync->warned_unlinked = FALSE;
}

void
gst_depth_overlay_sync_set_alone (GstDepthOverlaySync *sync)
{
  g_atomic_int_set (&sync->alone, TRUE);
}

gboolean
gst_depth_overlay_sync_is_alone (GstDepthOverlaySync *sync)
{
  return g_atomic_int_get (&sync->alone);
}

/* ---- time -------------------------------------------------------------------------------- */

/* Half of the latency that was announced, a frame, is left for drawing. */
GstClockTime
gst_depth_overlay_sync_deadline (GstDepthOverlaySync *sync)
{
  GstAggregatorPad *live = gst_stereo_join_main (sync->join);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (live);

  if (!buffer)
    return GST_CLOCK_TIME_NONE;
  gint64 time = gst_stereo_pad_running_time (live, buffer);
  gst_buffer_unref (buffer);
  if (time == GST_CLOCK_STIME_NONE)
    return 0;
  return (GstClockTime) MAX (0, time - (gint64) (gst_stereo_join_frame_time (sync->join) / 2));
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
warn_once (GstDepthOverlaySync *sync, gboolean *warned, const gchar *what)
{
  if (!*warned)
    GST_ELEMENT_WARNING (sync->owner, STREAM, FAILED, ("%s", what), (NULL));
  *warned = TRUE;
}

/* Whether @depth is at most @max_age old at a live frame of @time. Where a time is missing, the clock gives the age, and
 * depth that was not shown before is fresh. */
static gboolean
is_fresh (const GstDepthOverlaySync *sync, const GstStereoJoined *depth, gint64 time, guint64 max_age)
{
  /* depth is later than the frame when the live stream went back */
  if (time != GST_CLOCK_STIME_NONE && depth->time != GST_CLOCK_STIME_NONE)
    return depth->time <= time && (guint64) (time - depth->time) <= max_age;
  GstClockTime now = gst_element_get_current_running_time (sync->owner);
  return sync->serial != depth->serial || !GST_CLOCK_TIME_IS_VALID (now) || !GST_CLOCK_TIME_IS_VALID (depth->arrival) ||
      now <= depth->arrival || now - depth->arrival <= max_age;
}

static GstDepthOverlayState
state_at (GstDepthOverlaySync *sync, const GstStereoJoined *depth, gint64 time, guint64 max_age)
{
  if (!gst_stereo_join_has_second (sync->join)) {
    warn_once (sync, &sync->warned_unlinked,
        "sink_depth is not linked: the live view is shown without depth. Link the output of stereomatch to it.");
    return GST_DEPTH_OVERLAY_UNLINKED;
  }
  if (depth->buffer && is_fresh (sync, depth, time, max_age))
    return GST_DEPTH_OVERLAY_CURRENT;
  if (gst_stereo_join_second_ended (sync->join)) {
    warn_once (
        sync, &sync->warned_ended, "The depth on sink_depth ended before the live view, which goes on without it.");
    return GST_DEPTH_OVERLAY_ENDED;
  }
  return depth->buffer ? GST_DEPTH_OVERLAY_STALE : GST_DEPTH_OVERLAY_WAITING;
}

static void
log_frame (const GstDepthOverlaySync *sync, const GstDepthOverlayFrame *frame, guint64 max_age)
{
  const GstStereoJoined *depth = gst_stereo_join_held (sync->join);

  switch (frame->state) {
    case GST_DEPTH_OVERLAY_CURRENT:
      GST_LOG_OBJECT (sync->owner, "live frame of %" GST_STIME_FORMAT " goes with depth of %" GST_STIME_FORMAT "%s",
          GST_STIME_ARGS (frame->live.time), GST_STIME_ARGS (depth->time),
          sync->serial == depth->serial ? ", which is shown again" : "");
      break;
    case GST_DEPTH_OVERLAY_STALE:
      GST_LOG_OBJECT (sync->owner,
          "live frame of %" GST_STIME_FORMAT " goes without depth: that of %" GST_STIME_FORMAT
          " is later, or more than max-age=%" G_GUINT64_FORMAT " ns older",
          GST_STIME_ARGS (frame->live.time), GST_STIME_ARGS (depth->time), max_age);
      break;
    default:
      GST_LOG_OBJECT (sync->owner, "live frame of %" GST_STIME_FORMAT " goes without depth: %s",
          GST_STIME_ARGS (frame->live.time),
          frame->state == GST_DEPTH_OVERLAY_UNLINKED  ? "sink_depth is not linked" :
              frame->state == GST_DEPTH_OVERLAY_ENDED ? "the depth ended" :
                                                        "none came yet");
  }
}

GstFlowReturn
gst_depth_overlay_sync_next (GstDepthOverlaySync *sync, gboolean timeout, guint64 max_age, GstDepthOverlayFrame *frame)
{
  const GstStereoJoined *depth = gst_stereo_join_held (sync->join);
  GstFlowReturn flow;

  frame->alone = gst_depth_overlay_sync_is_alone (sync);
  frame->state = GST_DEPTH_OVERLAY_CURRENT;
  if (frame->alone)
    flow = gst_stereo_join_next_second (sync->join, &frame->live);
  else
    flow = gst_stereo_join_next (sync->join, timeout, &frame->live);
  if (flow != GST_FLOW_OK || frame->live.gap)
    return flow;
  if (!frame->alone) {
    frame->state = state_at (sync, depth, frame->live.time, max_age);
    log_frame (sync, frame, max_age);
  }
  if (frame->state == GST_DEPTH_OVERLAY_CURRENT)
    sync->serial = depth->serial;
  return flow;
}
