/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/properties.h"

#include "gst/video/ranges.h"

#define FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

/* Properties take values outside their range, too: the engine refuses them when a plan is made, and the element posts that
 * error. */
static gpointer
new_spec (GType parent, const StereoParamInfo *info)
{
  return g_param_spec_internal (gst_stereo_unchecked_type (parent), info->name, info->name, info->text, FLAGS);
}

/* "refine-mode" -> "GstStereoMatchRefineMode" */
static gchar *
type_name (const gchar *name)
{
  GString *type = g_string_new ("GstStereoMatch");
  gboolean start = TRUE;

  for (; *name; name++) {
    if (*name != '-')
      g_string_append_c (type, start ? g_ascii_toupper (*name) : *name);
    start = *name == '-';
  }
  return g_string_free (type, FALSE);
}

/* The values live as long as the type: for ever. */
static GType
enum_type (const StereoParamInfo *info)
{
  gchar *name = type_name (info->name);
  GType type = g_type_from_name (name);
  GEnumValue *values;
  guint count = 0;

  if (!type) {
    while (info->choices[count].name)
      count++;
    values = g_new0 (GEnumValue, count + 1);
    for (guint i = 0; i < count; i++)
      values[i] = (GEnumValue){ info->choices[i].value, info->choices[i].text, info->choices[i].name };
    type = g_enum_register_static (name, values);
    gst_type_mark_as_plugin_api (type, 0);
  }
  g_free (name);
  return type;
}

GParamSpec *
gst_stereo_props_spec (const StereoParamInfo *info)
{
  switch (info->type) {
    case STEREO_PARAM_ENUM: {
      GParamSpecEnum *spec = new_spec (G_TYPE_PARAM_ENUM, info);
      spec->enum_class = g_type_class_ref (enum_type (info));
      spec->default_value = (gint) info->initial;
      G_PARAM_SPEC (spec)->value_type = enum_type (info);
      return G_PARAM_SPEC (spec);
    }
    case STEREO_PARAM_DOUBLE: {
      GParamSpecDouble *spec = new_spec (G_TYPE_PARAM_DOUBLE, info);
      spec->minimum = info->min;
      spec->maximum = info->max;
      spec->default_value = info->initial;
      return G_PARAM_SPEC (spec);
    }
    case STEREO_PARAM_SIZE: {
      GParamSpecUInt64 *spec = new_spec (G_TYPE_PARAM_UINT64, info);
      spec->minimum = (guint64) info->min;
      spec->maximum = info->max < 18446744073709551616.0 ? (guint64) info->max : G_MAXUINT64;
      spec->default_value = (guint64) info->initial;
      return G_PARAM_SPEC (spec);
    }
    default: {
      GParamSpecInt *spec = new_spec (G_TYPE_PARAM_INT, info);
      spec->minimum = (gint) info->min;
      spec->maximum = (gint) info->max;
      spec->default_value = (gint) info->initial;
      return G_PARAM_SPEC (spec);
    }
  }
}

guint
gst_stereo_props_install (GObjectClass *klass, guint first)
{
  const StereoParamInfo *info;

  for (gint row = 0; (info = stereo_param_info (row)); row++) {
    GParamSpec *spec = gst_stereo_props_spec (info);
    spec->flags |= GST_PARAM_CONTROLLABLE;
    g_object_class_install_property (klass, first++, spec);
  }
  return first;
}

static void
set_param (StereoParams *params, const StereoParamInfo *info, const GValue *value)
{
  switch (info->type) {
    case STEREO_PARAM_ENUM:
      stereo_param_set (params, info, g_value_get_enum (value));
      break;
    case STEREO_PARAM_DOUBLE:
      stereo_param_set (params, info, g_value_get_double (value));
      break;
    case STEREO_PARAM_SIZE:
      stereo_param_set (params, info, (gdouble) g_value_get_uint64 (value));
      break;
    default:
      stereo_param_set (params, info, g_value_get_int (value));
  }
}

void
gst_stereo_props_set (StereoParams *params, guint row, const GValue *value)
{
  set_param (params, stereo_param_info ((gint) row), value);
}

gboolean
gst_stereo_props_set_named (StereoParams *params, const gchar *name, const GValue *value)
{
  const StereoParamInfo *info = stereo_param_find (name);

  if (info)
    set_param (params, info, value);
  return info != NULL;
}

static void
get_param (const StereoParams *params, const StereoParamInfo *info, GValue *value)
{
  gdouble number = stereo_param_get (params, info);

  switch (info->type) {
    case STEREO_PARAM_ENUM:
      g_value_set_enum (value, (gint) number);
      break;
    case STEREO_PARAM_DOUBLE:
      g_value_set_double (value, number);
      break;
    case STEREO_PARAM_SIZE:
      g_value_set_uint64 (value, (guint64) number);
      break;
    default:
      g_value_set_int (value, (gint) number);
  }
}

void
gst_stereo_props_get (const StereoParams *params, guint row, GValue *value)
{
  get_param (params, stereo_param_info ((gint) row), value);
}

gboolean
gst_stereo_props_get_named (const StereoParams *params, const gchar *name, GValue *value)
{
  const StereoParamInfo *info = stereo_param_find (name);

  if (info)
    get_param (params, info, value);
  return info != NULL;
}

GstStructure *
gst_stereo_props_settings (const StereoParams *params)
{
  GstStructure *settings = gst_structure_new_empty ("stereomatch-settings");
  const StereoParamInfo *info;
  gchar text[64];

  for (gint row = 0; (info = stereo_param_info (row)); row++) {
    GValue value = G_VALUE_INIT;

    switch (info->type) {
      case STEREO_PARAM_ENUM:
        g_value_init (&value, G_TYPE_STRING);
        g_value_set_string (&value, stereo_param_format (params, info, text, sizeof text));
        break;
      case STEREO_PARAM_DOUBLE:
        g_value_init (&value, G_TYPE_DOUBLE);
        gst_stereo_props_get (params, (guint) row, &value);
        break;
      case STEREO_PARAM_SIZE:
        g_value_init (&value, G_TYPE_UINT64);
        gst_stereo_props_get (params, (guint) row, &value);
        break;
      default:
        g_value_init (&value, G_TYPE_INT);
        gst_stereo_props_get (params, (guint) row, &value);
    }
    gst_structure_take_value (settings, info->name, &value);
  }
  return settings;
}
