/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling: stereo/exact/fill.h says what a pixel without a disparity gets. Few cells have a point without one: values are found for
 * those alone. The last medians look at copies with borders. */
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

#define CPU_TAP_BORDER (STEREO_PLANE_CELLS / 2) /* cells around the points */
#define VECTORS (STEREO_PLANE_CELLS / LANES)    /* of a row of a window */
#define ROUNDED(v) ((v) + STEREO_PLANE_MAGIC - STEREO_PLANE_MAGIC)

/* The points, with a border of none. */
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

/* Sums of a window, of each lane. */
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

/* Points of a row that get planes. */
typedef struct CpuPlanes
{
  int count;
  int column[LANES]; /* of cells */
  float anchor[LANES];
  CpuPlaneLanes sums[LANES];
} CpuPlanes;

/* Of the point of cell (@x, @y). */
static inline void
add_plane (CpuPlanes *planes, const CpuTaps *taps, int x, int y, float anchor)
{
  const VecI lanes = LANE_NUMBERS;
  size_t pitch = (size_t) taps->pitch;
  size_t point = (size_t) (y + CPU_TAP_BORDER) * pitch + (size_t) (x + CPU_TAP_BORDER);
  size_t at = point - (size_t) -STEREO_PLANE_FIRST * (pitch + 1);
  float near = stereo_plane_near (anchor);
  CpuPlaneColumns columns[VECTORS] = { 0 };
  CpuPlaneLanes sums = { 0 };
  VecU own = (VecU){ 0 } + taps->color[point];

#pragma GCC unroll 16
  for (int k = STEREO_PLANE_FIRST; k < STEREO_PLANE_FIRST + STEREO_PLANE_CELLS; k++, at += pitch)
    for (int v = 0; v < VECTORS; v++)
      add_taps (
          &columns[v], taps->disparity + at + v * LANES, taps->color + at + v * LANES, anchor, near, own, (float) k);
  for (int v = 0; v < VECTORS; v++)
    add_columns (&sums, &columns[v], vec_float (lanes + (STEREO_PLANE_FIRST + v * LANES)));
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

/* Moves the points of row @to onto their planes, and empties @planes. */
static __attribute__ ((noinline)) void
write_planes (const StereoPlan *plan, CpuPlanes *planes, float *to)
{
  float min = (float) plan->min_disparity, max = (float) (plan->min_disparity + plan->disparities - 1);
  VecI w = TOTALS (w), wx = TOTALS (wx), wy = TOTALS (wy), wxx = TOTALS (wxx), wxy = TOTALS (wxy), wyy = TOTALS (wyy);
  VecI wd = TOTALS (wd), wxd = TOTALS (wxd), wyd = TOTALS (wyd);

  for (int k = 0; k < planes->count; k++) {
    StereoPlaneSums sums = { w[k], wx[k], wy[k], wxx[k], wxy[k], wyy[k], wd[k], wxd[k], wyd[k] };
    to[planes->column[k]] = stereo_plane_value (&sums, planes->anchor[k], min, max);
  }
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
  for (int y = row * STEREO_FILL_CELL; y < lesser ((row + 1) * STEREO_FILL_CELL, plan->height); y++) {
    size_t at = (size_t) y * (size_t) plan->map_pitch;
    Row r = { plan->disparity + at, plan->view[STEREO_LEFT].confidence + at, stereo_params_sure (&plan->params) };
    int lacking = count_lacking (&r, plan->width);
    for (int x = 0; x < lacking; x++)
      to[x / STEREO_FILL_CELL]++;
    for (int x = lacking; x < plan->width; x++) {
      uint8_t *count = to + x / STEREO_FILL_CELL;
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

#define BORDER (LANES + STEREO_SMOOTH_RADIUS) /* columns on both sides of a copy */

typedef struct Context
{
  /* rows of the picture, with a border on both sides: of NaN, and of any colour */
  float *filled; /* disparities; where there is none, that of the cell's point */
  float *none;   /* a row of NaN */
  uint32_t *image;
  int pitch;
  float *value; /* of the points, filled */
  CpuTaps taps;
  int columns, rows; /* of cells */
  int has_planes;
  CpuGaps gaps; /* gaps only */
} Context;

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

static void
fill_none (float *from, float *to)
{
  while (from < to)
    *from++ = NAN;
}

/* A row of cells, or of their border: the disparity and the colour of each point. */
static void
make_taps (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  int inside = row >= CPU_TAP_BORDER && row < CPU_TAP_BORDER + c->rows;
  size_t y = inside ? (size_t) stereo_fill_point (row - CPU_TAP_BORDER, plan->height) : 0;
  const float *from = plan->disparity + y * (size_t) plan->map_pitch;
  const uint32_t *color = plan->view[STEREO_LEFT].color + y * (size_t) plan->image_pitch;
  float *value = c->value + (size_t) (inside ? row - CPU_TAP_BORDER : 0) * (size_t) c->columns;

  for (int k = 0; k < c->taps.pitch; k++) {
    int column = k - CPU_TAP_BORDER, x = column * STEREO_FILL_CELL,
        exists = inside && column >= 0 && column < c->columns;
    size_t at = (size_t) row * (size_t) c->taps.pitch + (size_t) k;
    c->taps.disparity[at] = exists && !isnan (from[x]) ? from[x] : STEREO_PLANE_NOWHERE;
    c->taps.color[at] = exists ? color[x] : 0;
    if (exists)
      value[column] = from[x];
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
  while (x < width && !(isnan (from[x]) && !(none && none[x / STEREO_FILL_CELL])))
    x++;
  hole.first = x;
  while (x < width && isnan (from[x]) && !(none && none[x / STEREO_FILL_CELL]))
    x++;
  hole.end = x;
  return hole;
}

/* Row @row of a map of cells; NULL without gaps. */
static const uint8_t *
cells_of (const Context *c, const uint8_t *map, int row)
{
  return map ? map + cell_at (&c->gaps, 0, row) : NULL;
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

/* The neighbours all around the point (@x, @y) of cell @column. */
static void
take_around (const StereoPlan *plan, Batch *batch, int column, int x, int y)
{
  const uint32_t *color = plan->view[STEREO_LEFT].color;

  begin_pixel (batch, column, color[(size_t) y * (size_t) plan->image_pitch + (size_t) x]);
  for (int ray = 0; ray < STEREO_FILL_RAYS; ray++) {
    int along = stereo_ray_x (ray), down = stereo_ray_y (ray);
    take_neighbour (batch, ray, NAN, 0);
    for (int step = 1; step <= STEREO_FILL_STEPS; step++) {
      int u = x + stereo_ray_offset (step, along), v = y + stereo_ray_offset (step, down);
      if (u < 0 || u >= plan->width || v < 0 || v >= plan->height)
        break;
      float d = plan->disparity[(size_t) v * (size_t) plan->map_pitch + (size_t) u];
      if (isnan (d))
        continue;
      take_neighbour (batch, ray, d, color[(size_t) v * (size_t) plan->image_pitch + (size_t) u]);
      break;
    }
  }
}

/* A row of cells: the values of its points. */
static void
fill_points (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  const uint8_t *needed = cells_of (c, c->gaps.needed, row);
  float *to = c->value + (size_t) row * (size_t) c->columns;
  int y = stereo_fill_point (row, plan->height);
  size_t taps = (size_t) (row + CPU_TAP_BORDER) * (size_t) c->taps.pitch + CPU_TAP_BORDER;
  Batch batch = { 0 };
  CpuPlanes planes = { 0 };
  Hole hole = { 0 };

  while (hole = next_hole (to, NULL, hole.end, c->columns), hole.first < hole.end) {
    float before = hole.first > 0 ? to[hole.first - 1] : NAN, after = hole.end < c->columns ? to[hole.end] : NAN;
    for (int x = hole.first; x < hole.end; x++) {
      to[x] = isnan (before) || after < before ? after : before;
      if ((needed && !needed[x]) ||
          (stereo_fill_hides (before, after, hole.end - x) && !mismatched (plan, x * STEREO_FILL_CELL, y)))
        continue;
      take_around (plan, &batch, x, x * STEREO_FILL_CELL, y);
      if (batch.count == LANES)
        write_medians (&batch, STEREO_FILL_RAYS, to);
    }
  }
  write_medians (&batch, STEREO_FILL_RAYS, to);
  for (int x = 0; x < c->columns && c->has_planes; x++) {
    if (c->taps.disparity[taps + (size_t) x] < STEREO_PLANE_NOWHERE || isnan (to[x]) || (needed && !needed[x]))
      continue;
    add_plane (&planes, &c->taps, x, row, to[x]);
    if (planes.count == LANES)
      write_planes (plan, &planes, to);
  }
  write_planes (plan, &planes, to);
}

/* A row of the picture: the copies. */
static void
copy_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *from = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  const float *value = c->value + (size_t) (y / STEREO_FILL_CELL) * (size_t) c->columns;
  float *to = filled_row (c, y);

  fill_none (to - BORDER, to);
  for (int x = 0; x < plan->width; x++)
    to[x] = isnan (from[x]) ? value[x / STEREO_FILL_CELL] : from[x];
  fill_none (to + plan->width, to + plan->width + BORDER);
  memcpy (color_row (c, y), plan->view[STEREO_LEFT].color + (size_t) y * (size_t) plan->image_pitch,
      (size_t) plan->width * sizeof *c->image);
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
  const uint32_t *color = color_row (c, y);
  const uint8_t *none = cells_of (c, c->gaps.none, y / STEREO_FILL_CELL);
  float *to = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  TapRows rows = rows_around (plan, c, y);
  Batch batch = { 0 };
  Hole hole = { 0 };

  while (hole = next_hole (to, none, hole.end, plan->width), hole.first < hole.end) {
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
  for (int x = 0; none && x < plan->width; x++)
    to[x] = none[x / STEREO_FILL_CELL] ? NAN : to[x];
}

/* ---- stages --------------------------------------------------------------------------------------------- */

static int
tap_rows (const Context *c)
{
  return c->rows + 2 * CPU_TAP_BORDER;
}

static StereoStatus
fill_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status;
  size_t pixels, taps;

  c->pitch = plan->width + 2 * BORDER;
  c->columns = stereo_fill_cells (plan->width);
  c->rows = stereo_fill_cells (plan->height);
  c->taps.pitch = c->columns + 2 * CPU_TAP_BORDER;
  pixels = stereo_times ((size_t) c->pitch, (size_t) plan->height);
  taps = (size_t) c->taps.pitch * (size_t) tap_rows (c);
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->filled, pixels, sizeof (float), error)) ||
      (status = stereo_reserve_for (
           plan, STEREO_LIFE_MAPS, (void **) &c->none, (size_t) c->pitch, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->image, pixels, sizeof (uint32_t), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->value, taps, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->taps.disparity, taps, sizeof (float), error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->taps.color, taps, sizeof (uint32_t), error);
}

static StereoStatus
planes_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  ((Context *) context)->has_planes = 1;
  return fill_prepare (plan, context, error);
}

static StereoStatus
fill_run (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;

  fill_none (c->none, c->none + c->pitch);
  cpu_run (plan, c, make_taps, tap_rows (c));
  cpu_run (plan, c, fill_points, c->rows);
  cpu_run (plan, c, copy_row, plan->height);
  cpu_run (plan, c, smooth_row, plan->height);
  return STEREO_OK;
}

static StereoStatus
gaps_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  CpuGaps *c = &((Context *) context)->gaps;
  uint8_t **maps[] = { &c->sure, &c->bare, &c->hole, &c->none, &c->needed, &c->open[0], &c->open[1] };
  StereoStatus status = planes_prepare (plan, context, error);

  c->columns = stereo_fill_cells (plan->width);
  c->rows = stereo_fill_cells (plan->height);
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
  judge_squares (c, c->hole, c->needed, STEREO_SMOOTH_RADIUS / STEREO_FILL_CELL, 0, 1);
  return fill_run (plan, context, error);
}

const StereoStage CPU (
    fill) = { .name = "fill", .context_size = sizeof (Context), .prepare = fill_prepare, .run = fill_run };
const StereoStage CPU (
    planes) = { .name = "planes", .context_size = sizeof (Context), .prepare = planes_prepare, .run = fill_run };
const StereoStage CPU (
    gaps) = { .name = "gaps", .context_size = sizeof (Context), .prepare = gaps_prepare, .run = gaps_run };
