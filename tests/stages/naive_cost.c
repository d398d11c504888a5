/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: images, census, raw cost, adaptive support weights. */
#include "naive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double
naive_weight (uint32_t a, uint32_t b, double distance, double gamma_color, double gamma_distance)
{
  return exp (-stereo_color_distance (a, b) / gamma_color - distance / gamma_distance);
}

/* Column of the picture behind column @x of a view: the right one is stored mirrored. */
static int
true_column (const StereoPlan *p, int view, int x)
{
  return view == STEREO_LEFT ? x : p->width - 1 - x;
}

static int
clamp (int value, int top)
{
  return value < 0 ? 0 : value > top ? top : value;
}

void
naive_load (StereoPlan *p)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        const StereoImage *in = &p->input[v];
        const uint8_t *pixel = in->data + y * in->stride + true_column (p, v, x) * in->pixel_stride;
        uint32_t r = pixel[in->offset[0]];
        uint32_t g = in->channels == 3 ? pixel[in->offset[1]] : r;
        uint32_t b = in->channels == 3 ? pixel[in->offset[2]] : r;
        p->view[v].color[naive_image (p, x, y)] = r | g << 8 | b << 16;
        p->view[v].luma[naive_image (p, x, y)] = (uint8_t) ((77 * r + 150 * g + 29 * b + 128) >> 8);
      }
}

/* How much lower the right view's sample for a place lies, in 1/256 px: the polynomial of StereoAlignment, in whole numbers. */
static int
align_drop (const StereoPlan *p, int x, int y)
{
  StereoAlignRow row = stereo_align_row (&p->align, stereo_align_place (y, stereo_align_scale (p->height)));
  return stereo_align_drop (row, stereo_align_place (x, stereo_align_scale (p->width)));
}

void
naive_align (StereoPlan *p)
{
  size_t pixels = (size_t) p->height * (size_t) p->image_pitch;
  uint32_t *before = naive_allocate (pixels, sizeof *before);
  StereoView *right = &p->view[STEREO_RIGHT];

  if (p->align.active) {
    memcpy (before, right->color - p->image_pad, pixels * sizeof *before);
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        int column = true_column (p, STEREO_RIGHT, x), drop = align_drop (p, x, y), above = y + (drop >> 8);
        uint32_t color[4];
        for (int k = 0; k < 4; k++)
          color[k] = before[p->image_pad + naive_image (p, column, clamp (above - 1 + k, p->height - 1))];
        size_t at = naive_image (p, column, y);
        right->color[at] = stereo_align_blend (color, stereo_align_taps (drop & 0xFF));
        right->luma[at] = (uint8_t) stereo_align_luma (right->color[at]);
      }
  }
  free (before);
}

/* Luma at true coordinates, borders repeated. */
static int
luma_at (const StereoPlan *p, int view, int x, int y)
{
  x = true_column (p, view, clamp (x, p->width - 1));
  return p->view[view].luma[naive_image (p, x, clamp (y, p->height - 1))];
}

/* 3.2.5; 7x5 skips two opposite corners to fit 32 bits (4.3.4) */
static uint64_t
census_at (const StereoPlan *p, int view, int x, int y)
{
  int reach_x = p->census_bytes == 8 ? 4 : 3, reach_y = p->census_bytes == 8 ? 3 : 2;
  uint64_t bits = 0;
  int n = 0;

  for (int dy = -reach_y; dy <= reach_y; dy++)
    for (int dx = -reach_x; dx <= reach_x; dx++) {
      int corner = (dx == -3 && dy == -2) || (dx == 3 && dy == 2);
      if ((dx == 0 && dy == 0) || (p->census_bytes == 4 && corner))
        continue;
      if (luma_at (p, view, x + dx, y + dy) < luma_at (p, view, x, y))
        bits |= (uint64_t) 1 << n;
      n++;
    }
  return bits;
}

void
naive_features (StereoPlan *p)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        int t = true_column (p, v, x);
        size_t at = naive_image (p, x, y);
        if (p->census_bytes == 8)
          ((uint64_t *) p->view[v].census)[at] = census_at (p, v, t, y);
        if (p->census_bytes == 4)
          ((uint32_t *) p->view[v].census)[at] = (uint32_t) census_at (p, v, t, y);
        if (p->view[v].gradient)
          p->view[v].gradient[at] = (int16_t) (luma_at (p, v, t + 1, y) - luma_at (p, v, t - 1, y));
      }
}

void
naive_lab (StereoPlan *p)
{
  StereoLab table;

  stereo_lab_table (&table);
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        p->view[v].likeness[naive_image (p, x, y)] = stereo_lab (&table, p->view[v].color[naive_image (p, x, y)]);
}

/* A cost that has no formula of its own below: by the plain one in stereo/exact/cost.h, from which the CPU's row may be made,
 * and which proves the packed one of CUDA. */
static int
listed_cost (const StereoPlan *p, size_t left, size_t right)
{
  const size_t at[2] = { left, right };
  StereoPixel pixel[2];

  for (int v = 0; v < 2; v++) {
    const StereoView *view = &p->view[v];
    pixel[v] = (StereoPixel){ view->color[at[v]], view->luma[at[v]], view->gradient ? view->gradient[at[v]] : 0,
      p->census_bytes == 8     ? ((uint64_t *) view->census)[at[v]] :
          p->census_bytes == 4 ? ((uint32_t *) view->census)[at[v]] :
                                 0 };
  }
  switch (p->params.cost) {
#define ROW(COST, formula, ...) \
  case STEREO_COST_##COST: \
    return stereo_cost_of_##formula (&pixel[0], &pixel[1]);
    STEREO_PIXEL_COSTS (ROW)
#undef ROW
  }
  fprintf (stderr, "cost=%s is no cost of pixel pairs\n", stereo_cost_info (p->params.cost)->name);
  exit (1);
}

int
naive_raw_cost (const StereoPlan *p, size_t left, size_t right)
{
  const StereoView *l = &p->view[STEREO_LEFT], *r = &p->view[STEREO_RIGHT];
  int bits = 0;

  if (p->census_bytes == 8)
    bits = __builtin_popcountll (((uint64_t *) l->census)[left] ^ ((uint64_t *) r->census)[right]);
  if (p->census_bytes == 4)
    bits = __builtin_popcount (((uint32_t *) l->census)[left] ^ ((uint32_t *) r->census)[right]);
  switch (p->params.cost) {
    case STEREO_COST_MIXED:
      return 4 * bits +
          stereo_mixed_part (
              stereo_color_distance (l->color[left], r->color[right]), l->gradient[left] - r->gradient[right]);
    case STEREO_COST_AD:
      return abs (l->luma[left] - r->luma[right]);
    case STEREO_COST_SAD:
      return (stereo_color_distance (l->color[left], r->color[right]) + 1) / 3;
    case STEREO_COST_CENSUS_7X5:
    case STEREO_COST_CENSUS_9X7:
      return bits;
    default:
      return listed_cost (p, left, right);
  }
}

/* Weight of the tap (dx, dy) for the pair (x, y, i): the product of both views' (4.4.1), or the left one's. */
static double
tap_weight (const StereoPlan *p, int x, int y, int i, int dx, int dy)
{
  const StereoParams *q = &p->params;
  const uint32_t *l = p->view[STEREO_LEFT].likeness, *r = p->view[STEREO_RIGHT].likeness;
  double distance = sqrt ((double) dx * dx + (double) dy * dy);
  int m = naive_partner (p, x, i);
  double w = naive_weight (
      l[naive_image (p, x, y)], l[naive_image (p, x + dx, y + dy)], distance, q->gamma_color, q->gamma_distance);

  if (q->support == STEREO_SUPPORT_BOTH)
    w *= naive_weight (
        r[naive_image (p, m, y)], r[naive_image (p, m - dx, y + dy)], distance, q->gamma_color, q->gamma_distance);
  return w;
}

/* Left column x at index i, its taps and partners: a tap outside either image is left out. */
static int
tap_inside (const StereoPlan *p, int x, int y, int i, int dx, int dy)
{
  return y + dy >= 0 && y + dy < p->height && naive_inside (p, x + dx) && naive_inside (p, naive_partner (p, x, i) - dx);
}

/* One sum of 3.2.1 over the taps -rx..rx, -ry..ry; @costs NULL: raw costs, else [y][x][i]. */
static double
weighted_mean (const StereoPlan *p, const double *costs, int x, int y, int i, int rx, int ry)
{
  double sum = 0, weights = 0;

  for (int dy = -ry; dy <= ry; dy++)
    for (int dx = -rx; dx <= rx; dx++) {
      if (!tap_inside (p, x, y, i, dx, dy))
        continue;
      double w = tap_weight (p, x, y, i, dx, dy);
      double cost = costs ?
          costs[(size_t) (naive_cost (p, x + dx, y + dy, i) - p->volume)] :
          naive_raw_cost (p, naive_image (p, x + dx, y + dy), naive_image (p, naive_partner (p, x + dx, i), y + dy));
      sum += w * cost;
      weights += w;
    }
  return sum / weights;
}

void
naive_asw (StereoPlan *p)
{
  int radius = p->params.window / 2, full = p->params.aggregation == STEREO_AGGREGATION_FULL;
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->depth;
  double *vertical = naive_allocate (count, sizeof *vertical);

  for (int y = 0; y < p->height && !full; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->disparities; i++)
        if (naive_inside (p, naive_partner (p, x, i)))
          vertical[(size_t) (naive_cost (p, x, y, i) - p->volume)] = weighted_mean (p, NULL, x, y, i, 0, radius);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->depth; i++) {
        uint16_t *cost = naive_cost (p, x, y, i);
        *cost = STEREO_INVALID;
        if (i >= p->disparities || !naive_inside (p, naive_partner (p, x, i)))
          continue;
        double c = full ? weighted_mean (p, NULL, x, y, i, radius, radius) :
                          weighted_mean (p, vertical, x, y, i, radius, 0);
        long steps = lrint (c * p->volume_unit);
        *cost = (uint16_t) (steps < (long) STEREO_COST_TOP ? steps : (long) STEREO_COST_TOP);
      }
  free (vertical);
}
