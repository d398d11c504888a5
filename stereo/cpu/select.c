/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winner-takes-all of both views from one volume, with confidence (3.2.3) and consistency (3.2.4). */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#include <stdlib.h>

/* Of select. */
typedef struct Context
{
  uint32_t *keys; /* per thread, four lines: lowest and second-lowest key of the pixels of a row, left, then right */
} Context;

static const uint16_t *
volume_row (const StereoPlan *plan, int y)
{
  return plan->volume + (size_t) y * (size_t) plan->width * (size_t) plan->depth;
}

/* ---- select: the two lowest costs of every pixel ------------------------------------------- */

/*
 * A key is cost << 16 | index: the lower one of two keys has the lower cost, and on a tie the smaller disparity. A cost of a
 * left pixel is one of a right pixel too, with the same index: each key is made once, and compared with both.
 */

/* Moves @key into the two lowest. */
static inline void
take (VecU key, VecU *lowest, VecU *second)
{
  *second = vec_min_unsigned (*second, vec_max_unsigned (*lowest, key));
  *lowest = vec_min_unsigned (*lowest, key);
}

/* The two lowest keys of a left pixel. Those of the right pixels that are its partners, from @right1 and @right2 on, take its
 * keys. */
static void
select_column (const uint16_t *column, int depth, uint32_t *left1, uint32_t *left2, uint32_t *right1, uint32_t *right2)
{
  const VecI lanes = LANE_NUMBERS;
  VecU low = (VecU) (lanes | -1), next = low, index = (VecU) lanes;

  for (int i = 0; i < depth; i += LANES, index += LANES) {
    VecU key = (VecU) vec_widen (vec_load_h (column + i)) << 16 | index;
    VecU low_right = vec_load_u (right1 + i), next_right = vec_load_u (right2 + i);
    take (key, &low, &next);
    take (key, &low_right, &next_right);
    vec_store_u (right1 + i, low_right);
    vec_store_u (right2 + i, next_right);
  }
  for (int half = LANES / 2; half; half /= 2) {
    VecU other = vec_partners (low, half);
    next = vec_min_unsigned (next, vec_partners (next, half));
    take (other, &low, &next);
  }
  *left1 = low[0];
  *left2 = next[0];
}

/* Stores what the keys of a row say. */
static void
store_row (const StereoPlan *plan, const StereoView *view, int y, const uint32_t *keys1, const uint32_t *keys2)
{
  size_t map = (size_t) y * (size_t) plan->map_pitch;

  for (int x = 0; x < plan->width; x++) {
    uint32_t lowest = keys1[x], second = keys2[x];
    int some = lowest >> 16 != STEREO_INVALID, more = second >> 16 != STEREO_INVALID;
    view->first[map + x] = view->index[map + x] = some ? (uint16_t) lowest : STEREO_INVALID;
    view->second[map + x] = more ? (uint16_t) second : STEREO_INVALID;
    view->confidence[map + x] = more ? stereo_confidence (lowest >> 16, second >> 16) : 0;
  }
}

static void
select_row (StereoPlan *plan, void *context, int y, int thread)
{
  const uint16_t *column = volume_row (plan, y);
  size_t pitch = (size_t) plan->image_pitch;
  uint32_t *left1 = ((Context *) context)->keys + (size_t) thread * 4 * pitch, *left2 = left1 + pitch;
  uint32_t *right1 = left2 + pitch + plan->image_pad, *right2 = right1 + pitch;

  memset (left2 + pitch, 0xFF, 2 * pitch * sizeof *right1);
  for (int x = 0; x < plan->width; x++, column += plan->depth) {
    int partner = plan->width - 1 - x + plan->min_disparity;
    select_column (column, plan->depth, left1 + x, left2 + x, right1 + partner, right2 + partner);
  }
  store_row (plan, &plan->view[STEREO_LEFT], y, left1, left2);
  store_row (plan, &plan->view[STEREO_RIGHT], y, right1, right2);
}

static StereoStatus
select_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  return stereo_reserve (
      plan, (void **) &c->keys, 4 * (size_t) plan->image_pitch * (size_t) cpu_threads (plan), sizeof *c->keys, error);
}

static StereoStatus
select_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, select_row, plan->height);
  return STEREO_OK;
}

/* ---- reselect: the two lowest of cost + penalty ---------------------------------------------- */

/*
 * The costs of one pixel are @costs[i * step]. Only a candidate that is no farther from the expected disparity than the
 * farther one of first and second can be among the two lowest: any other one has at least the penalty of both, and a cost
 * that is at least as high. (If all is equal, first has the smaller index.)
 */
static void
reselect_pixel (const StereoPlan *plan, const StereoView *view, size_t row, int x, const uint16_t *costs, ptrdiff_t step)
{
  size_t map = row + (size_t) x;
  int32_t expected = view->expected[map];
  int first = view->first[map], second = view->second[map];

  view->index[map] = (uint16_t) first;
  view->confidence[map] = 0;
  if (second == (int) STEREO_INVALID)
    return;
  if (expected == STEREO_EXPECT_NONE) {
    view->confidence[map] = stereo_confidence (costs[first * step], costs[second * step]);
    return;
  }
  int reach1 = abs (expected - first * STEREO_EXPECT_STEPS), reach2 = abs (expected - second * STEREO_EXPECT_STEPS);
  int reach = reach1 > reach2 ? reach1 : reach2;
  int from = expected > reach ? (expected - reach + STEREO_EXPECT_STEPS - 1) / STEREO_EXPECT_STEPS : 0;
  int to = (expected + reach) / STEREO_EXPECT_STEPS;
  int valid_from = stereo_first_index (x, plan->width, plan->min_disparity); /* of either view */
  int valid_to = stereo_last_index (x, plan->disparities, plan->min_disparity);
  uint32_t lowest = UINT32_MAX, next = UINT32_MAX;

  from = from > valid_from ? from : valid_from;
  to = to < valid_to ? to : valid_to;
  for (int i = from; i <= to; i++) {
    uint32_t cost = costs[i * step] + stereo_penalty (plan->alpha, expected, i);
    if (cost < lowest) {
      next = lowest;
      lowest = cost;
      view->index[map] = (uint16_t) i;
    } else if (cost < next)
      next = cost;
  }
  view->confidence[map] = stereo_confidence (lowest, next);
}

static void
reselect_row (StereoPlan *plan, void *context, int y, int thread)
{
  const uint16_t *row = volume_row (plan, y);
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  int width = plan->width, depth = plan->depth;

  for (int x = 0; x < width; x++) {
    ptrdiff_t partner = width - 1 - x + plan->min_disparity; /* the left column of a right pixel's index 0 */
    reselect_pixel (plan, &plan->view[STEREO_LEFT], map, x, row + x * depth, 1);
    reselect_pixel (plan, &plan->view[STEREO_RIGHT], map, x, row + partner * depth, depth + 1);
  }
}

static StereoStatus
reselect_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, reselect_row, plan->height);
  return STEREO_OK;
}

/* ---- check ------------------------------------------------------------------------------------ */

static void
check_view_row (const StereoPlan *plan, int view, int y)
{
  const StereoView *here = &plan->view[view], *other = &plan->view[!view];
  size_t map = (size_t) y * (size_t) plan->map_pitch;

  for (int x = 0; x < plan->width; x++) {
    int index = here->index[map + x];
    if (index == (int) STEREO_INVALID)
      continue;
    int partner = plan->width - 1 - x + plan->min_disparity + index;
    if (abs (other->index[map + partner] - index) > plan->params.consistency)
      here->confidence[map + x] = 0;
  }
}

static void
check_row (StereoPlan *plan, void *context, int y, int thread)
{
  check_view_row (plan, STEREO_LEFT, y);
  check_view_row (plan, STEREO_RIGHT, y);
}

static StereoStatus
check_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, check_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    select) = { .name = "select", .context_size = sizeof (Context), .prepare = select_prepare, .run = select_run };
const StereoStage CPU (reselect) = { .name = "reselect", .run = reselect_run };
const StereoStage CPU (check) = { .name = "check", .run = check_run };
