/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which depth goes with a frame of the live view. */
#include "gst/overlay/element.h"

#define GST_CAT_DEFAULT gst_depth_overlay_debug

typedef enum
{
  LOOK_FOUND,                   /* what is held is what there is to show, if anything */
  LOOK_WAIT,                    /* a later one may still be the one */
  LOOK_FAILED
} Look;

/* Signed: a frame that begins a little before its segment has a running time too. */
static gint64
running_time (GstAggregatorPad *pad, GstBuffer *buffer)
{
  guint64 time = 0;
  gint sign = 0;

  if (!GST_BUFFER_PTS_IS_VALID (buffer))
    return GST_DEPTH_OVERLAY_TIME_NONE;
  GST_OBJECT_LOCK (pad);
  if (pad->segment.format == GST_FORMAT_TIME)
    sign = gst_segment_to_running_time_full (&pad->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), &time);
  GST_OBJECT_UNLOCK (pad);
  if (sign == 0 || time > G_MAXINT64 / 4)
    return GST_DEPTH_OVERLAY_TIME_NONE;
  return sign * (gint64) time;
}

static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

/* With a live source: when to stop waiting for a frame's depth. Half of the latency that was announced is left for
 * drawing. */
GstClockTime
gst_depth_overlay_next_time (GstAggregator *aggregator)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->live);
  gint64 time, slack = 0;

  if (!buffer)
    return GST_CLOCK_TIME_NONE;
  time = running_time (self->live, buffer);
  gst_buffer_unref (buffer);
  if (time == GST_DEPTH_OVERLAY_TIME_NONE)
    return 0;
  if (self->have_live_info && GST_VIDEO_INFO_FPS_N (&self->live_info) > 0)
    slack = (gint64) gst_util_uint64_scale (GST_SECOND / 2, (guint64) GST_VIDEO_INFO_FPS_D (&self->live_info),
        (guint64) GST_VIDEO_INFO_FPS_N (&self->live_info));
  return (GstClockTime) MAX (0, time - slack);
}

void
gst_depth_overlay_forget (GstDepthOverlay *self)
{
  gst_clear_buffer (&self->held.buffer);
  self->held.time = GST_DEPTH_OVERLAY_TIME_NONE;
  self->gap_end = GST_DEPTH_OVERLAY_TIME_NONE;
}

static void
hold (GstDepthOverlay *self, GstBuffer *buffer, gint64 time)
{
  gst_buffer_replace (&self->held.buffer, buffer);
  self->held.info = self->depth_info;
  self->held.time = time;
  /* 0 stands for none */
  if (++self->held.serial == 0)
    self->held.serial = 1;
}

static void
note_gap (GstDepthOverlay *self, GstBuffer *gap, gint64 start)
{
  if (start != GST_DEPTH_OVERLAY_TIME_NONE && GST_BUFFER_DURATION_IS_VALID (gap))
    self->gap_end = start + (gint64) MIN (GST_BUFFER_DURATION (gap), G_MAXINT64 / 4);
}

/* The head of @pad, or NULL; @drop takes it away. Nothing, once the pad is released. */
static GstBuffer *
depth_head (GstDepthOverlay *self, GstAggregatorPad *pad, gboolean drop)
{
  GstBuffer *buffer = NULL;
  gboolean there;

  g_mutex_lock (&self->depth_lock);
  GST_OBJECT_LOCK (self);
  there = self->depth == pad;
  GST_OBJECT_UNLOCK (self);
  if (there)
    buffer = drop ? gst_aggregator_pad_pop_buffer (pad) : gst_aggregator_pad_peek_buffer (pad);
  g_mutex_unlock (&self->depth_lock);
  return buffer;
}

static void
drop_depth (GstDepthOverlay *self, GstAggregatorPad *pad)
{
  GstBuffer *buffer = depth_head (self, pad, TRUE);

  gst_clear_buffer (&buffer);
}

/* Takes the depth that is not later than @time off the pad, until the next one is, or would be. A frame or a depth
 * without a timestamp goes with what comes next: order of arrival. */
static Look
look_for_depth (GstDepthOverlay *self, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  gboolean untimed = time == GST_DEPTH_OVERLAY_TIME_NONE;

  for (;;) {
    GstBuffer *buffer;
    gint64 depth_time;

    if (self->held.buffer && !untimed && self->held.time == time)
      return LOOK_FOUND;
    buffer = depth_head (self, pad, FALSE);
    if (!buffer) {
      gboolean known = gst_aggregator_pad_is_eos (pad) || (!untimed && time < self->gap_end);
      return known || timeout ? LOOK_FOUND : LOOK_WAIT;
    }
    depth_time = running_time (pad, buffer);
    if (!untimed && depth_time != GST_DEPTH_OVERLAY_TIME_NONE && depth_time > time) {
      gst_buffer_unref (buffer);
      return LOOK_FOUND;
    }
    drop_depth (self, pad);
    if (is_gap (buffer)) {
      note_gap (self, buffer, depth_time);
    } else if (!self->have_depth_info) {
      gst_buffer_unref (buffer);
      GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("sink_depth got a frame before any caps."), (NULL));
      return LOOK_FAILED;
    } else {
      hold (self, buffer, depth_time == GST_DEPTH_OVERLAY_TIME_NONE ? time : depth_time);
      if (untimed || depth_time == GST_DEPTH_OVERLAY_TIME_NONE) {
        gst_buffer_unref (buffer);
        return LOOK_FOUND;
      }
    }
    gst_buffer_unref (buffer);
  }
}

static void
say_once (GstDepthOverlay *self, gboolean *said, const gchar *what)
{
  if (!*said)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("%s", what), (NULL));
  *said = TRUE;
}

static GstDepthOverlayState
judge (GstDepthOverlay *self, GstAggregatorPad *pad, gint64 time)
{
  gint64 held = self->held.time;
  guint64 max_age;

  if (!pad) {
    say_once (self, &self->said_unlinked, "sink_depth is not linked: the live view is shown without depth. Link the "
        "output of stereomatch to it.");
    return GST_DEPTH_OVERLAY_UNLINKED;
  }
  GST_OBJECT_LOCK (self);
  max_age = self->settings.max_age;
  GST_OBJECT_UNLOCK (self);
  /* a depth later than the frame: the live stream went back */
  if (self->held.buffer && (time == GST_DEPTH_OVERLAY_TIME_NONE || held == GST_DEPTH_OVERLAY_TIME_NONE ||
          (held <= time && (guint64) (time - held) <= max_age)))
    return GST_DEPTH_OVERLAY_CURRENT;
  if (gst_aggregator_pad_is_eos (pad)) {
    say_once (self, &self->said_ended, "The depth on sink_depth ended before the live view, which goes on without it.");
    return GST_DEPTH_OVERLAY_ENDED;
  }
  return self->held.buffer ? GST_DEPTH_OVERLAY_STALE : GST_DEPTH_OVERLAY_WAITING;
}

static void
forward_gap (GstDepthOverlay *self, GstBuffer *gap)
{
  if (self->negotiated && self->have_segment && GST_BUFFER_PTS_IS_VALID (gap))
    gst_pad_push_event (GST_AGGREGATOR_SRC_PAD (self), gst_event_new_gap (GST_BUFFER_PTS (gap),
            GST_BUFFER_DURATION (gap)));
}

/* @live (transfer full) is still the pad's head. */
static GstFlowReturn
show (GstDepthOverlay *self, GstAggregatorPad *depth, GstBuffer *live, gint64 time)
{
  GstSegment segment;

  GST_OBJECT_LOCK (self->live);
  segment = self->live->segment;
  GST_OBJECT_UNLOCK (self->live);
  /* ours is then the only reference, if upstream kept none */
  gst_aggregator_pad_drop_buffer (self->live);
  if (is_gap (live)) {
    forward_gap (self, live);
    gst_buffer_unref (live);
    return GST_FLOW_OK;
  }
  if (!self->have_live_info) {
    gst_buffer_unref (live);
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("sink got a frame before any caps."), (NULL));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  return gst_depth_overlay_process (self, live, &segment, time, judge (self, depth, time));
}

GstFlowReturn
gst_depth_overlay_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;
  GstAggregatorPad *depth;
  GstBuffer *live;
  Look look = LOOK_FOUND;
  gint64 time;

  if (g_atomic_int_get (&self->failed))
    return GST_FLOW_NOT_NEGOTIATED;
  if (g_atomic_int_compare_and_exchange (&self->forget, TRUE, FALSE))
    gst_depth_overlay_forget (self);
  live = gst_aggregator_pad_peek_buffer (self->live);
  if (!live)
    return gst_aggregator_pad_is_eos (self->live) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  /* the reference keeps a pad that is released meanwhile */
  GST_OBJECT_LOCK (self);
  depth = self->depth ? gst_object_ref (self->depth) : NULL;
  GST_OBJECT_UNLOCK (self);
  time = running_time (self->live, live);
  if (depth && !is_gap (live))
    look = look_for_depth (self, depth, time, timeout);
  if (look == LOOK_FOUND) {
    flow = show (self, depth, live, time);
  } else {
    gst_buffer_unref (live);
    if (look == LOOK_FAILED)
      flow = GST_FLOW_NOT_NEGOTIATED;
  }
  gst_clear_object (&depth);
  return flow;
}
