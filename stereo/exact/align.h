/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Alignment: the right view resampled along its columns, in whole numbers. */
#ifndef STEREO_EXACT_ALIGN_H
#define STEREO_EXACT_ALIGN_H

#include "stereo/exact/shared.h"

#define STEREO_ALIGN_SHIFT 10                          /* a coefficient counts 1 / 1024 px */
#define STEREO_ALIGN_LARGEST (3 << STEREO_ALIGN_SHIFT) /* a row is at most 3 px away from where it should be */

/* The polynomial of StereoAlignment. No coefficient is beyond +- STEREO_ALIGN_TOP: no product passes 31 bits then. */
#define STEREO_ALIGN_TOP (1 << 14)
typedef struct StereoAlignSteps
{
  int32_t active;
  int32_t c[6];
} StereoAlignSteps;

/* What column @x of @size has as u, row @y of @size as v: -1/2..1/2, in 2^-16. @scale: stereo_align_scale (size). */
STEREO_SHARED uint32_t
stereo_align_scale (int size)
{
  return 0x80000000u / (uint32_t) size;
}
STEREO_SHARED int32_t
stereo_align_place (int x, uint32_t scale)
{
  return (int32_t) ((uint32_t) x * scale >> 15) - 0x8000;
}

/* The polynomial along a row: (curve u + slope) u + offset. */
typedef struct StereoAlignRow
{
  int32_t offset, slope, curve;
} StereoAlignRow;

STEREO_SHARED StereoAlignRow
stereo_align_row (const StereoAlignSteps *a, int32_t v)
{
  StereoAlignRow row = { a->c[0] + ((a->c[1] + (a->c[5] * v >> 16)) * v >> 16), a->c[2] + (a->c[4] * v >> 16), a->c[3] };
  return row;
}

/* How much lower the sample for a place lies, in 1/256 px. */
STEREO_SHARED int32_t
stereo_align_drop (StereoAlignRow row, int32_t u)
{
  int32_t d = row.offset + ((row.slope + (row.curve * u >> 16)) * u >> 16);
  d = d < -STEREO_ALIGN_LARGEST ? -STEREO_ALIGN_LARGEST : d > STEREO_ALIGN_LARGEST ? STEREO_ALIGN_LARGEST : d;
  return (d + 2) >> (STEREO_ALIGN_SHIFT - 8);
}

/* Weights of the four samples around a place @part / 256 px below the second of them, in 1/256: the cubic of Catmull and Rom
 * (1974). Two samples would blur one view alone. */
typedef struct StereoAlignTaps
{
  int32_t weight[4];
} StereoAlignTaps;

STEREO_SHARED StereoAlignTaps
stereo_align_taps (int32_t part)
{
  int32_t square = part * part >> 8, cube = square * part >> 8;
  StereoAlignTaps taps;

  taps.weight[0] = (2 * square - part - cube) >> 1;
  taps.weight[2] = (part + 4 * square - 3 * cube) >> 1;
  taps.weight[3] = (cube - square) >> 1;
  taps.weight[1] = 256 - taps.weight[0] - taps.weight[2] - taps.weight[3];
  return taps;
}

/* The colour there. */
STEREO_SHARED uint32_t
stereo_align_blend (const uint32_t color[4], StereoAlignTaps taps)
{
  uint32_t blended = 0;

  for (int shift = 0; shift < 24; shift += 8) {
    int32_t sum = 128;
    for (int k = 0; k < 4; k++)
      sum += taps.weight[k] * (int32_t) (color[k] >> shift & 0xFF);
    sum >>= 8;
    blended |= (uint32_t) (sum < 0 ? 0 : sum > 255 ? 255 : sum) << shift;
  }
  return blended;
}

/* Luma of a colour: (77 R + 150 G + 29 B + 128) >> 8. */
STEREO_SHARED uint32_t
stereo_align_luma (uint32_t color)
{
  return (77 * (color & 0xFF) + 150 * (color >> 8 & 0xFF) + 29 * (color >> 16 & 0xFF) + 128) >> 8;
}

#endif
