/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/checks.h"

#include <math.h>
#include <string.h>

#include "gst/match/check/look.h"
#include "gst/match/check/times.h"
#include "gst/match/debug.h"

/* Where a pair told nothing (too dark, too flat), the next one is looked at sooner. */
#define SOON ((gint64) GST_SECOND)

/* What is usual is known after so many looks, and is the mean over so many. */
#define MIN_FOUNDS 5
#define MAX_FOUNDS 50
#define MATCHES_HOLD ((gint64) (400 * GST_MSECOND))

struct _GstStereoChecks
{
  GstElement *element;
  GstStereoHealth *health;

  /* protected by the element's object lock */
  guint64 interval;
  GstStereoChecksStats stats;

  /* of the source pad's task */
  GstStereoCheck *check;        /* scratch; NULL before the first look, and for views too small */
  gboolean started, conclusive; /* whether there was a look; whether it could tell anything */
  gint64 last;                  /* its time, ns */
  gint64 matched;               /* time of the last look at whether the views match, ns */
  GstStereoEpisode mismatch, focal, late;
  gdouble found; /* mean share of the points that are found, in looks where that was no less than usual */
  guint founds;  /* looks that the mean is of */
  GstStereoSkew skew;
  GstStereoFinding exchanged, unrectified, out_of_step, drifting;
};

const GstStereoProperty gst_stereo_checks_properties[] = {
  { .name = "check-interval",
      .kind = GST_STEREO_UINT64,
      .flags = GST_STEREO_CONTROLLED,
      .offset = G_STRUCT_OFFSET (GstStereoChecks, interval),
      .initial = GST_STEREO_CHECK_INTERVAL,
      .blurb = "Nanoseconds of stream time from one check of the input to the next: whether left and right are "
               "exchanged, the rows of the views do not fit, their timestamps are out of step, or the search range is "
               "too small; a warning says so once, and what to do; each check takes some 2 ms of CPU time; 0 = never, "
               "and no look at what is wrong with a camera (message stereo-health) either" },
  { .name = NULL },
};

GstStereoChecks *
gst_stereo_checks_new (GstElement *element)
{
  GstStereoChecks *checks = g_new0 (GstStereoChecks, 1);

  checks->element = element;
  checks->health = gst_stereo_health_new (element);
  return checks;
}

void
gst_stereo_checks_free (GstStereoChecks *checks)
{
  gst_stereo_checks_release (checks);
  gst_stereo_health_free (checks->health);
  g_free (checks);
}

void
gst_stereo_checks_start (GstStereoChecks *checks)
{
  GST_OBJECT_LOCK (checks->element);
  checks->stats = (GstStereoChecksStats){ .vertical_offset = -1 };
  GST_OBJECT_UNLOCK (checks->element);
  gst_stereo_checks_release (checks);
  gst_stereo_health_start (checks->health);
}

void
gst_stereo_checks_flush (GstStereoChecks *checks)
{
  checks->started = FALSE;
  gst_stereo_episode_flush (&checks->mismatch);
  gst_stereo_episode_flush (&checks->focal);
  gst_stereo_episode_flush (&checks->late);
  memset (&checks->skew, 0, sizeof checks->skew);
  gst_stereo_health_flush (checks->health);
}

void
gst_stereo_checks_release (GstStereoChecks *checks)
{
  gst_stereo_checks_flush (checks);
  gst_stereo_health_release (checks->health);
  g_clear_pointer (&checks->check, gst_stereo_check_free);
  checks->conclusive = FALSE;
  checks->last = checks->matched = 0;
  checks->mismatch = checks->focal = checks->late = (GstStereoEpisode){ 0 };
  checks->found = 0;
  checks->founds = 0;
  checks->exchanged = checks->unrectified = checks->out_of_step = checks->drifting = (GstStereoFinding){ 0 };
}

/* ---- what was found ----------------------------------------------------------------------- */

static gchar *
describe_exchanged (const GstStereoCheckResult *result, const GstStereoLayout *layout)
{
  const gchar *remedy = layout->packing == GST_STEREO_PACKING_AUTO ?
      "exchange what is linked to sink_left and sink_right" :
      "turn right-view-first in the caps' multiview-flags round";

  return g_strdup_printf ("Left and right look exchanged: %u of %u points match at disparities below those searched "
                          "(median of all: %.1f px). If they are, %s; if they are not, set min-disparity to about %d.",
      result->backward, result->forward + result->backward, result->disparity, remedy, (gint) (1.5 * result->disparity));
}

static gchar *
describe_rows (const GstStereoCheckResult *result, const StereoParams *params)
{
  return g_strdup_printf (
      "The rows of the two views do not fit: a point lies %.1f px higher or lower in the right view than in the left "
      "one (median of %u; the left half of the picture is off by %.1f px, the right one by %.1f px, down is positive). "
      "Rectify the views: put stereorectify with its calibration before stereomatch, or calibrate anew. If they are "
      "rectified, they were not taken at the same moment. %s",
      result->vertical, result->placed, result->vertical_left, result->vertical_right,
      params->align ? "Up to 3 px are taken out while stats say aligned, which is less exact." :
                      "align=auto takes up to 3 px of it out, which is less exact.");
}

static GstStructure *
new_figures (gdouble value)
{
  return gst_structure_new ("stereo-health", "value", G_TYPE_DOUBLE, value, NULL);
}

/* Tells when a finding begins, and when it has ended. TRUE when the beginning is to be told: the caller does that. */
static gboolean
update (GstStereoChecks *checks, GstStereoFinding *finding, GstStereoVerdict verdict, GstStereoHealthFlags flag,
    const gchar *end)
{
  gboolean before = finding->stands, begins = gst_stereo_finding_update (finding, verdict);

  if (before && !finding->stands)
    gst_stereo_health_tell (checks->health, flag, FALSE, g_strdup (end), new_figures (0));
  return begins;
}

/* After a look at a pair. */
static void
judge_views (GstStereoChecks *checks, const GstStereoCheckResult *result, const GstStereoLayout *layout,
    const StereoParams *params)
{
  /* where the offsets have a cause that was told, they tell nothing of the rows */
  gboolean explained = checks->focal.stands || checks->late.stands;
  GstStereoVerdict exchanged = gst_stereo_check_exchanged (result);
  GstStereoVerdict rows = explained ? GST_STEREO_VERDICT_UNKNOWN : gst_stereo_check_unrectified (result);

  GST_DEBUG_OBJECT (checks->element,
      "check: %u of %u points matched: %u forward, %u backward, median %.2f px; %u placed, off by %.2f px "
      "(left %.2f, right %.2f)%s",
      result->matches, result->points, result->forward, result->backward, result->disparity, result->placed,
      result->vertical, result->vertical_left, result->vertical_right,
      exchanged == GST_STEREO_VERDICT_UNKNOWN && rows == GST_STEREO_VERDICT_UNKNOWN ? "; that tells nothing" : "");
  GST_OBJECT_LOCK (checks->element);
  checks->stats.checks++;
  checks->stats.matches = result->matches;
  if (exchanged != GST_STEREO_VERDICT_UNKNOWN)
    checks->stats.exchanged = exchanged == GST_STEREO_VERDICT_BAD;
  if (rows != GST_STEREO_VERDICT_UNKNOWN)
    checks->stats.vertical_offset = result->vertical;
  GST_OBJECT_UNLOCK (checks->element);
  if (update (checks, &checks->exchanged, exchanged, GST_STEREO_HEALTH_SWAPPED,
          "Left and right do not look exchanged any more."))
    gst_stereo_health_tell (checks->health, GST_STEREO_HEALTH_SWAPPED, TRUE, describe_exchanged (result, layout),
        new_figures (result->backward / (gdouble) (result->forward + result->backward)));
  if (update (checks, &checks->unrectified, rows, GST_STEREO_HEALTH_ROWS, "The rows of the two views fit again."))
    gst_stereo_health_tell (
        checks->health, GST_STEREO_HEALTH_ROWS, TRUE, describe_rows (result, params), new_figures (result->vertical));
  checks->conclusive = exchanged != GST_STEREO_VERDICT_UNKNOWN || rows != GST_STEREO_VERDICT_UNKNOWN;
}

static void
tell_episode (GstStereoChecks *checks, GstStereoEpisodeChange change, GstStereoHealthFlags flag, gchar *begin,
    const gchar *end, gdouble value)
{
  gboolean active = change == GST_STEREO_EPISODE_BEGINS;

  if (change != GST_STEREO_EPISODE_GOES_ON)
    gst_stereo_health_tell (checks->health, flag, active, g_strdup (active ? begin : end), new_figures (value));
  g_free (begin);
}

/* What the vertical offsets say of the lenses and of the moments of the two views. */
static void
judge_offsets (GstStereoChecks *checks, const GstStereoCheckResult *result, gint64 time)
{
  gboolean sound = gst_stereo_health_is_sound (checks->health) && !checks->mismatch.stands;
  GstStereoVerdict focal = sound ? gst_stereo_check_focal (result) : GST_STEREO_VERDICT_UNKNOWN;
  GstStereoVerdict late = sound ? gst_stereo_check_out_of_step (result) : GST_STEREO_VERDICT_UNKNOWN;

  tell_episode (checks, gst_stereo_episode_update (&checks->late, late, time, MATCHES_HOLD),
      GST_STEREO_HEALTH_OUT_OF_STEP,
      g_strdup_printf (
          "The views are out of step: points lie higher or lower in the right view, by %.1f px more than any turn or "
          "scale explains. The views, or parts of them, were taken at different moments: trigger the cameras together, "
          "and look at what delays or tears frames on the way. Where nothing moves, a lens is not "
          "undistorted: calibrate anew.",
          result->rest),
      "The views are in step again.", result->rest);
  tell_episode (checks, gst_stereo_episode_update (&checks->focal, focal, time, MATCHES_HOLD), GST_STEREO_HEALTH_FOCAL,
      g_strdup_printf ("The focal lengths differ: the right view is %s, by %.1f px at its top and bottom. Look whether "
                       "both cameras have the same lens and the same zoom, or calibrate anew.",
          result->scale > 0 ? "larger" : "smaller", fabs (result->scale)),
      "The focal lengths no longer differ.", result->scale);
}

/* Whether the views show one scene, unless something else explains that they do not match. */
static void
judge_mismatch (GstStereoChecks *checks, const GstStereoCheckResult *result, gint64 time)
{
  gdouble past = checks->founds < MIN_FOUNDS ? 0 : checks->found, share = result->matches / MAX (1.0, result->points);
  GstStereoVerdict verdict = gst_stereo_health_is_sound (checks->health) ? gst_stereo_check_mismatch (result, past) :
                                                                           GST_STEREO_VERDICT_UNKNOWN;
  GstStereoEpisodeChange change = gst_stereo_episode_update (&checks->mismatch, verdict, time, MATCHES_HOLD);

  if (verdict == GST_STEREO_VERDICT_GOOD) {
    checks->founds = MIN (checks->founds + 1, MAX_FOUNDS);
    checks->found += (share - checks->found) / checks->founds;
  }
  if (change == GST_STEREO_EPISODE_BEGINS)
    gst_stereo_health_tell (checks->health, GST_STEREO_HEALTH_MISMATCH, TRUE,
        g_strdup_printf ("The two views do not match: of %u points of the left view, %u are found in the right one%s. "
                         "Look whether both cameras see the same scene, whether one of them is mirrored or turned, and "
                         "whether something is before a lens.",
            result->points, result->matches, past > 0 ? ", much less than before" : ""),
        new_figures (share));
  else if (change == GST_STEREO_EPISODE_ENDS)
    gst_stereo_health_tell (checks->health, GST_STEREO_HEALTH_MISMATCH, FALSE, g_strdup ("The two views match again."),
        new_figures (share));
}

/* @frame: nominal time from frame to frame, ns. */
static void
judge_timestamps (GstStereoChecks *checks, gint64 frame)
{
  GstStereoSkew *skew = &checks->skew;

  if (!gst_stereo_skew_close (skew))
    return;
  GST_DEBUG_OBJECT (checks->element,
      "check: the frames of a pair are %.3f ms apart on average, drifting by %.3f ms in a second", skew->mean / 1e6,
      skew->drift / 1e6);
  GST_OBJECT_LOCK (checks->element);
  checks->stats.skew_mean = (guint64) skew->mean;
  checks->stats.skew_drift = skew->drift;
  GST_OBJECT_UNLOCK (checks->element);
  if (update (checks, &checks->out_of_step, gst_stereo_skew_is_large (skew, frame), GST_STEREO_HEALTH_OUT_OF_STEP,
          "The views are in step again."))
    gst_stereo_health_tell (checks->health, GST_STEREO_HEALTH_OUT_OF_STEP, TRUE,
        g_strdup_printf ("The views are out of step: the two frames of a pair are %.1f ms apart on average, of %.1f ms "
                         "from frame to frame. What moves gets a wrong disparity. Trigger the cameras together, or "
                         "start them together.",
            skew->mean / 1e6, frame / 1e6),
        new_figures (skew->mean / 1e6));
  if (update (checks, &checks->drifting, gst_stereo_skew_drifts (skew, frame), GST_STEREO_HEALTH_DRIFT,
          "The timestamps of the two views no longer drift apart."))
    gst_stereo_health_tell (checks->health, GST_STEREO_HEALTH_DRIFT, TRUE,
        g_strdup_printf ("The timestamps of the two views drift apart, by %.3f ms in a second: the cameras run at "
                         "different rates. Trigger them together, or let one clock stamp both.",
            skew->drift / 1e6),
        new_figures (skew->drift / 1e6));
}

/* ---- a look ------------------------------------------------------------------------------- */

/* The matches of a pair's points. @all: not only whether there are as many as usual. */
static void
look_for_points (GstStereoChecks *checks, const GstStereoLayout *layout, const StereoImage images[2],
    const GstStereoCheckedPair *pair, gint64 time, gboolean all)
{
  const StereoParams *params = pair->params;
  gint width = layout->width, height = layout->height, min = params->min_disparity, num = params->num_disparities;
  GstStereoCheckResult result;

  if (!checks->check || !gst_stereo_check_is_for (checks->check, width, height, min, num)) {
    gst_stereo_check_free (checks->check);
    checks->check = gst_stereo_check_new (width, height, min, num);
  }
  if (!checks->check)
    return;
  gst_stereo_check_run (checks->check, &images[0], &images[1], pair->mask ? pair->mask->counts : NULL, &result);
  GST_LOG_OBJECT (checks->element, "offsets: %u, scale %.2f px, rest %.2f px", result.placed, result.scale, result.rest);
  judge_offsets (checks, &result, time);
  judge_mismatch (checks, &result, time);
  if (!all)
    return;
  judge_views (checks, &result, layout, params);
  gst_stereo_health_add_matches (checks->health, &result, params);
}

/* Frames that cannot be mapped are left alone: matching them reports that. */
static void
look_at_views (GstStereoChecks *checks, const GstStereoCheckedPair *pair, gint64 time, gboolean points, gboolean all,
    gboolean health)
{
  const GstStereoFrame *first = pair->first, *second = pair->second;
  gboolean two = first->buffer != second->buffer;
  const GstVideoInfo *const infos[2] = { &first->info, &second->info };
  GstVideoFrame frames[2];
  StereoImage images[2];

  if (!gst_stereo_frame_map (&frames[0], &first->info, first->buffer, NULL))
    return;
  if (two && !gst_stereo_frame_map (&frames[1], &second->info, second->buffer, NULL)) {
    gst_video_frame_unmap (&frames[0]);
    return;
  }
  gst_stereo_layout_images (&first->layout, &frames[0], &frames[two], &images[0], &images[1]);
  if (health)
    gst_stereo_health_look (checks->health, time, &first->layout, infos, images, pair->live,
        pair->params->min_disparity + pair->params->num_disparities);
  if (points)
    look_for_points (checks, &first->layout, images, pair, time, all);
  if (two)
    gst_video_frame_unmap (&frames[1]);
  gst_video_frame_unmap (&frames[0]);
}

/* Whether the points of a pair of that time are to be looked at. */
static gboolean
is_due (const GstStereoChecks *checks, gint64 time, gint64 interval)
{
  return !checks->started || time < checks->last ||
      time - checks->last >= (checks->conclusive ? interval : MIN (interval, SOON));
}

/* Whether it is time to look whether the views match. */
static gboolean
is_match_due (const GstStereoChecks *checks, gint64 time)
{
  gboolean begins = (checks->mismatch.count && !checks->mismatch.stands) ||
      (checks->focal.count && !checks->focal.stands) || (checks->late.count && !checks->late.stands);

  return time < checks->matched ||
      time - checks->matched >= (gint64) (begins ? GST_STEREO_CHECK_MATCHES_SOON : GST_STEREO_CHECK_MATCHES_INTERVAL);
}

static void
add_counts (GstStereoChecks *checks, const GstStereoCheckedPair *pair)
{
  const GstStereoLayout *layout = &pair->first->layout;
  GstStereoLoad load = { .width = layout->width,
    .height = layout->height,
    .disparities = pair->params->num_disparities,
    .method = pair->params->method,
    .profile = pair->params->profile,
    .on_device = pair->on_device,
    .frame = (gdouble) pair->first->spacing };

  gst_stereo_health_add_counts (checks->health, &pair->counts, &load);
}

/* Looks at a pair, at times. */
static void
look_at_pair (GstStereoChecks *checks, const GstStereoCheckedPair *pair, gint64 interval)
{
  const GstStereoFrame *first = pair->first, *second = pair->second;
  gint64 time = first->time == GST_STEREO_TIME_NONE ? second->time : first->time;
  gboolean points, health, matches, on_device = gst_stereo_cuda_context_of (first->buffer) != NULL;

  /* the frames of a bundle are of different moments on purpose, and one buffer is of one moment */
  if (first->layout.packing == GST_STEREO_PACKING_AUTO && first->time != GST_STEREO_TIME_NONE &&
      second->time != GST_STEREO_TIME_NONE)
    gst_stereo_skew_add (&checks->skew, first->time, gst_stereo_frame_skew (first, second));
  if (time == GST_STEREO_TIME_NONE)
    time = g_get_monotonic_time () * 1000;
  points = is_due (checks, time, interval);
  /* frames in device memory are copied for a look */
  health = on_device ? points : gst_stereo_health_is_due (checks->health, time);
  matches = points || (!on_device && is_match_due (checks, time));
  if (matches)
    checks->matched = time;
  if (points) {
    checks->started = TRUE;
    checks->last = time;
    checks->conclusive = FALSE;
  }
  if (matches || health)
    look_at_views (checks, pair, time, matches, points, health);
  if (points)
    judge_timestamps (checks, first->spacing);
}

static guint64
current_interval (GstStereoChecks *checks)
{
  guint64 interval;

  GST_OBJECT_LOCK (checks->element);
  interval = checks->interval;
  GST_OBJECT_UNLOCK (checks->element);
  return interval;
}

GstStereoHealthFlags
gst_stereo_checks_add_pair (GstStereoChecks *checks, const GstStereoCheckedPair *pair)
{
  gint64 interval = (gint64) MIN (current_interval (checks), G_MAXINT64 / 4);
  GstStereoHealthFlags flags;

  if (!interval)
    return GST_STEREO_HEALTH_OK;
  add_counts (checks, pair);
  look_at_pair (checks, pair, interval);
  flags = gst_stereo_health_now (checks->health);
  return pair->aligned ? flags & ~GST_STEREO_HEALTH_ROWS : flags;
}

/* ---- from any thread ---------------------------------------------------------------------- */

void
gst_stereo_checks_get_stats (GstStereoChecks *checks, GstStereoChecksStats *stats)
{
  GST_OBJECT_LOCK (checks->element);
  *stats = checks->stats;
  GST_OBJECT_UNLOCK (checks->element);
}

void
gst_stereo_checks_add_health (GstStereoChecks *checks, GstStructure *stats)
{
  gst_stereo_health_add_stats (checks->health, stats);
}
