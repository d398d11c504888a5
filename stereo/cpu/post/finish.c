/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From indices to the finished disparity of the left view. Each stage writes its result to plan->disparity. */
#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/post/sorted.h"
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

#define ABOVE STEREO_EDGE_RADIUS            /* rows outside the picture, above and below */
#define BORDER (LANES + STEREO_EDGE_RADIUS) /* columns on both sides */
#define CHUNK 256                           /* columns at a time */

/* Copies of maps, in a border of pixels without a disparity. */
typedef struct Median
{
  float *before, *after; /* depth edges are changed from the one to the other */
  int32_t *word;         /* edge_words() of the first */
  int pitch;
} Median;

static size_t
copy_at (const Median *m, int y)
{
  return (size_t) (y + ABOVE) * (size_t) m->pitch + BORDER;
}

/* Pairs of values to sort, one after the other: columns; then, of columns that are sorted, one number apart, what brings the middle
 * one of all to its place. */
static const uint8_t column_of_3[] = { 0, 1, 1, 2, 0, 1 };
static const uint8_t column_of_5[] = { 0, 3, 1, 4, 0, 2, 1, 3, 0, 1, 2, 4, 1, 2, 3, 4, 2, 3 };
static const uint8_t middle_of_9[] = { 0, 1, 1, 2, 3, 4, 4, 5, 3, 4, 6, 7, 6, 8, 2, 4, 4, 6, 2, 4 };
static const uint8_t middle_of_25[] = { 0, 1, 3, 4, 2, 4, 2, 3, 1, 4, 0, 3, 1, 3, 5, 8, 5, 7, 6, 8, 5, 6, 7, 9, 6, 7, 8,
  9, 7, 8, 10, 11, 13, 14, 12, 14, 12, 13, 11, 14, 10, 13, 10, 12, 11, 13, 11, 12, 15, 16, 17, 19, 17, 18, 16, 19, 15,
  18, 15, 17, 16, 18, 16, 17, 20, 21, 23, 24, 22, 23, 21, 24, 20, 23, 20, 22, 21, 22, 3, 7, 11, 15, 4, 8, 12, 16, 20, 9,
  13, 17, 7, 15, 4, 12, 8, 16, 20, 13, 8, 12, 15, 8, 13, 21, 8, 12, 9, 13, 8, 9, 15, 8, 12, 20, 8, 12 };

/* The loops are unrolled: all values stay in registers, as far as there are enough. */
#define SORT(values, pairs) \
  _Pragma ("GCC unroll 128") for (size_t k_ = 0; k_ < sizeof pairs; k_ += 2) \
  { \
    VecF *low_ = &values[pairs[k_]], *high_ = &values[pairs[k_ + 1]], least_ = vec_min_float (*low_, *high_); \
    *high_ = vec_max_float (*low_, *high_); \
    *low_ = least_; \
  }

/* Columns of windows, which windows beside each other share: each place of a sorted column is a line. */
typedef struct Columns
{
  float value[5][CHUNK + 4 + LANES];
  int32_t odd[CHUNK + 4 + LANES]; /* all bits are set if an odd number of its values is missing */
} Columns;

/* The windows of @count pixels from @at on. A value that is missing becomes an infinity, in turn negative and positive: so many lie on
 * both sides that the middle of all is the lower middle of the valid ones. */
VEC_INLINE void
sort_columns (const float *at, ptrdiff_t pitch, int count, int radius, Columns *columns)
{
  const VecI negative = (VecI) ((VecF){ 0 } - INFINITY);

  for (int k = 0; k < count + 2 * radius; k += LANES) {
    VecI infinity = negative;
    VecF values[5];
#pragma GCC unroll 5
    for (int row = 0; row <= 2 * radius; row++) {
      VecF value = vec_load_f (at + (row - radius) * pitch + k - radius);
      VecI missing = (VecI) (value != value);
      values[row] = vec_choose (missing, (VecF) infinity, value);
      infinity ^= missing & INT32_MIN;
    }
    if (radius == 1)
      SORT (values, column_of_3)
    else
      SORT (values, column_of_5)
#pragma GCC unroll 5
    for (int row = 0; row <= 2 * radius; row++)
      vec_store_f (columns->value[row] + k, values[row]);
    vec_store_i (columns->odd + k, infinity != negative);
  }
}

/* The middle values of the windows whose first columns are @k and the next ones. Of columns with an odd number of infinities, every
 * second one has a positive one in place of a negative one. */
VEC_INLINE VecF
middle_of_columns (const Columns *columns, int k, int radius)
{
  const int side = 2 * radius + 1;
  VecF values[25];
  VecI some = { 0 }, turn = { 0 };

#pragma GCC unroll 32
  for (int v = 0; v < side * side; v++)
    values[v] = vec_load_f (columns->value[v / side] + k + v % side);
#pragma GCC unroll 5
  for (int column = 0; column < side; column++)
    some |= vec_load_i (columns->odd + k + column);
  if (vec_any (some)) {
#pragma GCC unroll 5
    for (int column = 0; column < side; column++) {
      VecI odd = vec_load_i (columns->odd + k + column), up = odd & turn;
      for (int row = 0; row < side; row++)
        values[row * side + column] = vec_choose (up,
            row < side - 1 ? values[(row + 1) * side + column] : (VecF){ 0 } + INFINITY, values[row * side + column]);
      turn ^= odd;
    }
  }
  if (radius == 1)
    SORT (values, middle_of_9)
  else
    SORT (values, middle_of_25)
  return values[side * side / 2];
}

/* How many pixels of the window of 5x5 around @at are like that pixel. */
static int
count_alike (const float *at, ptrdiff_t pitch)
{
  int count = 0;

  for (int v = -2; v <= 2; v++)
    for (int u = -2; u <= 2; u++)
      count += stereo_median_is_alike (*at, at[v * pitch + u]);
  return count;
}

/* The medians of @count pixels from @at on, to @to. */
VEC_INLINE void
median (const float *at, ptrdiff_t pitch, float *to, int count, int radius)
{
  Columns columns;

  sort_columns (at, pitch, count, radius, &columns);
  for (int k = 0; k < count; k += LANES) {
    VecF own = vec_load_f (at + k);
    VecF middle = vec_choose ((VecI) (own == own), middle_of_columns (&columns, k, radius), own);
    vec_store_f (to + k, middle);
    /* thin near things, which are few, get their own disparities back */
    if (radius == 2 && vec_any ((VecI) (own - middle > STEREO_MEDIAN_BEFORE)))
      for (int i = k; i < k + LANES; i++)
        if (stereo_median_is_before (at[i], to[i]) && stereo_median_keeps (count_alike (at + i, pitch)))
          to[i] = at[i];
  }
}

VEC_INLINE void
median_row (const StereoPlan *plan, const float *row, ptrdiff_t pitch, int y, int radius)
{
  float *to = map_row (plan, plan->disparity, y);

  for (int x = 0; x < plan->width; x += CHUNK)
    median (row + x, pitch, to + x, plan->width - x < CHUNK ? plan->width - x : CHUNK, radius);
}

#define WEIGHTS ((1 << STEREO_EDGE_WEIGHT_BITS) - 1)

/* Words to sort: steps above the lowest disparity, and the bits of a weight, all of which are set. Without a value none is, and the
 * steps are most. */
VEC_INLINE VecI
edge_words (VecF value, float lowest)
{
  const VecI most = (VecI){ 0 } + (STEREO_MAX_DISPARITIES * STEREO_EDGE_STEPS - 1);
  VecI steps = vec_round ((value - lowest) * (float) STEREO_EDGE_STEPS), some = (VecI) (value == value);

  steps = (vec_min (vec_max (steps, most & 0), most) & some) | (most & ~some);
  return steps << STEREO_EDGE_WEIGHT_BITS | (some & WEIGHTS);
}

/* The medians of pixels of which the words @word have the neighbours. */
VEC_INLINE VecF
edge_median (VecI *word, float lowest)
{
  VecI half = (VecI){ 0 } + 1, below = { 0 }, median;

#pragma GCC unroll 256
  for (size_t k = 0; k < sizeof cpu_sorted; k += 2) {
    VecI *low = &word[cpu_sorted[k]], *high = &word[cpu_sorted[k + 1]], least = vec_min (*low, *high);
    *high = vec_max (*low, *high);
    *low = least;
  }
#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS; k++)
    half += word[k] & WEIGHTS;
  half >>= 1;
  median = word[0];
#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS - 1; k++) {
    below += word[k] & WEIGHTS;
    VecI more = below < half;
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

/* The distances of tap @k from a pixel. */
static inline int
edge_along (int k)
{
  return k % STEREO_EDGE_SIDE * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
}

static inline int
edge_down (int k)
{
  return k / STEREO_EDGE_SIDE * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS;
}

/* Depth edges among LANES pixels from @at on. */
VEC_INLINE VecI
find_edges (const float *at, ptrdiff_t pitch)
{
  VecF own = vec_load_f (at), least = (VecF){ 0 } + INFINITY, most = -least;
  const int far = STEREO_EDGE_RADIUS;

#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS; k++) {
    VecF value = vec_load_f (at + edge_down (k) * pitch + edge_along (k));
    least = vec_min_float (value, least);
    most = vec_max_float (value, most);
  }
  VecI along = is_near (own, vec_load_f (at - far)) | is_near (own, vec_load_f (at + far));
  VecI down = is_near (own, vec_load_f (at - far * pitch)) | is_near (own, vec_load_f (at + far * pitch));
  return (VecI) (most - least > STEREO_EDGE_JUMP) & along & down;
}

/* The medians of LANES pixels whose words begin at @at; @color: their taps' colours, of column 0 of each row of taps, and @x. */
VEC_INLINE VecF
medians_at_edges (const int32_t *at, ptrdiff_t pitch, const uint32_t *const *color, int x, float lowest)
{
  VecU own = vec_load_u (color[STEREO_EDGE_SIDE / 2] + x);
  VecI word[STEREO_EDGE_TAPS];

#pragma GCC unroll 32
  for (int k = 0; k < STEREO_EDGE_TAPS; k++) {
    VecI distance = vec_color_distance (vec_load_u (color[k / STEREO_EDGE_SIDE] + x + edge_along (k)), own);
    VecI weight = vec_max (STEREO_EDGE_ALIKE - distance, (VecI){ 0 } + 1) << (k == STEREO_EDGE_TAPS / 2);
    word[k] = vec_load_i (at + edge_down (k) * pitch + edge_along (k)) & (weight | ~WEIGHTS);
  }
  return edge_median (word, lowest);
}

/* Depth edges, before the median of 5x5. No column lies before an image's first ones, which are therefore copied. */
static void
edges_row (StereoPlan *plan, void *context, int item, int thread)
{
  const Median *m = context;
  int y = item - ABOVE;
  size_t at = copy_at (m, y);
  const uint32_t *row[STEREO_EDGE_SIDE], *begin[STEREO_EDGE_SIDE];
  uint32_t first[STEREO_EDGE_SIDE][LANES + 2 * STEREO_EDGE_RADIUS] = { 0 };

  memcpy (m->after + at - BORDER, m->before + at - BORDER, (size_t) m->pitch * sizeof *m->after);
  if (y < 0 || y >= plan->height)
    return;
  for (int k = 0; k < STEREO_EDGE_SIDE; k++) {
    int v = y + k * STEREO_EDGE_STEP - STEREO_EDGE_RADIUS, inside = v >= 0 && v < plan->height;
    row[k] = plan->view[STEREO_LEFT].color + (size_t) (inside ? v : y) * (size_t) plan->image_pitch;
    begin[k] = memcpy (first[k] + STEREO_EDGE_RADIUS, row[k], (LANES + STEREO_EDGE_RADIUS) * sizeof **first);
  }
  for (int x = 0; x < plan->width; x += LANES) {
    VecI edge = find_edges (m->before + at + x, m->pitch);
    if (!vec_any (edge))
      continue;
    VecF median = medians_at_edges (m->word + at + x, m->pitch, x ? row : begin, x, (float) plan->min_disparity);
    vec_store_f (m->after + at + x, vec_choose (edge, median, vec_load_f (m->before + at + x)));
  }
}

static void
copy_row (StereoPlan *plan, void *context, int item, int thread)
{
  const Median *m = context;
  int y = item - ABOVE;
  float *to = m->before + copy_at (m, y) - BORDER;

  for (int k = 0; k < m->pitch; k++)
    to[k] = NAN;
  if (y >= 0 && y < plan->height)
    memcpy (to + BORDER, map_row (plan, plan->disparity, y), (size_t) plan->width * sizeof *to);
  for (int k = 0; m->word && k < m->pitch; k += LANES)
    vec_store_i (m->word + (to - m->before) + k, edge_words (vec_load_f (to + k), (float) plan->min_disparity));
}

static void
median3_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Median *m = context;
  median_row (plan, m->before + copy_at (m, y), m->pitch, y, 1);
}

static void
median5_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Median *m = context;
  median_row (plan, m->after + copy_at (m, y), m->pitch, y, 2);
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
  void **maps[] = { (void **) &m->before, (void **) &m->after, (void **) &m->word };
  StereoStatus status = STEREO_OK;

  m->pitch = (plan->width + 2 * BORDER + LANES - 1) / LANES * LANES;
  for (int k = 0; k < (plan->params.median == 5 ? 3 : 1) && !status; k++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, maps[k],
        (size_t) m->pitch * ((size_t) plan->height + 2 * ABOVE), sizeof (float), error);
  return status;
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
  cpu_run (plan, context, copy_row, plan->height + 2 * ABOVE);
  cpu_run (plan, context, median3_row, plan->height);
  return STEREO_OK;
}

static StereoStatus
median5_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, copy_row, plan->height + 2 * ABOVE);
  cpu_run (plan, context, edges_row, plan->height + 2 * ABOVE);
  cpu_run (plan, context, median5_row, plan->height);
  return STEREO_OK;
}

#define MEDIAN_STAGE(stage) \
  const StereoStage CPU ( \
      stage) = { .name = #stage, .context_size = sizeof (Median), .prepare = median_prepare, .run = stage##_run };

MEDIAN_STAGE (median3)
MEDIAN_STAGE (median5)
