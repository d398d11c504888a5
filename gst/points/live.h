/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live view that gives points their colour: where in a frame of it a pixel's colour is. */
#ifndef GST_STEREO_POINTS_LIVE_H
#define GST_STEREO_POINTS_LIVE_H

#include "gst/points/cloud.h"
#include "gst/video/join.h"

G_BEGIN_DECLS

typedef struct _GstStereoPointsLive GstStereoPointsLive;

GstStereoPointsLive *gst_stereo_points_live_new (GstElement *owner);
void gst_stereo_points_live_free (GstStereoPointsLive *live);
/* Forgets what was said. */
void gst_stereo_points_live_reset (GstStereoPointsLive *live);

/* Warns once: no frame of the live view goes with a picture. */
void gst_stereo_points_live_warn_missing (GstStereoPointsLive *live);
/* Maps the frame that goes with a picture. @color is zeroed where there is none. FALSE after an error was posted. */
gboolean gst_stereo_points_live_map (GstStereoPointsLive *live, const GstStereoJoined *held, guint depth_width,
    guint depth_height, GstStereoPointsColor *color);
/* Whether mapped or not. */
void gst_stereo_points_live_unmap (GstStereoPointsLive *live);

G_END_DECLS

#endif
