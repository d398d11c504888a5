/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a pipeline that records, says every second how many frames were lost so far, and keeps files inside the recording.
 *
 *   stereo-record [--attach NAME=FILE] [--text NAME=TEXT]... PIPELINE
 *                                                       until its end, or Ctrl-C, which closes the recording properly
 *   stereo-record --extract RECORDING.mkv FOLDER        the attached files, under their names
 *
 * The pipeline is written as for gst-launch-1.0; pipelines/record.sh puts it together. Its matroskamux is named file, its
 * stereomatch match. Queues that let frames go (leaky) tell what they are for by their names: raw_queue_*
 * stand before the encoders of the views, all others before the matcher.
 */
#include <gst/gst.h>

#include <glib-unix.h>
#include <signal.h>

#include "attachments.h"

/* How the names of the queues before the encoders of the views begin. */
#define RAW "raw_queue_"

/* A queue that lets frames go. Nothing tells how many: what went in and neither came out nor is inside. */
typedef struct Leak
{
  GstElement *queue;
  gint in, out; /* atomic */
} Leak;

typedef struct Recorder
{
  GMainLoop *loop;
  GstElement *pipeline, *match;
  GPtrArray *leaks;
  guint64 said; /* all losses together when they were said last */
  gboolean keeps_views, ending;
  int status;
} Recorder;

/* ---- what is lost ------------------------------------------------------------------------- */

static GstPadProbeReturn
count_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer counter)
{
  g_atomic_int_inc ((gint *) counter);
  return GST_PAD_PROBE_OK;
}

static void
count_at (GstElement *queue, const gchar *name, gint *counter)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (queue, name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, counter, NULL);
}

static void
watch_queue (const GValue *item, gpointer data)
{
  Recorder *recorder = data;
  GstElement *element = g_value_get_object (item);
  gint leaky = 0;

  if (!GST_IS_ELEMENT (element) || !g_str_equal (G_OBJECT_TYPE_NAME (element), "GstQueue"))
    return;
  recorder->keeps_views |= g_str_has_prefix (GST_OBJECT_NAME (element), RAW);
  g_object_get (element, "leaky", &leaky, NULL);
  if (!leaky)
    return;
  Leak *leak = g_new0 (Leak, 1);
  leak->queue = gst_object_ref (element);
  count_at (element, "sink", &leak->in);
  count_at (element, "src", &leak->out);
  g_ptr_array_add (recorder->leaks, leak);
}

static void
leak_free (gpointer data)
{
  Leak *leak = data;

  gst_object_unref (leak->queue);
  g_free (leak);
}

/* Of the queues before the encoders of the views, or of the others. */
static guint64
lost_in_queues (Recorder *recorder, gboolean raw)
{
  guint64 lost = 0;

  for (guint i = 0; i < recorder->leaks->len; i++) {
    Leak *leak = g_ptr_array_index (recorder->leaks, i);
    guint inside = 0;

    if (g_str_has_prefix (GST_OBJECT_NAME (leak->queue), RAW) != raw)
      continue;
    g_object_get (leak->queue, "current-level-buffers", &inside, NULL);
    gint gone = g_atomic_int_get (&leak->in) - g_atomic_int_get (&leak->out) - (gint) inside;
    lost += gone > 0 ? (guint64) gone : 0;
  }
  return lost;
}

static guint64
stat_of (const GstStructure *stats, const gchar *name)
{
  guint64 value = 0;

  if (stats)
    gst_structure_get_uint64 (stats, name, &value);
  return value;
}

/* @end: even when nothing was lost. */
static void
say_losses (Recorder *recorder, gboolean end)
{
  guint64 lost = lost_in_queues (recorder, TRUE), skipped = lost_in_queues (recorder, FALSE);
  GstStructure *stats = NULL;

  g_object_get (recorder->match, "stats", &stats, NULL);
  skipped += stat_of (stats, "dropped-left") + stat_of (stats, "dropped-right") + stat_of (stats, "late");
  if (end || lost + skipped > recorder->said) {
    g_print ("%s: %" G_GUINT64_FORMAT " disparity pictures", end ? "recorded" : "so far", stat_of (stats, "pairs"));
    if (skipped)
      g_print ("; %" G_GUINT64_FORMAT " frames without one, because the matcher is slower than the cameras%s", skipped,
          recorder->keeps_views ? ": their views are recorded" : " (VIEWS=no: nothing is left of them)");
    if (lost)
      g_print ("; %" G_GUINT64_FORMAT " frames LOST, because this machine cannot encode the views as fast", lost);
    g_print ("\n");
  }
  recorder->said = MAX (recorder->said, lost + skipped);
  if (stats)
    gst_structure_free (stats);
}

static gboolean
on_second (gpointer data)
{
  say_losses (data, FALSE);
  return G_SOURCE_CONTINUE;
}

/* ---- start and stop ----------------------------------------------------------------------- */

static void
say_trouble (GstMessage *message)
{
  gboolean fatal = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
  GError *error = NULL;

  if (fatal)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  g_printerr ("%s: from element %s: %s\n", fatal ? "ERROR" : "WARNING", GST_OBJECT_NAME (message->src), error->message);
  g_clear_error (&error);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Recorder *recorder = data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (recorder->pipeline));
      break;
    case GST_MESSAGE_WARNING:
      say_trouble (message);
      break;
    case GST_MESSAGE_ERROR:
      say_trouble (message);
      recorder->status = 1;
      g_main_loop_quit (recorder->loop);
      break;
    case GST_MESSAGE_EOS:
      g_main_loop_quit (recorder->loop);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* The end of the stream goes through all elements, so that the file is closed properly. */
static gboolean
on_interrupt (gpointer data)
{
  Recorder *recorder = data;

  if (recorder->ending)
    g_main_loop_quit (recorder->loop);
  else
    gst_element_send_event (recorder->pipeline, gst_event_new_eos ());
  recorder->ending = TRUE;
  return G_SOURCE_CONTINUE;
}

static gboolean
give_up (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

static void
record (Recorder *recorder)
{
  GstIterator *all = gst_bin_iterate_recurse (GST_BIN (recorder->pipeline));
  g_autoptr (GstBus) bus = gst_element_get_bus (recorder->pipeline);
  guint sources[] = { gst_bus_add_watch (bus, on_message, recorder), g_unix_signal_add (SIGINT, on_interrupt, recorder),
    g_unix_signal_add (SIGTERM, on_interrupt, recorder), g_timeout_add_seconds (1, on_second, recorder) };

  recorder->leaks = g_ptr_array_new_with_free_func (leak_free);
  gst_iterator_foreach (all, watch_queue, recorder);
  gst_iterator_free (all);
  recorder->loop = g_main_loop_new (NULL, FALSE);
  if (gst_element_set_state (recorder->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    recorder->status = 1;
    /* once the messages that say why have been read */
    g_idle_add_full (G_PRIORITY_LOW, give_up, recorder->loop, NULL);
  }
  g_main_loop_run (recorder->loop);
  say_losses (recorder, TRUE);
  gst_element_set_state (recorder->pipeline, GST_STATE_NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    g_source_remove (sources[i]);
  g_ptr_array_unref (recorder->leaks);
  g_main_loop_unref (recorder->loop);
}

/* The first @options words are options with their arguments, the others the pipeline. */
static int
run (gchar **words, int options)
{
  GString *comment = g_string_new (NULL);
  Recorder recorder = { 0 };
  GError *error = NULL;
  GstElement *mux = NULL;

  for (int i = 0; i < options; i += 2)
    recorder.status |= !attachments_add (comment, words[i], words[i + 1]);
  recorder.pipeline = gst_parse_launchv ((const gchar **) words + options, &error);
  if (!error && GST_IS_BIN (recorder.pipeline)) {
    recorder.match = gst_bin_get_by_name (GST_BIN (recorder.pipeline), "match");
    mux = gst_bin_get_by_name (GST_BIN (recorder.pipeline), "file");
  }
  if (!recorder.match || !mux) {
    g_printerr ("ERROR: %s\n",
        error ? error->message :
                "the pipeline must have a stereomatch with name=match and a matroskamux with name=file");
    recorder.status = 1;
  }
  if (!recorder.status) {
    if (comment->len)
      gst_tag_setter_add_tags (GST_TAG_SETTER (mux), GST_TAG_MERGE_REPLACE, GST_TAG_COMMENT, comment->str, NULL);
    record (&recorder);
  }
  g_clear_error (&error);
  gst_clear_object (&mux);
  gst_clear_object (&recorder.match);
  gst_clear_object (&recorder.pipeline);
  g_string_free (comment, TRUE);
  return recorder.status;
}

int
main (int argc, char **argv)
{
  int first = 1;

  gst_init (&argc, &argv);
  if (argc == 4 && g_str_equal (argv[1], "--extract"))
    return attachments_extract (argv[2], argv[3]) ? 0 : 1;
  while (first + 1 < argc && (g_str_equal (argv[first], "--attach") || g_str_equal (argv[first], "--text")))
    first += 2;
  if (first >= argc || argv[first][0] == '-') {
    g_printerr ("stereo-record [--attach NAME=FILE] [--text NAME=TEXT]... PIPELINE, or --extract RECORDING.mkv FOLDER: "
                "see pipelines/record.sh\n");
    return 2;
  }
  return run (argv + 1, first - 1);
}
