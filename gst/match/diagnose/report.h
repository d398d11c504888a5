/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that is known to be wrong with the input, for the application: flags for the metadata, an element message
 * `stereo-health` when a fault begins and when it ends, and a warning on the bus when it begins.
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
/* At the start: nothing is wrong yet. */
void gst_stereo_report_start (GstStereoReport *report);

/* A fault begins or ends. Where two have a flag in common, it stands as long as one of them does. Posts the messages. Takes
 * @text, and @figures, fields of the message, which may be NULL. */
void gst_stereo_report_change (
    GstStereoReport *report, GstStereoHealthFlags flag, gboolean active, gchar *text, GstStructure *figures);
/* The same without a message: of what is no fault. */
void gst_stereo_report_note (GstStereoReport *report, GstStereoHealthFlags flag, gboolean active);
/* Fields of a message with the figure that decided. */
GstStructure *gst_stereo_report_value (gdouble value);
/* All that is wrong now; in the thread that reports. */
GstStereoHealthFlags gst_stereo_report_get_flags (const GstStereoReport *report);
/* What the flag is called. */
const gchar *gst_stereo_report_words (GstStereoHealthFlags flag);

/* From any thread: adds what `stats` shows. */
void gst_stereo_report_add_stats (GstStereoReport *report, GstStructure *stats);

G_END_DECLS

#endif
