/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gststereonearest
 * @title: GstStereoNearestMeta
 * @short_description: the nearest surface in a disparity or depth picture, and whether the way is clear
 *
 * stereonearest puts a #GstStereoNearestMeta on every buffer that passes through it, beside the #GstStereoMeta that the
 * buffer has. The element message `stereo-nearest` has the same values.
 *
 * From Python:
 *
 * |[<!-- language="Python" -->
 * gi.require_version ('GstStereo', '1.0')
 * from gi.repository import GstStereo
 * meta = GstStereo.buffer_get_stereo_nearest_meta (sample.get_buffer ())
 * if meta.state == GstStereo.StereoNearestState.UNKNOWN:
 *     print ('something may be near:', meta.get_reason ())
 * elif meta.valid:
 *     print (meta.distance, 'mm at', meta.x, meta.y)
 * ]|
 */
#ifndef GST_STEREO_NEAREST_META_H
#define GST_STEREO_NEAREST_META_H

#include "gststereometa.h"

G_BEGIN_DECLS

/**
 * GstStereoNearestState:
 * @GST_STEREO_NEAREST_STATE_UNKNOWN: too little is seen, or the depth cannot be relied on: something may be near
 * @GST_STEREO_NEAREST_STATE_NEAR: a surface is nearer than warn-distance; without a warn-distance: a surface was found
 * @GST_STEREO_NEAREST_STATE_CLEAR: enough is seen, and no surface is nearer than warn-distance
 *
 * What the nearest surface means for a machine that moves. A program that acts on it must never take
 * %GST_STEREO_NEAREST_STATE_UNKNOWN for clear.
 */
typedef enum
{
  GST_STEREO_NEAREST_STATE_UNKNOWN = 0,
  GST_STEREO_NEAREST_STATE_NEAR = 1,
  GST_STEREO_NEAREST_STATE_CLEAR = 2
} GstStereoNearestState;

typedef struct _GstStereoNearestMeta GstStereoNearestMeta;

/**
 * GstStereoNearestMeta:
 * @meta: parent
 * @state: what the nearest surface means
 * @warning: whether @distance is below @warn_distance
 * @valid: whether a surface or an obstacle was found; only then the next five fields have a value
 * @distance: millimetres along the optical axis, as depth is; not-a-number where distances are not known
 * @disparity: the same in pixels of the picture; not-a-number where it is not known
 * @x: its column, in pixels from the left edge of the picture
 * @y: its row, in pixels from the upper edge of the picture
 * @confidence: confidence of the pixels there, 0..1; for an obstacle its probability
 * @coverage: share of the region's pixels that are seen, 0..1; for obstacles, share of its columns whose free distance is
 *     known. It has a value also where @valid is %FALSE
 * @support: pixels of the whole surface; 0 = no surface was found, or it is an obstacle
 * @warn_distance: millimetres below which @state is near; 0 = no distance was set
 * @region_x: left edge of the region that was searched, pixels
 * @region_y: upper edge of the region, pixels
 * @region_width: width of the region, pixels
 * @region_height: height of the region, pixels
 *
 * The nearest surface in a region of the picture. The meta is copied with its buffer. It is dropped where the picture was
 * scaled, cropped, turned or cut.
 */
struct _GstStereoNearestMeta
{
  GstMeta meta;

  GstStereoNearestState state;
  gboolean warning;
  gboolean valid;
  gdouble distance;
  gdouble disparity;
  gint x;
  gint y;
  gdouble confidence;
  gdouble coverage;
  guint support;
  gdouble warn_distance;
  gint region_x;
  gint region_y;
  gint region_width;
  gint region_height;

  /*< private >*/
  gchar *reason;
  gpointer _gst_reserved[GST_PADDING];
};

/**
 * gst_stereo_nearest_meta_get_type: (skip)
 *
 * A boxed type: gst_stereo_nearest_meta_copy() and gst_stereo_nearest_meta_free().
 *
 * Returns: the #GType of #GstStereoNearestMeta
 */
#define GST_TYPE_STEREO_NEAREST_META (gst_stereo_nearest_meta_get_type ())
GST_STEREO_API
GType gst_stereo_nearest_meta_get_type (void);

/**
 * gst_stereo_nearest_meta_copy:
 * @meta: a #GstStereoNearestMeta
 *
 * Returns: (transfer full): a meta with the values of @meta, which belongs to no buffer
 */
GST_STEREO_API
GstStereoNearestMeta *gst_stereo_nearest_meta_copy (const GstStereoNearestMeta *meta);

/**
 * gst_stereo_nearest_meta_free:
 * @meta: (transfer full) (nullable): a meta of gst_stereo_nearest_meta_copy(), never one of a buffer
 */
GST_STEREO_API
void gst_stereo_nearest_meta_free (GstStereoNearestMeta *meta);

#define GST_STEREO_NEAREST_META_API_TYPE (gst_stereo_nearest_meta_api_get_type ())
/**
 * gst_stereo_nearest_meta_api_get_type: (skip)
 *
 * The API is tagged as video, as dependent on its size and on its orientation.
 *
 * Returns: the #GType of the API, for gst_buffer_get_meta() and the like
 */
GST_STEREO_API
GType gst_stereo_nearest_meta_api_get_type (void);

#define GST_STEREO_NEAREST_META_INFO (gst_stereo_nearest_meta_get_info ())
/**
 * gst_stereo_nearest_meta_get_info: (skip)
 *
 * Registers the meta with GStreamer when it is called first. May be called from any thread.
 *
 * Returns: (transfer none): the registered implementation, never %NULL
 */
GST_STEREO_API
const GstMetaInfo *gst_stereo_nearest_meta_get_info (void);

/**
 * gst_buffer_add_stereo_nearest_meta: (skip)
 * @buffer: a writable #GstBuffer
 * @reason: (nullable): why the state is unknown, in words; %NULL where it is known. Copied
 *
 * Adds a #GstStereoNearestMeta to @buffer. Its @distance and @disparity start as not-a-number, its other fields at 0; they may
 * be set directly while @buffer is writable.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 */
GST_STEREO_API
GstStereoNearestMeta *gst_buffer_add_stereo_nearest_meta (GstBuffer *buffer, const gchar *reason);

/**
 * gst_buffer_get_stereo_nearest_meta:
 * @buffer: a #GstBuffer
 *
 * Returns: (transfer none) (nullable): the first #GstStereoNearestMeta of @buffer, valid as long as @buffer is; %NULL
 *     when it has none. In Python this is a copy
 */
GST_STEREO_API
GstStereoNearestMeta *gst_buffer_get_stereo_nearest_meta (GstBuffer *buffer);

/**
 * gst_stereo_nearest_meta_get_reason:
 * @meta: a #GstStereoNearestMeta
 *
 * Returns: (transfer none) (nullable): why the state is unknown, in words: `right camera frozen`; %NULL where it is known.
 *     Owned by @meta
 */
GST_STEREO_API
const gchar *gst_stereo_nearest_meta_get_reason (const GstStereoNearestMeta *meta);

G_END_DECLS

#endif
