/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/report.h"

#include <string.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/episodes.h"

#define FLAGS 32

struct _GstStereoReport
{
  GstElement *element;
  guint8 causes[FLAGS]; /* of each flag: faults that stand */

  /* protected by the element's object lock; written in one thread */
  GstStereoHealthFlags flags;
};

GstStereoReport *
gst_stereo_report_new (GstElement *element)
{
  GstStereoReport *report = g_new0 (GstStereoReport, 1);

  report->element = element;
  return report;
}

void
gst_stereo_report_free (GstStereoReport *report)
{
  g_free (report);
}

static void
set_flags (GstStereoReport *report, GstStereoHealthFlags flags)
{
  GST_OBJECT_LOCK (report->element);
  report->flags = flags;
  GST_OBJECT_UNLOCK (report->element);
}

void
gst_stereo_report_start (GstStereoReport *report)
{
  memset (report->causes, 0, sizeof report->causes);
  set_flags (report, GST_STEREO_HEALTH_OK);
}

/* ---- messages ---------------------------------------------------------------------------- */

static const gchar *
view_of (const GstStereoHealthKind *kind, GstStereoHealthFlags flag)
{
  return (flag & kind->left) && (flag & kind->right) ? "both" : flag & kind->left ? "left" : "right";
}

GstStructure *
gst_stereo_report_value (gdouble value)
{
  return gst_structure_new ("stereo-health", "value", G_TYPE_DOUBLE, value, NULL);
}

void
gst_stereo_report_note (GstStereoReport *report, GstStereoHealthFlags flag, gboolean active)
{
  guint flags = 0;

  for (guint i = 0; i < FLAGS; i++) {
    if ((guint) flag & 1u << i)
      report->causes[i] = (guint8) (active ? report->causes[i] + 1 : MAX (1, report->causes[i]) - 1);
    if (report->causes[i])
      flags |= 1u << i;
  }
  set_flags (report, flags);
}

void
gst_stereo_report_change (
    GstStereoReport *report, GstStereoHealthFlags flag, gboolean active, gchar *text, GstStructure *figures)
{
  const GstStereoHealthKind *kind = gst_stereo_kind_of (flag);

  gst_stereo_report_note (report, flag, active);
  gst_structure_set (figures, "kind", G_TYPE_STRING, kind->nick, "view", G_TYPE_STRING, view_of (kind, flag), "active",
      G_TYPE_BOOLEAN, active, "unreliable", G_TYPE_BOOLEAN, kind->unreliable, "text", G_TYPE_STRING, text, NULL);
  gst_element_post_message (report->element, gst_message_new_element (GST_OBJECT (report->element), figures));
  if (active)
    GST_ELEMENT_WARNING (report->element, STREAM, FAILED, ("%s", text), (NULL));
  else
    GST_INFO_OBJECT (report->element, "%s", text);
  g_free (text);
}

GstStereoHealthFlags
gst_stereo_report_get_flags (const GstStereoReport *report)
{
  return report->flags;
}

/* ---- from any thread --------------------------------------------------------------------- */

void
gst_stereo_report_add_stats (GstStereoReport *report, GstStructure *stats)
{
  GST_OBJECT_LOCK (report->element);
  GstStereoHealthFlags flags = report->flags;
  GST_OBJECT_UNLOCK (report->element);
  g_autofree gchar *faults = gst_stereo_health_to_string (flags);
  gst_structure_set (stats, "health", G_TYPE_STRING, faults, NULL);
}
