/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files of OpenCV's FileStorage, YAML or XML, and pairs of ROS' camera_info. Their format is recognised by
 * their contents, not by their names. pipelines/calibration.py makes OpenCV's file of all other formats.
 */
#ifndef GST_STEREO_CALIBRATION_H
#define GST_STEREO_CALIBRATION_H

#include <glib.h>

#include "stereo/rectify.h"

G_BEGIN_DECLS

/* How a file is to be read; all 0: as its format has it. */
typedef struct
{
  gdouble unit_mm;    /* millimetres of one unit of T (and P2); 0: 1 of OpenCV's, 1000 of ROS' */
  gint width, height; /* of the raw pictures that the numbers belong to; 0 x 0: as the file says */
} GstStereoCalibrationOptions;

typedef struct
{
  StereoCalibration whole; /* of the whole sensor */
  /* ROS: the frames are a part of the sensor, at a place of its own in each view; width 0: they are the whole sensor */
  struct
  {
    gint x[2], y[2], width[2], height[2];
  } roi;
  gint sensor_width, sensor_height; /* before binning */
  gdouble unit_mm;                  /* that of the options, or of the format */
} GstStereoCalibration;

/* FALSE with a sentence that names the file and the missing or broken key (g_free it; @message may be NULL).
 * stereo_rectify() checks the numbers. */
gboolean gst_stereo_calibration_load (GstStereoCalibration *calibration, const gchar *location,
    const GstStereoCalibrationOptions *options, gchar **message);
/* The same from text in memory, for tests and fuzzing. */
gboolean gst_stereo_calibration_parse (GstStereoCalibration *calibration, const gchar *left, const gchar *right,
    const GstStereoCalibrationOptions *options, gchar **message);

/* The calibration for raw pictures of this size, before it is scaled to them: of the part of the sensor that the file names,
 * or of the whole sensor where the pictures have its size. */
StereoCalibration gst_stereo_calibration_for (const GstStereoCalibration *calibration, gint width, gint height);

/* Whether @file is one of those that @location names, by whatever name. */
gboolean gst_stereo_calibration_reads (const gchar *location, const gchar *file);

/* A calibration and the rectification that was made of it as a file of OpenCV, YAML, in millimetres: when that is loaded,
 * the same raw views become the same rectified views. g_free it. */
gchar *gst_stereo_calibration_write (const StereoCalibration *calibration, const StereoRectification *rectification);

/* ---- doubt.c. NULL where the numbers are plausible; else sentences with advice (g_free them). ---- */
/* @unit_mm: that of the load. */
gchar *gst_stereo_calibration_doubt_baseline (gdouble baseline_mm, gdouble unit_mm);
/* @camera: of raw pictures of this @width. */
gchar *gst_stereo_calibration_doubt_focal_length (const StereoCamera *camera, gint width);
/* Whether a lens model holds over the whole picture. @scaled: for raw pictures of its size. */
gchar *gst_stereo_calibration_doubt_lens (const StereoCalibration *scaled);
/* Whether the numbers are of pictures of another size, or the rectified views much larger or smaller than the raw ones. @loaded: as it was read; @scaled:
 * for the raw pictures; @rectification: made from that with @alpha, NULL where there is none. */
gchar *gst_stereo_calibration_doubt_size (const StereoCalibration *loaded, const StereoCalibration *scaled,
    const StereoRectification *rectification, gdouble alpha);
/* Whether a file that says a size of another aspect than the pictures at hand is of such pictures nevertheless. */
gchar *gst_stereo_calibration_doubt_aspect (const StereoCalibration *loaded, gint width, gint height);
/* Whether the file names a part of the sensor, and the pictures are of all of it. */
gchar *gst_stereo_calibration_doubt_roi (const GstStereoCalibration *calibration, gint width, gint height);

G_END_DECLS

#endif
