/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matches a few hundred points of a pair, for the verdicts (match_rules.h). The engine finds and matches the points
 * (stereo/sparse.h).
 *
 * The points are spread over the left view. They are searched some rows up and down, and at negative and positive
 * disparities: negative ones up to the largest disparity of the depth search, positive ones up to twice that and at least
 * a quarter of the width.
 */
#ifndef GST_STEREO_MATCHES_H
#define GST_STEREO_MATCHES_H

#include "gst/match/diagnose/delay.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Scratch for views of one size. */
typedef struct _GstStereoPairMatcher GstStereoPairMatcher;

typedef struct
{
  gint factor;   /* pixels of the views to one of the small pictures, each way */
  guint points;  /* textured points, which were searched */
  guint alike;   /* those of them that fit some place, which may be one of many */
  guint matches; /* those of them whose place is sure */
  guint forward,
      backward; /* matches inside the range; matches beyond infinity that would be inside if the views were exchanged */
  guint beyond; /* matches that lie at the end of the search range, or beyond */
  gdouble farthest;  /* the third largest disparity of those, px; 0 = fewer than three */
  guint doubtful;    /* matches that count neither forward nor backward nor beyond: another place fits nearly as well */
  gdouble disparity; /* median of all matches, px */
  gdouble largest;   /* the third largest disparity of all matches, px; 0 = fewer than three */
  guint sure; /* matches that are placed, that no other place fits nearly as well, and that the right view has to show */
  guint few;  /* six of these, or a twenty-fifth of them where that is more */
  gdouble lowest; /* the largest disparity of the `few` lowest ones, px; 0 = there are not so many */

  /* Vertical offsets: how much lower points lie in the right view, px. */
  guint placed;                          /* matches with an offset */
  gdouble vertical;                      /* median of its absolute value */
  gdouble middle;                        /* median */
  gdouble vertical_left, vertical_right; /* median in the left and the right half; 0 where one has few points */
  gdouble shift, roll, scale; /* a fit: offset in the middle, and its slopes to the right and the bottom side */
  gdouble rest;               /* root mean square of the residuals of the fit, clamped at 2 px; weighted by certainty */
  GstStereoDelayFigures delay; /* where the frame before was kept */
} GstStereoPairMatches;

/* NULL for views that are too small. The depth search has the disparities @min <= d < @min + @num. */
GstStereoPairMatcher *gst_stereo_pair_matcher_new (gint width, gint height, gint min, gint num);
void gst_stereo_pair_matcher_free (GstStereoPairMatcher *matcher);
gboolean gst_stereo_pair_matcher_is_for (
    const GstStereoPairMatcher *matcher, gint width, gint height, gint min, gint num);
/* Both views are in host memory. @counts: a byte for each pixel of the left view, in rows without padding: 0 = excluded, no
 * point is searched there. NULL: the whole view counts. @infinity: the disparity of what is infinitely far away. @motion: the frame
 * before was kept. */
void gst_stereo_pair_matcher_run (GstStereoPairMatcher *matcher, const StereoImage *left, const StereoImage *right,
    const guint8 *counts, gdouble infinity, gboolean motion, GstStereoPairMatches *matches);
/* Whether so many of them say something: where nearly everything repeats, the rest is chance. */
gboolean gst_stereo_matches_are_enough (const GstStereoPairMatches *matches, guint votes);
/* Keeps a frame before the next pair that is matched. */
void gst_stereo_pair_matcher_keep (GstStereoPairMatcher *matcher, const StereoImage *left, const StereoImage *right);

G_END_DECLS

#endif
