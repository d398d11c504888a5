/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STEREO_RECTIFY_CHECK_H
#define STEREO_RECTIFY_CHECK_H

#include "stereo/rectify.h"

#define STEREO_RECTIFY_MAX_SIZE 32768 /* px, either side */

/* Refuses all arguments of stereo_rectify() that cannot give a rectified pair, before anything is computed. */
StereoStatus stereo_rectify_check (
    const StereoCalibration *calibration, double alpha, int width, int height, StereoError *error);

#endif
