/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/pad.h"

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

void
gst_stereo_pad_clear (GstStereoPad *pad)
{
  GstBuffer *buffers[2] = { NULL, NULL };

  GST_OBJECT_LOCK (pad);
  for (guint i = 0; i < pad->count; i++)
    buffers[i] = pad->frames[i].buffer;
  pad->count = 0;
  pad->peeked = FALSE;
  pad->last_time = GST_STEREO_TIME_NONE;
  pad->shortest = 0;
  pad->gap_end = GST_STEREO_TIME_NONE;
  pad->marked = FALSE;
  pad->waiting = 0;
  pad->closed = FALSE;
  gst_stereo_pad_forget_seeks (pad);
  GST_OBJECT_UNLOCK (pad);
  gst_clear_buffer (&buffers[0]);
  gst_clear_buffer (&buffers[1]);
}

guint
gst_stereo_pad_count (GstStereoPad *pad)
{
  guint count;

  GST_OBJECT_LOCK (pad);
  count = pad->count;
  GST_OBJECT_UNLOCK (pad);
  return count;
}

static GstFlowReturn
gst_stereo_pad_flush (GstAggregatorPad *pad, GstAggregator *aggregator)
{
  gst_stereo_pad_clear (GST_STEREO_PAD (pad));
  return GST_FLOW_OK;
}

/* What the base class makes of a GAP event. */
static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

static void
count_out (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  /* a flush may have been faster */
  pad->waiting -= pad->waiting > 0;
  GST_OBJECT_UNLOCK (pad);
}

/* What is in the aggregator's queue when its task ends is gone without a word: what is on its way there has to be
 * known, and has to come to an end, before the task may end. */
static GstFlowReturn
gst_stereo_pad_chain (GstPad *base, GstObject *parent, GstBuffer *buffer)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  gboolean gap = is_gap (buffer), closed;
  GstFlowReturn flow;

  GST_OBJECT_LOCK (pad);
  closed = pad->closed;
  pad->waiting += !closed && !gap;
  pad->arrivals++;
  pad->pushing = !closed;
  GST_OBJECT_UNLOCK (pad);
  if (closed) {
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  flow = pad->chain (base, parent, buffer);
  GST_OBJECT_LOCK (pad);
  pad->pushing = FALSE;
  GST_OBJECT_UNLOCK (pad);
  if (flow != GST_FLOW_OK && !gap)
    count_out (pad);
  return flow;
}

static void
gst_stereo_pad_constructed (GObject *object)
{
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->constructed (object);
  GST_STEREO_PAD (object)->chain = GST_PAD_CHAINFUNC (object);
  gst_pad_set_chain_function (GST_PAD (object), gst_stereo_pad_chain);
}

static void
gst_stereo_pad_dispose (GObject *object)
{
  gst_stereo_pad_clear (GST_STEREO_PAD (object));
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->dispose (object);
}

static void
gst_stereo_pad_finalize (GObject *object)
{
  g_mutex_clear (&GST_STEREO_PAD (object)->queue_lock);
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->finalize (object);
}

static void
gst_stereo_pad_class_init (GstStereoPadClass *klass)
{
  G_OBJECT_CLASS (klass)->constructed = gst_stereo_pad_constructed;
  G_OBJECT_CLASS (klass)->dispose = gst_stereo_pad_dispose;
  G_OBJECT_CLASS (klass)->finalize = gst_stereo_pad_finalize;
  GST_AGGREGATOR_PAD_CLASS (klass)->flush = gst_stereo_pad_flush;
}

static void
gst_stereo_pad_init (GstStereoPad *pad)
{
  g_mutex_init (&pad->queue_lock);
  gst_stereo_pad_clear (pad);
}

GstStereoPad *
gst_stereo_pad_new (GstPadTemplate *template)
{
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  GstStereoPad *pad = g_object_new (GST_TYPE_STEREO_PAD, "name", name, "direction", GST_PAD_SINK, "template", template,
      NULL);

  pad->packed = g_str_equal (name, "sink");
  pad->right = g_str_equal (name, "sink_right");
  return pad;
}

gint64
gst_stereo_running_time (const GstSegment *segment, GstClockTime pts)
{
  guint64 time;
  gint sign;

  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (pts))
    return GST_STEREO_TIME_NONE;
  sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, pts, &time);
  if (sign == 0 || time > G_MAXINT64 / 4)
    return GST_STEREO_TIME_NONE;
  return sign * (gint64) time;
}

/* What lasts so long in the stream's own time, as running time: at twice the rate half of it. */
static gint64
running_duration (const GstSegment *segment, GstClockTime duration)
{
  gdouble rate = segment->format == GST_FORMAT_TIME ? ABS (segment->rate) : 1;

  return rate == 1 ? (gint64) duration : (gint64) ((gdouble) duration / rate);
}

/* With the object lock held. */
static gint64
frame_spacing (const GstStereoPad *pad, const GstStereoFrame *frame)
{
  gint64 before = pad->count ? pad->frames[pad->count - 1].time : pad->last_time;

  if (GST_BUFFER_DURATION_IS_VALID (frame->buffer) && GST_BUFFER_DURATION (frame->buffer) <= G_MAXINT64 / 4)
    return running_duration (&frame->segment, GST_BUFFER_DURATION (frame->buffer));
  if (frame->layout.fps_n > 0)
    return running_duration (
        &frame->segment, gst_util_uint64_scale (GST_SECOND, frame->layout.fps_d, frame->layout.fps_n));
  if (frame->time != GST_STEREO_TIME_NONE && before != GST_STEREO_TIME_NONE && frame->time > before)
    return frame->time - before;
  return 0;
}

static void
note_gap (GstStereoPad *pad, const GstSegment *segment, GstBuffer *gap)
{
  GstClockTime end = GST_BUFFER_PTS (gap);

  /* backwards, it is over where it begins */
  if (segment->rate > 0 && GST_CLOCK_TIME_IS_VALID (end) && GST_BUFFER_DURATION_IS_VALID (gap))
    end += GST_BUFFER_DURATION (gap);
  GST_OBJECT_LOCK (pad);
  pad->gap_end = gst_stereo_running_time (segment, end);
  GST_OBJECT_UNLOCK (pad);
}

static void
append (GstStereoPad *pad, GstStereoFrame *frame)
{
  GST_OBJECT_LOCK (pad);
  frame->spacing = frame_spacing (pad, frame);
  frame->generation = pad->generation;
  frame->origin = pad->origin;
  pad->gap_end = GST_STEREO_TIME_NONE;
  pad->marked |= GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
  pad->frames[pad->count++] = *frame;
  pad->peeked = TRUE;
  GST_OBJECT_UNLOCK (pad);
}

static GstBuffer *
peek (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->queue_lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_peek_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->queue_lock);
  return buffer;
}

/* The frame that is peeked at leaves the aggregator's queue; our reference remains. */
static void
pop_peeked (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->queue_lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_pop_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->queue_lock);
  if (buffer)
    gst_stereo_pad_left (pad, buffer);
  gst_clear_buffer (&buffer);
}

void
gst_stereo_pad_left (GstStereoPad *pad, GstBuffer *buffer)
{
  if (!is_gap (buffer))
    count_out (pad);
}

void
gst_stereo_pad_close (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  pad->closed = TRUE;
  GST_OBJECT_UNLOCK (pad);
}

gboolean
gst_stereo_pad_has_buffer (GstStereoPad *pad)
{
  gboolean has;

  g_mutex_lock (&pad->queue_lock);
  has = !pad->released && gst_aggregator_pad_has_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->queue_lock);
  return has;
}

void
gst_stereo_pad_retire (GstStereoPad *pad)
{
  g_mutex_lock (&pad->queue_lock);
  pad->released = TRUE;
  g_mutex_unlock (&pad->queue_lock);
}

/* @frame leaves the head. With the object lock held. */
static void
note_time (GstStereoPad *pad, const GstStereoFrame *frame)
{
  gint64 interval = frame->time == GST_STEREO_TIME_NONE || pad->last_time == GST_STEREO_TIME_NONE ? 0 :
      frame->time - pad->last_time;

  /* forgets slowly: one early frame says that there may be more */
  if (interval > 0)
    pad->shortest = pad->shortest ? MIN (interval, pad->shortest + pad->shortest / 32) : interval;
  pad->last_time = frame->time;
}

gboolean
gst_stereo_pad_hold (GstStereoPad *pad)
{
  gboolean room, pop;

  GST_OBJECT_LOCK (pad);
  room = pad->count < G_N_ELEMENTS (pad->frames);
  pop = room && pad->peeked;
  if (pop)
    pad->peeked = FALSE;
  GST_OBJECT_UNLOCK (pad);
  if (pop)
    pop_peeked (pad);
  return room;
}

static gboolean
describe (GstStereoPad *pad, GstStereoFrame *frame, GstStereoPacking packing, gchar **message)
{
  if (!pad->have_info) {
    *message = g_strdup_printf ("%s got a frame before any caps.", GST_PAD_NAME (pad));
    return FALSE;
  }
  frame->info = pad->info;
  frame->time = gst_stereo_running_time (&frame->segment, GST_BUFFER_PTS (frame->buffer));
  if (pad->packed)
    return gst_stereo_layout_packed (&frame->layout, &frame->info, packing, message);
  return gst_stereo_layout_single (&frame->layout, &frame->info, pad->right, message);
}

GstStereoPull
gst_stereo_pad_pull (GstStereoPad *pad, GstStereoPacking packing, GstBuffer **gap, gchar **message)
{
  GstStereoFrame frame = { NULL };

  if (!gst_stereo_pad_hold (pad))
    return GST_STEREO_PULL_NOTHING;
  frame.buffer = peek (pad);
  if (!frame.buffer)
    return GST_STEREO_PULL_NOTHING;
  GST_OBJECT_LOCK (pad);
  frame.segment = GST_AGGREGATOR_PAD (pad)->segment;
  GST_OBJECT_UNLOCK (pad);
  if (is_gap (frame.buffer)) {
    note_gap (pad, &frame.segment, frame.buffer);
    pop_peeked (pad);
    *gap = frame.buffer;
    return GST_STEREO_PULL_GAP;
  }
  if (!describe (pad, &frame, packing, message)) {
    gst_buffer_unref (frame.buffer);
    return GST_STEREO_PULL_ERROR;
  }
  append (pad, &frame);
  return GST_STEREO_PULL_FRAME;
}

gboolean
gst_stereo_pad_take (GstStereoPad *pad, GstStereoFrame *frame)
{
  gboolean taken, pop;

  GST_OBJECT_LOCK (pad);
  taken = pad->count > 0;
  pop = pad->count == 1 && pad->peeked;
  if (taken) {
    *frame = pad->frames[0];
    pad->frames[0] = pad->frames[1];
    pad->count--;
    note_time (pad, frame);
  }
  if (pop)
    pad->peeked = FALSE;
  GST_OBJECT_UNLOCK (pad);
  if (pop)
    pop_peeked (pad);
  return taken;
}

void
gst_stereo_pad_settle (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  GST_OBJECT_LOCK (pad);
  if (pad->peeked) {
    buffer = pad->frames[--pad->count].buffer;
    pad->peeked = FALSE;
  }
  GST_OBJECT_UNLOCK (pad);
  gst_clear_buffer (&buffer);
}

void
gst_stereo_pad_queue (GstStereoPad *pad, GstStereoQueue *queue, gint64 *spacing, gint64 *origin)
{
  gboolean eos = gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));

  GST_OBJECT_LOCK (pad);
  queue->count = pad->count;
  queue->generation = pad->count > 0 ? pad->frames[0].generation : pad->generation;
  queue->moves_on = pad->seeks.count > 0 || pad->generation > queue->generation;
  *origin = pad->count > 0 ? pad->frames[0].origin : pad->origin;
  queue->time[0] = pad->count > 0 ? pad->frames[0].time : GST_STEREO_TIME_NONE;
  queue->time[1] = pad->count > 1 && pad->frames[1].generation == queue->generation ? pad->frames[1].time :
      GST_STEREO_TIME_NONE;
  queue->soonest = pad->count > 0 ? pad->frames[0].spacing : 0;
  if (pad->count > 0)
    *spacing = queue->soonest;
  if (pad->shortest && queue->soonest > pad->shortest)
    queue->soonest = pad->shortest;
  queue->gap_end = pad->generation == queue->generation ? pad->gap_end : GST_STEREO_TIME_NONE;
  queue->ended = eos || (pad->closed && pad->waiting == (pad->count > 0 && pad->peeked));
  GST_OBJECT_UNLOCK (pad);
}

guint
gst_stereo_pad_bundle (GstStereoPad *pad, gboolean first[2], gboolean *marked, GstStereoLayout *layout)
{
  guint count;

  GST_OBJECT_LOCK (pad);
  count = pad->count;
  for (guint i = 0; i < 2; i++)
    first[i] = i < count &&
        GST_BUFFER_FLAG_IS_SET (pad->frames[i].buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
  *marked = pad->marked;
  if (count && layout)
    *layout = pad->frames[0].layout;
  GST_OBJECT_UNLOCK (pad);
  return count;
}
