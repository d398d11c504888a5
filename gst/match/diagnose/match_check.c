/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/match_check.h"

#include <math.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/span.h"
#include "gst/match/diagnose/stale.h"
#include "gst/match/diagnose/text.h"

#define HOLD ((gint64) (400 * GST_MSECOND)) /* that a fault has to last */
/* The usual share of points that are found is known after so many pairs, and is the mean over so many. */
#define MIN_SHARES 5
#define MAX_SHARES 50
#define MOST_LEFT 1.0    /* px that an alignment may leave in the middle and at the sides */
#define CONTRADICTIONS 3 /* pairs in a row that contradict what was found of the rig */

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
  GstStereoSpan span;
  GstStereoFinding exchanged, rows, range;
  gdouble shift, roll, scale; /* of the last matches, px */
  guint contradictions;
  GstStereoEpisode mismatch, focal, shifted, out_of_step;
  gdouble offset; /* principal-offset of the last pair */
  GstStereoDelay delay;
  GstStereoStale stale;
  gdouble share; /* mean share of the points that are found, in pairs where that was no less than usual */
  guint shares;  /* pairs that the mean is of */
};

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
  gst_stereo_match_check_release (check);
  g_free (check);
}

void
gst_stereo_match_check_start (GstStereoMatchCheck *check)
{
  gst_stereo_match_check_release (check);
  GST_OBJECT_LOCK (check->element);
  check->stats = (GstStereoMatchStats){ .vertical_offset = -1, .beyond = -1 };
  GST_OBJECT_UNLOCK (check->element);
}

void
gst_stereo_match_check_flush (GstStereoMatchCheck *check)
{
  gst_stereo_episode_flush (&check->mismatch);
  gst_stereo_episode_flush (&check->focal);
  gst_stereo_episode_flush (&check->shifted);
  gst_stereo_episode_flush (&check->out_of_step);
  gst_stereo_stale_forget (&check->stale);
  gst_stereo_span_forget (&check->span);
  check->contradictions = 0;
}

void
gst_stereo_match_check_release (GstStereoMatchCheck *check)
{
  g_clear_pointer (&check->matcher, gst_stereo_pair_matcher_free);
  check->last = check->needed = 0;
  check->span = (GstStereoSpan){ 0 };
  check->exchanged = check->rows = check->range = (GstStereoFinding){ 0 };
  check->mismatch = check->focal = check->shifted = check->out_of_step = (GstStereoEpisode){ 0 };
  check->delay = (GstStereoDelay){ 0 };
  gst_stereo_stale_clear (&check->stale);
  check->share = check->shares = check->contradictions = 0;
}

gboolean
gst_stereo_match_check_is_due (const GstStereoMatchCheck *check, gint64 time)
{
  gboolean soon = check->mismatch.count || check->focal.count || check->shifted.count || check->out_of_step.count ||
      check->contradictions || gst_stereo_delay_is_suspicious (&check->delay) ||
      (check->stale.lacks && !check->out_of_step.stands);

  return time < check->last ||
      time - check->last >= (gint64) (soon ? GST_STEREO_MATCHES_SOON : GST_STEREO_MATCHES_INTERVAL);
}

gint
gst_stereo_match_check_get_needed (const GstStereoMatchCheck *check)
{
  return check->needed;
}

/* Offsets that come from other moments say nothing of the rig. */
static gboolean
may_be_late (const GstStereoMatchCheck *check)
{
  return check->out_of_step.stands || gst_stereo_delay_is_suspicious (&check->delay);
}

/* ---- faults that have to last ------------------------------------------------------------- */

static void
update (GstStereoMatchCheck *check, GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time,
    GstStereoHealthFlags flag, gdouble value, gchar *(*describe) (const GstStereoPairMatches *matches, gboolean active),
    const GstStereoPairMatches *matches)
{
  GstStereoEpisodeChange change = gst_stereo_episode_update (episode, verdict, time, HOLD);
  gboolean active = change == GST_STEREO_EPISODE_BEGINS;

  if (change != GST_STEREO_EPISODE_GOES_ON)
    gst_stereo_report_change (check->report, flag, active, describe (matches, active), gst_stereo_report_value (value));
}

/* Matches a pair with earlier frames, where rows of it lack matches. */
static GstStereoVerdict
judge_stale_rows (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  GstStereoPairMatches earlier[2][GST_STEREO_STALE_AGES];
  GstStereoStale *stale = &check->stale;
  GstStereoVerdict verdict;

  if (!gst_stereo_stale_add (stale, matches))
    return GST_STEREO_VERDICT_GOOD;
  for (guint v = 0; v < 2; v++)
    for (guint age = 0; age < stale->kept; age++) {
      const StereoImage *images[2] = { &pair->images[0], &pair->images[1] };
      images[!v] = &stale->earlier[age][!v].image;
      gst_stereo_pair_matcher_run (check->matcher, images[0], images[1], pair->counts, 0, &earlier[v][age]);
    }
  verdict = gst_stereo_stale_judge (stale, matches, earlier, stale->kept);
  GST_LOG_OBJECT (check->element, "rows lack matches: %s; %u earlier frames; left view stale: %.1f, right view: %.1f",
      stale->lacks ? "yes" : "no", stale->kept, stale->sums[0], stale->sums[1]);
  return verdict;
}

/* Whether a view is late, or rows of it, and not frozen, which has a name of its own. The evidence of several pairs is in both
 * verdicts: it begins at once. */
static void
judge_delay (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  GstStereoVerdict late = gst_stereo_delay_add (&check->delay, &matches->delay);
  GstStereoVerdict stale = judge_stale_rows (check, matches, pair);
  GstStereoVerdict verdict = stale == GST_STEREO_VERDICT_GOOD ? late : stale;
  GstStereoEpisode *episode = &check->out_of_step;
  gboolean before = episode->stands, begins;
  gdouble certainty;
  guint view = gst_stereo_delay_get_view (&check->delay, &certainty);

  if (late != GST_STEREO_VERDICT_BAD && stale == GST_STEREO_VERDICT_BAD) {
    view = gst_stereo_stale_get_view (&check->stale);
    certainty = 1;
  }
  if (late == GST_STEREO_VERDICT_BAD || stale == GST_STEREO_VERDICT_BAD)
    verdict = gst_stereo_stale_is_frozen (&check->stale, pair->images, pair->layout->width, pair->layout->height, view) ?
        GST_STEREO_VERDICT_UNKNOWN :
        GST_STEREO_VERDICT_BAD;
  begins = !before && verdict == GST_STEREO_VERDICT_BAD;
  if (begins)
    *episode = (GstStereoEpisode){ .stands = TRUE };
  else if (before)
    gst_stereo_episode_update (episode, verdict, pair->time, HOLD);
  if (before != episode->stands)
    gst_stereo_report_change (check->report, GST_STEREO_HEALTH_OUT_OF_STEP, begins,
        gst_stereo_text_out_of_step (view, begins), gst_stereo_report_value (certainty));
}

/* Whether points lie beyond infinity. Another principal-offset is another rig. */
static void
judge_shift (
    GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair, gboolean rig)
{
  gboolean sound = rig && !check->focal.stands && !gst_stereo_matches_are_noisy (matches, pair->noise);

  if (check->shifted.stands && check->offset != pair->params->principal_offset) {
    check->shifted = (GstStereoEpisode){ 0 };
    gst_stereo_report_change (check->report, GST_STEREO_HEALTH_SHIFTED, FALSE, gst_stereo_text_shifted (matches, FALSE),
        gst_stereo_report_value (matches->lowest));
  }
  check->offset = pair->params->principal_offset;
  update (check, &check->shifted,
      sound ? gst_stereo_verdict_shifted (matches, pair->params) : GST_STEREO_VERDICT_UNKNOWN, pair->time,
      GST_STEREO_HEALTH_SHIFTED, matches->lowest, gst_stereo_text_shifted, matches);
}

/* What the places of the points say of the moments of the two views, of the lenses, and of where the cameras point to. */
static void
judge_offsets (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  gboolean sound = pair->sound && pair->detailed && !check->mismatch.stands;
  gboolean rig = sound && !may_be_late (check);
  GstStereoVerdict focal = rig ? gst_stereo_verdict_focal (matches) : GST_STEREO_VERDICT_UNKNOWN;

  if (sound)
    judge_delay (check, matches, pair);
  update (
      check, &check->focal, focal, pair->time, GST_STEREO_HEALTH_FOCAL, matches->scale, gst_stereo_text_focal, matches);
  judge_shift (check, matches, pair, rig);
}

/* Whether the views show one scene, unless something else explains that they do not match. */
static void
judge_mismatch (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  gdouble usual = check->shares < MIN_SHARES ? 0 : check->share, share = matches->matches / MAX (1.0, matches->points);
  GstStereoVerdict verdict = pair->sound && pair->detailed ? gst_stereo_verdict_mismatch (matches, usual, pair->noise) :
                                                             GST_STEREO_VERDICT_UNKNOWN;

  update (check, &check->mismatch, verdict, pair->time, GST_STEREO_HEALTH_MISMATCH, share,
      usual > 0 ? gst_stereo_text_fewer_matches : gst_stereo_text_mismatch, matches);
  if (verdict == GST_STEREO_VERDICT_GOOD) {
    check->shares = MIN (check->shares + 1, MAX_SHARES);
    check->share += (share - check->share) / check->shares;
  }
}

/* ---- faults that one pair shows ------------------------------------------------------------ */

/* Reports when a finding has ended. TRUE when it begins: the caller reports that. */
static gboolean
begins_or_ends (GstStereoMatchCheck *check, GstStereoFinding *finding, GstStereoVerdict verdict,
    GstStereoHealthFlags flag, const gchar *end)
{
  gboolean before = finding->stands, starts = gst_stereo_finding_update (finding, verdict);

  if (before && !finding->stands)
    gst_stereo_report_change (check->report, flag, FALSE, g_strdup (end), gst_stereo_report_value (0));
  return starts;
}

/* Offsets whose cause was reported say nothing of the rows. */
static GstStereoVerdict
judge_rows (const GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  return !pair->sound || check->focal.stands || may_be_late (check) ? GST_STEREO_VERDICT_UNKNOWN :
                                                                      gst_stereo_verdict_rows (matches);
}

static gboolean
contradicts (const GstStereoFinding *finding, GstStereoVerdict verdict)
{
  return verdict == (finding->stands ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_BAD);
}

/* Frozen or covered parts match in wrong places, and so does noise. */
static GstStereoVerdict
range_of (const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  return pair->sound && !gst_stereo_matches_are_noisy (matches, pair->noise) ? gst_stereo_verdict_range (matches) :
                                                                               GST_STEREO_VERDICT_UNKNOWN;
}

/* Whether several pairs in a row contradict what was found of the rig. */
static gboolean
has_news (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  gboolean news = contradicts (&check->exchanged, gst_stereo_verdict_exchanged (matches)) ||
      contradicts (&check->rows, judge_rows (check, matches, pair)) ||
      contradicts (&check->range, range_of (matches, pair));

  check->contradictions = news ? check->contradictions + 1 : 0;
  return check->contradictions >= CONTRADICTIONS;
}

static gboolean
judge_rig (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  GstStereoVerdict exchanged = gst_stereo_verdict_exchanged (matches), rows = judge_rows (check, matches, pair);
  gboolean nothing = exchanged == GST_STEREO_VERDICT_UNKNOWN && rows == GST_STEREO_VERDICT_UNKNOWN;

  GST_DEBUG_OBJECT (check->element,
      "check: %u of %u points matched: %u forward, %u backward, median %.2f px; %u placed, off by %.2f px "
      "(left %.2f, right %.2f)%s",
      matches->matches, matches->points, matches->forward, matches->backward, matches->disparity, matches->placed,
      matches->vertical, matches->vertical_left, matches->vertical_right, nothing ? "; that says nothing" : "");
  GST_OBJECT_LOCK (check->element);
  check->stats.checks++;
  check->stats.matches = matches->matches;
  if (exchanged != GST_STEREO_VERDICT_UNKNOWN)
    check->stats.exchanged = exchanged == GST_STEREO_VERDICT_BAD;
  if (rows != GST_STEREO_VERDICT_UNKNOWN)
    check->stats.vertical_offset = matches->vertical;
  GST_OBJECT_UNLOCK (check->element);
  if (begins_or_ends (check, &check->exchanged, exchanged, GST_STEREO_HEALTH_SWAPPED,
          "Left and right do not look exchanged any more."))
    gst_stereo_report_change (check->report, GST_STEREO_HEALTH_SWAPPED, TRUE,
        gst_stereo_text_exchanged (matches, pair->layout),
        gst_stereo_report_value (matches->backward / (gdouble) (matches->forward + matches->backward)));
  if (begins_or_ends (check, &check->rows, rows, GST_STEREO_HEALTH_ROWS, "The rows of the two views fit again."))
    gst_stereo_report_change (check->report, GST_STEREO_HEALTH_ROWS, TRUE,
        gst_stereo_text_rows (matches, pair->params, pair->rectified), gst_stereo_report_value (matches->vertical));
  return !nothing;
}

static void
report_range (
    GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair, gint wanted)
{
  gboolean active = check->range.stands;
  GstStructure *fields = gst_structure_new ("stereo-health", "value", G_TYPE_DOUBLE,
      matches->beyond / (gdouble) MAX (1, matches->beyond + matches->forward), "points-beyond", G_TYPE_UINT,
      matches->beyond, "farthest", G_TYPE_DOUBLE, matches->farthest, "num-disparities", G_TYPE_INT, wanted, NULL);

  gst_stereo_report_change (check->report, GST_STEREO_HEALTH_RANGE, active,
      active ? gst_stereo_text_range (matches, pair->params, wanted) :
               g_strdup ("The search range is no longer too small."),
      fields);
}

static void
judge_range (GstStereoMatchCheck *check, const GstStereoPairMatches *matches, const GstStereoMatchedPair *pair)
{
  GstStereoVerdict verdict = range_of (matches, pair);
  gboolean before = check->range.stands;
  gint wanted = 0, min = pair->params->min_disparity;

  gst_stereo_finding_update (&check->range, verdict);
  if (verdict == GST_STEREO_VERDICT_BAD)
    wanted = gst_stereo_wanted_disparities (matches, min);
  check->needed = (gint) ceil (matches->largest) + 1 - min;
  if (verdict != GST_STEREO_VERDICT_UNKNOWN) {
    GST_OBJECT_LOCK (check->element);
    check->stats.beyond = matches->beyond / (gdouble) MAX (1, matches->beyond + matches->forward);
    check->stats.wanted = wanted;
    GST_OBJECT_UNLOCK (check->element);
  }
  if (check->range.stands != before)
    report_range (check, matches, pair, wanted);
}

gboolean
gst_stereo_match_check_fits (const GstStereoMatchCheck *check, const StereoAlignment *alignment)
{
  const gdouble *c = alignment->coefficients;

  /* places lie between -1/2 and 1/2 */
  return alignment->active && fabs (c[0] - check->shift) < MOST_LEFT && fabs (c[2] / 2 - check->roll) < MOST_LEFT &&
      fabs (c[1] / 2 - check->scale) < MOST_LEFT;
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
    gst_stereo_stale_clear (&check->stale);
    gst_stereo_span_forget (&check->span);
    check->matcher = gst_stereo_pair_matcher_new (width, height, min, num);
  }
  return check->matcher != NULL;
}

/* The frame that motion leads back to. */
static void
keep_for_motion (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair)
{
  gst_stereo_pair_matcher_keep (check->matcher, &pair->images[0], &pair->images[1]);
  gst_stereo_span_keep (&check->span, pair->time);
}

void
gst_stereo_match_check_keep (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean last)
{
  if (!prepare (check, pair))
    return;
  if (last && !check->span.slow)
    keep_for_motion (check, pair);
  gst_stereo_stale_keep (&check->stale, pair->images, pair->layout->width, pair->layout->height);
}

void
gst_stereo_match_check_forget_frames (GstStereoMatchCheck *check)
{
  gst_stereo_stale_forget (&check->stale);
}

gboolean
gst_stereo_match_check_run (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean all)
{
  GstStereoPairMatches matches;
  gboolean conclusive = FALSE;
  gint frames;

  check->last = pair->time;
  if (!prepare (check, pair))
    return FALSE;
  frames = gst_stereo_span_count (&check->span, pair->time, pair->spacing);
  gst_stereo_pair_matcher_run (check->matcher, &pair->images[0], &pair->images[1], pair->counts, frames, &matches);
  GST_LOG_OBJECT (check->element,
      "offsets: %u, scale %.2f px, rest %.2f px; %u followed over %d frames%s; left view late: %.1f, %.1f, %.1f, "
      "right view: %.1f, %.1f, %.1f",
      matches.placed, matches.scale, matches.rest, matches.followed, frames, check->span.slow ? " of a slow scene" : "",
      matches.delay.late[0][0], matches.delay.late[0][1], matches.delay.late[0][2], matches.delay.late[1][0],
      matches.delay.late[1][1], matches.delay.late[1][2]);
  check->shift = matches.shift;
  check->roll = matches.roll;
  check->scale = matches.scale;
  judge_offsets (check, &matches, pair);
  judge_mismatch (check, &matches, pair);
  if (gst_stereo_span_add (&check->span, pair->time, frames, &matches))
    keep_for_motion (check, pair);
  if (has_news (check, &matches, pair) || all) {
    conclusive = judge_rig (check, &matches, pair);
    judge_range (check, &matches, pair);
  }
  return conclusive;
}

void
gst_stereo_match_check_get_stats (GstStereoMatchCheck *check, GstStereoMatchStats *stats)
{
  GST_OBJECT_LOCK (check->element);
  *stats = check->stats;
  GST_OBJECT_UNLOCK (check->element);
}
