/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the matches of a pair say (matches.h). Where too few of them count, they say nothing.
 *
 * - Exchanged views differ from correct ones by the sign of the disparity alone. A match speaks for an exchange if its
 *   disparity lies outside the search range and the opposite disparity inside. Points at infinity have no sign, and do
 *   not count. A range that reaches equally far to either side says nothing.
 * - A search range that is too small leaves matches beyond its end: what is nearest has a wrong disparity or none.
 * - Vertical offsets between the views have three causes. Those of a rig that is not rectified are an offset and a turn
 *   of the whole picture. Those of another focal length grow from the middle to the top and the bottom. Those of views of
 *   different moments follow the scene, and no smooth function of the place explains them. The views are judged as they come: what
 *   align=auto takes out is still seen.
 */
#ifndef GST_STEREO_VERDICTS_H
#define GST_STEREO_VERDICTS_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/matches.h"

G_BEGIN_DECLS

GstStereoVerdict gst_stereo_verdict_exchanged (const GstStereoPairMatches *matches);
/* Whether the search ends before the nearest surfaces. */
GstStereoVerdict gst_stereo_verdict_range (const GstStereoPairMatches *matches);
/* num-disparities with which it would not, for a search from @min; a multiple of 16. Only where the verdict is bad. */
gint gst_stereo_wanted_disparities (const GstStereoPairMatches *matches, gint min);
/* Whether the rows of a rig do not fit. */
GstStereoVerdict gst_stereo_verdict_rows (const GstStereoPairMatches *matches);
/* Whether the views have different scales. */
GstStereoVerdict gst_stereo_verdict_focal (const GstStereoPairMatches *matches);
/* Whether the views, or parts of them, were taken at different moments. */
GstStereoVerdict gst_stereo_verdict_out_of_step (const GstStereoPairMatches *matches);
/* Whether the views show one scene. @so_far: the share of points that earlier pairs found for sure; 0 = not known. */
GstStereoVerdict gst_stereo_verdict_mismatch (const GstStereoPairMatches *matches, gdouble so_far);

G_END_DECLS

#endif
