/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples: the bytes of an input pixel, and how a disparity becomes a sample of the output. */
#ifndef STEREO_EXACT_SAMPLE_H
#define STEREO_EXACT_SAMPLE_H

#include "stereo/exact/shared.h"

/* First and last sample of a pixel, in bytes from its start. The memory of an image may begin with the first sample of
 * its first pixel, and end with the last sample of its last pixel. */
STEREO_SHARED void
stereo_sample_range (const StereoImage *image, int *first, int *last)
{
  *first = *last = image->offset[0];
  for (int c = 1; c < image->channels; c++) {
    *first = image->offset[c] < *first ? image->offset[c] : *first;
    *last = image->offset[c] > *last ? image->offset[c] : *last;
  }
}

/* A 16-bit sample of disparity @d: d * scale, 1..65535. A disparity below zero cannot be stored: 0. */
STEREO_SHARED uint32_t
stereo_store_disparity (float d, float scale)
{
  float steps = rintf (d * scale);
  return steps < 0 ? 0 : steps < 1 ? 1 : steps > 65535 ? 65535 : (uint32_t) steps;
}

/* An 8-bit sample: the search range becomes 1..255. @factor is 254 / (num_disparities - 1). */
STEREO_SHARED uint32_t
stereo_store_byte (float d, float min, float factor)
{
  float steps = 1 + rintf ((d - min) * factor);
  return steps < 1 ? 1 : steps > 255 ? 255 : (uint32_t) steps;
}

/* Depth in millimetres. @focal_baseline: focal length * baseline, px * mm; @offset: principal-offset, px. The depth is
 * infinite where the two rays do not converge. */
STEREO_SHARED float
stereo_depth (float d, float focal_baseline, float offset)
{
  float convergence = d + offset;
  return convergence > 0 ? focal_baseline / convergence : INFINITY;
}

/* A 16-bit sample of depth, 1..65535. */
STEREO_SHARED uint32_t
stereo_store_depth (float millimetres, float steps_per_mm)
{
  float steps = rintf (millimetres * steps_per_mm);
  return steps < 1 ? 1 : steps > 65535 ? 65535 : (uint32_t) steps;
}

#endif
