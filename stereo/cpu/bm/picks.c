/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/cpu/bm/picks.h"

#include "stereo/cpu/post/pick.h"

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

StereoStatus
CPU (bm_picks_reserve) (StereoPlan *plan, BmPicks *picks, StereoError *error)
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

void
CPU (bm_picks_row) (const BmLayer *layer, int y)
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

void
CPU (bm_picks_merge) (StereoPlan *plan, const BmPicks *picks, int y, int thread)
{
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
