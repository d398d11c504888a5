/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views that carry their number, and can be paired with any other: the disparity of a pair tells which left frame and
 * which right one were matched, whether they belong together or not. Four bands, each of one disparity: the right
 * frame's number modulo NUMBERED_BASE and the rest of it, then the left one's.
 */
#ifndef ELEMENTS_NUMBERED_H
#define ELEMENTS_NUMBERED_H

#include <gst/video/video.h>

G_BEGIN_DECLS

#define NUMBERED_BASE 14
/* Numbers that are this far apart look alike. */
#define NUMBERED_CYCLE (NUMBERED_BASE * NUMBERED_BASE)
#define NUMBERED_WIDTH 44
#define NUMBERED_HEIGHT 20

/* What stereomatch needs to read them exactly: nothing that moves a disparity. */
#define NUMBERED_EXACT \
  "num-disparities=16 method=asw cost=ad aggregation=two-pass window=3 refine-iterations=0 " \
  "subpixel=0 median=0 fill=keep consistency=-1 threads=1 "

/* A GRAY8 view of @width x NUMBERED_HEIGHT, without timestamps; and one of any format whose first component is 8 bits of
 * luma. */
GstBuffer *numbered_view (guint number, gboolean right, gint width);
GstBuffer *numbered_view_as (GstVideoFormat format, guint number, gboolean right, gint width);
/* Reads both numbers modulo NUMBERED_CYCLE out of a GRAY16_LE disparity; FALSE when they cannot be read. */
gboolean numbered_read (GstBuffer *disparity, gint width, gdouble scale, guint *left, guint *right);
/* The same of the views themselves, side by side in a frame of @format, each of @width and as numbered_view_as() made
 * it. */
gboolean numbered_read_views (GstBuffer *views, GstVideoFormat format, gint width, guint *left, guint *right);

G_END_DECLS

#endif
