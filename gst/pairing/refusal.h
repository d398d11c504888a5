/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that a pad cannot take. GStreamer refuses their caps before the pad's element sees them, and the source then says
 * "not-negotiated" alone. An error of this element names the format, and what to put before it. */
#ifndef GST_STEREO_REFUSAL_H
#define GST_STEREO_REFUSAL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* From here on, posts such an error when caps come that @pad does not take. */
void gst_stereo_refusal_watch (GstPad *pad);
/* Answers GST_QUERY_CAPS or GST_QUERY_ACCEPT_CAPS of @pad, a sink pad that takes @caps. The same error, where the answer leaves a
 * source that runs no choice. */
void gst_stereo_answer_caps_query (GstQuery *query, GstCaps *caps, GstPad *pad);

G_END_DECLS

#endif
