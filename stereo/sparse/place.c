/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places a match exactly: Gauss-Newton over a window of the views for the disparity, its two slopes and the vertical
 * disparity (Lucas and Kanade 1981), with a gain and an offset between the exposures.
 *
 * What is known of the vertical disparity is its row of the equations after the other unknowns are eliminated: where an
 * edge is diagonal, a disparity explains the same difference, and the point weighs little.
 */
#include "stereo/sparse/private.h"

#include <math.h>

#define COLUMNS WINDOW_COLUMNS
#define ROWS WINDOW_ROWS
#define ROUNDS 5
#define STRIDE (COLUMNS + 2)
#define UNKNOWNS 4             /* disparity, its slopes along x and y, vertical disparity */
#define MAX_MOVE 2.0f          /* px from the match */
#define LARGEST_RESIDUAL 0.15f /* of the window's variance: more is another surface, or an occlusion; */
#define NOISY_RESIDUAL 0.5f    /* or noise, where there may be some, unless pixels two apart share as much as this: */
#define STRUCTURE 0.08f
#define MODEL_NOISE 0.1 /* px that no point is better than */
#define LEAST_KNOWN 1.0 /* px: a point whose deviation is larger says nothing */
#define SLOPE 0.3       /* px per px: standard deviation of a disparity's slopes */

typedef struct Window
{
  float left[(ROWS + 2) * STRIDE], right[(ROWS + 2) * STRIDE]; /* with a border of one pixel */
  float error[ROWS][COLUMNS];
  float slope[UNKNOWNS][ROWS][COLUMNS]; /* of the right view's value by each unknown */
  float variance;                       /* of the left window, times its pixels */
} Window;

typedef struct Guess
{
  float x, y; /* of the window's first pixel in the left view */
  float disparity, across, down, vertical;
} Guess;

static void
fetch_left (const StereoSparse *s, const Picture *picture, const Guess *g, Window *w)
{
  const uint8_t *from = picture->luma + ((int) g->y - 1 - s->first) * picture->stride + (int) g->x - 1;

  for (int j = 0; j < ROWS + 2; j++)
    for (int i = 0; i < STRIDE; i++)
      w->left[j * STRIDE + i] = from[j * picture->stride + i];
}

/* Pixels between the rows @row and @below. Three loops: only the second one reads one pixel at a time. */
static void
sample_row (const uint8_t *row, const uint8_t *below, float start, float step, float fy, float *to)
{
  int at[STRIDE], upper[2][STRIDE], lower[2][STRIDE];
  float fx[STRIDE];

  for (int i = 0; i < STRIDE; i++) {
    float x = start + step * (float) i;
    at[i] = (int) x;
    fx[i] = x - (float) at[i];
  }
  for (int i = 0; i < STRIDE; i++) {
    upper[0][i] = row[at[i]];
    upper[1][i] = row[at[i] + 1];
    lower[0][i] = below[at[i]];
    lower[1][i] = below[at[i] + 1];
  }
  for (int i = 0; i < STRIDE; i++) {
    float a = (float) upper[0][i] + fx[i] * (float) (upper[1][i] - upper[0][i]);
    float b = (float) lower[0][i] + fx[i] * (float) (lower[1][i] - lower[0][i]);
    to[i] = a + fy * (b - a);
  }
}

/* The right view where the guess says that the window's pixels are; 0: some lie outside. */
static int
fetch_right (const StereoSparse *s, const Picture *picture, const Guess *g, Window *w)
{
  for (int j = 0; j < ROWS + 2; j++) {
    float y = g->y + (float) (j - 1) + g->vertical, top = floorf (y), fy = y - top;
    float start = g->x - 1 - g->disparity - g->down * (float) (j - (ROWS + 1) / 2) + g->across * (STRIDE - 1) / 2;
    float step = 1 - g->across, end = start + step * (STRIDE - 1);
    if (top < (float) s->first || top + 1 >= (float) s->end || start < 0 || end >= (float) (s->params.width - 1) ||
        end < 0)
      return 0;
    const uint8_t *row = picture->luma + ((int) top - s->first) * picture->stride;
    sample_row (row, row + picture->stride, start, step, fy, w->right + j * STRIDE);
  }
  return 1;
}

static float
sum_of (const float v[ROWS][COLUMNS])
{
  float lanes[COLUMNS] = { 0 }, sum = 0;

  for (int j = 0; j < ROWS; j++)
    for (int i = 0; i < COLUMNS; i++)
      lanes[i] += v[j][i];
  for (int i = 0; i < COLUMNS; i++)
    sum += lanes[i];
  return sum;
}

static float
dot (const float a[ROWS][COLUMNS], const float b[ROWS][COLUMNS])
{
  float lanes[COLUMNS] = { 0 }, sum = 0;

  for (int j = 0; j < ROWS; j++)
    for (int i = 0; i < COLUMNS; i++)
      lanes[i] += a[j][i] * b[j][i];
  for (int i = 0; i < COLUMNS; i++)
    sum += lanes[i];
  return sum;
}

/* Takes the mean away: the offset between the exposures is eliminated so. */
static void
centre (float v[ROWS][COLUMNS])
{
  float mean = sum_of (v) / (ROWS * COLUMNS);

  for (int j = 0; j < ROWS; j++)
    for (int i = 0; i < COLUMNS; i++)
      v[j][i] -= mean;
}

/* The window's values less their mean. */
static void
values_of (const float *from, float to[ROWS][COLUMNS])
{
  for (int j = 0; j < ROWS; j++)
    for (int i = 0; i < COLUMNS; i++)
      to[j][i] = from[(j + 1) * STRIDE + i + 1];
  centre (to);
}

/* Errors and slopes at the guess. The gradients are the mean of both views': noise of one moves nothing then. */
static int
differentiate (Window *w)
{
  float left[ROWS][COLUMNS], right[ROWS][COLUMNS];

  values_of (w->left, left);
  values_of (w->right, right);
  float across = dot (left, left), own = dot (right, right);
  if (across < 4 * ROWS * COLUMNS || own < 4 * ROWS * COLUMNS)
    return 0;
  float gain = sqrtf (across / own);
  gain = gain < 0.5f ? 0.5f : gain > 2 ? 2 : gain;
  w->variance = across;
  for (int j = 0; j < ROWS; j++)
    for (int i = 0; i < COLUMNS; i++) {
      const float *l = w->left + (j + 1) * STRIDE + i + 1, *r = w->right + (j + 1) * STRIDE + i + 1;
      float x = 0.25f * (l[1] - l[-1] + gain * (r[1] - r[-1]));
      float y = 0.25f * (l[STRIDE] - l[-STRIDE] + gain * (r[STRIDE] - r[-STRIDE]));
      w->error[j][i] = left[j][i] - gain * right[j][i];
      w->slope[0][j][i] = -x;
      w->slope[1][j][i] = -x * ((float) i - 0.5f * (COLUMNS - 1));
      w->slope[2][j][i] = -x * (float) (j - ROWS / 2);
      w->slope[3][j][i] = y;
    }
  for (int k = 0; k < UNKNOWNS; k++)
    centre (w->slope[k]);
  return 1;
}

/* One round: the equations at the guess, and their solution in @move. @known: information on the vertical disparity
 * (for errors of a variance of 1), @residual: mean square of the errors. */
static int
step (const Window *w, const Guess *g, double move[6], double *known, double *residual)
{
  double a[6][6] = { { 0 } }, inverse[6] = { 0, 0, 0, 1 }, copy[6][6];
  double noise = dot (w->error, w->error) / (ROWS * COLUMNS - UNKNOWNS - 1);
  double ridge = (noise + 1) / (SLOPE * SLOPE);

  for (int i = 0; i < UNKNOWNS; i++) {
    for (int j = 0; j <= i; j++)
      a[i][j] = a[j][i] = dot (w->slope[i], w->slope[j]);
    move[i] = dot (w->slope[i], w->error);
  }
  a[1][1] += ridge;
  a[2][2] += ridge;
  move[1] -= ridge * g->across;
  move[2] -= ridge * g->down;
  a[0][0] += 1e-3;
  a[3][3] += 1e-3;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      copy[i][j] = a[i][j];
  if (!sparse_solve (UNKNOWNS, a, move) || !sparse_solve (UNKNOWNS, copy, inverse) || inverse[3] <= 0)
    return 0;
  *known = 1 / inverse[3];
  *residual = noise;
  return 1;
}

/* Whether the errors are another surface's, or an occlusion's. Noise is not alike two pixels apart. */
static int
is_other (const StereoSparse *s, const Window *w, double residual)
{
  float along = 0, down = 0;

  if (!s->params.noisy)
    return residual * (ROWS * COLUMNS) > LARGEST_RESIDUAL * w->variance;
  for (int j = 0; j < ROWS; j++)
    for (int i = 0; i < COLUMNS - 2; i++)
      along += w->error[j][i] * w->error[j][i + 2];
  for (int j = 0; j < ROWS - 2; j++)
    for (int i = 0; i < COLUMNS; i++)
      down += w->error[j][i] * w->error[j + 2][i];
  return residual * (ROWS * COLUMNS) > NOISY_RESIDUAL * w->variance || fmaxf (along, down) > STRUCTURE * w->variance;
}

static int
is_inside (const StereoSparse *s, const Guess *g)
{
  return g->x >= 1 && g->y >= (float) s->first + 1 && g->x + COLUMNS + 1 <= (float) s->params.width &&
      g->y + ROWS + 1 <= (float) s->end;
}

int
sparse_place (const StereoSparse *s, const Picture *from, const Picture *to, const StereoSparseMatch *match,
    StereoSparsePlace *place)
{
  Guess g = { floorf (match->x) - COLUMNS / 2, floorf (match->y) - ROWS / 2, match->disparity, 0, 0, match->vertical };
  double move[6], known = 0, residual = 0;
  Window w;

  if (!is_inside (s, &g))
    return 0;
  fetch_left (s, from, &g, &w);
  for (int round = 0;; round++) {
    if (!fetch_right (s, to, &g, &w) || !differentiate (&w) || !step (&w, &g, move, &known, &residual))
      return 0;
    if (round == ROUNDS || fabs (move[0]) + fabs (move[3]) < 0.01)
      break;
    g.disparity += (float) move[0];
    g.across += (float) move[1];
    g.down += (float) move[2];
    g.vertical += (float) move[3];
    if (!(fabsf (g.disparity - match->disparity) < MAX_MOVE * (float) s->factor) ||
        !(fabsf (g.vertical) < (float) s->params.reach) || !(fabsf (g.across) < 1) || !(fabsf (g.down) < 2))
      return 0;
  }
  double variance = (residual + 1) / known;
  if (is_other (s, &w, residual) || variance > LEAST_KNOWN * LEAST_KNOWN || fabs (move[3]) > 0.2)
    return 0;
  place->u = (g.x + COLUMNS / 2 - g.disparity) / (float) s->params.width - 0.5f;
  place->v = (g.y + ROWS / 2) / (float) s->params.height - 0.5f;
  place->vertical = g.vertical;
  place->disparity = g.disparity;
  place->weight = (float) (1 / (variance + MODEL_NOISE * MODEL_NOISE));
  return 1;
}

int
stereo_sparse_place (const StereoSparse *s, const StereoSparseMatch *match, StereoSparsePlace *place)
{
  return sparse_place (s, &s->view[0], &s->view[1], match, place);
}
