/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/frame.h"

gint64
gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right)
{
  if (left->captured != GST_STEREO_TIME_NONE && right->captured != GST_STEREO_TIME_NONE)
    return right->captured - left->captured;
  if (left->time == GST_STEREO_TIME_NONE || right->time == GST_STEREO_TIME_NONE)
    return 0;
  return right->time - left->time;
}

gboolean
gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context)
{
  if (gst_stereo_frame_map (mapped, &frame->info, frame->buffer, context))
    return TRUE;
  gboolean device = gst_stereo_cuda_context_of (frame->buffer) != NULL;
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  g_autofree gchar *part = crop ?
      g_strdup_printf (
          " Its GstVideoCropMeta names %ux%u pixels from (%u, %u) on: they have to be the frame, and to lie in the "
          "buffer, where colour is shared by whole pairs. Put videoconvert or videocrop before this element.",
          crop->width, crop->height, crop->x, crop->y) :
      g_strdup_printf (" Rows of %d pixels have %d bytes: pad shorter ones, or add a GstVideoMeta with the length that "
                       "they have.",
          GST_VIDEO_INFO_WIDTH (&frame->info), GST_VIDEO_INFO_PLANE_STRIDE (&frame->info, 0));
  GST_ELEMENT_ERROR (element, STREAM, FORMAT,
      ("A buffer of %" G_GSIZE_FORMAT " bytes %sdoes not hold the %dx%d %s frame that its caps announce%s.%s",
          gst_buffer_get_size (frame->buffer), device ? "in device memory " : "", GST_VIDEO_INFO_WIDTH (&frame->info),
          GST_VIDEO_INFO_HEIGHT (&frame->info), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info)),
          device ? ", or cannot be read" : "", part),
      (NULL));
  return FALSE;
}

/* "640x480 NV12"; g_free. */
static gchar *
describe (const GstStereoFrame *frame)
{
  return g_strdup_printf ("%dx%d %s", frame->layout.width, frame->layout.height,
      gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info)));
}

gchar *
gst_stereo_describe_mismatch (const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoLayout *a = &left->layout, *b = &right->layout;
  g_autofree gchar *one = describe (left), *other = describe (right), *remedy = NULL;
  gboolean rgb = GST_VIDEO_INFO_IS_RGB (&left->info), both = rgb && GST_VIDEO_INFO_IS_RGB (&right->info),
           by_size = a->width != b->width || a->height != b->height;
  /* the larger view loses pixels, and the one of RGB its colour */
  gboolean change_right = by_size ? (gint64) b->width * b->height > (gint64) a->width * a->height : !rgb;
  const GstStereoFrame *kept = change_right ? left : right;

  if (by_size)
    remedy = g_strdup_printf ("videoscale ! video/x-raw,width=%d,height=%d", kept->layout.width, kept->layout.height);
  else
    remedy = g_strdup_printf ("videoconvert ! video/x-raw,format=%s",
        GST_VIDEO_INFO_IS_GRAY (&kept->info) ? "GRAY8" :
                                               gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&kept->info)));
  return g_strdup_printf ("The two views must %s: the left one is %s, the right one %s. Put '%s' before %s.",
      by_size  ? "have one size" :
          both ? "have one format" :
                 "be both of RGB, or both of luma (GRAY or YUV)",
      one, other, remedy, change_right ? "sink_right" : "sink_left");
}
