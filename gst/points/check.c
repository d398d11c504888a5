/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/points/check.h"

#include <math.h>

static gboolean
is_length (gdouble value)
{
  return value > 0 && isfinite (value);
}

static gchar *
geometry_problem (const GstStereoMeta *meta)
{
  gboolean focal_length = is_length (meta->focal_length);
  gboolean baseline = is_length (meta->baseline) || meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;

  if (!focal_length || !baseline)
    return g_strdup_printf ("Points are asked for, but the metadata has no %s: set %s on stereomatch, or put "
                            "stereorectify with a calibration before it.",
        focal_length ? "baseline" :
            baseline ? "focal length" :
                       "focal length and no baseline",
        focal_length ? "baseline (mm)" :
            baseline ? "focal-length (px)" :
                       "focal-length (px) and baseline (mm)");
  if (!is_length (meta->disparity_scale) || !is_length (meta->depth_unit))
    return g_strdup (
        "The metadata does not say what samples mean: its disparity_scale and depth_unit must be above 0.");
  return NULL;
}

gchar *
gst_stereo_points_picture_problem (const GstVideoInfo *info, const GstStereoMeta *meta)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gboolean wide = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE;

  if (!meta)
    return g_strdup (
        "A picture without stereo metadata came: put stereopoints right after stereomatch, before anything "
        "that crops, turns, encodes or sends the picture.");
  if (meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS)
    return g_strdup ("The two views came, not their disparity: put stereomatch before stereopoints.");
  if (meta->width != (guint) width || meta->height != (guint) height)
    return g_strdup_printf ("The metadata is about a picture of %ux%u pixels, but this one has %dx%d: put stereopoints "
                            "right after stereomatch, before anything that changes the size.",
        meta->width, meta->height, width, height);
  if (wide == (meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE))
    return g_strdup_printf ("The picture is %s, and its metadata is about samples of %d bits: put stereopoints right "
                            "after stereomatch, before anything that converts the picture.",
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), wide ? 8 : 16);
  return geometry_problem (meta);
}

gchar *
gst_stereo_points_settings_problem (const GstStereoPointsSettings *settings)
{
  if (settings->far > 0 && settings->near >= settings->far)
    return g_strdup_printf ("near=%g mm is not below far=%g mm: no point would be left. Set near below far, or far=0 "
                            "for no limit.",
        settings->near, settings->far);
  return NULL;
}
