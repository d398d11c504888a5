/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probability that each disparity of the left view is right: stereo/exact/confidence.h says from what. */
#include "stereo/cpu/post/partner.h"
#include "stereo/cpu/post/pick.h"
#include "stereo/cpu/vec/vec.h"

#define WINDOW (2 * STEREO_AGREEMENT_RADIUS + 1)
#define SIDE (2 * STEREO_CELLS_AROUND + 1)
#define PAD (STEREO_CELLS_AROUND * STEREO_CELL)
_Static_assert(STEREO_CELL == sizeof (uint32_t), "a row of a cell is a word");
#define NEVER_LIKE 1000 /* as the luma of a cell: no pixel's is like it */
#define PACKED 4096u    /* a cell, in 16 bits in which cells are counted and added up at once */
_Static_assert(SIDE * 255 < PACKED && SIDE <= 65535 / PACKED, "a row of cells");

/* What a thread works in: rows of words. */
typedef struct Lines
{
  uint16_t *own;           /* the luma of the row's pixels */
  uint16_t *agreeing;      /* of each column, in the rows of the window; zeros stand before and after */
  uint16_t *fours, *count; /* of four columns, of the whole window */
  uint16_t *like, *total;  /* cells that are like the pixel, and their sum */
  uint16_t *agreement, *distinctness, *edge;
} Lines;
#define LINES 9

typedef struct Context
{
  StereoProbability table;
  uint8_t *agrees; /* map */
  /* Two lines for each row of cells: the luma of a cell's pixel, and its distinctness, repeated at each column of the cell.
   * There are PAD columns before and after the picture's. */
  uint16_t *luma, *distinctness;
  uint16_t *lines; /* of all threads */
  size_t pitch;    /* of all lines, elements: whole vectors, and the pads */
} Context;

/* ---- measures of single pixels ----------------------------------------------------------------- */

/* Clears the pixels of row @y about which the levels disagree. A row of a map has room for an even number. */
static void
compare_levels (const StereoPlan *plan, const uint16_t *restrict index, uint8_t *restrict agrees, int y)
{
  const StereoPlan *half = plan->coarse;
  size_t map = (size_t) (y / 2) * (size_t) half->map_pitch;
  const uint16_t *restrict after = half->view[STEREO_LEFT].index + map, *restrict before = half->winner + map;
  int least = plan->min_disparity;

  for (int x = 0; x < half->width; x++) {
    agrees[2 * x] &= (uint8_t) stereo_levels_agree (index[2 * x], after[x], before[x], least);
    agrees[2 * x + 1] &= (uint8_t) stereo_levels_agree (index[2 * x + 1], after[x], before[x], least);
  }
}

static void
compare_views (const StereoPlan *plan, const Context *c, int y)
{
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  const uint16_t *index = plan->view[STEREO_LEFT].index + map, *other = plan->view[STEREO_RIGHT].index + map;
  uint8_t *agrees = c->agrees + map;

  for (int x = 0; x < plan->width; x += LANES) {
    VecI none, away = cpu_disagreement (plan, index, other, x, &none);
    vec_store_b (agrees + x, vec_narrow_bytes ((away <= STEREO_AGREEMENT_MOST) & ~none & 1));
  }
  if (plan->listed)
    compare_levels (plan, index, agrees, y);
}

static uint32_t
distinctness_of (const StereoPlan *plan, int cell, int row, int x, int y)
{
  const CpuState *state = cpu_state (plan);
  const uint16_t *column = plan->volume + ((size_t) y * (size_t) plan->width + (size_t) x) * (size_t) plan->depth;

  if (state->distinctness)
    return state->distinctness[row * stereo_cells (plan->width) + cell];
  for (int k = 0; k < plan->depth; k += 32) /* of the next cell's */
    __builtin_prefetch (column + STEREO_CELL * plan->depth + k);
  return CPU (distinctness) (
      plan, column, plan->view[STEREO_LEFT].index[(size_t) y * (size_t) plan->map_pitch + (size_t) x]);
}

/* Whether the cell whose first pixel is @first has more than one luma. */
static int
has_texture (const StereoPlan *plan, const uint8_t *first, int columns, int rows)
{
  uint32_t all = 0x01010101u * *first, word, different = 0;

  if (columns == STEREO_CELL && rows == STEREO_CELL) {
    for (int v = 0; v < STEREO_CELL; v++) {
      memcpy (&word, first + v * plan->image_pitch, sizeof word);
      different |= word ^ all;
    }
    return different != 0;
  }
  for (int v = 0; v < rows; v++)
    for (int u = 0; u < columns; u++)
      different |= first[v * plan->image_pitch + u] ^ *first;
  return different != 0;
}

/* A row of cells, and the rows of pixels in it. */
static void
measure_row (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  uint16_t *luma = c->luma + (size_t) row * c->pitch + PAD,
           *distinctness = c->distinctness + (size_t) row * c->pitch + PAD;
  int end = (row + 1) * STEREO_CELL, pixel_y = stereo_cell_pixel (row, plan->height);
  int columns = stereo_cells (plan->width) * STEREO_CELL;
  const uint8_t *picture = plan->view[STEREO_LEFT].luma + (size_t) pixel_y * (size_t) plan->image_pitch;
  const uint8_t *top = plan->view[STEREO_LEFT].luma + (size_t) (row * STEREO_CELL) * (size_t) plan->image_pitch;
  int rows = end < plan->height ? STEREO_CELL : plan->height - row * STEREO_CELL;

  for (int y = row * STEREO_CELL; y < end && y < plan->height; y++)
    compare_views (plan, c, y);
  for (int k = 0; k < PAD; k++)
    luma[k - PAD] = luma[columns + k] = NEVER_LIKE;
  for (int k = 0; k < stereo_cells (plan->width); k++) {
    int x = stereo_cell_pixel (k, plan->width);
    int first = k * STEREO_CELL, side = first + STEREO_CELL <= plan->width ? STEREO_CELL : plan->width - first;
    int textured = has_texture (plan, top + first, side, rows);
    uint16_t value = textured ? (uint16_t) distinctness_of (plan, k, row, x, pixel_y) : 0;
    for (int j = first; j < first + STEREO_CELL; j++) {
      luma[j] = textured ? picture[x] : NEVER_LIKE;
      distinctness[j] = value;
    }
  }
}

/* ---- measures around a pixel ------------------------------------------------------------------- */

/* Adds row @y to the columns' counts, or takes it away. A row outside the picture does neither. */
static void
add_row (const StereoPlan *plan, const Context *c, uint16_t *restrict agreeing, int y, int sign)
{
  if (y < 0 || y >= plan->height)
    return;
  const uint8_t *restrict agrees = c->agrees + (size_t) y * (size_t) plan->map_pitch;
  for (int x = 0; x < plan->width; x++)
    agreeing[x] = (uint16_t) (agreeing[x] + sign * agrees[x]);
}

/* One row of cells: of each pixel those from PAD columns before it to as many after. Of those that are like the pixel, their
 * number, in multiples of PACKED, and their sum. */
static inline VecU16
add_cells (const uint16_t *luma, const uint16_t *distinctness, VecU16 own)
{
  const VecU16 alike = (VecU16){ 0 } + STEREO_LIKE_LUMA;
  VecU16 sum = { 0 };

#pragma GCC unroll 16
  for (int k = 0; k < SIDE; k++) {
    VecU16 cell, value;
    memcpy (&cell, luma + k * STEREO_CELL, sizeof cell);
    memcpy (&value, distinctness + k * STEREO_CELL, sizeof value);
    VecU16 away = cell - own + alike; /* 0 .. twice @alike, if it is like */
    sum += (value + PACKED) & (VecU16) (away <= alike + alike);
  }
  return sum;
}

/* Which columns of a row of cells, the rows from @y to before @end, are of cells with a depth edge. */
static void
mark_edges (const StereoPlan *plan, const Lines *lines, int y, int end)
{
  uint16_t *restrict low = lines->count, *restrict high = lines->fours, *restrict edge = lines->edge;

  for (int row = y; row < end && row < plan->height; row++) {
    const uint16_t *restrict index = plan->view[STEREO_LEFT].index + (size_t) row * (size_t) plan->map_pitch;
    for (int x = 0; x < plan->width; x++) {
      low[x] = row > y && low[x] < index[x] ? low[x] : index[x];
      high[x] = row > y && high[x] > index[x] ? high[x] : index[x];
    }
  }
  for (int x = 0; x < STEREO_CELL; x++) /* the last cell may end behind the picture */
    low[plan->width + x] = low[plan->width - 1], high[plan->width + x] = high[plan->width - 1];
  for (int x = 0; x < plan->width; x += STEREO_CELL) {
    uint16_t least = low[x], most = high[x];
    for (int k = 1; k < STEREO_CELL; k++) {
      least = low[x + k] < least ? low[x + k] : least;
      most = high[x + k] > most ? high[x + k] : most;
    }
    for (int k = 0; k < STEREO_CELL; k++)
      edge[x + k] = most - least > STEREO_EDGE;
  }
}

/* All cells round the pixels of row @y. */
static void
add_all_cells (const StereoPlan *plan, const Context *c, const Lines *lines, int y)
{
  const uint8_t *own = plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch;
  int rows = stereo_cells (plan->height), first = y / STEREO_CELL - STEREO_CELLS_AROUND;
  int last = first + SIDE < rows ? first + SIDE : rows;

  for (int x = 0; x < plan->width; x++)
    lines->own[x] = own[x];
  for (int x = 0; x < plan->width; x += 2 * LANES) {
    VecU16 pixels, like = { 0 }, total = { 0 };
    memcpy (&pixels, lines->own + x, sizeof pixels);
    for (int row = first > 0 ? first : 0; row < last; row++) {
      size_t at = (size_t) row * c->pitch + (size_t) x;
      VecU16 sum = add_cells (c->luma + at, c->distinctness + at, pixels);
      like += sum / PACKED;
      total += sum % PACKED;
    }
    memcpy (lines->like + x, &like, sizeof like);
    memcpy (lines->total + x, &total, sizeof total);
  }
}

/* Pixels that agree in the windows of a row. */
static void
add_columns (const Lines *lines, int width)
{
  const uint16_t *restrict columns = lines->agreeing - STEREO_AGREEMENT_RADIUS;
  uint16_t *restrict fours = lines->fours, *restrict count = lines->count;

  for (int x = 0; x < width + WINDOW; x++)
    fours[x] = (uint16_t) (columns[x] + columns[x + 1] + columns[x + 2] + columns[x + 3]);
  for (int x = 0; x < width; x++)
    count[x] = (uint16_t) (fours[x] + fours[x + 4] + fours[x + 8] + fours[x + 12] + fours[x + 16] +
        columns[x + WINDOW - 1]);
}

_Static_assert(WINDOW == 21, "add_columns() adds up five times four columns and one");

/* In whole numbers below 2^24. The quotient of floats is exact: none is nearer to a whole number from below than one part of
 * its divisor, which is at most the window. */
static inline VecI
quotient (VecI a, VecI b)
{
  return __builtin_convertvector(vec_float (a) / vec_float (b), VecI);
}

/* Both measures in lanes. @rows: of the windows. */
static void
measure_windows (const Lines *lines, const uint16_t *own, int32_t rows, int width)
{
  const VecI lanes = LANE_NUMBERS, most = (VecI){ 0 } + STEREO_AGREEMENT_RADIUS, one = (VecI){ 0 } + 1;

  for (int x = 0; x < width; x += LANES) {
    VecI count = vec_widen (vec_load_h (lines->count + x)), column = lanes + x;
    VecI all = (vec_min (column, most) + vec_max (vec_min (width - 1 - column, most), one - 1) + 1) * rows;
    VecI like = vec_widen (vec_load_h (lines->like + x)), total = vec_widen (vec_load_h (lines->total + x));
    VecI none = like == 0, alone = vec_widen (vec_load_h (own + x));
    VecI mean = quotient (total + (like >> 1), vec_max (like, one));
    vec_store_h (lines->agreement + x, vec_narrow (quotient (255 * count + (all >> 1), all)));
    vec_store_h (lines->distinctness + x, vec_narrow ((alone & none) | (mean & ~none)));
  }
}

static void
finish_row (const StereoPlan *plan, const Context *c, const Lines *lines, int y)
{
  int first = y > STEREO_AGREEMENT_RADIUS ? y - STEREO_AGREEMENT_RADIUS : 0, last = y + STEREO_AGREEMENT_RADIUS;
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  const uint16_t *index = plan->view[STEREO_LEFT].index + map;
  float *restrict confidence = plan->view[STEREO_LEFT].confidence + map, *restrict disparity = plan->disparity + map;
  float least = (float) stereo_params_first_threshold (&plan->params);

  add_columns (lines, plan->width);
  measure_windows (lines, c->distinctness + (size_t) (y / STEREO_CELL) * c->pitch + PAD,
      (last < plan->height ? last : plan->height - 1) - first + 1, plan->width);
  for (int x = 0; x < plan->width; x++)
    confidence[x] = stereo_probability (
        &c->table, lines->agreement[x], lines->distinctness[x], lines->edge[x], index[x], plan->disparities - 1);
  for (int x = 0; x < plan->width; x++)
    disparity[x] = confidence[x] < least ? NAN : disparity[x];
}

static void
combine_row (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  uint16_t *line[LINES];
  int first = row * STEREO_CELL, end = first + STEREO_CELL;

  for (int k = 0; k < LINES; k++)
    line[k] = c->lines + ((size_t) thread * LINES + (size_t) k) * c->pitch;
  Lines lines = { line[0], line[1] + STEREO_AGREEMENT_RADIUS, line[2], line[3], line[4], line[5], line[6], line[7],
    line[8] };
  memset (line[1], 0, c->pitch * sizeof *line[1]);
  for (int y = first - STEREO_AGREEMENT_RADIUS; y < first + STEREO_AGREEMENT_RADIUS; y++)
    add_row (plan, c, lines.agreeing, y, 1);
  if (c->table.edge)
    mark_edges (plan, &lines, first, end);
  else
    memset (lines.edge, 0, (size_t) plan->width * sizeof *lines.edge);
  for (int y = first; y < end && y < plan->height; y++) {
    add_row (plan, c, lines.agreeing, y + STEREO_AGREEMENT_RADIUS, 1);
    add_all_cells (plan, c, &lines, y);
    finish_row (plan, c, &lines, y);
    add_row (plan, c, lines.agreeing, y - STEREO_AGREEMENT_RADIUS, -1);
  }
}

/* ---- the stage ---------------------------------------------------------------------------------- */

static StereoStatus
probability_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t rows = (size_t) stereo_cells (plan->height);
  StereoStatus status;

  stereo_probability_table (&plan->params, &c->table);
  c->pitch = ((size_t) plan->width + 2 * LANES - 1) / (2 * LANES) * (2 * LANES) + STEREO_CELL + 2 * PAD;
  if ((status = stereo_reserve_for (
           plan, STEREO_LIFE_MAPS, (void **) &c->agrees, (size_t) plan->map_pitch * (size_t) plan->height, 1, error)) ||
      (status = stereo_reserve_for (
           plan, STEREO_LIFE_MAPS, (void **) &c->luma, rows * c->pitch, sizeof *c->luma, error)) ||
      (status = stereo_reserve_for (
           plan, STEREO_LIFE_MAPS, (void **) &c->distinctness, rows * c->pitch, sizeof *c->distinctness, error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->lines,
      (size_t) cpu_threads (plan) * LINES * c->pitch, sizeof *c->lines, error);
}

static StereoStatus
probability_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, measure_row, stereo_cells (plan->height));
  cpu_run (plan, context, combine_row, stereo_cells (plan->height));
  return STEREO_OK;
}

const StereoStage CPU (probability) = {
  .name = "probability", .context_size = sizeof (Context), .prepare = probability_prepare, .run = probability_run
};
