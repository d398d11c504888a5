/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of stereotestsrc that pattern `road` alone reads: numbers, all of them. */
#ifndef GST_STEREO_ROAD_PROPERTIES_H
#define GST_STEREO_ROAD_PROPERTIES_H

#include <gst/gst.h>

#include "gst/testsrc/scene.h"

G_BEGIN_DECLS

/* Their defaults. */
void gst_stereo_road_properties_init (GstStereoRoadParams *params);
/* Installs them; their numbers begin with @first. */
void gst_stereo_road_properties_install (GObjectClass *klass, guint first, GParamFlags flags);
/* The value of property @id, which counts from 0; NULL: there is no such property. */
gdouble *gst_stereo_road_properties_value (GstStereoRoadParams *params, guint id);

G_END_DECLS

#endif
