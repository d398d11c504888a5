/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/cpu/post/pick.h"

#include "stereo/cpu/vec/vec.h"

#define FITTED 64 /* columns at a time, whose costs are fetched */

/* ---- the two lowest costs ------------------------------------------------------------------------ */

/* Moves @key into the two lowest. */
VEC_INLINE void
take (VecU key, VecU *lowest, VecU *second)
{
  *second = vec_min_unsigned (*second, vec_max_unsigned (*lowest, key));
  *lowest = vec_min_unsigned (*lowest, key);
}

/*
 * A cost of a left pixel is one of a right pixel too, with the same index. GROUP columns are picked side by side: their left
 * keys stay in registers, and so do those of LANES right pixels while all columns pass them. (A column's right keys are the
 * next one's, one place on. A processor cannot read what it has just stored, if it reads it at another place, before the store
 * is done.) Of column @g, the right pixels that begin with number @j have the candidates from j - (GROUP - 1) + g on.
 */
#define GROUP (LANES >= 8 ? LANES / 2 : 4)
/* Columns that loops are unrolled for, whatever the instruction set: gcc 14 warns of copies that are never run. */
#define UNROLLED 8

/* The keys of the @columns of a group that LANES right pixels have. */
VEC_INLINE void
pick_block (const uint16_t *costs, int depth, int columns, int j, int edge, VecU *low, VecU *next, uint32_t *right1,
    uint32_t *right2)
{
  const VecI lanes = LANE_NUMBERS;
  VecI number = lanes + (j - (columns - 1));
  VecU low_right = vec_load_u (right1 + j), next_right = { 0 };

  if (right2)
    next_right = vec_load_u (right2 + j);
#pragma GCC unroll 8
  for (int g = 0; g < columns; g++) {
    int i = j - (columns - 1) + g;
    VecU key = vec_join_words (vec_load_h (costs + g * depth + i), number);
    number += 1;
    if (edge)
      key |= ~vec_between (i, 0, depth);
    take (key, &low[g], &next[g]);
    if (right2)
      take (key, &low_right, &next_right);
    else
      low_right = vec_min_unsigned (low_right, key);
  }
  vec_store_u (right1 + j, low_right);
  if (right2)
    vec_store_u (right2 + j, next_right);
}

/* Joins the lanes of each column's keys; lane g gets those of column g. @columns: a power of two. */
VEC_INLINE void
join_lanes (VecU *low, VecU *next, int columns)
{
#pragma GCC unroll 4
  for (int half = 1; half < LANES; half *= 2) {
    int pairs = columns > half ? columns / (2 * half) : 0;
#pragma GCC unroll 4
    for (int k = 0; k < pairs; k++) {
      VecU low1 = low[2 * k], low2 = low[2 * k + 1], next1 = next[2 * k], next2 = next[2 * k + 1];
      vec_zip (&low1, &low2, half);
      vec_zip (&next1, &next2, half);
      low[k] = vec_min_unsigned (low1, low2);
      next[k] = vec_min_unsigned (vec_min_unsigned (next1, next2), vec_max_unsigned (low1, low2));
    }
    if (!pairs) {
      VecU other = vec_partners (low[0], half);
      next[0] = vec_min_unsigned (next[0], vec_partners (next[0], half));
      take (other, &low[0], &next[0]);
    }
  }
}

/* The two lowest keys of @columns left pixels; the right pixels that are their partners take them as well. @right1: of the last
 * column's candidate 0. */
VEC_INLINE void
pick_group (
    const uint16_t *costs, int depth, int columns, uint32_t *left1, uint32_t *left2, uint32_t *right1, uint32_t *right2)
{
  VecU low[UNROLLED], next[UNROLLED], low_joined[UNROLLED], next_joined[UNROLLED];

#pragma GCC unroll 8
  for (int g = 0; g < columns; g++)
    low[g] = next[g] = (VecU){ 0 } - 1;
  pick_block (costs, depth, columns, 0, columns > 1, low, next, right1, right2);
  for (int j = LANES; j < depth; j += LANES)
    pick_block (costs, depth, columns, j, 0, low, next, right1, right2);
  if (columns > 1)
    pick_block (costs, depth, columns, depth, 1, low, next, right1, right2);
#pragma GCC unroll 8
  for (int g = 0; g < columns; g++) {
    low_joined[g] = low[g];
    next_joined[g] = next[g];
  }
  join_lanes (low_joined, next_joined, columns);
  memcpy (left1, low_joined, (size_t) columns * sizeof *left1);
  memcpy (left2, next_joined, (size_t) columns * sizeof *left2);
}

void
CPU (pick_columns) (const StereoPlan *plan, const CpuPicks *picks, const uint16_t *costs, int from, int to)
{
  int depth = plan->depth, x = from, zero = plan->width - 1 + plan->min_disparity;
  uint32_t *left1 = picks->left1, *left2 = picks->left2, *right1 = picks->right1 + zero;
  uint32_t *right2 = picks->right2 ? picks->right2 + zero : NULL;

  if (!right2)
    for (; x + GROUP <= to; x += GROUP, costs += GROUP * depth)
      pick_group (costs, depth, GROUP, left1 + x, left2 + x, right1 - x - (GROUP - 1), NULL);
  else
    for (; x + GROUP <= to; x += GROUP, costs += GROUP * depth)
      pick_group (costs, depth, GROUP, left1 + x, left2 + x, right1 - x - (GROUP - 1), right2 - x - (GROUP - 1));
  for (; x < to; x++, costs += depth)
    if (!right2)
      pick_group (costs, depth, 1, left1 + x, left2 + x, right1 - x, NULL);
    else
      pick_group (costs, depth, 1, left1 + x, left2 + x, right1 - x, right2 - x);
}

void
CPU (pick_store) (const StereoPlan *plan, const StereoView *view, int y, int from, int to, const uint32_t *keys1,
    const uint32_t *keys2)
{
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  uint16_t *restrict index = view->index + map, *restrict first = view->first + map, *restrict second = view->second + map;
  float *restrict confidence = view->confidence + map;
  int reselects = plan->fusion.keeps_right; /* who reads the second-lowest costs of that view, reads these */

  if (!keys2) {
    for (int x = from; x < to; x++)
      index[x] = keys1[x] >> 16 == STEREO_INVALID ? STEREO_INVALID : (uint16_t) keys1[x];
    return;
  }
  for (int x = from; x < to; x++) {
    uint32_t low = keys1[x], next = keys2[x];
    int some = low >> 16 != STEREO_INVALID, more = next >> 16 != STEREO_INVALID;
    index[x] = some ? (uint16_t) low : STEREO_INVALID;
    if (reselects) {
      first[x] = index[x];
      second[x] = more ? (uint16_t) next : STEREO_INVALID;
    }
    confidence[x] = more ? stereo_confidence (low >> 16, next >> 16) : 0;
  }
}

void
CPU (pick_lowest) (const StereoPlan *plan, const uint16_t *costs, int count, uint16_t *index)
{
  VecW numbers = { 0 };

  for (int k = 0; k < WORDS; k++)
    numbers[k] = (uint16_t) k;
  for (int x = 0; x < count; x++, costs += plan->depth) {
    VecW low = (VecW){ 0 } + STEREO_INVALID, first = low;
    for (int i = 0; i < plan->depth; i += WORDS) {
      VecW behind = (VecW) (numbers + (uint16_t) i >= (uint16_t) plan->disparities);
      low = vec_min_words (low, vec_load_w (costs + i) | behind);
    }
    uint16_t lowest = vec_lowest_word (low);
    for (int i = 0; i < plan->depth; i += WORDS) {
      VecW others = (VecW) (vec_load_w (costs + i) != lowest);
      first = vec_min_words (first, (numbers + (uint16_t) i) | others);
    }
    index[x] = lowest == STEREO_INVALID ? STEREO_INVALID : vec_lowest_word (first);
  }
}

/* ---- sub-pixel offsets ----------------------------------------------------------------------------- */

/* stereo_equiangular() in lanes. */
VEC_INLINE VecF
offsets_of (VecI before, VecI lowest, VecI after)
{
  VecI steep = vec_max (before, after), some = (steep > lowest) & (vec_min (before, after) >= lowest);
  return (VecF) ((VecI) (vec_float (before - after) / vec_float (2 * (steep - lowest))) & some);
}

/* The costs of the columns are collected first, so that the rest runs on vectors; those of pixels that have no offset are made
 * flat. */
void
CPU (fit_columns) (const StereoPlan *plan, const uint16_t *index, const uint16_t *costs, int count, float *to)
{
  uint16_t own[FITTED] = { 0 }, before[FITTED] = { 0 }, lowest[FITTED] = { 0 }, after[FITTED] = { 0 };
  float value[FITTED];

  for (int k = 0; k < count; k++, costs += plan->depth) {
    int i = index[k], fits = (i > 0) & (i < plan->disparities - 1);
    const uint16_t *at = costs + (fits ? i : 1);
    fits &= (at[-1] != STEREO_INVALID) & (at[1] != STEREO_INVALID);
    own[k] = index[k];
    before[k] = at[-1];
    lowest[k] = fits ? at[0] : STEREO_INVALID;
    after[k] = at[1];
  }
  for (int k = 0; k < count; k += LANES) {
    VecI i = vec_widen (vec_load_h (own + k)), none = i == (int) STEREO_INVALID;
    VecF offset = offsets_of (
        vec_widen (vec_load_h (before + k)), vec_widen (vec_load_h (lowest + k)), vec_widen (vec_load_h (after + k)));
    vec_store_f (value + k, vec_choose (none, (VecF){ 0 } + NAN, vec_float (i + plan->min_disparity) + offset));
  }
  memcpy (to, value, (size_t) count * sizeof *to);
}

/* ---- distinctness ---------------------------------------------------------------------------------- */

/* The cost of the rival is searched for among all candidates at once. Beside @costs stands another pixel's, or
 * what lies beside the volume: neither counts. */
uint32_t
CPU (distinctness) (const StereoPlan *plan, const uint16_t *costs, int index)
{
  const VecW near = (VecW){ 0 } + 2 * (STEREO_RIVAL_AWAY - 1), nearer = (VecW){ 0 } + 2 * (STEREO_NO_RIVAL_AWAY - 1);
  VecW lowest = (VecW){ 0 } - 1, lowest_away = lowest, number = { 0 }, first = { 0xFFFF }, last = { 0 };

  if (index == (int) STEREO_INVALID)
    return 0;
  last[WORDS - 1] = 0xFFFF;
  for (int k = 0; k < WORDS; k++)
    number[k] = (uint16_t) (k - index);
  for (int i = 0; i < plan->depth; i += WORDS, number += WORDS, first = (VecW){ 0 }) {
    VecW cost = vec_load_w (costs + i), before = vec_load_w (costs + i - 1) | first, after = vec_load_w (costs + i + 1);
    VecW place = number + (STEREO_RIVAL_AWAY - 1), place_away = number + (STEREO_NO_RIVAL_AWAY - 1);
    if (i + WORDS >= plan->depth)
      after |= last;
    VecW minimum = (VecW) (vec_min_words (vec_min_words (before, after), cost) == cost);
    VecW same = (VecW) (vec_min_words (place, near) == place),
         same_away = (VecW) (vec_min_words (place_away, nearer) == place_away);
    lowest = vec_min_words (lowest, cost | ~minimum | same);
    lowest_away = vec_min_words (lowest_away, cost | same_away);
  }
  uint16_t rival = vec_lowest_word (lowest);
  return stereo_distinctness (costs[index], rival == STEREO_INVALID ? vec_lowest_word (lowest_away) : rival);
}

void
CPU (pick_measures) (const StereoPlan *plan, const uint16_t *costs, int y, int from, int to)
{
  const CpuState *state = cpu_state (plan);
  size_t map = (size_t) y * (size_t) plan->map_pitch, depth = (size_t) plan->depth;
  const uint16_t *index = plan->view[STEREO_LEFT].index + map;
  int row = y / STEREO_CELL, cells = stereo_cells (plan->width);

  if (plan->params.subpixel)
    for (int x = from; x < to; x += FITTED)
      CPU (fit_columns)
  (plan, index + x, costs + (size_t) (x - from) * depth, to - x < FITTED ? to - x : FITTED, plan->disparity + map + x);
  if (!state->distinctness || y != stereo_cell_pixel (row, plan->height))
    return;
  for (int k = from / STEREO_CELL; k < cells && k * STEREO_CELL < to; k++) {
    int x = stereo_cell_pixel (k, plan->width);
    if (x >= from && x < to)
      state->distinctness[row * cells + k] = (uint8_t) CPU (distinctness) (
          plan, costs + (size_t) (x - from) * depth, index[x]);
  }
}

/* ---- a row of the volume ----------------------------------------------------------------------------- */

void
CPU (pick_row) (const StereoPlan *plan, uint32_t *keys, int y)
{
  size_t depth = (size_t) plan->depth;
  const uint16_t *row = plan->volume + (size_t) y * (size_t) plan->width * depth, *costs = row;
  CpuPicks picks = cpu_picks_in (plan, keys);

  cpu_picks_begin (plan, &picks);
  for (int x = 0; x < plan->width; x += FITTED, costs += FITTED * depth) {
    int end = x + FITTED < plan->width ? x + FITTED : plan->width;
    cpu_fetch (costs + FITTED * depth, FITTED * depth * sizeof *costs);
    CPU (pick_columns) (plan, &picks, costs, x, end);
  }
  CPU (pick_store) (plan, &plan->view[STEREO_LEFT], y, 0, plan->width, picks.left1, picks.left2);
  CPU (pick_store) (plan, &plan->view[STEREO_RIGHT], y, 0, plan->width, picks.right1, picks.right2);
  if (!plan->fusion.keeps_costs)
    CPU (pick_measures) (plan, row, y, 0, plan->width);
}
