/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (thesis, 3.2.3): the mean, over a window, of the disparities selected so far, weighted
 * by likeness, nearness and confidence. Neither pass divides the two sums before the end, so that a column without
 * confidence adds nothing to its row.
 */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/cpu/weigh.h"

#include <stdlib.h>

#define LINE_PAD 64 /* columns before and after a line: half of the largest window */

typedef struct Context
{
  float *lines; /* per thread: see line_of() */
} Context;

/* A row with LINE_PAD columns of confidence 0 on both sides, so that no tap needs a test. */
typedef struct Line
{
  uint32_t *color;
  float *confidence, *product; /* w F and w F D, or their vertical sums */
} Line;

static size_t
line_pitch (const StereoPlan *plan)
{
  return (size_t) plan->map_pitch + 2 * LINE_PAD;
}

/* Line @slot of the @slots lines of a thread. */
static Line
line_of (const StereoPlan *plan, const Context *c, int thread, int slot, int slots)
{
  size_t pitch = line_pitch (plan);
  float *base = c->lines + ((size_t) thread * (size_t) slots + (size_t) slot) * 3 * pitch + LINE_PAD;
  return (Line){ (uint32_t *) base, base + pitch, base + 2 * pitch };
}

/* F and F D of row @y; a pixel without a disparity has no confidence either. */
static void
load_line (const StereoPlan *plan, const StereoView *view, int y, Line line)
{
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  memcpy (
      line.color, view->likeness + (size_t) y * (size_t) plan->image_pitch, (size_t) plan->width * sizeof (uint32_t));
  memcpy (line.confidence, view->confidence + map, (size_t) plan->width * sizeof (float));
  for (int x = 0; x < plan->width; x++)
    line.product[x] = line.confidence[x] * (float) view->index[map + x];
}

/* rint (sum F D / sum F), in steps; none where all confidences of the window are 0. */
static void
store_expected (const StereoPlan *plan, const StereoView *view, int y, int x, VecF confidence, VecF product)
{
  int32_t *to = view->expected + (size_t) y * (size_t) plan->map_pitch + x;
  for (int lane = 0; lane < LANES; lane++)
    to[lane] = confidence[lane] > 0 ? (int32_t) rintf (product[lane] / confidence[lane] * STEREO_EXPECT_STEPS) :
                                      STEREO_EXPECT_NONE;
}

typedef struct Factors
{
  int radius;
  float color, distance;
} Factors;

static Factors
factors_of (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  return (Factors){ p->refine_window / 2, (float) (-STEREO_LOG2E / p->refine_gamma_color),
    (float) (-STEREO_LOG2E / p->refine_gamma_distance) };
}

/* ---- two-pass: a pair of pixels is weighed once for both ---------------------------------------- */

#define BAND 32 /* rows of a thread's work: those above, whose weights reach into them, are weighed twice */

/* The memory of a thread. */
typedef struct TwoPass
{
  float *confidence,
      *product;  /* [row of the band][column]: vertical sums, LINE_PAD columns on both sides, which stay 0 */
  float *across; /* [distance][column]: weights of a row, with LINE_PAD columns before it */
  float *down;   /* [row modulo radius + 1][distance][lane]: weights of LANES columns */
} TwoPass;

/* Returns its size in floats. @base NULL: returns the size only. */
static size_t
lay_out_two_pass (const StereoPlan *plan, float *base, TwoPass *to)
{
  size_t pitch = line_pitch (plan), radius = (size_t) plan->params.refine_window / 2;
  size_t sums = BAND * pitch, across = (radius + 1) * pitch, down = (radius + 1) * (radius + 1) * LANES;

  if (base)
    *to = (TwoPass){ base + LINE_PAD, base + sums + LINE_PAD, base + 2 * sums + LINE_PAD, base + 2 * sums + across };
  return 2 * sums + across + down;
}

/* Adds LANES pixels of @view from place @at of the maps. */
static inline void
add_pixels (const StereoView *view, ptrdiff_t at, const float *weights, VecF *confidence, VecF *product)
{
  VecF trust = vec_load_f (weights) * vec_load_f (view->confidence + at);
  *confidence += trust;
  *product += trust * vec_float (vec_widen (vec_load_h (view->index + at)));
}

/* Of rows @first..@end - 1 and LANES columns from @x on. */
static void
vertical_sums (const StereoPlan *plan, const StereoView *view, int first, int end, int x, const TwoPass *t)
{
  Factors f = factors_of (plan);
  ptrdiff_t image = plan->image_pitch, map = plan->map_pitch, pitch = (ptrdiff_t) line_pitch (plan);
  int lines = f.radius + 1, size = lines * LANES;

  for (int y = first > f.radius ? first - f.radius : 0; y < end; y++) {
    const uint32_t *color = view->likeness + y * image + x;
    int slot = y % lines, from = y > f.radius ? -f.radius : -y;
    int to = y + f.radius < plan->height ? f.radius : plan->height - 1 - y;
    float *down = t->down + slot * size;
    VecU centre = vec_load_u (color);
    VecF confidence = { 0 }, product = { 0 };
    vec_store_f (down, (VecF){ 0 } + 1);
    for (int k = y < first ? first - y : 1; k <= to; k++)
      vec_store_f (
          down + k * LANES, vec_weight (centre, vec_load_u (color + k * image), f.color, f.distance * (float) k));
    if (y < first)
      continue;
    for (int k = from; k < 0; k++)
      add_pixels (view, (y + k) * map + x, t->down + (slot + k + (slot + k < 0 ? lines : 0)) * size - k * LANES,
          &confidence, &product);
    for (int k = 0; k <= to; k++)
      add_pixels (view, (y + k) * map + x, down + k * LANES, &confidence, &product);
    vec_store_f (t->confidence + (y - first) * pitch + x, confidence);
    vec_store_f (t->product + (y - first) * pitch + x, product);
  }
}

/* Of row @row of the band, which begins at row @first. */
static void
horizontal_sums (const StereoPlan *plan, const StereoView *view, int first, int row, const TwoPass *t)
{
  Factors f = factors_of (plan);
  ptrdiff_t pitch = (ptrdiff_t) line_pitch (plan);
  const float *confidences = t->confidence + row * pitch, *products = t->product + row * pitch;

  for (int o = 0; o <= f.radius; o++)
    cpu_weigh (plan, view, first + row, 0, o, f.color, f.distance, t->across + o * pitch);
  for (int x = 0; x < plan->width; x += LANES) {
    VecF confidence = { 0 }, product = { 0 };
    for (int o = -f.radius; o <= f.radius; o++) {
      VecF weight = vec_load_f (t->across + abs (o) * pitch + x + (o < 0 ? o : 0));
      confidence += weight * vec_load_f (confidences + x + o);
      product += weight * vec_load_f (products + x + o);
    }
    store_expected (plan, view, first + row, x, confidence, product);
  }
}

static void
two_pass_band (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  const StereoView *view = &plan->view[item % 2];
  int first = item / 2 * BAND, end = first + BAND < plan->height ? first + BAND : plan->height;
  size_t beyond = (size_t) (plan->map_pitch - plan->width) * sizeof (float);
  TwoPass t = { 0 };

  lay_out_two_pass (plan, c->lines + (size_t) thread * lay_out_two_pass (plan, NULL, NULL), &t);
  for (int x = 0; x < plan->width; x += LANES)
    vertical_sums (plan, view, first, end, x, &t);
  for (int row = 0; row < end - first; row++) {
    size_t behind = (size_t) row * line_pitch (plan) + (size_t) plan->width;
    memset (t.confidence + behind, 0, beyond);
    memset (t.product + behind, 0, beyond);
    horizontal_sums (plan, view, first, row, &t);
  }
}

static StereoStatus
two_pass_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  return stereo_reserve (plan, (void **) &c->lines,
      stereo_times (lay_out_two_pass (plan, NULL, NULL), (size_t) cpu_threads (plan)), sizeof (float), error);
}

static StereoStatus
two_pass_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, two_pass_band, (plan->height + BAND - 1) / BAND * 2);
  return STEREO_OK;
}

/* ---- full window -------------------------------------------------------------------------------- */

static void
full_row (StereoPlan *plan, void *context, int item, int thread)
{
  int y = item / 2, slots = plan->params.refine_window;
  const StereoView *view = &plan->view[item % 2];
  Factors f = factors_of (plan);
  int from = y > f.radius ? -f.radius : -y;
  int to = y + f.radius < plan->height ? f.radius : plan->height - 1 - y;

  for (int k = from; k <= to; k++)
    load_line (plan, view, y + k, line_of (plan, context, thread, k + f.radius, slots));
  for (int x = 0; x < plan->width; x += LANES) {
    VecU centre = vec_load_u (line_of (plan, context, thread, f.radius, slots).color + x);
    VecF confidence = { 0 }, product = { 0 };
    for (int k = from; k <= to; k++) {
      Line line = line_of (plan, context, thread, k + f.radius, slots);
      for (int o = -f.radius; o <= f.radius; o++) {
        float distance = f.distance * sqrtf ((float) (k * k + o * o));
        VecF weight = vec_weight (centre, vec_load_u (line.color + x + o), f.color, distance);
        confidence += weight * vec_load_f (line.confidence + x + o);
        product += weight * vec_load_f (line.product + x + o);
      }
    }
    store_expected (plan, view, y, x, confidence, product);
  }
}

static StereoStatus
full_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t line = 3 * line_pitch (plan) * (size_t) cpu_threads (plan);
  return stereo_reserve (
      plan, (void **) &c->lines, stereo_times (line, (size_t) plan->params.refine_window), sizeof (float), error);
}

static StereoStatus
full_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, full_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (refine_two_pass) = {
  .name = "refine", .context_size = sizeof (Context), .prepare = two_pass_prepare, .run = two_pass_run
};
const StereoStage CPU (
    refine_full) = { .name = "refine", .context_size = sizeof (Context), .prepare = full_prepare, .run = full_run };

/*
 * Refinement by the last approximation of Kowalczuk et al. (3.2.3): the penalty of a disparity is
 * alpha * sum of w F |D - d| over the window, in two passes and unnormalised as published.
 *
 * As a function of d that sum is piecewise linear, with kinks at the disparities of the window. So a pixel needs only the
 * histogram of w F over D, and two running sums over it. The vertical pass makes the histograms of columns; a pixel's
 * histogram is the sum of these along its row, with the horizontal weights.
 */

typedef struct IdrContext
{
  uint16_t *index[2]; /* maps: what the previous iteration selected */
  float *confidence[2];
  float *scratch; /* per thread, thread_floats each: see lay_out() */
  size_t thread_floats;
} IdrContext;

/* The scratch memory of a thread. */
typedef struct Work
{
  float *columns; /* [x][depth]: histograms of columns */
  float *pixel;   /* [depth] */
  float *weights; /* a row of weights, for all columns */
} Work;

static size_t
lay_out (const StereoPlan *plan, float *base, Work *w)
{
  size_t columns = (size_t) plan->width * (size_t) plan->depth, weights = cpu_weigh_pitch (plan);
  w->columns = base;
  w->pixel = base ? base + columns : NULL;
  w->weights = base ? base + columns + plan->depth : NULL;
  return columns + (size_t) plan->depth + weights;
}

static void
column_histograms (const StereoPlan *plan, const IdrContext *c, int view, int y, Work *w)
{
  float color = (float) (-STEREO_LOG2E / plan->params.refine_gamma_color);
  float distance = (float) (-STEREO_LOG2E / plan->params.refine_gamma_distance);
  int radius = plan->params.refine_window / 2, depth = plan->depth;

  memset (w->columns, 0, (size_t) plan->width * (size_t) depth * sizeof (float));
  for (int k = -radius; k <= radius; k++) {
    if (y + k < 0 || y + k >= plan->height)
      continue;
    size_t map = (size_t) (y + k) * (size_t) plan->map_pitch;
    cpu_weigh (plan, &plan->view[view], y, k, 0, color, distance, w->weights);
    for (int x = 0; x < plan->width; x++) {
      int index = c->index[view][map + x];
      if (index != (int) STEREO_INVALID)
        w->columns[(size_t) x * (size_t) depth + index] += w->weights[x] * c->confidence[view][map + x];
    }
  }
}

/* histogram -> sum over j of histogram[j] * |j - i|, for every i, in place. */
static void
histogram_to_distance (float *histogram, int count)
{
  double mass = 0, distance = 0, below = 0, below_distance = 0;

  for (int i = 0; i < count; i++) {
    mass += histogram[i];
    distance += (double) histogram[i] * i;
  }
  for (int i = 0; i < count; i++) {
    below += histogram[i];
    below_distance += (double) histogram[i] * i;
    /* sum j<=i of h (i - j), and sum j>i of h (j - i) */
    double sum = below * i - below_distance + (distance - below_distance) - (mass - below) * i;
    histogram[i] = (float) (sum > 0 ? sum : 0);
  }
}

static void
select_penalised (const StereoPlan *plan, const StereoView *view, size_t row, int x, const uint16_t *costs,
    ptrdiff_t step, const float *distance)
{
  size_t map = row + (size_t) x;
  int from = stereo_first_index (x, plan->width, plan->min_disparity);
  int to = stereo_last_index (x, plan->disparities, plan->min_disparity);
  float alpha = (float) plan->alpha / 4;
  uint32_t lowest = UINT32_MAX, next = UINT32_MAX;

  for (int i = from; i <= to; i++) {
    float penalty = rintf (alpha * distance[i]);
    uint32_t cost = costs[i * step] + (penalty < 1e9f ? (uint32_t) penalty : 1000000000u);
    if (cost < lowest) {
      next = lowest;
      lowest = cost;
      view->index[map] = (uint16_t) i;
    } else if (cost < next)
      next = cost;
  }
  view->confidence[map] = next == UINT32_MAX ? 0 : stereo_confidence (lowest, next);
}

static void
idr_row (StereoPlan *plan, void *context, int item, int thread)
{
  const IdrContext *c = context;
  int y = item / 2, side = item % 2, radius = plan->params.refine_window / 2, depth = plan->depth;
  size_t row = (size_t) y * (size_t) plan->map_pitch;
  const uint16_t *volume = plan->volume + (size_t) y * (size_t) plan->width * (size_t) depth;
  Work w;

  lay_out (plan, c->scratch + (size_t) thread * c->thread_floats, &w);
  column_histograms (plan, c, side, y, &w);
  const uint32_t *color = plan->view[side].likeness + (size_t) y * (size_t) plan->image_pitch;
  float color_factor = (float) (-1 / plan->params.refine_gamma_color);
  for (int x = 0; x < plan->width; x++) {
    memset (w.pixel, 0, (size_t) depth * sizeof (float));
    for (int o = -radius; o <= radius; o++) {
      if (x + o < 0 || x + o >= plan->width)
        continue;
      float weight = expf ((float) stereo_color_distance (color[x], color[x + o]) * color_factor -
          (float) (abs (o) / plan->params.refine_gamma_distance));
      const float *column = w.columns + (size_t) (x + o) * (size_t) depth;
      for (int i = 0; i < depth; i++)
        w.pixel[i] += weight * column[i];
    }
    histogram_to_distance (w.pixel, plan->disparities);
    ptrdiff_t start = side == STEREO_LEFT ? x : plan->width - 1 - x + plan->min_disparity;
    select_penalised (
        plan, &plan->view[side], row, x, volume + start * depth, side == STEREO_LEFT ? 1 : depth + 1, w.pixel);
  }
}

static StereoStatus
idr_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  IdrContext *c = context;
  size_t map = (size_t) plan->map_pitch * (size_t) plan->height;
  StereoStatus status = STEREO_OK;
  Work w;

  c->thread_floats = lay_out (plan, NULL, &w);
  for (int v = 0; v < 2 && !status; v++)
    if (!(status = stereo_reserve (plan, (void **) &c->index[v], map, sizeof (uint16_t), error)))
      status = stereo_reserve (plan, (void **) &c->confidence[v], map, sizeof (float), error);
  return status ? status :
                  stereo_reserve (plan, (void **) &c->scratch,
                      stereo_times (c->thread_floats, (size_t) cpu_threads (plan)), sizeof (float), error);
}

static StereoStatus
idr_run (StereoPlan *plan, void *context, StereoError *error)
{
  IdrContext *c = context;
  size_t map = (size_t) plan->map_pitch * (size_t) plan->height;

  for (int v = 0; v < 2; v++) {
    memcpy (c->index[v], plan->view[v].index, map * sizeof (uint16_t));
    memcpy (c->confidence[v], plan->view[v].confidence, map * sizeof (float));
  }
  cpu_run (plan, context, idr_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    refine_idr) = { .name = "refine", .context_size = sizeof (IdrContext), .prepare = idr_prepare, .run = idr_run };
