/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Rectification: from the calibration of two cameras to the maps that make their pictures a rectified pair.
 *
 *   StereoCalibration calibration = … ;                // measured: cameras, and how they stand to each other
 *   StereoRectification rectification;
 *   StereoError error;
 *   if (stereo_rectify (&calibration, 0, 0, 0, &rectification, &error)) { fputs (error.message, stderr); … }
 *   stereo_rectify_map (&calibration, &rectification, 0, map_x, map_y, width, 0, height);   // the left view's
 *
 * Conventions are OpenCV's: a point X of the left camera's frame is R X + T in the right one's; pixel centres have
 * whole coordinates; a pixel (u, v) of a rectified view shows what the raw picture has at (map_x, map_y).
 * Both cameras side by side, the right one to the right: a pair of one above the other is refused.
 */
#ifndef STEREO_RECTIFY_H
#define STEREO_RECTIFY_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Distortion of the models plumb_bob (5 values) and rational polynomial (8): k1 k2 p1 p2 k3 k4 k5 k6, in that order. */
#define STEREO_DISTORTION 8

typedef struct StereoCamera
{
  double fx, fy, cx, cy;        /* px, of the raw picture */
  double distortion[STEREO_DISTORTION]; /* 0: none */
} StereoCamera;

/* All lengths in millimetres, matrices row by row. */
typedef struct StereoCalibration
{
  int width, height;            /* of the raw pictures, px; 0: the file does not say, those at hand are meant */
  StereoCamera camera[2];       /* left, right */
  int has_pose;                 /* rotation and translation are known */
  double rotation[9], translation[3];
  int has_rectification;        /* R1, R2, P1, P2 are known; wins where both are */
  double rectifying[2][9];      /* R1, R2 */
  double projection[2][12];     /* P1, P2; the right one's fourth value is -focal length * baseline */
  int rectified_width, rectified_height; /* of the views that P1 and P2 make, px; 0: the raw size */
} StereoCalibration;

/* What the maps are made from, and what the rectified pair then is. */
typedef struct StereoRectification
{
  int width, height;            /* of a rectified view */
  double rectifying[2][9];
  double projection[2][12];
  double focal_length;          /* px */
  double baseline;              /* mm, positive: the right camera stands to the right */
  double principal_offset;      /* px, StereoParams.principal_offset: x of the right principal point minus the left's */
} StereoRectification;

/* A calibration for pictures of another size of the same aspect: everything in pixels is scaled. Refused with both
 * sizes where the aspects differ by more than a pixel. A calibration without a size becomes one of that size. */
StereoStatus stereo_calibration_scale (StereoCalibration *calibration, int width, int height, StereoError *error);

/* @alpha 0..1: 0 shows only what both raw pictures have (cropped), 1 all they have (with black borders), computed as
 * OpenCV's stereoRectify does with equal principal points: rotations are the calibration's R1 and R2 where it has them,
 * else half of R each, projections are new. -1: P1 and P2 of the calibration as they are, scaled where another size is
 * asked for (the view keeps its height, and shows more or less to the sides where the aspect differs); where it has
 * none, as 0. @width x @height of a rectified view, 0 x 0: the calibration's (its raw size, unless it says otherwise).
 * Refuses a baseline of zero, cameras one above the other, swapped ones, and what is not finite, naming it. */
StereoStatus stereo_rectify (const StereoCalibration *calibration, double alpha, int width, int height,
    StereoRectification *rectification, StereoError *error);

/* Where rows first .. end - 1 of rectified @view (0 left, 1 right) lie in its raw picture; @pitch floats a row, the
 * first row written is @first. Always finite: what no raw picture can show lies at STEREO_RECTIFY_NOWHERE, both ways.
 * Any number of threads may make rows of one map. */
#define STEREO_RECTIFY_NOWHERE (-1e6f)
void stereo_rectify_map (const StereoCalibration *calibration, const StereoRectification *rectification, int view,
    float *map_x, float *map_y, int pitch, int first, int end);

#ifdef __cplusplus
}
#endif
#endif
