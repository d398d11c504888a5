/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: what pixels without a disparity get (Hirschmueller 2008, 2.6.2), and planes by the normal equations. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Around the pixel, in halves of a pixel a step. */
static const int rays[16][2] = { { 2, 0 }, { 2, 1 }, { 2, 2 }, { 1, 2 }, { 0, 2 }, { -1, 2 }, { -2, 2 }, { -2, 1 },
  { -2, 0 }, { -2, -1 }, { -2, -2 }, { -1, -2 }, { 0, -2 }, { 1, -2 }, { 2, -2 }, { 2, -1 } };

static float *
copy_disparity (const StereoPlan *p)
{
  size_t count = (size_t) p->map_pitch * (size_t) p->height;
  float *copy = naive_allocate (count, sizeof *copy);

  memcpy (copy, p->disparity, count * sizeof *copy);
  return copy;
}

/* The value of the map @d, NaN outside. */
static float
at (const StereoPlan *p, const float *d, int x, int y)
{
  return naive_inside (p, x) && y >= 0 && y < p->height ? d[naive_map (p, x, y)] : NAN;
}

/* Cells of 4 x 4 pixels, of which the first pixel of the third row, or of the last row, is the point. */
static int
point_row (const StereoPlan *p, int y)
{
  return y / 4 * 4 + 2 < p->height ? y / 4 * 4 + 2 : p->height - 1;
}

/* Whether the epipolar line of (x, y) meets the right view's disparity map. */
static int
mismatched (const StereoPlan *p, int x, int y)
{
  for (int i = 0; i < p->disparities; i++) {
    int partner = naive_partner (p, x, i), selected;
    if (!naive_inside (p, partner))
      continue;
    selected = p->view[STEREO_RIGHT].index[naive_map (p, partner, y)];
    if (selected != (int) STEREO_INVALID && abs (selected - i) <= 1)
      return 1;
  }
  return 0;
}

/* Sum of the differences in R, G and B between two pixels of the left view. */
static int
color_distance (const StereoPlan *p, int x0, int y0, int x1, int y1)
{
  const uint32_t *color = p->view[STEREO_LEFT].color;
  return naive_color_distance (color[naive_image (p, x0, y0)], color[naive_image (p, x1, y1)]);
}

/* A value, as often as its weight says. */
typedef struct Neighbour
{
  float value;
  int weight;
} Neighbour;

static int
ascending (const void *a, const void *b)
{
  float x = ((const Neighbour *) a)->value, y = ((const Neighbour *) b)->value;
  return (x > y) - (x < y);
}

/* Neighbours of the pixel (x, y); one of its colour counts @alike times. */
typedef struct Around
{
  int x, y, alike, count, total;
  Neighbour met[26];
} Around;

/* Takes the value @value of pixel (column, row): once less for each grey level of difference, and at least once. */
static void
meet (const StereoPlan *p, Around *around, int column, int row, float value)
{
  Neighbour *next = &around->met[around->count++];

  next->value = value;
  next->weight = (int) fmax (around->alike - color_distance (p, around->x, around->y, column, row), 1);
  around->total += next->weight;
}

/* The lower median; NaN if there is no neighbour. */
static float
median_of (Around *around)
{
  const Neighbour *met = around->met;
  int half = around->total - around->total / 2, sum = 0;

  if (around->count == 0)
    return NAN;
  qsort (around->met, (size_t) around->count, sizeof *around->met, ascending);
  while (sum + met->weight < half)
    sum += met++->weight;
  return met->value;
}

/* The median of the first values along the rays. */
static float
median_around (const StereoPlan *p, const float *d, int x, int y)
{
  Around around = { x, y, 96, 0, 0, { { 0, 0 } } };

  for (int ray = 0; ray < 16; ray++)
    for (int step = 1; step <= 64; step++) {
      int column = x + (int) floor ((step * rays[ray][0] + 1) / 2.0),
          row = y + (int) floor ((step * rays[ray][1] + 1) / 2.0);
      float value = at (p, d, column, row);
      if (isnan (value))
        continue;
      meet (p, &around, column, row, value);
      break;
    }
  return median_of (&around);
}

/* What has no value takes the median of every fourth pixel within 8 px, where such a pixel has its point's value of @filled. */
static void
smooth_holes (StereoPlan *p, const float *before, const float *filled)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      Around around = { x, y, 96, 0, 0, { { 0, 0 } } };
      if (!isnan (at (p, before, x, y)))
        continue;
      for (int row = y - 8; row <= y + 8; row += 4)
        for (int column = x - 8; column <= x + 8; column += 4) {
          float value = at (p, before, column, row);
          if (isnan (value) && naive_inside (p, column) && row >= 0 && row < p->height)
            value = at (p, filled, column / 4 * 4, point_row (p, row));
          if (!isnan (value))
            meet (p, &around, column, row, value);
        }
      p->disparity[naive_map (p, x, y)] = median_of (&around);
    }
}

/* Where, of every second pixel within 4 px, two differ by more than a pixel, a pixel takes their median, in which it counts twice, in steps
 * of 1/8192. One that is more than a pixel nearer than both ends of its row of them, or of its column, stays. */
void
naive_edges (StereoPlan *p)
{
  float *before = copy_disparity (p);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      Around around = { x, y, 64, 0, 0, { { 0, 0 } } };
      float own = at (p, before, x, y), median;
      if (isnan (own) || !(own - at (p, before, x - 4, y) <= 1 || own - at (p, before, x + 4, y) <= 1) ||
          !(own - at (p, before, x, y - 4) <= 1 || own - at (p, before, x, y + 4) <= 1))
        continue;
      meet (p, &around, x, y, own);
      for (int row = y - 4; row <= y + 4; row += 2)
        for (int column = x - 4; column <= x + 4; column += 2)
          if (!isnan (at (p, before, column, row)))
            meet (p, &around, column, row, at (p, before, column, row));
      median = median_of (&around); /* which sorts them */
      if (around.met[around.count - 1].value - around.met[0].value > 1)
        p->disparity[naive_map (p, x, y)] = (float) (p->min_disparity + rint ((median - p->min_disparity) * 8192) / 8192);
    }
  free (before);
}

/* ---- planes -------------------------------------------------------------------------------------------- */

/* Halves with every 32, linear between, in steps of 1/256. */
static double
plane_weight (int distance)
{
  return rint (ldexp (256.0 - 4 * (distance % 32), -(distance / 32)));
}

/* How far a tap may be from the anchor to be of its surface, and the plane's value too: 5 px for 32 px of disparity and
 * more, in proportion below, but at least 1 px. */
static double
plane_near (double anchor)
{
  return fmin (fmax (anchor * 5 / 32, 1), 5);
}

/* Solves a * solution = b by elimination; a is positive definite. */
static void
solve (double a[3][3], double b[3])
{
  for (int i = 0; i < 3; i++)
    for (int j = i + 1; j < 3; j++) {
      double factor = a[j][i] / a[i][i];
      for (int k = 0; k < 3; k++)
        a[j][k] -= factor * a[i][k];
      b[j] -= factor * b[i];
    }
  for (int i = 2; i >= 0; i--) {
    for (int j = i + 1; j < 3; j++)
      b[i] -= a[i][j] * b[j];
    b[i] /= a[i][i];
  }
}

/* Least squares for c + sx * x + sy * y over the points of the window that have a disparity, with the anchor as one more and a ridge of
 * 6 on the slopes; x and y in cells. Returns c. */
static double
plane_at (const StereoPlan *p, const float *before, int x, int y, float anchor)
{
  double a[3][3] = { { 256 } }, b[3] = { 0 };

  for (int cy = y / 4 - 7; cy <= y / 4 + 8; cy++)
    for (int cx = x / 4 - 7; cx <= x / 4 + 8; cx++) {
      int row = 4 * cy < p->height ? point_row (p, 4 * cy) : p->height; /* above the picture it is above */
      float away = at (p, before, 4 * cx, row) - anchor;
      if (!((double) fabsf (away) <= (double) (float) plane_near ((double) anchor)))
        continue;
      double w = plane_weight (color_distance (p, x, y, 4 * cx, row));
      double place[3] = { 1, cx - x / 4, cy - y / 4 };
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
          a[i][j] += w * place[i] * place[j];
        b[i] += w * place[i] * (double) rintf (away * 16) / 16;
      }
    }
  a[1][1] += 6 * a[0][0];
  a[2][2] += 6 * a[0][0];
  solve (a, b);
  return b[0];
}

/* Finds values of all points that have none. Occluded is what the right view shows nowhere, and what the surface at the right end of the
 * hole hides: there are less pixels in between, but for 4, than its disparity is larger. */
static void
fill (StereoPlan *p, int planes)
{
  float *before = copy_disparity (p), *filled = copy_disparity (p);

  for (int cell = 0; cell < p->height; cell += 4)
    for (int x = 0, y = point_row (p, cell), left, right; x < p->width; x += 4) {
      for (left = x; left >= 0 && isnan (at (p, before, left, y));)
        left -= 4;
      for (right = x; right < p->width && isnan (at (p, before, right, y));)
        right += 4;
      if (left == right)
        continue;
      float farther = at (p, before, left, y), other = at (p, before, right, y), value = NAN;
      int hidden = isnan (farther) || isnan (other) || (float) (right - x - 4) < other - farther;
      if (!hidden || mismatched (p, x, y))
        value = median_around (p, before, x, y);
      if (isnan (value))
        value = fminf (farther, other); /* of one NaN, the other */
      if (planes && !isnan (value)) {
        double near = plane_near (value), plane = value + fmin (fmax (plane_at (p, before, x, y, value), -near), near);
        value = (float) fmin (fmax (plane, p->min_disparity), p->min_disparity + p->disparities - 1);
      }
      filled[naive_map (p, x, y)] = value;
    }
  smooth_holes (p, before, filled);
  free (filled);
  free (before);
}

void
naive_fill (StereoPlan *p)
{
  fill (p, 0);
}

void
naive_planes (StereoPlan *p)
{
  fill (p, 1);
}
