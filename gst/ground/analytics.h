/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Obstacles as detected objects of GStreamer's analytics library (1.24). Without it, nothing is added. */
#ifndef GST_STEREO_GROUND_ANALYTICS_H
#define GST_STEREO_GROUND_ANALYTICS_H

#include "gst/ground/objects/tracks.h"

#include <gst/gst.h>

G_BEGIN_DECLS

void gst_stereo_ground_analytics_attach (GstBuffer *buffer, const GstStereoGroundReport *reports, guint count);

G_END_DECLS

#endif
