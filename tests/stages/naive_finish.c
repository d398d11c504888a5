/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: from indices to the caller's samples. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

static int
valid_candidate (const StereoPlan *p, int x, int i)
{
  return naive_exists (p, x, i) || (naive_has_all_candidates (p) && i >= 0 && i < p->disparities);
}

float
naive_tip (double before, double lowest, double after)
{
  double slope = fmax (before, after) - lowest;
  return slope <= 0 || fmin (before, after) < lowest ? 0 : (float) ((before - after) / slope / 2);
}

static void
disparity_of (StereoPlan *p, int subpixel)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      int i = p->view[STEREO_LEFT].index[naive_map (p, x, y)];
      float *d = &p->disparity[naive_map (p, x, y)];
      if (i == (int) STEREO_INVALID) {
        *d = NAN;
        continue;
      }
      *d = (float) (p->min_disparity + i);
      if (subpixel && valid_candidate (p, x, i - 1) && valid_candidate (p, x, i + 1))
        *d += naive_tip (*naive_cost (p, x, y, i - 1), *naive_cost (p, x, y, i), *naive_cost (p, x, y, i + 1));
    }
}

void
naive_subpixel (StereoPlan *p)
{
  disparity_of (p, 1);
}

void
naive_integer (StereoPlan *p)
{
  disparity_of (p, 0);
}

void
naive_reject (StereoPlan *p)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      if (p->view[STEREO_LEFT].confidence[naive_map (p, x, y)] == 0)
        p->disparity[naive_map (p, x, y)] = NAN;
}

/* The step of the probability has done so already for unlikely pixels that nothing fills. */
void
naive_threshold (StereoPlan *p)
{
  int done = p->params.confidence_measure == STEREO_CONFIDENCE_PROBABILITY && p->params.fill == STEREO_FILL_NONE;
  float least = done ? 0 : (float) p->params.confidence_threshold;

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      if (p->view[STEREO_LEFT].confidence[naive_map (p, x, y)] < least)
        p->disparity[naive_map (p, x, y)] = NAN;
}

/* Marks what is connected to (x, y) as @label; returns how many pixels those are. */
static int
flood (const StereoPlan *p, int *labels, int *stack, int x, int y, int label)
{
  static const int step[4][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
  int top = 0, size = 0;

  stack[top++] = y * p->width + x;
  labels[y * p->width + x] = label;
  while (top) {
    int at = stack[--top];
    float d = p->disparity[naive_map (p, at % p->width, at / p->width)];
    size++;
    for (int k = 0; k < 4; k++) {
      int nx = at % p->width + step[k][0], ny = at / p->width + step[k][1];
      if (!naive_inside (p, nx) || ny < 0 || ny >= p->height || labels[ny * p->width + nx])
        continue;
      float other = p->disparity[naive_map (p, nx, ny)];
      if (isnan (other) || !(fabsf (other - d) <= (float) p->params.speckle_range))
        continue;
      labels[ny * p->width + nx] = label;
      stack[top++] = ny * p->width + nx;
    }
  }
  return size;
}

void
naive_speckle (StereoPlan *p)
{
  int pixels = p->width * p->height, count = 0;
  int *labels = naive_allocate ((size_t) pixels, sizeof *labels);
  int *stack = naive_allocate ((size_t) pixels, sizeof *stack);
  int *sizes = naive_allocate ((size_t) pixels + 1, sizeof *sizes);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      if (!labels[y * p->width + x] && !isnan (p->disparity[naive_map (p, x, y)])) {
        count++;
        sizes[count] = flood (p, labels, stack, x, y, count);
      }
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      if (labels[y * p->width + x] && sizes[labels[y * p->width + x]] < p->params.speckle_size)
        p->disparity[naive_map (p, x, y)] = NAN;
  free (labels);
  free (stack);
  free (sizes);
}

static int
ascending (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;
  return (x > y) - (x < y);
}

/* Whether a pixel of the disparity @own is of a thin near thing: the @median of the @n valid @values of its window of 5x5 is more than
 * two pixels farther away, but five of them, with its own, differ from its own by a pixel at most. */
static int
is_thin (float own, float median, const float *values, int n)
{
  int same = 0;

  for (int k = 0; k < n; k++)
    same += values[k] >= own ? values[k] - own <= 1 : own - values[k] <= 1;
  return own - median > 2 && same >= 5;
}

void
naive_median (StereoPlan *p)
{
  int radius = p->params.median / 2;
  float *before = naive_allocate ((size_t) p->map_pitch * (size_t) p->height, sizeof *before);

  if (radius == 2)
    naive_edges (p);
  for (int k = 0; k < p->map_pitch * p->height; k++)
    before[k] = p->disparity[k];
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      float values[25], own = before[naive_map (p, x, y)];
      int n = 0;
      if (isnan (own))
        continue;
      for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++)
          if (naive_inside (p, x + dx) && y + dy >= 0 && y + dy < p->height &&
              !isnan (before[naive_map (p, x + dx, y + dy)]))
            values[n++] = before[naive_map (p, x + dx, y + dy)];
      qsort (values, (size_t) n, sizeof *values, ascending);
      if (radius < 2 || !is_thin (own, values[(n - 1) / 2], values, n))
        p->disparity[naive_map (p, x, y)] = values[(n - 1) / 2];
    }
  free (before);
}

/* One sample, before rounding, not yet held to the sample's range. */
static double
sample (const StereoPlan *p, double d)
{
  const StereoParams *q = &p->params;

  if (isnan (d))
    return NAN;
  if (q->output == STEREO_OUTPUT_DEPTH) {
    double scale = p->output.sample == STEREO_SAMPLE_F32 ? 1 : 1000 / q->depth_unit;
    return d + q->principal_offset > 0 ? q->focal_length * q->baseline / (d + q->principal_offset) * scale : INFINITY;
  }
  switch (p->output.sample) {
    case STEREO_SAMPLE_U8:
      return 1 + (q->num_disparities > 1 ? (d - q->min_disparity) / (q->num_disparities - 1) * 254 : 0);
    case STEREO_SAMPLE_U16:
      return d * q->disparity_scale;
    default:
      return d;
  }
}

void
naive_store (StereoPlan *p)
{
  Naive *naive = (Naive *) p;

  naive->stored = naive_allocate ((size_t) p->width * (size_t) p->height, sizeof *naive->stored);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      naive->stored[y * p->width + x] = sample (p, p->disparity[naive_map (p, x, y)]);
}
