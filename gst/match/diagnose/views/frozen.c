/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/frozen.h"

#define BANDS GST_STEREO_VIEW_BANDS
#define MOVES 0.5  /* squared grey levels: something moves in a band */
#define SURE 8.0   /* times what noise gives by chance */
#define STILL 0.05 /* of the other view's movement */
#define LIVELY 0.2 /* of the other view's movement: drives have 0.22 and more in each band */
#define NOISY 0.2  /* share of the pixels that noise changes */
#define DARK 20.0  /* grey levels: black and white are the same to the bit without being frozen */
#define BRIGHT 235.0
#define LARGE 6          /* bands that are frozen, whatever the others do */
#define STRIPE 2         /* bands in a row, while more others are live */
#define CODED 5          /* looks in a row in which an encoder has to leave no part as it is */
#define CODED_MOVES 40.0 /* squared grey levels: an encoder that rounds coarsely ignores less */

typedef enum
{
  STATE_UNKNOWN,
  STATE_STILL,   /* nothing but noise changes, and the other view moves */
  STATE_EQUAL,   /* no pixel changes, and the other view has noise at least */
  STATE_CHANGES, /* pixels change, by noise or by movement */
  STATE_MOVES,   /* as the other view does */
  STATES
} State;

static gboolean
is_lit (const GstStereoBandFigures *band)
{
  return band->level > DARK && band->level < BRIGHT;
}

static State
state_of (const GstStereoBandFigures *own, const GstStereoBandFigures *other, gboolean coded)
{
  /* another exposure changes movement by its square */
  gdouble exposure = MIN (1, own->level / MAX (1, other->level)), expected = other->change * exposure * exposure;

  if (!coded && own->other == 0 && other->other > NOISY && is_lit (own))
    return STATE_EQUAL;
  if (other->change >= MAX (coded ? CODED_MOVES : MOVES, SURE * other->doubt) &&
      !gst_stereo_band_is_rounded (other, own)) {
    if (own->change < STILL * expected && own->doubt < STILL * expected)
      return STATE_STILL;
    if (own->change > LIVELY * expected)
      return STATE_MOVES;
  }
  return own->other > NOISY ? STATE_CHANGES : STATE_UNKNOWN;
}

/* The most bands in a row that are in state @a or @b. */
static guint
longest_run (const State *states, State a, State b)
{
  guint run = 0, longest = 0;

  for (guint band = 0; band < BANDS; band++) {
    run = states[band] == a || states[band] == b ? run + 1 : 0;
    longest = MAX (longest, run);
  }
  return longest;
}

static GstStereoVerdict
judge_bands (const GstStereoViewFigures *own, const GstStereoViewFigures *other, gboolean coded)
{
  guint counts[STATES] = { 0 }, frozen;
  State states[BANDS];

  for (guint band = 0; band < BANDS; band++) {
    states[band] = state_of (&own->bands[band], &other->bands[band], coded);
    counts[states[band]]++;
  }
  frozen = counts[STATE_STILL] + counts[STATE_EQUAL];
  if (!frozen)
    return GST_STEREO_VERDICT_GOOD;
  if (frozen >= LARGE)
    return GST_STEREO_VERDICT_BAD;
  if (longest_run (states, STATE_STILL, STATE_EQUAL) >= STRIPE && counts[STATE_MOVES] > frozen)
    return GST_STEREO_VERDICT_BAD;
  /* a sensor gives no band twice */
  if (longest_run (states, STATE_EQUAL, STATE_EQUAL) >= STRIPE && counts[STATE_CHANGES] + counts[STATE_MOVES] > frozen)
    return GST_STEREO_VERDICT_BAD;
  return GST_STEREO_VERDICT_UNKNOWN;
}

/* Strips of the two views show different parts of the scene: they are compared by noise alone. */
static GstStereoVerdict
judge_strips (const GstStereoViewFigures *own, const GstStereoViewFigures *other, gboolean coded)
{
  guint equal = 0, live = 0;
  State states[BANDS];

  for (guint strip = 0; strip < BANDS; strip++) {
    states[strip] = state_of (&own->strips[strip], &other->strips[strip], coded);
    equal += states[strip] == STATE_EQUAL;
    live += own->strips[strip].other > NOISY;
  }
  /* a sensor has noise in each of the others */
  if (!equal || equal + live < BANDS)
    return GST_STEREO_VERDICT_GOOD;
  return longest_run (states, STATE_EQUAL, STATE_EQUAL) >= STRIPE && (live > equal || equal >= LARGE) ?
      GST_STEREO_VERDICT_BAD :
      GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_frozen_judge_parts (const GstStereoViewFigures *own, const GstStereoViewFigures *other, gboolean coded)
{
  GstStereoVerdict bands = judge_bands (own, other, coded), strips = judge_strips (own, other, coded);

  if (bands == GST_STEREO_VERDICT_BAD || strips == GST_STEREO_VERDICT_BAD)
    return GST_STEREO_VERDICT_BAD;
  return bands == GST_STEREO_VERDICT_GOOD ? strips : bands;
}

guint
gst_stereo_frozen_count_coded (guint coded, const GstStereoViewFigures *own)
{
  gboolean whole = own->compared && !own->same;

  for (guint i = 0; own->compared && i < BANDS; i++) {
    const GstStereoBandFigures *band = &own->bands[i];
    if (is_lit (band) && band->other > 0 && band->other <= NOISY)
      return CODED;
    whole = whole && !(is_lit (band) && band->other == 0);
  }
  return whole ? MAX (1, coded) - 1 : coded;
}
