/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YAML of OpenCV and ROS: a mapping of keys to a value, a list, or a matrix, which is a mapping itself (rows, cols,
 * data). OpenCV's first line, "%YAML:1.0", is no YAML: it becomes a comment, whatever it says.
 */
#include "gst/rectify/calibration/private.h"

#include <string.h>
#include <yaml.h>

typedef struct
{
  GstStereoKeys *keys;
  guint depth;           /* collections open: 1 is the outermost mapping, 2 what a key of it holds */
  gboolean matrix;       /* the collection at depth 2 is a mapping */
  gchar *key;            /* of the outermost mapping: its value comes next, or is being read */
  gchar *part;           /* the same of a matrix */
  GstStereoValue *value; /* of the key, once a collection of it is open */
} Reader;

static void
set_part (Reader *reader, const gchar *text)
{
  gchar **field = g_str_equal (reader->part, "rows") ? &reader->value->rows :
      g_str_equal (reader->part, "cols")             ? &reader->value->cols :
                                                       NULL;

  if (field) {
    g_free (*field);
    *field = g_strdup (text);
  } else if (g_str_equal (reader->part, "data")) {
    gst_stereo_value_append (reader->value, text, -1);
  }
}

static void
take_scalar (Reader *reader, const gchar *text)
{
  if (reader->depth == 1 && !reader->key) {
    reader->key = g_strdup (text);
  } else if (reader->depth == 1) {
    gst_stereo_value_append (gst_stereo_keys_add (reader->keys, reader->key), text, -1);
    g_clear_pointer (&reader->key, g_free);
  } else if (!reader->matrix) {
    gst_stereo_value_append (reader->value, text, -1);
  } else if (reader->depth == 2 && !reader->part) {
    reader->part = g_strdup (text);
  } else if (reader->depth == 2) {
    set_part (reader, text);
    g_clear_pointer (&reader->part, g_free);
  } else if (g_str_equal (reader->part, "data")) {
    gst_stereo_value_append (reader->value, text, -1);
  }
}

/* What is wrong with it, or NULL. */
static const gchar *
open_collection (Reader *reader, gboolean mapping)
{
  if (reader->depth == 0 && !mapping)
    return "is a list, and a calibration has keys";
  if ((reader->depth == 1 && !reader->key) || (reader->depth == 2 && reader->matrix && !reader->part))
    return "has a key that is no text";
  if (reader->depth == GST_STEREO_KEYS_DEPTH)
    return "is nested too deeply";
  if (reader->depth == 1) {
    reader->value = gst_stereo_keys_add (reader->keys, reader->key);
    reader->matrix = mapping;
  }
  reader->depth++;
  return NULL;
}

static void
close_collection (Reader *reader)
{
  reader->depth--;
  if (reader->depth == 1)
    g_clear_pointer (&reader->key, g_free);
  if (reader->depth <= 2 && reader->matrix)
    g_clear_pointer (&reader->part, g_free);
}

static const gchar *
take_event (Reader *reader, const yaml_event_t *event)
{
  switch (event->type) {
    case YAML_SCALAR_EVENT:
      if (reader->depth == 0)
        return "has no keys";
      take_scalar (reader, (const gchar *) event->data.scalar.value);
      return NULL;
    case YAML_ALIAS_EVENT:
      if (reader->depth == 0)
        return "has no keys";
      take_scalar (reader, "*"); /* no number: fails where it is needed */
      return NULL;
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
      return open_collection (reader, event->type == YAML_MAPPING_START_EVENT);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
      close_collection (reader);
      return NULL;
    default:
      return NULL;
  }
}

static gboolean
read_events (Reader *reader, yaml_parser_t *parser, gchar **message)
{
  for (gboolean done = FALSE; !done;) {
    yaml_event_t event;
    const gchar *problem;
    if (!yaml_parser_parse (parser, &event))
      return gst_stereo_keys_fail (reader->keys, message,
          "line %u: %s: this is neither YAML or XML of OpenCV or ROS, nor a file of KITTI.",
          (guint) parser->problem_mark.line + 1, parser->problem ? parser->problem : "broken text");
    problem = take_event (reader, &event);
    /* a second document is not looked at */
    done = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
    if (problem)
      gst_stereo_keys_fail (reader->keys, message, "line %u %s: this is no calibration of OpenCV, ROS or KITTI.",
          (guint) event.start_mark.line + 1, problem);
    yaml_event_delete (&event);
    if (problem)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_stereo_keys_read_yaml (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  Reader reader = { .keys = keys };
  yaml_parser_t parser;
  gchar *copy = g_strdup (text);
  gboolean ok;

  if (g_str_has_prefix (copy, "%YAML"))
    copy[0] = '#';
  if (!yaml_parser_initialize (&parser)) {
    g_free (copy);
    return gst_stereo_keys_fail (keys, message, "there is no memory to read it.");
  }
  yaml_parser_set_encoding (&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string (&parser, (const guchar *) copy, strlen (copy));
  ok = read_events (&reader, &parser, message);
  yaml_parser_delete (&parser);
  g_free (reader.key);
  g_free (reader.part);
  g_free (copy);
  return ok;
}
