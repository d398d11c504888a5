/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/matches.h"

#include <math.h>
#include <stdlib.h>

#define SMALL_SIDE 240 /* px of the small pictures, at most */
#define POINTS 192     /* at most */
#define VERTICAL 0.03  /* how far up and down points are searched, of the width: 19 px of 640; */
#define MIN_VERTICAL 4 /* and at least so many px of the small pictures */
#define BEYOND 2       /* how far to search disparities beyond the range, in ranges */
#define MIN_SHARE 4    /* and at least to this part of the width */

#define GOOD 0.85f  /* correlation of a match */
#define RIVAL 1.6f  /* see StereoSparseParams */
#define CLEAR 0.02f /* for a match */
#define UNIQUE 0.1f /* for a match that votes for a direction: a pattern that repeats may fit best in a wrong place */

#define MIN_VOTES 12 /* fewer say nothing */
#define MAX_DOUBT 3  /* doubtful matches for each one that votes */

#define END 0.5       /* px of the search range that are its end */
#define NEAR_ZERO 1.5 /* px of disparity beside infinity that have no sign */
#define MIN_FEW 6     /* matches that are no chance, */
#define FEW_OF 25     /* and this part of them */
#define MIN_HALF 6    /* points of a half of the view whose median counts */

#define TERMS 6   /* of the fit: what cameras that are turned, or have other lenses, do to rows */
#define ROUNDS 10 /* of the fit */
#define FAR 2.0   /* px of a rest that is as bad as any */

struct _GstStereoPairMatcher
{
  gint width, height, min, num;
  StereoSparse *sparse;
  gdouble infinity;        /* disparity of what is infinitely far away, px */
  gint factor;             /* views to small pictures */
  gint rows;               /* of cells of the engine's: all of the view */
  gint blocks_x, blocks_y; /* of the small pictures, where patches start */
  guint cells_x, cells_y;  /* each gives one point */
  gdouble disparity[POINTS], beyond[POINTS], sure[POINTS];
  StereoSparsePlace places[POINTS];    /* of the placed points */
  GstStereoMovingPoint moving[POINTS]; /* the same, with their motion */
};

GstStereoPairMatcher *
gst_stereo_pair_matcher_new (gint width, gint height, gint min, gint num)
{
  gint longest = MAX (width, height), factor = (longest + SMALL_SIDE - 1) / SMALL_SIDE, small_width, small_height;
  gint largest = MAX (ABS (min), ABS (min + num - 1));
  StereoSparseParams params = { .width = width,
    .height = height,
    .side = SMALL_SIDE,
    .min = -largest,
    .max = MAX (BEYOND * largest, width / MIN_SHARE),
    .reach = MAX ((gint) ceil (width * VERTICAL), MIN_VERTICAL * factor),
    .good = GOOD,
    .rival = RIVAL,
    .clear = CLEAR,
    .same_column = TRUE,
    .noisy = TRUE,
    .motion = TRUE };

  if (width / factor < 4 * STEREO_SPARSE_PATCH || height / factor < 2 * STEREO_SPARSE_PATCH)
    return NULL;
  g_autofree GstStereoPairMatcher *matcher = g_new0 (GstStereoPairMatcher, 1);
  *matcher = (GstStereoPairMatcher){
    .width = width, .height = height, .min = min, .num = num, .sparse = stereo_sparse_new (&params)
  };
  if (!matcher->sparse)
    return NULL;
  stereo_sparse_size (matcher->sparse, &small_width, &small_height, &matcher->factor);
  matcher->rows = small_height / STEREO_SPARSE_PATCH;
  matcher->blocks_x = small_width / STEREO_SPARSE_BLOCK - 1;
  matcher->blocks_y = small_height / STEREO_SPARSE_BLOCK - 1;
  /* cells of about one shape */
  matcher->cells_x = CLAMP ((guint) sqrt (POINTS * (gdouble) small_width / small_height), 1, POINTS);
  matcher->cells_y = MAX (1, POINTS / matcher->cells_x);
  return g_steal_pointer (&matcher);
}

void
gst_stereo_pair_matcher_free (GstStereoPairMatcher *matcher)
{
  if (!matcher)
    return;
  stereo_sparse_free (matcher->sparse);
  g_free (matcher);
}

gboolean
gst_stereo_pair_matcher_is_for (const GstStereoPairMatcher *matcher, gint width, gint height, gint min, gint num)
{
  return matcher->width == width && matcher->height == height && matcher->min == min && matcher->num == num;
}

/* ---- figures of the offsets -------------------------------------------------------------- */

static gint
compare_values (gconstpointer a, gconstpointer b)
{
  gdouble one = *(const gdouble *) a, other = *(const gdouble *) b;

  return one < other ? -1 : one > other;
}

/* The smallest one first. */
static void
sort (gdouble *values, guint count)
{
  qsort (values, count, sizeof *values, compare_values);
}

static gdouble
median (gdouble *values, guint count)
{
  if (!count)
    return 0;
  sort (values, count);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void
take_medians (const GstStereoPairMatcher *matcher, GstStereoPairMatches *matches)
{
  gdouble absolute[POINTS], all[POINTS], half[2][POINTS];
  guint counts[2] = { 0, 0 };

  for (guint i = 0; i < matches->placed; i++) {
    const StereoSparsePlace *place = &matcher->places[i];
    /* in the left view */
    gboolean right = (place->u + 0.5) * matcher->width + place->disparity > matcher->width / 2.0;

    all[i] = place->vertical;
    absolute[i] = fabs (all[i]);
    half[right][counts[right]++] = all[i];
  }
  matches->vertical = median (absolute, matches->placed);
  matches->middle = median (all, matches->placed);
  if (MIN (counts[0], counts[1]) < MIN_HALF)
    return;
  matches->vertical_left = median (half[0], counts[0]);
  matches->vertical_right = median (half[1], counts[1]);
}

static void
fit_offsets (const GstStereoPairMatcher *matcher, GstStereoPairMatches *matches)
{
  gdouble squares = 0, weights = 0;
  StereoSparseFit fit = { { 0 } };

  stereo_sparse_fit (matcher->places, (gint) matches->placed, TERMS, ROUNDS, &fit);
  for (guint i = 0; i < matches->placed; i++) {
    const StereoSparsePlace *place = &matcher->places[i];
    gdouble rest = MIN (FAR, fabs (place->vertical - stereo_sparse_value (fit.c, place->u, place->v)));

    squares += place->weight * rest * rest;
    weights += place->weight;
  }
  matches->shift = fit.c[0];
  /* places lie between -1/2 and 1/2 */
  matches->scale = fit.c[1] / 2;
  matches->roll = fit.c[2] / 2;
  matches->rest = matches->placed ? sqrt (squares / weights) : 0;
}

/* ---- matches ----------------------------------------------------------------------------- */

static gboolean
inside (const GstStereoPairMatcher *matcher, gdouble disparity)
{
  /* the small pictures' precision */
  return disparity > matcher->min - matcher->factor && disparity < matcher->min + matcher->num - 1 + matcher->factor;
}

static void
vote (GstStereoPairMatcher *matcher, gdouble disparity, gboolean unique, GstStereoPairMatches *matches)
{
  gdouble depth = disparity - matcher->infinity, range = matcher->min + (matcher->num - 1) / 2.0 - matcher->infinity;

  if (fabs (depth) < NEAR_ZERO)
    return;
  if (!unique)
    matches->doubtful++;
  /* the last disparity has no neighbour that would show whether another one fits better */
  else if (disparity > matcher->min + matcher->num - 1 - END && !inside (matcher, -disparity))
    matcher->beyond[matches->beyond++] = disparity;
  else if (inside (matcher, disparity) && disparity > matcher->min - NEAR_ZERO)
    matches->forward++;
  else if (depth * range < 0 && inside (matcher, -disparity))
    matches->backward++;
}

/* Whether the right view shows a point of that column, whatever its disparity: of what repeats, it may show another place alone. */
static gboolean
is_in_sight (const GstStereoPairMatcher *matcher, gdouble x)
{
  return x >= matcher->min + matcher->num + STEREO_SPARSE_PATCH / 2 * matcher->factor;
}

/* The most textured point of a cell. */
static gboolean
find_point (const GstStereoPairMatcher *matcher, guint cell, const guint8 *counts, StereoSparsePoint *point)
{
  gint x = (gint) (cell % matcher->cells_x), y = (gint) (cell / matcher->cells_x);
  gint across = (gint) matcher->cells_x, down = (gint) matcher->cells_y;

  return stereo_sparse_find_point (matcher->sparse, x * matcher->blocks_x / across * STEREO_SPARSE_BLOCK,
      (x + 1) * matcher->blocks_x / across * STEREO_SPARSE_BLOCK, y * matcher->blocks_y / down * STEREO_SPARSE_BLOCK,
      (y + 1) * matcher->blocks_y / down * STEREO_SPARSE_BLOCK, counts, point);
}

static void
take_lowest (GstStereoPairMatcher *matcher, GstStereoPairMatches *matches)
{
  sort (matcher->sure, matches->sure);
  matches->few = MAX (MIN_FEW, (matches->sure + FEW_OF - 1) / FEW_OF);
  matches->lowest = matches->sure < matches->few ? 0 : matcher->sure[matches->few - 1];
}

static void
match_point (
    GstStereoPairMatcher *matcher, const StereoSparsePoint *point, gboolean motion, GstStereoPairMatches *matches)
{
  StereoSparseMatch match;
  StereoSparseFound found = stereo_sparse_match (matcher->sparse, point, &match);
  StereoSparsePlace *place = &matcher->places[matches->placed];

  matches->points++;
  matches->alike += found != STEREO_SPARSE_NOTHING;
  if (found != STEREO_SPARSE_ONE)
    return;
  gboolean unique = match.margin > UNIQUE;
  gdouble disparity = match.disparity;
  if (stereo_sparse_place (matcher->sparse, &match, place)) {
    disparity = place->disparity;
    if (unique && is_in_sight (matcher, match.x))
      matcher->sure[matches->sure++] = disparity;
    GstStereoMovingPoint *moving = &matcher->moving[matches->placed++];
    moving->place = *place;
    for (gint view = 0; view < 2; view++)
      if (!motion || !stereo_sparse_track (matcher->sparse, &match, view, &moving->motion[view]))
        moving->motion[view].weight = 0;
  }
  matcher->disparity[matches->matches++] = disparity;
  vote (matcher, disparity, unique, matches);
}

void
gst_stereo_pair_matcher_run (GstStereoPairMatcher *matcher, const StereoImage *left, const StereoImage *right,
    const guint8 *counts, gdouble infinity, gboolean motion, GstStereoPairMatches *matches)
{
  StereoSparsePoint point;

  matcher->infinity = infinity;
  *matches = (GstStereoPairMatches){ .factor = matcher->factor };
  stereo_sparse_take (matcher->sparse, left, right, 0, matcher->rows);
  for (guint cell = 0; cell < matcher->cells_x * matcher->cells_y; cell++)
    if (find_point (matcher, cell, counts, &point))
      match_point (matcher, &point, motion, matches);
  matches->disparity = median (matcher->disparity, matches->matches);
  matches->largest = matches->matches < 3 ? 0 : matcher->disparity[matches->matches - 3]; /* sorted by now */
  sort (matcher->beyond, matches->beyond);
  matches->farthest = matches->beyond < 3 ? 0 : matcher->beyond[matches->beyond - 3];
  take_lowest (matcher, matches);
  take_medians (matcher, matches);
  fit_offsets (matcher, matches);
  if (motion)
    gst_stereo_delay_measure (matcher->moving, matches->placed, &matches->delay);
}

void
gst_stereo_pair_matcher_keep (GstStereoPairMatcher *matcher, const StereoImage *left, const StereoImage *right)
{
  stereo_sparse_keep (matcher->sparse, left, right);
}

gboolean
gst_stereo_matches_are_enough (const GstStereoPairMatches *matches, guint votes)
{
  return votes >= MIN_VOTES && matches->doubtful <= MAX_DOUBT * votes;
}
