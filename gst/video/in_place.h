/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For elements on GstBaseTransform that pass pictures through unchanged and add metadata. */
#ifndef GST_STEREO_IN_PLACE_H
#define GST_STEREO_IN_PLACE_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* In class_init: sets the functions of @klass about memory. No picture is copied. Downstream's allocation query is passed
 * upstream, and a shared buffer is replaced by a new one with the same memory. */
void gst_stereo_in_place_class_init (GstBaseTransformClass *klass);

G_END_DECLS

#endif
