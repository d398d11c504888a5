/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a view, or rows of it, show an earlier moment than the other view: what the points that match say of it (delay.h), and the
 * rows that match an earlier frame alone (stale.h). */
#ifndef GST_STEREO_MOMENTS_H
#define GST_STEREO_MOMENTS_H

#include "gst/match/diagnose/match_case.h"
#include "gst/match/diagnose/stale.h"

G_BEGIN_DECLS

/* Of a stream. Zeroed at first. */
typedef struct
{
  GstStereoDelay delay;
  GstStereoStale stale;
} GstStereoMoments;

void gst_stereo_moments_clear (GstStereoMoments *moments);
/* Adds a pair, which @matcher has matched. @element: for the log. */
GstStereoMoment gst_stereo_moments_add (GstStereoMoments *moments, GstStereoPairMatcher *matcher,
    const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair, GstElement *element);

G_END_DECLS

#endif
