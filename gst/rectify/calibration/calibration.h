/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files. Their format is recognised by their contents, not by their names:
 *   OpenCV FileStorage, YAML or XML: M1 D1 M2 D2 and R T, or R1 R2 P1 P2 (also both); also in two files,
 *     "intrinsics.yml,extrinsics.yml", of which the first wins where both have a key
 *   a pair of ROS camera_info YAMLs: "left.yaml,right.yaml"
 *   KITTI calib.txt (P0 P1, or rows without keys; or calib_cam_to_cam.txt: S_00 K_00 D_00 … P_rect_01)
 *   Middlebury calib.txt (cam0= cam1= doffs= baseline= width= height=)
 */
#ifndef GST_STEREO_CALIBRATION_H
#define GST_STEREO_CALIBRATION_H

#include <glib.h>

#include "stereo/rectify.h"

G_BEGIN_DECLS

/* @unit_mm: millimetres of one unit of T (and P2). The unit is a metre in ROS and KITTI files, and the unit of the
 * board's squares with OpenCV. 0 becomes 1000 for ROS and KITTI, and 1 for OpenCV and Middlebury. FALSE with a sentence
 * that names the file and the missing or broken key (g_free it; @message may be NULL). stereo_rectify() checks the
 * numbers. */
gboolean gst_stereo_calibration_load (
    StereoCalibration *calibration, const gchar *location, gdouble *unit_mm, gchar **message);

/* The same from text in memory, for tests and fuzzing. */
gboolean gst_stereo_calibration_parse (
    StereoCalibration *calibration, const gchar *left, const gchar *right, gdouble unit_mm, gchar **message);

/* Whether @file is one of those that @location names, by whatever name. */
gboolean gst_stereo_calibration_reads (const gchar *location, const gchar *file);

/* ---- save.c ---- */
/* A calibration and the rectification that was made of it as a file of OpenCV, YAML, in millimetres: when that is loaded,
 * the same raw views become the same rectified views. g_free it. */
gchar *gst_stereo_calibration_write (const StereoCalibration *calibration, const StereoRectification *rectification);
/* Into a file, as gst_stereo_file_write() does. FALSE and a sentence (g_free it). */
gboolean gst_stereo_calibration_save (const StereoCalibration *calibration, const StereoRectification *rectification,
    const gchar *location, gchar **message);

/* ---- doubt.c ---- */
/* NULL where the number is plausible; else a sentence with advice (g_free it). @unit_mm: that of the load. */
gchar *gst_stereo_calibration_doubt_baseline (gdouble baseline_mm, gdouble unit_mm);
/* @camera: of raw pictures of this @width. */
gchar *gst_stereo_calibration_doubt_focal_length (const StereoCamera *camera, gint width);

G_END_DECLS

#endif
