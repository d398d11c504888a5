/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Negotiation: the source's preferences where downstream leaves the choice, the pool of the frames, and queries that the
 * caps answer. */
#ifndef GST_STEREO_TEST_CAPS_H
#define GST_STEREO_TEST_CAPS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Takes @caps, and gives its first structure with these choices made: side by side, 640x480 a view, 30 frames a second,
 * square pixels, left view first. The base class chooses the rest. */
GstCaps *gst_stereo_test_caps_prefer (GstCaps *caps);
/* Puts a configured pool for such frames into @query: downstream's first one, or one of our own. */
void gst_stereo_test_caps_choose_pool (GstQuery *query, const GstVideoInfo *info);
/* Answers queries about duration, latency and units as far as the frames' caps allow. @count: frames in the stream,
 * -1 = no end. FALSE: the base class has to answer. */
gboolean gst_stereo_test_caps_answer (GstQuery *query, const GstVideoInfo *info, gint count, gboolean live);

G_END_DECLS

#endif
