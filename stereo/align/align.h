/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Estimates the vertical disparity of a rig from the pairs themselves: a quadratic polynomial of the place (StereoAlignment).
 *
 * Textured points, one for each cell of the left view, are matched in small pictures and placed exactly in the views; the
 * polynomial is fitted to their vertical disparities. A rig does not jump: after the first pair, each pair renews the points
 * of one row of cells, and the estimate follows slowly. Where most points say something else it starts again.
 */
#ifndef STEREO_ALIGN_H
#define STEREO_ALIGN_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StereoAligner StereoAligner;

/* For disparities @min <= d < @min + @num. NULL: no memory. */
StereoAligner *stereo_aligner_new (int width, int height, int min, int num);
/* NULL is fine. */
void stereo_aligner_free (StereoAligner *aligner);
/* Measures all points of a pair in host memory. */
void stereo_aligner_measure (StereoAligner *aligner, const StereoImage *left, const StereoImage *right);
/* Measures the points whose turn it is, in rows *@first to *@end - 1 of the views. With no such rows there is nothing to
 * measure: the views are too small. */
void stereo_aligner_rows (const StereoAligner *aligner, int *first, int *end);
void stereo_aligner_follow (StereoAligner *aligner, const StereoImage *left, const StereoImage *right);
/* The estimate so far. */
const StereoAlignment *stereo_aligner_result (const StereoAligner *aligner);

#ifdef __cplusplus
}
#endif
#endif
