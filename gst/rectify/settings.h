/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_STEREO_RECTIFY_SETTINGS_H
#define GST_STEREO_RECTIFY_SETTINGS_H

#include <glib.h>

#include "stereo/stereo.h"

G_BEGIN_DECLS

/* The values of the properties. */
typedef struct
{
  gchar *calibration;                         /* one file, or two with a comma between them; NULL: not set */
  gdouble alpha;                              /* 0..1; -1 = that of the calibration */
  gdouble unit;                               /* mm; 0 = that of the calibration's format */
  gchar *cameras;                             /* numbers of two cameras of the file; NULL: the first two */
  gint calibration_width, calibration_height; /* of the pictures of the calibration; 0 = as it says */
  gint width, height;                         /* of a rectified view; 0 = as the raw view */
  gchar *save;                                /* file for the rectified calibration; NULL: none */
  StereoParams params;                        /* backend, cuda_device_id and threads of them */
} GstStereoRectifySettings;

/* A deep copy; clear it. */
GstStereoRectifySettings gst_stereo_rectify_settings_copy (const GstStereoRectifySettings *settings);
void gst_stereo_rectify_settings_clear (GstStereoRectifySettings *settings);
gboolean gst_stereo_rectify_settings_equal (const GstStereoRectifySettings *a, const GstStereoRectifySettings *b);

G_END_DECLS

#endif
