/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the rules on matches (match_rules.h) judge: a pair, its matches, and what is known from earlier pairs. */
#ifndef GST_STEREO_MATCH_CASE_H
#define GST_STEREO_MATCH_CASE_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/matches.h"
#include "gst/video/frame.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* A pair that is checked. */
typedef struct
{
  const GstStereoLayout *layout;
  const StereoImage *images; /* of both views, in host memory */
  const guint8 *counts; /* a byte for each pixel of the left view: 0 = excluded, no point is searched there. NULL: none is */
  const StereoParams *params; /* of the plan, with the geometry of this pair */
  gint64 time, spacing;       /* its time, and from the pair before to it, ns; spacing 0 = not known */
  gboolean rectified;         /* their metadata says that they are */
  gboolean sound;             /* no view has a fault: matches count */
  gdouble noise;              /* of the noisier view, grey levels */
  gboolean detailed;          /* both views show more than noise: missing matches count, too */
} GstStereoMatchedPair;

/* Whether a view shows an earlier moment than the other one, by this pair and those before. */
typedef struct
{
  GstStereoVerdict verdict;
  guint view;        /* the late one: 0 = left, 1 = right */
  gdouble certainty; /* 1 and more: sure */
} GstStereoMoment;

/* What the rules have learnt from the earlier pairs of a stream. Zeroed at first. */
typedef struct
{
  gdouble share; /* mean share of the points that are found, in pairs where that was no less than usual */
  guint shares;  /* pairs that the mean is of */
  GstStereoInfinity infinity;
} GstStereoMatchPast;

/* What is known of a pair that was matched. */
typedef struct
{
  const GstStereoPairMatches *matches;
  const GstStereoMatchedPair *pair;
  const GstStereoMatchPast *past;
  GstStereoMoment moment;
} GstStereoMatchCase;

G_END_DECLS

#endif
