/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties that all elements with two views have. */
#ifndef GST_STEREO_PROPERTIES_H
#define GST_STEREO_PROPERTIES_H

#include "gst/pairing/parts.h"

G_BEGIN_DECLS

void gst_stereo_properties_install (GObjectClass *klass);
/* FALSE where there is no such property. */
gboolean gst_stereo_properties_set (GstStereoParts *parts, guint id, const GValue *value);
gboolean gst_stereo_properties_get (GstStereoParts *parts, guint id, GValue *value);

G_END_DECLS

#endif
