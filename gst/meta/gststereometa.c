/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:gststereometa
 * @title: GstStereoMeta
 * @short_description: confidence and geometry of a disparity or depth picture
 *
 * From Python:
 *
 * |[<!-- language="Python" -->
 * gi.require_version ('GstStereo', '1.0')
 * from gi.repository import GstStereo
 * meta = GstStereo.buffer_get_stereo_meta (sample.get_buffer ())
 * confidence = meta.get_confidence_bytes ().get_data ()  # meta.width * meta.height bytes
 * print (meta.valid_ratio, meta.get_depth (value_of_a_pixel), 'mm')
 * ]|
 */

#include "gst/meta/gststereometa.h"
#include "gst/meta/private.h"

#include <gst/video/video.h>
#include <math.h>

GType
gst_stereo_output_kind_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = {
    { GST_STEREO_OUTPUT_KIND_DISPARITY, "GST_STEREO_OUTPUT_KIND_DISPARITY", "disparity" },
    { GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, "GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE", "disparity-range" },
    { GST_STEREO_OUTPUT_KIND_DEPTH, "GST_STEREO_OUTPUT_KIND_DEPTH", "depth" },
    { GST_STEREO_OUTPUT_KIND_VIEWS, "GST_STEREO_OUTPUT_KIND_VIEWS", "views" },
    { 0, NULL, NULL }
  };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoOutputKind", values));
  return once;
}

GType
gst_stereo_meta_api_get_type (void)
{
  static gsize once = 0;
  static const gchar *tags[] = {
    GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL
  };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, gst_meta_api_type_register ("GstStereoMetaAPI", tags));
  return once;
}

static gboolean
gst_stereo_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstStereoMeta *self = (GstStereoMeta *) meta;

  memset ((guint8 *) self + sizeof (GstMeta), 0, sizeof *self - sizeof (GstMeta));
  self->disparity_scale = 1;
  self->depth_unit = 1000;
  return TRUE;
}

static void
gst_stereo_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstStereoMeta *self = (GstStereoMeta *) meta;

  gst_buffer_replace (&self->confidence, NULL);
  gst_buffer_replace (&self->truth, NULL);
}

/* Everything but the pictures. */
static GstStereoMeta *
add_like (GstBuffer *buffer, const GstStereoMeta *like)
{
  GstStereoMeta *copy = gst_buffer_add_stereo_meta (buffer, like->width, like->height, NULL);

  copy->kind = like->kind;
  copy->disparity_scale = like->disparity_scale;
  copy->min_disparity = like->min_disparity;
  copy->num_disparities = like->num_disparities;
  copy->focal_length = like->focal_length;
  copy->baseline = like->baseline;
  copy->principal_offset = like->principal_offset;
  copy->depth_unit = like->depth_unit;
  copy->pair_skew = like->pair_skew;
  copy->valid_ratio = like->valid_ratio;
  copy->mean_confidence = like->mean_confidence;
  return copy;
}

/* As videoscale compares them before it adds borders. */
static gboolean
same_display_aspect (const GstVideoInfo *a, const GstVideoInfo *b)
{
  gint an, ad, bn, bd;

  return gst_util_fraction_multiply (a->width, a->height, a->par_n, a->par_d, &an, &ad) &&
      gst_util_fraction_multiply (b->width, b->height, b->par_n, b->par_d, &bn, &bd) && an == bn && ad == bd;
}

/* A side of a view that is @size of a frame's @in, when the frame's becomes @out. */
static guint
scale_side (guint size, gint in, gint out)
{
  return (guint) MAX (1, gst_util_uint64_scale_int_round (size, out, in));
}

/* Whether the two views of a frame are still whole after it was scaled as a single picture. */
static gboolean
views_stay_apart (const GstStereoMeta *self, const GstVideoInfo *in, const GstVideoInfo *out)
{
  GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE (in);
  gboolean across = self->width < (guint) in->width, down = self->height < (guint) in->height;

  if (in->width == out->width && in->height == out->height)
    return TRUE;
  return mode != GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED && mode != GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED &&
      !(across && out->width % 2) && !(down && out->height % 2);
}

static gboolean
transform_scale (GstBuffer *target, const GstStereoMeta *self, const GstVideoMetaTransform *transform)
{
  const GstVideoInfo *in = transform->in_info, *out = transform->out_info;
  GstBuffer *confidence = NULL, *truth = NULL;
  GstStereoMeta *scaled;
  guint width, height;
  gdouble factor;

  if (in->width < 1 || in->height < 1 || !same_display_aspect (in, out))
    return FALSE;
  if (self->kind == GST_STEREO_OUTPUT_KIND_VIEWS && !views_stay_apart (self, in, out))
    return FALSE;
  width = scale_side (self->width, in->width, out->width);
  height = scale_side (self->height, in->height, out->height);
  if (self->confidence)
    confidence = gst_stereo_meta_scale_plane (self->confidence, GST_VIDEO_FORMAT_GRAY8, self->width, self->height,
        width, height);
  if (self->truth)
    truth = gst_stereo_meta_scale_plane (self->truth, GST_VIDEO_FORMAT_GRAY16_LE, self->width, self->height, width,
        height);
  factor = (gdouble) out->width / in->width;
  if (truth && !gst_stereo_meta_multiply_plane (truth, width, height, factor))
    gst_clear_buffer (&truth);
  scaled = add_like (target, self);
  scaled->width = width;
  scaled->height = height;
  scaled->disparity_scale /= factor;
  scaled->min_disparity *= factor;
  scaled->num_disparities *= factor;
  scaled->focal_length *= factor;
  scaled->principal_offset *= factor;
  scaled->confidence = confidence;
  scaled->truth = truth;
  return TRUE;
}

static gboolean
gst_stereo_meta_transform (GstBuffer *target, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const GstStereoMeta *self = (GstStereoMeta *) meta;
  GstStereoMeta *copy;

  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return transform_scale (target, self, data);
  if (!GST_META_TRANSFORM_IS_COPY (type) || (data && ((GstMetaTransformCopy *) data)->region))
    return FALSE;
  copy = add_like (target, self);
  gst_buffer_replace (&copy->confidence, self->confidence);
  gst_buffer_replace (&copy->truth, self->truth);
  return TRUE;
}

#if GST_CHECK_VERSION (1, 24, 0)
static gboolean
gst_stereo_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  GBytes *bytes = gst_stereo_meta_to_bytes ((const GstStereoMeta *) meta);
  gsize size;
  const guint8 *contents = g_bytes_get_data (bytes, &size);
  gboolean done = gst_byte_array_interface_append_data (data, contents, size);

  *version = 0;
  g_bytes_unref (bytes);
  return done;
}

static GstMeta *
gst_stereo_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size,
    guint8 version)
{
  GBytes *bytes;
  GstStereoMeta *meta;

  if (version != 0)
    return NULL;
  bytes = g_bytes_new_static (data, size);
  meta = gst_buffer_add_stereo_meta_from_bytes (buffer, bytes);
  g_bytes_unref (bytes);
  return (GstMeta *) meta;
}

static const GstMetaInfo *
register_info (void)
{
  GstMetaInfo *info = gst_meta_info_new (GST_STEREO_META_API_TYPE, "GstStereoMeta", sizeof (GstStereoMeta));

  info->init_func = gst_stereo_meta_init;
  info->free_func = gst_stereo_meta_free;
  info->transform_func = gst_stereo_meta_transform;
  info->serialize_func = gst_stereo_meta_serialize;
  info->deserialize_func = gst_stereo_meta_deserialize;
  return gst_meta_info_register (info);
}
#else
static const GstMetaInfo *
register_info (void)
{
  return gst_meta_register (GST_STEREO_META_API_TYPE, "GstStereoMeta", sizeof (GstStereoMeta), gst_stereo_meta_init,
      gst_stereo_meta_free, gst_stereo_meta_transform);
}
#endif

/**
 * gst_stereo_meta_get_info: (skip)
 *
 * Returns: (transfer none): the registered implementation
 */
const GstMetaInfo *
gst_stereo_meta_get_info (void)
{
  static gsize once = 0;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize) register_info ());
  return (const GstMetaInfo *) once;
}

/**
 * gst_buffer_add_stereo_meta:
 * @buffer: a writable #GstBuffer
 * @width: width of the matched view in pixels
 * @height: height of the matched view in pixels
 * @confidence: (transfer none) (nullable): a GRAY8 picture of that size, with a #GstVideoMeta if its
 *     rows are padded other than GStreamer's default; the meta takes a reference
 *
 * Adds a #GstStereoMeta. Its other fields start at 0 (@disparity_scale at 1, @depth_unit at 1000) and
 * may be set directly while @buffer is writable.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 */
GstStereoMeta *
gst_buffer_add_stereo_meta (GstBuffer *buffer, guint width, guint height, GstBuffer *confidence)
{
  GstStereoMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  meta = (GstStereoMeta *) gst_buffer_add_meta (buffer, GST_STEREO_META_INFO, NULL);
  meta->width = width;
  meta->height = height;
  gst_buffer_replace (&meta->confidence, confidence);
  return meta;
}

/**
 * gst_buffer_get_stereo_meta:
 * @buffer: a #GstBuffer
 *
 * Returns: (transfer none) (nullable): the meta of @buffer, valid as long as @buffer is; %NULL when it has none
 */
GstStereoMeta *
gst_buffer_get_stereo_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  return (GstStereoMeta *) gst_buffer_get_meta (buffer, GST_STEREO_META_API_TYPE);
}

/**
 * gst_stereo_meta_get_confidence:
 * @meta: a #GstStereoMeta
 *
 * Its rows may be padded: map it with gst_video_frame_map(), or take
 * gst_stereo_meta_get_confidence_bytes().
 *
 * Returns: (transfer none) (nullable): a GRAY8 picture of @meta's width and height
 */
GstBuffer *
gst_stereo_meta_get_confidence (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return meta->confidence;
}

/**
 * gst_stereo_meta_set_truth:
 * @meta: a #GstStereoMeta of a writable buffer
 * @truth: (transfer none) (nullable): a GRAY16_LE picture of @meta's size: disparity times 64, 0 = unknown
 *
 * For sources that know the true disparity. The meta takes a reference.
 */
void
gst_stereo_meta_set_truth (GstStereoMeta *meta, GstBuffer *truth)
{
  g_return_if_fail (meta != NULL);
  gst_buffer_replace (&meta->truth, truth);
}

/**
 * gst_stereo_meta_get_truth:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer none) (nullable): the true disparity, GRAY16_LE: disparity times 64, 0 = unknown
 */
GstBuffer *
gst_stereo_meta_get_truth (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return meta->truth;
}

static GBytes *
plane_bytes (const GstStereoMeta *meta, GstBuffer *plane, GstVideoFormat format, gsize pixel)
{
  gsize size = (gsize) meta->width * meta->height * pixel;
  guint8 *packed;

  if (!plane)
    return NULL;
  packed = g_malloc (size);
  if (!gst_stereo_meta_pack_plane (plane, format, meta->width, meta->height, packed)) {
    g_free (packed);
    return NULL;
  }
  return g_bytes_new_take (packed, size);
}

/**
 * gst_stereo_meta_get_confidence_bytes:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer full) (nullable): a copy of the confidence, width * height bytes row after row without
 *     padding: 0..255 for 0..1, 0 where the two views disagree
 */
GBytes *
gst_stereo_meta_get_confidence_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return plane_bytes (meta, meta->confidence, GST_VIDEO_FORMAT_GRAY8, 1);
}

/**
 * gst_stereo_meta_get_truth_bytes:
 * @meta: a #GstStereoMeta
 *
 * Returns: (transfer full) (nullable): a copy of the true disparity, width * height little-endian 16-bit
 *     values row after row without padding: disparity times 64, 0 = unknown
 */
GBytes *
gst_stereo_meta_get_truth_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return plane_bytes (meta, meta->truth, GST_VIDEO_FORMAT_GRAY16_LE, 2);
}

/**
 * gst_stereo_meta_get_disparity:
 * @meta: a #GstStereoMeta
 * @sample: a sample of the buffer
 *
 * Returns: the disparity in pixels; not-a-number where @sample is invalid (0), for depth where focal length or
 *     baseline are unknown, and for %GST_STEREO_OUTPUT_KIND_VIEWS
 */
gdouble
gst_stereo_meta_get_disparity (const GstStereoMeta *meta, guint sample)
{
  g_return_val_if_fail (meta != NULL, NAN);
  if (sample == 0)
    return NAN;
  switch (meta->kind) {
    case GST_STEREO_OUTPUT_KIND_DISPARITY:
      return sample / meta->disparity_scale;
    case GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE:
      return meta->min_disparity + (sample - 1) / meta->disparity_scale;
    case GST_STEREO_OUTPUT_KIND_VIEWS:
      return NAN;
    default:
      if (meta->focal_length <= 0 || meta->baseline <= 0)
        return NAN;
      return meta->focal_length * meta->baseline / (sample * meta->depth_unit / 1000) - meta->principal_offset;
  }
}

/**
 * gst_stereo_meta_get_depth:
 * @meta: a #GstStereoMeta
 * @sample: a sample of the buffer
 *
 * Returns: the depth in millimetres; infinity for a point at infinity; not-a-number where @sample is invalid
 *     (0), focal length or baseline are unknown, and for %GST_STEREO_OUTPUT_KIND_VIEWS
 */
gdouble
gst_stereo_meta_get_depth (const GstStereoMeta *meta, guint sample)
{
  gdouble shift;

  g_return_val_if_fail (meta != NULL, NAN);
  if (sample == 0 || meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS)
    return NAN;
  if (meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH)
    return sample * meta->depth_unit / 1000;
  if (meta->focal_length <= 0 || meta->baseline <= 0)
    return NAN;
  shift = gst_stereo_meta_get_disparity (meta, sample) + meta->principal_offset;
  return shift > 0 ? meta->focal_length * meta->baseline / shift : INFINITY;
}
