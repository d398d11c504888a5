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
/* Sets all counts to 0. */
void gst_stereo_drops_start (GstStereoDrops *drops);

void gst_stereo_drops_count (GstStereoDrops *drops, gboolean right);
/* For the next warning, which names the nearest two heads that were too far apart: their skew and its limit, ns. @dated: by capture
 * timestamps. */
void gst_stereo_drops_set_skew (GstStereoDrops *drops, gint64 skew, gint64 max_skew, gboolean dated);
/* For the next warning: two frames that belong together had two sizes or formats, which @text names. Takes @text. */
void gst_stereo_drops_set_mismatch (GstStereoDrops *drops, gchar *text);
/* Posts the warning if there are new drops, at most once a second. @now: without this limit. */
void gst_stereo_drops_report (GstStereoDrops *drops, gboolean now);
/* Drops since the start. From any thread. */
void gst_stereo_drops_get (GstStereoDrops *drops, guint64 *left, guint64 *right);

/* The next output buffer does not continue the last one. A drop calls this, too. */
void gst_stereo_drops_break_stream (GstStereoDrops *drops);
/* Whether the stream was broken since the last call. */
gboolean gst_stereo_drops_mend_stream (GstStereoDrops *drops);

G_END_DECLS

#endif
