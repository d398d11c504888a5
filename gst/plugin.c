/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/gst.h>

#include "gst/meta/gststereometa.h"

GST_ELEMENT_REGISTER_DECLARE (stereoconfidence);
GST_ELEMENT_REGISTER_DECLARE (stereoground);
GST_ELEMENT_REGISTER_DECLARE (stereomatch);
GST_ELEMENT_REGISTER_DECLARE (stereonearest);
GST_ELEMENT_REGISTER_DECLARE (stereopoints);
GST_ELEMENT_REGISTER_DECLARE (stereorectify);
GST_ELEMENT_REGISTER_DECLARE (stereotestsrc);

static gboolean
plugin_init (GstPlugin *plugin)
{
  /* so that buffers from elsewhere can be deserialised before any of ours was made */
  gst_stereo_meta_get_info ();
#ifdef HAVE_STEREORECTIFY
  if (!GST_ELEMENT_REGISTER (stereorectify, plugin))
    return FALSE;
#endif
  return GST_ELEMENT_REGISTER (stereomatch, plugin) && GST_ELEMENT_REGISTER (stereotestsrc, plugin) &&
      GST_ELEMENT_REGISTER (stereoconfidence, plugin) && GST_ELEMENT_REGISTER (stereoground, plugin) &&
      GST_ELEMENT_REGISTER (stereonearest, plugin) && GST_ELEMENT_REGISTER (stereopoints, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, stereovision, "Depth from stereo cameras", plugin_init,
    PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
