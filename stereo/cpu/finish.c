/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From indices to the finished disparity of the left view. Each stage writes its result to plan->disparity; it may exchange
 * that with plan->disparity_spare. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#define FITTED 16 /* pixels that get their sub-pixel offsets at a time; the costs of the next ones are fetched */

static float *
map_row (const StereoPlan *plan, float *map, int y)
{
  return map + (size_t) y * (size_t) plan->map_pitch;
}

static void
swap_disparity (StereoPlan *plan)
{
  float *done = plan->disparity_spare;
  plan->disparity_spare = plan->disparity;
  plan->disparity = done;
}

/* ---- disparity from the index, with or without the sub-pixel fit -------------------------------- */

static void
integer_row (StereoPlan *plan, void *context, int y, int thread)
{
  const uint16_t *index = plan->view[STEREO_LEFT].index + (size_t) y * (size_t) plan->map_pitch;
  float *to = map_row (plan, plan->disparity, y);

  for (int x = 0; x < plan->width; x++)
    to[x] = index[x] == STEREO_INVALID ? NAN : (float) (plan->min_disparity + index[x]);
}

/* Adds the offsets of up to FITTED pixels. Their costs are collected first, so that the rest runs on vectors; those of pixels
 * that have no offset are made flat. */
static void
fit_pixels (const StereoPlan *plan, const uint16_t *index, const uint16_t *costs, int count, float *to)
{
  uint16_t before[FITTED], lowest[FITTED], after[FITTED];

  for (int k = 0; k < count; k++, costs += plan->depth) {
    int i = index[k], fits = i > 0 && i < plan->disparities - 1;
    const uint16_t *at = costs + (fits ? i : 1);
    fits = fits && at[-1] != STEREO_INVALID && at[1] != STEREO_INVALID;
    before[k] = at[-1];
    lowest[k] = fits ? at[0] : STEREO_INVALID;
    after[k] = at[1];
  }
  for (int k = 0; k < count; k++)
    to[k] += stereo_equiangular (before[k], lowest[k], after[k]);
}

static void
subpixel_row (StereoPlan *plan, void *context, int y, int thread)
{
  const uint16_t *index = plan->view[STEREO_LEFT].index + (size_t) y * (size_t) plan->map_pitch;
  const uint16_t *costs = plan->volume + (size_t) y * (size_t) plan->width * (size_t) plan->depth;
  float *to = map_row (plan, plan->disparity, y);

  integer_row (plan, context, y, thread);
  for (int x = 0; x < plan->width; x += FITTED) {
    int next = x + FITTED, count = plan->width - x < FITTED ? plan->width - x : FITTED;
    for (int k = next; k < next + FITTED && k < plan->width; k++)
      __builtin_prefetch (costs + (size_t) k * (size_t) plan->depth + (index[k] == STEREO_INVALID ? 0 : index[k]));
    fit_pixels (plan, index + x, costs + (size_t) x * (size_t) plan->depth, count, to + x);
  }
}

/* ---- invalid pixels ------------------------------------------------------------------------------ */

static void
reject_row (StereoPlan *plan, void *context, int y, int thread)
{
  const float *confidence = map_row (plan, plan->view[STEREO_LEFT].confidence, y);
  float *to = map_row (plan, plan->disparity, y);

  for (int x = 0; x < plan->width; x++)
    if (confidence[x] == 0)
      to[x] = NAN;
}

static void
threshold_row (StereoPlan *plan, void *context, int y, int thread)
{
  const float *confidence = map_row (plan, plan->view[STEREO_LEFT].confidence, y);
  float *to = map_row (plan, plan->disparity, y), least = (float) stereo_params_last_threshold (&plan->params);

  for (int x = 0; x < plan->width; x++)
    if (confidence[x] < least)
      to[x] = NAN;
}

/* ---- median ---------------------------------------------------------------------------------------- */

/* The valid values of the window around (x, y), sorted; returns their number. */
static int
sorted_window (const StereoPlan *plan, int x, int y, int radius, float *values)
{
  int count = 0;
  int x0 = x > radius ? x - radius : 0, x1 = x + radius < plan->width ? x + radius : plan->width - 1;
  int y0 = y > radius ? y - radius : 0, y1 = y + radius < plan->height ? y + radius : plan->height - 1;

  for (int v = y0; v <= y1; v++)
    for (int u = x0; u <= x1; u++) {
      float value = map_row (plan, plan->disparity, v)[u];
      int place = count;
      if (isnan (value))
        continue;
      for (; place > 0 && values[place - 1] > value; place--)
        values[place] = values[place - 1];
      values[place] = value;
      count++;
    }
  return count;
}

/* Exchanges a and b so that a <= b. */
#define SORT(a, b) \
  do { \
    float low_ = a < b ? a : b, high_ = a < b ? b : a; \
    a = low_; \
    b = high_; \
  } while (0)

#define SORT_LANES(a, b) \
  do { \
    VecF low_ = vec_min_float (a, b), high_ = vec_max_float (a, b); \
    a = low_; \
    b = high_; \
  } while (0)

/* The medians of a row over 3x3 windows, by the known network of 19 exchanges: it has no branches, so that it runs on
 * vectors. Correct only where all nine values are valid. */
static void
median9_row (const float *above, const float *centre, const float *below, int width, float *restrict to)
{
  for (int x = 1; x < width - 1; x++) {
    float a = above[x - 1], b = above[x], c = above[x + 1], d = centre[x - 1], e = centre[x], f = centre[x + 1];
    float g = below[x - 1], h = below[x], i = below[x + 1];
    SORT (b, c);
    SORT (e, f);
    SORT (h, i);
    SORT (a, b);
    SORT (d, e);
    SORT (g, h);
    SORT (b, c);
    SORT (e, f);
    SORT (h, i);
    SORT (a, d);
    SORT (f, i);
    SORT (e, h);
    SORT (d, g);
    SORT (b, e);
    SORT (c, f);
    SORT (e, h);
    SORT (e, c);
    SORT (g, e);
    SORT (e, c);
    to[x] = e;
  }
}

static int
all_valid (const StereoPlan *plan, int x, int y)
{
  float sum = 0;
  for (int v = y - 1; v <= y + 1; v++) {
    const float *row = map_row (plan, plan->disparity, v) + x;
    sum += row[-1] + row[0] + row[1];
  }
  return !isnan (sum);
}

#define MEDIAN_HELD 14 /* more than half of 25 values: none of the others' extremes can be the median */

/* The medians of LANES windows of 5x5 around @x; NaN where a value of the window is not valid. The lowest and the highest of
 * the values that are held cannot be the median: they are replaced by the next value, until one is left. */
static VecF
median25 (const StereoPlan *plan, int x, int y)
{
  VecF held[MEDIAN_HELD], all[25], sum = { 0 };

  for (int k = 0; k < 25; k++) {
    all[k] = vec_load_f (map_row (plan, plan->disparity, y + k / 5 - 2) + x + k % 5 - 2);
    sum += all[k];
  }
  for (int k = 0; k < MEDIAN_HELD; k++)
    held[k] = all[k];
#pragma GCC unroll 16
  for (int last = MEDIAN_HELD - 1; last >= 2; last--) {
#pragma GCC unroll 16
    for (int k = 1; k <= last; k++)
      SORT_LANES (held[0], held[k]);
#pragma GCC unroll 16
    for (int k = 1; k < last; k++)
      SORT_LANES (held[k], held[last]);
    if (last > 2)
      held[0] = all[25 - (last - 2)];
  }
  return vec_choose (sum == sum, held[1], sum);
}

/* As many as whole vectors have of a row that is not near the border; NaN for the others. */
static void
median25_row (const StereoPlan *plan, int y, float *to)
{
  int x = 0;

  for (; x < 2 && x < plan->width; x++)
    to[x] = NAN;
  if (y >= 2 && y < plan->height - 2)
    for (; x + LANES <= plan->width - 2; x += LANES)
      vec_store_f (to + x, median25 (plan, x, y));
  for (; x < plan->width; x++)
    to[x] = NAN;
}

static void
median3_row (StereoPlan *plan, void *context, int y, int thread)
{
  const float *from = map_row (plan, plan->disparity, y);
  float *to = map_row (plan, plan->disparity_spare, y), values[9];
  int fast = y > 0 && y < plan->height - 1;

  if (fast)
    median9_row (from - plan->map_pitch, from, from + plan->map_pitch, plan->width, to);
  for (int x = 0; x < plan->width; x++) {
    if (fast && x > 0 && x < plan->width - 1 && all_valid (plan, x, y))
      continue;
    int count = isnan (from[x]) ? 0 : sorted_window (plan, x, y, 1, values);
    to[x] = count ? values[(count - 1) / 2] : NAN;
  }
}

static void
median5_row (StereoPlan *plan, void *context, int y, int thread)
{
  const float *from = map_row (plan, plan->disparity, y);
  float *to = map_row (plan, plan->disparity_spare, y), values[25];

  median25_row (plan, y, to);
  for (int x = 0; x < plan->width; x++)
    if (isnan (to[x]) && !isnan (from[x])) {
      int count = sorted_window (plan, x, y, 2, values);
      to[x] = values[(count - 1) / 2];
    }
}

#define ROW_STAGE(stage, swaps) \
  static StereoStatus stage##_run (StereoPlan *plan, void *context, StereoError *error) \
  { \
    cpu_run (plan, context, stage##_row, plan->height); \
    if (swaps) \
      swap_disparity (plan); \
    return STEREO_OK; \
  } \
  const StereoStage CPU (stage) = { .name = #stage, .run = stage##_run };

ROW_STAGE (integer, 0)
ROW_STAGE (subpixel, 0)
ROW_STAGE (reject, 0)
ROW_STAGE (threshold, 0)
ROW_STAGE (median3, 1)
ROW_STAGE (median5, 1)
