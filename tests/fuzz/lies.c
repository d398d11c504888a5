/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/fuzz/lies.h"

#include <math.h>
#include <sys/mman.h>

#include "gst/meta/gststereometa.h"
#include "tests/support/picture.h"

/* ---- memory ------------------------------------------------------------------------------ */

typedef struct
{
  void *mapping;
  size_t size;
} Mapping;

static void
unmap (gpointer data)
{
  g_autofree Mapping *mapping = data;

  munmap (mapping->mapping, mapping->size);
}

/* At least one byte. The byte behind it faults, or the byte before it. */
static GstMemory *
guarded_memory (Random *random, gsize size, gboolean read_only)
{
  Mapping *mapping = g_new (Mapping, 1);
  PictureGuard guard = random_range (random, 0, 3) ? PICTURE_GUARD_AFTER : PICTURE_GUARD_BEFORE;

  size = MAX (size, 1);
  guint8 *bytes = picture_guarded (size, guard, &mapping->mapping, &mapping->size);
  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) (i * 37 + 11);
  return gst_memory_new_wrapped (read_only ? GST_MEMORY_FLAG_READONLY : 0, bytes, size, 0, size, mapping, unmap);
}

/* @size bytes in one memory, or in several. */
static GstBuffer *
guarded_buffer (Random *random, gsize size)
{
  GstBuffer *buffer = gst_buffer_new ();
  gboolean read_only = random_range (random, 0, 7) == 0;
  gint parts = random_range (random, 0, 5) ? 1 : random_range (random, 2, 4);

  for (gint part = 0; part < parts; part++) {
    gsize piece = part == parts - 1 ? size : (gsize) random_range (random, 0, (int) size);
    gst_buffer_append_memory (buffer, guarded_memory (random, piece, read_only));
    size -= piece;
  }
  return buffer;
}

/* ---- frames ------------------------------------------------------------------------------ */

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420,
  GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_Y444,
  GST_VIDEO_FORMAT_ENCODED, GST_VIDEO_FORMAT_v210 };

static gint
lie_of_stride (Random *random, gint stride)
{
  switch (random_range (random, 0, 7)) {
    case 0:
      return -stride;
    case 1:
      return stride + random_range (random, -4, 4);
    case 2:
      return 0;
    case 3:
      return (gint) random_next (random);
    case 4:
      return stride * random_range (random, 2, 20);
    default:
      return stride;
  }
}

static gsize
lie_of_offset (Random *random, gsize offset, gsize size)
{
  switch (random_range (random, 0, 7)) {
    case 0:
      return offset + (gsize) random_range (random, 0, 8);
    case 1:
      return (gsize) random_range (random, 0, (int) size + 8);
    case 2:
      return G_MAXSIZE - (gsize) random_range (random, 0, 64);
    case 3:
      return (gsize) random_next (random) << random_range (random, 0, 32);
    case 4:
      return size - 1;
    default:
      return offset;
  }
}

static void
lie_with_meta (Random *random, GstBuffer *buffer, const GstVideoInfo *info)
{
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    strides[p] = lie_of_stride (random, GST_VIDEO_INFO_PLANE_STRIDE (info, p));
    offsets[p] = lie_of_offset (random, GST_VIDEO_INFO_PLANE_OFFSET (info, p), GST_VIDEO_INFO_SIZE (info));
  }
  GstVideoMeta *meta = gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
      (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
      offsets, strides);
  if (random_range (random, 0, 5) == 0)
    meta->format = formats[random_range (random, 0, G_N_ELEMENTS (formats) - 1)];
  if (random_range (random, 0, 5) == 0)
    meta->width = random_range (random, 0, 1) ? random_next (random) : (guint) random_range (random, 0, 80);
  if (random_range (random, 0, 5) == 0)
    meta->height = random_range (random, 0, 1) ? random_next (random) : (guint) random_range (random, 0, 80);
  if (random_range (random, 0, 5) == 0)
    meta->n_planes = random_range (random, 0, 1) ? random_next (random) : (guint) random_range (random, 0, 9);
}

GstBuffer *
lies_frame (Random *random, const GstVideoInfo *info)
{
  gsize size = GST_VIDEO_INFO_SIZE (info);
  GstBuffer *buffer;

  if (random_range (random, 0, 2)) {
    buffer = gst_buffer_new ();
    gst_buffer_append_memory (buffer, guarded_memory (random, size, FALSE));
    return buffer;
  }
  if (random_range (random, 0, 3) == 0)
    size = (gsize) random_range (random, 1, (int) size + 4);
  buffer = guarded_buffer (random, size);
  if (random_range (random, 0, 3))
    lie_with_meta (random, buffer, info);
  return buffer;
}

/* ---- metadata ---------------------------------------------------------------------------- */

/* Numbers of every size, often at the ends of the ranges that are allowed. */
static gdouble
wild_number (Random *random, gdouble likely)
{
  static const gdouble wild[] = { 0, -0.0, 1, -1, 1e-3, 1e-300, 4.9e-324, 1e5, -1e5, 1e6, -1e6, 65535, 1024, -1024,
    1e17, 1e300, -1e300, NAN, INFINITY, -INFINITY, 2147483648.0, 1e-9 };

  return random_range (random, 0, 2) ? likely : wild[random_range (random, 0, G_N_ELEMENTS (wild) - 1)];
}

static GstBuffer *
plane (Random *random, GstVideoFormat format, int width, int height)
{
  GstVideoInfo info;

  if (random_range (random, 0, 2) == 0)
    return NULL;
  gst_video_info_set_format (&info, format, (guint) width, (guint) height);
  return lies_frame (random, &info);
}

void
lies_add_stereo_meta (Random *random, GstBuffer *buffer, int width, int height, gboolean narrow)
{
  GstBuffer *confidence = plane (random, GST_VIDEO_FORMAT_GRAY8, width, height);
  GstBuffer *truth = plane (random, GST_VIDEO_FORMAT_GRAY16_LE, width, height);
  GstBuffer *mask = plane (random, GST_VIDEO_FORMAT_GRAY8, width, height);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, (guint) width, (guint) height, confidence);
  gboolean wild = random_range (random, 0, 2) == 0;
  gdouble *const numbers[] = { &meta->disparity_scale, &meta->min_disparity, &meta->num_disparities,
    &meta->focal_length, &meta->baseline, &meta->principal_offset, &meta->depth_unit, &meta->principal_x,
    &meta->principal_y, &meta->focal_length_y, &meta->valid_ratio, &meta->mean_confidence };
  static const gdouble likely[] = { 16, 0, 32, 60, 100, 0, 1000, 15, 11, 0, 0.5, 0.5 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    *numbers[i] = wild ? wild_number (random, likely[i]) : likely[i];
  meta->kind = narrow             ? GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE :
      random_range (random, 0, 1) ? GST_STEREO_OUTPUT_KIND_DEPTH :
                                    GST_STEREO_OUTPUT_KIND_DISPARITY;
  if (random_range (random, 0, 15) == 0)
    meta->kind = (GstStereoOutputKind) random_range (random, -1, 5);
  if (random_range (random, 0, 23) == 0)
    meta->width = random_range (random, 0, 1) ? random_next (random) : 0;
  if (random_range (random, 0, 23) == 0)
    meta->height = random_next (random);
  meta->pair_skew = random_range (random, 0, 3) ? 0 : (gint64) ((guint64) random_next (random) << 32);
  gst_stereo_meta_set_truth (meta, truth);
  gst_stereo_meta_set_mask (meta, mask);
  gst_clear_buffer (&confidence);
  gst_clear_buffer (&truth);
  gst_clear_buffer (&mask);
}

static guint
wild_place (Random *random)
{
  return random_range (random, 0, 3) ? (guint) random_range (random, 0, 40) : random_next (random);
}

static void
add_ground (Random *random, GstBuffer *buffer)
{
  gint count = random_range (random, 0, random_range (random, 0, 7) ? 64 : 20000);
  GstStructure *ground = gst_custom_meta_get_structure (gst_buffer_add_custom_meta (buffer, "GstStereoGroundMeta"));
  GValue free = G_VALUE_INIT, one = G_VALUE_INIT;

  g_value_init (&free, GST_TYPE_ARRAY);
  g_value_init (&one, random_range (random, 0, 15) ? G_TYPE_DOUBLE : G_TYPE_FLOAT);
  for (gint i = 0; i < count; i++) {
    if (G_VALUE_HOLDS_DOUBLE (&one))
      g_value_set_double (&one, wild_number (random, 3000));
    gst_value_array_append_value (&free, &one);
  }
  g_value_unset (&one);
  if (random_range (random, 0, 7))
    gst_structure_take_value (ground, "free-distances", &free);
  else
    g_value_unset (&free);
  gst_structure_set (ground, "ground", G_TYPE_BOOLEAN, random_range (random, 0, 3) != 0, "plane-offset", G_TYPE_DOUBLE,
      wild_number (random, -2), "plane-across", G_TYPE_DOUBLE, wild_number (random, 0.01), NULL);
  if (random_range (random, 0, 7))
    gst_structure_set (ground, "plane-down", G_TYPE_DOUBLE, wild_number (random, 0.5), NULL);
}

static gint
wild_integer (Random *random, gint usual)
{
  return random_range (random, 0, 7) ? random_range (random, 0, usual) : (gint) random_next (random);
}

static void
add_nearest (Random *random, GstBuffer *buffer)
{
  static const gchar *const states[] = { "near", "clear", "unknown", "lost", NULL };
  GstStructure *nearest = gst_custom_meta_get_structure (gst_buffer_add_custom_meta (buffer, "GstStereoNearestMeta"));

  gst_structure_set (nearest, "state", G_TYPE_STRING, states[random_range (random, 0, 4)], "valid", G_TYPE_BOOLEAN,
      random_range (random, 0, 3) != 0, "warning", G_TYPE_BOOLEAN, random_range (random, 0, 1), "distance",
      G_TYPE_DOUBLE, wild_number (random, 1200), "disparity", G_TYPE_DOUBLE, wild_number (random, 20), "x", G_TYPE_INT,
      wild_integer (random, 8), "y", G_TYPE_INT, wild_integer (random, 8), "coverage", G_TYPE_DOUBLE,
      wild_number (random, 0.7), "warn-distance", G_TYPE_DOUBLE, wild_number (random, 1500), "region-x", G_TYPE_INT,
      wild_integer (random, 4), "region-y", G_TYPE_INT, wild_integer (random, 4), "region-width", G_TYPE_INT,
      1 + wild_integer (random, 8), NULL);
  if (random_range (random, 0, 7))
    gst_structure_set (nearest, "region-height", G_TYPE_INT, 1 + wild_integer (random, 8), "reason", G_TYPE_STRING,
        "left camera", NULL);
}

void
lies_add_finds (Random *random, GstBuffer *buffer)
{
  for (gint n = random_range (random, 0, 3); n > 0; n--) {
    GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
        buffer, "thing", wild_place (random), wild_place (random), wild_place (random), wild_place (random));
    if (random_range (random, 0, 1))
      gst_video_region_of_interest_meta_add_param (roi,
          gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, wild_number (random, 2000), "probability",
              G_TYPE_DOUBLE, wild_number (random, 0.7), NULL));
  }
  if (random_range (random, 0, 1))
    add_ground (random, buffer);
  if (random_range (random, 0, 2) == 0)
    add_nearest (random, buffer);
}
