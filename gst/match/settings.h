/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine's parameters as properties. All properties of one g_object_set() take effect together. */
#ifndef GST_STEREO_SETTINGS_H
#define GST_STEREO_SETTINGS_H

#include "gst/video/params.h"

G_BEGIN_DECLS

typedef struct _GstStereoSettings GstStereoSettings;

/* The table of properties. */
const GstStereoProperty *gst_stereo_settings_properties (void);

/* The object belongs to @element and holds no reference. All functions: from any thread. */
GstStereoSettings *gst_stereo_settings_new (GstElement *element);
void gst_stereo_settings_free (GstStereoSettings *settings);

/* The property values take effect. TRUE where the backend has changed. */
gboolean gst_stereo_settings_commit (GstStereoSettings *settings);
/* Reads the parameters in effect. Returns their serial number, which every change raises. */
guint gst_stereo_settings_read (GstStereoSettings *settings, StereoParams *params);

G_END_DECLS

#endif
