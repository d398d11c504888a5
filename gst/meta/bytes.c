/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The metadata as bytes, for sending and recording. A header of little-endian fields of 8 bytes: magic number, sides,
 * kind and flags, pair skew, then the numbers in doubles[]. After it the pictures in planes[], without padding; the
 * flags say which of them there is. The first version had no principal point and no mask, the second one no vertical
 * focal length, the third one no health, which lies behind the numbers: they are read, and no longer written.
 */
#include "gst/meta/plausible.h"
#include "gst/meta/private.h"

#include <string.h>

#define MAGIC_1 0x31304d5453ull /* "STM01" */
#define MAGIC_2 0x32304d5453ull /* "STM02" */
#define MAGIC_3 0x33304d5453ull /* "STM03" */
#define MAGIC_4 0x34304d5453ull /* "STM04" */

enum
{
  AT_MAGIC,
  AT_SIZE,
  AT_KIND,
  AT_SKEW,
  AT_DOUBLES
};

/* In the order in which they are stored. */
static const gsize doubles[] = { G_STRUCT_OFFSET (GstStereoMeta, disparity_scale),
  G_STRUCT_OFFSET (GstStereoMeta, min_disparity), G_STRUCT_OFFSET (GstStereoMeta, num_disparities),
  G_STRUCT_OFFSET (GstStereoMeta, focal_length), G_STRUCT_OFFSET (GstStereoMeta, baseline),
  G_STRUCT_OFFSET (GstStereoMeta, principal_offset), G_STRUCT_OFFSET (GstStereoMeta, depth_unit),
  G_STRUCT_OFFSET (GstStereoMeta, valid_ratio), G_STRUCT_OFFSET (GstStereoMeta, mean_confidence),
  /* from the second version on */
  G_STRUCT_OFFSET (GstStereoMeta, principal_x), G_STRUCT_OFFSET (GstStereoMeta, principal_y),
  /* from the third version on */
  G_STRUCT_OFFSET (GstStereoMeta, focal_length_y) };

/* In the order in which they are stored. The flag of planes[i] is 1 << i. */
static const struct
{
  gsize offset;
  GstVideoFormat format;
  guint bytes; /* of a pixel */
} planes[] = { { G_STRUCT_OFFSET (GstStereoMeta, confidence), GST_VIDEO_FORMAT_GRAY8, 1 },
  { G_STRUCT_OFFSET (GstStereoMeta, truth), GST_VIDEO_FORMAT_GRAY16_LE, 2 },
  /* from the second version on */
  { G_STRUCT_OFFSET (GstStereoMeta, mask), GST_VIDEO_FORMAT_GRAY8, 1 } };

#define PLANES_1 2
#define PLANES_2 G_N_ELEMENTS (planes)
#define DOUBLES_1 9
#define DOUBLES_2 11
#define DOUBLES_3 G_N_ELEMENTS (doubles)
#define AT_HEALTH (AT_DOUBLES + DOUBLES_3)
#define HEADER (8 * (AT_HEALTH + 1))

/* Of the pictures that @flags name, in bytes. */
static guint64
size_of_planes (guint64 flags, guint64 pixels)
{
  guint64 size = 0;

  for (guint i = 0; i < PLANES_2; i++)
    if (flags & 1u << i)
      size += planes[i].bytes * pixels;
  return size;
}

static void
write_header (const GstStereoMeta *meta, guint64 flags, guint8 *data)
{
  GST_WRITE_UINT64_LE (data + 8 * AT_MAGIC, MAGIC_4);
  GST_WRITE_UINT64_LE (data + 8 * AT_SIZE, meta->width | (guint64) meta->height << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_KIND, (guint64) meta->kind | flags << 32);
  GST_WRITE_UINT64_LE (data + 8 * AT_SKEW, (guint64) meta->pair_skew);
  for (guint i = 0; i < G_N_ELEMENTS (doubles); i++)
    GST_WRITE_DOUBLE_LE (data + 8 * (AT_DOUBLES + i), G_STRUCT_MEMBER (gdouble, meta, doubles[i]));
  GST_WRITE_UINT64_LE (data + 8 * AT_HEALTH, (guint64) meta->health);
}

/* A picture that cannot be read is left out. */
GBytes *
gst_stereo_meta_to_bytes (const GstStereoMeta *meta)
{
  GBytes *packed[PLANES_2];
  gsize size = HEADER;
  guint64 flags = 0;

  g_return_val_if_fail (meta != NULL, NULL);
  for (guint i = 0; i < PLANES_2; i++) {
    packed[i] = gst_stereo_meta_pack_plane (
        G_STRUCT_MEMBER (GstBuffer *, meta, planes[i].offset), planes[i].format, meta->width, meta->height);
    if (!packed[i])
      continue;
    flags |= 1u << i;
    size += g_bytes_get_size (packed[i]);
  }
  guint8 *data = g_malloc (size);
  write_header (meta, flags, data);
  guint8 *to = data + HEADER;
  for (guint i = 0; i < PLANES_2; i++) {
    if (!packed[i])
      continue;
    memcpy (to, g_bytes_get_data (packed[i], NULL), g_bytes_get_size (packed[i]));
    to += g_bytes_get_size (packed[i]);
    g_bytes_unref (packed[i]);
  }
  return g_bytes_new_take (data, size);
}

/* What a version has: numbers in the header, and pictures that there may be. */
typedef struct
{
  guint doubles; /* 0: the version is unknown, or the magic number is not there */
  guint planes;
  gboolean health;
} Version;

static gsize
header_of (Version version)
{
  return 8 * (AT_DOUBLES + (gsize) version.doubles + (version.health ? 1 : 0));
}

static Version
version_of (const guint8 *data, gsize size)
{
  guint64 magic = size >= 8 ? GST_READ_UINT64_LE (data + 8 * AT_MAGIC) : 0;

  if (magic == MAGIC_4)
    return (Version){ DOUBLES_3, PLANES_2, TRUE };
  if (magic == MAGIC_3)
    return (Version){ DOUBLES_3, PLANES_2 };
  if (magic == MAGIC_2)
    return (Version){ DOUBLES_2, PLANES_2 };
  return magic == MAGIC_1 ? (Version){ DOUBLES_1, PLANES_1 } : (Version){ 0, 0 };
}

/* Whether the header is complete and of a known version, and whether its sizes add up to @size. */
static gboolean
check (const guint8 *data, gsize size, guint *width, guint *height, guint *flags)
{
  Version version = version_of (data, size);

  if (!version.doubles || size < header_of (version))
    return FALSE;
  *width = GST_READ_UINT32_LE (data + 8 * AT_SIZE);
  *height = GST_READ_UINT32_LE (data + 8 * AT_SIZE + 4);
  *flags = GST_READ_UINT32_LE (data + 8 * AT_KIND + 4);
  /* flags of health that this version does not know are kept; there are no more than 32 */
  return !(*flags >> version.planes) && *width <= GST_STEREO_MAX_SIDE && *height <= GST_STEREO_MAX_SIDE &&
      (!version.health || GST_READ_UINT64_LE (data + 8 * AT_HEALTH) <= G_MAXUINT32) &&
      size == header_of (version) + size_of_planes (*flags, (guint64) *width * *height);
}

/* All but the pictures. */
static void
read_header (GstStereoMeta *meta, const guint8 *data, Version version, guint width, guint height)
{
  memset (meta, 0, sizeof *meta);
  meta->width = width;
  meta->height = height;
  meta->kind = GST_READ_UINT32_LE (data + 8 * AT_KIND);
  meta->pair_skew = (gint64) GST_READ_UINT64_LE (data + 8 * AT_SKEW);
  for (guint i = 0; i < version.doubles; i++)
    G_STRUCT_MEMBER (gdouble, meta, doubles[i]) = GST_READ_DOUBLE_LE (data + 8 * (AT_DOUBLES + i));
  if (version.health)
    meta->health = (GstStereoHealthFlags) GST_READ_UINT64_LE (data + 8 * AT_HEALTH);
}

static gboolean
is_plausible (const GstStereoMeta *meta)
{
  gchar *problem = gst_stereo_meta_problem (meta);

  g_free (problem);
  return problem == NULL;
}

gboolean
gst_stereo_meta_decode (GstStereoMeta *meta, const guint8 *data, gsize size)
{
  Version version = version_of (data, size);
  guint width, height, flags;
  GstStereoMeta header;

  if (!check (data, size, &width, &height, &flags))
    return FALSE;
  read_header (&header, data, version, width, height);
  if (!is_plausible (&header))
    return FALSE;
  *meta = header;
  data += header_of (version);
  for (guint i = 0; i < version.planes; i++) {
    if (!(flags & 1u << i))
      continue;
    G_STRUCT_MEMBER (GstBuffer *, meta, planes[i].offset) = gst_stereo_meta_unpack_plane (
        data, planes[i].format, width, height);
    data += planes[i].bytes * (gsize) width * height;
  }
  return TRUE;
}
