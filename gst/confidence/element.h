/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stereoconfidence element: turns the confidence in a matcher's metadata into a stream. */
#ifndef GST_STEREO_CONFIDENCE_H
#define GST_STEREO_CONFIDENCE_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_STEREO_CONFIDENCE (gst_stereo_confidence_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoConfidence, gst_stereo_confidence, GST, STEREO_CONFIDENCE, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (stereoconfidence);

G_END_DECLS

#endif
