/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection: which candidates exist, the penalty of refinement, the sub-pixel fit, and which near pixels the check leaves alone. */
#ifndef STEREO_EXACT_SELECTION_H
#define STEREO_EXACT_SELECTION_H

#include "stereo/exact/shared.h"

/* Candidates of column @x of either view: first index .. last index, whose partners lie in the other image. There is
 * none when first > last. */
STEREO_SHARED int
stereo_first_index (int x, int width, int min_disparity)
{
  int first = x - (width - 1) - min_disparity;
  return first > 0 ? first : 0;
}

STEREO_SHARED int
stereo_last_index (int x, int disparities, int min_disparity)
{
  int last = x - min_disparity;
  return last < disparities - 1 ? last : disparities - 1;
}

/* Penalty of 3.2.3, alpha * |D-bar - d|, in volume steps. @alpha is plan->alpha: alpha * unit * 256 / EXPECT_STEPS. */
STEREO_SHARED uint32_t
stereo_penalty (uint32_t alpha, int32_t expected, int index)
{
  int32_t away = expected - index * STEREO_EXPECT_STEPS;
  return (alpha * (uint32_t) (away < 0 ? -away : away)) >> 8;
}

/* Equiangular (V-shaped) sub-pixel offset, -0.5..0.5 px: both flanks get the slope of the steeper one. */
STEREO_SHARED float
stereo_equiangular (uint32_t before, uint32_t lowest, uint32_t after)
{
  uint32_t steep = before > after ? before : after;
  if (steep <= lowest || before < lowest || after < lowest)
    return 0.0f;
  return (float) ((int32_t) before - (int32_t) after) / (float) (2 * (steep - lowest));
}

/*
 * The check leaves some near pixels alone. Paths smooth the right view too: of a thin thing before a far surface, the right pixels
 * take the surface's disparity, and the left pixels of the thing fail the check. Such a left pixel keeps its confidence if it looks
 * clearly more like its partner than the left pixel that the partner prefers. That one must be farther away: behind a thing that
 * hides it from the right view, a pixel has a partner that prefers a nearer one. The pixels look as alike as windows of luma around
 * them. Where a window is not inside its picture, nothing is kept.
 */
#define STEREO_KEEP_RADIUS 1 /* px; of a window */
#define STEREO_KEEP_LEAST 50 /* grey levels, in all of a window, by which the pixel must be more alike */

/* The sum of absolute differences of two windows. @left, @right: their middles; the right view is stored mirrored. */
STEREO_SHARED int
stereo_window_difference (const uint8_t *left, const uint8_t *right, ptrdiff_t pitch)
{
  int sum = 0;

  for (int v = -STEREO_KEEP_RADIUS; v <= STEREO_KEEP_RADIUS; v++)
    for (int u = -STEREO_KEEP_RADIUS; u <= STEREO_KEEP_RADIUS; u++) {
      int difference = left[v * pitch + u] - right[v * pitch - u];
      sum += difference < 0 ? -difference : difference;
    }
  return sum;
}

/* Whether left pixel (@x, @y) of index @own is left alone. @partner: the column of its partner, inside the picture, and @other, the
 * partner's index. @left, @right: luma of row @y. */
STEREO_SHARED int
stereo_is_left_alone (const uint8_t *left, const uint8_t *right, ptrdiff_t pitch, int width, int height, int x, int y,
    int own, int partner, int other)
{
  const int radius = STEREO_KEEP_RADIUS;
  int preferred = x - (own - other); /* the left column, in the picture if @other is an index */

  if (other >= own || preferred < radius || x >= width - radius || partner < radius || partner >= width - radius ||
      y < radius || y >= height - radius)
    return 0;
  int own_difference = stereo_window_difference (left + x, right + partner, pitch);
  int other_difference = stereo_window_difference (left + preferred, right + partner, pitch);
  return other_difference - own_difference >= STEREO_KEEP_LEAST;
}

#endif
