/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/error.h"

GstFlowReturn
gst_stereo_post_error (GstElement *element, const StereoError *error)
{
  switch (error->status) {
    case STEREO_ERROR_PARAMETER:
      GST_ELEMENT_ERROR (element, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
      return GST_FLOW_NOT_NEGOTIATED;
    case STEREO_ERROR_SIZE:
      GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("%s", error->message), (NULL));
      return GST_FLOW_NOT_NEGOTIATED;
    case STEREO_ERROR_MEMORY:
      GST_ELEMENT_ERROR (element, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
      return GST_FLOW_ERROR;
    case STEREO_ERROR_NO_DEVICE:
      GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
      return GST_FLOW_ERROR;
    default:
      GST_ELEMENT_ERROR (element, LIBRARY, FAILED, ("%s", error->message), (NULL));
      return GST_FLOW_ERROR;
  }
}
