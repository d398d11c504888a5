/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points in space: of a pixel, and of a whole picture. */
#include "gst/meta/private.h"
#include "gst/meta/rays.h"

gboolean
gst_stereo_meta_get_point (
    const GstStereoMeta *meta, gdouble x, gdouble y, guint sample, gdouble *point_x, gdouble *point_y, gdouble *point_z)
{
  GstStereoRays rays = { 0 };
  gdouble z = NAN;

  g_return_val_if_fail (meta != NULL, FALSE);
  if (gst_stereo_rays_find (meta, &rays) && !(rays.depth && sample >= GST_STEREO_BEYOND))
    z = gst_stereo_rays_accept (gst_stereo_meta_get_depth (meta, sample));
  if (point_x)
    *point_x = (x - rays.center_x) * z * rays.across;
  if (point_y)
    *point_y = (y - rays.center_y) * z * rays.down;
  if (point_z)
    *point_z = z;
  return !isnan (z);
}

/* ---- a whole picture --------------------------------------------------------------------- */

/* Samples at a time: what is computed of them stays in the first cache. */
#define CHUNK 256

/* A mapped picture of samples. */
typedef struct
{
  GstMapInfo map;
  gsize offset;  /* of the first row */
  gssize stride; /* bytes from row to row */
  guint bytes;   /* of a sample */
} Samples;

/* Whether @buffer says that it is such a picture, or nothing of its own; fills in where the rows lie. */
static gboolean
find_layout (const GstStereoMeta *meta, GstBuffer *buffer, Samples *samples)
{
  gboolean narrow = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  GstVideoFormat format = narrow ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE;
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);
  GstVideoInfo info;

  samples->bytes = narrow ? 1 : 2;
  if (gst_buffer_get_video_crop_meta (buffer))
    return FALSE;
  if (video) {
    samples->offset = video->offset[0];
    samples->stride = video->stride[0];
    return video->format == format && video->width == meta->width && video->height == meta->height;
  }
  if (!gst_video_info_set_format (&info, format, meta->width, meta->height))
    return FALSE;
  samples->offset = 0;
  samples->stride = GST_VIDEO_INFO_PLANE_STRIDE (&info, 0);
  return gst_buffer_get_size (buffer) == GST_VIDEO_INFO_SIZE (&info);
}

/* Whether every row lies in the @size mapped bytes. The rows may lie bottom up. */
static gboolean
rows_fit (const GstStereoMeta *meta, const Samples *samples, gsize size)
{
  gint64 first = (gint64) samples->offset, last = first + (gint64) (meta->height - 1) * samples->stride;
  gint64 end = (gint64) size - (gint64) meta->width * samples->bytes;

  return samples->offset <= size && first <= end && last >= 0 && last <= end;
}

/* Unmap @buffer with samples->map after it. */
static gboolean
map_samples (const GstStereoMeta *meta, GstBuffer *buffer, Samples *samples)
{
  if (meta->width < 1 || meta->height < 1 || !find_layout (meta, buffer, samples) ||
      !gst_buffer_map (buffer, &samples->map, GST_MAP_READ))
    return FALSE;
  if (rows_fit (meta, samples, samples->map.size))
    return TRUE;
  gst_buffer_unmap (buffer, &samples->map);
  return FALSE;
}

/* @count samples from @from on, in the machine's byte order. */
static void
unpack (const guint8 *from, guint bytes, guint count, guint16 *samples)
{
  for (guint i = 0; i < count; i++)
    samples[i] = bytes == 1 ? from[i] : GST_READ_UINT16_LE (from + 2 * i);
}

static void
fill_row (const GstStereoRays *rays, const Samples *samples, guint width, guint y, gfloat *points)
{
  const guint8 *row = samples->map.data + samples->offset + (gssize) y * samples->stride;
  const gfloat down = (gfloat) ((y - rays->center_y) * rays->down);
  guint16 chunk[CHUNK];
  gfloat depths[CHUNK];

  for (guint x = 0; x < width; x += CHUNK) {
    guint count = MIN (CHUNK, width - x);

    unpack (row + (gsize) x * samples->bytes, samples->bytes, count, chunk);
    gst_stereo_rays_depths (rays, chunk, count, depths);
    for (guint i = 0; i < count; i++, points += 3) {
      points[0] = (gfloat) ((x + i - rays->center_x) * rays->across) * depths[i];
      points[1] = down * depths[i];
      points[2] = depths[i];
    }
  }
}

gboolean
gst_stereo_meta_get_points (const GstStereoMeta *meta, GstBuffer *buffer, gfloat *points)
{
  GstStereoRays rays;
  Samples samples;

  g_return_val_if_fail (meta != NULL, FALSE);
  g_return_val_if_fail (GST_IS_BUFFER (buffer), FALSE);
  g_return_val_if_fail (points != NULL, FALSE);
  if (!gst_stereo_rays_find (meta, &rays) || !map_samples (meta, buffer, &samples))
    return FALSE;
  for (guint y = 0; y < meta->height; y++)
    fill_row (&rays, &samples, meta->width, y, points + (gsize) y * meta->width * 3);
  gst_buffer_unmap (buffer, &samples.map);
  return TRUE;
}

GBytes *
gst_stereo_meta_get_points_bytes (const GstStereoMeta *meta, GstBuffer *buffer)
{
  gsize size;
  gfloat *points;

  g_return_val_if_fail (meta != NULL, NULL);
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  size = (gsize) meta->width * meta->height * 3 * sizeof (gfloat);
  points = g_try_malloc (size);
  if (!points || !gst_stereo_meta_get_points (meta, buffer, points)) {
    g_free (points);
    return NULL;
  }
  return g_bytes_new_take (points, size);
}
