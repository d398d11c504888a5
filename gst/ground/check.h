/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks whether the ground can be searched in a buffer. */
#ifndef GST_STEREO_GROUND_CHECK_H
#define GST_STEREO_GROUND_CHECK_H

#include "gst/meta/gststereometa.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* The fault of a buffer with @info and @meta (may be NULL), and the advice; g_free it. NULL: there is no fault. */
gchar *gst_stereo_ground_problem (const GstVideoInfo *info, const GstStereoMeta *meta);

G_END_DECLS

#endif
