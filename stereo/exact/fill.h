/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filling: the disparity that a pixel without one gets.
 *
 * A pixel lost its disparity because it is occluded (the right view does not see it) or mismatched (the right view sees it,
 * and one of the two maps is wrong there). Values are found for one pixel of each cell, its point (stereo_fill_point()). A point that
 * has no disparity is occluded if no candidate of it lies on the right view's disparity map, and the surface to the right, of the
 * points of its row, is so much nearer that it can hide this point; so is one with no surface on one of the two sides. It gets the
 * farther of the two neighbours (Hirschmueller 2008, 2.6.2). Any other point gets a median of what it meets all around, in which
 * similar colours count more. fill=planes then fits a plane to the points of similar colour that have a disparity, and moves the value
 * onto this plane. At last each pixel without a disparity takes a median around it, in which a pixel without one has the value of its
 * cell's point.
 *
 * All sums are sums of whole numbers, so both backends get the same bits in any order of adding.
 */
#ifndef STEREO_EXACT_FILL_H
#define STEREO_EXACT_FILL_H

#include "stereo/exact/shared.h"

#define STEREO_FILL_CELL 4 /* px; side of a cell */

/* Cells along a side of @size pixels. */
STEREO_SHARED int
stereo_fill_cells (int size)
{
  return (size + STEREO_FILL_CELL - 1) / STEREO_FILL_CELL;
}

/* The row of the points of row @cell of cells. Their columns are the first ones of the cells: what an occluded pixel shows goes on to
 * its left. */
STEREO_SHARED int
stereo_fill_point (int cell, int height)
{
  int y = cell * STEREO_FILL_CELL + STEREO_FILL_CELL / 2;
  return y < height ? y : height - 1;
}

/* Whether a candidate lies on the disparity map of the right view: its partner selected @selected, within a pixel. No index is as
 * large as STEREO_INVALID - 1. */
STEREO_SHARED int
stereo_fill_sees (int candidate, int selected)
{
  return selected - candidate >= -1 && selected - candidate <= 1;
}

/* Whether the surface of the disparity @after, @cells to the right, hides from the right view what has the disparity @before;
 * also where one of them is not known, NaN. */
STEREO_SHARED int
stereo_fill_hides (float before, float after, int cells)
{
  return !((float) (STEREO_FILL_CELL * (cells - 1)) >= after - before);
}

/* ---- the neighbours all around --------------------------------------------------------------------- */

#define STEREO_FILL_RAYS 16
#define STEREO_FILL_STEPS 64 /* steps after which a ray ends; each is a pixel along x, along y or along both */

/* How far a step of ray @ray goes along x, in halves of a pixel: -2..2. The rays are numbered around the pixel. */
STEREO_SHARED int
stereo_ray_x (int ray)
{
  int turn = ray <= STEREO_FILL_RAYS / 2 ? ray : STEREO_FILL_RAYS - ray, halves = STEREO_FILL_RAYS / 4 - turn;
  return halves > 2 ? 2 : halves < -2 ? -2 : halves;
}

STEREO_SHARED int
stereo_ray_y (int ray)
{
  return stereo_ray_x ((ray + 3 * STEREO_FILL_RAYS / 4) % STEREO_FILL_RAYS);
}

/* How far @step steps of @halves go, px. */
STEREO_SHARED int
stereo_ray_offset (int step, int halves)
{
  return (step * halves + 1) >> 1;
}

/* Weight of a neighbour of the same colour in a median: a surface has one colour more often than two. It is one less for each
 * step of colour distance (0..765), and at least 1. The median is the least value with at least half of the weight at or
 * below it. */
#define STEREO_FILL_ALIKE 96

/* ---- smoothing ------------------------------------------------------------------------------------- */

/* A pixel without a disparity takes the weighted median, as above, of SIDE x SIDE pixels around it that are STEP px apart, itself
 * among them. */
#define STEREO_SMOOTH_SIDE 5
#define STEREO_SMOOTH_STEP 4
#define STEREO_SMOOTH_TAPS (STEREO_SMOOTH_SIDE * STEREO_SMOOTH_SIDE)
#define STEREO_SMOOTH_RADIUS (STEREO_SMOOTH_SIDE / 2 * STEREO_SMOOTH_STEP) /* px */
static_assert (STEREO_SMOOTH_RADIUS % STEREO_FILL_CELL == 0, "whole cells");

/* ---- the plane ------------------------------------------------------------------------------------- */

/* Taps are the points of CELLS x CELLS cells, of which this is the first column or row less that of the anchor's cell. */
#define STEREO_PLANE_CELLS 16
#define STEREO_PLANE_FIRST (1 - STEREO_PLANE_CELLS / 2)
#define STEREO_PLANE_STEPS 16      /* steps per pixel in which disparities are counted */
#define STEREO_PLANE_FARTHEST 5.0f /* px: the most that stereo_plane_near() allows */
#define STEREO_PLANE_WEIGHT 256    /* of a tap of the same colour, and of the anchor itself */
#define STEREO_PLANE_RIDGE 6 /* cells^2: variance added to that of the taps' places, so that few taps give no slope */
#define STEREO_PLANE_NOWHERE 1e9f     /* disparity of a tap that does not exist, or has none */
#define STEREO_PLANE_MAGIC 12582912.f /* 1.5 * 2^23: adding it, then subtracting it, rounds to a whole number */

/* Taps further than this from the anchor are of another surface, px; the plane stays as near. How much a slanted surface
 * changes over a window grows with its disparity. */
STEREO_SHARED float
stereo_plane_near (float anchor)
{
  float near = anchor * 0.15625f;
  return near < 1 ? 1.0f : near > STEREO_PLANE_FARTHEST ? STEREO_PLANE_FARTHEST : near;
}

/*
 * The bits of a float: the weight of a tap before it is rounded. It halves with every 32 of colour distance, the sum over R,
 * G and B (0..765), and is linear in between. That is what adding the shifted distance to the bits of a float does.
 */
#define STEREO_PLANE_WEIGHT_BITS 0x43800000 /* of the float STEREO_PLANE_WEIGHT */
#define STEREO_PLANE_DISTANCE_SHIFT 18

/* Weighted sums over the taps; x and y in cells from the anchor's on, d from the anchor in steps. All fit 27 bits. */
typedef struct StereoPlaneSums
{
  int32_t w, wx, wy, wxx, wxy, wyy, wd, wxd, wyd;
} StereoPlaneSums;

/* a * b / @weight, towards zero. Both operations round once: a product of sums has up to 43 bits. */
STEREO_SHARED int64_t
stereo_plane_share (int32_t a, int32_t b, double weight)
{
  return (int64_t) ((double) ((int64_t) a * b) / weight);
}

/* Slope in steps per cell, times 2^16. */
STEREO_SHARED int64_t
stereo_plane_slope (int64_t numerator, int64_t determinant)
{
  return (int64_t) ((double) numerator / (double) determinant * 65536.0);
}

/* What the plane of least squares adds to the anchor at the point itself, px. The anchor counts as a tap. */
STEREO_SHARED float
stereo_plane_offset (const StereoPlaneSums *s)
{
  double weight = (double) (s->w + STEREO_PLANE_WEIGHT);
  int64_t ridge = (int64_t) STEREO_PLANE_RIDGE * (s->w + STEREO_PLANE_WEIGHT);
  int64_t xx = s->wxx - stereo_plane_share (s->wx, s->wx, weight) + ridge;
  int64_t yy = s->wyy - stereo_plane_share (s->wy, s->wy, weight) + ridge;
  int64_t xy = s->wxy - stereo_plane_share (s->wx, s->wy, weight);
  int64_t xd = s->wxd - stereo_plane_share (s->wx, s->wd, weight);
  int64_t yd = s->wyd - stereo_plane_share (s->wy, s->wd, weight);
  int64_t determinant = xx * yy - xy * xy; /* below 2^46; the ridge keeps it above zero */
  int64_t slope_x = stereo_plane_slope (xd * yy - yd * xy, determinant);
  int64_t slope_y = stereo_plane_slope (yd * xx - xd * xy, determinant);
  int64_t centre = (int64_t) s->wd * 65536 - slope_x * s->wx - slope_y * s->wy;

  return (float) ((double) centre / weight / (65536.0 * STEREO_PLANE_STEPS));
}

/* The filled disparity: the anchor @anchor moved onto the plane, within the search, min .. max. */
STEREO_SHARED float
stereo_plane_value (const StereoPlaneSums *s, float anchor, float min, float max)
{
  float near = stereo_plane_near (anchor), offset = stereo_plane_offset (s), value;
  offset = offset > near ? near : offset < -near ? -near : offset;
  value = anchor + offset;
  return value < min ? min : value > max ? max : value;
}

#endif
