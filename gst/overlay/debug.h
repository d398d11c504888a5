/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The debug category of depthoverlay, for the element and its parts. */
#ifndef GST_DEPTH_OVERLAY_DEBUG_H
#define GST_DEPTH_OVERLAY_DEBUG_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_depth_overlay_debug);
#define GST_CAT_DEFAULT gst_depth_overlay_debug

G_END_DECLS

#endif
