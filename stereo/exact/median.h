/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The median filter of the disparity: a pixel takes the median of the valid values of the window around it, the lower one of two.
 *
 * A post that is narrower than half of the window has fewer pixels in it than what is behind the post: the median would be the
 * background. So a pixel keeps its disparity where that is more than ALIKE nearer than the median, and where as many pixels of the
 * window as a line across it has, the pixel among them, have a disparity within ALIKE of it. Pixels without a disparity, and places
 * outside the picture, do not count.
 */
#ifndef STEREO_EXACT_MEDIAN_H
#define STEREO_EXACT_MEDIAN_H

#include "stereo/exact/shared.h"

#define STEREO_MEDIAN_ALIKE 1.0f /* px */

/* Pixels of a line across a window of @radius. */
STEREO_SHARED int
stereo_median_line (int radius)
{
  return 2 * radius + 1;
}

/* Whether a pixel of the disparity @own is so much nearer than the median that its window is counted. */
STEREO_SHARED int
stereo_median_is_before (float own, float median)
{
  return own - median > STEREO_MEDIAN_ALIKE;
}

/* Whether @other, of the same window, counts; NaN does not. */
STEREO_SHARED int
stereo_median_is_alike (float own, float other)
{
  return fabsf (other - own) <= STEREO_MEDIAN_ALIKE;
}

#endif
