/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/shift_rule.h"

#include <math.h>

/*
 * A camera has turned, or the principal points differ and nobody said so.
 *
 * Nothing lies farther away than infinity. Points whose disparity is below that of infinity, and below the search range, show a shift at
 * once, where something lies so far away. Of a shift that makes all seem nearer, and of a scene that ends nearer than the shift, a pair
 * shows nothing: there the motion of the cameras does (infinity.h).
 */
#define SHIFT_BAD 1.0 /* px from the disparity of infinity */
#define SHIFT_GOOD 0.7
#define FAR_AWAY 1.0 /* px above it: the views are known to fit where something is as far away */
#define SURE_BAD 4.0 /* standard deviations of what the motion shows */
#define SURE_GOOD 2.0
#define MOST_VERTICAL 1.0 /* px, median: rows that fit less come from a rig that is turned otherwise, too */

static gdouble
infinity_of (const GstStereoMatchCase *match)
{
  return -match->pair->params->principal_offset;
}

static gdouble
farthest_of (const GstStereoMatchCase *match)
{
  return MIN (infinity_of (match), match->pair->params->min_disparity);
}

static gboolean
lies_beyond (const GstStereoMatchCase *match)
{
  return match->matches->lowest < farthest_of (match) - SHIFT_BAD;
}

static GstStereoVerdict
judge_motion (const GstStereoMatchCase *match)
{
  GstStereoInfinityFigure found = gst_stereo_infinity_get (&match->past->infinity);
  gdouble away = fabs (found.disparity - infinity_of (match));

  if (found.deviation <= 0)
    return GST_STEREO_VERDICT_UNKNOWN;
  return away - SURE_BAD * found.deviation > SHIFT_BAD ? GST_STEREO_VERDICT_BAD :
      away + SURE_GOOD * found.deviation < SHIFT_BAD   ? GST_STEREO_VERDICT_GOOD :
                                                         GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_shift_judge (const GstStereoMatchCase *match)
{
  const GstStereoPairMatches *matches = match->matches;
  GstStereoVerdict motion = judge_motion (match);

  if (!gst_stereo_matches_are_enough (matches, matches->sure))
    return GST_STEREO_VERDICT_UNKNOWN;
  if (lies_beyond (match))
    return GST_STEREO_VERDICT_BAD;
  if (motion != GST_STEREO_VERDICT_UNKNOWN)
    return motion;
  return matches->lowest > farthest_of (match) - SHIFT_GOOD && matches->lowest < infinity_of (match) + FAR_AWAY ?
      GST_STEREO_VERDICT_GOOD :
      GST_STEREO_VERDICT_UNKNOWN;
}

void
gst_stereo_shift_learn (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchPast *past)
{
  if (match->matches->vertical <= MOST_VERTICAL)
    gst_stereo_infinity_add (&past->infinity, match->pair->time, &match->matches->infinity);
}

gchar *
gst_stereo_shift_describe (const GstStereoMatchCase *match, gboolean active, GstStructure *figures)
{
  const GstStereoPairMatches *matches = match->matches;
  const gchar *remedy = "If a camera was turned, calibrate and rectify the views anew. If the principal points differ by that on "
                        "purpose, set principal-offset to what the calibration says, and min-disparity to its negative.";

  if (lies_beyond (match) || !active) {
    gst_structure_set (figures, "value", G_TYPE_DOUBLE, matches->lowest, NULL);
    return active ?
        g_strdup_printf ("The views are shifted sideways: %u of %u points that match lie beyond infinity, at "
                         "disparities of %.1f px and less. All is nearer than it seems. %s",
            matches->few, matches->sure, matches->lowest, remedy) :
        g_strdup ("The views are no longer shifted sideways.");
  }
  gdouble found = gst_stereo_infinity_get (&match->past->infinity).disparity, expected = infinity_of (match);
  gst_structure_set (figures, "value", G_TYPE_DOUBLE, found, NULL);
  return g_strdup_printf (
      "The views are shifted sideways: as the cameras move, the picture grows as if infinity had a disparity of "
      "%.1f px, and not of %.1f px. All is %s than it seems. %s",
      found, expected, found < expected ? "nearer" : "farther away", remedy);
}
