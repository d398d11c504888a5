/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the views' own metadata tells of the cameras: a GstStereoMeta of kind "views", from stereorectify or
 * stereotestsrc.
 *
 * It stands in for each of focal-length, baseline and principal-offset that was left at 0. Nothing is remembered from
 * pair to pair: what was true of the last pair may be wrong for a pair whose views say nothing. videoscale scales the
 * meta, or drops it where it cannot. A meta of another size belongs to another picture, and is not used.
 */
#ifndef GST_STEREO_CAMERAS_H
#define GST_STEREO_CAMERAS_H

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

typedef struct _GstStereoCameras GstStereoCameras;

/* As GstStereoMeta has it; 0 = unknown. */
typedef struct
{
  gdouble focal_length, baseline, principal_offset;
  /* no property has these: they go from the views to the output */
  gdouble principal_x, principal_y;
  gdouble focal_ratio; /* vertical by horizontal focal length; 0 = pixels are square */
} GstStereoGeometry;

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoCameras *gst_stereo_cameras_new (GstElement *element);
void gst_stereo_cameras_free (GstStereoCameras *cameras);
/* At the stop: each warning may be posted again. */
void gst_stereo_cameras_reset (GstStereoCameras *cameras);

/* Reads the metadata of a pair, and puts it in place of what @params leave at 0. */
void gst_stereo_cameras_read (
    GstStereoCameras *cameras, const GstStereoFrame *left, const GstStereoFrame *right, StereoParams *params);
/* Puts into @geometry what the metadata of a pair tells and no property has; 0 where it tells nothing. */
void gst_stereo_cameras_read_left_view (
    GstStereoCameras *cameras, const GstStereoFrame *left, const GstStereoFrame *right, GstStereoGeometry *geometry);
/* The true disparity of the left view, where the source knows it. Unref it. */
GstBuffer *gst_stereo_cameras_get_truth (const GstStereoFrame *left);

G_END_DECLS

#endif
