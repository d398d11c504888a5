/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/properties.h"

#include <string.h>

#include "gst/video/ranges.h"

#define FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
/* Set for the time of the frame that is about to be drawn. */
#define CONTROLLED (FLAGS | GST_PARAM_CONTROLLABLE)

static GParamSpec *
make_spec (const GstDepthOverlayProperty *row, gconstpointer defaults)
{
  gconstpointer initial = (const guint8 *) defaults + row->offset;

  switch (row->kind) {
    case GST_DEPTH_OVERLAY_NUMBER:
      return gst_stereo_unchecked_spec (
          g_param_spec_double (row->name, row->name, row->blurb, 0, row->most, *(const gdouble *) initial, CONTROLLED));
    case GST_DEPTH_OVERLAY_TIME:
      return g_param_spec_uint64 (row->name, row->name, row->blurb, 0, G_MAXUINT64, *(const guint64 *) initial, FLAGS);
    case GST_DEPTH_OVERLAY_SWITCH:
      return g_param_spec_boolean (row->name, row->name, row->blurb, *(const gboolean *) initial, CONTROLLED);
    case GST_DEPTH_OVERLAY_CHOICE:
      return gst_stereo_unchecked_spec (
          g_param_spec_enum (row->name, row->name, row->blurb, row->choices (), *(const gint *) initial, CONTROLLED));
    default:
      return gst_param_spec_array (row->name, row->name, row->blurb,
          gst_stereo_unchecked_spec (
              g_param_spec_double ("fraction", "fraction", "Fraction of the picture's width or height", 0, 1, 0, FLAGS)),
          FLAGS);
  }
}

void
gst_depth_overlay_properties_install (
    GObjectClass *klass, const GstDepthOverlayProperty *rows, guint count, gconstpointer defaults)
{
  for (guint i = 0; i < count; i++)
    g_object_class_install_property (klass, i + 1, make_spec (&rows[i], defaults));
}

static gboolean
is_region (const GValue *value)
{
  guint count = gst_value_array_get_size (value);

  for (guint i = 0; i < count; i++) {
    gdouble fraction = g_value_get_double (gst_value_array_get_value (value, i));
    if (!(fraction >= 0 && fraction <= 1))
      return FALSE;
  }
  return count == 0 || count == 4;
}

gboolean
gst_depth_overlay_property_accepts (
    const GstDepthOverlayProperty *row, GstElement *element, GParamSpec *spec, const GValue *value)
{
  gchar *given;

  if (row->kind != GST_DEPTH_OVERLAY_REGION)
    return gst_stereo_value_in_range (element, spec, value);
  if (is_region (value)) {
    gst_stereo_refuse_value (element, spec, NULL);
    return TRUE;
  }
  given = gst_value_serialize (value);
  gst_stereo_refuse_value (element, spec,
      g_strdup_printf ("%s=%s is no region: set it to x, y, width and height as fractions (0..1) of the picture, for "
                       "example \"<0.25, 0.25, 0.5, 0.5>\".",
          row->name, given));
  g_free (given);
  return FALSE;
}

/* An empty array stands for the whole picture. */
static void
set_region (gdouble member[4], const GValue *value)
{
  guint count = gst_value_array_get_size (value);
  gdouble region[4] = { 0, 0, 1, 1 };

  for (guint i = 0; i < count; i++)
    region[i] = g_value_get_double (gst_value_array_get_value (value, i));
  memcpy (member, region, sizeof region);
}

static void
get_region (const gdouble member[4], GValue *value)
{
  GValue number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_DOUBLE);
  for (guint i = 0; i < 4; i++) {
    g_value_set_double (&number, member[i]);
    gst_value_array_append_value (value, &number);
  }
  g_value_unset (&number);
}

void
gst_depth_overlay_property_set (const GstDepthOverlayProperty *row, gpointer settings, const GValue *value)
{
  gpointer member = (guint8 *) settings + row->offset;

  switch (row->kind) {
    case GST_DEPTH_OVERLAY_NUMBER:
      *(gdouble *) member = g_value_get_double (value);
      break;
    case GST_DEPTH_OVERLAY_TIME:
      *(guint64 *) member = g_value_get_uint64 (value);
      break;
    case GST_DEPTH_OVERLAY_SWITCH:
      *(gboolean *) member = g_value_get_boolean (value);
      break;
    case GST_DEPTH_OVERLAY_CHOICE:
      *(gint *) member = g_value_get_enum (value);
      break;
    default:
      set_region (member, value);
  }
}

void
gst_depth_overlay_property_get (const GstDepthOverlayProperty *row, gconstpointer settings, GValue *value)
{
  gconstpointer member = (const guint8 *) settings + row->offset;

  switch (row->kind) {
    case GST_DEPTH_OVERLAY_NUMBER:
      g_value_set_double (value, *(const gdouble *) member);
      break;
    case GST_DEPTH_OVERLAY_TIME:
      g_value_set_uint64 (value, *(const guint64 *) member);
      break;
    case GST_DEPTH_OVERLAY_SWITCH:
      g_value_set_boolean (value, *(const gboolean *) member);
      break;
    case GST_DEPTH_OVERLAY_CHOICE:
      g_value_set_enum (value, *(const gint *) member);
      break;
    default:
      get_region (member, value);
  }
}
