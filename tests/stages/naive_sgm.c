/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: semi-global matching, and the paths after other methods, one path at a time, from the equations of Mahieu & Lowney, section 3, and
 * Hirschmueller 2008, 2.3 (which subtracts the minimum of the pixel before). */
#include "naive.h"

#include <limits.h>
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
cheapest (const StereoPlan *p, const NaivePath *path, int i)
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

/* Both penalties of the way from pixel (x + dx, y + dy), which may be outside, to pixel (x, y). */
static void
set_penalties (const StereoPlan *p, NaivePath *path, int x, int y, int dx, int dy)
{
  const uint8_t *luma = p->view[STEREO_LEFT].luma;
  int step = 0;

  if (naive_inside (p, x + dx) && y + dy >= 0 && y + dy < p->height)
    step = abs (luma[naive_image (p, x, y)] - luma[naive_image (p, x + dx, y + dy)]);
  int lowered = p->params.penalty_step > 0 && step >= p->params.penalty_step;
  path->small = lowered ? path->p1 / (p->listed ? 4 : 2) : path->p1;
  path->large = lowered ? path->p2 / (p->listed ? 3 : 2) : path->p2;
}

void
naive_follow (const StereoPlan *p, NaivePath *path, int x, int y, int dx, int dy, const int part[3], long *sums)
{
  for (int i = 0; i < p->disparities; i++)
    path->before[i] = -1;
  for (int k = 0; x >= 0 && x < p->width && y >= 0 && y < p->height && k < part[2]; x -= dx, y -= dy, k++) {
    if (k < part[0])
      continue;
    set_penalties (p, path, x, y, dx, dy);
    for (int i = 0; i < p->disparities; i++) {
      size_t place = (size_t) (naive_cost (p, x, y, i) - p->volume);
      path->here[i] = -1;
      if (path->costs[place] < 0)
        continue;
      path->here[i] = path->costs[place] * path->unit +
          (cheapest (p, path, i) + path->whole / 2) / path->whole * path->whole;
      sums[place] += k < part[1] ? 0 : path->here[i];
    }
    long low = lowest (p, path->here);
    for (int i = 0; i < p->disparities; i++)
      if (path->costs[(size_t) (naive_cost (p, x, y, i) - p->volume)] == NAIVE_OUTSIDE)
        path->here[i] = low < 0 ? 0 : low;
    long *swap = path->before;
    path->before = path->here;
    path->here = swap;
  }
}

/* For sgm: table 1 as it stands for AD and census-9x7. After other methods: 6 and, for a search of 128, 66 for these. Less for
 * costs of fewer bits; unless set by hand. @scale: steps of a path's cost in a raw step. After other methods, if no path is
 * weighted, an even number of steps of the costs. */
static long
penalty (const StereoPlan *p, double by_hand, double of_table, double scale)
{
  double factor = p->params.cost == STEREO_COST_CENSUS_7X5 ? 0.7 : p->params.cost == STEREO_COST_MIXED ? 0.8 : 1;
  double steps = (by_hand > 0 ? by_hand : of_table * factor) * stereo_cost_info (p->params.cost)->unit * scale;
  long whole = p->params.method == STEREO_METHOD_SGM || p->path_weighted ? 1 : 2 * p->path_unit;
  return whole * lrint (steps / (double) whole);
}

static void
store_sums (const StereoPlan *p, const long *sums)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->depth; i++) {
        uint16_t *cost = naive_cost (p, x, y, i);
        long sum = sums[(size_t) (cost - p->volume)];
        if (naive_exists (p, x, i) && sum > (long) STEREO_COST_TOP) {
          fprintf (stderr, "paths: the sum %ld does not fit 16 bits\n", sum);
          exit (1);
        }
        *cost = naive_exists (p, x, i) ? (uint16_t) sum : STEREO_INVALID;
      }
}

/* What the pixel before adds is rounded to a multiple of this: of sgm, the least power of two that lets twice the largest
 * penalty fit a byte. */
static long
rounding (const StereoPlan *p, double scale)
{
  int sgm = p->params.method == STEREO_METHOD_SGM, searched = p->params.num_disparities;
  long largest = 0, whole = 1;

  for (int r = 0; r < 8; r++) {
    long p2 = penalty (p, p->params.p2, sgm ? directions[r].p2 : 66 * log2 (searched < 2 ? 2 : searched) / 7, scale);
    largest = p2 > largest ? p2 : largest;
  }
  while (sgm && !p->path_weighted && 2 * ((largest + whole / 2) / whole) > 255)
    whole *= 2;
  return whole;
}

/* The sums of all paths over @costs, to the volume. @scale: steps of the costs in a raw step; each is as many steps of a path's
 * costs as its direction has units. */
static void
sum_paths (StereoPlan *p, const long *costs, double scale)
{
  static const int kind[8] = { STEREO_PATH_SIDEWAYS, STEREO_PATH_SIDEWAYS, STEREO_PATH_VERTICAL, STEREO_PATH_VERTICAL,
    STEREO_PATH_RISING, STEREO_PATH_RISING, STEREO_PATH_FALLING, STEREO_PATH_FALLING };
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->depth;
  long *sums = naive_allocate (count, sizeof *sums),
       *lines = naive_allocate (2 * (size_t) p->disparities, sizeof *lines);
  int sgm = p->params.method == STEREO_METHOD_SGM, searched = p->params.num_disparities;

  for (int r = 0; r < p->params.paths; r++) {
    int dx = directions[r].dx, dy = directions[r].dy;
    long unit = p->path_units[kind[r]];
    double steps = scale * (double) unit;
    long p1 = penalty (p, p->params.p1, sgm ? directions[r].p1 : 6, steps);
    long p2 = penalty (p, p->params.p2, sgm ? directions[r].p2 : 66 * log2 (searched < 2 ? 2 : searched) / 7, steps);
    NaivePath path = { costs, unit, lines, lines + p->disparities, p1 < p2 ? p1 : p2, p2, 0, 0, rounding (p, steps) };
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        if (!naive_inside (p, x + dx) || y + dy < 0 || y + dy >= p->height)
          naive_follow (p, &path, x, y, dx, dy, (const int[3]){ 0, 0, INT_MAX }, sums);
  }
  store_sums (p, sums);
  free (sums);
  free (lines);
}

/* The cost of every candidate that exists: raw, or the volume's as a byte. */
static long *
make_costs (StereoPlan *p, int of_volume)
{
  long *costs = naive_allocate ((size_t) p->width * (size_t) p->height * (size_t) p->depth, sizeof *costs);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->disparities; i++) {
        const uint16_t *cost = naive_cost (p, x, y, i);
        long byte;
        costs[(size_t) (cost - p->volume)] = NAIVE_OUTSIDE;
        if (!naive_exists (p, x, i))
          continue;
        byte = of_volume ? (long) floor (*cost / exp2 (p->path_shift) + (p->path_shift ? 0.5 : 0)) :
                           naive_raw_cost (p, naive_image (p, x, y), naive_image (p, naive_partner (p, x, i), y));
        costs[(size_t) (cost - p->volume)] = byte < 255 ? byte : 255;
      }
  return costs;
}

void
naive_sgm (StereoPlan *p)
{
  long *costs = make_costs (p, 0);
  sum_paths (p, costs, 1);
  free (costs);
}

void
naive_paths (StereoPlan *p)
{
  long *costs = make_costs (p, 1);
  sum_paths (p, costs, p->volume_unit / exp2 (p->path_shift));
  free (costs);
}
