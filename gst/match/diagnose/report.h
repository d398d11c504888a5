/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tells the application what is wrong with the input: a warning on the bus when an episode begins, an element message
 * `stereo-health` when it begins and when it ends, and fields of `stats`. What matches (points.h)
 * is told here too, where it concerns the search range.
 */
#ifndef GST_STEREO_REPORT_H
#define GST_STEREO_REPORT_H

#include "gst/match/diagnose/verdicts.h"
#include "gst/match/diagnose/pace.h"
#include "gst/meta/gststereohealth.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

#define GST_STEREO_HEALTH_INTERVAL (200 * GST_MSECOND) /* of stream time, from look to look */
#define GST_STEREO_HEALTH_SOON (100 * GST_MSECOND)     /* while a fault begins */

typedef struct _GstStereoHealth GstStereoHealth;

/* @element posts the messages; the object belongs to it and holds no reference. */
GstStereoHealth *gst_stereo_health_new (GstElement *element);
void gst_stereo_health_free (GstStereoHealth *health);
/* At the start: nothing was found yet. */
void gst_stereo_health_start (GstStereoHealth *health);
/* After a flush: what stands stays, other times and pictures follow. */
void gst_stereo_health_flush (GstStereoHealth *health);
/* At the stop. */
void gst_stereo_health_release (GstStereoHealth *health);

/* Whether the views of that time (ns) are to be looked at. */
gboolean gst_stereo_health_is_due (const GstStereoHealth *health, gint64 time);
/* Views in host memory, left and right. @infos: of the frames that they lie in. @live: a sensor gives them. @reach: the
 * largest disparity that is searched. */
void gst_stereo_health_look (GstStereoHealth *health, gint64 time, const GstStereoLayout *layout,
    const GstVideoInfo *const infos[2], const StereoImage images[2], gboolean live, gint reach);
/* Where the points of a look match. */
void gst_stereo_health_add_matches (
    GstStereoHealth *health, const GstStereoPairMatches *result, const StereoParams *params);
/* A finding begins or ends that somebody else made: posts the messages, and notes it. Takes @text and @figures, fields of the
 * message, which may be NULL. */
void gst_stereo_health_tell (
    GstStereoHealth *health, GstStereoHealthFlags flag, gboolean active, gchar *text, GstStructure *figures);
/* No fault of a view stands or begins, nor of both views together, and both show more than noise: what matches counts. */
gboolean gst_stereo_health_is_sound (const GstStereoHealth *health);
/* All that is wrong now. */
GstStereoHealthFlags gst_stereo_health_now (const GstStereoHealth *health);
/* Before each pair. @load: the time from frame to frame, and what is matched; its compute time is not read. */
void gst_stereo_health_add_counts (
    GstStereoHealth *health, const GstStereoPaceCounts *counts, const GstStereoLoad *load);

/* From any thread: adds what `stats` shows. */
void gst_stereo_health_add_stats (GstStereoHealth *health, GstStructure *stats);

G_END_DECLS

#endif
