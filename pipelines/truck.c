/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Embeds a pipeline and reads what depth it sees, as a vehicle would:
 *
 *   truck CAMERAS ! … stereomatch name=match … depthoverlay name=overlay warn-distance=1500 ! … ! autovideosink
 *
 * The pipeline is written as for gst-launch-1.0; pipelines/truck.sh puts it together. depthoverlay's messages tell how
 * far the nearest surface is, whether it is too near, and when that is unknown. Once a second the GstStereoMeta of stereomatch's output is read:
 * how many pixels hold a value, how sure they are, and how far it is straight ahead. Ctrl-C ends the stream, and a
 * second one the program.
 */
#include <gst/gst.h>
#include <gst/stereo/gststereometa.h>
#include <gst/video/video.h>

#include <glib-unix.h>
#include <math.h>
#include <signal.h>

typedef struct Truck
{
  GMainLoop *loop;
  GstElement *pipeline;
  GstClockTime next; /* when the metadata is looked at again; of the streaming thread */
  gboolean ending;
  int status;
} Truck;

/* ---- the streaming thread: metadata ------------------------------------------------------- */

static guint
sample_at (GstVideoFrame *frame, int x, int y)
{
  const guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

  return GST_VIDEO_FRAME_FORMAT (frame) == GST_VIDEO_FORMAT_GRAY16_LE ? GST_READ_UINT16_LE (row + 2 * x) : row[x];
}

/* Millimetres in the middle of the picture; NAN: no value there, or no camera known. */
static double
depth_ahead (GstPad *pad, GstBuffer *buffer, const GstStereoMeta *meta)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  double depth = NAN;
  GstVideoFrame frame;
  GstVideoInfo info;

  if (caps && gst_video_info_from_caps (&info, caps) && gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ)) {
    depth = gst_stereo_meta_get_depth (
        meta, sample_at (&frame, GST_VIDEO_INFO_WIDTH (&info) / 2, GST_VIDEO_INFO_HEIGHT (&info) / 2));
    gst_video_frame_unmap (&frame);
  }
  gst_clear_caps (&caps);
  return depth;
}

/* What it finds goes to the main thread by the bus: a probe that waits holds up the stream. */
static GstPadProbeReturn
read_meta (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Truck *truck = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);

  if (!meta || (GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_PTS (buffer) < truck->next))
    return GST_PAD_PROBE_OK;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    truck->next = GST_BUFFER_PTS (buffer) + GST_SECOND;
  gst_element_post_message (truck->pipeline,
      gst_message_new_application (GST_OBJECT (truck->pipeline),
          gst_structure_new ("ahead", "depth", G_TYPE_DOUBLE, depth_ahead (pad, buffer, meta), "valid", G_TYPE_DOUBLE,
              meta->valid_ratio, "confidence", G_TYPE_DOUBLE, meta->mean_confidence, NULL)));
  return GST_PAD_PROBE_OK;
}

/* ---- the main thread: messages ------------------------------------------------------------ */

static void
say_ahead (const GstStructure *ahead)
{
  double depth = NAN, valid = 0, confidence = 0;

  gst_structure_get (ahead, "depth", G_TYPE_DOUBLE, &depth, "valid", G_TYPE_DOUBLE, &valid, "confidence", G_TYPE_DOUBLE,
      &confidence, NULL);
  g_print ("depth: %.1f %% of the pixels, mean confidence %.3f, ", 100 * valid, confidence);
  if (isfinite (depth))
    g_print ("%.0f mm ahead\n", depth);
  else
    g_print ("none known ahead\n");
}

/* What a vehicle goes by. Unknown is not clear: something may be near that the cameras do not see. */
static void
say_state (const GstStructure *nearest)
{
  const char *state = gst_structure_get_string (nearest, "state");
  gboolean warning = FALSE;
  double coverage = 0;

  gst_structure_get (nearest, "warning", G_TYPE_BOOLEAN, &warning, "coverage", G_TYPE_DOUBLE, &coverage, NULL);
  if (warning)
    g_print (" WARNING\n");
  else if (g_strcmp0 (state, "clear") == 0)
    g_print (", clear\n");
  else if (g_strcmp0 (state, "near") == 0)
    g_print ("\n"); /* there is no distance to warn below */
  else
    g_print (", UNKNOWN: %.0f %% of the region is seen\n", floor (100 * coverage));
}

static void
say_nearest (const GstStructure *nearest)
{
  double distance = 0, disparity = 0, confidence = 0;
  gboolean valid = FALSE;
  int x = 0, y = 0;

  gst_structure_get (nearest, "valid", G_TYPE_BOOLEAN, &valid, NULL);
  if (!valid) {
    g_print ("nearest: nothing to be seen");
    say_state (nearest);
    return;
  }
  gst_structure_get (nearest, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "confidence", G_TYPE_DOUBLE, &confidence, NULL);
  if (gst_structure_get_double (nearest, "distance", &distance))
    g_print ("nearest: %.0f mm", distance);
  else if (gst_structure_get_double (nearest, "disparity", &disparity))
    g_print ("nearest: %.1f px (set focal-length and baseline for mm)", disparity);
  g_print (" at %d,%d, confidence %.2f", x, y, confidence);
  say_state (nearest);
}

static void
say_trouble (GstMessage *message)
{
  gboolean fatal = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
  GError *error = NULL;
  gchar *details = NULL;

  if (fatal)
    gst_message_parse_error (message, &error, &details);
  else
    gst_message_parse_warning (message, &error, &details);
  g_printerr ("truck: %s: %s: %s\n", fatal ? "error" : "warning", GST_OBJECT_NAME (message->src), error->message);
  if (details)
    GST_INFO ("%s", details);
  g_clear_error (&error);
  g_free (details);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Truck *truck = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_message_has_name (message, "stereo-nearest"))
        say_nearest (gst_message_get_structure (message));
      break;
    case GST_MESSAGE_APPLICATION:
      say_ahead (gst_message_get_structure (message));
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (truck->pipeline));
      break;
    case GST_MESSAGE_WARNING:
      say_trouble (message);
      break;
    case GST_MESSAGE_ERROR:
      say_trouble (message);
      truck->status = 1;
      g_main_loop_quit (truck->loop);
      break;
    case GST_MESSAGE_EOS:
      g_print ("end of the stream\n");
      g_main_loop_quit (truck->loop);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* The end of the stream goes through all elements, so that a file is closed properly. */
static gboolean
on_interrupt (gpointer data)
{
  Truck *truck = data;

  if (truck->ending)
    g_main_loop_quit (truck->loop);
  else
    gst_element_send_event (truck->pipeline, gst_event_new_eos ());
  truck->ending = TRUE;
  return G_SOURCE_CONTINUE;
}

/* ---- start and stop ----------------------------------------------------------------------- */

static gboolean
watch_depth (Truck *truck)
{
  GstElement *match = gst_bin_get_by_name (GST_BIN (truck->pipeline), "match");
  GstPad *pad = match ? gst_element_get_static_pad (match, "src") : NULL;

  if (pad)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, read_meta, truck, NULL);
  else
    g_printerr ("truck: the pipeline must have a stereomatch with name=match\n");
  gst_clear_object (&match);
  if (!pad)
    return FALSE;
  gst_object_unref (pad);
  return TRUE;
}

static gboolean
give_up (gpointer data)
{
  g_main_loop_quit (data);
  return G_SOURCE_REMOVE;
}

static void
drive (Truck *truck)
{
  GstBus *bus = gst_element_get_bus (truck->pipeline);
  guint watch = gst_bus_add_watch (bus, on_message, truck);
  guint interrupt = g_unix_signal_add (SIGINT, on_interrupt, truck);
  guint terminate = g_unix_signal_add (SIGTERM, on_interrupt, truck);

  if (gst_element_set_state (truck->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    truck->status = 1;
    /* once the messages that say why have been read */
    g_idle_add_full (G_PRIORITY_LOW, give_up, truck->loop, NULL);
  }
  g_main_loop_run (truck->loop);
  gst_element_set_state (truck->pipeline, GST_STATE_NULL);
  g_source_remove (watch);
  g_source_remove (interrupt);
  g_source_remove (terminate);
  gst_object_unref (bus);
}

int
main (int argc, char **argv)
{
  Truck truck = { 0 };
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (argc < 2) {
    g_printerr ("truck PIPELINE, with elements named match and overlay: see pipelines/truck.sh\n");
    return 2;
  }
  truck.pipeline = gst_parse_launchv ((const gchar **) argv + 1, &error);
  if (error || !GST_IS_BIN (truck.pipeline)) {
    g_printerr ("truck: error: %s\n", error ? error->message : "this is no pipeline");
    g_clear_error (&error);
    gst_clear_object (&truck.pipeline);
    return 1;
  }
  truck.loop = g_main_loop_new (NULL, FALSE);
  if (watch_depth (&truck))
    drive (&truck);
  else
    truck.status = 1;
  gst_object_unref (truck.pipeline);
  g_main_loop_unref (truck.loop);
  return truck.status;
}
