/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/frame.h"

GstStereoFrame *
gst_stereo_frame_new (GstBuffer *buffer)
{
  GstStereoFrame *frame = g_new0 (GstStereoFrame, 1);

  frame->references = 1;
  frame->time = frame->captured = GST_STEREO_TIME_NONE;
  frame->buffer = gst_buffer_ref (buffer);
  return frame;
}

GstStereoFrame *
gst_stereo_frame_ref (GstStereoFrame *frame)
{
  g_atomic_int_inc (&frame->references);
  return frame;
}

void
gst_stereo_frame_unref (GstStereoFrame *frame)
{
  if (!frame || !g_atomic_int_dec_and_test (&frame->references))
    return;
  gst_buffer_unref (frame->buffer);
  g_free (frame);
}

/* A duration of the stream as running time: at twice the rate it is half as long. At a rate near 0 it has a limit,
 * twice of which is still a time. */
static gint64
running_duration (const GstSegment *segment, GstClockTime duration)
{
  gdouble rate = segment->format == GST_FORMAT_TIME ? ABS (segment->rate) : 1;

  return rate == 1 ? (gint64) duration : (gint64) MIN ((gdouble) duration / rate, (gdouble) (G_MAXINT64 / 4));
}

gint64
gst_stereo_frame_find_spacing (const GstStereoFrame *frame, gint64 before)
{
  if (GST_BUFFER_DURATION_IS_VALID (frame->buffer) && GST_BUFFER_DURATION (frame->buffer) <= G_MAXINT64 / 4)
    return running_duration (&frame->segment, GST_BUFFER_DURATION (frame->buffer));
  if (frame->layout.fps_n > 0)
    return running_duration (
        &frame->segment, gst_util_uint64_scale (GST_SECOND, frame->layout.fps_d, frame->layout.fps_n));
  if (frame->time != GST_STEREO_TIME_NONE && before != GST_STEREO_TIME_NONE && frame->time > before)
    return frame->time - before;
  return 0;
}

void
gst_stereo_pair_clear (GstStereoPair *pair)
{
  if (pair->right != pair->left)
    gst_stereo_frame_unref (pair->right);
  gst_stereo_frame_unref (pair->left);
  pair->left = pair->right = NULL;
  g_queue_clear_full (&pair->missing, (GDestroyNotify) gst_stereo_frame_unref);
}

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

gboolean
gst_stereo_frames_fit (const GstStereoFrame *left, const GstStereoFrame *right)
{
  return left->layout.width == right->layout.width && left->layout.height == right->layout.height &&
      GST_VIDEO_INFO_IS_RGB (&left->info) == GST_VIDEO_INFO_IS_RGB (&right->info);
}

static gboolean
sizes_differ (const GstStereoFrame *left, const GstStereoFrame *right)
{
  return left->layout.width != right->layout.width || left->layout.height != right->layout.height;
}

gchar *
gst_stereo_describe_mismatch (const GstStereoFrame *left, const GstStereoFrame *right)
{
  g_autofree gchar *a = gst_stereo_layout_describe (&left->layout, &left->info);
  g_autofree gchar *b = gst_stereo_layout_describe (&right->layout, &right->info);

  return g_strdup_printf (
      " Frames of one moment differ: the left one is %s, the right one %s. Pairs go on when both views have one %s.", a,
      b, sizes_differ (left, right) ? "size" : "format");
}

/* What the two views must be, of which they are not. */
static const gchar *
rule_for (const GstStereoFrame *left, const GstStereoFrame *right)
{
  if (sizes_differ (left, right))
    return "have one size";
  return GST_VIDEO_INFO_IS_RGB (&left->info) && GST_VIDEO_INFO_IS_RGB (&right->info) ?
      "have one format" :
      "be both of RGB, or both of luma (GRAY or YUV)";
}

/* What to put before a pad, so that its frames become like those of the other view; g_free. */
static gchar *
remedy_for (const GstStereoFrame *other, gboolean by_size)
{
  const gchar *format = gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&other->info));

  if (by_size)
    return g_strdup_printf ("videoscale ! video/x-raw,width=%d,height=%d", other->layout.width, other->layout.height);
  return g_strdup_printf (
      "videoconvert ! video/x-raw,format=%s", GST_VIDEO_INFO_IS_GRAY (&other->info) ? "GRAY8" : format);
}

GstFlowReturn
gst_stereo_post_mismatch (GstElement *element, const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoLayout *a = &left->layout, *b = &right->layout;
  g_autofree gchar *one = gst_stereo_layout_describe (a, &left->info),
                   *other = gst_stereo_layout_describe (b, &right->info);
  gboolean by_size = sizes_differ (left, right), change_right;

  /* the larger view loses pixels, and the one of RGB its colour */
  change_right = by_size ? (gint64) b->width * b->height > (gint64) a->width * a->height :
                           !GST_VIDEO_INFO_IS_RGB (&left->info);
  g_autofree gchar *remedy = remedy_for (change_right ? left : right, by_size);
  GST_ELEMENT_ERROR (element, CORE, NEGOTIATION,
      ("The two views must %s: the left one is %s, the right one %s. Put '%s' before %s.", rule_for (left, right), one,
          other, remedy, change_right ? "sink_right" : "sink_left"),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}
