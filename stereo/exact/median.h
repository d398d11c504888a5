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
 *
 * A median does not look at colours, so it moves outlines. Before that of 5x5, pixels at depth edges therefore take a median in which
 * neighbours of alike colours count more. Neighbours are SIDE x SIDE pixels that are STEP px apart, the pixel in the middle. An edge
 * is where the disparities of two of them differ by more than JUMP. A neighbour of the pixel's own colour has the weight ALIKE; the
 * weight is one less for each step of colour distance (0..765), and at least 1. The pixel itself counts twice. The median is the least
 * value with at least half of the weight at or below it, in steps of 1/STEPS px: a step and a weight are one word to sort. Thin
 * near things are left alone: of the first and the last neighbour in the pixel's row neither is near, or in its column.
 */
#ifndef STEREO_EXACT_MEDIAN_H
#define STEREO_EXACT_MEDIAN_H

#include "stereo/exact/shared.h"

#define STEREO_MEDIAN_BEFORE 2.0f /* px */
#define STEREO_MEDIAN_ALIKE 1.0f  /* px */
#define STEREO_MEDIAN_LEAST 5     /* pixels */

#define STEREO_EDGE_SIDE 5
#define STEREO_EDGE_STEP 2    /* px */
#define STEREO_EDGE_JUMP 1.0f /* px */
#define STEREO_EDGE_ALIKE 64
#define STEREO_EDGE_STEPS 8192
#define STEREO_EDGE_TAPS (STEREO_EDGE_SIDE * STEREO_EDGE_SIDE)
#define STEREO_EDGE_RADIUS (STEREO_EDGE_SIDE / 2 * STEREO_EDGE_STEP) /* px */
#define STEREO_EDGE_WEIGHT_BITS 8

static_assert (2 * STEREO_EDGE_ALIKE < 1 << STEREO_EDGE_WEIGHT_BITS, "the weight of the pixel itself");
static_assert (
    (int64_t) STEREO_MAX_DISPARITIES * STEREO_EDGE_STEPS << STEREO_EDGE_WEIGHT_BITS <= INT32_MAX + (int64_t) 1,
    "a word has a step and a weight");

/* Whether a pixel of the disparity @own is so much nearer than the median that its window is counted. */
STEREO_SHARED int
stereo_median_is_before (float own, float median)
{
  return own - median > STEREO_MEDIAN_BEFORE;
}

/* Whether a pixel of the disparity @own may go on at a neighbour of the disparity @other; NaN: it does not. */
STEREO_SHARED int
stereo_edge_is_near (float own, float other)
{
  return own - other <= STEREO_EDGE_JUMP;
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
