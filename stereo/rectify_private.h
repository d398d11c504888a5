/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What rectify.c and its checks share. */
#ifndef STEREO_RECTIFY_PRIVATE_H
#define STEREO_RECTIFY_PRIVATE_H

#include "stereo/private.h"
#include "stereo/rectify.h"

#define STEREO_RECTIFY_MAX_SIZE 32768   /* px, either side */

/* rectify_check.c: everything that is refused before anything is computed. */
StereoStatus stereo_rectify_check (const StereoCalibration *calibration, double alpha, int width, int height,
    StereoError *error);

#endif
