/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views averaged over time, in whole numbers.
 *
 * A pixel of a view is averaged with its past where the two differ by noise alone. Two sums over a window show that: the
 * sum of the changes finds a change of brightness, the sum of their absolute values finds texture that moves. Both are
 * compared with what the noise of this frame explains. The largest sums of nine windows around the pixel count: beside an
 * edge that moves, a single window may see little change by chance.
 *
 * Noise is the smaller of two estimates: how much the calmest pixels change in time (moving pictures make it too large), and
 * how rough the smoothest parts are (texture makes it too large). Where nearly all pixels change by more than that, the
 * camera moves or the scene is another one, and nothing is averaged.
 */
#ifndef STEREO_EXACT_TEMPORAL_H
#define STEREO_EXACT_TEMPORAL_H

#include "stereo/exact/shared.h"

#define STEREO_TEMPORAL_MOST 32  /* frames that an average counts at most */
#define STEREO_TEMPORAL_RADIUS 2 /* of the window */
#define STEREO_TEMPORAL_AWAY 2   /* rows and columns from a window to the next; its centre has to be in the picture */
#define STEREO_TEMPORAL_BINS 256 /* of a histogram */
#define STEREO_TEMPORAL_NOISE 12 /* grey levels: no sensor's noise is worse, and what is rougher is texture */
#define STEREO_TEMPORAL_STEP 2   /* rows and columns from a pixel of the histograms to the next */

/* Histograms of a view: of changes in grey levels, and of curvatures. */
enum
{
  STEREO_TEMPORAL_CHANGES,
  STEREO_TEMPORAL_CURVATURES,
  STEREO_TEMPORAL_HISTOGRAMS
};

/* Frames that count at most, with temporal=@strength. */
STEREO_SHARED int
stereo_temporal_most (double strength)
{
  return 1 + (int) ((STEREO_TEMPORAL_MOST - 1) * strength + 0.5);
}

/* Luma less the luma of its past, in 1/64 of a grey level. The past's channels are in 1/256. */
STEREO_SHARED int32_t
stereo_temporal_change (uint8_t luma, uint16_t red, uint16_t green, uint16_t blue)
{
  return (luma * 256 - ((77 * red + 150 * green + 29 * blue + 128) >> 8)) >> 2;
}

/* The luma of pixels that enter the histograms: noise is cut off near black and white. */
#define STEREO_TEMPORAL_DARKEST 8
#define STEREO_TEMPORAL_BRIGHTEST 247

/*
 * The bin of a change c from an average of n frames. The noise of the average is divided out: sqrt (1 + 1 / n) is nearly
 * (4 n + 3) / (4 n + 1). It is floor (|c| (4 n + 1) / (4 n + 3)) / 64, rounded.
 *
 * The bin of the curvature of luma: the absolute value of the sum over a pixel and its neighbours times 1 -2 1 in both
 * directions. Noise of standard deviation s makes curvatures of 6 s (Immerkaer 1996).
 *
 * The last bins count all larger values, too.
 */

/* The value below which a quarter of @total values lies, in 1/64, if it is in bin @k, which has @count of them, @before in the
 * bins below. Bin k is what rounds to k; values spread evenly in it. */
STEREO_SHARED int32_t
stereo_temporal_in_bin (int k, uint64_t count, uint64_t before, uint64_t total)
{
  int32_t part = (int32_t) (64 * (total - 4 * before) / (4 * count));
  return k ? 64 * k - 32 + part : part / 2;
}

/* The value below which a quarter of a histogram lies, in 1/64. */
STEREO_SHARED int32_t
stereo_temporal_quartile (const uint32_t bins[STEREO_TEMPORAL_BINS])
{
  uint64_t total = 0, before = 0;
  int k = 0;

  for (int i = 0; i < STEREO_TEMPORAL_BINS; i++)
    total += bins[i];
  if (!total)
    return 0;
  while (4 * (before + bins[k]) < total)
    before += bins[k++];
  return stereo_temporal_in_bin (k, bins[k], before, total);
}

/* Standard deviation of the noise, in 1/64 of a grey level, from the quartile of the curvatures: a quarter of normally distributed
 * values lies within 0.3186 of it. */
STEREO_SHARED int32_t
stereo_temporal_in_place (int32_t curvatures)
{
  int32_t noise = curvatures * 201 / 384;
  return noise < 64 * STEREO_TEMPORAL_NOISE ? noise : 64 * STEREO_TEMPORAL_NOISE;
}

/* The same from both quartiles. It falls to zero while the changes rise from two to three times what the curvatures explain. A
 * little is added for the rounding in views without noise. */
STEREO_SHARED int32_t
stereo_temporal_noise (int32_t changes, int32_t curvatures)
{
  int32_t in_time = changes * 201 / 64, in_place = stereo_temporal_in_place (curvatures);
  int32_t noise = in_time < in_place ? in_time : in_place, rest = 3 * in_place - in_time;
  noise = noise < rest ? noise : rest;
  return (noise > 0 ? noise : 0) + 8;
}

/* The weight of the past, in quarters. @sum: the absolute value of the sum of the changes in a window; @sizes: the sum of their
 * absolute values; the largest of nine windows each. @count: frames of the past. Noise of standard deviation s alone
 * makes @sizes about 20 s; the sum of the changes then has a standard deviation of 5 s. */
STEREO_SHARED int32_t
stereo_temporal_weight (int32_t sum, int32_t sizes, int32_t count, int32_t noise)
{
  int32_t explained = noise * (4 * count + 3), size = sizes * (4 * count + 1);
  int32_t shift = 2 * sum * (4 * count + 1);
  /* what the past of few frames explains is itself uncertain */
  int32_t most_size = count < 4 ? 32 : 34, most_shift = count < 4 ? 42 : 46, by_size = 0, by_shift = 0;
  for (int k = 0; k < 4; k++) {
    by_size += size <= (most_size - 2 * k) * explained;
    by_shift += shift <= (most_shift - 4 * k) * explained;
  }
  int32_t weight = by_size < by_shift ? by_size : by_shift;
  return count ? weight : 0;
}

/* Frames of the new average, the present one included. */
STEREO_SHARED int32_t
stereo_temporal_count (int32_t count, int32_t weight, int32_t most)
{
  int32_t kept = (count * weight >> 2) + 1;
  return kept < most ? kept : most;
}

/* Share of the present in an average of @count frames, in 1/16384, rounded. (Compilers make vectors of divisions of floats alone; no
 * quotient is nearer to the next whole number than 1 / STEREO_TEMPORAL_MOST.) */
STEREO_SHARED int32_t
stereo_temporal_share (int32_t count)
{
  return (int32_t) ((float) (16384 + count / 2) / (float) count);
}

/* The new average of a channel, in 1/256 of a grey level. */
STEREO_SHARED int32_t
stereo_temporal_blend (int32_t past, int32_t sample, int32_t share)
{
  return past + (((sample * 256 - past) * share + 8192) >> 14);
}

/* The sample that is matched: the one of the frame before, while the average is within 3/4 of a grey level of it. Rounding
 * would go up and down with averages near a half. */
STEREO_SHARED int32_t
stereo_temporal_hold (int32_t average, int32_t held)
{
  int32_t away = average - held * 256;
  return away > 192 || away < -192 ? (average + 128) >> 8 : held;
}

#endif
