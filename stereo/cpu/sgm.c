/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching: of every pixel and candidate, the costs of the cheapest paths that end there, one
 * a direction, added up.
 *
 *   L(p, d) = C(p, d) + min (L(q, d), L(q, d - 1) + P1, L(q, d + 1) + P1, min_i L(q, i) + P2) - min_i L(q, i)
 *
 * q being the pixel before p; where there is none, or none of its candidates exists, L = C. Two sweeps make all
 * directions: downwards those from above and from the left, upwards the opposite ones, in which rows and columns
 * run backwards and everything else is the same. A sweep goes through a row column by column, and keeps the paths'
 * costs of the row before only. Rows go to the threads in turn; each follows the one before at a small distance
 * (`progress`), so that the sums do not depend on the number of threads.
 *
 * Candidates that do not exist have L = 65535: sums saturate, so that they stay there, and end up as STEREO_INVALID.
 * A pixel outside has L = 0 throughout, which makes L = C of the next one.
 */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec.h"

#include <sched.h>

#define INLINE static inline __attribute__ ((always_inline))
#define GUARD 16                /* words before a path's costs; the first and the last of them are 65535 */
#define LOWEST (-8)             /* where among them the minimum of the costs is kept */
#define BLOCK 16                /* columns between looks at the row before */
#define MOST_ROWS 32            /* at work at a time, however many threads there are */

enum { SIDEWAYS, VERTICAL, RISING, FALLING, DIRECTIONS }; /* as in stereo_registry_penalty() */

/* A thread's row: what it reads and makes. */
typedef struct Row
{
  const StereoPlan *plan;
  int y, up;
  int pitch;                    /* words from one direction's costs to the next's */
  size_t column;                /* words from column to column */
  const uint16_t *before;       /* paths' costs of the previous row, column 0 */
  uint16_t *after;              /* of this one */
  uint16_t *side[2];            /* sideways paths' costs of the column before, and of this one */
  uint16_t *mask;               /* 65535 where the candidate does not exist */
  int first, last;              /* candidates for which the mask stands */
  const uint8_t *costs;
  uint16_t *volume;
  int shift;                    /* a raw step is 1 << shift steps of a path's costs */
  VecW small[DIRECTIONS], large[DIRECTIONS];
} Row;

static int
directions_of (const StereoPlan *plan)
{
  return plan->params.paths == 8 ? DIRECTIONS : 2;
}

static int
pitch_of (const StereoPlan *plan)
{
  return plan->depth + GUARD;
}

/* Of one row: a column outside on each side, every direction but sideways, and a guard at the end. */
static size_t
row_words (const StereoPlan *plan)
{
  return (size_t) (plan->width + 2) * (size_t) (directions_of (plan) - 1) * (size_t) pitch_of (plan) + GUARD;
}

/* Of one thread: the columns of sideways paths, and the mask. */
static size_t
thread_words (const StereoPlan *plan)
{
  return 3 * (size_t) pitch_of (plan) + GUARD;
}

/* As many rows as are at work at a time, the one before them, and one for what lies outside. */
static int
rows_of (const StereoPlan *plan)
{
  int threads = cpu_state (plan)->threads;
  return (threads < MOST_ROWS ? threads : MOST_ROWS) + 2;
}

/* Column 0 of row @k of a sweep. */
static uint16_t *
row_of (const StereoPlan *plan, int k)
{
  int rows = rows_of (plan), slot = k < 0 ? rows - 1 : k % (rows - 1);
  return cpu_state (plan)->sgm_rows + (size_t) slot * row_words (plan) +
      (size_t) (directions_of (plan) - 1) * (size_t) pitch_of (plan) + GUARD;
}

/* ---- a column --------------------------------------------------------------------------------- */

static void
set_mask (Row *row, int x)
{
  const StereoPlan *plan = row->plan;
  int first = stereo_first_index (x, plan->width, plan->min_disparity);
  int last = stereo_last_index (x, plan->disparities, plan->min_disparity);

  if (first == row->first && last == row->last)
    return;
  row->first = first;
  row->last = last;
  for (int i = 0; i < plan->depth; i++)
    row->mask[i] = i < first || i > last ? 0xFFFF : 0;
}

/* Column @n of the sweep: @n runs against x on the way up. */
INLINE void
sweep_column (Row *row, int n, int directions, int up)
{
  const StereoPlan *plan = row->plan;
  int x = up ? plan->width - 1 - n : n, depth = plan->depth;
  const uint8_t *costs = row->costs + (size_t) x * (size_t) depth;
  uint16_t *volume = row->volume + (size_t) x * (size_t) depth;
  const uint16_t *from[DIRECTIONS];
  uint16_t *to[DIRECTIONS];
  VecW lowest[DIRECTIONS], jump[DIRECTIONS], low[DIRECTIONS];

  set_mask (row, x);
  from[SIDEWAYS] = row->side[n & 1];
  to[SIDEWAYS] = row->side[~n & 1];
  for (int r = VERTICAL; r < directions; r++) {
    ptrdiff_t column = n + (r == FALLING ? -1 : r == RISING ? 1 : 0);
    from[r] = row->before + column * (ptrdiff_t) row->column + (r - 1) * row->pitch;
    to[r] = row->after + n * (ptrdiff_t) row->column + (r - 1) * row->pitch;
  }
  for (int r = 0; r < directions; r++) {
    lowest[r] = (VecW) { 0 } + from[r][LOWEST];
    jump[r] = vec_add_words (lowest[r], row->large[r]);
    low[r] = (VecW) { 0 } + 0xFFFF;
  }
  for (int i = 0; i < depth; i += WORDS) {
    VecW cost = vec_words_of_bytes (costs + i) << row->shift | vec_load_w (row->mask + i);
    VecW sum = up ? vec_load_w (volume + i) : (VecW) { 0 };
    for (int r = 0; r < directions; r++) {
      VecW step = vec_min_words (vec_load_w (from[r] + i - 1), vec_load_w (from[r] + i + 1));
      VecW best = vec_min_words (vec_min_words (vec_load_w (from[r] + i), jump[r]), vec_add_words (step, row->small[r]));
      VecW path = vec_add_words (cost, best - lowest[r]);
      vec_store_w (to[r] + i, path);
      low[r] = vec_min_words (low[r], path);
      sum = vec_add_words (sum, path);
    }
    vec_store_w (volume + i, sum);
  }
  for (int r = 0; r < directions; r++)
    to[r][LOWEST] = vec_lowest_word (low[r]);
}

#define SWEEP(name, directions, up) \
  static void \
  name (Row *row, int from, int to) \
  { \
    for (int n = from; n < to; n++) \
      sweep_column (row, n, directions, up); \
  }
SWEEP (down_4, 2, 0)
SWEEP (down_8, 4, 0)
SWEEP (up_4, 2, 1)
SWEEP (up_8, 4, 1)

/* ---- a row ------------------------------------------------------------------------------------ */

/* The guards of @count columns' costs. */
static void
set_guards (uint16_t *costs, size_t count, int pitch)
{
  for (size_t k = 0; k <= count; k++)
    costs[(ptrdiff_t) k * pitch - 1] = costs[(ptrdiff_t) k * pitch - GUARD] = 0xFFFF;
}

static void
start_row (Row *row, StereoPlan *plan, int k, int up, int thread)
{
  CpuState *state = cpu_state (plan);
  size_t cells = (size_t) plan->width * (size_t) plan->depth;

  memset (row, 0, sizeof *row);
  row->plan = plan;
  row->y = up ? plan->height - 1 - k : k;
  row->pitch = pitch_of (plan);
  row->column = (size_t) (directions_of (plan) - 1) * (size_t) row->pitch;
  row->before = row_of (plan, k - 1);
  row->after = row_of (plan, k);
  row->side[0] = state->sgm_rows + (size_t) rows_of (plan) * row_words (plan) + (size_t) thread * thread_words (plan) +
      GUARD;
  row->side[1] = row->side[0] + row->pitch;
  row->mask = row->side[1] + row->pitch;
  row->first = row->last = -1;
  row->costs = state->sgm_costs + (size_t) row->y * cells;
  row->volume = plan->volume + (size_t) row->y * cells;
  for (int unit = stereo_path_unit (plan->volume_unit, plan->params.paths); unit > 1; unit /= 2)
    row->shift++;
  for (int r = 0; r < DIRECTIONS; r++) {
    row->small[r] += (uint16_t) stereo_plan_penalty (plan, r, 0);
    row->large[r] += (uint16_t) stereo_plan_penalty (plan, r, 1);
  }
  memset (row->side[0] - GUARD, 0, (size_t) row->pitch * sizeof *row->side[0]);
  set_guards (row->side[0], 2, row->pitch);
}

static void
wait_for (const int *progress, int columns)
{
  for (int spins = 0; __atomic_load_n (progress, __ATOMIC_ACQUIRE) < columns; spins++)
    if (spins > 200)
      sched_yield ();
}

static void
sweep_row (StereoPlan *plan, int k, int thread, int up)
{
  CpuState *state = cpu_state (plan);
  int eight = plan->params.paths == 8, width = plan->width, last_reader = k - (rows_of (plan) - 2);
  Row row;

  start_row (&row, plan, k, up, thread);
  if (!up)
    CPU (cost_row) (plan->params.cost) (plan, row.y, 0, plan->depth, plan->depth, (uint8_t *) row.costs);
  if (last_reader >= 0)         /* of the memory that this row takes over */
    wait_for (&state->sgm_progress[16 * last_reader], width);
  for (int n = 0; n < width; n += BLOCK) {
    int end = n + BLOCK < width ? n + BLOCK : width;
    if (k > 0)
      wait_for (&state->sgm_progress[16 * (k - 1)], end + 1 < width ? end + 1 : width);
    (up ? eight ? up_8 : up_4 : eight ? down_8 : down_4) (&row, n, end);
    __atomic_store_n (&state->sgm_progress[16 * k], end, __ATOMIC_RELEASE);
  }
}

static void
down_row (StereoPlan *plan, int item, int thread)
{
  sweep_row (plan, item, thread, 0);
}

static void
up_row (StereoPlan *plan, int item, int thread)
{
  sweep_row (plan, item, thread, 1);
}

/* ---- stage ------------------------------------------------------------------------------------ */

static StereoStatus
sgm_prepare (StereoPlan *plan, StereoError *error)
{
  CpuState *state = cpu_state (plan);
  size_t pixels = (size_t) plan->width * (size_t) plan->height;
  StereoStatus status;

  if ((status = stereo_reserve (plan, (void **) &state->sgm_costs, pixels, (size_t) plan->depth, error)) ||
      (status = stereo_reserve (plan, (void **) &state->sgm_progress, 16 * (size_t) plan->height, sizeof (int), error)))
    return status;
  return stereo_reserve (plan, (void **) &state->sgm_rows, (size_t) rows_of (plan) * row_words (plan) +
      (size_t) state->threads * thread_words (plan), sizeof (uint16_t), error);
}

static void
sweep (StereoPlan *plan, StereoJob job)
{
  memset (cpu_state (plan)->sgm_progress, 0, 16 * (size_t) plan->height * sizeof (int));
  cpu_run (plan, job, plan->height);
}

static StereoStatus
sgm_run (StereoPlan *plan, StereoError *error)
{
  /* The columns outside stay 0, and so does the last row. */
  for (int k = 0; k < rows_of (plan) - 1; k++)
    set_guards (row_of (plan, k), (size_t) plan->width * (size_t) (directions_of (plan) - 1), pitch_of (plan));
  sweep (plan, down_row);
  sweep (plan, up_row);
  return STEREO_OK;
}

static const StereoStage sgm = { "match", sgm_prepare, sgm_run };

const StereoStage *
CPU (sgm) (const StereoParams *params)
{
  return &sgm;
}
