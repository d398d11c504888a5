/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two cameras of your own into stereomatch, and distances out of it:
 *
 *     cc appsrc.c -o appsrc $(pkg-config --cflags --libs gststereo-1.0 gstreamer-app-1.0 gstreamer-video-1.0)
 *
 * The cameras are a function here that makes noise, 20 px apart. Their rows are padded, as those of many drivers are.
 */
#include <math.h>

#include <gst/app/app.h>
#include <gst/gst.h>
#include <gst/stereo/gststereometa.h>
#include <gst/video/video.h>

enum
{
  WIDTH = 322,
  HEIGHT = 240,
  LEFT_STRIDE = 384, /* bytes from a row to the next */
  RIGHT_STRIDE = 352,
  DISPARITY = 20,
  FRAMES = 5
};

/* What a driver would give: a picture with padded rows. */
static guint8 *
take_picture (gint shift, gint stride)
{
  guint8 *pixels = g_malloc0 ((gsize) stride * HEIGHT);

  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      pixels[y * stride + x] = (guint8) ((((guint) (x + shift) * 2654435761u) ^ ((guint) y * 2246822519u)) *
              3266489917u >>
          24);
  return pixels;
}

/* Hands a picture over without a copy. The GstVideoMeta says where its rows are: without it, rows have no padding but to 4 bytes. */
static void
push (GstElement *source, guint8 *pixels, gint stride, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_wrapped (pixels, (gsize) stride * HEIGHT);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };

  gst_buffer_add_video_meta_full (
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 1, offsets, strides);
  GST_BUFFER_PTS (buffer) = time; /* when the picture was taken: both views by one clock */
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;
  gst_app_src_push_buffer (GST_APP_SRC (source), buffer);
}

/* Millimetres at a pixel; not-a-number: no value there, or none that can be relied on. */
static gdouble
distance_at (GstSample *sample, gint x, gint y)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstVideoInfo info;
  GstVideoFrame frame;
  gdouble distance;

  if (!meta || !gst_stereo_meta_is_reliable (meta) || !gst_video_info_from_caps (&info, gst_sample_get_caps (sample)) ||
      !gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ))
    return NAN;
  /* output=depth is 16 bits a sample. The stride is in bytes */
  const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
      y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
  distance = gst_stereo_meta_get_depth (meta, GST_READ_UINT16_LE (row + 2 * x));
  gst_video_frame_unmap (&frame);
  return distance;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  GstElement *pipeline = gst_parse_launch (
      "stereomatch name=match output=depth num-disparities=64 focal-length=500 baseline=100 ! "
      "video/x-raw,format=GRAY16_LE ! appsink name=out sync=false "
      "appsrc name=left format=time ! match.sink_left  appsrc name=right format=time ! match.sink_right",
      NULL);
  GstElement *left = gst_bin_get_by_name (GST_BIN (pipeline), "left"),
             *right = gst_bin_get_by_name (GST_BIN (pipeline), "right");
  GstElement *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT, WIDTH,
      "height", G_TYPE_INT, HEIGHT, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
  GstSample *sample;

  /* with a live camera also is-live=true, and timestamps of the pipeline's clock */
  gst_app_src_set_caps (GST_APP_SRC (left), caps);
  gst_app_src_set_caps (GST_APP_SRC (right), caps);
  gst_caps_unref (caps);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint n = 0; n < FRAMES; n++) {
    push (left, take_picture (0, LEFT_STRIDE), LEFT_STRIDE, (GstClockTime) n * GST_SECOND / 30);
    push (right, take_picture (DISPARITY, RIGHT_STRIDE), RIGHT_STRIDE, (GstClockTime) n * GST_SECOND / 30);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (left));
  gst_app_src_end_of_stream (GST_APP_SRC (right));
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (out)))) {
    g_print ("%.0f mm in the middle\n", distance_at (sample, WIDTH / 2, HEIGHT / 2)); /* 500 px * 100 mm / 20 px */
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (left);
  gst_object_unref (right);
  gst_object_unref (out);
  gst_object_unref (pipeline);
  return 0;
}
