/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/settings.h"

#include <string.h>

#include "gst/match/debug.h"

struct _GstStereoSettings
{
  GstElement *element;

  /* protected by the element's object lock */
  StereoParams pending; /* as properties set them */
  StereoParams params;  /* in effect */
  guint serial;         /* of params */
};

/* With what the profile has for method and align, where they were not set. */
static StereoParams
chosen (const StereoParams *params)
{
  StereoParams copy = *params;

  stereo_params_choose (&copy);
  copy.set = 0;
  return copy;
}

static StereoParams
chosen_now (GstStereoSettings *settings)
{
  GST_OBJECT_LOCK (settings->element);
  StereoParams params = chosen (&settings->pending);
  GST_OBJECT_UNLOCK (settings->element);
  return params;
}

static void
get_method (GstElement *element, gpointer settings, GValue *value)
{
  g_value_set_enum (value, chosen_now (settings).method);
}

static void
get_align (GstElement *element, gpointer settings, GValue *value)
{
  g_value_set_enum (value, chosen_now (settings).align);
}

const GstStereoProperty *
gst_stereo_settings_properties (void)
{
  GstStereoProperty *rows = gst_stereo_params_rows (
      NULL, G_STRUCT_OFFSET (GstStereoSettings, pending), GST_STEREO_CONTROLLED);

  for (GstStereoProperty *row = rows; row->name; row++)
    row->get = g_str_equal (row->name, "method") ? get_method : g_str_equal (row->name, "align") ? get_align : NULL;
  return rows;
}

GstStereoSettings *
gst_stereo_settings_new (GstElement *element)
{
  GstStereoSettings *settings = g_new0 (GstStereoSettings, 1);

  settings->element = element;
  stereo_params_init (&settings->params);
  settings->pending = settings->params;
  return settings;
}

void
gst_stereo_settings_free (GstStereoSettings *settings)
{
  g_free (settings);
}

gboolean
gst_stereo_settings_commit (GstStereoSettings *settings)
{
  guint serial;

  GST_OBJECT_LOCK (settings->element);
  StereoParams before = chosen (&settings->params), now = chosen (&settings->pending);
  gboolean other_backend = before.backend != now.backend, changed = memcmp (&before, &now, sizeof now) != 0;
  settings->params = settings->pending;
  serial = settings->serial += changed;
  GST_OBJECT_UNLOCK (settings->element);
  if (changed)
    GST_DEBUG_OBJECT (settings->element, "parameters changed, change %u: they take effect with the next pair", serial);
  return other_backend;
}

guint
gst_stereo_settings_read (GstStereoSettings *settings, StereoParams *params)
{
  guint serial;

  GST_OBJECT_LOCK (settings->element);
  *params = settings->params;
  serial = settings->serial;
  GST_OBJECT_UNLOCK (settings->element);
  return serial;
}
