/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling: stereo/exact/fill.h says what a pixel without a disparity gets. Every pixel looks at the disparities as they
 * were before, which the stage has in a copy with a border: a ray that leaves the image meets no value there. */
#include "stereo/cpu/post/gaps.h"
#include "stereo/cpu/post/neighbours.h"
#include "stereo/cpu/post/plane.h"
#include "stereo/cpu/post/rays.h"

#define BORDER (LANES + STEREO_SMOOTH_RADIUS) /* columns on both sides of a copy */

typedef struct Context
{
  /* image rows, with a border on both sides: of NaN, and of any colour */
  float *before; /* the disparities before */
  float *filled; /* the same, filled */
  float *none;   /* a row of NaN */
  uint32_t *image;
  int pitch;
  CpuRays rays;
  int32_t place[CPU_RAYS_MEASURED][CPU_RAY_BEYOND + 1]; /* after so many steps along a ray; beyond: at its start */
  CpuTaps taps;                                         /* planes and gaps */
  CpuGaps gaps;                                         /* gaps only */
} Context;

static float *
before_row (const Context *c, int y)
{
  return c->before + (size_t) y * (size_t) c->pitch + BORDER;
}

static float *
filled_row (const Context *c, int y)
{
  return c->filled + (size_t) y * (size_t) c->pitch + BORDER;
}

static uint32_t *
color_row (const Context *c, int y)
{
  return c->image + (size_t) y * (size_t) c->pitch + BORDER;
}

/* ---- what the rows need of the whole frame -------------------------------------------------------- */

static void
fill_none (float *from, float *to)
{
  while (from < to)
    *from++ = NAN;
}

/* Copies a row, with its border. */
static void
copy_row (const float *from, float *to, const StereoPlan *plan)
{
  fill_none (to - BORDER, to);
  memcpy (to, from, (size_t) plan->width * sizeof *to);
  fill_none (to + plan->width, to + plan->width + BORDER);
}

static void
copy_views (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;

  copy_row (plan->disparity + (size_t) y * (size_t) plan->map_pitch, before_row (c, y), plan);
  memcpy (color_row (c, y), plan->view[STEREO_LEFT].color + (size_t) y * (size_t) plan->image_pitch,
      (size_t) plan->width * sizeof *c->image);
}

static int
tap_rows (const StereoPlan *plan)
{
  return (plan->height + STEREO_PLANE_CELL - 1) / STEREO_PLANE_CELL + 2 * CPU_TAP_BORDER;
}

/* A row of cells, or of their border: the disparity and the colour of each cell's first pixel. */
static void
make_taps (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  int y = (row - CPU_TAP_BORDER) * STEREO_PLANE_CELL, inside = y >= 0 && y < plan->height;
  const float *from = before_row (c, inside ? y : 0);
  const uint32_t *color = color_row (c, inside ? y : 0);

  for (int k = 0; k < c->taps.pitch; k++) {
    int x = (k - CPU_TAP_BORDER) * STEREO_PLANE_CELL, valid = inside && x >= 0 && x < plan->width && !isnan (from[x]);
    size_t at = (size_t) row * (size_t) c->taps.pitch + (size_t) k;
    c->taps.disparity[at] = valid ? from[x] : STEREO_PLANE_NOWHERE;
    c->taps.color[at] = valid ? color[x] : 0;
  }
}

/* ---- medians of neighbours ------------------------------------------------------------------------- */

#define MOST_NEIGHBOURS STEREO_SMOOTH_TAPS

static_assert (MOST_NEIGHBOURS >= STEREO_FILL_RAYS, "neighbours of a pixel");

/* Pixels of a row that lie anywhere in it. Few pixels need a median, and they are far apart. */
typedef struct Batch
{
  int count;
  int column[LANES];
  uint32_t own[LANES];                 /* colours */
  float value[MOST_NEIGHBOURS][LANES]; /* NaN where there is none */
  uint32_t color[MOST_NEIGHBOURS][LANES];
} Batch;

/* A neighbour of the pixel that was begun last. */
static inline void
take_neighbour (Batch *batch, int neighbour, float value, uint32_t color)
{
  batch->value[neighbour][batch->count - 1] = value;
  batch->color[neighbour][batch->count - 1] = color;
}

static inline void
begin_pixel (Batch *batch, int x, uint32_t own)
{
  batch->column[batch->count] = x;
  batch->own[batch->count++] = own;
}

/* Writes the weighted medians of the pixels that have neighbours, and empties the batch. */
VEC_INLINE void
write_medians (Batch *batch, int neighbours, float *to)
{
  VecU own = vec_load_u (batch->own);
  CpuMet met[MOST_NEIGHBOURS];

  for (int k = 0; k < neighbours; k++) {
    VecF value = vec_load_f (batch->value[k]);
    VecI valid = (VecI) (value == value);
    met[k].value = vec_choose (valid, value, (VecF){ 0 } + INFINITY);
    met[k].weight = cpu_fill_weights (own, batch->color[k]) & valid;
  }
  VecF median = cpu_weighted_median (met, neighbours);
  for (int k = 0; k < batch->count; k++)
    if (median[k] < INFINITY)
      to[batch->column[k]] = median[k];
  batch->count = 0;
}

/* ---- holes of a row --------------------------------------------------------------------------------- */

typedef struct Hole
{
  int first, end; /* columns */
} Hole;

/* The next one from column @x on; at the end of the row an empty one. */
static Hole
next_hole (const float *from, int x, int width)
{
  Hole hole;

  while (x < width && !isnan (from[x]))
    x++;
  hole.first = x;
  while (x < width && isnan (from[x]))
    x++;
  hole.end = x;
  return hole;
}

/* Occluded: the farther neighbour. */
static float
farther (const float *from, const Hole *hole, int width)
{
  float before = hole->first > 0 ? from[hole->first - 1] : NAN, after = hole->end < width ? from[hole->end] : NAN;
  return isnan (before) || after < before ? after : before;
}

static int
mismatched (const StereoPlan *plan, int x, int y)
{
  int first = stereo_first_index (x, plan->width, plan->min_disparity), sees = 0;
  int last = stereo_last_index (x, plan->disparities, plan->min_disparity);
  const uint16_t *right = plan->view[STEREO_RIGHT].index + (size_t) y * (size_t) plan->map_pitch;

  right += plan->width - 1 - x + plan->min_disparity;
  for (int i = first; i <= last; i++)
    sees |= stereo_fill_sees (i, right[i]);
  return sees;
}

/* Mismatched: the neighbours all around. Along the row, they are where the hole ends. */
static void
take_around (const StereoPlan *plan, const Context *c, Batch *batch, int x, int y, const Hole *hole)
{
  const float *from = before_row (c, y) + x;
  const uint32_t *color = color_row (c, y) + x;
  int forward = hole->end < plan->width && hole->end - x <= STEREO_FILL_STEPS ? hole->end - x : 0;
  int back = hole->first > 0 && x - hole->first < STEREO_FILL_STEPS ? hole->first - 1 - x : 0;

  begin_pixel (batch, x, *color);
  for (int k = 0; k < CPU_RAYS_MEASURED; k++) {
    int32_t at = c->place[k][cpu_ray_steps (plan, &c->rays, k, y)[x]];
    take_neighbour (batch, k, from[at], color[at]);
  }
  take_neighbour (batch, CPU_RAYS_MEASURED, from[forward], color[forward]);
  take_neighbour (batch, CPU_RAYS_MEASURED + 1, from[back], color[back]);
}

static void
fill_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = before_row (c, y);
  float *to = filled_row (c, y);
  Batch batch = { 0 };
  Hole hole = { 0 };

  copy_row (from, to, plan);
  while (hole = next_hole (from, hole.end, plan->width), hole.first < hole.end) {
    float value = farther (from, &hole, plan->width);
    for (int x = hole.first; x < hole.end; x++) {
      to[x] = value;
      if (!mismatched (plan, x, y))
        continue;
      take_around (plan, c, &batch, x, y, &hole);
      if (batch.count == LANES)
        write_medians (&batch, STEREO_FILL_RAYS, to);
    }
  }
  write_medians (&batch, STEREO_FILL_RAYS, to);
}

/* ---- planes ------------------------------------------------------------------------------------------- */

static void
plane_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = before_row (c, y);
  const uint32_t *color = color_row (c, y);
  float *to = filled_row (c, y);
  float min = (float) plan->min_disparity, max = (float) (plan->min_disparity + plan->disparities - 1);

  fill_row (plan, context, y, thread);
  for (int x = 0; x < plan->width; x++)
    if (isnan (from[x]) && !isnan (to[x])) {
      StereoPlaneSums sums = cpu_plane_sums (&c->taps, x, y, to[x], color[x]);
      to[x] = stereo_plane_value (&sums, to[x], min, max);
    }
}

/* ---- smoothing ------------------------------------------------------------------------------------------ */

/* px: shorter runs go into batches, since a median in lanes takes the same time for one pixel as for all. */
#define SHORTEST_RUN (LANES * 3 / 8 + 1)

/* Rows that are STEP apart. */
typedef struct TapRows
{
  const float *value[STEREO_SMOOTH_SIDE];
  const uint32_t *color[STEREO_SMOOTH_SIDE];
} TapRows;

static TapRows
rows_around (const StereoPlan *plan, const Context *c, int y)
{
  TapRows rows;

  for (int k = 0; k < STEREO_SMOOTH_SIDE; k++) {
    int row = y + k * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS, inside = row >= 0 && row < plan->height;
    rows.value[k] = inside ? filled_row (c, row) : c->none + BORDER;
    rows.color[k] = color_row (c, inside ? row : y);
  }
  return rows;
}

/* Column of the tap @tap of a pixel in column @x. */
static inline int
tap_column (int tap, int x)
{
  return x + tap % STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
}

static void
take_taps (const TapRows *rows, Batch *batch, int x, uint32_t own)
{
  begin_pixel (batch, x, own);
  for (int k = 0; k < STEREO_SMOOTH_TAPS; k++) {
    int row = k / STEREO_SMOOTH_SIDE, at = tap_column (k, x);
    take_neighbour (batch, k, rows->value[row][at], rows->color[row][at]);
  }
}

/* The same of @count pixels side by side, for an empty batch. */
static void
take_taps_of_run (const TapRows *rows, Batch *batch, int x, int count, const uint32_t *own)
{
  for (int k = 0; k < count; k++)
    begin_pixel (batch, x + k, own[k]);
  for (int k = 0; k < STEREO_SMOOTH_TAPS; k++) {
    int row = k / STEREO_SMOOTH_SIDE, at = tap_column (k, x);
    memcpy (batch->value[k], rows->value[row] + at, sizeof batch->value[k]);
    memcpy (batch->color[k], rows->color[row] + at, sizeof batch->color[k]);
  }
}

static void
smooth_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = before_row (c, y);
  const uint32_t *color = color_row (c, y);
  float *to = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  TapRows rows = rows_around (plan, c, y);
  Batch batch = { 0 }, run = { 0 };
  Hole hole = { 0 };

  while (hole = next_hole (from, hole.end, plan->width), hole.first < hole.end) {
    int x = hole.first;
    for (; hole.end - x >= SHORTEST_RUN; x += LANES) {
      take_taps_of_run (&rows, &run, x, hole.end - x < LANES ? hole.end - x : LANES, color + x);
      write_medians (&run, STEREO_SMOOTH_TAPS, to);
    }
    for (; x < hole.end; x++) {
      take_taps (&rows, &batch, x, color[x]);
      if (batch.count == LANES)
        write_medians (&batch, STEREO_SMOOTH_TAPS, to);
    }
  }
  write_medians (&batch, STEREO_SMOOTH_TAPS, to);
}

/* ---- stages --------------------------------------------------------------------------------------------- */

/* The place of CPU_RAY_BEYOND stays 0. */
static void
find_places (Context *c)
{
  for (int k = 0; k < CPU_RAYS_MEASURED; k++)
    for (int step = 1; step <= STEREO_FILL_STEPS; step++)
      c->place[k][step] = stereo_ray_offset (step, stereo_ray_y (cpu_measured_ray (k))) * c->pitch +
          stereo_ray_offset (step, stereo_ray_x (cpu_measured_ray (k)));
}

static StereoStatus
fill_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status;
  size_t count;

  c->pitch = plan->width + 2 * BORDER;
  find_places (c);
  count = stereo_times ((size_t) c->pitch, (size_t) plan->height);
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->before, count, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->filled, count, sizeof (float), error)) ||
      (status = stereo_reserve_for (
           plan, STEREO_LIFE_MAPS, (void **) &c->none, (size_t) c->pitch, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->image, count, sizeof (uint32_t), error)))
    return status;
  return CPU (rays_reserve) (plan, &c->rays, error);
}

/* @fill_one: fills a row. */
static void
fill_rows (StereoPlan *plan, Context *c, CpuJob fill_one)
{
  fill_none (c->none, c->none + c->pitch);
  CPU (rays_measure) (plan, &c->rays);
  cpu_run (plan, c, fill_one, plan->height);
  cpu_run (plan, c, smooth_row, plan->height);
}

static StereoStatus
fill_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, copy_views, plan->height);
  fill_rows (plan, context, fill_row);
  return STEREO_OK;
}

static StereoStatus
planes_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status = fill_prepare (plan, context, error);
  size_t count;

  c->taps.pitch = (plan->width + STEREO_PLANE_CELL - 1) / STEREO_PLANE_CELL + 2 * CPU_TAP_BORDER;
  count = (size_t) c->taps.pitch * (size_t) tap_rows (plan);
  if (!status)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->taps.disparity, count, sizeof (float), error);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->taps.color, count, sizeof (uint32_t), error);
}

static StereoStatus
planes_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, copy_views, plan->height);
  cpu_run (plan, context, make_taps, tap_rows (plan));
  fill_rows (plan, context, plane_row);
  return STEREO_OK;
}

static StereoStatus
gaps_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = planes_prepare (plan, context, error);
  return status ? status : CPU (gaps_reserve) (plan, &((Context *) context)->gaps, error);
}

static StereoStatus
gaps_run (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;

  CPU (gaps_find) (plan, &c->gaps);
  planes_run (plan, c, error);
  CPU (gaps_empty) (plan, &c->gaps);
  return STEREO_OK;
}

const StereoStage CPU (
    fill) = { .name = "fill", .context_size = sizeof (Context), .prepare = fill_prepare, .run = fill_run };
const StereoStage CPU (
    planes) = { .name = "planes", .context_size = sizeof (Context), .prepare = planes_prepare, .run = planes_run };
const StereoStage CPU (
    gaps) = { .name = "gaps", .context_size = sizeof (Context), .prepare = gaps_prepare, .run = gaps_run };
