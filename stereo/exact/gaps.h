/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pixels of a filled picture stay without a value: fill=gaps removes the values of fill=planes where no surface bounds
 * them.
 *
 * The picture is divided into the cells of fill.h. A pixel is sure if it has a disparity before it is filled, and that is at
 * least as likely right as wrong (stereo_params_sure()). The pixels at the left border that the right view lacks count as sure: the
 * surface beside them goes on. A square of cells is bare if few of its pixels are sure. What lies above or below the picture is not
 * sure; near the left and the right border squares are shifted inwards. There are two kinds of squares:
 *
 * - All cells of a large square that is bare belong to no surface: the middle of a white wall, a fogged lens.
 * - The cells of small squares that are bare are holes. The surfaces around a hole close it, unless it is open at a cell: of
 *   the rays of fill.h that go up from the cell, OPEN leave the picture at its top before they leave the hole. Such a hole
 *   is the sky; its outline may be as narrow as a small square. A ray that leaves the picture at a side does not count,
 *   because the scene goes on there.
 *
 * Occlusions, and places where a surface has no texture, have surfaces above them.
 */
#ifndef STEREO_EXACT_GAPS_H
#define STEREO_EXACT_GAPS_H

#include "stereo/exact/fill.h"

#define STEREO_GAPS_RAYS (STEREO_FILL_RAYS / 2 - 1) /* that go up */
#define STEREO_GAPS_OPEN 2

typedef enum StereoGapsSquare
{
  STEREO_GAPS_SMALL,
  STEREO_GAPS_LARGE
} StereoGapsSquare;

/* The number in fill.h of the @k-th ray that goes up. */
STEREO_SHARED int
stereo_gaps_ray (int k)
{
  return STEREO_FILL_RAYS / 2 + 1 + k;
}

/* Radius of a square, cells. It grows with the width of the picture, px, so that a square shows the same part of the scene: a 64th
 * of the width, or seven times that. */
STEREO_SHARED int
stereo_gaps_radius (StereoGapsSquare square, int width)
{
  int radius = (width + 64) / 512;
  radius = radius < 1 ? 1 : radius;
  return square == STEREO_GAPS_LARGE ? 7 * radius : radius;
}

/* Whether the right view lacks what lies to the left of a row's first sure pixel: its partner is within a cell of the border. */
STEREO_SHARED int
stereo_gaps_at_border (int x, float disparity)
{
  return (float) x - disparity < (float) STEREO_FILL_CELL;
}

/* The first column of cells, of @cells, that the square around column @cell has; it has 2 * @radius + 1 columns, or all. */
STEREO_SHARED int
stereo_gaps_first (int cell, int radius, int cells)
{
  int first = cell - radius, last = cells - 2 * radius - 1;
  first = first < last ? first : last;
  return first > 0 ? first : 0;
}

/* The most sure pixels of a bare square: two fifths of a small one, a hundredth of a large one. */
STEREO_SHARED int
stereo_gaps_most (StereoGapsSquare square, int width)
{
  int side = (2 * stereo_gaps_radius (square, width) + 1) * STEREO_FILL_CELL;
  return square == STEREO_GAPS_LARGE ? side * side / 100 : side * side * 2 / 5;
}

#endif
