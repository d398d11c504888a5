/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools of video frames: downstream's, if it can be used, or our own. */
#ifndef GST_STEREO_POOL_H
#define GST_STEREO_POOL_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* For decide_allocation(): puts a configured pool into @query. @limited: it may have no buffer to spare for a frame
 * that is computed while the next one comes; may be NULL. */
gboolean gst_stereo_pool_decide (GstQuery *query, gboolean *limited);
/* A configured pool of such frames, not active yet; NULL on failure. */
GstBufferPool *gst_stereo_pool_new (const GstVideoInfo *info);
/* Zeroes the padding between the rows and planes of a frame that is to be written, where its layout is the default one
 * of its caps. Nobody else zeroes it, and a file made of the whole buffer would show old contents of the memory. To be
 * called before the samples are written: in a packed format of odd width, part of the last pixel lies in the
 * padding. */
void gst_stereo_pool_clear_padding (GstVideoFrame *frame);

G_END_DECLS

#endif
