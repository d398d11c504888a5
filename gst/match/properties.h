/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereomatch: those of the engine's table, and those of its own. */
#ifndef GST_STEREO_MATCH_PROPERTIES_H
#define GST_STEREO_MATCH_PROPERTIES_H

#include "gst/match/parts.h"
#include "gst/pairing/aggregator.h"

G_BEGIN_DECLS

void gst_stereo_match_properties_install (GObjectClass *klass);
/* FALSE where there is no such property. */
gboolean gst_stereo_match_properties_set (GstStereoMatchParts *parts, guint id, const GValue *value);
/* @pairs: what the base class counts. */
gboolean gst_stereo_match_properties_get (
    GstStereoMatchParts *parts, const GstStereoPairStats *pairs, guint id, GValue *value);
/* The value of `stats`. Transfer full. */
GstStructure *gst_stereo_match_properties_make_stats (GstStereoMatchParts *parts, const GstStereoPairStats *pairs);

G_END_DECLS

#endif
