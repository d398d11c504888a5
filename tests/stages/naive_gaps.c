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

/* Whether the right view ends where the first sure pixel of the row has its partner, within 4 pixels, and x lies before that. */
static int
right_lacks (const StereoPlan *p, int x, int y)
{
  int first = 0;

  while (first < p->width && !sure (p, first, y))
    first++;
  return x < first && first < p->width && (float) first - p->disparity[naive_map (p, first, y)] < 4;
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
      c.sure[y / SIDE * c.columns + x / SIDE] += sure (p, x, y) || right_lacks (p, x, y);
  return c;
}

/* A square of cells, which may reach beyond the picture. */
typedef struct Square
{
  int x, y, side;
} Square;

static int
is_in (const Square *s, int x, int y)
{
  return x >= s->x && x < s->x + s->side && y >= s->y && y < s->y + s->side;
}

/* Sum over the cells of the picture. */
static int
sum_of (const Cells *c, const Square *s)
{
  int sum = 0;

  for (int y = 0; y < c->rows; y++)
    for (int x = 0; x < c->columns; x++)
      sum += is_in (s, x, y) ? c->sure[y * c->columns + x] : 0;
  return sum;
}

/* The cells of all squares of which at most @share are sure, of those that are centred at a row of the picture, and between its left
 * and right border. If none fits there, they begin at the left border. */
static char *
bare_squares (const Cells *c, int radius, double share)
{
  char *map = naive_allocate ((size_t) c->columns * (size_t) c->rows, 1);
  Square s = { .side = 2 * radius + 1 };
  double area = pow (SIDE * s.side, 2);

  for (s.y = -radius; s.y < c->rows - radius; s.y++)
    for (s.x = 0; s.x == 0 || s.x + s.side <= c->columns; s.x++) {
      int bare = sum_of (c, &s) <= share * area;
      for (int y = 0; y < c->rows; y++)
        for (int x = 0; x < c->columns; x++)
          map[y * c->columns + x] |= (char) (bare && is_in (&s, x, y));
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
