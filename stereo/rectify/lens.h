/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lens models, as OpenCV defines them, on the plane at distance 1 before the camera. */
#ifndef STEREO_RECTIFY_LENS_H
#define STEREO_RECTIFY_LENS_H

#include "stereo/rectify.h"

typedef struct StereoPoint
{
  double x, y;
} StereoPoint;

/* A camera, and how far out its model is one to one: distances from the axis of a point without distortion, and of the
 * same point with distortion. INFINITY where there is no end. */
typedef struct StereoLens
{
  const StereoCamera *camera;
  double straight_end, distorted_end;
} StereoLens;

StereoLens stereo_lens_of (const StereoCamera *camera);
/* Of a point without distortion that is no farther out than the model holds. */
StereoPoint stereo_lens_distort (const StereoCamera *camera, double x, double y);
/* Where the raw pixel (u, v) lies without distortion. @steps: iterations of the pinhole model's fixed-point method. A pixel
 * that is farther out than the model holds lies where the model ends; a fisheye lens is taken to end at STEREO_LENS_WIDEST. */
StereoPoint stereo_lens_undistort (const StereoLens *lens, double u, double v, int steps);

/* tan of the angle from the axis (63 degrees) up to which rectified views of a fisheye lens are laid out: planes that show
 * more stretch their border without bound. */
#define STEREO_LENS_WIDEST 2.0

#endif
