/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows how the right view drifts away from its calibration, by a vertical offset and a roll, for auto-align.
 *
 * The estimate is the engine's (stereo/align.h), which stereomatch align=auto uses too. It measures the rectified views
 * as they go out, some rows of them in each pair; so it sees what the correction in force leaves, and what is left is
 * added to the correction in small steps. Nothing is corrected that is not sure: see the limits in drift.c.
 *
 * Functions without a word on threads belong to the source pad's task.
 */
#ifndef GST_STEREO_RECTIFY_DRIFT_H
#define GST_STEREO_RECTIFY_DRIFT_H

#include <gst/gst.h>

#include "gst/rectify/recipe.h"

G_BEGIN_DECLS

typedef struct _GstStereoDrift GstStereoDrift;

/* @element posts the messages; the object belongs to it and holds no reference. @enabled: its property auto-align, which
 * its object lock protects. */
GstStereoDrift *gst_stereo_drift_new (GstElement *element, const gboolean *enabled);
void gst_stereo_drift_free (GstStereoDrift *drift);
/* At the stop: nothing is known of the cameras. */
void gst_stereo_drift_stop (GstStereoDrift *drift);

/* From any thread. */
gboolean gst_stereo_drift_get_enabled (GstStereoDrift *drift);
/* Adds the fields of `stats`. */
void gst_stereo_drift_add_stats (GstStereoDrift *drift, GstStructure *stats);

/* Before a pair that is rectified so. @serial: another number for other settings. FALSE where what was known is gone and
 * nothing is to be corrected now: auto-align is off, or this is another rectification. */
gboolean gst_stereo_drift_prepare (
    GstStereoDrift *drift, guint serial, const StereoRectification *rectification, gint raw_width, gint raw_height);
/* Looks at a rectified pair in host memory. Does nothing where auto-align is off. */
void gst_stereo_drift_measure (GstStereoDrift *drift, const StereoImage *left, const StereoImage *right);
/* What is to be taken out from the next pair on. */
const GstStereoCorrection *gst_stereo_drift_wanted (const GstStereoDrift *drift);
/* That is taken out of the pairs from now on; making the maps took so long. */
void gst_stereo_drift_apply (GstStereoDrift *drift, const GstStereoCorrection *correction, guint64 ns);

G_END_DECLS

#endif
