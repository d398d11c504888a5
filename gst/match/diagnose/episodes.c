/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/episodes.h"

#define GONE 3 /* verdicts in a row, after which a fault is absent that one verdict shows */

const GstStereoHealthKind *
gst_stereo_kind_of (GstStereoHealthFlags flag)
{
  const GstStereoHealthKind *kind;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++)
    if (flag & (kind->left | kind->right))
      return kind;
  g_assert_not_reached ();
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

/* For a fault that one verdict shows. */
static GstStereoEpisodeChange
update_at_once (GstStereoEpisode *episode, GstStereoVerdict verdict)
{
  if (verdict == GST_STEREO_VERDICT_BAD) {
    gboolean begins = !episode->stands;
    *episode = (GstStereoEpisode){ .stands = TRUE };
    return begins ? GST_STEREO_EPISODE_BEGINS : GST_STEREO_EPISODE_GOES_ON;
  }
  if (verdict != GST_STEREO_VERDICT_GOOD || !episode->stands || ++episode->count < GONE)
    return GST_STEREO_EPISODE_GOES_ON;
  *episode = (GstStereoEpisode){ 0 };
  return GST_STEREO_EPISODE_ENDS;
}

GstStereoEpisodeChange
gst_stereo_episode_update (GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time, gint64 hold)
{
  gboolean bad = verdict == GST_STEREO_VERDICT_BAD;

  if (!hold)
    return update_at_once (episode, verdict);
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
