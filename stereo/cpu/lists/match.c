/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs of the candidates in the lists, a tile at a time. For sgm they are the costs of single pixels; for asw these are averaged in
 * two passes as in asw/stage.c, with the raw costs of the pixels around the tile computed for the tile's own list.
 */
#include "stereo/cpu/lists/lists.h"
#include "stereo/cpu/match.h"
#include "stereo/cpu/vec/vec.h"

#define RAW_PITCH (STEREO_SLOTS + 16) /* bytes of a pixel's raw costs, and what CpuCostRow writes behind them */
#define MOST_VECTORS 4                /* that are summed side by side */
#define INLINE static inline __attribute__ ((always_inline))

typedef struct Context
{
  float *scratch; /* per thread, thread_floats each: see lay_out() */
  size_t thread_floats;
} Context;

/* A tile and the memory of a thread. */
typedef struct Work
{
  const StereoPlan *plan;
  CpuCostRow cost_row;
  CpuTile tile;
  int radius, vectors;                     /* vectors that hold all slots of the list */
  int first_column, end_column, first_row; /* of the pixels that the windows of the tile hold, within the picture */
  int interior;                            /* all candidates of all these pixels exist */
  float color_factor, distance_factor;
  uint8_t *raw;    /* [row][column][slot], from first_row and first_column on */
  float *line;     /* [column][slot]: the first pass of a row */
  float *weights;  /* [tap][column], weight_pitch a tap */
  float *sums;     /* [column]: of the weights */
  int32_t *exists; /* [column][slot]: all bits where the candidate exists; not set in an interior tile */
  int weight_pitch;
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
  side = (size_t) (STEREO_TILE + 2 * w->radius);
  w->weight_pitch = (int) (side + 2 * LANES - 1) / LANES * LANES;
  w->color_factor = (float) (-STEREO_LOG2E / p->gamma_color);
  w->distance_factor = (float) (-STEREO_LOG2E / p->gamma_distance);
#define TAKE(field, type, floats) \
  w->field = base ? (type *) (base + used) : NULL; \
  used += stereo_round_up (floats, 16)
  TAKE (raw, uint8_t, side * side * RAW_PITCH / 4 + 16);
  TAKE (line, float, side *STEREO_SLOTS);
  TAKE (weights, float, (size_t) (2 * w->radius + 1) * (size_t) w->weight_pitch);
  TAKE (sums, float, (size_t) w->weight_pitch);
  TAKE (exists, int32_t, side * STEREO_SLOTS);
#undef TAKE
  return used;
}

/* ---- raw costs ------------------------------------------------------------------------------------- */

static uint8_t *
raw_of (const Work *w, int x, int y)
{
  return w->raw +
      ((size_t) (y - w->first_row) * (size_t) (STEREO_TILE + 2 * w->radius) + (size_t) (x - w->first_column)) *
      RAW_PITCH;
}

/* Row @y, for each run of groups without a gap. */
static void
fill_raw (const Work *w, int y)
{
  const CpuTile *t = &w->tile;

  for (int g = 0, end; g < t->count; g = end) {
    for (end = g + 1; end < t->count && t->groups[end] == t->groups[end - 1] + 1;)
      end++;
    w->cost_row (w->plan, y, w->first_column, w->end_column, t->groups[g] * STEREO_GROUP, (end - g) * STEREO_GROUP,
        RAW_PITCH, raw_of (w, w->first_column, y) + g * STEREO_GROUP);
  }
}

static void
find_existing (const Work *w)
{
  const StereoPlan *plan = w->plan;
  int32_t *exists = w->exists;

  for (int x = w->first_column; x < w->end_column; x++, exists += STEREO_SLOTS) {
    int first = stereo_first_index (x, plan->width, plan->min_disparity);
    int last = stereo_last_index (x, plan->disparities, plan->min_disparity);
    for (int k = 0; k < STEREO_SLOTS; k++) {
      int index = k < w->tile.count * STEREO_GROUP ? cpu_slot_index (&w->tile, k) : -1;
      exists[k] = index >= first && index <= last ? -1 : 0;
    }
  }
}

static void
start_tile (Work *w, int column, int row)
{
  const StereoPlan *plan = w->plan;
  int r = w->radius;

  w->tile = cpu_tile (plan, column, row);
  w->vectors = (w->tile.count * STEREO_GROUP + LANES - 1) / LANES;
  w->first_column = w->tile.x0 > r ? w->tile.x0 - r : 0;
  w->end_column = w->tile.x1 + r < plan->width ? w->tile.x1 + r : plan->width;
  w->first_row = w->tile.y0 > r ? w->tile.y0 - r : 0;
  int end_row = w->tile.y1 + r < plan->height ? w->tile.y1 + r : plan->height;
  w->interior = cpu_tile_is_interior (plan, &w->tile, w->first_column, w->end_column);
  for (int y = w->first_row; y < end_row; y++)
    fill_raw (w, y);
  if (!w->interior)
    find_existing (w);
}

/* ---- weights --------------------------------------------------------------------------------------- */

/* Of columns @from..@to - 1 of row @y for the tap (dx, dy), into row @tap of the table; 0 where the tap is outside. Adds them up. */
static void
weigh (Work *w, int tap, int y, int from, int to, int dx, int dy)
{
  const StereoPlan *plan = w->plan;
  const uint32_t *centre = plan->view[STEREO_LEFT].likeness + (size_t) y * (size_t) plan->image_pitch;
  const uint32_t *other = centre + (ptrdiff_t) dy * plan->image_pitch + dx;
  float *out = w->weights + (size_t) tap * (size_t) w->weight_pitch;
  float distance = w->distance_factor * (float) (dx < 0 ? -dx : dx > 0 ? dx : dy < 0 ? -dy : dy);
  int first = from + dx < 0 ? -dx : from, end = to + dx > plan->width ? plan->width - dx : to;

  for (int x = from; x < first && x < to; x++)
    out[x - from] = 0;
  for (int x = first; x < end; x += LANES)
    vec_store_f (
        out + x - from, vec_weight (vec_load_u (centre + x), vec_load_u (other + x), w->color_factor, distance));
  for (int x = end > from ? end : from; x < to; x++)
    out[x - from] = 0;
  for (int x = 0; x < to - from; x++)
    w->sums[x] = (tap ? w->sums[x] : 0) + out[x];
}

/* ---- passes ------------------------------------------------------------------------------------------ */

/* The vertical taps of column @x, of the rows from @top on: their mean. */
INLINE void
pass_column (const Work *w, int taps, int x, int top, int vector, int n)
{
  const uint8_t *raw = raw_of (w, x, top) + vector * LANES;
  const float *weights = w->weights + (x - w->first_column);
  size_t row = (size_t) (STEREO_TILE + 2 * w->radius) * RAW_PITCH;
  VecF sum[MOST_VECTORS];
  float share = 1 / w->sums[x - w->first_column];

  for (int v = 0; v < n; v++)
    sum[v] = (VecF){ 0 };
  for (int t = 0; t < taps; t++, raw += row, weights += w->weight_pitch)
#pragma GCC unroll 4
    for (int v = 0; v < n; v++)
      sum[v] += *weights * vec_from_bytes (vec_load_b (raw + v * LANES));
  for (int v = 0; v < n; v++)
    vec_store_f (w->line + (size_t) (x - w->first_column) * STEREO_SLOTS + (vector + v) * LANES, sum[v] * share);
}

/* stereo_path_cost() of the mean. */
INLINE VecB
path_cost (const StereoPlan *plan, VecF mean)
{
  VecI steps = __builtin_convertvector(mean * (float) plan->volume_unit + 0.5f, VecI);
  VecI cost = (steps + (1 << plan->path_shift >> 1)) >> plan->path_shift;
  return vec_narrow_bytes (vec_min (cost, (VecI){ 0 } + 255));
}

/* The horizontal taps from..to of column @x of row @y. */
INLINE void
pass_row (const Work *w, int x, int y, int from, int to, int vector, int n)
{
  const float *weights = w->weights + (x - w->tile.x0);
  uint8_t *out = cpu_list_costs (w->plan, x, y) + vector * LANES;
  VecF sum[MOST_VECTORS];

  for (int v = 0; v < n; v++)
    sum[v] = (VecF){ 0 };
  for (int t = from; t <= to; t++) {
    const float *line = w->line + (size_t) (x + t - w->radius - w->first_column) * STEREO_SLOTS + vector * LANES;
    float weight = weights[t * w->weight_pitch];
#pragma GCC unroll 4
    for (int v = 0; v < n; v++)
      sum[v] += weight * vec_load_f (line + v * LANES);
  }
  float share = 1 / w->sums[x - w->tile.x0];
  for (int v = 0; v < n; v++)
    vec_store_b (out + v * LANES, path_cost (w->plan, sum[v] * share));
}

/* The same where some candidates do not exist: of those that do. */
static void
pass_row_edge (const Work *w, int x, int y, int from, int to, int vector)
{
  const float *weights = w->weights + (x - w->tile.x0);
  VecF sum = { 0 }, all = { 0 };

  for (int t = from; t <= to; t++) {
    int column = x + t - w->radius;
    const float *line = w->line + (size_t) (column - w->first_column) * STEREO_SLOTS + vector * LANES;
    VecI exists = vec_load_i (w->exists + (size_t) (column - w->first_column) * STEREO_SLOTS + vector * LANES);
    VecF weight = { 0 };
    weight += weights[t * w->weight_pitch];
    weight = (VecF) ((VecI) weight & exists);
    sum += weight * vec_load_f (line);
    all += weight;
  }
  VecI none = all <= 0.0f;
  VecF safe = (VecF) (((VecI) all & ~none) | (none & 0x3F800000));
  vec_store_b (cpu_list_costs (w->plan, x, y) + vector * LANES, path_cost (w->plan, sum / safe));
}

#define BLOCKS(call) \
  for (int vector = 0, left = w->vectors, n; left > 0; left -= n, vector += n) { \
    n = left < MOST_VECTORS ? left : MOST_VECTORS; \
    switch (n) { \
      case 4: \
        call (4); \
        break; \
      case 3: \
        call (3); \
        break; \
      case 2: \
        call (2); \
        break; \
      default: \
        call (1); \
        break; \
    } \
  }

static void
average_row (Work *w, int y)
{
  const StereoPlan *plan = w->plan;
  int r = w->radius, top = y > r ? y - r : 0, bottom = y + r < plan->height ? y + r : plan->height - 1;

  for (int v = top; v <= bottom; v++)
    weigh (w, v - top, y, w->first_column, w->end_column, 0, v - y);
  for (int x = w->first_column; x < w->end_column; x++) {
#define PASS(n) pass_column (w, bottom - top + 1, x, top, vector, n)
    BLOCKS (PASS)
#undef PASS
  }
  for (int dx = -r; dx <= r; dx++)
    weigh (w, dx + r, y, w->tile.x0, w->tile.x1, dx, 0);
  for (int x = w->tile.x0; x < w->tile.x1; x++) {
    int from = x < r ? r - x : 0, to = x + r < plan->width ? 2 * r : r + plan->width - 1 - x;
#define PASS(n) pass_row (w, x, y, from, to, vector, n)
    if (w->interior) {
      BLOCKS (PASS)
    } else
      for (int v = 0; v < w->vectors; v++)
        pass_row_edge (w, x, y, from, to, v);
#undef PASS
  }
}

/* Of sgm: single pixels' costs. */
static void
copy_row (const Work *w, int y)
{
  const StereoPlan *plan = w->plan;

  for (int x = w->tile.x0; x < w->tile.x1; x++) {
    const uint8_t *raw = raw_of (w, x, y);
    uint8_t *out = cpu_list_costs (plan, x, y);
    for (int k = 0; k < STEREO_SLOTS; k++)
      out[k] = (uint8_t) stereo_path_cost (raw[k], plan->path_shift);
  }
}

/* ---- the stage ------------------------------------------------------------------------------------ */

static void
match_tiles (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  Work w;

  lay_out (&w, plan, c->scratch + (size_t) thread * c->thread_floats);
  w.cost_row = CPU (cost_row) (plan->params.cost);
  for (int column = 0; column < plan->lists.columns; column++) {
    start_tile (&w, column, row);
    for (int y = w.tile.y0; y < w.tile.y1; y++)
      if (plan->params.method == STEREO_METHOD_ASW)
        average_row (&w, y);
      else
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
