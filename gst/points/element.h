/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stereopoints element: point clouds from a stereo matcher's output. */
#ifndef GST_STEREO_POINTS_H
#define GST_STEREO_POINTS_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_STEREO_POINTS (gst_stereo_points_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPoints, gst_stereo_points, GST, STEREO_POINTS, GstElement)
GST_ELEMENT_REGISTER_DECLARE (stereopoints);

G_END_DECLS

#endif
