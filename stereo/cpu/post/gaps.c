/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fill=gaps leaves without a value: ../../exact/gaps.h. Cells are few: one thread takes them all. */
#include "stereo/cpu/post/gaps.h"

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

StereoStatus
CPU (gaps_reserve) (StereoPlan *plan, CpuGaps *c, StereoError *error)
{
  uint8_t **maps[] = { &c->sure, &c->bare, &c->hole, &c->none, &c->open[0], &c->open[1] };
  StereoStatus status = STEREO_OK;

  c->columns = stereo_gaps_cells (plan->width);
  c->rows = stereo_gaps_cells (plan->height);
  for (size_t k = 0; k < sizeof maps / sizeof *maps && !status; k++)
    status = stereo_reserve_for (
        plan, STEREO_LIFE_MAPS, (void **) maps[k], (size_t) c->columns * (size_t) c->rows, 1, error);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->sums,
                      ((size_t) c->columns + 1) * ((size_t) c->rows + 1), sizeof *c->sums, error);
}

void
CPU (gaps_find) (StereoPlan *plan, CpuGaps *c)
{
  size_t cells = (size_t) c->columns * (size_t) c->rows;

  cpu_run (plan, c, count_row, c->rows);
  find_bare (plan, c, STEREO_GAPS_LARGE, c->none);
  find_bare (plan, c, STEREO_GAPS_SMALL, c->hole);
  memset (c->open[1], 0, cells);
  for (int k = 0; k < STEREO_GAPS_RAYS; k++)
    follow_ray (c, stereo_gaps_ray (k));
  for (size_t at = 0; at < cells; at++)
    c->none[at] |= c->open[1][at] >= STEREO_GAPS_OPEN;
}

void
CPU (gaps_empty) (StereoPlan *plan, CpuGaps *c)
{
  cpu_run (plan, c, empty_row, plan->height);
}
