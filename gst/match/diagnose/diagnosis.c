/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/diagnosis.h"

#include <string.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/match_check.h"
#include "gst/match/diagnose/report.h"
#include "gst/match/diagnose/timestamps.h"
#include "gst/match/diagnose/views.h"
#include "gst/meta/gststereometa.h"

/* Where a pair said nothing (too dark, too flat), everything is checked again sooner. */
#define SOON ((gint64) GST_SECOND)

struct _GstStereoDiagnosis
{
  GstElement *element;
  GstStereoReport *report;
  GstStereoViews *views;
  GstStereoMatchCheck *matches;

  /* protected by the element's object lock */
  guint64 interval;
  guint64 skew_mean;  /* ns */
  gdouble skew_drift; /* ns in a second */

  /* of the source pad's task */
  gboolean started, conclusive; /* whether everything was checked; whether anything could be said then */
  gint64 last;                  /* when, ns */
  gint64 time, spacing;         /* of the last pair, and from the one before to it, ns; 0 = not known */
  GstStereoSkew skew;
  GstStereoEpisode apart, drifting;
  GstStereoPace pace;
};

const GstStereoProperty gst_stereo_diagnosis_properties[] = {
  { .name = "check-interval",
      .kind = GST_STEREO_UINT64,
      .flags = GST_STEREO_CONTROLLED,
      .offset = G_STRUCT_OFFSET (GstStereoDiagnosis, interval),
      .initial = GST_STEREO_DIAGNOSIS_INTERVAL,
      .blurb = "Nanoseconds of stream time from one check of the input to the next, of exchanged views, rows, "
               "timestamps and the search range; each takes some 2 ms of CPU time. 0 = never, and no look at "
               "what is wrong with a camera (message stereo-health) either" },
  { .name = NULL },
};

GstStereoDiagnosis *
gst_stereo_diagnosis_new (GstElement *element)
{
  GstStereoDiagnosis *diagnosis = g_new0 (GstStereoDiagnosis, 1);

  diagnosis->element = element;
  diagnosis->report = gst_stereo_report_new (element);
  diagnosis->views = gst_stereo_views_new (element, diagnosis->report);
  diagnosis->matches = gst_stereo_match_check_new (element, diagnosis->report);
  return diagnosis;
}

void
gst_stereo_diagnosis_free (GstStereoDiagnosis *diagnosis)
{
  gst_stereo_match_check_free (diagnosis->matches);
  gst_stereo_views_free (diagnosis->views);
  gst_stereo_report_free (diagnosis->report);
  g_free (diagnosis);
}

void
gst_stereo_diagnosis_start (GstStereoDiagnosis *diagnosis)
{
  GST_OBJECT_LOCK (diagnosis->element);
  diagnosis->skew_mean = 0;
  diagnosis->skew_drift = 0;
  GST_OBJECT_UNLOCK (diagnosis->element);
  gst_stereo_diagnosis_release (diagnosis);
  gst_stereo_report_start (diagnosis->report);
}

void
gst_stereo_diagnosis_flush (GstStereoDiagnosis *diagnosis)
{
  diagnosis->started = FALSE;
  diagnosis->time = diagnosis->spacing = 0;
  memset (&diagnosis->skew, 0, sizeof diagnosis->skew);
  gst_stereo_views_flush (diagnosis->views);
  gst_stereo_match_check_flush (diagnosis->matches);
  gst_stereo_pace_flush (&diagnosis->pace);
}

void
gst_stereo_diagnosis_release (GstStereoDiagnosis *diagnosis)
{
  gst_stereo_diagnosis_flush (diagnosis);
  gst_stereo_views_start (diagnosis->views);
  gst_stereo_match_check_start (diagnosis->matches);
  diagnosis->conclusive = FALSE;
  diagnosis->last = 0;
  diagnosis->apart = diagnosis->drifting = (GstStereoEpisode){ 0 };
  memset (&diagnosis->pace, 0, sizeof diagnosis->pace);
}

/* ---- timestamps ---------------------------------------------------------------------------- */

static void
update (GstStereoDiagnosis *diagnosis, GstStereoEpisode *episode, GstStereoVerdict verdict, GstStereoHealthFlags flag,
    gchar *begin, const gchar *end, gdouble value)
{
  g_autofree gchar *text = begin;
  GstStereoEpisodeChange change = gst_stereo_episode_update (episode, verdict, 0, 0);
  gboolean begins = change == GST_STEREO_EPISODE_BEGINS;

  if (change != GST_STEREO_EPISODE_GOES_ON)
    gst_stereo_report_change (diagnosis->report, flag, begins, begins ? g_steal_pointer (&text) : g_strdup (end),
        gst_stereo_report_value (begins ? value : 0));
}

/* @frame: nominal time from frame to frame, ns. */
static void
judge_timestamps (GstStereoDiagnosis *diagnosis, gint64 frame)
{
  GstStereoSkew *skew = &diagnosis->skew;

  if (!gst_stereo_skew_close (skew))
    return;
  GST_DEBUG_OBJECT (diagnosis->element,
      "check: the frames of a pair are %.3f ms apart on average, drifting by %.3f ms in a second", skew->mean / 1e6,
      skew->drift / 1e6);
  GST_OBJECT_LOCK (diagnosis->element);
  diagnosis->skew_mean = (guint64) skew->mean;
  diagnosis->skew_drift = skew->drift;
  GST_OBJECT_UNLOCK (diagnosis->element);
  update (diagnosis, &diagnosis->apart, gst_stereo_skew_is_large (skew, frame), GST_STEREO_HEALTH_OUT_OF_STEP,
      gst_stereo_skew_describe (skew, frame), "The views are in step again.", skew->mean / 1e6);
  update (diagnosis, &diagnosis->drifting, gst_stereo_skew_drifts (skew, frame), GST_STEREO_HEALTH_DRIFT,
      gst_stereo_skew_describe_drift (skew), "The timestamps of the two views no longer drift apart.",
      skew->drift / 1e6);
}

/* ---- the pace ---------------------------------------------------------------------------- */

static GstStructure *
fields_of_pace (const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice)
{
  return gst_structure_new ("stereo-health", "value", G_TYPE_DOUBLE,
      pace->dropped / (gdouble) MAX (1, pace->dropped + pace->computed), "dropped", G_TYPE_UINT64, pace->dropped,
      "computed", G_TYPE_UINT64, pace->computed, "compute-time", G_TYPE_UINT64, (guint64) load->compute, "frame-time",
      G_TYPE_UINT64, (guint64) load->frame, "num-disparities", G_TYPE_INT, advice->disparities, "scaled-width",
      G_TYPE_INT, advice->smaller.width, "scaled-height", G_TYPE_INT, advice->smaller.height, "scaled-num-disparities",
      G_TYPE_INT, advice->smaller.disparities, NULL);
}

static void
judge_pace (GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair)
{
  const GstStereoPaceCounts *counts = &pair->counts;
  const GstStereoLayout *layout = &pair->left->layout;
  GstStereoPace *pace = &diagnosis->pace;
  GstStereoEpisodeChange change = gst_stereo_pace_add (pace, g_get_monotonic_time () * 1000, counts);
  gboolean active = change == GST_STEREO_EPISODE_BEGINS;
  GstStereoLoad load = { .width = layout->width,
    .height = layout->height,
    .disparities = pair->params->num_disparities,
    .frame = (gdouble) pair->left->spacing };
  StereoParams own;
  StereoError error;

  if (change == GST_STEREO_EPISODE_GOES_ON)
    return;
  load.listed = !stereo_params_resolve (pair->params, &own, &error) && own.search == STEREO_SEARCH_COARSE_TO_FINE;
  load.compute = (gdouble) counts->compute;
  GstStereoAdvice advice = gst_stereo_pace_advise (&load, gst_stereo_match_check_get_needed (diagnosis->matches));
  gst_stereo_report_change (diagnosis->report, GST_STEREO_HEALTH_SLOW, active,
      active ? gst_stereo_pace_describe (pace, &load, &advice) : g_strdup ("The pairs keep up with the stream again."),
      fields_of_pace (pace, &load, &advice));
}

/* ---- pairs -------------------------------------------------------------------------------- */

/* What is due for a pair. */
typedef struct
{
  gboolean views, matches, all;
} Due;

/* Whether everything is to be checked at that time. */
static gboolean
is_due (const GstStereoDiagnosis *diagnosis, gint64 time, gint64 interval)
{
  return !diagnosis->started || time < diagnosis->last ||
      time - diagnosis->last >= (diagnosis->conclusive ? interval : MIN (interval, SOON));
}

/* Whether the matches of the next pair will be checked, for which this one is kept. */
static gboolean
is_before_check (const GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 interval)
{
  gboolean on_device = gst_stereo_cuda_context_of (pair->left->buffer) != NULL;
  /* the frames of a bundle are of different moments on purpose */
  gboolean bundle = pair->left->layout.packing != GST_STEREO_PACKING_AUTO && pair->left->buffer != pair->right->buffer;
  gint64 next = diagnosis->time + diagnosis->spacing;

  return diagnosis->spacing && !bundle &&
      (is_due (diagnosis, next, interval) || (!on_device && gst_stereo_match_check_is_due (diagnosis->matches, next)));
}

/* As stereorectify says. */
static gboolean
is_rectified (const GstStereoFrame *frame)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (frame->buffer);

  return meta && meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS;
}

/* Frames that cannot be mapped are left alone: matching them reports that. */
static void
check_views (GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 interval, const Due *due)
{
  const GstStereoFrame *left = pair->left, *right = pair->right;
  const StereoParams *params = pair->params;
  gboolean two = left->buffer != right->buffer;
  const GstVideoInfo *const infos[2] = { &left->info, &right->info };
  GstStereoMatchedPair matched = { .layout = &left->layout,
    .counts = pair->mask ? pair->mask->counts : NULL,
    .params = params,
    .rectified = is_rectified (left),
    .time = diagnosis->time };
  GstVideoFrame frames[2];
  StereoImage images[2];

  if (!gst_stereo_frame_map (&frames[0], &left->info, left->buffer, NULL))
    return;
  if (two && !gst_stereo_frame_map (&frames[1], &right->info, right->buffer, NULL)) {
    gst_video_frame_unmap (&frames[0]);
    return;
  }
  gst_stereo_layout_images (&left->layout, &frames[0], &frames[two], &images[0], &images[1]);
  if (due->views)
    gst_stereo_views_look (diagnosis->views, diagnosis->time, &left->layout, infos, images, pair->live,
        params->min_disparity, params->min_disparity + params->num_disparities - 1);
  GstStereoViewsWorth worth = gst_stereo_views_get_worth (diagnosis->views);
  gboolean jumped = due->views && worth.jumped;
  matched.images = images;
  matched.sound = worth.sound;
  matched.detailed = worth.detailed;
  matched.noise = worth.noise;
  /* another picture: the views may have been exchanged, or a camera was turned */
  if (due->matches || jumped) {
    gboolean conclusive = gst_stereo_match_check_run (diagnosis->matches, &matched, due->all || jumped);
    diagnosis->conclusive = due->all ? conclusive : diagnosis->conclusive;
  }
  /* after the check, which may want the next one soon */
  if (is_before_check (diagnosis, pair, interval))
    gst_stereo_match_check_keep (diagnosis->matches, &matched);
  if (two)
    gst_video_frame_unmap (&frames[1]);
  gst_video_frame_unmap (&frames[0]);
}

static void
check_pair (GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 interval)
{
  const GstStereoFrame *left = pair->left, *right = pair->right;
  gint64 time = left->time == GST_STEREO_TIME_NONE ? right->time : left->time;
  gboolean on_device = gst_stereo_cuda_context_of (left->buffer) != NULL;

  /* the frames of a bundle are of different moments on purpose, and one buffer is of one moment */
  if (left->layout.packing == GST_STEREO_PACKING_AUTO && left->time != GST_STEREO_TIME_NONE &&
      right->time != GST_STEREO_TIME_NONE)
    gst_stereo_skew_add (&diagnosis->skew, left->time, gst_stereo_frame_skew (left, right));
  if (time == GST_STEREO_TIME_NONE)
    time = g_get_monotonic_time () * 1000;
  diagnosis->spacing = diagnosis->started && time > diagnosis->time && time - diagnosis->time < SOON ?
      time - diagnosis->time :
      0;
  diagnosis->time = time;
  Due due = { .all = is_due (diagnosis, time, interval) };
  /* frames in device memory are copied, for everything at once */
  due.views = on_device ? due.all : gst_stereo_views_are_due (diagnosis->views, time);
  due.matches = due.all || (!on_device && gst_stereo_match_check_is_due (diagnosis->matches, time));
  if (due.all) {
    diagnosis->started = TRUE;
    diagnosis->last = time;
    diagnosis->conclusive = FALSE;
  }
  if (due.matches || due.views || is_before_check (diagnosis, pair, interval))
    check_views (diagnosis, pair, interval, &due);
  if (due.all)
    judge_timestamps (diagnosis, left->spacing);
}

GstStereoHealthFlags
gst_stereo_diagnosis_add_pair (
    GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, GstStereoUnmeasured **unmeasured)
{
  GST_OBJECT_LOCK (diagnosis->element);
  gint64 interval = (gint64) MIN (diagnosis->interval, G_MAXINT64 / 4);
  GST_OBJECT_UNLOCK (diagnosis->element);
  *unmeasured = NULL;
  if (!interval)
    return gst_stereo_report_get_flags (diagnosis->report);
  judge_pace (diagnosis, pair);
  check_pair (diagnosis, pair, interval);
  GstStereoUnmeasured *found = gst_stereo_views_get_unmeasured (diagnosis->views);
  *unmeasured = found ? gst_stereo_unmeasured_ref (found) : NULL;
  return gst_stereo_report_get_flags (diagnosis->report) &
      ~gst_stereo_match_check_taken_out (diagnosis->matches, pair->alignment);
}

void
gst_stereo_diagnosis_set (GstStereoDiagnosis *diagnosis, GstStereoHealthFlags all, GstStereoHealthFlags flags)
{
  gst_stereo_report_set (diagnosis->report, all, flags);
}

/* ---- from any thread ---------------------------------------------------------------------- */

void
gst_stereo_diagnosis_add_stats (GstStereoDiagnosis *diagnosis, GstStructure *stats)
{
  GstStereoMatchStats matches;

  GST_OBJECT_LOCK (diagnosis->element);
  guint64 skew_mean = diagnosis->skew_mean;
  gdouble skew_drift = diagnosis->skew_drift;
  GST_OBJECT_UNLOCK (diagnosis->element);
  gst_stereo_match_check_get_stats (diagnosis->matches, &matches);
  gst_structure_set (stats, "checks", G_TYPE_UINT64, matches.checks, "check-matches", G_TYPE_UINT64, matches.matches,
      "exchanged", G_TYPE_BOOLEAN, matches.exchanged, "vertical-offset", G_TYPE_DOUBLE, matches.vertical_offset,
      "skew-mean", G_TYPE_UINT64, skew_mean, "skew-drift", G_TYPE_DOUBLE, skew_drift, NULL);
  gst_stereo_report_add_stats (diagnosis->report, stats);
  gst_stereo_views_add_stats (diagnosis->views, stats);
  gst_structure_set (
      stats, "beyond-range", G_TYPE_DOUBLE, matches.beyond, "wanted-disparities", G_TYPE_INT, matches.wanted, NULL);
}
