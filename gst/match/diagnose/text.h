/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sentences of the warnings about the input: what is wrong, and what to do. All are to be freed with g_free(). */
#ifndef GST_STEREO_HEALTH_TEXT_H
#define GST_STEREO_HEALTH_TEXT_H

#include "gst/match/diagnose/verdicts.h"
#include "gst/match/diagnose/pace.h"

G_BEGIN_DECLS

/* @v: 0 for the left view, 1 for the right one. */
gchar *gst_stereo_health_describe_fault (GstStereoViewFault fault, guint v, const GstStereoViewLook looks[2]);
/* That a fault of the pair begins, or that it has ended. */
gchar *gst_stereo_health_describe_pair (GstStereoPairFault fault, gboolean active);
/* @wanted: disparities that would do. */
gchar *gst_stereo_health_describe_range (const GstStereoPairMatches *result, const StereoParams *params, gint wanted);
gchar *gst_stereo_health_describe_slow (
    const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice);

G_END_DECLS

#endif
