/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a calibration file to rectified views: the calibration, the rectification for one size of views, and the maps by
 * which the engine remaps frames. Each is made again only when its input has changed. What users have to know of it is
 * posted on the bus, and written to the file of save=.
 *
 * Functions whose comment does not mention threads belong to the source pad's task.
 */
#ifndef GST_STEREO_RECTIFY_MAPS_H
#define GST_STEREO_RECTIFY_MAPS_H

#include "gst/video/frame.h"
#include "stereo/remap.h"
#include "stereo/rectify.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_rectify_debug);
#define GST_CAT_DEFAULT gst_stereo_rectify_debug

/* The values of the properties. */
typedef struct
{
  gchar *calibration;                         /* one file, or two with a comma between them; NULL: not set */
  gdouble alpha;                              /* 0..1; -1 = that of the calibration */
  gdouble unit;                               /* mm; 0 = that of the calibration's format */
  gint calibration_width, calibration_height; /* of the pictures of the calibration; 0 = as it says */
  gint width, height;                         /* of a rectified view; 0 = as the raw view */
  gchar *save;                                /* file for the rectified calibration; NULL: none */
  StereoParams params;                        /* backend, cuda_device_id and threads of them */
} GstStereoRectifySettings;

/* Properties that are read only. */
typedef struct
{
  const gchar *backend; /* NULL before the first pair; static */
  gdouble geometry[3];  /* focal length, px, baseline, mm, principal offset, px; 0 before the first pair */
} GstStereoRectifyResults;

typedef struct
{
  GstVideoFormat left, right, out;
  GstVideoChromaSite site; /* of the input */
  gboolean full_range;     /* black is 0, not 16 */
} GstStereoRectifyFormats;

typedef struct _GstStereoRectifyMaps GstStereoRectifyMaps;

/* @owner: the element, which has the properties active-backend, focal-length, baseline and principal-offset, and is
 * notified when these change. @results: their values, which its object lock protects. */
GstStereoRectifyMaps *gst_stereo_rectify_maps_new (GstElement *owner, GstStereoRectifyResults *results);
void gst_stereo_rectify_maps_free (GstStereoRectifyMaps *maps);
/* Forgets everything but the results: the calibration file may be another one at the next start. */
void gst_stereo_rectify_maps_clear (GstStereoRectifyMaps *maps);

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
/* Remaps both views of mapped frames into @out; @second is @first where one frame holds both views. @compute_time: ns. An
 * error was posted unless the flow is OK. */
GstFlowReturn gst_stereo_rectify_maps_run (GstStereoRectifyMaps *maps, const GstStereoLayout *layout,
    const GstVideoFrame *first, const GstVideoFrame *second, const GstVideoFrame *out, guint64 *compute_time);

G_END_DECLS

#endif
