/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside the library. */
#ifndef GST_STEREO_META_PRIVATE_H
#define GST_STEREO_META_PRIVATE_H

#include "gst/meta/gststereometa.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* ---- bytes.c: @width and @height are those of the picture, in pixels -------------------- */

/* A new picture of @new_width x @new_height whose pixels are the nearest ones of @plane. NULL when @plane cannot be
 * read. */
GstBuffer *gst_stereo_meta_scale_plane (
    GstBuffer *plane, GstVideoFormat format, guint width, guint height, guint new_width, guint new_height);
/* Multiplies the disparities of a GRAY16_LE picture by @factor: 0 stays 0, and no other value becomes 0. FALSE when
 * @plane cannot be mapped. */
gboolean gst_stereo_meta_multiply_plane (GstBuffer *plane, guint width, guint height, gdouble factor);
/* The rows of a picture without padding. NULL when @plane is, or cannot be read. */
GBytes *gst_stereo_meta_pack_plane (GstBuffer *plane, GstVideoFormat format, guint width, guint height);
/* The reverse: a new picture from rows without padding. NULL when there is no memory. */
GstBuffer *gst_stereo_meta_unpack_plane (const guint8 *from, GstVideoFormat format, guint width, guint height);

/* Fills @meta from the @size bytes at @data, all but its first member; its pictures are new references. FALSE, and
 * @meta untouched, when the bytes are damaged or of an unknown version, or a number is outside its range. */
gboolean gst_stereo_meta_decode (GstStereoMeta *meta, const guint8 *data, gsize size);

G_END_DECLS

#endif
