/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/ranges.h"

/* ---- what is wrong with a value --------------------------------------------------------------- */

guint64
gst_stereo_property_max (const GstStereoProperty *row)
{
  return row->max > 0 ? (guint64) row->max : G_MAXUINT64;
}

const gchar *
gst_stereo_choice_name (const GEnumValue *choices, gint value)
{
  for (; choices->value_nick; choices++)
    if (choices->value == value)
      return choices->value_nick;
  return NULL;
}

static gchar *
list_choices (const GEnumValue *choices)
{
  GString *text = g_string_new (choices->value_nick);

  while ((++choices)->value_nick)
    g_string_append_printf (text, "%s%s", choices[1].value_nick ? ", " : " or ", choices->value_nick);
  return g_string_free (text, FALSE);
}

/* Why the property does not take @value: a sentence, or NULL. */
static gchar *
problem_of_range (const GstStereoProperty *row, const GValue *value)
{
  switch (row->kind) {
    case GST_STEREO_INT: {
      const gint number = g_value_get_int (value), min = (gint) row->min, max = (gint) row->max;
      return number >= min && number <= max ?
          NULL :
          g_strdup_printf ("%s=%d is out of range: set it between %d and %d.", row->name, number, min, max);
    }
    case GST_STEREO_INT64: {
      const gint64 number = g_value_get_int64 (value);
      return number >= GST_STEREO_LEAST_INT64 && number <= GST_STEREO_LARGEST_INT64 ?
          NULL :
          g_strdup_printf ("%s=%" G_GINT64_FORMAT " is out of range: set it between %" G_GINT64_FORMAT
                           " and %" G_GINT64_FORMAT ".",
              row->name, number, GST_STEREO_LEAST_INT64, GST_STEREO_LARGEST_INT64);
    }
    case GST_STEREO_UINT64: {
      const guint64 number = g_value_get_uint64 (value), max = gst_stereo_property_max (row);
      return number <= max ?
          NULL :
          g_strdup_printf ("%s=%" G_GUINT64_FORMAT " is out of range: set it to %" G_GUINT64_FORMAT " or less.",
              row->name, number, max);
    }
    case GST_STEREO_DOUBLE: {
      const gdouble number = g_value_get_double (value);
      return number >= row->min && number <= row->max ? /* not-a-number is not */
          NULL :
          g_strdup_printf ("%s=%g is out of range: set it between %g and %g.", row->name, number, row->min, row->max);
    }
    default:
      return NULL;
  }
}

static gchar *
problem_of_choice (const GstStereoProperty *row, const GValue *value)
{
  const gint number = g_value_get_enum (value);
  gchar *choices, *problem;

  if (gst_stereo_choice_name (row->choices, number))
    return NULL;
  choices = list_choices (row->choices);
  problem = g_strdup_printf ("%s=%d is out of range: set it to %s.", row->name, number, choices);
  g_free (choices);
  return problem;
}

/* An empty array stands for the whole picture. */
static gchar *
problem_of_region (const GstStereoProperty *row, const GValue *value)
{
  const guint count = gst_value_array_get_size (value);
  gboolean fits = count == 0 || count == 4;

  for (guint i = 0; i < count; i++) {
    gdouble fraction = g_value_get_double (gst_value_array_get_value (value, i));
    fits = fits && fraction >= 0 && fraction <= 1;
  }
  if (fits)
    return NULL;
  gchar *given = gst_value_serialize (value);
  gchar *problem = g_strdup_printf (
      "%s=%s is no region: set it to x, y, width and height as fractions (0..1) of the picture, "
      "for example \"<0.25, 0.25, 0.5, 0.5>\".",
      row->name, given);
  g_free (given);
  return problem;
}

gchar *
gst_stereo_property_problem (const GstStereoProperty *row, const GValue *value)
{
  if (row->unchecked)
    return NULL;
  if (row->problem)
    return row->problem (value);
  switch (row->kind) {
    case GST_STEREO_ENUM:
      return problem_of_choice (row, value);
    case GST_STEREO_REGION:
      return problem_of_region (row, value);
    default:
      return problem_of_range (row, value);
  }
}

/* ---- values that are refused ------------------------------------------------------------- */

/* An element keeps the message about a value that was refused. */
static GQuark
refused_key (const GParamSpec *spec)
{
  g_autofree gchar *name = g_strconcat ("gst-stereo-refused-", spec->name, NULL);

  return g_quark_from_string (name);
}

static void
post (GstElement *element, const gchar *message)
{
  GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS, ("%s", message), (NULL));
}

void
gst_stereo_note_problem (GstElement *element, const GParamSpec *spec, gchar *problem)
{
  const GQuark key = refused_key (spec);

  GST_OBJECT_LOCK (element);
  /* a control source sets the same value for every frame */
  gboolean news = problem && GST_STATE (element) > GST_STATE_READY &&
      g_strcmp0 (g_object_get_qdata (G_OBJECT (element), key), problem) != 0;
  g_object_set_qdata_full (G_OBJECT (element), key, g_strdup (problem), g_free);
  GST_OBJECT_UNLOCK (element);
  if (news)
    post (element, problem);
  g_free (problem);
}

gboolean
gst_stereo_values_accepted (GstElement *element)
{
  guint count;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &count);
  gchar *message = NULL;

  GST_OBJECT_LOCK (element);
  for (guint i = 0; i < count && !message; i++)
    message = g_strdup (g_object_get_qdata (G_OBJECT (element), refused_key (specs[i])));
  GST_OBJECT_UNLOCK (element);
  g_free (specs);
  if (message)
    post (element, message);
  g_free (message);
  return message == NULL;
}
