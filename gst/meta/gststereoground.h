/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gststereoground
 * @title: GstStereoGroundMeta
 * @short_description: the ground in a disparity or depth picture, and the free distance of each column
 *
 * stereoground puts a #GstStereoGroundMeta on every buffer that passes through it, beside the #GstStereoMeta that the
 * buffer has.
 *
 * From Python:
 *
 * |[<!-- language="Python" -->
 * gi.require_version ('GstStereo', '1.0')
 * from gi.repository import GstStereo
 * meta = GstStereo.buffer_get_stereo_ground_meta (sample.get_buffer ())
 * if meta.valid:
 *     print (meta.camera_height, 'mm', meta.pitch, 'degrees', meta.get_free_distances ())
 * ]|
 */
#ifndef GST_STEREO_GROUND_META_H
#define GST_STEREO_GROUND_META_H

#include "gststereometa.h"

G_BEGIN_DECLS

/**
 * GST_STEREO_GROUND_UNKNOWN:
 *
 * The free distance of a column of which too little is seen.
 */
#define GST_STEREO_GROUND_UNKNOWN (-1.0)

typedef struct _GstStereoGroundMeta GstStereoGroundMeta;

/**
 * GstStereoGroundMeta:
 * @meta: parent
 * @valid: whether there is a ground; the next seven fields are 0 where there is none
 * @camera_height: height of the left camera above the ground in millimetres, at a right angle to the ground
 * @pitch: degrees by which the camera looks down; below 0: it looks up
 * @roll: degrees by which the right side of the camera is lower than its left side; below 0: higher
 * @quality: how sure the ground is, 0..1
 * @plane_offset: a of the ground's disparity a + b x + c y, in pixels, at pixel (x, y) of the picture. Compare it with
 *     gst_stereo_meta_get_disparity()
 * @plane_across: b of the ground's disparity: pixels of disparity per pixel to the right
 * @plane_down: c of the ground's disparity: pixels of disparity per pixel down
 * @judged: share of the pixels that a mask does not exclude whose depth is known and sure enough, 0..1. It is known also
 *     where @valid is %FALSE
 *
 * The ground, and the free distance of each column of the picture. The ground is a plane: the points X (millimetres; x to the
 * right, y down, z forward from the left camera) with
 *
 *     X.x * sin (roll) * cos (pitch) + X.y * cos (roll) * cos (pitch) + X.z * sin (pitch) = camera_height
 *
 * The meta is copied with its buffer. It is dropped where the picture was scaled, cropped, turned or cut.
 */
struct _GstStereoGroundMeta
{
  GstMeta meta;

  gboolean valid;
  gdouble camera_height;
  gdouble pitch;
  gdouble roll;
  gdouble quality;
  gdouble plane_offset;
  gdouble plane_across;
  gdouble plane_down;
  gdouble judged;

  /*< private >*/
  gdouble *free_distances;
  guint n_free_distances;
  gpointer _gst_reserved[GST_PADDING];
};

/**
 * gst_stereo_ground_meta_get_type: (skip)
 *
 * A boxed type: gst_stereo_ground_meta_copy() and gst_stereo_ground_meta_free().
 *
 * Returns: the #GType of #GstStereoGroundMeta
 */
#define GST_TYPE_STEREO_GROUND_META (gst_stereo_ground_meta_get_type ())
GST_STEREO_API
GType gst_stereo_ground_meta_get_type (void);

/**
 * gst_stereo_ground_meta_copy:
 * @meta: a #GstStereoGroundMeta
 *
 * Returns: (transfer full): a meta with the values of @meta, which belongs to no buffer
 */
GST_STEREO_API
GstStereoGroundMeta *gst_stereo_ground_meta_copy (const GstStereoGroundMeta *meta);

/**
 * gst_stereo_ground_meta_free:
 * @meta: (transfer full) (nullable): a meta of gst_stereo_ground_meta_copy(), never one of a buffer
 */
GST_STEREO_API
void gst_stereo_ground_meta_free (GstStereoGroundMeta *meta);

#define GST_STEREO_GROUND_META_API_TYPE (gst_stereo_ground_meta_api_get_type ())
/**
 * gst_stereo_ground_meta_api_get_type: (skip)
 *
 * The API is tagged as video, as dependent on its size and on its orientation.
 *
 * Returns: the #GType of the API, for gst_buffer_get_meta() and the like
 */
GST_STEREO_API
GType gst_stereo_ground_meta_api_get_type (void);

#define GST_STEREO_GROUND_META_INFO (gst_stereo_ground_meta_get_info ())
/**
 * gst_stereo_ground_meta_get_info: (skip)
 *
 * Registers the meta with GStreamer when it is called first. May be called from any thread.
 *
 * Returns: (transfer none): the registered implementation, never %NULL
 */
GST_STEREO_API
const GstMetaInfo *gst_stereo_ground_meta_get_info (void);

/**
 * gst_buffer_add_stereo_ground_meta: (skip)
 * @buffer: a writable #GstBuffer
 * @free_distances: (array length=count) (nullable): millimetres that the ground is free, for each of @count columns of
 *     equal width from left to right; %GST_STEREO_GROUND_UNKNOWN where that is not known. Copied
 * @count: how many, may be 0
 *
 * Adds a #GstStereoGroundMeta to @buffer. Its other fields start at 0 and may be set directly while @buffer is writable.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 */
GST_STEREO_API
GstStereoGroundMeta *gst_buffer_add_stereo_ground_meta (GstBuffer *buffer, const gdouble *free_distances, guint count);

/**
 * gst_buffer_get_stereo_ground_meta:
 * @buffer: a #GstBuffer
 *
 * Returns: (transfer none) (nullable): the first #GstStereoGroundMeta of @buffer, valid as long as @buffer is; %NULL
 *     when it has none. In Python this is a copy
 */
GST_STEREO_API
GstStereoGroundMeta *gst_buffer_get_stereo_ground_meta (GstBuffer *buffer);

/**
 * gst_stereo_ground_meta_get_free_distances:
 * @meta: a #GstStereoGroundMeta
 * @count: (out): how many
 *
 * A column is free from the bottom of the picture up to the first obstacle, or up to where the ground is not seen. The distance
 * is along the optical axis, as depth is.
 *
 * Returns: (transfer none) (array length=count): millimetres for each of @count columns of equal width, from the left
 *     to the right edge of the picture; %GST_STEREO_GROUND_UNKNOWN where too little is seen. Owned by @meta
 */
GST_STEREO_API
const gdouble *gst_stereo_ground_meta_get_free_distances (const GstStereoGroundMeta *meta, guint *count);

G_END_DECLS

#endif
