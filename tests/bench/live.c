/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Scores stereomatch on stereotestsrc, frame by frame, in a running pipeline.
 *
 *   stereo-live [--frames N] [--caps CAPS] [--source "PROPERTY=VALUE …"] [PROPERTY=VALUE …]
 *
 * What is left over are properties of stereomatch. Scores are over the pixels that both views see, a missing disparity
 * counts as bad; valid and confidence are over all pixels, as stereomatch counts them.
 */
#include <gst/app/gstappsink.h>

#include "tests/support/gst/live_frame.h"

#define GLANCE (GST_SECOND / 5) /* between looks at the bus */

typedef struct Options
{
  gint frames;
  gchar *caps, *source;
  gchar **match;
} Options;

typedef struct Live
{
  GstElement *pipeline, *source, *match, *sink;
  GAsyncQueue *times; /* of guint64 *: compute time of each pair, ns */
} Live;

/* Called right after the pair was counted, before the next one is. */
static GstPadProbeReturn
note_time (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Live *live = data;
  GstStructure *stats;
  guint64 *time = g_new0 (guint64, 1);

  g_object_get (live->match, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "compute-time", time);
  gst_structure_free (stats);
  g_async_queue_push (live->times, time);
  return GST_PAD_PROBE_OK;
}

static gboolean
live_start (Live *live, const Options *options)
{
  gchar *match = options->match ? g_strjoinv (" ", options->match) : g_strdup ("");
  gchar *line = g_strdup_printf ("stereotestsrc name=source num-buffers=%d %s ! %s ! stereomatch name=match %s ! "
                                 "video/x-raw,format=GRAY16_LE ! appsink name=sink sync=false max-buffers=4",
      options->frames, options->source ? options->source : "", options->caps ? options->caps : "video/x-raw", match);
  GError *error = NULL;

  live->pipeline = gst_parse_launch (line, &error);
  g_free (line);
  g_free (match);
  if (error) {
    g_printerr ("%s\n", error->message);
    g_clear_error (&error);
    return FALSE;
  }
  live->times = g_async_queue_new_full (g_free);
  live->source = gst_bin_get_by_name (GST_BIN (live->pipeline), "source");
  live->match = gst_bin_get_by_name (GST_BIN (live->pipeline), "match");
  live->sink = gst_bin_get_by_name (GST_BIN (live->pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (live->match, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_time, live, NULL);
  return gst_element_set_state (live->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

static void
live_stop (Live *live)
{
  if (live->pipeline)
    gst_element_set_state (live->pipeline, GST_STATE_NULL);
  gst_clear_object (&live->source);
  gst_clear_object (&live->match);
  gst_clear_object (&live->sink);
  gst_clear_object (&live->pipeline);
  g_clear_pointer (&live->times, g_async_queue_unref);
}

/* Whether the bus has an error; then it was printed. */
static gboolean
failed (Live *live)
{
  GstBus *bus = gst_element_get_bus (live->pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;

  gst_object_unref (bus);
  if (!message)
    return FALSE;
  gst_message_parse_error (message, &error, NULL);
  g_printerr ("%s\n", error->message);
  g_clear_error (&error);
  gst_message_unref (message);
  return TRUE;
}

/* NULL at the end and after an error, which was printed. */
static GstSample *
next_sample (Live *live, gboolean *error)
{
  GstSample *sample;

  while (!(sample = gst_app_sink_try_pull_sample (GST_APP_SINK (live->sink), GLANCE)))
    if ((*error = failed (live)) || gst_app_sink_is_eos (GST_APP_SINK (live->sink)))
      break;
  return sample;
}

static void
print_row (const gchar *label, gdouble valid, gdouble confidence, const TruthScore *score, gdouble ms)
{
  gdouble per = score->pixels ? 100.0 / (gdouble) score->pixels : 0;

  g_print ("%8s  %6.2f  %10.3f  %6.2f  %6.2f  %8.2f\n", label, 100 * valid, confidence, per * (gdouble) score->bad1,
      per * (gdouble) score->bad2, ms);
}

/* Every frame's row and that of all; FALSE after an error. */
static gboolean
live_score (Live *live)
{
  TruthScore all = { 0 };
  gdouble valid = 0, confidence = 0, ms = 0;
  guint count = 0;
  gboolean error = FALSE;
  GstSample *sample;

  g_print ("%8s  %6s  %10s  %6s  %6s  %8s\n", "frame", "valid%", "confidence", "bad1%", "bad2%", "ms");
  while ((sample = next_sample (live, &error))) {
    TruthScore score = { 0 };
    gchar number[24];
    LiveFrame frame;
    gboolean read = live_frame_read (&frame, sample, live->source);
    gst_sample_unref (sample);
    if (!read) {
      g_printerr ("The output holds no disparity of a frame: leave output at disparity.\n");
      return FALSE;
    }
    g_autofree guint64 *time = g_async_queue_pop (live->times);
    truth_score (frame.truth, frame.visible, frame.disparity, (gsize) frame.width * (gsize) frame.height, &score);
    g_snprintf (number, sizeof number, "%" G_GUINT64_FORMAT, frame.number);
    print_row (number, frame.valid_ratio, frame.mean_confidence, &score, (gdouble) *time / 1e6);
    all.pixels += score.pixels;
    all.bad1 += score.bad1;
    all.bad2 += score.bad2;
    valid += frame.valid_ratio;
    confidence += frame.mean_confidence;
    ms += (gdouble) *time / 1e6;
    count++;
    live_frame_clear (&frame);
  }
  if (count)
    print_row ("all", valid / count, confidence / count, &all, ms / count);
  return count > 0 && !error;
}

int
main (int argc, char **argv)
{
  Options options = { 10, NULL, NULL, NULL };
  GOptionEntry entries[] = { { "frames", 0, 0, G_OPTION_ARG_INT, &options.frames, "How many frames (10)", "N" },
    { "caps", 0, 0, G_OPTION_ARG_STRING, &options.caps, "Caps of the source (1280x480, both views)", "CAPS" },
    { "source", 0, 0, G_OPTION_ARG_STRING, &options.source, "Properties of stereotestsrc", "\"PROPERTY=VALUE …\"" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.match, "Properties of stereomatch", NULL },
    { NULL } };
  GOptionContext *context = g_option_context_new ("[PROPERTY=VALUE …] - scores stereomatch on stereotestsrc");
  GError *error = NULL;
  gboolean done = FALSE;
  Live live = { NULL };

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (g_option_context_parse (context, &argc, &argv, &error)) {
    done = live_start (&live, &options) ? live_score (&live) : live.pipeline && failed (&live) && FALSE;
    live_stop (&live);
  } else {
    g_printerr ("%s\n", error->message);
    g_clear_error (&error);
  }
  g_option_context_free (context);
  g_strfreev (options.match);
  g_free (options.caps);
  g_free (options.source);
  return done ? 0 : 1;
}
