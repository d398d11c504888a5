/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/depth.h"

#include "gst/meta/plausible.h"

gchar *
gst_stereo_depth_problem (const GstVideoInfo *info, const GstStereoMeta *meta, const gchar *element)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gboolean wide = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE;
  gchar *number, *problem;

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
  number = gst_stereo_meta_problem (meta);
  problem = number ?
      g_strdup_printf ("The metadata of a picture cannot be right: %s. Look at what made the metadata.", number) :
      NULL;
  g_free (number);
  return problem;
}
