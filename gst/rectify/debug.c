/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/debug.h"

GST_DEBUG_CATEGORY (gst_stereo_rectify_debug);

void
gst_stereo_rectify_debug_init (void)
{
  GST_DEBUG_CATEGORY_INIT (gst_stereo_rectify_debug, "stereorectify", 0, "stereo rectification");
}
