/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stereomatch element. element.c leads a pair through the parts of this folder, each an object with a file of its
 * own: settings.h, cameras.h, device.h, planner.h, diagnose/diagnosis.h, output.h, flight.h.
 */
#ifndef GST_STEREO_MATCH_H
#define GST_STEREO_MATCH_H

#include "gst/pairing/aggregator.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_MATCH (gst_stereo_match_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoMatch, gst_stereo_match, GST, STEREO_MATCH, GstStereoAggregator)
GST_ELEMENT_REGISTER_DECLARE (stereomatch);

G_END_DECLS

#endif
