/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties that all elements with two views have. */
#ifndef GST_STEREO_PAIRING_PROPERTIES_H
#define GST_STEREO_PAIRING_PROPERTIES_H

#include "gst/video/properties.h"

G_BEGIN_DECLS

/* Of GstStereoParts. */
extern const GstStereoProperty gst_stereo_pairing_properties[];

G_END_DECLS

#endif
