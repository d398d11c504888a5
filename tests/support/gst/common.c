/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/common.h"

#include <math.h>

void
set_properties (GstElement *element, const gchar *properties)
{
  gchar **all = g_strsplit (properties, " ", -1);

  for (gchar **one = all; *one; one++) {
    gchar *value = strchr (*one, '=');
    if (value) {
      *value++ = 0;
      gst_util_set_object_arg (G_OBJECT (element), *one, value);
    }
  }
  g_strfreev (all);
}

static gboolean
is_ours (GType type)
{
  return g_str_has_prefix (g_type_name (type), "GstStereo") || g_str_has_prefix (g_type_name (type), "GstDepthOverlay");
}

gboolean
is_own_property (GParamSpec *spec)
{
  return (spec->flags & G_PARAM_WRITABLE) && is_ours (spec->owner_type);
}

/* ---- elements ---------------------------------------------------------------------------- */

GstElement *
element_new (const gchar *factory, const gchar *properties, GstBus **bus)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  fail_unless (element != NULL, "no %s: is GST_PLUGIN_PATH right?", factory);
  gst_object_ref_sink (element);
  set_properties (element, properties);
  *bus = gst_bus_new ();
  gst_element_set_bus (element, *bus);
  return element;
}

void
element_free (GstElement *element, GstBus *bus)
{
  gst_element_set_bus (element, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GstHarness *
filter_new (const gchar *factory, const gchar *properties, GstBus **bus)
{
  g_autoptr (GstElement) element = element_new (factory, properties, bus);

  return gst_harness_new_with_element (element, "sink", "src");
}

void
filter_free (GstHarness *harness, GstBus *bus)
{
  GstElement *element = gst_object_ref (harness->element);

  gst_element_set_bus (element, NULL);
  gst_harness_teardown (harness);
  element_free (element, bus);
}

GstElement *
launch (const gchar *format, ...)
{
  GError *error = NULL;
  va_list args;

  va_start (args, format);
  g_autofree gchar *line = g_strdup_vprintf (format, args);
  va_end (args);
  GstElement *pipeline = gst_parse_launch (line, &error);
  fail_unless (pipeline && !error, "%s: %s", line, error ? error->message : "");
  return pipeline;
}

GstHarness *
harness_new (GstElement *element, const gchar *sink, const gchar *src, gboolean live)
{
  static GstStaticPadTemplate feeds = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate takes = GST_STATIC_PAD_TEMPLATE (
      "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  GstHarness *harness = gst_harness_new_empty ();

  gst_harness_set_live (harness, live);
  gst_harness_add_element_full (harness, element, &feeds, sink, &takes, src);
  return harness;
}

/* ---- messages ---------------------------------------------------------------------------- */

gchar *
message_text (GstMessage *message)
{
  GError *error = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  gchar *text = error ? g_strdup (error->message) : NULL;
  g_clear_error (&error);
  return text;
}

void
check_words (GstMessage *message, const gchar *const *words)
{
  g_autofree gchar *text = message_text (message);

  fail_unless (text != NULL || *words == NULL, "a %s message has no text", GST_MESSAGE_TYPE_NAME (message));
  for (; *words; words++)
    fail_unless (strstr (text, *words) != NULL, "\"%s\" is not in \"%s\"", *words, text);
}

void
take_words (const gchar *words[MOST_WORDS], va_list args)
{
  guint count = 0;

  while ((words[count] = va_arg (args, const gchar *)))
    fail_unless (++count < MOST_WORDS, "more words than MOST_WORDS - 1");
}

GstMessage *
expect_message (GstBus *bus, GstMessageType type, const gchar *const *words)
{
  GstMessage *message;

  do {
    message = gst_bus_timed_pop_filtered (bus, PATIENCE, type);
    fail_unless (message != NULL, "no %s message", gst_message_type_get_name (type));
    if (GST_MESSAGE_SRC (message) && is_ours (G_OBJECT_TYPE (GST_MESSAGE_SRC (message))))
      break;
    gst_message_unref (message);
  } while (TRUE);
  check_words (message, words);
  return message;
}

void
expect_words (GstBus *bus, GstMessageType type, ...)
{
  const gchar *words[MOST_WORDS];
  va_list args;

  va_start (args, type);
  take_words (words, args);
  va_end (args);
  gst_message_unref (expect_message (bus, type, words));
}

void
expect_no_message (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  gchar *text = message ? message_text (message) : NULL;

  fail_unless (message == NULL, "unexpected: %s", text ? text : "a message");
}

void
wait_for_message (GstBus *bus, GstMessageType type)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, PATIENCE, type | GST_MESSAGE_ERROR);

  fail_unless (message != NULL, "no %s", gst_message_type_get_name (type));
  g_autofree gchar *error = message_text (message);
  fail_unless (GST_MESSAGE_TYPE (message) & type, "%s", error);
}

GPtrArray *
messages_to_end (GstBus *bus, const gchar *name)
{
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  gboolean ended = FALSE;

  while (!ended) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
        bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);

    fail_unless (message != NULL, "nothing comes any more");
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s", message_text (message));
    if (gst_message_has_name (message, name))
      g_ptr_array_add (all, gst_structure_copy (gst_message_get_structure (message)));
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  }
  return all;
}

/* ---- streams ----------------------------------------------------------------------------- */

GstStructure *
found_of (GstBuffer *buffer, const gchar *name)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, name);

  return meta ? gst_custom_meta_get_structure (meta) : NULL;
}

gdouble
found_number (const GstStructure *structure, const gchar *field)
{
  gdouble number = NAN;

  gst_structure_get_double (structure, field, &number);
  return number;
}

void
check_time (GstBuffer *buffer, GstClockTime pts)
{
  fail_unless (buffer != NULL, "no output");
  fail_unless (GST_BUFFER_PTS (buffer) == pts, "output at %" GST_TIME_FORMAT ", not %" GST_TIME_FORMAT,
      GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), GST_TIME_ARGS (pts));
}

gboolean
buffers_equal (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (a, &map, GST_MAP_READ));
  gboolean equal = map.size == gst_buffer_get_size (b) && gst_buffer_memcmp (b, 0, map.data, map.size) == 0;
  gst_buffer_unmap (a, &map);
  return equal;
}

GstEvent *
wait_for_event (GstHarness *harness, GstEventType type)
{
  for (;;) {
    GstEvent *event = gst_harness_pull_event (harness);

    fail_unless (event != NULL, "no %s came", gst_event_type_get_name (type));
    if (GST_EVENT_TYPE (event) == type)
      return event;
    gst_event_unref (event);
  }
}

void
wait_for_eos (GstHarness *harness)
{
  gst_event_unref (wait_for_event (harness, GST_EVENT_EOS));
}

void
flush_stream (GstHarness *harness)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (harness, gst_event_new_flush_start ());
  gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (harness, gst_event_new_segment (&segment));
}

gchar *
play_to_end (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "neither end nor error in a minute");
  gchar *text = message_text (message);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return text;
}

GstSample *
first_sample (const gchar *line)
{
  g_autoptr (GstElement) pipeline = launch ("%s", line), sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  GstSample *sample = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample != NULL, "%s", line);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}
