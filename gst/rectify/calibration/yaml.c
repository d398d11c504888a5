/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YAML: a mapping of keys to a value, a list, a matrix, which is a mapping itself (rows, cols, data), or a mapping of more
 * keys. OpenCV's first line, "%YAML:1.0", is no YAML: it becomes a comment, whatever it says.
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
  const Library *library;
  yaml_parser_t *parser;
  GstStereoKeys *keys;
  gchar **message;
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
  const Library *found = loaded ? &library : NULL;
  g_mutex_unlock (&lock);
  return found;
}

/* ---- from events to keys ---- */

/* FALSE: the text is broken, and the message says where. */
static gboolean
next_event (Reader *reader, yaml_event_t *event)
{
  if (reader->library->parse (reader->parser, event))
    return TRUE;
  return gst_stereo_keys_fail (reader->keys, reader->message,
      "line %u: %s: this is neither YAML nor XML nor another text of " GST_STEREO_FORMAT_NAMES ".",
      (guint) reader->parser->problem_mark.line + 1, reader->parser->problem ? reader->parser->problem : "broken text");
}

static gboolean
refuse (Reader *reader, const yaml_event_t *event, const gchar *problem)
{
  return gst_stereo_keys_fail (reader->keys, reader->message,
      "line %u %s: this is no calibration of " GST_STEREO_FORMAT_NAMES ".", (guint) event->start_mark.line + 1, problem);
}

static gboolean read_mapping (Reader *reader, const gchar *path, guint depth);

/* Appends an element of a list, or what a key has. A mapping in a list adds keys of its own. */
static gboolean
read_element (Reader *reader, yaml_event_t *event, const gchar *path, GstStereoValue *value, guint depth)
{
  gboolean ok = TRUE, end = FALSE;

  if (event->type == YAML_SCALAR_EVENT) {
    gst_stereo_value_append (value, (const gchar *) event->data.scalar.value, -1);
  } else if (event->type == YAML_ALIAS_EVENT) {
    gst_stereo_value_append (value, "*", -1); /* no number: fails where it is needed */
  } else if (depth == GST_STEREO_KEYS_DEPTH) {
    ok = refuse (reader, event, "is nested too deeply");
  } else if (event->type == YAML_MAPPING_START_EVENT) {
    ok = read_mapping (reader, path, depth + 1);
  } else if (event->type == YAML_SEQUENCE_START_EVENT) {
    while (ok && !end) {
      yaml_event_t element;
      if (!next_event (reader, &element))
        return FALSE;
      end = element.type == YAML_SEQUENCE_END_EVENT;
      ok = end || read_element (reader, &element, path, value, depth + 1);
      reader->library->delete_event (&element);
    }
  }
  return ok;
}

/* What a key of a mapping has. rows, cols, dt and data make its mapping a matrix. */
static gboolean
read_value (Reader *reader, yaml_event_t *event, const gchar *path, const gchar *key, guint depth)
{
  g_autofree gchar *inner = path ? g_strconcat (path, ".", key, NULL) : g_strdup (key);
  gboolean part = path && event->type == YAML_SCALAR_EVENT, ok;
  GstStereoValue *matrix;

  if (part && (g_str_equal (key, "rows") || g_str_equal (key, "cols"))) {
    matrix = gst_stereo_keys_value (reader->keys, path);
    gchar **field = *key == 'r' ? &matrix->rows : &matrix->cols;
    g_free (*field);
    *field = g_strdup ((const gchar *) event->data.scalar.value);
    ok = TRUE;
  } else if (part && g_str_equal (key, "dt")) {
    ok = TRUE;
  } else if (path && g_str_equal (key, "data")) {
    ok = read_element (reader, event, path, gst_stereo_keys_value (reader->keys, path), depth);
  } else if (event->type == YAML_MAPPING_START_EVENT) {
    ok = depth == GST_STEREO_KEYS_DEPTH ? refuse (reader, event, "is nested too deeply") :
                                          read_mapping (reader, inner, depth + 1);
  } else {
    ok = read_element (reader, event, inner, gst_stereo_keys_add (reader->keys, inner), depth);
  }
  return ok;
}

/* @path: NULL for the outermost mapping. */
static gboolean
read_mapping (Reader *reader, const gchar *path, guint depth)
{
  gboolean ok = TRUE, end = FALSE;

  while (ok && !end) {
    yaml_event_t key, value;
    if (!next_event (reader, &key))
      return FALSE;
    end = key.type == YAML_MAPPING_END_EVENT;
    if (!end && key.type != YAML_SCALAR_EVENT) {
      ok = refuse (reader, &key, "has a key that is no text");
    } else if (!end && (ok = next_event (reader, &value))) {
      ok = read_value (reader, &value, path, (const gchar *) key.data.scalar.value, depth);
      reader->library->delete_event (&value);
    }
    reader->library->delete_event (&key);
  }
  return ok;
}

/* The first document; others are ignored. */
static gboolean
read_document (Reader *reader)
{
  gboolean ok = TRUE, done = FALSE;

  while (ok && !done) {
    yaml_event_t event;
    if (!next_event (reader, &event))
      return FALSE;
    done = event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT;
    if (event.type == YAML_MAPPING_START_EVENT)
      ok = read_mapping (reader, NULL, 1);
    else if (event.type == YAML_SEQUENCE_START_EVENT)
      ok = refuse (reader, &event, "is a list, and a calibration has keys");
    else if (event.type == YAML_SCALAR_EVENT || event.type == YAML_ALIAS_EVENT)
      ok = refuse (reader, &event, "has no keys");
    reader->library->delete_event (&event);
  }
  return ok;
}

gboolean
gst_stereo_keys_read_yaml (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  const Library *library = load_library (keys, message);
  yaml_parser_t parser;
  Reader reader = { library, &parser, keys, message };

  if (!library)
    return FALSE;
  g_autofree gchar *copy = g_strdup (text);
  if (g_str_has_prefix (copy, "%YAML"))
    copy[0] = '#';
  if (!library->initialize (&parser))
    return gst_stereo_keys_fail (keys, message, "there is no memory to read it.");
  library->set_encoding (&parser, YAML_UTF8_ENCODING);
  library->set_input (&parser, (const guchar *) copy, strlen (copy));
  gboolean ok = read_document (&reader);
  library->delete_parser (&parser);
  return ok;
}
