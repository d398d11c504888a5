/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/debug.h"

GST_DEBUG_CATEGORY (gst_stereo_aggregator_debug);

void
gst_stereo_aggregator_debug_init (void)
{
  GST_DEBUG_CATEGORY_INIT (gst_stereo_aggregator_debug, "stereoaggregator", 0, "pairing of two views");
}
