/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/matches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gst/match/debug.h"

#define INTERVAL (300 * GST_MSECOND) /* from one check to the next, without and with a suspicion */
#define SOON (90 * GST_MSECOND)
#define POINTS 192    /* at most */
#define MOST_LEFT 1.0 /* px that an alignment may leave in the middle and at the sides */

struct _GstStereoMatches
{
  GstElement *element;
  GstStereoFaults *faults;

  /* protected by the element's object lock */
  guint count;              /* matches of the last one */
  gdouble vertical, beyond; /* px, and share of the matches; below 0 = not known */
  gint wanted;              /* disparities; 0 = no more than are searched */

  /* of the source pad's task */
  gint64 last;                   /* time of the last pair, ns */
  gboolean kept;                 /* the frame before the next pair */
  gboolean concluded;            /* a pair has said something of the rig */
  GstStereoMatchFigures figures; /* of the last pair */

  /* the points of a pair */
  StereoSparse *sparse; /* NULL before the first pair, and for views too small */
  gint width, height, min, num;
  gdouble infinity;        /* disparity of what is infinitely far away, px */
  gint rows;               /* of cells of the engine's: all of the view */
  gint blocks_x, blocks_y; /* of the small pictures, where patches start */
  guint cells_x, cells_y;  /* each gives one point */
  gdouble disparity[POINTS], far[POINTS], sure[POINTS];
  GstStereoMovingPoint points[POINTS]; /* those that are placed */
};

GstStereoMatches *
gst_stereo_matches_new (GstElement *element, GstStereoFaults *faults)
{
  GstStereoMatches *matches = g_new0 (GstStereoMatches, 1);

  *matches = (GstStereoMatches){ .element = element, .faults = faults, .last = G_MAXINT64, .vertical = -1, .beyond = -1 };
  return matches;
}

void
gst_stereo_matches_free (GstStereoMatches *matches)
{
  stereo_sparse_free (matches->sparse);
  g_free (matches);
}

void
gst_stereo_matches_flush (GstStereoMatches *matches)
{
  matches->kept = FALSE;
  matches->last = G_MAXINT64;
}

/* ---- points ---------------------------------------------------------------------------------- */

#define SMALL_SIDE 240 /* px of the small pictures, at most */
#define VERTICAL 0.03  /* how far up and down points are searched, of the width: 19 px of 640; */
#define MIN_VERTICAL 4 /* and at least so many px of the small pictures */
#define BEYOND 2       /* how far to search disparities beyond the range, in ranges */
#define MIN_SHARE 4    /* and at least to this part of the width */
#define MATCH 0.85f    /* correlation of a match */
#define RIVAL 1.6f     /* see StereoSparseParams */
#define CLEAR 0.02f    /* for a match */
#define UNIQUE 0.1f   /* for a match that votes for a direction: a pattern that repeats may fit best in a wrong place */
#define END 0.5       /* px of the search range that are its end */
#define NEAR_ZERO 1.5 /* px of disparity beside infinity that have no sign */
#define MIN_FEW 6     /* matches that are no chance, */
#define FEW_OF 25     /* and this part of them */
#define TERMS 6       /* of a fit: what cameras that are turned, or have other lenses, do to rows */
#define ROUNDS 10     /* of a fit */
#define MOST_REST 2.0 /* px of a rest that is as bad as any */

/* FALSE for views that are too small. */
static gboolean
prepare (GstStereoMatches *m, const GstStereoLookedPair *pair)
{
  gint width = pair->width, height = pair->height, min = pair->params->min_disparity;
  gint num = pair->params->num_disparities, small_width, small_height, factor;
  gint longest = MAX (width, height), largest = MAX (ABS (min), ABS (min + num - 1));

  m->infinity = -pair->params->principal_offset;
  if (m->width == width && m->height == height && m->min == min && m->num == num)
    return m->sparse != NULL;
  factor = (longest + SMALL_SIDE - 1) / SMALL_SIDE;
  const StereoSparseParams params = { .width = width,
    .height = height,
    .side = SMALL_SIDE,
    .min = -largest,
    .max = MAX (BEYOND * largest, width / MIN_SHARE),
    .reach = MAX ((gint) ceil (width * VERTICAL), MIN_VERTICAL * factor),
    .good = MATCH,
    .rival = RIVAL,
    .clear = CLEAR,
    .same_column = TRUE,
    .noisy = TRUE,
    .motion = TRUE };
  stereo_sparse_free (m->sparse);
  m->width = width;
  m->height = height;
  m->min = min;
  m->num = num;
  m->kept = FALSE;
  m->sparse = width / factor < 4 * STEREO_SPARSE_PATCH || height / factor < 2 * STEREO_SPARSE_PATCH ?
      NULL :
      stereo_sparse_new (&params);
  if (!m->sparse)
    return FALSE;
  stereo_sparse_size (m->sparse, &small_width, &small_height, &m->figures.factor);
  m->rows = small_height / STEREO_SPARSE_PATCH;
  m->blocks_x = small_width / STEREO_SPARSE_BLOCK - 1;
  m->blocks_y = small_height / STEREO_SPARSE_BLOCK - 1;
  /* cells of about one shape */
  m->cells_x = CLAMP ((guint) sqrt (POINTS * (gdouble) small_width / small_height), 1, POINTS);
  m->cells_y = MAX (1, POINTS / m->cells_x);
  return TRUE;
}

static gint
compare_values (gconstpointer a, gconstpointer b)
{
  gdouble one = *(const gdouble *) a, other = *(const gdouble *) b;

  return one < other ? -1 : one > other;
}

/* Sorts them, the smallest one first. */
static gdouble
median (gdouble *values, guint count)
{
  qsort (values, count, sizeof *values, compare_values);
  return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

static gboolean
inside (const GstStereoMatches *m, gdouble disparity)
{
  /* the small pictures' precision */
  gint factor = m->figures.factor;

  return disparity > m->min - factor && disparity < m->min + m->num - 1 + factor;
}

static void
vote (GstStereoMatches *m, gdouble disparity, gboolean unique)
{
  gdouble depth = disparity - m->infinity, range = m->min + (m->num - 1) / 2.0 - m->infinity;
  GstStereoMatchFigures *figures = &m->figures;

  if (fabs (depth) < NEAR_ZERO)
    return;
  if (!unique)
    figures->doubtful++;
  /* the last disparity has no neighbour that would show whether another one fits better */
  else if (disparity > m->min + m->num - 1 - END && !inside (m, -disparity))
    m->far[figures->beyond++] = disparity;
  else if (inside (m, disparity) && disparity > m->min - NEAR_ZERO)
    figures->forward++;
  else if (depth * range < 0 && inside (m, -disparity))
    figures->backward++;
}

static void
match_point (GstStereoMatches *m, const StereoSparsePoint *point)
{
  GstStereoMatchFigures *figures = &m->figures;
  GstStereoMovingPoint *placed = &m->points[figures->placed];
  StereoSparseMatch match;
  StereoSparseFound found = stereo_sparse_match (m->sparse, point, &match);

  figures->points++;
  figures->alike += found != STEREO_SPARSE_NOTHING;
  if (found != STEREO_SPARSE_ONE)
    return;
  gboolean unique = match.margin > UNIQUE;
  gdouble disparity = match.disparity;
  if (stereo_sparse_place (m->sparse, &match, &placed->place)) {
    disparity = placed->place.disparity;
    /* whatever its disparity, the right view shows the point: of what repeats, it may show another place alone */
    if (unique && match.x >= (float) (m->min + m->num + STEREO_SPARSE_PATCH / 2 * figures->factor))
      m->sure[figures->sure++] = disparity;
    for (gint view = 0; view < 2; view++)
      if (!m->kept || !stereo_sparse_track (m->sparse, &match, view, &placed->motion[view]))
        placed->motion[view].weight = 0;
    figures->placed++;
  }
  m->disparity[figures->matches++] = disparity;
  vote (m, disparity, unique);
}

static void
fit_offsets (GstStereoMatches *m)
{
  StereoSparsePlace places[POINTS];
  gdouble absolute[POINTS], all[POINTS], squares = 0, weights = 0;
  GstStereoMatchFigures *figures = &m->figures;
  guint count = figures->placed;
  StereoSparseFit fit = { { 0 } };

  if (count == 0) /* all of these figures are 0 */
    return;
  for (guint i = 0; i < count; i++) {
    places[i] = m->points[i].place;
    all[i] = places[i].vertical;
    absolute[i] = fabs (all[i]);
  }
  figures->vertical = median (absolute, count);
  figures->middle = median (all, count);
  stereo_sparse_fit (places, (gint) count, TERMS, ROUNDS, &fit);
  for (guint i = 0; i < count; i++) {
    gdouble rest = MIN (MOST_REST, fabs (places[i].vertical - stereo_sparse_value (fit.c, places[i].u, places[i].v)));
    squares += places[i].weight * rest * rest;
    weights += places[i].weight;
  }
  figures->shift = fit.c[0];
  /* places lie between -1/2 and 1/2 */
  figures->scale = fit.c[1] / 2;
  figures->roll = fit.c[2] / 2;
  figures->rest = sqrt (squares / weights);
}

gboolean
gst_stereo_matches_measure (GstStereoMatches *m, const GstStereoLookedPair *pair, GstStereoMatchFigures *result)
{
  GstStereoMatchFigures *figures = &m->figures;

  if (!prepare (m, pair))
    return FALSE;
  *figures = (GstStereoMatchFigures){ .factor = figures->factor };
  stereo_sparse_take (m->sparse, &pair->images[0], &pair->images[1], 0, m->rows);
  /* the most textured point of each cell */
  for (guint y = 0; y < m->cells_y; y++)
    for (guint x = 0; x < m->cells_x; x++) {
      gint across = (gint) m->cells_x, down = (gint) m->cells_y, i = (gint) x, j = (gint) y;
      StereoSparsePoint point;
      if (stereo_sparse_find_point (m->sparse, i * m->blocks_x / across * STEREO_SPARSE_BLOCK,
              (i + 1) * m->blocks_x / across * STEREO_SPARSE_BLOCK, j * m->blocks_y / down * STEREO_SPARSE_BLOCK,
              (j + 1) * m->blocks_y / down * STEREO_SPARSE_BLOCK, pair->counts, &point))
        match_point (m, &point);
    }
  guint few = MAX (MIN_FEW, (figures->sure + FEW_OF - 1) / FEW_OF);
  figures->disparity = median (m->disparity, figures->matches);
  median (m->far, figures->beyond);
  figures->farthest = figures->beyond < 3 ? 0 : m->far[figures->beyond - 3];
  median (m->sure, figures->sure);
  figures->lowest = figures->sure < few ? 0 : m->sure[few - 1];
  figures->found = figures->matches / MAX (1.0, figures->points);
  fit_offsets (m);
  for (guint view = 0; view < 2 && m->kept; view++)
    figures->late[!view] = gst_stereo_delay_measure (m->points, figures->placed, view);
  *result = *figures;
  return TRUE;
}

void
gst_stereo_matches_keep (GstStereoMatches *m, const GstStereoLookedPair *pair)
{
  if (!prepare (m, pair))
    return;
  stereo_sparse_keep (m->sparse, &pair->images[0], &pair->images[1]);
  m->kept = TRUE;
}

/* ---- a view that is late ----------------------------------------------------------------------- */

/*
 * If the right view is a frame late, a point lies in it where the left view had it a frame ago. So its vertical offset is its motion in
 * the left view since then, whatever the scene. Of a late left view, the offset is minus the motion in the right view. The offsets of a
 * rig do not follow the motion, and neither do those of wrong matches.
 *
 * The hypotheses "in step" and "one or two frames late" are compared by how well they explain the offsets of the points that move, beside
 * a polynomial of the place, which stands for the rig, by the logarithm of the likelihoods' ratio. Without vertical motion, or where all points move alike, nothing is known.
 */
#define LEAST 10 /* points that a polynomial is fitted to */
#define DELAY_ROUNDS 6
#define SURE_TO_MOVE 9 /* squared: how many standard deviations a motion is from what the polynomial leaves of all */
#define MIN_MOVING 2   /* such points */

/* What a polynomial leaves of the offsets less @delay times the motions. */
static void
find_rest (const StereoSparsePlace *places, const gdouble *motion, gdouble delay, guint count, gdouble *rest)
{
  StereoSparsePlace points[POINTS] = { 0 };
  StereoSparseFit fit = { { 0 } };

  for (guint i = 0; i < count; i++) {
    points[i] = places[i];
    points[i].vertical -= (gfloat) (delay * motion[i]);
  }
  stereo_sparse_fit (points, (gint) count, TERMS, DELAY_ROUNDS, &fit);
  for (guint i = 0; i < count; i++)
    rest[i] = points[i].vertical - stereo_sparse_value (fit.c, points[i].u, points[i].v);
}

gdouble
gst_stereo_delay_measure (const GstStereoMovingPoint *points, guint count, guint view)
{
  StereoSparsePlace offsets[POINTS], motions[POINTS];
  gdouble motion[POINTS], weight[POINTS], rest[POINTS], moved[POINTS], chi[3] = { 0 };
  guint n = 0, moving = 0;

  for (guint i = 0; i < count; i++) {
    const StereoSparsePlace *place = &points[i].place, *from = &points[i].motion[view];
    if (from->weight <= 0)
      continue;
    offsets[n] = motions[n] = *place;
    offsets[n].weight = motions[n].weight = place->weight * from->weight / (place->weight + from->weight);
    motions[n].vertical = from->vertical;
    motion[n] = from->vertical;
    weight[n++] = from->weight;
  }
  if (n < LEAST)
    return 0;
  find_rest (motions, motion, 0, n, moved);
  for (guint i = 0; i < n; i++)
    moving += weight[i] * moved[i] * moved[i] >= SURE_TO_MOVE;
  if (moving < MIN_MOVING)
    return 0;
  for (gint delay = 0; delay < 3; delay++) {
    find_rest (offsets, motion, view ? -delay : delay, n, rest);
    for (guint i = 0; i < n; i++)
      if (weight[i] * moved[i] * moved[i] >= SURE_TO_MOVE)
        chi[delay] += offsets[i].weight * MIN (MOST_REST * MOST_REST, rest[i] * rest[i]);
  }
  /* of two frames, one would explain more than none; the variance is that of the better hypothesis, and no less than is expected */
  gdouble late = chi[1] < chi[0] ? MIN (chi[1], chi[2]) : chi[1];
  return moving * log ((chi[0] + moving) / (late + moving));
}

/* ---- verdicts -------------------------------------------------------------------------------- */

#define MIN_VOTES 12 /* fewer matches say nothing */
#define MAX_DOUBT 3  /* doubtful matches for each one that votes: where nearly everything repeats, the rest is chance */
#define MOST_NOISE 6 /* grey levels of the small pictures */
#define NOISY_MOST 0.5 /* share of the points: where more are found, what looks like noise is texture */

typedef GstStereoMatchFigures Figures;
typedef GstStereoLookedPair Pair;

/* Whether noise hides the scene in the small pictures, so that chance matches points. */
static gboolean
is_noisy (const Figures *figures, const Pair *pair)
{
  return pair->noise > MOST_NOISE * figures->factor && figures->matches < NOISY_MOST * figures->points;
}

static gboolean
are_enough (const Figures *figures, guint votes)
{
  return votes >= MIN_VOTES && figures->doubtful <= MAX_DOUBT * votes;
}

/* Each fault has two thresholds, between which nothing is known. */
static GstStereoVerdict
verdict_of (gboolean bad, gboolean good)
{
  return bad ? GST_STEREO_VERDICT_BAD : good ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

#define LATE 10 /* of a pair: late views have 20 and more */

static GstStereoVerdict
judge_moment (const Figures *figures, const Pair *pair)
{
  gdouble most = MAX (figures->late[0], figures->late[1]);

  /* where nothing moved, nothing is known */
  return verdict_of (most >= LATE, most <= 0 && MIN (figures->late[0], figures->late[1]) < 0);
}

/* Exchanged views differ from correct ones by the sign of the disparity alone. A match speaks for an exchange if it lies beyond infinity,
 * outside of the search range, and the opposite disparity inside. Points at infinity have no sign, and do not count. A search range that
 * is symmetric about 0 cannot show an exchange. */
#define MAJORITY 0.75

static GstStereoVerdict
judge_swapped (const Figures *figures, const Pair *pair)
{
  guint votes = figures->forward + figures->backward;

  return are_enough (figures, votes) ? verdict_of (figures->backward > MAJORITY * votes, TRUE) :
                                       GST_STEREO_VERDICT_UNKNOWN;
}

/*
 * Vertical offsets have three causes. A rig that is not rectified gives an offset and a roll of the whole picture. Different focal lengths
 * give offsets that grow from the middle to the top and the bottom. Views of different times give offsets that follow the scene's motion.
 * Where no smooth function of the place fits the offsets, neither the rig nor the lenses explain them. The verdicts are about the views as
 * they come, before align=auto corrects them.
 *
 * The figures are those of single frames: of 18 healthy scenes at full and at half size, with and without noise; of all with a lens that
 * is 1 % longer.
 */
#define MIN_MATCHES 12 /* fewer offsets say nothing, */
#define MIN_SCALE 24   /* and fewer nothing of their scale */
#define SCALE_BAD 0.55 /* px at the top and the bottom: healthy pairs have up to 0.37, other lenses 0.73 and more, */
#define SCALE_GOOD 0.45
#define SCALE_SURE 1.9   /* and rests: 1.7, and 2.0 and more */
#define REST_BAD 0.68    /* px: healthy pairs have up to 0.54, a badly rectified one 0.65, late ones 0.75 and more */
#define REST_NOISE 0.025 /* px for each grey level of noise, which makes matches worse: the squares add up */
#define OUTWEIGHS 2.2    /* rests: a median offset that large comes from the rig, whatever else moves points */
#define MAX_VERTICAL 1.0 /* px */
#define MAX_TURN 1.5     /* px from the middle of one half to that of the other */

/* No fit explains the offsets. */
static gboolean
is_unexplained (const Figures *figures, const Pair *pair)
{
  return figures->placed >= MIN_MATCHES && figures->rest >= hypot (REST_BAD, REST_NOISE * pair->noise);
}

static GstStereoVerdict
judge_focal (const Figures *figures, const Pair *pair)
{
  gdouble scale = fabs (figures->scale);

  return figures->placed < MIN_SCALE || is_unexplained (figures, pair) ?
      GST_STEREO_VERDICT_UNKNOWN :
      verdict_of (scale >= MAX (SCALE_BAD, SCALE_SURE * figures->rest), scale < SCALE_GOOD);
}

static GstStereoVerdict
judge_rows (const Figures *figures, const Pair *pair)
{
  if (figures->placed < MIN_MATCHES)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (is_unexplained (figures, pair))
    return verdict_of (fabs (figures->middle) > MAX (MAX_VERTICAL, OUTWEIGHS * figures->rest), FALSE);
  /* offsets that another focal length explains are no evidence about the rows */
  gboolean focal = judge_focal (figures, pair) == GST_STEREO_VERDICT_BAD;
  return verdict_of (
      (focal ? fabs (figures->shift) : figures->vertical) > MAX_VERTICAL || fabs (figures->roll) > MAX_TURN, TRUE);
}

/* Nothing lies farther away than infinity. Points whose disparity is below that of infinity, and below the search range, show a shift
 * where something lies so far away. */
#define SHIFT_BAD 1.0 /* px from the disparity of infinity */
#define SHIFT_GOOD 0.7
#define FAR_AWAY 1.0 /* px above it: the views are known to fit where something is as far away */

static GstStereoVerdict
judge_shifted (const Figures *figures, const Pair *pair)
{
  gdouble infinity = -pair->params->principal_offset, farthest = MIN (infinity, pair->params->min_disparity);

  /* other focal lengths shift the sides, too */
  if (is_noisy (figures, pair) || !are_enough (figures, figures->sure) ||
      judge_focal (figures, pair) != GST_STEREO_VERDICT_GOOD || judge_swapped (figures, pair) == GST_STEREO_VERDICT_BAD)
    return GST_STEREO_VERDICT_UNKNOWN;
  return verdict_of (figures->lowest<farthest - SHIFT_BAD, figures->lowest> farthest - SHIFT_GOOD &&
      figures->lowest < infinity + FAR_AWAY);
}

#define MIN_POINTS 48 /* that show whether the views show one scene */
/* Shares of the points: healthy pairs have 0.40 found and 0.52 alike and more, but in fog and at night, mirrored ones up to 0.09 and
 * 0.30. Under noise healthy pairs have 0.028 found and more; noise-like texture counts as noise. */
#define FOUND_LEAST 0.15
#define FOUND_NOISY 0.015
#define ALIKE_MOST 0.4 /* what repeats, and fog, has more, and is found nowhere for sure */

static GstStereoVerdict
judge_mismatch (const Figures *figures, const Pair *pair)
{
  gdouble found = figures->matches / MAX (1.0, figures->points), alike = figures->alike / MAX (1.0, figures->points);
  gdouble least = is_noisy (figures, pair) ? FOUND_NOISY : FOUND_LEAST;

  return figures->points < MIN_POINTS ? GST_STEREO_VERDICT_UNKNOWN :
                                        verdict_of (alike < ALIKE_MOST && found<least, found> FOUND_LEAST);
}

/* A search range that ends too soon leaves matches at its end and beyond: the nearest surfaces have a wrong disparity or none. */
#define MIN_BEYOND 6    /* matches beyond the range that are no chance */
#define BEYOND_BAD 0.04 /* their share of all matches that vote */
#define BEYOND_GOOD 0.01
#define BEYOND_MARGIN 1.15 /* the nearest point need not be among those matched */
#define DISPARITIES_STEP 16
#define MAX_DISPARITIES 1024

static GstStereoVerdict
judge_range (const Figures *figures, const Pair *pair)
{
  guint votes = figures->forward + figures->beyond;

  /* of views that are exchanged, the other verdict is enough */
  return is_noisy (figures, pair) || !are_enough (figures, votes) || figures->backward > votes ?
      GST_STEREO_VERDICT_UNKNOWN :
      verdict_of (figures->beyond >= MIN_BEYOND && figures->beyond >= BEYOND_BAD * votes,
          figures->beyond <= BEYOND_GOOD * votes);
}

gint
gst_stereo_wanted_disparities (const GstStereoMatchFigures *figures, gint min)
{
  gint num = (gint) ceil (figures->farthest * BEYOND_MARGIN) + 1 - min;

  return MIN ((num + DISPARITIES_STEP - 1) / DISPARITIES_STEP * DISPARITIES_STEP, MAX_DISPARITIES);
}

/* ---- the table -------------------------------------------------------------------------------- */

typedef struct
{
  GstStereoHealthFlags flag;
  gboolean needs_detail;       /* its verdict is unknown where the pair shows little but noise */
  GstStereoHealthFlags unless; /* faults which, while they stand, explain what it is judged by */
  GstStereoVerdict (*verdict) (const Figures *figures, const Pair *pair);
  gsize value; /* offset of the figure that is reported, a gdouble */
} Rule;

#define FIGURE(name) G_STRUCT_OFFSET (GstStereoMatchFigures, name)
#define HEALTH(name) GST_STEREO_HEALTH_##name

/* The order is that of messages. Views that are not sound say nothing of any. Another focal length moves the sides of the picture. */
static const Rule rules[] = {
  { HEALTH (OUT_OF_STEP), TRUE, HEALTH (MISMATCH), judge_moment, FIGURE (late) },
  { HEALTH (FOCAL), TRUE, HEALTH (MISMATCH) | HEALTH (OUT_OF_STEP), judge_focal, FIGURE (scale) },
  { HEALTH (SHIFTED), TRUE, HEALTH (MISMATCH) | HEALTH (OUT_OF_STEP) | HEALTH (FOCAL), judge_shifted, FIGURE (lowest) },
  { HEALTH (MISMATCH), TRUE, HEALTH (OK), judge_mismatch, FIGURE (found) },
  { HEALTH (SWAPPED), FALSE, HEALTH (OK), judge_swapped, FIGURE (disparity) },
  { HEALTH (ROWS), FALSE, HEALTH (FOCAL) | HEALTH (OUT_OF_STEP), judge_rows, FIGURE (vertical) },
  { HEALTH (RANGE), FALSE, HEALTH (FOCAL), judge_range, FIGURE (farthest) },
};

/* What is to be said of a fault that begins. */
static gchar *
describe (GstStereoHealthFlags flag, const Figures *figures, const StereoParams *params, GstStructure *fields)
{
  gint wanted = gst_stereo_wanted_disparities (figures, params->min_disparity);

  switch (flag) {
    case HEALTH (OUT_OF_STEP):
      return g_strdup_printf ("The %s view is late.", figures->late[1] > figures->late[0] ? "right" : "left");
    case HEALTH (FOCAL):
      return g_strdup_printf ("The right view is %s, by %.1f px at its top and bottom.",
          figures->scale > 0 ? "larger" : "smaller", fabs (figures->scale));
    case HEALTH (SHIFTED):
      return g_strdup_printf ("The farthest points lie at disparities of %.1f px and less.", figures->lowest);
    case HEALTH (MISMATCH):
      return g_strdup_printf ("Of %u points, %u are found.", figures->points, figures->matches);
    case HEALTH (SWAPPED):
      return g_strdup_printf ("Of %u points, %u match so; the median of all is %.1f px.",
          figures->forward + figures->backward, figures->backward, figures->disparity);
    case HEALTH (ROWS):
      return g_strdup_printf (
          "The median of %u points is %.1f px: %.1f px in the middle of the picture, and %.1f px more at "
          "its right side (down is positive).",
          figures->placed, figures->vertical, figures->shift, figures->roll);
    default:
      gst_structure_set (
          fields, "points-beyond", G_TYPE_UINT, figures->beyond, "num-disparities", G_TYPE_INT, wanted, NULL);
      return g_strdup_printf (wanted > params->num_disparities ?
              "Of %u points, %u lie beyond %d px, up to about %.0f px. Set num-disparities=%d, or more if something comes "
              "nearer." :
              "Of %u points, %u lie beyond %d px, up to about %.0f px. More than %d disparities cannot be searched: use "
              "smaller views, or move the cameras closer together.",
          figures->beyond + figures->forward, figures->beyond, params->min_disparity + params->num_disparities - 1,
          figures->farthest, wanted);
  }
}

GstStereoVerdict
gst_stereo_matches_judge (
    GstStereoHealthFlags flag, const GstStereoMatchFigures *figures, const GstStereoLookedPair *pair)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].flag == flag)
      return rules[i].verdict (figures, pair);
  g_assert_not_reached ();
}

static gboolean
counts (const GstStereoMatches *m, const Rule *rule, const Pair *pair)
{
  guint stand = gst_stereo_faults_get (m->faults), suspected = gst_stereo_faults_get_suspected (m->faults);

  /* offsets that may come from other moments say nothing of the rig; the wrong order of the views is known whatever else is wrong */
  return (pair->sound || rule->flag == HEALTH (SWAPPED)) && (pair->detailed || !rule->needs_detail) &&
      !((guint) rule->unless & (stand | (suspected & HEALTH (OUT_OF_STEP))));
}

gboolean
gst_stereo_matches_are_due (const GstStereoMatches *m, gint64 time)
{
  gint64 interval = gst_stereo_faults_get_suspected (m->faults) ? SOON : INTERVAL;

  return time < m->last || time - m->last >= interval;
}

static void
note (GstStereoMatches *m, const Pair *pair)
{
  const Figures *figures = &m->figures;
  guint votes = figures->forward + figures->beyond;
  guint range = (guint) gst_stereo_faults_get (m->faults) & HEALTH (RANGE);

  GST_DEBUG_OBJECT (m->element,
      "check: %u of %u points matched: %u forward, %u backward, %u beyond; %u placed, off by %.2f px, scale %.2f px, rest %.2f "
      "px; late: %.1f, %.1f",
      figures->matches, figures->points, figures->forward, figures->backward, figures->beyond, figures->placed,
      figures->vertical, figures->scale, figures->rest, figures->late[0], figures->late[1]);
  GST_OBJECT_LOCK (m->element);
  m->count = figures->matches;
  m->vertical = figures->placed < MIN_MATCHES ? m->vertical : figures->vertical;
  m->beyond = are_enough (figures, votes) ? figures->beyond / (gdouble) votes : m->beyond;
  m->wanted = range ? gst_stereo_wanted_disparities (figures, pair->params->min_disparity) : 0;
  GST_OBJECT_UNLOCK (m->element);
}

void
gst_stereo_matches_check (GstStereoMatches *m, const GstStereoLookedPair *pair, gboolean anew)
{
  Figures figures;

  m->last = pair->time;
  if (!gst_stereo_matches_measure (m, pair, &figures))
    return;
  m->kept = FALSE;
  m->concluded = m->concluded && !anew;
  gint64 least = m->concluded ? GST_STEREO_TWICE : 0;
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++) {
    const Rule *rule = &rules[i];
    GstStereoVerdict verdict = counts (m, rule, pair) ? rule->verdict (&figures, pair) : GST_STEREO_VERDICT_UNKNOWN;
    gint64 hold = (gint64) gst_stereo_kind_of (rule->flag)->hold;
    m->concluded |= !hold && verdict != GST_STEREO_VERDICT_UNKNOWN;
    if (gst_stereo_faults_judge (m->faults, rule->flag, 0, verdict, pair->time, MAX (least, hold))) {
      GstStructure *fields = gst_structure_new_empty ("stereo-health");
      gst_stereo_faults_say (m->faults, rule->flag, describe (rule->flag, &figures, pair->params, fields),
          G_STRUCT_MEMBER (gdouble, &figures, rule->value), fields);
    }
  }
  note (m, pair);
}

GstStereoHealthFlags
gst_stereo_matches_taken_out (const GstStereoMatches *m, const StereoAlignment *alignment)
{
  const gdouble *c = alignment->coefficients;

  /* places lie between -1/2 and 1/2 */
  return alignment->active && fabs (c[0] - m->figures.shift) < MOST_LEFT &&
          fabs (c[2] / 2 - m->figures.roll) < MOST_LEFT && fabs (c[1] / 2 - m->figures.scale) < MOST_LEFT ?
      HEALTH (ROWS) :
      HEALTH (OK);
}

void
gst_stereo_matches_add_stats (GstStereoMatches *m, GstStructure *stats)
{
  gst_structure_set (stats, "check-matches", G_TYPE_UINT64, (guint64) m->count, "vertical-offset", G_TYPE_DOUBLE,
      m->vertical, "beyond-range", G_TYPE_DOUBLE, m->beyond, "wanted-disparities", G_TYPE_INT, m->wanted, NULL);
}
