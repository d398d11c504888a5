/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/join.h"

#include "gst/video/stream.h"

struct _GstStereoJoin
{
  GstElement *owner;
  GstDebugCategory *category;
  GstAggregatorPad *main;

  GMutex lock;              /* around the second pad and its queue: a pad that is released drops its queue */
  GstAggregatorPad *second; /* not owned; NULL: none */
  gint stale;               /* atomic: forget the held frame before the next one */

  GstVideoInfo main_info, second_info; /* of the heads of the pads' queues */
  gboolean have_main_info, have_second_info;
  GstStereoJoined held;
  gboolean given;  /* held, with some frame */
  gboolean queued; /* held, and still the head of its pad's queue */
  gint64 gap_end;  /* no frame of the second stream earlier than this will come */
};

#define LOG(join, ...) GST_CAT_LOG_OBJECT ((join)->category, (join)->owner, __VA_ARGS__)

void
gst_stereo_join_class_init (GstAggregatorClass *klass)
{
  klass->clip = gst_stereo_clip;
  klass->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
}

/* ---- pads -------------------------------------------------------------------------------- */

static GstAggregatorPad *
new_pad (GstPadTemplate *template)
{
  return g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", GST_PAD_TEMPLATE_NAME_TEMPLATE (template), "direction",
      GST_PAD_SINK, "template", template, NULL);
}

GstStereoJoin *
gst_stereo_join_new (GstAggregator *owner, const gchar *main, GstDebugCategory *category)
{
  GstStereoJoin *join = g_new0 (GstStereoJoin, 1);

  join->owner = GST_ELEMENT (owner);
  join->category = category;
  join->main = new_pad (gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (owner), main));
  gst_element_add_pad (join->owner, GST_PAD (join->main));
  g_mutex_init (&join->lock);
  gst_stereo_join_forget (join);
  return join;
}

void
gst_stereo_join_free (GstStereoJoin *join)
{
  gst_stereo_join_forget (join);
  g_mutex_clear (&join->lock);
  g_free (join);
}

GstAggregatorPad *
gst_stereo_join_main (const GstStereoJoin *join)
{
  return join->main;
}

GstAggregatorPad *
gst_stereo_join_create_pad (GstStereoJoin *join, GstPadTemplate *template)
{
  if (GST_PAD_TEMPLATE_PRESENCE (template) != GST_PAD_REQUEST)
    return NULL;
  g_mutex_lock (&join->lock);
  GstAggregatorPad *pad = join->second ? NULL : new_pad (template);
  if (pad)
    join->second = pad;
  g_mutex_unlock (&join->lock);
  if (!pad)
    GST_CAT_WARNING_OBJECT (
        join->category, join->owner, "%s is there already", GST_PAD_TEMPLATE_NAME_TEMPLATE (template));
  return pad;
}

void
gst_stereo_join_release_pad (GstStereoJoin *join, GstPad *pad)
{
  /* after this the base class drops the pad's queue without taking the pad's lock: the task must not be in there */
  g_mutex_lock (&join->lock);
  if (GST_PAD (join->second) == pad)
    join->second = NULL;
  g_mutex_unlock (&join->lock);
  g_atomic_int_set (&join->stale, TRUE);
}

/* The reference keeps a pad that is released meanwhile. */
static GstAggregatorPad *
ref_second (GstStereoJoin *join)
{
  g_mutex_lock (&join->lock);
  GstAggregatorPad *pad = join->second ? gst_object_ref (join->second) : NULL;
  g_mutex_unlock (&join->lock);
  return pad;
}

gboolean
gst_stereo_join_has_second (GstStereoJoin *join)
{
  g_mutex_lock (&join->lock);
  gboolean has = join->second != NULL;
  g_mutex_unlock (&join->lock);
  return has;
}

gboolean
gst_stereo_join_second_ended (GstStereoJoin *join)
{
  GstAggregatorPad *pad = ref_second (join);
  gboolean ended = pad && gst_aggregator_pad_is_eos (pad);

  gst_clear_object (&pad);
  return ended;
}

/* ---- events and caps --------------------------------------------------------------------- */

gboolean
gst_stereo_join_is_forwarded (const GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
    case GST_EVENT_STREAM_START:
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      return FALSE;
    default:
      return TRUE;
  }
}

void
gst_stereo_join_note_event (GstStereoJoin *join, GstAggregatorPad *pad, GstEvent *event)
{
  if (pad != join->main && GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    g_atomic_int_set (&join->stale, TRUE);
}

gboolean
gst_stereo_join_take_caps (GstStereoJoin *join, GstAggregatorPad *pad, GstEvent *event)
{
  GstVideoInfo info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  gboolean usable = gst_video_info_from_caps (&info, caps);
  if (usable)
    GST_CAT_DEBUG_OBJECT (join->category, pad, "gets %" GST_PTR_FORMAT, caps);
  else
    GST_ELEMENT_ERROR (
        join->owner, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)), ("%" GST_PTR_FORMAT, caps));
  gst_event_unref (event);
  if (!usable)
    return FALSE;
  if (pad == join->main) {
    join->main_info = info;
    join->have_main_info = TRUE;
  } else {
    join->second_info = info;
    join->have_second_info = TRUE;
  }
  return TRUE;
}

const GstVideoInfo *
gst_stereo_join_main_info (const GstStereoJoin *join)
{
  return join->have_main_info ? &join->main_info : NULL;
}

GstClockTime
gst_stereo_join_frame_time (const GstStereoJoin *join)
{
  const GstVideoInfo *info = &join->main_info;

  if (!join->have_main_info || GST_VIDEO_INFO_FPS_N (info) <= 0)
    return 0;
  return gst_util_uint64_scale (
      GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));
}

void
gst_stereo_join_forget (GstStereoJoin *join)
{
  gst_clear_buffer (&join->held.buffer);
  join->held.time = GST_CLOCK_STIME_NONE;
  join->queued = FALSE;
  join->gap_end = GST_CLOCK_STIME_NONE;
}

void
gst_stereo_join_reset (GstStereoJoin *join)
{
  gst_stereo_join_forget (join);
  g_atomic_int_set (&join->stale, FALSE);
  join->have_main_info = join->have_second_info = FALSE;
}

/* ---- the second stream ------------------------------------------------------------------- */

static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

static void
hold (GstStereoJoin *join, GstAggregatorPad *pad, GstBuffer *buffer, gint64 time)
{
  GstStereoJoined *held = &join->held;

  if (held->buffer && !join->given)
    LOG (join, "frame of %" GST_STIME_FORMAT " on %s is dropped: a later one goes with the next frame",
        GST_STIME_ARGS (held->time), GST_PAD_NAME (pad));
  gst_buffer_replace (&held->buffer, buffer);
  held->info = join->second_info;
  held->time = time;
  held->arrival = gst_element_get_current_running_time (join->owner);
  join->given = FALSE;
  /* 0 stands for none */
  if (++held->serial == 0)
    held->serial = 1;
}

static void
note_gap (GstStereoJoin *join, GstBuffer *gap, gint64 start)
{
  /* a frame whose duration is not known was dropped: there is none at its time */
  guint64 duration = GST_BUFFER_DURATION_IS_VALID (gap) ? GST_BUFFER_DURATION (gap) : 1;

  if (start != GST_CLOCK_STIME_NONE)
    join->gap_end = start + (gint64) MIN (duration, G_MAXINT64 / 4);
}

/* The head of the queue of @pad, or NULL; @pop takes it away. NULL, too, once the pad was released. */
static GstBuffer *
second_head (GstStereoJoin *join, GstAggregatorPad *pad, gboolean pop)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&join->lock);
  if (join->second == pad)
    buffer = pop ? gst_aggregator_pad_pop_buffer (pad) : gst_aggregator_pad_peek_buffer (pad);
  g_mutex_unlock (&join->lock);
  return buffer;
}

static void
drop_second (GstStereoJoin *join, GstAggregatorPad *pad)
{
  GstBuffer *buffer = second_head (join, pad, TRUE);

  gst_clear_buffer (&buffer);
}

static GstFlowReturn
refuse_frame (GstStereoJoin *join, GstAggregatorPad *pad)
{
  GST_ELEMENT_ERROR (join->owner, CORE, NEGOTIATION, ("%s got a frame before any caps.", GST_PAD_NAME (pad)), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Nothing is in the queue of @pad: whether to go on without a later frame. */
static GstFlowReturn
judge_empty_queue (GstStereoJoin *join, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  if (gst_aggregator_pad_is_eos (pad) || (time != GST_CLOCK_STIME_NONE && time < join->gap_end))
    return GST_FLOW_OK;
  LOG (join, "frame of %" GST_STIME_FORMAT " %s that of %s%s", GST_STIME_ARGS (time),
      timeout ? "goes on without waiting for" : "waits:", GST_PAD_NAME (pad), timeout ? "" : " may still come");
  return timeout ? GST_FLOW_OK : GST_AGGREGATOR_FLOW_NEED_DATA;
}

/* Whether the next frame behind @buffer, whose running time is @start, is later than a main frame of @time: @buffer lasts
 * longer than main frames do, as behind a videorate. Timestamps may be off by half a main frame. */
static gboolean
is_next_later (GstStereoJoin *join, GstAggregatorPad *pad, GstBuffer *buffer, gint64 start, gint64 time)
{
  gint64 frame = (gint64) gst_stereo_join_frame_time (join), duration;

  if (frame == 0 || start == GST_CLOCK_STIME_NONE || time == GST_CLOCK_STIME_NONE || is_gap (buffer) ||
      !GST_BUFFER_DURATION_IS_VALID (buffer))
    return FALSE;
  GST_OBJECT_LOCK (pad);
  gboolean plain = pad->segment.rate == 1.0;
  GST_OBJECT_UNLOCK (pad);
  duration = (gint64) MIN (GST_BUFFER_DURATION (buffer), G_MAXINT64 / 4);
  return plain && duration > frame + frame / 2 && time + frame / 2 < start + duration;
}

/* Takes frames from @pad as long as they are not later than @time. A frame without a timestamp, on either pad, is joined
 * by the order of arrival. GST_FLOW_OK: the held frame belongs to @time. */
static GstFlowReturn
find_second (GstStereoJoin *join, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  gboolean untimed = time == GST_CLOCK_STIME_NONE;

  for (;;) {
    GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA; /* the next one decides */
    gboolean stays, known = join->queued;
    GstBuffer *buffer;

    if (join->held.buffer && !untimed && join->held.time == time)
      return GST_FLOW_OK;
    buffer = second_head (join, pad, FALSE);
    if (!buffer)
      return judge_empty_queue (join, pad, time, timeout);
    gint64 second_time = gst_stereo_pad_running_time (pad, buffer);
    if (!untimed && second_time != GST_CLOCK_STIME_NONE && second_time > time) {
      gst_buffer_unref (buffer);
      return GST_FLOW_OK;
    }
    /* The base class waits for a pad whose queue is empty. */
    stays = is_next_later (join, pad, buffer, second_time, time);
    if (!stays)
      drop_second (join, pad);
    join->queued = stays;
    if (is_gap (buffer))
      note_gap (join, buffer, second_time);
    else if (!join->have_second_info)
      flow = refuse_frame (join, pad);
    else if (!known)
      hold (join, pad, buffer, second_time == GST_CLOCK_STIME_NONE ? time : second_time);
    if (flow == GST_AGGREGATOR_FLOW_NEED_DATA &&
        (stays || (!is_gap (buffer) && (untimed || second_time == GST_CLOCK_STIME_NONE))))
      flow = GST_FLOW_OK;
    gst_buffer_unref (buffer);
    if (flow != GST_AGGREGATOR_FLOW_NEED_DATA)
      return flow;
  }
}

/* ---- frames ------------------------------------------------------------------------------ */

static void
describe_frame (GstStereoJoinFrame *frame, GstAggregatorPad *pad)
{
  frame->gap = is_gap (frame->buffer);
  frame->time = gst_stereo_pad_running_time (pad, frame->buffer);
  GST_OBJECT_LOCK (pad);
  frame->segment = pad->segment;
  GST_OBJECT_UNLOCK (pad);
}

static void
forget_if_stale (GstStereoJoin *join)
{
  if (g_atomic_int_compare_and_exchange (&join->stale, TRUE, FALSE))
    gst_stereo_join_forget (join);
}

GstFlowReturn
gst_stereo_join_next (GstStereoJoin *join, gboolean timeout, GstStereoJoinFrame *frame)
{
  GstFlowReturn flow = GST_FLOW_OK;

  forget_if_stale (join);
  frame->buffer = gst_aggregator_pad_peek_buffer (join->main);
  if (!frame->buffer)
    return gst_aggregator_pad_is_eos (join->main) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  describe_frame (frame, join->main);
  GstAggregatorPad *second = ref_second (join);
  /* frames that a gap would leave in the queue would hold up those behind them */
  if (second)
    flow = find_second (join, second, frame->time, timeout || frame->gap);
  gst_clear_object (&second);
  if (flow == GST_FLOW_OK) {
    gst_aggregator_pad_drop_buffer (join->main);
    join->given |= !frame->gap;
    if (!frame->gap && !join->have_main_info)
      flow = refuse_frame (join, join->main);
  }
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (&frame->buffer);
  return flow;
}

GstFlowReturn
gst_stereo_join_next_second (GstStereoJoin *join, GstStereoJoinFrame *frame)
{
  GstFlowReturn flow = GST_FLOW_OK;

  forget_if_stale (join);
  GstAggregatorPad *second = ref_second (join);
  frame->buffer = second ? second_head (join, second, TRUE) : NULL;
  if (!frame->buffer) {
    flow = !second || gst_aggregator_pad_is_eos (second) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  } else {
    describe_frame (frame, second);
    if (!frame->gap && join->have_second_info) {
      hold (join, second, frame->buffer, frame->time);
      join->given = TRUE;
    } else if (!frame->gap) {
      gst_clear_buffer (&frame->buffer);
      flow = refuse_frame (join, second);
    }
  }
  gst_clear_object (&second);
  return flow;
}

const GstStereoJoined *
gst_stereo_join_held (const GstStereoJoin *join)
{
  return &join->held;
}
