/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_STEREO_META_PRIVATE_H
#define GST_STEREO_META_PRIVATE_H

#include "gst/meta/gststereometa.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* The nearest neighbour of every pixel, in a new picture. NULL when @plane cannot be read. */
GstBuffer *gst_stereo_meta_scale_plane (GstBuffer *plane, GstVideoFormat format, guint width, guint height,
    guint new_width, guint new_height);
/* Disparities times @factor, in a GRAY16_LE picture: 0 stays 0, and nothing else becomes 0. FALSE: not mapped. */
gboolean gst_stereo_meta_multiply_plane (GstBuffer *plane, guint width, guint height, gdouble factor);
/* The rows of a picture one after another, at @to. */
gboolean gst_stereo_meta_pack_plane (GstBuffer *plane, GstVideoFormat format, guint width, guint height, guint8 *to);
/* The reverse: a new picture. */
GstBuffer *gst_stereo_meta_unpack_plane (const guint8 *from, GstVideoFormat format, guint width, guint height);

G_END_DECLS

#endif
