/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a pipeline until its first disparity picture and leaves that as PNGs to look at.
 *
 *   stereo-snapshot FOLDER LEFT.png filesrc location=… ! pngdec ! m.sink_left … stereomatch name=m …
 *
 * The pipeline is written as for gst-launch-1.0 and ends at stereomatch; the confidence is read from the
 * buffer's GstStereoMeta, as any application would. Written: disparity.png (16 bits, as they come),
 * disparity-color.png, confidence.png, and sheet.png: the left view, the disparity and the confidence side by side, with
 * legends of the colours.
 */
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"
#include "stereo/tools/image.h"
#include "render.h"

#define TIMEOUT (120 * GST_SECOND)
#define GLANCE (50 * GST_MSECOND)
#define GAP 8        /* pixels between the pictures of the sheet */
#define NARROWEST 64 /* a picture that is narrower has no room for a legend */

/* A picture taken out of the pipeline: plain rows, no GStreamer behind it. */
typedef struct Snapshot
{
  int width, height;
  guint16 *disparity;
  guint8 *confidence;
  double low, high; /* samples of the ends of the search range */
  double scale;     /* samples per pixel of disparity */
  double valid, certain;
} Snapshot;

/* Copies the rows of a picture whose format has one plane; NULL where they are not all in the buffer. */
static gpointer
copy_rows (GstBuffer *buffer, const GstVideoInfo *info, gsize pixel)
{
  gsize width = (gsize) GST_VIDEO_INFO_WIDTH (info), height = (gsize) GST_VIDEO_INFO_HEIGHT (info);
  guint8 *rows = NULL;
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, info, buffer, GST_MAP_READ))
    return NULL;
  /* a GstVideoMeta may say anything of the memory, and of the size of the picture */
  gint64 stride = GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
  gint64 first = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) - frame.map[0].data;
  gint64 last = first + (gint64) (height - 1) * stride;
  if (MIN (first, last) >= 0 && MAX (first, last) + (gint64) (width * pixel) <= (gint64) frame.map[0].size) {
    rows = g_malloc (width * height * pixel);
    for (gsize y = 0; y < height; y++)
      memcpy (rows + y * width * pixel, frame.map[0].data + first + (gint64) y * stride, width * pixel);
  }
  gst_video_frame_unmap (&frame);
  return rows;
}

/* The confidence has the size of the picture, and the search has the bounds of the properties of stereomatch. */
static gboolean
is_of (const GstStereoMeta *meta, const GstVideoInfo *info)
{
  return meta->confidence && meta->width == (guint) GST_VIDEO_INFO_WIDTH (info) &&
      meta->height == (guint) GST_VIDEO_INFO_HEIGHT (info) && ABS (meta->min_disparity) <= G_MAXUINT16 &&
      meta->num_disparities >= 1 && meta->num_disparities <= G_MAXUINT16 && meta->disparity_scale > 0;
}

static gboolean
read_sample (GstSample *sample, Snapshot *snapshot)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstVideoInfo info, confidence;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample)) ||
      GST_VIDEO_INFO_FORMAT (&info) != GST_VIDEO_FORMAT_GRAY16_LE || !meta || !is_of (meta, &info)) {
    g_printerr ("The pipeline's last element must be stereomatch with GRAY16_LE output.\n");
    return FALSE;
  }
  snapshot->width = GST_VIDEO_INFO_WIDTH (&info);
  snapshot->height = GST_VIDEO_INFO_HEIGHT (&info);
  gst_video_info_set_format (&confidence, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
  snapshot->disparity = copy_rows (buffer, &info, 2);
  snapshot->confidence = copy_rows (meta->confidence, &confidence, 1);
  snapshot->scale = meta->disparity_scale;
  snapshot->low = meta->min_disparity * meta->disparity_scale;
  snapshot->high = (meta->min_disparity + meta->num_disparities - 1) * meta->disparity_scale;
  snapshot->valid = meta->valid_ratio;
  snapshot->certain = meta->mean_confidence;
  if (!snapshot->disparity || !snapshot->confidence)
    g_printerr ("The disparity or the confidence cannot be read from its buffer.\n");
  return snapshot->disparity && snapshot->confidence;
}

/* What the pipeline said was wrong, or NULL; to be freed. */
static GError *
pop_error (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;

  if (message) {
    gst_message_parse_error (message, &error, NULL);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return error;
}

/* The first picture; NULL: there is none, and why was said. */
static GstSample *
pull_sample (GstElement *pipeline, GstAppSink *sink)
{
  GstClockTime waited = 0;
  GstSample *sample = NULL;
  GError *error = NULL;

  /* an error wakes nobody who waits at the sink */
  while (!sample && !error && !gst_app_sink_is_eos (sink) && waited < TIMEOUT) {
    sample = gst_app_sink_try_pull_sample (sink, GLANCE);
    error = sample ? NULL : pop_error (pipeline);
    waited += GLANCE;
  }
  if (!sample)
    g_printerr ("%s\n", error ? error->message : "The pipeline gave no picture.");
  g_clear_error (&error);
  return sample;
}

static gboolean
take_snapshot (gchar **words, Snapshot *snapshot)
{
  static const gchar *const sink_words[] = { "!", "appsink", "name=snapshot", "sync=false", "max-buffers=1", NULL };
  GPtrArray *whole = g_ptr_array_new ();
  GError *error = NULL;
  gboolean done = FALSE;

  for (; *words; words++)
    g_ptr_array_add (whole, *words);
  for (const gchar *const *word = sink_words; *word; word++)
    g_ptr_array_add (whole, (gpointer) *word);
  g_ptr_array_add (whole, NULL);
  GstElement *pipeline = gst_parse_launchv ((const gchar **) whole->pdata, &error);
  g_ptr_array_unref (whole);
  if (error) {
    g_printerr ("%s\n", error->message);
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return FALSE;
  }
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "snapshot");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstSample *sample = pull_sample (pipeline, GST_APP_SINK (sink));
  if (sample) {
    done = read_sample (sample, snapshot);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return done;
}

static gboolean
write_canvas (const gchar *folder, const gchar *name, Canvas *canvas)
{
  gchar *path = g_build_filename (folder, name, NULL);
  gboolean done = canvas->rgb && image_write_png (path, canvas->width, canvas->height, 3, 8, canvas->rgb);

  free (canvas->rgb);
  g_free (path);
  return done;
}

static gboolean
write_pictures (const gchar *folder, const Image *left, const Snapshot *s)
{
  Canvas color = canvas_new (s->width, s->height, 0);
  Canvas sheet = canvas_new (3 * s->width + 2 * GAP, s->height + RENDER_LEGEND, 255);
  gchar *path = g_build_filename (folder, "confidence.png", NULL);
  gboolean done = image_write_png (path, s->width, s->height, 1, 8, s->confidence);

  g_free (path);
  path = g_build_filename (folder, "disparity.png", NULL);
  done &= image_write_png (path, s->width, s->height, 1, 16, s->disparity);
  if (color.rgb)
    render_disparity (&color, 0, s->disparity, s->width, s->height, s->low, s->high);
  if (sheet.rgb) {
    render_picture (&sheet, 0, left->data, s->width, s->height, left->channels);
    render_disparity (&sheet, s->width + GAP, s->disparity, s->width, s->height, s->low, s->high);
    render_confidence (&sheet, 2 * (s->width + GAP), s->confidence, s->width, s->height);
  }
  if (sheet.rgb && s->width >= NARROWEST) {
    render_disparity_legend (&sheet, s->width + GAP, s->height, s->width, s->low / s->scale, s->high / s->scale);
    render_confidence_legend (&sheet, 2 * (s->width + GAP), s->height, s->width);
  }
  done &= write_canvas (folder, "disparity-color.png", &color);
  done &= write_canvas (folder, "sheet.png", &sheet);
  g_free (path);
  return done;
}

int
main (int argc, char **argv)
{
  Snapshot snapshot = { 0 };
  Image left = { 0 };
  gboolean done = FALSE;

  gst_init (&argc, &argv);
  if (argc < 4) {
    g_printerr ("stereo-snapshot FOLDER LEFT.png PIPELINE ending at stereomatch\n");
    return 2;
  }
  if (image_read_png (argv[2], &left) && take_snapshot (argv + 3, &snapshot)) {
    if (left.width == snapshot.width && left.height == snapshot.height)
      done = write_pictures (argv[1], &left, &snapshot);
    else
      g_printerr ("%s is not of the disparity's size, %dx%d\n", argv[2], snapshot.width, snapshot.height);
  }
  if (done)
    g_print ("%dx%d pixels, %.1f %% hold a value, mean confidence %.3f\n", snapshot.width, snapshot.height,
        100 * snapshot.valid, snapshot.certain);
  g_free (snapshot.disparity);
  g_free (snapshot.confidence);
  free (left.data);
  return done ? 0 : 1;
}
