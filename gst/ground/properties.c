/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/properties.h"

#include "gst/meta/plausible.h"
#include "gst/video/ranges.h"

#define FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

typedef enum
{
  NUMBER,
  COUNT,
  TIME
} Kind;

typedef struct
{
  const gchar *name, *blurb;
  Kind kind;
  gsize offset;
  gdouble least, most; /* of a number or a count */
} Row;

#define AT(member) G_STRUCT_OFFSET (GstStereoGroundSettings, member)

static const Row rows[] = {
  { "min-camera-height",
      "Least height of the camera above the ground (mm); a plane that is nearer to the camera is no ground", NUMBER,
      AT (min_camera_height), 1, 1e6 },
  { "max-camera-height",
      "Largest height of the camera above the ground (mm); a plane that is farther from the camera is no ground",
      NUMBER, AT (max_camera_height), 1, 1e6 },
  { "min-height", "Height above the ground (mm) that makes an obstacle", NUMBER, AT (min_height), 1, 1e6 },
  { "max-height", "Height above the ground (mm) beyond which nothing is in the way, as a bridge", NUMBER,
      AT (max_height), 1, 1e6 },
  { "max-distance", "Distance (mm) up to which obstacles are reported and the ground is judged", NUMBER,
      AT (max_distance), 1, 1e7 },
  { "min-confidence", "Pixels with a lower confidence do not count (0..1)", NUMBER, AT (min_confidence), 0, 1 },
  { "columns", "Columns of equal width, for each of which the free distance is told", COUNT, AT (columns), 1,
      GST_STEREO_MAX_COLUMNS },
  { "message-interval", "Least time between messages (stream time, ns); 0 = a message for every frame", TIME,
      AT (message_interval), 0, 0 },
};

GstStereoGroundSettings
gst_stereo_ground_settings_initial (void)
{
  GstStereoGroundSettings initial = { .min_camera_height = 200,
    .max_camera_height = 6000,
    .min_height = 300,
    .max_height = 4000,
    .max_distance = 50000,
    .min_confidence = 0.33,
    .columns = 64,
    .message_interval = 0 };

  return initial;
}

void
gst_stereo_ground_properties_install (GObjectClass *klass)
{
  const GstStereoGroundSettings initial = gst_stereo_ground_settings_initial ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Row *row = &rows[i];
    GParamSpec *spec;

    if (row->kind == NUMBER)
      spec = gst_stereo_unchecked_spec (g_param_spec_double (row->name, row->name, row->blurb, row->least, row->most,
          G_STRUCT_MEMBER (gdouble, &initial, row->offset), FLAGS));
    else if (row->kind == COUNT)
      spec = gst_stereo_unchecked_spec (g_param_spec_int (row->name, row->name, row->blurb, (gint) row->least,
          (gint) row->most, G_STRUCT_MEMBER (gint, &initial, row->offset), FLAGS));
    else
      spec = g_param_spec_uint64 (
          row->name, row->name, row->blurb, 0, G_MAXUINT64, G_STRUCT_MEMBER (guint64, &initial, row->offset), FLAGS);
    g_object_class_install_property (klass, i + 1, spec);
  }
}

gboolean
gst_stereo_ground_settings_set (GstStereoGroundSettings *settings, guint id, const GValue *value)
{
  if (id < 1 || id > G_N_ELEMENTS (rows))
    return FALSE;
  if (rows[id - 1].kind == NUMBER)
    G_STRUCT_MEMBER (gdouble, settings, rows[id - 1].offset) = g_value_get_double (value);
  else if (rows[id - 1].kind == COUNT)
    G_STRUCT_MEMBER (gint, settings, rows[id - 1].offset) = g_value_get_int (value);
  else
    G_STRUCT_MEMBER (guint64, settings, rows[id - 1].offset) = g_value_get_uint64 (value);
  return TRUE;
}

gboolean
gst_stereo_ground_settings_get (const GstStereoGroundSettings *settings, guint id, GValue *value)
{
  if (id < 1 || id > G_N_ELEMENTS (rows))
    return FALSE;
  if (rows[id - 1].kind == NUMBER)
    g_value_set_double (value, G_STRUCT_MEMBER (gdouble, settings, rows[id - 1].offset));
  else if (rows[id - 1].kind == COUNT)
    g_value_set_int (value, G_STRUCT_MEMBER (gint, settings, rows[id - 1].offset));
  else
    g_value_set_uint64 (value, G_STRUCT_MEMBER (guint64, settings, rows[id - 1].offset));
  return TRUE;
}

gchar *
gst_stereo_ground_settings_problem (const GstStereoGroundSettings *settings)
{
  if (settings->min_camera_height >= settings->max_camera_height)
    return g_strdup_printf ("min-camera-height=%g is not below max-camera-height=%g: set min-camera-height below it, "
                            "or max-camera-height above.",
        settings->min_camera_height, settings->max_camera_height);
  if (settings->min_height >= settings->max_height)
    return g_strdup_printf ("min-height=%g is not below max-height=%g: set min-height below it, or max-height above.",
        settings->min_height, settings->max_height);
  return NULL;
}

GstStereoGroundTask
gst_stereo_ground_settings_task (const GstStereoGroundSettings *settings)
{
  GstStereoGroundTask task = { { settings->min_camera_height, settings->max_camera_height },
    { settings->min_height, settings->max_height, settings->max_distance }, (guint) settings->columns };

  return task;
}
