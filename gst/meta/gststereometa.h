/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_STEREO_META_H
#define GST_STEREO_META_H

#include <gst/gst.h>

G_BEGIN_DECLS

#ifndef GST_STEREO_API
#ifdef BUILDING_GST_STEREO
#define GST_STEREO_API GST_API_EXPORT
#else
#define GST_STEREO_API GST_API_IMPORT
#endif
#endif

/**
 * GstStereoOutputKind:
 * @GST_STEREO_OUTPUT_KIND_DISPARITY: samples are disparities times #GstStereoMeta.disparity_scale
 *     (GRAY16); 0 = invalid
 * @GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE: samples 1..255 span the search range (GRAY8):
 *     disparity = min_disparity + (sample - 1) / disparity_scale; 0 = invalid
 * @GST_STEREO_OUTPUT_KIND_DEPTH: samples are depths in steps of #GstStereoMeta.depth_unit (GRAY16);
 *     0 = invalid, 65535 = that far or farther
 * @GST_STEREO_OUTPUT_KIND_VIEWS: samples are those of the two views, a pair to be matched: no disparity
 *     and no depth. The other fields are of the cameras, and @truth is of the left view
 *
 * What the samples of a buffer that carries a #GstStereoMeta mean.
 */
typedef enum
{
  GST_STEREO_OUTPUT_KIND_DISPARITY,
  GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE,
  GST_STEREO_OUTPUT_KIND_DEPTH,
  GST_STEREO_OUTPUT_KIND_VIEWS
} GstStereoOutputKind;

#define GST_TYPE_STEREO_OUTPUT_KIND (gst_stereo_output_kind_get_type ())
GST_STEREO_API
GType gst_stereo_output_kind_get_type (void);

typedef struct _GstStereoMeta GstStereoMeta;

/**
 * GstStereoMeta:
 * @meta: parent
 * @width: width of @confidence and @truth in pixels: that of the matched view, and of one view where the
 *     buffer holds two
 * @height: height of @confidence and @truth in pixels
 * @kind: what the samples of the buffer mean
 * @disparity_scale: sample steps per pixel of disparity, above 0; see #GstStereoOutputKind
 * @min_disparity: smallest disparity that was searched, in pixels; may be negative
 * @num_disparities: how many disparities were searched, in pixels: [min, min + num); of
 *     %GST_STEREO_OUTPUT_KIND_VIEWS how many need to be
 * @focal_length: horizontal focal length in pixels; 0 = unknown
 * @baseline: distance between the cameras in millimetres; 0 = unknown
 * @principal_offset: pixels to add to a disparity before it becomes depth
 * @depth_unit: micrometres per step of depth; 1000 = millimetres
 * @pair_skew: timestamp of the right frame minus that of the left one, in nanoseconds; 0 where either
 *     had none and for packed frames
 * @valid_ratio: share of the samples that hold a value, 0..1
 * @mean_confidence: mean of the confidence over all pixels, 0..1
 * @confidence: (nullable): a GRAY8 picture of @width x @height with a #GstVideoMeta: 0..255 for a
 *     confidence of 0..1, 0 where the two views disagree; %NULL for %GST_STEREO_OUTPUT_KIND_VIEWS. Owned by the
 *     meta; read-only.
 * @truth: (nullable): the true disparity, a GRAY16_LE picture of @width x @height with a
 *     #GstVideoMeta: disparity times 64, 0 = unknown. Owned by the meta; read-only.
 *
 * What a stereo matcher knows about its picture beyond the samples: how sure it is of every pixel, and
 * everything that is needed to turn a sample into pixels of disparity or into millimetres.
 * gst_stereo_meta_get_disparity() and gst_stereo_meta_get_depth() do that arithmetic.
 *
 * All lengths in pixels are pixels of the buffer as it is now. When an element such as videoscale
 * changes the width by a factor s it does not touch the sample values; the meta then divides
 * @disparity_scale by s and multiplies @min_disparity, @num_disparities, @focal_length and
 * @principal_offset by s, so that the same sample still gives the same depth and its disparity is
 * that of the scaled picture. @confidence and @truth are scaled by their nearest neighbours, and the
 * disparities in @truth are multiplied by s. Scale with
 * `videoscale method=nearest-neighbour` too: other methods mix the 0 of invalid pixels into valid ones.
 * Where the picture may have got borders (its display aspect ratio changed) or was cropped, turned
 * or cut, the meta is dropped rather than left wrong; and that of two views also where scaling mixed their rows
 * or columns, or left a frame that cannot be halved.
 */
struct _GstStereoMeta
{
  GstMeta meta;

  guint width;
  guint height;
  GstStereoOutputKind kind;
  gdouble disparity_scale;
  gdouble min_disparity;
  gdouble num_disparities;
  gdouble focal_length;
  gdouble baseline;
  gdouble principal_offset;
  gdouble depth_unit;
  gint64 pair_skew;
  gdouble valid_ratio;
  gdouble mean_confidence;

  GstBuffer *confidence;
  GstBuffer *truth;

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

/* Steps per pixel of disparity in #GstStereoMeta.truth. */
#define GST_STEREO_TRUTH_SCALE 64

#define GST_STEREO_META_API_TYPE (gst_stereo_meta_api_get_type ())
GST_STEREO_API
GType gst_stereo_meta_api_get_type (void);

#define GST_STEREO_META_INFO (gst_stereo_meta_get_info ())
GST_STEREO_API
const GstMetaInfo *gst_stereo_meta_get_info (void);

GST_STEREO_API
GstStereoMeta *gst_buffer_add_stereo_meta (GstBuffer *buffer, guint width, guint height, GstBuffer *confidence);

GST_STEREO_API
GstStereoMeta *gst_buffer_get_stereo_meta (GstBuffer *buffer);

GST_STEREO_API
GstBuffer *gst_stereo_meta_get_confidence (const GstStereoMeta *meta);

GST_STEREO_API
GBytes *gst_stereo_meta_get_confidence_bytes (const GstStereoMeta *meta);

GST_STEREO_API
void gst_stereo_meta_set_truth (GstStereoMeta *meta, GstBuffer *truth);

GST_STEREO_API
GstBuffer *gst_stereo_meta_get_truth (const GstStereoMeta *meta);

GST_STEREO_API
GBytes *gst_stereo_meta_get_truth_bytes (const GstStereoMeta *meta);

GST_STEREO_API
gdouble gst_stereo_meta_get_disparity (const GstStereoMeta *meta, guint sample);

GST_STEREO_API
gdouble gst_stereo_meta_get_depth (const GstStereoMeta *meta, guint sample);

GST_STEREO_API
GBytes *gst_stereo_meta_to_bytes (const GstStereoMeta *meta);

GST_STEREO_API
GstStereoMeta *gst_buffer_add_stereo_meta_from_bytes (GstBuffer *buffer, GBytes *bytes);

G_END_DECLS

#endif
