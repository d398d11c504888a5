/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/queue.h"

/* So many frames may come between a seek and its answer. This finds out a source that never answers. */
#define PATIENCE 256

void
gst_stereo_next_clear (GstStereoNext *next)
{
  gst_clear_buffer (&next->buffers[0]);
  gst_clear_buffer (&next->buffers[1]);
}

void
gst_stereo_queue_init (GstStereoQueue *queue)
{
  *queue = (GstStereoQueue){ .last_time = GST_STEREO_TIME_NONE, .gap_end = GST_STEREO_TIME_NONE };
}

void
gst_stereo_queue_clear (GstStereoQueue *queue, GQueue *removed)
{
  *removed = queue->frames;
  gst_stereo_queue_init (queue);
}

static GstStereoFrame *
frame_at (const GstStereoQueue *queue, guint place)
{
  return g_queue_peek_nth ((GQueue *) &queue->frames, place);
}

/* ---- the way of a frame ------------------------------------------------------------------- */

void
gst_stereo_queue_append (GstStereoQueue *queue, GstBuffer *buffer)
{
  GstStereoFrame *frame = g_new0 (GstStereoFrame, 1);

  frame->buffer = gst_buffer_ref (buffer);
  g_queue_push_tail (&queue->frames, frame);
}

GstStereoFrame *
gst_stereo_queue_remove (GstStereoQueue *queue, GstBuffer *buffer)
{
  for (guint i = queue->shown; i < queue->frames.length; i++)
    if (frame_at (queue, i)->buffer == buffer)
      return g_queue_pop_nth (&queue->frames, i);
  return NULL;
}

/* A duration of the stream as running time: at twice the rate it is half as long. At a rate near 0 it has a limit,
 * twice of which is still a time. */
static gint64
running_duration (const GstSegment *segment, GstClockTime duration)
{
  gdouble rate = segment->format == GST_FORMAT_TIME ? ABS (segment->rate) : 1;

  return rate == 1 ? (gint64) duration : (gint64) MIN ((gdouble) duration / rate, (gdouble) (G_MAXINT64 / 4));
}

/* Nominal time to the next frame. @before: time of the frame before. */
static gint64
spacing_of (const GstStereoFrame *frame, gint64 before)
{
  if (GST_BUFFER_DURATION_IS_VALID (frame->buffer) && GST_BUFFER_DURATION (frame->buffer) <= G_MAXINT64 / 4)
    return running_duration (&frame->segment, GST_BUFFER_DURATION (frame->buffer));
  if (frame->layout.fps_n > 0)
    return running_duration (
        &frame->segment, gst_util_uint64_scale (GST_SECOND, frame->layout.fps_d, frame->layout.fps_n));
  if (frame->time != GST_STEREO_TIME_NONE && before != GST_STEREO_TIME_NONE && frame->time > before)
    return frame->time - before;
  return 0;
}

gboolean
gst_stereo_queue_show (GstStereoQueue *queue, const GstStereoFrame *known)
{
  GstStereoFrame *frame = frame_at (queue, queue->shown);

  if (!frame || frame->buffer != known->buffer)
    return FALSE;
  *frame = *known;
  frame->spacing = spacing_of (frame, queue->shown ? frame_at (queue, queue->shown - 1)->time : queue->last_time);
  frame->captured = GST_STEREO_TIME_NONE;
  frame->generation = queue->generation;
  frame->origin = queue->origin;
  frame->after_gap = queue->in_gap;
  queue->in_gap = FALSE;
  queue->gap_end = GST_STEREO_TIME_NONE;
  queue->marked |= GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
  queue->shown++;
  return TRUE;
}

GstStereoFrame *
gst_stereo_queue_pop (GstStereoQueue *queue, GstBuffer *buffer)
{
  GstStereoFrame *frame = frame_at (queue, queue->popped);

  /* a gap, or a flush was faster */
  if (!frame || frame->buffer != buffer)
    return NULL;
  if (queue->popped == queue->shown)
    return g_queue_pop_nth (&queue->frames, queue->popped);
  queue->popped++;
  return NULL;
}

GstStereoFrame *
gst_stereo_queue_take (GstStereoQueue *queue)
{
  GstStereoFrame *frame;

  if (!queue->shown)
    return NULL;
  frame = g_queue_pop_head (&queue->frames);
  queue->shown--;
  queue->popped -= queue->popped > 0;
  if (frame->time != GST_STEREO_TIME_NONE && queue->last_time != GST_STEREO_TIME_NONE)
    queue->shortest = gst_stereo_pairing_shortest (queue->shortest, frame->time - queue->last_time);
  queue->last_time = frame->time;
  return frame;
}

/* ---- what is known of the stream ---------------------------------------------------------- */

void
gst_stereo_queue_describe (const GstStereoQueue *queue, GstStereoNext *next)
{
  const GstStereoFrame *head = queue->shown > 0 ? frame_at (queue, 0) : NULL;
  const GstStereoFrame *second = queue->shown > 1 ? frame_at (queue, 1) : NULL;
  GstStereoStream *stream = &next->stream;

  *next = (GstStereoNext){ .origin = queue->origin, .marked = queue->marked };
  stream->count = queue->shown;
  stream->time[0] = stream->time[1] = GST_STEREO_TIME_NONE;
  stream->generation = queue->generation;
  stream->gap_end = queue->gap_end;
  if (head) {
    next->buffers[0] = gst_buffer_ref (head->buffer);
    next->layout = head->layout;
    next->spacing = head->spacing;
    next->origin = head->origin;
    stream->time[0] = head->time;
    stream->soonest = queue->shortest ? MIN (head->spacing, queue->shortest) : head->spacing;
    stream->generation = head->generation;
  }
  if (second) {
    next->buffers[1] = gst_buffer_ref (second->buffer);
    if (second->generation == stream->generation)
      stream->time[1] = second->time;
  }
  if (stream->generation != queue->generation)
    stream->gap_end = GST_STEREO_TIME_NONE;
  stream->moves_on = queue->pending > 0 || queue->generation > stream->generation;
}

void
gst_stereo_queue_add_gap (GstStereoQueue *queue, gint64 end)
{
  queue->gap_end = end;
  queue->in_gap = TRUE;
}

/* ---- seeks -------------------------------------------------------------------------------- */

/* The seeks up to @generation are answered, or never will be. */
static void
remove_seeks (GstStereoQueue *queue, guint generation)
{
  guint kept = 0;

  for (guint i = 0; i < queue->pending; i++)
    if (queue->expected[i] > generation) {
      queue->seqnum[kept] = queue->seqnum[i];
      queue->expected[kept++] = queue->expected[i];
    }
  queue->pending = kept;
}

void
gst_stereo_queue_expect_seek (GstStereoQueue *queue, guint generation, guint32 seqnum)
{
  if (queue->pending == G_N_ELEMENTS (queue->seqnum))
    remove_seeks (queue, queue->expected[0]);
  queue->seqnum[queue->pending] = seqnum;
  queue->expected[queue->pending++] = generation;
  queue->patience = PATIENCE;
}

void
gst_stereo_queue_cancel_seek (GstStereoQueue *queue, guint generation)
{
  remove_seeks (queue, generation);
}

/* The generation that this segment begins; 0: none. A pad offset on the way makes a new event with another number. Such
 * a segment is taken for the answer to the first pending seek. */
static guint
answered (const GstStereoQueue *queue, GstEvent *event)
{
  for (guint i = 0; i < queue->pending; i++)
    if (queue->seqnum[i] == gst_event_get_seqnum (event))
      return queue->expected[i];
  return queue->pending && gst_event_get_running_time_offset (event) ? queue->expected[0] : 0;
}

gboolean
gst_stereo_queue_begin_segment (GstStereoQueue *queue, GstEvent *event)
{
  guint generation = answered (queue, event);
  const GstSegment *segment;
  gint64 origin;

  if (!generation)
    return FALSE;
  gst_event_parse_segment (event, &segment);
  origin = gst_stereo_running_time (segment, segment->rate > 0 ? segment->start : segment->stop);
  /* the pad's offset shifts one view on purpose: the origin leaves it out */
  queue->origin = origin == GST_STEREO_TIME_NONE ? 0 : origin - gst_event_get_running_time_offset (event);
  queue->generation = generation;
  /* a gap of the generation before says nothing about this one */
  queue->gap_end = GST_STEREO_TIME_NONE;
  remove_seeks (queue, generation);
  return TRUE;
}

gboolean
gst_stereo_queue_count_old_frame (GstStereoQueue *queue)
{
  if (!queue->pending || --queue->patience > 0)
    return FALSE;
  queue->pending = 0;
  return TRUE;
}
