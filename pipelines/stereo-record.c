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
#include <string.h>

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
  GstPad *pad = gst_element_get_static_pad (queue, name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, counter, NULL);
  gst_object_unref (pad);
}

static void
watch_queue (const GValue *item, gpointer data)
{
  Recorder *recorder = data;
  GstElement *element = g_value_get_object (item);
  gint leaky = 0;
  Leak *leak;

  if (!GST_IS_ELEMENT (element) || !g_str_equal (G_OBJECT_TYPE_NAME (element), "GstQueue"))
    return;
  recorder->keeps_views |= g_str_has_prefix (GST_OBJECT_NAME (element), RAW);
  g_object_get (element, "leaky", &leaky, NULL);
  if (!leaky)
    return;
  leak = g_new0 (Leak, 1);
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
    gint gone;

    if (g_str_has_prefix (GST_OBJECT_NAME (leak->queue), RAW) != raw)
      continue;
    g_object_get (leak->queue, "current-level-buffers", &inside, NULL);
    gone = g_atomic_int_get (&leak->in) - g_atomic_int_get (&leak->out) - (gint) inside;
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

/* ---- files inside the recording ----------------------------------------------------------- */

/*
 * matroskamux writes no attachments (GStreamer 1.26): texts are kept in the recording's comment. Each begins with a line
 * of its own, MARK NAME SIZE, and SIZE bytes follow it.
 */
#define MARK "gst-stereo-file"

/* @option: --attach with NAME=FILE, or --text with NAME=TEXT. */
static gboolean
attach (GString *comment, const gchar *option, const gchar *word)
{
  gchar **parts = g_strsplit (word, "=", 2), *text = NULL;
  gboolean file = g_str_equal (option, "--attach");
  GError *error = NULL;

  if (!parts[0] || !parts[1])
    g_printerr ("ERROR: %s %s: NAME=%s is wanted\n", option, word, file ? "FILE" : "TEXT");
  else if (!file)
    text = g_strdup_printf ("%s\n", parts[1]);
  else if (!g_file_get_contents (parts[1], &text, NULL, &error))
    g_printerr ("ERROR: %s %s: %s\n", option, word, error->message);
  g_clear_error (&error);
  if (text && !g_utf8_validate (text, -1, NULL)) {
    g_printerr ("ERROR: %s %s: this is no text\n", option, word);
    g_clear_pointer (&text, g_free);
  }
  if (text)
    g_string_append_printf (comment, MARK " %s %" G_GSIZE_FORMAT "\n%s", parts[0], strlen (text), text);
  g_free (text);
  g_strfreev (parts);
  return text != NULL;
}

static gboolean
write_text (const gchar *folder, const gchar *name, const gchar *text, gsize size)
{
  /* whoever made the recording chose the name: it must not leave the folder */
  gchar *base = g_path_get_basename (name), *path = g_build_filename (folder, base, NULL);
  gboolean done = g_file_set_contents (path, text, (gssize) size, NULL);

  if (!done)
    g_printerr ("ERROR: %s cannot be written\n", path);
  g_free (path);
  g_free (base);
  return done;
}

static gboolean
write_texts (const gchar *comment, const gchar *folder)
{
  const gchar *at = comment;
  gboolean done = TRUE;

  while (g_str_has_prefix (at, MARK " ")) {
    const gchar *end = strchr (at, '\n');
    gchar *line = g_strndup (at, end ? (gsize) (end - at) : 0), **words = g_strsplit (line, " ", 3);
    guint64 size = g_strv_length (words) == 3 ? g_ascii_strtoull (words[2], NULL, 10) : 0;

    at = end ? end + 1 : "";
    size = MIN (size, strlen (at));
    if (*line)
      done &= write_text (folder, words[1], at, size);
    at += size;
    g_strfreev (words);
    g_free (line);
  }
  return done;
}

static gboolean
write_comment (GstMessage *message, const gchar *folder)
{
  gchar *comment = NULL;
  GstTagList *tags;
  gboolean done = TRUE;

  gst_message_parse_tag (message, &tags);
  if (gst_tag_list_get_string_index (tags, GST_TAG_COMMENT, 0, &comment))
    done = write_texts (comment, folder);
  g_free (comment);
  gst_tag_list_unref (tags);
  return done;
}

static int
extract (const gchar *file, const gchar *folder)
{
  GstElement *pipeline = gst_parse_launch ("filesrc name=file ! matroskademux ! fakesink", NULL);
  GstElement *source = pipeline ? gst_bin_get_by_name (GST_BIN (pipeline), "file") : NULL;
  gboolean done = TRUE, ended = FALSE;
  GError *error = NULL;
  GstBus *bus;

  if (!source) {
    g_printerr ("ERROR: there is no matroskademux: install gstreamer1.0-plugins-good\n");
    return 1;
  }
  g_object_set (source, "location", file, NULL);
  gst_object_unref (source);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_TAG | GST_MESSAGE_ASYNC_DONE | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error (message, &error, NULL);
      g_printerr ("ERROR: %s: %s\n", file, error->message);
      g_clear_error (&error);
      done = FALSE;
    }
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_TAG)
      done &= write_comment (message, folder);
    else
      ended = TRUE;
    gst_message_unref (message);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return done ? 0 : 1;
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
  GstBus *bus = gst_element_get_bus (recorder->pipeline);
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
  gst_object_unref (bus);
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
    recorder.status |= !attach (comment, words[i], words[i + 1]);
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
    return extract (argv[2], argv[3]);
  while (first + 1 < argc && (g_str_equal (argv[first], "--attach") || g_str_equal (argv[first], "--text")))
    first += 2;
  if (first >= argc || argv[first][0] == '-') {
    g_printerr ("stereo-record [--attach NAME=FILE] [--text NAME=TEXT]... PIPELINE, or --extract RECORDING.mkv FOLDER: "
                "see pipelines/record.sh\n");
    return 2;
  }
  return run (argv + 1, first - 1);
}
