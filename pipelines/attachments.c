/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "attachments.h"

#include <gst/gst.h>
#include <string.h>

#include "gst/video/file.h"

/*
 * matroskamux writes no attachments (GStreamer 1.26): texts are kept in the recording's comment. Each begins with a line
 * of its own, MARK NAME SIZE, and SIZE bytes follow it.
 */
#define MARK "gst-stereo-file"

#define MAX_FILE (4 << 20) /* bytes; calibrations have a few thousand */

/* The text of a file; NULL after a message. */
static gchar *
read_text (const gchar *name, const gchar *file)
{
  g_autofree gchar *option = g_strdup_printf ("--attach %s", name), *message = NULL;
  GstStereoFileRules rules = { option, "a text file, as a calibration is", MAX_FILE };
  gsize size = 0;

  gchar *text = gst_stereo_file_read (&rules, file, &size, &message);
  if (text && !g_utf8_validate (text, (gssize) size, NULL)) {
    message = g_strdup_printf ("%s=%s: this is no text", option, file);
    g_clear_pointer (&text, g_free);
  }
  if (!text)
    g_printerr ("ERROR: %s\n", message);
  return text;
}

gboolean
attachments_add (GString *comment, const gchar *option, const gchar *word)
{
  gchar **parts = g_strsplit (word, "=", 2), *text = NULL;
  gboolean file = g_str_equal (option, "--attach");

  if (!parts[0] || !parts[1])
    g_printerr ("ERROR: %s %s: NAME=%s is wanted\n", option, word, file ? "FILE" : "TEXT");
  else if (file)
    text = read_text (parts[0], parts[1]);
  else if (!g_utf8_validate (parts[1], -1, NULL))
    g_printerr ("ERROR: %s %s: this is no text\n", option, parts[0]);
  else
    text = g_strdup_printf ("%s\n", parts[1]);
  if (text)
    g_string_append_printf (comment, MARK " %s %" G_GSIZE_FORMAT "\n%s", parts[0], strlen (text), text);
  g_free (text);
  g_strfreev (parts);
  return text != NULL;
}

static gboolean
write_text (const gchar *folder, const gchar *name, const gchar *text, gsize size)
{
  static const GstStereoFileRules rules = { .property = "FOLDER", .instead = "an empty folder that can be written to" };
  /* whoever made the recording chose the name: it must not leave the folder */
  g_autofree gchar *base = g_path_get_basename (name), *path = g_build_filename (folder, base, NULL), *message = NULL;
  gboolean done = gst_stereo_file_write (&rules, path, text, size, &message);

  if (!done)
    g_printerr ("ERROR: %s\n", message);
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
  g_autofree gchar *comment = NULL;
  g_autoptr (GstTagList) tags = NULL;
  gboolean done = TRUE;

  gst_message_parse_tag (message, &tags);
  if (gst_tag_list_get_string_index (tags, GST_TAG_COMMENT, 0, &comment))
    done = write_texts (comment, folder);
  return done;
}

/* Everything before the first frame. */
static gboolean
read_recording (const gchar *file, const gchar *folder)
{
  GstElement *pipeline = gst_parse_launch ("filesrc name=file ! matroskademux ! fakesink", NULL);
  GstElement *source = pipeline ? gst_bin_get_by_name (GST_BIN (pipeline), "file") : NULL;
  gboolean done = TRUE, ended = FALSE;
  GError *error = NULL;

  if (!source) {
    g_printerr ("ERROR: there is no matroskademux: install gstreamer1.0-plugins-good\n");
    return FALSE;
  }
  g_object_set (source, "location", file, NULL);
  gst_object_unref (source);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  while (!ended) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
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
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return done;
}

gboolean
attachments_extract (const gchar *file, const gchar *folder)
{
  static const GstStereoFileRules rules = { "RECORDING", "a file of record.sh", G_MAXSIZE };
  g_autofree gchar *message = NULL;
  gboolean done = gst_stereo_file_check (&rules, file, &message);

  if (done)
    done = read_recording (file, folder);
  else
    g_printerr ("ERROR: %s\n", message);
  return done;
}
