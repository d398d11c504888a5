/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling: ../exact/fill.h says what a pixel without a disparity gets. Every pixel looks at the disparities as they were
 * before, which the stage has in a copy with a border: a ray that leaves the image meets no value there. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/neighbours.h"
#include "stereo/cpu/plane.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/fill.h"

#define TILE 8                               /* px: side of the squares that rays leap over */
#define MOST (STEREO_FILL_REACH / TILE + 2)  /* tiles between which no ray need be told apart */
#define BORDER (LANES + STEREO_SMOOTH_REACH) /* columns on both sides of a copy */

typedef struct Context
{
  /* image rows, with a border on both sides: of NaN, and of any colour */
  float *before; /* the disparities before */
  float *filled; /* the same, filled */
  uint32_t *image;
  int pitch;
  uint8_t *tiles; /* of each tile, how many tiles the next one with a valid pixel is away: 0..MOST */
  int tile_columns, tile_rows;
  CpuTaps taps; /* planes only */
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
copy_row (const float *from, float *to, const StereoPlan *plan, const Context *c)
{
  fill_none (to - BORDER, to);
  memcpy (to, from, (size_t) plan->width * sizeof *to);
  fill_none (to + plan->width, to - BORDER + c->pitch);
}

/* Copies a row of tiles, and finds the tiles that have a valid pixel. */
static void
copy_tiles (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  uint8_t *tiles = c->tiles + (size_t) row * (size_t) c->tile_columns;
  int end = row * TILE + TILE < plan->height ? row * TILE + TILE : plan->height;

  memset (tiles, MOST, (size_t) c->tile_columns);
  for (int y = row * TILE; y < end; y++) {
    float *to = before_row (c, y);
    copy_row (plan->disparity + (size_t) y * (size_t) plan->map_pitch, to, plan, c);
    memcpy (color_row (c, y), plan->view[STEREO_LEFT].color + (size_t) y * (size_t) plan->image_pitch,
        (size_t) plan->width * sizeof *c->image);
    for (int tile = 0; tile < c->tile_columns; tile++) {
      int valid = 0;
      for (int k = 0; k < TILE; k++)
        valid |= !isnan (to[tile * TILE + k]);
      tiles[tile] = valid ? 0 : tiles[tile];
    }
  }
}

static uint8_t
nearer (uint8_t tile, uint8_t other)
{
  return other + 1 < tile ? (uint8_t) (other + 1) : tile;
}

/* Distances between tiles, along rows, columns and diagonals: once from the top left, once from the bottom right. */
static void
measure_tiles (const Context *c)
{
  int columns = c->tile_columns, count = columns * c->tile_rows;
  uint8_t *tiles = c->tiles;

  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < count; k++) {
      int step = pass ? -1 : 1, at = pass ? count - 1 - k : k, x = at % columns;
      if (k % columns)
        tiles[at] = nearer (tiles[at], tiles[at - step]);
      if (k < columns)
        continue;
      for (int dx = x > 0 ? -1 : 0; dx <= (x < columns - 1 ? 1 : 0); dx++)
        tiles[at] = nearer (tiles[at], tiles[at - step * columns + dx]);
    }
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

/* ---- occluded: the farther neighbour ---------------------------------------------------------------- */

/* Fills the whole row; returns whether there was anything to fill. */
static int
fill_along (const float *from, float *to, int width)
{
  float before = NAN;
  int holes = 0;

  for (int x = 0; x < width;) {
    if (!isnan (from[x])) {
      before = from[x++];
      continue;
    }
    int end = x;
    while (end < width && isnan (from[end]))
      end++;
    float after = end < width ? from[end] : NAN;
    float value = isnan (before) || after < before ? after : before;
    for (; x < end; x++)
      to[x] = value;
    holes = 1;
  }
  return holes;
}

/* ---- mismatched: the median of the neighbours all around -------------------------------------------- */

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

/* Steps that meet no valid pixel, whatever the ray, from LANES columns that begin with @x on. */
static int
leap (const Context *c, int x, int y)
{
  const uint8_t *tiles = c->tiles + (size_t) (y / TILE) * (size_t) c->tile_columns;
  int first = x > 0 ? x / TILE : 0, last = (x + LANES - 1) / TILE, away = MOST;

  for (int tile = first; tile <= last && tile < c->tile_columns; tile++)
    away = tiles[tile] < away ? tiles[tile] : away;
  return away > 1 ? (away - 1) * TILE : 0;
}

/* The first values along a ray from LANES columns that begin with @x, of those that are @wanted. */
static CpuMet
follow (const StereoPlan *plan, const Context *c, int x, int y, int ray, VecI wanted)
{
  int along = stereo_ray_x (ray), down = stereo_ray_y (ray);
  VecU own = vec_load_u (color_row (c, y) + x);
  CpuMet result = { (VecF){ 0 } + INFINITY, { 0 } };

  for (int step = 1; step <= STEREO_FILL_REACH; step++) {
    int row = y + stereo_ray_offset (step, down), column = x + stereo_ray_offset (step, along);
    if (row < 0 || row >= plan->height || column <= -LANES || column >= plan->width)
      break;
    VecF met = vec_load_f (before_row (c, row) + column);
    VecI found = (VecI) (met == met) & wanted;
    if (vec_any (found)) {
      result.value = vec_choose (found, met, result.value);
      result.weight |= cpu_fill_weights (own, color_row (c, row) + column) & found;
      wanted &= ~found;
      if (!vec_any (wanted))
        break;
    }
    if (step % TILE == 0)
      step += leap (c, column, row);
  }
  return result;
}

/* LANES columns that begin with @x: those that are @wanted get the weighted median of their rays. */
static void
fill_around (const StereoPlan *plan, const Context *c, int x, int y, VecI wanted, float *to)
{
  CpuMet met[STEREO_FILL_RAYS];

  for (int ray = 0; ray < STEREO_FILL_RAYS; ray++)
    met[ray] = follow (plan, c, x, y, ray, wanted);
  VecF median = cpu_weighted_median (met, STEREO_FILL_RAYS);
  for (int k = 0; k < LANES; k++)
    if (wanted[k] && median[k] < INFINITY)
      to[x + k] = median[k];
}

static void
fill_mismatched (const StereoPlan *plan, const Context *c, int y, const float *from, float *to)
{
  for (int x = 0; x < plan->width; x += LANES) {
    VecF d = vec_load_f (from + x);
    VecI wanted = (VecI) (d != d);
    if (!vec_any (wanted))
      continue;
    for (int k = 0; k < LANES; k++)
      if (wanted[k] && (x + k >= plan->width || !mismatched (plan, x + k, y)))
        wanted[k] = 0;
    if (vec_any (wanted))
      fill_around (plan, c, x, y, wanted, to);
  }
}

static void
fill_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = before_row (c, y);
  float *to = filled_row (c, y);

  copy_row (from, to, plan, c);
  if (fill_along (from, to, plan->width))
    fill_mismatched (plan, c, y, from, to);
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

/* LANES columns that begin with @x. */
static VecF
smooth (const StereoPlan *plan, const Context *c, int x, int y)
{
  VecU own = vec_load_u (color_row (c, y) + x);
  CpuMet met[STEREO_SMOOTH_TAPS];

  for (int k = 0; k < STEREO_SMOOTH_TAPS; k++) {
    int row = y + k / STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_REACH;
    int column = x + k % STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_REACH;
    met[k] = (CpuMet){ (VecF){ 0 } + INFINITY, { 0 } };
    if (row < 0 || row >= plan->height)
      continue;
    VecF value = vec_load_f (filled_row (c, row) + column);
    VecI valid = (VecI) (value == value);
    met[k].value = vec_choose (valid, value, met[k].value);
    met[k].weight = cpu_fill_weights (own, color_row (c, row) + column) & valid;
  }
  return cpu_weighted_median (met, STEREO_SMOOTH_TAPS);
}

static void
smooth_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = before_row (c, y);
  float *to = plan->disparity + (size_t) y * (size_t) plan->map_pitch;

  for (int x = 0; x < plan->width; x += LANES) {
    VecF d = vec_load_f (from + x);
    VecI wanted = (VecI) (d != d);
    if (!vec_any (wanted))
      continue;
    VecF median = smooth (plan, c, x, y);
    for (int k = 0; k < LANES && x + k < plan->width; k++)
      if (wanted[k] && median[k] < INFINITY)
        to[x + k] = median[k];
  }
}

/* ---- stages --------------------------------------------------------------------------------------------- */

static StereoStatus
fill_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status;
  size_t count;

  c->tile_columns = (plan->width + TILE - 1) / TILE;
  c->tile_rows = (plan->height + TILE - 1) / TILE;
  c->pitch = c->tile_columns * TILE + 2 * BORDER;
  count = stereo_times ((size_t) c->pitch, (size_t) plan->height);
  status = stereo_reserve (plan, (void **) &c->before, count, sizeof (float), error);
  if (!status)
    status = stereo_reserve (plan, (void **) &c->filled, count, sizeof (float), error);
  if (!status)
    status = stereo_reserve (plan, (void **) &c->image, count, sizeof (uint32_t), error);
  return status ? status :
                  stereo_reserve (plan, (void **) &c->tiles, (size_t) c->tile_columns * (size_t) c->tile_rows, 1, error);
}

static StereoStatus
fill_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;

  cpu_run (plan, context, copy_tiles, c->tile_rows);
  measure_tiles (c);
  cpu_run (plan, context, fill_row, plan->height);
  cpu_run (plan, context, smooth_row, plan->height);
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
    status = stereo_reserve (plan, (void **) &c->taps.disparity, count, sizeof (float), error);
  return status ? status : stereo_reserve (plan, (void **) &c->taps.color, count, sizeof (uint32_t), error);
}

static StereoStatus
planes_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;

  cpu_run (plan, context, copy_tiles, c->tile_rows);
  measure_tiles (c);
  cpu_run (plan, context, make_taps, tap_rows (plan));
  cpu_run (plan, context, plane_row, plan->height);
  cpu_run (plan, context, smooth_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    fill) = { .name = "fill", .context_size = sizeof (Context), .prepare = fill_prepare, .run = fill_run };
const StereoStage CPU (
    planes) = { .name = "planes", .context_size = sizeof (Context), .prepare = planes_prepare, .run = planes_run };
