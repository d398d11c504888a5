/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereoground, and what they ask for. */
#ifndef GST_STEREO_GROUND_PROPERTIES_H
#define GST_STEREO_GROUND_PROPERTIES_H

#include <gst/gst.h>

#include "gst/ground/analysis.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble min_camera_height, max_camera_height; /* mm */
  gdouble min_height, max_height, max_distance; /* mm, of obstacles */
  gdouble min_confidence;                       /* 0..1 */
  gint columns;
  guint64 message_interval; /* ns */
} GstStereoGroundSettings;

/* Installs all properties, with ids from 1 on. */
void gst_stereo_ground_properties_install (GObjectClass *klass);
GstStereoGroundSettings gst_stereo_ground_settings_initial (void);
/* FALSE: there is no property of that id. */
gboolean gst_stereo_ground_settings_set (GstStereoGroundSettings *settings, guint id, const GValue *value);
gboolean gst_stereo_ground_settings_get (const GstStereoGroundSettings *settings, guint id, GValue *value);
/* What is wrong with values that are each in range; NULL: nothing. g_free */
gchar *gst_stereo_ground_settings_problem (const GstStereoGroundSettings *settings);
GstStereoGroundTask gst_stereo_ground_settings_task (const GstStereoGroundSettings *settings);

G_END_DECLS

#endif
