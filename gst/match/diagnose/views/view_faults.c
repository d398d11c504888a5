/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/view_faults.h"

#include <math.h>
#include <string.h>

#define HISTORY_COUNT 10       /* before the history counts: two seconds */
#define HISTORY_WEIGHT 100     /* measurements that the mean is of, at most: twenty seconds */
#define HISTORY_MAX 0.40546511 /* ln 1.5: dirt that comes slowly must not become the expected state */

static GstStereoViewHistory
history_of (const GstStereoViewFaults *views)
{
  GstStereoViewHistory history = { 0 };

  if (views->count < HISTORY_COUNT)
    return history;
  history.ratio = exp (CLAMP (views->ratio, -HISTORY_MAX, HISTORY_MAX));
  for (guint v = 0; v < 2; v++)
    history.sharpness[v] = exp (views->sharp[v]);
  return history;
}

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
    const GstStereoBlockFigures *blocks, gboolean live, gint64 time, GstStereoViewChanges changes)
{
  GstStereoViewLook look = { figures, blocks, history_of (views), live };
  const GstStereoViewRule *rule;
  GstStereoViewVerdicts verdicts;

  for (guint v = 0; v < 2; v++)
    views->moved = views->moved || (figures[v].compared && !figures[v].same);
  look.lively = live || views->moved;
  gst_stereo_view_rules_judge (&look, verdicts);
  memset (changes, 0, sizeof (GstStereoViewChanges));
  for (guint i = 0; (rule = gst_stereo_view_rule (i)); i++) {
    gint64 hold = rule->hold ? rule->hold : (gint64) gst_stereo_kind_of (rule->flags[0])->hold;
    if (rule->flags[0] == GST_STEREO_HEALTH_BLURRED_LEFT && verdicts[i][0] == GST_STEREO_VERDICT_GOOD &&
        verdicts[i][1] == GST_STEREO_VERDICT_GOOD)
      remember (views, figures);
    for (guint v = 0; v < gst_stereo_view_rule_count (rule); v++)
      changes[i][v] = gst_stereo_episode_update (&views->episodes[i][v], verdicts[i][v], time, hold);
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
