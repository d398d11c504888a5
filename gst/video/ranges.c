/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/ranges.h"

/* ---- properties that take every value ------------------------------------------------------ */

static void
unchecked_class_init (gpointer klass, gpointer data)
{
  (void) data;
  G_PARAM_SPEC_CLASS (klass)->value_validate = NULL;
}

GType
gst_stereo_unchecked_type (GType parent)
{
  gchar *name = g_strconcat ("GstStereoUnchecked", g_type_name (parent), NULL);
  GType type = g_type_from_name (name);
  GTypeQuery query;

  if (!type) {
    GTypeInfo info = { .class_init = unchecked_class_init };
    g_type_query (parent, &query);
    info.class_size = (guint16) query.class_size;
    info.instance_size = (guint16) query.instance_size;
    type = g_type_register_static (parent, name, &info, 0);
  }
  g_free (name);
  return type;
}

#define COPY_RANGE(Type) \
  do { \
    ((Type *) to)->minimum = ((const Type *) from)->minimum; \
    ((Type *) to)->maximum = ((const Type *) from)->maximum; \
    ((Type *) to)->default_value = ((const Type *) from)->default_value; \
  } while (0)

static void
copy_range (gpointer to, const GParamSpec *from)
{
  const GType type = G_PARAM_SPEC_TYPE (from);

  if (type == G_TYPE_PARAM_DOUBLE) {
    COPY_RANGE (GParamSpecDouble);
  } else if (type == G_TYPE_PARAM_INT) {
    COPY_RANGE (GParamSpecInt);
  } else if (type == G_TYPE_PARAM_INT64) {
    COPY_RANGE (GParamSpecInt64);
  } else {
    GParamSpecEnum *spec = to;
    g_assert (type == G_TYPE_PARAM_ENUM);
    spec->enum_class = g_type_class_ref (from->value_type);
    spec->default_value = ((const GParamSpecEnum *) from)->default_value;
    G_PARAM_SPEC (spec)->value_type = from->value_type;
  }
}

GParamSpec *
gst_stereo_unchecked_spec (GParamSpec *spec)
{
  GParamSpec *unchecked = g_param_spec_internal (gst_stereo_unchecked_type (G_PARAM_SPEC_TYPE (spec)), spec->name,
      g_param_spec_get_nick (spec), g_param_spec_get_blurb (spec), spec->flags & ~G_PARAM_STATIC_STRINGS);

  copy_range (unchecked, spec);
  g_param_spec_sink (spec);
  return unchecked;
}

/* ---- values that were refused --------------------------------------------------------------- */

/* What an element keeps of a refused value: the message. */
static GQuark
refused_key (const GParamSpec *spec)
{
  gchar *name = g_strconcat ("gst-stereo-refused-", spec->name, NULL);
  GQuark key = g_quark_from_string (name);

  g_free (name);
  return key;
}

/* Asks the type that would have checked. */
static gboolean
is_in_range (GParamSpec *spec, const GValue *value)
{
  GParamSpecClass *checked = g_type_class_peek (g_type_parent (G_PARAM_SPEC_TYPE (spec)));
  GValue copy = G_VALUE_INIT;
  gboolean changed;

  if (G_PARAM_SPEC_GET_CLASS (spec)->value_validate || !checked->value_validate)
    return TRUE;
  g_value_init (&copy, G_VALUE_TYPE (value));
  g_value_copy (value, &copy);
  changed = checked->value_validate (spec, &copy);
  g_value_unset (&copy);
  return !changed;
}

static gchar *
describe_range (GParamSpec *spec)
{
  if (G_IS_PARAM_SPEC_DOUBLE (spec))
    return g_strdup_printf (
        "between %g and %g", G_PARAM_SPEC_DOUBLE (spec)->minimum, G_PARAM_SPEC_DOUBLE (spec)->maximum);
  if (G_IS_PARAM_SPEC_INT (spec))
    return g_strdup_printf ("between %d and %d", G_PARAM_SPEC_INT (spec)->minimum, G_PARAM_SPEC_INT (spec)->maximum);
  if (G_IS_PARAM_SPEC_INT64 (spec))
    return g_strdup_printf ("between %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, G_PARAM_SPEC_INT64 (spec)->minimum,
        G_PARAM_SPEC_INT64 (spec)->maximum);
  if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    GString *text = g_string_new ("to ");
    for (guint i = 0; i < klass->n_values; i++)
      g_string_append_printf (text, "%s%s",
          i == 0                      ? "" :
              i + 1 < klass->n_values ? ", " :
                                        " or ",
          klass->values[i].value_nick);
    return g_string_free (text, FALSE);
  }
  return g_strdup ("as gst-inspect-1.0 says");
}

static gchar *
describe_value (const GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE (value))
    return g_strdup_printf ("%g", g_value_get_double (value));
  if (G_VALUE_HOLDS_ENUM (value))
    return g_strdup_printf ("%d", g_value_get_enum (value));
  return g_strdup_value_contents (value);
}

static void
post (GstElement *element, const gchar *message)
{
  GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS, ("%s", message), (NULL));
}

void
gst_stereo_refuse_value (GstElement *element, GParamSpec *spec, gchar *message)
{
  const GQuark key = refused_key (spec);
  gboolean news;

  GST_OBJECT_LOCK (element);
  /* a control source sets the same value for every frame */
  news = message && GST_STATE (element) > GST_STATE_READY &&
      g_strcmp0 (g_object_get_qdata (G_OBJECT (element), key), message) != 0;
  g_object_set_qdata_full (G_OBJECT (element), key, g_strdup (message), g_free);
  GST_OBJECT_UNLOCK (element);
  if (news)
    post (element, message);
  g_free (message);
}

gboolean
gst_stereo_value_in_range (GstElement *element, GParamSpec *spec, const GValue *value)
{
  gchar *message = NULL;

  if (!is_in_range (spec, value)) {
    gchar *range = describe_range (spec), *number = describe_value (value);
    message = g_strdup_printf ("%s=%s is out of range: set it %s.", spec->name, number, range);
    g_free (number);
    g_free (range);
  }
  gst_stereo_refuse_value (element, spec, g_strdup (message));
  g_free (message);
  return message == NULL;
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
