/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether two views can be what they are said to be: now and then a look at a few hundred points of a pair, on the CPU.
 *
 * Textured points, spread over the left view, are looked for in the right one, in a picture made a few times smaller:
 * at positive and at negative disparities alike, and some rows up and down. Only a match that is good, that nothing
 * else comes near, and that leads back to where it came from counts; where too few do, the pair tells nothing. What
 * counts is then placed to a fraction of a pixel in the views as they are.
 *
 * - Exchanged: the sign of the disparity is all that differs. Matches whose opposite lies in the range that is
 * searched, and not they themselves, speak for it. Points at infinity have no sign and no say. It cannot be told for a
 * range that reaches as far to either side.
 * - Not rectified: the median of the vertical offsets' absolute values, and what the two sides of the picture differ
 * by, which shows a small rotation. An offset that is due to movement between two moments looks the same.
 */
#ifndef GST_STEREO_CHECK_H
#define GST_STEREO_CHECK_H

#include <glib.h>

#include "gst/match/check/times.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* ---- a look at a pair -------------------------------------------------------------------- */

/* Scratch for views of one size; about 16 bytes per pixel of the small picture. */
typedef struct _GstStereoCheck GstStereoCheck;

typedef struct
{
  guint points;            /* textured ones, looked for */
  guint matches;           /* of them, found for sure */
  guint forward, backward; /* matches inside the range; matches that would be inside if the views were exchanged */
  guint doubtful;          /* those that have no say in that, for something else fits nearly as well */
  gdouble disparity;       /* median of all matches, px */
  guint placed;            /* matches with a vertical offset */
  gdouble vertical;        /* median of its absolute value, px */
  gdouble vertical_left, vertical_right; /* its median in the left and the right half, px; below is positive */
} GstStereoCheckResult;

/* NULL for views too small to say anything about. Disparities searched: @min <= d < @min + @num. */
GstStereoCheck *gst_stereo_check_new (gint width, gint height, gint min, gint num);
void gst_stereo_check_free (GstStereoCheck *check);
gboolean gst_stereo_check_is_for (const GstStereoCheck *check, gint width, gint height, gint min, gint num);
/* Both views in host memory. */
void gst_stereo_check_run (
    GstStereoCheck *check, const StereoImage *left, const StereoImage *right, GstStereoCheckResult *result);
GstStereoVerdict gst_stereo_check_exchanged (const GstStereoCheckResult *result);
GstStereoVerdict gst_stereo_check_unrectified (const GstStereoCheckResult *result);

G_END_DECLS

#endif
