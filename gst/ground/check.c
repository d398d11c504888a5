/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/check.h"

#include "gst/video/depth.h"

static const gchar *
camera_problem (const GstStereoMeta *meta)
{
  if (meta->focal_length <= 0 && meta->baseline <= 0)
    return "neither focal length nor baseline. Set focal-length and baseline on stereomatch, or put stereorectify with "
           "a calibration before it.";
  if (meta->focal_length <= 0)
    return "no focal length. Set focal-length on stereomatch, or put stereorectify with a calibration before it.";
  if (meta->baseline <= 0)
    return "no baseline. Set baseline on stereomatch, or put stereorectify with a calibration before it.";
  return NULL;
}

gchar *
gst_stereo_ground_problem (const GstVideoInfo *info, const GstStereoMeta *meta)
{
  gchar *problem = gst_stereo_depth_problem (info, meta, "stereoground");
  const gchar *lacks = problem ? NULL : camera_problem (meta);

  return lacks ? g_strconcat ("Heights above the ground are asked for, but the metadata has ", lacks, NULL) : problem;
}
