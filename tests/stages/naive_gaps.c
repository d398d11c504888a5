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

/* Cells of 4 x 4 pixels. */
enum
{
  SIDE = 4
};

typedef struct Cells
{
  int columns, rows;
  int *sure; /* pixels of each */
} Cells;

static Cells
count_sure (const StereoPlan *p)
{
  Cells c = { (int) ceil (p->width / (double) SIDE), (int) ceil (p->height / (double) SIDE), NULL };

  c.sure = naive_allocate ((size_t) c.columns * (size_t) c.rows, sizeof *c.sure);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      c.sure[y / SIDE * c.columns + x / SIDE] += sure (p, x, y);
  return c;
}

/* Sum over the cells not further than @radius from (x, y) along either axis. */
static int
sum_around (const Cells *c, int x, int y, int radius)
{
  int sum = 0;

  for (int v = y - radius; v <= y + radius; v++)
    for (int u = x - radius; u <= x + radius; u++)
      if (u >= 0 && u < c->columns && v >= 0 && v < c->rows)
        sum += c->sure[v * c->columns + u];
  return sum;
}

/* The cells of squares around a cell of the picture of which at most @share are sure. */
static char *
bare_squares (const Cells *c, int radius, double share)
{
  char *map = naive_allocate ((size_t) c->columns * (size_t) c->rows, 1);
  double area = pow (SIDE * (2 * radius + 1), 2);

  for (int y = 0; y < c->rows; y++)
    for (int x = 0; x < c->columns; x++) {
      if (sum_around (c, x, y, radius) > share * area)
        continue;
      for (int v = y - radius; v <= y + radius; v++)
        for (int u = x - radius; u <= x + radius; u++)
          if (u >= 0 && u < c->columns && v >= 0 && v < c->rows)
            map[v * c->columns + u] = 1;
    }
  return map;
}

/* Whether the ray stays in the hole until it is above the picture. */
static int
leaves_at_top (const Cells *c, const char *hole, int x, int y, const int *ray)
{
  for (int step = 0;; step++) {
    int column = x + (int) floor ((step * ray[0] + 1) / 2.0), row = y + (int) floor ((step * ray[1] + 1) / 2.0);
    if (row < 0)
      return 1;
    if (column < 0 || column >= c->columns || !hole[row * c->columns + column])
      return 0;
  }
}

/* A small square has a radius of a cell for each 512 pixels of the picture's width, rounded, but at least one; a large one seven
 * times that. */
void
naive_gaps (StereoPlan *p)
{
  Cells c = count_sure (p);
  int radius = (int) fmax (floor (p->width / 512.0 + 0.125), 1);
  char *hole = bare_squares (&c, radius, 0.4), *inner = bare_squares (&c, 7 * radius, 0.01);

  naive_planes (p);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      int open = 0, cell = y / SIDE * c.columns + x / SIDE;
      for (int k = 0; k < 7; k++)
        open += leaves_at_top (&c, hole, x / SIDE, y / SIDE, upward[k]);
      if (open >= 2 || inner[cell])
        p->disparity[naive_map (p, x, y)] = NAN;
    }
  free (hole);
  free (inner);
  free (c.sure);
}
