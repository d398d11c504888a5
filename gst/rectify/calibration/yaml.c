/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YAML of OpenCV and ROS: a mapping of keys to a value, a list, or a matrix, which is a mapping itself (rows, cols,
 * data). OpenCV's first line, "%YAML:1.0", is no YAML: it becomes a comment, whatever it says.
 */
#include "gst/rectify/calibration/private.h"

#include <gmodule.h>
#include <string.h>
#include <yaml.h>

#define LIBRARY "libyaml-0.so.2"

/* What is used of libyaml. */
typedef struct
{
  int (*initialize) (yaml_parser_t *parser);
  void (*set_encoding) (yaml_parser_t *parser, yaml_encoding_t encoding);
  void (*set_input) (yaml_parser_t *parser, const unsigned char *text, size_t size);
  int (*parse) (yaml_parser_t *parser, yaml_event_t *event);
  void (*delete_event) (yaml_event_t *event);
  void (*delete_parser) (yaml_parser_t *parser);
} Library;

typedef struct
{
  GstStereoKeys *keys;
  guint depth;           /* collections open: 1 is the outermost mapping, 2 what a key of it holds */
  gboolean matrix;       /* the collection at depth 2 is a mapping */
  gchar *key;            /* of the outermost mapping: its value comes next, or is being read */
  gchar *part;           /* the same of a matrix */
  GstStereoValue *value; /* of the key, once a collection of it is open */
} Reader;

/* The library is not linked: without it the elements still load, and other formats are still read. NULL and a message where
 * it is missing; another call tries again. */
static const Library *
load_library (GstStereoKeys *keys, gchar **message)
{
  static GMutex lock;
  static Library library;
  static gboolean loaded;
  const struct
  {
    const gchar *name;
    gpointer *function;
  } symbols[] = { { "yaml_parser_initialize", (gpointer *) &library.initialize },
    { "yaml_parser_set_encoding", (gpointer *) &library.set_encoding },
    { "yaml_parser_set_input_string", (gpointer *) &library.set_input },
    { "yaml_parser_parse", (gpointer *) &library.parse }, { "yaml_event_delete", (gpointer *) &library.delete_event },
    { "yaml_parser_delete", (gpointer *) &library.delete_parser } };
  const Library *found;
  GModule *module;

  g_mutex_lock (&lock);
  if (!loaded && (module = g_module_open (LIBRARY, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL))) {
    loaded = TRUE;
    for (guint k = 0; k < G_N_ELEMENTS (symbols); k++)
      loaded = loaded && g_module_symbol (module, symbols[k].name, symbols[k].function);
    if (loaded)
      g_module_make_resident (module);
    else
      g_module_close (module);
  }
  if (!loaded)
    gst_stereo_keys_fail (keys, message,
        "it is YAML, and the library that reads YAML cannot be loaded (%s): install libyaml (on Debian libyaml-0-2), "
        "or give the calibration as XML of OpenCV.",
        g_module_error ());
  found = loaded ? &library : NULL;
  g_mutex_unlock (&lock);
  return found;
}

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
read_events (const Library *library, Reader *reader, yaml_parser_t *parser, gchar **message)
{
  for (gboolean done = FALSE; !done;) {
    yaml_event_t event;
    const gchar *problem;
    if (!library->parse (parser, &event))
      return gst_stereo_keys_fail (reader->keys, message,
          "line %u: %s: this is neither YAML or XML of OpenCV or ROS, nor a file of KITTI or Middlebury.",
          (guint) parser->problem_mark.line + 1, parser->problem ? parser->problem : "broken text");
    problem = take_event (reader, &event);
    /* a second document is ignored */
    done = event.type == YAML_DOCUMENT_END_EVENT || event.type == YAML_STREAM_END_EVENT;
    if (problem)
      gst_stereo_keys_fail (reader->keys, message,
          "line %u %s: this is no calibration of OpenCV, ROS, KITTI or Middlebury.", (guint) event.start_mark.line + 1,
          problem);
    library->delete_event (&event);
    if (problem)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_stereo_keys_read_yaml (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  Reader reader = { .keys = keys };
  const Library *library = load_library (keys, message);
  yaml_parser_t parser;
  gchar *copy;
  gboolean ok;

  if (!library)
    return FALSE;
  copy = g_strdup (text);
  if (g_str_has_prefix (copy, "%YAML"))
    copy[0] = '#';
  if (!library->initialize (&parser)) {
    g_free (copy);
    return gst_stereo_keys_fail (keys, message, "there is no memory to read it.");
  }
  library->set_encoding (&parser, YAML_UTF8_ENCODING);
  library->set_input (&parser, (const guchar *) copy, strlen (copy));
  ok = read_events (library, &reader, &parser, message);
  library->delete_parser (&parser);
  g_free (reader.key);
  g_free (reader.part);
  g_free (copy);
  return ok;
}
