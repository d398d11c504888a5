/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Motion: unlikely disparities give way to those of the frame before, moved as the cameras did; exact/motion.h says how. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"
#include "stereo/exact/prior.h"

#include <stdlib.h>

/* ---- where a patch is found: the place whose sum of absolute differences is least ------------------- */

#define PATCH STEREO_MOTION_PATCH
#define SIDE (2 * PATCH + 1)
#define COLUMNS 32 /* that a search takes from a picture: no row of one has fewer */

/* Where a patch is looked for: @columns x @rows places, the first of them (@x, @y). */
typedef struct CpuSearch
{
  const uint8_t *picture;
  ptrdiff_t pitch;
  int x, y, columns, rows;
} CpuSearch;

typedef struct CpuFound
{
  int x, y;
  int32_t least;
} CpuFound;

#define ROWS_AWAY STEREO_MOTION_COARSE_Y /* rows to each side that are searched, at most */
#define PLACES (2 * LANES)               /* of a row, that are compared at once */
#define NEVER 0x7FFF                     /* no patch differs as much */

static_assert (2 * STEREO_MOTION_COARSE_X + SIDE <= COLUMNS && 2 * STEREO_MOTION_FINE + SIDE <= COLUMNS, "columns");
static_assert (STEREO_MOTION_FINE <= ROWS_AWAY, "rows");
static_assert (SIDE * SIDE * 255 < NEVER, "sums of a patch");

/* What all patches of a search cover, and the patch that is looked for: in 16 bits, in which differences add up. */
typedef struct Area
{
  uint16_t area[2 * ROWS_AWAY + SIDE][COLUMNS + PLACES], patch[SIDE][SIDE];
  int first; /* column of the area that the first patch begins at */
} Area;

static void
take_area (const uint8_t *patch, ptrdiff_t patch_pitch, const CpuSearch *search, Area *a)
{
  int left = search->x - PATCH, begin = left + COLUMNS < search->pitch ? left : (int) search->pitch - COLUMNS;

  a->first = left - begin;
  for (int row = 0; row < search->rows + 2 * PATCH; row++) {
    const uint8_t *restrict from = search->picture + (search->y - PATCH + row) * search->pitch + begin;
    for (int k = 0; k < COLUMNS; k++)
      a->area[row][k] = from[k];
    memset (a->area[row] + COLUMNS, 0, PLACES * sizeof **a->area);
  }
  for (int row = 0; row < SIDE; row++)
    for (int k = 0; k < SIDE; k++)
      a->patch[row][k] = patch[(row - PATCH) * patch_pitch + k - PATCH];
}

/* Sums of absolute differences at PLACES places of a row of which the first @columns are looked at, where one of these is below
 * @limit: else 0 is returned, mostly after few rows of the patch. */
static int
compare (const Area *a, int row, int column, int columns, int32_t limit, uint16_t *sums)
{
  const VecI lanes = LANE_NUMBERS;
  VecU16 place = (VecU16) (lanes * 0x20002 + 0x10000), least = (VecU16){ 0 } + (uint16_t) limit;
  VecU16 sum = (VecU16) (place >= (uint16_t) columns) & NEVER;

  for (int dy = 0; dy < SIDE; dy++) {
    const uint16_t *from = &a->area[row + dy][a->first + column];
#pragma GCC unroll 9
    for (int dx = 0; dx < SIDE; dx++) {
      VecU16 values, of_patch = (VecU16){ 0 } + a->patch[dy][dx];
      memcpy (&values, from + dx, sizeof values);
      sum += (VecU16) vec_byte_differences ((VecU) values, (VecU) of_patch);
    }
    if (!vec_any ((VecI) (sum < least)))
      return 0;
  }
  memcpy (sums, &sum, sizeof sum);
  return 1;
}

/* The first of equals. The row in the middle is looked at before the others: where little moves, these end soon. */
static CpuFound
find_patch (const uint8_t *patch, ptrdiff_t patch_pitch, const CpuSearch *search)
{
  CpuFound found = { search->x, search->y, NEVER };
  int middle = search->rows / 2;
  Area a;

  take_area (patch, patch_pitch, search, &a);
  for (int k = 0; k < search->rows; k++) {
    int row = k == 0 ? middle : k <= middle ? k - 1 : k;
    for (int from = 0; from < search->columns; from += PLACES) {
      int columns = search->columns - from < PLACES ? search->columns - from : PLACES;
      uint16_t sums[PLACES];
      int32_t limit = found.least + (search->y + row < found.y);
      if (!compare (&a, row, from, columns, limit, sums))
        continue;
      for (int i = 0; i < columns; i++)
        if (sums[i] < limit) {
          limit = sums[i];
          found = (CpuFound){ search->x + from + i, search->y + row, sums[i] };
        }
    }
  }
  return found;
}

#define ALIKE_RADIUS STEREO_MOTION_ALIKE_RADIUS
#define REDUCED STEREO_MOTION_REDUCED

typedef struct Context
{
  uint8_t *reduced[2]; /* the left view now and before */
  uint8_t *age;        /* map: of the pixels now */
  StereoMotionPoint points[STEREO_MOTION_POINTS];
  StereoMotionRows rows[STEREO_MOTION_POINTS];
  StereoMotion motion;
  int pitch, width, height; /* of the reduced views */
} Context;

static size_t
map_at (const StereoPlan *plan, int y)
{
  return (size_t) y * (size_t) plan->map_pitch;
}

/* ---- points ------------------------------------------------------------------------------------ */

static void
reduce_row (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int y = item / 2, before = item % 2, pitch = before ? plan->map_pitch : plan->image_pitch;
  const uint8_t *restrict luma = before ? plan->last.luma : plan->view[STEREO_LEFT].luma;
  uint8_t *restrict reduced = c->reduced[before] + y * c->pitch;

  luma += (size_t) y * REDUCED * (size_t) pitch;
  for (int x = 0; x < c->width; x++) {
    uint32_t sum = 8;
    for (int v = 0; v < REDUCED; v++)
      for (int u = 0; u < REDUCED; u++)
        sum += luma[v * pitch + x * REDUCED + u];
    reduced[x] = (uint8_t) (sum / 16);
  }
}

/* Places up to @away_x and @away_y from (@x, @y) whose patch lies in the picture. */
static CpuSearch
search_near (const uint8_t *picture, ptrdiff_t pitch, int width, int height, int x, int y, int away_x, int away_y)
{
  int left = x - away_x > PATCH ? x - away_x : PATCH, top = y - away_y > PATCH ? y - away_y : PATCH;
  int right = x + away_x < width - PATCH ? x + away_x : width - PATCH - 1;
  int bottom = y + away_y < height - PATCH ? y + away_y : height - PATCH - 1;
  return (CpuSearch){ picture, pitch, left, top, right - left + 1, bottom - top + 1 };
}

/* The sum of absolute differences between the view around (@x, @y) and the one before around (@then_x, @then_y), @radius px to
 * each side; -1 at the border of the picture. */
static inline int32_t
difference (const StereoPlan *plan, int x, int y, int then_x, int then_y, int radius)
{
  const uint8_t *now = plan->view[STEREO_LEFT].luma + (ptrdiff_t) y * plan->image_pitch + x;
  const uint8_t *then = plan->last.luma + (ptrdiff_t) then_y * plan->map_pitch + then_x;
  int last_x = plan->width - 1 - radius, last_y = plan->height - 1 - radius;
  int32_t sum = 0;

  if (x < radius || y < radius || x > last_x || y > last_y || then_x < radius || then_y < radius || then_x > last_x ||
      then_y > last_y)
    return -1;
  for (int v = -radius; v <= radius; v++)
    for (int u = -radius; u <= radius; u++)
      sum += abs (now[v * plan->image_pitch + u] - then[v * plan->map_pitch + u]);
  return sum;
}

/* From what was found for the patch around (@x, @y), in 1/16 px along x or y; 0 at the border of the picture. */
static int32_t
between (const StereoPlan *plan, int x, int y, const CpuFound *found, int dx, int dy)
{
  int32_t before = difference (plan, x, y, found->x - dx, found->y - dy, PATCH);
  int32_t after = difference (plan, x, y, found->x + dx, found->y + dy, PATCH);
  return before < 0 || after < 0 ? 0 : stereo_motion_between (before, found->least, after);
}

static void
track_point (StereoPlan *plan, const Context *c, int x, int y, StereoMotionPoint *point)
{
  const uint8_t *patch = plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch + x;
  int column = x / REDUCED, row = y / REDUCED, larger = plan->width > plan->height ? plan->width : plan->height;
  CpuSearch search = search_near (
      c->reduced[1], c->pitch, c->width, c->height, column, row, STEREO_MOTION_COARSE_X, STEREO_MOTION_COARSE_Y);
  CpuFound found = find_patch (c->reduced[0] + row * c->pitch + column, c->pitch, &search);

  search = search_near (plan->last.luma, plan->map_pitch, plan->width, plan->height, x + REDUCED * (found.x - column),
      y + REDUCED * (found.y - row), STEREO_MOTION_FINE, STEREO_MOTION_FINE);
  found = find_patch (patch, plan->image_pitch, &search);
  size_t at = map_at (plan, found.y) + (size_t) found.x;
  if (found.least > STEREO_MOTION_MOST_AWAY * SIDE * SIDE || plan->last.age[at] != 1 ||
      plan->last.confidence[at] < STEREO_MOTION_SURE)
    return;
  *point = (StereoMotionPoint){ .used = 1, .still = found.x == x && found.y == y, .sum = found.least };
  point->now[0] = stereo_motion_coordinate (16 * x, plan->width, larger);
  point->now[1] = stereo_motion_coordinate (16 * y, plan->height, larger);
  point->now[2] = stereo_motion_depth (plan->disparity[map_at (plan, y) + (size_t) x], larger);
  point->then[0] = stereo_motion_coordinate (16 * found.x + between (plan, x, y, &found, 1, 0), plan->width, larger);
  point->then[1] = stereo_motion_coordinate (16 * found.y + between (plan, x, y, &found, 0, 1), plan->height, larger);
  point->then[2] = stereo_motion_depth (plan->last.disparity[at], larger);
}

static void
find_point (StereoPlan *plan, void *context, int cell, int thread)
{
  Context *c = context;
  int column = cell % STEREO_MOTION_COLUMNS, row = cell / STEREO_MOTION_COLUMNS, best_x = 0, best_y = 0;
  int32_t best = STEREO_MOTION_TEXTURE - 1;

  c->points[cell] = (StereoMotionPoint){ 0 };
  for (int v = 0; v < STEREO_MOTION_PLACES; v++)
    for (int u = 0; u < STEREO_MOTION_PLACES; u++) {
      int x = stereo_motion_place (column, u, plan->width, STEREO_MOTION_COLUMNS);
      int y = stereo_motion_place (row, v, plan->height, STEREO_MOTION_ROWS);
      if (x < STEREO_MOTION_MARGIN || y < STEREO_MOTION_MARGIN || x >= plan->width - STEREO_MOTION_MARGIN ||
          y >= plan->height - STEREO_MOTION_MARGIN)
        continue;
      size_t at = map_at (plan, y) + (size_t) x;
      if (isnan (plan->disparity[at]) ||
          stereo_motion_confidence (plan->view[STEREO_LEFT].confidence[at]) < STEREO_MOTION_SURE)
        continue;
      int32_t texture = stereo_motion_texture (
          plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch + x, plan->image_pitch);
      if (texture > best) {
        best = texture;
        best_x = x;
        best_y = y;
      }
    }
  if (best >= STEREO_MOTION_TEXTURE)
    track_point (plan, c, best_x, best_y, &c->points[cell]);
  if (c->points[cell].used)
    c->rows[cell] = stereo_motion_rows (&c->points[cell]);
}

/* ---- fit --------------------------------------------------------------------------------------- */

static void
add_point (const StereoMotionRows *rows, int32_t weight, int64_t *sums)
{
  for (int k = 0; k < 3; k++) {
    int64_t *at = sums;
    const int32_t *of = rows->of[k];
    for (int i = 0; i < STEREO_MOTION_UNKNOWNS; i++)
      for (int j = i; j < STEREO_MOTION_UNKNOWNS; j++)
        *at++ += weight * ((int64_t) of[i] * of[j]);
    for (int i = 0; i < STEREO_MOTION_UNKNOWNS; i++)
      *at++ += weight * ((int64_t) of[i] * rows->rest[k]);
  }
}

static void
solve (const int64_t *sums, double *motion)
{
  double a[STEREO_MOTION_UNKNOWNS][STEREO_MOTION_UNKNOWNS + 1];

  for (int index = 0, i, j; index < STEREO_MOTION_SUMS; index++) {
    stereo_motion_pair (index, &i, &j);
    a[i][j] = stereo_motion_entry (sums[index], i, j);
    if (j < STEREO_MOTION_UNKNOWNS)
      a[j][i] = a[i][j];
  }
  for (int k = 0; k < STEREO_MOTION_UNKNOWNS; k++)
    for (int i = 0; i < STEREO_MOTION_UNKNOWNS; i++)
      for (int j = k + 1; j <= STEREO_MOTION_UNKNOWNS && i != k; j++)
        a[i][j] = stereo_motion_eliminate (a[i][j], a[i][k], a[k][k], a[k][j]);
  for (int k = 0; k < STEREO_MOTION_UNKNOWNS; k++)
    motion[k] = a[k][STEREO_MOTION_UNKNOWNS] / a[k][k];
}

static void
fit (const StereoPlan *plan, Context *c)
{
  double motion[STEREO_MOTION_UNKNOWNS] = { 0 };
  double half = (plan->width > plan->height ? plan->width : plan->height) / 2.0;
  StereoMotionCounts counts = { 0 };

  for (int k = 0; k < STEREO_MOTION_POINTS; k++) {
    counts.used += c->points[k].used;
    counts.still += c->points[k].still;
  }
  c->motion.known = 0;
  if (!stereo_motion_is_likely (&counts))
    return;
  for (int round = 0; round < STEREO_MOTION_ROUNDS; round++) {
    int64_t sums[STEREO_MOTION_SUMS] = { 0 };
    for (int k = 0; k < STEREO_MOTION_POINTS; k++)
      if (c->points[k].used)
        add_point (&c->rows[k], stereo_motion_weight (stereo_motion_away (&c->rows[k], motion, half), round), sums);
    solve (sums, motion);
  }
  for (int k = 0; k < STEREO_MOTION_POINTS; k++) {
    const StereoMotionPoint *point = &c->points[k];
    int near = point->used && stereo_motion_away (&c->rows[k], motion, half) <= STEREO_MOTION_NEAR * STEREO_MOTION_NEAR;
    counts.near += near;
    counts.sum += near ? point->sum : 0;
  }
  c->motion = stereo_motion_judge (motion, &counts, half);
}

/* ---- pixels ------------------------------------------------------------------------------------ */

/* Whether the views look alike around (@x, @y) now and (@then_x, @then_y) before. */
static int
is_alike (const StereoPlan *plan, const StereoMotion *motion, int x, int y, int then_x, int then_y)
{
  int32_t sum = difference (plan, x, y, then_x, then_y, ALIKE_RADIUS);
  return sum >= 0 && stereo_motion_alike (sum, motion);
}

/* Follows a pixel of disparity *@d into the frame before. Its place there, in the map, or -1; *@d becomes the disparity that
 * it has now by what was known there. */
static ptrdiff_t
follow (const StereoPlan *plan, const StereoMotion *motion, int x, int y, float *d)
{
  float middle_x = (float) (plan->width - 1) * 0.5f, middle_y = (float) (plan->height - 1) * 0.5f;
  float u = (float) x - middle_x, v = (float) y - middle_y, then_x, then_y;

  for (int step = 0; step < STEREO_MOTION_STEPS; step++) {
    if (!stereo_motion_where (motion, u, v, *d, &then_x, &then_y))
      return -1;
    then_x += middle_x;
    then_y += middle_y;
    if (!(then_x >= 0 && then_y >= 0 && then_x <= (float) (plan->width - 1) && then_y <= (float) (plan->height - 1)))
      return -1;
    int column = (int) rintf (then_x), row = (int) rintf (then_y);
    ptrdiff_t at = (ptrdiff_t) row * plan->map_pitch + column;
    if (!plan->last.age[at] || plan->last.age[at] >= STEREO_MOTION_OLDEST)
      return -1;
    float before = *d;
    *d = stereo_motion_now (motion, u, v, plan->last.disparity[at]);
    if (fabsf (*d - before) <= STEREO_MOTION_SETTLED)
      return is_alike (plan, motion, x, y, column, row) ? at : -1;
  }
  return -1;
}

static void
follow_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  size_t map = map_at (plan, y);
  const uint16_t *index = plan->view[STEREO_LEFT].index + map;
  float *disparity = plan->disparity + map, *confidence = plan->view[STEREO_LEFT].confidence + map;
  float least = (float) plan->min_disparity, most = (float) (plan->min_disparity + plan->disparities - 1);
  uint8_t *age = c->age + map;
  int32_t least_sure = stereo_motion_least_sure (stereo_params_first_threshold (&plan->params));

  for (int x = 0; x < plan->width; x++) {
    int32_t own = stereo_motion_confidence (confidence[x]);
    age[x] = (uint8_t) (isnan (disparity[x]) ? 0 : 1);
    if (!c->motion.known || own >= STEREO_MOTION_SURE || index[x] == STEREO_INVALID)
      continue;
    float d = isnan (disparity[x]) ? (float) (plan->min_disparity + index[x]) : disparity[x];
    ptrdiff_t at = follow (plan, &c->motion, x, y, &d);
    int32_t aged = at < 0 ? 0 : stereo_motion_aged (plan->last.confidence[at], least_sure);
    if (aged <= own || !(d >= least && d <= most))
      continue;
    disparity[x] = d;
    confidence[x] = (float) aged / 255.0f;
    age[x] = (uint8_t) (plan->last.age[at] + 1);
  }
}

static void
keep_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  size_t map = map_at (plan, y), width = (size_t) plan->width;
  const float *confidence = plan->view[STEREO_LEFT].confidence + map;
  uint8_t *restrict kept = plan->last.confidence + map;

  memcpy (plan->last.disparity + map, plan->disparity + map, width * sizeof (float));
  memcpy (plan->last.age + map, c->age + map, width);
  memcpy (plan->last.luma + map, plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch, width);
  for (int x = 0; x < plan->width; x++)
    kept[x] = (uint8_t) stereo_motion_confidence (confidence[x]);
}

/* ---- prediction -------------------------------------------------------------------------------- */

#define CHUNK 64 /* pixels whose places are computed at once */

/* What columns @from to @end - 1 of row @y predict. */
static void
predict_chunk (const StereoPlan *plan, const StereoMotion *motion, int y, int from, int end, int32_t least)
{
  float middle_x = (float) (plan->width - 1) * 0.5f, middle_y = (float) (plan->height - 1) * 0.5f;
  float across[CHUNK], down[CHUNK], next[CHUNK];
  int known[CHUNK];
  size_t map = map_at (plan, y);

  for (int x = from; x < end; x++)
    known[x - from] = stereo_prior_place (motion, (float) x - middle_x, (float) y - middle_y,
        plan->last.disparity[map + (size_t) x], &across[x - from], &down[x - from], &next[x - from]);
  for (int x = from; x < end; x++) {
    size_t at = map + (size_t) x;
    float column = rintf (across[x - from] + middle_x), row = rintf (down[x - from] + middle_y);
    if (!known[x - from] || plan->last.age[at] != 1 || plan->last.confidence[at] < least ||
        !(column >= 0 && row >= 0 && column <= (float) (plan->width - 1) && row <= (float) (plan->height - 1)))
      continue;
    uint32_t word = stereo_prior_word (next[x - from], plan->min_disparity, plan->disparities, plan->last.luma[at]);
    cpu_keep_largest (plan->last.predicted + map_at (plan, (int) row) + (size_t) column, word);
  }
}

static void
predict_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  int32_t least = stereo_prior_least_sure (stereo_params_hide_unlikely (&plan->params));

  for (int x = 0; x < plan->width; x += CHUNK)
    predict_chunk (plan, &c->motion, y, x, x + CHUNK < plan->width ? x + CHUNK : plan->width, least);
}

/* ---- the stage --------------------------------------------------------------------------------- */

static StereoStatus
motion_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status = STEREO_OK;

  c->width = plan->width / REDUCED;
  c->height = plan->height / REDUCED;
  c->pitch = c->width > COLUMNS ? c->width : COLUMNS;
  for (int k = 0; k < 2 && !status; k++)
    status = stereo_reserve (plan, (void **) &c->reduced[k], (size_t) c->pitch * (size_t) c->height + 1, 1, error);
  return status ? status :
                  stereo_reserve (plan, (void **) &c->age, (size_t) plan->map_pitch * (size_t) plan->height, 1, error);
}

static StereoStatus
motion_run (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;

  cpu_run (plan, context, reduce_row, 2 * c->height);
  cpu_run (plan, context, find_point, STEREO_MOTION_POINTS);
  fit (plan, c);
  cpu_run (plan, context, follow_row, plan->height);
  cpu_run (plan, context, keep_row, plan->height);
  if (plan->last.predicted && c->motion.known)
    cpu_run (plan, context, predict_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (motion) = {
  .name = "motion",
  .context_size = sizeof (Context),
  .prepare = motion_prepare,
  .run = motion_run,
};
