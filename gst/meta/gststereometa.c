/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a GstStereoMeta says: its pictures, and samples as pixels of disparity or millimetres.
 * info.c makes, copies and scales the meta.
 */
#include "gst/meta/gststereometa.h"
#include "gst/meta/private.h"

#include <gst/video/video.h>
#include <math.h>

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
  return gst_stereo_meta_pack_plane (meta->confidence, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
}

GBytes *
gst_stereo_meta_get_truth_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return gst_stereo_meta_pack_plane (meta->truth, GST_VIDEO_FORMAT_GRAY16_LE, meta->width, meta->height);
}

GBytes *
gst_stereo_meta_get_mask_bytes (const GstStereoMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return gst_stereo_meta_pack_plane (meta->mask, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
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
