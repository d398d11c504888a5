/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine's parameters as properties, and its errors as GStreamer errors. */
#ifndef GST_STEREO_PARAMS_H
#define GST_STEREO_PARAMS_H

#include "gst/video/properties.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Rows for the parameters with these names, or for all of them where @names is NULL. @offset: of a StereoParams in the
 * structure of settings. */
GstStereoProperty *gst_stereo_params_rows (const gchar *const *names, gsize offset, GParamFlags flags);

/* Posts the engine's message on the bus, in the domain that fits its status. Returns the flow to return with it. */
GstFlowReturn gst_stereo_post_error (GstElement *element, const StereoError *error);

G_END_DECLS

#endif
