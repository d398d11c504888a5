/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XML of OpenCV: <opencv_storage> of elements named as the keys; a matrix has elements rows, cols and data. */
#include "gst/rectify/calibration/private.h"

#include <string.h>

typedef struct
{
  GstStereoKeys *keys;
  guint depth;           /* elements open: 1 is opencv_storage, 2 a key's */
  GstStereoValue *value; /* of the key */
  gchar **field;         /* rows or cols of it, while that is open */
  gboolean skip;         /* in another part of a matrix */
} Reader;

static void
start_element (GMarkupParseContext *context, const gchar *name, const gchar **names, const gchar **values,
    gpointer data, GError **error)
{
  Reader *reader = data;

  if (reader->depth == 0 && !g_str_equal (name, "opencv_storage")) {
    g_autofree gchar *shown = gst_stereo_keys_shorten (name);
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_UNKNOWN_ELEMENT,
        "OpenCV's files start with <opencv_storage>, this one with <%s>", shown);
    return;
  }
  if (reader->depth == GST_STEREO_KEYS_DEPTH) {
    g_set_error (error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "elements are nested too deeply");
    return;
  }
  reader->depth++;
  if (reader->depth == 2) {
    reader->value = gst_stereo_keys_add (reader->keys, name);
  } else if (reader->depth == 3) {
    reader->field = g_str_equal (name, "rows") ? &reader->value->rows :
        g_str_equal (name, "cols")             ? &reader->value->cols :
                                                 NULL;
    /* <_> are the elements of a list */
    reader->skip = !reader->field && !g_str_equal (name, "data") && !g_str_equal (name, "_");
    if (reader->field)
      g_clear_pointer (reader->field, g_free);
  }
}

static void
end_element (GMarkupParseContext *context, const gchar *name, gpointer data, GError **error)
{
  Reader *reader = data;

  if (reader->depth == 3) {
    reader->field = NULL;
    reader->skip = FALSE;
  }
  reader->depth--;
}

static void
take_text (GMarkupParseContext *context, const gchar *text, gsize length, gpointer data, GError **error)
{
  Reader *reader = data;

  if (reader->depth < 2 || reader->skip)
    return;
  if (reader->field) {
    gchar *part = g_strstrip (g_strndup (text, length));
    g_free (*reader->field);
    *reader->field = part;
  } else {
    gst_stereo_value_append (reader->value, text, (gssize) length);
  }
}

gboolean
gst_stereo_keys_read_xml (GstStereoKeys *keys, const gchar *text, gchar **message)
{
  static const GMarkupParser parser = { start_element, end_element, take_text, NULL, NULL };
  Reader reader = { .keys = keys };
  GMarkupParseContext *context = g_markup_parse_context_new (&parser, 0, &reader, NULL);
  GError *error = NULL;
  gboolean ok = g_markup_parse_context_parse (context, text, (gssize) strlen (text), &error) &&
      g_markup_parse_context_end_parse (context, &error);

  if (!ok)
    gst_stereo_keys_fail (keys, message, "%s.", error->message);
  g_clear_error (&error);
  g_markup_parse_context_free (context);
  return ok;
}
