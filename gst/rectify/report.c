/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/rectify/report.h"

#include "gst/rectify/calibration/calibration.h"
#include "gst/rectify/debug.h"

void
gst_stereo_rectify_post_doubt (GstElement *element, gchar *text)
{
  if (text)
    GST_ELEMENT_WARNING (element, STREAM, WRONG_TYPE, ("%s", text), (NULL));
  g_free (text);
}

void
gst_stereo_rectify_post_doubts (GstElement *element, const StereoCalibration *loaded, const StereoCalibration *scaled,
    const StereoRectification *rectification, gdouble alpha)
{
  gchar *doubt = gst_stereo_calibration_doubt_size (loaded, scaled, rectification, alpha);

  /* numbers of another size or unit have more faults, which go with the first one */
  if (!doubt)
    doubt = gst_stereo_calibration_doubt_focal_length (&scaled->camera[0], scaled->width);
  if (!doubt) {
    gst_stereo_rectify_post_doubt (element, gst_stereo_calibration_doubt_lens (scaled));
    doubt = gst_stereo_calibration_doubt_views (scaled, rectification, alpha);
  }
  gst_stereo_rectify_post_doubt (element, doubt);
}

gboolean
gst_stereo_rectify_save (GstElement *element, const GstStereoRectifySettings *settings, const StereoCalibration *scaled,
    const StereoRectification *rectification, gboolean works)
{
  const gchar *location = settings->save;
  g_autofree gchar *message = NULL;

  if (!location || !*location)
    return TRUE;
  if (settings->calibration && gst_stereo_calibration_reads (settings->calibration, location))
    message = g_strdup_printf (
        "save=%s names the file of the calibration itself, which would be lost: set save= to another file.", location);
  else if (gst_stereo_calibration_save (scaled, rectification, location, &message))
    GST_INFO_OBJECT (element, "saved the rectified calibration to %s", location);
  if (message && works)
    GST_ELEMENT_WARNING (element, RESOURCE, WRITE, ("%s", message), (NULL));
  else if (message)
    GST_ELEMENT_ERROR (element, RESOURCE, WRITE, ("%s", message), (NULL));
  works = works || !message;
  return works;
}
