/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/points/properties.h"

#include "gst/video/ranges.h"

#define FARTHEST 1e6 /* mm */
#define FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_0,
  PROP_FORMAT,
  PROP_STEP,
  PROP_NEAR,
  PROP_FAR,
  PROP_MIN_CONFIDENCE,
  PROP_ORGANIZED
};

static GType
format_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_STEREO_POINTS_PLY, "PLY, binary, little endian", "ply" },
    { GST_STEREO_POINTS_PCD, "PCD of the Point Cloud Library, version 0.7, binary", "pcd" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstStereoPointsFormat", values));
  return once;
}

GstStereoPointsSettings
gst_stereo_points_settings_initial (void)
{
  return (GstStereoPointsSettings){ .format = GST_STEREO_POINTS_PLY, .step = 1, .min_confidence = 0.01 };
}

static GParamSpec *
distance (const gchar *name, const gchar *blurb)
{
  return gst_stereo_unchecked_spec (g_param_spec_double (name, name, blurb, 0, FARTHEST, 0, FLAGS));
}

void
gst_stereo_points_properties_install (GObjectClass *klass)
{
  g_object_class_install_property (klass, PROP_FORMAT,
      gst_stereo_unchecked_spec (g_param_spec_enum ("format", "format",
          "Format of the files, one a buffer; the caps of the output depend on it", format_get_type (),
          GST_STEREO_POINTS_PLY, FLAGS)));
  g_object_class_install_property (klass, PROP_STEP,
      gst_stereo_unchecked_spec (g_param_spec_int (
          "step", "step", "Take every step-th column of every step-th row, in pixels; 1 = all", 1, 1024, 1, FLAGS)));
  g_object_class_install_property (
      klass, PROP_NEAR, distance ("near", "Least distance (Z) of a point in millimetres; must be below far"));
  g_object_class_install_property (
      klass, PROP_FAR, distance ("far", "Largest distance (Z) of a point in millimetres; 0 = no limit"));
  g_object_class_install_property (klass, PROP_MIN_CONFIDENCE,
      gst_stereo_unchecked_spec (g_param_spec_double ("min-confidence", "min-confidence",
          "Pixels with a lower confidence (0..1) have no point; 0 = use every valid pixel", 0, 1, 0.01, FLAGS)));
  g_object_class_install_property (klass, PROP_ORGANIZED,
      g_param_spec_boolean ("organized", "organized",
          "Keep rows and columns: a pixel without a point is three times not-a-number. FALSE = leave it out", FALSE,
          FLAGS));
  gst_type_mark_as_plugin_api (format_get_type (), 0);
}

void
gst_stereo_points_settings_set (GstStereoPointsSettings *settings, guint id, const GValue *value)
{
  switch (id) {
    case PROP_FORMAT:
      settings->format = g_value_get_enum (value);
      break;
    case PROP_STEP:
      settings->step = g_value_get_int (value);
      break;
    case PROP_NEAR:
      settings->near = g_value_get_double (value);
      break;
    case PROP_FAR:
      settings->far = g_value_get_double (value);
      break;
    case PROP_MIN_CONFIDENCE:
      settings->min_confidence = g_value_get_double (value);
      break;
    default:
      settings->organized = g_value_get_boolean (value);
  }
}

void
gst_stereo_points_settings_get (const GstStereoPointsSettings *settings, guint id, GValue *value)
{
  switch (id) {
    case PROP_FORMAT:
      g_value_set_enum (value, settings->format);
      break;
    case PROP_STEP:
      g_value_set_int (value, settings->step);
      break;
    case PROP_NEAR:
      g_value_set_double (value, settings->near);
      break;
    case PROP_FAR:
      g_value_set_double (value, settings->far);
      break;
    case PROP_MIN_CONFIDENCE:
      g_value_set_double (value, settings->min_confidence);
      break;
    default:
      g_value_set_boolean (value, settings->organized);
  }
}
