/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures both views several times a second, and reports their faults (view_rules.h). */
#ifndef GST_STEREO_VIEW_CHECK_H
#define GST_STEREO_VIEW_CHECK_H

#include "gst/match/diagnose/report.h"
#include "gst/video/frame.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_VIEW_CHECK_INTERVAL (200 * GST_MSECOND) /* of stream time */
#define GST_STEREO_VIEW_CHECK_SOON (100 * GST_MSECOND)     /* while a fault begins */

typedef struct _GstStereoViewCheck GstStereoViewCheck;

/* Neither @element nor @report is owned. */
GstStereoViewCheck *gst_stereo_view_check_new (GstElement *element, GstStereoReport *report);
void gst_stereo_view_check_free (GstStereoViewCheck *check);
/* At the start: forgets all measurements. */
void gst_stereo_view_check_start (GstStereoViewCheck *check);
/* After a flush: keeps the faults. Timestamps may begin anew, and the next pictures may be different. */
void gst_stereo_view_check_flush (GstStereoViewCheck *check);
/* At the stop. */
void gst_stereo_view_check_release (GstStereoViewCheck *check);

/* Whether a measurement is due at @time (ns). */
gboolean gst_stereo_view_check_is_due (const GstStereoViewCheck *check, gint64 time);
/* Views in host memory, left and right. @infos: of the frames that they lie in. @live: a sensor gives them.
 * @max_disparity: the largest disparity that is searched. */
void gst_stereo_view_check_run (GstStereoViewCheck *check, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint max_disparity);
/* What counts of the matches of points. @sound: no fault of a view, or of both together, stands or begins; else none does. @detailed: both
 * views show more than noise; else missing ones do not. @noise: grey levels, of the noisier view. */
void gst_stereo_view_check_get_evidence (
    const GstStereoViewCheck *check, gboolean *sound, gboolean *detailed, gdouble *noise);

/* From any thread: adds fields to `stats`. */
void gst_stereo_view_check_add_stats (GstStereoViewCheck *check, GstStructure *stats);

G_END_DECLS

#endif
