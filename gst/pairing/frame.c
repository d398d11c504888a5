/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/frame.h"

gint64
gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right)
{
  if (left->moment != GST_STEREO_TIME_NONE && right->moment != GST_STEREO_TIME_NONE)
    return right->moment - left->moment;
  if (left->time == GST_STEREO_TIME_NONE || right->time == GST_STEREO_TIME_NONE)
    return 0;
  return right->time - left->time;
}

gboolean
gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context)
{
  gboolean device;

  if (gst_stereo_frame_map (mapped, &frame->info, frame->buffer, context))
    return TRUE;
  device = gst_stereo_cuda_context_of (frame->buffer) != NULL;
  GST_ELEMENT_ERROR (element, STREAM, FORMAT,
      ("A buffer of %" G_GSIZE_FORMAT " bytes %sdoes not hold the %dx%d %s frame that its caps announce%s.",
          gst_buffer_get_size (frame->buffer), device ? "in device memory " : "", GST_VIDEO_INFO_WIDTH (&frame->info),
          GST_VIDEO_INFO_HEIGHT (&frame->info), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info)),
          device ? ", or cannot be read" : ""),
      (NULL));
  return FALSE;
}

GstFlowReturn
gst_stereo_post_mismatch (GstElement *element, const GstStereoFrame *left, const GstStereoFrame *right)
{
  gchar *a = gst_stereo_layout_describe (&left->layout, &left->info);
  gchar *b = gst_stereo_layout_describe (&right->layout, &right->info);

  GST_ELEMENT_ERROR (element, CORE, NEGOTIATION,
      ("The two views must have one size, and both colour or both luma: the left one is %s, the right one %s. Put "
       "videoscale or videoconvert before one of them.",
          a, b),
      (NULL));
  g_free (a);
  g_free (b);
  return GST_FLOW_NOT_NEGOTIATED;
}
