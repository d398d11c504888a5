/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What elements on GstBaseTransform do alike that pass pictures on as they are and add metadata to them. */
#ifndef GST_STEREO_IN_PLACE_H
#define GST_STEREO_IN_PLACE_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* In class_init: sets the functions of @klass about memory. No picture is copied: what downstream asks of memory goes upstream,
 * and a buffer that others hold too becomes another one with the same memory. */
void gst_stereo_in_place_class_init (GstBaseTransformClass *klass);

G_END_DECLS

#endif
