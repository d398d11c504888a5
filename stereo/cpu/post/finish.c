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

/* Pairs of values to sort, one after the other, until the middle one is in its place: Batcher's merging network (1968) without what has
 * no influence on it. */
static const uint8_t middle_of_9[] = { 0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 1, 2, 5, 6, 0, 4, 1, 5, 2, 6, 3,
  7, 2, 4, 3, 5, 1, 2, 3, 4, 5, 6, 0, 8, 4, 8, 2, 4, 3, 5, 3, 4 };
static const uint8_t middle_of_25[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
  22, 23, 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15, 16, 18, 17, 19, 20, 22, 21, 23, 1, 2, 5, 6, 9, 10, 13,
  14, 17, 18, 21, 22, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, 16, 20, 17, 21, 18, 22, 19, 23, 2, 4, 3, 5,
  10, 12, 11, 13, 18, 20, 19, 21, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 0, 8, 1, 9, 2, 10, 3,
  11, 4, 12, 5, 13, 6, 14, 7, 15, 16, 24, 4, 8, 5, 9, 6, 10, 7, 11, 20, 24, 2, 4, 3, 5, 6, 8, 7, 9, 10, 12, 11, 13, 18,
  20, 19, 21, 22, 24, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 23, 24, 0, 16, 1, 17, 2,
  18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 8, 16, 9, 17, 10, 18, 11, 19, 12, 20, 13, 21, 6, 10, 7, 11, 12, 16, 13,
  17, 10, 12, 11, 13, 11, 12 };

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

/* The loops are unrolled: all values stay in registers, as far as there are enough. */
#define SORT(values, pairs) \
  _Pragma ("GCC unroll 128") for (size_t k_ = 0; k_ < sizeof pairs; k_ += 2) \
  { \
    VecF *low_ = &values[pairs[k_]], *high_ = &values[pairs[k_ + 1]], least_ = vec_min_float (*low_, *high_); \
    *high_ = vec_max_float (*low_, *high_); \
    *low_ = least_; \
  }

/* The medians of the windows around the LANES columns that begin with @x. */
VEC_INLINE VecF
median (const StereoPlan *plan, int x, int y, int radius)
{
  VecI infinity = (VecI) ((VecF){ 0 } - INFINITY);
  VecF values[25], centre = vec_load_f (map_row (plan, plan->disparity, y) + x);
  int count = (2 * radius + 1) * (2 * radius + 1);

#pragma GCC unroll 32
  for (int k = 0; k < count; k++)
    values[k] = window_value (plan, x, y, radius, k, &infinity);
  if (radius == 1)
    SORT (values, middle_of_9)
  else
    SORT (values, middle_of_25)
  return vec_choose ((VecI) (centre == centre), values[count / 2], centre);
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

/* Pairs to sort, until all are in their places. */
static const uint8_t all_of_25[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
  23, 0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15, 16, 18, 17, 19, 20, 22, 21, 23, 1, 2, 5, 6, 9, 10, 13, 14,
  17, 18, 21, 22, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15, 16, 20, 17, 21, 18, 22, 19, 23, 2, 4, 3, 5, 10,
  12, 11, 13, 18, 20, 19, 21, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 0, 8, 1, 9, 2, 10, 3, 11,
  4, 12, 5, 13, 6, 14, 7, 15, 16, 24, 4, 8, 5, 9, 6, 10, 7, 11, 20, 24, 2, 4, 3, 5, 6, 8, 7, 9, 10, 12, 11, 13, 18, 20,
  19, 21, 22, 24, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 23, 24, 0, 16, 1, 17, 2, 18, 3,
  19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 8, 16, 9, 17, 10, 18, 11, 19, 12, 20, 13, 21, 14, 22, 15, 23, 4, 8, 5, 9, 6,
  10, 7, 11, 12, 16, 13, 17, 14, 18, 15, 19, 20, 24, 2, 4, 3, 5, 6, 8, 7, 9, 10, 12, 11, 13, 14, 16, 15, 17, 18, 20, 19,
  21, 22, 24, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 };

/* Words to sort: steps above the lowest disparity, and weights. */
VEC_INLINE VecI
edge_word (VecF value, VecI weight, float lowest)
{
  VecI steps = vec_round ((value - lowest) * (float) STEREO_EDGE_STEPS), missing = (VecI) (value != value);

  steps = vec_min (vec_max (steps, (VecI){ 0 }), (VecI){ 0 } + (STEREO_MAX_DISPARITIES * STEREO_EDGE_STEPS - 1));
  return ((steps << STEREO_EDGE_WEIGHT_BITS | weight) & ~missing) |
      (missing & (INT32_MAX >> STEREO_EDGE_WEIGHT_BITS << STEREO_EDGE_WEIGHT_BITS));
}

/* The medians of pixels of which the words @word have the neighbours. */
VEC_INLINE VecF
edge_median (VecI *word, float lowest)
{
  const int weights = (1 << STEREO_EDGE_WEIGHT_BITS) - 1;
  VecI total = { 0 }, below = { 0 }, median;

#pragma GCC unroll 256
  for (size_t k = 0; k < sizeof all_of_25; k += 2) {
    VecI *low = &word[all_of_25[k]], *high = &word[all_of_25[k + 1]], least = vec_min (*low, *high);
    *high = vec_max (*low, *high);
    *low = least;
  }
#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS; k++)
    total += word[k] & weights;
  median = word[0];
#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS - 1; k++) {
    below += word[k] & weights;
    VecI more = 2 * below < total;
    median = (word[k + 1] & more) | (median & ~more);
  }
  return vec_float (median >> STEREO_EDGE_WEIGHT_BITS) * (1.0f / STEREO_EDGE_STEPS) + lowest;
}

/* stereo_edge_is_near() */
VEC_INLINE VecI
is_near (VecF own, VecF other)
{
  return (VecI) (own - other <= STEREO_EDGE_JUMP);
}

/* What the pixels of a row meet at depth edges, from column 0 on; NULL outside the picture. */
typedef struct EdgeRows
{
  const float *value[STEREO_EDGE_SIDE];
  const uint32_t *color[STEREO_EDGE_SIDE];
} EdgeRows;

/* Tap @k of the LANES columns that begin with @x, of which @inner says that all taps lie in the picture; NaN outside it. */
VEC_INLINE VecF
edge_value (const EdgeRows *rows, int k, int x, int width, int inner)
{
  const float *row = rows->value[k / STEREO_EDGE_SIDE];
  int column = x + k % STEREO_EDGE_SIDE * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
  VecF values = (VecF){ 0 } + NAN;

  if (row && inner)
    return vec_load_f (row + column);
  for (int lane = 0; row && lane < LANES; lane++)
    if (column + lane >= 0 && column + lane < width)
      values[lane] = row[column + lane];
  return values;
}

/* The word of the same tap, which has the value @value. */
VEC_INLINE VecI
edge_word_at (const EdgeRows *rows, int k, int x, int width, int inner, VecF value, float lowest)
{
  const uint32_t *own = rows->color[STEREO_EDGE_SIDE / 2], *row = rows->color[k / STEREO_EDGE_SIDE];
  int column = x + k % STEREO_EDGE_SIDE * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
  VecU color = { 0 };

  if (row && inner)
    color = vec_load_u (row + column);
  for (int lane = 0; row && !inner && lane < LANES; lane++)
    if (column + lane >= 0 && column + lane < width)
      color[lane] = row[column + lane];
  VecI distance = vec_color_distance (color, vec_load_u (own + x));
  VecI weight = vec_max (STEREO_EDGE_ALIKE - distance, (VecI){ 0 } + 1);

  return edge_word (value, k == STEREO_EDGE_TAPS / 2 ? 2 * weight : weight, lowest);
}

/* Depth edges among the LANES columns that begin with @x. */
VEC_INLINE void
edge_lanes (const EdgeRows *rows, float *to, int x, int width, int inner, float lowest)
{
  VecF value[STEREO_EDGE_TAPS], least = (VecF){ 0 } + INFINITY, most = -least;
  VecI word[STEREO_EDGE_TAPS];
  const int middle = STEREO_EDGE_TAPS / 2, half = STEREO_EDGE_SIDE / 2;

#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS; k++) {
    value[k] = edge_value (rows, k, x, width, inner);
    least = vec_min_float (value[k], least);
    most = vec_max_float (value[k], most);
  }
  VecF own = value[middle];
  VecI along = is_near (own, value[middle - half]) | is_near (own, value[middle + half]);
  VecI down = is_near (own, value[half]) | is_near (own, value[STEREO_EDGE_TAPS - 1 - half]);
  VecI edge = (VecI) (most - least > STEREO_EDGE_JUMP) & along & down;
  vec_store_f (to + x, own);
  if (!vec_any (edge))
    return;
#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS; k++)
    word[k] = edge_word_at (rows, k, x, width, inner, value[k], lowest);
  vec_store_f (to + x, vec_choose (edge, edge_median (word, lowest), own));
}

/* Depth edges, before the median of 5x5. */
static void
edges_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Median *m = context;
  float *to = map_row (plan, m->spare, y), lowest = (float) plan->min_disparity;
  EdgeRows rows = { { NULL }, { NULL } };

  for (int k = 0; k < STEREO_EDGE_SIDE; k++) {
    int row = y + k * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
    if (row < 0 || row >= plan->height)
      continue;
    rows.value[k] = map_row (plan, plan->disparity, row);
    rows.color[k] = plan->view[STEREO_LEFT].color + (size_t) row * (size_t) plan->image_pitch;
  }
  for (int x = 0; x < plan->width; x += LANES)
    if (x >= STEREO_EDGE_RADIUS && x + LANES + STEREO_EDGE_RADIUS <= plan->width)
      edge_lanes (&rows, to, x, plan->width, 1, lowest);
    else
      edge_lanes (&rows, to, x, plan->width, 0, lowest);
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
exchange (StereoPlan *plan, Median *m, CpuJob row)
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

static StereoStatus
median3_run (StereoPlan *plan, void *context, StereoError *error)
{
  return exchange (plan, context, median3_row);
}

static StereoStatus
median5_run (StereoPlan *plan, void *context, StereoError *error)
{
  exchange (plan, context, edges_row);
  return exchange (plan, context, median5_row);
}

#define MEDIAN_STAGE(stage) \
  const StereoStage CPU ( \
      stage) = { .name = #stage, .context_size = sizeof (Median), .prepare = median_prepare, .run = stage##_run };

MEDIAN_STAGE (median3)
MEDIAN_STAGE (median5)
