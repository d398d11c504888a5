/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metadata may say anything of a buffer, for any program may put anything there. This is the one place where frames are mapped:
 * tests/style.sh forbids gst_video_frame_map() elsewhere. And the numbers that a GstStereoMeta may hold: the ranges of the
 * properties of stereomatch; a test compares them. The library and the elements compile it in.
 */
#ifndef GST_STEREO_MAP_H
#define GST_STEREO_MAP_H

#include "gst/meta/gststereometa.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* gst_video_frame_map() with checks. FALSE, without a warning of GStreamer, where the GstVideoMeta is of another format or of
 * a smaller picture, where a pixel lies outside the memory that its plane begins in, where rows overlap, and where a buffer
 * to be written is shared. The frame has the size of @info, even where the GstVideoMeta is of a larger picture. */
gboolean gst_stereo_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags);
/* The same for a picture of one plane, as the metadata holds them. */
gboolean gst_stereo_map_plane (
    GstVideoFrame *frame, GstBuffer *buffer, GstVideoFormat format, guint width, guint height, GstMapFlags flags);
/* Mapped bytes from the start of a plane on. */
gsize gst_stereo_map_room (const GstVideoFrame *frame, guint plane);

#define GST_STEREO_META_NUMBERS 12

typedef struct
{
  const gchar *name; /* of the member */
  gsize offset;      /* of the gdouble in GstStereoMeta */
  gdouble min, max;
} GstStereoMetaRange;

/* All numbers of a meta, in the order in which its bytes have them; the last one has no name. */
extern const GstStereoMetaRange gst_stereo_meta_ranges[GST_STEREO_META_NUMBERS + 1];

/* What is wrong with the numbers of a meta: a part of a sentence, such as "focal_length is 1e+17, and its range is 0 to
 * 1e+06". NULL: nothing. g_free it. */
gchar *gst_stereo_meta_problem (const GstStereoMeta *meta);

G_END_DECLS

#endif
