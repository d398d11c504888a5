/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: block matching, one window at a time, from the equations of Hong et al. 2016. Sums are whole numbers. All that is made
 * of them is of single floats, each operation rounded once, in the order in which it stands here; whole costs are the nearest,
 * halves to even. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

/* What equations 2 to 8 sum up over a window. */
typedef struct Window
{
  uint64_t taps, differences, products, sum[2], squares[2];
} Window;

static int
exists (const StereoPlan *p, int x, int i)
{
  return i >= 0 && i < p->disparities && naive_inside (p, naive_partner (p, x, i));
}

/* |I_L (q) - I_R (q - d)|, or its square: of luma for the costs of a pixel, else added up over R, G, B. */
static uint64_t
difference (const StereoPlan *p, size_t left, size_t right)
{
  const StereoView *l = &p->view[STEREO_LEFT], *r = &p->view[STEREO_RIGHT];
  int cost = p->params.cost, squared = cost == STEREO_COST_SD || cost == STEREO_COST_SSD;
  uint64_t sum = 0;

  if (cost == STEREO_COST_AD || cost == STEREO_COST_SD) {
    int v = abs (l->luma[left] - r->luma[right]);
    return (uint64_t) (squared ? v * v : v);
  }
  for (int c = 0; c < 3; c++) {
    int v = abs (naive_channel (l->color[left], c) - naive_channel (r->color[right], c));
    sum += (uint64_t) (squared ? v * v : v);
  }
  return sum;
}

static Window
sum_up (const StereoPlan *p, int x, int y, int i, int radius)
{
  Window w = { 0, 0, 0, { 0, 0 }, { 0, 0 } };

  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) {
      if (y + dy < 0 || y + dy >= p->height || !naive_inside (p, x + dx) || !exists (p, x + dx, i))
        continue;
      size_t left = naive_image (p, x + dx, y + dy), right = naive_image (p, naive_partner (p, x + dx, i), y + dy);
      uint64_t l = p->view[STEREO_LEFT].luma[left], r = p->view[STEREO_RIGHT].luma[right];
      w.taps++;
      w.differences += difference (p, left, right);
      w.products += l * r;
      w.sum[0] += l;
      w.sum[1] += r;
      w.squares[0] += l * l;
      w.squares[1] += r * r;
    }
  return w;
}

/* First step: equations 2 to 8. Of the first four the mean over taps and channels, in volume steps; NSSD, 1 - NCC and 1 - ZNCC
 * have 32767 steps, and are at most 2. Of a window without energy NSSD is 2, and both correlations are 0. */
static uint16_t
cost_at (const StereoPlan *p, int x, int y, int i)
{
  int cost = p->params.cost, channels = cost == STEREO_COST_SAD || cost == STEREO_COST_SSD ? 3 : 1;
  Window w = sum_up (p, x, y, i, cost == STEREO_COST_AD || cost == STEREO_COST_SD ? 0 : p->params.window / 2);
  float norm[2];

  if (cost == STEREO_COST_AD || cost == STEREO_COST_SD || channels == 3)
    return (uint16_t) rintf ((float) w.differences * ((float) p->volume_unit / (float) ((uint64_t) channels * w.taps)));
  for (int v = 0; v < 2; v++) {
    uint64_t energy = cost == STEREO_COST_ZNCC ? w.taps * w.squares[v] - w.sum[v] * w.sum[v] : w.squares[v];
    norm[v] = energy ? 1 / sqrtf ((float) energy) : cost == STEREO_COST_NSSD ? 1e10f : 0;
  }
  int64_t above = cost == STEREO_COST_NCC ? (int64_t) w.products :
      cost == STEREO_COST_ZNCC            ? (int64_t) (w.taps * w.products) - (int64_t) (w.sum[0] * w.sum[1]) :
                                            (int64_t) (w.squares[0] + w.squares[1] - 2 * w.products);
  float steps = (float) above * norm[0] * (norm[1] * 32767), whole = rintf (steps);
  if (cost == STEREO_COST_NSSD)
    return (uint16_t) (whole > 65534 ? 65534 : whole);
  return (uint16_t) (32767 - (whole > 32767 ? 32767 : whole < -32767 ? -32767 : whole));
}

/* Second step: the mean of the neighbours' costs. */
static uint16_t
mean_at (const StereoPlan *p, const uint16_t *costs, int x, int y, int i)
{
  int radius = p->params.window / 2;
  uint64_t sum = 0, taps = 0;

  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++) {
      if (y + dy < 0 || y + dy >= p->height || !naive_inside (p, x + dx) || !exists (p, x + dx, i))
        continue;
      sum += costs[(size_t) (naive_cost (p, x + dx, y + dy, i) - p->volume)];
      taps++;
    }
  return (uint16_t) rintf ((float) sum * (1.0f / (float) taps));
}

void
naive_bm (StereoPlan *p)
{
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->depth;
  uint16_t *costs = naive_allocate (count, sizeof *costs);

  for (int step = 0; step < 2; step++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        for (int i = 0; i < p->depth; i++) {
          uint16_t *to = naive_cost (p, x, y, i);
          if (step == 0 && exists (p, x, i))
            costs[(size_t) (to - p->volume)] = cost_at (p, x, y, i);
          if (step == 1)
            *to = exists (p, x, i) ? mean_at (p, costs, x, y, i) : STEREO_INVALID;
        }
  free (costs);
}
