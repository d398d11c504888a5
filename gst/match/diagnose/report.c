/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/report.h"

#include <math.h>
#include <string.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/text.h"

#define VIEW(v) ((v) ? "right" : "left")

/* What `stats` shows. */
typedef struct
{
  guint64 looks;
  GstStereoViewLook views[2]; /* of the last one */
  GstStereoHealthFlags flags; /* all that is wrong */
  gdouble beyond;             /* share of the matches beyond the range; below 0 = not known */
  gint wanted;                /* disparities; 0 = no more than are searched */
} Shown;

struct _GstStereoHealth
{
  GstElement *element;

  /* protected by the element's object lock */
  Shown shown;

  /* of the source pad's task */
  GstStereoViewer *viewers[2]; /* NULL before the first look, and for views too small */
  GstStereoViews views;
  GstStereoPace pace;
  GstStereoFinding range;
  gboolean started;
  gint64 last; /* time of the last look, ns */
  gint needed; /* disparities that the matches of the last look need; 0 = not known */
};

GstStereoHealth *
gst_stereo_health_new (GstElement *element)
{
  GstStereoHealth *health = g_new0 (GstStereoHealth, 1);

  health->element = element;
  health->shown.beyond = -1;
  return health;
}

void
gst_stereo_health_free (GstStereoHealth *health)
{
  gst_stereo_health_release (health);
  g_free (health);
}

void
gst_stereo_health_start (GstStereoHealth *health)
{
  gst_stereo_health_release (health);
  GST_OBJECT_LOCK (health->element);
  health->shown = (Shown){ .beyond = -1 };
  GST_OBJECT_UNLOCK (health->element);
}

void
gst_stereo_health_flush (GstStereoHealth *health)
{
  health->started = FALSE;
  for (guint v = 0; v < 2; v++)
    if (health->viewers[v])
      gst_stereo_viewer_forget (health->viewers[v]);
  gst_stereo_views_flush (&health->views);
  gst_stereo_pace_flush (&health->pace);
}

void
gst_stereo_health_release (GstStereoHealth *health)
{
  for (guint v = 0; v < 2; v++)
    g_clear_pointer (&health->viewers[v], gst_stereo_viewer_free);
  memset (&health->views, 0, sizeof health->views);
  memset (&health->pace, 0, sizeof health->pace);
  memset (&health->range, 0, sizeof health->range);
  health->started = FALSE;
  health->needed = 0;
}

/* ---- messages ---------------------------------------------------------------------------- */

static const GstStereoHealthKind *
kind_of (GstStereoHealthFlags flag)
{
  const GstStereoHealthKind *kind;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++)
    if (flag & (kind->left | kind->right))
      return kind;
  g_assert_not_reached ();
}

static const gchar *
view_of (const GstStereoHealthKind *kind, GstStereoHealthFlags flag)
{
  return (flag & kind->left) && (flag & kind->right) ? "both" : flag & kind->left ? "left" : "right";
}

/* What stands of the views: one that is frozen still is when the two no longer are. */
static GstStereoHealthFlags
standing (const GstStereoHealth *health)
{
  GstStereoHealthFlags flags = GST_STEREO_HEALTH_OK;

  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      if (health->views.episodes[fault][v].stands)
        flags |= gst_stereo_views_flag (fault, v);
  for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
    if (health->views.pair[fault].stands)
      flags |= gst_stereo_pair_flag (fault);
  return flags;
}

void
gst_stereo_health_tell (
    GstStereoHealth *health, GstStereoHealthFlags flag, gboolean active, gchar *text, GstStructure *figures)
{
  GstStructure *told = figures ? figures : gst_structure_new_empty ("stereo-health");
  const GstStereoHealthKind *kind = kind_of (flag);

  GST_OBJECT_LOCK (health->element);
  health->shown.flags = active ? health->shown.flags | flag : (health->shown.flags & ~flag) | standing (health);
  GST_OBJECT_UNLOCK (health->element);
  gst_structure_set (told, "kind", G_TYPE_STRING, kind->nick, "view", G_TYPE_STRING, view_of (kind, flag), "active",
      G_TYPE_BOOLEAN, active, "unreliable", G_TYPE_BOOLEAN, kind->unreliable, "text", G_TYPE_STRING, text, NULL);
  gst_element_post_message (health->element, gst_message_new_element (GST_OBJECT (health->element), told));
  if (active)
    GST_ELEMENT_WARNING (health->element, STREAM, FAILED, ("%s", text), (NULL));
  else
    GST_INFO_OBJECT (health->element, "%s", text);
  g_free (text);
}

gboolean
gst_stereo_health_is_sound (const GstStereoHealth *health)
{
  return gst_stereo_views_are_sound (&health->views) && gst_stereo_views_has_detail (&health->shown.views[0]) &&
      gst_stereo_views_has_detail (&health->shown.views[1]);
}

GstStereoHealthFlags
gst_stereo_health_now (const GstStereoHealth *health)
{
  /* they are written in this thread */
  return health->shown.flags;
}

/* ---- faults of a view -------------------------------------------------------------------- */

/* The figure that decided. */
static gdouble
figure_of (GstStereoViewFault fault, guint v, const GstStereoViewLook looks[2])
{
  switch (fault) {
    case GST_STEREO_VIEW_BLACK:
      return looks[v].black;
    case GST_STEREO_VIEW_BLOWN_OUT:
      return looks[v].white;
    case GST_STEREO_VIEW_COVERED:
      return looks[v].contrast;
    case GST_STEREO_VIEW_BLURRED:
      return looks[v].sharpness / MAX (looks[!v].sharpness, 1e-9);
    case GST_STEREO_VIEW_DARK:
      return looks[v].brightness / MAX (looks[!v].brightness, 1e-9);
    default:
      return looks[!v].moved;
  }
}

static void
tell_fault (
    GstStereoHealth *health, GstStereoViewFault fault, guint v, gboolean active, const GstStereoViewLook looks[2])
{
  GstStructure *figures = gst_structure_new ("stereo-health", "time", G_TYPE_INT64, health->last, "value",
      G_TYPE_DOUBLE, figure_of (fault, v, looks), "brightness-left", G_TYPE_DOUBLE, looks[0].brightness,
      "brightness-right", G_TYPE_DOUBLE, looks[1].brightness, "sharpness-left", G_TYPE_DOUBLE, looks[0].sharpness,
      "sharpness-right", G_TYPE_DOUBLE, looks[1].sharpness, NULL);

  gst_stereo_health_tell (health, gst_stereo_views_flag (fault, v), active,
      active ?
          gst_stereo_health_describe_fault (fault, v, looks) :
          g_strdup_printf ("The %s view is no longer %s.", VIEW (v), kind_of (gst_stereo_views_flag (fault, v))->words),
      figures);
}

/* ---- looks ------------------------------------------------------------------------------- */

gboolean
gst_stereo_health_is_due (const GstStereoHealth *health, gint64 time)
{
  gint64 interval = gst_stereo_views_are_suspicious (&health->views) ? GST_STEREO_HEALTH_SOON :
                                                                       GST_STEREO_HEALTH_INTERVAL;

  return !health->started || time < health->last || time - health->last >= interval;
}

/* A view that shows what is near leaves out, at its side, what only the other one sees. */
static void
look_at (GstStereoHealth *health, guint v, const GstStereoLayout *layout, const GstVideoInfo *info,
    const StereoImage *image, gint reach, GstStereoViewLook *look)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  guint component = image->channels == 3; /* green, or luma */
  gint alone = CLAMP (reach, 0, layout->width / 2);

  if (!health->viewers[v] || !gst_stereo_viewer_is_for (health->viewers[v], layout->width, layout->height)) {
    gst_stereo_viewer_free (health->viewers[v]);
    health->viewers[v] = gst_stereo_viewer_new (layout->width, layout->height);
  }
  if (!health->viewers[v])
    return;
  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  gst_stereo_viewer_look (health->viewers[v], image, offset[component], scale[component], v ? 0 : alone,
      v ? layout->width - alone : layout->width, look);
}

/* A picture that never changed is no fault: only the meta has it. */
static void
note_still (GstStereoHealth *health, gboolean active)
{
  GST_DEBUG_OBJECT (health->element, "no pixel has changed yet: a still picture%s", active ? "" : " no more");
  GST_OBJECT_LOCK (health->element);
  health->shown.flags = active ? health->shown.flags | GST_STEREO_HEALTH_STILL :
                                 health->shown.flags & ~GST_STEREO_HEALTH_STILL;
  GST_OBJECT_UNLOCK (health->element);
}

static void
tell_pair_fault (GstStereoHealth *health, GstStereoPairFault fault, gboolean active, const GstStereoPairLook *pair)
{
  gdouble value = pair->zero / (gdouble) MAX (1, pair->textured);

  if (fault == GST_STEREO_PAIR_STILL) {
    note_still (health, active);
    return;
  }
  gst_stereo_health_tell (health, gst_stereo_pair_flag (fault), active, gst_stereo_health_describe_pair (fault, active),
      gst_structure_new ("stereo-health", "time", G_TYPE_INT64, health->last, "value", G_TYPE_DOUBLE, value, NULL));
}

static void
look_at_both (GstStereoHealth *health, gint64 time, gint width, const GstStereoViewLook looks[2], gboolean live)
{
  const GstStereoViewer *const viewers[2] = { health->viewers[0], health->viewers[1] };
  GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS];
  GstStereoPairLook pair;

  gst_stereo_pair_look (viewers, width, &pair);
  GST_LOG_OBJECT (health->element, "%u of %u blocks at disparity 0, with a rest of %.3f; %u of %u that move stand still",
      pair.zero, pair.textured, pair.rest, pair.still, pair.moving);
  gst_stereo_views_add_pair (&health->views, looks, &pair, live, time, changes);
  for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
    if (changes[fault] != GST_STEREO_EPISODE_GOES_ON)
      tell_pair_fault (health, fault, changes[fault] == GST_STEREO_EPISODE_BEGINS, &pair);
}

void
gst_stereo_health_look (GstStereoHealth *health, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint reach)
{
  GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2];
  GstStereoViewLook looks[2];

  health->started = TRUE;
  health->last = time;
  for (guint v = 0; v < 2; v++)
    look_at (health, v, layout, infos[v], &images[v], reach, &looks[v]);
  if (!health->viewers[0] || !health->viewers[1])
    return;
  for (guint v = 0; v < 2; v++)
    GST_LOG_OBJECT (health->element,
        "%s view: brightness %.1f, %.3f black, %.3f white, detail %.2f (square +- %.1f) of %.2f, sharpness %.4f, %.4f moved%s",
        VIEW (v), looks[v].brightness, looks[v].black, looks[v].white, looks[v].detail, looks[v].doubt,
        looks[v].roughness, looks[v].sharpness, looks[v].moved, looks[v].same ? ", the same as before" : "");
  GST_OBJECT_LOCK (health->element);
  health->shown.looks++;
  memcpy (health->shown.views, looks, sizeof looks);
  GST_OBJECT_UNLOCK (health->element);
  gst_stereo_views_add (&health->views, looks, time, changes);
  for (guint fault = 0; fault < GST_STEREO_VIEW_FAULTS; fault++)
    for (guint v = 0; v < 2; v++)
      if (changes[fault][v] != GST_STEREO_EPISODE_GOES_ON)
        tell_fault (health, fault, v, changes[fault][v] == GST_STEREO_EPISODE_BEGINS, looks);
  look_at_both (health, time, layout->width, looks, live);
}

/* ---- the search range -------------------------------------------------------------------- */

static void
tell_range (GstStereoHealth *health, const GstStereoPairMatches *result, const StereoParams *params, gint wanted)
{
  gboolean active = health->range.stands;
  GstStructure *figures = gst_structure_new ("stereo-health", "value", G_TYPE_DOUBLE,
      result->beyond / (gdouble) MAX (1, result->beyond + result->forward), "points-beyond", G_TYPE_UINT,
      result->beyond, "farthest", G_TYPE_DOUBLE, result->farthest, "num-disparities", G_TYPE_INT, wanted, NULL);

  gst_stereo_health_tell (health, GST_STEREO_HEALTH_RANGE, active,
      active ? gst_stereo_health_describe_range (result, params, wanted) :
               g_strdup ("The search range is no longer too small."),
      figures);
}

void
gst_stereo_health_add_matches (GstStereoHealth *health, const GstStereoPairMatches *result, const StereoParams *params)
{
  /* what is frozen, or cannot be seen, matches in wrong places */
  gboolean sound = gst_stereo_views_are_sound (&health->views);
  GstStereoVerdict verdict = sound ? gst_stereo_verdict_range (result) : GST_STEREO_VERDICT_UNKNOWN;
  gboolean before = health->range.stands;
  gint wanted = 0;

  gst_stereo_finding_update (&health->range, verdict);
  if (verdict == GST_STEREO_VERDICT_BAD)
    wanted = gst_stereo_wanted_disparities (result, params->min_disparity);
  health->needed = (gint) ceil (result->largest) + 1 - params->min_disparity;
  GST_OBJECT_LOCK (health->element);
  if (verdict != GST_STEREO_VERDICT_UNKNOWN)
    health->shown.beyond = result->beyond / (gdouble) MAX (1, result->beyond + result->forward);
  if (verdict != GST_STEREO_VERDICT_UNKNOWN)
    health->shown.wanted = wanted;
  GST_OBJECT_UNLOCK (health->element);
  if (health->range.stands != before)
    tell_range (health, result, params, wanted);
}

/* ---- the pace ---------------------------------------------------------------------------- */

void
gst_stereo_health_add_counts (GstStereoHealth *health, const GstStereoPaceCounts *counts, const GstStereoLoad *load)
{
  GstStereoPace *pace = &health->pace;
  GstStereoEpisodeChange change = gst_stereo_pace_add (pace, g_get_monotonic_time () * 1000, counts);
  GstStereoLoad measured = *load;
  GstStereoAdvice advice;
  GstStructure *figures;
  gboolean active = change == GST_STEREO_EPISODE_BEGINS;

  if (change == GST_STEREO_EPISODE_GOES_ON)
    return;
  /* where no pair was computed in that time, an earlier one tells */
  measured.compute = pace->compute > 0 ? pace->compute : counts->pairs ? (gdouble) counts->compute / counts->pairs : 0;
  advice = gst_stereo_pace_advise (&measured, health->needed);
  figures = gst_structure_new ("stereo-health", "value", G_TYPE_DOUBLE,
      pace->dropped / (gdouble) MAX (1, pace->dropped + pace->computed), "dropped", G_TYPE_UINT64, pace->dropped,
      "computed", G_TYPE_UINT64, pace->computed, "compute-time", G_TYPE_UINT64, (guint64) measured.compute,
      "frame-time", G_TYPE_UINT64, (guint64) measured.frame, "num-disparities", G_TYPE_INT, advice.disparities,
      "scaled-width", G_TYPE_INT, advice.smaller.width, "scaled-height", G_TYPE_INT, advice.smaller.height,
      "scaled-num-disparities", G_TYPE_INT, advice.smaller.disparities, "setting", G_TYPE_STRING,
      advice.setting ? advice.setting : "", "setting-width", G_TYPE_INT, advice.with.width, "setting-height",
      G_TYPE_INT, advice.with.height, "setting-num-disparities", G_TYPE_INT, advice.with.disparities, NULL);
  gst_stereo_health_tell (health, GST_STEREO_HEALTH_SLOW, active,
      active ? gst_stereo_health_describe_slow (pace, &measured, &advice) :
               g_strdup ("The pairs keep up with the stream again."),
      figures);
}

/* ---- from any thread --------------------------------------------------------------------- */

void
gst_stereo_health_add_stats (GstStereoHealth *health, GstStructure *stats)
{
  Shown shown;
  gchar *faults;

  GST_OBJECT_LOCK (health->element);
  shown = health->shown;
  GST_OBJECT_UNLOCK (health->element);
  faults = gst_stereo_health_to_string (shown.flags);
  gst_structure_set (stats, "health", G_TYPE_STRING, faults, "health-looks", G_TYPE_UINT64, shown.looks,
      "brightness-left", G_TYPE_DOUBLE, shown.views[0].brightness, "brightness-right", G_TYPE_DOUBLE,
      shown.views[1].brightness, "sharpness-left", G_TYPE_DOUBLE, shown.views[0].sharpness, "sharpness-right",
      G_TYPE_DOUBLE, shown.views[1].sharpness, "beyond-range", G_TYPE_DOUBLE, shown.beyond, "wanted-disparities",
      G_TYPE_INT, shown.wanted, NULL);
  g_free (faults);
}
