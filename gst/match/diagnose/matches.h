/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the matches say. A few hundred points of a pair are matched; the engine finds and matches them (stereo/sparse.h). They are spread
 * over the left view, and are searched some rows up and down, and at negative and positive disparities: negative ones up to the largest
 * disparity of the depth search, positive ones up to twice that and at least a quarter of the width. The table in matches.c has all that
 * is known of a fault that they show.
 */
#ifndef GST_STEREO_MATCHES_H
#define GST_STEREO_MATCHES_H

#include "gst/match/diagnose/view.h"
#include "stereo/sparse.h"

G_BEGIN_DECLS

/* A placed match: its vertical offset, and its motion back to the frame before, in each view. */
typedef struct
{
  StereoSparsePlace place, motion[2]; /* a motion without weight is not known */
} GstStereoMovingPoint;

/* Figures of a pair. Disparities and offsets are in px; an offset is how much lower a point lies in the right view. */
typedef struct
{
  gint factor;             /* pixels of the views to one of the small pictures, each way */
  guint points;            /* textured points, which were searched */
  guint alike;             /* those of them that fit some place, which may be one of many */
  guint matches;           /* those of them whose place is sure */
  gdouble found;           /* their share of the points */
  guint forward, backward; /* matches inside the range; those beyond infinity that would be inside in exchanged views */
  guint beyond;            /* matches that lie at the end of the search range, or beyond */
  guint doubtful;          /* matches that count for none of these: another place fits nearly as well */
  gdouble disparity;       /* median of all matches */
  gdouble farthest;        /* the third largest disparity of those beyond; 0 = fewer than three */
  guint sure; /* matches that are placed, that no other place fits nearly as well, and that the right view has to show */
  gdouble lowest; /* a few of these, and a share of them, have disparities up to this one; 0 = there are too few */
  guint placed;   /* matches with an offset */
  gdouble vertical, middle;   /* medians of the absolute offset, and of the offset */
  gdouble shift, roll, scale; /* a fit: offset in the middle, and its slopes to the right and the bottom side */
  gdouble rest; /* root mean square of what the fit leaves, weighted by certainty; at most 2 px of a point count */
  gdouble late[2]; /* twice the logarithm of the ratio of likelihoods that a view is late, and that it is not; 0 = not known */
} GstStereoMatchFigures;

typedef struct _GstStereoMatches GstStereoMatches;

/* Neither @element nor @faults is owned. */
GstStereoMatches *gst_stereo_matches_new (GstElement *element, GstStereoFaults *faults);
void gst_stereo_matches_free (GstStereoMatches *matches);
/* After a flush. */
void gst_stereo_matches_flush (GstStereoMatches *matches);

/* Several times a second, and more often with a suspicion. */
gboolean gst_stereo_matches_are_due (const GstStereoMatches *matches, gint64 time);
/* Judges a pair. @anew: the views show another picture than before, so that one pair shows what else two have to, as it does at first. */
void gst_stereo_matches_check (GstStereoMatches *matches, const GstStereoLookedPair *pair, gboolean anew);
/* Keeps the frame before the next pair that is checked: motion leads back to it. */
void gst_stereo_matches_keep (GstStereoMatches *matches, const GstStereoLookedPair *pair);
/* The faults that the alignment takes out, where it fits what the last matches show of the rows. */
GstStereoHealthFlags gst_stereo_matches_taken_out (const GstStereoMatches *matches, const StereoAlignment *alignment);
/* From any thread, with the element's object lock: adds fields to `stats`. */
void gst_stereo_matches_add_stats (GstStereoMatches *matches, GstStructure *stats);

/* ---- for tests: the parts ------------------------------------------------------------------------ */

/* Matches a pair. FALSE for views that are too small. */
gboolean gst_stereo_matches_measure (
    GstStereoMatches *matches, const GstStereoLookedPair *pair, GstStereoMatchFigures *figures);
/* What the row of a flag makes of figures alone. */
GstStereoVerdict gst_stereo_matches_judge (
    GstStereoHealthFlags flag, const GstStereoMatchFigures *figures, const GstStereoLookedPair *pair);
/* Sufficient num-disparities for a search from @min, a multiple of 16. */
gint gst_stereo_wanted_disparities (const GstStereoMatchFigures *figures, gint min);
/* Whether the right, or left, view shows an earlier moment than the @view whose motion the points have. */
gdouble gst_stereo_delay_measure (const GstStereoMovingPoint *points, guint count, guint view);

G_END_DECLS

#endif
