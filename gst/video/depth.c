/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/depth.h"

#include "gst/meta/map.h"

gchar *
gst_stereo_depth_problem (const GstVideoInfo *info, const GstStereoMeta *meta, const gchar *element)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gboolean wide = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE;

  if (!meta)
    return g_strdup_printf ("A picture without stereo metadata came: put %s right after stereomatch, before anything "
                            "that converts, crops, turns, encodes or sends the picture.",
        element);
  if (meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS)
    return g_strdup_printf ("The two views came, not their disparity: put stereomatch before %s.", element);
  if (meta->width != (guint) width || meta->height != (guint) height)
    return g_strdup_printf ("The metadata is about a picture of %ux%u pixels, but this one has %dx%d: put %s right "
                            "after stereomatch, before anything that changes the size.",
        meta->width, meta->height, width, height, element);
  if (wide == (meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE))
    return g_strdup_printf ("The picture is %s, and its metadata is about samples of %d bits: put %s right after "
                            "stereomatch, before anything that converts the picture.",
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), wide ? 8 : 16, element);
  gchar *number = gst_stereo_meta_problem (meta);
  gchar *problem = number ?
      g_strdup_printf ("The metadata of a picture cannot be right: %s. Look at what made the metadata.", number) :
      NULL;
  g_free (number);
  return problem;
}

gchar *
gst_stereo_depth_camera_problem (const GstStereoMeta *meta, gboolean baseline, const gchar *what)
{
  gboolean has_focal_length = meta->focal_length > 0, has_baseline = !baseline || meta->baseline > 0;

  if (has_focal_length && has_baseline)
    return NULL;
  return g_strdup_printf ("%s are asked for, but the metadata has %s. Set %s on stereomatch, or put stereorectify with a "
                          "calibration before it.",
      what,
      has_focal_length ? "no baseline" :
          has_baseline ? "no focal length" :
                         "neither focal length nor baseline",
      has_focal_length ? "baseline (mm)" :
          has_baseline ? "focal-length (px)" :
                         "focal-length (px) and baseline (mm)");
}

/* A picture of the metadata, NULL where there is none. FALSE: it cannot be read. */
static gboolean
map_plane (const GstStereoMeta *meta, GstBuffer *plane, GstVideoFrame *frame, const guint8 **data, gint *stride)
{
  if (!plane)
    return TRUE;
  if (!gst_stereo_map_plane (frame, plane, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height, GST_MAP_READ))
    return FALSE;
  *data = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  *stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
  return TRUE;
}

gboolean
gst_stereo_depth_map (GstStereoDepthMap *map, GstElement *element, const GstVideoInfo *info, GstBuffer *buffer)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstStereoDepthView *view = &map->view;
  const gchar *unreadable = NULL;

  *view = (GstStereoDepthView){ .meta = meta, .width = (gint) meta->width, .height = (gint) meta->height };
  if (gst_stereo_map (&map->samples, info, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    view->samples = GST_VIDEO_FRAME_PLANE_DATA (&map->samples, 0);
    view->stride = GST_VIDEO_FRAME_PLANE_STRIDE (&map->samples, 0);
    view->wide = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE;
  }
  if (!view->samples)
    unreadable = "picture";
  else if (!map_plane (meta, gst_stereo_meta_get_confidence (meta), &map->confidence, &view->confidence,
               &view->confidence_stride))
    unreadable = "confidence in the metadata";
  else if (!map_plane (meta, gst_stereo_meta_get_mask (meta), &map->mask, &view->mask, &view->mask_stride))
    unreadable = "mask in the metadata";
  if (!unreadable)
    return TRUE;
  gst_stereo_depth_unmap (map);
  GST_ELEMENT_ERROR (element, RESOURCE, READ,
      ("The %s could not be read: it is smaller than its caps or its metadata say. Look at what made the buffer.",
          unreadable),
      (NULL));
  return FALSE;
}

void
gst_stereo_depth_unmap (GstStereoDepthMap *map)
{
  if (map->view.samples)
    gst_video_frame_unmap (&map->samples);
  if (map->view.confidence)
    gst_video_frame_unmap (&map->confidence);
  if (map->view.mask)
    gst_video_frame_unmap (&map->mask);
  map->view.samples = map->view.confidence = map->view.mask = NULL;
}
