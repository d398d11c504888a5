/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plugin file of its own: where Pango cannot be loaded, the other elements still can. */
#include "gst/overlay/overlay.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (depthoverlay, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, stereooverlay, "Depth in colours over a live view",
    plugin_init, PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
