/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: views averaged over time. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

/* The numbers of the comment in stereo/exact/temporal.h, once more: none is taken from there. */
enum
{
  MOST = 32, /* frames that count */
  RADIUS = 2,
  AWAY = 2,     /* from a window to the next */
  BINS = 256,   /* of a histogram */
  ROUGHEST = 12 /* grey levels of noise */
};

static int
clamp (int value, int top)
{
  return value < 0 ? 0 : value > top ? top : value;
}

/* The luma of three channels, in their unit, to the nearest: BT.601, whose weights are whole 256ths. */
static double
luma_of (double red, double green, double blue)
{
  return floor ((77 * red + 150 * green + 29 * blue) / 256 + 0.5);
}

/* From the past, which is in 1/256 of a grey level, to the present luma of a pixel; in 1/64, rounded down. */
static int
change_at (const StereoPlan *p, int view, int x, int y)
{
  const StereoPast *past = &p->past[view];
  size_t at = naive_map (p, x, y);
  double before = luma_of (past->channel[0][at], past->channel[1][at], past->channel[2][at]);

  return (int) floor ((256 * p->view[view].luma[naive_image (p, x, y)] - before) / 4);
}

/* The size of a change, in whole grey levels. An average of @count frames has noise of its own, by which the change is
 * sqrt (1 + 1 / count) times as large: (4 count + 3) / (4 count + 1). The quotient is rounded down, the grey level to the
 * nearest. */
static int
size_in_levels (int change, int count)
{
  double size = floor (abs (change) * (4 * count + 1.0) / (4 * count + 3));
  return (int) floor (size / 64 + 0.5);
}

/* Immerkaer's mask, 1 -2 1 in both directions. */
static int
curvature (const StereoPlan *p, int view, int x, int y)
{
  static const int mask[3] = { 1, -2, 1 };
  int sum = 0;

  for (int v = 0; v < 3; v++)
    for (int u = 0; u < 3; u++)
      sum += mask[u] * mask[v] * p->view[view].luma[naive_image (p, x + u - 1, y + v - 1)];
  return abs (sum);
}

/* The value that a quarter of all is below, in 1/64, rounded down. A bin has what lies within a half of its number, evenly; the
 * first one has the sizes 0 to 1/2. */
static int
quartile (const int *bins)
{
  int total = 0, before = 0, k = 0;

  for (int i = 0; i < BINS; i++)
    total += bins[i];
  if (!total)
    return 0;
  while (before + bins[k] < total / 4.0)
    before += bins[k++];
  double part = floor (64 * (total / 4.0 - before) / bins[k]);
  return (int) floor (k ? 64 * (k - 0.5) + part : part / 2);
}

static void
count_one (int *bins, int value)
{
  bins[clamp (value, BINS - 1)]++;
}

/* The standard deviation of the noise, in 1/64 of a grey level, each estimate of it rounded down. 201 / 64 is 1 / 0.3186: a
 * quarter of normally distributed values is nearer to 0 than 0.3186 of it. A curvature has six times that. */
static int
noise_of (const StereoPlan *p, int view, const int *change, int *in_smooth_parts)
{
  int changes[BINS] = { 0 }, curvatures[BINS] = { 0 };

  for (int y = 0; y < p->height; y += 2)
    for (int x = 0; x < p->width; x += 2) {
      int luma = p->view[view].luma[naive_image (p, x, y)], count = p->past[view].count[naive_map (p, x, y)];
      if (luma < 8 || luma > 247) /* its noise is cut off */
        continue;
      if (count)
        count_one (changes, size_in_levels (change[y * p->width + x], count));
      if (x && y && x + 1 < p->width && y + 1 < p->height)
        count_one (curvatures, curvature (p, view, x, y));
    }
  double in_time = floor (quartile (changes) * 201 / 64.0);
  double in_place = fmin (floor (quartile (curvatures) * 201 / 64.0 / 6), 64 * ROUGHEST);
  *in_smooth_parts = (int) in_place;
  /* all of it up to twice what is seen in place, and nothing from three times on */
  double noise = fmin (fmin (in_time, in_place), 3 * in_place - in_time);
  return (int) fmax (noise, 0) + 8;
}

/* How many quarters of the past count: the number of limits that are kept. They are in the standard deviation of a change,
 * @noise sqrt (1 + 1 / count). */
static int
quarters_kept (int value, const int limits[4], int count, int noise)
{
  int kept = 0;

  for (int k = 0; k < 4; k++)
    kept += value * (4 * count + 1.0) <= limits[k] * (double) noise * (4 * count + 3);
  return kept;
}

/* @sum, @sizes: the largest of the windows. */
static int
quarters (int sum, int sizes, int count, int noise)
{
  static const int of_sums[2][4] = { { 21, 19, 17, 15 }, { 23, 21, 19, 17 } };
  static const int of_sizes[2][4] = { { 32, 30, 28, 26 }, { 34, 32, 30, 28 } };
  int later = count >= 4;

  if (!count)
    return 0;
  return (int) fmin (
      quarters_kept (sum, of_sums[later], count, noise), quarters_kept (sizes, of_sizes[later], count, noise));
}

static void
blend (StereoPlan *p, int view, int x, int y, int count)
{
  double share = floor (16384.0 / count + 0.5); /* of the present, to the nearest 16384th */
  const StereoPast *past = &p->past[view];
  size_t at = naive_map (p, x, y), place = naive_image (p, x, y);
  uint32_t color = 0;

  for (int c = 0; c < 3; c++) {
    int sample = p->view[view].color[place] >> 8 * c & 0xFF, held = past->color[at] >> 8 * c & 0xFF;
    double before = past->channel[c][at], average = before + floor ((256 * sample - before) * share / 16384 + 0.5);
    /* what was matched before stays while it is within 3/4 of a grey level */
    double matched = fabs (average / 256 - held) <= 0.75 ? held : floor (average / 256 + 0.5);
    past->channel[c][at] = (uint16_t) average;
    color |= (uint32_t) matched << 8 * c;
  }
  past->count[at] = (uint8_t) count;
  past->color[at] = p->view[view].color[place] = color;
  p->view[view].luma[place] = (uint8_t) luma_of (color & 255, color >> 8 & 255, color >> 16);
}

static int
larger (int a, int b)
{
  return a > b ? a : b;
}

/* The frames of a pixel's new average: as the least willing of nine windows says. */
static int
count_frames (const StereoPlan *p, int view, int x, int y, const int *changes, int noise, int most)
{
  int count = p->past[view].count[naive_map (p, x, y)], largest_sum = 0, largest_sizes = 0;

  for (int window = 0; window < 9; window++) {
    int column = x + (window % 3 - 1) * AWAY, row = y + (window / 3 - 1) * AWAY;
    int sum = 0, sizes = 0;
    if (column < 0 || column >= p->width || row < 0 || row >= p->height)
      continue;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
      for (int dx = -RADIUS; dx <= RADIUS; dx++) {
        int change = changes[clamp (row + dy, p->height - 1) * p->width + clamp (column + dx, p->width - 1)];
        sum += change;
        sizes += abs (change);
      }
    largest_sum = larger (largest_sum, abs (sum));
    largest_sizes = larger (largest_sizes, sizes);
  }
  int kept = count * quarters (largest_sum, largest_sizes, count, noise) / 4; /* rounded down */
  return kept + 1 < most ? kept + 1 : most;
}

void
naive_temporal (StereoPlan *p)
{
  int most = 1 + (int) floor ((MOST - 1) * p->params.temporal + 0.5);
  size_t pixels = (size_t) p->width * (size_t) p->height;
  int *counts = naive_allocate (pixels, sizeof *counts), *changes = naive_allocate (pixels, sizeof *changes);

  for (int view = 0; view < 2; view++) {
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        changes[y * p->width + x] = change_at (p, view, x, y);
    int in_smooth_parts, noise = noise_of (p, view, changes, &in_smooth_parts);
    if (view == STEREO_LEFT && p->last.noise)
      *p->last.noise = in_smooth_parts;
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        counts[y * p->width + x] = count_frames (p, view, x, y, changes, noise, most);
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        blend (p, view, x, y, counts[y * p->width + x]);
  }
  free (counts);
  free (changes);
}
