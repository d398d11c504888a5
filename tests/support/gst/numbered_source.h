/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A source of numbered views (numbered.h), 25 a second. It supports seeks to any position, at any rate, both ways. */
#ifndef ELEMENTS_NUMBERED_SOURCE_H
#define ELEMENTS_NUMBERED_SOURCE_H

#include <gst/video/video.h>

G_BEGIN_DECLS

#define NUMBERED_FRAME (GST_SECOND / 25)

/* @count frames, each made in up to @slowness microseconds. Floating. */
GstElement *numbered_source_new (GstVideoFormat format, gboolean right, guint count, guint slowness);

G_END_DECLS

#endif
