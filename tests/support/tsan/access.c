/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/tsan/tsan.h"

#include <gst/video/video.h>

void __tsan_read_range (void *place, unsigned long size);
void __tsan_write_range (void *place, unsigned long size);

/* A library's own memory is its own affair. */
#define READS(place) \
  do \
    if (tsan_is_ours (TSAN_CALLER)) \
      __tsan_read_range ((gpointer) (place), sizeof *(place)); \
  while (0)
#define WRITES(place) \
  do \
    if (tsan_is_ours (TSAN_CALLER)) \
      __tsan_write_range ((gpointer) (place), sizeof *(place)); \
  while (0)

/* ---- GQueue ------------------------------------------------------------------------------ */

void
g_queue_push_tail (GQueue *queue, gpointer data)
{
  WRITES (queue);
  REAL (g_queue_push_tail) (queue, data);
}

gpointer
g_queue_pop_head (GQueue *queue)
{
  WRITES (queue);
  return REAL (g_queue_pop_head) (queue);
}

gpointer
g_queue_peek_head (GQueue *queue)
{
  READS (queue);
  return REAL (g_queue_peek_head) (queue);
}

gboolean
g_queue_is_empty (GQueue *queue)
{
  READS (queue);
  return REAL (g_queue_is_empty) (queue);
}

guint
g_queue_get_length (GQueue *queue)
{
  READS (queue);
  return REAL (g_queue_get_length) (queue);
}

/* ---- GstVideoInfo, GstVideoFrame --------------------------------------------------------- */

void
gst_video_info_init (GstVideoInfo *info)
{
  WRITES (info);
  REAL (gst_video_info_init) (info);
}

gboolean
gst_video_info_from_caps (GstVideoInfo *info, const GstCaps *caps)
{
  WRITES (info);
  return REAL (gst_video_info_from_caps) (info, caps);
}

gboolean
gst_video_info_set_format (GstVideoInfo *info, GstVideoFormat format, guint width, guint height)
{
  WRITES (info);
  return REAL (gst_video_info_set_format) (info, format, width, height);
}

GstCaps *
gst_video_info_to_caps (const GstVideoInfo *info)
{
  READS (info);
  return REAL (gst_video_info_to_caps) (info);
}

gboolean
gst_video_info_is_equal (const GstVideoInfo *info, const GstVideoInfo *other)
{
  READS (info);
  READS (other);
  return REAL (gst_video_info_is_equal) (info, other);
}

gboolean
gst_video_frame_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags)
{
  WRITES (frame);
  READS (info);
  return REAL (gst_video_frame_map) (frame, info, buffer, flags);
}

void
gst_video_frame_unmap (GstVideoFrame *frame)
{
  READS (frame);
  REAL (gst_video_frame_unmap) (frame);
}

/* ---- GstSegment -------------------------------------------------------------------------- */

void
gst_segment_init (GstSegment *segment, GstFormat format)
{
  WRITES (segment);
  REAL (gst_segment_init) (segment, format);
}

void
gst_segment_copy_into (const GstSegment *from, GstSegment *to)
{
  READS (from);
  WRITES (to);
  REAL (gst_segment_copy_into) (from, to);
}

void
gst_event_copy_segment (GstEvent *event, GstSegment *segment)
{
  WRITES (segment);
  REAL (gst_event_copy_segment) (event, segment);
}

gboolean
gst_segment_is_equal (const GstSegment *one, const GstSegment *other)
{
  READS (one);
  READS (other);
  return REAL (gst_segment_is_equal) (one, other);
}

guint64
gst_segment_to_running_time (const GstSegment *segment, GstFormat format, guint64 position)
{
  READS (segment);
  return REAL (gst_segment_to_running_time) (segment, format, position);
}

gint
gst_segment_to_running_time_full (const GstSegment *segment, GstFormat format, guint64 position, guint64 *time)
{
  READS (segment);
  return REAL (gst_segment_to_running_time_full) (segment, format, position, time);
}

guint64
gst_segment_to_stream_time (const GstSegment *segment, GstFormat format, guint64 position)
{
  READS (segment);
  return REAL (gst_segment_to_stream_time) (segment, format, position);
}

gboolean
gst_segment_clip (
    const GstSegment *segment, GstFormat format, guint64 start, guint64 stop, guint64 *clip_start, guint64 *clip_stop)
{
  READS (segment);
  return REAL (gst_segment_clip) (segment, format, start, stop, clip_start, clip_stop);
}

/* ---- a place that holds an object --------------------------------------------------------- */

#undef gst_object_replace
gboolean
gst_object_replace (GstObject **place, GstObject *object)
{
  WRITES (place);
  return REAL (gst_object_replace) (place, object);
}
