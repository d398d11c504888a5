/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/infinity.h"

#include <math.h>

#include "gst/match/diagnose/sort.h"

#define MOST 192 /* points */
#define UNKNOWNS 9
#define ROUNDS 6
#define ORDINARY 0.3     /* px: the least scale of what the motion leaves of a place */
#define LEAST 20         /* points that follow one motion, */
#define LEAST_SHARE 0.7  /* and their share of all */
#define MOST_REST 0.5    /* px, of these */
#define LEAST_MOTION 0.5 /* px, median: of points that move less, the cameras stand still, and something else moves */
#define ODD 2            /* points at either end of the disparities that are no evidence for their range */
#define LEAST_RANGE 5  /* px of these disparities: the errors of what lies at one distance would look like its growth */
#define WIDEST_GAP 0.3 /* of that range: more are two distances alone */
#define WORST 0.5      /* px, standard deviation of a figure that counts */
/* Points lie on the same surfaces, and are not placed independently: real figures vary so much more. */
#define UNDERSTATED 2.5
#define PLACED 0.3 /* px, standard deviation of what all points of a frame have in common */
#define APART ((gint64) (300 * GST_MSECOND))
#define FEW 5           /* figures */
#define MOST_SPREAD 3.0 /* mean square of what they vary by, in standard deviations */

/* What a coefficient may be, in halves of the width: standard deviations before anything is known. They hold what the points do
 * not tell, and are far too large to move what they do. */
enum
{
  TURN_ASIDE, /* Q */
  ROLL,       /* r */
  ASIDE,      /* s */
  TURN_DOWN,  /* P */
  DOWN,       /* t */
  CONSTANT,   /* -k i */
  GROWTH,     /* k */
  TILT_DOWN,  /* p */
  TILT_ASIDE  /* q */
};
static const gdouble prior[UNKNOWNS] = { 0.2, 0.05, 5, 0.2, 5, 0.2, 20, 0.1, 0.1 };

/* Places in halves of the width, from the middle. */
typedef struct
{
  gdouble x, y, d, earlier_x, earlier_y;
  gdouble rest, trust;
} Point;

typedef struct
{
  gdouble a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS];
} Equations;

/* The coefficients of both equations of a point, and their right sides. */
static void
rows_of (const Point *p, gdouble rows[2][UNKNOWNS], gdouble right[2])
{
  const gdouble across[UNKNOWNS] = { -1, p->y, p->d, 0, 0, -p->earlier_x, -p->earlier_x * p->d, -p->earlier_x * p->y,
    p->earlier_x * p->x };
  const gdouble down[UNKNOWNS] = { 0, -p->x, 0, 1, p->d, -p->earlier_y, -p->earlier_y * p->d, -p->earlier_y * p->y,
    p->earlier_y * p->x };

  for (guint i = 0; i < UNKNOWNS; i++) {
    rows[0][i] = across[i];
    rows[1][i] = down[i];
  }
  right[0] = p->earlier_x - p->x;
  right[1] = p->earlier_y - p->y;
}

/* Cholesky; @equations are lost, and the solution is in their `b`. The prior makes them definite. */
static void
solve (Equations *equations)
{
  gdouble (*a)[UNKNOWNS] = equations->a, *b = equations->b;

  for (guint i = 0; i < UNKNOWNS; i++)
    for (guint j = 0; j <= i; j++) {
      gdouble sum = a[i][j];
      for (guint k = 0; k < j; k++)
        sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? sqrt (sum) : sum / a[j][j];
    }
  for (guint i = 0; i < UNKNOWNS; i++) {
    for (guint k = 0; k < i; k++)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (guint i = UNKNOWNS; i-- > 0;) {
    for (guint k = i + 1; k < UNKNOWNS; k++)
      b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
}

/* @unit: px, in halves of the width. */
static void
make_equations (const Point *points, guint count, gdouble unit, Equations *equations)
{
  gdouble rows[2][UNKNOWNS], right[2];

  *equations = (Equations){ 0 };
  for (guint n = 0; n < count; n++) {
    gdouble weight = points[n].trust / (ORDINARY * ORDINARY * unit * unit);
    rows_of (&points[n], rows, right);
    for (guint i = 0; i < UNKNOWNS; i++) {
      for (guint j = 0; j <= i; j++)
        equations->a[i][j] += weight * (rows[0][i] * rows[0][j] + rows[1][i] * rows[1][j]);
      equations->b[i] += weight * (rows[0][i] * right[0] + rows[1][i] * right[1]);
    }
  }
  for (guint i = 0; i < UNKNOWNS; i++)
    equations->a[i][i] += 1 / (prior[i] * prior[i]);
}

/* How far the points have moved: the median, in halves of the width. */
static gdouble
motion_of (const Point *points, guint count)
{
  gdouble ways[MOST];

  for (guint n = 0; n < count; n++)
    ways[n] = hypot (points[n].x - points[n].earlier_x, points[n].y - points[n].earlier_y);
  gst_stereo_sort_values (ways, count);
  return ways[count / 2];
}

/* What the motion leaves of each place, and how much each point counts in the next round. Returns the scale of an ordinary rest. */
static gdouble
weigh (Point *points, guint count, gdouble unit, const gdouble motion[UNKNOWNS])
{
  gdouble rows[2][UNKNOWNS], right[2], rests[MOST];

  for (guint n = 0; n < count; n++) {
    rows_of (&points[n], rows, right);
    for (guint i = 0; i < UNKNOWNS; i++)
      for (guint e = 0; e < 2; e++)
        right[e] -= rows[e][i] * motion[i];
    rests[n] = points[n].rest = hypot (right[0], right[1]);
  }
  gst_stereo_sort_values (rests, count);
  gdouble scale = MAX (2 * rests[count / 2], ORDINARY * unit);
  for (guint n = 0; n < count; n++) {
    gdouble ratio = points[n].rest / scale, trust = 1 / (1 + ratio * ratio);
    points[n].trust = trust * trust;
  }
  return scale;
}

/* Whether the points that follow the motion are enough, fit it well, and lie at more than two distances. @rest: of these, root mean
 * square. */
static gboolean
is_evidence (const Point *points, guint count, gdouble unit, gdouble scale, gdouble *rest)
{
  gdouble d[MOST], squares = 0, trust = 0, widest = 0;
  guint follow = 0;

  for (guint n = 0; n < count; n++) {
    squares += points[n].trust * points[n].rest * points[n].rest;
    trust += points[n].trust;
    if (points[n].rest < 2 * scale)
      d[follow++] = points[n].d;
  }
  *rest = sqrt (squares / trust);
  if (follow < LEAST || follow < LEAST_SHARE * count || *rest > MOST_REST * unit)
    return FALSE;
  gst_stereo_sort_values (d, follow);
  for (guint n = ODD + 1; n < follow - ODD; n++)
    widest = MAX (widest, d[n] - d[n - 1]);
  gdouble range = d[follow - 1 - ODD] - d[ODD];
  return range >= LEAST_RANGE * unit && widest <= WIDEST_GAP * range;
}

static guint
choose (const GstStereoMovingPoint *points, guint count, gint width, gint height, Point *chosen)
{
  gdouble unit = 2.0 / width;
  guint n = 0;

  for (guint i = 0; i < count && n < MOST; i++) {
    const StereoSparsePlace *place = &points[i].place, *motion = &points[i].motion[0];
    if (motion->weight <= 0)
      continue;
    Point *point = &chosen[n++];
    point->d = place->disparity * unit;
    point->x = 2 * place->u + point->d;
    point->y = place->v * height * unit;
    point->earlier_x = point->x - motion->disparity * unit;
    point->earlier_y = point->y + motion->vertical * unit;
    point->trust = 1;
  }
  return n;
}

void
gst_stereo_infinity_measure (
    const GstStereoMovingPoint *points, guint count, gint width, gint height, GstStereoInfinityFigure *figure)
{
  gdouble unit = 2.0 / width, scale = 0, rest, gradient[UNKNOWNS], motion[UNKNOWNS] = { 0 };
  Equations equations;
  Point chosen[MOST];

  *figure = (GstStereoInfinityFigure){ 0 };
  count = choose (points, count, width, height, chosen);
  if (count < LEAST || motion_of (chosen, count) < LEAST_MOTION * unit)
    return;
  for (guint round = 0; round < ROUNDS; round++) {
    make_equations (chosen, count, unit, &equations);
    solve (&equations);
    for (guint i = 0; i < UNKNOWNS; i++)
      motion[i] = equations.b[i];
    scale = weigh (chosen, count, unit, motion);
  }
  gdouble growth = motion[GROWTH], infinity = -motion[CONSTANT] / growth;
  if (!is_evidence (chosen, count, unit, scale, &rest))
    return;
  make_equations (chosen, count, unit, &equations);
  for (guint i = 0; i < UNKNOWNS; i++)
    equations.b[i] = gradient[i] = i == CONSTANT ? -1 / growth : i == GROWTH ? -infinity / growth : 0;
  solve (&equations);
  gdouble variance = gradient[CONSTANT] * equations.b[CONSTANT] + gradient[GROWTH] * equations.b[GROWTH];
  gdouble deviation = sqrt (variance) / unit * MAX (rest / (M_SQRT2 * ORDINARY * unit), ORDINARY);
  /* where hardly anything grows, the deviation is large, and where nothing does, it is not a number */
  if (deviation <= WORST)
    *figure = (GstStereoInfinityFigure){ infinity / unit, hypot (UNDERSTATED * deviation, PLACED) };
}

void
gst_stereo_infinity_add (GstStereoInfinity *infinity, gint64 time, const GstStereoInfinityFigure *figure)
{
  if (figure->deviation <= 0 || (infinity->count && time >= infinity->time && time - infinity->time < APART))
    return;
  infinity->time = time;
  infinity->figures[infinity->next] = *figure;
  infinity->next = (infinity->next + 1) % GST_STEREO_INFINITY_FIGURES;
  infinity->count = MIN (infinity->count + 1, GST_STEREO_INFINITY_FIGURES);
}

GstStereoInfinityFigure
gst_stereo_infinity_get (const GstStereoInfinity *infinity)
{
  gdouble weights = 0, sum = 0, spread = 0;

  for (guint i = 0; i < infinity->count; i++) {
    const GstStereoInfinityFigure *figure = &infinity->figures[i];
    gdouble weight = 1 / (figure->deviation * figure->deviation);
    weights += weight;
    sum += weight * figure->disparity;
  }
  if (infinity->count < FEW)
    return (GstStereoInfinityFigure){ 0 };
  for (guint i = 0; i < infinity->count; i++) {
    gdouble away = (infinity->figures[i].disparity - sum / weights) / infinity->figures[i].deviation;
    spread += away * away;
  }
  if (spread > MOST_SPREAD * (infinity->count - 1))
    return (GstStereoInfinityFigure){ 0 };
  return (GstStereoInfinityFigure){ sum / weights, 1 / sqrt (weights) };
}
