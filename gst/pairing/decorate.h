/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an output buffer takes over from its pair: timestamps, flags, metadata. */
#ifndef GST_STEREO_DECORATE_H
#define GST_STEREO_DECORATE_H

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

/* @other's timestamps stand in where the left view of a bundle has none. @same_place: every object of the left view
 * lies at the same place of @out. @discont: the output before this one is missing. */
void gst_stereo_decorate (
    GstBuffer *out, const GstStereoFrame *left, const GstStereoFrame *other, gboolean same_place, gboolean discont);

G_END_DECLS

#endif
