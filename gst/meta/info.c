/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The meta as GStreamer knows it: its types, how it is made, copied, scaled and serialised. */
#include "gst/meta/found.h"
#include "gst/meta/map.h"
#include "gst/meta/private.h"

#include <gst/video/video.h>
#include <string.h>

GST_DEBUG_CATEGORY_STATIC (gst_stereo_meta_debug);

/* Programs are built against the places of the members. New ones come last. */
#if GLIB_SIZEOF_VOID_P > 4
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstStereoMeta, mask) ==
    G_STRUCT_OFFSET (GstStereoMeta, truth) + sizeof (gpointer) + 2 * sizeof (gdouble));
#endif

GType
gst_stereo_output_kind_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_STEREO_OUTPUT_KIND_DISPARITY, "GST_STEREO_OUTPUT_KIND_DISPARITY",
                                           "disparity" },
    { GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, "GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE", "disparity-range" },
    { GST_STEREO_OUTPUT_KIND_DEPTH, "GST_STEREO_OUTPUT_KIND_DEPTH", "depth" },
    { GST_STEREO_OUTPUT_KIND_VIEWS, "GST_STEREO_OUTPUT_KIND_VIEWS", "views" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoOutputKind", values));
  return once;
}

static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
  NULL };

GType
gst_stereo_meta_api_get_type (void)
{
  static gsize once = 0;

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
clear_pictures (GstStereoMeta *self)
{
  gst_buffer_replace (&self->confidence, NULL);
  gst_buffer_replace (&self->truth, NULL);
  gst_buffer_replace (&self->mask, NULL);
}

static void
gst_stereo_meta_clear (GstMeta *meta, GstBuffer *buffer)
{
  clear_pictures ((GstStereoMeta *) meta);
}

/* Adds a meta to @buffer with all values of @like, without its pictures. */
static GstStereoMeta *
add_like (GstBuffer *buffer, const GstStereoMeta *like)
{
  GstStereoMeta *copy = gst_buffer_add_stereo_meta (buffer, like->width, like->height, NULL);
  const GstMeta meta = copy->meta;

  *copy = *like;
  copy->meta = meta;
  copy->confidence = copy->truth = copy->mask = NULL;
  return copy;
}

/* The same comparison by which videoscale decides whether it adds borders. */
static gboolean
same_display_aspect (const GstVideoInfo *a, const GstVideoInfo *b)
{
  gint an, ad, bn, bd;

  return gst_util_fraction_multiply (a->width, a->height, a->par_n, a->par_d, &an, &ad) &&
      gst_util_fraction_multiply (b->width, b->height, b->par_n, b->par_d, &bn, &bd) && an == bn && ad == bd;
}

/* The side of a view, @size pixels, after the frame's side was scaled from @in to @out pixels. */
static guint
scale_side (guint size, gint in, gint out)
{
  return (guint) MAX (1, gst_util_uint64_scale_int_round (size, out, in));
}

/* Whether a frame that was scaled as a single picture still holds two separate views. */
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

/* The two sides of @self after the scaling in @transform. FALSE, and the reason, where the meta cannot be kept. */
static gboolean
scaled_size (const GstStereoMeta *self, const GstVideoInfo *in, const GstVideoInfo *out, guint *width, guint *height)
{
  if (in->width < 1 || in->height < 1 || !same_display_aspect (in, out)) {
    GST_CAT_DEBUG (gst_stereo_meta_debug,
        "dropped: scaling %dx%d to %dx%d changes the display aspect ratio, so the picture may have got borders",
        in->width, in->height, out->width, out->height);
    return FALSE;
  }
  if (self->kind == GST_STEREO_OUTPUT_KIND_VIEWS && !views_stay_apart (self, in, out)) {
    GST_CAT_DEBUG (gst_stereo_meta_debug, "dropped: scaling %dx%d to %dx%d mixes the two views in the frame", in->width,
        in->height, out->width, out->height);
    return FALSE;
  }
  *width = scale_side (self->width, in->width, out->width);
  *height = scale_side (self->height, in->height, out->height);
  return TRUE;
}

/* A place of a picture after scaling; pixel centres have whole numbers. 0 is unknown and stays 0. */
static gdouble
scale_place (gdouble place, gint in, gint out)
{
  return place == 0 ? 0 : (place + 0.5) * out / in - 0.5;
}

/* The vertical focal length after scaling; 0 = it is the horizontal one. */
static gdouble
scale_focal_length_y (const GstStereoMeta *self, const GstVideoInfo *in, const GstVideoInfo *out)
{
  gdouble before = self->focal_length_y > 0 ? self->focal_length_y : self->focal_length;
  gboolean alike = (gint64) out->width * in->height == (gint64) out->height * in->width;

  return alike && self->focal_length_y <= 0 ? 0 : before * out->height / in->height;
}

static gboolean
transform_scale (GstBuffer *target, const GstStereoMeta *self, const GstVideoMetaTransform *transform)
{
  const GstVideoInfo *in = transform->in_info, *out = transform->out_info;
  GstBuffer *confidence = NULL, *truth = NULL, *mask = NULL;
  guint width, height;

  if (!scaled_size (self, in, out, &width, &height))
    return FALSE;
  if (self->confidence)
    confidence = gst_stereo_meta_scale_plane (
        self->confidence, GST_VIDEO_FORMAT_GRAY8, self->width, self->height, width, height);
  if (self->truth)
    truth = gst_stereo_meta_scale_plane (
        self->truth, GST_VIDEO_FORMAT_GRAY16_LE, self->width, self->height, width, height);
  if (self->mask)
    mask = gst_stereo_meta_scale_plane (self->mask, GST_VIDEO_FORMAT_GRAY8, self->width, self->height, width, height);
  gdouble factor = (gdouble) out->width / in->width;
  if (truth && !gst_stereo_meta_multiply_plane (truth, width, height, factor))
    gst_clear_buffer (&truth);
  GstStereoMeta *scaled = add_like (target, self);
  scaled->confidence = confidence;
  scaled->truth = truth;
  scaled->mask = mask;
  scaled->width = width;
  scaled->height = height;
  scaled->disparity_scale /= factor;
  scaled->min_disparity *= factor;
  scaled->num_disparities *= factor;
  scaled->focal_length *= factor;
  scaled->focal_length_y = scale_focal_length_y (self, in, out);
  scaled->principal_offset *= factor;
  scaled->principal_x = scale_place (self->principal_x, in->width, out->width);
  scaled->principal_y = scale_place (self->principal_y, in->height, out->height);
  gchar *problem = gst_stereo_meta_problem (scaled);
  if (problem) {
    GST_CAT_DEBUG (gst_stereo_meta_debug, "dropped: scaled to %dx%d, %s", out->width, out->height, problem);
    gst_buffer_remove_meta (target, &scaled->meta);
  }
  g_free (problem);
  return problem == NULL;
}

static gboolean
gst_stereo_meta_transform (GstBuffer *target, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const GstStereoMeta *self = (GstStereoMeta *) meta;

  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return transform_scale (target, self, data);
  if (!GST_META_TRANSFORM_IS_COPY (type) || (data && ((GstMetaTransformCopy *) data)->region)) {
    GST_CAT_DEBUG (
        gst_stereo_meta_debug, "dropped: '%s' changes what lies where in the picture", g_quark_to_string (type));
    return FALSE;
  }
  gst_buffer_add_stereo_meta_copy (target, self);
  return TRUE;
}

GstStereoMeta *
gst_buffer_add_stereo_meta_copy (GstBuffer *buffer, const GstStereoMeta *meta)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer), NULL);
  g_return_val_if_fail (meta != NULL, NULL);
  GstStereoMeta *copy = add_like (buffer, meta);
  gst_buffer_replace (&copy->confidence, meta->confidence);
  gst_buffer_replace (&copy->truth, meta->truth);
  gst_buffer_replace (&copy->mask, meta->mask);
  return copy;
}

GstStereoMeta *
gst_buffer_add_stereo_meta_from_bytes (GstBuffer *buffer, GBytes *bytes)
{
  GstStereoMeta stored, *meta;
  gsize size;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (bytes != NULL, NULL);
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (!data || !gst_stereo_meta_decode (&stored, data, size))
    return NULL;
  meta = add_like (buffer, &stored);
  meta->confidence = stored.confidence;
  meta->truth = stored.truth;
  meta->mask = stored.mask;
  return meta;
}

#if GST_CHECK_VERSION(1, 24, 0)
static gboolean
gst_stereo_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  g_autoptr (GBytes) bytes = gst_stereo_meta_to_bytes ((const GstStereoMeta *) meta);
  gsize size;
  const guint8 *contents = g_bytes_get_data (bytes, &size);
  gboolean done = gst_byte_array_interface_append_data (data, contents, size);

  *version = 0;
  return done;
}

static GstMeta *
gst_stereo_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size, guint8 version)
{
  if (version != 0)
    return NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta_from_bytes (buffer, bytes);
  return (GstMeta *) meta;
}

static const GstMetaInfo *
register_info (void)
{
  GstMetaInfo *info = gst_meta_info_new (GST_STEREO_META_API_TYPE, "GstStereoMetaOnBuffer", sizeof (GstStereoMeta));

  info->init_func = gst_stereo_meta_init;
  info->free_func = gst_stereo_meta_clear;
  info->transform_func = gst_stereo_meta_transform;
  info->serialize_func = gst_stereo_meta_serialize;
  info->deserialize_func = gst_stereo_meta_deserialize;
  return gst_meta_info_register (info);
}
#else
static const GstMetaInfo *
register_info (void)
{
  return gst_meta_register (GST_STEREO_META_API_TYPE, "GstStereoMetaOnBuffer", sizeof (GstStereoMeta),
      gst_stereo_meta_init, gst_stereo_meta_clear, gst_stereo_meta_transform);
}
#endif

/* What stereonearest and stereoground found is true of this very picture: only a whole copy keeps it. */
static gboolean
copy_found (GstBuffer *target, GstCustomMeta *meta, GstBuffer *buffer, GQuark type, gpointer data, gpointer name)
{
  if (!GST_META_TRANSFORM_IS_COPY (type) || (data && ((GstMetaTransformCopy *) data)->region))
    return FALSE;
  gst_stereo_found_attach (target, name, gst_custom_meta_get_structure (meta));
  return TRUE;
}

const GstMetaInfo *
gst_stereo_meta_get_info (void)
{
  static gchar *const found[] = { GST_STEREO_NEAREST_META, GST_STEREO_GROUND_META };
  static gsize once = 0;

  if (g_once_init_enter (&once)) {
    for (guint i = 0; i < G_N_ELEMENTS (found); i++)
      gst_meta_register_custom (found[i], tags, copy_found, found[i], NULL);
    GST_DEBUG_CATEGORY_INIT (gst_stereo_meta_debug, "stereometa", 0, "metadata of disparity and depth pictures");
    g_once_init_leave (&once, (gsize) register_info ());
  }
  return (const GstMetaInfo *) once;
}

GstStereoMeta *
gst_buffer_add_stereo_meta (GstBuffer *buffer, guint width, guint height, GstBuffer *confidence)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer) && gst_buffer_is_writable (buffer), NULL);
  GstStereoMeta *meta = (GstStereoMeta *) gst_buffer_add_meta (buffer, GST_STEREO_META_INFO, NULL);
  meta->width = width;
  meta->height = height;
  gst_buffer_replace (&meta->confidence, confidence);
  return meta;
}

GstStereoMeta *
gst_buffer_get_stereo_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  return (GstStereoMeta *) gst_buffer_get_meta (buffer, GST_STEREO_META_API_TYPE);
}

/* ---- a meta without a buffer -------------------------------------------------------------- */

/* GStreamer has a type of the name that the meta is registered by: it is another one than this. */
G_DEFINE_BOXED_TYPE (GstStereoMeta, gst_stereo_meta, gst_stereo_meta_copy, gst_stereo_meta_free)

GstStereoMeta *
gst_stereo_meta_new (guint width, guint height, GstBuffer *confidence)
{
  GstStereoMeta *meta = g_new0 (GstStereoMeta, 1);

  gst_stereo_meta_init (&meta->meta, NULL, NULL);
  meta->width = width;
  meta->height = height;
  gst_buffer_replace (&meta->confidence, confidence);
  return meta;
}

GstStereoMeta *
gst_stereo_meta_copy (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  GstStereoMeta *copy = g_memdup2 (meta, sizeof *meta);
  if (copy->confidence)
    gst_buffer_ref (copy->confidence);
  if (copy->truth)
    gst_buffer_ref (copy->truth);
  if (copy->mask)
    gst_buffer_ref (copy->mask);
  return copy;
}

void
gst_stereo_meta_free (GstStereoMeta *meta)
{
  if (meta)
    clear_pictures (meta);
  g_free (meta);
}
