/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/points.h"

#include "gst/match/diagnose/offsets.h"
#include "gst/match/diagnose/place.h"

#include <math.h>
#include <string.h>

#define SMALL_WIDTH 240 /* the small picture is at most this wide */
#define PATCH 8         /* px of the small picture, both ways */
#define BLOCK 4         /* points lie on a grid this fine */
#define MAX_POINTS 192
#define MIN_POINTS 96
#define MAX_SCORES 260000 /* candidates of one look: what bounds its time */
#define VERTICAL 0.03     /* how far up and down, of the width: 19 px of 640 */
#define BEYOND 2          /* how far to look for disparities beyond the range, in ranges */
#define MIN_REACH 4       /* and at least the width by this */

/* Of the structure tensor's smaller eigenvalue, per pixel: some gradient both ways, above what noise makes. */
#define MIN_TEXTURE 4.0f
#define GOOD 0.85f  /* correlation of a match in the small picture */
#define RIVAL 1.6f  /* the next best has to be farther from 1 by this factor, and by this sum: */
#define CLEAR 0.02f /* for a match */
#define UNIQUE 0.1f /* for a match that votes for a direction: a pattern that repeats may fit best in a wrong place */
#define PEAK 2      /* px around a match that are the same match */

#define NEAR_ZERO 1.5 /* px of disparity that have no sign */

typedef struct
{
  gint16 *pixels; /* 16 bits: products of pairs are one instruction then */
  gint32 *sum;    /* of the patch that starts there */
  gfloat *scale;  /* 1 / (its standard deviation, times the pixels); 0 for a flat one */
} Small;

typedef struct
{
  gint x, y; /* of the patch in the small left picture */
  gfloat texture;
} Point;

struct _GstStereoCheck
{
  gint width, height, min, num;
  gint factor; /* views to small pictures */
  gint small_width, small_height;
  gint forward, backward; /* how far to look in the small picture, at positive and at negative disparities */
  gint vertical;          /* and up and down */
  Small small[2];
  gint32 *box;    /* sums of a patch's columns: values, squares */
  gfloat *blocks; /* of each block: the three sums of the structure tensor */
  gint blocks_x, blocks_y;
  Point points[MAX_POINTS];
  guint cells_x, cells_y;
  gfloat *scores;
  gdouble disparity[MAX_POINTS], offset[MAX_POINTS], beyond[MAX_POINTS];
  gboolean right_half[MAX_POINTS];
  GstStereoCheckOffset offsets[MAX_POINTS]; /* of what was placed */
};

/* ---- scratch ----------------------------------------------------------------------------- */

/* As many points, in cells of about one shape, as there is time for. */
static void
choose_cells (GstStereoCheck *check)
{
  guint candidates = (guint) ((check->forward + check->backward + 1) * (2 * check->vertical + 1));
  guint points = CLAMP (MAX_SCORES / candidates, MIN_POINTS, MAX_POINTS);

  check->cells_x = (guint) MAX (1, sqrt (points * (gdouble) check->small_width / check->small_height));
  check->cells_x = MIN (check->cells_x, points);
  check->cells_y = MAX (1, points / check->cells_x);
}

GstStereoCheck *
gst_stereo_check_new (gint width, gint height, gint min, gint num)
{
  gint factor = MIN (GST_STEREO_CHECK_MAX_FACTOR, (width + SMALL_WIDTH - 1) / SMALL_WIDTH), reach;
  gsize pixels;
  GstStereoCheck *check;

  if (width / factor < 4 * PATCH || height / factor < 2 * PATCH)
    return NULL;
  check = g_new0 (GstStereoCheck, 1);
  check->width = width;
  check->height = height;
  check->min = min;
  check->num = num;
  check->factor = factor;
  check->small_width = width / factor;
  check->small_height = height / factor;
  reach = MAX (ABS (min), ABS (min + num - 1));
  check->backward = MIN (reach / factor + 2, check->small_width - PATCH);
  reach = MAX (BEYOND * reach, width / MIN_REACH);
  check->forward = MIN (reach / factor + 2, check->small_width - PATCH);
  check->vertical = MAX (PATCH / 2, (gint) ceil (width * VERTICAL / factor));
  choose_cells (check);

  pixels = (gsize) check->small_width * (gsize) check->small_height;
  for (gint i = 0; i < 2; i++) {
    check->small[i].pixels = g_new (gint16, pixels);
    check->small[i].sum = g_new0 (gint32, pixels);
    check->small[i].scale = g_new0 (gfloat, pixels);
  }
  check->box = g_new (gint32, 2 * check->small_width);
  check->blocks_x = check->small_width / BLOCK;
  check->blocks_y = check->small_height / BLOCK;
  check->blocks = g_new (gfloat, 3 * check->blocks_x * check->blocks_y);
  check->scores = g_new (gfloat, (check->forward + check->backward + 1) * (2 * check->vertical + 1));
  return check;
}

void
gst_stereo_check_free (GstStereoCheck *check)
{
  if (!check)
    return;
  for (gint i = 0; i < 2; i++) {
    g_free (check->small[i].pixels);
    g_free (check->small[i].sum);
    g_free (check->small[i].scale);
  }
  g_free (check->box);
  g_free (check->blocks);
  g_free (check->scores);
  g_free (check);
}

gboolean
gst_stereo_check_is_for (const GstStereoCheck *check, gint width, gint height, gint min, gint num)
{
  return check->width == width && check->height == height && check->min == min && check->num == num;
}

/* ---- the small pictures ------------------------------------------------------------------ */

/* Means of factor x factor pixels, or of three or four of them each way where there are more. */
static void
shrink (const GstStereoCheck *check, const StereoImage *image, Small *small)
{
  gint factor = check->factor, step = MAX (1, (factor + 1) / 3), count = (factor + step - 1) / step;
  gssize across = (gssize) image->pixel_stride * step;
  gint16 *to = small->pixels;

  for (gint y = 0; y < check->small_height; y++)
    for (gint x = 0; x < check->small_width; x++) {
      const guint8 *row = gst_stereo_check_samples (image, x * factor, y * factor);
      gint sum = 0;

      for (gint v = 0; v < count; v++, row += image->stride * step)
        for (gint u = 0; u < count; u++)
          sum += row[u * across];
      *to++ = (gint16) ((sum + count * count / 2) / (count * count));
    }
}

/* Sum and deviation of every patch, from those of the patches beside it. */
static void
measure_patches (GstStereoCheck *check, Small *small)
{
  const gint width = check->small_width, n = PATCH * PATCH;
  gint32 *values = check->box, *squares = check->box + width;

  memset (check->box, 0, 2 * (gsize) width * sizeof *check->box);
  for (gint y = 0; y < check->small_height; y++) {
    const gint16 *in = small->pixels + (gsize) y * (gsize) width, *out = in - (gssize) PATCH * width;
    gsize first = (gsize) (y - PATCH + 1) * (gsize) width;
    gint32 sum = 0, square = 0;

    for (gint x = 0; x < width; x++) {
      values[x] += in[x];
      squares[x] += in[x] * in[x];
    }
    if (y >= PATCH)
      for (gint x = 0; x < width; x++) {
        values[x] -= out[x];
        squares[x] -= out[x] * out[x];
      }
    if (y < PATCH - 1)
      continue;
    for (gint x = 0; x < width; x++) {
      sum += values[x] - (x >= PATCH ? values[x - PATCH] : 0);
      square += squares[x] - (x >= PATCH ? squares[x - PATCH] : 0);
      if (x >= PATCH - 1) {
        gfloat deviation = (gfloat) n * (gfloat) square - (gfloat) sum * (gfloat) sum;
        small->sum[first + (gsize) (x - PATCH + 1)] = sum;
        /* a deviation below one grey level is noise */
        small->scale[first + (gsize) (x - PATCH + 1)] = deviation > (gfloat) (n * n) ? 1 / sqrtf (deviation) : 0;
      }
    }
  }
}

/* ---- points ------------------------------------------------------------------------------ */

static void
measure_texture (GstStereoCheck *check)
{
  const gint width = check->small_width;
  const gint16 *pixels = check->small[0].pixels;

  memset (check->blocks, 0, 3 * (gsize) (check->blocks_x * check->blocks_y) * sizeof *check->blocks);
  for (gint y = 1; y < MIN (check->small_height - 1, check->blocks_y * BLOCK); y++)
    for (gint x = 1; x < MIN (width - 1, check->blocks_x * BLOCK); x++) {
      const gint16 *p = pixels + (gsize) y * (gsize) width + x;
      gfloat *block = check->blocks + 3 * ((y / BLOCK) * check->blocks_x + x / BLOCK);
      gint across = (p[1] - p[-1]) / 2, down = (p[width] - p[-width]) / 2;
      block[0] += (gfloat) (across * across);
      block[1] += (gfloat) (down * down);
      block[2] += (gfloat) (across * down);
    }
}

/* The smaller eigenvalue, per pixel, of the patch of 2 x 2 blocks that starts at this one. */
static gfloat
texture_at (const GstStereoCheck *check, gint x, gint y)
{
  const gfloat *above = check->blocks + 3 * (y * check->blocks_x + x), *below = above + 3 * check->blocks_x;
  gfloat xx = above[0] + above[3] + below[0] + below[3], yy = above[1] + above[4] + below[1] + below[4];
  gfloat xy = above[2] + above[5] + below[2] + below[5];

  return (xx + yy - sqrtf ((xx - yy) * (xx - yy) + 4 * xy * xy)) / (2 * PATCH * PATCH);
}

/* Whether each pixel of the patch that starts there in the small picture counts. */
static gboolean
patch_counts (const GstStereoCheck *check, const guint8 *counts, gint x, gint y)
{
  gint factor = check->factor;

  for (gint v = y * factor; counts && v < (y + PATCH) * factor; v++)
    if (memchr (counts + (gsize) v * (gsize) check->width + x * factor, 0, (gsize) (PATCH * factor)))
      return FALSE;
  return TRUE;
}

/* The most textured point of every cell, where one has enough. */
static guint
choose_points (GstStereoCheck *check, const guint8 *counts)
{
  guint count = 0, cells = check->cells_x * check->cells_y;
  gint columns = check->blocks_x - 1, rows = check->blocks_y - 1;

  for (guint cell = 0; cell < cells; cell++) {
    gint left = (gint) (cell % check->cells_x) * columns / (gint) check->cells_x;
    gint right = ((gint) (cell % check->cells_x) + 1) * columns / (gint) check->cells_x;
    gint top = (gint) (cell / check->cells_x) * rows / (gint) check->cells_y;
    gint bottom = ((gint) (cell / check->cells_x) + 1) * rows / (gint) check->cells_y;
    Point best = { 0, 0, MIN_TEXTURE };

    for (gint y = top; y < bottom; y++)
      for (gint x = left; x < right; x++) {
        gfloat texture = texture_at (check, x, y);
        if (texture > best.texture && patch_counts (check, counts, x * BLOCK, y * BLOCK))
          best = (Point){ x * BLOCK, y * BLOCK, texture };
      }
    if (best.texture > MIN_TEXTURE)
      check->points[count++] = best;
  }
  return count;
}

/* ---- matches ----------------------------------------------------------------------------- */

typedef struct
{
  gint x, y; /* where the patch was found */
  gfloat score;
  gboolean alike;  /* some place is good enough */
  gboolean unique; /* nothing else comes anywhere near */
} Match;

static inline gint32
products (const gint16 *a, gint a_stride, const gint16 *b, gint b_stride, gint width, gint height)
{
  gint32 sum = 0;

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      sum += a[y * a_stride + x] * b[y * b_stride + x];
  return sum;
}

/*
 * The patch of @from at (x, y), looked for in @to up to @before and @behind along the row and @vertical. Its score is below 0 when nothing was
 * found that is better than all that is not the same place.
 */
static Match
look (GstStereoCheck *check, const Small *from, const Small *to, gint x, gint y, gint before, gint behind, gint vertical)
{
  const gint width = check->small_width, n = PATCH * PATCH;
  gint left = MAX (0, x - before), right = MIN (width - PATCH, x + behind);
  gint top = MAX (0, y - vertical), bottom = MIN (check->small_height - PATCH, y + vertical);
  gsize at = (gsize) y * (gsize) width + (gsize) x;
  Match best = { 0, 0, -1, FALSE, FALSE };
  gfloat *score = check->scores, rival = -1;

  for (gint v = top; v <= bottom; v++)
    for (gint u = left; u <= right; u++, score++) {
      gsize there = (gsize) v * (gsize) width + (gsize) u;
      gint32 both = products (from->pixels + at, width, to->pixels + there, width, PATCH, PATCH);
      *score = ((gfloat) n * (gfloat) both - (gfloat) from->sum[at] * (gfloat) to->sum[there]) * from->scale[at] *
          to->scale[there];
      if (*score > best.score)
        best = (Match){ u, v, *score, FALSE, FALSE };
    }
  if (best.score < GOOD)
    return (Match){ 0, 0, -1, FALSE, FALSE };
  best.alike = TRUE;
  score = check->scores;
  for (gint v = top; v <= bottom; v++)
    for (gint u = left; u <= right; u++, score++)
      if (*score > rival && (ABS (u - best.x) > PEAK || ABS (v - best.y) > PEAK))
        rival = *score;
  best.unique = 1 - rival > RIVAL * (1 - best.score) + UNIQUE;
  if (1 - rival < RIVAL * (1 - best.score) + CLEAR)
    best.score = -1;
  return best;
}

/* ---- a look at a pair -------------------------------------------------------------------- */

static gint
compare (gconstpointer a, gconstpointer b)
{
  gdouble one = *(const gdouble *) a, other = *(const gdouble *) b;

  return one < other ? -1 : one > other;
}

static gdouble
median (gdouble *values, guint count)
{
  if (!count)
    return 0;
  qsort (values, count, sizeof *values, compare);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The offset of a match, and what may explain it. */
static GstStereoCheckOffset
offset_of (const GstStereoCheck *check, const Point *point, gdouble offset)
{
  gdouble x = (2.0 * point->x + PATCH) / check->small_width - 1, y = (2.0 * point->y + PATCH) / check->small_height - 1;

  return (GstStereoCheckOffset){ { 1, x, y }, offset };
}

static void
explain_offsets (GstStereoCheck *check, GstStereoCheckResult *result)
{
  gdouble coefficients[GST_STEREO_CHECK_MAX_TERMS], scratch[MAX_POINTS];

  result->rest = gst_stereo_check_fit (check->offsets, result->placed, 3, coefficients, scratch);
  result->scale = coefficients[2];
}

static void
sum_up (GstStereoCheck *check, GstStereoCheckResult *result)
{
  gdouble sorted[MAX_POINTS];
  guint halves[2] = { 0, 0 };

  result->disparity = median (check->disparity, result->matches);
  result->largest = result->matches < 3 ? 0 : check->disparity[result->matches - 3]; /* sorted by now */
  qsort (check->beyond, result->beyond, sizeof *check->beyond, compare);
  result->farthest = result->beyond < 3 ? 0 : check->beyond[result->beyond - 3];
  for (guint i = 0; i < result->placed; i++)
    sorted[i] = fabs (check->offset[i]);
  result->vertical = median (sorted, result->placed);
  for (gint half = 0; half < 2; half++) {
    for (guint i = 0; i < result->placed; i++)
      if (check->right_half[i] == half)
        sorted[halves[half]++] = check->offset[i];
    *(half ? &result->vertical_right : &result->vertical_left) = median (sorted, halves[half]);
  }
  /* a half of few points tells nothing of a tilt */
  if (MIN (halves[0], halves[1]) < GST_STEREO_CHECK_MIN_MATCHES / 2)
    result->vertical_left = result->vertical_right = 0;
}

static gboolean
inside (const GstStereoCheck *check, gdouble disparity)
{
  /* the small picture's precision */
  return disparity > check->min - check->factor && disparity < check->min + check->num - 1 + check->factor;
}

static void
vote (GstStereoCheck *check, gdouble disparity, gboolean unique, GstStereoCheckResult *result)
{
  if (fabs (disparity) < NEAR_ZERO)
    return;
  if (!unique)
    result->doubtful++;
  else if (inside (check, disparity) && disparity > check->min - NEAR_ZERO)
    result->forward++;
  else if (inside (check, -disparity))
    result->backward++;
  else if (disparity > check->min + check->num - 1)
    check->beyond[result->beyond++] = disparity;
}

/* In the views themselves. */
static GstStereoCheckSpot
spot_of (const GstStereoCheck *check, const Point *point, const Match *match)
{
  gint factor = check->factor, half = PATCH * factor / 2;

  return (GstStereoCheckSpot){ check->width, check->height, point->x * factor + half, point->y * factor + half,
    (match->x - point->x) * factor, (match->y - point->y) * factor, factor / 2 + 2 };
}

void
gst_stereo_check_run (GstStereoCheck *check, const StereoImage *left, const StereoImage *right, const guint8 *counts,
    GstStereoCheckResult *result)
{
  *result = (GstStereoCheckResult){ 0 };
  shrink (check, left, &check->small[0]);
  shrink (check, right, &check->small[1]);
  measure_patches (check, &check->small[0]);
  measure_patches (check, &check->small[1]);
  measure_texture (check);
  result->points = choose_points (check, counts);
  for (guint i = 0; i < result->points; i++) {
    const Point *point = &check->points[i];
    Match match = look (check, &check->small[0], &check->small[1], point->x, point->y, check->forward, check->backward,
        check->vertical);
    Match back;
    GstStereoCheckSpot spot;
    gdouble disparity, offset;

    result->alike += match.alike;
    if (match.score < 0)
      continue;
    back = look (check, &check->small[1], &check->small[0], match.x, match.y, check->backward, check->forward,
        MIN (check->vertical, 1 + ABS (match.y - point->y)));
    if (back.score < 0 || ABS (back.x - point->x) > 1 || ABS (back.y - point->y) > 1)
      continue;
    disparity = (point->x - match.x) * check->factor;
    spot = spot_of (check, point, &match);
    if (gst_stereo_check_place (left, right, &spot, &disparity, &offset)) {
      check->offsets[result->placed] = offset_of (check, point, offset);
      check->right_half[result->placed] = 2 * point->x + PATCH > check->small_width;
      check->offset[result->placed++] = offset;
    }
    check->disparity[result->matches++] = disparity;
    vote (check, disparity, match.unique && back.unique, result);
  }
  sum_up (check, result);
  explain_offsets (check, result);
}
