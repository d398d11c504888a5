/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/verdicts.h"

#include <math.h>

#define MIN_MATCHES 12 /* fewer say nothing */
#define MAJORITY 0.75
#define MAX_DOUBT 3      /* doubtful matches for each one that votes */
#define MAX_VERTICAL 1.0 /* px */
#define MAX_TURN 1.5     /* px from the left half's median to the right half's */

/* Of vertical offsets. The figures are those of single frames: of 18 healthy scenes at full and at half size, with and
 * without noise; of all with a lens that is 1 % longer. */
#define MIN_SCALE 24   /* offsets of a fit whose scale counts */
#define SCALE_BAD 0.55 /* px at the top and the bottom: healthy pairs have up to 0.37, other lenses 0.73 and more, */
#define SCALE_GOOD 0.45
#define SCALE_SURE 1.9 /* and rests: 1.7, and 2.0 and more */
#define REST_BAD 0.68  /* px: healthy pairs have up to 0.54, a badly rectified one 0.65, late ones 0.72 and more */
#define HALF_BAD 1.1   /* px, of half of the view: healthy pairs have up to 0.94; torn ones mostly 1.2 and more */
#define OUTWEIGHS 2.2  /* rests: a median offset that large comes from the rig, whatever else moves points */

/* Px below the disparity of infinity. */
#define SHIFT_BAD 1.0
#define SHIFT_GOOD 0.7
#define FAR_AWAY 1.0 /* px above it: the views are known to fit where something is as far away */

#define MIN_POINTS 48 /* that show whether the views show one scene */
/* Shares of the points: healthy pairs have 0.40 found and 0.52 alike and more, but in fog and at night, mirrored ones up to
 * 0.09 and 0.30. */
#define FOUND_LEAST 0.15
/* The same under noise: healthy pairs have 0.028 and more; noise-like texture counts as noise. */
#define FOUND_NOISY 0.015
#define FOUND_BAD 0.4 /* of the share that was found so far */
#define FOUND_GOOD 0.6
/* Grey levels of the small pictures: 220 pixels with noise of 15 have shares down to 0.05, more 0.28. */
#define MOST_NOISE 6
#define NOISY_MOST 0.5 /* share of the points: where more are found, what looks like noise is texture */
#define ALIKE_MOST 0.4 /* what repeats, and fog, has more, and is found nowhere for sure */

#define MIN_BEYOND 6    /* matches beyond the range that are no chance */
#define BEYOND_BAD 0.04 /* their share of all matches that vote */
#define BEYOND_GOOD 0.01
#define BEYOND_MARGIN 1.15 /* the nearest point need not be among those matched */
#define DISPARITIES_STEP 16
#define MAX_DISPARITIES 1024

GstStereoVerdict
gst_stereo_verdict_exchanged (const GstStereoPairMatches *matches)
{
  guint votes = matches->forward + matches->backward;

  /* where nearly everything repeats, the rest is chance */
  if (votes < MIN_MATCHES || matches->doubtful > MAX_DOUBT * votes)
    return GST_STEREO_VERDICT_UNKNOWN;
  return matches->backward > MAJORITY * votes ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
}

/* No fit explains the offsets. */
static gboolean
is_unexplained (const GstStereoPairMatches *matches)
{
  return matches->placed >= MIN_MATCHES && (matches->rest >= REST_BAD || matches->rest_of_half >= HALF_BAD);
}

GstStereoVerdict
gst_stereo_verdict_focal (const GstStereoPairMatches *matches)
{
  gdouble scale = fabs (matches->scale);

  if (matches->placed < MIN_SCALE || is_unexplained (matches))
    return GST_STEREO_VERDICT_UNKNOWN;
  if (scale < SCALE_GOOD)
    return GST_STEREO_VERDICT_GOOD;
  return scale >= MAX (SCALE_BAD, SCALE_SURE * matches->rest) ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_verdict_rows (const GstStereoPairMatches *matches)
{
  gdouble offset = matches->vertical, turn = fabs (matches->vertical_left - matches->vertical_right);

  if (matches->placed < MIN_MATCHES)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (is_unexplained (matches))
    return fabs (matches->middle) > MAX (MAX_VERTICAL, OUTWEIGHS * matches->rest) ? GST_STEREO_VERDICT_BAD :
                                                                                    GST_STEREO_VERDICT_UNKNOWN;
  /* offsets that another focal length explains are no evidence about the rows */
  if (gst_stereo_verdict_focal (matches) == GST_STEREO_VERDICT_BAD) {
    offset = fabs (matches->shift);
    turn = fabs (matches->roll);
  }
  return offset > MAX_VERTICAL || turn > MAX_TURN ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
}

gboolean
gst_stereo_matches_are_noisy (const GstStereoPairMatches *matches, gdouble noise)
{
  return noise > MOST_NOISE * matches->factor && matches->matches < NOISY_MOST * matches->points;
}

GstStereoVerdict
gst_stereo_verdict_mismatch (const GstStereoPairMatches *matches, gdouble so_far, gdouble noise)
{
  gdouble points = MAX (1, matches->points), found = matches->matches / points, alike = matches->alike / points;
  gdouble least = gst_stereo_matches_are_noisy (matches, noise) ? FOUND_NOISY : FOUND_LEAST;

  if (matches->points < MIN_POINTS)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (alike < ALIKE_MOST && found < MAX (least, FOUND_BAD * so_far))
    return GST_STEREO_VERDICT_BAD;
  return found > MAX (FOUND_LEAST, FOUND_GOOD * so_far) ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_verdict_range (const GstStereoPairMatches *matches)
{
  guint votes = matches->forward + matches->beyond;

  /* of views that are exchanged, the other verdict is enough */
  if (votes < MIN_MATCHES || matches->doubtful > MAX_DOUBT * votes || matches->backward > votes)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (matches->beyond >= MIN_BEYOND && matches->beyond >= BEYOND_BAD * votes)
    return GST_STEREO_VERDICT_BAD;
  return matches->beyond <= BEYOND_GOOD * votes ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_verdict_shifted (const GstStereoPairMatches *matches, const StereoParams *params)
{
  gdouble infinity = -params->principal_offset, least = MIN (infinity, params->min_disparity);

  /* Another focal length shifts the sides, too; of views that are exchanged, the other verdict is enough. */
  if (matches->sure < MIN_MATCHES || matches->doubtful > MAX_DOUBT * matches->sure ||
      gst_stereo_verdict_focal (matches) != GST_STEREO_VERDICT_GOOD ||
      gst_stereo_verdict_exchanged (matches) == GST_STEREO_VERDICT_BAD)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (matches->lowest < least - SHIFT_BAD)
    return GST_STEREO_VERDICT_BAD;
  return matches->lowest > least - SHIFT_GOOD && matches->lowest < infinity + FAR_AWAY ? GST_STEREO_VERDICT_GOOD :
                                                                                         GST_STEREO_VERDICT_UNKNOWN;
}

gint
gst_stereo_wanted_disparities (const GstStereoPairMatches *matches, gint min)
{
  gint num = (gint) ceil (matches->farthest * BEYOND_MARGIN) + 1 - min;

  return MIN ((num + DISPARITIES_STEP - 1) / DISPARITIES_STEP * DISPARITIES_STEP, MAX_DISPARITIES);
}
