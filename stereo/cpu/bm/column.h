/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching at one column of a row and a chunk of its candidates: the sums down the column, the costs of its windows, the
 * means of these. Functions of band.c's loop, which have to be in it: it keeps their sums in registers.
 */
#ifndef STEREO_CPU_BM_COLUMN_H
#define STEREO_CPU_BM_COLUMN_H

#include "stereo/cpu/bm/layer.h"

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

  l += (int32_t) left;
  if (kind == RAW_COLORS)
    return (VecU) vec_color_distance ((VecU) l, vec_load_u (right));
  if (kind == RAW_COLOR_SQUARES)
    return (VecU) vec_color_squares ((VecU) l, vec_load_u (right));
  VecI r = vec_widen_bytes (vec_load_b (right));
  VecI difference = l - r;
  return (VecU) (kind == RAW_PRODUCT ? vec_product (l, r) :
          kind == RAW_SQUARE         ? vec_product (difference, difference) :
                                       vec_max (difference, -difference));
}

/* A row of both views from column 0 on, as raw() reads it; NULL: there is none. */
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

  if (y < 0)
    return (RawRow){ NULL, NULL };
  if (kind == RAW_COLORS || kind == RAW_COLOR_SQUARES)
    return (RawRow){ l->color + at, r->color + at };
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

/* Changes of the sums of column @x: raw values of row @enters less those of row @leaves. @inner: both exist, and so do all
 * candidates. Elements behind the last disparity may become anything: nothing reads them. */
INLINE void
read_column (const BmLayer *layer, int kind, int x, const RawRow *enters, const RawRow *leaves, int inner, VecU *change,
    int count)
{
  const StereoPlan *plan = layer->plan;
  ptrdiff_t m = plan->width - 1 - x + plan->min_disparity + layer->first;

  EACH_VECTOR (k)
    change[k / LANES] = (VecU){ 0 };
  if (inner || enters->left)
    EACH_VECTOR (k)
      change[k / LANES] += raw_at (kind, enters, x, m + k);
  if (inner || leaves->left)
    EACH_VECTOR (k)
      change[k / LANES] -= raw_at (kind, leaves, x, m + k);
  if (!inner) {
    int from = m < 0 ? (int) -m : 0, to = plan->width - (int) m; /* candidates that exist */
    EACH_VECTOR (k)
      change[k / LANES] &= vec_between (k, from, to);
  }
}

/* Adds the sums of the column to @total. */
INLINE void
roll_column (const BmLayer *layer, int kind, int x, const RawRow *enters, const RawRow *leaves, int inner, VecU *total,
    int count)
{
  uint32_t *sums = layer->sums + (size_t) (x - layer->raw.from) * (size_t) count;
  VecU change[BM_CHUNK / LANES];

  read_column (layer, kind, x, enters, leaves, inner, change, count);
  EACH_VECTOR (k) {
    VecU sum = vec_load_u (sums + k) + change[k / LANES];
    vec_store_u (sums + k, sum);
    total[k / LANES] += sum;
  }
}

/* ---- both steps along a row ---------------------------------------------------------------------- */

/* The costs of LANES candidates from the sums over their windows, all of which are whole. */
INLINE VecU
whole_cost (const BmLayer *layer, int cost, VecU sum, int x, int m)
{
  if (!stereo_bm_correlates (cost))
    return (VecU) vec_round (vec_float ((VecI) sum) * layer->factor);
  return bm_correlation (layer, cost, sum, x, m);
}

/* The correlation cost of one candidate with any window. (Pure, so that the layer stays in registers around the call.) */
static __attribute__ ((pure, noinline)) uint32_t
part_correlation (const BmLayer *layer, int cost, uint32_t sum, int x, int m)
{
  int width = layer->plan->width;
  int low = stereo_bm_low (x, m, width, layer->radius), high = stereo_bm_high (x, m, width, layer->radius);
  int taps = (high - low + 1) * layer->rows;
  const BmLine *l = &layer->line[STEREO_LEFT], *r = &layer->line[STEREO_RIGHT];
  uint32_t sum_l = l->sums[x + high + 1] - l->sums[x + low], sum_r = r->sums[m - low + 1] - r->sums[m - high];
  uint32_t squares_l = l->squares[x + high + 1] - l->squares[x + low];
  uint32_t squares_r = r->squares[m - low + 1] - r->squares[m - high];
  float norm_l = stereo_bm_norm (cost, taps, sum_l, squares_l), norm_r = stereo_bm_norm (cost, taps, sum_r, squares_r);
  return stereo_bm_correlation (cost, stereo_bm_numerator (cost, taps, sum, sum_l, sum_r, squares_l, squares_r), norm_l,
      norm_r * STEREO_BM_STEPS);
}

/* Means of LANES candidates from @sum, with any windows: @unit over @taps for every column of the window. Candidates that do
 * not exist, outside the picture or from lane @end on, get @outside. */
INLINE VecU
part_means (VecU sum, int x, int m, int width, int radius, int taps, int unit, int end, uint32_t outside)
{
  const VecI lanes = LANE_NUMBERS, zero = { 0 };
  VecI place = lanes + m;
  VecI low = vec_max (zero + (x < radius ? -x : -radius), place - (width - 1));
  VecI high = vec_min (zero + (width - 1 - x < radius ? width - 1 - x : radius), place);
  VecI exists = (place >= 0) & (place < width) & (lanes < end);
  VecF factor = vec_float (zero + unit) / vec_float ((high - low + 1) * taps);
  VecI means = vec_round (vec_float ((VecI) sum) * factor);
  return (VecU) ((means & exists) | (~exists & (VecI) (zero + (int) outside)));
}

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

/* Correlations that need not be of whole windows; 0 of candidates that do not exist. */
INLINE void
correlate_edge (const BmLayer *layer, int cost, const VecU *sum, int x, int m, int count, uint32_t *to)
{
  const StereoPlan *plan = layer->plan;
  int width = plan->width, radius = layer->radius, whole = m >= 0 && x >= radius && x + radius < width;
  uint32_t sums[BM_CHUNK];

  EACH_VECTOR (k) {
    vec_store_u (sums + k, sum[k / LANES]);
    if (whole) /* right for some; the lines are long enough for the others */
      vec_store_u (to + k, bm_correlation (layer, cost, sum[k / LANES], x, m + k));
  }
  for (int k = 0; k < count; k++)
    if (layer->first + k >= plan->disparities || m + k < 0 || m + k >= width)
      to[k] = 0;
    else if (!whole || m + k < radius || m + k + radius >= width)
      to[k] = part_correlation (layer, cost, sums[k], x, m + k);
}

INLINE void
add_column (VecU *sum, const uint32_t *columns, int column, int count)
{
  EACH_VECTOR (k)
    sum[k / LANES] += vec_load_u (columns + (size_t) column * (size_t) count + k);
}

INLINE void
take_column (VecU *sum, const uint32_t *columns, int column, int count)
{
  EACH_VECTOR (k)
    sum[k / LANES] -= vec_load_u (columns + (size_t) column * (size_t) count + k);
}

/* Stores the first step's costs of column @x in the ring, and updates the second step's sums of that column, which are added to
 * @mean. (What has just been stored is not read again: that would wait for the store.) */
INLINE void
cost_column (const BmLayer *layer, int cost, const VecU *sum, int x, uint16_t *ring, int whole, VecU *mean, int count)
{
  const StereoPlan *plan = layer->plan;
  int m = plan->width - 1 - x + plan->min_disparity + layer->first;
  int end = plan->disparities - layer->first; /* no candidates from there on */
  uint32_t *means = layer->means + (size_t) (x - layer->raw.from) * (size_t) count;

  if (whole) {
    EACH_VECTOR (k) {
      VecU costs = whole_cost (layer, cost, sum[k / LANES], x, m + k);
      VecU sums = vec_load_u (means + k) + costs - (VecU) vec_widen (vec_load_h (ring + k));
      vec_store_u (means + k, sums);
      mean[k / LANES] += sums;
      vec_store_h (ring + k, vec_narrow ((VecI) costs));
    }
  } else {
    uint32_t costs[BM_CHUNK];
    int channels = cost == STEREO_COST_SAD || cost == STEREO_COST_SSD ? 3 : 1;
    if (stereo_bm_correlates (cost))
      correlate_edge (layer, cost, sum, x, m, count, costs);
    EACH_VECTOR (k) {
      if (!stereo_bm_correlates (cost))
        vec_store_u (costs + k,
            part_means (sum[k / LANES], x, m + k, plan->width, layer->radius, channels * layer->rows, plan->volume_unit,
                end - k, 0));
      VecU now = vec_load_u (costs + k);
      VecU sums = vec_load_u (means + k) + now - (VecU) vec_widen (vec_load_h (ring + k));
      vec_store_u (means + k, sums);
      mean[k / LANES] += sums;
      vec_store_h (ring + k, vec_narrow ((VecI) now));
    }
  }
}

/* Rows at hand; -1 or NULL: none. */
typedef struct Rows
{
  RawRow enters, leaves; /* the windows of the first step */
  int cost;              /* whose costs are made */
  uint16_t *ring;        /* their place; the row that was there leaves the windows of the second step */
  int mean;              /* whose means are made */
  int mean_rows;         /* within its windows */
  float factor;          /* of its whole windows */
} Rows;

/* Writes the means around column @x. */
INLINE void
mean_column (const BmLayer *layer, const VecU *sum, int x, const Rows *rows, int whole, int count)
{
  const StereoPlan *plan = layer->plan;
  int m = plan->width - 1 - x + plan->min_disparity + layer->first;
  int end = plan->disparities - layer->first;
  uint16_t *to = layer->costs + (size_t) (x - layer->means_of.from) * (size_t) plan->depth + layer->first;

  if (whole) {
    EACH_VECTOR (k) {
      VecI means = vec_round (vec_float ((VecI) sum[k / LANES]) * rows->factor);
      if (end < k + LANES) {
        VecI none = (VecI) vec_between (k, end, BM_CHUNK);
        means = (means & ~none) | (none & (int) STEREO_INVALID);
      }
      vec_store_h (to + k, vec_narrow (means));
    }
  } else {
    EACH_VECTOR (k)
      vec_store_h (to + k,
          vec_narrow ((VecI) part_means (sum[k / LANES], x, m + k, plan->width, plan->params.window / 2,
              rows->mean_rows, 1, end - k, STEREO_INVALID)));
  }
}

/* Subtracts the costs in the ring from the second step's sums of column @x. */
static void
drop_column (const BmLayer *layer, int x, uint16_t *ring, int count)
{
  uint32_t *means = layer->means + (size_t) (x - layer->raw.from) * (size_t) count;

  for (int k = 0; k < count; k++) {
    means[k] -= ring[k];
    ring[k] = 0;
  }
}

#endif
