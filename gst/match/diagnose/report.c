/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/report.h"

#include <string.h>

#include "gst/match/debug.h"
#include "gst/match/diagnose/episodes.h"

#define FLAGS 32

struct _GstStereoReport
{
  GstElement *element;
  /* protected by the element's object lock */
  guint8 causes[FLAGS];       /* of each flag: faults that stand */
  GstStereoHealthFlags flags; /* those with a cause */
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

void
gst_stereo_report_start (GstStereoReport *report)
{
  GST_OBJECT_LOCK (report->element);
  memset (report->causes, 0, sizeof report->causes);
  report->flags = GST_STEREO_HEALTH_OK;
  GST_OBJECT_UNLOCK (report->element);
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

  GST_OBJECT_LOCK (report->element);
  for (guint i = 0; i < FLAGS; i++) {
    if ((guint) flag & 1u << i)
      report->causes[i] = (guint8) (active ? report->causes[i] + 1 : MAX (1, report->causes[i]) - 1);
    if (report->causes[i])
      flags |= 1u << i;
  }
  report->flags = flags;
  GST_OBJECT_UNLOCK (report->element);
}

static void
post (GstStereoReport *report, GstStereoHealthFlags flag, gboolean active, const gchar *text, GstStructure *figures)
{
  const GstStereoHealthKind *kind = gst_stereo_kind_of (flag);

  gst_stereo_report_note (report, flag, active);
  gst_structure_set (figures, "kind", G_TYPE_STRING, kind->nick, "view", G_TYPE_STRING, view_of (kind, flag), "active",
      G_TYPE_BOOLEAN, active, "unreliable", G_TYPE_BOOLEAN, kind->unreliable, "text", G_TYPE_STRING, text, NULL);
  gst_element_post_message (report->element, gst_message_new_element (GST_OBJECT (report->element), figures));
}

void
gst_stereo_report_change (
    GstStereoReport *report, GstStereoHealthFlags flag, gboolean active, gchar *text, GstStructure *figures)
{
  post (report, flag, active, text, figures);
  if (active)
    GST_ELEMENT_WARNING (report->element, STREAM, FAILED, ("%s", text), (NULL));
  else
    GST_INFO_OBJECT (report->element, "%s", text);
  g_free (text);
}

void
gst_stereo_report_set (GstStereoReport *report, GstStereoHealthFlags all, GstStereoHealthFlags flags)
{
  guint changed = (guint) all & ((guint) flags ^ (guint) gst_stereo_report_get_flags (report));

  for (guint flag = 1; flag; flag <<= 1)
    if (changed & flag) {
      const GstStereoHealthKind *kind = gst_stereo_kind_of ((GstStereoHealthFlags) flag);
      gboolean active = ((guint) flags & flag) != 0;
      g_autofree gchar *text = g_strdup_printf ("%s%s%s", active ? "" : "No longer: ",
          kind->left == kind->right ? "" :
              flag == kind->left    ? "left camera " :
                                      "right camera ",
          kind->words);
      post (report, (GstStereoHealthFlags) flag, active, text, gst_stereo_report_value (active));
    }
}

GstStereoHealthFlags
gst_stereo_report_get_flags (const GstStereoReport *report)
{
  GST_OBJECT_LOCK (report->element);
  GstStereoHealthFlags flags = report->flags;
  GST_OBJECT_UNLOCK (report->element);
  return flags;
}

/* ---- from any thread --------------------------------------------------------------------- */

void
gst_stereo_report_add_stats (GstStereoReport *report, GstStructure *stats)
{
  g_autofree gchar *faults = gst_stereo_health_to_string (gst_stereo_report_get_flags (report));
  gst_structure_set (stats, "health", G_TYPE_STRING, faults, NULL);
}
