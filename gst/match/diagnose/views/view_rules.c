/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/view_rules.h"

#include <math.h>
#include <string.h>

#include "gst/match/diagnose/views/frozen.h"

#define VIEW(v) ((v) ? "right" : "left")
#define OF_VIEW(name) GST_STEREO_HEALTH_##name##_LEFT, GST_STEREO_HEALTH_##name##_RIGHT
#define EITHER(name) (GST_STEREO_HEALTH_##name##_LEFT | GST_STEREO_HEALTH_##name##_RIGHT)

/* Each fault has two thresholds. Between them the verdict is unknown, so that a fault near a threshold does not flicker. @value grows
 * as the fault does. */
static GstStereoVerdict
above (gdouble value, gdouble bad, gdouble good)
{
  return value >= bad ? GST_STEREO_VERDICT_BAD : value <= good ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

static GstStereoVerdict
below (gdouble value, gdouble bad, gdouble good)
{
  return above (-value, -bad, -good);
}

/* Of the blocks with texture, those at disparity 0. */
static gdouble
share_at_0 (const GstStereoViewMeasurement *measured)
{
  return measured->blocks->zero / (gdouble) MAX (1, measured->blocks->textured);
}

/* ---- black, blown out ----------------------------------------------------------------------- */

/* They are no evidence about blur, exposure and movement of either view. */
#define BLACK_BAD 0.98 /* share of black pixels: a picture of the night has lamps */
#define BLACK_GOOD 0.9
#define WHITE_BAD 0.5 /* twice what fog and sky give */
#define WHITE_GOOD 0.4

static GstStereoVerdict
judge_black (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  return above (*value = measured->figures[v].black, BLACK_BAD, BLACK_GOOD);
}

static gchar *
describe_black (const GstStereoViewFigures figures[2], guint v)
{
  return g_strdup_printf ("The %s view is black: %.0f %% of its pixels show no light. Look for a lens cap, no "
                          "light, or too short an exposure, and whether the camera is connected.",
      VIEW (v), 100 * figures[v].black);
}

static GstStereoVerdict
judge_blown_out (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  return above (*value = measured->figures[v].white, WHITE_BAD, WHITE_GOOD);
}

static gchar *
describe_blown_out (const GstStereoViewFigures figures[2], guint v)
{
  return g_strdup_printf ("The %s view is blown out: %.0f %% of its pixels are white, and show nothing that could "
                          "be matched. Lower the exposure or the gain of that camera.",
      VIEW (v), 100 * figures[v].white);
}

/* ---- covered, blurred ----------------------------------------------------------------------- */

#define BLURRED_BAD 0.5 /* of the sharpness expected; the worst healthy pair has 0.82 */
#define BLURRED_GOOD 0.65
#define BLURRED_BOTH 0.25 /* of what each view's sharpness used to be: fog and night come slower */
#define ROUGHER 0.8       /* a view that is less sharp has less of detail and noise together, too */
#define ODD_COVER 8.0     /* grey levels of contrast: a cover has less, */
#define EVEN 0.5          /* and it has so much less than the other view */
#define NO_COVER 10.0     /* that no cover has; in between nothing is known */
#define PARTS_COVERED 2   /* of 16, in a row: an eighth of the view */

/* Both views at once: neither shows what the other one should be like. */
static gboolean
are_blurred (const GstStereoViewMeasurement *measured)
{
  const GstStereoViewFigures *figures = measured->figures;
  gboolean less = TRUE;

  for (guint v = 0; v < 2; v++)
    less = less && figures[v].sharpness < BLURRED_BOTH * measured->history.sharpness[v];
  return less || (gst_stereo_view_has_no_detail (&figures[0]) && gst_stereo_view_has_no_detail (&figures[1]));
}

/* Half as sharp as the other view, or as it used to be against the other; or both are without detail, or a quarter as sharp as they
 * used to be. */
static GstStereoVerdict
judge_blurred (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &measured->figures[v], *other = &measured->figures[!v];
  const GstStereoViewHistory *history = &measured->history;
  gdouble expected = history->ratio <= 0 ? 1 : v ? 1 / history->ratio : history->ratio;

  *value = own->sharpness / MAX (other->sharpness, 1e-9);
  if (are_blurred (measured))
    return GST_STEREO_VERDICT_BAD;
  if (!gst_stereo_view_has_detail (other))
    return GST_STEREO_VERDICT_UNKNOWN;
  GstStereoVerdict verdict = below (own->sharpness / other->sharpness / expected, BLURRED_BAD, BLURRED_GOOD);
  /* texture whose rows have nothing in common is taken for noise; and in fog there may be little else than noise */
  if (verdict == GST_STEREO_VERDICT_BAD && own->roughness > ROUGHER * other->roughness)
    return GST_STEREO_VERDICT_UNKNOWN;
  return verdict;
}

static gchar *
describe_blurred (const GstStereoViewFigures figures[2], guint v)
{
  return g_strdup_printf (
      "The %s view is blurred: it has %.2f times the detail of the %s view, or both have lost theirs. Clean the "
      "lens, take away what lies before it, or focus that camera.",
      VIEW (v), figures[v].sharpness / MAX (figures[!v].sharpness, 1e-9), VIEW (!v));
}

/* Blurred, and nearly even all over; or a part of it is even, and not of the other view. */
static GstStereoVerdict
judge_covered (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &measured->figures[v], *other = &measured->figures[!v];
  GstStereoVerdict blurred = judge_blurred (measured, v, value);
  gboolean even = blurred == GST_STEREO_VERDICT_BAD && own->contrast < ODD_COVER &&
      own->contrast < EVEN * other->contrast;

  *value = own->contrast;
  if (even || own->covered >= PARTS_COVERED)
    return GST_STEREO_VERDICT_BAD;
  return own->covered                   ? GST_STEREO_VERDICT_UNKNOWN :
      blurred == GST_STEREO_VERDICT_BAD ? GST_STEREO_VERDICT_GOOD :
                                          blurred;
}

static gchar *
describe_covered (const GstStereoViewFigures figures[2], guint v)
{
  const GstStereoViewFigures *own = &figures[v], *other = &figures[!v];

  if (own->covered)
    return g_strdup_printf ("A part of the %s view is covered: %u sixteenths of its width or its height are even, "
                            "where the %s view shows something. Take away what lies before the lens.",
        VIEW (v), own->covered, VIEW (!v));
  return g_strdup_printf (
      "The %s view is covered: it is even all over (a contrast of %.1f grey levels, that of the %s view %.1f). "
      "Take away what lies before the lens.",
      VIEW (v), own->contrast, VIEW (!v), other->contrast);
}

/* Both views are even all over, but for noise. Whether covers or a wall without texture are before them, nothing can be measured. */
static GstStereoVerdict
judge_blank (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoViewFigures *figures = measured->figures;

  *value = MAX (figures[0].contrast, figures[1].contrast);
  if (gst_stereo_view_has_detail (&figures[0]) || gst_stereo_view_has_detail (&figures[1]))
    return GST_STEREO_VERDICT_GOOD;
  return below (*value, ODD_COVER, NO_COVER);
}

/* ---- dark ------------------------------------------------------------------------------------ */

/* What covers a lens is dark too, and so is a blurred view. */
#define DARK_BAD (1 / 1.5) /* of the other view's brightness; the worst healthy pair has 0.93 */
#define DARK_GOOD (1 / 1.3)
#define BRIGHT_ENOUGH 20.0 /* levels of the other view: a darker view shows nothing about exposure */

static GstStereoVerdict
judge_dark (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &measured->figures[v], *other = &measured->figures[!v];

  *value = own->brightness / MAX (other->brightness, 1e-9);
  if (other->brightness < BRIGHT_ENOUGH)
    return GST_STEREO_VERDICT_UNKNOWN;
  return below (own->brightness / other->brightness, DARK_BAD, DARK_GOOD);
}

static gchar *
describe_dark (const GstStereoViewFigures figures[2], guint v)
{
  return g_strdup_printf ("The %s view is darker than the %s one: its mean grey level is %.0f, that of the %s view "
                          "%.0f. Give both cameras the same exposure and gain, and switch off what sets these for "
                          "each camera alone. Until then prefer cost=census-9x7 or method=bm cost=zncc: costs that "
                          "compare grey levels fail.",
      VIEW (v), VIEW (!v), figures[v].brightness, VIEW (!v), figures[!v].brightness);
}

/* ---- frozen, still ---------------------------------------------------------------------------- */

#define MOVES 0.01    /* share of the other view's pixels */
#define BANDS_ALONE 2 /* of 16, in a row */
#define BOTH_FROZEN \
  G_GINT64_CONSTANT (600000000) /* ns that both have to be frozen for: encoders repeat a still scene */

/* No pixel, or in a part nothing but noise, changes while the other view moves. */
static GstStereoVerdict
judge_frozen (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoViewFigures *own = &measured->figures[v], *other = &measured->figures[!v];

  *value = other->moved;
  if (!own->compared || !other->compared)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (own->alone >= BANDS_ALONE || (own->same && other->moved >= MOVES && !measured->coded[v]))
    return GST_STEREO_VERDICT_BAD;
  GstStereoVerdict verdict = gst_stereo_frozen_judge_parts (own, other, measured->coded[v]);
  return (own->same || own->alone) && verdict == GST_STEREO_VERDICT_GOOD ? GST_STEREO_VERDICT_UNKNOWN : verdict;
}

static gchar *
describe_frozen (const GstStereoViewFigures figures[2], guint v)
{
  return g_strdup_printf (
      "The %s view is frozen: each frame, or a large part of it, is the same as the one before, while the %s view "
      "moves. Restart that camera, and look at its cable and at what repeats frames on the way. Until then the "
      "values of what moves are wrong.",
      VIEW (v), VIEW (!v));
}

/* Whether no pixel of either view changes. */
static GstStereoVerdict
judge_same (const GstStereoViewMeasurement *measured, gdouble *value)
{
  const GstStereoViewFigures *figures = measured->figures;

  *value = share_at_0 (measured);
  return !figures[0].compared || !figures[1].compared ? GST_STEREO_VERDICT_UNKNOWN :
      figures[0].same && figures[1].same              ? GST_STEREO_VERDICT_BAD :
                                                        GST_STEREO_VERDICT_GOOD;
}

static GstStereoVerdict
judge_both_frozen (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  GstStereoVerdict same = judge_same (measured, value);

  return same == GST_STEREO_VERDICT_BAD && (!measured->lively || measured->coded[0] || measured->coded[1]) ?
      GST_STEREO_VERDICT_UNKNOWN :
      same;
}

static GstStereoVerdict
judge_still (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  GstStereoVerdict same = judge_same (measured, value);

  return same == GST_STEREO_VERDICT_BAD && measured->lively ? GST_STEREO_VERDICT_GOOD : same;
}

/* ---- same view, still pattern ------------------------------------------------------------------- */

#define MIN_TEXTURED 12 /* blocks of a pair: a view without detail is no evidence */
#define ZERO_BAD 0.6    /* share of the blocks with texture that lie at disparity 0; healthy pairs have up to 0.04 */
#define ZERO_GOOD 0.3
#define REST_PATTERN 0.004 /* share of the variance that noise does not explain: two scenes behind one pattern */
#define MIN_MOVING 8
#define STILL_BAD 0.25 /* share of the blocks that move */
#define STILL_GOOD 0.1
#define MIN_LAYERED 8    /* blocks that show two layers: three do by chance */
#define LAYERED_BAD 0.12 /* their share of the blocks with texture; healthy pairs have up to 0.05 */
#define LAYERED_GOOD 0.08

/* Whether all lies at disparity 0. With one camera, moving texture was at another place before, which a still pattern was not. */
static GstStereoVerdict
judge_same_view (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoBlockFigures *pair = measured->blocks;
  GstStereoVerdict zero = above (*value = share_at_0 (measured), ZERO_BAD, ZERO_GOOD);

  if (pair->textured < MIN_TEXTURED)
    return GST_STEREO_VERDICT_UNKNOWN;
  return zero == GST_STEREO_VERDICT_BAD && pair->rest >= REST_PATTERN ? GST_STEREO_VERDICT_GOOD : zero;
}

static GstStereoVerdict
judge_still_pattern (const GstStereoViewMeasurement *measured, guint v, gdouble *value)
{
  const GstStereoBlockFigures *pair = measured->blocks;
  GstStereoVerdict still = GST_STEREO_VERDICT_UNKNOWN, layered = GST_STEREO_VERDICT_UNKNOWN;

  *value = share_at_0 (measured);
  if (pair->textured >= MIN_TEXTURED && *value >= ZERO_BAD)
    return pair->rest < REST_PATTERN ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_BAD;
  if (pair->steps)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (pair->textured >= MIN_TEXTURED)
    layered = pair->layered < MIN_LAYERED ? GST_STEREO_VERDICT_GOOD :
                                            above (pair->layered / (gdouble) pair->textured, LAYERED_BAD, LAYERED_GOOD);
  if (pair->moving >= MIN_MOVING)
    still = above (pair->still / (gdouble) pair->moving, STILL_BAD, STILL_GOOD);
  /* where nothing moves, a pattern would still be at disparity 0 */
  if (still == GST_STEREO_VERDICT_UNKNOWN && pair->textured >= MIN_TEXTURED && pair->zero <= STILL_GOOD * pair->textured)
    still = GST_STEREO_VERDICT_GOOD;
  /* two layers are enough for a pattern; that there are fewer is no evidence against what moves */
  if (layered == GST_STEREO_VERDICT_BAD || (layered == GST_STEREO_VERDICT_UNKNOWN && still == GST_STEREO_VERDICT_GOOD))
    return layered;
  return still;
}

/* ---- the table --------------------------------------------------------------------------------- */

#define SHOWS_NOTHING (EITHER (BLACK) | EITHER (BLOWN_OUT))

static const GstStereoViewRule rules[] = {
  { .flags = { OF_VIEW (BLACK) }, .verdict = judge_black, .text = describe_black },
  { .flags = { OF_VIEW (BLOWN_OUT) }, .verdict = judge_blown_out, .text = describe_blown_out },
  { .flags = { OF_VIEW (COVERED) }, .unless = SHOWS_NOTHING, .verdict = judge_covered, .text = describe_covered },
  { .flags = { OF_VIEW (BLURRED) },
      .unless = SHOWS_NOTHING,
      .unless_own = EITHER (COVERED),
      .has_history = TRUE,
      .verdict = judge_blurred,
      .text = describe_blurred },
  { .flags = { OF_VIEW (DARK) },
      .unless = SHOWS_NOTHING | EITHER (COVERED) | EITHER (BLURRED),
      .verdict = judge_dark,
      .text = describe_dark },
  { .flags = { OF_VIEW (FROZEN) },
      .unless = SHOWS_NOTHING,
      .unless_own = EITHER (COVERED) | EITHER (BLURRED),
      .verdict = judge_frozen,
      .text = describe_frozen },
  { .flags = { EITHER (FROZEN) },
      .unless = SHOWS_NOTHING,
      .hold = BOTH_FROZEN,
      .verdict = judge_both_frozen,
      .begin = "Both views are frozen: no pixel changes from frame to frame, which no sensor gives. Restart the cameras, and "
               "look at what repeats frames on the way.",
      .end = "The two views are no longer frozen." },
  { .flags = { GST_STEREO_HEALTH_STILL },
      .unless = SHOWS_NOTHING,
      .silent = TRUE,
      .verdict = judge_still,
      .begin = "no pixel has changed yet: a still picture",
      .end = "no pixel has changed yet: a still picture no more" },
  { .flags = { GST_STEREO_HEALTH_BLANK },
      .unless = SHOWS_NOTHING | EITHER (COVERED) | EITHER (BLURRED),
      .silent = TRUE,
      .verdict = judge_blank,
      .begin = "neither view shows more than noise",
      .end = "a view shows more than noise again" },
  { .flags = { GST_STEREO_HEALTH_SAME_VIEW },
      .verdict = judge_same_view,
      .begin = "Both views come from one camera: all that they show lies at the same place, so that everything seems to be "
               "far away. Look at which device each pad gets, at a tee before both, and at the channels of a capture card.",
      .end = "The two views are no longer the same." },
  { .flags = { GST_STEREO_HEALTH_STILL_PATTERN },
      .verdict = judge_still_pattern,
      .begin = "A still pattern lies over both views at the same place: drops, dirt or a cracked screen before both lenses, "
               "or something that is blended in. It is matched in place of the scene, and seems to be far away. Clean the "
               "lenses and what is before them.",
      .end = "The pattern on the lenses is gone." },
};

G_STATIC_ASSERT (G_N_ELEMENTS (rules) <= GST_STEREO_MOST_RULES);

const GstStereoViewRule *
gst_stereo_view_rule (guint index)
{
  return index < G_N_ELEMENTS (rules) ? &rules[index] : NULL;
}

void
gst_stereo_view_rules_judge (const GstStereoViewMeasurement *measured, GstStereoViewVerdicts verdicts)
{
  GstStereoHealthFlags bad[2] = { GST_STEREO_HEALTH_OK, GST_STEREO_HEALTH_OK }; /* of each view */

  memset (verdicts, 0, sizeof (GstStereoViewVerdicts));
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++) {
    const GstStereoViewRule *rule = &rules[i];
    for (guint v = 0; v < 2 && rule->flags[v]; v++)
      if (!(rule->unless & (bad[0] | bad[1])) && !(rule->unless_own & bad[v]))
        verdicts[i][v].verdict = rule->verdict (measured, v, &verdicts[i][v].value);
    for (guint v = 0; v < 2; v++)
      if (verdicts[i][v].verdict == GST_STEREO_VERDICT_BAD)
        bad[v] |= rule->flags[v];
  }
}
