/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/settings.h"

#include <string.h>

#include "gst/match/debug.h"

struct _GstStereoSettings
{
  GstElement *element;

  /* protected by the element's object lock */
  StereoParams params;
  guint serial; /* of params */
};

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
gst_stereo_settings_commit (GstStereoSettings *settings, const StereoParams *pending)
{
  gboolean changed, other_backend;
  guint serial;

  GST_OBJECT_LOCK (settings->element);
  other_backend = settings->params.backend != pending->backend;
  changed = memcmp (&settings->params, pending, sizeof settings->params) != 0;
  if (changed) {
    settings->params = *pending;
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
