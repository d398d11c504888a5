/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the elements that read disparity or depth expect of its metadata. */
#ifndef GST_STEREO_DEPTH_H
#define GST_STEREO_DEPTH_H

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

/* Why the samples of a picture like @info cannot be read with @meta (may be NULL) by @element: a sentence, g_free it. NULL:
 * they can. */
gchar *gst_stereo_depth_problem (const GstVideoInfo *info, const GstStereoMeta *meta, const gchar *element);

G_END_DECLS

#endif
