/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/properties.h"

#define FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

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
  const gchar *name = info->name, *text = info->text;

  switch (info->type) {
    case STEREO_PARAM_ENUM:
      return g_param_spec_enum (name, name, text, enum_type (info), (gint) info->initial, FLAGS);
    case STEREO_PARAM_DOUBLE:
      return g_param_spec_double (name, name, text, info->min, info->max, info->initial, FLAGS);
    case STEREO_PARAM_SIZE:
      return g_param_spec_uint64 (name, name, text, (guint64) info->min,
          info->max < 18446744073709551616.0 ? (guint64) info->max : G_MAXUINT64, (guint64) info->initial, FLAGS);
    default:
      return g_param_spec_int (name, name, text, (gint) info->min, (gint) info->max, (gint) info->initial, FLAGS);
  }
}

guint
gst_stereo_props_install (GObjectClass *klass, guint first)
{
  const StereoParamInfo *info;

  for (gint row = 0; (info = stereo_param_info (row)); row++)
    g_object_class_install_property (klass, first++, gst_stereo_props_spec (info));
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
