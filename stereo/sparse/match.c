/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the points that are measured: textured patches of the small left picture that have one partner in the right
 * one, by normalised correlation, which another exposure does not change. */
#include "stereo/sparse/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK STEREO_SPARSE_BLOCK
#define MIN_TEXTURE 256.0f /* of a point */
#define PEAK 2             /* px around a match that are the same match */

/* The smaller eigenvalue of the patch's structure tensor, per pixel. */
static float
texture_of (const StereoSparse *s, int x, int y)
{
  int width = s->small_width;
  const int16_t *row = s->view[0].small + (size_t) y * (size_t) width + x;
  int xx = 0, yy = 0, xy = 0;

  for (int j = 0; j < PATCH; j++, row += width)
    for (int i = 0; i < PATCH; i++) {
      int across = row[i + 1] - row[i - 1], down = row[i + width] - row[i - width];
      xx += across * across;
      yy += down * down;
      xy += across * down;
    }
  float a = (float) xx, b = (float) yy, c = (float) xy;
  return (a + b - sqrtf ((a - b) * (a - b) + 4 * c * c)) / (2 * 4 * PATCH * PATCH);
}

static inline int32_t
products (const int16_t *a, const int16_t *b, int stride)
{
  int32_t sum = 0;

  for (int y = 0; y < PATCH; y++)
    for (int x = 0; x < PATCH; x++)
      sum += a[y * stride + x] * b[y * stride + x];
  return sum;
}

/* Whether each pixel of the left view under a patch counts. */
static int
patch_counts (const StereoSparse *s, const uint8_t *counts, int x, int y)
{
  size_t width = (size_t) s->params.width, length = (size_t) (PATCH * s->factor);

  for (int v = (s->top + y) * s->factor; counts && v < (s->top + y + PATCH) * s->factor; v++)
    if (memchr (counts + (size_t) v * width + x * s->factor, 0, length))
      return 0;
  return 1;
}

int
stereo_sparse_find_point (
    const StereoSparse *s, int left, int right, int top, int bottom, const uint8_t *counts, StereoSparsePoint *point)
{
  float best = MIN_TEXTURE;

  for (int j = top - s->top; j < bottom - s->top; j += BLOCK)
    for (int i = left; i < right; i += BLOCK) {
      if (i < 1 || j < 1 || i + PATCH >= s->small_width || j + PATCH >= s->rows)
        continue;
      float texture = texture_of (s, i, j);
      if (texture > best && patch_counts (s, counts, i, j)) {
        best = texture;
        *point = (StereoSparsePoint){ i, s->top + j, texture };
      }
    }
  return best > MIN_TEXTURE;
}

/* A search: in which rectangle of patches of the other picture, and what was found. */
typedef struct Search
{
  int left, right, top, bottom;
  int x, y;
  float score, rival;
  float across, down; /* where a parabola through the scores is highest, from (x, y) */
} Search;

static float
summit (float before, float here, float after)
{
  float bend = 2 * here - before - after;
  float at = bend > 1e-6f ? (after - before) / (2 * bend) : 0;
  return at < -0.5f ? -0.5f : at > 0.5f ? 0.5f : at;
}

static void
score_all (const StereoSparse *s, const Picture *from, const Picture *to, int x, int y, Search *search)
{
  const int n = PATCH * PATCH, width = s->small_width;
  size_t at = (size_t) y * (size_t) width + (size_t) x;
  float own = from->scale[at], mean = (float) from->sum[at];
  float *score = s->scores;

  search->score = -1;
  for (int v = search->top; v <= search->bottom; v++)
    for (int u = search->left; u <= search->right; u++, score++) {
      size_t there = (size_t) v * (size_t) width + (size_t) u;
      float both = (float) products (from->small + at, to->small + there, width);
      *score = ((float) n * both - mean * (float) to->sum[there]) * own * to->scale[there];
      if (*score > search->score) {
        search->score = *score;
        search->x = u;
        search->y = v;
      }
    }
}

/* Looks for the patch (x, y) of @from in @to. */
static StereoSparseFound
search_patch (const StereoSparse *s, const Picture *from, const Picture *to, int x, int y, Search *search)
{
  int columns = search->right - search->left + 1;
  const float *score = s->scores;
  float rival = -1;

  if (columns < 1 || search->bottom < search->top)
    return STEREO_SPARSE_NOTHING;
  score_all (s, from, to, x, y, search);
  if (search->score < s->params.good)
    return STEREO_SPARSE_NOTHING;
  for (int v = search->top; v <= search->bottom; v++)
    for (int u = search->left; u <= search->right; u++, score++)
      if (*score > rival && (abs (u - search->x) > PEAK || (s->params.same_column && abs (v - search->y) > PEAK)))
        rival = *score;
  search->rival = rival;
  if (1 - rival < s->params.rival * (1 - search->score) + s->params.clear)
    return STEREO_SPARSE_SEVERAL;
  const float *best = s->scores + (search->y - search->top) * columns + (search->x - search->left);
  search->across = search->x > search->left && search->x < search->right ? summit (best[-1], best[0], best[1]) : 0;
  search->down = search->y > search->top && search->y < search->bottom ?
      summit (best[-columns], best[0], best[columns]) :
      0;
  return STEREO_SPARSE_ONE;
}

static int
most (int a, int b)
{
  return a > b ? a : b;
}

static int
least (int a, int b)
{
  return a < b ? a : b;
}

static float
margin_of (const StereoSparse *s, const Search *search)
{
  return 1 - search->rival - s->params.rival * (1 - search->score);
}

/* Matches a point of @from in @to, with disparities from @min to @max. */
static StereoSparseFound
match_between (const StereoSparse *s, const Picture *from, const Picture *to, const StereoSparsePoint *point, int min,
    int max, StereoSparseMatch *match)
{
  int x = point->x, y = point->y - s->top, reach = vertical_reach (s), end = s->small_width - PATCH;
  int near = min / s->factor - 1, far = max / s->factor + 1;
  int floor = s->rows - PATCH;
  Search there = { most (0, x - far), least (end, x - near), most (0, y - reach), least (floor, y + reach) };
  StereoSparseFound found = search_patch (s, from, to, x, y, &there);

  if (found != STEREO_SPARSE_ONE)
    return found;
  Search back = { most (0, there.x + near), least (end, there.x + far), most (0, y - 1), least (floor, y + 1) };
  if (search_patch (s, to, from, there.x, there.y, &back) != STEREO_SPARSE_ONE || abs (back.x - x) > 1)
    return STEREO_SPARSE_SEVERAL;
  float factor = (float) s->factor, middle = PATCH / 2, margins[] = { margin_of (s, &there), margin_of (s, &back) };
  *match = (StereoSparseMatch){ ((float) x + middle) * factor, ((float) point->y + middle) * factor,
    ((float) (x - there.x) - there.across) * factor, ((float) (there.y - y) + there.down) * factor,
    margins[0] < margins[1] ? margins[0] : margins[1] };
  return STEREO_SPARSE_ONE;
}

StereoSparseFound
stereo_sparse_match (StereoSparse *s, const StereoSparsePoint *point, StereoSparseMatch *match)
{
  return match_between (s, &s->view[0], &s->view[1], point, s->params.min, s->params.max, match);
}

int
stereo_sparse_track (StereoSparse *s, const StereoSparseMatch *match, int view, StereoSparsePlace *place)
{
  float x = match->x - (view ? match->disparity : 0), y = match->y + (view ? match->vertical : 0);
  StereoSparsePoint point = { (int) (x / (float) s->factor) - PATCH / 2, (int) (y / (float) s->factor) - PATCH / 2, 0 };
  int reach = s->params.reach;
  StereoSparseMatch back;

  if (point.x < 0 || point.x > s->small_width - PATCH || point.y < s->top || point.y - s->top > s->rows - PATCH)
    return 0;
  return match_between (s, &s->view[view], &s->kept[view], &point, -reach, reach, &back) == STEREO_SPARSE_ONE &&
      sparse_place (s, &s->view[view], &s->kept[view], &back, place);
}
