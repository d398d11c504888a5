/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/view_check.h"

#include <string.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/views/alone.h"
#include "gst/match/diagnose/views/cover.h"
#include "gst/match/diagnose/views/view_faults.h"

#define VIEW(v) ((v) ? "right" : "left")
#define APART ((gint64) (300 * GST_MSECOND)) /* measurements that show whether what moves is part of the scene */

struct _GstStereoViewCheck
{
  GstElement *element;
  GstStereoReport *report;

  /* protected by the element's object lock; written in one thread */
  guint64 count;                   /* of measurements */
  GstStereoViewFigures figures[2]; /* of the last one */

  /* of the source pad's task */
  GstStereoViewReader *readers[2]; /* NULL before the first measurement, and for views too small */
  GstStereoViewFaults faults;
  GstStereoAlone alone;
  gboolean started;
  gint64 last;                               /* time of the last measurement, ns */
  gint64 times[GST_STEREO_VIEW_READER_AGES]; /* of the measurements whose rows are kept, the last one first */
};

GstStereoViewCheck *
gst_stereo_view_check_new (GstElement *element, GstStereoReport *report)
{
  GstStereoViewCheck *check = g_new0 (GstStereoViewCheck, 1);

  check->element = element;
  check->report = report;
  return check;
}

void
gst_stereo_view_check_free (GstStereoViewCheck *check)
{
  gst_stereo_view_check_release (check);
  g_free (check);
}

void
gst_stereo_view_check_start (GstStereoViewCheck *check)
{
  gst_stereo_view_check_release (check);
  GST_OBJECT_LOCK (check->element);
  check->count = 0;
  memset (check->figures, 0, sizeof check->figures);
  GST_OBJECT_UNLOCK (check->element);
}

void
gst_stereo_view_check_flush (GstStereoViewCheck *check)
{
  check->started = FALSE;
  for (guint v = 0; v < 2; v++)
    if (check->readers[v])
      gst_stereo_view_reader_forget (check->readers[v]);
  check->alone = (GstStereoAlone){ 0 };
  gst_stereo_view_faults_flush (&check->faults);
}

void
gst_stereo_view_check_release (GstStereoViewCheck *check)
{
  for (guint v = 0; v < 2; v++)
    g_clear_pointer (&check->readers[v], gst_stereo_view_reader_free);
  memset (&check->faults, 0, sizeof check->faults);
  check->alone = (GstStereoAlone){ 0 };
  check->started = FALSE;
}

gboolean
gst_stereo_view_check_is_due (const GstStereoViewCheck *check, gint64 time)
{
  gboolean soon = gst_stereo_view_faults_are_suspicious (&check->faults) ||
      gst_stereo_alone_is_suspicious (&check->alone);
  gint64 interval = soon ? GST_STEREO_VIEW_CHECK_SOON : GST_STEREO_VIEW_CHECK_INTERVAL;

  return !check->started || time < check->last || time - check->last >= interval;
}

void
gst_stereo_view_check_get_evidence (const GstStereoViewCheck *check, gboolean *sound, gboolean *detailed, gdouble *noise)
{
  const GstStereoViewFigures *figures = check->figures;

  *sound = gst_stereo_view_faults_are_sound (&check->faults);
  *detailed = gst_stereo_view_has_detail (&figures[0]) && gst_stereo_view_has_detail (&figures[1]);
  *noise = MAX (gst_stereo_view_noise (&figures[0]), gst_stereo_view_noise (&figures[1]));
}

/* ---- faults ------------------------------------------------------------------------------ */

static void
add_figures (GstStructure *fields, const GstStereoViewFigures figures[2])
{
  gst_structure_set (fields, "brightness-left", G_TYPE_DOUBLE, figures[0].brightness, "brightness-right", G_TYPE_DOUBLE,
      figures[1].brightness, "sharpness-left", G_TYPE_DOUBLE, figures[0].sharpness, "sharpness-right", G_TYPE_DOUBLE,
      figures[1].sharpness, NULL);
}

static void
report (GstStereoViewCheck *check, const GstStereoViewRule *rule, guint v, gboolean active, gdouble value)
{
  const GstStereoViewFigures *figures = check->figures;
  GstStereoHealthFlags flag = rule->flags[v];
  gchar *text = active && rule->text ? rule->text (figures, v) : g_strdup (active ? rule->begin : rule->end);

  if (rule->silent) {
    GST_DEBUG_OBJECT (check->element, "%s", text);
    gst_stereo_report_note (check->report, flag, active);
    g_free (text);
    return;
  }
  GstStructure *fields = gst_structure_new (
      "stereo-health", "time", G_TYPE_INT64, check->last, "value", G_TYPE_DOUBLE, value, NULL);
  if (rule->flags[1])
    add_figures (fields, figures);
  if (!text)
    text = g_strdup_printf ("The %s view is no longer %s.", VIEW (v), gst_stereo_kind_of (flag)->words);
  gst_stereo_report_change (check->report, flag, active, text, fields);
}

/* The newest measurement that is at least @back ns older than @time, or the oldest one. */
static guint
age_of (const GstStereoViewCheck *check, gint64 time, gint64 back)
{
  guint age = 1;

  while (age < GST_STEREO_VIEW_READER_AGES - 1 && time - check->times[age] < back)
    age++;
  return age;
}

static void
judge (GstStereoViewCheck *check, const GstStereoViewReader *const readers[2], gint width, gboolean live)
{
  const GstStereoViewRule *rule;
  GstStereoViewVerdicts verdicts;
  GstStereoBlockFigures blocks;

  gst_stereo_blocks_compare (readers, width, age_of (check, check->last, APART), &blocks);
  GST_LOG_OBJECT (check->element,
      "%u of %u blocks at disparity 0, with a rest of %.3f; %u in two layers; %u of %u that move stand still",
      blocks.zero, blocks.textured, blocks.rest, blocks.layered, blocks.still, blocks.moving);
  gst_stereo_view_faults_add (&check->faults, check->figures, &blocks, live, check->last, verdicts);
  for (guint i = 0; (rule = gst_stereo_view_rule (i)); i++)
    for (guint v = 0; v < 2; v++)
      if (verdicts[i][v].change != GST_STEREO_EPISODE_GOES_ON)
        report (check, rule, v, verdicts[i][v].change == GST_STEREO_EPISODE_BEGINS, verdicts[i][v].value);
}

/* ---- measurements ------------------------------------------------------------------------ */

/* At its side, a view with near objects lacks columns that only the other view sees. */
static void
measure (GstStereoViewCheck *check, guint v, const GstStereoLayout *layout, const GstVideoInfo *info,
    const StereoImage *image, gint max_disparity, GstStereoViewFigures *figures)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  guint component = image->channels == 3; /* green, or luma */
  gint alone = CLAMP (max_disparity, 0, layout->width / 2);

  if (!check->readers[v] || !gst_stereo_view_reader_is_for (check->readers[v], layout->width, layout->height)) {
    gst_stereo_view_reader_free (check->readers[v]);
    check->readers[v] = gst_stereo_view_reader_new (layout->width, layout->height);
  }
  if (!check->readers[v])
    return;
  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset, scale);
  gst_stereo_view_reader_read (check->readers[v], image, offset[component], scale[component], v ? 0 : alone,
      v ? layout->width - alone : layout->width, figures);
}

void
gst_stereo_view_check_run (GstStereoViewCheck *check, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint max_disparity)
{
  GstStereoViewFigures figures[2];

  check->started = TRUE;
  check->last = time;
  memmove (check->times + 1, check->times, sizeof check->times - sizeof *check->times);
  check->times[0] = time;
  for (guint v = 0; v < 2; v++)
    measure (check, v, layout, infos[v], &images[v], max_disparity, &figures[v]);
  if (!check->readers[0] || !check->readers[1])
    return;
  const GstStereoViewReader *const readers[] = { check->readers[0], check->readers[1] };
  gst_stereo_cover_measure (readers, layout->width, max_disparity, figures);
  gst_stereo_alone_measure (&check->alone, readers, layout->width, age_of (check, time, GST_STEREO_VIEW_CHECK_INTERVAL),
      max_disparity, figures);
  for (guint v = 0; v < 2; v++)
    GST_LOG_OBJECT (check->element,
        "%s view: brightness %.1f, %.3f black, %.3f white, detail %.2f (square +- %.1f) of %.2f, "
        "sharpness %.4f, %u parts covered, %.4f moved, %u bands where the other view moves alone%s",
        VIEW (v), figures[v].brightness, figures[v].black, figures[v].white, figures[v].detail, figures[v].doubt,
        figures[v].roughness, figures[v].sharpness, figures[v].covered, figures[v].moved, figures[v].alone,
        figures[v].same ? ", the same as before" : "");
  GST_OBJECT_LOCK (check->element);
  check->count++;
  memcpy (check->figures, figures, sizeof figures);
  GST_OBJECT_UNLOCK (check->element);
  judge (check, readers, layout->width, live);
}

/* ---- from any thread --------------------------------------------------------------------- */

void
gst_stereo_view_check_add_stats (GstStereoViewCheck *check, GstStructure *stats)
{
  GstStereoViewFigures figures[2];

  GST_OBJECT_LOCK (check->element);
  guint64 count = check->count;
  memcpy (figures, check->figures, sizeof figures);
  GST_OBJECT_UNLOCK (check->element);
  gst_structure_set (stats, "health-looks", G_TYPE_UINT64, count, NULL);
  add_figures (stats, figures);
}
