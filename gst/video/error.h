/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors of the engine as GStreamer errors. */
#ifndef GST_STEREO_ERROR_H
#define GST_STEREO_ERROR_H

#include <gst/gst.h>

#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Posts the engine's message on the bus, in the domain that fits its status. Returns the flow to return with it. */
GstFlowReturn gst_stereo_post_error (GstElement *element, const StereoError *error);

G_END_DECLS

#endif
