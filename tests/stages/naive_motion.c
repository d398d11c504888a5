/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: unlikely disparities that give way to those of the frame before. */
#include "naive.h"

#include <stdlib.h>

#define PATCH STEREO_MOTION_PATCH
#define LOOK STEREO_MOTION_LOOK
#define REDUCED STEREO_MOTION_REDUCED
#define N STEREO_MOTION_UNKNOWNS

/* Luma of the left view: now, or before; as it is, or reduced. */
typedef struct Picture
{
  int width, height;
  int *luma;
} Picture;

typedef enum
{
  NOW,
  BEFORE,
  NOW_REDUCED,
  BEFORE_REDUCED
} Which;

static Picture
picture_new (const StereoPlan *p, Which which)
{
  int before = which == BEFORE || which == BEFORE_REDUCED, step = which < NOW_REDUCED ? 1 : REDUCED;
  Picture picture = { p->width / step, p->height / step, NULL };

  picture.luma = naive_allocate ((size_t) picture.width * (size_t) picture.height, sizeof *picture.luma);
  for (int y = 0; y < picture.height; y++)
    for (int x = 0; x < picture.width; x++) {
      int sum = 0;
      for (int v = y * step; v < (y + 1) * step; v++)
        for (int u = x * step; u < (x + 1) * step; u++)
          sum += before ? p->last.luma[naive_map (p, u, v)] : p->view[STEREO_LEFT].luma[naive_image (p, u, v)];
      picture.luma[y * picture.width + x] = (sum + step * step / 2) / (step * step);
    }
  return picture;
}

/* Sum of the absolute differences of two patches; negative where one of them is not whole. */
static int32_t
differences (const Picture *now, int x, int y, const Picture *then, int u, int v, int radius)
{
  int32_t sum = 0;

  if (x < radius || y < radius || u < radius || v < radius || x >= now->width - radius || y >= now->height - radius ||
      u >= then->width - radius || v >= then->height - radius)
    return -1;
  for (int dy = -radius; dy <= radius; dy++)
    for (int dx = -radius; dx <= radius; dx++)
      sum += abs (now->luma[(y + dy) * now->width + x + dx] - then->luma[(v + dy) * then->width + u + dx]);
  return sum;
}

/* Moves (@u, @v) to the place most like (@x, @y) that is not farther than the reach. */
static int32_t
find (const Picture *now, int x, int y, const Picture *then, int *u, int *v, int reach_x, int reach_y)
{
  int32_t least = INT32_MAX;
  int from_x = *u, from_y = *v;

  for (int dy = -reach_y; dy <= reach_y; dy++)
    for (int dx = -reach_x; dx <= reach_x; dx++) {
      int32_t sum = differences (now, x, y, then, from_x + dx, from_y + dy, PATCH);
      if (sum >= 0 && sum < least) {
        least = sum;
        *u = from_x + dx;
        *v = from_y + dy;
      }
    }
  return least;
}

static StereoMotionPoint
track (const StereoPlan *p, const Picture pictures[4], int x, int y)
{
  const Picture *now = &pictures[NOW], *then = &pictures[BEFORE];
  int u = x / REDUCED, v = y / REDUCED, larger = p->width > p->height ? p->width : p->height;
  StereoMotionPoint none = { .used = 0 }, point = { .used = 1 };

  find (&pictures[NOW_REDUCED], x / REDUCED, y / REDUCED, &pictures[BEFORE_REDUCED], &u, &v, STEREO_MOTION_REACH_X,
      STEREO_MOTION_REACH_Y);
  u = x + REDUCED * (u - x / REDUCED);
  v = y + REDUCED * (v - y / REDUCED);
  point.sum = find (now, x, y, then, &u, &v, STEREO_MOTION_REACH, STEREO_MOTION_REACH);
  size_t at = naive_map (p, u, v);
  if (point.sum > STEREO_MOTION_MOST_AWAY * (2 * PATCH + 1) * (2 * PATCH + 1) || p->last.age[at] != 1 ||
      p->last.sureness[at] < STEREO_MOTION_SURE)
    return none;
  int32_t left = differences (now, x, y, then, u - 1, v, PATCH), right = differences (now, x, y, then, u + 1, v, PATCH);
  int32_t up = differences (now, x, y, then, u, v - 1, PATCH), down = differences (now, x, y, then, u, v + 1, PATCH);
  int32_t across = left < 0 || right < 0 ? 0 : stereo_motion_between (left, point.sum, right);
  int32_t along = up < 0 || down < 0 ? 0 : stereo_motion_between (up, point.sum, down);
  point.still = u == x && v == y;
  point.now[0] = stereo_motion_coordinate (16 * x, p->width, larger);
  point.now[1] = stereo_motion_coordinate (16 * y, p->height, larger);
  point.now[2] = stereo_motion_depth (p->disparity[naive_map (p, x, y)], larger);
  point.then[0] = stereo_motion_coordinate (16 * u + across, p->width, larger);
  point.then[1] = stereo_motion_coordinate (16 * v + along, p->height, larger);
  point.then[2] = stereo_motion_depth (p->last.disparity[at], larger);
  return point;
}

static StereoMotionPoint
point_of (const StereoPlan *p, const Picture pictures[4], int column, int row)
{
  StereoMotionPoint none = { .used = 0 };
  int32_t best = STEREO_MOTION_TEXTURE - 1;
  int best_x = -1, best_y = -1;

  for (int k = 0; k < STEREO_MOTION_PLACES * STEREO_MOTION_PLACES; k++) {
    int x = stereo_motion_place (column, k % STEREO_MOTION_PLACES, p->width, STEREO_MOTION_COLUMNS);
    int y = stereo_motion_place (row, k / STEREO_MOTION_PLACES, p->height, STEREO_MOTION_ROWS);
    if (x < STEREO_MOTION_MARGIN || y < STEREO_MOTION_MARGIN || x >= p->width - STEREO_MOTION_MARGIN ||
        y >= p->height - STEREO_MOTION_MARGIN || isnan (p->disparity[naive_map (p, x, y)]) ||
        stereo_motion_sureness (p->view[STEREO_LEFT].confidence[naive_map (p, x, y)]) < STEREO_MOTION_SURE)
      continue;
    int32_t texture = stereo_motion_texture (p->view[STEREO_LEFT].luma + naive_image (p, x, y), p->image_pitch);
    if (texture > best) {
      best = texture;
      best_x = x;
      best_y = y;
    }
  }
  return best_x < 0 ? none : track (p, pictures, best_x, best_y);
}

/* ---- the motion ---------------------------------------------------------------------------------- */

static void
solve (const StereoMotionPoint *points, int round, double half, double *motion)
{
  int64_t sums[N][N + 1] = { 0 };
  double a[N][N + 1];

  for (int k = 0; k < STEREO_MOTION_POINTS; k++) {
    if (!points[k].used)
      continue;
    StereoMotionRows rows = stereo_motion_rows (&points[k]);
    int64_t weight = stereo_motion_weight (stereo_motion_away (&rows, motion, half), round);
    for (int e = 0; e < 3; e++)
      for (int i = 0; i < N; i++)
        for (int j = 0; j <= N; j++)
          sums[i][j] += weight * rows.of[e][i] * (j < N ? rows.of[e][j] : rows.rest[e]);
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= N; j++)
      a[i][j] = stereo_motion_entry (sums[i][j], i, j);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = k + 1; j <= N && i != k; j++)
        a[i][j] = stereo_motion_eliminate (a[i][j], a[i][k], a[k][k], a[k][j]);
  for (int k = 0; k < N; k++)
    motion[k] = a[k][N] / a[k][k];
}

static StereoMotion
motion_of (const StereoPlan *p, const Picture pictures[4])
{
  StereoMotionPoint *points = naive_allocate (STEREO_MOTION_POINTS, sizeof *points);
  double motion[N] = { 0 }, half = (p->width > p->height ? p->width : p->height) / 2.0;
  StereoMotionCounts counts = { 0 };

  for (int k = 0; k < STEREO_MOTION_POINTS; k++)
    points[k] = point_of (p, pictures, k % STEREO_MOTION_COLUMNS, k / STEREO_MOTION_COLUMNS);
  for (int round = 0; round < STEREO_MOTION_ROUNDS; round++)
    solve (points, round, half, motion);
  for (int k = 0; k < STEREO_MOTION_POINTS; k++) {
    if (!points[k].used)
      continue;
    StereoMotionRows rows = stereo_motion_rows (&points[k]);
    int near = stereo_motion_away (&rows, motion, half) <= STEREO_MOTION_NEAR * STEREO_MOTION_NEAR;
    counts.used++;
    counts.still += points[k].still;
    counts.near += near;
    counts.sum += near ? points[k].sum : 0;
  }
  free (points);
  return stereo_motion_judge (motion, &counts, half);
}

/* ---- pixels -------------------------------------------------------------------------------------- */

/* What becomes of a pixel. */
typedef struct Pixel
{
  float disparity, confidence;
  uint8_t age;
} Pixel;

/* Takes over what the place had before that the disparity @now leads to; when it leads elsewhere, says what to try next. */
static int
take_over (const StereoPlan *p, const Picture pictures[4], const StereoMotion *m, int x, int y, float *now, Pixel *pixel)
{
  float middle_x = (float) (p->width - 1) * 0.5f, middle_y = (float) (p->height - 1) * 0.5f, then_x, then_y;
  float before = *now;

  if (!stereo_motion_where (m, (float) x - middle_x, (float) y - middle_y, before, &then_x, &then_y))
    return 0;
  then_x += middle_x;
  then_y += middle_y;
  if (!(then_x >= 0 && then_y >= 0 && then_x <= (float) (p->width - 1) && then_y <= (float) (p->height - 1)))
    return 0;
  int u = (int) rintf (then_x), v = (int) rintf (then_y);
  size_t at = naive_map (p, u, v);
  if (!p->last.age[at] || p->last.age[at] >= STEREO_MOTION_OLDEST)
    return 0;
  *now = stereo_motion_now (m, (float) x - middle_x, (float) y - middle_y, p->last.disparity[at]);
  if (!(fabsf (*now - before) <= STEREO_MOTION_SETTLED))
    return 1;
  int32_t sum = differences (&pictures[NOW], x, y, &pictures[BEFORE], u, v, LOOK);
  int32_t aged = stereo_motion_aged (
      p->last.sureness[at], stereo_motion_least_sure (stereo_params_first_threshold (&p->params)));
  if (sum >= 0 && stereo_motion_alike (sum, m) && aged > stereo_motion_sureness (pixel->confidence) &&
      *now >= (float) p->min_disparity && *now <= (float) (p->min_disparity + p->disparities - 1))
    *pixel = (Pixel){ *now, (float) aged / 255.0f, (uint8_t) (p->last.age[at] + 1) };
  return 0;
}

static Pixel
pixel_of (const StereoPlan *p, const Picture pictures[4], const StereoMotion *m, int x, int y)
{
  size_t at = naive_map (p, x, y);
  Pixel pixel = { p->disparity[at], p->view[STEREO_LEFT].confidence[at], isnan (p->disparity[at]) ? 0 : 1 };
  int index = p->view[STEREO_LEFT].index[at];
  float now = pixel.age ? pixel.disparity : (float) (p->min_disparity + index);

  if (!m->known || index == (int) STEREO_INVALID || stereo_motion_sureness (pixel.confidence) >= STEREO_MOTION_SURE)
    return pixel;
  for (int step = 0; step < STEREO_MOTION_STEPS; step++)
    if (!take_over (p, pictures, m, x, y, &now, &pixel))
      break;
  return pixel;
}

void
naive_motion (StereoPlan *p)
{
  Pixel *pixels = naive_allocate ((size_t) p->width * (size_t) p->height, sizeof *pixels);
  Picture pictures[4];

  for (int k = 0; k < 4; k++)
    pictures[k] = picture_new (p, (Which) k);
  StereoMotion motion = motion_of (p, pictures);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      pixels[y * p->width + x] = pixel_of (p, pictures, &motion, x, y);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      const Pixel *pixel = &pixels[y * p->width + x];
      size_t at = naive_map (p, x, y);
      p->disparity[at] = p->last.disparity[at] = pixel->disparity;
      p->view[STEREO_LEFT].confidence[at] = pixel->confidence;
      p->last.sureness[at] = (uint8_t) stereo_motion_sureness (pixel->confidence);
      p->last.age[at] = pixel->age;
      p->last.luma[at] = p->view[STEREO_LEFT].luma[naive_image (p, x, y)];
    }
  for (int k = 0; k < 4; k++)
    free (pictures[k].luma);
  free (pixels);
}
