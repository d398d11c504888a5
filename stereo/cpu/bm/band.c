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
 * Candidates that do not exist add 0 to every sum.
 */
#include "stereo/cpu/bm/column.h"
#include "stereo/cpu/bm/picks.h"

/* ---- a band --------------------------------------------------------------------------------------- */

/* Columns whose windows are whole, of the first step and of the second, and those at which all is whole that enters, leaves or
 * is written when they enter. */
typedef struct Whole
{
  BmRange cost, mean, inner;
} Whole;

static Whole
find_whole (const BmLayer *layer, const Rows *rows, int count)
{
  int mean_radius = layer->plan->params.window / 2, behind = layer->radius + mean_radius;
  Whole whole = { whole_columns (layer, layer->radius, count), whole_columns (layer, mean_radius, count), { 1, 0 } };
  int first = layer->costs_of.from + layer->radius + layer->plan->params.window;
  int cost = whole.cost.from + layer->radius, mean = whole.mean.from + behind;
  int cost_end = whole.cost.to + layer->radius, mean_end = whole.mean.to + behind;

  if (rows->enters.left && rows->leaves.left && rows->cost >= 0 && rows->mean >= 0) {
    cost = cost > first ? cost : first;
    cost_end = cost_end < layer->raw.to ? cost_end : layer->raw.to;
    whole.inner = (BmRange){ cost > mean ? cost : mean, cost_end < mean_end ? cost_end : mean_end };
  }
  return whole;
}

/* Column @n enters the first step's windows. The column whose costs are computed is one radius behind it, and the column
 * whose means are computed another. @inner: all these columns, and those that leave, and all rows and windows are in the
 * picture. */
INLINE void
step (const BmLayer *layer, int cost, int kind, const Rows *rows, const Whole *whole, int n, VecU *sum, VecU *mean,
    int inner, int count)
{
  const StereoPlan *plan = layer->plan;
  const RawRow none = { NULL, NULL };
  int windows = stereo_bm_window_cost (cost);
  int radius = layer->radius, mean_radius = plan->params.window / 2, x = n - radius, out = x - mean_radius,
      base = layer->raw.from;

  if (inner || (n <= layer->raw.to && rows->cost >= 0)) {
    if (windows) {
      roll_column (layer, kind, n, &rows->enters, &rows->leaves, inner, sum, count);
    } else
      read_column (layer, kind, n, &rows->enters, &none, 0, sum, count);
  }
  if (inner || (x >= layer->costs_of.from && x <= layer->costs_of.to)) {
    uint16_t *ring = rows->ring + (size_t) (x - base) * (size_t) count;
    if (windows && (inner || x - radius > base))
      take_column (sum, layer->sums, x - radius - 1 - base, count);
    if (inner || rows->cost >= 0)
      cost_column (layer, cost, sum, x, ring, inner || is_in (x, whole->cost), mean, count);
    else {
      drop_column (layer, x, ring, count);
      add_column (mean, layer->means, x - base, count);
    }
  }
  if (inner || (out >= layer->means_of.from && rows->mean >= 0)) {
    if (inner || out - mean_radius > layer->costs_of.from)
      take_column (mean, layer->means, out - mean_radius - 1 - base, count);
    mean_column (layer, mean, out, rows, inner || is_in (out, whole->mean), count);
  }
}

INLINE void
row (const BmLayer *from, int cost, int kind, const Rows *from_rows, int count)
{
  const BmLayer layer = *from; /* a copy: no store can change it, so it stays in registers */
  const Rows rows = *from_rows;
  const Whole whole = find_whole (&layer, &rows, count);
  int end = layer.means_of.to + layer.radius + layer.plan->params.window / 2 + 1, n = layer.raw.from;
  VecU sum[BM_CHUNK / LANES] = { { 0 } }, mean[BM_CHUNK / LANES] = { { 0 } };

  while (n < end) {
    for (; n >= whole.inner.from && n <= whole.inner.to; n++)
      step (&layer, cost, kind, &rows, &whole, n, sum, mean, 1, count);
    if (n < end)
      step (&layer, cost, kind, &rows, &whole, n++, sum, mean, 0, count);
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
begin_chunk (const BmLayer *layer, int kind, int from, int count)
{
  int radius = layer->radius;
  VecU unread[BM_CHUNK / LANES] = { { 0 } };

  for (int y = from < radius ? 0 : from - radius; y < from + radius && y < layer->plan->height; y++) {
    const RawRow enters = raw_row (layer, kind, y), none = { NULL, NULL };
    for (int x = layer->raw.from; x <= layer->raw.to; x++)
      roll_column (layer, kind, x, &enters, &none, 0, unread, count);
  }
}

INLINE void
row_of_chunk (const BmLayer *layer, int cost, int kind, const Rows *rows, int from, int count)
{
  if (rows->cost == from)
    begin_chunk (layer, kind, from, count);
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
  int from = first < mean_radius ? 0 : first - mean_radius;

  for (int y = from; y <= last + mean_radius; y++) {
    int mean = y - mean_radius >= first ? y - mean_radius : -1,
        mean_rows = stereo_bm_rows (mean < 0 ? 0 : mean, height, mean_radius);
    Rows rows = { raw_row (layer, kind, y + radius < height ? y + radius : -1),
      raw_row (layer, kind, y > from ? y - radius - 1 : -1), y < height ? y : -1, NULL, mean, mean_rows,
      stereo_bm_mean_factor ((2 * mean_radius + 1) * mean_rows) };
    if (rows.cost >= 0)
      bm_set_row (layer, cost, y);
    if (mean >= 0)
      begin_costs (layer, mean);
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
      CPU (bm_picks_row) (layer, mean);
  }
}

#define BANDS(name, cost, kind) \
  static void name (BmLayer *layer, int first, int last) \
  { \
    band (layer, STEREO_COST_##cost, kind, first, last); \
  }
BANDS (band_ad, AD, RAW_DIFFERENCE)
BANDS (band_sd, SD, RAW_SQUARE)
BANDS (band_sad, SAD, RAW_COLORS)
BANDS (band_ssd, SSD, RAW_COLOR_SQUARES)
BANDS (band_nssd, NSSD, RAW_PRODUCT)
BANDS (band_ncc, NCC, RAW_PRODUCT)
BANDS (band_zncc, ZNCC, RAW_PRODUCT)

/* By cost; NULL: not a cost of block matching. */
static const BmBand bands[STEREO_COSTS] = {
  [STEREO_COST_AD] = band_ad,
  [STEREO_COST_SD] = band_sd,
  [STEREO_COST_SAD] = band_sad,
  [STEREO_COST_SSD] = band_ssd,
  [STEREO_COST_NSSD] = band_nssd,
  [STEREO_COST_NCC] = band_ncc,
  [STEREO_COST_ZNCC] = band_zncc,
};

BmBand
CPU (bm_band) (int cost)
{
  return bands[cost];
}
