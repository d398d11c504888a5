/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/private.h"

G_DEFINE_TYPE (GstStereoPad, gst_stereo_pad, GST_TYPE_AGGREGATOR_PAD)

/* ---- receiving, in upstream's thread ------------------------------------------------------ */

static GstFlowReturn
gst_stereo_pad_chain (GstPad *base, GstObject *parent, GstBuffer *buffer)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (parent);
  GstStereoPad *pad = GST_STEREO_PAD (base);

  GST_LOG_OBJECT (pad, "received %" GST_PTR_FORMAT, buffer);
  if (g_atomic_int_get (&self->priv->closed) == 1 + pad->right) {
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  gst_stereo_source_note (pad, GST_ELEMENT (parent), buffer);
  GstFlowReturn flow = pad->chain (base, parent, buffer);
  gst_stereo_source_note (pad, GST_ELEMENT (parent), NULL);
  /* the task looks again */
  g_mutex_lock (&self->priv->lock);
  g_cond_broadcast (&self->priv->changed);
  g_mutex_unlock (&self->priv->lock);
  return flow;
}

/* ---- GstAggregator's queue ---------------------------------------------------------------- */

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
  g_autoptr (GstBuffer) buffer = NULL;

  g_mutex_lock (&pad->lock);
  if (!pad->released && !pad->head)
    buffer = gst_aggregator_pad_peek_buffer (GST_AGGREGATOR_PAD (pad));
  g_mutex_unlock (&pad->lock);
  if (!buffer)
    return NULL;
  GST_OBJECT_LOCK (pad);
  const GstSegment segment = GST_AGGREGATOR_PAD (pad)->segment;
  GST_OBJECT_UNLOCK (pad);
  /* a GAP event became such a buffer in the base class, which did not come through chain() */
  if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) || gst_buffer_get_size (buffer) > 0) {
    pad->head = read_frame (pad, buffer, &segment, packing, error);
    return NULL;
  }
  GstClockTime end = GST_BUFFER_PTS (buffer);
  /* a stream that plays backwards is past the gap where the gap begins */
  if (segment.rate > 0 && GST_CLOCK_TIME_IS_VALID (end) && GST_BUFFER_DURATION_IS_VALID (buffer))
    end += GST_BUFFER_DURATION (buffer);
  pad->gap_end = gst_stereo_running_time (&segment, end);
  pad->in_gap = TRUE;
  GST_DEBUG_OBJECT (pad, "gap up to %" GST_TIME_FORMAT, GST_TIME_ARGS (end));
  drop_head (pad);
  return frame_new (buffer, &segment);
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

/* ---- frames, for subclasses ---------------------------------------------------------------- */

gint64
gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right)
{
  if (left->captured != GST_STEREO_TIME_NONE && right->captured != GST_STEREO_TIME_NONE)
    return right->captured - left->captured;
  if (left->time == GST_STEREO_TIME_NONE || right->time == GST_STEREO_TIME_NONE)
    return 0;
  return right->time - left->time;
}

gboolean
gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context)
{
  if (gst_stereo_frame_map (mapped, &frame->info, frame->buffer, context))
    return TRUE;
  gboolean device = gst_stereo_cuda_context_of (frame->buffer) != NULL;
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  g_autofree gchar *part = crop ?
      g_strdup_printf (
          " Its GstVideoCropMeta names %ux%u pixels from (%u, %u) on: they have to be the frame, and to lie in the "
          "buffer, where colour is shared by whole pairs. Put videoconvert or videocrop before this element.",
          crop->width, crop->height, crop->x, crop->y) :
      g_strdup_printf (" Rows of %d pixels have %d bytes: pad shorter ones, or add a GstVideoMeta with the length that "
                       "they have.",
          GST_VIDEO_INFO_WIDTH (&frame->info), GST_VIDEO_INFO_PLANE_STRIDE (&frame->info, 0));
  GST_ELEMENT_ERROR (element, STREAM, FORMAT,
      ("A buffer of %" G_GSIZE_FORMAT " bytes %sdoes not hold the %dx%d %s frame that its caps announce%s.%s",
          gst_buffer_get_size (frame->buffer), device ? "in device memory " : "", GST_VIDEO_INFO_WIDTH (&frame->info),
          GST_VIDEO_INFO_HEIGHT (&frame->info), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info)),
          device ? ", or cannot be read" : "", part),
      (NULL));
  return FALSE;
}

gchar *
gst_stereo_describe_mismatch (const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoLayout *a = &left->layout, *b = &right->layout;
  const GstVideoInfo *info[2] = { &left->info, &right->info };
  gint64 larger = (gint64) b->width * b->height - (gint64) a->width * a->height;
  /* the larger view loses pixels, and the one of RGB its colour */
  gboolean change_right = larger > 0 || (larger == 0 && !GST_VIDEO_INFO_IS_RGB (info[LEFT]));
  const GstVideoInfo *kept = info[!change_right];

  return g_strdup_printf (
      "The two views must have one size, and one format of RGB, or be both of luma (GRAY or YUV): the left one is %dx%d %s, "
      "the right one %dx%d %s. Put 'videoconvert ! videoscale ! video/x-raw,width=%d,height=%d,format=%s' before %s.",
      a->width, a->height, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info[LEFT])), b->width, b->height,
      gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info[RIGHT])), (change_right ? a : b)->width,
      (change_right ? a : b)->height,
      GST_VIDEO_INFO_IS_GRAY (kept) ? "GRAY8" : gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (kept)),
      change_right ? "sink_right" : "sink_left");
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

GstAggregatorPad *
gst_stereo_pad_create (GstAggregator *aggregator, GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  g_autoptr (GstPad) there = gst_element_get_static_pad (GST_ELEMENT (aggregator), name);

  if (there) {
    GST_WARNING_OBJECT (aggregator, "%s is there already", name);
    return NULL;
  }
  GstStereoPad *pad = g_object_new (
      GST_TYPE_STEREO_PAD, "name", name, "direction", GST_PAD_SINK, "template", template, NULL);
  pad->packed = g_str_equal (name, "sink");
  pad->right = g_str_equal (name, "sink_right");
  pad->chain = GST_PAD_CHAINFUNC (pad);
  gst_pad_set_chain_function (GST_PAD (pad), gst_stereo_pad_chain);
  gst_pad_add_probe (GST_PAD (pad), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, gst_stereo_refusal_probe, NULL, NULL);
  return GST_AGGREGATOR_PAD (pad);
}
