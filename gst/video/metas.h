/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which metadata of an input frame its output buffer keeps. */
#ifndef GST_STEREO_METAS_H
#define GST_STEREO_METAS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Copies the metas of @from that are true of @out as well.
 * @same_place: @out has the size of @from, and every object lies at the same place.
 * @same_pixels: @out shows the same picture, so that its colours and its GstStereoMeta still hold. */
void gst_stereo_copy_metas (GstBuffer *out, GstBuffer *from, gboolean same_place, gboolean same_pixels);

G_END_DECLS

#endif
