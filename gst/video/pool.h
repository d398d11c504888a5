/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools of video frames: downstream's, if it can be used, or our own. */
#ifndef GST_STEREO_POOL_H
#define GST_STEREO_POOL_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/* For decide_allocation(): puts a configured pool into @query. @limited: it may have no buffer to spare for a frame
 * that is computed while the next one comes. */
gboolean gst_stereo_pool_decide (GstQuery *query, gboolean *limited);
/* A configured pool of such frames, not active yet; NULL on failure. */
GstBufferPool *gst_stereo_pool_new (const GstVideoInfo *info);
/* Zeroes what lies between the rows and planes of a frame that is to be written, where they lie as the caps alone say:
 * nobody else does, and a file that is made of the whole buffer would have memory's old contents in it. Before the
 * samples are written: of a packed format with a last pixel that is half there some lie in it. */
void gst_stereo_pool_clear_padding (GstVideoFrame *frame);

G_END_DECLS

#endif
