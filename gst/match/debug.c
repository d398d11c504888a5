/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/debug.h"

GST_DEBUG_CATEGORY (gst_stereo_match_debug);

void
gst_stereo_match_debug_init (void)
{
  GST_DEBUG_CATEGORY_INIT (gst_stereo_match_debug, "stereomatch", 0, "stereo matcher");
}
