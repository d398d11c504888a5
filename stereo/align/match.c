/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the points that are measured: textured patches of the small left picture that have one partner in the right
 * one, by normalised correlation, which another exposure does not change. */
#include "stereo/align/private.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK 4            /* px: patches start on a grid this fine */
#define MIN_TEXTURE 256.0f /* smaller eigenvalue of the structure tensor per pixel, (1/8 grey level / px)^2 */
#define GOOD 0.8f          /* correlation of a match */
#define RIVAL 1.4f         /* the next best place has to be this many times as far from a correlation of 1, */
#define CLEAR 0.02f        /* and this much farther */
#define PEAK 2             /* px around a match that are the same match */

/* The smaller eigenvalue of the patch's structure tensor, per pixel. */
static float
texture_of (const AlignPictures *p, int x, int y)
{
  int width = p->small_width;
  const int16_t *row = p->view[0].small + (size_t) y * (size_t) width + x;
  int xx = 0, yy = 0, xy = 0;

  for (int j = 0; j < ALIGN_PATCH; j++, row += width)
    for (int i = 0; i < ALIGN_PATCH; i++) {
      int across = row[i + 1] - row[i - 1], down = row[i + width] - row[i - width];
      xx += across * across;
      yy += down * down;
      xy += across * down;
    }
  float a = (float) xx, b = (float) yy, c = (float) xy;
  return (a + b - sqrtf ((a - b) * (a - b) + 4 * c * c)) / (2 * 4 * ALIGN_PATCH * ALIGN_PATCH);
}

static inline int32_t
products (const int16_t *a, const int16_t *b, int stride)
{
  int32_t sum = 0;

  for (int y = 0; y < ALIGN_PATCH; y++)
    for (int x = 0; x < ALIGN_PATCH; x++)
      sum += a[y * stride + x] * b[y * stride + x];
  return sum;
}

/* A search: in which rectangle of patches of the other picture, and what was found. */
typedef struct Search
{
  int left, right, top, bottom;
  int x, y;
  float score;        /* below 0: nothing that is better than all other places */
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
score_all (const AlignPictures *p, const AlignPicture *from, const AlignPicture *to, int x, int y, Search *s)
{
  const int n = ALIGN_PATCH * ALIGN_PATCH, width = p->small_width;
  size_t at = (size_t) y * (size_t) width + (size_t) x;
  float own = from->scale[at], mean = (float) from->sum[at];
  float *score = p->scores;

  s->score = -1;
  for (int v = s->top; v <= s->bottom; v++)
    for (int u = s->left; u <= s->right; u++, score++) {
      size_t there = (size_t) v * (size_t) width + (size_t) u;
      float both = (float) products (from->small + at, to->small + there, width);
      *score = ((float) n * both - mean * (float) to->sum[there]) * own * to->scale[there];
      if (*score > s->score) {
        s->score = *score;
        s->x = u;
        s->y = v;
      }
    }
}

/* Looks for the patch (x, y) of @from in @to; 0: it has no partner there, or several. */
static int
look (const AlignPictures *p, const AlignPicture *from, const AlignPicture *to, int x, int y, Search *s)
{
  int columns = s->right - s->left + 1;
  const float *score = p->scores;
  float rival = -1;

  if (columns < 1 || s->bottom < s->top)
    return 0;
  score_all (p, from, to, x, y, s);
  if (s->score < GOOD)
    return 0;
  for (int v = s->top; v <= s->bottom; v++)
    for (int u = s->left; u <= s->right; u++, score++)
      if (*score > rival && abs (u - s->x) > PEAK)
        rival = *score;
  if (1 - rival < RIVAL * (1 - s->score) + CLEAR)
    return 0;
  const float *best = p->scores + (s->y - s->top) * columns + (s->x - s->left);
  s->across = s->x > s->left && s->x < s->right ? summit (best[-1], best[0], best[1]) : 0;
  s->down = s->y > s->top && s->y < s->bottom ? summit (best[-columns], best[0], best[columns]) : 0;
  return 1;
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

static int
look_both_ways (const AlignPictures *p, int x, int y, Search *s)
{
  int reach = align_reach (p), end = p->small_width - ALIGN_PATCH;
  int near = p->min / p->factor - 1, far = p->max / p->factor + 1;
  int floor = p->rows - ALIGN_PATCH;

  *s = (Search){ most (0, x - far), least (end, x - near), most (0, y - reach), least (floor, y + reach) };
  if (!look (p, &p->view[0], &p->view[1], x, y, s))
    return 0;
  Search back = { most (0, s->x + near), least (end, s->x + far), most (0, y - 1), least (floor, y + 1) };
  return look (p, &p->view[1], &p->view[0], s->x, s->y, &back) && abs (back.x - x) <= 1;
}

int
align_match (AlignPictures *p, int column, int row, AlignMatch *match)
{
  int x = column * ALIGN_PATCH, y = row * ALIGN_PATCH - p->top;
  float best = MIN_TEXTURE;
  int at_x = -1, at_y = -1;
  Search s;

  for (int j = y; j < y + ALIGN_PATCH; j += BLOCK)
    for (int i = x; i < x + ALIGN_PATCH; i += BLOCK) {
      if (i < 1 || j < 1 || i + ALIGN_PATCH >= p->small_width || j + ALIGN_PATCH >= p->rows)
        continue;
      float texture = texture_of (p, i, j);
      if (texture > best) {
        best = texture;
        at_x = i;
        at_y = j;
      }
    }
  if (at_x < 0 || !look_both_ways (p, at_x, at_y, &s))
    return 0;
  float factor = (float) p->factor, middle = ALIGN_PATCH / 2;
  *match = (AlignMatch){ ((float) at_x + middle) * factor, ((float) (p->top + at_y) + middle) * factor,
    ((float) (at_x - s.x) - s.across) * factor, ((float) (s.y - at_y) + s.down) * factor };
  return 1;
}
