/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching: the formulas that both backends follow to the bit.
 *
 * Hong et al. 2016 make a volume in two steps, and so does this:
 *  1. a cost of every candidate. AD and SD (equations 2, 3) compare the two pixels; SAD (4; 2.1 in GCVL), SSD (5; 2.2),
 *     NSSD (6), NCC (7) and ZNCC (8) compare the square windows around them;
 *  2. the aggregation: these costs, averaged over a square window of neighbours at the same disparity.
 * Both windows have the side `window`. The sums of SAD and SSD run over R, G, B, as these win on real scenes, and are
 * divided by three times the taps: a mean pixel difference as of AD and SD. The correlations take luma.
 * NCC and ZNCC become the costs 1 - NCC and 1 - ZNCC, so that lower is better and 0 is perfect; NSSD is one as it stands.
 *
 * A tap is left out, in both steps, when it or its partner is outside its picture: what remains is @low..@high along the
 * row, the same for both steps, and the rows that the picture has.
 *
 * Sums are whole numbers. What is made of them takes a conversion, products and a rounding of single floats, which give the
 * same everywhere. (No product meets a sum: nothing can be contracted.)
 */
#ifndef STEREO_EXACT_BM_H
#define STEREO_EXACT_BM_H

#include "stereo/exact/shared.h"

/* Steps of a correlation's cost per unit. */
#define STEREO_BM_STEPS 32767
/* Taps up to which n * sum of products fits 32 bits. */
#define STEREO_BM_SMALL 225

/* Sums over windows of up to 31 x 31: colours' squared differences, and means of costs. */
static_assert (3ll * 255 * 255 * 31 * 31 <= INT32_MAX && 65534ll * 31 * 31 <= INT32_MAX, "sums over windows");
static_assert (255ll * 255 * STEREO_BM_SMALL * STEREO_BM_SMALL <= UINT32_MAX, "moments of small windows");

/* Taps of left column @x and mirrored right column @m: low..high, relative to @x; to @m the other way round. */
STEREO_SHARED int
stereo_bm_low (int x, int m, int width, int radius)
{
  int low = x < radius ? -x : -radius;
  return m - (width - 1) > low ? m - (width - 1) : low;
}

STEREO_SHARED int
stereo_bm_high (int x, int m, int width, int radius)
{
  int high = width - 1 - x < radius ? width - 1 - x : radius;
  return m < high ? m : high;
}

/* Rows within a window around row @y. */
STEREO_SHARED int
stereo_bm_rows (int y, int height, int radius)
{
  int first = y < radius ? 0 : y - radius, last = y + radius < height ? y + radius : height - 1;
  return last - first + 1;
}

/* Whether the first step compares windows, not pixels. */
STEREO_SHARED int
stereo_bm_window_cost (int cost)
{
  return cost != STEREO_COST_AD && cost != STEREO_COST_SD;
}

STEREO_SHARED int
stereo_bm_correlates (int cost)
{
  return cost == STEREO_COST_NSSD || cost == STEREO_COST_NCC || cost == STEREO_COST_ZNCC;
}

/* Values that a tap adds to a sum. */
STEREO_SHARED int
stereo_bm_channels (int cost)
{
  return cost == STEREO_COST_SAD || cost == STEREO_COST_SSD ? 3 : 1;
}

/* First step: a sum over @taps times this factor, rounded as rintf() does, is a mean in volume steps. */
STEREO_SHARED float
stereo_bm_cost_factor (int cost, int volume_unit, int taps)
{
  return (float) volume_unit / (float) (stereo_bm_channels (cost) * taps);
}

/* Second step: the same factor; these sums are in volume steps already. */
STEREO_SHARED float
stereo_bm_mean_factor (int taps)
{
  return 1.0f / (float) taps;
}

/* One over the square root of a window's energy, which is the sum of squares; for ZNCC the taps times the sum of squares of
 * differences from the mean (equation 8). A window without energy correlates with nothing: its norm is 0. For NSSD it is as
 * unlike as possible: its norm is huge. */
STEREO_SHARED float
stereo_bm_norm (int cost, int taps, uint32_t sum, uint32_t squares)
{
  uint64_t energy = cost == STEREO_COST_ZNCC ? (uint64_t) taps * squares - (uint64_t) sum * sum : squares;
  if (energy == 0)
    return cost == STEREO_COST_NSSD ? 1e10f : 0.0f;
  return 1.0f / sqrtf ((float) energy);
}

/* The numerator of equations 6 to 8; that of equation 8 is multiplied by the taps. */
STEREO_SHARED int64_t
stereo_bm_numerator (
    int cost, int taps, uint32_t products, uint32_t sum_l, uint32_t sum_r, uint32_t squares_l, uint32_t squares_r)
{
  if (cost == STEREO_COST_ZNCC)
    return (int64_t) taps * products - (int64_t) sum_l * sum_r;
  return cost == STEREO_COST_NCC ? (int64_t) products : (int64_t) squares_l + squares_r - 2 * (int64_t) products;
}

/* The cost: @scaled_r is the right window's norm times STEREO_BM_STEPS. */
STEREO_SHARED uint32_t
stereo_bm_correlation (int cost, int64_t numerator, float norm_l, float scaled_r)
{
  float steps = (float) numerator * norm_l * scaled_r;
  if (cost == STEREO_COST_NSSD)
    return steps < 2.0f * STEREO_BM_STEPS ? (uint32_t) rintf (steps) : 2 * STEREO_BM_STEPS;
  int32_t whole = (int32_t) rintf (steps);
  whole = whole > STEREO_BM_STEPS ? STEREO_BM_STEPS : whole < -STEREO_BM_STEPS ? -STEREO_BM_STEPS : whole;
  return (uint32_t) (STEREO_BM_STEPS - whole);
}
#endif
