/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adaptive support weights: matching costs averaged over a window, weighted by likeness and nearness to its centre (thesis,
 * 3.2.1), in two passes (3.2.2) or over the full window.
 *
 * A thread takes a band of rows and, within it, `layers` disparities at a time. It stores the raw costs of the window's rows
 * in a ring of bytes, so that each is computed once in a band. Weights are computed once for each pixel and tap (4.4.1), and
 * broadcast over the disparities, which are contiguous. For support=both the right view's weights of neighbouring
 * disparities are contiguous too, because that view is stored mirrored.
 */
#include "stereo/cpu/match.h"
#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/weigh.h"

#define MOST_VECTORS 5 /* that are summed side by side: their sums, weights and a tap fit the registers */
#define INLINE static inline __attribute__ ((always_inline))

typedef struct Context
{
  float *scratch; /* per thread, thread_floats each: see lay_out() */
  size_t thread_floats;
  uint32_t *keys; /* of picks: cpu_picks_words() of each thread */
} Context;

/* One tap of the window at hand: costs of its row, shifted to its column, and its weights. */
typedef struct Tap
{
  const uint8_t *cost;       /* [x * layers + i] */
  const float *left, *right; /* left view's weight of column x; right view's of mirrored column xm */
} Tap;

/* The memory of a thread, and the chunk of disparities that it computes. */
typedef struct Work
{
  const StereoPlan *plan;
  int radius, rows;      /* rows of the ring: the window's side */
  int columns;           /* of a ring row: the width, and the radius twice where taps go sideways */
  int layers, i0, count; /* of a chunk; count < layers in the last one */
  int full, both;
  uint8_t *ring;
  float *line;         /* [x * layers + i]: first pass of the row at hand */
  float *left, *right; /* weights, weight_pitch and image_pitch a tap */
  float *weight_sum;   /* per column */
  int weight_pitch;
  Tap *taps;
  float color_factor, distance_factor;
  CpuCostRow cost_row;
} Work;

/* Divides the memory of a thread, from @base on, and returns its size in floats. @base NULL: returns the size only. */
static size_t
lay_out (Work *w, const StereoPlan *plan, int full, int both, float *base)
{
  const StereoParams *p = &plan->params;
  size_t used = 0, taps;

  memset (w, 0, sizeof *w);
  w->plan = plan;
  w->full = full;
  w->both = both;
  w->radius = p->window / 2;
  w->rows = 2 * w->radius + 1;
  w->columns = plan->width + (full ? 2 * w->radius : 0);
  w->layers = plan->layers;
  w->weight_pitch = (int) cpu_weigh_pitch (plan);
  taps = full ? (size_t) w->rows * (size_t) w->rows : (size_t) w->rows;
  w->color_factor = (float) (-STEREO_LOG2E / p->gamma_color);
  w->distance_factor = (float) (-STEREO_LOG2E / p->gamma_distance);
#define TAKE(field, type, floats) \
  w->field = base ? (type *) (base + used) : NULL; \
  used = stereo_plus (used, stereo_round_up (floats, 16))
  TAKE (ring, uint8_t, stereo_times ((size_t) w->rows * (size_t) w->columns, (size_t) w->layers) / 4 + 16);
  TAKE (line, float, full ? 0 : (size_t) plan->width *(size_t) w->layers);
  TAKE (left, float, stereo_times (taps, (size_t) w->weight_pitch));
  TAKE (right, float, both ? stereo_times (taps, (size_t) plan->image_pitch) : 0);
  TAKE (weight_sum, float, (size_t) w->weight_pitch);
  TAKE (taps, Tap, taps * sizeof (Tap) / sizeof (float));
#undef TAKE
  return used;
}

/* ---- weights ------------------------------------------------------------------------------ */

static const uint8_t *
ring_row (const Work *w, int y)
{
  return w->ring + (size_t) (y % w->rows) * (size_t) w->columns * (size_t) w->layers;
}

/* Adds the tap (dx, dy) of row @y to the list. In the right view, which is mirrored, it is the tap (-dx, dy). */
static void
add_tap (Work *w, int *count, int y, int dy, int dx)
{
  const StereoPlan *plan = w->plan;
  Tap *tap = &w->taps[*count];
  float *left = w->left + (size_t) *count * (size_t) w->weight_pitch;

  cpu_weigh (plan, &plan->view[STEREO_LEFT], y, dy, dx, w->color_factor, w->distance_factor, left);
  tap->left = left;
  tap->right = NULL;
  if (w->both) {
    float *right = w->right + (size_t) *count * (size_t) plan->image_pitch + plan->image_pad;
    cpu_weigh (plan, &plan->view[STEREO_RIGHT], y, dy, -dx, w->color_factor, w->distance_factor, right);
    tap->right = right;
  }
  tap->cost = NULL;
  if (w->full || dx == 0)
    tap->cost = ring_row (w, y + dy) + (size_t) (dx + (w->full ? w->radius : 0)) * (size_t) w->layers;
  ++*count;
}

static void
sum_weights (Work *w, int taps)
{
  int width = w->plan->width;
  memset (w->weight_sum, 0, (size_t) width * sizeof *w->weight_sum);
  for (int t = 0; t < taps; t++)
    for (int x = 0; x < width; x++)
      w->weight_sum[x] += w->taps[t].left[x];
}

/* ---- aggregation: the inner loops ---------------------------------------------------------- */

/* Weighted sums of byte costs over all taps, for column @x and `n` vectors of disparities. */
INLINE void
sum_costs (const Work *w, int taps, int x, int offset, ptrdiff_t partner, int n, int both, VecF *sum, VecF *weights)
{
  size_t place = (size_t) x * (size_t) w->layers + (size_t) offset;
  for (int v = 0; v < n; v++)
    sum[v] = weights[v] = (VecF){ 0 };
  for (int t = 0; t < taps; t++) {
    const Tap *tap = &w->taps[t];
    float left = tap->left[x];
#pragma GCC unroll 8
    for (int v = 0; v < n; v++) {
      VecF cost = vec_from_bytes (vec_load_b (tap->cost + place + v * LANES));
      if (both) {
        VecF weight = vec_load_f (tap->right + partner + v * LANES) * left;
        weights[v] += weight;
        sum[v] += weight * cost;
      } else
        sum[v] += left * cost;
    }
  }
}

/* The same sums over the costs of the first pass along the row. Taps outside have weight 0 or cost 0. */
INLINE void
sum_line (
    const Work *w, int from, int to, int x, int offset, ptrdiff_t partner, int n, int both, VecF *sum, VecF *weights)
{
  for (int v = 0; v < n; v++)
    sum[v] = weights[v] = (VecF){ 0 };
  for (int t = from; t <= to; t++) {
    const float *cost = w->line + (ptrdiff_t) (x + t - w->radius) * w->layers + offset;
    float left = w->taps[t].left[x];
#pragma GCC unroll 8
    for (int v = 0; v < n; v++) {
      if (both) {
        VecF weight = vec_load_f (w->taps[t].right + partner + v * LANES) * left;
        weights[v] += weight;
        sum[v] += weight * vec_load_f (cost + v * LANES);
      } else
        sum[v] += left * vec_load_f (cost + v * LANES);
    }
  }
}

/* sum / weights; 0 where no tap has a weight (such a candidate is outside the right image). */
INLINE VecF
quotient (VecF sum, VecF weights)
{
  VecI none = weights <= 0.0f;
  VecF safe = (VecF) (((VecI) weights & ~none) | (none & 0x3F800000));
  return (VecF) ((VecI) (sum / safe) & ~none);
}

/* A column of the row at hand. */
typedef struct Column
{
  int x;
  int inside;   /* not support=both: the partners of all taps are in the right image */
  float share;  /* one over the sum of the left view's weights */
  float unit;   /* steps of the volume in a step of the costs */
  uint16_t *to; /* its place in the volume */
} Column;

INLINE void
store_costs (const Column *column, int offset, VecF cost)
{
  VecI steps = __builtin_convertvector(cost * column->unit + 0.5f, VecI);
  vec_store_h (column->to + offset, vec_narrow (steps));
}

/* ---- support=left: the sum of the weights of taps inside both images ---------------------------- */

/* Whether the partners of all taps of column @x, at all candidates, are in the right image. */
static int
interior (const Work *w, int x)
{
  const StereoPlan *plan = w->plan;
  int from = x - w->radius > 0 ? x - w->radius : 0;
  int to = x + w->radius < plan->width - 1 ? x + w->radius : plan->width - 1;
  return stereo_last_index (from, plan->disparities, plan->min_disparity) == plan->disparities - 1 &&
      stereo_first_index (to, plan->width, plan->min_disparity) == 0;
}

/* Sum of the left weights of those taps of column @x whose candidate i0 + offset + lane exists. */
static VecF
inside_weights (const Work *w, int taps, int x, int offset)
{
  const StereoPlan *plan = w->plan;
  const VecI lanes = LANE_NUMBERS;
  VecI index = lanes + (w->i0 + offset);
  VecF sum = { 0 };

  for (int t = 0; t < taps; t++) {
    int column = x + (w->full ? t % w->rows : t) - w->radius;
    if (column < 0 || column >= plan->width)
      continue;
    int first = stereo_first_index (column, plan->width, plan->min_disparity);
    int last = stereo_last_index (column, plan->disparities, plan->min_disparity);
    VecI exists = (index >= first) & (index <= last);
    VecF weight = { 0 };
    weight += w->taps[t].left[x];
    sum += (VecF) ((VecI) weight & exists);
  }
  return sum;
}

/* ---- passes over a row --------------------------------------------------------------------- */

/* Sets what lies outside [first, last] of a column's chunk, in elements of @size bytes. */
static void
blank (const Work *w, int x, void *column, size_t size, int value)
{
  const StereoPlan *plan = w->plan;
  int first = stereo_first_index (x, plan->width, plan->min_disparity) - w->i0;
  int end = stereo_last_index (x, plan->disparities, plan->min_disparity) + 1 - w->i0;

  if (first > 0)
    memset (column, value, (size_t) (first < w->count ? first : w->count) * size);
  if (end < w->count)
    memset (
        (char *) column + (size_t) (end > 0 ? end : 0) * size, value, (size_t) (w->count - (end > 0 ? end : 0)) * size);
}

static Column
column_of (const Work *w, int x, int y, int both)
{
  const StereoPlan *plan = w->plan;
  size_t place = ((size_t) y * (size_t) plan->width + (size_t) x) * (size_t) plan->depth + (size_t) w->i0;
  return (Column){ x, both || interior (w, x), 1 / w->weight_sum[x], (float) plan->volume_unit, plan->volume + place };
}

INLINE ptrdiff_t
partner_of (const Work *w, int x, int offset)
{
  return w->plan->width - 1 - x + w->plan->min_disparity + w->i0 + offset;
}

/* First pass: ring -> line; with the full window ring -> volume. @n vectors of disparities at a time. */
INLINE void
pass_costs_block (const Work *w, int taps, const Column *column, int offset, int n, int both)
{
  VecF sum[MOST_VECTORS], weights[MOST_VECTORS];
  int x = column->x;

  sum_costs (w, taps, x, offset, partner_of (w, x, offset), n, both, sum, weights);
  for (int v = 0; v < n; v++) {
    VecF cost = both               ? quotient (sum[v], weights[v]) :
        !w->full || column->inside ? sum[v] * column->share :
                                     quotient (sum[v], inside_weights (w, taps, x, offset + v * LANES));
    if (w->full)
      store_costs (column, offset + v * LANES, cost);
    else
      vec_store_f (w->line + (size_t) x * (size_t) w->layers + offset + v * LANES, cost);
  }
}

/* Second pass: line -> volume. */
INLINE void
pass_line_block (const Work *w, int taps, const Column *column, int offset, int n, int both)
{
  VecF sum[MOST_VECTORS], weights[MOST_VECTORS];
  int x = column->x, from = x < w->radius ? w->radius - x : 0;
  int to = w->radius + w->plan->width - 1 - x < taps - 1 ? w->radius + w->plan->width - 1 - x : taps - 1;

  sum_line (w, from, to, x, offset, partner_of (w, x, offset), n, both, sum, weights);
  for (int v = 0; v < n; v++)
    store_costs (column, offset + v * LANES,
        both               ? quotient (sum[v], weights[v]) :
            column->inside ? sum[v] * column->share :
                             quotient (sum[v], inside_weights (w, taps, x, offset + v * LANES)));
}

/* Goes through the disparities of each column in blocks of vectors that are as even as they can be. */
#define PASS_ROW(name, block, both) \
  static void name (const Work *w, int taps, int y) \
  { \
    for (int x = 0; x < w->plan->width; x++) { \
      Column column = column_of (w, x, y, both); \
      for (int offset = 0, left = (w->count + LANES - 1) / LANES, n; left > 0; left -= n, offset += n * LANES) { \
        int blocks = (left + MOST_VECTORS - 1) / MOST_VECTORS; \
        n = (left + blocks - 1) / blocks; \
        switch (n) { \
          case 5: \
            block (w, taps, &column, offset, 5, both); \
            break; \
          case 4: \
            block (w, taps, &column, offset, 4, both); \
            break; \
          case 3: \
            block (w, taps, &column, offset, 3, both); \
            break; \
          case 2: \
            block (w, taps, &column, offset, 2, both); \
            break; \
          default: \
            block (w, taps, &column, offset, 1, both); \
            break; \
        } \
      } \
    } \
  }
PASS_ROW (pass_costs_left, pass_costs_block, 0)
PASS_ROW (pass_costs_both, pass_costs_block, 1)
PASS_ROW (pass_line_left, pass_line_block, 0)
PASS_ROW (pass_line_both, pass_line_block, 1)

static void
aggregate_row (Work *w, int y)
{
  const StereoPlan *plan = w->plan;
  int taps = 0, sideways = w->full ? w->radius : 0;

  for (int dy = -w->radius; dy <= w->radius; dy++)
    for (int dx = -sideways; dx <= sideways; dx++)
      if (y + dy >= 0 && y + dy < plan->height)
        add_tap (w, &taps, y, dy, dx);
  sum_weights (w, taps);
  (w->both ? pass_costs_both : pass_costs_left) (w, taps, y);
  if (!w->full) {
    for (int x = 0; x < plan->width; x++)
      blank (w, x, w->line + (size_t) x * (size_t) w->layers, sizeof *w->line, 0);
    taps = 0;
    for (int dx = -w->radius; dx <= w->radius; dx++)
      add_tap (w, &taps, y, 0, dx);
    sum_weights (w, taps);
    (w->both ? pass_line_both : pass_line_left) (w, taps, y);
  }
  for (int x = 0; x < plan->width; x++)
    blank (w, x, plan->volume + ((size_t) y * (size_t) plan->width + (size_t) x) * (size_t) plan->depth + w->i0,
        sizeof *plan->volume, 0xFF);
}

/* ---- stage ---------------------------------------------------------------------------------- */

static void
fill_ring (Work *w, int y)
{
  const StereoPlan *plan = w->plan;
  int pad = w->full ? w->radius : 0;
  uint8_t *row = (uint8_t *) ring_row (w, y) + (size_t) pad * (size_t) w->layers;

  w->cost_row (plan, y, 0, plan->width, w->i0, w->count, w->layers, row);
  if (w->full)
    for (int x = 0; x < plan->width; x++)
      blank (w, x, row + (size_t) x * (size_t) w->layers, 1, 0);
}

/* Whether this stage picks the lowest costs: if no paths follow. */
static int
picks (const StereoPlan *plan)
{
  return plan->fusion.selector == STEREO_SELECTOR_MATCH;
}

static void
aggregate_band (const StereoPlan *plan, const Context *c, int item, int thread, int full, int both)
{
  int bands = cpu_threads (plan);
  int y0 = (int) ((int64_t) plan->height * item / bands), y1 = (int) ((int64_t) plan->height * (item + 1) / bands);
  Work w;

  lay_out (&w, plan, full, both, c->scratch + (size_t) thread * c->thread_floats);
  w.cost_row = CPU (cost_row) (plan->params.cost);
  for (w.i0 = 0; w.i0 < plan->depth; w.i0 += w.layers) {
    w.count = plan->depth - w.i0 < w.layers ? plan->depth - w.i0 : w.layers;
    int filled = y0 - w.radius > 0 ? y0 - w.radius : 0;
    for (int y = y0; y < y1; y++) {
      for (; filled <= y + w.radius && filled < plan->height; filled++)
        fill_ring (&w, filled);
      aggregate_row (&w, y);
      if (picks (plan))
        CPU (pick_row) (plan, c->keys + (size_t) thread * cpu_picks_words (plan), y);
    }
  }
}

static StereoStatus
prepare (StereoPlan *plan, Context *c, int full, int both, StereoError *error)
{
  StereoStatus status;
  Work w;

  c->thread_floats = lay_out (&w, plan, full, both, NULL);
  if (picks (plan) &&
      ((status = cpu_reserve_measures (plan, error)) ||
          (status = stereo_reserve (plan, (void **) &c->keys, cpu_picks_words (plan) * (size_t) cpu_threads (plan),
               sizeof *c->keys, error))))
    return status;
  return stereo_reserve (
      plan, (void **) &c->scratch, stereo_times (c->thread_floats, (size_t) cpu_threads (plan)), sizeof (float), error);
}

#define ASW_STAGE(stage, full, both) \
  static void stage##_band (StereoPlan *plan, void *context, int item, int thread) \
  { \
    aggregate_band (plan, context, item, thread, full, both); \
  } \
  static StereoStatus stage##_run (StereoPlan *plan, void *context, StereoError *error) \
  { \
    cpu_run (plan, context, stage##_band, cpu_threads (plan)); \
    return STEREO_OK; \
  } \
  static StereoStatus stage##_prepare (StereoPlan *plan, void *context, StereoError *error) \
  { \
    return prepare (plan, context, full, both, error); \
  } \
  static const StereoStage stage = { \
    .name = "match", .context_size = sizeof (Context), .prepare = stage##_prepare, .run = stage##_run \
  };

ASW_STAGE (two_pass_left, 0, 0)
ASW_STAGE (two_pass_both, 0, 1)
ASW_STAGE (full_left, 1, 0)
ASW_STAGE (full_both, 1, 1)

const StereoStage *
CPU (asw) (const StereoParams *params)
{
  if (!CPU (cost_row) (params->cost))
    return NULL;
  if (params->aggregation == STEREO_AGGREGATION_FULL)
    return params->support == STEREO_SUPPORT_BOTH ? &full_both : &full_left;
  return params->support == STEREO_SUPPORT_BOTH ? &two_pass_both : &two_pass_left;
}
