/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereomatch: the engine's parameters, and the element's own properties. */
#ifndef GST_STEREO_MATCH_PROPERTIES_H
#define GST_STEREO_MATCH_PROPERTIES_H

#include "gst/match/parts.h"
#include "gst/pairing/aggregator.h"

G_BEGIN_DECLS

/* @parts: offset of the GstStereoMatchParts in an instance. */
void gst_stereo_match_properties_install (GObjectClass *klass, gssize parts);
/* The value of `stats`. Transfer full. */
GstStructure *gst_stereo_match_properties_make_stats (GstStereoAggregator *aggregator, GstStereoMatchParts *parts);

G_END_DECLS

#endif
