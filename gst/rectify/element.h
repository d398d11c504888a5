/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stereorectify element, which derives from the base class in gst/pairing. maps.h is from a calibration to rectified views. */
#ifndef GST_STEREO_RECTIFY_H
#define GST_STEREO_RECTIFY_H

#include "gst/pairing/aggregator.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_RECTIFY (gst_stereo_rectify_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoRectify, gst_stereo_rectify, GST, STEREO_RECTIFY, GstStereoAggregator)
GST_ELEMENT_REGISTER_DECLARE (stereorectify);

G_END_DECLS

#endif
