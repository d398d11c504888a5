/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/private.h"

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

/* ---- receiving, in upstream's thread ------------------------------------------------------ */

static GstFlowReturn
gst_stereo_pad_chain (GstPad *base, GstObject *parent, GstBuffer *buffer)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);

  GST_LOG_OBJECT (pad, "received %" GST_PTR_FORMAT, buffer);
  if (g_atomic_int_get (&pad->closed)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  gst_stereo_source_note (pad, GST_ELEMENT (parent), buffer);
  GstFlowReturn flow = pad->chain (base, parent, buffer);
  gst_stereo_source_note (pad, GST_ELEMENT (parent), NULL);
  gst_stereo_aggregator_wake (GST_STEREO_AGGREGATOR (parent));
  return flow;
}

/* ---- GstAggregator's queue ---------------------------------------------------------------- */

static GstBuffer *
peek (GstStereoPad *pad)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&pad->lock);
  if (!pad->released)
    buffer = gst_aggregator_pad_peek_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->lock);
  return buffer;
}

/* A GAP event became such a buffer in the base class, which did not come through chain(). */
static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

/* The buffer that was peeked leaves the queue. After a flush another one may be there: it is lost with the flush. */
static void
drop_head (GstStereoPad *pad)
{
  g_mutex_lock (&pad->lock);
  if (!pad->released)
    gst_aggregator_pad_drop_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->lock);
}

gboolean
gst_stereo_pad_has_buffer (GstStereoPad *pad)
{
  g_mutex_lock (&pad->lock);
  gboolean has = !pad->released && gst_aggregator_pad_has_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->lock);
  return has;
}

/* ---- frames, in the task of the source pad ------------------------------------------------ */

static GstStereoFrame *
frame_new (GstBuffer *buffer, const GstSegment *segment)
{
  GstStereoFrame *frame = g_new0 (GstStereoFrame, 1);

  frame->buffer = gst_buffer_ref (buffer);
  frame->segment = *segment;
  frame->time = gst_stereo_running_time (segment, GST_BUFFER_PTS (buffer));
  frame->captured = NONE;
  return frame;
}

void
gst_stereo_frame_free (GstStereoFrame *frame)
{
  if (frame)
    gst_buffer_unref (frame->buffer);
  g_free (frame);
}

static GstStereoFrame *
read_gap (GstStereoPad *pad, GstBuffer *buffer, const GstSegment *segment)
{
  GstClockTime end = GST_BUFFER_PTS (buffer);

  /* a stream that plays backwards is past the gap where the gap begins */
  if (segment->rate > 0 && GST_CLOCK_TIME_IS_VALID (end) && GST_BUFFER_DURATION_IS_VALID (buffer))
    end += GST_BUFFER_DURATION (buffer);
  pad->gap_end = gst_stereo_running_time (segment, end);
  pad->in_gap = TRUE;
  GST_DEBUG_OBJECT (pad, "gap up to %" GST_TIME_FORMAT, GST_TIME_ARGS (end));
  return frame_new (buffer, segment);
}

/* The time from @frame to the next one, from its duration, its caps or @before: the time of the frame before, or NONE. */
static gint64
find_spacing (const GstStereoFrame *frame, gint64 before)
{
  gdouble rate = frame->segment.format == GST_FORMAT_TIME ? ABS (frame->segment.rate) : 1, duration = 0;

  if (GST_BUFFER_DURATION_IS_VALID (frame->buffer))
    duration = (gdouble) GST_BUFFER_DURATION (frame->buffer);
  else if (frame->layout.fps_n > 0)
    duration = 1e9 * frame->layout.fps_d / frame->layout.fps_n;
  /* at twice the rate it is half as long; at a rate near 0 it has a limit, twice of which is still a time */
  if (duration > 0)
    return (gint64) MIN (duration / rate, (gdouble) (G_MAXINT64 / 4));
  return frame->time != NONE && before != NONE && frame->time > before ? frame->time - before : 0;
}

static GstStereoFrame *
read_frame (GstStereoPad *pad, GstBuffer *buffer, const GstSegment *segment, GstStereoPacking packing, gchar **error)
{
  gboolean usable = FALSE;
  GstStereoLayout layout;

  if (!pad->have_info)
    *error = g_strdup_printf ("%s got a frame before any caps.", GST_PAD_NAME (pad));
  else if (pad->packed)
    usable = gst_stereo_layout_packed (&layout, &pad->info, packing, error);
  else
    usable = gst_stereo_layout_single (&layout, &pad->info, pad->right, error);
  if (!usable)
    return NULL;
  GstStereoFrame *frame = frame_new (buffer, segment);
  frame->info = pad->info;
  frame->layout = layout;
  frame->spacing = find_spacing (frame, pad->last_time);
  pad->spacing = frame->spacing;
  frame->after_gap = pad->in_gap;
  pad->in_gap = FALSE;
  pad->gap_end = NONE;
  pad->began = TRUE;
  pad->marked |= GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
  return frame;
}

GstStereoFrame *
gst_stereo_pad_read (GstStereoPad *pad, GstStereoPacking packing, gchar **error)
{
  GstStereoFrame *gap = NULL;
  GstBuffer *buffer;

  if (pad->head || !(buffer = peek (pad)))
    return NULL;
  GST_OBJECT_LOCK (pad);
  GstSegment segment = GST_AGGREGATOR_PAD (pad)->segment;
  GST_OBJECT_UNLOCK (pad);
  if (is_gap (buffer)) {
    gap = read_gap (pad, buffer, &segment);
    drop_head (pad);
  } else {
    pad->head = read_frame (pad, buffer, &segment, packing, error);
  }
  gst_buffer_unref (buffer);
  return gap;
}

/* From the frame that left last to @frame, ns; 0 = unknown. */
static gint64
interval_to (const GstStereoPad *pad, const GstStereoFrame *frame)
{
  if (frame->time == NONE || pad->last_time == NONE)
    return 0;
  return MAX (frame->time - pad->last_time, 0);
}

GstStereoStream
gst_stereo_pad_describe (GstStereoPad *pad)
{
  GstStereoStream stream = { .time = NONE, .gap_end = pad->gap_end, .ended = pad->ended };

  if (pad->head) {
    stream.has = TRUE;
    stream.time = pad->head->time;
    stream.spacing = pad->head->spacing;
    stream.interval = interval_to (pad, pad->head);
    for (guint i = 0; i < G_N_ELEMENTS (pad->intervals); i++)
      stream.interval = MIN (stream.interval, pad->intervals[i]);
  }
  return stream;
}

GstStereoFrame *
gst_stereo_pad_take (GstStereoPad *pad)
{
  if (g_atomic_int_get (&pad->flushed) || !pad->head)
    return NULL;
  drop_head (pad);
  for (guint i = G_N_ELEMENTS (pad->intervals) - 1; i > 0; i--)
    pad->intervals[i] = pad->intervals[i - 1];
  pad->intervals[0] = interval_to (pad, pad->head);
  pad->last_time = pad->head->time;
  return g_steal_pointer (&pad->head);
}

/* ---- the object --------------------------------------------------------------------------- */

/* Forgets the frames at hand and what was learned of the stream. */
static void
clear_stream (GstStereoPad *pad)
{
  g_clear_pointer (&pad->head, gst_stereo_frame_free);
  g_clear_pointer (&pad->first, gst_stereo_frame_free);
  pad->last_time = pad->gap_end = NONE;
  pad->spacing = 0;
  memset (pad->intervals, 0, sizeof pad->intervals);
  pad->ended = pad->resumed = pad->in_gap = pad->marked = FALSE;
}

gboolean
gst_stereo_pad_obey_flush (GstElement *element, GstPad *pad, gpointer data)
{
  if (g_atomic_int_compare_and_exchange (&GST_STEREO_PAD (pad)->flushed, TRUE, FALSE))
    clear_stream (GST_STEREO_PAD (pad));
  return TRUE;
}

gboolean
gst_stereo_pad_forget_run (GstElement *element, GstPad *base, gpointer data)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);

  clear_stream (pad);
  g_atomic_int_set (&pad->flushed, FALSE);
  g_atomic_int_set (&pad->closed, FALSE);
  pad->began = pad->turned = FALSE;
  GST_OBJECT_LOCK (pad);
  pad->source = (GstStereoSource){ .delay = NONE, .window = NONE };
  GST_OBJECT_UNLOCK (pad);
  return TRUE;
}

/* In upstream's thread: the task forgets its frames before it looks at the next event or buffer. */
static GstFlowReturn
gst_stereo_pad_flush (GstAggregatorPad *base, GstAggregator *aggregator)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);

  GST_DEBUG_OBJECT (pad, "flush: the frames at hand are dropped");
  g_atomic_int_set (&pad->flushed, TRUE);
  GST_OBJECT_LOCK (pad);
  gst_stereo_source_forget (&pad->source);
  GST_OBJECT_UNLOCK (pad);
  return GST_FLOW_OK;
}

void
gst_stereo_pad_retire (GstStereoPad *pad)
{
  g_mutex_lock (&pad->lock);
  pad->released = TRUE;
  g_mutex_unlock (&pad->lock);
}

static void
gst_stereo_pad_finalize (GObject *object)
{
  clear_stream (GST_STEREO_PAD (object));
  g_mutex_clear (&GST_STEREO_PAD (object)->lock);
  G_OBJECT_CLASS (gst_stereo_pad_parent_class)->finalize (object);
}

static void
gst_stereo_pad_class_init (GstStereoPadClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_stereo_pad_finalize;
  GST_AGGREGATOR_PAD_CLASS (klass)->flush = gst_stereo_pad_flush;
}

static void
gst_stereo_pad_init (GstStereoPad *pad)
{
  g_mutex_init (&pad->lock);
  clear_stream (pad);
  gst_stereo_source_forget (&pad->source);
}

GstStereoPad *
gst_stereo_pad_new (GstPadTemplate *template)
{
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  GstStereoPad *pad = g_object_new (
      GST_TYPE_STEREO_PAD, "name", name, "direction", GST_PAD_SINK, "template", template, NULL);

  pad->packed = g_str_equal (name, "sink");
  pad->right = g_str_equal (name, "sink_right");
  pad->chain = GST_PAD_CHAINFUNC (pad);
  gst_pad_set_chain_function (GST_PAD (pad), gst_stereo_pad_chain);
  return pad;
}
