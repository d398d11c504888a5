/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine's table of parameters as a table of properties. */
#ifndef GST_STEREO_PARAMS_H
#define GST_STEREO_PARAMS_H

#include "gst/video/properties.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Rows for the parameters with these names, or for all of them where @names is NULL. @offset: of a StereoParams in the
 * structure of settings. @unchecked: the element does not refuse values out of range: the engine does when a plan is
 * made. */
const GstStereoProperty *gst_stereo_params_rows (
    const gchar *const *names, gsize offset, GParamFlags flags, gboolean unchecked);

/* Every parameter by name; enumerations as their names. */
GstStructure *gst_stereo_params_describe (const StereoParams *params);

G_END_DECLS

#endif
