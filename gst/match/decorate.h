/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GstStereoMeta of an output buffer. */
#ifndef GST_STEREO_MATCH_DECORATE_H
#define GST_STEREO_MATCH_DECORATE_H

#include "gst/match/flight.h"

G_BEGIN_DECLS

/* Adds the meta to the output of @pair: confidence, mask, geometry, and the units of the samples. @params: of the plan. */
void gst_stereo_match_decorate (const GstStereoMatchPair *pair, const GstStereoOutputFormat *format,
    const StereoParams *params, const StereoStats *stats);
G_END_DECLS

#endif
