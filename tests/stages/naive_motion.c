/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: unlikely disparities that give way to those of the frame before. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

/* The numbers of the comment in stereo/exact/motion.h, once more: none is taken from there. */
enum
{
  COLUMNS = 32, /* cells */
  ROWS = 16,
  POINTS = COLUMNS * ROWS,
  PLACES = 6,     /* in each direction of a cell */
  TEXTURE = 3000, /* least of a point */
  SURE = 128,
  REDUCED = 4,
  PATCH = 4,    /* radius of what is looked for */
  SEARCH_X = 8, /* in reduced pixels */
  SEARCH_Y = 6,
  SEARCH = 4,     /* in pixels */
  MARGIN = 20,    /* a reduced patch, and a reduced pixel */
  MOST_AWAY = 12, /* grey levels, mean over a patch */
  ROUNDS = 8,
  LEAST = 40,  /* points of a motion */
  STEPS = 3,   /* to the place before */
  ALIKE = 2,   /* radius of what has to look alike */
  TAKEN = 204, /* least confidence where unlikely values are rejected */
  OLDEST = 3,
  AHEAD = 3,   /* steps to the next place */
  WIDELY = 230 /* least confidence that predicts where unlikely values are hidden */
};

/* The unknowns of the fit: w = 1 + TZ d + TILT v - PAN u, u' w = u - Q + ROLL v + TX d, v' w = v + P - ROLL u + TY d. */
enum
{
  Q,
  P,
  ROLL,
  TILT,
  PAN,
  TX,
  TY,
  TZ,
  N
};

/* What is found of a point: u, v, d now and then, in 1/65536 of half the picture's larger side. */
typedef struct Point
{
  int used, still, sum;
  double now[3], then[3];
} Point;

/* For places in px. @alike: the sum of differences over a patch, of the points that have the motion. */
typedef struct Motion
{
  int known, alike;
  float of[N];
} Motion;

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
find (const Picture *now, int x, int y, const Picture *then, int *u, int *v, int search_x, int search_y)
{
  int32_t least = INT32_MAX;
  int from_x = *u, from_y = *v;

  for (int dy = -search_y; dy <= search_y; dy++)
    for (int dx = -search_x; dx <= search_x; dx++) {
      int32_t sum = differences (now, x, y, then, from_x + dx, from_y + dy, PATCH);
      if (sum >= 0 && sum < least) {
        least = sum;
        *u = from_x + dx;
        *v = from_y + dy;
      }
    }
  return least;
}

/* How far from @middle the least of three sums lies, in 1/16 px, rounded towards zero: both slopes are as steep as the steeper
 * one. Nothing at the border of the picture. */
static double
between (int32_t before, int32_t middle, int32_t after)
{
  if (before < 0 || after < 0 || fmax (before, after) <= middle)
    return 0;
  return trunc (16 * (before - after) / (2 * (fmax (before, after) - middle)));
}

/* @px, times 1/@steps, in 1/65536 of half of @larger, rounded towards zero. Nothing else is rounded. */
static double
in_halves (double px, int steps, int larger)
{
  return trunc (px * 65536 * 2 / ((double) steps * larger));
}

/* A disparity is rounded to 1/64 px, to the even one of two, and its product with 64 is whole. */
static double
depth (float disparity, int larger)
{
  return in_halves ((double) rintf (disparity * 64), 64, larger);
}

static Point
track (const StereoPlan *p, const Picture pictures[4], int x, int y)
{
  const Picture *now = &pictures[NOW], *then = &pictures[BEFORE];
  int u = x / REDUCED, v = y / REDUCED, larger = p->width > p->height ? p->width : p->height;
  double middle_x = (p->width - 1) / 2.0, middle_y = (p->height - 1) / 2.0;
  Point none = { .used = 0 }, point = { .used = 1 };

  find (&pictures[NOW_REDUCED], x / REDUCED, y / REDUCED, &pictures[BEFORE_REDUCED], &u, &v, SEARCH_X, SEARCH_Y);
  u = x + REDUCED * (u - x / REDUCED);
  v = y + REDUCED * (v - y / REDUCED);
  point.sum = find (now, x, y, then, &u, &v, SEARCH, SEARCH);
  size_t at = naive_map (p, u, v);
  if (point.sum > MOST_AWAY * 81 || p->last.age[at] != 1 || p->last.confidence[at] < SURE)
    return none;
  double across = between (
      differences (now, x, y, then, u - 1, v, PATCH), point.sum, differences (now, x, y, then, u + 1, v, PATCH));
  double down = between (
      differences (now, x, y, then, u, v - 1, PATCH), point.sum, differences (now, x, y, then, u, v + 1, PATCH));
  point.still = u == x && v == y;
  point.now[0] = in_halves (x - middle_x, 1, larger);
  point.now[1] = in_halves (y - middle_y, 1, larger);
  point.now[2] = depth (p->disparity[naive_map (p, x, y)], larger);
  point.then[0] = in_halves (u + across / 16 - middle_x, 1, larger);
  point.then[1] = in_halves (v + down / 16 - middle_y, 1, larger);
  point.then[2] = depth (p->last.disparity[at], larger);
  return point;
}

/* The lesser of the sums of squares of both central differences over 5 x 5 pixels, less the size of that of their products. */
static int
texture (const Picture *picture, int x, int y)
{
  int along = 0, down = 0, mixed = 0;

  for (int v = y - 2; v <= y + 2; v++)
    for (int u = x - 2; u <= x + 2; u++) {
      const int *at = &picture->luma[v * picture->width + u];
      int dx = at[1] - at[-1], dy = at[picture->width] - at[-picture->width];
      along += dx * dx;
      down += dy * dy;
      mixed += dx * dy;
    }
  return (along < down ? along : down) - abs (mixed);
}

/* The middle of part @k of PLACES of cell @cell of @cells, rounded down. */
static int
place (int cell, int k, int size, int cells)
{
  return (int) floor (size * (cell * PLACES + k + 0.5) / (cells * PLACES));
}

static int
confidence_byte (float confidence)
{
  return (int) rintf (confidence * 255);
}

static Point
point_of (const StereoPlan *p, const Picture pictures[4], int column, int row)
{
  Point none = { .used = 0 };
  int best = TEXTURE - 1, best_x = -1, best_y = -1;

  for (int k = 0; k < PLACES * PLACES; k++) {
    int x = place (column, k % PLACES, p->width, COLUMNS), y = place (row, k / PLACES, p->height, ROWS);
    if (x < MARGIN || y < MARGIN || x >= p->width - MARGIN || y >= p->height - MARGIN ||
        isnan (p->disparity[naive_map (p, x, y)]) ||
        confidence_byte (p->view[STEREO_LEFT].confidence[naive_map (p, x, y)]) < SURE)
      continue;
    int found = texture (&pictures[NOW], x, y);
    if (found > best) {
      best = found;
      best_x = x;
      best_y = y;
    }
  }
  return best_x < 0 ? none : track (p, pictures, best_x, best_y);
}

/* ---- the motion ---------------------------------------------------------------------------------- */

/* What the motion @m leaves of equation @e of a point, in 1/65536: the left side less the right one. Products of two
 * coordinates are rounded down. */
static double
left_over (const Point *point, int e, const double m[N])
{
  double u = point->now[0], v = point->now[1], d = point->now[2], then = point->then[e];
  double left = then + floor (then * d / 65536) * m[TZ] + floor (then * v / 65536) * m[TILT] -
      floor (then * u / 65536) * m[PAN];

  if (e == 0)
    return left - (u - 65536 * m[Q] + v * m[ROLL] + d * m[TX]);
  if (e == 1)
    return left - (v + 65536 * m[P] - u * m[ROLL] + d * m[TY]);
  return left - d;
}

/* The square of the distance of a point from the motion, px^2. */
static double
away (const Point *point, const double m[N], double half)
{
  double sum = 0;

  for (int e = 0; e < 3; e++)
    sum += pow (left_over (point, e, m) / 65536 * half, 2);
  return sum;
}

/* 0..255: a fourth of it is left at a distance of 32 px in the first round, 16 in the next, down to 1. */
static double
weight (double distance, int round)
{
  double scale = fmax (32 >> round, 1);
  return floor (255 / pow (1 + distance / (scale * scale), 2) + 0.5);
}

/* Equation @e is linear: its coefficients, then what is left without motion. */
static void
coefficients (const Point *point, int e, int64_t of[N + 1])
{
  double none[N] = { 0 }, rest = left_over (point, e, none);

  for (int i = 0; i < N; i++) {
    double one[N] = { 0 };
    one[i] = 1;
    of[i] = (int64_t) (left_over (point, e, one) - rest);
  }
  of[N] = (int64_t) rest;
}

/*
 * The normal equations of all points, with 1/1024 on the diagonal. Sums are exact, and rounded once. The elimination is rounded
 * as the stage's: column after column from the first on, without exchanging rows, all other rows at once.
 */
static void
solve (const Point *points, int round, double half, double *m)
{
  int64_t sums[N][N + 1] = { 0 }, of[N + 1];
  double a[N][N + 1];

  for (int k = 0; k < 3 * POINTS; k++) {
    const Point *point = &points[k / 3];
    if (!point->used)
      continue;
    int64_t counts = (int64_t) weight (away (point, m, half), round);
    coefficients (point, k % 3, of);
    for (int i = 0; i < N; i++)
      for (int j = 0; j <= N; j++)
        sums[i][j] += counts * of[i] * of[j];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= N; j++)
      a[i][j] = ldexp ((double) sums[i][j], -32) * (j == N ? -1 : 1) + (i == j ? 1 / 1024.0 : 0);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++) {
      double factor = a[i][k] / a[k][k];
      for (int j = k; j <= N && i != k; j++)
        a[i][j] -= factor * a[k][j];
    }
  for (int k = 0; k < N; k++)
    m[k] = a[k][N] / a[k][k];
}

/* No vehicle turns by more than half of the picture's half side, nor do other terms exceed it eight times. */
static int
is_sane (const double m[N])
{
  for (int i = 0; i < N; i++)
    if (!(fabs (m[i]) <= (i < TX ? 0.5 : 8)))
      return 0;
  return 1;
}

/* Places are in px now, rounded to single precision. */
static Motion
in_pixels (const double m[N], double half, int alike)
{
  Motion motion = { .known = 1, .alike = alike };

  for (int i = 0; i < N; i++)
    motion.of[i] = (float) (i == Q || i == P ? m[i] * half : i == TILT || i == PAN || i == TZ ? m[i] / half : m[i]);
  return motion;
}

static Motion
motion_of (const StereoPlan *p, const Picture pictures[4])
{
  Point *points = naive_allocate (POINTS, sizeof *points);
  double m[N] = { 0 }, half = (p->width > p->height ? p->width : p->height) / 2.0;
  int used = 0, still = 0, near = 0, sum = 0;
  Motion unknown = { .known = 0 };

  for (int k = 0; k < POINTS; k++)
    points[k] = point_of (p, pictures, k % COLUMNS, k / COLUMNS);
  for (int round = 0; round < ROUNDS; round++)
    solve (points, round, half, m);
  for (int k = 0; k < POINTS; k++) {
    int has = points[k].used && sqrt (away (&points[k], m, half)) <= 1.5;
    used += points[k].used;
    still += points[k].still;
    near += has;
    sum += has ? points[k].sum : 0;
  }
  free (points);
  if (used < LEAST || 2 * still >= used || near < LEAST || 5 * near < 3 * used || !is_sane (m))
    return unknown;
  return in_pixels (m, half, sum / near);
}

/* ---- pixels -------------------------------------------------------------------------------------- */

/* What becomes of a pixel. */
typedef struct Pixel
{
  float disparity, confidence;
  uint8_t age;
} Pixel;

/* Where what is at (@u, @v) from the middle was, if its disparity is @d: the equations, solved for the place. All is in single
 * precision, from left to right. False if it has become twice or half as large. */
static int
was_at (const Motion *m, float u, float v, float d, float *then_u, float *then_v)
{
  float w = 1 + d * m->of[TZ] + v * m->of[TILT] - u * m->of[PAN];

  *then_u = (u - m->of[Q] + v * m->of[ROLL] + d * m->of[TX]) / w;
  *then_v = (v + m->of[P] - u * m->of[ROLL] + d * m->of[TY]) / w;
  return w >= 0.5f && w <= 2;
}

/* From d' w = d: what was @then px is d = d' (1 + TILT v - PAN u) / (1 - TZ d') now, in single precision, from left to right. */
static float
is_now (const Motion *m, float u, float v, float then)
{
  return then * (1 + v * m->of[TILT] - u * m->of[PAN]) / (1 - then * m->of[TZ]);
}

/* What is taken over has lost a sixteenth of its confidence, rounded down. Where unlikely values are rejected, so much has to be
 * left that it is not. */
static int
left_of (int sure, double threshold)
{
  double least = threshold > 0 ? fmax (ceil (threshold * 255 * 16 / 15), TAKEN) : 0;
  return sure < least ? 0 : (15 * sure + 15) / 16;
}

/* Whether the mean difference of two places is at most twice that of the motion's points and a grey level. */
static int
are_alike (const Motion *m, int32_t sum)
{
  return sum >= 0 && sum * 81 <= 2 * 25 * (m->alike + 81);
}

/* Takes over what the place had before that the disparity @now leads to; when it leads elsewhere, says what to try next. */
static int
take_over (const StereoPlan *p, const Picture pictures[4], const Motion *m, int x, int y, float *now, Pixel *pixel)
{
  float middle_x = (float) (p->width - 1) / 2, middle_y = (float) (p->height - 1) / 2, then_x, then_y;
  float before = *now;

  if (!was_at (m, (float) x - middle_x, (float) y - middle_y, before, &then_x, &then_y))
    return 0;
  then_x += middle_x;
  then_y += middle_y;
  if (!(then_x >= 0 && then_y >= 0 && then_x <= (float) (p->width - 1) && then_y <= (float) (p->height - 1)))
    return 0;
  int u = (int) rintf (then_x), v = (int) rintf (then_y);
  size_t at = naive_map (p, u, v);
  if (!p->last.age[at] || p->last.age[at] >= OLDEST)
    return 0;
  *now = is_now (m, (float) x - middle_x, (float) y - middle_y, p->last.disparity[at]);
  if (!(fabsf (*now - before) <= 1))
    return 1;
  int left = left_of (p->last.confidence[at], stereo_params_first_threshold (&p->params));
  if (are_alike (m, differences (&pictures[NOW], x, y, &pictures[BEFORE], u, v, ALIKE)) &&
      left > confidence_byte (pixel->confidence) && *now >= (float) p->min_disparity &&
      *now <= (float) (p->min_disparity + p->disparities - 1))
    *pixel = (Pixel){ *now, (float) left / 255, (uint8_t) (p->last.age[at] + 1) };
  return 0;
}

static Pixel
pixel_of (const StereoPlan *p, const Picture pictures[4], const Motion *m, int x, int y)
{
  size_t at = naive_map (p, x, y);
  Pixel pixel = { p->disparity[at], p->view[STEREO_LEFT].confidence[at], isnan (p->disparity[at]) ? 0 : 1 };
  int index = p->view[STEREO_LEFT].index[at];
  float now = pixel.age ? pixel.disparity : (float) (p->min_disparity + index);

  if (!m->known || index == (int) STEREO_INVALID || confidence_byte (pixel.confidence) >= SURE)
    return pixel;
  for (int step = 0; step < STEPS; step++)
    if (!take_over (p, pictures, m, x, y, &now, &pixel))
      break;
  return pixel;
}

/* ---- prediction ---------------------------------------------------------------------------------- */

/* The place that the motion maps on (@u, @v, @d), and the disparity there: by turns the scale there and the place that has it, all in
 * single precision, from left to right. */
static int
will_be_at (const Motion *m, float u, float v, float d, float next[3])
{
  float w = 1;

  next[0] = u, next[1] = v, next[2] = d;
  for (int step = 0; step < AHEAD; step++) {
    float x = next[0], y = next[1], z = next[2];
    w = 1 + z * m->of[TZ] + y * m->of[TILT] - x * m->of[PAN];
    next[0] = u * w + m->of[Q] - m->of[ROLL] * y - m->of[TX] * z;
    next[1] = v * w - m->of[P] + m->of[ROLL] * x - m->of[TY] * z;
    next[2] = d * w;
  }
  return w >= 0.5f && w <= 2;
}

/* What the next frame may expect: at each place the nearest surface that comes there, in eighths of a pixel, and its luma. */
static void
predict (StereoPlan *p, const Motion *m)
{
  float middle_x = (float) (p->width - 1) / 2, middle_y = (float) (p->height - 1) / 2, next[3];
  int hidden = p->params.confidence_threshold > 0 || p->params.fill == STEREO_FILL_GAPS;

  for (int y = 0; y < p->height && m->known; y++)
    for (int x = 0; x < p->width; x++) {
      size_t from = naive_map (p, x, y);
      if (p->last.age[from] != 1 || (hidden && p->last.confidence[from] < WIDELY) ||
          !will_be_at (m, (float) x - middle_x, (float) y - middle_y, p->last.disparity[from], next))
        continue;
      float u = rintf (next[0] + middle_x), v = rintf (next[1] + middle_y);
      double eighths = rint (8.0 * (double) (next[2] - (float) p->min_disparity));
      if (!(u >= 0 && v >= 0 && u < (float) p->width && v < (float) p->height) || eighths < 0 ||
          eighths > 8 * (p->disparities - 1))
        continue;
      uint32_t *word = &p->last.predicted[naive_map (p, (int) u, (int) v)];
      uint32_t nearer = (1u << 24) + (uint32_t) eighths * 256 + p->last.luma[from];
      *word = nearer > *word ? nearer : *word;
    }
}

void
naive_motion (StereoPlan *p)
{
  Pixel *pixels = naive_allocate ((size_t) p->width * (size_t) p->height, sizeof *pixels);
  Picture pictures[4];

  for (int k = 0; k < 4; k++)
    pictures[k] = picture_new (p, (Which) k);
  Motion motion = motion_of (p, pictures);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      pixels[y * p->width + x] = pixel_of (p, pictures, &motion, x, y);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      const Pixel *pixel = &pixels[y * p->width + x];
      size_t at = naive_map (p, x, y);
      p->disparity[at] = p->last.disparity[at] = pixel->disparity;
      p->view[STEREO_LEFT].confidence[at] = pixel->confidence;
      p->last.confidence[at] = (uint8_t) confidence_byte (pixel->confidence);
      p->last.age[at] = pixel->age;
      p->last.luma[at] = p->view[STEREO_LEFT].luma[naive_image (p, x, y)];
    }
  if (p->last.predicted)
    predict (p, &motion);
  for (int k = 0; k < 4; k++)
    free (pictures[k].luma);
  free (pixels);
}
