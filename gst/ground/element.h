/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stereoground element: finds ground, obstacles and free distances in the output of a stereo matcher. */
#ifndef GST_STEREO_GROUND_H
#define GST_STEREO_GROUND_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_STEREO_GROUND (gst_stereo_ground_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoGround, gst_stereo_ground, GST, STEREO_GROUND, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (stereoground);

G_END_DECLS

#endif
