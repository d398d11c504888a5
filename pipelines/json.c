/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json.h"

#include <math.h>

static void add_members (GString *text, const GstStructure *structure);

static void
add_string (GString *text, const gchar *string)
{
  g_string_append_c (text, '"');
  for (; *string; string++)
    if (*string == '"' || *string == '\\')
      g_string_append_printf (text, "\\%c", *string);
    else if ((guchar) *string < 0x20)
      g_string_append_printf (text, "\\u%04x", *string);
    else
      g_string_append_c (text, *string);
  g_string_append_c (text, '"');
}

/* As short as it can be, and the same number when it is read again. A locale may have a comma; JSON has a point. */
static void
add_double (GString *text, gdouble number)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (number)) {
    g_string_append (text, "null");
    return;
  }
  g_ascii_formatd (digits, sizeof digits, "%.15g", number);
  if (g_ascii_strtod (digits, NULL) != number)
    g_ascii_dtostr (digits, sizeof digits, number);
  g_string_append (text, digits);
}

static gboolean
is_list (const GValue *value)
{
  return GST_VALUE_HOLDS_ARRAY (value) || GST_VALUE_HOLDS_LIST (value);
}

static void add_value (GString *text, const GValue *value);

static void
add_list (GString *text, const GValue *list)
{
  gboolean array = GST_VALUE_HOLDS_ARRAY (list);
  guint count = array ? gst_value_array_get_size (list) : gst_value_list_get_size (list);

  g_string_append_c (text, '[');
  for (guint i = 0; i < count; i++) {
    if (i)
      g_string_append (text, ", ");
    add_value (text, array ? gst_value_array_get_value (list, i) : gst_value_list_get_value (list, i));
  }
  g_string_append_c (text, ']');
}

static void
add_value (GString *text, const GValue *value)
{
  GValue number = G_VALUE_INIT;
  gchar *written;

  if (is_list (value)) {
    add_list (text, value);
  } else if (GST_VALUE_HOLDS_STRUCTURE (value)) {
    g_string_append_c (text, '{');
    add_members (text, gst_value_get_structure (value));
    g_string_append_c (text, '}');
  } else if (G_VALUE_HOLDS_BOOLEAN (value)) {
    g_string_append (text, g_value_get_boolean (value) ? "true" : "false");
  } else if (G_VALUE_HOLDS_DOUBLE (value) || G_VALUE_HOLDS_FLOAT (value)) {
    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_transform (value, &number);
    add_double (text, g_value_get_double (&number));
  } else if (G_VALUE_HOLDS_INT (value) || G_VALUE_HOLDS_INT64 (value) || G_VALUE_HOLDS_UINT (value) ||
      G_VALUE_HOLDS_UINT64 (value)) {
    written = gst_value_serialize (value);
    g_string_append (text, written);
    g_free (written);
  } else if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value)) {
    add_string (text, g_value_get_string (value));
  } else {
    written = G_VALUE_HOLDS_STRING (value) ? NULL : gst_value_serialize (value);
    if (written)
      add_string (text, written);
    else
      g_string_append (text, "null");
    g_free (written);
  }
}

static void
add_members (GString *text, const GstStructure *structure)
{
  for (gint i = 0; i < gst_structure_n_fields (structure); i++) {
    const gchar *name = gst_structure_nth_field_name (structure, (guint) i);

    if (i)
      g_string_append (text, ", ");
    add_string (text, name);
    g_string_append (text, ": ");
    add_value (text, gst_structure_get_value (structure, name));
  }
}

gchar *
json_of_structure (const GstStructure *structure)
{
  GString *text = g_string_new ("{\"message\": ");

  add_string (text, gst_structure_get_name (structure));
  if (gst_structure_n_fields (structure))
    g_string_append (text, ", ");
  add_members (text, structure);
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}
