/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Winner-takes-all of both views from one volume, with confidence (3.2.3) and consistency (3.2.4). */
#include "stereo/cpu/post/partner.h"
#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/vec/vec.h"

/* Context of select. */
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

static void
select_row (StereoPlan *plan, void *context, int y, int thread)
{
  CPU (pick_row) (plan, ((Context *) context)->keys + (size_t) thread * cpu_picks_words (plan), y);
}

static StereoStatus
select_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;

  if (cpu_picks_early (plan))
    return STEREO_OK;
  return stereo_reserve (
      plan, (void **) &c->keys, cpu_picks_words (plan) * (size_t) cpu_threads (plan), sizeof *c->keys, error);
}

static StereoStatus
select_run (StereoPlan *plan, void *context, StereoError *error)
{
  if (!cpu_picks_early (plan))
    cpu_run (plan, context, select_row, plan->height);
  return STEREO_OK;
}

/* ---- reselect: the two lowest of cost + penalty ---------------------------------------------- */

/*
 * Candidate i of column x of a view costs costs[x * column + i * step]. Only a candidate that is no farther from the expected
 * disparity than the farther one of first and second can be among the two lowest: any other one has at least the penalty of
 * both, and a cost that is at least as high. (If all is equal, first has the smaller index.) Where those are up to FEW, as
 * for most pixels, they go on vectors. Else the candidates are tried in the order of their penalties, until the penalty alone
 * is too high.
 */
#define FEW 6

/* One view of a row. */
typedef struct Line
{
  const StereoPlan *plan;
  const uint16_t *costs; /* of the row */
  int32_t *expected;
  uint16_t *first, *second, *index;
  float *confidence;
  int start, column, step; /* column x has its candidate 0 at start + x * column */
} Line;

static Line
line_of (const StereoPlan *plan, int view, int y)
{
  const StereoView *v = &plan->view[view];
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  Line line = { plan, volume_row (plan, y), v->expected + map, v->first + map, v->second + map, v->index + map,
    v->confidence + map, 0, plan->depth, 1 };

  if (view == STEREO_RIGHT) { /* index 0 of column x is that of the left column width - 1 - x + min_disparity */
    line.start = (plan->width - 1 + plan->min_disparity) * plan->depth;
    line.column = -plan->depth;
    line.step = plan->depth + 1;
  }
  return line;
}

/* The search of one pixel. */
typedef struct Search
{
  const uint16_t *costs;
  ptrdiff_t step;
  uint32_t alpha;
  int32_t expected;
  int index; /* the best one so far */
  uint32_t lowest, next;
  int first, second; /* by cost alone */
  uint32_t least;    /* cost of second: no other candidate but first has a lower one */
} Search;

static inline void
try_cost (Search *s, int i, uint32_t cost)
{
  if (cost < s->lowest || (cost == s->lowest && i < s->index)) {
    s->next = s->lowest;
    s->lowest = cost;
    s->index = i;
  } else if (cost < s->next)
    s->next = cost;
}

/* Whether candidates of a higher penalty than that of @i may be among the two lowest. */
static inline int
try_index (Search *s, int i)
{
  uint32_t penalty = stereo_penalty (s->alpha, s->expected, i);

  if (s->least + penalty > s->next)
    return 0;
  if (i != s->first && i != s->second)
    try_cost (s, i, s->costs[i * s->step] + penalty);
  return 1;
}

static void
reselect_pixel (const Line *line, int x)
{
  const StereoPlan *plan = line->plan;
  const uint16_t *costs = line->costs + line->start + (ptrdiff_t) x * line->column;
  ptrdiff_t step = line->step;
  int first = line->first[x], second = line->second[x], expected = line->expected[x];
  int middle = expected / STEREO_EXPECT_STEPS;
  int from = stereo_first_index (x, plan->width, plan->min_disparity); /* of either view */
  int to = stereo_last_index (x, plan->disparities, plan->min_disparity);

  line->index[x] = (uint16_t) first;
  line->confidence[x] = 0;
  if (second == (int) STEREO_INVALID)
    return;
  if (expected == STEREO_EXPECT_NONE) {
    line->confidence[x] = stereo_confidence (costs[first * step], costs[second * step]);
    return;
  }
  Search s = { costs, step, plan->alpha, expected, first,
    costs[first * step] + stereo_penalty (plan->alpha, expected, first), UINT32_MAX, first, second,
    costs[second * step] };
  try_cost (&s, second, s.least + stereo_penalty (plan->alpha, expected, second));
  for (int i = middle < to ? middle : to; i >= from && try_index (&s, i);)
    i--;
  for (int i = middle < from ? from : middle + 1; i <= to && try_index (&s, i);)
    i++;
  line->index[x] = (uint16_t) s.index;
  line->confidence[x] = stereo_confidence (s.lowest, s.next);
}

/* The same for LANES columns from @x on, those that have an expected disparity and few candidates; returns the others. */
static VecI
reselect_lanes (const Line *line, int x)
{
  const StereoPlan *plan = line->plan;
  const VecI lanes = LANE_NUMBERS, most = (VecI){ 0 } + INT32_MAX;
  VecI expected = vec_load_i (line->expected + x), column = lanes + x;
  VecI first = vec_widen (vec_load_h (line->first + x)), second = vec_widen (vec_load_h (line->second + x));
  VecI last_column = (VecI){ 0 } + (plan->width - 1), last_index = (VecI){ 0 } + (plan->disparities - 1);
  VecI others = (column > last_column) | (second == (int) STEREO_INVALID) | (expected == STEREO_EXPECT_NONE);

  expected &= ~others; /* what stands behind a row may be anything, and would overflow */
  VecI radius1 = expected - first * STEREO_EXPECT_STEPS, radius2 = expected - second * STEREO_EXPECT_STEPS;
  VecI radius = vec_max (vec_abs (radius1), vec_abs (radius2));
  VecI from = (expected - radius + STEREO_EXPECT_STEPS - 1) / STEREO_EXPECT_STEPS;
  VecI to = (expected + radius) / STEREO_EXPECT_STEPS;
  VecI lowest = most, next = most, index = first;

  from = vec_max (vec_max (from, column - last_column - plan->min_disparity), (VecI){ 0 });
  to = vec_min (vec_min (to, column - plan->min_disparity), last_index);
  others |= to - from >= FEW;
  VecI last = (to - from) | others; /* none of the others' */
  for (int k = 0; vec_any (last >= k); k++) {
    VecI i = from + k, none = last < k, away = expected - i * STEREO_EXPECT_STEPS;
    VecI place = (line->start + column * line->column + i * line->step) & ~none;
    VecU penalty = (VecU) vec_abs (away) * plan->alpha >> 8;
    VecI cost = vec_words_at (line->costs, place) + (VecI) penalty;
    cost = (cost & ~none) | (most & none);
    VecI less = cost < lowest;
    next = vec_min (next, vec_max (lowest, cost));
    index = (i & less) | (index & ~less);
    lowest = vec_min (lowest, cost);
  }
  VecF confidence = vec_float (next - lowest) / vec_float (next);
  vec_store_f (line->confidence + x, (VecF) ((VecI) confidence & (next != 0)));
  vec_store_h (line->index + x, vec_narrow (index));
  return others;
}

static void
reselect_line (const Line *line, int width)
{
  /* a row of a map has room for whole vectors */
  for (int x = 0; x < width; x += LANES) {
    if (line->step == 1) /* the left view's; the right view has the same costs, which it finds in the second-level cache */
      cpu_fetch (line->costs + (x + LANES) * line->column, (size_t) (LANES * line->column) * sizeof *line->costs);
    VecI others = reselect_lanes (line, x);
    if (vec_any (others))
      for (int k = 0; k < LANES && x + k < width; k++)
        if (others[k])
          reselect_pixel (line, x + k);
  }
}

static void
reselect_row (StereoPlan *plan, void *context, int y, int thread)
{
  for (int view = 0; view < 2; view++) {
    Line line = line_of (plan, view, y);
    reselect_line (&line, plan->width);
  }
}

static StereoStatus
reselect_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, reselect_row, plan->height);
  return STEREO_OK;
}

/* ---- check ------------------------------------------------------------------------------------ */

/* Takes from the lanes @zero, which failed the check, those left pixels from column @x on that it leaves alone. */
static VecI
leave_near (const StereoPlan *plan, const uint16_t *index, const uint16_t *other, int x, int y, VecI zero)
{
  size_t row = (size_t) y * (size_t) plan->image_pitch;
  const uint8_t *left = plan->view[STEREO_LEFT].luma + row, *right = plan->view[STEREO_RIGHT].luma + row;

  for (int k = 0; k < LANES; k++) {
    int column = x + k, partner = plan->width - 1 + plan->min_disparity - column + index[column];
    if (zero[k] && partner >= 0 && partner < plan->width &&
        stereo_is_left_alone (left, right, plan->image_pitch, plan->width, plan->height, column, y, index[column],
            partner, other[partner]))
      zero[k] = 0;
  }
  return zero;
}

static void
check_view_row (const StereoPlan *plan, int view, int y)
{
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  const uint16_t *index = plan->view[view].index + map, *other = plan->view[!view].index + map;
  float *confidence = plan->view[view].confidence + map;
  const VecI most = (VecI){ 0 } + plan->params.consistency;
  int keeps = view == STEREO_LEFT && stereo_params_keep_near (&plan->params);

  for (int x = 0; x < plan->width; x += LANES) {
    VecI none, away = cpu_disagreement (plan, index, other, x, &none);
    VecI zero = (away > most) & ~none;
    if (keeps && vec_any (zero))
      zero = leave_near (plan, index, other, x, y, zero);
    vec_store_f (confidence + x, (VecF) ((VecI) vec_load_f (confidence + x) & ~zero));
  }
}

static void
check_row (StereoPlan *plan, void *context, int y, int thread)
{
  check_view_row (plan, STEREO_LEFT, y);
  if (!plan->listed)
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
