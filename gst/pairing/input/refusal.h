/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that a pad cannot take. GStreamer refuses their caps before the pad's element sees them, and the source then says
 * "not-negotiated" alone. An error of this element names the format, and what to put before it. */
#ifndef GST_STEREO_REFUSAL_H
#define GST_STEREO_REFUSAL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* From here on, posts such an error when caps come that @pad does not take. */
void gst_stereo_refusal_watch (GstPad *pad);
/* A source has asked which of @wanted the pad takes, and the answer is none of them: the same error, where a source is asking that
 * has no other choice. */
void gst_stereo_refusal_answer (GstPad *pad, GstCaps *wanted);

G_END_DECLS

#endif
