/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points in space: of a pixel, and of a whole picture. */
#include "gst/meta/map.h"
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

/* Samples at a time: their results fit into the first cache. */
#define CHUNK 256

/* FALSE where @buffer says that it is no picture of @meta's size and kind. */
static gboolean
map_samples (const GstStereoMeta *meta, GstBuffer *buffer, GstVideoFrame *samples)
{
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);
  GstVideoFormat format = meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? GST_VIDEO_FORMAT_GRAY8 :
      video && video->format == GST_VIDEO_FORMAT_GRAY16_BE                     ? GST_VIDEO_FORMAT_GRAY16_BE :
                                                                                 GST_VIDEO_FORMAT_GRAY16_LE;
  GstVideoInfo info;

  return meta->width > 0 && meta->height > 0 && !gst_buffer_get_video_crop_meta (buffer) &&
      gst_video_info_set_format (&info, format, meta->width, meta->height) &&
      (video ? video->width == meta->width && video->height == meta->height :
               gst_buffer_get_size (buffer) == GST_VIDEO_INFO_SIZE (&info)) &&
      gst_stereo_map_plane (samples, buffer, format, meta->width, meta->height, GST_MAP_READ);
}

/* @count samples from @from on, in the machine's byte order. */
static void
unpack (const guint8 *from, GstVideoFormat format, guint count, guint16 *samples)
{
  for (guint i = 0; i < count; i++)
    samples[i] = format == GST_VIDEO_FORMAT_GRAY8 ? from[i] :
        format == GST_VIDEO_FORMAT_GRAY16_BE      ? GST_READ_UINT16_BE (from + 2 * i) :
                                                    GST_READ_UINT16_LE (from + 2 * i);
}

static void
fill_row (const GstStereoRays *rays, const GstVideoFrame *samples, guint width, guint y, gfloat *points)
{
  const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (samples, 0) +
      (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (samples, 0);
  const guint bytes = (guint) GST_VIDEO_FRAME_COMP_PSTRIDE (samples, 0);
  const gfloat down = (gfloat) ((y - rays->center_y) * rays->down);
  guint16 chunk[CHUNK];
  gfloat depths[CHUNK];

  for (guint x = 0; x < width; x += CHUNK) {
    guint count = MIN (CHUNK, width - x);

    unpack (row + (gsize) x * bytes, GST_VIDEO_FRAME_FORMAT (samples), count, chunk);
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
  GstVideoFrame samples;
  GstStereoRays rays;

  g_return_val_if_fail (meta != NULL, FALSE);
  g_return_val_if_fail (GST_IS_BUFFER (buffer), FALSE);
  g_return_val_if_fail (points != NULL, FALSE);
  if (!gst_stereo_rays_find (meta, &rays) || !map_samples (meta, buffer, &samples))
    return FALSE;
  for (guint y = 0; y < meta->height; y++)
    fill_row (&rays, &samples, meta->width, y, points + (gsize) y * meta->width * 3);
  gst_video_frame_unmap (&samples);
  return TRUE;
}

GBytes *
gst_stereo_meta_get_points_bytes (const GstStereoMeta *meta, GstBuffer *buffer)
{
  g_return_val_if_fail (meta != NULL, NULL);
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  gsize size = (gsize) meta->width * meta->height * 3 * sizeof (gfloat);
  gfloat *points = g_try_malloc (size);
  if (!points || !gst_stereo_meta_get_points (meta, buffer, points)) {
    g_free (points);
    return NULL;
  }
  return g_bytes_new_take (points, size);
}
