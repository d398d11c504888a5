/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What users are told of a rectification: doubts on the bus, and the file that they asked for. */
#ifndef GST_STEREO_RECTIFY_REPORT_H
#define GST_STEREO_RECTIFY_REPORT_H

#include <gst/gst.h>

#include "gst/rectify/settings.h"
#include "stereo/rectify.h"

G_BEGIN_DECLS

/* Posts a warning. Takes the text; NULL: there is no doubt. */
void gst_stereo_rectify_post_doubt (GstElement *element, gchar *text);
/* All doubts that depend on the size of the frames. @loaded, @scaled: the calibration as it was read, and for the frames. */
void gst_stereo_rectify_post_doubts (GstElement *element, const StereoCalibration *loaded,
    const StereoCalibration *scaled, const StereoRectification *rectification, gdouble alpha);

/* Writes the file of save=, if that is set. FALSE after an error; where frames pass already, as @works says, a warning takes
 * its place and they go on. */
gboolean gst_stereo_rectify_save (GstElement *element, const GstStereoRectifySettings *settings,
    const StereoCalibration *scaled, const StereoRectification *rectification, gboolean works);

G_END_DECLS

#endif
