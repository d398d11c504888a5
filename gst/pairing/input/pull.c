/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/pull.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/private.h"

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
  if (buffer && !gst_stereo_is_gap (buffer))
    gst_stereo_pad_count_out (pad);
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
  pop = room && gst_stereo_heads_keep_peeked (&pad->heads);
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
  if (gst_stereo_is_gap (frame.buffer)) {
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
gst_stereo_pad_describe (GstStereoPad *pad, GstStereoQueue *queue, gint64 *spacing, gint64 *origin)
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

guint
gst_stereo_pad_describe_bundle (GstStereoPad *pad, gboolean first[2], gboolean *marked, GstStereoLayout *layout)
{
  guint count;

  GST_OBJECT_LOCK (pad);
  count = gst_stereo_heads_describe_bundle (&pad->heads, first, marked, layout);
  GST_OBJECT_UNLOCK (pad);
  return count;
}
