/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether two views can be what they are said to be: now and then a look at a few hundred points of a pair, on the CPU.
 *
 * Textured points, spread over the left view, are searched in the right view, in pictures made a few times smaller: at
 * positive and at negative disparities alike, and some rows up and down. A match counts only if it is good, if no other
 * place fits nearly as well, and if the search back from it ends at the point. Where too few matches count, the pair
 * tells nothing. The matches that count are then placed to a fraction of a pixel in the views themselves.
 *
 * - Exchanged views differ from correct ones by the sign of the disparity alone. A match speaks for an exchange if its
 *   disparity lies outside the search range and the opposite disparity inside. Points at infinity have no sign, and do
 *   not count. A range that reaches equally far to either side tells nothing.
 * - A search range that is too small leaves matches beyond its end: what is nearest has a wrong disparity or none. Points
 * are therefore looked for up to twice the largest disparity searched, and at least up to a quarter of the width.
 * - Views that are not rectified have vertical offsets: the median of their absolute values tells, and the difference
 *   between the two sides of the picture shows a small rotation. Movement between the two moments looks the same. The
 *   views are looked at as they come: what align=auto takes out is still seen.
 */
#ifndef GST_STEREO_CHECK_H
#define GST_STEREO_CHECK_H

#include <glib.h>

#include "gst/match/diagnose/timestamps.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* ---- a look at a pair -------------------------------------------------------------------- */

/* Fewer tell nothing. */
#define GST_STEREO_CHECK_MIN_MATCHES 12

/* Scratch for views of one size; about 16 bytes per pixel of the small picture. */
typedef struct _GstStereoCheck GstStereoCheck;

typedef struct
{
  guint points;            /* textured ones, looked for */
  guint alike;             /* of them, those that some place looks like; it may be one of many */
  guint matches;           /* of them, found for sure */
  guint forward, backward; /* matches inside the range; matches that would be inside if the views were exchanged */
  guint beyond;            /* matches that lie beyond the largest disparity searched */
  gdouble farthest;        /* the largest disparity that three of those have or exceed, px; 0 = there are not three */
  guint doubtful;          /* matches that do not count there: another place fits nearly as well */
  gdouble disparity;       /* median of all matches, px */
  gdouble largest;         /* that three matches have or exceed, px; 0 = there are not three */
  guint placed;            /* matches with a vertical offset */
  gdouble vertical;        /* median of its absolute value, px */
  gdouble vertical_left, vertical_right; /* its median in the left and the right half, px; below is positive */
  gdouble scale; /* how much farther from the middle the top and the bottom lie in the right view, px */
  gdouble rest;  /* median of the absolute offset that neither an offset, nor a roll, nor a scale explains, px */
} GstStereoCheckResult;

/* NULL for views too small to say anything about. Disparities searched: @min <= d < @min + @num. */
GstStereoCheck *gst_stereo_check_new (gint width, gint height, gint min, gint num);
void gst_stereo_check_free (GstStereoCheck *check);
gboolean gst_stereo_check_is_for (const GstStereoCheck *check, gint width, gint height, gint min, gint num);
/* Both views in host memory. @counts: a byte a pixel of the left view, in rows without padding; where it is 0 no point is
 * looked for. NULL: the whole view counts. */
void gst_stereo_check_run (GstStereoCheck *check, const StereoImage *left, const StereoImage *right,
    const guint8 *counts, GstStereoCheckResult *result);
GstStereoVerdict gst_stereo_check_exchanged (const GstStereoCheckResult *result);
/* Whether the search ends before the nearest surfaces. */
GstStereoVerdict gst_stereo_check_range (const GstStereoCheckResult *result);
/* num-disparities with which it would not, for a search from @min; a multiple of 16. Only where the verdict is bad. */
gint gst_stereo_check_wanted_disparities (const GstStereoCheckResult *result, gint min);
GstStereoVerdict gst_stereo_check_unrectified (const GstStereoCheckResult *result);
/* Whether the views have different scales; and whether they were taken at different moments. Both need offsets. */
GstStereoVerdict gst_stereo_check_focal (const GstStereoCheckResult *result);
GstStereoVerdict gst_stereo_check_out_of_step (const GstStereoCheckResult *result);
/* Whether the views show one scene. @past: the share of points that were found for sure so far; 0 = not known. */
GstStereoVerdict gst_stereo_check_mismatch (const GstStereoCheckResult *result, gdouble past);

G_END_DECLS

#endif
