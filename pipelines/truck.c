/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Embeds a pipeline and reads what depth it sees, as a vehicle would:
 *
 *   truck [--json] [--log FILE] CAMERAS ! … stereomatch name=match … ! stereoground ! … depthoverlay … ! autovideosink
 *   truck [--json] --replay FILE
 *
 * The pipeline is written as for gst-launch-1.0; pipelines/truck.sh puts it together. stereoground's messages tell where the
 * ground is, what stands on it and how far it is free; depthoverlay's, how far the nearest surface is, whether it is too
 * near, and when that is unknown; stereomatch's, what is wrong with a camera. Once a second the GstStereoMeta of
 * stereomatch's output is read: how many pixels hold a value, how sure they are, and how far it is straight ahead.
 *
 * --json prints each message as a line of JSON in place of words. --log writes each message to a file, as GStreamer writes
 * structures, and --replay tells them again, in the time they took. Ctrl-C ends the stream, and a second one the program.
 */
#include <gst/gst.h>
#include <gst/stereo/gststereometa.h>
#include <gst/video/video.h>

#include <glib-unix.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "json.h"
#include "words.h"

typedef struct Truck
{
  GMainLoop *loop;
  GstElement *pipeline;
  GstClockTime next; /* when the metadata is looked at again; of the streaming thread */
  gboolean json;
  FILE *log; /* NULL: none */
  const char *replay;
  gboolean ending;
  int status;
  gint64 heard; /* when the last stereo-nearest came, monotonic, us; 0 = none came, or the stream has ended */
} Truck;

/* What was said of the nearest surface holds for so long: without a newer message it is not known. */
#define OLDEST G_TIME_SPAN_SECOND

/* ---- the streaming thread: metadata ------------------------------------------------------- */

static guint
sample_at (GstVideoFrame *frame, int x, int y)
{
  const guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

  return GST_VIDEO_FRAME_FORMAT (frame) == GST_VIDEO_FORMAT_GRAY16_LE ? GST_READ_UINT16_LE (row + 2 * x) : row[x];
}

#define FAR_SAMPLE 65535 /* of depth: that far or farther */

/* Millimetres in the middle of the picture; NAN: no value there, or no camera known; INFINITY: farther than samples go. */
static double
depth_ahead (GstPad *pad, GstBuffer *buffer, const GstStereoMeta *meta)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  double depth = NAN;
  GstVideoFrame frame;
  GstVideoInfo info;

  if (caps && gst_video_info_from_caps (&info, caps) && gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ)) {
    guint sample = sample_at (&frame, GST_VIDEO_INFO_WIDTH (&info) / 2, GST_VIDEO_INFO_HEIGHT (&info) / 2);
    gboolean far = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH && sample == FAR_SAMPLE;
    depth = far ? INFINITY : gst_stereo_meta_get_depth (meta, sample);
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
  GstStructure *ahead;
  double depth;
  char *reason;

  if (!meta || (GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_PTS (buffer) < truck->next))
    return GST_PAD_PROBE_OK;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    truck->next = GST_BUFFER_PTS (buffer) + GST_SECOND;
  reason = gst_stereo_health_get_reason (meta->health);
  depth = reason ? NAN : depth_ahead (pad, buffer, meta);
  ahead = gst_structure_new ("ahead", "depth", G_TYPE_DOUBLE, depth, "far", G_TYPE_BOOLEAN, isinf (depth),
      "valid-ratio", G_TYPE_DOUBLE, meta->valid_ratio, "confidence", G_TYPE_DOUBLE, meta->mean_confidence, NULL);
  if (reason)
    gst_structure_set (ahead, "reason", G_TYPE_STRING, reason, NULL);
  g_free (reason);
  gst_element_post_message (truck->pipeline, gst_message_new_application (GST_OBJECT (truck->pipeline), ahead));
  return GST_PAD_PROBE_OK;
}

/* ---- messages, live or from a log --------------------------------------------------------- */

static void
tell (Truck *truck, const GstStructure *message)
{
  char *line;

  if (!words_know (message))
    return;
  if (truck->json) {
    line = json_of_structure (message);
    g_print ("%s\n", line);
    g_free (line);
  } else {
    words_say (message);
  }
  if (truck->log) {
    line = gst_structure_to_string (message);
    fprintf (truck->log, "%s\n", line);
    fflush (truck->log);
    g_free (line);
  }
}

/* Waits as long as it was from the first message to this one. */
static void
await_turn (const GstStructure *message, gint64 start, guint64 *first)
{
  guint64 time;
  gint64 wait;

  if (!gst_structure_get_uint64 (message, "running-time", &time) || !GST_CLOCK_TIME_IS_VALID (time))
    return;
  if (*first == GST_CLOCK_TIME_NONE)
    *first = time;
  wait = start + (gint64) ((time - MIN (time, *first)) / GST_USECOND) - g_get_monotonic_time ();
  if (wait > 0)
    g_usleep ((gulong) wait);
}

static int
replay (Truck *truck)
{
  guint64 first = GST_CLOCK_TIME_NONE;
  gint64 start = g_get_monotonic_time ();
  GError *error = NULL;
  char *text, **lines;
  int status = 0;

  if (!g_file_get_contents (truck->replay, &text, NULL, &error)) {
    if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
      g_printerr ("truck: error: there is no file %s\n", truck->replay);
    else
      g_printerr ("truck: error: %s\n", error->message);
    g_clear_error (&error);
    return 1;
  }
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] && !status; i++) {
    GstStructure *message = *lines[i] ? gst_structure_from_string (lines[i], NULL) : NULL;
    if (message) {
      await_turn (message, start, &first);
      tell (truck, message);
      gst_structure_free (message);
    } else if (*lines[i]) {
      g_printerr ("truck: error: line %u of %s is no message: --replay wants a file of --log\n", i + 1, truck->replay);
      status = 1;
    }
  }
  g_strfreev (lines);
  g_free (text);
  return status;
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

/* Once a second: where the elements are silent, the state is unknown, whatever they said last. */
static gboolean
on_time (gpointer data)
{
  Truck *truck = data;
  gint64 age = g_get_monotonic_time () - truck->heard;
  GstStructure *nearest;
  char *reason;

  if (!truck->heard || age < OLDEST)
    return G_SOURCE_CONTINUE;
  reason = g_strdup_printf ("no depth for %" G_GINT64_FORMAT " s", age / G_TIME_SPAN_SECOND);
  nearest = gst_structure_new ("stereo-nearest", "state", G_TYPE_STRING, "unknown", "coverage", G_TYPE_DOUBLE, 0.0,
      "valid", G_TYPE_BOOLEAN, FALSE, "reason", G_TYPE_STRING, reason, "warning", G_TYPE_BOOLEAN, FALSE, NULL);
  tell (truck, nearest);
  gst_structure_free (nearest);
  g_free (reason);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Truck *truck = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_message_has_name (message, "stereo-nearest"))
        truck->heard = g_get_monotonic_time ();
      tell (truck, gst_message_get_structure (message));
      break;
    case GST_MESSAGE_APPLICATION:
      tell (truck, gst_message_get_structure (message));
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
      if (!truck->json)
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
  guint clock = g_timeout_add_seconds (1, on_time, truck);

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
  g_source_remove (clock);
  gst_object_unref (bus);
}

/* Takes the options off @argv. FALSE where they cannot be, or nothing is to be done. */
static gboolean
read_options (Truck *truck, int *argc, char ***argv)
{
  char *log = NULL, *from = NULL;
  GOptionEntry entries[] = { { "json", 0, 0, G_OPTION_ARG_NONE, &truck->json, "Print lines of JSON", NULL },
    { "log", 0, 0, G_OPTION_ARG_FILENAME, &log, "Write the messages to a file", "FILE" },
    { "replay", 0, 0, G_OPTION_ARG_FILENAME, &from, "Tell the messages of such a file", "FILE" }, { NULL } };
  GOptionContext *context = g_option_context_new ("PIPELINE, with elements named match and overlay: see truck.sh");
  GError *error = NULL;
  gboolean fine;

  g_option_context_add_main_entries (context, entries, NULL);
  /* what follows the first word of the pipeline is the pipeline's */
  g_option_context_set_strict_posix (context, TRUE);
  fine = g_option_context_parse (context, argc, argv, &error) && (from ? *argc == 1 && !log : *argc > 1);
  if (!fine)
    g_printerr ("truck: %s\n", error ? error->message : "give a pipeline, or --replay FILE alone: see truck.sh");
  if (fine && log && !(truck->log = fopen (log, "w"))) {
    g_printerr ("truck: error: %s cannot be written\n", log);
    fine = FALSE;
  }
  truck->replay = from;
  g_clear_error (&error);
  g_option_context_free (context);
  g_free (log);
  return fine;
}

static int
run (Truck *truck, char **words)
{
  GError *error = NULL;

  truck->pipeline = gst_parse_launchv ((const gchar **) words, &error);
  if (error || !GST_IS_BIN (truck->pipeline)) {
    g_printerr ("truck: error: %s\n", error ? error->message : "this is no pipeline");
    g_clear_error (&error);
    gst_clear_object (&truck->pipeline);
    return 1;
  }
  truck->loop = g_main_loop_new (NULL, FALSE);
  if (watch_depth (truck))
    drive (truck);
  else
    truck->status = 1;
  gst_object_unref (truck->pipeline);
  g_main_loop_unref (truck->loop);
  return truck->status;
}

int
main (int argc, char **argv)
{
  Truck truck = { 0 };
  int status;

  gst_init (&argc, &argv);
  if (!read_options (&truck, &argc, &argv))
    return 2;
  status = truck.replay ? replay (&truck) : run (&truck, argv + 1);
  if (truck.log)
    fclose (truck.log);
  g_free ((char *) truck.replay);
  return status;
}
