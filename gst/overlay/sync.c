/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/sync.h"

#include "gst/overlay/debug.h"

typedef enum
{
  LOOK_FOUND, /* the depth that is held, if any, is the one to show */
  LOOK_WAIT,  /* a later one may still be it */
  LOOK_FAILED
} Look;

struct _GstDepthOverlaySync
{
  GstElement *owner;
  GstAggregatorPad *live;

  GMutex lock;             /* around the depth pad and its queue: a pad that is released drops its queue */
  GstAggregatorPad *depth; /* request pad, not owned; NULL: none */

  gint forget; /* atomic: forget the depth before the next frame */
  gint alone;  /* atomic: there is no live view */

  GstVideoInfo live_info, depth_info; /* of what is at the heads of the pads' queues */
  gboolean have_live_info, have_depth_info;
  GstDepthOverlayDepth held;
  gboolean shown; /* held, with some frame */
  gint64 gap_end; /* no depth earlier than this will come */
  gboolean said_ended, said_unlinked;
};

/* A signed running time, for debug lines. */
#define SIGNED_TIME_FORMAT "s%" GST_TIME_FORMAT
#define SIGNED_TIME_ARGS(t) \
  (t) == GST_DEPTH_OVERLAY_TIME_NONE ? "no time, " : \
      (t) < 0                        ? "-" : \
                                       "", \
      GST_TIME_ARGS ((t) == GST_DEPTH_OVERLAY_TIME_NONE ? GST_CLOCK_TIME_NONE : (GstClockTime) ABS (t))

GstDepthOverlaySync *
gst_depth_overlay_sync_new (GstElement *owner, GstAggregatorPad *live)
{
  GstDepthOverlaySync *sync = g_new0 (GstDepthOverlaySync, 1);

  sync->owner = owner;
  sync->live = live;
  g_mutex_init (&sync->lock);
  gst_depth_overlay_sync_forget (sync);
  return sync;
}

void
gst_depth_overlay_sync_free (GstDepthOverlaySync *sync)
{
  gst_depth_overlay_sync_forget (sync);
  g_mutex_clear (&sync->lock);
  g_free (sync);
}

/* ---- pads and caps ----------------------------------------------------------------------- */

gboolean
gst_depth_overlay_sync_add_depth_pad (GstDepthOverlaySync *sync, GstAggregatorPad *pad)
{
  gboolean added;

  g_mutex_lock (&sync->lock);
  added = sync->depth == NULL;
  if (added)
    sync->depth = pad;
  g_mutex_unlock (&sync->lock);
  return added;
}

void
gst_depth_overlay_sync_remove_depth_pad (GstDepthOverlaySync *sync, GstAggregatorPad *pad)
{
  /* after this the base class drops the pad's queue without taking the pad's lock: the task must not be in there */
  g_mutex_lock (&sync->lock);
  if (sync->depth == pad)
    sync->depth = NULL;
  g_mutex_unlock (&sync->lock);
  gst_depth_overlay_sync_request_forget (sync);
}

gboolean
gst_depth_overlay_sync_has_depth_pad (GstDepthOverlaySync *sync)
{
  gboolean has;

  g_mutex_lock (&sync->lock);
  has = sync->depth != NULL;
  g_mutex_unlock (&sync->lock);
  return has;
}

void
gst_depth_overlay_sync_request_forget (GstDepthOverlaySync *sync)
{
  g_atomic_int_set (&sync->forget, TRUE);
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

void
gst_depth_overlay_sync_forget (GstDepthOverlaySync *sync)
{
  gst_clear_buffer (&sync->held.buffer);
  sync->held.time = GST_DEPTH_OVERLAY_TIME_NONE;
  sync->gap_end = GST_DEPTH_OVERLAY_TIME_NONE;
}

void
gst_depth_overlay_sync_reset (GstDepthOverlaySync *sync)
{
  gst_depth_overlay_sync_forget (sync);
  g_atomic_int_set (&sync->forget, FALSE);
  g_atomic_int_set (&sync->alone, FALSE);
  sync->have_live_info = sync->have_depth_info = FALSE;
  sync->said_ended = sync->said_unlinked = FALSE;
}

gboolean
gst_depth_overlay_sync_set_caps (GstDepthOverlaySync *sync, GstAggregatorPad *pad, GstCaps *caps)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps)) {
    GST_ELEMENT_ERROR (
        sync->owner, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)), ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  GST_DEBUG_OBJECT (pad, "gets %" GST_PTR_FORMAT, caps);
  if (pad == sync->live) {
    sync->live_info = info;
    sync->have_live_info = TRUE;
  } else {
    sync->depth_info = info;
    sync->have_depth_info = TRUE;
  }
  return TRUE;
}

GstClockTime
gst_depth_overlay_sync_frame_time (const GstDepthOverlaySync *sync)
{
  const GstVideoInfo *info = &sync->live_info;

  if (!sync->have_live_info || GST_VIDEO_INFO_FPS_N (info) <= 0)
    return 0;
  return gst_util_uint64_scale (
      GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));
}

const GstVideoInfo *
gst_depth_overlay_sync_live_info (const GstDepthOverlaySync *sync)
{
  return sync->have_live_info ? &sync->live_info : NULL;
}

const GstDepthOverlayDepth *
gst_depth_overlay_sync_depth (const GstDepthOverlaySync *sync)
{
  return &sync->held;
}

/* ---- time -------------------------------------------------------------------------------- */

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

/* Half of the latency that was announced, a frame, is left for drawing. */
GstClockTime
gst_depth_overlay_sync_deadline (GstDepthOverlaySync *sync)
{
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (sync->live);
  gint64 time, slack = 0;

  if (!buffer)
    return GST_CLOCK_TIME_NONE;
  time = running_time (sync->live, buffer);
  gst_buffer_unref (buffer);
  if (time == GST_DEPTH_OVERLAY_TIME_NONE)
    return 0;
  if (sync->have_live_info && GST_VIDEO_INFO_FPS_N (&sync->live_info) > 0)
    slack = (gint64) gst_util_uint64_scale (GST_SECOND / 2, (guint64) GST_VIDEO_INFO_FPS_D (&sync->live_info),
        (guint64) GST_VIDEO_INFO_FPS_N (&sync->live_info));
  return (GstClockTime) MAX (0, time - slack);
}

/* ---- depth ------------------------------------------------------------------------------- */

static void
hold (GstDepthOverlaySync *sync, GstBuffer *buffer, gint64 time)
{
  if (sync->held.buffer && !sync->shown)
    GST_LOG_OBJECT (sync->owner,
        "depth of %" SIGNED_TIME_FORMAT " is dropped: a later one goes with the next live frame",
        SIGNED_TIME_ARGS (sync->held.time));
  gst_buffer_replace (&sync->held.buffer, buffer);
  sync->held.info = sync->depth_info;
  sync->held.time = time;
  sync->held.arrival = gst_element_get_current_running_time (sync->owner);
  sync->shown = FALSE;
  /* 0 stands for none */
  if (++sync->held.serial == 0)
    sync->held.serial = 1;
}

static void
note_gap (GstDepthOverlaySync *sync, GstBuffer *gap, gint64 start)
{
  /* a frame whose duration is not known was dropped: there is none at its time */
  guint64 duration = GST_BUFFER_DURATION_IS_VALID (gap) ? GST_BUFFER_DURATION (gap) : 1;

  if (start != GST_DEPTH_OVERLAY_TIME_NONE)
    sync->gap_end = start + (gint64) MIN (duration, G_MAXINT64 / 4);
}

/* The head of the queue of @pad, or NULL; @pop takes it away. NULL, too, once the pad was released. */
static GstBuffer *
depth_head (GstDepthOverlaySync *sync, GstAggregatorPad *pad, gboolean pop)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&sync->lock);
  if (sync->depth == pad)
    buffer = pop ? gst_aggregator_pad_pop_buffer (pad) : gst_aggregator_pad_peek_buffer (pad);
  g_mutex_unlock (&sync->lock);
  return buffer;
}

static void
drop_depth (GstDepthOverlaySync *sync, GstAggregatorPad *pad)
{
  GstBuffer *buffer = depth_head (sync, pad, TRUE);

  gst_clear_buffer (&buffer);
}

/* Nothing is in the queue: whether to go on without a later depth. */
static Look
look_at_empty_queue (GstDepthOverlaySync *sync, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  if (gst_aggregator_pad_is_eos (pad) || (time != GST_DEPTH_OVERLAY_TIME_NONE && time < sync->gap_end))
    return LOOK_FOUND;
  GST_LOG_OBJECT (sync->owner, "live frame of %" SIGNED_TIME_FORMAT " %s", SIGNED_TIME_ARGS (time),
      timeout ? "has waited for its depth as long as the latency allows" : "waits: its depth may still come");
  return timeout ? LOOK_FOUND : LOOK_WAIT;
}

static GstDepthOverlaySyncResult
refuse_depth (GstDepthOverlaySync *sync)
{
  GST_ELEMENT_ERROR (sync->owner, CORE, NEGOTIATION, ("sink_depth got a frame before any caps."), (NULL));
  return GST_DEPTH_OVERLAY_SYNC_FAILED;
}

/* Takes depth off the pad as long as it is not later than @time. A frame or a depth without a timestamp goes with what
 * comes next: order of arrival. */
static Look
look_for_depth (GstDepthOverlaySync *sync, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  gboolean untimed = time == GST_DEPTH_OVERLAY_TIME_NONE;

  for (;;) {
    GstBuffer *buffer;
    gint64 depth_time;

    if (sync->held.buffer && !untimed && sync->held.time == time)
      return LOOK_FOUND;
    buffer = depth_head (sync, pad, FALSE);
    if (!buffer)
      return look_at_empty_queue (sync, pad, time, timeout);
    depth_time = running_time (pad, buffer);
    if (!untimed && depth_time != GST_DEPTH_OVERLAY_TIME_NONE && depth_time > time) {
      gst_buffer_unref (buffer);
      return LOOK_FOUND;
    }
    drop_depth (sync, pad);
    if (is_gap (buffer)) {
      note_gap (sync, buffer, depth_time);
    } else if (!sync->have_depth_info) {
      gst_buffer_unref (buffer);
      refuse_depth (sync);
      return LOOK_FAILED;
    } else {
      hold (sync, buffer, depth_time == GST_DEPTH_OVERLAY_TIME_NONE ? time : depth_time);
      if (untimed || depth_time == GST_DEPTH_OVERLAY_TIME_NONE) {
        gst_buffer_unref (buffer);
        return LOOK_FOUND;
      }
    }
    gst_buffer_unref (buffer);
  }
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
say_once (GstDepthOverlaySync *sync, gboolean *said, const gchar *what)
{
  if (!*said)
    GST_ELEMENT_WARNING (sync->owner, STREAM, FAILED, ("%s", what), (NULL));
  *said = TRUE;
}

/* Whether the depth that is held is at most @max_age old at a live frame of @time. Without both times the clock tells, and
 * depth that was not shown before is new. */
static gboolean
is_fresh (const GstDepthOverlaySync *sync, gint64 time, guint64 max_age)
{
  const GstDepthOverlayDepth *held = &sync->held;
  GstClockTime now;

  /* depth is later than the frame when the live stream went back */
  if (time != GST_DEPTH_OVERLAY_TIME_NONE && held->time != GST_DEPTH_OVERLAY_TIME_NONE)
    return held->time <= time && (guint64) (time - held->time) <= max_age;
  now = gst_element_get_current_running_time (sync->owner);
  return !sync->shown || !GST_CLOCK_TIME_IS_VALID (now) || !GST_CLOCK_TIME_IS_VALID (held->arrival) ||
      now <= held->arrival || now - held->arrival <= max_age;
}

static GstDepthOverlayState
state_at (GstDepthOverlaySync *sync, GstAggregatorPad *pad, gint64 time, guint64 max_age)
{
  if (!pad) {
    say_once (sync, &sync->said_unlinked,
        "sink_depth is not linked: the live view is shown without depth. Link the output of stereomatch to it.");
    return GST_DEPTH_OVERLAY_UNLINKED;
  }
  if (sync->held.buffer && is_fresh (sync, time, max_age))
    return GST_DEPTH_OVERLAY_CURRENT;
  if (gst_aggregator_pad_is_eos (pad)) {
    say_once (sync, &sync->said_ended, "The depth on sink_depth ended before the live view, which goes on without it.");
    return GST_DEPTH_OVERLAY_ENDED;
  }
  return sync->held.buffer ? GST_DEPTH_OVERLAY_STALE : GST_DEPTH_OVERLAY_WAITING;
}

static void
log_frame (GstDepthOverlaySync *sync, const GstDepthOverlayFrame *frame, guint64 max_age)
{
  gint64 held = sync->held.time;

  switch (frame->state) {
    case GST_DEPTH_OVERLAY_CURRENT:
      GST_LOG_OBJECT (sync->owner, "live frame of %" SIGNED_TIME_FORMAT " goes with depth of %" SIGNED_TIME_FORMAT "%s",
          SIGNED_TIME_ARGS (frame->time), SIGNED_TIME_ARGS (held), sync->shown ? ", which is shown again" : "");
      sync->shown = TRUE;
      break;
    case GST_DEPTH_OVERLAY_STALE:
      GST_LOG_OBJECT (sync->owner,
          "live frame of %" SIGNED_TIME_FORMAT " goes without depth: that of %" SIGNED_TIME_FORMAT
          " is later, or more than max-age=%" G_GUINT64_FORMAT " ns older",
          SIGNED_TIME_ARGS (frame->time), SIGNED_TIME_ARGS (held), max_age);
      break;
    default:
      GST_LOG_OBJECT (sync->owner, "live frame of %" SIGNED_TIME_FORMAT " goes without depth: %s",
          SIGNED_TIME_ARGS (frame->time),
          frame->state == GST_DEPTH_OVERLAY_UNLINKED  ? "sink_depth is not linked" :
              frame->state == GST_DEPTH_OVERLAY_ENDED ? "the depth ended" :
                                                        "none came yet");
  }
}

/* Takes the live frame, which is still the head of its pad's queue, and says what to show over it. */
static GstDepthOverlaySyncResult
take_frame (GstDepthOverlaySync *sync, GstAggregatorPad *depth, guint64 max_age, GstDepthOverlayFrame *frame)
{
  GST_OBJECT_LOCK (sync->live);
  frame->segment = sync->live->segment;
  GST_OBJECT_UNLOCK (sync->live);
  gst_aggregator_pad_drop_buffer (sync->live);
  if (frame->gap)
    return GST_DEPTH_OVERLAY_SYNC_FRAME;
  if (!sync->have_live_info) {
    gst_clear_buffer (&frame->buffer);
    GST_ELEMENT_ERROR (sync->owner, CORE, NEGOTIATION, ("sink got a frame before any caps."), (NULL));
    return GST_DEPTH_OVERLAY_SYNC_FAILED;
  }
  frame->state = state_at (sync, depth, frame->time, max_age);
  log_frame (sync, frame, max_age);
  return GST_DEPTH_OVERLAY_SYNC_FRAME;
}

/* Takes the next depth, which is a frame of its own. */
static GstDepthOverlaySyncResult
next_alone (GstDepthOverlaySync *sync, GstAggregatorPad *depth, GstDepthOverlayFrame *frame)
{
  frame->buffer = depth ? depth_head (sync, depth, TRUE) : NULL;
  if (!frame->buffer)
    return !depth || gst_aggregator_pad_is_eos (depth) ? GST_DEPTH_OVERLAY_SYNC_EOS : GST_DEPTH_OVERLAY_SYNC_WAIT;
  frame->alone = TRUE;
  frame->gap = is_gap (frame->buffer);
  frame->time = running_time (depth, frame->buffer);
  frame->state = GST_DEPTH_OVERLAY_CURRENT;
  GST_OBJECT_LOCK (depth);
  frame->segment = depth->segment;
  GST_OBJECT_UNLOCK (depth);
  if (frame->gap)
    return GST_DEPTH_OVERLAY_SYNC_FRAME;
  if (!sync->have_depth_info) {
    gst_clear_buffer (&frame->buffer);
    return refuse_depth (sync);
  }
  hold (sync, frame->buffer, frame->time);
  sync->shown = TRUE;
  return GST_DEPTH_OVERLAY_SYNC_FRAME;
}

/* Takes the next live frame, once the depth that goes with it is known. */
static GstDepthOverlaySyncResult
next_live (
    GstDepthOverlaySync *sync, GstAggregatorPad *depth, gboolean timeout, guint64 max_age, GstDepthOverlayFrame *frame)
{
  Look look = LOOK_FOUND;

  frame->buffer = gst_aggregator_pad_peek_buffer (sync->live);
  if (!frame->buffer)
    return gst_aggregator_pad_is_eos (sync->live) ? GST_DEPTH_OVERLAY_SYNC_EOS : GST_DEPTH_OVERLAY_SYNC_WAIT;
  frame->alone = FALSE;
  frame->gap = is_gap (frame->buffer);
  frame->time = running_time (sync->live, frame->buffer);
  if (depth && !frame->gap)
    look = look_for_depth (sync, depth, frame->time, timeout);
  if (look == LOOK_FOUND)
    return take_frame (sync, depth, max_age, frame);
  gst_clear_buffer (&frame->buffer);
  return look == LOOK_FAILED ? GST_DEPTH_OVERLAY_SYNC_FAILED : GST_DEPTH_OVERLAY_SYNC_WAIT;
}

GstDepthOverlaySyncResult
gst_depth_overlay_sync_next (GstDepthOverlaySync *sync, gboolean timeout, guint64 max_age, GstDepthOverlayFrame *frame)
{
  GstDepthOverlaySyncResult result;
  GstAggregatorPad *depth;

  if (g_atomic_int_compare_and_exchange (&sync->forget, TRUE, FALSE))
    gst_depth_overlay_sync_forget (sync);
  /* the reference keeps a pad that is released meanwhile */
  g_mutex_lock (&sync->lock);
  depth = sync->depth ? gst_object_ref (sync->depth) : NULL;
  g_mutex_unlock (&sync->lock);
  if (gst_depth_overlay_sync_is_alone (sync))
    result = next_alone (sync, depth, frame);
  else
    result = next_live (sync, depth, timeout, max_age, frame);
  gst_clear_object (&depth);
  return result;
}
