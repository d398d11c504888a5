/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/moments.h"

#include "gst/match/debug.h"

void
gst_stereo_moments_clear (GstStereoMoments *moments)
{
  moments->delay = (GstStereoDelay){ 0 };
  gst_stereo_stale_clear (&moments->stale);
}

/* Matches a pair with earlier frames, where rows of it lack matches. */
static GstStereoVerdict
judge_stale_rows (GstStereoStale *stale, GstStereoPairMatcher *matcher, const GstStereoPairMatches *matches,
    const GstStereoMatchedPair *pair, GstElement *element)
{
  GstStereoPairMatches earlier[2][GST_STEREO_STALE_AGES];

  if (!gst_stereo_stale_add (stale, matches))
    return GST_STEREO_VERDICT_GOOD;
  for (guint v = 0; v < 2; v++)
    for (guint age = 0; age < stale->kept; age++) {
      const StereoImage *images[2] = { &pair->images[0], &pair->images[1] };
      images[!v] = &stale->earlier[age][!v].image;
      gst_stereo_pair_matcher_run (matcher, images[0], images[1], pair->counts, 0, &earlier[v][age]);
    }
  GstStereoVerdict verdict = gst_stereo_stale_judge (stale, matches, earlier, stale->kept);
  GST_LOG_OBJECT (element, "rows lack matches: %s; %u earlier frames; left view stale: %.1f, right view: %.1f",
      stale->lacks ? "yes" : "no", stale->kept, stale->sums[0], stale->sums[1]);
  return verdict;
}

GstStereoMoment
gst_stereo_moments_add (GstStereoMoments *moments, GstStereoPairMatcher *matcher, const GstStereoPairMatches *matches,
    const GstStereoMatchedPair *pair, GstElement *element)
{
  GstStereoStale *stale = &moments->stale;
  GstStereoVerdict late = gst_stereo_delay_add (&moments->delay, &matches->delay);
  GstStereoVerdict rows = judge_stale_rows (stale, matcher, matches, pair, element);
  GstStereoMoment moment = { .verdict = rows == GST_STEREO_VERDICT_GOOD ? late : rows };

  moment.view = gst_stereo_delay_get_view (&moments->delay, &moment.certainty);
  if (late != GST_STEREO_VERDICT_BAD && rows == GST_STEREO_VERDICT_BAD) {
    moment.view = gst_stereo_stale_get_view (stale);
    moment.certainty = 1;
  }
  /* what is frozen has a name of its own */
  if (late == GST_STEREO_VERDICT_BAD || rows == GST_STEREO_VERDICT_BAD)
    moment.verdict = gst_stereo_stale_is_frozen (
                         stale, pair->images, pair->layout->width, pair->layout->height, moment.view) ?
        GST_STEREO_VERDICT_UNKNOWN :
        GST_STEREO_VERDICT_BAD;
  return moment;
}
