/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling: stereo/exact/fill.h says what a pixel without a disparity gets. Every pixel looks at the disparities as they
 * were before, which the stage has in a copy with a border: a ray that leaves the image meets no value there. */
#include "stereo/cpu/post/sorted.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/fill.h"
#include "stereo/cpu/cpu.h"
#include "stereo/exact/gaps.h"

#include <math.h>
#include <stddef.h>

/* ---- weighted medians of neighbours ---------------------------------------------------------------- */

/* A neighbour of LANES pixels: infinity and no weight where there is none. */
typedef struct CpuMet
{
  VecF value;
  VecI weight;
} CpuMet;

/* The least values that half of the weight is at or below; infinity where there is no neighbour. Sorts the @count neighbours, 16 or
 * 25. */
VEC_INLINE VecF
weighted_median (CpuMet *met, int count)
{
  VecI half = (VecI){ 0 } + 1, below = { 0 };

#pragma GCC unroll 256
  for (size_t k = 0; k < sizeof cpu_sorted; k += 2) {
    CpuMet *low = &met[cpu_sorted[k]], *high = &met[cpu_sorted[k + 1]], first = *low, second = *high;
    if (cpu_sorted[k + 1] >= count)
      continue;
    VecI wrong = (VecI) (first.value > second.value), change = (first.weight ^ second.weight) & wrong;
    *low = (CpuMet){ vec_min_float (first.value, second.value), first.weight ^ change };
    *high = (CpuMet){ vec_max_float (first.value, second.value), second.weight ^ change };
  }
#pragma GCC unroll 32
  for (int k = 0; k < count; k++)
    half += met[k].weight;
  half >>= 1;
  VecF median = met[0].value;
#pragma GCC unroll 32
  for (int k = 0; k < count - 1; k++) {
    below += met[k].weight;
    median = vec_choose (below < half, met[k + 1].value, median);
  }
  return median;
}

/* ---- the sums over a window that a plane is fitted to --------------------------------------------- */

#define CPU_TAP_BORDER (STEREO_PLANE_CELLS / 2) /* cells around the grid */
#define VECTORS (STEREO_PLANE_CELLS / LANES)    /* of a row of a window */
#define ROUNDED(v) ((v) + STEREO_PLANE_MAGIC - STEREO_PLANE_MAGIC)

/* The taps of planes: a grid, with a border of none. */
typedef struct CpuTaps
{
  float *disparity;
  uint32_t *color;
  int pitch;
} CpuTaps;

/* Sums of a window, of each of its columns. Those of x follow at the end: a column has one x. All are whole numbers that a
 * float holds. */
typedef struct CpuPlaneColumns
{
  VecF w, wy, wyy, wd, wyd;
} CpuPlaneColumns;

/* Adds the taps of row @y of the window, LANES of them. */
VEC_INLINE void
add_taps (
    CpuPlaneColumns *sums, const float *taps, const uint32_t *colors, float anchor, float near, VecU color, float y)
{
  VecF away = vec_load_f (taps) - anchor;
  VecI distance = vec_color_distance (vec_load_u (colors), color);
  VecF weight = ROUNDED ((VecF) (STEREO_PLANE_WEIGHT_BITS - (distance << STEREO_PLANE_DISTANCE_SHIFT)));
  VecI of_surface = (VecI) (away <= near) & (VecI) (away >= -near);
  VecF steps = ROUNDED (away * (float) STEREO_PLANE_STEPS);

  weight = (VecF) ((VecI) weight & of_surface);
  VecF wd = weight * steps;
  sums->w += weight;
  sums->wy += weight * y;
  sums->wyy += weight * (y * y);
  sums->wd += wd;
  sums->wyd += wd * y;
}

/* Sums of a window, of each lane. Columns and rows of taps are counted from the window's first. */
typedef struct CpuPlaneLanes
{
  VecI w, wx, wy, wxx, wxy, wyy, wd, wxd, wyd;
} CpuPlaneLanes;

/* Adds columns whose x is @x. */
VEC_INLINE void
add_columns (CpuPlaneLanes *sums, const CpuPlaneColumns *columns, VecF x)
{
  sums->w += vec_round (columns->w);
  sums->wx += vec_round (columns->w * x);
  sums->wy += vec_round (columns->wy);
  sums->wxx += vec_round (columns->w * x * x);
  sums->wxy += vec_round (columns->wy * x);
  sums->wyy += vec_round (columns->wyy);
  sums->wd += vec_round (columns->wd);
  sums->wxd += vec_round (columns->wd * x);
  sums->wyd += vec_round (columns->wyd);
}

/* Pixels of a row that get planes. */
typedef struct CpuPlanes
{
  int count;
  int32_t column[LANES];
  float anchor[LANES];
  CpuPlaneLanes sums[LANES];
} CpuPlanes;

static inline void
add_plane (CpuPlanes *planes, const CpuTaps *taps, int x, int y, float anchor, uint32_t color)
{
  const VecI lanes = LANE_NUMBERS;
  size_t at = (size_t) (stereo_plane_first (y) + CPU_TAP_BORDER) * (size_t) taps->pitch +
      (size_t) (stereo_plane_first (x) + CPU_TAP_BORDER);
  float near = stereo_plane_near (anchor);
  CpuPlaneColumns columns[VECTORS] = { 0 };
  CpuPlaneLanes sums = { 0 };
  VecU own = (VecU){ 0 } + color;

#pragma GCC unroll 16
  for (int k = 0; k < STEREO_PLANE_CELLS; k++, at += (size_t) taps->pitch)
    for (int v = 0; v < VECTORS; v++)
      add_taps (
          &columns[v], taps->disparity + at + v * LANES, taps->color + at + v * LANES, anchor, near, own, (float) k);
  for (int v = 0; v < VECTORS; v++)
    add_columns (&sums, &columns[v], vec_float (lanes + v * LANES));
  planes->column[planes->count] = x;
  planes->anchor[planes->count] = anchor;
  planes->sums[planes->count++] = sums;
}

/* Lane k gets the total of a sum of the @k-th pixel. */
VEC_INLINE VecI
totals (const CpuPlanes *planes, size_t offset)
{
  VecU sums[LANES];

  for (int k = 0; k < LANES; k++)
    memcpy (&sums[k], (const char *) &planes->sums[k] + offset, sizeof sums[k]);
#pragma GCC unroll 4
  for (int half = 1; half < LANES; half *= 2)
#pragma GCC unroll 8
    for (int k = 0; k < LANES / (2 * half); k++) {
      vec_zip (&sums[2 * k], &sums[2 * k + 1], half);
      sums[k] = sums[2 * k] + sums[2 * k + 1];
    }
  return (VecI) sums[0];
}

#define TOTALS(sum) totals (planes, offsetof (CpuPlaneLanes, sum))

/* Moves the pixels of row @y onto their planes, and empties @planes. */
static __attribute__ ((noinline)) void
write_planes (const StereoPlan *plan, CpuPlanes *planes, int y, float *to)
{
  const VecI cell = (VecI){ 0 } + STEREO_PLANE_CELL;
  float min = (float) plan->min_disparity, max = (float) (plan->min_disparity + plan->disparities - 1), value[LANES];
  /* the first taps' places, from the pixel on; then sums with one place, and those with two */
  VecI y1 = (VecI){ 0 } + (stereo_plane_first (y) * STEREO_PLANE_CELL - y);
  VecI x1 = stereo_plane_first (0) * STEREO_PLANE_CELL - vec_load_i (planes->column) % STEREO_PLANE_CELL;
  VecI w = TOTALS (w), columns = TOTALS (wx), rows = TOTALS (wy), d = TOTALS (wd);
  VecI wx = cell * columns + x1 * w, wy = cell * rows + y1 * w;
  VecI wxx = cell * (cell * TOTALS (wxx) + x1 * columns) + x1 * wx;
  VecI wxy = cell * (cell * TOTALS (wxy) + x1 * rows) + y1 * wx;
  VecI wyy = cell * (cell * TOTALS (wyy) + y1 * rows) + y1 * wy;
  VecI wxd = cell * TOTALS (wxd) + x1 * d, wyd = cell * TOTALS (wyd) + y1 * d;

  for (int k = 0; k < LANES; k++) {
    StereoPlaneSums sums = { w[k], wx[k], wy[k], wxx[k], wxy[k], wyy[k], d[k], wxd[k], wyd[k] };
    value[k] = stereo_plane_value (&sums, planes->anchor[k], min, max);
  }
  for (int k = 0; k < planes->count; k++)
    to[planes->column[k]] = value[k];
  planes->count = 0;
}

/* ---- what fill=gaps leaves without a value: exact/gaps.h. Cells are few: one thread takes them all - */

/* Maps have a byte for each cell, in rows of @columns. */
typedef struct CpuGaps
{
  uint8_t *sure;        /* pixels of a cell, 0..16 */
  uint8_t *bare;        /* the middle of a bare square */
  uint8_t *hole, *none; /* it is in a small bare square; it gets no value */
  uint8_t *needed;      /* a cell that gets values is so near that smoothing reads this one's */
  uint8_t *open[2];     /* of the ray that is followed, and of all: how many leave the picture at its top */
  int32_t *sums;        /* of a map, of all cells above and to the left; a row and a column more */
  int columns, rows;
} CpuGaps;

static size_t
cell_at (const CpuGaps *c, int x, int y)
{
  return (size_t) y * (size_t) c->columns + (size_t) x;
}

static int
lesser (int a, int b)
{
  return a < b ? a : b;
}

typedef struct Row
{
  const float *disparity, *confidence;
  float least;
} Row;

static int
is_sure (const Row *row, int x)
{
  return !isnan (row->disparity[x]) & (row->confidence[x] >= row->least);
}

/* The pixels at the left border that the right view lacks. */
static int
count_lacking (const Row *row, int width)
{
  int first = 0;

  while (first < width && !is_sure (row, first))
    first++;
  return first < width && stereo_gaps_at_border (first, row->disparity[first]) ? first : 0;
}

/* Counts the sure pixels of a row of cells. */
static void
count_row (StereoPlan *plan, void *context, int row, int thread)
{
  const CpuGaps *c = context;
  uint8_t *to = c->sure + cell_at (c, 0, row);

  memset (to, 0, (size_t) c->columns);
  for (int y = row * STEREO_GAPS_CELL; y < lesser ((row + 1) * STEREO_GAPS_CELL, plan->height); y++) {
    size_t at = (size_t) y * (size_t) plan->map_pitch;
    Row r = { plan->disparity + at, plan->view[STEREO_LEFT].confidence + at, stereo_params_sure (&plan->params) };
    int lacking = count_lacking (&r, plan->width);
    for (int x = 0; x < lacking; x++)
      to[x / STEREO_GAPS_CELL]++;
    for (int x = lacking; x < plan->width; x++) {
      uint8_t *count = to + x / STEREO_GAPS_CELL;
      *count = (uint8_t) (*count + is_sure (&r, x));
    }
  }
}

static void
add_up (const CpuGaps *c, const uint8_t *map)
{
  size_t pitch = (size_t) c->columns + 1;

  memset (c->sums, 0, pitch * sizeof *c->sums);
  for (int y = 0; y < c->rows; y++) {
    const int32_t *above = c->sums + (size_t) y * pitch;
    int32_t *to = c->sums + ((size_t) y + 1) * pitch, sum = 0;
    to[0] = 0;
    for (int x = 0; x < c->columns; x++)
      to[x + 1] = above[x + 1] + (sum += map[cell_at (c, x, y)]);
  }
}

/* Sets each cell of @to to whether its square of @radius adds up to no more than @most; @widen: to whether anything lies within
 * @radius of it. */
static void
judge_squares (const CpuGaps *c, const uint8_t *map, uint8_t *to, int radius, int most, int widen)
{
  size_t pitch = (size_t) c->columns + 1;

  add_up (c, map);
  for (int y = 0; y < c->rows; y++) {
    const int32_t *top = c->sums + (size_t) (y > radius ? y - radius : 0) * pitch;
    const int32_t *bottom = c->sums + (size_t) lesser (y + radius + 1, c->rows) * pitch;
    for (int x = 0; x < c->columns; x++) {
      int first = widen ? x - radius : stereo_gaps_first (x, radius, c->columns);
      int left = first > 0 ? first : 0, right = lesser (first + 2 * radius + 1, c->columns);
      int sum = bottom[right] - bottom[left] - top[right] + top[left];
      to[cell_at (c, x, y)] = widen ? sum > 0 : sum <= most;
    }
  }
}

/* The cells of bare squares. */
static void
find_bare (const StereoPlan *plan, const CpuGaps *c, StereoGapsSquare square, uint8_t *to)
{
  int radius = stereo_gaps_radius (square, plan->width);

  judge_squares (c, c->sure, c->bare, radius, stereo_gaps_most (square, plan->width), 0);
  judge_squares (c, c->bare, to, radius, 0, 1);
}

/* Whether a ray that has come to a cell leaves the picture at its top: @map has it of cells in the picture. */
static int
leaves (const CpuGaps *c, const uint8_t *map, int x, int y)
{
  return y < 0 || (x >= 0 && x < c->columns && map[cell_at (c, x, y)]);
}

/* From the top: two steps on, a ray goes on as the ray of the cell there does. */
static void
follow_ray (const CpuGaps *c, int ray)
{
  int along = stereo_ray_x (ray), down = stereo_ray_y (ray);
  int x1 = stereo_ray_offset (1, along), y1 = stereo_ray_offset (1, down);

  for (int y = 0; y < c->rows; y++)
    for (int x = 0; x < c->columns; x++) {
      size_t at = cell_at (c, x, y);
      c->open[0][at] = c->hole[at] && leaves (c, c->hole, x + x1, y + y1) && leaves (c, c->open[0], x + along, y + down);
      c->open[1][at] += c->open[0][at];
    }
}

static void
empty_row (StereoPlan *plan, void *context, int y, int thread)
{
  const CpuGaps *c = context;
  const uint8_t *none = c->none + cell_at (c, 0, y / STEREO_GAPS_CELL);
  float *to = plan->disparity + (size_t) y * (size_t) plan->map_pitch;

  for (int x = 0; x < plan->width; x++)
    to[x] = none[x / STEREO_GAPS_CELL] ? NAN : to[x];
}

/*
 * ---- rays: how far it is from each pixel, along each ray of stereo/exact/fill.h, to the first pixel that has a disparity.
 *
 * Two steps on, a ray goes on as the ray of the pixel there does. So a row follows from a row that is done: the distance is
 * one or two steps, or two more than from the pixel two steps on. The rays along the row itself are left to the caller, who
 * sees where a hole begins and ends.
 */

#define CPU_RAY_BACK (STEREO_FILL_RAYS / 2)      /* along the row, as ray 0; to the left */
#define CPU_RAYS_MEASURED (STEREO_FILL_RAYS - 2) /* all others */
#define CPU_RAY_BEYOND (STEREO_FILL_STEPS + 1)   /* steps where a ray meets nothing */
#define CPU_RAY_HOLE UINT8_MAX                   /* more than any step */
#define CPU_RAY_BORDER 2 /* columns on both sides of a row, at least what a ray goes in two steps */

typedef struct CpuRays
{
  uint8_t *holes; /* rows: CPU_RAY_HOLE where a pixel has no disparity, else 0 */
  uint8_t *steps; /* such rows for each ray that is measured: 1..CPU_RAY_BEYOND */
  uint8_t *none;  /* two rows as they would be outside: of holes, of steps */
  int pitch;
} CpuRays;

/* The ray that comes @k-th among those that are measured. */
static inline int
measured_ray (int k)
{
  return k + 1 < CPU_RAY_BACK ? k + 1 : k + 2;
}

/* Steps of that ray from the pixels of row @y. */
static inline uint8_t *
ray_steps (const StereoPlan *plan, const CpuRays *rays, int k, int y)
{
  return rays->steps + ((size_t) y * CPU_RAYS_MEASURED + (size_t) k) * (size_t) rays->pitch + CPU_RAY_BORDER;
}

static_assert (CPU_RAY_BEYOND < UINT8_MAX - 1, "steps are bytes");

static uint8_t *
holes_row (const StereoPlan *plan, const CpuRays *rays, int y)
{
  if (y < 0 || y >= plan->height)
    return rays->none + CPU_RAY_BORDER;
  return rays->holes + (size_t) y * (size_t) rays->pitch + CPU_RAY_BORDER;
}

static uint8_t *
steps_row (const StereoPlan *plan, const CpuRays *rays, int k, int y)
{
  return y < 0 || y >= plan->height ? rays->none + rays->pitch + CPU_RAY_BORDER : ray_steps (plan, rays, k, y);
}

/* Sets the columns outside the picture. */
static void
close_row (uint8_t *row, int width, int value)
{
  memset (row - CPU_RAY_BORDER, value, CPU_RAY_BORDER);
  memset (row + width, value, CPU_RAY_BORDER);
}

static void
find_holes (StereoPlan *plan, void *context, int y, int thread)
{
  const CpuRays *rays = context;
  const float *restrict disparity = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  uint8_t *restrict holes = holes_row (plan, rays, y);

  for (int x = 0; x < plan->width; x++)
    holes[x] = isnan (disparity[x]) ? CPU_RAY_HOLE : 0;
  close_row (holes, plan->width, CPU_RAY_HOLE);
}

/* @one and @two: of the pixels one and two steps on; @from: how far it is from the latter. All that is computed fits a byte, so
 * that a vector has as many pixels as bytes. */
static void
step_row (const uint8_t *restrict one, const uint8_t *restrict two, const uint8_t *restrict from, uint8_t *restrict to,
    int width)
{
  for (int x = 0; x < width; x++) {
    uint8_t first = one[x] | 1, second = two[x] | 2, beyond = (uint8_t) (from[x] + 2);
    beyond = beyond < CPU_RAY_BEYOND ? beyond : CPU_RAY_BEYOND;
    second = second < beyond ? second : beyond;
    to[x] = first < second ? first : second;
  }
}

/* All rows, from the side that the ray goes to. */
static void
measure_ray (StereoPlan *plan, void *context, int k, int thread)
{
  const CpuRays *rays = context;
  int ray = measured_ray (k), along = stereo_ray_x (ray), down = stereo_ray_y (ray);
  int x1 = stereo_ray_offset (1, along), x2 = stereo_ray_offset (2, along);
  int y1 = stereo_ray_offset (1, down), y2 = stereo_ray_offset (2, down);

  for (int row = 0; row < plan->height; row++) {
    int y = down > 0 ? plan->height - 1 - row : row;
    uint8_t *to = steps_row (plan, rays, k, y);
    step_row (holes_row (plan, rays, y + y1) + x1, holes_row (plan, rays, y + y2) + x2,
        steps_row (plan, rays, k, y + y2) + x2, to, plan->width);
    close_row (to, plan->width, CPU_RAY_BEYOND);
  }
}

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
static_assert (STEREO_SMOOTH_RADIUS % STEREO_GAPS_CELL == 0, "whole cells");

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
VEC_INLINE void
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

/* Neighbours of pixels of the colours @own. */
VEC_INLINE CpuMet
meet (VecU own, VecF value, VecU color)
{
  VecI valid = (VecI) (value == value),
       weight = vec_max (STEREO_FILL_ALIKE - vec_color_distance (own, color), (VecI){ 0 } + 1);
  return (CpuMet){ vec_choose (valid, value, (VecF){ 0 } + INFINITY), weight & valid };
}

VEC_INLINE VecF
median_of_batch (const Batch *batch, int neighbours)
{
  CpuMet met[MOST_NEIGHBOURS];

#pragma GCC unroll 32
  for (int k = 0; k < neighbours; k++)
    met[k] = meet (vec_load_u (batch->own), vec_load_f (batch->value[k]), vec_load_u (batch->color[k]));
  return weighted_median (met, neighbours);
}

/* Writes the weighted medians of the pixels that have neighbours, and empties the batch. It is large: nothing has a copy of it. */
static __attribute__ ((noinline)) void
write_medians (Batch *batch, int neighbours, float *to)
{
  VecF median;

  if (neighbours == STEREO_FILL_RAYS)
    median = median_of_batch (batch, STEREO_FILL_RAYS);
  else
    median = median_of_batch (batch, STEREO_SMOOTH_TAPS);
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

/* The next one from column @x on; at the end of the row an empty one. Pixels of the cells in @none, a row of a map or NULL, are left out. */
static Hole
next_hole (const float *from, const uint8_t *none, int x, int width)
{
  Hole hole;

  for (VecF v; x + LANES <= width && (v = vec_load_f (from + x), !vec_any ((VecI) (v != v)));)
    x += LANES;
  while (x < width && !(isnan (from[x]) && !(none && none[x / STEREO_GAPS_CELL])))
    x++;
  hole.first = x;
  while (x < width && isnan (from[x]) && !(none && none[x / STEREO_GAPS_CELL]))
    x++;
  hole.end = x;
  return hole;
}

/* The row of a map of cells that has row @y of the picture; NULL without gaps. */
static const uint8_t *
cells_of (const Context *c, const uint8_t *map, int y)
{
  return map ? map + cell_at (&c->gaps, 0, y / STEREO_GAPS_CELL) : NULL;
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
    int32_t at = c->place[k][ray_steps (plan, &c->rays, k, y)[x]];
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
  const uint8_t *needed = cells_of (c, c->gaps.needed, y);
  float *to = filled_row (c, y);
  Batch batch = { 0 };
  Hole hole = { 0 };

  copy_row (from, to, plan);
  while (hole = next_hole (from, NULL, hole.end, plan->width), hole.first < hole.end) {
    float value = farther (from, &hole, plan->width);
    for (int x = hole.first; x < hole.end; x++) {
      to[x] = value;
      if ((needed && !needed[x / STEREO_GAPS_CELL]) || !mismatched (plan, x, y))
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
  const uint8_t *needed = cells_of (c, c->gaps.needed, y);
  float *to = filled_row (c, y);
  CpuPlanes planes = { 0 };
  Hole hole = { 0 };

  fill_row (plan, context, y, thread);
  while (hole = next_hole (from, NULL, hole.end, plan->width), hole.first < hole.end)
    for (int x = hole.first; x < hole.end; x++) {
      if (isnan (to[x]) || (needed && !needed[x / STEREO_GAPS_CELL]))
        continue;
      add_plane (&planes, &c->taps, x, y, to[x], color[x]);
      if (planes.count == LANES)
        write_planes (plan, &planes, y, to);
    }
  write_planes (plan, &planes, y, to);
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
#pragma GCC unroll 32
  for (int k = 0; k < STEREO_SMOOTH_TAPS; k++) {
    int row = k / STEREO_SMOOTH_SIDE, at = tap_column (k, x);
    take_neighbour (batch, k, rows->value[row][at], rows->color[row][at]);
  }
}

/* The medians of @count pixels side by side. */
static __attribute__ ((noinline)) void
smooth_run (const TapRows *rows, int x, int count, const uint32_t *own, float *to)
{
  CpuMet met[STEREO_SMOOTH_TAPS];

#pragma GCC unroll 32
  for (int k = 0; k < STEREO_SMOOTH_TAPS; k++) {
    int row = k / STEREO_SMOOTH_SIDE, at = tap_column (k, x);
    met[k] = meet (vec_load_u (own + x), vec_load_f (rows->value[row] + at), vec_load_u (rows->color[row] + at));
  }
  VecF median = weighted_median (met, STEREO_SMOOTH_TAPS);
  for (int k = 0; k < count; k++)
    if (median[k] < INFINITY)
      to[x + k] = median[k];
}

static void
smooth_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = before_row (c, y);
  const uint32_t *color = color_row (c, y);
  const uint8_t *none = cells_of (c, c->gaps.none, y);
  float *to = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  TapRows rows = rows_around (plan, c, y);
  Batch batch = { 0 };
  Hole hole = { 0 };

  while (hole = next_hole (from, none, hole.end, plan->width), hole.first < hole.end) {
    int x = hole.first;
    for (; hole.end - x >= SHORTEST_RUN; x += LANES)
      smooth_run (&rows, x, hole.end - x < LANES ? hole.end - x : LANES, color, to);
    for (; x < hole.end; x++) {
      take_taps (&rows, &batch, x, color[x]);
      if (batch.count == LANES)
        write_medians (&batch, STEREO_SMOOTH_TAPS, to);
    }
  }
  write_medians (&batch, STEREO_SMOOTH_TAPS, to);
}

/* ---- stages --------------------------------------------------------------------------------------------- */

static StereoStatus
fill_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  CpuRays *rays = &c->rays;
  StereoStatus status;
  size_t count;

  c->pitch = plan->width + 2 * BORDER;
  for (int k = 0; k < CPU_RAYS_MEASURED; k++) /* the place of CPU_RAY_BEYOND stays 0 */
    for (int step = 1; step <= STEREO_FILL_STEPS; step++)
      c->place[k][step] = stereo_ray_offset (step, stereo_ray_y (measured_ray (k))) * c->pitch +
          stereo_ray_offset (step, stereo_ray_x (measured_ray (k)));
  count = stereo_times ((size_t) c->pitch, (size_t) plan->height);
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->before, count, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->filled, count, sizeof (float), error)) ||
      (status = stereo_reserve_for (
           plan, STEREO_LIFE_MAPS, (void **) &c->none, (size_t) c->pitch, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->image, count, sizeof (uint32_t), error)))
    return status;
  rays->pitch = plan->width + 2 * CPU_RAY_BORDER;
  count = stereo_times ((size_t) plan->height, (size_t) rays->pitch);
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &rays->holes, count, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &rays->none, (size_t) rays->pitch, 2, error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &rays->steps, count, CPU_RAYS_MEASURED, error);
}

/* @fill_one: fills a row. */
static void
fill_rows (StereoPlan *plan, Context *c, CpuJob fill_one)
{
  CpuRays *rays = &c->rays;

  fill_none (c->none, c->none + c->pitch);
  memset (rays->none, CPU_RAY_HOLE, (size_t) rays->pitch);
  memset (rays->none + rays->pitch, CPU_RAY_BEYOND, (size_t) rays->pitch);
  cpu_run (plan, rays, find_holes, plan->height);
  cpu_run (plan, rays, measure_ray, CPU_RAYS_MEASURED);
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
  CpuGaps *c = &((Context *) context)->gaps;
  uint8_t **maps[] = { &c->sure, &c->bare, &c->hole, &c->none, &c->needed, &c->open[0], &c->open[1] };
  StereoStatus status = planes_prepare (plan, context, error);

  c->columns = stereo_gaps_cells (plan->width);
  c->rows = stereo_gaps_cells (plan->height);
  for (size_t k = 0; k < sizeof maps / sizeof *maps && !status; k++)
    status = stereo_reserve_for (
        plan, STEREO_LIFE_MAPS, (void **) maps[k], (size_t) c->columns * (size_t) c->rows, 1, error);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->sums,
                      ((size_t) c->columns + 1) * ((size_t) c->rows + 1), sizeof *c->sums, error);
}

static StereoStatus
gaps_run (StereoPlan *plan, void *context, StereoError *error)
{
  CpuGaps *c = &((Context *) context)->gaps;
  size_t cells = (size_t) c->columns * (size_t) c->rows;

  cpu_run (plan, c, count_row, c->rows);
  find_bare (plan, c, STEREO_GAPS_LARGE, c->none);
  find_bare (plan, c, STEREO_GAPS_SMALL, c->hole);
  memset (c->open[1], 0, cells);
  for (int k = 0; k < STEREO_GAPS_RAYS; k++)
    follow_ray (c, stereo_gaps_ray (k));
  for (size_t at = 0; at < cells; at++) {
    c->none[at] |= c->open[1][at] >= STEREO_GAPS_OPEN;
    c->hole[at] = !c->none[at];
  }
  judge_squares (c, c->hole, c->needed, STEREO_SMOOTH_RADIUS / STEREO_GAPS_CELL, 0, 1);
  planes_run (plan, context, error);
  cpu_run (plan, c, empty_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    fill) = { .name = "fill", .context_size = sizeof (Context), .prepare = fill_prepare, .run = fill_run };
const StereoStage CPU (
    planes) = { .name = "planes", .context_size = sizeof (Context), .prepare = planes_prepare, .run = planes_run };
const StereoStage CPU (
    gaps) = { .name = "gaps", .context_size = sizeof (Context), .prepare = gaps_prepare, .run = gaps_run };
