/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the geometry of the cameras from the metadata of the views: a GstStereoMeta of kind "views", from stereorectify or
 * stereotestsrc.
 *
 * The metadata replaces focal-length, baseline and principal-offset where these are 0. Each pair is read for itself: the
 * values of the last pair may be wrong for a pair without metadata. videoscale scales the meta, or drops it where it cannot.
 * A meta of another size belongs to another picture, and is not used.
 */
#ifndef GST_STEREO_CAMERAS_H
#define GST_STEREO_CAMERAS_H

#include "gst/pairing/aggregator.h"

G_BEGIN_DECLS

typedef struct _GstStereoCameras GstStereoCameras;

/* Units are those of GstStereoMeta; 0 = unknown. */
typedef struct
{
  gdouble focal_length, baseline, principal_offset;
  /* there are no properties for these: the views' values go to the output */
  gdouble principal_x, principal_y;
  gdouble focal_ratio; /* vertical by horizontal focal length; 0 = pixels are square */
} GstStereoGeometry;

/* @element posts the warnings; the object belongs to it and holds no reference. */
GstStereoCameras *gst_stereo_cameras_new (GstElement *element);
void gst_stereo_cameras_free (GstStereoCameras *cameras);
/* At the stop: after it, each warning may be posted once more. */
void gst_stereo_cameras_reset (GstStereoCameras *cameras);

/* Replaces each geometry parameter that is 0 in @params by the value in the metadata of the pair. */
void gst_stereo_cameras_read (
    GstStereoCameras *cameras, const GstStereoFrame *left, const GstStereoFrame *right, StereoParams *params);
/* Fills in the fields of @geometry that have no property, from the metadata of the pair; 0 where it has no value. Where no
 * metadata has a vertical focal length, the shape of the pixels gives it, which the caps have. */
void gst_stereo_cameras_read_left_view (
    GstStereoCameras *cameras, const GstStereoFrame *left, const GstStereoFrame *right, GstStereoGeometry *geometry);
/* Warns, once each, of disparities that the scene may have and the output has not: beyond min-disparity, where that was not set by
 * hand, and below 0, which samples of 16 bits do not hold. @params: in force. */
void gst_stereo_cameras_check_range (
    GstStereoCameras *cameras, const StereoParams *params, const GstStereoGeometry *geometry, StereoSample sample);
/* The true disparity of the left view, or NULL where the source does not know it. Unref it. */
GstBuffer *gst_stereo_cameras_get_truth (const GstStereoFrame *left);

G_END_DECLS

#endif
