/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereopoints. */
#ifndef GST_STEREO_POINTS_PROPERTIES_H
#define GST_STEREO_POINTS_PROPERTIES_H

#include <gst/gst.h>

#include "gst/points/cloud.h"

G_BEGIN_DECLS

GstStereoPointsSettings gst_stereo_points_settings_initial (void);
void gst_stereo_points_properties_install (GObjectClass *klass);
/* @id: of an installed property. */
void gst_stereo_points_settings_set (GstStereoPointsSettings *settings, guint id, const GValue *value);
void gst_stereo_points_settings_get (const GstStereoPointsSettings *settings, guint id, GValue *value);

G_END_DECLS

#endif
