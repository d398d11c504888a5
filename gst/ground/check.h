/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a buffer can be judged. */
#ifndef GST_STEREO_GROUND_CHECK_H
#define GST_STEREO_GROUND_CHECK_H

#include "gst/meta/gststereometa.h"

#include <gst/video/video.h>

G_BEGIN_DECLS

/* What is wrong with a buffer of @info that has @meta (may be NULL), and what to do about it. NULL: nothing. g_free */
gchar *gst_stereo_ground_problem (const GstVideoInfo *info, const GstStereoMeta *meta);

G_END_DECLS

#endif
