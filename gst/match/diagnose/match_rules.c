/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/match_rules.h"

#include <math.h>

#define MIN_MATCHES 12 /* fewer offsets say nothing */
/* Grey levels of the small pictures: 220 pixels with noise of 15 have shares down to 0.05, more 0.28. */
#define MOST_NOISE 6
#define NOISY_MOST 0.5 /* share of the points: where more are found, what looks like noise is texture */

gboolean
gst_stereo_matches_are_noisy (const GstStereoPairMatches *matches, gdouble noise)
{
  return noise > MOST_NOISE * matches->factor && matches->matches < NOISY_MOST * matches->points;
}

/* ---- out of step: views of different moments -------------------------------------------------- */

/* By timestamps it is judged in diagnosis.c. */
static GstStereoVerdict
judge_moment (const GstStereoMatchCase *match)
{
  return match->late;
}

static gchar *
describe_moment (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const gchar *name = match->late_view ? "right" : "left";

  gst_structure_set (figures, "value", G_TYPE_DOUBLE, match->certainty, NULL);
  if (!active)
    return g_strdup ("The views are in step again.");
  return g_strdup_printf (
      "The views are out of step: in the %s view, points lie where they were some frames before. "
      "What moves gets a wrong disparity. Trigger the cameras together, and look at what delays or tears frames on the "
      "way of the %s one.",
      name, name);
}

/* ---- swapped: exchanged views --------------------------------------------------------------- */

/*
 * They differ from correct ones by the sign of the disparity alone. A match speaks for an exchange if it lies beyond infinity, outside the
 * search range, and the opposite disparity inside. Points at infinity have no sign, and do not count. A search range that is symmetric
 * about 0 cannot show an exchange.
 */
#define MAJORITY 0.75

static GstStereoVerdict
judge_swapped (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  guint votes = matches->forward + matches->backward;

  if (!gst_stereo_matches_are_enough (matches, votes))
    return GST_STEREO_VERDICT_UNKNOWN;
  return matches->backward > MAJORITY * votes ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
}

static gchar *
describe_swapped (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const GstStereoPairMatches *matches = match->matches;
  guint votes = matches->forward + matches->backward;
  const gchar *remedy = match->pair->layout->packing == GST_STEREO_PACKING_AUTO ?
      "exchange what is linked to sink_left and sink_right" :
      "turn right-view-first in the caps' multiview-flags round";

  if (!active)
    return g_strdup ("Left and right do not look exchanged any more.");
  gst_structure_set (figures, "value", G_TYPE_DOUBLE, matches->backward / (gdouble) votes, NULL);
  return g_strdup_printf ("Left and right look exchanged: %u of %u points match at disparities below those searched "
                          "(median of all: %.1f px). If they are, %s; if they are not, set min-disparity to about %d.",
      matches->backward, votes, matches->disparity, remedy, (gint) (1.5 * matches->disparity));
}

static void
note_swapped (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchStats *stats)
{
  stats->exchanged = verdict == GST_STEREO_VERDICT_BAD;
}

/* ---- focal and rows: vertical offsets ------------------------------------------------------- */

/*
 * They have three causes. A rig that is not rectified gives an offset and a roll of the whole picture. Different focal lengths give
 * offsets that grow from the middle to the top and the bottom. Views of different times give offsets that follow the scene's motion
 * (delay.h). Where no smooth function of the place fits the offsets, neither the rig nor the lenses explain them. The verdicts are
 * about the views as they come, before align=auto corrects them.
 *
 * The figures are those of single frames: of 18 healthy scenes at full and at half size, with and without noise; of all with a lens
 * that is 1 % longer.
 */
#define MIN_SCALE 24   /* offsets of a fit whose scale counts */
#define SCALE_BAD 0.55 /* px at the top and the bottom: healthy pairs have up to 0.37, other lenses 0.73 and more, */
#define SCALE_GOOD 0.45
#define SCALE_SURE 1.9   /* and rests: 1.7, and 2.0 and more */
#define REST_BAD 0.68    /* px: healthy pairs have up to 0.54, a badly rectified one 0.65, late ones 0.75 and more */
#define REST_NOISE 0.025 /* px for each grey level of noise, which makes matches worse: the squares add up */
#define OUTWEIGHS 2.2    /* rests: a median offset that large comes from the rig, whatever else moves points */
#define MAX_VERTICAL 1.0 /* px */
#define MAX_TURN 1.5     /* px from the left half's median to the right half's */

/* No fit explains the offsets. */
static gboolean
is_unexplained (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;

  return matches->placed >= MIN_MATCHES && matches->rest >= hypot (REST_BAD, REST_NOISE * match->pair->noise);
}

static GstStereoVerdict
judge_focal (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  gdouble scale = fabs (matches->scale);

  if (matches->placed < MIN_SCALE || is_unexplained (match))
    return GST_STEREO_VERDICT_UNKNOWN;
  if (scale < SCALE_GOOD)
    return GST_STEREO_VERDICT_GOOD;
  return scale >= MAX (SCALE_BAD, SCALE_SURE * matches->rest) ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_UNKNOWN;
}

static gchar *
describe_focal (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  gdouble scale = match->matches->scale;

  gst_structure_set (figures, "value", G_TYPE_DOUBLE, scale, NULL);
  if (!active)
    return g_strdup ("The focal lengths no longer differ.");
  return g_strdup_printf (
      "The focal lengths differ: the right view is %s, by %.1f px at its top and bottom. Look whether both cameras "
      "have the same lens and the same zoom, or calibrate anew.",
      scale > 0 ? "larger" : "smaller", fabs (scale));
}

static GstStereoVerdict
judge_rows (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  gdouble offset = matches->vertical, turn = fabs (matches->vertical_left - matches->vertical_right);

  if (matches->placed < MIN_MATCHES)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (is_unexplained (match))
    return fabs (matches->middle) > MAX (MAX_VERTICAL, OUTWEIGHS * matches->rest) ? GST_STEREO_VERDICT_BAD :
                                                                                    GST_STEREO_VERDICT_UNKNOWN;
  /* offsets that another focal length explains are no evidence about the rows */
  if (judge_focal (match) == GST_STEREO_VERDICT_BAD) {
    offset = fabs (matches->shift);
    turn = fabs (matches->roll);
  }
  return offset > MAX_VERTICAL || turn > MAX_TURN ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
}

static gchar *
describe_rows (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const GstStereoPairMatches *matches = match->matches;
  const gchar *remedy = match->pair->rectified ?
      "The views come rectified, by a calibration that is not of these cameras as they stand now: look whether its pose "
      "is the other way round (R transposed; R and T take a point from the left camera to the right one), or calibrate "
      "anew. If it is right, the views" :
      "Rectify the views: put stereorectify with its calibration before stereomatch, or calibrate anew. If they are "
      "rectified, they";

  if (!active)
    return g_strdup ("The rows of the two views fit again.");
  gst_structure_set (figures, "value", G_TYPE_DOUBLE, matches->vertical, NULL);
  return g_strdup_printf (
      "The rows of the two views do not fit: a point lies %.1f px higher or lower in the right view than in the left "
      "one (median of %u; the left half of the picture is off by %.1f px, the right one by %.1f px, down is positive). "
      "%s were not taken at the same moment. %s",
      matches->vertical, matches->placed, matches->vertical_left, matches->vertical_right, remedy,
      match->pair->params->align ? "Up to 3 px are taken out while stats say aligned, which is less exact." :
                                   "align=auto takes up to 3 px of it out, which is less exact.");
}

static void
note_rows (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchStats *stats)
{
  stats->vertical_offset = match->matches->vertical;
}

/* ---- shifted: a camera has turned, or principal points differ --------------------------------- */

/* Nothing lies farther away than infinity. Points whose disparity is below that of infinity, and below the search range, show a shift
 * where something lies so far away. */
#define SHIFT_BAD 1.0 /* px from the disparity of infinity */
#define SHIFT_GOOD 0.7
#define FAR_AWAY 1.0 /* px above it: the views are known to fit where something is as far away */

static GstStereoVerdict
judge_shifted (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  gdouble infinity = -match->pair->params->principal_offset,
          farthest = MIN (infinity, match->pair->params->min_disparity);

  /* other focal lengths shift the sides, too */
  if (!gst_stereo_matches_are_enough (matches, matches->sure) || judge_focal (match) != GST_STEREO_VERDICT_GOOD ||
      judge_swapped (match) == GST_STEREO_VERDICT_BAD)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (matches->lowest < farthest - SHIFT_BAD)
    return GST_STEREO_VERDICT_BAD;
  return matches->lowest > farthest - SHIFT_GOOD && matches->lowest < infinity + FAR_AWAY ? GST_STEREO_VERDICT_GOOD :
                                                                                            GST_STEREO_VERDICT_UNKNOWN;
}

static gchar *
describe_shifted (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const GstStereoPairMatches *matches = match->matches;

  gst_structure_set (figures, "value", G_TYPE_DOUBLE, matches->lowest, NULL);
  if (!active)
    return g_strdup ("The views are no longer shifted sideways.");
  return g_strdup_printf (
      "The views are shifted sideways: %u of %u points that match lie beyond infinity, at disparities of %.1f px and less. All "
      "is nearer than it seems. If a camera was turned, calibrate and rectify the views anew. If the principal points differ by "
      "that on purpose, set principal-offset to what the calibration says, and min-disparity to its negative.",
      matches->few, matches->sure, matches->lowest);
}

/* ---- mismatch: whether the views show one scene ---------------------------------------------- */

#define MIN_POINTS 48 /* that show whether the views show one scene */
/* Shares of the points: healthy pairs have 0.40 found and 0.52 alike and more, but in fog and at night, mirrored ones up to
 * 0.09 and 0.30. */
#define FOUND_LEAST 0.15
/* The same under noise, where only earlier pairs say how many points should be found: healthy pairs have 0.028 and more; noise-like
 * texture counts as noise. */
#define FOUND_NOISY 0.015
#define FOUND_BAD 0.4 /* of the share that was found so far */
#define FOUND_GOOD 0.6
#define ALIKE_MOST 0.4 /* what repeats, and fog, has more, and is found nowhere for sure */

static gdouble
share_of (const GstStereoPairMatches *matches)
{
  return matches->matches / MAX (1.0, matches->points);
}

static GstStereoVerdict
judge_mismatch (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  gdouble found = share_of (matches), alike = matches->alike / MAX (1.0, matches->points);
  gdouble least = gst_stereo_matches_are_noisy (matches, match->pair->noise) ? FOUND_NOISY : FOUND_LEAST;

  if (matches->points < MIN_POINTS)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (alike < ALIKE_MOST && found < MAX (least, FOUND_BAD * match->share))
    return GST_STEREO_VERDICT_BAD;
  return found > MAX (FOUND_LEAST, FOUND_GOOD * match->share) ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

static gchar *
describe_mismatch (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const GstStereoPairMatches *matches = match->matches;

  gst_structure_set (figures, "value", G_TYPE_DOUBLE, share_of (matches), NULL);
  if (!active)
    return g_strdup ("The two views match again.");
  return g_strdup_printf ("The two views do not match: of %u points of the left view, %u are found in the right one%s. "
                          "Look whether both cameras see the same scene, whether one of them is mirrored or turned, "
                          "and whether something is before a lens.",
      matches->points, matches->matches, match->share > 0 ? ", much less than before" : "");
}

/* ---- range: a search range that ends too soon ------------------------------------------------- */

/* It leaves matches beyond its end: the nearest surfaces have a wrong disparity or none. */
#define MIN_BEYOND 6    /* matches beyond the range that are no chance */
#define BEYOND_BAD 0.04 /* their share of all matches that vote */
#define BEYOND_GOOD 0.01
#define BEYOND_MARGIN 1.15 /* the nearest point need not be among those matched */
#define DISPARITIES_STEP 16
#define MAX_DISPARITIES 1024

static GstStereoVerdict
judge_range (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  guint votes = matches->forward + matches->beyond;

  /* of views that are exchanged, the other verdict is enough */
  if (!gst_stereo_matches_are_enough (matches, votes) || matches->backward > votes)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (matches->beyond >= MIN_BEYOND && matches->beyond >= BEYOND_BAD * votes)
    return GST_STEREO_VERDICT_BAD;
  return matches->beyond <= BEYOND_GOOD * votes ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

gint
gst_stereo_wanted_disparities (const GstStereoPairMatches *matches, gint min)
{
  gint num = (gint) ceil (matches->farthest * BEYOND_MARGIN) + 1 - min;

  return MIN ((num + DISPARITIES_STEP - 1) / DISPARITIES_STEP * DISPARITIES_STEP, MAX_DISPARITIES);
}

static void
note_range (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchStats *stats)
{
  const GstStereoPairMatches *matches = match->matches;

  stats->beyond = matches->beyond / (gdouble) MAX (1, matches->beyond + matches->forward);
  stats->wanted = verdict == GST_STEREO_VERDICT_BAD ?
      gst_stereo_wanted_disparities (matches, match->pair->params->min_disparity) :
      0;
}

static gchar *
describe_range (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const GstStereoPairMatches *matches = match->matches;
  const StereoParams *params = match->pair->params;
  guint votes = matches->beyond + matches->forward;
  gint last = params->min_disparity + params->num_disparities - 1;
  gint wanted = active ? gst_stereo_wanted_disparities (matches, params->min_disparity) : 0;

  gst_structure_set (figures, "value", G_TYPE_DOUBLE, matches->beyond / (gdouble) MAX (1, votes), "points-beyond",
      G_TYPE_UINT, matches->beyond, "farthest", G_TYPE_DOUBLE, matches->farthest, "num-disparities", G_TYPE_INT, wanted,
      NULL);
  if (!active)
    return g_strdup ("The search range is no longer too small.");
  if (wanted <= params->num_disparities)
    return g_strdup_printf (
        "The search range is too small: %u of %u points that match lie beyond its last disparity, %d px, up to about "
        "%.0f px, and more than %d disparities cannot be searched. Use smaller views, or move the "
        "cameras closer together.",
        matches->beyond, votes, last, matches->farthest, params->num_disparities);
  return g_strdup_printf ("The search range is too small: %u of %u points that match lie beyond its last disparity, %d "
                          "px, up to about %.0f px. Such near things get a wrong value or none. Set "
                          "num-disparities=%d, or more if something comes nearer.",
      matches->beyond, votes, last, matches->farthest, wanted);
}

/* ---- the table -------------------------------------------------------------------------------- */

static const GstStereoMatchRule rules[] = {
  { .flag = GST_STEREO_HEALTH_OUT_OF_STEP,
      .needs_sound = TRUE,
      .needs_detail = TRUE,
      .unless = GST_STEREO_HEALTH_MISMATCH,
      .end = G_GINT64_CONSTANT (400000000),
      .verdict = judge_moment,
      .text = describe_moment },
  { .flag = GST_STEREO_HEALTH_FOCAL,
      .needs_sound = TRUE,
      .needs_detail = TRUE,
      .unless = GST_STEREO_HEALTH_MISMATCH | GST_STEREO_HEALTH_OUT_OF_STEP,
      .verdict = judge_focal,
      .text = describe_focal },
  { .flag = GST_STEREO_HEALTH_SHIFTED,
      .needs_sound = TRUE,
      .needs_detail = TRUE,
      .needs_no_noise = TRUE,
      .unless = GST_STEREO_HEALTH_MISMATCH | GST_STEREO_HEALTH_OUT_OF_STEP | GST_STEREO_HEALTH_FOCAL,
      .of_offset = TRUE,
      .verdict = judge_shifted,
      .text = describe_shifted },
  { .flag = GST_STEREO_HEALTH_MISMATCH,
      .needs_sound = TRUE,
      .needs_detail = TRUE,
      .verdict = judge_mismatch,
      .text = describe_mismatch },
  { .flag = GST_STEREO_HEALTH_SWAPPED,
      .of_rig = TRUE,
      .verdict = judge_swapped,
      .text = describe_swapped,
      .note = note_swapped },
  { .flag = GST_STEREO_HEALTH_ROWS,
      .needs_sound = TRUE,
      .unless = GST_STEREO_HEALTH_FOCAL | GST_STEREO_HEALTH_OUT_OF_STEP,
      .of_rig = TRUE,
      .alignable = TRUE,
      .verdict = judge_rows,
      .text = describe_rows,
      .note = note_rows },
  /* frozen or covered parts match in wrong places, and so does noise; another focal length moves the sides of the picture */
  { .flag = GST_STEREO_HEALTH_RANGE,
      .needs_sound = TRUE,
      .needs_no_noise = TRUE,
      .unless = GST_STEREO_HEALTH_FOCAL,
      .verdict = judge_range,
      .text = describe_range,
      .note = note_range },
};

G_STATIC_ASSERT (G_N_ELEMENTS (rules) <= GST_STEREO_MOST_RULES);

const GstStereoMatchRule *
gst_stereo_match_rule (guint index)
{
  return index < G_N_ELEMENTS (rules) ? &rules[index] : NULL;
}
