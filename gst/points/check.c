/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/points/check.h"

#include "gst/video/depth.h"

static gchar *
geometry_problem (const GstStereoMeta *meta)
{
  gboolean focal_length = meta->focal_length > 0;
  gboolean baseline = meta->baseline > 0 || meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH;

  if (!focal_length || !baseline)
    return g_strdup_printf ("Points are asked for, but the metadata has no %s: set %s on stereomatch, or put "
                            "stereorectify with a calibration before it.",
        focal_length ? "baseline" :
            baseline ? "focal length" :
                       "focal length and no baseline",
        focal_length ? "baseline (mm)" :
            baseline ? "focal-length (px)" :
                       "focal-length (px) and baseline (mm)");
  return NULL;
}

gchar *
gst_stereo_points_picture_problem (const GstVideoInfo *info, const GstStereoMeta *meta)
{
  gchar *problem = gst_stereo_depth_problem (info, meta, "stereopoints");

  return problem ? problem : geometry_problem (meta);
}

gchar *
gst_stereo_points_settings_problem (const GstStereoPointsSettings *settings)
{
  if (settings->far > 0 && settings->near >= settings->far)
    return g_strdup_printf ("near=%g mm is not below far=%g mm: no point would be left. Set near below "
                            "far, or far=0 for no limit.",
        settings->near, settings->far);
  return NULL;
}
