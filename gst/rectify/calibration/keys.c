/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/calibration/private.h"

#include <math.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define LISTED 16 /* keys of a message */
#define SHOWN 40  /* bytes of a text from the file in a message */

struct _GstStereoKeys
{
  gchar *name;        /* of the file, or files */
  GHashTable *values; /* key -> GstStereoValue */
};

static void
value_free (gpointer data)
{
  GstStereoValue *value = data;

  g_free (value->rows);
  g_free (value->cols);
  g_string_free (value->text, TRUE);
  g_free (value);
}

GstStereoKeys *
gst_stereo_keys_new (const gchar *name)
{
  GstStereoKeys *keys = g_new0 (GstStereoKeys, 1);

  keys->name = g_strdup (name);
  keys->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, value_free);
  return keys;
}

void
gst_stereo_keys_free (GstStereoKeys *keys)
{
  g_hash_table_unref (keys->values);
  g_free (keys->name);
  g_free (keys);
}

const gchar *
gst_stereo_keys_name (const GstStereoKeys *keys)
{
  return keys->name;
}

GstStereoValue *
gst_stereo_keys_add (GstStereoKeys *keys, const gchar *key)
{
  GstStereoValue *value = g_new0 (GstStereoValue, 1);

  value->text = g_string_new (NULL);
  g_hash_table_replace (keys->values, g_strdup (key), value);
  return value;
}

GstStereoValue *
gst_stereo_keys_value (GstStereoKeys *keys, const gchar *key)
{
  GstStereoValue *value = g_hash_table_lookup (keys->values, key);

  return value ? value : gst_stereo_keys_add (keys, key);
}

void
gst_stereo_value_append (GstStereoValue *value, const gchar *text, gssize length)
{
  if (value->text->len > 0)
    g_string_append_c (value->text, ' ');
  g_string_append_len (value->text, text, length);
}

void
gst_stereo_keys_merge (GstStereoKeys *keys, GstStereoKeys *from)
{
  GHashTableIter iter;
  gpointer key, value;
  gchar *name = g_strdup_printf ("%s and %s", keys->name, from->name);

  g_free (keys->name);
  keys->name = name;
  g_hash_table_iter_init (&iter, from->values);
  while (g_hash_table_iter_next (&iter, &key, &value)) {
    g_hash_table_iter_steal (&iter);
    if (g_hash_table_contains (keys->values, key)) {
      g_free (key);
      value_free (value);
    } else {
      g_hash_table_insert (keys->values, key, value);
    }
  }
}

gboolean
gst_stereo_keys_has (GstStereoKeys *keys, const gchar *key)
{
  return g_hash_table_contains (keys->values, key);
}

const gchar *
gst_stereo_keys_text (GstStereoKeys *keys, const gchar *key)
{
  GstStereoValue *value = g_hash_table_lookup (keys->values, key);

  return value ? value->text->str : NULL;
}

gchar *
gst_stereo_keys_shorten (const gchar *text)
{
  gsize length = strcspn (text, "\r\n");
  gchar *part = g_strndup (text, MIN (length, SHOWN)), *valid = g_utf8_make_valid (part, -1);

  g_free (part);
  return valid;
}

gchar *
gst_stereo_keys_list (GstStereoKeys *keys)
{
  GList *names = g_list_sort (g_hash_table_get_keys (keys->values), (GCompareFunc) g_strcmp0);
  guint count = g_list_length (names), k = 0;
  GString *list = g_string_new (count ? NULL : "no keys at all");

  for (GList *l = names; l && k < LISTED; l = l->next, k++) {
    g_autofree gchar *name = gst_stereo_keys_shorten (l->data);
    g_string_append_printf (list, "%s%s", k ? ", " : "", name);
  }
  if (count > k)
    g_string_append_printf (list, " and %u more", count - k);
  g_list_free (names);
  return g_string_free (list, FALSE);
}

/* OpenCV and YAML write .Nan, .Inf and -.Inf. */
static gboolean
is_infinite_word (const gchar *word)
{
  return g_ascii_strcasecmp (word, ".nan") == 0 ||
      g_ascii_strcasecmp (word + (*word == '-' || *word == '+'), ".inf") == 0;
}

gint
gst_stereo_keys_numbers (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message)
{
  const gchar *at = gst_stereo_keys_text (keys, key);
  gint count = 0;

  for (at += strspn (at, BLANKS); *at; at += strspn (at, BLANKS)) {
    gsize length = strcspn (at, BLANKS);
    gchar *word = g_strndup (at, length), *end, *shown;
    gdouble number = g_ascii_strtod (word, &end);
    gboolean infinite = is_infinite_word (word) || (*end == 0 && !isfinite (number));
    if (infinite || *end != 0) {
      shown = gst_stereo_keys_shorten (word);
      gst_stereo_keys_fail (keys, message,
          infinite ? "value %d of %s is %s, which is not finite: calibrate again." :
                     "value %d of %s is '%s', which is not a number.",
          count + 1, key, shown);
      g_free (shown);
      g_free (word);
      return -1;
    }
    g_free (word);
    if (count < most)
      numbers[count] = number;
    count++;
    at += length;
  }
  return count;
}

/* Whether rows and cols in the file, if it has them, are @rows x @cols. */
static gboolean
shape_fits (const GstStereoValue *value, gint rows, gint cols)
{
  guint64 r, c;

  if (!value->rows && !value->cols)
    return TRUE;
  return value->rows && value->cols && g_ascii_string_to_unsigned (value->rows, 10, 0, G_MAXINT, &r, NULL) &&
      g_ascii_string_to_unsigned (value->cols, 10, 0, G_MAXINT, &c, NULL) &&
      ((r == (guint) rows && c == (guint) cols) || (MIN (rows, cols) == 1 && r == (guint) cols && c == (guint) rows));
}

gint
gst_stereo_keys_vector (GstStereoKeys *keys, const gchar *key, gdouble *numbers, gint most, gchar **message)
{
  gint count = gst_stereo_keys_numbers (keys, key, numbers, most, message);

  if (count > 0 && !shape_fits (g_hash_table_lookup (keys->values, key), 1, count)) {
    gst_stereo_keys_fail (keys, message, "%s has %d values, but its rows and cols say otherwise.", key, count);
    return -1;
  }
  return count;
}

gboolean
gst_stereo_keys_matrix (GstStereoKeys *keys, const gchar *key, gint rows, gint cols, gdouble *numbers, gchar **message)
{
  const GstStereoValue *value = g_hash_table_lookup (keys->values, key);

  if (!value)
    return gst_stereo_keys_fail (keys, message, "%s is missing.", key);
  if (!shape_fits (value, rows, cols)) {
    g_autofree gchar *r = gst_stereo_keys_shorten (value->rows ? value->rows : "?"),
                     *c = gst_stereo_keys_shorten (value->cols ? value->cols : "?");
    gst_stereo_keys_fail (keys, message, "%s is a matrix of %s x %s, but must be %d x %d.", key, r, c, rows, cols);
    return FALSE;
  }
  gint count = gst_stereo_keys_numbers (keys, key, numbers, rows * cols, message);
  if (count < 0)
    return FALSE;
  if (count != rows * cols)
    return gst_stereo_keys_fail (
        keys, message, "%s has %d values, but needs %d (%d x %d).", key, count, rows * cols, rows, cols);
  return TRUE;
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
