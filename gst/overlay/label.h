/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The label of a box: the type of the object, as untrusted text from a detector, and its distance. Pure logic. */
#ifndef GST_DEPTH_OVERLAY_LABEL_H
#define GST_DEPTH_OVERLAY_LABEL_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_DEPTH_OVERLAY_LABEL 80 /* bytes: 15 characters of up to 4 bytes, a blank, a distance */

/* Such as "person 12.3 m"; @type may be NULL. @label is valid UTF-8 without control characters, and has all of @value. */
void gst_depth_overlay_label_make (gchar label[GST_DEPTH_OVERLAY_LABEL], const gchar *type, const gchar *value);

G_END_DECLS

#endif
