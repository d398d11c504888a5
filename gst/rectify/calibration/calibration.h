/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files. Their format is recognised by their contents, not by their names; docs/calibrating.md has a table of
 * the formats, formats.c the one that is read by.
 */
#ifndef GST_STEREO_CALIBRATION_H
#define GST_STEREO_CALIBRATION_H

#include <glib.h>

#include "stereo/rectify.h"

G_BEGIN_DECLS

/* How a file is to be read; all 0: as its format has it. */
typedef struct
{
  gdouble unit_mm;      /* millimetres of one unit of T (and P2); 0: that of the format */
  gint width, height;   /* of the raw pictures that the numbers belong to; 0 x 0: as the file says */
  const gchar *cameras; /* numbers of the left and the right camera, "2,3"; NULL: the first two */
} GstStereoCalibrationOptions;

#define GST_STEREO_CALIBRATION_MODES 8 /* of one camera */

typedef struct
{
  StereoCalibration modes[GST_STEREO_CALIBRATION_MODES]; /* one, or more where a file has one for each size */
  gint count;
  gdouble unit_mm; /* that of the options, or of the format */
} GstStereoCalibration;

/* FALSE with a sentence that names the file and the missing or broken key (g_free it; @message may be NULL).
 * stereo_rectify() checks the numbers. */
gboolean gst_stereo_calibration_load (GstStereoCalibration *calibration, const gchar *location,
    const GstStereoCalibrationOptions *options, gchar **message);

/* The same from text in memory, for tests and fuzzing. */
gboolean gst_stereo_calibration_parse (GstStereoCalibration *calibration, const gchar *left, const gchar *right,
    const GstStereoCalibrationOptions *options, gchar **message);

/* The mode for raw pictures of this size: of this size, else of this aspect. */
const StereoCalibration *gst_stereo_calibration_for (const GstStereoCalibration *calibration, gint width, gint height);

/* Whether @file is one of those that @location names, by whatever name. */
gboolean gst_stereo_calibration_reads (const gchar *location, const gchar *file);

/* ---- save.c ---- */
/* A calibration and the rectification that was made of it as a file of OpenCV, YAML, in millimetres: when that is loaded,
 * the same raw views become the same rectified views. g_free it. */
gchar *gst_stereo_calibration_write (const StereoCalibration *calibration, const StereoRectification *rectification);
/* Into a file, as gst_stereo_file_write() does. FALSE and a sentence (g_free it). */
gboolean gst_stereo_calibration_save (const StereoCalibration *calibration, const StereoRectification *rectification,
    const gchar *location, gchar **message);

/* ---- doubt.c, fit.c. NULL where the numbers are plausible; else sentences with advice (g_free them). ---- */
/* @unit_mm: that of the load. */
gchar *gst_stereo_calibration_doubt_baseline (gdouble baseline_mm, gdouble unit_mm);
/* @camera: of raw pictures of this @width. */
gchar *gst_stereo_calibration_doubt_focal_length (const StereoCamera *camera, gint width);
/* Whether a lens model holds over the whole picture. @scaled: for raw pictures of its size. */
gchar *gst_stereo_calibration_doubt_lens (const StereoCalibration *scaled);
/* What is wrong with rectified views: too large or small, with few pixels, or of a small part of the raw picture. @alpha:
 * that they were made with. */
gchar *gst_stereo_calibration_doubt_views (
    const StereoCalibration *scaled, const StereoRectification *rectification, gdouble alpha);
/* Whether the numbers are of pictures of another size; then what doubt_views() says, too. @loaded: as it was read; @scaled:
 * for the raw pictures; @rectification: made from that with @alpha, NULL where there is none. */
gchar *gst_stereo_calibration_doubt_size (const StereoCalibration *loaded, const StereoCalibration *scaled,
    const StereoRectification *rectification, gdouble alpha);
/* Whether a file that says a size of another aspect than the pictures at hand is of such pictures nevertheless. */
gchar *gst_stereo_calibration_doubt_aspect (const StereoCalibration *loaded, gint width, gint height);

G_END_DECLS

#endif
