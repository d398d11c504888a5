/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STEREO_RECTIFY_ROTATION_H
#define STEREO_RECTIFY_ROTATION_H

#include "stereo/rectify.h"

/* The rectifying rotations of both cameras, from the rotation and the translation between them. Returns the x of the right
 * camera in the rectified frame, mm: negative, because that camera stands to the right. */
double stereo_rectify_share_rotation (const StereoCalibration *calibration, double rectifying[2][9]);

#endif
