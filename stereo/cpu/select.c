/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winner-takes-all of both views from one volume, with confidence (3.2.3) and consistency (3.2.4). */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#include <stdlib.h>

/* Of select. */
typedef struct Context
{
  uint16_t *right; /* per thread, four lines: lowest and second-lowest cost and their indices of a right row */
} Context;

static const uint16_t *
volume_row (const StereoPlan *plan, int y)
{
  return plan->volume + (size_t) y * (size_t) plan->width * (size_t) plan->depth;
}

/* ---- select: the two lowest costs of every pixel ------------------------------------------- */

/* The two lowest keys, cost << 16 | index, of a column: keys order ties towards the smaller disparity. */
static inline void
two_lowest (const uint16_t *column, int depth, uint32_t *lowest, uint32_t *second)
{
  const VecI lanes = LANE_NUMBERS;
  VecU low = (VecU) (lanes | -1), next = low, index = (VecU) lanes;

  for (int i = 0; i < depth; i += LANES, index += LANES) {
    VecU key = (VecU) vec_widen (vec_load_h (column + i)) << 16 | index;
    next = vec_min_unsigned (next, vec_max_unsigned (low, key));
    low = vec_min_unsigned (low, key);
  }
  for (int half = LANES / 2; half; half /= 2) {
    VecU other = vec_partners (low, half);
    next = vec_min_unsigned (next, vec_partners (next, half));
    next = vec_min_unsigned (next, vec_max_unsigned (low, other));
    low = vec_min_unsigned (low, other);
  }
  *lowest = low[0];
  *second = next[0];
}

static void
select_left_row (const StereoPlan *plan, int y)
{
  const StereoView *view = &plan->view[STEREO_LEFT];
  const uint16_t *column = volume_row (plan, y);
  size_t map = (size_t) y * (size_t) plan->map_pitch;

  for (int x = 0; x < plan->width; x++, column += plan->depth, map++) {
    uint32_t lowest, second;
    two_lowest (column, plan->depth, &lowest, &second);
    int some = lowest >> 16 != STEREO_INVALID, more = second >> 16 != STEREO_INVALID;
    view->first[map] = view->index[map] = some ? (uint16_t) lowest : STEREO_INVALID;
    view->second[map] = more ? (uint16_t) second : STEREO_INVALID;
    view->confidence[map] = more ? stereo_confidence (lowest >> 16, second >> 16) : 0;
  }
}

/* Compares the costs of one left column with the two lowest so far of the right pixels that are its partners. For any right
 * pixel, left columns come in the order of growing disparity: on a tie the earlier one stays. */
static void
update_lowest (const uint16_t *restrict column, int depth, uint16_t *restrict cost1, uint16_t *restrict cost2,
    uint16_t *restrict index1, uint16_t *restrict index2)
{
  VecW index = { 0 };

  for (int k = 0; k < WORDS; k++)
    index[k] = (uint16_t) k;
  for (int i = 0; i < depth; i += WORDS, index += WORDS) {
    VecW cost = vec_load_w (column + i), c1 = vec_load_w (cost1 + i), c2 = vec_load_w (cost2 + i);
    VecW i1 = vec_load_w (index1 + i), i2 = vec_load_w (index2 + i);
    VecW low = vec_min_words (cost, c1), next = vec_min_words (cost, c2);
    VecW first = (VecW) (low == c1), second = (VecW) (next == c2); /* stay the lowest, stay the second */
    vec_store_w (cost1 + i, low);
    vec_store_w (index1 + i, (i1 & first) | (index & ~first));
    vec_store_w (cost2 + i, (next & first) | (c1 & ~first));
    vec_store_w (index2 + i, (((i2 & second) | (index & ~second)) & first) | (i1 & ~first));
  }
}

static void
select_right_row (const StereoPlan *plan, int y, uint16_t *scratch)
{
  const StereoView *view = &plan->view[STEREO_RIGHT];
  const uint16_t *column = volume_row (plan, y);
  size_t map = (size_t) y * (size_t) plan->map_pitch, pitch = (size_t) plan->image_pitch;
  uint16_t *cost1 = scratch + plan->image_pad, *cost2 = cost1 + pitch, *index1 = cost2 + pitch;
  uint16_t *index2 = index1 + pitch;

  memset (scratch, 0xFF, 4 * pitch * sizeof *scratch);
  for (int x = 0; x < plan->width; x++, column += plan->depth) {
    int partner = plan->width - 1 - x + plan->min_disparity;
    update_lowest (column, plan->depth, cost1 + partner, cost2 + partner, index1 + partner, index2 + partner);
  }
  for (int x = 0; x < plan->width; x++) {
    view->first[map + x] = view->index[map + x] = index1[x];
    view->second[map + x] = index2[x];
    view->confidence[map + x] = index2[x] == STEREO_INVALID ? 0 : stereo_confidence (cost1[x], cost2[x]);
  }
}

static void
select_row (StereoPlan *plan, void *context, int y, int thread)
{
  select_left_row (plan, y);
  select_right_row (plan, y, ((Context *) context)->right + (size_t) thread * 4 * (size_t) plan->image_pitch);
}

static StereoStatus
select_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  return stereo_reserve (plan, (void **) &c->right, 4 * (size_t) plan->image_pitch * (size_t) cpu_threads (plan),
      sizeof (uint16_t), error);
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
