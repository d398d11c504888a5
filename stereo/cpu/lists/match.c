/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs of the candidates in the lists, a tile at a time. For sgm they are the costs of single pixels; for asw these are averaged in
 * two passes as in asw.c, with the raw costs of the pixels around the tile computed for the tile's own list.
 *
 * A pass finds the means of some pixels beside each other at once: most of their taps are the same.
 */
#include "stereo/cpu/lists/lists.h"
#include "stereo/cpu/match.h"
#include "stereo/exact/prior.h"

/* ---- support weights of the tiles of a row: each pair of pixels is weighed once --------------------- */

/* At a time. The more there are, the fewer columns are weighed twice; the tables of these stay in the cache. */
#define CPU_WEIGHED_TILES 4

/* Tap t of a window with radius r is the pixel t - r below or to the right. Outside the picture a weight is 0. */
typedef struct CpuWeights
{
  int radius, columns, rows;        /* columns, rows: of the tables that are set */
  int pitch;                        /* elements of a line */
  int left;                         /* the column of the picture that is column 0 of the tables */
  float *down, *across;             /* [row of the tile][tap][column]; across: from column @radius on */
  float *down_share, *across_share; /* [row][column]: one over the sum of all taps */
  float *pairs;                     /* [distance - 1][column]: of a row, the pixel and the one so far to its right */
  float color_factor, distance_factor;
} CpuWeights;

/* Divides memory from @base on, and returns its size in floats. @base NULL: returns the size only. */
static size_t
lay_out_weights (CpuWeights *w, const StereoPlan *plan, int radius, float *base)
{
  size_t used = 0, table;

  memset (w, 0, sizeof *w);
  w->radius = radius;
  /* a vector may begin at the last column, and one at the first column reads @radius columns before it */
  w->pitch = (CPU_WEIGHED_TILES * STEREO_TILE + 2 * radius + 2 * LANES) / LANES * LANES;
  w->color_factor = (float) (-STEREO_LOG2E / plan->params.gamma_color);
  w->distance_factor = (float) (-STEREO_LOG2E / plan->params.gamma_distance);
  table = (size_t) STEREO_TILE * (size_t) (2 * radius + 1) * (size_t) w->pitch;
#define TAKE(field, floats) \
  w->field = base ? base + used : NULL; \
  used += stereo_round_up (floats, 16)
  TAKE (down, table);
  TAKE (across, table);
  TAKE (down_share, (size_t) STEREO_TILE * (size_t) w->pitch);
  TAKE (across_share, (size_t) STEREO_TILE * (size_t) w->pitch);
  TAKE (pairs, (size_t) radius * (size_t) w->pitch);
#undef TAKE
  return used;
}

static float *
line_of (const CpuWeights *w, float *table, int row, int tap)
{
  return table + ((size_t) row * (size_t) (2 * w->radius + 1) + (size_t) tap) * (size_t) w->pitch;
}

/* The weights of columns @from..@to - 1 of row @y and of the pixels @dx to the right and @dy below, into two lines. */
static void
weigh (const CpuWeights *w, const StereoPlan *plan, int y, int dx, int dy, int from, int to, float *out, float *twin)
{
  const uint32_t *one = plan->view[STEREO_LEFT].likeness + (size_t) y * (size_t) plan->image_pitch;
  const uint32_t *other = one + (ptrdiff_t) dy * plan->image_pitch + dx;
  float distance = w->distance_factor * (float) (dx + dy);

  for (int x = from; x < to; x += LANES) {
    VecF weight = vec_weight (vec_load_u (one + x), vec_load_u (other + x), w->color_factor, distance);
    vec_store_f (out + x - w->left, weight);
    vec_store_f (twin + x - w->left, weight);
  }
}

static void
set_line (const CpuWeights *w, float *line, float value)
{
  for (int x = 0; x < w->columns; x += LANES)
    vec_store_f (line + x, (VecF){ 0 } + value);
}

static void
set_shares (const CpuWeights *w, float *table, int row, float *share)
{
  for (int x = 0; x < w->columns; x += LANES) {
    VecF sum = { 0 };
    for (int t = 0; t <= 2 * w->radius; t++)
      sum += vec_load_f (line_of (w, table, row, t) + x);
    vec_store_f (share + (size_t) row * (size_t) w->pitch + x, 1 / sum);
  }
}

/* Pairs of which one pixel or both are in the rows of the tiles, which begin at @y0. */
static void
weigh_down (const CpuWeights *w, const StereoPlan *plan, int y0)
{
  int r = w->radius, from = w->left > 0 ? w->left : 0, end = w->left + w->columns;
  int to = end < plan->width ? end : plan->width;

  for (int row = 0; row < w->rows; row++)
    set_line (w, line_of (w, w->down, row, r), 1);
  for (int distance = 1; distance <= r; distance++)
    for (int upper = -distance; upper < w->rows; upper++) {
      int lower = upper + distance;
      float *above = lower < w->rows ? line_of (w, w->down, lower, r - distance) : NULL;
      float *below = upper >= 0 ? line_of (w, w->down, upper, r + distance) : NULL;
      if (!above && !below)
        continue;
      above = above ? above : below;
      below = below ? below : above;
      if (y0 + upper >= 0 && y0 + lower < plan->height) {
        weigh (w, plan, y0 + upper, 0, distance, from, to, above, below);
      } else {
        set_line (w, above, 0);
        set_line (w, below, 0);
      }
    }
  for (int row = 0; row < w->rows; row++)
    set_shares (w, w->down, row, w->down_share);
}

static void
weigh_across (const CpuWeights *w, const StereoPlan *plan, int y0, int row)
{
  int r = w->radius, from = w->left > 0 ? w->left : 0, end = w->left + w->columns;

  set_line (w, line_of (w, w->across, row, r), 1);
  for (int distance = 1; distance <= r; distance++) {
    float *pairs = w->pairs + (size_t) (distance - 1) * (size_t) w->pitch;
    int to = end < plan->width - distance ? end : plan->width - distance;
    for (int x = w->left; x < 0; x++)
      pairs[x - w->left] = 0;
    weigh (w, plan, y0 + row, distance, 0, from, to, pairs, pairs);
    for (int x = to > from ? to : from; x < end; x++)
      pairs[x - w->left] = 0;
    float *before = line_of (w, w->across, row, r - distance), *behind = line_of (w, w->across, row, r + distance);
    for (int x = r; x < w->columns; x += LANES) {
      vec_store_f (before + x, vec_load_f (pairs + x - distance));
      vec_store_f (behind + x, vec_load_f (pairs + x));
    }
  }
  set_shares (w, w->across, row, w->across_share);
}

/* For CPU_WEIGHED_TILES tiles from (@column, @row) on. */
static void
set_weights (CpuWeights *w, const StereoPlan *plan, int column, int row)
{
  int tiles = plan->lists.columns - column < CPU_WEIGHED_TILES ? plan->lists.columns - column : CPU_WEIGHED_TILES;
  int y0 = row * STEREO_TILE;

  w->left = column * STEREO_TILE - w->radius;
  w->columns = tiles * STEREO_TILE + 2 * w->radius;
  w->rows = plan->height - y0 < STEREO_TILE ? plan->height - y0 : STEREO_TILE;
  weigh_down (w, plan, y0);
  for (int k = 0; k < w->rows; k++)
    weigh_across (w, plan, y0, k);
}

/* ---- costs ---------------------------------------------------------------------------------------- */

#define SLACK 16       /* bytes that CpuCostRow writes behind a pixel's costs */
#define MOST_VECTORS 2 /* that are summed side by side: with those of all pixels, their sums fit the registers */
#define PIXELS 4       /* whose means are found at once */
#define COMMON_TAPS 3  /* of a window for which loops are unrolled: that of the default profile */
#define INLINE static inline __attribute__ ((always_inline))

typedef struct Context
{
  float *scratch; /* per thread, thread_floats each: see lay_out() */
  size_t thread_floats;
} Context;

/* A tile and the memory of a thread. Columns count from the first one that the windows of the tile hold, rows likewise. */
typedef struct Work
{
  const StereoPlan *plan;
  CpuCostRow cost_row;
  CpuTile tile;
  CpuWeights weights;
  int radius, side;   /* side: of all that the windows of the tile hold */
  int begin, end;     /* columns that are in the picture */
  int vectors, slots; /* that hold all slots of the list; slots: elements of these vectors */
  int raw_pitch;      /* bytes of a pixel's raw costs */
  int weight_column;  /* of the table of weights: that of the first column */
  int interior;       /* all candidates of all these pixels exist */
  uint8_t *costs;     /* [column][slot]: of a row of the tile */
  uint8_t *raw;       /* [row][column][slot] */
  float *line;        /* [row of PIXELS][column][slot]: the first pass */
  float *exists;      /* [column][slot]: 1 where the candidate exists, 0; not set in an interior tile */
} Work;

/* Divides the memory of a thread, from @base on, and returns its size in floats. @base NULL: returns the size only. */
static size_t
lay_out (Work *w, const StereoPlan *plan, float *base)
{
  const StereoParams *p = &plan->params;
  size_t side, used = 0;

  memset (w, 0, sizeof *w);
  w->plan = plan;
  w->radius = p->method == STEREO_METHOD_ASW ? p->window / 2 : 0;
  w->side = STEREO_TILE + 2 * w->radius;
  side = (size_t) w->side;
#define TAKE(field, type, floats) \
  w->field = base ? (type *) (base + used) : NULL; \
  used += stereo_round_up (floats, 16)
  TAKE (raw, uint8_t, side * side * (STEREO_SLOTS + SLACK) / 4 + SLACK);
  TAKE (costs, uint8_t, STEREO_TILE * STEREO_SLOTS / 4);
  TAKE (line, float, PIXELS *side *STEREO_SLOTS);
  TAKE (exists, float, side *STEREO_SLOTS);
#undef TAKE
  return used + lay_out_weights (&w->weights, plan, w->radius, base ? base + used : NULL);
}

/* ---- raw costs ------------------------------------------------------------------------------------- */

/* Costs of row @row, for each run of groups without a gap. */
static void
fill_raw (const Work *w, int row)
{
  const CpuTile *t = &w->tile;
  uint8_t *raw = w->raw + (row * w->side + w->begin) * w->raw_pitch;
  int x = t->x0 - w->radius;

  for (int g = 0, end; g < t->count; g = end) {
    for (end = g + 1; end < t->count && t->groups[end] == t->groups[end - 1] + 1;)
      end++;
    w->cost_row (w->plan, t->y0 - w->radius + row, x + w->begin, x + w->end, t->groups[g] * STEREO_GROUP,
        (end - g) * STEREO_GROUP, w->raw_pitch, raw + g * STEREO_GROUP);
  }
}

static void
find_existing (const Work *w)
{
  const StereoPlan *plan = w->plan;

  for (int column = 0; column < w->side; column++) {
    int x = w->tile.x0 - w->radius + column, inside = column >= w->begin && column < w->end;
    int first = stereo_first_index (x, plan->width, plan->min_disparity);
    int last = stereo_last_index (x, plan->disparities, plan->min_disparity);
    for (int k = 0; k < w->slots; k++) {
      int index = inside && k < w->tile.count * STEREO_GROUP ? cpu_slot_index (&w->tile, k) : -1;
      w->exists[column * w->slots + k] = index >= first && index <= last ? 1 : 0;
    }
  }
}

static void
start_tile (Work *w, int column, int row)
{
  const StereoPlan *plan = w->plan;
  int r = w->radius, runs = 1;

  w->tile = cpu_tile (plan, column, row);
  const CpuTile *t = &w->tile;
  for (int g = 1; g < t->count; g++)
    runs += t->groups[g] != t->groups[g - 1] + 1;
  w->vectors = (t->count * STEREO_GROUP + LANES - 1) / LANES;
  w->slots = w->vectors * LANES;
  /* what is written behind a run is overwritten by the next pixel's, but not where another run was written before */
  w->raw_pitch = (int) stereo_round_up ((size_t) w->slots, SLACK) + (runs > 1 ? SLACK : 0);
  w->begin = t->x0 > r ? 0 : r - t->x0;
  w->end = t->x1 + r < plan->width ? t->x1 - t->x0 + 2 * r : plan->width - t->x0 + r;
  w->interior = cpu_tile_is_interior (plan, t, t->x0 - r + w->begin, t->x0 - r + w->end);
  for (int y = t->y0 > r ? t->y0 - r : 0; y < t->y1 + r && y < plan->height; y++)
    fill_raw (w, y - t->y0 + r);
  if (!w->interior)
    find_existing (w);
}

/* ---- passes ------------------------------------------------------------------------------------------ */

/* Where the taps of PIXELS pixels beside each other lie: costs of slots from tap to tap, and weights from tap to tap and from a pixel's
 * to those of the next pixel for the same costs. */
typedef struct Taps
{
  const void *costs; /* bytes or floats */
  const float *weights;
  ptrdiff_t costs_step, weights_step, weights_next;
} Taps;

/* Adds cost @i of the row, of all @taps + PIXELS - 1, to the sums of the pixels. @all: it is a tap of each. */
INLINE void
add_cost (const Taps *from, int i, int taps, int bytes, int all, int n, VecF (*sum)[MOST_VECTORS])
{
  VecF cost[MOST_VECTORS];
#pragma GCC unroll 2
  for (int v = 0; v < n; v++)
    cost[v] = bytes ? vec_from_bytes (vec_load_b ((const uint8_t *) from->costs + i * from->costs_step + v * LANES)) :
                      vec_load_f ((const float *) from->costs + i * from->costs_step + v * LANES);
#pragma GCC unroll 4
  for (int p = 0; p < PIXELS; p++)
    if (all || (i >= p && i - p < taps)) {
      float weight = from->weights[i * from->weights_step + p * from->weights_next];
#pragma GCC unroll 2
      for (int v = 0; v < n; v++)
        sum[p][v] += weight * cost[v];
    }
}

/* The weighted sums of PIXELS pixels, tap by tap from the first. */
INLINE void
sum_taps (const Taps *from, int taps, int bytes, int n, VecF (*sum)[MOST_VECTORS])
{
  int i = 0;

#pragma GCC unroll 4
  for (int p = 0; p < PIXELS; p++)
#pragma GCC unroll 2
    for (int v = 0; v < n; v++)
      sum[p][v] = (VecF){ 0 };
#pragma GCC unroll 4
  for (; i < PIXELS - 1; i++)
    add_cost (from, i, taps, bytes, 0, n, sum);
#pragma GCC unroll 16
  for (; i < taps; i++)
    add_cost (from, i, taps, bytes, 1, n, sum);
#pragma GCC unroll 4
  for (; i < taps + PIXELS - 1; i++)
    add_cost (from, i, taps, bytes, 0, n, sum);
}

INLINE void
sum_window (const Taps *from, int taps, int bytes, int n, VecF (*sum)[MOST_VECTORS])
{
  if (taps == COMMON_TAPS)
    sum_taps (from, COMMON_TAPS, bytes, n, sum);
  else
    sum_taps (from, taps, bytes, n, sum);
}

/* The vertical taps of a column and of rows @row.. of the tile: their means, 0 where candidates do not exist. */
INLINE void
pass_column (const Work *w, int column, int row, int vector, int n)
{
  const CpuWeights *weights = &w->weights;
  int taps = 2 * w->radius + 1, pitch = weights->pitch;
  size_t at = (size_t) (w->weight_column + column);
  Taps from = { .costs = w->raw + (size_t) (row * w->side + column) * (size_t) w->raw_pitch + vector * LANES,
    .costs_step = (ptrdiff_t) w->side * w->raw_pitch,
    .weights = weights->down + (size_t) (row * taps) * (size_t) pitch + at,
    .weights_step = pitch,
    .weights_next = (ptrdiff_t) (taps - 1) * pitch };
  VecF sum[PIXELS][MOST_VECTORS];

  sum_window (&from, taps, 1, n, sum);
#pragma GCC unroll 4
  for (int p = 0; p < PIXELS; p++) {
    float share = weights->down_share[(size_t) (row + p) * (size_t) pitch + at];
    float *line = w->line + (size_t) (p * w->side + column) * (size_t) w->slots + vector * LANES;
#pragma GCC unroll 2
    for (int v = 0; v < n; v++) {
      VecF mean = sum[p][v] * share;
      if (!w->interior)
        mean *= vec_load_f (w->exists + column * w->slots + (vector + v) * LANES);
      vec_store_f (line + v * LANES, mean);
    }
  }
}

/* stereo_path_cost() of the mean. */
INLINE VecB
path_cost (const StereoPlan *plan, VecF mean)
{
  VecI steps = __builtin_convertvector(mean * (float) plan->volume_unit + 0.5f, VecI);
  VecI cost = (steps + (1 << plan->path_shift >> 1)) >> plan->path_shift;
  return vec_narrow_bytes (vec_min (cost, (VecI){ 0 } + 255));
}

/* The horizontal taps of columns @x.. of row @row of the tile, which is row @p of the first pass. */
INLINE void
pass_row (const Work *w, int x, int row, int p, int vector, int n, int interior)
{
  const CpuWeights *weights = &w->weights;
  int taps = 2 * w->radius + 1, pitch = weights->pitch;
  size_t at = (size_t) (w->weight_column + w->radius + x);
  Taps from = { .costs = w->line + (size_t) (p * w->side + x) * (size_t) w->slots + vector * LANES,
    .costs_step = w->slots,
    .weights = weights->across + (size_t) (row * taps) * (size_t) pitch + at,
    .weights_step = pitch,
    .weights_next = 1 - pitch };
  VecF sum[PIXELS][MOST_VECTORS], all[PIXELS][MOST_VECTORS];

  sum_window (&from, taps, 0, n, sum);
  if (!interior) {
    from.costs = w->exists + x * w->slots + vector * LANES;
    sum_taps (&from, taps, 0, n, all);
  }
#pragma GCC unroll 4
  for (int k = 0; k < PIXELS; k++) {
    float share = weights->across_share[(size_t) row * (size_t) pitch + at + (size_t) k];
    uint8_t *out = w->costs + (x + k) * STEREO_SLOTS + vector * LANES;
#pragma GCC unroll 2
    for (int v = 0; v < n; v++) {
      VecF mean = sum[k][v] * share;
      if (!interior) {
        VecI none = all[k][v] <= 0.0f;
        mean = sum[k][v] / (VecF) (((VecI) all[k][v] & ~none) | (none & 0x3F800000));
      }
      vec_store_b (out + v * LANES, path_cost (w->plan, mean));
    }
  }
}

#define BLOCKS(call) \
  for (int vector = 0; vector < w->vectors; vector += MOST_VECTORS) \
    if (w->vectors - vector > 1) \
      call (2); \
    else \
      call (1);

/* Row @row of the tile. What is behind the list is overwritten by the next row, and the last one has room for it. */
static void
store_row (const Work *w, int row)
{
  uint8_t *to = cpu_list_costs (w->plan, &w->tile, w->tile.y0 + row);

  for (int slot = 0; slot < w->tile.count * STEREO_GROUP; slot += 16)
    cpu_transpose (w->costs + slot, STEREO_SLOTS, STEREO_TILE, to + slot * STEREO_TILE, STEREO_TILE);
}

/* The costs of rows @row.. of the tile. */
static void
average_rows (Work *w, int row)
{
  if (w->begin > 0 || w->end < w->side)
    memset (w->line, 0, (size_t) (PIXELS * w->side * w->slots) * sizeof *w->line);
  for (int column = w->begin; column < w->end; column++) {
#define PASS(n) pass_column (w, column, row, vector, n)
    BLOCKS (PASS)
#undef PASS
  }
  for (int p = 0; p < PIXELS && w->tile.y0 + row + p < w->tile.y1; p++) {
    for (int x = 0; x < w->tile.x1 - w->tile.x0; x += PIXELS) {
#define PASS(n) pass_row (w, x, row + p, p, vector, n, 1)
#define PASS_EDGE(n) pass_row (w, x, row + p, p, vector, n, 0)
      if (w->interior) {
        BLOCKS (PASS)
      } else {
        BLOCKS (PASS_EDGE)
      }
#undef PASS
#undef PASS_EDGE
    }
    store_row (w, row + p);
  }
}

/* Single pixels' costs, for sgm. */
static void
copy_row (const Work *w, int row)
{
  const StereoPlan *plan = w->plan;
  const CpuTile *t = &w->tile;

  for (int x = 0; x < t->x1 - t->x0; x++) {
    const uint8_t *raw = w->raw + (row * w->side + x) * w->raw_pitch;
    uint8_t *out = w->costs + x * STEREO_SLOTS;
    for (int k = 0; k < STEREO_SLOTS; k++) /* a constant to the compiler; slots behind the list have no effect */
      out[k] = (uint8_t) stereo_path_cost (raw[k], plan->path_shift);
  }
  store_row (w, row);
}

/* ---- the stage ------------------------------------------------------------------------------------ */

static void
match_tiles (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  int averages = plan->params.method == STEREO_METHOD_ASW;
  Work w;

  lay_out (&w, plan, c->scratch + (size_t) thread * c->thread_floats);
  w.cost_row = CPU (cost_row) (plan->params.cost);
  for (int column = 0; column < plan->lists.columns; column++) {
    int beside = column % CPU_WEIGHED_TILES;
    if (averages && beside == 0)
      set_weights (&w.weights, plan, column, row);
    w.weight_column = beside * STEREO_TILE;
    start_tile (&w, column, row);
    for (int y = 0; averages && y < w.tile.y1 - w.tile.y0; y += PIXELS)
      average_rows (&w, y);
    for (int y = 0; !averages && y < w.tile.y1 - w.tile.y0; y++)
      copy_row (&w, y);
  }
}

static StereoStatus
match_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  Work w;

  c->thread_floats = lay_out (&w, plan, NULL);
  return stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &c->scratch,
      stereo_times (c->thread_floats, (size_t) cpu_threads (plan)), sizeof (float), error);
}

static StereoStatus
match_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, match_tiles, plan->lists.rows);
  return STEREO_OK;
}

static const StereoStage list_match = {
  .name = "match", .context_size = sizeof (Context), .prepare = match_prepare, .run = match_run
};

const StereoStage *
CPU (list_match) (const StereoParams *params)
{
  return CPU (cost_row) (params->cost) ? &list_match : NULL;
}

/* ---- the prior on these costs: exact/prior.h ------------------------------------------------------- */

/* Adds to the costs of a tile's row, where it is predicted. @words: of its pixels; @luma: of the left view. */
static void
add_penalties (const CpuTile *t, uint32_t *words, const uint8_t *luma, int most, uint8_t *restrict costs)
{
  int steps[STEREO_TILE] = { 0 }, share[STEREO_TILE] = { 0 }, holds = 0;

  for (int x = 0; x < t->x1 - t->x0; x++) {
    holds |= share[x] = stereo_prior_holds (words[x], luma[x]) ? most : 0;
    steps[x] = stereo_prior_steps (words[x]);
    words[x] = 0;
  }
  for (int slot = 0; holds && slot < t->count * STEREO_GROUP; slot++, costs += STEREO_TILE) {
    int index = cpu_slot_index (t, slot);
    for (int x = 0; x < STEREO_TILE; x++) {
      int cost = costs[x] + stereo_prior_penalty (steps[x], index, share[x]);
      costs[x] = (uint8_t) (cost < 255 ? cost : 255);
    }
  }
}

static void
prior_row (StereoPlan *plan, void *context, int row, int thread)
{
  int most = stereo_prior_most (stereo_plan_penalty (plan, STEREO_PATH_SIDEWAYS, 1), *plan->last.noise);

  for (int column = 0; column < plan->lists.columns; column++) {
    CpuTile t = cpu_tile (plan, column, row);
    for (int y = t.y0; y < t.y1; y++)
      add_penalties (&t, plan->last.predicted + (size_t) y * (size_t) plan->map_pitch + (size_t) t.x0,
          plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch + (size_t) t.x0, most,
          cpu_list_costs (plan, &t, y));
  }
}

static StereoStatus
prior_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, prior_row, plan->lists.rows);
  return STEREO_OK;
}

const StereoStage CPU (prior) = { .name = "prior", .run = prior_run };
