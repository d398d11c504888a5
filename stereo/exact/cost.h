/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matching costs of one pixel pair: the list of them, and what their formulas share. A cost has its formula in
 * stereo/cpu/match.c and cuda/cost.cuh, in the form that is fast there. The registry, the features of a plan and the penalties of
 * sgm are made from the list.
 */
#ifndef STEREO_EXACT_COST_H
#define STEREO_EXACT_COST_H

#include "stereo/exact/shared.h"

/* Which features a cost reads of a pixel, besides its colour and its luma. */
typedef enum StereoFeatures
{
  STEREO_FEATURES_NONE,
  STEREO_FEATURES_CENSUS_7X5,
  STEREO_FEATURES_CENSUS_9X7,
  STEREO_FEATURES_CENSUS_7X5_GRADIENT,
  STEREO_FEATURE_SETS
} StereoFeatures;

#define STEREO_TAKEN_BY_ASW (1u << STEREO_METHOD_ASW)
#define STEREO_TAKEN_BY_SGM (1u << STEREO_METHOD_SGM)

/*
 * COST (enumerator, name, largest raw value, raw steps of a cost unit, features, which of asw and sgm take it, factor of
 *     sgm's penalties, text, source)
 *
 * A raw value fits a byte. The factor scales the penalties of Mahieu & Lowney, which suit differences of luma and, in
 * bits, census-9x7 as they are: among factors from 0.35 to 2 those below gave the fewest pixels off by more than 1, 2
 * and 4 px over six Middlebury scenes. Costs of fewer bits take smaller penalties, by about the square root of their
 * largest value.
 */
#define STEREO_PIXEL_COSTS(COST) \
  COST (CENSUS_7X5, "census-7x5", 32, 1, CENSUS_7X5, STEREO_TAKEN_BY_ASW | STEREO_TAKEN_BY_SGM, 0.7, \
      "Hamming distance of the census over 7x5 pixels without the corners (-3,-2) and (3,2): 0..32 bits", \
      "Hillerstrom 2017, 3.2.5 and 4.3.4") \
  COST (CENSUS_9X7, "census-9x7", 62, 1, CENSUS_9X7, STEREO_TAKEN_BY_ASW | STEREO_TAKEN_BY_SGM, 1, \
      "Hamming distance of the census over 9x7 pixels: 0..62 bits", "Hillerstrom 2017, 3.2.5") \
  COST (MIXED, "mixed", 164, 4, CENSUS_7X5_GRADIENT, STEREO_TAKEN_BY_ASW | STEREO_TAKEN_BY_SGM, 0.8, \
      "census-7x5 bits + 0.2 * min (mean |RGB difference|, 20) + min (|difference of horizontal gradients|, 5): 0..41", \
      "after Kowalczuk et al. 2013 (census and gradient)") \
  COST (AD, "ad", 255, 1, NONE, STEREO_TAKEN_BY_ASW | STEREO_TAKEN_BY_SGM, 1, "Absolute difference of luma: 0..255", \
      "Hillerstrom 2017, 3.1.3") \
  COST (SAD, "sad", 255, 1 / 3.0, NONE, STEREO_TAKEN_BY_ASW, 1, \
      "Sum of absolute differences over R, G, B: 0..765, held to the nearest multiple of 3", \
      "Hillerstrom 2017, 3.1.3; Hong et al. 2016, equation 4")

/* SAD over R, G, B of two packed colours: 0..765. */
STEREO_SHARED int
stereo_color_distance (uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
  return (int) __vsadu4 (a, b);
#else
  int r = (int) (a & 255) - (int) (b & 255);
  int g = (int) (a >> 8 & 255) - (int) (b >> 8 & 255);
  int c = (int) (a >> 16 & 255) - (int) (b >> 16 & 255);
  return (r < 0 ? -r : r) + (g < 0 ? -g : g) + (c < 0 ? -c : c);
#endif
}

/* Cost mixed without its census bits, in raw steps, 4 of which are a cost unit: 0.2 * min (mean |RGB difference|, 20) +
 * min (|gradient difference|, 5), with the gradient as a central difference (half of luma (x + 1) - luma (x - 1)). */
STEREO_SHARED int
stereo_mixed_part (int sad, int gradient_difference)
{
  int color = sad < 60 ? sad : 60;
  int slope = gradient_difference < 0 ? -gradient_difference : gradient_difference;
  return ((color * 17 + 32) >> 6) + (slope < 10 ? slope * 2 : 20);
}

#endif
