/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/properties.h"

#include <string.h>

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

static GParamSpec *
new_spec (const GstStereoProperty *row)
{
  const GParamFlags flags = row->flags | G_PARAM_STATIC_STRINGS;
  const gchar *name = row->name, *blurb = row->blurb;

  switch (row->kind) {
    case GST_STEREO_BOOLEAN:
      return g_param_spec_boolean (name, name, blurb, row->initial != 0, flags);
    case GST_STEREO_INT:
      return g_param_spec_int (name, name, blurb, (gint) row->min, (gint) row->max, (gint) row->initial, flags);
    case GST_STEREO_UINT:
      return g_param_spec_uint (name, name, blurb, 0, G_MAXUINT, (guint) row->initial, flags);
    case GST_STEREO_INT64:
      return g_param_spec_int64 (name, name, blurb, G_MININT64 / 4, G_MAXINT64 / 4, (gint64) row->initial, flags);
    case GST_STEREO_UINT64:
      return g_param_spec_uint64 (name, name, blurb, 0, row->max > 0 ? (guint64) row->max : G_MAXUINT64,
          row->initial < 18446744073709551616.0 ? (guint64) row->initial : G_MAXUINT64, flags);
    case GST_STEREO_DOUBLE:
      return g_param_spec_double (name, name, blurb, row->min, row->max, row->initial, flags);
    case GST_STEREO_ENUM:
      return g_param_spec_enum (name, name, blurb, enum_type (row), (gint) row->initial, flags);
    case GST_STEREO_STRING:
      return g_param_spec_string (name, name, blurb, NULL, flags);
    case GST_STEREO_REGION:
      return gst_param_spec_array (name, name, blurb,
          g_param_spec_double (
              "fraction", "fraction", "Fraction of the picture's width or height", 0, 1, 0, GST_STEREO_PLAYING),
          flags);
    default:
      return g_param_spec_boxed (name, name, blurb, GST_TYPE_STRUCTURE, flags);
  }
}

/* ---- values ------------------------------------------------------------------------------ */

/* Kinds whose members are plain: kind, type, name of the type's functions. */
#define PLAIN_KINDS(DO) \
  DO (BOOLEAN, gboolean, boolean) \
  DO (INT, gint, int) \
  DO (UINT, guint, uint) \
  DO (INT64, gint64, int64) \
  DO (UINT64, guint64, uint64) \
  DO (DOUBLE, gdouble, double) \
  DO (ENUM, gint, enum)

/* An empty array stands for the whole picture. */
static void
write_region (gdouble member[4], const GValue *value)
{
  const gdouble whole[4] = { 0, 0, 1, 1 };

  memcpy (member, whole, sizeof whole);
  for (guint i = 0; i < gst_value_array_get_size (value); i++)
    member[i] = g_value_get_double (gst_value_array_get_value (value, i));
}

static void
write_member (const GstStereoProperty *row, gpointer member, const GValue *value)
{
  switch (row->kind) {
#define WRITE(kind, type, name) \
  case GST_STEREO_##kind: \
    *(type *) member = g_value_get_##name (value); \
    break;
    PLAIN_KINDS (WRITE)
    case GST_STEREO_STRING:
      g_free (*(gchar **) member);
      *(gchar **) member = g_value_dup_string (value);
      break;
    default:
      write_region (member, value);
  }
}

static void
read_member (const GstStereoProperty *row, gconstpointer member, GValue *value)
{
  GValue number = G_VALUE_INIT;

  switch (row->kind) {
#define READ(kind, type, name) \
  case GST_STEREO_##kind: \
    g_value_set_##name (value, *(const type *) member); \
    break;
    PLAIN_KINDS (READ)
    case GST_STEREO_STRING:
      g_value_set_string (value, *(gchar *const *) member);
      break;
    default:
      g_value_init (&number, G_TYPE_DOUBLE);
      for (guint i = 0; i < 4; i++) {
        g_value_set_double (&number, ((const gdouble *) member)[i]);
        gst_value_array_append_value (value, &number);
      }
  }
}

/* ---- the class --------------------------------------------------------------------------- */

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  const Place *place = g_param_spec_get_qdata (spec, place_key ());
  const GstStereoProperty *row = place->row;
  guint8 *settings = settings_of (object, place);
  guint count = row->kind == GST_STEREO_REGION ? gst_value_array_get_size (value) : 0;

  /* GObject checks each number, and not how many there are */
  if (count != 0 && count != 4) {
    g_warning ("%s takes x, y, width and height as fractions (0..1) of the picture, for example "
               "\"<0.25, 0.25, 0.5, 0.5>\": a value of %u numbers is refused",
        row->name, count);
    return;
  }
  if (row->set) {
    row->set (GST_ELEMENT (object), settings, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  write_member (row, settings + row->offset, value);
  if (row->note)
    row->note (row, settings + row->offset);
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

void
gst_stereo_properties_install (
    GObjectClass *klass, const GstStereoProperty *rows, gssize settings, gboolean behind_pointer)
{
  guint count;

  /* larger ids than those of the properties that the class has */
  g_free (g_object_class_list_properties (klass, &count));
  klass->set_property = set_property;
  klass->get_property = get_property;
  for (const GstStereoProperty *row = rows; row->name; row++) {
    GParamSpec *spec = new_spec (row);
    Place *place = g_new (Place, 1);

    *place = (Place){ row, settings, behind_pointer };
    g_param_spec_set_qdata_full (spec, place_key (), place, g_free);
    g_object_class_install_property (klass, ++count, spec);
  }
}

void
gst_stereo_properties_init (GObject *object)
{
  guint count;
  g_autofree GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &count);

  for (guint i = 0; i < count; i++) {
    const Place *place = g_param_spec_get_qdata (specs[i], place_key ());

    if (place && !place->row->get)
      write_member (
          place->row, settings_of (object, place) + place->row->offset, g_param_spec_get_default_value (specs[i]));
  }
}

void
gst_stereo_properties_read (gpointer object, gconstpointer settings, gpointer copy, gsize size)
{
  GST_OBJECT_LOCK (object);
  memcpy (copy, settings, size);
  GST_OBJECT_UNLOCK (object);
}
