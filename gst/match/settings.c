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

const GstStereoProperty *
gst_stereo_settings_properties (void)
{
  return gst_stereo_params_rows (NULL, G_STRUCT_OFFSET (GstStereoSettings, pending), GST_STEREO_CONTROLLED);
}

GstStereoSettings *
gst_stereo_settings_new (GstElement *element)
{
  GstStereoSettings *settings = g_new0 (GstStereoSettings, 1);

  settings->element = element;
  stereo_params_init (&settings->params);
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
  gboolean other_backend = settings->params.backend != settings->pending.backend;
  gboolean changed = memcmp (&settings->params, &settings->pending, sizeof settings->params) != 0;
  if (changed) {
    settings->params = settings->pending;
    settings->serial++;
  }
  serial = settings->serial;
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
