/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/match_check.h"

#include <math.h>
#include <string.h>

#include "gst/match/debug.h"

#define MOST_RULES 16
#define MOST_LEFT 1.0    /* px that an alignment may leave in the middle and at the sides */
#define MIN_SHARES 5     /* pairs after which the usual share of points that are found is known, */
#define MAX_SHARES 50    /* and that its mean is over */
#define CONTRADICTIONS 2 /* pairs in a row that contradict what was found of the rig */

struct _GstStereoMatchCheck
{
  GstElement *element;
  GstStereoReport *report;

  /* protected by the element's object lock */
  GstStereoMatchStats stats;

  /* of the source pad's task */
  GstStereoPairMatcher *matcher; /* NULL before the first pair, and for views too small */
  gint64 last;                   /* time of the last pair, ns */
  gint needed;                   /* disparities that its matches need; 0 = not known */
  gboolean kept;                 /* the frame before the next pair that is checked */
  gdouble shift, roll, scale;    /* of the last matches, px */
  guint contradictions;
  GstStereoEpisode episodes[MOST_RULES];
  gboolean late;  /* a view may be: offsets that come from other moments say nothing of the rig */
  gdouble offset; /* principal-offset of the last pair */
  GstStereoDelay delay;
  gdouble share; /* mean share of the points that are found, in pairs where that was no less than usual */
  guint shares;  /* these pairs */
};

/* That the fault of a rule has to last; 0: one pair shows it. */
static gint64
hold_of (guint index)
{
  return (gint64) gst_stereo_kind_of (gst_stereo_match_rule (index)->flag)->hold;
}

GstStereoMatchCheck *
gst_stereo_match_check_new (GstElement *element, GstStereoReport *report)
{
  GstStereoMatchCheck *check = g_new0 (GstStereoMatchCheck, 1);

  check->element = element;
  check->report = report;
  check->stats.beyond = -1;
  return check;
}

void
gst_stereo_match_check_free (GstStereoMatchCheck *check)
{
  gst_stereo_match_check_start (check);
  g_free (check);
}

void
gst_stereo_match_check_start (GstStereoMatchCheck *check)
{
  GstElement *element = check->element;
  GstStereoReport *report = check->report;

  gst_stereo_pair_matcher_free (check->matcher);
  GST_OBJECT_LOCK (element);
  *check = (GstStereoMatchCheck){
    .element = element, .report = report, .stats = { .vertical_offset = -1, .beyond = -1 }
  };
  GST_OBJECT_UNLOCK (element);
}

void
gst_stereo_match_check_flush (GstStereoMatchCheck *check)
{
  for (guint i = 0; gst_stereo_match_rule (i); i++)
    if (hold_of (i))
      gst_stereo_episode_flush (&check->episodes[i]);
  check->kept = FALSE;
  check->contradictions = 0;
}

/* What stands of the faults on matches. */
static GstStereoHealthFlags
standing (const GstStereoMatchCheck *check)
{
  GstStereoHealthFlags flags = GST_STEREO_HEALTH_OK;
  const GstStereoMatchRule *rule;

  for (guint i = 0; (rule = gst_stereo_match_rule (i)); i++)
    if (check->episodes[i].stands)
      flags |= rule->flag;
  return flags;
}

gboolean
gst_stereo_match_check_is_due (const GstStereoMatchCheck *check, gint64 time)
{
  gboolean soon = check->contradictions || gst_stereo_delay_is_suspicious (&check->delay);

  for (guint i = 0; gst_stereo_match_rule (i); i++)
    soon = soon || (hold_of (i) && check->episodes[i].count);
  return time < check->last ||
      time - check->last >= (gint64) (soon ? GST_STEREO_MATCHES_SOON : GST_STEREO_MATCHES_INTERVAL);
}

gint
gst_stereo_match_check_get_needed (const GstStereoMatchCheck *check)
{
  return check->needed;
}

/* ---- the table ----------------------------------------------------------------------------- */

/* Whether a pair says anything of the fault of a rule. */
static gboolean
counts (const GstStereoMatchCheck *check, const GstStereoMatchRule *rule, const GstStereoMatchCase *match)
{
  const GstStereoMatchedPair *pair = match->pair;
  GstStereoHealthFlags explained = standing (check) | (check->late ? GST_STEREO_HEALTH_OUT_OF_STEP : 0);

  return !((rule->needs_sound && !pair->sound) || (rule->needs_detail && !pair->detailed) ||
      (rule->needs_no_noise && gst_stereo_matches_are_noisy (match->matches, pair->noise)) || rule->unless & explained);
}

static GstStereoVerdict
judge (const GstStereoMatchCheck *check, const GstStereoMatchRule *rule, const GstStereoMatchCase *match)
{
  return counts (check, rule, match) ? rule->verdict (match) : GST_STEREO_VERDICT_UNKNOWN;
}

static GstStereoEpisodeChange
update (GstStereoMatchCheck *check, guint index, GstStereoVerdict verdict, gint64 time)
{
  GstStereoEpisode *episode = &check->episodes[index];
  gint64 end = gst_stereo_match_rule (index)->end;

  if (!end)
    return gst_stereo_episode_update (episode, verdict, time, hold_of (index));
  if (episode->stands)
    return gst_stereo_episode_update (episode, verdict, time, end);
  if (verdict != GST_STEREO_VERDICT_BAD)
    return GST_STEREO_EPISODE_GOES_ON;
  *episode = (GstStereoEpisode){ .stands = TRUE };
  return GST_STEREO_EPISODE_BEGINS;
}

static void
change_to (GstStereoMatchCheck *check, const GstStereoMatchRule *rule, const GstStereoMatchCase *match, gboolean active)
{
  GstStructure *figures = gst_stereo_report_value (0);
  gchar *text = rule->text (match, active, figures);

  gst_stereo_report_change (check->report, rule->flag, active, text, figures);
}

/* Judges the faults that have to last, or the others. @found: their flags, for each verdict. */
static void
judge_all (GstStereoMatchCheck *check, const GstStereoMatchCase *match, gboolean lasting, GstStereoHealthFlags found[3])
{
  const GstStereoMatchRule *rule;

  memset (found, 0, 3 * sizeof *found);
  for (guint i = 0; (rule = gst_stereo_match_rule (i)); i++) {
    GstStereoEpisode *episode = &check->episodes[i];

    if ((hold_of (i) > 0) != lasting)
      continue;
    if (rule->of_offset && episode->stands && check->offset != match->pair->params->principal_offset) {
      *episode = (GstStereoEpisode){ 0 };
      change_to (check, rule, match, FALSE);
    }
    GstStereoVerdict verdict = judge (check, rule, match);
    found[verdict] |= rule->flag;
    if (rule->note && verdict != GST_STEREO_VERDICT_UNKNOWN) {
      GST_OBJECT_LOCK (check->element);
      rule->note (match, verdict, &check->stats);
      GST_OBJECT_UNLOCK (check->element);
    }
    GstStereoEpisodeChange change = update (check, i, verdict, match->pair->time);
    if (change != GST_STEREO_EPISODE_GOES_ON)
      change_to (check, rule, match, change == GST_STEREO_EPISODE_BEGINS);
  }
}

/* Whether several pairs in a row contradict what was found by one. */
static gboolean
has_news (GstStereoMatchCheck *check, const GstStereoMatchCase *match)
{
  const GstStereoMatchRule *rule;
  gboolean news = FALSE;

  for (guint i = 0; !news && (rule = gst_stereo_match_rule (i)); i++)
    news = !hold_of (i) &&
        judge (check, rule, match) == (check->episodes[i].stands ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_BAD);
  check->contradictions = news ? check->contradictions + 1 : 0;
  return check->contradictions >= CONTRADICTIONS;
}

/* Returns whether the pair says anything of the rig. */
static gboolean
judge_rig (GstStereoMatchCheck *check, const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  const GstStereoMatchRule *rule;
  GstStereoHealthFlags found[3];
  gboolean nothing = TRUE;

  GST_OBJECT_LOCK (check->element);
  check->stats.checks++;
  check->stats.matches = matches->matches;
  GST_OBJECT_UNLOCK (check->element);
  check->needed = (gint) ceil (matches->largest) + 1 - match->pair->params->min_disparity;
  judge_all (check, match, FALSE, found);
  for (guint i = 0; (rule = gst_stereo_match_rule (i)); i++)
    nothing = nothing && (!rule->of_rig || found[GST_STEREO_VERDICT_UNKNOWN] & rule->flag);
  GST_DEBUG_OBJECT (check->element,
      "check: %u of %u points matched: %u forward, %u backward, median %.2f px; %u placed, off by %.2f px "
      "(left %.2f, right %.2f)%s",
      matches->matches, matches->points, matches->forward, matches->backward, matches->disparity, matches->placed,
      matches->vertical, matches->vertical_left, matches->vertical_right, nothing ? "; that says nothing" : "");
  return !nothing;
}

GstStereoHealthFlags
gst_stereo_match_check_taken_out (const GstStereoMatchCheck *check, const StereoAlignment *alignment)
{
  GstStereoHealthFlags flags = GST_STEREO_HEALTH_OK;
  const gdouble *c = alignment->coefficients;
  const GstStereoMatchRule *rule;

  /* places lie between -1/2 and 1/2 */
  if (!alignment->active || fabs (c[0] - check->shift) >= MOST_LEFT || fabs (c[2] / 2 - check->roll) >= MOST_LEFT ||
      fabs (c[1] / 2 - check->scale) >= MOST_LEFT)
    return flags;
  for (guint i = 0; (rule = gst_stereo_match_rule (i)); i++)
    flags |= rule->alignable ? rule->flag : GST_STEREO_HEALTH_OK;
  return flags;
}

static gboolean
may_be_late (const GstStereoMatchCheck *check)
{
  return (standing (check) & GST_STEREO_HEALTH_OUT_OF_STEP) || gst_stereo_delay_is_suspicious (&check->delay);
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* FALSE for views that are too small. */
static gboolean
prepare (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair)
{
  gint width = pair->layout->width, height = pair->layout->height;
  gint min = pair->params->min_disparity, num = pair->params->num_disparities;

  if (!check->matcher || !gst_stereo_pair_matcher_is_for (check->matcher, width, height, min, num)) {
    gst_stereo_pair_matcher_free (check->matcher);
    check->kept = FALSE;
    check->matcher = gst_stereo_pair_matcher_new (width, height, min, num);
  }
  return check->matcher != NULL;
}

void
gst_stereo_match_check_keep (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair)
{
  if (!prepare (check, pair))
    return;
  gst_stereo_pair_matcher_keep (check->matcher, &pair->images[0], &pair->images[1]);
  check->kept = TRUE;
}

/* From a pair whose views match: the usual share of the points that are found. */
static void
learn_share (GstStereoMatchCheck *check, const GstStereoPairMatches *matches)
{
  check->shares = MIN (check->shares + 1, MAX_SHARES);
  check->share += (matches->matches / MAX (1.0, matches->points) - check->share) / check->shares;
}

gboolean
gst_stereo_match_check_run (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean all)
{
  const GstStereoMatchRule *rule;
  GstStereoPairMatches matches;
  GstStereoMatchCase match = { .matches = &matches, .pair = pair };
  GstStereoHealthFlags found[3];

  check->last = pair->time;
  if (!prepare (check, pair))
    return FALSE;
  gst_stereo_pair_matcher_run (check->matcher, &pair->images[0], &pair->images[1], pair->counts,
      -pair->params->principal_offset, check->kept, &matches);
  GST_LOG_OBJECT (check->element, "offsets: %u, scale %.2f px, rest %.2f px; left view late: %.1f, right view: %.1f",
      matches.placed, matches.scale, matches.rest, matches.delay.late[0], matches.delay.late[1]);
  check->kept = FALSE;
  check->shift = matches.shift;
  check->roll = matches.roll;
  check->scale = matches.scale;
  check->late = may_be_late (check);
  match.share = check->shares < MIN_SHARES ? 0 : check->share;
  for (guint i = 0; (rule = gst_stereo_match_rule (i)); i++)
    if (rule->flag == GST_STEREO_HEALTH_OUT_OF_STEP && counts (check, rule, &match)) {
      match.late = gst_stereo_delay_add (&check->delay, &matches.delay);
      match.late_view = gst_stereo_delay_get_view (&check->delay, &match.certainty);
    }
  judge_all (check, &match, TRUE, found);
  if (found[GST_STEREO_VERDICT_GOOD] & GST_STEREO_HEALTH_MISMATCH)
    learn_share (check, &matches);
  check->offset = pair->params->principal_offset;
  check->late = may_be_late (check);
  return has_news (check, &match) || all ? judge_rig (check, &match) : FALSE;
}

void
gst_stereo_match_check_get_stats (GstStereoMatchCheck *check, GstStereoMatchStats *stats)
{
  GST_OBJECT_LOCK (check->element);
  *stats = check->stats;
  GST_OBJECT_UNLOCK (check->element);
}
