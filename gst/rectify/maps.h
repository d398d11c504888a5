/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a calibration file to rectified views: the calibration, the rectification for one size of views, and the maps by
 * which the engine remaps frames. Each is made again only when its input has changed.
 *
 * Functions whose comment does not mention threads belong to the source pad's task.
 */
#ifndef GST_STEREO_RECTIFY_MAPS_H
#define GST_STEREO_RECTIFY_MAPS_H

#include "gst/rectify/planes.h"
#include "gst/rectify/recipe.h"
#include "gst/rectify/settings.h"
#include "stereo/rectify.h"

G_BEGIN_DECLS

typedef struct _GstStereoRectifyMaps GstStereoRectifyMaps;

/* Properties that are read only. */
typedef struct
{
  const gchar *backend;                             /* NULL before the first pair; static */
  gdouble focal_length, baseline, principal_offset; /* px, mm, px; 0 before the first pair */
} GstStereoRectifyResults;

/* @owner: the element, which has the properties active-backend, focal-length, baseline and principal-offset, and is
 * notified when these change. @results: their values, which its object lock protects. */
GstStereoRectifyMaps *gst_stereo_rectify_maps_new (GstElement *owner, GstStereoRectifyResults *results);
void gst_stereo_rectify_maps_free (GstStereoRectifyMaps *maps);
/* Forgets everything but the results: the calibration file may be another one at the next start. */
void gst_stereo_rectify_maps_clear (GstStereoRectifyMaps *maps);

/* From any thread, without the object lock of the owner. */
void gst_stereo_rectify_maps_reset_results (GstStereoRectifyMaps *maps);

/* Loads the calibration, unless that was done for settings of this number. FALSE after an error was posted. */
gboolean gst_stereo_rectify_maps_load (
    GstStereoRectifyMaps *maps, const GstStereoRectifySettings *settings, guint serial);
/* Rectifies raw views of this size by the calibration that is loaded. An error was posted unless the flow is OK. */
GstFlowReturn gst_stereo_rectify_maps_rectify (
    GstStereoRectifyMaps *maps, const GstStereoRectifySettings *settings, const GstStereoLayout *layout);
/* NULL before that. */
const StereoRectification *gst_stereo_rectify_maps_rectification (const GstStereoRectifyMaps *maps);
/* Makes the maps for such frames. An error was posted unless the flow is OK. */
GstFlowReturn gst_stereo_rectify_maps_prepare (GstStereoRectifyMaps *maps, const GstStereoRectifySettings *settings,
    const GstStereoLayout *layout, const GstStereoRectifyFormats *formats);
/* Remaps both views of mapped frames into @out; @compute_time: ns. An error was posted unless the flow is OK. */
GstFlowReturn gst_stereo_rectify_maps_run (GstStereoRectifyMaps *maps, const GstStereoLayout *layout,
    const GstVideoFrame *first, const GstVideoFrame *second, const GstVideoFrame *out, guint64 *compute_time);

/* Makes maps with @correction in a thread, while the old maps stay in use. @wait: makes them at once instead. TRUE when
 * new maps are in use from now on; @ns (may be NULL): time to make them. FALSE: call again for the next pair. */
gboolean gst_stereo_rectify_maps_correct (
    GstStereoRectifyMaps *maps, const GstStereoCorrection *correction, gboolean wait, guint64 *ns);
/* The correction in the current maps. */
const GstStereoCorrection *gst_stereo_rectify_maps_correction (const GstStereoRectifyMaps *maps);
/* The next maps have no correction. */
void gst_stereo_rectify_maps_forget_correction (GstStereoRectifyMaps *maps);

G_END_DECLS

#endif
