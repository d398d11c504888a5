/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why no points can be made of a picture, of the settings, or with a live view. */
#ifndef GST_STEREO_POINTS_CHECK_H
#define GST_STEREO_POINTS_CHECK_H

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"
#include "gst/points/cloud.h"

G_BEGIN_DECLS

/* A sentence for the user (g_free), or NULL where all is well. @meta may be NULL. */
gchar *gst_stereo_points_picture_problem (const GstVideoInfo *info, const GstStereoMeta *meta);
gchar *gst_stereo_points_settings_problem (const GstStereoPointsSettings *settings);

G_END_DECLS

#endif
