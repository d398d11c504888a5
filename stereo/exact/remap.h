/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remapping: bilinear interpolation in whole numbers. */
#ifndef STEREO_EXACT_REMAP_H
#define STEREO_EXACT_REMAP_H

#include "stereo/exact/shared.h"
#include "stereo/remap.h"

#define STEREO_REMAP_SHIFT 7 /* STEREO_REMAP_STEPS is 1 << this */

static_assert (STEREO_REMAP_STEPS == 1 << STEREO_REMAP_SHIFT, "steps of a pixel");

/* First and last byte that the channels of a sample reach. */
STEREO_SHARED void
stereo_remap_range (const StereoRemapLayout *layout, int channels, int *first, int *last)
{
  *first = *last = layout->offset[0];
  for (int c = 1; c < channels; c++) {
    *first = layout->offset[c] < *first ? layout->offset[c] : *first;
    *last = layout->offset[c] > *last ? layout->offset[c] : *last;
  }
}

/* The sample at (@fx, @fy) steps from @a between four samples: @a and @b in the upper row, @c and @d in the lower one.
 * The sum is at most 255 * STEPS^2 + half. */
STEREO_SHARED uint32_t
stereo_remap_blend (uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t fx, uint32_t fy)
{
  uint32_t top = a * (STEREO_REMAP_STEPS - fx) + b * fx, bottom = c * (STEREO_REMAP_STEPS - fx) + d * fx;
  return (top * (STEREO_REMAP_STEPS - fy) + bottom * fy + (1u << (2 * STEREO_REMAP_SHIFT - 1))) >>
      (2 * STEREO_REMAP_SHIFT);
}

/* The channel at @offset of source sample (x, y); outside the source @border. */
STEREO_SHARED uint32_t
stereo_remap_tap (const uint8_t *data, ptrdiff_t stride, int pixel_stride, int x, int y, int width, int height,
    int offset, uint32_t border)
{
  if ((unsigned) x >= (unsigned) width || (unsigned) y >= (unsigned) height)
    return border;
  return data[y * stride + (ptrdiff_t) x * pixel_stride + offset];
}

#endif
