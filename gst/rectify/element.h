/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stereorectify element, which derives from the base class in gst/pairing. Its parts do not know the element:
 *   calibration/  calibration files
 *   properties    their names, ranges and texts
 *   settings      the values of the properties
 *   maps          from a calibration to the maps by which the engine remaps frames
 *   recipe        the input for making maps, at once or in a thread
 *   drift         how the views drift away from the calibration
 *   planes        how and where the samples of the views lie in frames
 *   output        caps, and output buffers with their metadata
 */
#ifndef GST_STEREO_RECTIFY_H
#define GST_STEREO_RECTIFY_H

#include "gst/pairing/aggregator.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_RECTIFY (gst_stereo_rectify_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoRectify, gst_stereo_rectify, GST, STEREO_RECTIFY, GstStereoAggregator)
GST_ELEMENT_REGISTER_DECLARE (stereorectify);

G_END_DECLS

#endif
