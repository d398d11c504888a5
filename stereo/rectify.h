/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Rectification: computes, from the calibration of two cameras, the maps that make their pictures a rectified pair. The
 * method is Bouguet's, as in OpenCV's stereoRectify and initUndistortRectifyMap. remap.h applies the maps.
 *
 *   StereoCalibration calibration = … ;                // measured: both cameras, and the rotation and translation between them
 *   StereoRectification rectification;
 *   StereoError error;
 *   if (stereo_rectify (&calibration, 0, 0, 0, &rectification, &error)) { fputs (error.message, stderr); … }
 *   stereo_rectify_map (&calibration, &rectification, 0, map_x, map_y, width, 0, height);   // the left view's
 *
 * Conventions are those of OpenCV. A point X in the left camera's frame is R X + T in the right camera's frame. The centres
 * of pixels have whole coordinates. Pixel (u, v) of a rectified view shows the raw picture at (map_x, map_y).
 * The cameras must stand side by side, the right one to the right. A pair of one above the other is refused.
 */
#ifndef STEREO_RECTIFY_H
#define STEREO_RECTIFY_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lens models, with the values of a camera's distortion:
 *   pinhole       k1 k2 p1 p2 k3 k4 k5 k6: plumb_bob has the first 5, the rational polynomial all
 *   equidistant   k1 k2 k3 k4 of a fisheye lens: a ray at the angle t from the axis lies
 *                 t (1 + k1 t^2 + k2 t^4 + k3 t^6 + k4 t^8) from the middle */
#define STEREO_DISTORTION 8
typedef enum StereoLensModel
{
  STEREO_LENS_PINHOLE = 0,
  STEREO_LENS_EQUIDISTANT
} StereoLensModel;

typedef struct StereoCamera
{
  double fx, fy, cx, cy;                /* px, of the raw picture */
  double distortion[STEREO_DISTORTION]; /* all 0: no distortion */
  int model;                            /* StereoLensModel */
} StereoCamera;

/* Lengths are in millimetres; matrices lie row by row. Either the pose or the rectification must be known. */
typedef struct StereoCalibration
{
  int width, height;      /* of the raw pictures, px, 1..32768; 0: unknown, see scale */
  StereoCamera camera[2]; /* left, right */
  int has_pose;           /* R and T below are known */
  double rotation[9], translation[3];
  int has_rectification;    /* R1, R2, P1, P2 below are known; they are taken even if the pose is known too */
  double rectifying[2][9];  /* R1, R2 */
  double projection[2][12]; /* P1, P2; the fourth value of P2 is -focal length * baseline, px * mm */
  int rectified_width, rectified_height; /* of the views that P1 and P2 make, px; 0: the raw size */
} StereoCalibration;

/* A rectified pair: what its maps are computed from, and what a depth is computed from. */
typedef struct StereoRectification
{
  int width, height;        /* of a rectified view, px */
  double rectifying[2][9];  /* R1, R2 */
  double projection[2][12]; /* P1, P2 */
  double focal_length;      /* px */
  double baseline;          /* mm, positive */
  double principal_offset;  /* px, StereoParams.principal_offset: x of the right principal point minus the left's */
} StereoRectification;

/* How far from the principal point a lens model is of use, px along the rows: at this distance rays that are farther out
 * start to come back in, and the maps end there. INFINITY: nowhere. */
double stereo_camera_reach (const StereoCamera *camera);

/* Scales a calibration to raw pictures of another size (1..32768 px) with the same aspect: everything in pixels is scaled. A
 * calibration without a size gets this size. Refuses (STEREO_ERROR_SIZE) an aspect that differs by more than a pixel; the
 * message has both sizes. */
StereoStatus stereo_calibration_scale (StereoCalibration *calibration, int width, int height, StereoError *error);

/* Computes the rectified views.
 *
 * @alpha 0..1: new projections, as OpenCV's stereoRectify computes them with equal principal points. With 0 a view has only
 * pixels that both raw pictures have (it is cropped); with 1 it has all of them (with black borders). The rotations are R1
 * and R2 of the calibration if it has them, else half of R each.
 * @alpha -1: P1 and P2 of the calibration. If another size is asked for they are scaled: the view shows the same height, and
 * more or less at the sides if the aspect differs. A calibration without P1 and P2 is computed as with 0.
 * @width x @height: size of a rectified view, px, 1..32768. 0 x 0: that of the calibration's projections, else the raw size.
 *
 * Refuses a baseline of zero, cameras one above the other or exchanged, a rotation that is none, and values that are not
 * finite (STEREO_ERROR_PARAMETER), and sizes out of range (STEREO_ERROR_SIZE); the message names the value. */
StereoStatus stereo_rectify (const StereoCalibration *calibration, double alpha, int width, int height,
    StereoRectification *rectification, StereoError *error);

/* Computes rows first .. end - 1 of the map of rectified @view (0 left, 1 right): the place of each pixel in the raw picture.
 * Row @first is written to @map_x and @map_y, the next rows @pitch floats after each other. Values are always finite: a
 * pixel that no raw picture can show lies at STEREO_RECTIFY_NOWHERE in x and y. Several threads may compute rows of one
 * map at the same time. */
#define STEREO_RECTIFY_NOWHERE (-1e6f)
void stereo_rectify_map (const StereoCalibration *calibration, const StereoRectification *rectification, int view,
    float *map_x, float *map_y, int pitch, int first, int end);

#ifdef __cplusplus
}
#endif
#endif
