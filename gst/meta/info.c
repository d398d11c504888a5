/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gststereometa.h: what a meta says, how it becomes bytes, and how GStreamer makes, copies, scales and serialises it. */
#include "gst/meta/gststereometa.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "gst/meta/found.h"
#include "gst/meta/map.h"
#include "gst/meta/rays.h"

GST_DEBUG_CATEGORY_STATIC (gst_stereo_meta_debug);

/* The pictures of a meta, in the order in which they are stored. The flag of planes[i] is 1 << i. */
static const struct
{
  gsize offset;
  GstVideoFormat format;
  guint bytes; /* of a pixel */
} planes[] = { { G_STRUCT_OFFSET (GstStereoMeta, confidence), GST_VIDEO_FORMAT_GRAY8, 1 },
  { G_STRUCT_OFFSET (GstStereoMeta, truth), GST_VIDEO_FORMAT_GRAY16_LE, 2 },
  { G_STRUCT_OFFSET (GstStereoMeta, mask), GST_VIDEO_FORMAT_GRAY8, 1 } };

#define PLANES G_N_ELEMENTS (planes)
#define PLANE(meta, i) G_STRUCT_MEMBER (GstBuffer *, meta, planes[i].offset)

/* ---- the pictures: one plane each, rows padded or not ------------------------------------- */

/* NULL when the picture is larger than GStreamer allows, or there is no memory for it. */
static GstBuffer *
new_plane (GstVideoFormat format, guint width, guint height)
{
  GstVideoInfo info;

  if (!gst_video_info_set_format (&info, format, width, height))
    return NULL;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  if (buffer)
    gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, width, height);
  return buffer;
}

/* A new picture of @new_width x @new_height whose pixels are the nearest ones of @plane. NULL when there is no @plane, or it
 * cannot be read. */
static GstBuffer *
scale_plane (GstBuffer *plane, GstVideoFormat format, guint width, guint height, guint new_width, guint new_height)
{
  GstVideoFrame in, out;

  if (!plane || !gst_stereo_map_plane (&in, plane, format, width, height, GST_MAP_READ))
    return NULL;
  GstBuffer *scaled = new_plane (format, new_width, new_height);
  if (!scaled || !gst_stereo_map_plane (&out, scaled, format, new_width, new_height, GST_MAP_WRITE)) {
    gst_video_frame_unmap (&in);
    gst_clear_buffer (&scaled);
    return NULL;
  }
  guint bytes = GST_VIDEO_FRAME_COMP_PSTRIDE (&in, 0);
  for (guint y = 0; y < new_height; y++) {
    guint from_y = (guint) (((guint64) y * 2 + 1) * height / (2 * (guint64) new_height));
    const guint8 *from = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&in, 0) +
        (gssize) from_y * GST_VIDEO_FRAME_PLANE_STRIDE (&in, 0);
    guint8 *to = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&out, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&out, 0);
    for (guint x = 0; x < new_width; x++) {
      guint from_x = (guint) (((guint64) x * 2 + 1) * width / (2 * (guint64) new_width));
      memcpy (to + (gsize) x * bytes, from + (gsize) from_x * bytes, bytes);
    }
  }
  gst_video_frame_unmap (&out);
  gst_video_frame_unmap (&in);
  return scaled;
}

/* Multiplies the disparities of a GRAY16_LE picture by @factor: 0 stays 0, and no other value becomes 0. FALSE when
 * @plane cannot be mapped. */
static gboolean
multiply_plane (GstBuffer *plane, guint width, guint height, gdouble factor)
{
  GstVideoFrame frame;

  if (!gst_stereo_map_plane (&frame, plane, GST_VIDEO_FORMAT_GRAY16_LE, width, height, GST_MAP_READWRITE))
    return FALSE;
  for (guint y = 0; y < height; y++) {
    guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    for (guint x = 0; x < width; x++) {
      guint value = GST_READ_UINT16_LE (row + 2 * (gsize) x);
      if (value)
        GST_WRITE_UINT16_LE (row + 2 * (gsize) x, (guint16) CLAMP (value * factor + 0.5, 1, G_MAXUINT16));
    }
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}

/* The rows of a picture without padding. NULL when @plane is, or cannot be read. */
static GBytes *
pack_plane (GstBuffer *plane, GstVideoFormat format, guint width, guint height)
{
  GstVideoFrame frame;

  /* before anything is allocated: mapping refuses a size that the memory does not have */
  if (!plane || !gst_stereo_map_plane (&frame, plane, format, width, height, GST_MAP_READ))
    return NULL;
  gsize row = (gsize) width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  guint8 *packed = g_try_malloc (row * height);
  for (guint y = 0; packed && y < height; y++)
    memcpy (packed + y * row,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), row);
  gst_video_frame_unmap (&frame);
  return packed ? g_bytes_new_take (packed, row * height) : NULL;
}

/* The reverse: a new picture from rows without padding. NULL when there is no memory. */
static GstBuffer *
unpack_plane (const guint8 *from, GstVideoFormat format, guint width, guint height)
{
  GstBuffer *plane = new_plane (format, width, height);
  GstVideoFrame frame;

  if (!plane || !gst_stereo_map_plane (&frame, plane, format, width, height, GST_MAP_WRITE)) {
    gst_clear_buffer (&plane);
    return NULL;
  }
  gsize row = (gsize) width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  for (guint y = 0; y < height; y++)
    memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        from + y * row, row);
  gst_video_frame_unmap (&frame);
  return plane;
}

/* ---- what it says -------------------------------------------------------------------------- */

GstBuffer *
gst_stereo_meta_get_confidence (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return meta->confidence;
}

void
gst_stereo_meta_set_truth (GstStereoMeta *meta, GstBuffer *truth)
{
  g_return_if_fail (meta != NULL);
  gst_buffer_replace (&meta->truth, truth);
}

GstBuffer *
gst_stereo_meta_get_truth (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return meta->truth;
}

void
gst_stereo_meta_set_mask (GstStereoMeta *meta, GstBuffer *mask)
{
  g_return_if_fail (meta != NULL);
  gst_buffer_replace (&meta->mask, mask);
}

GstBuffer *
gst_stereo_meta_get_mask (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return meta->mask;
}

GBytes *
gst_stereo_meta_get_confidence_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return pack_plane (meta->confidence, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
}

GBytes *
gst_stereo_meta_get_truth_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return pack_plane (meta->truth, GST_VIDEO_FORMAT_GRAY16_LE, meta->width, meta->height);
}

GBytes *
gst_stereo_meta_get_mask_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return pack_plane (meta->mask, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
}

gboolean
gst_stereo_meta_is_reliable (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, FALSE);
  return gst_stereo_health_is_reliable (meta->health);
}

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

gdouble
gst_stereo_meta_get_depth (const GstStereoMeta *meta, guint sample)
{
  g_return_val_if_fail (meta != NULL, NAN);
  if (sample == 0 || meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS)
    return NAN;
  if (meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH)
    return sample * meta->depth_unit / 1000;
  if (meta->focal_length <= 0 || meta->baseline <= 0)
    return NAN;
  gdouble shift = gst_stereo_meta_get_disparity (meta, sample) + meta->principal_offset;
  return shift > 0 ? meta->focal_length * meta->baseline / shift : INFINITY;
}

gdouble
gst_stereo_meta_get_nearest_distance (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);
  if (meta->focal_length <= 0 || meta->baseline <= 0 || meta->num_disparities <= 0)
    return 0;
  gdouble shift = meta->min_disparity + meta->num_disparities - 1 + meta->principal_offset;
  return shift > 0 ? meta->focal_length * meta->baseline / shift : INFINITY;
}

/* ---- bytes -------------------------------------------------------------------------------- */

/*
 * For sending and recording: a header of little-endian fields of 8 bytes: magic number, sides, kind and flags, pair skew, the
 * numbers of gst_stereo_meta_ranges, health. After it the pictures in planes[], without padding; the flags say which of them there is.
 */
#define MAGIC 0x34304d5453ull /* "STM04" */

enum
{
  AT_MAGIC,
  AT_SIZE,
  AT_KIND,
  AT_SKEW,
  AT_DOUBLES
};

#define AT_HEALTH (AT_DOUBLES + GST_STEREO_META_NUMBERS)
#define HEADER (8 * (AT_HEALTH + 1))

static void
write_header (const GstStereoMeta *meta, guint64 flags, guint8 *data)
{
  GST_WRITE_UINT64_LE (data + 8 * AT_MAGIC, MAGIC);
  GST_WRITE_UINT64_LE (data + 8 * AT_SIZE, meta->width | (guint64) meta->height << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_KIND, (guint64) meta->kind | flags << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_SKEW, (guint64) meta->pair_skew);
  for (guint i = 0; i < GST_STEREO_META_NUMBERS; i++)
    GST_WRITE_DOUBLE_LE (data + 8 * (AT_DOUBLES + i), G_STRUCT_MEMBER (gdouble, meta, gst_stereo_meta_ranges[i].offset));
  GST_WRITE_UINT64_LE (data + 8 * AT_HEALTH, (guint64) meta->health);
}

/* A picture that cannot be read is left out. */
GBytes *
gst_stereo_meta_to_bytes (const GstStereoMeta *meta)
{
  GBytes *packed[PLANES];
  gsize size = HEADER;
  guint64 flags = 0;

  g_return_val_if_fail (meta != NULL, NULL);
  for (guint i = 0; i < PLANES; i++) {
    packed[i] = pack_plane (PLANE (meta, i), planes[i].format, meta->width, meta->height);
    if (!packed[i])
      continue;
    flags |= 1u << i;
    size += g_bytes_get_size (packed[i]);
  }
  guint8 *data = g_malloc (size);
  write_header (meta, flags, data);
  guint8 *to = data + HEADER;
  for (guint i = 0; i < PLANES; i++) {
    if (!packed[i])
      continue;
    memcpy (to, g_bytes_get_data (packed[i], NULL), g_bytes_get_size (packed[i]));
    to += g_bytes_get_size (packed[i]);
    g_bytes_unref (packed[i]);
  }
  return g_bytes_new_take (data, size);
}

/* Fills @meta, all but its first member; its pictures are new references. FALSE, and @meta untouched, when the bytes are
 * damaged or of an unknown version, or a number is outside its range. */
static gboolean
decode (GstStereoMeta *meta, const guint8 *data, gsize size)
{
  GstStereoMeta header;

  if (size < HEADER || GST_READ_UINT64_LE (data + 8 * AT_MAGIC) != MAGIC)
    return FALSE;
  memset (&header, 0, sizeof header);
  header.width = GST_READ_UINT32_LE (data + 8 * AT_SIZE);
  header.height = GST_READ_UINT32_LE (data + 8 * AT_SIZE + 4);
  header.kind = GST_READ_UINT32_LE (data + 8 * AT_KIND);
  header.pair_skew = (gint64) GST_READ_UINT64_LE (data + 8 * AT_SKEW);
  for (guint i = 0; i < GST_STEREO_META_NUMBERS; i++)
    G_STRUCT_MEMBER (gdouble, &header, gst_stereo_meta_ranges[i].offset) = GST_READ_DOUBLE_LE (
        data + 8 * (AT_DOUBLES + i));
  header.health = (GstStereoHealthFlags) GST_READ_UINT64_LE (data + 8 * AT_HEALTH);
  g_autofree gchar *problem = gst_stereo_meta_problem (&header);
  guint flags = GST_READ_UINT32_LE (data + 8 * AT_KIND + 4);
  guint64 wanted = HEADER;
  for (guint i = 0; i < PLANES; i++)
    wanted += flags & 1u << i ? (guint64) planes[i].bytes * header.width * header.height : 0;
  /* flags of health that this version does not know are kept; there are no more than 32 */
  if (problem || flags >> PLANES || GST_READ_UINT64_LE (data + 8 * AT_HEALTH) > G_MAXUINT32 || size != wanted)
    return FALSE;
  *meta = header;
  data += HEADER;
  for (guint i = 0; i < PLANES; i++) {
    if (!(flags & 1u << i))
      continue;
    PLANE (meta, i) = unpack_plane (data, planes[i].format, header.width, header.height);
    data += planes[i].bytes * (gsize) header.width * header.height;
  }
  return TRUE;
}

/* ---- GStreamer ---------------------------------------------------------------------------- */

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
gst_stereo_meta_clear (GstMeta *meta, GstBuffer *buffer)
{
  for (guint i = 0; i < PLANES; i++)
    gst_buffer_replace (&PLANE (meta, i), NULL);
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

/* A place of a picture after scaling; pixel centres have whole numbers. 0 is unknown and stays 0. */
static gdouble
scale_place (gdouble place, gint in, gint out)
{
  return place == 0 ? 0 : (place + 0.5) * out / in - 0.5;
}

static gboolean
transform_scale (GstBuffer *target, const GstStereoMeta *self, const GstVideoMetaTransform *transform)
{
  const GstVideoInfo *in = transform->in_info, *out = transform->out_info;
  const gchar *why = NULL;

  if (in->width < 1 || in->height < 1 || !same_display_aspect (in, out))
    why = "changes the display aspect ratio, so the picture may have got borders";
  else if (self->kind == GST_STEREO_OUTPUT_KIND_VIEWS && !views_stay_apart (self, in, out))
    why = "mixes the two views in the frame";
  if (why) {
    GST_CAT_DEBUG (gst_stereo_meta_debug, "dropped: scaling %dx%d to %dx%d %s", in->width, in->height, out->width,
        out->height, why);
    return FALSE;
  }
  guint width = scale_side (self->width, in->width, out->width);
  guint height = scale_side (self->height, in->height, out->height);
  gdouble factor = (gdouble) out->width / in->width;
  GstStereoMeta *scaled = add_like (target, self);
  for (guint i = 0; i < PLANES; i++)
    PLANE (scaled, i) = scale_plane (PLANE (self, i), planes[i].format, self->width, self->height, width, height);
  if (scaled->truth && !multiply_plane (scaled->truth, width, height, factor))
    gst_clear_buffer (&scaled->truth);
  scaled->width = width;
  scaled->height = height;
  scaled->disparity_scale /= factor;
  scaled->min_disparity *= factor;
  scaled->num_disparities *= factor;
  scaled->focal_length *= factor;
  /* 0 = it is the horizontal one, as long as both sides are scaled alike */
  if (self->focal_length_y > 0 || (gint64) out->width * in->height != (gint64) out->height * in->width)
    scaled->focal_length_y = gst_stereo_rays_focal_y (self) * out->height / in->height;
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
  for (guint i = 0; i < PLANES; i++)
    gst_buffer_replace (&PLANE (copy, i), PLANE (meta, i));
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
  if (!data || !decode (&stored, data, size))
    return NULL;
  meta = add_like (buffer, &stored);
  for (guint i = 0; i < PLANES; i++)
    PLANE (meta, i) = PLANE (&stored, i);
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
  for (guint i = 0; i < PLANES; i++)
    if (PLANE (copy, i))
      gst_buffer_ref (PLANE (copy, i));
  return copy;
}

void
gst_stereo_meta_free (GstStereoMeta *meta)
{
  if (meta)
    gst_stereo_meta_clear (&meta->meta, NULL);
  g_free (meta);
}
