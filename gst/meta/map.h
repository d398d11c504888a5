/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one place where frames are mapped, because the metadata of a buffer may be wrong about its memory. The library and the
 * elements compile it in. tests/style.sh forbids gst_video_frame_map() elsewhere.
 */
#ifndef GST_STEREO_MAP_H
#define GST_STEREO_MAP_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* gst_video_frame_map() with checks. FALSE, without a warning of GStreamer, where the GstVideoMeta is of another format or of
 * a smaller picture, where a pixel lies outside the memory that its plane begins in, where rows overlap, and where a buffer
 * to be written is shared. The frame has the size of @info,
 * even where the GstVideoMeta is of a larger picture. */
gboolean gst_stereo_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags);
/* The same for a picture of one plane, as the metadata holds them. */
gboolean gst_stereo_map_plane (
    GstVideoFrame *frame, GstBuffer *buffer, GstVideoFormat format, guint width, guint height, GstMapFlags flags);
/* Mapped bytes from the start of a plane on. */
gsize gst_stereo_map_room (const GstVideoFrame *frame, guint plane);

G_END_DECLS

#endif
