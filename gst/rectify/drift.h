/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows how the right view drifts away from its calibration, by a vertical offset and a roll, for auto-align.
 *
 * The estimate is the engine's (stereo/align.h), which stereomatch align=auto uses too. It measures some rows of each
 * rectified pair on its way out. It therefore sees only the error that the current correction leaves, and adds this error to
 * the correction in small steps. Estimates that are not reliable are not used: see the limits in drift.c.
 *
 * Functions whose comment does not mention threads belong to the source pad's task.
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

/* Call before a pair that uses this rectification. @serial changes with the settings. FALSE: there is no correction now,
 * because auto-align is off or this is a new rectification. */
gboolean gst_stereo_drift_prepare (
    GstStereoDrift *drift, guint serial, const StereoRectification *rectification, gint raw_width, gint raw_height);
/* Measures a rectified pair in host memory. Does nothing where auto-align is off. */
void gst_stereo_drift_measure (GstStereoDrift *drift, const StereoImage *left, const StereoImage *right);
/* The correction for the next pair. */
const GstStereoCorrection *gst_stereo_drift_wanted (const GstStereoDrift *drift);
/* The maps now have @correction. @ns: time that it took to make them. */
void gst_stereo_drift_apply (GstStereoDrift *drift, const GstStereoCorrection *correction, guint64 ns);

G_END_DECLS

#endif
