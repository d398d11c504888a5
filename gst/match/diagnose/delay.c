/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/delay.h"

#include <math.h>

#define MOST 192 /* points */
#define LEAST 10 /* points that a polynomial is fitted to */
#define TERMS 6  /* of the polynomial: what cameras that are turned, or have other lenses, do to rows */
#define ROUNDS 6
#define FAR 2.0        /* px of a rest that is as bad as any */
#define SURE_TO_MOVE 9 /* squared: how many standard deviations a motion is from what the polynomial leaves of all */
#define MIN_MOVING 2   /* such points */
#define MOST_OF_ONE 15 /* figure of one frame that counts */
#define ALLOWED 4      /* of a figure: of still scenes its mean is about 0, and a sum of it would grow by chance */
#define SURE 20        /* sum that is a delay: sound drives and still scenes under noise have up to 7 */
#define SUSPICIOUS 5.0
#define MOST_SUM 30 /* so that the end of a delay is soon known */

/* The points whose motion in a view is known, and what the hypotheses leave of their offsets. */
typedef struct
{
  guint count;
  StereoSparsePlace places[MOST];
  gdouble motion[MOST], motion_rest[MOST], motion_weight[MOST];
  gdouble rest[MOST];
} Points;

static void
choose (const GstStereoMovingPoint *points, guint count, guint view, Points *chosen)
{
  chosen->count = 0;
  for (guint i = 0; i < count && chosen->count < MOST; i++) {
    const StereoSparsePlace *place = &points[i].place, *motion = &points[i].motion[view];
    guint n = chosen->count;
    if (motion->weight <= 0)
      continue;
    chosen->places[n] = *place;
    chosen->places[n].weight = place->weight * motion->weight / (place->weight + motion->weight);
    chosen->motion[n] = motion->vertical;
    chosen->motion_weight[n] = motion->weight;
    chosen->count++;
  }
}

/* What a polynomial leaves of @scale times the offsets less @delay times the motion. */
static void
find_rest (const Points *points, gdouble scale, gdouble delay, gdouble *rest)
{
  StereoSparsePlace places[MOST] = { 0 };
  StereoSparseFit fit = { { 0 } };

  for (guint i = 0; i < points->count; i++) {
    places[i] = points->places[i];
    places[i].vertical = (gfloat) (scale * places[i].vertical - delay * points->motion[i]);
  }
  stereo_sparse_fit (places, (gint) points->count, TERMS, ROUNDS, &fit);
  for (guint i = 0; i < points->count; i++)
    rest[i] = places[i].vertical - stereo_sparse_value (fit.c, places[i].u, places[i].v);
}

static gboolean
is_moving (const Points *points, guint i)
{
  return points->motion_weight[i] * points->motion_rest[i] * points->motion_rest[i] >= SURE_TO_MOVE;
}

/* Chi-squared of the moving points' offsets less @delay times their motion. */
static gdouble
chi_squared (Points *points, gdouble delay)
{
  gdouble sum = 0;

  find_rest (points, 1, delay, points->rest);
  for (guint i = 0; i < points->count; i++)
    if (is_moving (points, i))
      sum += points->places[i].weight * MIN (FAR * FAR, points->rest[i] * points->rest[i]);
  return sum;
}

/* From the motion in @view: the other view is late. */
static gdouble
judge_view (Points *points, guint view)
{
  gdouble sign = view ? -1 : 1;
  guint moving = 0;

  find_rest (points, 0, -1, points->motion_rest);
  for (guint i = 0; i < points->count; i++)
    moving += is_moving (points, i);
  if (moving < MIN_MOVING)
    return 0;
  gdouble in_step = chi_squared (points, 0), late = chi_squared (points, sign);
  /* of two frames, one would explain more than none */
  if (late < in_step)
    late = MIN (late, chi_squared (points, 2 * sign));
  /* the variance is that of the better hypothesis, and no less than is expected */
  return moving * log ((in_step + moving) / (late + moving));
}

void
gst_stereo_delay_measure (const GstStereoMovingPoint *points, guint count, GstStereoDelayFigures *figures)
{
  Points chosen;

  *figures = (GstStereoDelayFigures){ { 0 } };
  for (guint view = 0; view < 2; view++) {
    choose (points, count, view, &chosen);
    if (chosen.count >= LEAST)
      figures->late[!view] = judge_view (&chosen, view);
  }
}

GstStereoVerdict
gst_stereo_delay_add (GstStereoDelay *delay, const GstStereoDelayFigures *figures)
{
  for (guint view = 0; view < 2; view++) {
    gdouble *sum = &delay->late[view], figure = figures->late[view];
    /* where nothing moved, nothing was learnt */
    if (figure != 0)
      *sum = CLAMP (*sum + CLAMP (figure, -MOST_OF_ONE, MOST_OF_ONE) - ALLOWED, 0, MOST_SUM);
  }
  gdouble most = MAX (delay->late[0], delay->late[1]);
  return most >= SURE                                           ? GST_STEREO_VERDICT_BAD :
      most == 0 && MIN (figures->late[0], figures->late[1]) < 0 ? GST_STEREO_VERDICT_GOOD :
                                                                  GST_STEREO_VERDICT_UNKNOWN;
}

guint
gst_stereo_delay_get_view (const GstStereoDelay *delay, gdouble *certainty)
{
  *certainty = MAX (delay->late[0], delay->late[1]) / SURE;
  return delay->late[1] > delay->late[0];
}

gboolean
gst_stereo_delay_is_suspicious (const GstStereoDelay *delay)
{
  gdouble certainty;

  gst_stereo_delay_get_view (delay, &certainty);
  return certainty > SUSPICIOUS / SURE && certainty < 1;
}
