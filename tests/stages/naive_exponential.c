/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: exponential step size adaptive weight and message propagation, from equations 3-6 and 9-16 of Yu, Chen,
 * Franchetti and Hoe. Costs are whole volume steps, divided by cost-scale; weights have eight bits. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

/* Costs [y][x][d], the next ones, and the iteration's step. */
typedef struct Costs
{
  const StereoPlan *p;
  double *now, *next;
  int offset;
} Costs;

static double *
cost_at (const Costs *c, double *costs, int x, int y, int d)
{
  return costs + ((size_t) y * (size_t) c->p->width + (size_t) x) * (size_t) c->p->disparities + d;
}

static double
whole_steps (const StereoPlan *p, double scaled)
{
  double steps = scaled / p->params.cost_scale * p->volume_unit, most = p->params.truncation * p->volume_unit;
  return rint (steps < most ? steps : most);
}

/* Equation 3, over lambda; a partner outside is the nearest pixel inside. */
static double
first_cost (const StereoPlan *p, int x, int y, int d)
{
  int partner = naive_partner (p, x, d), last = p->width - 1;
  partner = partner < 0 ? 0 : partner > last ? last : partner;
  double difference = naive_raw_cost (p, naive_image (p, x, y), naive_image (p, partner, y));
  double most = rint (p->params.truncation * p->volume_unit);
  return difference * p->volume_unit < most ? difference * p->volume_unit : most;
}

/* The weight of the tap (dx, dy) from (x, y): colours differ by the largest of their channels' differences. */
static float
tap_weight (const Costs *c, int x, int y, int dx, int dy)
{
  const StereoPlan *p = c->p;
  int most = 0;

  if (!naive_inside (p, x + dx) || y + dy < 0 || y + dy >= p->height)
    return 0;
  uint32_t a = p->view[STEREO_LEFT].color[naive_image (p, x, y)];
  uint32_t b = p->view[STEREO_LEFT].color[naive_image (p, x + dx, y + dy)];
  for (int channel = 0; channel < 3; channel++) {
    int difference = abs (naive_channel (a, channel) - naive_channel (b, channel));
    most = difference > most ? difference : most;
  }
  float weight = (float) exp (-most / p->params.gamma_color - c->offset / p->params.gamma_distance);
  return weight < 1e-30f ? 0 : weight;
}

/* To the nearest number of eight bits. */
static double
eight_bits (float weight)
{
  int exponent;
  double fraction = frexp ((double) weight, &exponent);
  return ldexp (floor (fraction * 256 + 0.5), exponent - 8);
}

/* Equations 5 and 6, 14 and 16: the pass along (dx, dy), with the centre's part taken out of the sum. */
static void
average (Costs *c, int dx, int dy)
{
  const StereoPlan *p = c->p;

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      float before = tap_weight (c, x, y, -dx, -dy), after = tap_weight (c, x, y, dx, dy);
      float share = 1 / (before + 1 + after);
      double before_part = eight_bits (before * share), after_part = eight_bits (after * share);
      for (int d = 0; d < p->disparities; d++) {
        double own = *cost_at (c, c->now, x, y, d), more = 0;
        if (before > 0)
          more += before_part * (*cost_at (c, c->now, x - dx, y - dy, d) - own);
        if (after > 0)
          more += after_part * (*cost_at (c, c->now, x + dx, y + dy, d) - own);
        *cost_at (c, c->next, x, y, d) = rint (own + (double) (float) more);
      }
    }
  double *swap = c->now;
  c->now = c->next;
  c->next = swap;
}

/* Equations 13 and 15. */
static void
messages (Costs *c)
{
  const StereoPlan *p = c->p;
  double slope = whole_steps (p, p->params.smoothness), most = whole_steps (p, p->params.smoothness_max);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int d = 0; d < p->disparities; d++) {
        double lowest = INFINITY;
        for (int other = 0; other < p->disparities; other++) {
          double rise = slope * abs (d - other);
          double cost = *cost_at (c, c->now, x, y, other) + (rise < most ? rise : most);
          lowest = cost < lowest ? cost : lowest;
        }
        *cost_at (c, c->next, x, y, d) = lowest;
      }
  double *swap = c->now;
  c->now = c->next;
  c->next = swap;
}

void
naive_exponential (StereoPlan *p)
{
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->disparities;
  Costs c = { p, naive_allocate (count, sizeof (double)), naive_allocate (count, sizeof (double)), 0 };
  int esmp = p->params.method == STEREO_METHOD_ESMP;

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int d = 0; d < p->disparities; d++)
        *cost_at (&c, c.now, x, y, d) = first_cost (p, x, y, d);
  for (int t = 1; t <= p->params.iterations; t++) {
    double offset = floor (pow (p->params.step_base, t - 1) + 0.5); /* equation 4 */
    c.offset = offset < 65536 ? (int) offset : 65536;
    if (esmp)
      messages (&c);
    average (&c, c.offset, 0);
    if (esmp)
      messages (&c);
    average (&c, 0, c.offset);
  }
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->depth; i++)
        *naive_cost (p, x, y, i) = i < p->disparities &&
                (naive_has_all_candidates (p) || naive_inside (p, naive_partner (p, x, i))) ?
            (uint16_t) *cost_at (&c, c.now, x, y, i) :
            STEREO_INVALID;
  free (c.now);
  free (c.next);
}
