/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a look at a pair says: verdicts from the matches that were counted. */
#include "gst/match/diagnose/points.h"

#include <math.h>

#define MAJORITY 0.75
#define MAX_DOUBT 3      /* doubtful matches for each one that votes */
#define MAX_VERTICAL 1.0 /* px */
#define MAX_TILT 1.5     /* px from the left half's median to the right half's */

#define MIN_FIT 24    /* offsets that a fit is made of */
#define SCALE_BAD 0.9 /* px at the top and the bottom; healthy pairs have up to 0.6, in a single frame of a drive */
#define SCALE_GOOD 0.5
#define REST_BAD 0.65 /* px; healthy pairs have up to 0.5, in a single frame of a drive */
#define REST_GOOD 0.45

#define MIN_POINTS 48 /* that tell whether the views show one scene */
#define FOUND_LEAST \
  0.09                /* share of the points that is found by chance; of one scene, healthy pairs have 0.18 and more */
#define FOUND_BAD 0.4 /* of the share that was found so far */
#define FOUND_GOOD 0.6
#define ALIKE_MOST \
  0.4 /* share that some place looks like by chance; what repeats has more, and is found nowhere for sure */

#define MIN_BEYOND 6    /* matches beyond the range that are no chance */
#define BEYOND_BAD 0.04 /* their share of all matches that vote */
#define BEYOND_GOOD 0.01
#define BEYOND_MARGIN 1.15 /* the nearest point need not be among those matched */
#define DISPARITIES_STEP 16
#define MAX_DISPARITIES 1024

GstStereoVerdict
gst_stereo_check_exchanged (const GstStereoCheckResult *result)
{
  guint votes = result->forward + result->backward;

  /* where nearly everything repeats, the rest is chance */
  if (votes < GST_STEREO_CHECK_MIN_MATCHES || result->doubtful > MAX_DOUBT * votes)
    return GST_STEREO_VERDICT_UNKNOWN;
  return result->backward > MAJORITY * votes ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD;
}

GstStereoVerdict
gst_stereo_check_unrectified (const GstStereoCheckResult *result)
{
  if (result->placed < GST_STEREO_CHECK_MIN_MATCHES)
    return GST_STEREO_VERDICT_UNKNOWN;
  return result->vertical > MAX_VERTICAL || fabs (result->vertical_left - result->vertical_right) > MAX_TILT ?
      GST_STEREO_VERDICT_BAD :
      GST_STEREO_VERDICT_GOOD;
}

GstStereoVerdict
gst_stereo_check_focal (const GstStereoCheckResult *result)
{
  if (result->placed < MIN_FIT || result->rest > REST_GOOD)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (fabs (result->scale) >= SCALE_BAD)
    return GST_STEREO_VERDICT_BAD;
  return fabs (result->scale) < SCALE_GOOD ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_check_out_of_step (const GstStereoCheckResult *result)
{
  if (result->placed < MIN_FIT)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (result->rest >= REST_BAD)
    return GST_STEREO_VERDICT_BAD;
  return result->rest < REST_GOOD ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_check_mismatch (const GstStereoCheckResult *result, gdouble past)
{
  gdouble points = MAX (1, result->points), found = result->matches / points, alike = result->alike / points;

  if (result->points < MIN_POINTS)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (alike < ALIKE_MOST && found < MAX (FOUND_LEAST, FOUND_BAD * past))
    return GST_STEREO_VERDICT_BAD;
  return found > MAX (FOUND_LEAST, FOUND_GOOD * past) ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

GstStereoVerdict
gst_stereo_check_range (const GstStereoCheckResult *result)
{
  guint votes = result->forward + result->beyond;

  /* of views that are exchanged, the other check says what has to be said */
  if (votes < GST_STEREO_CHECK_MIN_MATCHES || result->doubtful > MAX_DOUBT * votes || result->backward > votes)
    return GST_STEREO_VERDICT_UNKNOWN;
  if (result->beyond >= MIN_BEYOND && result->beyond >= BEYOND_BAD * votes)
    return GST_STEREO_VERDICT_BAD;
  return result->beyond <= BEYOND_GOOD * votes ? GST_STEREO_VERDICT_GOOD : GST_STEREO_VERDICT_UNKNOWN;
}

gint
gst_stereo_check_wanted_disparities (const GstStereoCheckResult *result, gint min)
{
  gint num = (gint) ceil (result->farthest * BEYOND_MARGIN) + 1 - min;

  return MIN ((num + DISPARITIES_STEP - 1) / DISPARITIES_STEP * DISPARITIES_STEP, MAX_DISPARITIES);
}
