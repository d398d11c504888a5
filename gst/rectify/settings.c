/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/settings.h"

#include <string.h>

GstStereoRectifySettings
gst_stereo_rectify_settings_copy (const GstStereoRectifySettings *settings)
{
  GstStereoRectifySettings copy = *settings;

  copy.calibration = g_strdup (settings->calibration);
  copy.save = g_strdup (settings->save);
  copy.cameras = g_strdup (settings->cameras);
  return copy;
}

void
gst_stereo_rectify_settings_clear (GstStereoRectifySettings *settings)
{
  g_clear_pointer (&settings->calibration, g_free);
  g_clear_pointer (&settings->save, g_free);
  g_clear_pointer (&settings->cameras, g_free);
}

gboolean
gst_stereo_rectify_settings_equal (const GstStereoRectifySettings *a, const GstStereoRectifySettings *b)
{
  return g_strcmp0 (a->calibration, b->calibration) == 0 && g_strcmp0 (a->save, b->save) == 0 &&
      g_strcmp0 (a->cameras, b->cameras) == 0 && a->calibration_width == b->calibration_width &&
      a->calibration_height == b->calibration_height && a->alpha == b->alpha && a->unit == b->unit &&
      a->width == b->width && a->height == b->height && memcmp (&a->params, &b->params, sizeof a->params) == 0;
}
