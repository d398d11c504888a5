/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures both views several times a second and reports what is wrong with them: see view_faults.h and blocks.h. */
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
/* At the start: nothing was measured yet. */
void gst_stereo_view_check_start (GstStereoViewCheck *check);
/* After a flush: what stands stays, other times and pictures follow. */
void gst_stereo_view_check_flush (GstStereoViewCheck *check);
/* At the stop. */
void gst_stereo_view_check_release (GstStereoViewCheck *check);

/* Whether views of that time (ns) are to be measured. */
gboolean gst_stereo_view_check_is_due (const GstStereoViewCheck *check, gint64 time);
/* Views in host memory, left and right. @infos: of the frames that they lie in. @live: a sensor gives them. @max_disparity: the
 * largest disparity that is searched. */
void gst_stereo_view_check_run (GstStereoViewCheck *check, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint max_disparity);
/* No fault of a view stands or begins, nor of both views together: what matches counts. */
gboolean gst_stereo_view_check_is_sound (const GstStereoViewCheck *check);
/* And both show more than noise: where nothing matches, that counts, too. */
gboolean gst_stereo_view_check_has_detail (const GstStereoViewCheck *check);

/* From any thread: adds what `stats` shows. */
void gst_stereo_view_check_add_stats (GstStereoViewCheck *check, GstStructure *stats);

G_END_DECLS

#endif
