/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Exponential step size aggregation (esaw, esmp; Yu et al.): the formulas that both backends follow to the bit.
 *
 * Costs are whole volume steps all the way, and cost-scale is divided out: smoothness and smoothness-max become
 * steps of the cost itself. A pass replaces a cost by a weighted mean of three,
 *
 *   C(p) + rounded (w(a, p) (C(a) - C(p)) + w(b, p) (C(b) - C(p))),
 *
 * in floats. Normalised weights are held to eight bits, differences have sixteen: their products are exact, so that
 * the mean is the same with and without fused operations.
 */
#ifndef STEREO_EXACT_EXPONENTIAL_H
#define STEREO_EXACT_EXPONENTIAL_H

#include "stereo/exact/shared.h"

#include <string.h>

/* Adding it to a whole number of up to 22 bits shows that number in the low bits of the float, and rounds. */
#define STEREO_EXPONENTIAL_MAGIC 8388608.0f
#define STEREO_EXPONENTIAL_PAD 0xFFFFu /* cost of candidates beyond the search: the least likely of all */

/* One iteration: how far away its taps are, and a tap's weight by the largest difference of a channel. */
typedef struct StereoTaps
{
  int step;
  float weight[256];
} StereoTaps;

/* Parameters of all iterations, in volume steps. */
typedef struct StereoExponential
{
  int shift;        /* volume_unit is 1 << shift */
  int top;          /* truncated cost */
  int small, large; /* esmp: smoothness, smoothness-max */
} StereoExponential;

/* Weights of taps below this become 0. */
#define STEREO_EXPONENTIAL_LEAST 1e-30f

static inline void
stereo_exponential_taps (const StereoParams *p, int iteration, StereoTaps *taps)
{
  double step = round (pow (p->step_base, iteration)); /* equation 4, iteration counted from 0 */
  taps->step = step < 65536 ? (int) step : 65536;
  for (int difference = 0; difference < 256; difference++) {
    float weight = (float) exp (-difference / p->gamma_color - taps->step / p->gamma_distance);
    taps->weight[difference] = weight < STEREO_EXPONENTIAL_LEAST ? 0 : weight;
  }
}

/* @scaled, a scaled cost, in volume steps; a value above @top changes nothing. */
static inline int
stereo_exponential_steps (const StereoParams *p, int volume_unit, double scaled, int top)
{
  double steps = scaled / p->cost_scale * volume_unit;
  return steps < top ? (int) lrint (steps) : top;
}

static inline StereoExponential
stereo_exponential (const StereoParams *p, int volume_unit)
{
  StereoExponential e = { 0, (int) lrint (p->truncation * volume_unit), 0, 0 };
  while (1 << e.shift < volume_unit)
    e.shift++;
  if (p->method == STEREO_METHOD_ESMP) {
    e.small = stereo_exponential_steps (p, volume_unit, p->smoothness, e.top);
    e.large = stereo_exponential_steps (p, volume_unit, p->smoothness_max, e.top);
  }
  return e;
}

/* The largest difference of a channel of two packed colours. */
STEREO_SHARED int
stereo_largest_difference (uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
  uint32_t d = __vabsdiffu4 (a, b);
  uint32_t rg = (d & 255) > (d >> 8 & 255) ? d & 255 : d >> 8 & 255, c = d >> 16 & 255;
  return (int) (rg > c ? rg : c);
#else
  int largest = 0;
  for (int bit = 0; bit < 24; bit += 8) {
    int d = (int) (a >> bit & 255) - (int) (b >> bit & 255);
    d = d < 0 ? -d : d;
    largest = d > largest ? d : largest;
  }
  return largest;
#endif
}

/* A normalised weight, to eight bits. Weights are normalised by multiplying with 1 / (before + 1 + after). */
STEREO_SHARED float
stereo_eight_bits (float weight)
{
  uint32_t bits;
  memcpy (&bits, &weight, sizeof bits);
  bits = (bits + 0x8000u) & 0xFFFF0000u;
  memcpy (&weight, &bits, sizeof weight);
  return weight;
}

/*
 * Rows (or columns) in the order of chains: r, r + step, r + 2 step ... for every r < step. In that order a tap is the
 * neighbour, unless a chain ends. The row at place @n of @length.
 */
STEREO_SHARED int
stereo_chain_row (int n, int length, int step)
{
  int rows = length / step, longer = length % step; /* of a chain; chains with one more */
  if (n < longer * (rows + 1))
    return n / (rows + 1) + n % (rows + 1) * step;
  n -= longer * (rows + 1);
  return longer + n / rows + n % rows * step;
}
#endif
