/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/meta/map.h"

/* What gst_video_frame_map() expects of a GstVideoMeta. It would abort a program that makes warnings fatal, and write
 * beyond the planes of @frame. */
static gboolean
meta_fits (const GstVideoMeta *meta, const GstVideoInfo *info)
{
  return meta->format == GST_VIDEO_INFO_FORMAT (info) && meta->width >= (guint) GST_VIDEO_INFO_WIDTH (info) &&
      meta->height >= (guint) GST_VIDEO_INFO_HEIGHT (info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES (info);
}

/* Whole pixels, with the bytes of them that are no component: drawing writes those, too. Of planes that hold several
 * components, each says how far the rows reach. */
static gboolean
pixels_are_inside (const GstVideoFrame *frame)
{
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    guint plane = (guint) GST_VIDEO_FRAME_COMP_PLANE (frame, c);
    const GstMapInfo *map = &frame->map[frame->meta ? plane : 0];
    gint64 first = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, plane) - map->data;
    gint64 stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane), height = GST_VIDEO_FRAME_COMP_HEIGHT (frame, c);
    gint64 rows = (height - 1) * stride;
    gint64 row = (gint64) GST_VIDEO_FRAME_COMP_WIDTH (frame, c) * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
    if (first + MIN (rows, 0) < 0 || first + MAX (rows, 0) + row > (gint64) map->size ||
        (height > 1 && ABS (stride) < row))
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_stereo_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, GstMapFlags flags)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  if ((meta && !meta_fits (meta, info)) || ((flags & GST_MAP_WRITE) && !gst_buffer_is_writable (buffer)) ||
      !gst_video_frame_map (frame, info, buffer, flags))
    return FALSE;
  frame->info.width = info->width;
  frame->info.height = info->height;
  if (pixels_are_inside (frame))
    return TRUE;
  gst_video_frame_unmap (frame);
  return FALSE;
}

gboolean
gst_stereo_map_plane (
    GstVideoFrame *frame, GstBuffer *buffer, GstVideoFormat format, guint width, guint height, GstMapFlags flags)
{
  GstVideoInfo info;

  return gst_video_info_set_format (&info, format, width, height) &&
      gst_stereo_map (frame, &info, buffer, flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
}

gsize
gst_stereo_map_room (const GstVideoFrame *frame, guint plane)
{
  const GstMapInfo *map = &frame->map[frame->meta ? plane : 0];

  return map->size - (gsize) ((const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, plane) - map->data);
}

/* ---- numbers ------------------------------------------------------------------------------ */

#define MAX_SIDE 65536u
#define AT(member) .name = #member, .offset = G_STRUCT_OFFSET (GstStereoMeta, member)

/* Principal points have no property: calibrations put them far outside of some pictures. */
const GstStereoMetaRange gst_stereo_meta_ranges[GST_STEREO_META_NUMBERS + 1] = {
  { AT (disparity_scale), .min = 1e-3, .max = 65535 }, { AT (min_disparity), .min = -1024, .max = 1024 },
  { AT (num_disparities), .min = 0, .max = 1024 }, { AT (focal_length), .min = 0, .max = 1e6 },
  { AT (baseline), .min = 0, .max = 1e6 }, { AT (principal_offset), .min = -1e5, .max = 1e5 },
  { AT (depth_unit), .min = 1e-3, .max = 1e6 }, { AT (valid_ratio), .min = 0, .max = 1 },
  { AT (mean_confidence), .min = 0, .max = 1 }, { AT (principal_x), .min = -1e6, .max = 1e6 },
  { AT (principal_y), .min = -1e6, .max = 1e6 }, { AT (focal_length_y), .min = 0, .max = 1e6 }, { NULL }
};

gchar *
gst_stereo_meta_problem (const GstStereoMeta *meta)
{
  if (meta->width < 1 || meta->height < 1 || meta->width > MAX_SIDE || meta->height > MAX_SIDE)
    return g_strdup_printf (
        "its picture is %ux%u, and the range of a side is 1 to %u", meta->width, meta->height, MAX_SIDE);
  if ((guint) meta->kind > GST_STEREO_OUTPUT_KIND_VIEWS)
    return g_strdup_printf ("kind is %d, which there is not", (gint) meta->kind);
  for (const GstStereoMetaRange *range = gst_stereo_meta_ranges; range->name; range++) {
    gdouble value = G_STRUCT_MEMBER (gdouble, meta, range->offset);
    /* not-a-number is in no range */
    if (!(value >= range->min && value <= range->max))
      return g_strdup_printf ("%s is %g, and its range is %g to %g", range->name, value, range->min, range->max);
  }
  return NULL;
}
