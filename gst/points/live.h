/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the colour of a pixel in a frame of the live view. */
#ifndef GST_STEREO_POINTS_LIVE_H
#define GST_STEREO_POINTS_LIVE_H

#include "gst/points/cloud.h"
#include "gst/video/join.h"

G_BEGIN_DECLS

typedef struct _GstStereoPointsLive GstStereoPointsLive;

GstStereoPointsLive *gst_stereo_points_live_new (GstElement *owner);
void gst_stereo_points_live_free (GstStereoPointsLive *live);
/* After it, the warning may be posted again. */
void gst_stereo_points_live_reset (GstStereoPointsLive *live);

/* Warns once: there is no live frame for a picture. */
void gst_stereo_points_live_warn_missing (GstStereoPointsLive *live);
/* Maps the live frame of a picture. Zeroes @color where there is none. FALSE after an error was posted. */
gboolean gst_stereo_points_live_map (GstStereoPointsLive *live, const GstStereoJoined *held, guint depth_width,
    guint depth_height, GstStereoPointsColor *color);
/* May be called where no frame is mapped. */
void gst_stereo_points_live_unmap (GstStereoPointsLive *live);

G_END_DECLS

#endif
