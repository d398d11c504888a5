/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/ground_truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stereo/tools/image.h"

#define KITTI_STEPS 256 /* in a pixel */

static int
fits (const char *path, int width, int height, int view_width, int view_height)
{
  if (width == view_width && height == view_height)
    return 1;
  fprintf (stderr, "%s is %dx%d: it must have the views' size, %dx%d\n", path, width, height, view_width, view_height);
  return 0;
}

/* Steps in a pixel. Middlebury 2005 and 2006 have views of 1110 rows, whose truth counts pixels, and the same pictures at a
 * half and a third of the size, whose truth still has the numbers of the full size. 0 and a message for other sizes. */
static int
middlebury_scale (const char *path, int height, int scale)
{
  if (scale || height == 1110)
    return scale ? scale : 1;
  if (height == 555 || height == 370)
    return 1110 / height;
  fprintf (stderr,
      "%s has %d rows: an 8-bit truth of Middlebury has 1110, 555 or 370; for another size set --truth-scale, the "
      "steps in a pixel\n",
      path, height);
  return 0;
}

/* Samples of a grey PNG, of the given depth and of the views' size; NULL and a message otherwise. */
static uint16_t *
read_samples (const char *path, int bits, const char *format, int width, int height)
{
  int own_width, own_height, own_bits;
  uint16_t *samples;

  if (!image_read_samples (path, &own_width, &own_height, &own_bits, &samples))
    return NULL;
  if (own_bits != bits)
    fprintf (stderr, "%s has %d bits a pixel: %s has %d\n", path, own_bits, format, bits);
  else if (fits (path, own_width, own_height, width, height))
    return samples;
  free (samples);
  return NULL;
}

static float *
read_png (const SceneFiles *files, int scale, int width, int height)
{
  int kitti = files->truth_format == TRUTH_KITTI;
  const char *format = kitti ? "a truth of KITTI (disparity times 256, 0 where unknown)" :
                               "an 8-bit truth of Middlebury";
  uint16_t *samples = read_samples (files->truth, kitti ? 16 : 8, format, width, height);
  int steps = !samples || kitti ? KITTI_STEPS : middlebury_scale (files->truth, height, scale);
  size_t pixels = (size_t) width * (size_t) height;
  float *truth = samples && steps ? malloc (pixels * sizeof *truth) : NULL;

  for (size_t at = 0; truth && at < pixels; at++)
    truth[at] = samples[at] ? (float) samples[at] / (float) steps : INFINITY;
  free (samples);
  return truth;
}

static float *
read_truth (const SceneFiles *files, int scale, int width, int height)
{
  int own_width, own_height;
  float *truth;

  if (files->truth_format != TRUTH_PFM)
    return read_png (files, scale, width, height);
  if (!image_read_pfm (files->truth, &own_width, &own_height, &truth))
    return NULL;
  if (fits (files->truth, own_width, own_height, width, height))
    return truth;
  free (truth);
  return NULL;
}

static uint8_t *
read_visible (const SceneFiles *files, int width, int height)
{
  int kitti = files->visible_format == VISIBLE_KITTI;
  uint16_t *samples = read_samples (files->visible, kitti ? 16 : 8,
      kitti ? "a truth of KITTI (disparity times 256, 0 where unknown)" : "a mask", width, height);
  size_t pixels = (size_t) width * (size_t) height;
  uint8_t *visible = samples ? malloc (pixels) : NULL;

  for (size_t at = 0; visible && at < pixels; at++)
    visible[at] = (kitti ? samples[at] != 0 : samples[at] == 255) ? 255 : 0;
  free (samples);
  return visible;
}

int
ground_truth_read (const SceneFiles *files, int scale, int width, int height, float **truth, uint8_t **visible)
{
  *truth = NULL;
  *visible = NULL;
  if (files->truth_format == TRUTH_NONE)
    return 1; /* a mask alone says nothing */
  *truth = read_truth (files, scale, width, height);
  if (*truth && files->visible_format != VISIBLE_NONE)
    *visible = read_visible (files, width, height);
  if (*truth && (*visible || files->visible_format == VISIBLE_NONE))
    return 1;
  free (*truth);
  *truth = NULL;
  return 0;
}
