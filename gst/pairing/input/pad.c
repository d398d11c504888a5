/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/pad.h"

#include "gst/pairing/debug.h"
#include "gst/video/stream.h"

struct _GstStereoPad
{
  GstAggregatorPad parent;

  gboolean packed, right;    /* from the pad's template, and never changed */
  GstPadChainFunction chain; /* of the base class */

  /* of the source pad's task */
  GstVideoInfo info;
  gboolean have_info;
  gboolean warned; /* a warning about these caps was posted */

  /* protected by the object lock: a flush comes from another thread */
  GstStereoQueue queue;
  guint received;     /* buffers and gaps so far */
  gboolean receiving; /* upstream's thread is in chain() */
  gboolean closed;    /* upstream learns that no more is wanted */
  gboolean over;      /* upstream has sent its end */

  GMutex aggregator_lock; /* around what touches GstAggregator's queue */
  gboolean released;      /* protected by it: nothing touches that queue any more */
};

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

/* ---- receiving, in upstream's thread ------------------------------------------------------ */

/* A GAP event becomes such a buffer in the base class. */
static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

/* The frame did not get to its turn. */
static void
remove_frame (GstStereoPad *pad, GstBuffer *buffer)
{
  GstStereoFrame *frame;

  GST_OBJECT_LOCK (pad);
  frame = gst_stereo_queue_remove (&pad->queue, buffer);
  GST_OBJECT_UNLOCK (pad);
  gst_stereo_frame_free (frame);
}

static GstFlowReturn
gst_stereo_pad_chain (GstPad *base, GstObject *parent, GstBuffer *buffer)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  gboolean gap = is_gap (buffer), closed;
  GstFlowReturn flow;

  GST_OBJECT_LOCK (pad);
  closed = pad->closed;
  pad->received++;
  pad->receiving = !closed;
  if (!closed && !gap)
    gst_stereo_queue_append (&pad->queue, buffer);
  GST_OBJECT_UNLOCK (pad);
  if (closed) {
    GST_LOG_OBJECT (pad, "refused, for the other view has ended: %" GST_PTR_FORMAT, buffer);
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  GST_LOG_OBJECT (pad, "received %" GST_PTR_FORMAT, buffer);
  flow = pad->chain (base, parent, buffer);
  GST_OBJECT_LOCK (pad);
  pad->receiving = FALSE;
  GST_OBJECT_UNLOCK (pad);
  if (flow != GST_FLOW_OK && !gap)
    remove_frame (pad, buffer);
  return flow;
}

GstBuffer *
gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstBuffer *inside = gst_stereo_clip (aggregator, pad, gst_buffer_ref (buffer));

  if (!inside) {
    GST_DEBUG_OBJECT (pad, "dropped, outside the segment: %" GST_PTR_FORMAT, buffer);
    remove_frame (GST_STEREO_PAD (pad), buffer);
  }
  gst_buffer_unref (buffer);
  return inside;
}

/* ---- GstAggregator's queue ---------------------------------------------------------------- */

static GstBuffer *
peek (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->aggregator_lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_peek_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->aggregator_lock);
  return buffer;
}

static void
pop (GstStereoPad *pad)
{
  GstStereoFrame *useless = NULL;
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->aggregator_lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_pop_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->aggregator_lock);
  GST_OBJECT_LOCK (pad);
  if (buffer)
    useless = gst_stereo_queue_pop (&pad->queue, buffer);
  GST_OBJECT_UNLOCK (pad);
  gst_stereo_frame_free (useless);
  gst_clear_buffer (&buffer);
}

gboolean
gst_stereo_pad_has_buffer (GstStereoPad *pad)
{
  gboolean has;

  g_mutex_lock (&pad->aggregator_lock);
  has = !pad->released && gst_aggregator_pad_has_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->aggregator_lock);
  return has;
}

/* ---- frames, in the task of the source pad ------------------------------------------------ */

gboolean
gst_stereo_pad_make_room (GstStereoPad *pad)
{
  gboolean room, unpopped;

  GST_OBJECT_LOCK (pad);
  room = pad->queue.shown < GST_STEREO_MOST_SHOWN;
  unpopped = pad->queue.popped < pad->queue.shown;
  GST_OBJECT_UNLOCK (pad);
  if (room && unpopped)
    pop (pad);
  return room;
}

/* What a pad knows about its next buffer. */
static GstStereoFrame
frame_of (GstStereoPad *pad, GstBuffer *buffer)
{
  GstStereoFrame frame = { .buffer = buffer, .info = pad->info };

  GST_OBJECT_LOCK (pad);
  frame.segment = GST_AGGREGATOR_PAD (pad)->segment;
  GST_OBJECT_UNLOCK (pad);
  frame.time = gst_stereo_running_time (&frame.segment, GST_BUFFER_PTS (buffer));
  return frame;
}

static gboolean
read_layout (GstStereoPad *pad, GstStereoFrame *frame, GstStereoPacking packing, gchar **message)
{
  if (!pad->have_info) {
    *message = g_strdup_printf ("%s got a frame before any caps.", GST_PAD_NAME (pad));
    return FALSE;
  }
  if (pad->packed)
    return gst_stereo_layout_packed (&frame->layout, &frame->info, packing, message);
  return gst_stereo_layout_single (&frame->layout, &frame->info, pad->right, message);
}

static void
add_gap (GstStereoPad *pad, const GstStereoFrame *gap)
{
  GstClockTime end = GST_BUFFER_PTS (gap->buffer);

  /* a stream that plays backwards is past the gap where the gap begins */
  if (gap->segment.rate > 0 && GST_CLOCK_TIME_IS_VALID (end) && GST_BUFFER_DURATION_IS_VALID (gap->buffer))
    end += GST_BUFFER_DURATION (gap->buffer);
  GST_OBJECT_LOCK (pad);
  gst_stereo_queue_add_gap (&pad->queue, gst_stereo_running_time (&gap->segment, end));
  GST_OBJECT_UNLOCK (pad);
  GST_DEBUG_OBJECT (pad, "gap up to %" GST_TIME_FORMAT, GST_TIME_ARGS (end));
}

GstStereoShown
gst_stereo_pad_show_next (GstStereoPad *pad, GstStereoPacking packing, GstStereoFrame **gap, gchar **message)
{
  GstStereoShown shown = GST_STEREO_SHOWN_ERROR;
  GstStereoFrame frame;
  GstBuffer *buffer;

  if (!gst_stereo_pad_make_room (pad) || !(buffer = peek (pad)))
    return GST_STEREO_SHOWN_NOTHING;
  frame = frame_of (pad, buffer);
  if (is_gap (buffer)) {
    add_gap (pad, &frame);
    pop (pad);
    *gap = g_memdup2 (&frame, sizeof frame);
    return GST_STEREO_SHOWN_GAP;
  }
  if (read_layout (pad, &frame, packing, message)) {
    GST_OBJECT_LOCK (pad);
    shown = gst_stereo_queue_show (&pad->queue, &frame) ? GST_STEREO_SHOWN_FRAME : GST_STEREO_SHOWN_NOTHING;
    GST_OBJECT_UNLOCK (pad);
  }
  gst_buffer_unref (buffer);
  return shown;
}

void
gst_stereo_pad_describe (GstStereoPad *pad, GstStereoNext *next)
{
  gboolean eos = gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));

  GST_OBJECT_LOCK (pad);
  gst_stereo_queue_describe (&pad->queue, next);
  next->stream.ended = eos || (pad->closed && pad->queue.shown == pad->queue.frames.length);
  next->forwards = GST_AGGREGATOR_PAD (pad)->segment.rate > 0;
  GST_OBJECT_UNLOCK (pad);
}

GstStereoFrame *
gst_stereo_pad_take (GstStereoPad *pad)
{
  GstStereoFrame *frame;
  gboolean unpopped;

  GST_OBJECT_LOCK (pad);
  unpopped = pad->queue.shown && !pad->queue.popped;
  GST_OBJECT_UNLOCK (pad);
  if (unpopped)
    pop (pad);
  GST_OBJECT_LOCK (pad);
  frame = gst_stereo_queue_take (&pad->queue);
  GST_OBJECT_UNLOCK (pad);
  return frame;
}

void
gst_stereo_pad_close (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  pad->closed = TRUE;
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_count_old_frame (GstStereoPad *pad)
{
  gboolean lost;

  GST_OBJECT_LOCK (pad);
  lost = gst_stereo_queue_count_old_frame (&pad->queue);
  GST_OBJECT_UNLOCK (pad);
  if (lost)
    GST_WARNING_OBJECT (pad, "no segment answers a seek: its frames are paired as they come");
}

gboolean
gst_stereo_pad_warn_once (GstStereoPad *pad)
{
  gboolean first = !pad->warned;

  pad->warned = TRUE;
  return first;
}

/* ---- events ------------------------------------------------------------------------------- */

void
gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event)
{
  GstEventType type = GST_EVENT_TYPE (event);

  GST_OBJECT_LOCK (pad);
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT || type == GST_EVENT_FLUSH_STOP)
    pad->over = FALSE;
  pad->over |= type == GST_EVENT_EOS;
  pad->received += type == GST_EVENT_GAP;
  GST_OBJECT_UNLOCK (pad);
}

const GstVideoInfo *
gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps)
{
  pad->have_info = gst_video_info_from_caps (&pad->info, caps);
  pad->warned = FALSE;
  GST_DEBUG_OBJECT (pad, "caps %" GST_PTR_FORMAT, caps);
  return pad->have_info ? &pad->info : NULL;
}

void
gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event)
{
  gboolean answers;
  guint generation;

  GST_OBJECT_LOCK (pad);
  answers = gst_stereo_queue_begin_segment (&pad->queue, event);
  generation = pad->queue.generation;
  GST_OBJECT_UNLOCK (pad);
  GST_DEBUG_OBJECT (pad, "segment of generation %u%s", generation, answers ? ", which answers a seek" : "");
}

void
gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum)
{
  GST_OBJECT_LOCK (pad);
  gst_stereo_queue_expect_seek (&pad->queue, generation, seqnum);
  GST_OBJECT_UNLOCK (pad);
}

void
gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation)
{
  GST_OBJECT_LOCK (pad);
  gst_stereo_queue_cancel_seek (&pad->queue, generation);
  GST_OBJECT_UNLOCK (pad);
}

GstStereoActivity
gst_stereo_pad_activity (GstStereoPad *pad)
{
  GstStereoActivity activity;

  GST_OBJECT_LOCK (pad);
  activity = (GstStereoActivity){ pad->received, pad->receiving, pad->over, pad->queue.frames.length > 0 };
  GST_OBJECT_UNLOCK (pad);
  return activity;
}

/* ---- the object --------------------------------------------------------------------------- */

/* Back to the state after a flush. */
static void
clear (GstStereoPad *pad)
{
  GQueue frames;

  GST_OBJECT_LOCK (pad);
  gst_stereo_queue_clear (&pad->queue, &frames);
  pad->closed = FALSE;
  GST_OBJECT_UNLOCK (pad);
  g_queue_clear_full (&frames, (GDestroyNotify) gst_stereo_frame_free);
}

static GstFlowReturn
gst_stereo_pad_flush (GstAggregatorPad *pad, GstAggregator *aggregator)
{
  GST_DEBUG_OBJECT (pad, "flush: the frames at hand are dropped");
  clear (GST_STEREO_PAD (pad));
  return GST_FLOW_OK;
}

void
gst_stereo_pad_retire (GstStereoPad *pad)
{
  g_mutex_lock (&pad->aggregator_lock);
  pad->released = TRUE;
  g_mutex_unlock (&pad->aggregator_lock);
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
  clear (GST_STEREO_PAD (object));
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->dispose (object);
}

static void
gst_stereo_pad_finalize (GObject *object)
{
  g_mutex_clear (&GST_STEREO_PAD (object)->aggregator_lock);
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
  g_mutex_init (&pad->aggregator_lock);
  gst_stereo_queue_init (&pad->queue);
}

GstStereoPad *
gst_stereo_pad_new (GstPadTemplate *template)
{
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  GstStereoPad *pad = g_object_new (
      GST_TYPE_STEREO_PAD, "name", name, "direction", GST_PAD_SINK, "template", template, NULL);

  pad->packed = g_str_equal (name, "sink");
  pad->right = g_str_equal (name, "sink_right");
  return pad;
}

gboolean
gst_stereo_pad_is_packed (GstStereoPad *pad)
{
  return pad->packed;
}

gboolean
gst_stereo_pad_is_right (GstStereoPad *pad)
{
  return pad->right;
}
