/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/diagnosis.h"

#include "gst/match/diagnose/matches.h"

#define INTERVAL (5 * GST_SECOND) /* from one check of everything to the next */

struct _GstStereoDiagnosis
{
  GstElement *element;
  GstStereoFaults *faults;

  /* protected by the element's object lock */
  guint64 interval, checks;
  gdouble skew_mean, skew_drift; /* ns; ns in a second */

  /* of the source pad's task */
  GstStereoViews *views;
  GstStereoMatches *matches;
  GstStereoClock clock;
  gint64 last;          /* when everything was checked, ns */
  gint64 time, spacing; /* of the last pair, and from the one before to it, ns; 0 = not known */
};

const GstStereoProperty gst_stereo_diagnosis_properties[] = {
  { .name = "check-interval",
      .kind = GST_STEREO_UINT64,
      .flags = GST_STEREO_CONTROLLED,
      .offset = G_STRUCT_OFFSET (GstStereoDiagnosis, interval),
      .initial = INTERVAL,
      .blurb = "Nanoseconds of stream time from one check of the timestamps to the next and, where frames lie in "
               "device memory, of the views. 0 = nothing is checked: there is no message stereo-health" },
  { .name = NULL },
};

GstStereoDiagnosis *
gst_stereo_diagnosis_new (GstElement *element)
{
  GstStereoDiagnosis *diagnosis = g_new0 (GstStereoDiagnosis, 1);

  diagnosis->element = element;
  diagnosis->faults = gst_stereo_faults_new (element);
  diagnosis->views = gst_stereo_views_new (element, diagnosis->faults);
  diagnosis->matches = gst_stereo_matches_new (element, diagnosis->faults);
  return diagnosis;
}

void
gst_stereo_diagnosis_free (GstStereoDiagnosis *diagnosis)
{
  gst_stereo_matches_free (diagnosis->matches);
  gst_stereo_views_free (diagnosis->views);
  gst_stereo_faults_free (diagnosis->faults);
  g_free (diagnosis);
}

void
gst_stereo_diagnosis_flush (GstStereoDiagnosis *diagnosis)
{
  diagnosis->last = diagnosis->time = G_MAXINT64;
  diagnosis->spacing = 0;
  gst_stereo_faults_flush (diagnosis->faults);
  gst_stereo_views_flush (diagnosis->views);
  gst_stereo_matches_flush (diagnosis->matches);
  gst_stereo_clock_flush (&diagnosis->clock);
}

void
gst_stereo_diagnosis_start (GstStereoDiagnosis *diagnosis)
{
  GstStereoViews *views = diagnosis->views;
  GstStereoMatches *matches = diagnosis->matches;

  GST_OBJECT_LOCK (diagnosis->element);
  diagnosis->views = gst_stereo_views_new (diagnosis->element, diagnosis->faults);
  diagnosis->matches = gst_stereo_matches_new (diagnosis->element, diagnosis->faults);
  diagnosis->checks = 0;
  diagnosis->skew_mean = diagnosis->skew_drift = 0;
  GST_OBJECT_UNLOCK (diagnosis->element);
  gst_stereo_views_free (views);
  gst_stereo_matches_free (matches);
  gst_stereo_diagnosis_flush (diagnosis);
  gst_stereo_faults_start (diagnosis->faults);
}

/* ---- pairs -------------------------------------------------------------------------------- */

/* What is due for a pair. */
typedef struct
{
  gboolean all, views, matches;
} Due;

/* Frames in device memory are copied, for everything at once. */
static Due
find_due (const GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 time, gint64 interval)
{
  gboolean on_device = gst_stereo_cuda_context_of (pair->left->buffer) != NULL;
  gboolean all = time < diagnosis->last || time - diagnosis->last >= interval;

  return (Due){ .all = all,
    .views = on_device ? all : gst_stereo_views_are_due (diagnosis->views, time),
    .matches = all || (!on_device && gst_stereo_matches_are_due (diagnosis->matches, time)) };
}

/* Whether the matches of the next pair will be checked, for which this one is kept. */
static gboolean
is_before_check (const GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 interval)
{
  /* the frames of a bundle are of different moments on purpose */
  gboolean bundle = pair->left->layout.packing != GST_STEREO_PACKING_AUTO && pair->left->buffer != pair->right->buffer;

  return diagnosis->spacing && !bundle &&
      find_due (diagnosis, pair, diagnosis->time + diagnosis->spacing, interval).matches;
}

/* Frames that cannot be mapped are left alone: matching them reports that. */
static void
check_views (GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 interval, const Due *due)
{
  const GstStereoFrame *frames[] = { pair->left, pair->right };
  const GstStereoLayout *layout = &pair->left->layout;
  GstStereoLookedPair looked = { .width = layout->width,
    .height = layout->height,
    .params = pair->params,
    .counts = pair->mask ? pair->mask->counts : NULL,
    .time = diagnosis->time,
    .live = pair->live };
  guint two = pair->left->buffer != pair->right->buffer;
  GstVideoFrame mapped[2];

  if (!gst_stereo_frame_map (&mapped[0], &pair->left->info, pair->left->buffer, NULL))
    return;
  if (two && !gst_stereo_frame_map (&mapped[1], &pair->right->info, pair->right->buffer, NULL)) {
    gst_video_frame_unmap (&mapped[0]);
    return;
  }
  gst_stereo_layout_images (layout, &mapped[0], &mapped[two], &looked.images[0], &looked.images[1]);
  for (guint v = 0; v < 2; v++) {
    gint offsets[GST_VIDEO_MAX_COMPONENTS], scales[GST_VIDEO_MAX_COMPONENTS];
    guint component = looked.images[v].channels == 3; /* green, or luma */
    gst_video_color_range_offsets (frames[v]->info.colorimetry.range, frames[v]->info.finfo, offsets, scales);
    looked.black[v] = offsets[component];
    looked.scale[v] = scales[component];
  }
  gboolean jumped = due->views && gst_stereo_views_look (diagnosis->views, &looked);
  gst_stereo_views_value (diagnosis->views, &looked);
  /* another picture: the views may have been exchanged, or a camera was turned */
  if (due->matches || jumped)
    gst_stereo_matches_check (diagnosis->matches, &looked, jumped);
  /* after the check, which may want the next one soon */
  if (is_before_check (diagnosis, pair, interval))
    gst_stereo_matches_keep (diagnosis->matches, &looked);
  if (two)
    gst_video_frame_unmap (&mapped[1]);
  gst_video_frame_unmap (&mapped[0]);
}

static void
check_pair (GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, gint64 interval)
{
  const GstStereoFrame *left = pair->left, *right = pair->right;
  gint64 time = left->time == GST_STEREO_TIME_NONE ? right->time : left->time;

  /* the frames of a bundle are of different moments on purpose, and one buffer is of one moment */
  if (left->layout.packing == GST_STEREO_PACKING_AUTO && left->time != GST_STEREO_TIME_NONE &&
      right->time != GST_STEREO_TIME_NONE)
    gst_stereo_clock_add (&diagnosis->clock, left->time, gst_stereo_frame_skew (left, right));
  if (time == GST_STEREO_TIME_NONE)
    time = g_get_monotonic_time () * 1000;
  gboolean next = time > diagnosis->time && time - diagnosis->time < (gint64) GST_SECOND;
  diagnosis->spacing = next ? time - diagnosis->time : 0;
  diagnosis->time = time;
  Due due = find_due (diagnosis, pair, time, interval);
  if (due.all) {
    diagnosis->last = time;
    gst_stereo_clock_check (&diagnosis->clock, diagnosis->faults, left->spacing);
    GST_OBJECT_LOCK (diagnosis->element);
    diagnosis->checks++;
    diagnosis->skew_mean = diagnosis->clock.mean;
    diagnosis->skew_drift = diagnosis->clock.drift;
    GST_OBJECT_UNLOCK (diagnosis->element);
  }
  if (due.matches || due.views || is_before_check (diagnosis, pair, interval))
    check_views (diagnosis, pair, interval, &due);
}

GstStereoHealthFlags
gst_stereo_diagnosis_add_pair (
    GstStereoDiagnosis *diagnosis, const GstStereoDiagnosedPair *pair, GstStereoUnmeasured **unmeasured)
{
  const GstStereoFrame *left = pair->left;

  GST_OBJECT_LOCK (diagnosis->element);
  gint64 interval = (gint64) MIN (diagnosis->interval, G_MAXINT64 / 4);
  GST_OBJECT_UNLOCK (diagnosis->element);
  *unmeasured = NULL;
  if (!interval)
    return gst_stereo_faults_get (diagnosis->faults);
  gst_stereo_clock_pace (&diagnosis->clock, diagnosis->faults, g_get_monotonic_time () * 1000, &pair->counts,
      left->spacing, left->layout.width, left->layout.height);
  check_pair (diagnosis, pair, interval);
  GstStereoUnmeasured *found = gst_stereo_views_get_unmeasured (diagnosis->views);
  /* those of another size are of the caps before: these views were not looked at yet */
  if (found && found->width == left->layout.width / found->factor && found->height == left->layout.height / found->factor)
    *unmeasured = g_atomic_rc_box_acquire (found);
  return gst_stereo_faults_get (diagnosis->faults) & ~gst_stereo_matches_taken_out (diagnosis->matches, pair->alignment);
}

/* ---- from any thread ---------------------------------------------------------------------- */

void
gst_stereo_diagnosis_set (GstStereoDiagnosis *diagnosis, GstStereoHealthFlags all, GstStereoHealthFlags flags)
{
  gst_stereo_faults_set (diagnosis->faults, all, flags);
}

void
gst_stereo_diagnosis_add_stats (GstStereoDiagnosis *diagnosis, GstStructure *stats)
{
  GstStereoHealthFlags faults = gst_stereo_faults_get (diagnosis->faults);
  g_autofree gchar *health = gst_stereo_health_to_string (faults);

  GST_OBJECT_LOCK (diagnosis->element);
  gst_structure_set (stats, "skew-mean", G_TYPE_UINT64, (guint64) diagnosis->skew_mean, "skew-drift", G_TYPE_DOUBLE,
      diagnosis->skew_drift, "health", G_TYPE_STRING, health, "exchanged", G_TYPE_BOOLEAN,
      (faults & GST_STEREO_HEALTH_SWAPPED) != 0, "checks", G_TYPE_UINT64, diagnosis->checks, NULL);
  gst_stereo_matches_add_stats (diagnosis->matches, stats);
  gst_stereo_views_add_stats (diagnosis->views, stats);
  GST_OBJECT_UNLOCK (diagnosis->element);
}
