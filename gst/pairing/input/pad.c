/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/pad.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/private.h"
#include "gst/video/stream.h"

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

/* ---- the object --------------------------------------------------------------------------- */

/* Back to the state after a flush. */
static void
clear (GstStereoPad *pad)
{
  GstBuffer *buffers[2];

  GST_OBJECT_LOCK (pad);
  gst_stereo_heads_clear (&pad->heads, buffers);
  memset (&pad->seeks, 0, sizeof pad->seeks);
  pad->waiting = 0;
  pad->closed = FALSE;
  GST_OBJECT_UNLOCK (pad);
  gst_clear_buffer (&buffers[0]);
  gst_clear_buffer (&buffers[1]);
}

static GstFlowReturn
gst_stereo_pad_flush (GstAggregatorPad *pad, GstAggregator *aggregator)
{
  GST_DEBUG_OBJECT (pad, "flush: the frames at hand are dropped");
  clear (GST_STEREO_PAD (pad));
  return GST_FLOW_OK;
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
  g_mutex_clear (&GST_STEREO_PAD (object)->queue_lock);
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->finalize (object);
}

static void
gst_stereo_pad_init (GstStereoPad *pad)
{
  g_mutex_init (&pad->queue_lock);
  gst_stereo_heads_init (&pad->heads);
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

/* ---- receiving ---------------------------------------------------------------------------- */

/* What the base class makes of a GAP event. */
static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

/* A frame left the aggregator's queue, or did not get there. */
static void
count_out (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  /* a flush may have been faster */
  pad->waiting -= pad->waiting > 0;
  GST_OBJECT_UNLOCK (pad);
}

/* When its task ends, GstAggregator drops what is in its queue without a word. The pad therefore counts what is on its
 * way there, so that the task can take all of it before it ends. */
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
    GST_LOG_OBJECT (pad, "refused, for the other view has ended: %" GST_PTR_FORMAT, buffer);
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  GST_LOG_OBJECT (pad, "received %" GST_PTR_FORMAT, buffer);
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
gst_stereo_pad_class_init (GstStereoPadClass *klass)
{
  G_OBJECT_CLASS (klass)->constructed = gst_stereo_pad_constructed;
  G_OBJECT_CLASS (klass)->dispose = gst_stereo_pad_dispose;
  G_OBJECT_CLASS (klass)->finalize = gst_stereo_pad_finalize;
  GST_AGGREGATOR_PAD_CLASS (klass)->flush = gst_stereo_pad_flush;
}

GstBuffer *
gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstBuffer *inside = gst_stereo_clip (aggregator, pad, gst_buffer_ref (buffer));

  if (!inside) {
    GST_DEBUG_OBJECT (pad, "dropped, outside the segment: %" GST_PTR_FORMAT, buffer);
    if (!is_gap (buffer))
      count_out (GST_STEREO_PAD (pad));
  }
  gst_buffer_unref (buffer);
  return inside;
}

/* ---- the aggregator's queue --------------------------------------------------------------- */

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

/* The peeked frame leaves the aggregator's queue; our reference remains. */
static void
pop_peeked (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->queue_lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_pop_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->queue_lock);
  if (buffer && !is_gap (buffer))
    count_out (pad);
  gst_clear_buffer (&buffer);
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

/* ---- frames at hand ----------------------------------------------------------------------- */

guint
gst_stereo_pad_count (GstStereoPad *pad)
{
  guint count;

  GST_OBJECT_LOCK (pad);
  count = gst_stereo_heads_count (&pad->heads);
  GST_OBJECT_UNLOCK (pad);
  return count;
}

gboolean
gst_stereo_pad_make_room (GstStereoPad *pad)
{
  gboolean room, pop;

  GST_OBJECT_LOCK (pad);
  room = gst_stereo_heads_have_room (&pad->heads);
  pop = room && gst_stereo_heads_detach_peeked (&pad->heads);
  GST_OBJECT_UNLOCK (pad);
  if (pop)
    pop_peeked (pad);
  return room;
}

static void
add_gap (GstStereoPad *pad, const GstSegment *segment, GstBuffer *gap)
{
  GstClockTime end = GST_BUFFER_PTS (gap);

  /* a stream that plays backwards is past the gap where the gap begins */
  if (segment->rate > 0 && GST_CLOCK_TIME_IS_VALID (end) && GST_BUFFER_DURATION_IS_VALID (gap))
    end += GST_BUFFER_DURATION (gap);
  GST_OBJECT_LOCK (pad);
  gst_stereo_heads_add_gap (&pad->heads, gst_stereo_running_time (segment, end));
  GST_OBJECT_UNLOCK (pad);
  GST_DEBUG_OBJECT (pad, "gap up to %" GST_TIME_FORMAT, GST_TIME_ARGS (end));
}

static gboolean
read_caps (GstStereoPad *pad, GstStereoFrame *frame, GstStereoPacking packing, gchar **message)
{
  if (!pad->have_info) {
    *message = g_strdup_printf ("%s got a frame before any caps.", GST_PAD_NAME (pad));
    return FALSE;
  }
  frame->info = pad->info;
  frame->time = gst_stereo_running_time (&frame->segment, GST_BUFFER_PTS (frame->buffer));
  frame->moment = GST_STEREO_TIME_NONE;
  if (pad->packed)
    return gst_stereo_layout_packed (&frame->layout, &frame->info, packing, message);
  return gst_stereo_layout_single (&frame->layout, &frame->info, pad->right, message);
}

GstStereoPull
gst_stereo_pad_pull (GstStereoPad *pad, GstStereoPacking packing, GstBuffer **gap, gchar **message)
{
  GstStereoFrame frame = { NULL };

  if (!gst_stereo_pad_make_room (pad))
    return GST_STEREO_PULL_NOTHING;
  frame.buffer = peek (pad);
  if (!frame.buffer)
    return GST_STEREO_PULL_NOTHING;
  GST_OBJECT_LOCK (pad);
  frame.segment = GST_AGGREGATOR_PAD (pad)->segment;
  GST_OBJECT_UNLOCK (pad);
  if (is_gap (frame.buffer)) {
    add_gap (pad, &frame.segment, frame.buffer);
    pop_peeked (pad);
    *gap = frame.buffer;
    return GST_STEREO_PULL_GAP;
  }
  if (!read_caps (pad, &frame, packing, message)) {
    gst_buffer_unref (frame.buffer);
    return GST_STEREO_PULL_ERROR;
  }
  GST_OBJECT_LOCK (pad);
  frame.generation = gst_stereo_seeks_generation (&pad->seeks);
  frame.origin = gst_stereo_seeks_origin (&pad->seeks);
  gst_stereo_heads_append (&pad->heads, &frame);
  GST_OBJECT_UNLOCK (pad);
  return GST_STEREO_PULL_FRAME;
}

gboolean
gst_stereo_pad_take (GstStereoPad *pad, GstStereoFrame *frame)
{
  gboolean taken, pop;

  GST_OBJECT_LOCK (pad);
  taken = gst_stereo_heads_take (&pad->heads, frame, &pop);
  GST_OBJECT_UNLOCK (pad);
  if (pop)
    pop_peeked (pad);
  return taken;
}

void
gst_stereo_pad_return_peeked (GstStereoPad *pad)
{
  GstBuffer *buffer;

  GST_OBJECT_LOCK (pad);
  buffer = gst_stereo_heads_return_peeked (&pad->heads);
  GST_OBJECT_UNLOCK (pad);
  gst_clear_buffer (&buffer);
}

void
gst_stereo_pad_describe (GstStereoPad *pad, GstStereoStream *queue, gint64 *spacing, gint64 *origin)
{
  gboolean eos = gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));
  guint generation;

  GST_OBJECT_LOCK (pad);
  generation = gst_stereo_seeks_generation (&pad->seeks);
  *origin = gst_stereo_seeks_origin (&pad->seeks);
  gst_stereo_heads_describe (&pad->heads, generation, queue, spacing, origin);
  queue->moves_on = gst_stereo_seeks_are_pending (&pad->seeks) || generation > queue->generation;
  queue->ended = eos || (pad->closed && pad->waiting == (guint) gst_stereo_heads_are_peeked (&pad->heads));
  GST_OBJECT_UNLOCK (pad);
}

gboolean
gst_stereo_pad_ref_buffers (GstStereoPad *pad, GstBuffer *buffers[2])
{
  gboolean forwards;

  GST_OBJECT_LOCK (pad);
  gst_stereo_heads_ref_buffers (&pad->heads, buffers);
  forwards = GST_AGGREGATOR_PAD (pad)->segment.rate > 0;
  GST_OBJECT_UNLOCK (pad);
  return forwards;
}

guint
gst_stereo_pad_describe_bundle (GstStereoPad *pad, gboolean first[2], gboolean *marked, GstStereoLayout *layout)
{
  guint count;

  GST_OBJECT_LOCK (pad);
  count = gst_stereo_heads_describe_bundle (&pad->heads, first, marked, layout);
  GST_OBJECT_UNLOCK (pad);
  return count;
}

void
gst_stereo_pad_retire (GstStereoPad *pad)
{
  g_mutex_lock (&pad->queue_lock);
  pad->released = TRUE;
  g_mutex_unlock (&pad->queue_lock);
}
