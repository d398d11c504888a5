/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/pad.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/private.h"
#include "gst/pairing/input/refusal.h"
#include "gst/video/stream.h"

#define MOST_SHOWN 2

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

static GstStereoFrame *
frame_at (GstStereoPad *pad, guint place)
{
  return g_queue_peek_nth (&pad->frames, place);
}

/* ---- receiving, in upstream's thread ------------------------------------------------------ */

/* A GAP event becomes such a buffer in the base class. */
static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

/* GstAggregator refused the buffer, or dropped it: its turn never came. */
static void
forget (GstStereoPad *pad, GstBuffer *buffer)
{
  GstStereoFrame *frame = NULL;

  GST_OBJECT_LOCK (pad);
  for (guint i = pad->shown; i < pad->frames.length && !frame; i++)
    if (frame_at (pad, i)->buffer == buffer)
      frame = g_queue_pop_nth (&pad->frames, i);
  GST_OBJECT_UNLOCK (pad);
  gst_stereo_frame_unref (frame);
}

static GstFlowReturn
gst_stereo_pad_chain (GstPad *base, GstObject *parent, GstBuffer *buffer)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (parent));
  gboolean gap = is_gap (buffer), closed;
  GstStereoFrame *frame;

  GST_OBJECT_LOCK (pad);
  closed = pad->closed;
  pad->received++;
  pad->receiving = !closed;
  if (!closed && !gap) {
    frame = gst_stereo_frame_new (buffer);
    frame->arrived = GST_CLOCK_TIME_IS_VALID (now) ? (gint64) now : GST_STEREO_TIME_NONE;
    g_queue_push_tail (&pad->frames, frame);
  }
  GST_OBJECT_UNLOCK (pad);
  if (closed) {
    GST_LOG_OBJECT (pad, "refused, for the other view has ended: %" GST_PTR_FORMAT, buffer);
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  GST_LOG_OBJECT (pad, "received %" GST_PTR_FORMAT, buffer);
  GstFlowReturn flow = pad->chain (base, parent, buffer);
  GST_OBJECT_LOCK (pad);
  pad->receiving = FALSE;
  GST_OBJECT_UNLOCK (pad);
  if (flow != GST_FLOW_OK && !gap)
    forget (pad, buffer);
  return flow;
}

GstBuffer *
gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstBuffer *inside = gst_stereo_clip (aggregator, pad, gst_buffer_ref (buffer));

  if (!inside) {
    GST_DEBUG_OBJECT (pad, "dropped, outside the segment: %" GST_PTR_FORMAT, buffer);
    forget (GST_STEREO_PAD (pad), buffer);
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

/* With the lock held: @buffer left GstAggregator's queue. Returns a frame that cannot be used: it came after a flush,
 * and was popped before it could be shown. */
static GstStereoFrame *
count_popped (GstStereoPad *pad, GstBuffer *buffer)
{
  GstStereoFrame *frame = frame_at (pad, pad->popped);

  /* a gap, or a flush was faster */
  if (!frame || frame->buffer != buffer)
    return NULL;
  if (pad->popped == pad->shown)
    return g_queue_pop_nth (&pad->frames, pad->popped);
  pad->popped++;
  return NULL;
}

static void
pop (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->aggregator_lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_pop_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->aggregator_lock);
  GST_OBJECT_LOCK (pad);
  GstStereoFrame *useless = count_popped (pad, buffer);
  GST_OBJECT_UNLOCK (pad);
  gst_stereo_frame_unref (useless);
  gst_clear_buffer (&buffer);
}

gboolean
gst_stereo_pad_has_buffer (GstStereoPad *pad)
{
  g_mutex_lock (&pad->aggregator_lock);
  gboolean has = !pad->released && gst_aggregator_pad_has_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->aggregator_lock);
  return has;
}

/* ---- frames, in the task of the source pad ------------------------------------------------ */

gboolean
gst_stereo_pad_make_room (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  gboolean room = pad->shown < MOST_SHOWN;
  gboolean unpopped = pad->popped < pad->shown;
  GST_OBJECT_UNLOCK (pad);
  if (room && unpopped)
    pop (pad);
  return room;
}

static void
add_gap (GstStereoPad *pad, const GstStereoFrame *gap)
{
  GstClockTime end = GST_BUFFER_PTS (gap->buffer);

  /* a stream that plays backwards is past the gap where the gap begins */
  if (gap->segment.rate > 0 && GST_CLOCK_TIME_IS_VALID (end) && GST_BUFFER_DURATION_IS_VALID (gap->buffer))
    end += GST_BUFFER_DURATION (gap->buffer);
  GST_OBJECT_LOCK (pad);
  pad->gap_end = gst_stereo_running_time (&gap->segment, end);
  pad->in_gap = TRUE;
  GST_OBJECT_UNLOCK (pad);
  GST_DEBUG_OBJECT (pad, "gap up to %" GST_TIME_FORMAT, GST_TIME_ARGS (end));
}

static gboolean
read_layout (GstStereoPad *pad, GstStereoPacking packing, GstStereoLayout *layout, gchar **message)
{
  if (!pad->have_info) {
    *message = g_strdup_printf ("%s got a frame before any caps.", GST_PAD_NAME (pad));
    return FALSE;
  }
  if (pad->packed)
    return gst_stereo_layout_packed (layout, &pad->info, packing, message);
  return gst_stereo_layout_single (layout, &pad->info, pad->right, message);
}

/* With the lock held: how long after its timestamp the frame came. */
static void
note_delay (GstStereoPad *pad, const GstStereoFrame *frame)
{
  if (frame->time == GST_STEREO_TIME_NONE || frame->arrived == GST_STEREO_TIME_NONE)
    return;
  pad->least_delay = pad->timed++ ? MIN (pad->least_delay, frame->arrived - frame->time) : frame->arrived - frame->time;
}

/* It is the turn of the frame of @buffer. FALSE where a flush was faster. */
static gboolean
show (GstStereoPad *pad, GstBuffer *buffer, const GstSegment *segment, const GstStereoLayout *layout)
{
  GST_OBJECT_LOCK (pad);
  GstStereoFrame *frame = frame_at (pad, pad->shown);
  gboolean there = frame && frame->buffer == buffer;
  if (there) {
    frame->info = pad->info;
    frame->layout = *layout;
    frame->segment = *segment;
    frame->time = gst_stereo_running_time (segment, GST_BUFFER_PTS (buffer));
    frame->captured = GST_STEREO_TIME_NONE;
    frame->spacing = gst_stereo_frame_find_spacing (
        frame, pad->shown ? frame_at (pad, pad->shown - 1)->time : pad->last_time);
    frame->generation = pad->seeks.generation;
    frame->origin = pad->seeks.origin;
    frame->after_gap = pad->in_gap;
    pad->in_gap = FALSE;
    pad->gap_end = GST_STEREO_TIME_NONE;
    pad->marked |= GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
    note_delay (pad, frame);
    pad->shown++;
  }
  GST_OBJECT_UNLOCK (pad);
  return there;
}

/* Shows one more frame, or removes a gap. FALSE: there was neither. */
static gboolean
show_next (GstStereoPad *pad, GstStereoPacking packing, GstStereoNext *next)
{
  gboolean came = FALSE;
  GstStereoLayout layout;
  GstSegment segment;
  GstBuffer *buffer;

  if (!gst_stereo_pad_make_room (pad) || !(buffer = peek (pad)))
    return FALSE;
  GST_OBJECT_LOCK (pad);
  segment = GST_AGGREGATOR_PAD (pad)->segment;
  GST_OBJECT_UNLOCK (pad);
  if (is_gap (buffer)) {
    next->gap = gst_stereo_frame_new (buffer);
    next->gap->segment = segment;
    add_gap (pad, next->gap);
    pop (pad);
    came = TRUE;
  } else if (read_layout (pad, packing, &layout, &next->error)) {
    came = show (pad, buffer, &segment, &layout);
  }
  gst_buffer_unref (buffer);
  return came;
}

/* With the lock held: from the frame that was removed last to @frame, ns; 0 = unknown. */
static gint64
interval_to (const GstStereoPad *pad, const GstStereoFrame *frame)
{
  if (frame->time == GST_STEREO_TIME_NONE || pad->last_time == GST_STEREO_TIME_NONE)
    return 0;
  return MAX (frame->time - pad->last_time, 0);
}

/* With the lock held. */
static GstStereoStream
describe_stream (GstStereoPad *pad, const GstStereoFrame *first, const GstStereoFrame *second)
{
  GstStereoStream stream = { .count = pad->shown,
    .time = { GST_STEREO_TIME_NONE, GST_STEREO_TIME_NONE },
    .generation = pad->seeks.generation,
    .gap_end = pad->gap_end };

  if (first) {
    stream.time[0] = first->time;
    stream.soonest = pad->shortest ? MIN (first->spacing, pad->shortest) : first->spacing;
    stream.interval = interval_to (pad, first);
    for (guint i = 0; i < G_N_ELEMENTS (pad->intervals); i++)
      stream.interval = MIN (stream.interval, pad->intervals[i]);
    stream.generation = first->generation;
  }
  if (second && second->generation == first->generation)
    stream.time[1] = second->time;
  if (stream.generation != pad->seeks.generation)
    stream.gap_end = GST_STEREO_TIME_NONE;
  stream.moves_on = pad->seeks.count > 0 || pad->seeks.generation > stream.generation;
  return stream;
}

static void
describe (GstStereoPad *pad, GstStereoNext *next)
{
  gboolean eos = gst_aggregator_pad_is_eos (GST_AGGREGATOR_PAD (pad));

  GST_OBJECT_LOCK (pad);
  for (guint i = 0; i < pad->shown; i++)
    next->frames[i] = gst_stereo_frame_ref (frame_at (pad, i));
  next->stream = describe_stream (pad, next->frames[0], next->frames[1]);
  next->stream.ended = eos || (pad->closed && pad->shown == pad->frames.length);
  next->origin = next->frames[0] ? next->frames[0]->origin : pad->seeks.origin;
  next->marked = pad->marked;
  next->forwards = GST_AGGREGATOR_PAD (pad)->segment.rate > 0;
  GST_OBJECT_UNLOCK (pad);
}

gboolean
gst_stereo_pad_read (GstStereoPad *pad, GstStereoPacking packing, gboolean more, GstStereoNext *next)
{
  GstStereoNext now = { { NULL } };
  gboolean shows, came = FALSE;

  GST_OBJECT_LOCK (pad);
  shows = pad->shown > 0;
  GST_OBJECT_UNLOCK (pad);
  if (more || !shows)
    came = show_next (pad, packing, &now);
  if (more && !came) {
    next->error = now.error;
    return FALSE;
  }
  describe (pad, &now);
  gst_stereo_next_clear (next);
  *next = now;
  return came;
}

gboolean
gst_stereo_pad_remove (GstStereoPad *pad, const GstStereoFrame *frame)
{
  GstStereoFrame *removed = NULL;

  GST_OBJECT_LOCK (pad);
  gboolean unpopped = pad->shown && !pad->popped && frame_at (pad, 0) == frame;
  GST_OBJECT_UNLOCK (pad);
  if (unpopped)
    pop (pad);
  GST_OBJECT_LOCK (pad);
  if (pad->shown && frame_at (pad, 0) == frame) {
    removed = g_queue_pop_head (&pad->frames);
    pad->shown--;
    pad->popped -= pad->popped > 0;
    for (guint i = G_N_ELEMENTS (pad->intervals) - 1; i > 0; i--)
      pad->intervals[i] = pad->intervals[i - 1];
    pad->intervals[0] = interval_to (pad, frame);
    pad->shortest = gst_stereo_pairing_shortest (pad->shortest, pad->intervals[0]);
    pad->last_time = frame->time;
  }
  GST_OBJECT_UNLOCK (pad);
  gst_stereo_frame_unref (removed);
  return removed != NULL;
}

gboolean
gst_stereo_pad_get_delay (GstStereoPad *pad, guint frames, gint64 *delay)
{
  GST_OBJECT_LOCK (pad);
  gboolean known = pad->timed >= frames;
  *delay = pad->least_delay;
  GST_OBJECT_UNLOCK (pad);
  return known;
}

void
gst_stereo_pad_close (GstStereoPad *pad)
{
  GST_OBJECT_LOCK (pad);
  pad->closed = TRUE;
  GST_OBJECT_UNLOCK (pad);
}

/* ---- the object --------------------------------------------------------------------------- */

/* Back to the state after a flush. */
static void
clear (GstStereoPad *pad)
{
  GQueue frames;

  GST_OBJECT_LOCK (pad);
  frames = pad->frames;
  g_queue_init (&pad->frames);
  pad->shown = pad->popped = 0;
  pad->last_time = pad->gap_end = GST_STEREO_TIME_NONE;
  pad->shortest = 0;
  memset (pad->intervals, 0, sizeof pad->intervals);
  pad->timed = 0;
  pad->in_gap = pad->marked = pad->closed = FALSE;
  pad->seeks = (GstStereoSeeks){ 0 };
  GST_OBJECT_UNLOCK (pad);
  g_queue_clear_full (&frames, (GDestroyNotify) gst_stereo_frame_unref);
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
  gst_stereo_refusal_watch (GST_PAD (object));
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
  clear (pad);
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
