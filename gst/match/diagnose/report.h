/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports the faults of the input to the application: flags in the metadata, an element message `stereo-health` when a fault
 * begins and when it ends, and a warning on the bus when it begins.
 */
#ifndef GST_STEREO_REPORT_H
#define GST_STEREO_REPORT_H

#include <gst/gst.h>

#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

typedef struct _GstStereoReport GstStereoReport;

/* @element posts the messages; the object belongs to it and holds no reference. */
GstStereoReport *gst_stereo_report_new (GstElement *element);
void gst_stereo_report_free (GstStereoReport *report);
/* At the start: no fault is known. */
void gst_stereo_report_start (GstStereoReport *report);

/* A fault begins or ends. Posts the messages. Two faults may share a flag: it is set until both have ended. Takes @text, and
 * @figures: fields of the message. */
void gst_stereo_report_change (
    GstStereoReport *report, GstStereoHealthFlags flag, gboolean active, gchar *text, GstStructure *figures);
/* Sets or clears a flag without a message. */
void gst_stereo_report_note (GstStereoReport *report, GstStereoHealthFlags flag, gboolean active);
/* The field `value` of @figures: the figure that decided. */
GstStructure *gst_stereo_report_value (gdouble value);
/* Faults that somebody else finds and says in his own words: @all of them, and @flags, those that stand now. Posts the element messages, and no
 * warning. From any thread, but from one at a time. */
void gst_stereo_report_set (GstStereoReport *report, GstStereoHealthFlags all, GstStereoHealthFlags flags);
/* The flags of all current faults. From any thread. */
GstStereoHealthFlags gst_stereo_report_get_flags (const GstStereoReport *report);

/* From any thread: adds fields to `stats`. */
void gst_stereo_report_add_stats (GstStereoReport *report, GstStructure *stats);

G_END_DECLS

#endif
