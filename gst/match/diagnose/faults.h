/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faults of the input: when they begin and end, and how that is said. gst/meta/health.c has the table of all kinds.
 *
 * A verdict is about one pair, a fault about a stream. A fault has to last before it counts, and so has its end: a hand that passes
 * the lens is no fault. The flags of all faults that stand are in the metadata and in `stats`. A fault that begins or ends is said in
 * an element message `stereo-health`, and its begin in a warning on the bus, too.
 */
#ifndef GST_STEREO_FAULTS_H
#define GST_STEREO_FAULTS_H

#include <gst/gst.h>

#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

/* UNKNOWN: the pair does not show it. */
typedef enum
{
  GST_STEREO_VERDICT_UNKNOWN,
  GST_STEREO_VERDICT_GOOD,
  GST_STEREO_VERDICT_BAD
} GstStereoVerdict;

typedef struct _GstStereoFaults GstStereoFaults;

/* @element posts the messages; the object belongs to it and holds no reference. */
GstStereoFaults *gst_stereo_faults_new (GstElement *element);
void gst_stereo_faults_free (GstStereoFaults *faults);
/* At the start: no fault is known. */
void gst_stereo_faults_start (GstStereoFaults *faults);
/* After a flush: timestamps may begin anew. */
void gst_stereo_faults_flush (GstStereoFaults *faults);

/* The row of a flag in the table of kinds. It must have one. */
const GstStereoHealthKind *gst_stereo_kind_of (GstStereoHealthFlags flag);

/* Of the thread that gives verdicts: */

#define GST_STEREO_TWICE 1

/* A verdict of a pair at @time, ns. A fault of which @hold is 0 begins with one verdict, one of which it is GST_STEREO_TWICE with two in a
 * row, and both end after three; any other begins and ends after four in a row that last @hold ns. @cause: 0 or 1, where two things show one fault: it stands until both have
 * ended. Returns whether the fault begins or ends now. */
gboolean gst_stereo_faults_judge (GstStereoFaults *faults, GstStereoHealthFlags flags, guint cause,
    GstStereoVerdict verdict, gint64 time, gint64 hold);
/* Says that a fault begins, or ends, in the words of the table of kinds. @value: the figure that decided. Takes @detail, what is to be
 * said of this case in whole sentences, or NULL; and @fields, further ones of the message, or NULL. */
void gst_stereo_faults_say (
    GstStereoFaults *faults, GstStereoHealthFlags flags, gchar *detail, gdouble value, GstStructure *fields);
/* Faults that the last verdicts speak for, and that stand or will after a few more. */
GstStereoHealthFlags gst_stereo_faults_get_suspected (const GstStereoFaults *faults);

/* From any thread: */

/* Faults that somebody else finds, such as silent cameras: @all of them, and those that stand now. */
void gst_stereo_faults_set (GstStereoFaults *faults, GstStereoHealthFlags all, GstStereoHealthFlags now);
GstStereoHealthFlags gst_stereo_faults_get (const GstStereoFaults *faults);

G_END_DECLS

#endif
