/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/input/heads.h"

void
gst_stereo_heads_init (GstStereoHeads *heads)
{
  *heads = (GstStereoHeads){ .last_time = GST_STEREO_TIME_NONE, .gap_end = GST_STEREO_TIME_NONE };
}

void
gst_stereo_heads_clear (GstStereoHeads *heads, GstBuffer *buffers[2])
{
  for (guint i = 0; i < 2; i++)
    buffers[i] = i < heads->count ? heads->frames[i].buffer : NULL;
  gst_stereo_heads_init (heads);
}

guint
gst_stereo_heads_count (const GstStereoHeads *heads)
{
  return heads->count;
}

gboolean
gst_stereo_heads_have_room (const GstStereoHeads *heads)
{
  return heads->count < G_N_ELEMENTS (heads->frames);
}

gboolean
gst_stereo_heads_are_peeked (const GstStereoHeads *heads)
{
  return heads->count > 0 && heads->peeked;
}

/* A duration of the stream as running time: at twice the rate it is half as long; at a rate near 0 it has a limit, twice of
 * which is still a time. */
static gint64
running_duration (const GstSegment *segment, GstClockTime duration)
{
  gdouble rate = segment->format == GST_FORMAT_TIME ? ABS (segment->rate) : 1;

  return rate == 1 ? (gint64) duration : (gint64) MIN ((gdouble) duration / rate, (gdouble) (G_MAXINT64 / 4));
}

static gint64
spacing_of (const GstStereoHeads *heads, const GstStereoFrame *frame)
{
  gint64 before = heads->count ? heads->frames[heads->count - 1].time : heads->last_time;

  if (GST_BUFFER_DURATION_IS_VALID (frame->buffer) && GST_BUFFER_DURATION (frame->buffer) <= G_MAXINT64 / 4)
    return running_duration (&frame->segment, GST_BUFFER_DURATION (frame->buffer));
  if (frame->layout.fps_n > 0)
    return running_duration (
        &frame->segment, gst_util_uint64_scale (GST_SECOND, frame->layout.fps_d, frame->layout.fps_n));
  if (frame->time != GST_STEREO_TIME_NONE && before != GST_STEREO_TIME_NONE && frame->time > before)
    return frame->time - before;
  return 0;
}

void
gst_stereo_heads_append (GstStereoHeads *heads, GstStereoFrame *frame)
{
  frame->spacing = spacing_of (heads, frame);
  frame->after_gap = heads->in_gap;
  heads->in_gap = FALSE;
  heads->gap_end = GST_STEREO_TIME_NONE;
  heads->marked |= GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
  heads->frames[heads->count++] = *frame;
  heads->peeked = TRUE;
}

void
gst_stereo_heads_add_gap (GstStereoHeads *heads, gint64 end)
{
  heads->gap_end = end;
  heads->in_gap = TRUE;
}

void
gst_stereo_heads_remove_gap (GstStereoHeads *heads)
{
  heads->gap_end = GST_STEREO_TIME_NONE;
}

gboolean
gst_stereo_heads_detach_peeked (GstStereoHeads *heads)
{
  gboolean pop = heads->peeked;

  heads->peeked = FALSE;
  return pop;
}

GstBuffer *
gst_stereo_heads_return_peeked (GstStereoHeads *heads)
{
  if (!heads->peeked)
    return NULL;
  heads->peeked = FALSE;
  return heads->frames[--heads->count].buffer;
}

/* @frame leaves the head. */
static void
update_shortest (GstStereoHeads *heads, const GstStereoFrame *frame)
{
  gint64 interval = frame->time == GST_STEREO_TIME_NONE || heads->last_time == GST_STEREO_TIME_NONE ?
      0 :
      frame->time - heads->last_time;

  heads->shortest = gst_stereo_pairing_shortest (heads->shortest, interval);
  heads->last_time = frame->time;
}

gboolean
gst_stereo_heads_take (GstStereoHeads *heads, GstStereoFrame *frame, gboolean *pop)
{
  *pop = heads->count == 1 && heads->peeked;
  if (!heads->count)
    return FALSE;
  *frame = heads->frames[0];
  heads->frames[0] = heads->frames[1];
  heads->count--;
  if (*pop)
    heads->peeked = FALSE;
  update_shortest (heads, frame);
  return TRUE;
}

void
gst_stereo_heads_describe (
    const GstStereoHeads *heads, guint generation, GstStereoStream *queue, gint64 *spacing, gint64 *origin)
{
  const GstStereoFrame *head = heads->count > 0 ? &heads->frames[0] : NULL;
  const GstStereoFrame *next = heads->count > 1 ? &heads->frames[1] : NULL;

  queue->count = heads->count;
  queue->generation = head ? head->generation : generation;
  queue->time[0] = head ? head->time : GST_STEREO_TIME_NONE;
  queue->time[1] = next && next->generation == queue->generation ? next->time : GST_STEREO_TIME_NONE;
  queue->soonest = head ? head->spacing : 0;
  if (head) {
    *spacing = head->spacing;
    *origin = head->origin;
  }
  if (heads->shortest && queue->soonest > heads->shortest)
    queue->soonest = heads->shortest;
  queue->gap_end = generation == queue->generation ? heads->gap_end : GST_STEREO_TIME_NONE;
}

void
gst_stereo_heads_ref_buffers (const GstStereoHeads *heads, GstBuffer *buffers[2])
{
  for (guint i = 0; i < 2; i++)
    buffers[i] = i < heads->count ? gst_buffer_ref (heads->frames[i].buffer) : NULL;
}

guint
gst_stereo_heads_describe_bundle (
    const GstStereoHeads *heads, gboolean first[2], gboolean *marked, GstStereoLayout *layout)
{
  for (guint i = 0; i < 2; i++)
    first[i] = i < heads->count &&
        GST_BUFFER_FLAG_IS_SET (heads->frames[i].buffer, GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE);
  *marked = heads->marked;
  if (heads->count && layout)
    *layout = heads->frames[0].layout;
  return heads->count;
}
