/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs of paths: semi-global matching, and the same smoothing of the costs that another method has aggregated. The cost of
 * a candidate is the sum, over all directions, of the cost of the cheapest path that ends there (Mahieu & Lowney, section
 * 3).
 *
 *   L(p, d) = C(p, d) + min (L(q, d), L(q, d - 1) + P1, L(q, d + 1) + P1, min_i L(q, i) + P2) - min_i L(q, i)
 *
 * q is the pixel before p on the path. What is added to C is rounded, by stereo_path_rounded(). P1 and P2 are halved where the
 * left view's luma has a step from q to p. If there is no q, or none of its candidates exists, L = C.
 *
 * Two sweeps compute all directions. The sweep down computes the paths from above and from the left. The sweep up computes
 * the opposite ones: in it rows and columns run backwards, and everything else is the same.
 *
 * A thread takes a band of rows, and computes a block of columns of each row at a time. Each row is one column behind the
 * row before it, whose paths it continues. Of the rows within a band only the last few columns are stored, in the
 * first-level cache. The last row of a band is stored whole: the next band, on another thread, reads it as soon as
 * `progress` says that its columns are done. The result does not depend on the number of threads.
 *
 * Candidates that do not exist have L = 65535: sums saturate, so these stay at 65535, which is STEREO_INVALID. To the next
 * pixel, those that are in the range and outside the right view have the lowest cost of the path: what cannot be seen is
 * not known, and a path begins there. Else the border would speak for the few candidates that exist at it, all along a row
 * without texture. A pixel
 * outside the image has L = 0 for all candidates, which makes L = C for the next pixel.
 */
#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/cpu/match.h"

#define PATH_GUARD 16    /* words before a path's costs; the first and the last of them are 65535 */
#define PATH_LOWEST (-8) /* the word before the costs that holds their minimum */
#define PATH_BLOCK 16    /* columns after which a band checks the progress of the band before */

enum
{
  SIDEWAYS = STEREO_PATH_SIDEWAYS,
  VERTICAL = STEREO_PATH_VERTICAL,
  RISING = STEREO_PATH_RISING,
  FALLING = STEREO_PATH_FALLING,
  DIRECTIONS = STEREO_PATH_DIRECTIONS
};

/* Constants of a sweep. */
typedef struct Sweep
{
  const StereoPlan *plan;
  const void *context; /* of the stage */
  int up;
  int pitch;             /* words from one direction's costs to the next's */
  ptrdiff_t column;      /* words from column to column */
  int shift;             /* a step of the costs is 1 << shift steps of a path's costs */
  VecW half, whole;      /* of stereo_path_rounded(): half a step, and the bits of whole steps */
  VecW unit[DIRECTIONS]; /* of weighted paths: steps of a path's cost in a step of the costs */
  VecW small[DIRECTIONS][2], large[DIRECTIONS][2]; /* [1]: where the luma has a step */
} Sweep;

typedef struct Row
{
  const uint16_t *before;            /* paths' costs of the previous row, column 0 */
  uint16_t *after;                   /* of this one */
  ptrdiff_t before_ring, after_ring; /* column n of these rows lies at place n & ring */
  uint16_t *side[2];                 /* sideways paths' costs of the column before, and of this one */
  uint16_t *mask;                    /* 65535 where the candidate does not exist */
  uint8_t *steps;                    /* bit r of column x: the luma has a step along direction r */
  int first, last;                   /* candidates that exist in the mask */
  uint8_t *costs;
  uint16_t *halfway; /* what the sweep down has summed up: either this, costs of its paths */
  uint8_t *added;    /* or this, what both of its paths add to the costs, in steps of stereo_path_rounded() */
  uint16_t *sums;    /* of all paths, from column first_sum on */
  int first_sum;
  CpuPicks picks; /* where the sweep up picks the lowest costs */
} Row;

/* A function that moves columns @from..@to - 1 of a sweep, which count from the right if it goes up. @added: the sweep down
 * leaves Row.added. */
typedef void (*PathColumns) (const Sweep *s, Row *row, int from, int to);

/* Costs of paths: the columns of a row, one after the other. paths.c says what is computed. */

#define INLINE static inline __attribute__ ((always_inline))

static void
set_mask (const StereoPlan *plan, Row *row, int x)
{
  int first = stereo_first_index (x, plan->width, plan->min_disparity);
  int last = stereo_last_index (x, plan->disparities, plan->min_disparity);

  if (first == row->first && last == row->last)
    return;
  row->first = first;
  row->last = last;
  for (int i = 0; i < plan->depth; i++)
    row->mask[i] = i < first || i > last ? 0xFFFF : 0;
}

/* Gives the candidates of a column that are outside the right view the lowest cost of its path. */
static void
open_outside (const StereoPlan *plan, const Row *row, uint16_t *costs)
{
  for (int i = 0; i < row->first && i < plan->disparities; i++)
    costs[i] = costs[PATH_LOWEST];
  for (int i = row->last < 0 ? 0 : row->last + 1; i < plan->disparities; i++)
    costs[i] = costs[PATH_LOWEST];
}

/* Column @n of the sweep. In the sweep up, n grows as x falls. */
INLINE void
sweep_column (const Sweep *s, Row *row, int n, int directions, int up, int weighted, int added)
{
  const StereoPlan *plan = s->plan;
  int x = up ? plan->width - 1 - n : n, depth = plan->depth;
  const uint8_t *costs = row->costs + (size_t) x * (size_t) depth;
  uint16_t *halfway = row->halfway + (size_t) x * (size_t) depth;
  uint8_t *bytes = added ? row->added + (size_t) x * (size_t) depth : NULL;
  uint16_t *sums = up ? row->sums + (ptrdiff_t) (x - row->first_sum) * depth : halfway;
  const uint16_t *from[DIRECTIONS];
  uint16_t *to[DIRECTIONS];
  VecW lowest[DIRECTIONS], jump[DIRECTIONS], small[DIRECTIONS], low[DIRECTIONS], unit[DIRECTIONS];
  /* copies, which no store can change: they stay in registers */
  const VecW half = s->half, whole = s->whole;
  const uint16_t *masks = row->mask;
  int steps = row->steps[x], shift = s->shift, round = plan->path_round;

  /* the column of the next block */
  if (up)
    cpu_fetch (costs - PATH_BLOCK * depth, (size_t) depth);
  if (up && added)
    cpu_fetch (bytes - PATH_BLOCK * depth, (size_t) depth);
  else if (up)
    cpu_fetch (halfway - PATH_BLOCK * depth, (size_t) depth * sizeof *halfway);
  else if (added)
    cpu_fetch_to_write (bytes + PATH_BLOCK * depth, (size_t) depth);
  else
    cpu_fetch_to_write (halfway + PATH_BLOCK * depth, (size_t) depth * sizeof *halfway);
  set_mask (plan, row, x);
  from[SIDEWAYS] = row->side[n & 1];
  to[SIDEWAYS] = row->side[~n & 1];
  for (int r = VERTICAL; r < directions; r++) {
    ptrdiff_t column = n + (r == FALLING ? -1 : r == RISING ? 1 : 0);
    from[r] = row->before + (column & row->before_ring) * s->column + (r - 1) * s->pitch;
    to[r] = row->after + (n & row->after_ring) * s->column + (r - 1) * s->pitch;
  }
  for (int r = 0; r < directions; r++) {
    lowest[r] = (VecW){ 0 } + from[r][PATH_LOWEST];
    jump[r] = vec_add_words (lowest[r], s->large[r][steps >> r & 1]);
    small[r] = s->small[r][steps >> r & 1];
    unit[r] = s->unit[r];
    low[r] = (VecW){ 0 } + 0xFFFF;
  }
  for (int i = 0; i < depth; i += WORDS) {
    VecW step = vec_words_of_bytes (costs + i), mask = vec_load_w (masks + i), cost = step << shift | mask;
    VecW sum = { 0 };
    if (up && added)
      sum = (vec_words_of_bytes (bytes + i) << round) + (step << shift << 2);
    else if (up)
      sum = vec_load_w (halfway + i);
    for (int r = 0; r < directions; r++) {
      VecW beside = vec_min_words (vec_load_w (from[r] + i - 1), vec_load_w (from[r] + i + 1));
      VecW best = vec_min_words (vec_min_words (vec_load_w (from[r] + i), jump[r]), vec_add_words (beside, small[r]));
      VecW more = (best - lowest[r] + half) & whole;
      VecW path = vec_add_words (weighted ? step * unit[r] | mask : cost, more);
      vec_store_w (to[r] + i, path);
      low[r] = vec_min_words (low[r], path);
      sum = added ? sum + more : vec_add_words (sum, path);
    }
    if (!added)
      vec_store_w (sums + i, sum);
    else if (up)
      vec_store_w (sums + i, sum | mask);
    else
      vec_store_words_as_bytes (bytes + i, sum >> round);
  }
  for (int r = 0; r < directions; r++) {
    to[r][PATH_LOWEST] = vec_lowest_word (low[r]);
    if (row->first > 0 || row->last < plan->disparities - 1)
      open_outside (plan, row, to[r]);
  }
}

#define SWEEP(name, directions, up, weighted, added) \
  static void name (const Sweep *s, Row *row, int from, int to) \
  { \
    for (int n = from; n < to; n++) \
      sweep_column (s, row, n, directions, up, weighted, added); \
  }
SWEEP (down_4, 2, 0, 0, 0)
SWEEP (down_8, 4, 0, 0, 0)
SWEEP (up_4, 2, 1, 0, 0)
SWEEP (up_8, 4, 1, 0, 0)
SWEEP (weighted_down_4, 2, 0, 1, 0)
SWEEP (weighted_down_8, 4, 0, 1, 0)
SWEEP (weighted_up_4, 2, 1, 1, 0)
SWEEP (weighted_up_8, 4, 1, 1, 0)
SWEEP (added_down_4, 2, 0, 0, 1)
SWEEP (added_up_4, 2, 1, 0, 1)

static PathColumns
path_columns (const StereoPlan *plan, int up, int added)
{
  /* [weighted][up][eight directions] */
  static const PathColumns sweeps[2][2][2] = {
    { { down_4, down_8 }, { up_4, up_8 } },
    { { weighted_down_4, weighted_down_8 }, { weighted_up_4, weighted_up_8 } },
  };

  if (added)
    return up ? added_up_4 : added_down_4;
  return sweeps[plan->path_weighted][up][plan->params.paths == 8];
}

#define BAND 8             /* rows */
#define CONVERT_AHEAD 2048 /* candidates */
#define RING 32            /* columns stored of a row within a band: more than PATH_BLOCK + BAND + 1, a power of two */
#define MOST_BANDS 32      /* at work at a time, however many threads there are */
#define PROGRESS 16        /* words from one band's progress to the next's: a cache line */

typedef struct Context
{
  uint8_t *costs; /* [y][x][i]: what paths read; the sweep down makes them, the sweep up reads them again */
  uint16_t *rows; /* paths' costs: rows_of() whole rows, then thread_words() for each thread */
  int *progress;  /* columns of each band of rows that a sweep has finished */
  uint8_t *added; /* [y][x][i]: Row.added, if adds_up(); in the place of the volume, where that is not kept */
  uint32_t *keys; /* of picks: pick_words() of each thread */
  uint16_t *sums; /* sum_words() of each thread, where the costs are not kept */
} Context;

static int
directions_of (const StereoPlan *plan)
{
  return plan->params.paths == 8 ? DIRECTIONS : 2;
}

static int
pitch_of (const StereoPlan *plan)
{
  return plan->depth + PATH_GUARD;
}

/* Words of a column's path costs, in every direction but sideways. */
static size_t
column_words (const StereoPlan *plan)
{
  return (size_t) (directions_of (plan) - 1) * (size_t) pitch_of (plan);
}

/* Words of a whole row, with a column outside the image on each side and a guard at the end. */
static size_t
row_words (const StereoPlan *plan)
{
  return (size_t) (plan->width + 2) * column_words (plan) + PATH_GUARD;
}

/* Words of a ring of columns; of the two columns of sideways paths, the mask and the steps of a row. */
static size_t
ring_words (const StereoPlan *plan)
{
  return RING * column_words (plan) + PATH_GUARD;
}

static size_t
side_words (const StereoPlan *plan)
{
  return 3 * (size_t) pitch_of (plan) + PATH_GUARD + stereo_round_up ((size_t) plan->width, 2 * PATH_GUARD) / 2;
}

/* Words of a thread: two rings, which the rows of its band use in turn, and the columns and the mask of each row. */
static size_t
thread_words (const StereoPlan *plan)
{
  return 2 * ring_words (plan) + BAND * side_words (plan);
}

/* Bands that are computed at the same time. */
static int
bands_of (const StereoPlan *plan)
{
  int threads = cpu_threads (plan);
  return threads < MOST_BANDS ? threads : MOST_BANDS;
}

/* Whole rows: the last rows of the bands that are computed and of the band before these, and one outside the image. */
static int
rows_of (const StereoPlan *plan)
{
  return bands_of (plan) + 2;
}

/* Column 0 of whole row @slot. */
static uint16_t *
whole_row (const StereoPlan *plan, const Context *c, int slot)
{
  return c->rows + (size_t) slot * row_words (plan) + column_words (plan) + PATH_GUARD;
}

/* Whether the sweep down leaves what its paths add, a byte for each candidate, in place of sums in the volume. */
static int
adds_up (const StereoPlan *plan)
{
  return plan->fusion.path_sums == STEREO_PATHS_ADD_ROUNDED && plan->params.paths == 4;
}

/* Keys of a thread: two lines of the left view, and two of the right view for each row of its band. */
static size_t
pick_words (const StereoPlan *plan)
{
  return (2 + 2 * BAND) * (size_t) plan->image_pitch;
}

/* Sums of a thread: a block of columns, and what post/pick.c reads on both sides. */
static size_t
sum_words (const StereoPlan *plan)
{
  return PATH_BLOCK * (size_t) plan->depth + 2 * CPU_PICK_BEYOND;
}

/* The last row of band @k; -1: the row outside the image. */
static uint16_t *
last_row (const StereoPlan *plan, const Context *c, int k)
{
  return whole_row (plan, c, k < 0 ? 0 : 1 + k % (bands_of (plan) + 1));
}

static uint16_t *
thread_memory (const StereoPlan *plan, const Context *c, int thread)
{
  return c->rows + (size_t) rows_of (plan) * row_words (plan) + (size_t) thread * thread_words (plan);
}

static uint16_t *
ring_of (const StereoPlan *plan, const Context *c, int thread, int r)
{
  return thread_memory (plan, c, thread) + (size_t) (r % 2) * ring_words (plan) + PATH_GUARD;
}

/* ---- a band ------------------------------------------------------------------------------------ */

/* The guards of @count columns' costs. */
static void
set_guards (uint16_t *costs, size_t count, int pitch)
{
  for (size_t k = 0; k <= count; k++)
    costs[(ptrdiff_t) k * pitch - 1] = costs[(ptrdiff_t) k * pitch - PATH_GUARD] = 0xFFFF;
}

/* Makes whole row 0 the one outside the image, and the first and the last column of all others; sets the guards of these. */
static void
clear_outside (const StereoPlan *plan, const Context *c)
{
  size_t column = column_words (plan), bytes = column * sizeof *c->rows, width = (size_t) plan->width;

  memset (c->rows, 0, row_words (plan) * sizeof *c->rows);
  for (int k = 1; k < rows_of (plan); k++) {
    uint16_t *row = whole_row (plan, c, k);
    memset (row - column - PATH_GUARD, 0, bytes);
    memset (row + width * column - PATH_GUARD, 0, bytes);
    set_guards (row, width * column / (size_t) pitch_of (plan), pitch_of (plan));
  }
}

/* Makes column @n of a ring one outside the image. */
static void
clear_column (const StereoPlan *plan, uint16_t *ring, int n)
{
  for (int r = 0; r < directions_of (plan) - 1; r++) {
    uint16_t *costs = ring + (size_t) (n & (RING - 1)) * column_words (plan) + (size_t) r * (size_t) pitch_of (plan);
    memset (costs, 0, (size_t) plan->depth * sizeof *costs);
    costs[PATH_LOWEST] = 0;
  }
}

static void
start_sweep (Sweep *s, const StereoPlan *plan, const Context *c, int up)
{
  memset (s, 0, sizeof *s);
  s->plan = plan;
  s->context = c;
  s->up = up;
  s->pitch = pitch_of (plan);
  s->column = (ptrdiff_t) column_words (plan);
  for (int unit = plan->path_unit; unit > 1; unit /= 2)
    s->shift++;
  s->whole -= (uint16_t) (1 << plan->path_round);
  s->half += (uint16_t) (1 << plan->path_round >> 1);
  for (int r = 0; r < DIRECTIONS; r++) {
    int small = stereo_plan_penalty (plan, r, 0), large = stereo_plan_penalty (plan, r, 1);
    s->unit[r] += (uint16_t) plan->path_units[r];
    s->small[r][0] += (uint16_t) small;
    s->large[r][0] += (uint16_t) large;
    s->small[r][1] += (uint16_t) stereo_path_halved (small);
    s->large[r][1] += (uint16_t) stereo_path_halved (large);
  }
}

/* The steps of luma from pixel (x + @dx, y + @dy) to pixel (x, y), of row @y, as bit @direction. */
static void
find_steps (const StereoPlan *plan, Row *row, int y, int dx, int dy, int direction)
{
  const uint8_t *luma = plan->view[STEREO_LEFT].luma + (ptrdiff_t) y * plan->image_pitch;
  const uint8_t *before = luma + (ptrdiff_t) dy * plan->image_pitch + dx;
  uint8_t *restrict all = row->steps;
  int from = dx < 0 ? -dx : 0, to = dx > 0 ? plan->width - dx : plan->width, step = plan->params.penalty_step;

  if (y + dy < 0 || y + dy >= plan->height)
    return;
  for (int x = from; x < to; x++)
    all[x] |= (uint8_t) (stereo_path_steps (luma[x], before[x], step) << direction);
}

/* Steps towards a pixel that is outside do not matter: its costs are 0. */
static void
find_all_steps (const StereoPlan *plan, Row *row, int y, int up)
{
  int back = up ? 1 : -1; /* to the pixel before, on a path to the right and down, or to the left and up */

  memset (row->steps, 0, (size_t) plan->width);
  find_steps (plan, row, y, back, 0, SIDEWAYS);
  find_steps (plan, row, y, 0, back, VERTICAL);
  if (directions_of (plan) == DIRECTIONS) {
    find_steps (plan, row, y, -back, back, RISING);
    find_steps (plan, row, y, back, back, FALLING);
  }
}

/* stereo_path_cost() of a row of the volume. Half a byte's step is added behind the shift: before it could overflow. */
static void
convert_costs (const uint16_t *volume, size_t count, int shift, uint8_t *costs)
{
  const VecW most = (VecW){ 0 } + 255;

  for (size_t k = 0; k < count; k += WORDS) {
    cpu_fetch (volume + k + CONVERT_AHEAD, sizeof (VecW));
    VecW cost = vec_load_w (volume + k);
    if (shift > 0)
      cost = (cost >> shift) + (cost >> (shift - 1) & 1);
    vec_store_words_as_bytes (costs + k, vec_min_words (cost, most));
  }
}

/* What the paths read of row @y: raw costs, or the volume's as bytes. */
static void
make_costs (const StereoPlan *plan, Row *row, int y)
{
  if (plan->params.method == STEREO_METHOD_SGM)
    CPU (cost_row) (plan->params.cost) (plan, y, 0, plan->width, 0, plan->depth, plan->depth, row->costs);
  else
    convert_costs (row->halfway, (size_t) plan->width * (size_t) plan->depth, plan->path_shift, row->costs);
}

/* Row @r of a band. The lines of the left view serve all rows: a block of columns is picked and stored at once. */
static void
start_picks (const StereoPlan *plan, Row *row, uint32_t *keys, int r)
{
  size_t pitch = (size_t) plan->image_pitch;
  uint32_t *right = keys + (size_t) (2 + 2 * r) * pitch;

  memset (right, 0xFF, (plan->fusion.keeps_costs ? 2 : 1) * pitch * sizeof *right);
  right += plan->image_pad;
  row->picks = (CpuPicks){ keys, keys + pitch, right, plan->fusion.keeps_costs ? right + pitch : NULL };
}

/* Row @r of the @rows of band @k. */
static void
start_row (const Sweep *s, Row *row, int k, int r, int rows, int thread)
{
  const StereoPlan *plan = s->plan;
  const Context *c = s->context;
  int y = s->up ? plan->height - 1 - (k * BAND + r) : k * BAND + r;
  int first = r == 0, last = r == rows - 1;
  size_t place = (size_t) y * (size_t) plan->width * (size_t) plan->depth;

  row->before = first ? last_row (plan, c, k - 1) : ring_of (plan, c, thread, r - 1);
  row->before_ring = first ? -1 : RING - 1;
  row->after = last ? last_row (plan, c, k) : ring_of (plan, c, thread, r);
  row->after_ring = last ? -1 : RING - 1;
  row->side[0] = thread_memory (plan, c, thread) + 2 * ring_words (plan) + (size_t) r * side_words (plan) + PATH_GUARD;
  row->side[1] = row->side[0] + s->pitch;
  row->mask = row->side[1] + s->pitch;
  row->steps = (uint8_t *) (row->mask + s->pitch);
  row->first = row->last = -1;
  row->costs = c->costs + place;
  row->halfway = row->sums = plan->volume + place;
  row->added = !adds_up (plan) ? NULL : (plan->fusion.keeps_costs ? c->added : (uint8_t *) plan->volume) + place;
  row->first_sum = 0;
  memset (row->side[0] - PATH_GUARD, 0, (size_t) s->pitch * sizeof *row->side[0]);
  set_guards (row->side[0], 2, s->pitch);
  if (plan->params.penalty_step > 0)
    find_all_steps (plan, row, y, s->up);
  if (!s->up)
    make_costs (plan, row, y);
  else if (cpu_picks_early (plan) && !plan->is_coarse)
    start_picks (plan, row, c->keys + (size_t) thread * pick_words (plan), r);
}

/* Columns @from..@to - 1 of a row in the sweep up, with the lowest costs of each pixel. */
static void
sweep_and_pick (const Sweep *s, Row *row, int y, PathColumns columns, int from, int to, uint16_t *sums)
{
  const StereoPlan *plan = s->plan;
  int first = plan->width - to, end = plan->width - from;

  if (from < to) {
    if (!plan->fusion.keeps_costs) {
      row->sums = sums;
      row->first_sum = first;
    }
    columns (s, row, from, to);
    const uint16_t *costs = row->sums + (size_t) (first - row->first_sum) * (size_t) plan->depth;
    if (plan->is_coarse) { /* nothing else is read of a coarser level */
      uint16_t *index = plan->view[STEREO_LEFT].index + (size_t) y * (size_t) plan->map_pitch;
      CPU (pick_lowest) (plan, costs, to - from, index + first);
      return;
    }
    CPU (pick_columns) (plan, &row->picks, costs, first, end);
    CPU (pick_store) (plan, &plan->view[STEREO_LEFT], y, first, end, row->picks.left1, row->picks.left2);
    if (!plan->fusion.keeps_costs)
      CPU (pick_measures) (plan, costs, y, first, end);
    if (to == plan->width)
      CPU (pick_store) (plan, &plan->view[STEREO_RIGHT], y, 0, plan->width, row->picks.right1, row->picks.right2);
  }
}

static int
within (int n, int width)
{
  return n < 0 ? 0 : n > width ? width : n;
}

static void
sweep_band (const StereoPlan *plan, const Context *c, int k, int thread, int up)
{
  int *progress = c->progress + (size_t) k * PROGRESS;
  int rows = plan->height - k * BAND < BAND ? plan->height - k * BAND : BAND, width = plan->width;
  int picks = up && cpu_picks_early (plan);
  uint16_t *sums = c->sums ? c->sums + (size_t) thread * sum_words (plan) + CPU_PICK_BEYOND : NULL;
  PathColumns columns = path_columns (plan, up, adds_up (plan));
  Sweep s;
  Row row[BAND];

  start_sweep (&s, plan, c, up);
  for (int r = 0; r < rows; r++)
    start_row (&s, &row[r], k, r, rows, thread);
  for (int r = 0; r < 2; r++)
    clear_column (plan, ring_of (plan, c, thread, r), -1);
  if (k >= bands_of (plan)) /* this band's last row overwrites that of an earlier band: wait for that row's last reader */
    cpu_wait_for (progress - (size_t) bands_of (plan) * PROGRESS, width);
  for (int end = PATH_BLOCK; end - PATH_BLOCK - (rows - 1) < width; end += PATH_BLOCK) {
    if (k > 0)
      cpu_wait_for (progress - PROGRESS, within (end + 1, width));
    for (int r = 0; r < rows; r++) {
      int from = within (end - PATH_BLOCK - r, width), to = within (end - r, width);
      if (picks)
        sweep_and_pick (&s, &row[r], plan->height - 1 - (k * BAND + r), columns, from, to, sums);
      else
        columns (&s, &row[r], from, to);
      if (end - r >= width && r < rows - 1)
        clear_column (plan, row[r].after, width);
    }
    __atomic_store_n (progress, within (end - (rows - 1), width), __ATOMIC_RELEASE);
  }
}

static void
down_band (StereoPlan *plan, void *context, int item, int thread)
{
  sweep_band (plan, context, item, thread, 0);
}

static void
up_band (StereoPlan *plan, void *context, int item, int thread)
{
  sweep_band (plan, context, item, thread, 1);
}

/* ---- stage ------------------------------------------------------------------------------------ */

static StereoStatus
prepare_picks (StereoPlan *plan, Context *c, StereoError *error)
{
  size_t threads = (size_t) cpu_threads (plan);
  StereoStatus status = cpu_reserve_measures (plan, error);

  if (status ||
      (status = stereo_reserve (plan, (void **) &c->keys, threads, pick_words (plan) * sizeof *c->keys, error)))
    return status;
  return plan->fusion.keeps_costs ?
      STEREO_OK :
      stereo_reserve (plan, (void **) &c->sums, threads, sum_words (plan) * sizeof *c->sums, error);
}

static StereoStatus
paths_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t pixels = (size_t) plan->width * (size_t) plan->height;
  size_t bands = ((size_t) plan->height + BAND - 1) / BAND;
  StereoStatus status;

  if ((status = stereo_reserve (plan, (void **) &c->costs, pixels, (size_t) plan->depth, error)) ||
      (adds_up (plan) && plan->fusion.keeps_costs &&
          (status = stereo_reserve (plan, (void **) &c->added, pixels, (size_t) plan->depth, error))) ||
      (cpu_picks_early (plan) && (status = prepare_picks (plan, c, error))) ||
      (status = stereo_reserve (plan, (void **) &c->progress, PROGRESS * bands, sizeof (int), error)))
    return status;
  return stereo_reserve (plan, (void **) &c->rows,
      stereo_plus (stereo_times ((size_t) rows_of (plan), row_words (plan)),
          stereo_times ((size_t) cpu_threads (plan), thread_words (plan))),
      sizeof (uint16_t), error);
}

static void
sweep (StereoPlan *plan, Context *c, CpuJob job)
{
  int bands = (plan->height + BAND - 1) / BAND;
  memset (c->progress, 0, PROGRESS * (size_t) bands * sizeof (int));
  cpu_run (plan, c, job, bands);
}

static StereoStatus
paths_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;
  size_t costs = column_words (plan) / (size_t) pitch_of (plan); /* of a column */

  clear_outside (plan, c);
  for (int k = 0; k < 2 * cpu_threads (plan); k++)
    set_guards (ring_of (plan, c, k / 2, k), RING * costs, pitch_of (plan));
  sweep (plan, context, down_band);
  sweep (plan, context, up_band);
  return STEREO_OK;
}

static const StereoStage sgm = {
  .name = "match", .context_size = sizeof (Context), .prepare = paths_prepare, .run = paths_run
};

const StereoStage CPU (
    paths) = { .name = "paths", .context_size = sizeof (Context), .prepare = paths_prepare, .run = paths_run };

const StereoStage *
CPU (sgm) (const StereoParams *params)
{
  return CPU (cost_row) (params->cost) ? &sgm : NULL;
}
