/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block matching: the memory of a thread, and the part of the correlations that depends on one view only. */
#include "stereo/cpu/bm/layer.h"

#define WORDS_PAD 32 /* words after a line, for vectors that begin in it */

static size_t
line_words (const StereoPlan *plan)
{
  return ((size_t) plan->width + 1 + WORDS_PAD + 31) / 32 * 32;
}

static size_t
lines_of (const BmLine *line)
{
  return sizeof *line / sizeof line->sums;
}

/* Columns of a thread's work with all windows around them. */
static size_t
columns_of (const StereoPlan *plan)
{
  int columns = bm_tile_columns (plan) + 2 * (plan->params.window - 1);
  return (size_t) (columns < plan->width ? columns : plan->width);
}

static size_t
depth_of (const StereoPlan *plan)
{
  return (size_t) bm_layer_depth (plan);
}

/* A row of costs that are not kept, and what post/pick.c reads behind it. */
static size_t
row_bytes (const StereoPlan *plan)
{
  size_t costs = (size_t) bm_tile_columns (plan) * depth_of (plan) + 2 * CPU_PICK_BEYOND;
  return bm_keeps_costs (plan) ? 0 : costs * sizeof (uint16_t);
}

size_t
CPU (bm_bytes) (const StereoPlan *plan)
{
  size_t elements = columns_of (plan) * depth_of (plan);
  size_t lines = stereo_bm_correlates (plan->params.cost) ? 2 * lines_of (NULL) : 0;
  return 2 * elements * sizeof (uint32_t) + (size_t) plan->params.window * elements * sizeof (uint16_t) +
      lines * line_words (plan) * sizeof (uint32_t) + row_bytes (plan);
}

/* @range and @beside columns on either side, where the picture has them. */
static BmRange
widen (BmRange range, int beside, int width)
{
  return (BmRange){ range.from < beside ? 0 : range.from - beside,
    range.to + beside < width ? range.to + beside : width - 1 };
}

void
CPU (bm_start) (BmLayer *layer, const StereoPlan *plan, int first, BmRange columns, uint8_t *memory)
{
  size_t elements = columns_of (plan) * depth_of (plan), words = line_words (plan);

  memset (memory, 0, CPU (bm_bytes) (plan));
  memset (layer, 0, sizeof *layer);
  layer->plan = plan;
  layer->first = first;
  layer->depth = plan->depth - first < (int) depth_of (plan) ? plan->depth - first : (int) depth_of (plan);
  layer->radius = stereo_bm_window_cost (plan->params.cost) ? plan->params.window / 2 : 0;
  layer->means_of = columns;
  layer->costs_of = widen (columns, plan->params.window / 2, plan->width);
  layer->raw = widen (layer->costs_of, layer->radius, plan->width);
  layer->columns = columns_of (plan);
  layer->row_size = elements;
  layer->sums = (uint32_t *) memory;
  layer->means = layer->sums + elements;
  layer->ring = (uint16_t *) (layer->means + elements);
  layer->costs = (uint16_t *) (memory + CPU (bm_bytes) (plan) - row_bytes (plan));
  if (!stereo_bm_correlates (plan->params.cost))
    return;
  uint32_t *at = (uint32_t *) (layer->ring + (size_t) plan->params.window * elements);
  for (int v = 0; v < 2; v++) {
    BmLine *line = &layer->line[v];
    uint32_t **parts[] = { &line->column_sums, &line->column_squares, &line->sums, &line->squares, &line->window_sums,
      &line->window_squares };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, at += words)
      *parts[k] = at;
    line->norms = (float *) at;
    at += words;
  }
}

static void
add_row (const StereoPlan *plan, const StereoView *view, BmLine *line, int y, uint32_t sign)
{
  const uint8_t *restrict luma = view->luma + (size_t) y * (size_t) plan->image_pitch;
  uint32_t *restrict sums = line->column_sums, *restrict squares = line->column_squares;
  int width = plan->width;

  for (int x = 0; x < width; x++) {
    uint32_t v = luma[x];
    sums[x] += sign * v;
    squares[x] += sign * (v * v);
  }
}

/* stereo_bm_norm() in lanes, for windows whose energy fits 32 bits. Computes the whole line; only norms of whole windows are
 * used. */
static void
small_norms (const BmLayer *layer, int cost, BmLine *line, float scale)
{
  uint32_t taps = (uint32_t) layer->taps;

  for (int x = 0; x < layer->plan->width; x += LANES) {
    VecU sums = vec_load_u (line->window_sums + x), energy = vec_load_u (line->window_squares + x);
    if (cost == STEREO_COST_ZNCC)
      energy = taps * energy - sums * sums;
    VecI none = energy == 0;
    VecF without = (VecF){ 0 } + (cost == STEREO_COST_NSSD ? 1e10f : 0.0f),
         norm = 1.0f / vec_root (vec_float_unsigned (energy));
    norm = scale * (VecF) (((VecI) norm & ~none) | ((VecI) without & none));
    memcpy (line->norms + x, &norm, sizeof norm);
  }
}

static void
sum_up (const BmLayer *layer, int cost, BmLine *line, float scale)
{
  int width = layer->plan->width, window = 2 * layer->radius + 1;

  uint32_t *restrict sums = line->sums, *restrict squares = line->squares, sum = 0, square = 0;
  uint32_t *restrict window_sums = line->window_sums + layer->radius,
                     *restrict window_squares = line->window_squares + layer->radius;

  for (int x = 0; x < width; x++) {
    sums[x + 1] = sum += line->column_sums[x];
    squares[x + 1] = square += line->column_squares[x];
  }
  for (int x = 0; x + window <= width; x++) {
    window_sums[x] = sums[x + window] - sums[x];
    window_squares[x] = squares[x + window] - squares[x];
  }
  if (layer->taps <= STEREO_BM_SMALL)
    small_norms (layer, cost, line, scale);
  else
    for (int x = layer->radius; x + layer->radius < width; x++)
      line->norms[x] = scale * stereo_bm_norm (cost, layer->taps, line->window_sums[x], line->window_squares[x]);
}

/* Moves the first step's windows to row @y. Rows must come in order. */
void
CPU (bm_row) (BmLayer *layer, int cost, int y)
{
  const StereoPlan *plan = layer->plan;
  int radius = layer->radius, begun = layer->rows > 0, height = plan->height;

  layer->rows = stereo_bm_rows (y, height, radius);
  layer->taps = layer->rows * (2 * radius + 1);
  if (!stereo_bm_correlates (cost)) {
    layer->factor = stereo_bm_cost_factor (cost, plan->volume_unit, layer->taps);
    return;
  }
  for (int v = 0; v < 2; v++) {
    BmLine *line = &layer->line[v];
    for (int k = begun ? y + radius : y < radius ? 0 : y - radius; k <= y + radius && k < height; k++)
      add_row (plan, &plan->view[v], line, k, 1);
    if (begun && y > radius)
      add_row (plan, &plan->view[v], line, y - radius - 1, (uint32_t) -1);
    sum_up (layer, cost, line, v == STEREO_RIGHT ? STEREO_BM_STEPS : 1);
  }
}
