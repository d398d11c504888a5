/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/calibration/keys.h"

#include <gmodule.h>
#include <string.h>
#include <yaml.h>

#define LIBRARY "libyaml-0.so.2"
#define DEPTH 32 /* nested deeper than this is no calibration */
#define SHOWN 40 /* bytes of a text from the file in a message */

static void
free_text (gpointer text)
{
  g_string_free (text, TRUE);
}

GstStereoKeys *
gst_stereo_keys_new (const gchar *name)
{
  GstStereoKeys *keys = g_new0 (GstStereoKeys, 1);

  keys->name = g_strdup (name);
  keys->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_text);
  return keys;
}

void
gst_stereo_keys_free (GstStereoKeys *keys)
{
  g_hash_table_unref (keys->values);
  g_free (keys->name);
  g_free (keys);
}

gchar *
gst_stereo_keys_shorten (const gchar *text)
{
  g_autofree gchar *part = g_strndup (text, MIN (strcspn (text, "\r\n"), SHOWN));

  return g_utf8_make_valid (part, -1);
}

gboolean
gst_stereo_keys_fail (GstStereoKeys *keys, gchar **message, const gchar *format, ...)
{
  va_list args;

  if (!message)
    return FALSE;
  va_start (args, format);
  g_autofree gchar *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree gchar *whole = g_strdup_printf ("%s: %s", keys->name, text);
  /* file names may have any bytes, and messages of GMarkup may cut a character */
  *message = g_utf8_make_valid (whole, -1);
  return FALSE;
}

/* Adds to the value of a key. */
static void
append (GstStereoKeys *keys, const gchar *key, const gchar *text, gsize length)
{
  GString *value = g_hash_table_lookup (keys->values, key);

  if (!value)
    g_hash_table_insert (keys->values, g_strdup (key), value = g_string_new (NULL));
  if (value->len > 0)
    g_string_append_c (value, ' ');
  g_string_append_len (value, text, (gssize) length);
}

/* The key of a value in the mapping of @outer; g_free. A key that comes twice has its last value. */
static gchar *
begin_key (GstStereoKeys *keys, const gchar *outer, const gchar *inner)
{
  gchar *key = !*outer            ? g_strdup (inner) :
      g_str_equal (inner, "data") ? g_strdup (outer) :
                                    g_strconcat (outer, ".", inner, NULL);

  g_hash_table_remove (keys->values, key);
  append (keys, key, "", 0);
  return key;
}

/* ---- YAML ---- */

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

/* The library is not linked: without it the elements still load, and XML is still read. NULL and a message where it is
 * missing; another call tries again. */
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

/* FALSE: the text is broken, and the message says where. */
static gboolean
next_event (Reader *reader, yaml_event_t *event)
{
  if (reader->library->parse (reader->parser, event))
    return TRUE;
  return gst_stereo_keys_fail (reader->keys, reader->message, "line %u: %s: this is neither YAML nor XML.%s",
      (guint) reader->parser->problem_mark.line + 1, reader->parser->problem ? reader->parser->problem : "broken text",
      reader->keys->many_commas ? GST_STEREO_DECIMAL_COMMAS : "");
}

static gboolean
refuse (Reader *reader, const yaml_event_t *event, const gchar *problem)
{
  return gst_stereo_keys_fail (reader->keys, reader->message, "line %u %s: this is no calibration of OpenCV or ROS.",
      (guint) event->start_mark.line + 1, problem);
}

/* Reads the node that starts with @event, and all that it contains, into @key and the keys inside it. */
static gboolean
read_node (Reader *reader, const yaml_event_t *event, const gchar *key, guint depth)
{
  gboolean mapping = event->type == YAML_MAPPING_START_EVENT, ok = TRUE, end = FALSE;

  if (event->type == YAML_SCALAR_EVENT) {
    append (reader->keys, key, (const gchar *) event->data.scalar.value, event->data.scalar.length);
    return TRUE;
  }
  if (event->type == YAML_ALIAS_EVENT) {
    append (reader->keys, key, "*", 1); /* no number: fails where it is needed */
    return TRUE;
  }
  if (depth == DEPTH)
    return refuse (reader, event, "is nested too deeply");
  while (ok && !end) {
    g_autofree gchar *inner = NULL;
    yaml_event_t first, second;
    if (!next_event (reader, &first))
      return FALSE;
    end = first.type == YAML_MAPPING_END_EVENT || first.type == YAML_SEQUENCE_END_EVENT;
    if (!end && !mapping) {
      ok = read_node (reader, &first, key, depth + 1);
    } else if (!end && first.type != YAML_SCALAR_EVENT) {
      ok = refuse (reader, &first, "has a key that is no text");
    } else if (!end && (ok = next_event (reader, &second))) {
      inner = begin_key (reader->keys, key, (const gchar *) first.data.scalar.value);
      ok = read_node (reader, &second, inner, depth + 1);
      reader->library->delete_event (&second);
    }
    reader->library->delete_event (&first);
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
      ok = read_node (reader, &event, "", 1);
    else if (done && event.type != YAML_STREAM_END_EVENT)
      ok = refuse (reader, &event,
          event.type == YAML_SEQUENCE_START_EVENT ? "is a list, and a calibration has keys" : "has no keys");
    reader->library->delete_event (&event);
  }
  return ok;
}

/* OpenCV's first line, "%YAML:1.0", is no YAML: it becomes a comment, whatever it says. */
static gboolean
read_yaml (GstStereoKeys *keys, const gchar *text, gchar **message)
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

/* ---- XML: <opencv_storage> of elements named as the keys; a matrix has elements rows, cols and data ---- */

typedef struct
{
  GstStereoKeys *keys;
  GPtrArray *open; /* keys of the elements that are open; the first is "", of opencv_storage */
} Elements;

static void
start_element (GMarkupParseContext *context, const gchar *name, const gchar **names, const gchar **values,
    gpointer data, GError **error)
{
  Elements *elements = data;
  guint depth = elements->open->len;

  if (depth == 0 && !g_str_equal (name, "opencv_storage")) {
    g_autofree gchar *shown = gst_stereo_keys_shorten (name);
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_UNKNOWN_ELEMENT,
        "OpenCV's files start with <opencv_storage>, this one with <%s>", shown);
  } else if (depth == DEPTH) {
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "elements are nested too deeply");
  } else if (depth == 0) {
    g_ptr_array_add (elements->open, g_strdup (""));
  } else {
    const gchar *outer = g_ptr_array_index (elements->open, depth - 1);
    /* <_> are the elements of a list */
    g_ptr_array_add (
        elements->open, g_str_equal (name, "_") ? g_strdup (outer) : begin_key (elements->keys, outer, name));
  }
}

static void
end_element (GMarkupParseContext *context, const gchar *name, gpointer data, GError **error)
{
  Elements *elements = data;

  g_ptr_array_remove_index (elements->open, elements->open->len - 1);
}

static void
take_text (GMarkupParseContext *context, const gchar *text, gsize length, gpointer data, GError **error)
{
  Elements *elements = data;

  if (elements->open->len > 1)
    append (elements->keys, g_ptr_array_index (elements->open, elements->open->len - 1), text, length);
}

static gboolean
read_xml (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  static const GMarkupParser parser = { start_element, end_element, take_text, NULL, NULL };
  g_autoptr (GPtrArray) open = g_ptr_array_new_with_free_func (g_free);
  Elements elements = { keys, open };
  g_autoptr (GMarkupParseContext) context = g_markup_parse_context_new (&parser, 0, &elements, NULL);
  g_autoptr (GError) error = NULL;

  if (g_markup_parse_context_parse (context, text, (gssize) strlen (text), &error) &&
      g_markup_parse_context_end_parse (context, &error))
    return TRUE;
  return gst_stereo_keys_fail (keys, message, "%s.", error->message);
}

gboolean
gst_stereo_keys_read (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  keys->many_commas = g_regex_match_simple ("[0-9],[0-9]|,[ \t]*,", text, 0, 0);
  text += strspn (text, " \t\r\n");
  if (*text == 0)
    return gst_stereo_keys_fail (keys, message, "it is empty: a calibration of OpenCV or ROS is needed.");
  return *text == '<' ? read_xml (keys, text, message) : read_yaml (keys, text, message);
}
