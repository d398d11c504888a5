/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From indices to the finished disparity of the left view. Each stage writes its result to plan->disparity. */
#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/median.h"

#define FITTED 16 /* pixels that get their sub-pixel offsets at a time; the costs of the next ones are fetched */

static float *
map_row (const StereoPlan *plan, float *map, int y)
{
  return map + (size_t) y * (size_t) plan->map_pitch;
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

static void
subpixel_row (StereoPlan *plan, void *context, int y, int thread)
{
  const uint16_t *index = plan->view[STEREO_LEFT].index + (size_t) y * (size_t) plan->map_pitch;
  const uint16_t *costs = plan->volume + (size_t) y * (size_t) plan->width * (size_t) plan->depth;
  float *to = map_row (plan, plan->disparity, y);

  for (int x = 0; x < plan->width; x += FITTED) {
    int next = x + FITTED, count = plan->width - x < FITTED ? plan->width - x : FITTED;
    for (int k = next; k < next + FITTED && k < plan->width; k++)
      __builtin_prefetch (costs + (size_t) k * (size_t) plan->depth + (index[k] == STEREO_INVALID ? 0 : index[k]));
    CPU (fit_columns) (plan, index + x, costs + (size_t) x * (size_t) plan->depth, count, to + x);
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

/* Scratch memory of median3, median5. */
typedef struct Median
{
  float *spare; /* a map, which the stage exchanges with plan->disparity */
} Median;

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

#define SORT_LANES(a, b) \
  do { \
    VecF low_ = vec_min_float (a, b), high_ = vec_max_float (a, b); \
    a = low_; \
    b = high_; \
  } while (0)

/* More than half of the values of a window of 5x5: none of the others' extremes can be the median. */
#define MOST_HELD 14

/* Value @k of the windows around the LANES columns that begin with @x. One that is not valid becomes an infinity, in turn negative and
 * positive: so many lie on both sides that the middle of all is the lower middle of the valid ones. */
VEC_INLINE VecF
window_value (const StereoPlan *plan, int x, int y, int radius, int k, VecI *infinity)
{
  int side = 2 * radius + 1, row = y + k / side - radius;
  VecF value = { 0 };

  if (row < 0 || row >= plan->height)
    value += NAN;
  else
    value = vec_load_f (map_row (plan, plan->disparity, row) + x + k % side - radius);
  VecI missing = (VecI) (value != value);
  value = vec_choose (missing, (VecF) *infinity, value);
  *infinity ^= missing & INT32_MIN;
  return value;
}

/* The medians of the windows around the LANES columns that begin with @x. The lowest and the highest of the values that are held
 * cannot be the median: they are replaced by the next value, until one is left. */
VEC_INLINE VecF
median (const StereoPlan *plan, int x, int y, int radius)
{
  VecI infinity = (VecI) ((VecF){ 0 } - INFINITY);
  VecF held[MOST_HELD], centre = vec_load_f (map_row (plan, plan->disparity, y) + x);
  int count = (2 * radius + 1) * (2 * radius + 1), most = count / 2 + 2, next = most;

#pragma GCC unroll 16
  for (int k = 0; k < most; k++)
    held[k] = window_value (plan, x, y, radius, k, &infinity);
#pragma GCC unroll 16
  for (int last = most - 1; last >= 2; last--) {
#pragma GCC unroll 16
    for (int k = 1; k <= last; k++)
      SORT_LANES (held[0], held[k]);
#pragma GCC unroll 16
    for (int k = 1; k < last; k++)
      SORT_LANES (held[k], held[last]);
    if (last > 2)
      held[0] = window_value (plan, x, y, radius, next++, &infinity);
  }
  return vec_choose ((VecI) (centre == centre), held[1], centre);
}

/* How many pixels of the window of 5x5 around (x, y) are like that pixel. */
static int
count_alike (const StereoPlan *plan, int x, int y)
{
  float own = map_row (plan, plan->disparity, y)[x];
  int count = 0;

  for (int v = y - 2; v <= y + 2; v++)
    for (int u = x - 2; u <= x + 2; u++)
      if (v >= 0 && v < plan->height && u >= 0 && u < plan->width)
        count += stereo_median_is_alike (own, map_row (plan, plan->disparity, v)[u]);
  return count;
}

/* Thin near things get their own disparities back, in columns whose medians of 5x5 are in @to. They are few. */
static void
keep_thin (const StereoPlan *plan, float *to, int from, int end, int y)
{
  const float *row = map_row (plan, plan->disparity, y);

  for (int x = from; x < end; x++)
    if (stereo_median_is_before (row[x], to[x]) && stereo_median_keeps (count_alike (plan, x, y)))
      to[x] = row[x];
}

/* Columns whose windows lie across the border of the picture, or that are too few for a vector, one at a time. */
static void
median_columns (const StereoPlan *plan, float *to, int from, int end, int y, int radius)
{
  const float *row = map_row (plan, plan->disparity, y);
  float values[25];

  for (int x = from; x < end; x++) {
    int count = isnan (row[x]) ? 0 : sorted_window (plan, x, y, radius, values);
    to[x] = count ? values[(count - 1) / 2] : NAN;
  }
  if (radius == 2)
    keep_thin (plan, to, from, end, y);
}

VEC_INLINE void
median_lanes (const StereoPlan *plan, float *to, int x, int y, int radius)
{
  VecF middle = median (plan, x, y, radius), own = vec_load_f (map_row (plan, plan->disparity, y) + x);

  vec_store_f (to + x, middle);
  if (radius == 2 && vec_any ((VecI) (own - middle > STEREO_MEDIAN_BEFORE)))
    keep_thin (plan, to, x, x + LANES, y);
}

VEC_INLINE void
median_row (const StereoPlan *plan, const Median *m, int y, int radius)
{
  float *to = map_row (plan, m->spare, y);
  int end = plan->width - radius, x = radius;

  if (end - radius < LANES) {
    median_columns (plan, to, 0, plan->width, y, radius);
    return;
  }
  median_columns (plan, to, 0, radius, y, radius);
  for (; x + LANES < end; x += LANES)
    median_lanes (plan, to, x, y, radius);
  median_lanes (plan, to, end - LANES, y, radius);
  median_columns (plan, to, end, plan->width, y, radius);
}

static void
median3_row (StereoPlan *plan, void *context, int y, int thread)
{
  median_row (plan, context, y, 1);
}

static void
median5_row (StereoPlan *plan, void *context, int y, int thread)
{
  median_row (plan, context, y, 2);
}

static StereoStatus
subpixel_run (StereoPlan *plan, void *context, StereoError *error)
{
  if (plan->fusion.keeps_costs) /* else they were read when they were made */
    cpu_run (plan, context, subpixel_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (subpixel) = { .name = "subpixel", .run = subpixel_run };

static StereoStatus
median_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Median *m = context;
  return stereo_reserve (
      plan, (void **) &m->spare, (size_t) plan->map_pitch * (size_t) plan->height, sizeof *m->spare, error);
}

static StereoStatus
median_run (StereoPlan *plan, Median *m, CpuJob row)
{
  float *done = m->spare;

  cpu_run (plan, m, row, plan->height);
  m->spare = plan->disparity;
  plan->disparity = done;
  return STEREO_OK;
}

#define ROW_STAGE(stage) \
  static StereoStatus stage##_run (StereoPlan *plan, void *context, StereoError *error) \
  { \
    cpu_run (plan, context, stage##_row, plan->height); \
    return STEREO_OK; \
  } \
  const StereoStage CPU (stage) = { .name = #stage, .run = stage##_run };

ROW_STAGE (integer)
ROW_STAGE (reject)
ROW_STAGE (threshold)

#define MEDIAN_STAGE(stage) \
  static StereoStatus stage##_run (StereoPlan *plan, void *context, StereoError *error) \
  { \
    return median_run (plan, context, stage##_row); \
  } \
  const StereoStage CPU ( \
      stage) = { .name = #stage, .context_size = sizeof (Median), .prepare = median_prepare, .run = stage##_run };

MEDIAN_STAGE (median3)
MEDIAN_STAGE (median5)
