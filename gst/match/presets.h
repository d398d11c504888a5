/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Presets of the matcher (GstPreset): named sets of properties. gst-launch-1.0 loads one with "stereomatch @preset=NAME". */
#ifndef GST_STEREO_MATCH_PRESETS_H
#define GST_STEREO_MATCH_PRESETS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* For G_IMPLEMENT_INTERFACE(). */
void gst_stereo_match_presets_init (gpointer interface, gpointer data);

G_END_DECLS

#endif
