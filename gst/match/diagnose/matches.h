/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a few hundred points of the left view lie in the right one, and figures of that: what the verdicts on a pair are
 * made from (verdicts.h). The points are found and matched by the engine (stereo/sparse.h).
 *
 * Points are spread over the left view. They are searched at positive and at negative disparities alike, and some rows up and
 * down: up to the largest disparity that is searched for depth at negative disparities, and up to twice that, and at least a
 * quarter of the width, at positive ones.
 */
#ifndef GST_STEREO_MATCHES_H
#define GST_STEREO_MATCHES_H

#include <glib.h>

#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Scratch for views of one size. */
typedef struct _GstStereoPairMatcher GstStereoPairMatcher;

typedef struct
{
  guint points;            /* textured ones, searched */
  guint alike;             /* of them, those that fit some place; it may be one of many */
  guint matches;           /* of them, found for sure */
  guint forward, backward; /* matches inside the range; matches that would be inside if the views were exchanged */
  guint beyond;            /* matches that lie beyond the largest disparity searched */
  gdouble farthest;        /* the largest disparity that three of those have or exceed, px; 0 = there are not three */
  guint doubtful;          /* matches that do not count there: another place fits nearly as well */
  gdouble disparity;       /* median of all matches, px */
  gdouble largest;         /* that three matches have or exceed, px; 0 = there are not three */

  /* Vertical offsets: how much lower points lie in the right view, px. */
  guint placed;                          /* matches with an offset */
  gdouble vertical;                      /* median of its absolute value */
  gdouble middle;                        /* median */
  gdouble vertical_left, vertical_right; /* median in the left and the right half; 0 where one has few points */
  gdouble shift, roll, scale; /* a fit: offset in the middle, and its slopes to the right and the bottom side */
  gdouble rest; /* root mean square of what the fit leaves, where more than 2 px count as 2 px; weighted by certainty */
  gdouble rest_of_half; /* the same, of the upper or the lower half of the view: the larger one */
} GstStereoPairMatches;

/* NULL for views too small to say anything about. Disparities searched for depth: @min <= d < @min + @num. */
GstStereoPairMatcher *gst_stereo_pair_matcher_new (gint width, gint height, gint min, gint num);
void gst_stereo_pair_matcher_free (GstStereoPairMatcher *matcher);
gboolean gst_stereo_pair_matcher_is_for (
    const GstStereoPairMatcher *matcher, gint width, gint height, gint min, gint num);
/* Both views in host memory. @counts: a byte a pixel of the left view, in rows without padding; where it is 0 no point is
 * searched. NULL: the whole view counts. */
void gst_stereo_pair_matcher_run (GstStereoPairMatcher *matcher, const StereoImage *left, const StereoImage *right,
    const guint8 *counts, GstStereoPairMatches *matches);

G_END_DECLS

#endif
