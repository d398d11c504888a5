/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/view_faults.h"

#include <math.h>

#include "gst/match/diagnose/views/frozen.h"

#define HISTORY_COUNT 10       /* before the history counts: two seconds */
#define HISTORY_WEIGHT 100     /* measurements that the mean is of, at most: twenty seconds */
#define HISTORY_MAX 0.40546511 /* ln 1.5: dirt that comes slowly must not become the expected state */

/* A measurement in which nothing is wrong with the sharpness of either view. */
static void
remember (GstStereoViewFaults *views, const GstStereoViewFigures figures[2])
{
  views->count = MIN (views->count + 1, HISTORY_WEIGHT);
  views->ratio += (log (figures[0].sharpness / figures[1].sharpness) - views->ratio) / views->count;
  for (guint v = 0; v < 2; v++)
    views->sharp[v] += (log (figures[v].sharpness) - views->sharp[v]) / views->count;
}

void
gst_stereo_view_faults_add (GstStereoViewFaults *views, const GstStereoViewFigures figures[2],
    const GstStereoBlockFigures *blocks, gboolean live, gint64 time, GstStereoViewVerdicts verdicts)
{
  GstStereoViewMeasurement measured = { .figures = figures, .blocks = blocks };
  const GstStereoViewRule *rule;

  for (guint v = 0; v < 2; v++) {
    views->moved = views->moved || (figures[v].compared && !figures[v].same);
    views->coded[v] = gst_stereo_frozen_count_coded (views->coded[v], &figures[v]);
    measured.coded[v] = views->coded[v] > 0;
  }
  measured.lively = live || views->moved;
  if (views->count >= HISTORY_COUNT)
    measured.history = (GstStereoViewHistory){ exp (CLAMP (views->ratio, -HISTORY_MAX, HISTORY_MAX)),
      { exp (views->sharp[0]), exp (views->sharp[1]) } };
  gst_stereo_view_rules_judge (&measured, verdicts);
  for (guint i = 0; (rule = gst_stereo_view_rule (i)); i++) {
    gint64 hold = rule->hold ? rule->hold : (gint64) gst_stereo_kind_of (rule->flags[0])->hold;
    if (rule->has_history && verdicts[i][0].verdict == GST_STEREO_VERDICT_GOOD &&
        verdicts[i][1].verdict == GST_STEREO_VERDICT_GOOD)
      remember (views, figures);
    for (guint v = 0; v < 2; v++)
      verdicts[i][v].change = gst_stereo_episode_update (&views->episodes[i][v], verdicts[i][v].verdict, time, hold);
  }
}

void
gst_stereo_view_faults_flush (GstStereoViewFaults *views)
{
  for (guint i = 0; i < GST_STEREO_MOST_RULES; i++)
    for (guint v = 0; v < 2; v++)
      gst_stereo_episode_flush (&views->episodes[i][v]);
}

/* Whether a fault begins, or with @standing one stands or ends. A picture that never changes matches as well as any. */
static gboolean
has_fault (const GstStereoViewFaults *views, gboolean standing)
{
  const GstStereoViewRule *rule;

  for (guint i = 0; (rule = gst_stereo_view_rule (i)); i++)
    for (guint v = 0; v < 2 && !rule->silent; v++) {
      const GstStereoEpisode *episode = &views->episodes[i][v];
      if (episode->stands ? standing : episode->count > 0)
        return TRUE;
    }
  return FALSE;
}

gboolean
gst_stereo_view_faults_are_suspicious (const GstStereoViewFaults *views)
{
  return has_fault (views, FALSE);
}

gboolean
gst_stereo_view_faults_are_sound (const GstStereoViewFaults *views)
{
  return !has_fault (views, TRUE);
}
