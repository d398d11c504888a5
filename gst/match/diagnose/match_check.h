/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matches points of some pairs, and reports what the table of match_rules.h makes of the matches. */
#ifndef GST_STEREO_MATCH_CHECK_H
#define GST_STEREO_MATCH_CHECK_H

#include "gst/match/diagnose/match_rules.h"
#include "gst/match/diagnose/report.h"

G_BEGIN_DECLS

/* Times from one check of the faults that have to last to the next: without and with a suspicion. */
#define GST_STEREO_MATCHES_INTERVAL (300 * GST_MSECOND)
#define GST_STEREO_MATCHES_SOON (90 * GST_MSECOND)

typedef struct _GstStereoMatchCheck GstStereoMatchCheck;

/* Neither @element nor @report is owned. */
GstStereoMatchCheck *gst_stereo_match_check_new (GstElement *element, GstStereoReport *report);
void gst_stereo_match_check_free (GstStereoMatchCheck *check);
/* At the start, and at the stop: forgets all findings. */
void gst_stereo_match_check_start (GstStereoMatchCheck *check);
/* After a flush: timestamps may begin anew. */
void gst_stereo_match_check_flush (GstStereoMatchCheck *check);

gboolean gst_stereo_match_check_is_due (const GstStereoMatchCheck *check, gint64 time);
/* @all: a complete check. Else what one pair shows is judged only where several pairs contradict what was found.
 * Returns whether the check was conclusive. */
gboolean gst_stereo_match_check_run (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean all);
/* Keeps the frame before the next pair that is checked: motion leads back to it. */
void gst_stereo_match_check_keep (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair);
/* The faults that the alignment takes out, where it fits what the last matches show of the rows. */
GstStereoHealthFlags gst_stereo_match_check_taken_out (
    const GstStereoMatchCheck *check, const StereoAlignment *alignment);
/* num-disparities that the last matches need; 0 = not known. */
gint gst_stereo_match_check_get_needed (const GstStereoMatchCheck *check);

/* From any thread. */
void gst_stereo_match_check_get_stats (GstStereoMatchCheck *check, GstStereoMatchStats *stats);

G_END_DECLS

#endif
