/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts frames that were dropped because they had no partner, and reports them with a warning once a second. */
#ifndef GST_STEREO_DROPS_H
#define GST_STEREO_DROPS_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstStereoDrops GstStereoDrops;

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoDrops *gst_stereo_drops_new (GstElement *element);
void gst_stereo_drops_free (GstStereoDrops *drops);
/* All counts back to 0. */
void gst_stereo_drops_start (GstStereoDrops *drops);

void gst_stereo_drops_count (GstStereoDrops *drops, gboolean right);
/* The heads compared last: right minus left, and the limit; both in ns. @dated: by capture timestamps. */
void gst_stereo_drops_set_skew (GstStereoDrops *drops, gint64 skew, gint64 max_skew, gboolean dated);
/* Posts the warning where there is something to report and the last one is a second old. @now: at once. */
void gst_stereo_drops_report (GstStereoDrops *drops, gboolean now);
/* Since the start. From any thread. */
void gst_stereo_drops_get (GstStereoDrops *drops, guint64 *left, guint64 *right);

/* Whether the next output buffer continues the last one. A drop breaks the stream, and so may others do. */
void gst_stereo_drops_break_stream (GstStereoDrops *drops);
/* TRUE when it is broken. It is whole again after that. */
gboolean gst_stereo_drops_mend_stream (GstStereoDrops *drops);

G_END_DECLS

#endif
