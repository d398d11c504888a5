/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/properties.h"

#include <string.h>

#include "gst/video/ranges.h"

/* What a GParamSpec knows of its row. */
typedef struct
{
  const GstStereoProperty *row;
  gssize settings; /* in an instance: the structure, or a pointer to it */
  gboolean behind_pointer;
} Place;

static guint8 *
settings_of (GObject *object, const Place *place)
{
  guint8 *at = (guint8 *) object + place->settings;

  return place->behind_pointer ? *(guint8 **) at : at;
}

static GQuark
place_key (void)
{
  return g_quark_from_static_string ("gst-stereo-property");
}

/* ---- specs ------------------------------------------------------------------------------- */

static void
unchecked_class_init (gpointer klass, gpointer data)
{
  (void) data;
  G_PARAM_SPEC_CLASS (klass)->value_validate = NULL;
}

/* The type that is derived from @parent and takes every value. It shows its range as @parent does. */
static GType
unchecked_type (GType parent)
{
  g_autofree gchar *name = g_strconcat ("GstStereoUnchecked", g_type_name (parent), NULL);
  GType type = g_type_from_name (name);
  GTypeQuery query;

  if (!type) {
    GTypeInfo info = { .class_init = unchecked_class_init };
    g_type_query (parent, &query);
    info.class_size = (guint16) query.class_size;
    info.instance_size = (guint16) query.instance_size;
    type = g_type_register_static (parent, name, &info, 0);
  }
  return type;
}

static gpointer
new_unchecked (GType parent, const GstStereoProperty *row)
{
  return g_param_spec_internal (
      unchecked_type (parent), row->name, row->name, row->blurb, row->flags | G_PARAM_STATIC_STRINGS);
}

static GType
enum_type (const GstStereoProperty *row)
{
  GType type = g_type_from_name (row->type);

  if (!type) {
    type = g_enum_register_static (row->type, row->choices);
    gst_type_mark_as_plugin_api (type, 0);
  }
  return type;
}

/* Numbers and choices: kinds that have values out of range. */
static GParamSpec *
new_ranged (const GstStereoProperty *row)
{
  switch (row->kind) {
    case GST_STEREO_INT: {
      GParamSpecInt *spec = new_unchecked (G_TYPE_PARAM_INT, row);
      spec->minimum = (gint) row->min;
      spec->maximum = (gint) row->max;
      spec->default_value = (gint) row->initial;
      return G_PARAM_SPEC (spec);
    }
    case GST_STEREO_INT64: {
      GParamSpecInt64 *spec = new_unchecked (G_TYPE_PARAM_INT64, row);
      spec->minimum = GST_STEREO_LEAST_INT64;
      spec->maximum = GST_STEREO_LARGEST_INT64;
      spec->default_value = (gint64) row->initial;
      return G_PARAM_SPEC (spec);
    }
    case GST_STEREO_UINT64: {
      GParamSpecUInt64 *spec = new_unchecked (G_TYPE_PARAM_UINT64, row);
      spec->maximum = gst_stereo_property_max (row);
      spec->default_value = row->initial < 18446744073709551616.0 ? (guint64) row->initial : G_MAXUINT64;
      return G_PARAM_SPEC (spec);
    }
    case GST_STEREO_DOUBLE: {
      GParamSpecDouble *spec = new_unchecked (G_TYPE_PARAM_DOUBLE, row);
      spec->minimum = row->min;
      spec->maximum = row->max;
      spec->default_value = row->initial;
      return G_PARAM_SPEC (spec);
    }
    default: {
      GParamSpecEnum *spec = new_unchecked (G_TYPE_PARAM_ENUM, row);
      spec->enum_class = g_type_class_ref (enum_type (row));
      spec->default_value = (gint) row->initial;
      G_PARAM_SPEC (spec)->value_type = enum_type (row);
      return G_PARAM_SPEC (spec);
    }
  }
}

static GParamSpec *
new_spec (const GstStereoProperty *row)
{
  static const GstStereoProperty fraction = { .name = "fraction",
    .blurb = "Fraction of the picture's width or height",
    .kind = GST_STEREO_DOUBLE,
    .flags = GST_STEREO_PLAYING,
    .max = 1 };
  const GParamFlags flags = row->flags | G_PARAM_STATIC_STRINGS;

  switch (row->kind) {
    case GST_STEREO_BOOLEAN:
      return g_param_spec_boolean (row->name, row->name, row->blurb, row->initial != 0, flags);
    case GST_STEREO_UINT:
      return g_param_spec_uint (row->name, row->name, row->blurb, 0, G_MAXUINT, (guint) row->initial, flags);
    case GST_STEREO_STRING:
      return g_param_spec_string (row->name, row->name, row->blurb, NULL, flags);
    case GST_STEREO_REGION:
      return gst_param_spec_array (row->name, row->name, row->blurb, new_ranged (&fraction), flags);
    case GST_STEREO_STRUCTURE:
      return g_param_spec_boxed (row->name, row->name, row->blurb, GST_TYPE_STRUCTURE, flags);
    default:
      return new_ranged (row);
  }
}

/* ---- values ------------------------------------------------------------------------------ */

static void
write_region (gdouble member[4], const GValue *value)
{
  guint count = gst_value_array_get_size (value);
  gdouble region[4] = { 0, 0, 1, 1 };

  for (guint i = 0; i < count; i++)
    region[i] = g_value_get_double (gst_value_array_get_value (value, i));
  memcpy (member, region, sizeof region);
}

static void
read_region (const gdouble member[4], GValue *value)
{
  GValue number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_DOUBLE);
  for (guint i = 0; i < 4; i++) {
    g_value_set_double (&number, member[i]);
    gst_value_array_append_value (value, &number);
  }
  g_value_unset (&number);
}

static void
write_member (const GstStereoProperty *row, gpointer member, const GValue *value)
{
  switch (row->kind) {
    case GST_STEREO_BOOLEAN:
      *(gboolean *) member = g_value_get_boolean (value);
      break;
    case GST_STEREO_INT:
      *(gint *) member = g_value_get_int (value);
      break;
    case GST_STEREO_UINT:
      *(guint *) member = g_value_get_uint (value);
      break;
    case GST_STEREO_INT64:
      *(gint64 *) member = g_value_get_int64 (value);
      break;
    case GST_STEREO_UINT64:
      *(guint64 *) member = g_value_get_uint64 (value);
      break;
    case GST_STEREO_DOUBLE:
      *(gdouble *) member = g_value_get_double (value);
      break;
    case GST_STEREO_ENUM:
      *(gint *) member = g_value_get_enum (value);
      break;
    case GST_STEREO_STRING:
      g_free (*(gchar **) member);
      *(gchar **) member = g_value_dup_string (value);
      break;
    case GST_STEREO_REGION:
      write_region (member, value);
      break;
    default:
      g_return_if_reached ();
  }
}

static void
read_member (const GstStereoProperty *row, gconstpointer member, GValue *value)
{
  switch (row->kind) {
    case GST_STEREO_BOOLEAN:
      g_value_set_boolean (value, *(const gboolean *) member);
      break;
    case GST_STEREO_INT:
      g_value_set_int (value, *(const gint *) member);
      break;
    case GST_STEREO_UINT:
      g_value_set_uint (value, *(const guint *) member);
      break;
    case GST_STEREO_INT64:
      g_value_set_int64 (value, *(const gint64 *) member);
      break;
    case GST_STEREO_UINT64:
      g_value_set_uint64 (value, *(const guint64 *) member);
      break;
    case GST_STEREO_DOUBLE:
      g_value_set_double (value, *(const gdouble *) member);
      break;
    case GST_STEREO_ENUM:
      g_value_set_enum (value, *(const gint *) member);
      break;
    case GST_STEREO_STRING:
      g_value_set_string (value, *(gchar *const *) member);
      break;
    case GST_STEREO_REGION:
      read_region (member, value);
      break;
    default:
      g_return_if_reached ();
  }
}

/* ---- the class --------------------------------------------------------------------------- */

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  const Place *place = g_param_spec_get_qdata (spec, place_key ());
  const GstStereoProperty *row = place->row;
  guint8 *settings = settings_of (object, place);
  gchar *problem = gst_stereo_property_problem (row, value);
  gboolean refused = problem != NULL;

  gst_stereo_note_problem (GST_ELEMENT (object), spec, problem);
  if (refused)
    return;
  if (row->set) {
    row->set (GST_ELEMENT (object), settings, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  write_member (row, settings + row->offset, value);
  GST_OBJECT_UNLOCK (object);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  const Place *place = g_param_spec_get_qdata (spec, place_key ());
  const GstStereoProperty *row = place->row;
  guint8 *settings = settings_of (object, place);

  if (row->get) {
    row->get (GST_ELEMENT (object), settings, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  read_member (row, settings + row->offset, value);
  GST_OBJECT_UNLOCK (object);
}

/* An id that is larger than those of all properties that the class has. */
static guint
next_id (GObjectClass *klass)
{
  guint count;

  g_free (g_object_class_list_properties (klass, &count));
  return count + 1;
}

static void
install (GObjectClass *klass, const GstStereoProperty *rows, gssize settings, gboolean behind_pointer)
{
  guint id = next_id (klass);

  klass->set_property = set_property;
  klass->get_property = get_property;
  for (const GstStereoProperty *row = rows; row->name; row++) {
    GParamSpec *spec = new_spec (row);
    Place *place = g_new (Place, 1);

    *place = (Place){ row, settings, behind_pointer };
    g_param_spec_set_qdata_full (spec, place_key (), place, g_free);
    g_object_class_install_property (klass, id++, spec);
  }
}

void
gst_stereo_properties_install (GObjectClass *klass, const GstStereoProperty *rows, gssize settings)
{
  install (klass, rows, settings, FALSE);
}

void
gst_stereo_properties_install_part (GObjectClass *klass, const GstStereoProperty *rows, gssize part)
{
  install (klass, rows, part, TRUE);
}

void
gst_stereo_properties_init (GObject *object)
{
  guint count;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &count);

  for (guint i = 0; i < count; i++) {
    const Place *place = g_param_spec_get_qdata (specs[i], place_key ());

    if (place && !place->row->get)
      write_member (
          place->row, settings_of (object, place) + place->row->offset, g_param_spec_get_default_value (specs[i]));
  }
  g_free (specs);
}

void
gst_stereo_properties_read (gpointer object, gconstpointer settings, gpointer copy, gsize size)
{
  GST_OBJECT_LOCK (object);
  memcpy (copy, settings, size);
  GST_OBJECT_UNLOCK (object);
}
