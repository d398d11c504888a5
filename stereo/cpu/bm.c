/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching: a cost of windows, then its mean over windows. stereo/exact/bm.h has the equations and the rounding.
 *
 * A thread takes a band of rows, a tile of columns and a layer of disparities, so that its memory of a row fits the
 * second-level cache. In a row, it takes a chunk of disparities at a time along all columns of the tile, then the next chunk:
 * thus a row of the volume is whole when it leaves the cache.
 * Both steps have a sum for every column and candidate, which a row enters and a row leaves as the window moves down, and
 * one running sum of these along the row: the work does not depend on the window. The second step is in the same loop as
 * the first, window / 2 columns and rows behind it. All sums are whole numbers: bands and threads do not change the result.
 *
 * Candidates that do not exist add 0 to every sum, and so do rows.
 *
 * Where costs are picked at once, the layer is the whole search: the pixels of the left view then are done with their row. A pixel
 * of the right view has candidates in neighbouring tiles: each tile leaves the keys that it found for it, and when all are done, they
 * are merged.
 */
#include "stereo/exact/bm.h"
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/cpu/post/pick.h"

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

typedef struct BmPicks
{
  uint32_t *left;  /* lines of each thread */
  uint32_t *right; /* two lines of keys for each row and tile */
} BmPicks;

typedef struct Context
{
  uint8_t *scratch; /* per thread, bm_thread_bytes() each */
  BmPicks picks;
} Context;

/* What turns sums over windows into means, in the row at hand. */
typedef struct BmFactors
{
  int radius, unit;
  int taps;    /* of a column of the windows; 0: not yet known */
  float whole; /* of whole windows */
  float *line; /* where the window around the left pixel is whole, by right column */
} BmFactors;

/* A thread's work: candidates @first..@first + @depth - 1 of a range of columns. Rows below have, for each chunk of candidates, the
 * chunk's elements of each column from @base on. Those before @raw.from are 0. */
typedef struct BmLayer
{
  const StereoPlan *plan;
  int first, depth;
  BmRange means_of; /* columns whose means are written */
  BmRange costs_of; /* columns within their windows */
  BmRange raw;      /* columns within the windows of these */
  int base;
  size_t columns;  /* that a row below has room for */
  size_t row_size; /* elements of a row: columns times disparities */
  int radius;      /* of the first step's window */
  int taps;        /* of a whole one around the row at hand */
  BmFactors of_costs, of_means;
  uint32_t *sums;      /* down the columns, first step */
  uint32_t *means;     /* second step */
  uint16_t *ring;      /* the first step's costs of the last rows; row y at y % window */
  uint16_t *costs;     /* of the row at hand and all disparities, from column means_of.from on: second step's means */
  uint32_t *blank;     /* a row of pixels for those that are not in the picture: they differ by nothing */
  uint32_t *turned[2]; /* colours of the rows that enter or leave windows: row y at y % (window + 1) */
  const BmPicks *picks;
  int thread, tile;
  BmLine line[2];
} BmLayer;

/* Whether this stage picks the lowest costs, and whether it writes them to the volume. */
static int
bm_picks (const StereoPlan *plan)
{
  return plan->fusion.selector == STEREO_SELECTOR_MATCH;
}

static int
bm_keeps_costs (const StereoPlan *plan)
{
  return !bm_picks (plan) || plan->fusion.keeps_costs;
}

/* Disparities and columns of a thread's work. Both together are about as much always: what it keeps of a row fits the
 * second-level cache. */
static int
bm_layer_depth (const StereoPlan *plan)
{
  return bm_picks (plan) || plan->depth < BM_LAYER ? plan->depth : BM_LAYER;
}

static int
bm_tile_columns (const StereoPlan *plan)
{
  int columns = BM_TILE * BM_LAYER / bm_layer_depth (plan);
  return columns > BM_TILE ? BM_TILE : columns < BM_LEAST_TILE ? BM_LEAST_TILE : columns;
}

/* How many parts of at most @most make @size. */
static int
bm_parts (int size, int most)
{
  return (size + most - 1) / most;
}

static int
bm_layers (const StereoPlan *plan)
{
  return bm_parts (plan->depth, bm_layer_depth (plan));
}

static int
bm_tiles (const StereoPlan *plan)
{
  return bm_parts (plan->width, bm_tile_columns (plan) - 8); /* they begin at multiples of eight columns */
}

static BmRange
bm_tile_at (const StereoPlan *plan, int tile)
{
  int64_t width = plan->width, tiles = bm_tiles (plan);
  int64_t from = tile * width / tiles / 8 * 8, end = tile + 1 < tiles ? (tile + 1) * width / tiles / 8 * 8 : width;
  return (BmRange){ (int) from, (int) end - 1 };
}

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

/* ---- the memory of a thread, and the part of the correlations that depends on one view only --------- */

/* Of a line of a view, from plan->image_pad before its column 0 on, and of what vectors that begin in it have behind it. */
static size_t
line_words (const StereoPlan *plan)
{
  return (size_t) plan->image_pitch + 32;
}

/* Columns of a thread's work with all windows around them, and a window before. */
static size_t
columns_of (const StereoPlan *plan)
{
  int columns = bm_tile_columns (plan) + 2 * (plan->params.window - 1);
  return (size_t) ((columns < plan->width ? columns : plan->width) + plan->params.window);
}

/* A row of costs that are not kept, and what post/pick.c reads behind it. */
static size_t
row_bytes (const StereoPlan *plan)
{
  size_t costs = (size_t) bm_tile_columns (plan) * (size_t) bm_layer_depth (plan) + 2 * CPU_PICK_BEYOND;
  return bm_keeps_costs (plan) ? 0 : costs * sizeof (uint16_t);
}

static size_t
bm_thread_bytes (const StereoPlan *plan)
{
  size_t elements = columns_of (plan) * (size_t) bm_layer_depth (plan);
  size_t lines = 3 + (stereo_bm_correlates (plan->params.cost) ? 2 * sizeof (BmLine) / sizeof (uint32_t *) : 0) +
      (stereo_bm_channels (plan->params.cost) > 1 ? 2 * (size_t) (plan->params.window + 1) : 0);
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

static void
bm_start_layer (BmLayer *layer, const StereoPlan *plan, int first, BmRange columns, uint8_t *memory)
{
  size_t elements = columns_of (plan) * (size_t) bm_layer_depth (plan), words = line_words (plan);

  memset (memory, 0, bm_thread_bytes (plan));
  memset (layer, 0, sizeof *layer);
  layer->plan = plan;
  layer->first = first;
  layer->depth = plan->depth - first < bm_layer_depth (plan) ? plan->depth - first : bm_layer_depth (plan);
  layer->radius = stereo_bm_window_cost (plan->params.cost) ? plan->params.window / 2 : 0;
  layer->means_of = columns;
  layer->costs_of = widen (columns, plan->params.window / 2, plan->width);
  layer->raw = widen (layer->costs_of, layer->radius, plan->width);
  layer->base = layer->raw.from - plan->params.window;
  layer->columns = columns_of (plan);
  layer->row_size = elements;
  layer->sums = (uint32_t *) memory;
  layer->means = layer->sums + elements;
  layer->ring = (uint16_t *) (layer->means + elements);
  layer->costs = (uint16_t *) (memory + bm_thread_bytes (plan) - row_bytes (plan));
  uint32_t *at = (uint32_t *) (layer->ring + (size_t) plan->params.window * elements);
  layer->blank = at + plan->image_pad;
  layer->of_costs = (BmFactors){ layer->radius, plan->volume_unit, 0, 0, (float *) (layer->blank + words) };
  layer->of_means = (BmFactors){ plan->params.window / 2, 1, 0, 0, layer->of_costs.line + words };
  at += 3 * words;
  for (int v = 0; v < 2; v++)
    layer->turned[v] = at + plan->image_pad + (size_t) (v * (plan->params.window + 1)) * words;
  if (!stereo_bm_correlates (plan->params.cost))
    return;
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

/* stereo_bm_cost_factor() or _mean_factor() of LANES candidates around column @x, with any windows; @m: the first one's right column. 0
 * where there is no candidate. */
static inline VecF
part_factors (const BmFactors *f, int width, int x, int m)
{
  const VecI lanes = LANE_NUMBERS, zero = { 0 };
  VecI place = lanes + m, exists = (place >= 0) & (place < width);
  VecI low = vec_max (zero + (x < f->radius ? -x : -f->radius), place - (width - 1));
  VecI high = vec_min (zero + (width - 1 - x < f->radius ? width - 1 - x : f->radius), place);
  return (VecF) ((VecI) (vec_float (zero + f->unit) / vec_float ((high - low + 1) * f->taps)) & exists);
}

/* For windows whose columns have @taps each. */
static void
set_factors (BmFactors *f, const StereoPlan *plan, int taps)
{
  if (f->taps == taps)
    return;
  f->taps = taps;
  f->whole = (float) f->unit / (float) ((2 * f->radius + 1) * taps);
  for (int m = -plan->image_pad; m < plan->image_pitch - plan->image_pad; m += LANES)
    vec_store_f (f->line + m, part_factors (f, plan->width, f->radius, m));
}

/* Moves the first step's windows to row @y. Rows must come in order. */
static void
bm_set_row (BmLayer *layer, int cost, int y)
{
  const StereoPlan *plan = layer->plan;
  int radius = layer->radius, begun = layer->taps > 0, height = plan->height, rows = stereo_bm_rows (y, height, radius);

  layer->taps = rows * (2 * radius + 1);
  set_factors (&layer->of_costs, plan, stereo_bm_channels (cost) * rows);
  if (!stereo_bm_correlates (cost))
    return;
  for (int v = 0; v < 2; v++) {
    BmLine *line = &layer->line[v];
    for (int k = begun ? y + radius : y < radius ? 0 : y - radius; k <= y + radius && k < height; k++)
      add_row (plan, &plan->view[v], line, k, 1);
    if (begun && y > radius)
      add_row (plan, &plan->view[v], line, y - radius - 1, (uint32_t) -1);
    sum_up (layer, cost, line, v == STEREO_RIGHT ? STEREO_BM_STEPS : 1);
  }
}

/* ---- the lowest costs of each row ---------------------------------------------------------------- */

/* Words of a line of a tile's right keys. */
static size_t
span_of (const StereoPlan *plan)
{
  return (size_t) (bm_tile_columns (plan) + plan->depth + CPU_PICK_BEYOND);
}

/* Lines of a tile's right keys. Refinement alone reads the second ones of that view. */
static size_t
right_lines (const StereoPlan *plan)
{
  return bm_keeps_costs (plan) ? 2 : 1;
}

/* The first of them. */
static int
first_right (const StereoPlan *plan, BmRange columns)
{
  return plan->width - 1 - columns.to + plan->min_disparity;
}

static uint32_t *
right_keys (const StereoPlan *plan, const BmPicks *picks, int y, int tile)
{
  return picks->right + ((size_t) y * (size_t) bm_tiles (plan) + (size_t) tile) * right_lines (plan) * span_of (plan);
}

/* Where bm_picks() says so, the stage calls: */
static StereoStatus
bm_picks_reserve (StereoPlan *plan, BmPicks *picks, StereoError *error)
{
  StereoStatus status = cpu_reserve_measures (plan, error);

  if (status ||
      (status = stereo_reserve (plan, (void **) &picks->left,
           stereo_times ((size_t) cpu_threads (plan), 2 * (size_t) plan->image_pitch), sizeof *picks->left, error)))
    return status;
  return stereo_reserve (plan, (void **) &picks->right,
      stereo_times (stereo_times ((size_t) plan->height, (size_t) bm_tiles (plan)), right_lines (plan) * span_of (plan)),
      sizeof *picks->right, error);
}

/* When all costs of row @y are made, in the tile of @layer. */
static void
bm_picks_row (const BmLayer *layer, int y)
{
  const StereoPlan *plan = layer->plan;
  const BmPicks *picks = layer->picks;
  int from = layer->means_of.from, end = layer->means_of.to + 1;

  size_t span = span_of (plan), pitch = (size_t) plan->image_pitch;
  uint32_t *left = picks->left + (size_t) layer->thread * 2 * pitch, *right = right_keys (plan, picks, y, layer->tile);
  int first = first_right (plan, layer->means_of);
  CpuPicks keys = { left, left + pitch, right - first, right_lines (plan) > 1 ? right + span - first : NULL };
  memset (right, 0xFF, right_lines (plan) * span * sizeof *right);
  CPU (pick_columns) (plan, &keys, layer->costs, from, end);
  CPU (pick_store) (plan, &plan->view[STEREO_LEFT], y, from, end, keys.left1, keys.left2);
  if (!bm_keeps_costs (plan))
    CPU (pick_measures) (plan, layer->costs, y, from, end);
}

/* Moves the lowest keys of a tile into those of a row; the two lowest, if there are @tile_next. */
static void
merge_keys (uint32_t *restrict low, uint32_t *restrict next, const uint32_t *restrict tile_low,
    const uint32_t *restrict tile_next, int count)
{
  if (!tile_next) {
    for (int k = 0; k < count; k++)
      low[k] = low[k] < tile_low[k] ? low[k] : tile_low[k];
    return;
  }
  for (int k = 0; k < count; k++) {
    uint32_t higher = low[k] > tile_low[k] ? low[k] : tile_low[k];
    higher = higher < tile_next[k] ? higher : tile_next[k];
    next[k] = next[k] < higher ? next[k] : higher;
    low[k] = low[k] < tile_low[k] ? low[k] : tile_low[k];
  }
}

/* When all tiles of row @y are done. */
static void
bm_picks_merge (StereoPlan *plan, void *context, int y, int thread)
{
  const BmPicks *picks = &((const Context *) context)->picks;
  size_t pitch = (size_t) plan->image_pitch, span = span_of (plan);
  uint32_t *low = picks->left + (size_t) thread * 2 * pitch, *next = low + pitch;
  int two = right_lines (plan) > 1;

  memset (low, 0xFF, 2 * pitch * sizeof *low);
  for (int tile = 0; tile < bm_tiles (plan); tile++) {
    BmRange columns = bm_tile_at (plan, tile);
    const uint32_t *keys = right_keys (plan, picks, y, tile);
    int first = first_right (plan, columns), end = first + columns.to - columns.from + plan->depth;
    int from = first < 0 ? 0 : first, to = end < plan->width ? end : plan->width;
    if (from < to)
      merge_keys (low + from, next + from, keys + (from - first), two ? keys + span + (from - first) : NULL, to - from);
  }
  CPU (pick_store) (plan, &plan->view[STEREO_RIGHT], y, 0, plan->width, low, two ? next : NULL);
}

/* ---- at one column of a row and a chunk of its candidates. These have to be in the loop of band(): it keeps their sums in registers */

/* One copy of these for every cost and chunk: then costs and counts are constants. With the checks of AddressSanitizer the compiler
 * would take minutes over the copies, so there they are functions. */
#ifdef __SANITIZE_ADDRESS__
#define INLINE static __attribute__ ((noinline, unused))
#define UNROLL _Pragma ("GCC unroll 1")
#else
#define INLINE static inline __attribute__ ((always_inline))
#define UNROLL _Pragma ("GCC unroll 8")
#endif
#define EACH_VECTOR(k) UNROLL for (int k = 0; k < count; k += LANES)

enum
{
  RAW_DIFFERENCE,
  RAW_SQUARE,
  RAW_COLORS,
  RAW_COLOR_SQUARES,
  RAW_PRODUCT
};

/* ---- first step: sums down the columns ----------------------------------------------------------- */

/* The raw value of a pixel and LANES candidates. */
INLINE VecU
raw (int kind, uint32_t left, const void *right)
{
  VecI l = { 0 };

  if (kind == RAW_COLORS)
    return (VecU) vec_turned_distance (vec_load_u (right), left);
  if (kind == RAW_COLOR_SQUARES)
    return (VecU) vec_turned_squares (vec_load_u (right), left);
  l += (int32_t) left;
  VecI r = vec_widen_bytes (vec_load_b (right));
  VecI difference = l - r;
  return (VecU) (kind == RAW_PRODUCT ? vec_product (l, r) :
          kind == RAW_SQUARE         ? vec_product (difference, difference) :
                                       vec_max (difference, -difference));
}

/* A row of both views from column 0 on, as raw() reads it. */
typedef struct RawRow
{
  const void *left, *right;
} RawRow;

INLINE RawRow
raw_row (const BmLayer *layer, int kind, int y)
{
  const StereoPlan *plan = layer->plan;
  const StereoView *l = &plan->view[STEREO_LEFT], *r = &plan->view[STEREO_RIGHT];
  ptrdiff_t at = (ptrdiff_t) y * plan->image_pitch;

  if (y < 0 || y >= plan->height)
    return (RawRow){ layer->blank, layer->blank };
  if (kind == RAW_COLORS || kind == RAW_COLOR_SQUARES) {
    size_t row = (size_t) (y % (plan->params.window + 1)) * line_words (plan);
    return (RawRow){ layer->turned[STEREO_LEFT] + row, layer->turned[STEREO_RIGHT] + row };
  }
  return (RawRow){ l->luma + at, r->luma + at };
}

/* The raw values of a column and its candidates, which begin with right column @m: in the pad, if it is negative. */
INLINE VecU
raw_at (int kind, const RawRow *row, int x, ptrdiff_t m)
{
  if (kind == RAW_COLORS || kind == RAW_COLOR_SQUARES)
    return raw (kind, ((const uint32_t *) row->left)[x], (const uint32_t *) row->right + m);
  return raw (kind, ((const uint8_t *) row->left)[x], (const uint8_t *) row->right + m);
}

/* Right column of the first candidate of column @x. */
INLINE int
partner_of (const BmLayer *layer, int x)
{
  return layer->plan->width - 1 - x + layer->plan->min_disparity + layer->first;
}

/* Copies the colours of row @y in the columns of the layer. Odd right columns have their halves exchanged, and so have the left ones
 * whose candidates begin there: vec_turned_distance(). */
static void
turn_row (const BmLayer *layer, int y)
{
  const StereoPlan *plan = layer->plan;
  int right = partner_of (layer, layer->raw.to), columns = layer->raw.to - layer->raw.from + 1;
  int from[2] = { layer->raw.from, right }, count[2] = { columns, columns - 1 + layer->depth };
  int odd[2] = { right + columns - 1, right }; /* whether the first column is */

  for (int v = 0; v < 2; v++) {
    const uint32_t *restrict color = plan->view[v].color + (ptrdiff_t) y * plan->image_pitch + from[v];
    uint32_t *restrict to = layer->turned[v] + (size_t) (y % (plan->params.window + 1)) * line_words (plan) + from[v];
    cpu_fetch (color + plan->image_pitch, (size_t) count[v] * sizeof *color); /* of the next row */
    for (int k = 0; k < count[v]; k++)
      to[k] = (odd[v] + k) & 1 ? color[k] << 16 | color[k] >> 16 : color[k];
  }
}

INLINE void
take_column (VecU *sum, const uint32_t *column, int count)
{
  EACH_VECTOR (k)
    sum[k / LANES] -= vec_load_u (column + k);
}

/* Adds the sums of column @x to @total, once row @enters is in their windows and row @leaves is not. Costs of pixels have no
 * windows: what enters is all. Elements behind the last disparity may become anything: nothing reads them. */
INLINE void
roll_column (const BmLayer *layer, int cost, int kind, int x, const RawRow *enters, const RawRow *leaves, int whole,
    VecU *total, int count)
{
  int width = layer->plan->width, m = partner_of (layer, x), windows = stereo_bm_window_cost (cost);
  uint32_t *sums = layer->sums + (size_t) (x - layer->base) * (size_t) count;
  VecU change[BM_CHUNK / LANES];

  EACH_VECTOR (k) {
    change[k / LANES] = raw_at (kind, enters, x, m + k);
    if (windows)
      change[k / LANES] -= raw_at (kind, leaves, x, m + k);
  }
  if (!whole)
    EACH_VECTOR (k)
      change[k / LANES] &= vec_between (k, -m, width - m);
  EACH_VECTOR (k) {
    if (windows)
      vec_store_u (sums + k, change[k / LANES] += vec_load_u (sums + k));
    total[k / LANES] = windows ? total[k / LANES] + change[k / LANES] : change[k / LANES];
  }
}

/* ---- both steps along a row ---------------------------------------------------------------------- */

/* The correlation cost of one candidate with any window. (Pure, so that the layer stays in registers around the call.) */
static __attribute__ ((pure, noinline)) uint32_t
part_correlation (const BmLayer *layer, int cost, uint32_t sum, int x, int m)
{
  int width = layer->plan->width;
  int low = stereo_bm_low (x, m, width, layer->radius), high = stereo_bm_high (x, m, width, layer->radius);
  int taps = (high - low + 1) * layer->of_costs.taps;
  const BmLine *l = &layer->line[STEREO_LEFT], *r = &layer->line[STEREO_RIGHT];
  uint32_t sum_l = l->sums[x + high + 1] - l->sums[x + low], sum_r = r->sums[m - low + 1] - r->sums[m - high];
  uint32_t squares_l = l->squares[x + high + 1] - l->squares[x + low];
  uint32_t squares_r = r->squares[m - low + 1] - r->squares[m - high];
  float norm_l = stereo_bm_norm (cost, taps, sum_l, squares_l), norm_r = stereo_bm_norm (cost, taps, sum_r, squares_r);
  return stereo_bm_correlation (cost, stereo_bm_numerator (cost, taps, sum, sum_l, sum_r, squares_l, squares_r), norm_l,
      norm_r * STEREO_BM_STEPS);
}

/* Correlations that need not be of whole windows; 0 of candidates that do not exist. */
INLINE void
correlate_edge (const BmLayer *layer, int cost, const VecU *sum, int x, int m, int count, uint32_t *to)
{
  const StereoPlan *plan = layer->plan;
  int width = plan->width, radius = layer->radius, whole = m >= 0 && x >= radius && x + radius < width;
  uint32_t sums[BM_CHUNK];

  EACH_VECTOR (k) {
    vec_store_u (sums + k, sum[k / LANES]);
    if (whole && m + k < width) /* right for some; the lines are long enough for the others */
      vec_store_u (to + k, bm_correlation (layer, cost, sum[k / LANES], x, m + k));
  }
  for (int k = 0; k < count; k++)
    if (layer->first + k >= plan->disparities || m + k < 0 || m + k >= width)
      to[k] = 0;
    else if (!whole || m + k < radius || m + k + radius >= width)
      to[k] = part_correlation (layer, cost, sums[k], x, m + k);
}

/* Stores whole numbers from 0 to 65535. */
INLINE void
store_words (uint16_t *to, const VecU *v, int count)
{
  UNROLL for (int k = 0; k + LANES < count; k += 2 * LANES)
  {
    VecU16 words = vec_narrow_two ((VecI) v[k / LANES], (VecI) v[k / LANES + 1]);
    memcpy (to + k, &words, sizeof words);
  }
  if (count / LANES % 2)
    vec_store_h (to + count - LANES, vec_narrow ((VecI) v[count / LANES - 1]));
}

/* Means of @sum around column @x, which are at hand. */
INLINE void
find_means (const BmLayer *layer, const BmFactors *f, const VecU *sum, int x, int whole, VecU *means, int count)
{
  int m = partner_of (layer, x);

  if (whole)
    EACH_VECTOR (k)
      means[k / LANES] = (VecU) vec_round (vec_float ((VecI) sum[k / LANES]) * f->whole);
  else if (x >= f->radius && x + f->radius < layer->plan->width)
    EACH_VECTOR (k)
      means[k / LANES] = (VecU) vec_round (vec_float ((VecI) sum[k / LANES]) * vec_load_f (f->line + m + k));
  else
    EACH_VECTOR (k)
      means[k / LANES] = (VecU) vec_round (
          vec_float ((VecI) sum[k / LANES]) * part_factors (f, layer->plan->width, x, m + k));
}

/* Rows at hand; -1: none. */
typedef struct Rows
{
  RawRow enters, leaves; /* the windows of the first step */
  int cost;              /* whose costs are made */
  uint16_t *ring;        /* their place; the row that was there leaves the windows of the second step */
  int mean;              /* whose means are made */
} Rows;

/* Stores the first step's costs of column @x in the ring, and updates the second step's sums of that column, which are added to
 * @mean. (What has just been stored is not read again: that would wait for the store.) Costs of rows that there are not are 0. */
INLINE void
cost_column (const BmLayer *layer, int cost, const VecU *sum, int x, uint16_t *ring, int exists, int whole, VecU *mean,
    int count)
{
  int m = partner_of (layer, x);
  size_t at = (size_t) (x - layer->base) * (size_t) count;
  uint32_t *means = layer->means + at, part[BM_CHUNK];
  VecU costs[BM_CHUNK / LANES] = { { 0 } };

  ring += at;
  if (exists && !stereo_bm_correlates (cost))
    find_means (layer, &layer->of_costs, sum, x, whole, costs, count);
  else if (exists && whole)
    EACH_VECTOR (k)
      costs[k / LANES] = bm_correlation (layer, cost, sum[k / LANES], x, m + k);
  else if (exists) {
    correlate_edge (layer, cost, sum, x, m, count, part);
    EACH_VECTOR (k)
      costs[k / LANES] = vec_load_u (part + k);
  }
  EACH_VECTOR (k) {
    VecU sums = vec_load_u (means + k) + costs[k / LANES] - (VecU) vec_widen (vec_load_h (ring + k));
    vec_store_u (means + k, sums);
    mean[k / LANES] += sums;
  }
  store_words (ring, costs, count);
}

/* Writes the means around column @x. */
INLINE void
mean_column (const BmLayer *layer, const VecU *sum, int x, int whole, int count)
{
  const StereoPlan *plan = layer->plan;
  int m = partner_of (layer, x), from = whole ? 0 : -m, beyond = plan->width - m, end = plan->disparities - layer->first;
  uint16_t *to = layer->costs + (size_t) (x - layer->means_of.from) * (size_t) plan->depth + layer->first;
  VecU means[BM_CHUNK / LANES];

  if (!whole && beyond < end) /* candidates that exist */
    end = beyond;
  find_means (layer, &layer->of_means, sum, x, whole, means, count);
  EACH_VECTOR (k)
    if (whole ? k + 16 >= count && end < k + LANES : k < from || k + LANES > end) {
      VecU exists = vec_between (k, from, end);
      means[k / LANES] = (means[k / LANES] & exists) | (~exists & STEREO_INVALID);
    }
  store_words (to, means, count);
}

/* ---- a band --------------------------------------------------------------------------------------- */

/* Columns at which the windows of every candidate are whole; none if it ends before it begins. */
static BmRange
whole_columns (const BmLayer *layer, int radius, int count)
{
  const StereoPlan *plan = layer->plan;
  int candidates = plan->disparities - layer->first < count ? plan->disparities - layer->first : count;
  int low = plan->min_disparity + layer->first, high = low + candidates - 1, last = plan->width - 1;
  return (BmRange){ radius + (high > 0 ? high : 0), last - radius + (low < 0 ? low : 0) };
}

static int
is_in (int x, BmRange range)
{
  return x >= range.from && x <= range.to;
}

/* Columns at which all candidates, the windows of the first step and those of the second are whole. */
typedef struct Whole
{
  BmRange pixels, costs, means;
} Whole;

/* Column @n enters the first step's windows. The column whose costs are made is one radius behind it, and the column whose means are
 * made another. @inner: they and all their windows are whole, and there are rows of both. */
INLINE void
column (const BmLayer *layer, int cost, int kind, const Rows *rows, const Whole *whole, int n, VecU *sum, VecU *mean,
    int inner, int count)
{
  int radius = layer->radius, mean_radius = layer->of_means.radius, x = n - radius, out = x - mean_radius;
  size_t size = (size_t) count, behind = (size_t) (n - 2 * mean_radius - 1 - layer->base) * size;

  if (inner || (n <= layer->raw.to && rows->cost >= 0))
    roll_column (layer, cost, kind, n, &rows->enters, &rows->leaves, inner || is_in (n, whole->pixels), sum, count);
  if (stereo_bm_window_cost (cost))
    take_column (sum, layer->sums + behind, count);
  if (inner || is_in (x, layer->costs_of))
    cost_column (
        layer, cost, sum, x, rows->ring, inner || rows->cost >= 0, inner || is_in (x, whole->costs), mean, count);
  if (inner || out >= layer->means_of.from)
    take_column (mean, layer->means + behind - (size_t) radius * size, count);
  if (inner || (out >= layer->means_of.from && rows->mean >= 0))
    mean_column (layer, mean, out, inner || is_in (out, whole->means), count);
}

INLINE void
row (const BmLayer *from, int cost, int kind, const Rows *from_rows, int count)
{
  const BmLayer layer = *from; /* a copy: no store can change it, so it stays in registers */
  const Rows rows = *from_rows;
  const Whole whole = { whole_columns (&layer, 0, count), whole_columns (&layer, layer.radius, count),
    whole_columns (&layer, layer.of_means.radius, count) };
  int behind = layer.radius + layer.of_means.radius, end = layer.means_of.to + behind + 1, n = layer.raw.from;
  int inner = (layer.means_of.from > whole.means.from ? layer.means_of.from : whole.means.from) + behind;
  int inner_to = rows.cost < 0 || rows.mean < 0 ? -1 : layer.raw.to < whole.pixels.to ? layer.raw.to : whole.pixels.to;
  VecU sum[BM_CHUNK / LANES] = { { 0 } }, mean[BM_CHUNK / LANES] = { { 0 } };

  while (n < end) {
    for (; n >= inner && n <= inner_to; n++)
      column (&layer, cost, kind, &rows, &whole, n, sum, mean, 1, count);
    if (n < end)
      column (&layer, cost, kind, &rows, &whole, n++, sum, mean, 0, count);
  }
}

/* The candidates of a layer from @before on. */
static BmLayer
rest_of (const BmLayer *layer, int before)
{
  BmLayer rest = *layer;
  size_t elements = (size_t) before * layer->columns;

  rest.first += before;
  rest.depth -= before;
  rest.sums += elements;
  rest.means += elements;
  rest.ring += elements;
  return rest;
}

/* The first rows of the windows around row @from, down the columns. */
INLINE void
begin_chunk (const BmLayer *layer, int cost, int kind, int from, int count)
{
  const RawRow none = raw_row (layer, kind, -1);
  VecU unread[BM_CHUNK / LANES] = { { 0 } };

  for (int y = from < layer->radius ? 0 : from - layer->radius; y < from + layer->radius; y++) {
    const RawRow enters = raw_row (layer, kind, y);
    for (int x = layer->raw.from; x <= layer->raw.to; x++)
      roll_column (layer, cost, kind, x, &enters, &none, 0, unread, count);
  }
}

INLINE void
row_of_chunk (const BmLayer *layer, int cost, int kind, const Rows *rows, int from, int count)
{
  if (rows->cost == from)
    begin_chunk (layer, cost, kind, from, count);
  row (layer, cost, kind, rows, count);
}

/* Disparities at a time of @depth that are left: as many as there are chunks for, and rather two middling ones than one large and
 * one small, since a small one has the work of each column but few candidates. */
static int
chunk_of (int depth)
{
#if LANES > 8
  return depth >= 144 || depth == 80 ? 80 : depth == 96 ? 48 : depth >= 64 ? 64 : depth >= 48 ? 48 : 16;
#else
  return depth >= 32 ? 32 : 16;
#endif
}

/* Where the means of row @y go: into the volume, or stay in the line of the layer. */
static void
begin_costs (BmLayer *layer, int y)
{
  const StereoPlan *plan = layer->plan;

  if (bm_keeps_costs (plan))
    layer->costs = plan->volume +
        ((size_t) y * (size_t) plan->width + (size_t) layer->means_of.from) * (size_t) plan->depth;
}

INLINE void
band (BmLayer *layer, int cost, int kind, int first, int last)
{
  const StereoPlan *plan = layer->plan;
  int height = plan->height, radius = layer->radius, mean_radius = plan->params.window / 2;
  int from = first < mean_radius ? 0 : first - mean_radius, turns = kind == RAW_COLORS || kind == RAW_COLOR_SQUARES;

  for (int y = from; y <= last + mean_radius; y++) {
    int mean = y - mean_radius >= first ? y - mean_radius : -1;
    Rows rows = { raw_row (layer, kind, y + radius), raw_row (layer, kind, y > from ? y - radius - 1 : -1),
      y < height ? y : -1, NULL, mean };
    if (rows.cost >= 0)
      bm_set_row (layer, cost, y);
    for (int n = y > from ? y + radius : y < radius ? 0 : y - radius; turns && n <= y + radius && n < height; n++)
      turn_row (layer, n);
    if (mean >= 0) {
      set_factors (&layer->of_means, plan, stereo_bm_rows (mean, height, mean_radius));
      begin_costs (layer, mean);
    }
    for (int before = 0; before < layer->depth;) {
      BmLayer rest = rest_of (layer, before);
      rows.ring = rest.ring + (size_t) (y % plan->params.window) * layer->row_size;
      before += chunk_of (rest.depth);
      switch (chunk_of (rest.depth)) {
#if LANES > 8
        case 80:
          row_of_chunk (&rest, cost, kind, &rows, from, 80);
          break;
        case 64:
          row_of_chunk (&rest, cost, kind, &rows, from, 64);
          break;
        case 48:
          row_of_chunk (&rest, cost, kind, &rows, from, 48);
          break;
#else
        case 32:
          row_of_chunk (&rest, cost, kind, &rows, from, 32);
          break;
#endif
        default:
          row_of_chunk (&rest, cost, kind, &rows, from, 16);
          break;
      }
    }
    if (mean >= 0 && bm_picks (plan))
      bm_picks_row (layer, mean);
  }
}

#define BANDS(cost, kind) \
  static void band_##cost (BmLayer *layer, int first, int last) \
  { \
    band (layer, STEREO_COST_##cost, kind, first, last); \
  }
BANDS (AD, RAW_DIFFERENCE)
BANDS (SD, RAW_SQUARE)
BANDS (SAD, RAW_COLORS)
BANDS (SSD, RAW_COLOR_SQUARES)
BANDS (NSSD, RAW_PRODUCT)
BANDS (NCC, RAW_PRODUCT)
BANDS (ZNCC, RAW_PRODUCT)
#undef BANDS

/* By cost; NULL: not a cost of block matching. */
static void (*const bands[STEREO_COSTS]) (BmLayer *layer, int first, int last) = {
  [STEREO_COST_AD] = band_AD,
  [STEREO_COST_SD] = band_SD,
  [STEREO_COST_SAD] = band_SAD,
  [STEREO_COST_SSD] = band_SSD,
  [STEREO_COST_NSSD] = band_NSSD,
  [STEREO_COST_NCC] = band_NCC,
  [STEREO_COST_ZNCC] = band_ZNCC,
};

/* ---- stage: how the picture is shared out --------------------------------------------------------- */

/* Rows of a thread's work: three works a thread, which need not be equally long, but few enough, as each begins with windows. */
static int
bm_band_rows (const StereoPlan *plan)
{
  int rows = bm_parts (plan->height, bm_parts (3 * cpu_threads (plan), bm_tiles (plan) * bm_layers (plan)));
  return rows < 64 ? 64 : rows;
}

static void
bm_item (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int layers = bm_layers (plan), tiles = bm_tiles (plan), tile = item / layers % tiles, rows = bm_band_rows (plan);
  int first = item / layers / tiles * rows, end = first + rows < plan->height ? first + rows : plan->height;
  BmLayer layer;

  bm_start_layer (&layer, plan, item % layers * bm_layer_depth (plan), bm_tile_at (plan, tile),
      c->scratch + (size_t) thread * bm_thread_bytes (plan));
  layer.picks = &c->picks;
  layer.thread = thread;
  layer.tile = tile;
  bands[plan->params.cost](&layer, first, end - 1);
}

static StereoStatus
bm_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t threads = (size_t) cpu_threads (plan);
  StereoStatus status = stereo_reserve (plan, (void **) &c->scratch, threads, bm_thread_bytes (plan), error);

  if (status || !bm_picks (plan))
    return status;
  return bm_picks_reserve (plan, &c->picks, error);
}

static StereoStatus
bm_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, bm_item, bm_parts (plan->height, bm_band_rows (plan)) * bm_tiles (plan) * bm_layers (plan));
  if (bm_picks (plan))
    cpu_run (plan, context, bm_picks_merge, plan->height);
  return STEREO_OK;
}

static const StereoStage bm = { .name = "match", .context_size = sizeof (Context), .prepare = bm_prepare, .run = bm_run };

const StereoStage *
CPU (bm) (const StereoParams *params)
{
  return bands[params->cost] ? &bm : NULL;
}
