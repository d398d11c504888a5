/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: winner takes all, consistency check, refinement. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

void
naive_lowest_add (NaiveLowest *l, int i, double cost)
{
  if (l->first < 0 || cost < l->cost[0]) {
    l->second = l->first;
    l->cost[1] = l->cost[0];
    l->first = i;
    l->cost[0] = cost;
  } else if (l->second < 0 || cost < l->cost[1]) {
    l->second = i;
    l->cost[1] = cost;
  }
}

float
naive_margin (const NaiveLowest *l)
{
  return l->second < 0 || l->cost[1] == 0 ? 0 : (float) ((l->cost[1] - l->cost[0]) / l->cost[1]);
}

void
naive_select (StereoPlan *p)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        NaiveLowest l = NAIVE_NOTHING_YET;
        size_t at = naive_map (p, x, y);
        for (int i = 0; i < p->disparities; i++)
          if (naive_exists (p, x, i) || (v == STEREO_LEFT && naive_has_all_candidates (p)))
            naive_lowest_add (&l, i, *naive_view_cost (p, v, x, y, i));
        p->view[v].first[at] = p->view[v].index[at] = naive_index (l.first);
        p->view[v].second[at] = naive_index (l.second);
        p->view[v].confidence[at] = naive_margin (&l);
      }
}

/* How far the luma of the pixels around a left pixel is from that of those around a right one, 3 x 3 of each, in all; -1: some of
 * them are outside. */
static int
apart (const StereoPlan *p, int left, int right, int y)
{
  int sum = 0;

  for (int k = 0; k < 9; k++) {
    int dx = k % 3 - 1, row = y + k / 3 - 1; /* the right view is mirrored */
    if (!naive_inside (p, left + dx) || !naive_inside (p, right - dx) || row < 0 || row >= p->height)
      return -1;
    sum += abs (p->view[STEREO_LEFT].luma[naive_image (p, left + dx, row)] -
        p->view[STEREO_RIGHT].luma[naive_image (p, right - dx, row)]);
  }
  return sum;
}

/* Left pixel x has right pixel @partner, which has left pixel @theirs. With paths, and not in a paper's method, x is no less sure for
 * that if @theirs is farther away, and 50 grey levels farther from @partner than x is. */
static int
is_forgiven (const StereoPlan *p, int x, int partner, int y)
{
  int i = p->view[STEREO_LEFT].index[naive_map (p, x, y)];
  int other = p->view[STEREO_RIGHT].index[naive_map (p, partner, y)];

  if (p->params.paths == STEREO_PATHS_NONE || p->params.profile == STEREO_PROFILE_THESIS || other > i)
    return 0;
  int theirs = naive_partner (p, partner, other), own = apart (p, x, partner, y);
  int farther = apart (p, theirs, partner, y);
  return own >= 0 && farther >= 0 && farther - own >= 50;
}

/* 3.2.4, but for the near pixels that are forgiven */
void
naive_check (StereoPlan *p)
{
  for (int v = 0; v < 2 && p->view[v].confidence; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        int i = p->view[v].index[naive_map (p, x, y)];
        if (i == (int) STEREO_INVALID)
          continue;
        int partner = naive_partner (p, x, i);
        if (!naive_inside (p, partner) ||
            (abs (p->view[1 - v].index[naive_map (p, partner, y)] - i) > p->params.consistency &&
                !(v == STEREO_LEFT && is_forgiven (p, x, partner, y))))
          p->view[v].confidence[naive_map (p, x, y)] = 0;
      }
}

/* Weight of pixel q for pixel p of one view, in the refinement's window. */
static double
refine_weight (const StereoPlan *p, int view, int x, int y, int dx, int dy)
{
  const uint32_t *color = p->view[view].likeness;
  return naive_weight (color[naive_image (p, x, y)], color[naive_image (p, x + dx, y + dy)],
      sqrt ((double) dx * dx + (double) dy * dy), p->params.refine_gamma_color, p->params.refine_gamma_distance);
}

/*
 * Sums of w * value over the taps -rx..rx, -ry..ry inside the image, not normalised. @values and
 * @sums hold @n numbers a pixel.
 */
static void
weighted_sums (const StereoPlan *p, int view, const double *values, double *sums, int n, int rx, int ry)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      double *sum = sums + ((size_t) y * (size_t) p->width + (size_t) x) * (size_t) n;
      for (int dy = -ry; dy <= ry; dy++)
        for (int dx = -rx; dx <= rx; dx++) {
          if (!naive_inside (p, x + dx) || y + dy < 0 || y + dy >= p->height)
            continue;
          const double *value = values + ((size_t) (y + dy) * (size_t) p->width + (size_t) (x + dx)) * (size_t) n;
          double w = refine_weight (p, view, x, y, dx, dy);
          for (int k = 0; k < n; k++)
            sum[k] += w * value[k];
        }
    }
}

/* The window as two lines, or as it is. */
static double *
window_sums (const StereoPlan *p, int view, double *values, int n)
{
  int radius = p->params.refine_window / 2;
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) n;
  double *sums = naive_allocate (count, sizeof *sums);

  if (p->params.refine_mode == STEREO_REFINE_FULL) {
    weighted_sums (p, view, values, sums, n, radius, radius);
  } else {
    double *vertical = naive_allocate (count, sizeof *vertical);
    weighted_sums (p, view, values, vertical, n, 0, radius);
    weighted_sums (p, view, vertical, sums, n, radius, 0);
    free (vertical);
  }
  free (values);
  return sums;
}

/* 3.2.3: the quotient of the sums of w F D and w F */
static void
refine_expected (Naive *naive, int v)
{
  StereoPlan *p = &naive->plan;
  StereoView *view = &p->view[v];
  double *values = naive_allocate ((size_t) p->width * (size_t) p->height * 2, sizeof *values);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      size_t at = naive_map (p, x, y), k = 2 * ((size_t) y * (size_t) p->width + (size_t) x);
      values[k] = view->confidence[at];
      values[k + 1] = values[k] > 0 ? values[k] * view->index[at] : 0;
    }
  double *sums = window_sums (p, v, values, 2);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      size_t at = naive_map (p, x, y), k = 2 * ((size_t) y * (size_t) p->width + (size_t) x);
      view->expected[at] = sums[k] > 0 ? (int32_t) lrint (sums[k + 1] / sums[k] * 64) : STEREO_EXPECT_NONE;
      naive->unsure[v][at] = sums[k] > 0 && sums[k] < 1e-30;
    }
  free (sums);
}

/* 3.2.3, the last approximation: alpha * sum of w F |D - d| */
static void
refine_idr (Naive *naive, int v)
{
  StereoPlan *p = &naive->plan;
  StereoView *view = &p->view[v];
  int n = p->disparities;
  double *values = naive_allocate ((size_t) p->width * (size_t) p->height * (size_t) n, sizeof *values);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < n; i++) {
        size_t at = naive_map (p, x, y);
        double f = view->confidence[at];
        values[((size_t) y * (size_t) p->width + (size_t) x) * (size_t) n + (size_t) i] = f > 0 ?
            f * abs (view->index[at] - i) :
            0;
      }
  double *sums = window_sums (p, v, values, n);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      NaiveLowest l = NAIVE_NOTHING_YET;
      size_t at = naive_map (p, x, y);
      for (int i = 0; i < n; i++) {
        size_t k = ((size_t) y * (size_t) p->width + (size_t) x) * (size_t) n + (size_t) i;
        if (!naive_exists (p, x, i)) {
          sums[k] = INFINITY;
          continue;
        }
        sums[k] = *naive_view_cost (p, v, x, y, i) + rint (p->alpha / 4.0 * sums[k]);
        naive_lowest_add (&l, i, sums[k]);
      }
      view->index[at] = naive_index (l.first);
      view->confidence[at] = naive_margin (&l);
    }
  naive->penalised[v] = sums;
}

void
naive_refine (StereoPlan *p)
{
  Naive *naive = (Naive *) p;

  for (int v = 0; v < 2; v++) {
    if (p->params.refine_mode == STEREO_REFINE_IDR)
      refine_idr (naive, v);
    else
      refine_expected (naive, v);
  }
}

/* 3.2.3: alpha |D - d|, in volume steps, rounded down. D is in 64ths of a pixel, alpha in 256ths of a step for one of these. */
static double
penalty (const StereoPlan *p, int32_t expected, int i)
{
  return expected == STEREO_EXPECT_NONE ? 0 : floor (p->alpha * fabs (expected / 64.0 - i) * 64 / 256);
}

void
naive_reselect (StereoPlan *p)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        NaiveLowest l = NAIVE_NOTHING_YET;
        size_t at = naive_map (p, x, y);
        int32_t expected = p->view[v].expected[at];
        for (int i = 0; i < p->disparities; i++)
          if (naive_exists (p, x, i))
            naive_lowest_add (&l, i, *naive_view_cost (p, v, x, y, i) + penalty (p, expected, i));
        p->view[v].index[at] = naive_index (l.first);
        p->view[v].confidence[at] = naive_margin (&l);
      }
}
