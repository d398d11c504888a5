/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* True disparities in the formats of Middlebury and KITTI. */
#ifndef GROUND_TRUTH_H
#define GROUND_TRUTH_H

#include "stereo/tools/layouts.h"

#include <stdint.h>

/* *truth: pixels, inf where unknown, NULL without one; *visible: 255 where both views see a pixel, NULL: not known. Both to
 * be freed. 0 and a message on stderr if a file cannot be read or is not of the views' size. */
int ground_truth_read (const SceneFiles *files, int scale, int width, int height, float **truth, uint8_t **visible);

#endif
