/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The median filter of the disparity: a pixel takes the median of the valid values of the window around it, the lower one of two.
 *
 * A post that is narrower than half of the window has fewer pixels in it than what is behind the post: the median is the background.
 * So, in a window of 5x5, a pixel keeps its disparity where that is more than BEFORE nearer than the median, and where LEAST pixels
 * of the window, as many as a line across it has, are within ALIKE of that disparity. The pixel counts as one of them. Pixels without
 * a disparity, and places outside the picture, do not count.
 *
 * A window of 3x3 keeps nothing. A line has three pixels there, and three wrong ones are often alike.
 */
#ifndef STEREO_EXACT_MEDIAN_H
#define STEREO_EXACT_MEDIAN_H

#include "stereo/exact/shared.h"

#define STEREO_MEDIAN_BEFORE 2.0f /* px */
#define STEREO_MEDIAN_ALIKE 1.0f  /* px */
#define STEREO_MEDIAN_LEAST 5     /* pixels */

/* Whether a pixel of the disparity @own is so much nearer than the median that its window is counted. */
STEREO_SHARED int
stereo_median_is_before (float own, float median)
{
  return own - median > STEREO_MEDIAN_BEFORE;
}

/* Whether @other, of the same window, counts; NaN does not. */
STEREO_SHARED int
stereo_median_is_alike (float own, float other)
{
  return fabsf (other - own) <= STEREO_MEDIAN_ALIKE;
}

/* Whether a pixel that is before its median keeps its disparity: @count pixels are alike. */
STEREO_SHARED int
stereo_median_keeps (int count)
{
  return count >= STEREO_MEDIAN_LEAST;
}

#endif
