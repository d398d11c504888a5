/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block matching: the memory of a thread, and correlations in lanes (stereo/exact/bm.h has the formulas). */
#ifndef STEREO_CPU_BM_LAYER_H
#define STEREO_CPU_BM_LAYER_H

#include "stereo/exact/bm.h"
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#define BM_TILE 256                    /* columns of a thread's work, at most */
#define BM_LEAST_TILE 64               /* and at least, but for a narrower picture */
#define BM_LAYER 128                   /* its disparities, at most, where costs are not picked at once */
#define BM_CHUNK (LANES > 8 ? 80 : 32) /* disparities at a time, at most: registers hold their sums of both steps */

/* Sums of the luma of one view over the rows of the first step's windows: of each column, of all columns before each, and of
 * the whole window around each, with its norm. */
typedef struct BmLine
{
  uint32_t *column_sums, *column_squares;
  uint32_t *sums, *squares; /* width + 1; modulo 2^32, as their differences are small enough */
  uint32_t *window_sums, *window_squares;
  float *norms; /* of the right view: times STEREO_BM_STEPS */
} BmLine;

/* Columns @from..@to. */
typedef struct BmRange
{
  int from, to;
} BmRange;

/* A thread's work: candidates @first..@first + @depth - 1 of a range of columns. Rows below have, for each
 * chunk of candidates, the chunk's elements of each column from @raw.from on. */
typedef struct BmLayer
{
  const StereoPlan *plan;
  int first, depth;
  BmRange means_of; /* columns whose means are written */
  BmRange costs_of; /* columns within their windows */
  BmRange raw;      /* columns within the windows of these */
  size_t columns;   /* that a row below has room for */
  size_t row_size;  /* elements of a row: columns times disparities */
  int radius;       /* of the first step's window */
  int rows;         /* of the picture in the windows around the row at hand, and how many taps a whole one has */
  int taps;
  float factor;    /* of whole windows */
  uint32_t *sums;  /* down the columns, first step */
  uint32_t *means; /* second step */
  uint16_t *ring;  /* the first step's costs of the last rows; row y at y % window */
  uint16_t *costs; /* of the row at hand and all disparities, from column means_of.from on: second step's means */
  const struct BmPicks *picks;
  int thread, tile;
  BmLine line[2];
} BmLayer;

typedef void (*BmBand) (BmLayer *layer, int first, int last);

/* Whether this stage picks the lowest costs, and whether it writes them to the volume. */
static inline int
bm_picks (const StereoPlan *plan)
{
  return plan->fusion.selector == STEREO_SELECTOR_MATCH;
}

static inline int
bm_keeps_costs (const StereoPlan *plan)
{
  return !bm_picks (plan) || plan->fusion.keeps_costs;
}

/* Disparities and columns of a thread's work. Both together are about as much always: what it keeps of a row fits the
 * second-level cache. */
static inline int
bm_layer_depth (const StereoPlan *plan)
{
  return bm_picks (plan) || plan->depth < BM_LAYER ? plan->depth : BM_LAYER;
}

static inline int
bm_tile_columns (const StereoPlan *plan)
{
  int columns = BM_TILE * BM_LAYER / bm_layer_depth (plan);
  return columns > BM_TILE ? BM_TILE : columns < BM_LEAST_TILE ? BM_LEAST_TILE : columns;
}

/* How many parts of at most @most make @size. */
static inline int
bm_parts (int size, int most)
{
  return (size + most - 1) / most;
}

static inline int
bm_tiles (const StereoPlan *plan)
{
  return bm_parts (plan->width, bm_tile_columns (plan) - 8); /* they begin at multiples of eight columns */
}

static inline BmRange
bm_tile_at (const StereoPlan *plan, int tile)
{
  int64_t width = plan->width, tiles = bm_tiles (plan);
  int64_t from = tile * width / tiles / 8 * 8, end = tile + 1 < tiles ? (tile + 1) * width / tiles / 8 * 8 : width;
  return (BmRange){ (int) from, (int) end - 1 };
}

size_t CPU (bm_bytes) (const StereoPlan *plan);
void CPU (bm_start) (BmLayer *layer, const StereoPlan *plan, int first, BmRange columns, uint8_t *memory);
void CPU (bm_row) (BmLayer *layer, int cost, int y);
BmBand CPU (bm_band) (int cost);
#define bm_thread_bytes CPU (bm_bytes)
#define bm_start_layer CPU (bm_start)
#define bm_set_row CPU (bm_row)

/* The numerator of equation 8 where it needs more than 32 bits. (Not inline: the compiler would compute it always, and then
 * select.) */
static __attribute__ ((noinline, unused)) VecF
bm_large_numerator (int taps, VecU products, uint32_t sum_l, const uint32_t *sums_r)
{
  VecF numerator;
  for (int k = 0; k < LANES; k++)
    numerator[k] = (float) ((int64_t) taps * products[k] - (int64_t) sum_l * sums_r[k]);
  return numerator;
}

/* Costs of LANES candidates with whole windows: left column @x, right columns from @m. */
static inline __attribute__ ((always_inline)) VecU
bm_correlation (const BmLayer *layer, int cost, VecU products, int x, int m)
{
  const BmLine *l = &layer->line[STEREO_LEFT], *r = &layer->line[STEREO_RIGHT];
  VecF numerator;

  if (cost == STEREO_COST_NCC)
    numerator = vec_float ((VecI) products);
  else if (cost == STEREO_COST_NSSD)
    numerator = vec_float ((VecI) (vec_load_u (r->window_squares + m) + l->window_squares[x] - 2 * products));
  else if (layer->taps <= STEREO_BM_SMALL)
    numerator = vec_float (
        (VecI) ((uint32_t) layer->taps * products - l->window_sums[x] * vec_load_u (r->window_sums + m)));
  else
    numerator = bm_large_numerator (layer->taps, products, l->window_sums[x], r->window_sums + m);
  VecF steps = numerator * l->norms[x] * vec_load_f (r->norms + m);
  if (cost == STEREO_COST_NSSD) {
    const VecF most = (VecF){ 0 } + 2.0f * STEREO_BM_STEPS;
    VecI less = steps < most;
    return (VecU) vec_round ((VecF) (((VecI) steps & less) | ((VecI) most & ~less)));
  }
  VecI whole = vec_min (vec_round (steps), (VecI){ 0 } + STEREO_BM_STEPS);
  return (VecU) (STEREO_BM_STEPS - vec_max (whole, (VecI){ 0 } - STEREO_BM_STEPS));
}

#endif
