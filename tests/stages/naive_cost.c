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
  return exp (-naive_color_distance (a, b) / gamma_color - distance / gamma_distance);
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

/* BT.601 in 256ths, rounded to the nearest, halves upwards. */
static uint8_t
luma_of (uint32_t color)
{
  int sum = 77 * naive_channel (color, 0) + 150 * naive_channel (color, 1) + 29 * naive_channel (color, 2);
  return (uint8_t) floor (sum / 256.0 + 0.5);
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
        p->view[v].luma[naive_image (p, x, y)] = luma_of (p->view[v].color[naive_image (p, x, y)]);
      }
}

/* x / size - 1/2 in 65536ths. 1 / size is held to 31 bits; it and the product are rounded down. */
static double
align_place (int x, int size)
{
  return floor (x * floor (0x1p31 / size) / 0x1p15) - 0x1p15;
}

/* @coefficient times a place: a shift in 1024ths of a pixel, rounded down. */
static double
align_product (double coefficient, double place)
{
  return floor (coefficient * place / 0x1p16);
}

/* How much lower the right view's sample for a place lies, in 256ths of a pixel: the polynomial of StereoAlignment, by Horner's
 * rule, with coefficients in 1024ths. It is held to three pixels, and rounded to the nearest, halves upwards. */
static double
align_drop (const StereoPlan *p, int x, int y)
{
  const int32_t *c = p->align.c;
  double u = align_place (x, p->width), v = align_place (y, p->height);
  double offset = c[0] + align_product (c[1] + align_product (c[5], v), v), slope = c[2] + align_product (c[4], v);
  double drop = offset + align_product (slope + align_product (c[3], u), u);

  return floor (fmax (fmin (drop, 3 * 1024), -3 * 1024) / 4 + 0.5);
}

/* Catmull & Rom 1974: what the samples of four rows weigh at @t, 0..1, between the second and the third. In 256ths: t^2, t^3 and
 * the weights are rounded down, but for the second, which takes what the others leave. */
static void
align_weights (double t, double weight[4])
{
  double square = floor (t * t * 256), cube = floor (square * t);

  t *= 256;
  weight[0] = floor ((-t + 2 * square - cube) / 2);
  weight[2] = floor ((t + 4 * square - 3 * cube) / 2);
  weight[3] = floor ((cube - square) / 2);
  weight[1] = 256 - weight[0] - weight[2] - weight[3];
}

/* The colour of four rows at @t; rounded to the nearest, halves upwards, and held to a byte. */
static uint32_t
align_blend (const uint32_t color[4], double t)
{
  uint32_t blended = 0;
  double weight[4];

  align_weights (t, weight);
  for (int c = 0; c < 3; c++) {
    double sum = 0;
    for (int k = 0; k < 4; k++)
      sum += weight[k] * naive_channel (color[k], c);
    blended |= (uint32_t) fmax (fmin (floor (sum / 256 + 0.5), 255), 0) << 8 * c;
  }
  return blended;
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
        double row = y + align_drop (p, x, y) / 256;
        int column = true_column (p, STEREO_RIGHT, x), above = (int) floor (row);
        uint32_t color[4];
        for (int k = 0; k < 4; k++)
          color[k] = before[p->image_pad + naive_image (p, column, clamp (above - 1 + k, p->height - 1))];
        size_t at = naive_image (p, column, y);
        right->color[at] = align_blend (color, row - above);
        right->luma[at] = luma_of (right->color[at]);
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
  int radius_x = p->census_bytes == 8 ? 4 : 3, radius_y = p->census_bytes == 8 ? 3 : 2;
  uint64_t bits = 0;
  int n = 0;

  for (int dy = -radius_y; dy <= radius_y; dy++)
    for (int dx = -radius_x; dx <= radius_x; dx++) {
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

/* The light of a sample of sRGB (IEC 61966-2-1), in 65535ths. */
static double
lab_light (int sample)
{
  double s = sample / 255.0;
  return rint (65535 * (s <= 0.04045 ? s / 12.92 : pow ((s + 0.055) / 1.055, 2.4)));
}

/* f (t) of CIE 15, in 32768ths, of light k / 1024. */
static double
lab_entry (double k)
{
  double t = 64 * k / 65535;
  return rint (32768 * (t > 216 / 24389.0 ? cbrt (t) : (24389 / 27.0 * t + 16) / 116));
}

/* f of a light in 65535ths: on the straight line between entries, rounded to the nearest, halves upwards. */
static double
lab_root (double light)
{
  double k = floor (light / 64), low = lab_entry (k);
  return floor (low + (lab_entry (k + 1) - low) * (light / 64 - k) + 0.5);
}

/* L | a << 8 | b << 16, with f of X, Y and Z over those of the white: what R, G and B weigh in each (IEC 61966-2-1), in 65536ths,
 * so rounded that greys have no colour; the light is rounded to the nearest. A byte has 5 / 4 steps of a unit of L, a or b; that
 * of a = 0 is 128, that of b = 0 is 136. */
static uint32_t
lab_of (const double light[256], uint32_t color)
{
  static const double weights[3][3] = { { 28440, 24656, 12440 }, { 13938, 46868, 4730 }, { 1164, 7174, 57198 } };
  double f[3];

  for (int k = 0; k < 3; k++) {
    double sum = 0;
    for (int c = 0; c < 3; c++)
      sum += weights[k][c] * light[naive_channel (color, c)];
    f[k] = lab_root (floor (sum / 65536 + 0.5)) / 32768;
  }
  double l = 116 * f[1] - 16, a = 500 * (f[0] - f[1]), b = 200 * (f[1] - f[2]);
  return (uint32_t) floor (l * 5 / 4 + 0.5) | (uint32_t) floor (a * 5 / 4 + 128.5) << 8 |
      (uint32_t) floor (b * 5 / 4 + 136.5) << 16;
}

void
naive_lab (StereoPlan *p)
{
  double light[256];

  for (int k = 0; k < 256; k++)
    light[k] = lab_light (k);
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        p->view[v].likeness[naive_image (p, x, y)] = lab_of (light, p->view[v].color[naive_image (p, x, y)]);
}

/* 3.2.5: the Hamming distance. */
static int
census_distance (const StereoPlan *p, size_t left, size_t right)
{
  const StereoView *l = &p->view[STEREO_LEFT], *r = &p->view[STEREO_RIGHT];

  if (p->census_bytes == 8)
    return __builtin_popcountll (((uint64_t *) l->census)[left] ^ ((uint64_t *) r->census)[right]);
  return __builtin_popcount (((uint32_t *) l->census)[left] ^ ((uint32_t *) r->census)[right]);
}

/* In quarters: census bits + 0.2 min (mean |RGB difference|, 20) + min (|gradient difference|, 5), the gradient being half of what
 * two neighbours differ by. Four times 0.2 / 3 is taken as 17 / 64; the product is rounded to the nearest, halves upwards. */
static int
mixed_cost (const StereoPlan *p, size_t left, size_t right)
{
  const StereoView *l = &p->view[STEREO_LEFT], *r = &p->view[STEREO_RIGHT];
  double color = 17 * fmin (naive_color_distance (l->color[left], r->color[right]), 3 * 20) / 64;
  double gradient = (l->gradient[left] - r->gradient[right]) / 2.0;

  return 4 * census_distance (p, left, right) + (int) (floor (color + 0.5) + 4 * fmin (fabs (gradient), 5));
}

/* Every cost of stereo.h has a case of its own: without one, this does not compile. */
#pragma GCC diagnostic error "-Wswitch"
int
naive_raw_cost (const StereoPlan *p, size_t left, size_t right)
{
  const StereoView *l = &p->view[STEREO_LEFT], *r = &p->view[STEREO_RIGHT];

  switch ((StereoCost) p->params.cost) {
    case STEREO_COST_CENSUS_7X5:
    case STEREO_COST_CENSUS_9X7:
      return census_distance (p, left, right);
    case STEREO_COST_MIXED:
      return mixed_cost (p, left, right);
    case STEREO_COST_AD: {
      int difference = abs (l->luma[left] - r->luma[right]), most = (int) floor (p->params.truncation + 0.5);
      most = most < 1 ? 1 : most;
      return p->params.method == STEREO_METHOD_ASW && difference > most ? most : difference;
    }
    case STEREO_COST_SAD: /* to the nearest third */
      return (int) rint (naive_color_distance (l->color[left], r->color[right]) / 3.0);
    case STEREO_COST_SD: /* of windows: naive_bm.c */
    case STEREO_COST_SSD:
    case STEREO_COST_NSSD:
    case STEREO_COST_NCC:
    case STEREO_COST_ZNCC:
    case STEREO_COST_AUTO:
    case STEREO_COSTS:
      break;
  }
  fprintf (stderr, "cost %d is no cost of pixel pairs\n", p->params.cost);
  exit (1);
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
