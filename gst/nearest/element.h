/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stereonearest element: how far the nearest surface in a stereo matcher's output is, and whether the way is clear. */
#ifndef GST_STEREO_NEAREST_ELEMENT_H
#define GST_STEREO_NEAREST_ELEMENT_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_STEREO_NEAREST (gst_stereo_nearest_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoNearest, gst_stereo_nearest, GST, STEREO_NEAREST, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (stereonearest);

G_END_DECLS

#endif
