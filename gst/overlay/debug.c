/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/debug.h"

GST_DEBUG_CATEGORY (gst_depth_overlay_debug);

void
gst_depth_overlay_debug_init (void)
{
  GST_DEBUG_CATEGORY_INIT (gst_depth_overlay_debug, "depthoverlay", 0, "depth over the live view");
}
