/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of paths: the columns of a row, one after the other. paths.c says what is computed. */
#include "stereo/cpu/sgm/paths.h"

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

PathColumns
CPU (path_columns) (const StereoPlan *plan, int up, int added)
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
