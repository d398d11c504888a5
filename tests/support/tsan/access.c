/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/tsan/tsan.h"

#include <gst/video/video.h>

void __tsan_read_range (void *place, unsigned long size);
void __tsan_write_range (void *place, unsigned long size);

/* A library's own memory is its own affair. */
#define READS(place) (tsan_is_ours (TSAN_CALLER) ? __tsan_read_range ((gpointer) (place), sizeof *(place)) : (void) 0)
#define WRITES(place) (tsan_is_ours (TSAN_CALLER) ? __tsan_write_range ((gpointer) (place), sizeof *(place)) : (void) 0)

/* ---- GQueue ------------------------------------------------------------------------------ */

TSAN_ACTS (g_queue_push_tail, (GQueue * queue, gpointer data), (queue, data), WRITES (queue))
TSAN_CALLS (gpointer, g_queue_pop_head, (GQueue * queue), (queue), WRITES (queue))
TSAN_CALLS (gpointer, g_queue_peek_head, (GQueue * queue), (queue), READS (queue))
TSAN_CALLS (gboolean, g_queue_is_empty, (GQueue * queue), (queue), READS (queue))
TSAN_CALLS (guint, g_queue_get_length, (GQueue * queue), (queue), READS (queue))

/* ---- GstVideoInfo, GstVideoFrame --------------------------------------------------------- */

TSAN_ACTS (gst_video_info_init, (GstVideoInfo * info), (info), WRITES (info))
TSAN_CALLS (gboolean, gst_video_info_from_caps, (GstVideoInfo * info, const GstCaps *caps), (info, caps), WRITES (info))
TSAN_CALLS (gboolean, gst_video_info_set_format, (GstVideoInfo * info, GstVideoFormat format, guint width, guint height),
    (info, format, width, height), WRITES (info))
TSAN_CALLS (GstCaps *, gst_video_info_to_caps, (const GstVideoInfo *info), (info), READS (info))
TSAN_CALLS (gboolean, gst_video_info_is_equal, (const GstVideoInfo *info, const GstVideoInfo *other), (info, other),
    READS (info), READS (other))
TSAN_CALLS (gboolean, gst_video_frame_map,
    (GstVideoFrame * frame, const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags),
    (frame, info, buffer, flags), WRITES (frame), READS (info))
TSAN_ACTS (gst_video_frame_unmap, (GstVideoFrame * frame), (frame), READS (frame))

/* ---- GstSegment -------------------------------------------------------------------------- */

TSAN_ACTS (gst_segment_init, (GstSegment * segment, GstFormat format), (segment, format), WRITES (segment))
TSAN_ACTS (gst_segment_copy_into, (const GstSegment *from, GstSegment *to), (from, to), READS (from), WRITES (to))
TSAN_ACTS (gst_event_copy_segment, (GstEvent * event, GstSegment *segment), (event, segment), WRITES (segment))
TSAN_CALLS (gboolean, gst_segment_is_equal, (const GstSegment *one, const GstSegment *other), (one, other), READS (one),
    READS (other))
TSAN_CALLS (guint64, gst_segment_to_running_time, (const GstSegment *segment, GstFormat format, guint64 position),
    (segment, format, position), READS (segment))
TSAN_CALLS (gint, gst_segment_to_running_time_full,
    (const GstSegment *segment, GstFormat format, guint64 position, guint64 *time), (segment, format, position, time),
    READS (segment))
TSAN_CALLS (guint64, gst_segment_to_stream_time, (const GstSegment *segment, GstFormat format, guint64 position),
    (segment, format, position), READS (segment))
TSAN_CALLS (gboolean, gst_segment_clip,
    (const GstSegment *segment, GstFormat format, guint64 start, guint64 stop, guint64 *clip_start, guint64 *clip_stop),
    (segment, format, start, stop, clip_start, clip_stop), READS (segment))

/* ---- a place that holds an object --------------------------------------------------------- */

#undef gst_object_replace
TSAN_CALLS (gboolean, gst_object_replace, (GstObject * *place, GstObject *object), (place, object), WRITES (place))
