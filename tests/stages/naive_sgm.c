/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: semi-global matching, one path at a time, from the equations of Mahieu & Lowney, section 3, and
 * Hirschmueller 2008, 2.3 (which subtracts the minimum of the pixel before). */
#include "naive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Where a path comes from, in the picture, and Table 1's penalties along it. */
static const struct
{
  int dx, dy;
  double p1, p2;
} directions[8] = {
  { -1, 0, 22.02, 82.79 },
  { 1, 0, 22.02, 82.79 },
  { 0, -1, 17.75, 80.87 },
  { 0, 1, 17.75, 80.87 },
  { 1, -1, 14.93, 23.30 },
  { -1, 1, 14.93, 23.30 },
  { -1, -1, 10.67, 28.80 },
  { 1, 1, 10.67, 28.80 },
};

/* A path's costs of the pixel before and of this one; -1: no such candidate. */
typedef struct Path
{
  long *before, *here;
  long small, large;
  int scale;
} Path;

static int
exists (const StereoPlan *p, int x, int i)
{
  return i >= 0 && i < p->disparities && naive_inside (p, naive_partner (p, x, i));
}

static long
lowest (const StereoPlan *p, const long *costs)
{
  long low = -1;
  for (int i = 0; i < p->disparities; i++)
    if (costs[i] >= 0 && (low < 0 || costs[i] < low))
      low = costs[i];
  return low;
}

/* min (L (q, d), L (q, d - 1) + P1, L (q, d + 1) + P1, min L (q) + P2) - min L (q); 0 without a pixel before. */
static long
cheapest (const StereoPlan *p, const Path *path, int i)
{
  long low = lowest (p, path->before), best = low + path->large;

  if (low < 0)
    return 0;
  for (int k = i - 1; k <= i + 1; k++)
    if (k >= 0 && k < p->disparities && path->before[k] >= 0) {
      long cost = path->before[k] + (k == i ? 0 : path->small);
      best = cost < best ? cost : best;
    }
  return best - low;
}

/* Follows one path from where it enters the picture, and adds its costs to the sums. */
static void
follow (const StereoPlan *p, Path *path, int x, int y, int dx, int dy, long *sums)
{
  for (int i = 0; i < p->disparities; i++)
    path->before[i] = -1;
  for (; x >= 0 && x < p->width && y >= 0 && y < p->height; x -= dx, y -= dy) {
    for (int i = 0; i < p->disparities; i++) {
      path->here[i] = -1;
      if (!exists (p, x, i))
        continue;
      path->here[i] = (long) naive_raw_cost (p, naive_image (p, x, y), naive_image (p, naive_partner (p, x, i), y)) *
              path->scale +
          cheapest (p, path, i);
      sums[(size_t) (naive_cost (p, x, y, i) - p->volume)] += path->here[i];
    }
    long *swap = path->before;
    path->before = path->here;
    path->here = swap;
  }
}

/* Table 1 as it stands for AD and census-9x7; less for costs of fewer bits; unless set by hand. */
static long
penalty (const StereoPlan *p, double by_hand, double of_table, int scale)
{
  double factor = p->params.cost == STEREO_COST_CENSUS_7X5 ? 0.7 : p->params.cost == STEREO_COST_MIXED ? 0.8 : 1;
  double units = p->params.cost == STEREO_COST_MIXED ? 4 : 1; /* raw steps a cost unit */
  return lrint ((by_hand > 0 ? by_hand : of_table * factor) * units * scale);
}

void
naive_sgm (StereoPlan *p)
{
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->depth;
  long *sums = naive_allocate (count, sizeof *sums),
       *lines = naive_allocate (2 * (size_t) p->disparities, sizeof *lines);
  int paths = p->params.paths;

  for (int r = 0; r < paths; r++) {
    int dx = directions[r].dx, dy = directions[r].dy, scale = p->volume_unit / paths;
    Path path = { lines, lines + p->disparities, penalty (p, p->params.p1, directions[r].p1, scale),
      penalty (p, p->params.p2, directions[r].p2, scale), scale };
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        if (!naive_inside (p, x + dx) || y + dy < 0 || y + dy >= p->height)
          follow (p, &path, x, y, dx, dy, sums);
  }
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->depth; i++) {
        uint16_t *cost = naive_cost (p, x, y, i);
        long sum = sums[(size_t) (cost - p->volume)];
        if (exists (p, x, i) && sum > (long) STEREO_COST_TOP) {
          fprintf (stderr, "sgm: the sum %ld does not fit 16 bits\n", sum);
          exit (1);
        }
        *cost = exists (p, x, i) ? (uint16_t) sum : STEREO_INVALID;
      }
  free (sums);
  free (lines);
}
