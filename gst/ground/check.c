/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/check.h"

#include <math.h>

static gboolean
is_length (gdouble value)
{
  return value > 0 && isfinite (value);
}

static const gchar *
camera_problem (const GstStereoMeta *meta)
{
  if (!is_length (meta->focal_length) && !is_length (meta->baseline))
    return "neither focal length nor baseline. Set focal-length and baseline on stereomatch, or put stereorectify with "
           "a calibration before it.";
  if (!is_length (meta->focal_length))
    return "no focal length. Set focal-length on stereomatch, or put stereorectify with a calibration before it.";
  if (!is_length (meta->baseline))
    return "no baseline. Set baseline on stereomatch, or put stereorectify with a calibration before it.";
  if (!is_length (meta->disparity_scale) || !is_length (meta->depth_unit))
    return "no meaning of its samples: disparity_scale and depth_unit must be above 0.";
  return NULL;
}

gchar *
gst_stereo_ground_problem (const GstVideoInfo *info, const GstStereoMeta *meta)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gboolean wide = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE;
  const gchar *lacks;

  if (!meta)
    return g_strdup (
        "A picture without stereo metadata came: put stereoground right after stereomatch, before anything "
        "that converts, crops, encodes or sends the picture.");
  if (meta->kind == GST_STEREO_OUTPUT_KIND_VIEWS)
    return g_strdup ("The two views came, not their disparity: put stereomatch before stereoground.");
  if (meta->width != (guint) width || meta->height != (guint) height)
    return g_strdup_printf ("The metadata is about a picture of %ux%u pixels, but this one has %dx%d: put stereoground "
                            "right after stereomatch, before anything that changes the size.",
        meta->width, meta->height, width, height);
  if (wide == (meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE))
    return g_strdup_printf ("The picture is %s, and its metadata is about samples of %d bits: put stereoground right "
                            "after stereomatch, before anything that converts the picture.",
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), wide ? 8 : 16);
  lacks = camera_problem (meta);
  return lacks ? g_strconcat ("Heights above the ground are asked for, but the metadata has ", lacks, NULL) : NULL;
}
