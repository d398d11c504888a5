/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random calibrations, and the texts of the files that other programs write for them. */
#ifndef CALIBRATION_TEXT_H
#define CALIBRATION_TEXT_H

#include <glib.h>

#include "tests/support/random.h"
#include "stereo/rectify.h"

typedef struct
{
  guint names; /* 0: M1 D1, 1: K1 distCoeffs1, 2: cameraMatrix1 distCoeffs1 */
  gint lens;   /* values of the distortion: 4, 5, 8, or 14 with zeros */
  gint size;   /* 0: no size, 1: image_width image_height, 2: imageSize */
  gboolean pose, rectification;
} OpencvStyle;

/* Any numbers at all in the right places; only what @style has is set. */
StereoCalibration calibration_draw (Random *random, const OpencvStyle *style);
/* What cannot be told from a file of KITTI's calib.txt is as it has to be. */
StereoCalibration calibration_draw_projections (Random *random);

/* Texts; g_free them. Lengths stand in them divided by @unit_mm. */
gchar *calibration_opencv_yaml (const StereoCalibration *c, const OpencvStyle *style, gdouble unit_mm, Random *random);
gchar *calibration_opencv_xml (const StereoCalibration *c, const OpencvStyle *style, gdouble unit_mm, Random *random);
gchar *calibration_ros (const StereoCalibration *c, gint v, gint lens, gdouble unit_mm, Random *random);
gchar *calibration_kitti (const StereoCalibration *c, gboolean keys, gdouble unit_mm);
gchar *calibration_kitti_cameras (const StereoCalibration *c, gdouble unit_mm);

/* A file of Middlebury's 2014 set. */
#define MIDDLEBURY \
  "cam0=[999.421 0 294.182; 0 999.421 252.932; 0 0 1]\ncam1=[999.421 0 326.96; 0 999.421 252.932; 0 0 1]\n" \
  "doffs=32.778\nbaseline=193.001\nwidth=741\nheight=497\nndisp=70\nisint=0\nvmin=7\nvmax=65\n"

#endif
