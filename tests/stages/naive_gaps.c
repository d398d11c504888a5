/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly, from the header's and the documents' words: planes, and which filled pixels no surface bounds. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

/* Steps upward, in halves of a pixel: steep and flat ones to both sides, and straight up. */
static const int upward[7][2] = { { -2, -1 }, { -2, -2 }, { -1, -2 }, { 0, -2 }, { 1, -2 }, { 2, -2 }, { 2, -1 } };

static int
sure (const StereoPlan *p, int x, int y)
{
  float confidence = p->view[STEREO_LEFT].confidence[naive_map (p, x, y)];

  if (isnan (p->disparity[naive_map (p, x, y)]))
    return 0;
  return p->params.confidence_measure == STEREO_CONFIDENCE_PROBABILITY ? confidence >= 0.5f : confidence > 0;
}

/* Marks, in a map that is one pixel larger above and to the left, how many pixels above and to the left are marked in @map. */
static int *
sums_of (const StereoPlan *p, const char *map)
{
  size_t width = (size_t) p->width + 1;
  int *sums = naive_allocate (width * ((size_t) p->height + 1), sizeof *sums);

  for (size_t y = 0; y < (size_t) p->height; y++)
    for (size_t x = 0; x < (size_t) p->width; x++)
      sums[(y + 1) * width + x + 1] = map[y * (width - 1) + x] + sums[y * width + x + 1] + sums[(y + 1) * width + x] -
          sums[y * width + x];
  return sums;
}

static int
within (int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

/* Marked pixels not further than @radius from (x, y) along either axis. */
static int
count_around (const StereoPlan *p, const int *sums, int x, int y, int radius)
{
  size_t width = (size_t) p->width + 1;
  size_t left = (size_t) within (x - radius, 0, p->width), right = (size_t) within (x + radius + 1, 0, p->width);
  size_t top = (size_t) within (y - radius, 0, p->height), bottom = (size_t) within (y + radius + 1, 0, p->height);

  return sums[bottom * width + right] - sums[top * width + right] - sums[bottom * width + left] +
      sums[top * width + left];
}

/* The pixels of squares around a pixel of the picture of which at most @share are sure. */
static char *
bare_squares (const StereoPlan *p, int radius, double share)
{
  size_t count = (size_t) p->width * (size_t) p->height;
  char *map = naive_allocate (count, 1);
  double area = pow (2 * radius + 1, 2);
  int *sums;

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      map[y * p->width + x] = (char) sure (p, x, y);
  sums = sums_of (p, map);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      map[y * p->width + x] = count_around (p, sums, x, y, radius) <= share * area;
  free (sums);
  sums = sums_of (p, map);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      map[y * p->width + x] = count_around (p, sums, x, y, radius) > 0;
  free (sums);
  return map;
}

/* Whether the ray stays in the hole until it is above the picture. */
static int
leaves_at_top (const StereoPlan *p, const char *hole, int x, int y, const int *ray)
{
  for (int step = 0;; step++) {
    int column = x + (int) floor ((step * ray[0] + 1) / 2.0), row = y + (int) floor ((step * ray[1] + 1) / 2.0);
    if (row < 0)
      return 1;
    if (!naive_inside (p, column) || !hole[row * p->width + column])
      return 0;
  }
}

/* The sides of the squares are a 64th of the picture's width, and six times that. */
void
naive_gaps (StereoPlan *p)
{
  int radius = (int) fmax (floor (p->width / 128.0 + 0.5), 2);
  char *hole = bare_squares (p, radius, 0.4), *inner = bare_squares (p, 6 * radius, 0.01);

  naive_planes (p);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      int open = 0;
      for (int k = 0; k < 7; k++)
        open += leaves_at_top (p, hole, x, y, upward[k]);
      if (open >= 2 || inner[y * p->width + x])
        p->disparity[naive_map (p, x, y)] = NAN;
    }
  free (hole);
  free (inner);
}
