/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/format.h"

#define TEMPLATE_FORMATS "{ GRAY16_LE, GRAY16_BE, GRAY8 }"

static const GstStereoOutputFormat formats[] = {
  { .format = GST_VIDEO_FORMAT_GRAY16_LE, .sample = STEREO_SAMPLE_U16, .is_range = FALSE },
  { .format = GST_VIDEO_FORMAT_GRAY16_BE, .sample = STEREO_SAMPLE_U16, .is_range = FALSE },
  { .format = GST_VIDEO_FORMAT_GRAY8, .sample = STEREO_SAMPLE_U8, .is_range = TRUE },
};

GstCaps *
gst_stereo_output_format_template_caps (void)
{
  return gst_caps_from_string (GST_VIDEO_CAPS_MAKE (TEMPLATE_FORMATS) ", multiview-mode = (string) mono");
}

const GstStereoOutputFormat *
gst_stereo_output_format_nth (guint n, gboolean depth)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (!(depth && formats[i].is_range) && n-- == 0)
      return &formats[i];
  return NULL;
}

const GstStereoOutputFormat *
gst_stereo_output_format_find (GstVideoFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == format)
      return &formats[i];
  return NULL;
}

gchar *
gst_stereo_output_format_describe (gboolean depth)
{
  GString *text = g_string_new (depth ? "depth as " : "disparity as ");
  const GstStereoOutputFormat *format;

  for (guint n = 0; (format = gst_stereo_output_format_nth (n, depth)); n++)
    g_string_append_printf (text, "%s%s",
        n == 0                                          ? "" :
            gst_stereo_output_format_nth (n + 1, depth) ? ", " :
                                                          " or ",
        gst_video_format_to_string (format->format));
  return g_string_free (text, FALSE);
}
