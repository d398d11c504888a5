/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/delay.h"

#include <math.h>

#define MOST 192 /* points */
#define LEAST 10 /* points of the whole picture, and of a half, that a polynomial is fitted to */
#define LEAST_OF_HALF 5
#define TERMS 6 /* of the polynomial: what cameras that are turned, or have other lenses, do to rows */
#define TERMS_OF_HALF 3
#define ROUNDS 6
#define FAR 2.0        /* px of a rest that is as bad as any */
#define SURE_TO_MOVE 9 /* squared: how many standard deviations a motion is from what the polynomial leaves of all */
#define MIN_MOVING 2   /* such points */
#define MOST_OF_ONE 15 /* figure of one frame that counts */
#define ALLOWED 4      /* of a figure: of still scenes its mean is about 0, and a sum of it would grow by chance */
#define SURE 20        /* sum that is a delay: sound drives and still scenes under noise have up to 7 */
#define SUSPICIOUS 5.0
#define MOST_SUM 30 /* so that the end of a delay is soon known */

/* The points of a part whose motion in a view is known, and what the hypotheses leave of their offsets. */
typedef struct
{
  guint count;
  StereoSparsePlace places[MOST];
  gdouble motion[MOST], motion_rest[MOST], motion_weight[MOST];
  gdouble rest[MOST];
} Part;

static gboolean
is_in (const StereoSparsePlace *place, guint part)
{
  return !part || (part == 2) == (place->v > 0);
}

static void
choose (const GstStereoMovingPoint *points, guint count, guint view, guint part, Part *chosen)
{
  chosen->count = 0;
  for (guint i = 0; i < count && chosen->count < MOST; i++) {
    const StereoSparsePlace *place = &points[i].place, *motion = &points[i].motion[view];
    guint n = chosen->count;
    if (motion->weight <= 0 || !is_in (place, part))
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
find_rest (const Part *part, gdouble scale, gdouble delay, gint terms, gdouble *rest)
{
  StereoSparsePlace places[MOST] = { 0 };
  StereoSparseFit fit = { { 0 } };

  for (guint i = 0; i < part->count; i++) {
    places[i] = part->places[i];
    places[i].vertical = (gfloat) (scale * places[i].vertical - delay * part->motion[i]);
  }
  stereo_sparse_fit (places, (gint) part->count, terms, ROUNDS, &fit);
  for (guint i = 0; i < part->count; i++)
    rest[i] = places[i].vertical - stereo_sparse_value (fit.c, places[i].u, places[i].v);
}

static gboolean
is_moving (const Part *part, guint i)
{
  return part->motion_weight[i] * part->motion_rest[i] * part->motion_rest[i] >= SURE_TO_MOVE;
}

/* Chi-squared of the moving points' offsets less @delay times their motion. */
static gdouble
chi_squared (Part *part, gdouble delay, gint terms)
{
  gdouble sum = 0;

  find_rest (part, 1, delay, terms, part->rest);
  for (guint i = 0; i < part->count; i++)
    if (is_moving (part, i))
      sum += part->places[i].weight * MIN (FAR * FAR, part->rest[i] * part->rest[i]);
  return sum;
}

/* Chi-squared of the most likely delay of a view, whose motion over @frames is known. @in_step: that of none. */
static gdouble
find_delay (Part *part, gdouble in_step, gdouble sign, gint frames, gint terms)
{
  /* a delay of so many spans explains most of one in between; a small part of a motion may be the rig's */
  static const gdouble delays[] = { 0.5, 0.75, 1, 1.5, 2.25, 3.4 };
  gdouble least = G_MAXDOUBLE;

  if (frames == 1) {
    gdouble one = chi_squared (part, sign, terms);
    /* of two frames, one would explain more than none */
    return one < in_step ? MIN (one, chi_squared (part, 2 * sign, terms)) : one;
  }
  for (guint i = 0; i < G_N_ELEMENTS (delays); i++)
    least = MIN (least, chi_squared (part, sign * delays[i], terms));
  return least;
}

/* Chi-squared of a point, on average. Where points stand still, it is that of the rig: what the polynomial leaves of it. */
static gdouble
expected_of (Part *part, gint frames, gint terms)
{
  gdouble sum = 0;
  guint still = 0;

  if (frames == 1)
    return 1;
  find_rest (part, 1, 0, terms, part->rest);
  for (guint i = 0; i < part->count; i++)
    if (!is_moving (part, i)) {
      sum += part->places[i].weight * MIN (FAR * FAR, part->rest[i] * part->rest[i]);
      still++;
    }
  return still ? MAX (1, sum / still) : 1;
}

/* The figure of a part, from its motion in @view: the other view is late. */
static gdouble
judge_part (Part *part, guint view, gint frames, gint terms)
{
  gdouble sign = view ? -1 : 1, in_step, late, expected;
  guint moving = 0;

  find_rest (part, 0, -1, terms, part->motion_rest);
  for (guint i = 0; i < part->count; i++)
    moving += is_moving (part, i);
  if (moving < MIN_MOVING)
    return 0;
  in_step = chi_squared (part, 0, terms);
  late = find_delay (part, in_step, sign, frames, terms);
  /* the variance is that of the better hypothesis, and no less than is expected */
  expected = moving * expected_of (part, frames, terms);
  return moving * log ((in_step + expected) / (late + expected));
}

void
gst_stereo_delay_measure (const GstStereoMovingPoint *points, guint count, gint frames, GstStereoDelayFigures *figures)
{
  Part chosen;

  *figures = (GstStereoDelayFigures){ 0 };
  for (guint view = 0; view < 2; view++)
    for (guint part = 0; part < GST_STEREO_DELAY_PARTS; part++) {
      choose (points, count, view, part, &chosen);
      if (chosen.count >= (part ? LEAST_OF_HALF : LEAST))
        figures->late[!view][part] = judge_part (&chosen, view, frames, part ? TERMS_OF_HALF : TERMS);
    }
}

GstStereoVerdict
gst_stereo_delay_add (GstStereoDelay *delay, const GstStereoDelayFigures *figures)
{
  gdouble most = 0, least = 0;

  for (guint view = 0; view < 2; view++)
    for (guint part = 0; part < GST_STEREO_DELAY_PARTS; part++) {
      gdouble *sum = &delay->late[view][part], figure = figures->late[view][part];
      /* where nothing moved, nothing was learnt */
      if (figure != 0)
        *sum = CLAMP (*sum + CLAMP (figure, -MOST_OF_ONE, MOST_OF_ONE) - ALLOWED, 0, MOST_SUM);
      most = MAX (most, *sum);
      least = MIN (least, figure);
    }
  return most >= SURE        ? GST_STEREO_VERDICT_BAD :
      most == 0 && least < 0 ? GST_STEREO_VERDICT_GOOD :
                               GST_STEREO_VERDICT_UNKNOWN;
}

guint
gst_stereo_delay_get_view (const GstStereoDelay *delay, gdouble *certainty)
{
  gdouble most[2] = { 0, 0 };

  for (guint view = 0; view < 2; view++)
    for (guint part = 0; part < GST_STEREO_DELAY_PARTS; part++)
      most[view] = MAX (most[view], delay->late[view][part]);
  *certainty = MAX (most[0], most[1]) / SURE;
  return most[1] > most[0];
}

gboolean
gst_stereo_delay_is_suspicious (const GstStereoDelay *delay)
{
  gdouble certainty;

  gst_stereo_delay_get_view (delay, &certainty);
  return certainty > SUSPICIOUS / SURE && certainty < 1;
}
