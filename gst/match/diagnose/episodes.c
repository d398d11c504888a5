/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/episodes.h"

#define GONE 3 /* checks in a row that a finding has to be absent from */

gboolean
gst_stereo_finding_update (GstStereoFinding *finding, GstStereoVerdict verdict)
{
  gboolean report = verdict == GST_STEREO_VERDICT_BAD && !finding->stands;

  if (verdict == GST_STEREO_VERDICT_BAD) {
    finding->stands = TRUE;
    finding->absent = 0;
  } else if (verdict == GST_STEREO_VERDICT_GOOD && finding->stands && ++finding->absent >= GONE) {
    finding->stands = FALSE;
    finding->absent = 0;
  }
  return report;
}

void
gst_stereo_episode_flush (GstStereoEpisode *episode)
{
  episode->count = episode->unknown = 0;
}

/* After one more unknown verdict. */
static gboolean
is_patient (GstStereoEpisode *episode, gint64 time)
{
  if (!episode->unknown++ || time < episode->doubt)
    episode->doubt = time;
  return episode->unknown < GST_STEREO_EPISODE_PATIENCE || time - episode->doubt < GST_STEREO_EPISODE_DOUBT;
}

GstStereoEpisodeChange
gst_stereo_episode_update (GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time, gint64 hold)
{
  gboolean bad = verdict == GST_STEREO_VERDICT_BAD;

  if (verdict == GST_STEREO_VERDICT_UNKNOWN && is_patient (episode, time))
    return GST_STEREO_EPISODE_GOES_ON;
  episode->unknown = 0;
  if (verdict == GST_STEREO_VERDICT_UNKNOWN || bad == episode->stands) {
    episode->count = 0;
    return GST_STEREO_EPISODE_GOES_ON;
  }
  if (!episode->count++ || time < episode->since)
    episode->since = time;
  if (episode->count < GST_STEREO_EPISODE_VERDICTS || time - episode->since < hold)
    return GST_STEREO_EPISODE_GOES_ON;
  episode->stands = bad;
  episode->count = 0;
  return bad ? GST_STEREO_EPISODE_BEGINS : GST_STEREO_EPISODE_ENDS;
}
