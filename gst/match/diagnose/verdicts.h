/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verdicts on the matches of a pair (matches.h). Where too few matches count, the verdict is unknown.
 *
 * - Exchanged views differ from correct ones by the sign of the disparity alone. A match speaks for an exchange if its
 *   disparity lies outside the search range and the opposite disparity inside. Points at infinity have no sign, and do
 *   not count. A search range that is symmetric about 0 cannot show an exchange.
 * - A search range that is too small leaves matches beyond its end: the nearest surfaces have a wrong disparity or none.
 * - Nothing lies farther away than infinity. Points whose disparity is below that of infinity show views that are shifted
 *   sideways: a camera has turned, or the principal points differ and nobody said so. A shift the other way only makes all seem
 *   nearer, and no picture shows it; nor does a scene that ends nearer than the shift.
 * - Vertical offsets between the views have three causes. A rig that is not rectified gives an offset and a roll of the whole
 *   picture. Different focal lengths give offsets that grow from the middle to the top and the bottom. Views of different
 *   times give offsets that follow the scene's motion (delay.h). Where no smooth function of the place fits the offsets,
 *   neither the rig nor the lenses explain them. The verdicts are about the views as they come, before align=auto corrects
 *   them.
 */
#ifndef GST_STEREO_VERDICTS_H
#define GST_STEREO_VERDICTS_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/matches.h"

G_BEGIN_DECLS

GstStereoVerdict gst_stereo_verdict_exchanged (const GstStereoPairMatches *matches);
/* Whether the search ends before the nearest surfaces. */
GstStereoVerdict gst_stereo_verdict_range (const GstStereoPairMatches *matches);
/* Sufficient num-disparities for a search from @min, a multiple of 16. Only where the verdict on the range is bad. */
gint gst_stereo_wanted_disparities (const GstStereoPairMatches *matches, gint min);
/* Whether points lie beyond infinity, and below the search range. Good only where some lie near infinity. */
GstStereoVerdict gst_stereo_verdict_shifted (const GstStereoPairMatches *matches, const StereoParams *params);
/* Whether the rows of a rig do not fit. */
GstStereoVerdict gst_stereo_verdict_rows (const GstStereoPairMatches *matches);
/* Whether the views have different scales. */
GstStereoVerdict gst_stereo_verdict_focal (const GstStereoPairMatches *matches);
/* Whether noise of so many grey levels hides the scene in the small pictures: chance matches points then. */
gboolean gst_stereo_matches_are_noisy (const GstStereoPairMatches *matches, gdouble noise);
/* Whether the views show one scene. @so_far: the share of points that earlier pairs found for sure; 0 = not known. @noise: grey
 * levels: where it hides the scene, only earlier pairs say how many points should be found. */
GstStereoVerdict gst_stereo_verdict_mismatch (const GstStereoPairMatches *matches, gdouble so_far, gdouble noise);

G_END_DECLS

#endif
